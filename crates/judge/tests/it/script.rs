//! Scripts as text: anything can be parsed, and what is printed is parsed to the same.

use necrodome_judge::{
    book::Book,
    report,
    script::{Command, Line, Script, Side, Word, parse, parse_bytes},
};
use necrodome_rules::{game::Seat, infection::Commitment};
use proptest::prelude::*;

fn word() -> impl Strategy<Value = Word> {
    // Anything that can stand in quotes, names and keywords among them.
    let text = prop_oneof![
        "[a-zA-Z]{1,8}",
        "[^\"\r\n\\p{Cc}]{1,12}",
        Just("END".to_owned()),
        Just("#1 !*".to_owned())
    ];
    text.prop_filter("not blank", |text| !text.trim().is_empty()).prop_map(|text| Word { text, span: 0..0 })
}

fn commitment() -> impl Strategy<Value = Commitment> {
    prop_oneof![
        Just(Commitment::None),
        Just(Commitment::Precaution),
        any::<u32>().prop_map(|count| Commitment::Virus { count })
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let side = || (word(), commitment()).prop_map(|(name, commit)| Side { name, commit });
    prop_oneof![
        (word(), word()).prop_map(|(option, value)| Command::Set { option, value }),
        word().prop_map(Command::Human),
        word().prop_map(Command::Zombie),
        Just(Command::Start),
        (side(), side()).prop_map(|(one, other)| Command::Interact(one, other)),
        word().prop_map(Command::Antidote),
        word().prop_map(Command::End),
        Just(Command::NextTurn),
    ]
}

fn script() -> impl Strategy<Value = Script> {
    let comment =
        proptest::option::of("[^\r\n]{0,10}").prop_map(|text| text.map(|text| text.trim_end().to_owned()));
    let line = (proptest::option::of(command()), comment)
        .prop_map(|(command, comment)| Line::new(1, command, comment));
    proptest::collection::vec(line, 0..12).prop_map(|lines| Script { lines })
}

/// Everything that can be done with a text, done.
fn use_it(bytes: &[u8]) {
    let (text, parsed) = parse_bytes(bytes);
    for mistake in &parsed.mistakes {
        assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?} is not in the text");
        assert!(mistake.line >= 1 && mistake.column >= 1);
    }
    let book = Book::of(&parsed);
    let lines = parsed.script.lines.len() + parsed.mistakes.len();
    assert_eq!(lines, text.split('\n').count() - usize::from(text.ends_with('\n') || text.is_empty()));
    for mistake in book.mistakes() {
        assert!(text.get(mistake.span.clone()).is_some(), "{mistake:?} is not in the text");
    }
    assert!(book.mistakes().is_sorted_by_key(|mistake| mistake.line));
    report::judge(&book);
    report::public(&book);
    for seat in Seat::all(book.names().len()) {
        report::player(&book, *seat);
    }
    if let Some(party) = book.party() {
        party.invariants().unwrap();
    }
    // Printed and parsed again it is the same game.
    let again = parse(&parsed.script.to_string());
    assert_eq!(again.script, parsed.script);
    assert_eq!(again.mistakes, []);
    assert_eq!(Book::of(&again).party(), book.party());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_parsed_to_the_same(script in script()) {
        let text = script.to_string();
        let parsed = parse(&text);
        prop_assert_eq!(&parsed.mistakes, &[], "{}", text);
        prop_assert_eq!(parsed.script, script, "{}", text);
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        use_it(&bytes);
    }

    #[test]
    fn nearly_scripts_do_no_harm(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("HUMAN a\nHUMAN b\nHUMAN c\nZOMBIE z\nGAME_START\n".to_owned()),
                Just("SET start_antibodies 3\n".to_owned()),
                "[iaet] [abcz][!*]?[0-9]? ?[abcz]?[!*]?[0-9]?\n",
                "(nt|NEXT_TURN|end a|e z)\n",
                "[#\"!* \t\r\n]{0,4}",
                "\\PC{0,6}",
            ],
            0..40,
        )
    ) {
        use_it(pieces.concat().as_bytes());
    }
}
