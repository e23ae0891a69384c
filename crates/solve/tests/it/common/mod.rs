//! Shared parts of several tests. Above all a second way to the values of a turn: it finds the positions by playing with
//! the referee's dice, and shares no line with the solver.

use necrodome_rules::{
    chance::enumerate,
    zombie_dice::{Counts, Die, OutOfDice, Rolled, Turn},
};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// The paths of a roll, which asks for at most three colours and three faces.
pub const PATHS: u64 = 729;

/// What identifies a position: cup, footsteps, shotguns. The brains are counted beside it.
type Key = (Counts, Counts, Counts);

/// A hand that a turn can roll, with its probability.
pub type Hand = ([Die; 3], f64);

/// A position of a turn in which the player may roll.
pub struct Node {
    /// One turn that is in this position.
    pub turn: Turn,
    /// Brain dice set aside.
    pub aside: u32,
    /// The chance that a roll busts.
    pub bust: f64,
    /// The chance that a roll shows three footsteps again.
    pub again: f64,
    /// The other positions that a roll leads to, if the turn goes on.
    pub edges: Vec<Edge>,
    /// Brains that a roll brings when it uses up the dice, and how often.
    pub out: Vec<(u32, f64)>,
}

/// A roll after which the turn goes on.
pub struct Edge {
    /// The position after it.
    pub target: usize,
    /// The brains that it brings.
    pub gain: u32,
    /// How often it comes.
    pub weight: f64,
}

/// All positions of a turn, in an order in which only recycling leads back.
pub struct Turns {
    pub nodes: Vec<Node>,
}

/// The values of the positions, by brains that have gone back into the cup.
pub struct Values {
    pub layers: Vec<Option<Layer>>,
}

#[derive(Clone)]
pub struct Layer {
    /// The value of rolling; NaN where nobody rolls any more.
    pub go: Vec<f64>,
    /// The value of the better choice.
    pub value: Vec<f64>,
}

impl Turns {
    /// Finds the positions, with the shotguns told apart by colour, as the referee has them, or only by their number.
    pub fn new(out_of_dice: OutOfDice, coloured: bool) -> Self {
        let key = |turn: &Turn| -> Key {
            let shots = turn.shotgun_dice();
            let number = Counts { green: shots.total(), ..Counts::default() };
            (turn.cup(), turn.footsteps(), if coloured { shots } else { number })
        };
        let mut known: BTreeMap<Key, Turn> = BTreeMap::from([(key(&Turn::START), Turn::START)]);
        let mut rolls: BTreeMap<Key, BTreeMap<(Option<Key>, u32), f64>> = BTreeMap::new();
        // What comes depends on cup and footsteps only: walked once for each.
        let mut hands: BTreeMap<(Counts, Counts), Vec<Hand>> = BTreeMap::new();
        let mut open = vec![Turn::START];
        while let Some(turn) = open.pop() {
            let hands =
                hands.entry((turn.cup(), turn.footsteps())).or_insert_with(|| hands_of(turn, out_of_dice));
            let mut ends: BTreeMap<(Option<Key>, u32), f64> = BTreeMap::new();
            for &(hand, weight) in hands.iter() {
                let mut next = turn;
                let gain = |next: &Turn| next.brains() - turn.brains();
                let end = match next.land(hand, out_of_dice).unwrap() {
                    Rolled::Busted => (None, u32::MAX),
                    Rolled::OutOfDice => (None, gain(&next)),
                    Rolled::GoOn => {
                        known.entry(key(&next)).or_insert_with(|| {
                            open.push(next);
                            next
                        });
                        (Some(key(&next)), gain(&next))
                    }
                };
                *ends.entry(end).or_default() += weight;
            }
            rolls.insert(key(&turn), ends);
        }
        let mut order: Vec<Key> = known.keys().copied().collect();
        let aside = |(cup, feet, shots): &Key| 13 - u32::from(cup.total() + feet.total() + shots.total());
        order.sort_by_key(|key| (aside(key), key.2.total(), 13 - key.0.total(), *key));
        let number: BTreeMap<Key, usize> =
            order.iter().zip(0..).map(|(&key, number)| (key, number)).collect();
        let node = |key: &Key| {
            let mut node = Node {
                turn: known[key],
                aside: aside(key),
                bust: 0.0,
                again: 0.0,
                edges: Vec::new(),
                out: Vec::new(),
            };
            for (&(target, gain), &weight) in &rolls[key] {
                match target {
                    None if gain == u32::MAX => node.bust = weight,
                    None => node.out.push((gain, weight)),
                    Some(target) if target == *key => node.again = weight,
                    Some(target) => node.edges.push(Edge { target: number[&target], gain, weight }),
                }
            }
            node
        };
        Turns { nodes: order.iter().map(node).collect() }
    }

