//! Ledgers of thousands of matches: they add up, decisions never pay, luck is fair.

use crate::common::on_all_cores;
use necrodome_rules::{
    bot::{Bot, BotSpec},
    chance::{Chance, Seeded},
    game::{Audience, Log, Logged, Move, Seat},
    names::Names,
    options::Bounded,
    tokyo::{Tokyo, TokyoRules},
    zombie_dice::{FirstRoll, OutOfDice, Race, RaceRules, Solo, SoloRules, Table, TableRules, Tiebreak},
};
use necrodome_solve::{Audit, Ledger, LedgerEntry, Meter, OPTIMAL, ROUNDS, Solution, Solvable, Unsolved};

const ENDS: [OutOfDice; 2] = [OutOfDice::EndTurn, OutOfDice::RecycleBrains];
const FIRST_ROLLS: [FirstRoll; 2] = [FirstRoll::Free, FirstRoll::Mandatory];
const TIEBREAKS: [Tiebreak; 2] = [Tiebreak::OneRound, Tiebreak::UntilBroken];
/// The largest difference that rounding makes between two ways to the same value.
const NEAR: f64 = 1e-12;

fn bot<G: Solvable>(name: &str, rules: &G::Rules, index: u64) -> Box<dyn Bot<G>> {
    if name == OPTIMAL {
        return Box::new(G::optimal(rules));
    }
    let spec: BotSpec = name.parse().unwrap();
    let kind = G::built_ins().into_iter().find(|bot| bot.name == spec.name).unwrap();
    kind.build(&spec, Seeded::new(1, "bot", index)).unwrap()
}

/// Events for the audit, and for a meter of its own.
struct Both<'a, E> {
    /// The events of the last step.
    events: Vec<Logged<E>>,
    all: Vec<E>,
    meter: &'a mut dyn Meter<E>,
}

impl<E: Clone> Log<E> for Both<'_, E> {
    fn record(&mut self, audience: Audience, event: E) {
        self.meter.record(audience.clone(), event.clone());
        self.all.push(event.clone());
        self.events.push(Logged { audience, event });
    }
}

/// Plays a match and writes it down. About every `forfeits`-th move is a forfeit.
fn play<G: Solvable>(
    rules: &G::Rules,
    bots: &mut [Box<dyn Bot<G>>],
    meter: &mut dyn Meter<G::Event>,
    chance: &mut Seeded,
    forfeits: Option<u32>,
) -> Ledger<G> {
    let solution = G::solve(rules, bots.len()).unwrap();
    let mut perfect = G::optimal(rules);
    let names = Names::new(["a", "b"].into_iter().take(bots.len())).unwrap();
    let mut audit = Audit::<G>::new(solution.clone());
    meter.restart();
    let mut log = Both { events: Vec::new(), all: Vec::new(), meter };
    let mut game = G::new(&names, rules, chance, &mut log).unwrap();
    audit.happen(&log.events);
    while let Some(&seat) = game.to_act().first() {
        let view = game.view(seat);
        let choice = match forfeits {
            Some(every) if chance.uniform(every) == 0 => Move::Forfeit,
            _ => Move::Act(bots[seat.index()].act(&view)),
        };
        // The best action is the best of the prices, and the perfect player agrees.
        let prices = solution.prices(&view);
        let highest = prices.iter().map(|price| price.value).fold(f64::NEG_INFINITY, f64::max);
        for action in [solution.best(&view), perfect.act(&view)] {
            let price = solution.price(&view, &Move::Act(action.clone()));
            assert!((price - highest).abs() < NEAR, "{action:?} for {price} in {view:?}: {prices:?}");
        }
        audit.decide(&game, std::slice::from_ref(&choice));
        log.events.clear();
        game.apply(&[choice], chance, &mut log).unwrap();
        audit.happen(&log.events);
    }
    let ledger = audit.finish(&game.outcome().unwrap());
    let luck = log.meter.luck();
    assert!((luck - ledger.luck(Seat(0))).abs() < 1e-9);
    assert_eq!(log.meter.luck_of(&log.all), luck, "all events at once");
    assert_eq!(ledger.luck(Seat(1)), -ledger.luck(Seat(0)));
    ledger
}

