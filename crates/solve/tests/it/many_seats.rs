//! The perfect players where they are not perfect: at tables of three and more. They play by the rules, and well.

use crate::common::on_all_cores;
use necrodome_rules::{
    bot::{Bot, BotSpec},
    chance::Seeded,
    game::{Game, Outcome, Seat, Silent},
    names::Names,
    options::Bounded,
    play::{Memory, play_with},
    tokyo::{Tokyo, TokyoRules},
    zombie_dice::{Action, FirstRoll, OutOfDice, Table, TableRules, TableView, Tiebreak},
};
use necrodome_solve::{OPTIMAL, Solvable};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

fn bot<G: Solvable>(name: &str, rules: &G::Rules, index: u64) -> Box<dyn Bot<G>> {
    if name == OPTIMAL {
        return Box::new(G::optimal(rules));
    }
    let spec: BotSpec = name.parse().unwrap();
    let kind = G::built_ins().into_iter().find(|bot| bot.name == spec.name).unwrap();
    kind.build(&spec, Seeded::new(1, "bot", index)).unwrap()
}

/// Plays matches with the same players in the same seats; a move against the rules would be an error.
fn play<G: Solvable>(rules: &G::Rules, names: &[&str], matches: usize, seed: u64) -> Vec<Outcome> {
    let mut bots: Vec<_> = names.iter().zip(0..).map(|(name, seat)| bot::<G>(name, rules, seat)).collect();
    let seats = Names::new((0..names.len()).map(|seat| format!("seat {seat}"))).unwrap();
    let (mut memory, mut chance) = (Memory::default(), Seeded::new(seed, "many", 0));
    let one = |_| {
        let mut game = G::new(&seats, rules, &mut chance, &mut Silent).unwrap();
        let outcome = play_with(&mut memory, &mut game, &mut bots, &mut chance, &mut Silent).unwrap();
        game.invariants().unwrap();
        assert_eq!(outcome.places.len(), names.len());
        outcome
    };
    (0..matches).map(one).collect()
}

/// Plays one perfect player against a weaker field, in every seat equally often, the field in all its rotations. It must
/// win more than its share, by at least `margin`.
fn check_share<G: Solvable>(rules: &G::Rules, field: &[&str], seats: usize, margin: f64)
where
    G::Rules: Sync,
{
    let turns: Vec<(usize, usize)> =
        (0..seats).flat_map(|own| (0..field.len()).map(move |shift| (own, shift))).collect();
    let each = 3000usize.div_ceil(turns.len());
    let wins = |number: usize| {
        let (own, shift) = turns[number];
        let mut names: Vec<&str> = (0..seats - 1).map(|other| field[(other + shift) % field.len()]).collect();
        names.insert(own, OPTIMAL);
        let outcomes = play::<G>(rules, &names, each, (own * 100 + shift) as u64);
        let share = |outcome: &Outcome| match outcome.winners().any(|seat| seat == Seat(own as u16)) {
            true => 1.0 / outcome.winners().count() as f64,
            false => 0.0,
        };
        outcomes.iter().map(share).sum::<f64>()
    };
    let wins: f64 = on_all_cores(turns.len(), wins).iter().sum();
    let matches = (each * turns.len()) as f64;
    let (rate, fair) = (wins / matches, 1.0 / seats as f64);
    let error = (rate * (1.0 - rate) / matches).sqrt();
    println!("{} for {seats}, {rules:?}: {rate:.3} of {matches}, fair {fair:.3}, error {error:.4}", G::ID);
    assert!(rate > fair + margin, "{} for {seats}: {rate} is not enough", G::ID);
}

fn table_rules() -> impl Iterator<Item = TableRules> {
    let all = (0..8).map(|code| TableRules {
        out_of_dice: if code & 1 == 0 { OutOfDice::EndTurn } else { OutOfDice::RecycleBrains },
        first_roll: if code & 2 == 0 { FirstRoll::Mandatory } else { FirstRoll::Free },
        tiebreak: if code & 4 == 0 { Tiebreak::OneRound } else { Tiebreak::UntilBroken },
        ..TableRules::default()
    });
    all.filter(|rules| (rules.first_roll == FirstRoll::Free) == (rules.tiebreak == Tiebreak::UntilBroken))
}

#[test]
fn at_a_table_of_many_it_wins_more_than_its_share() {
    let everyone = ["random", "cautious", "greedy", "stop-at:brains=4,shotguns=2"];
    let strong = ["greedy", "stop-at:brains=4,shotguns=2"];
    for rules in table_rules() {
        for (seats, [margin, small_margin]) in [(3, [0.15, 0.06]), (4, [0.13, 0.05]), (6, [0.12, 0.05])] {
            check_share::<Table>(&rules, &everyone, seats, margin);
            check_share::<Table>(&rules, &strong, seats, small_margin);
        }
    }
}

