//! The audit of the statistics: draws thousands of tournaments from real blocks, and compares the printed numbers with the truth,
//! which is known because it is that of all these blocks.
//!
//! `scripts/coverage` runs all of it and prints a table; the test here runs a small part and fails if a promise is broken.

use necrodome_arena::{
    entry::EntrySpec,
    stats::{Confidence, Design, Estimate, Match, Measure, RankBy, Standings, Tally, Verdict, is_look},
    tournament::{Format, Plan, PlannedEntry, Schedule, Store, matches, run},
};
use necrodome_rules::{
    catalog::{GameId, Listed},
    chance::{Chance, Seeded},
    with_game,
};
use std::{path::Path, sync::atomic::AtomicBool};

/// A line-up to audit.
pub struct LineUp {
    pub game: &'static str,
    pub format: Format,
    /// Entries; those with the same name before `=` are twins.
    pub bots: &'static [&'static str],
    /// Blocks that are played, and drawn from.
    pub pool: u32,
}

pub const LINE_UPS: [LineUp; 8] = [
    LineUp {
        game: "zombie-dice-race",
        format: Format::RoundRobin,
        bots: &["greedy", "cautious"],
        pool: 20_000,
    },
    LineUp {
        game: "zombie-dice-race",
        format: Format::RoundRobin,
        bots: &["optimal", "random", "greedy"],
        pool: 20_000,
    },
    LineUp {
        game: "zombie-dice",
        format: Format::Table,
        bots: &["greedy", "twin=greedy", "cautious"],
        pool: 20_000,
    },
    LineUp {
        game: "zombie-dice",
        format: Format::Table,
        bots: &["cautious", "twin=cautious", "third=cautious", "fourth=cautious", "fifth=cautious"],
        pool: 20_000,
    },
    LineUp {
        game: "zombie-dice-solo",
        format: Format::RoundRobin,
        bots: &["greedy", "optimal", "cautious"],
        pool: 20_000,
    },
    LineUp {
        game: "tokyo",
        format: Format::Table,
        bots: &["angry", "twin=angry", "point-hunter", "random"],
        pool: 10_000,
    },
    LineUp {
        game: "tokyo",
        format: Format::Gauntlet,
        bots: &["angry", "twin=angry", "point-hunter"],
        pool: 10_000,
    },
    LineUp {
        game: "last-bullet",
        format: Format::Battle,
        bots: &["gunner", "twin=gunner", "huddle"],
        pool: 1_000,
    },
];

/// Real blocks of a line-up.
pub struct Pool {
    design: Design,
    /// By block: entries, places, scores and luck of each match.
    blocks: Vec<Vec<Played>>,
    twins: Vec<(usize, usize)>,
}

#[derive(Clone)]
struct Played {
    entries: Vec<usize>,
    places: Vec<u16>,
    scores: Vec<i64>,
    luck: Option<Vec<f64>>,
}

impl Pool {
    pub fn play(line_up: &LineUp, blocks: u32) -> Pool {
        let game: GameId = line_up.game.parse().unwrap();
        with_game!(game, G => Self::play_game::<G>(line_up, blocks))
    }