/// Checks everything that holds in every ledger.
fn check<G: Solvable>(ledger: &Ledger<G>, names: &[&str]) {
    assert!((ledger.sum() - (ledger.result - ledger.start)).abs() < 1e-9, "{ledger:?}");
    let mut value = ledger.start;
    let mut regrets = vec![0.0; names.len()];
    for entry in &ledger.entries {
        let (LedgerEntry::Decision { before, after, .. }
        | LedgerEntry::Roll { before, after, .. }
        | LedgerEntry::Limit { before, after }) = entry;
        assert!((before - value).abs() < NEAR, "a gap from {value}: {entry:?}");
        value = *after;
        assert!((entry.change() - (after - before)).abs() < 1e-15);
        match entry {
            LedgerEntry::Decision { seat, options, chosen, best, value, regret, .. } => {
                assert!(*regret > -NEAR, "a choice better than the best: {entry:?}");
                assert!((best - value - regret).abs() < 1e-15);
                // What one loses the other wins; alone there is only oneself.
                let loss = if seat.0 == 0 { before - after } else { after - before };
                assert!((loss - regret).abs() < NEAR, "{entry:?}");
                if let Move::Act(action) = chosen {
                    // Orders of the same dice are listed once, so it may be there in another one.
                    let near = |value: &f64| options.iter().any(|option| (option.value - value).abs() < NEAR);
                    assert!(near(value), "{action:?} has a price of its own: {entry:?}");
                    assert!(names[seat.index()] != OPTIMAL || *regret < NEAR, "{entry:?}");
                }
                regrets[seat.index()] += regret;
            }
            LedgerEntry::Roll { luck, .. } => assert!((luck - (after - before)).abs() < 1e-15),
            LedgerEntry::Limit { .. } => panic!("no limit was reached: {entry:?}"),
        }
    }
    // The last entry already has the result.
    assert!((value - ledger.result).abs() < 1e-9);
    for (&seat, regret) in Seat::all(names.len()).iter().zip(regrets) {
        assert!((ledger.regret(seat) - regret).abs() < 1e-9);
    }
}

/// Plays everyone against everyone under all rules. Returns the number of matches.
fn check_all<G: Solvable>(all_rules: &[G::Rules], line_ups: &[Vec<&str>], matches: usize) -> usize
where
    G::Rules: Sync,
{
    let play_all = |index: usize| {
        let names = &line_ups[index];
        let mut lucks = Vec::new();
        let (mut rolls, mut forfeited) = (0, 0);
        for (rules, number) in all_rules.iter().zip(0..) {
            let mut meter = G::solve(rules, names.len()).unwrap().meter();
            let mut bots: Vec<_> =
                names.iter().zip(0..).map(|(name, seat)| bot::<G>(name, rules, seat)).collect();
            let mut chance = Seeded::new(number, "ledger", index as u64);
            for count in 0..matches {
                let forfeits = (count % 2 == 1).then_some(20);
                let ledger = play(rules, &mut bots, &mut *meter, &mut chance, forfeits);
                check(&ledger, names);
                lucks.push(ledger.luck(Seat(0)));
                for entry in &ledger.entries {
                    match entry {
                        LedgerEntry::Roll { .. } => rolls += 1,
                        LedgerEntry::Decision { chosen: Move::Forfeit, .. } => forfeited += 1,
                        _ => {}
                    }
                }
            }
        }
        assert!(rolls > 0 && forfeited > 0);
        // Luck is fair, whoever plays, however badly.
        let count = lucks.len() as f64;
        let mean = lucks.iter().sum::<f64>() / count;
        let variance = lucks.iter().map(|luck| (luck - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let deviation = mean / (variance / count).sqrt();
        assert!(
            variance > 0.0 && deviation.abs() < 4.0,
            "{names:?}: mean luck {mean}, {deviation} standard errors"
        );
        lucks.len()
    };
    on_all_cores(line_ups.len(), play_all).iter().sum()
}

fn pairs<'a>(names: &[&'a str]) -> Vec<Vec<&'a str>> {
    names.iter().flat_map(|&a| names.iter().map(move |&b| vec![a, b])).collect()
}

#[test]
fn solo_adds_up() {
    let rules = ENDS.map(|out_of_dice| FIRST_ROLLS.map(|first_roll| SoloRules { out_of_dice, first_roll }));
    // The last one never stops of its own accord.
    let line_ups = [vec!["random"], vec!["cautious"], vec!["greedy"], vec![OPTIMAL], vec!["stop-at"]];
    let played = check_all::<Solo>(rules.as_flattened(), &line_ups, 1000);
    assert_eq!(played, 20_000);
}