    /// The values if banking b brains is worth `banked[b]` and a lost turn `bust`. From `cap` brains on the player
    /// stops. If `every` layer is asked for, the values of turns that began with brains are included.
    pub fn evaluate(&self, banked: &[f64], bust: f64, cap: u32, every: bool) -> Values {
        let mut layers: Vec<Option<Layer>> = vec![None; cap as usize + 1];
        let recycles = self
            .nodes
            .iter()
            .any(|node| node.edges.iter().any(|edge| node.aside + edge.gain > self.nodes[edge.target].aside));
        for extra in (0..=cap).rev() {
            // Recycled are all dice but two shotguns and two more, at least.
            if extra > 0 && !every && !(recycles && extra >= 9) {
                continue;
            }
            let mut layer =
                Layer { go: vec![f64::NAN; self.nodes.len()], value: vec![f64::NAN; self.nodes.len()] };
            for (number, node) in self.nodes.iter().enumerate().rev() {
                let brains = extra + node.aside;
                let stop = banked[(brains as usize).min(banked.len() - 1)];
                if brains >= cap {
                    layer.value[number] = stop;
                    continue;
                }
                let mut sum = node.bust * bust;
                for &(gain, weight) in &node.out {
                    sum += weight * banked[((brains + gain) as usize).min(banked.len() - 1)];
                }
                for edge in &node.edges {
                    let later = brains + edge.gain - self.nodes[edge.target].aside;
                    let value = match layers.get(later as usize) {
                        _ if brains + edge.gain >= cap => {
                            banked[((brains + edge.gain) as usize).min(banked.len() - 1)]
                        }
                        _ if later == extra => layer.value[edge.target],
                        Some(Some(layer)) => layer.value[edge.target],
                        _ => f64::NAN,
                    };
                    sum += edge.weight * value;
                }
                // Three footsteps again: the same question once more. Who rolls then rolls for ever.
                let rolls = sum / (1.0 - node.again);
                let value = rolls.max(stop);
                layer.go[number] = sum + node.again * value;
                layer.value[number] = value;
            }
            layers[extra as usize] = Some(layer);
        }
        Values { layers }
    }
}

impl Turns {
    /// The positions that a turn can reach below `cap` brains, by brains that have gone back and position.
    pub fn reachable(&self, cap: u32) -> Vec<Vec<bool>> {
        let mut reachable = vec![vec![false; self.nodes.len()]; cap as usize + 1];
        reachable[0][0] = true;
        for extra in 0..=cap {
            for (number, node) in self.nodes.iter().enumerate() {
                if !reachable[extra as usize][number] {
                    continue;
                }
                for edge in &node.edges {
                    let brains = extra + node.aside + edge.gain;
                    if brains < cap {
                        reachable[(brains - self.nodes[edge.target].aside) as usize][edge.target] = true;
                    }
                }
            }
        }
        reachable
    }
}

/// Every hand that a turn can roll, with its probability.
pub fn hands_of(turn: Turn, out_of_dice: OutOfDice) -> Vec<Hand> {
    let hands = enumerate(PATHS, |chance| {
        let mut turn = turn;
        turn.roll(out_of_dice, chance);
        turn.hand().unwrap()
    });
    hands.unwrap().into_iter().map(|(hand, p)| (hand, *p.numer() as f64 / *p.denom() as f64)).collect()
}

/// Runs pieces of work on all cores and returns the results in order. It uses separate threads: a thread that waits for a
/// solution must not hold up the threads that solve.
pub fn on_all_cores<T: Send>(pieces: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return done;
            }
            done.push((piece, work(piece)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, Into::into);
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    done.sort_by_key(|(piece, _)| *piece);
    done.into_iter().map(|(_, result)| result).collect()
}
