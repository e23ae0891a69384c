//! Scripts with every contact row and every ruling, each with its expected report, which a person can check against the
//! rulebook.

use necrodome_judge::{
    book::Book,
    report,
    script::{Mistake, parse},
};
use necrodome_rules::game::Seat;

/// Every report on a script, by listener.
fn everything(text: &str) -> String {
    let book = Book::of(&parse(text));
    let mistakes: String = book
        .mistakes()
        .iter()
        .map(|mistake| {
            let help = mistake.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
            let also: String = mistake.also().iter().map(|line| format!(", so line {line}")).collect();
            let Mistake { line, column, message, expected, .. } = mistake;
            format!("{line}:{column} {message}: {expected}{help}{also}\n")
        })
        .collect();
    let last = Seat(book.names().len() as u16 - 1);
    format!(
        "{}\n--- aloud\n{}\n--- to one player\n{}\n--- left out\n{mistakes}",
        report::judge(&book),
        report::public(&book),
        report::player(&book, last)
    )
}

macro_rules! scripts {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            let text = include_str!(concat!("scripts/", stringify!($name), ".txt"));
            // With the script in front, so that each line can be checked where it stands.
            insta::assert_snapshot!(format!("{text}\n=== the judge\n{}", everything(text)));
        }
    )*};
}

scripts!(
    contacts_without_commitments,
    contacts_with_precautions,
    contacts_with_viruses,
    surplus_lost,
    surplus_carried,
    antidote,
    end_of_turn,
    zombies_win,
    survivor_wins,
    survivor_wins_really,
    humans_win,
    latecomers,
    mistakes,
    one_cause,
    one_name,
    one_typo,
    counts_beside_set,
    one_end,
    classic,
    classic_limits,
    older_without_start,
    older_turns,
);