    fn play_game<G: Listed>(line_up: &LineUp, blocks: u32) -> Pool {
        let bots: Vec<(&str, &str)> =
            line_up.bots.iter().map(|bot| bot.split_once('=').unwrap_or((bot, bot))).collect();
        let count = bots.len();
        let seats = match line_up.format {
            Format::Table | Format::Battle => count,
            Format::RoundRobin | Format::Gauntlet => 2.clamp(*G::SEATS.start(), *G::SEATS.end()),
        };
        let plan = Plan {
            options: serde_json::to_value(G::Rules::default()).unwrap(),
            ..Plan::new(
                G::ID,
                bots.iter().map(|&(name, bot)| PlannedEntry::new(name, bot)).collect(),
                line_up.format,
                seats,
                blocks,
                1,
            )
        };
        let entries: Vec<EntrySpec> =
            bots.iter().map(|(_, bot)| EntrySpec::parse(bot, Path::new(".")).unwrap()).collect();
        let mut store = Store::in_memory(&plan).unwrap();
        run(&plan, &entries, &"unused".into(), &mut store, 2, &AtomicBool::new(false), &mut |_| {}).unwrap();
        let schedule = Schedule::new(&plan, G::SEATS).unwrap();
        let mut pool: Vec<Vec<Played>> = (0..blocks).map(|_| Vec::new()).collect();
        for game in matches(&schedule, &store, 0, usize::MAX).unwrap() {
            let luck =
                game.luck.map(|luck| [f64::from(luck), -f64::from(luck)][..game.entries.len()].to_vec());
            let (places, scores) = (game.result.places, game.result.scores);
            pool[game.block as usize].push(Played { entries: game.entries, places, scores, luck });
        }
        if seats == 1 {
            pool = pool.into_iter().map(together).collect();
        }
        let measure = match line_up.format {
            _ if seats == 1 => Measure::MeanScore,
            Format::Table | Format::RoundRobin => Measure::WinRate,
            Format::Gauntlet => Measure::AgainstFirst,
            Format::Battle => Measure::MedianScore,
        };
        let rotates = line_up.format != Format::Battle && seats > 1;
        let design =
            Design { entries: count, seats: seats.max(if seats == 1 { count } else { 1 }), measure, rotates };
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let twins = pairs.filter(|&(a, b)| bots[a].1 == bots[b].1).collect();
        let mut pool = Pool { design, blocks: pool, twins };
        pool.exchange_twins();
        pool.centre_luck();
        pool
    }

    /// Twins are equal in truth, but not in these blocks, which are all that there is here: so every block is there once more for each
    /// way to exchange the twins that sit together.
    fn exchange_twins(&mut self) {
        let is_twin = |entry: usize| self.twins.iter().any(|&(a, b)| a == entry || b == entry);
        let twins: Vec<usize> = (0..self.design.entries).filter(|&entry| is_twin(entry)).collect();
        let exchanged = |block: &Vec<Played>, by: usize| -> Vec<Played> {
            let game = |played: &Played| {
                let here: Vec<usize> =
                    twins.iter().copied().filter(|twin| played.entries.contains(twin)).collect();
                let other = |&entry: &usize| match here.iter().position(|&twin| twin == entry) {
                    Some(place) => here[(place + by) % here.len()],
                    None => entry,
                };
                Played { entries: played.entries.iter().map(other).collect(), ..played.clone() }
            };
            block.iter().map(game).collect()
        };
        let more: Vec<Vec<Played>> = (1..twins.len())
            .flat_map(|by| self.blocks.iter().map(move |block| exchanged(block, by)))
            .collect();
        self.blocks.extend(more);
    }

    /// The expectation of luck is zero, but not that of the luck in these blocks, which are all that there is here.
    fn centre_luck(&mut self) {
        let mut sums = vec![(0.0, 0.0); self.design.entries];
        for played in self.blocks.iter().flatten() {
            for (&entry, luck) in played.entries.iter().zip(played.luck.iter().flatten()) {
                sums[entry] = (sums[entry].0 + luck, sums[entry].1 + 1.0);
            }
        }
        for played in self.blocks.iter_mut().flatten() {
            for (&entry, luck) in played.entries.iter().zip(played.luck.iter_mut().flatten()) {
                *luck -= sums[entry].0 / sums[entry].1;
            }
        }
    }

    fn add(&self, tally: &mut Tally, block: usize) {
        tally.add(self.blocks[block].iter().map(|played| Match {
            entries: &played.entries,
            places: &played.places,
            scores: &played.scores,
            luck: played.luck.as_deref(),
        }));
    }

