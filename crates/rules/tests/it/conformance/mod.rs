//! One contract, all games: random playouts check what [`Game`](necrodome_rules::game::Game) promises.

mod checks;
mod hostile;
mod probes;
mod toy;

use checks::conformance;
use hostile::survives_damage;
use necrodome_rules::{catalog::GameId, with_game};

/// A game that is added to the catalog is tested without being named here: it only needs a probe.
#[test]
fn every_game_keeps_the_contract() {
    for id in GameId::ALL {
        with_game!(id, G => conformance::<G>()).unwrap_or_else(|broken| panic!("{id}: {broken}"));
    }
}

#[test]
fn a_game_that_keeps_the_contract_passes_and_each_breach_is_found() {
    conformance::<toy::Toy<{ toy::SOUND }>>().unwrap();
    let breaches = [
        (conformance::<toy::Toy<{ toy::CHANGES_ON_REJECTION }>>(), "a rejected action changed the state"),
        (conformance::<toy::Toy<{ toy::HIDES_A_LEGAL_ACTION }>>(), "is accepted, but not listed"),
        (conformance::<toy::Toy<{ toy::LISTS_AN_ILLEGAL_ACTION }>>(), "is listed, but rejected"),
        (conformance::<toy::Toy<{ toy::NEVER_ENDS }>>(), "is not over"),
        (conformance::<toy::Toy<{ toy::FORGETS_WHEN_SAVED }>>(), "does not survive JSON"),
        (conformance::<toy::Toy<{ toy::STALE_VIEW }>>(), "a refreshed view differs"),
        (conformance::<toy::Toy<{ toy::BREAKS_INVARIANT }>>(), "more points than turns"),
        (conformance::<toy::Toy<{ toy::WRONG_PLACES }>>(), "places"),
        (conformance::<toy::Toy<{ toy::WORST_WINS }>>(), "scores"),
        (conformance::<toy::Toy<{ toy::HIDDEN_CHANCE }>>(), "the same seed gives another match"),
    ];
    for (result, message) in breaches {
        let broken = result.expect_err(message);
        assert!(broken.contains(message), "expected {message:?}, got {broken:?}");
    }
}

#[test]
fn a_damaged_state_is_refused_or_can_be_played() {
    for id in GameId::ALL {
        let accepted = with_game!(id, G => survives_damage::<G>(2000));
        assert!((1..2000).contains(&accepted), "{id}: {accepted} of 2000 damaged states were accepted");
    }
}
