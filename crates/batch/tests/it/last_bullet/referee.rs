//! The batch plays exactly the referee's matches. Both ask streams with the same seed the same questions, including the four for
//! the secret order of identity numbers, so only shots need translating: the batch shoots at squares,
//! the referee at numbers.

use super::{Run, Style, choose, rules};
use necrodome_batch::{
    batched::Autoreset,
    last_bullet::observe::{ACTIONS, CELLS, mask, observe, order},
    stream::Stream,
};
use necrodome_rules::{
    game::{Game, Move, Seat, Silent},
    last_bullet::{Action, LastBullet, LastBulletRules, LastBulletView},
    names::Names,
};
use proptest::prelude::*;

/// The referee's match.
struct Twin {
    names: Names,
    rules: LastBulletRules,
    stream: Stream,
    game: LastBullet,
}

impl Twin {
    fn new(seed: u64, entries: usize, rules: LastBulletRules) -> Self {
        let names = Names::new((0..entries).map(|entry| format!("entry {entry}"))).unwrap();
        let mut stream = Stream::new(seed);
        let game = begin(&names, &rules, &mut stream);
        Twin { names, rules, stream, game }
    }

    fn restart(&mut self) {
        self.game = begin(&self.names, &self.rules, &mut self.stream);
    }

    fn views(&self) -> impl Iterator<Item = LastBulletView> {
        Seat::all(self.names.len()).iter().map(|&seat| self.game.view(seat))
    }

    fn play(&mut self, actions: &[u8]) {
        let decide = |&seat: &Seat| {
            let view = self.game.view(seat);
            let order = |copy| order(copy, actions[copy.number as usize].into()).unwrap();
            Move::Act(Action { orders: view.copies.iter().map(order).collect() })
        };
        let moves: Vec<_> = self.game.to_act().iter().map(decide).collect();
        self.game.apply(&moves, &mut self.stream, &mut Silent).unwrap();
        self.game.invariants().unwrap();
    }

    /// Compares everything that is known of a world.
    fn check(&self, run: &Run, world: usize) {
        let ours: Vec<_> = run.batch.pieces(world).collect();
        let theirs: Vec<_> = self.game.pieces().iter().map(|p| (p.kind, p.square, p.bullets)).collect();
        assert_eq!(ours, theirs, "pieces");
        assert_eq!(run.batch.clock(world), self.game.clock(), "clock");
        assert_eq!(run.batch.is_over(world), self.game.to_act().is_empty(), "over");
        assert_eq!(run.batch.side(), self.game.side(), "side");

        let rows = run.rows_of_a_world();
        let mut seen = vec![[0; CELLS]; rows];
        // The dead can only stay.
        let mut can = vec![std::array::from_fn::<bool, ACTIONS, _>(|action| action == 4); rows];
        let mut lives = vec![false; rows];
        for view in self.views() {
            for copy in &view.copies {
                let row = copy.number as usize;
                observe(&view, copy, &mut seen[row]);
                mask(copy, &mut can[row]);
                // Whoever is left when a match is cut off has nothing more to decide.
                lives[row] = !self.game.to_act().is_empty();
            }
        }
        let here = world * rows..(world + 1) * rows;
        assert!(
            run.written.obs[here.start * CELLS..here.end * CELLS] == *seen.as_flattened(),
            "observations"
        );
        assert!(run.masks()[here.start * ACTIONS..here.end * ACTIONS] == *can.as_flattened(), "masks");
        assert_eq!(run.alive()[here], lives, "who lives");
    }
}

/// Begins a match in which somebody lives to decide.
fn begin(names: &Names, rules: &LastBulletRules, stream: &mut Stream) -> LastBullet {
    loop {
        let game = LastBullet::new(names, rules, stream, &mut Silent).unwrap();
        if !game.to_act().is_empty() {
            return game;
        }
    }
}

/// Plays batch and referees side by side, over the ends of matches, and compares after every step. Returns how many matches
/// have ended.
fn compare(
    seed: u64,
    worlds: u64,
    entries: usize,
    rules: LastBulletRules,
    style: Style,
    steps: usize,
) -> u32 {
    let seeds: Vec<u64> = (0..worlds).map(|world| seed ^ world << 32).collect();
    let mut run = Run::new(&seeds, entries, &rules, 1);
    let mut twins: Vec<Twin> = seeds.iter().map(|&seed| Twin::new(seed, entries, rules)).collect();
    twins.iter().enumerate().for_each(|(world, twin)| twin.check(&run, world));
    let rows = run.rows_of_a_world();
    let mut chance = Stream::new(seed + 1);
    let mut ended = 0;
    for _ in 0..steps {
        let actions = choose(style, &run.masks(), &mut chance);
        let lived = run.alive();
        run.step(&actions, Autoreset::NextStep);
        for (world, (twin, actions)) in twins.iter_mut().zip(actions.chunks_exact(rows)).enumerate() {
            let begins = twin.game.to_act().is_empty();
            if begins {
                ended += 1;
                twin.restart();
            } else {
                twin.play(actions);
            }
            twin.check(&run, world);
            let over = twin.game.to_act().is_empty();
            let mut lives = vec![false; rows];
            for view in twin.views() {
                view.copies.iter().for_each(|copy| lives[copy.number as usize] = true);
            }
            for (row, lives) in (world * rows..).zip(lives) {
                let played = lived[row] && !begins;
                assert_eq!(run.written.rewards[row], f32::from(played && lives));
                assert_eq!(run.written.terminated[row], played && !lives);
                assert_eq!(run.written.truncated[row], played && lives && over);
            }
        }
    }
    ended
}

#[test]
fn the_usual_match_is_the_referees() {
    for style in [Style::Random, Style::Walk, Style::Shoot, Style::Mixed] {
        compare(5, 1, 20, LastBulletRules::default(), style, 120);
    }
}

#[test]
fn small_and_lonely_worlds_are_the_referees() {
    assert!(compare(6, 3, 1, rules(1, 1.0, None), Style::Mixed, 400) > 3);
    compare(7, 1, 3, rules(1, 0.000_05, Some(40)), Style::Walk, 60);
}

/// Tests more entries than a byte can tell apart.
#[test]
fn a_crowd_of_entries_is_the_referees() {
    compare(9, 1, 500, rules(1, 0.3, None), Style::Mixed, 25);
    compare(10, 1, 252, rules(2, 0.1, None), Style::Shoot, 15);
}

#[test]
fn a_board_without_an_empty_square_is_the_referees() {
    assert!(compare(8, 1, 17, rules(17, 1.0, Some(30)), Style::Mixed, 100) > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_match_is_the_referees(
        seed in any::<u64>(),
        entries in 1usize..8,
        copies in 1u32..40,
        density in 0.02f64..1.0,
        max_turns in prop::option::of(1u32..60),
        style in prop::sample::select(vec![Style::Random, Style::Walk, Style::Shoot, Style::Mixed]),
    ) {
        compare(seed >> 1, 2, entries, rules(copies, density, max_turns), style, 80);
    }
}
