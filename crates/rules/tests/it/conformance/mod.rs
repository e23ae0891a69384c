//! One contract, all games: random playouts check what [`Game`](necrodome_rules::game::Game) promises.

mod checks;
mod hostile;
mod probes;
mod toy;

use checks::{Checked, conformance, conformance_with};
use hostile::survives_damage;
use necrodome_rules::{catalog::GameId, with_game};
use probes::Probes;
use std::thread;

/// Checks the games side by side, since one takes longer than all others. Every game in the catalog is tested without
/// being named here.
fn for_every_game(check: impl Fn(GameId) + Sync) {
    thread::scope(|scope| {
        for &id in GameId::WITH_EXAMPLES {
            let check = &check;
            scope.spawn(move || check(id));
        }
    });
}

#[test]
fn every_game_keeps_the_contract() {
    for_every_game(|id| {
        with_game!(id, G => conformance::<G>()).unwrap_or_else(|broken| panic!("{id}: {broken}"));
    });
}

fn check_toy<const BREACH: u8>() -> Checked {
    conformance_with(&Probes::<toy::Toy<BREACH>>::new())
}

#[test]
fn a_game_that_keeps_the_contract_passes_and_each_breach_is_found() {
    check_toy::<{ toy::SOUND }>().unwrap();
    let breaches = [
        (check_toy::<{ toy::CHANGES_ON_REJECTION }>(), "a rejected action changed the state"),
        (check_toy::<{ toy::HIDES_A_LEGAL_ACTION }>(), "is accepted, but not listed"),
        (check_toy::<{ toy::LISTS_AN_ILLEGAL_ACTION }>(), "is listed, but rejected"),
        (check_toy::<{ toy::NEVER_ENDS }>(), "is not over"),
        (check_toy::<{ toy::FORGETS_WHEN_SAVED }>(), "does not survive JSON"),
        (check_toy::<{ toy::STALE_VIEW }>(), "a refreshed view differs"),
        (check_toy::<{ toy::BREAKS_INVARIANT }>(), "more points than turns"),
        (check_toy::<{ toy::WRONG_PLACES }>(), "places"),
        (check_toy::<{ toy::WORST_WINS }>(), "scores"),
        (check_toy::<{ toy::HIDDEN_CHANCE }>(), "the same seed gives another match"),
    ];
    for (result, message) in breaches {
        let broken = result.expect_err(message);
        assert!(broken.contains(message), "expected {message:?}, got {broken:?}");
    }
}

#[test]
fn a_damaged_state_is_refused_or_can_be_played() {
    for_every_game(|id| {
        let accepted = with_game!(id, G => survives_damage::<G>(2000));
        assert!((1..2000).contains(&accepted), "{id}: {accepted} of 2000 damaged states were accepted");
    });
}
