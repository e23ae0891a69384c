//! The texts to read aloud and to whisper do not reveal who is infected.

use necrodome_judge::{book::Book, report, script::parse};
use necrodome_rules::{game::Seat, infection::Role};
use proptest::prelude::*;

/// Everything that each player and everybody heard, line by line.
fn heard(book: &Book) -> Vec<Vec<String>> {
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    let players = Seat::all(book.names().len()).iter().map(|&seat| lines(report::player(book, seat)));
    [lines(report::public(book))].into_iter().chain(players).collect()
}

const PLAYERS: &str = "HUMAN Anna\nHUMAN Ben\nHUMAN Carla\nHUMAN David\nZOMBIE Zoe\nGAME_START\n";

#[test]
fn who_is_infected_is_not_heard_before_the_rules_reveal_it() {
    // Carla meets the zombie: in one game unprotected, in the other with a precaution. Afterwards she meets David, who
    // takes one, so that she gains nothing in either.
    let infected = format!("SET start_antibodies 2\n{PLAYERS}i carla zoe\ni anna ben\ni david! carla\nnt\n");
    let healthy = format!("SET start_antibodies 2\n{PLAYERS}i carla! zoe\ni anna ben\ni david! carla\nnt\n");
    let books = [&infected, &healthy].map(|text| Book::of(&parse(text)));
    for book in &books {
        assert_eq!(book.mistakes(), []);
    }
    let role = |book: &Book| book.party().unwrap().players()[2].role;
    assert_eq!(books.each_ref().map(role), [Role::Infected, Role::Human]);
    // Carla lost one antibody in each: to the infection at the end of the turn, or for the precaution.
    let [one, other] = books.each_ref().map(heard);
    assert_eq!(one, other);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Two games by the same script, but in one of them some players are infected at the start. As long as everybody is told
    /// the same (identity and stock), everything that is heard is the same to the byte: nothing else leaks.
    #[test]
    fn only_identities_and_stocks_are_told(
        contacts in proptest::collection::vec((0..5usize, 0..5usize, any::<bool>(), any::<bool>()), 1..25)
    ) {
        let names = ["Anna", "Ben", "Carla", "David", "Zoe"];
        let mut text = format!("SET start_antibodies 3\nSET start_viruses 2\n{PLAYERS}");
        for (a, b, precaution, closes) in contacts {
            let commit = if precaution && a < 4 { "!" } else { "" };
            text += &format!("i {}{commit} {}\n", names[a], names[b]);
            if closes {
                text += "nt\n";
            }
        }
        let book = Book::of(&parse(&text));
        let infected = ["infected", "Infected", "carries", "precaution", "antidote"];
        let all = heard(&book);
        for line in all.iter().flatten() {
            prop_assert!(infected.iter().all(|word| !line.contains(word)), "{}", line);
        }
        // Everything that a player hears is made of its own reports and of whom it met.
        for (player, lines) in all[1..].iter().enumerate() {
            for line in lines {
                let others = names.iter().enumerate().filter(|(other, name)| *other != player && line.contains(**name));
                for (_, name) in others {
                    prop_assert!(line.contains("you met"), "{} is named in {:?}", name, line);
                }
            }
        }
    }
}