    /// What is true: the standings of all blocks.
    fn truth(&self) -> (Standings, Vec<f64>) {
        let mut tally = Tally::new(self.design);
        (0..self.blocks.len()).for_each(|block| self.add(&mut tally, block));
        let standings = tally.standings(Confidence::Fixed, RankBy::Plain);
        let value = |entry: usize| {
            let record = &standings.records[entry];
            match self.design.measure {
                Measure::WinRate => record.win_rate.unwrap().mean,
                Measure::AgainstFirst if entry == 0 => 0.5,
                Measure::AgainstFirst => record.win_rate.unwrap().mean,
                Measure::MeanScore => record.mean_score.unwrap().mean,
                Measure::MedianScore => record.median_score.unwrap().mean,
            }
        };
        let values = (0..self.design.entries).map(value).collect();
        (standings, values)
    }

    /// Draws a tournament of so many blocks.
    fn draw(&self, blocks: u32, seed: u64) -> Tally {
        let mut chance = Seeded::new(seed, "audit", blocks.into());
        let mut tally = Tally::new(self.design);
        for _ in 0..blocks {
            self.add(&mut tally, chance.uniform(self.blocks.len() as u32) as usize);
        }
        tally
    }
}

/// Those who play alone, as if they had played together.
fn together(block: Vec<Played>) -> Vec<Played> {
    let scores: Vec<i64> = block.iter().map(|played| played.scores[0]).collect();
    let place = |score: &i64| 1 + scores.iter().filter(|other| *other > score).count() as u16;
    let luck: Option<Vec<f64>> = block.iter().map(|played| Some(played.luck.as_ref()?[0])).collect();
    let entries = block.iter().map(|played| played.entries[0]).collect();
    vec![Played { entries, places: scores.iter().map(place).collect(), scores, luck }]
}

/// How often each promise was kept.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Win rate, luck-adjusted, place, score, median, head to head, rating: those that hold the truth, and all.
    pub intervals: [(u32, u32); 7],
    /// Tournaments in which every true rank was allowed.
    pub ranks: u32,
    /// Tournaments in which twins were told apart.
    pub twins: u32,
    /// Tournaments.
    pub runs: u32,
}

pub const INTERVALS: [&str; 7] = ["win rate", "adjusted", "place", "score", "median", "pairs", "rating"];

impl Kept {
    pub fn share(&self, interval: usize) -> Option<f64> {
        let (held, all) = self.intervals[interval];
        (all > 0).then(|| f64::from(held) / f64::from(all))
    }
}

/// Draws many tournaments of a size, and counts what held.
pub fn audit(pool: &Pool, blocks: u32, runs: u32) -> Kept {
    let (truth, values) = pool.truth();
    let mut kept = Kept { runs, ..Kept::default() };
    for run in 0..runs {
        let standings = pool.draw(blocks, run.into()).standings(Confidence::Fixed, RankBy::default());
        let mut note = |kind: usize, estimate: Option<Estimate>, truth: f64| {
            if let Some(Estimate { low: Some(low), high: Some(high), .. }) = estimate {
                let (held, all) = &mut kept.intervals[kind];
                *held += u32::from(low - 1e-9 <= truth && truth <= high + 1e-9);
                *all += 1;
            }
        };
        for (entry, &value) in values.iter().enumerate() {
            let (drawn, real) = (&standings.records[entry], &truth.records[entry]);
            note(0, drawn.win_rate, real.win_rate.unwrap().mean);
            note(1, standings.adjusted[entry].map(|adjusted| adjusted.estimate), value);
            note(2, drawn.mean_place, real.mean_place.unwrap().mean);
            note(3, drawn.mean_score, real.mean_score.unwrap().mean);
            note(4, drawn.median_score, real.median_score.map_or(0.0, |score| score.mean));
            for other in entry + 1..pool.design.entries {
                let real = truth.head_to_head[entry][other].better;
                note(
                    5,
                    standings.head_to_head[entry][other].better.filter(|_| real.is_some()),
                    real.map_or(0.0, |real| real.mean),
                );
            }
            let (rating, real) = (standings.ratings[entry], truth.ratings[entry]);
            // One end may be open; the scale is that of the entries that have won and lost, in the draw as in truth.
            let open = Estimate {
                mean: rating.elo,
                low: rating.low.or(Some(f64::MIN)),
                high: rating.high.or(Some(f64::MAX)),
            };
            note(6, Some(open).filter(|_| rating.low.or(rating.high).is_some()), real.elo);
        }
        let rank_of = |entry: usize| {
            let equal = |a: usize, b: usize| pool.twins.contains(&(a.min(b), a.max(b)));
            let better = (0..values.len())
                .filter(|&other| values[other] > values[entry] && !equal(other, entry))
                .count();
            let level = (0..values.len()).filter(|&other| other != entry && equal(other, entry)).count();
            (better + 1, better + 1 + level)
        };
        let ranks_held = (0..values.len()).all(|entry| {
            let (ranks, (best, worst)) = (standings.ranking.ranks[entry], rank_of(entry));
            ranks.best <= worst && best <= ranks.worst
        });
        kept.ranks += u32::from(ranks_held);
        let told_apart = |&(a, b): &(usize, usize)| {
            let [a, b] = [a, b].map(|entry| standings.ranking.ranks[entry]);
            a.worst < b.best || b.worst < a.best
        };
        kept.twins += u32::from(pool.twins.iter().any(told_apart));
    }
    kept
}