#[test]
fn among_three_monsters_it_wins_more_than_its_share() {
    let rules = TokyoRules::default();
    check_share::<Tokyo>(&rules, &["random", "angry", "point-hunter"], 3, 0.18);
    check_share::<Tokyo>(&rules, &["angry", "point-hunter"], 3, 0.0);
    for seats in [3, 4, 6] {
        check_share::<Tokyo>(&rules, &["angry"], seats, 0.3);
    }
    for seats in [3, 4] {
        check_share::<Tokyo>(&rules, &["point-hunter"], seats, 0.1);
    }
}

#[test]
fn among_many_monsters_it_wins_more_than_its_share() {
    for seats in [4, 5, 6] {
        check_share::<Tokyo>(&TokyoRules::default(), &["random", "angry", "point-hunter"], seats, 0.1);
    }
}

/// Checks that the last one to move in the last round does not throw the match away.
struct Watched(<Table as Solvable>::Optimal, Arc<[AtomicUsize; 2]>);

impl Bot<Table> for Watched {
    fn act(&mut self, view: &TableView) -> Action {
        let action = self.0.act(view);
        let others = view.scores.iter().enumerate().filter(|(seat, _)| *seat != view.seat.index());
        let best = others.map(|(_, &score)| score).max().unwrap();
        let last = usize::from(view.played) + 1 == view.playing.len() && (best >= 13 || view.tiebreak);
        let own = view.scores[view.seat.index()] + view.turn.brains;
        // As many brains as there are dice may still come.
        let dice = u32::from(view.turn.cup.total() + view.turn.footsteps().total());
        if last && own < best && own + dice >= best {
            assert_eq!(action, Action::Go, "stopping loses: {view:?}");
            self.1[0].fetch_add(1, Ordering::Relaxed);
        }
        if last && own > best {
            assert_eq!(action, Action::Stop, "stopping wins: {view:?}");
            self.1[1].fetch_add(1, Ordering::Relaxed);
        }
        action
    }
}

#[test]
fn the_last_one_to_move_never_throws_the_match_away() {
    for rules in table_rules() {
        for seats in [2usize, 3, 4, 6] {
            let seen = Arc::new([const { AtomicUsize::new(0) }; 2]);
            let perfect = Table::optimal(&rules);
            let mut bots: Vec<Box<dyn Bot<Table>>> =
                (0..seats).map(|_| Box::new(Watched(perfect.clone(), seen.clone())) as _).collect();
            let names = Names::new((0..seats).map(|seat| format!("seat {seat}"))).unwrap();
            let (mut memory, mut chance) = (Memory::default(), Seeded::new(11, "last", seats as u64));
            for _ in 0..1000 {
                let mut game = Table::new(&names, &rules, &mut chance, &mut Silent).unwrap();
                play_with(&mut memory, &mut game, &mut bots, &mut chance, &mut Silent).unwrap();
            }
            for seen in &*seen {
                assert!(seen.load(Ordering::Relaxed) > 20, "that has come up");
            }
        }
    }
}

/// Everybody perfect, at tables of all sizes, and with limits that the perfect player does not know of.
#[test]
fn it_plays_to_the_end_among_its_own() {
    for rules in table_rules() {
        for seats in [3, 4, 5, 6, 99] {
            for outcome in play::<Table>(&rules, &vec![OPTIMAL; seats], 20, 7) {
                let best = *outcome.scores.iter().max().unwrap();
                assert!(best >= 13);
                assert!(outcome.winners().all(|seat| outcome.scores[seat.index()] == best));
            }
            let short = TableRules { max_rounds: Some(Bounded::new(2)), ..rules };
            for outcome in play::<Table>(&short, &vec![OPTIMAL; seats], 20, 8) {
                assert!(outcome.turns as usize <= 2 * seats);
            }
        }
    }
    for seats in 3..=6 {
        for outcome in play::<Tokyo>(&TokyoRules::default(), &vec![OPTIMAL; seats], 50, 9) {
            assert_eq!(outcome.winners().count(), 1);
        }
        let short = TokyoRules { max_turns: Some(Bounded::new(7)) };
        for outcome in play::<Tokyo>(&short, &vec![OPTIMAL; seats], 50, 10) {
            assert!(outcome.turns <= 7);
        }
    }
}
