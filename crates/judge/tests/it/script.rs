//! Scripts as text: anything can be parsed, and printed scripts parse to the same commands.

use necrodome_judge::{
    book::Book,
    convert, report,
    script::{Command, Dialect, Line, Script, Side, Word, parse, parse_bytes},
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
        proptest::collection::vec("[0-9]{1,3}".prop_map(Word::new), 0..4).prop_map(Command::Start),
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

/// Does everything that can be done with a text.
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
    // An older script that was converted is the same game, without mistakes.
    if parsed.dialect == Dialect::Older {
        let converted = parse(&convert::script(&parsed, &book).to_string());
        let again = Book::of(&converted);
        assert_eq!((again.party(), again.rules()), (book.party(), book.rules()));
        assert_eq!(again.mistakes(), []);
        assert_eq!(converted.dialect, Dialect::Current);
    }
    // Printed and parsed again it is the same game, unless a line that cannot be read was to start it.
    let again = parse(&parsed.script.to_string());
    assert_eq!(again.script, parsed.script);
    assert_eq!(again.mistakes, []);
    if parsed.mistakes.is_empty() {
        assert_eq!(Book::of(&again).party(), book.party());
    }
}

/// A judge at the desk can write what the script alone would not: it must read back as the same.
#[test]
fn a_line_that_would_change_the_dialect_is_refused() {
    let write = |text: &str, line: &str| Book::of(&parse(text)).write(&parse(line).script.lines[0]);
    let refused = write("# <player>\nHUMAN a\nHUMAN b\n", "SET max_turns 5").unwrap_err();
    assert_eq!(refused.message, "a script of an older judge can't set options");
    let refused = write("SET zombies 1\nHUMAN a\nHUMAN b\n", "GAME_START 5").unwrap_err();
    assert_eq!(refused.message, "counts after GAME_START don't go together with SET");
    let late = Book::of(&parse("HUMAN a\nHUMAN b\nGAME_START 5\nSET zombies 1\n"));
    assert_eq!(late.mistakes()[0].message, "counts after GAME_START don't go together with SET");
    // Without SET, counts make it an older script, whoever writes them.
    let mut book = Book::of(&parse("HUMAN a\nHUMAN b\n"));
    book.write(&parse("GAME_START 5").script.lines[0]).unwrap();
    assert_eq!(book.party(), Book::of(&parse("HUMAN a\nHUMAN b\nGAME_START 5\n")).party());
}

#[test]
fn names_are_not_guessed_for_more_mistakes_than_are_shown() {
    let unknown: String = (0..150).map(|number| format!("e Annabel{number}\n").repeat(2)).collect();
    let book = Book::of(&parse(&format!("HUMAN Annabella\nHUMAN Ben\nGAME_START\n{unknown}")));
    assert_eq!(book.mistakes().len(), 150);
    assert!(book.mistakes().iter().all(|mistake| mistake.also() == [mistake.line + 1]));
    let help = |number: usize| book.mistakes()[number].help.as_deref();
    assert_eq!((help(0), help(99), help(100)), (Some("did you mean Annabella?"), help(0), None));
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
                Just("HUMAN a\nHUMAN b\nZOMBIE z\nGAME_START 2 1\n".to_owned()),
                Just("# <player>\nHUMAN c\nZOMBIE y\n".to_owned()),
                "GAME_START [0-9]{1,2}\n",
                Just("SET rules classic\n".to_owned()),
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