/// Plays tournaments that stop when they are decided, of twins only: how many stop. And how many confidence sequences of a
/// win rate ever miss the truth.
pub fn audit_stops(pool: &Pool, most: u32, runs: u32) -> (u32, u32) {
    let (truth, _) = pool.truth();
    let (mut stopped, mut missed) = (0, 0);
    for run in 0..runs {
        let mut chance = Seeded::new(u64::from(run), "stops", 0);
        let mut tally = Tally::new(pool.design);
        let (mut stops, mut misses) = (false, false);
        for block in 1..=u64::from(most) {
            pool.add(&mut tally, chance.uniform(pool.blocks.len() as u32) as usize);
            if !is_look(block) {
                continue;
            }
            stops |= tally.verdict(RankBy::default(), None) == Verdict::Decided;
            let standings = tally.standings(Confidence::Anytime, RankBy::default());
            let estimate = standings.records[0].win_rate.unwrap();
            let real = truth.records[0].win_rate.unwrap().mean;
            misses |=
                estimate.low.is_some_and(|low| low > real) || estimate.high.is_some_and(|high| high < real);
        }
        stopped += u32::from(stops);
        missed += u32::from(misses);
    }
    (stopped, missed)
}

#[test]
fn intervals_hold_and_twins_are_not_told_apart() {
    for (line_up, blocks, runs) in [(1, 60, 200), (2, 60, 200), (4, 60, 200), (5, 60, 150), (7, 30, 150)] {
        let line_up = &LINE_UPS[line_up];
        let kept = audit(&Pool::play(line_up, line_up.pool / 20 + 300), blocks, runs);
        for (kind, name) in INTERVALS.iter().enumerate() {
            // 95% expected. The intervals of a tournament are not independent, so that the share varies by about 1.5%.
            let share = kept.share(kind).unwrap_or(1.0);
            assert!(
                share >= 0.905,
                "{} {:?}: {share} of the intervals of {name} hold",
                line_up.game,
                line_up.format
            );
        }
        let [ranks, twins] = [kept.ranks, kept.twins].map(|count| f64::from(count) / f64::from(kept.runs));
        assert!(ranks >= 0.92, "{}: ranks hold in {ranks} of the tournaments", line_up.game);
        assert!(twins <= 0.10, "{}: twins are told apart in {twins} of the tournaments", line_up.game);
    }
}

#[test]
fn looking_again_and_again_does_not_tell_twins_apart() {
    let line_up = LineUp {
        game: "zombie-dice",
        format: Format::Table,
        bots: &["cautious", "twin=cautious"],
        pool: 2000,
    };
    let (stopped, missed) = audit_stops(&Pool::play(&line_up, line_up.pool), 200, 100);
    // At most 5 expected, standard deviation 2.2.
    assert!(stopped <= 11 && missed <= 11, "{stopped} stopped and {missed} missed of 100");
}
