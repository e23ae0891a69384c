//! The checks. They return the broken promise instead of panicking, so that tests can check the checks.

use super::probes::{Probes, probes};
use necrodome_rules::{
    chance::{Chance, Recorder, Scripted, Seeded},
    game::{Game, Logged, Move, Outcome, Rejected, Seat, restore},
    names::Names,
};
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

pub type Checked = Result<(), String>;

fn ensure(holds: bool, broken: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(broken()) }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

/// Plays random matches of every set-up of the probe and checks each step.
pub fn conformance<G: Game>() -> Checked {
    conformance_with(&probes::<G>())
}

pub fn conformance_with<G: Game>(probes: &Probes<G>) -> Checked {
    for (variant, (seats, rules)) in probes.setups.iter().enumerate() {
        let names = Names::new((0..*seats).map(|seat| format!("bot {seat}"))).unwrap();
        // A match of many seats checks the view of each at every step: fewer matches prove as much.
        for playout in 0..probes.playouts.div_ceil(1 + *seats as u64 / 10) {
            let seed = (variant as u64) << 32 | playout;
            playout_of(probes, &names, rules, seed)
                .map_err(|broken| format!("{rules:?} seed {seed}: {broken}"))?;
        }
    }
    Ok(())
}

/// Plays one match with a seeded random player and checks every promise on the way.
fn playout_of<G: Game>(probes: &Probes<G>, names: &Names, rules: &G::Rules, seed: u64) -> Checked {
    let mut chance = Recorder::new(Seeded::new(seed, "match", 0));
    let mut player = Seeded::new(seed, "player", 0);
    let mut log = Vec::new();
    let mut inputs = Vec::new();
    let mut game = G::new(names, rules, &mut chance, &mut log).unwrap();
    let mut stale: Vec<G::View> = Seat::all(names.len()).iter().map(|&seat| game.view(seat)).collect();
    while !game.to_act().is_empty() {
        ensure(inputs.len() < probes.max_steps, || {
            format!("after {} decisions it is not over", inputs.len())
        })?;
        game.invariants()?;
        ensure(game.to_act().is_sorted_by(|a, b| a < b), || format!("{:?} are to act", game.to_act()))?;
        ensure(game.outcome().is_none(), || "there is an outcome, but somebody is to act".into())?;
        // The expensive checks only now and then.
        if player.uniform(probes.check_every) == 0 {
            check_state(&game)?;
            for &seat in Seat::all(names.len()) {
                check_view(&game, seat, &mut stale[seat.index()])?;
            }
            for &seat in game.to_act() {
                check_actions(probes, &game, seat, &mut player)?;
            }
        }
        let moves: Vec<Move<G::Action>> = game
            .to_act()
            .iter()
            .map(|&seat| match player.uniform(50) {
                0 => Move::Forfeit,
                _ => Move::Act((probes.random_legal)(&game.view(seat), &mut player)),
            })
            .collect();
        game.apply(&moves, &mut chance, &mut log).map_err(|why| format!("{moves:?}: {why}"))?;
        inputs.push(moves);
    }
    game.invariants()?;
    check_state(&game)?;
    check_end(probes, &game, names.len())?;
    check_same_seed(&game, names, rules, seed, &inputs, &log)?;
    check_log::<G>(&log)?;
    check_replay(&game, names, rules, &inputs, chance.picks(), &log)
}

/// Checks that a state survives cloning and JSON, and that wrong numbers of moves do not change it.
fn check_state<G: Game>(game: &G) -> Checked {
    let before = json(game);
    let back: G = restore(&before).map_err(|e| e.to_string())?;
    ensure(back == *game && json(&back) == before, || format!("does not survive JSON: {before}"))?;
    ensure(game.clone() == *game, || "a clone differs".into())?;
    let mut copy = game.clone();
    let too_many = vec![Move::Forfeit; game.to_act().len() + 1];
    let refused = copy.apply(&too_many, &mut Seeded::new(0, "none", 0), &mut Vec::new());
    ensure(matches!(refused, Err(Rejected::Count { .. } | Rejected::Over)), || "took too many moves".into())?;
    ensure(json(&copy) == before, || "a wrong number of moves changed the state".into())
}

fn check_view<G: Game>(game: &G, seat: Seat, stale: &mut G::View) -> Checked {
    let view = game.view(seat);
    game.refresh_view(seat, stale);
    ensure(*stale == view, || format!("a refreshed view differs: {stale:?} {view:?}"))?;
    survives_json(&view)
}