const DICE_BOTS: [&str; 4] = ["random", "greedy", "stop-at:brains=5", OPTIMAL];

#[test]
fn races_add_up() {
    let max_rounds = Some(Bounded::new(1000));
    let rules = ENDS
        .map(|out_of_dice| FIRST_ROLLS.map(|first_roll| RaceRules { out_of_dice, first_roll, max_rounds }));
    let played = check_all::<Race>(rules.as_flattened(), &pairs(&DICE_BOTS), 250);
    assert_eq!(played, 4 * 16 * 250);
}

#[test]
fn tables_for_two_add_up() {
    let mut rules = Vec::new();
    for out_of_dice in ENDS {
        for first_roll in FIRST_ROLLS {
            let with = |tiebreak| TableRules { out_of_dice, first_roll, tiebreak, max_rounds: None };
            rules.extend(TIEBREAKS.map(with));
        }
    }
    let played = check_all::<Table>(&rules, &pairs(&DICE_BOTS), 150);
    assert_eq!(played, 8 * 16 * 150);
}

#[test]
fn tokyo_for_two_adds_up() {
    let bots = ["random", "angry", "angry:flee=0", "point-hunter", OPTIMAL];
    let played = check_all::<Tokyo>(&[TokyoRules::default()], &pairs(&bots), 150);
    assert_eq!(played, 25 * 150);
}

/// Two who never roll: the limit takes the first one's advantage away, and the ledger says so.
fn check_limit<G: Solvable>(rules: &G::Rules, share: f64) {
    let solution = G::solve(rules, 2).unwrap();
    let names = ["stop-at:shotguns=0"; 2];
    let mut bots: Vec<_> = names.iter().map(|name| bot::<G>(name, rules, 0)).collect();
    let mut chance = Seeded::new(3, "limit", 0);
    let ledger = play(rules, &mut bots, &mut *solution.clone().meter(), &mut chance, None);
    assert_eq!(ledger.result, share);
    assert!((ledger.sum() - (ledger.result - ledger.start)).abs() < 1e-9);
    let (last, others) = ledger.entries.split_last().unwrap();
    let LedgerEntry::Limit { before, after } = last else { panic!("{last:?}") };
    assert_eq!(*after, share);
    // Nothing was banked: it is the first one's turn at 0 to 0 again.
    assert!((before - ledger.start).abs() < 1e-9);
    assert_eq!(others.len(), 400, "two hundred turns each");
    assert!(others.iter().all(|entry| matches!(entry, LedgerEntry::Decision { .. })));
}

#[test]
fn a_limit_is_an_entry_of_its_own() {
    let max_rounds = Some(Bounded::new(200));
    for out_of_dice in ENDS {
        let first_roll = FirstRoll::Free;
        check_limit::<Race>(&RaceRules { out_of_dice, first_roll, max_rounds }, 0.5);
        for tiebreak in TIEBREAKS {
            check_limit::<Table>(&TableRules { out_of_dice, first_roll, tiebreak, max_rounds }, 0.5);
        }
    }
}

#[test]
fn what_is_not_solved_says_so() {
    let with = |rounds: u32| RaceRules { max_rounds: rounds.try_into().ok(), ..RaceRules::default() };
    assert!(matches!(Race::solve(&with(ROUNDS - 1), 2), Err(Unsolved::Limit { value: 199, .. })));
    assert!(Race::solve(&with(ROUNDS), 2).is_ok());
    let with = |rounds: u32| TableRules { max_rounds: rounds.try_into().ok(), ..TableRules::default() };
    assert!(matches!(Table::solve(&with(ROUNDS - 1), 2), Err(Unsolved::Limit { value: 199, .. })));
    assert!(Table::solve(&with(ROUNDS), 2).is_ok());
    assert!(matches!(Table::solve(&with(ROUNDS), 3), Err(Unsolved::Seats { seats: 3, .. })));
    let limited = TokyoRules { max_turns: Some(Bounded::new(1_000_000)) };
    assert!(matches!(Tokyo::solve(&limited, 2), Err(Unsolved::Limit { value: 1_000_000, .. })));
    assert!(matches!(Tokyo::solve(&TokyoRules::default(), 4), Err(Unsolved::Seats { seats: 4, .. })));
}