/// Checks that the game accepts exactly the legal actions, and that a rejection says why and changes nothing.
fn check_actions<G: Game>(probes: &Probes<G>, game: &G, seat: Seat, player: &mut Seeded) -> Checked {
    let view = game.view(seat);
    let before = json(game);
    let mut candidates = (probes.universe)(&view, player);
    candidates.extend(G::legal_actions(&view).into_iter().flatten());
    let place = game.to_act().iter().position(|&s| s == seat).unwrap();
    for action in candidates {
        survives_json(&action)?;
        let mut moves = vec![Move::Forfeit; game.to_act().len()];
        moves[place] = Move::Act(action.clone());
        let mut copy = game.clone();
        let mut log = Vec::new();
        let result = copy.apply(&moves, &mut Seeded::new(1, "trial", 0), &mut log);
        match ((probes.is_legal)(&view, &action), result) {
            (true, Ok(())) => copy.invariants()?,
            (true, Err(why)) => return Err(format!("{action:?} is listed, but rejected: {why}")),
            (false, Ok(())) => return Err(format!("{action:?} is accepted, but not listed")),
            (false, Err(why)) => {
                ensure(json(&copy) == before && copy == *game, || {
                    format!("a rejected action changed the state: {action:?}")
                })?;
                ensure(log.is_empty(), || format!("a rejected action left events: {action:?}"))?;
                let why = why.to_string();
                ensure(!why.is_empty() && !why.contains('\n'), || format!("not one sentence: {why:?}"))?;
            }
        }
    }
    Ok(())
}

/// Checks that places are a ranking with shared places, and that nobody can play on.
fn check_end<G: Game>(probes: &Probes<G>, game: &G, seats: usize) -> Checked {
    let Some(Outcome { places, scores, .. }) = game.outcome() else {
        return Err("nobody is to act, but there is no outcome".into());
    };
    ensure(places.len() == seats && scores.len() == seats, || format!("{places:?} {scores:?}"))?;
    for &place in &places {
        let better = places.iter().filter(|&&other| other < place).count();
        ensure(usize::from(place) == better + 1, || format!("places {places:?}"))?;
    }
    ensure((probes.scores_fit_places)(game, &places, &scores), || {
        format!("places {places:?}, scores {scores:?}")
    })?;
    let before = json(game);
    let mut copy = game.clone();
    let refused = copy.apply(&[], &mut Seeded::new(0, "none", 0), &mut Vec::new());
    ensure(refused == Err(Rejected::Over), || format!("goes on after its end: {refused:?}"))?;
    ensure(json(&copy) == before, || "changes after its end".into())
}

fn check_log<G: Game>(log: &[Logged<G::Event>]) -> Checked {
    log.iter().try_for_each(survives_json)
}

/// Checks that the same seed and moves give the same log and the same end.
fn check_same_seed<G: Game>(
    end: &G,
    names: &Names,
    rules: &G::Rules,
    seed: u64,
    inputs: &[Vec<Move<G::Action>>],
    log: &[Logged<G::Event>],
) -> Checked {
    let mut chance = Seeded::new(seed, "match", 0);
    let mut again = Vec::new();
    let mut game = G::new(names, rules, &mut chance, &mut again).map_err(|e| e.to_string())?;
    for moves in inputs {
        game.apply(moves, &mut chance, &mut again).map_err(|e| e.to_string())?;
    }
    ensure(game == *end && again == log, || "the same seed gives another match".into())
}

/// Checks that the recorded picks give the same log and the same end.
fn check_replay<G: Game>(
    end: &G,
    names: &Names,
    rules: &G::Rules,
    inputs: &[Vec<Move<G::Action>>],
    picks: &[u32],
    log: &[Logged<G::Event>],
) -> Checked {
    let mut script = Scripted::new(picks);
    let mut again = Vec::new();
    let step = script.run(|chance| G::new(names, rules, chance, &mut again));
    let mut game = step.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
    for moves in inputs {
        let step = script.run(|chance| game.apply(moves, chance, &mut again));
        step.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
    }
    script.finish().map_err(|e| e.to_string())?;
    ensure(game == *end, || "a replay of the recorded picks ends differently".into())?;
    ensure(again == log, || "a replay of the recorded picks has other events".into())
}

fn survives_json<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> Checked {
    let text = json(value);
    let back: T = serde_json::from_str(&text).map_err(|e| format!("{text}: {e}"))?;
    ensure(back == *value, || format!("does not survive JSON: {text}"))
}
