//! The positions of a turn as a player sees them: all three dice of the hand, and the colours of all dice set aside.
//! For bots that may look at anything.

use super::graph::{Ways, all_states, hands, minus, plus, sort};
use necrodome_rules::zombie_dice::{Counts, DICE, Die, Face, OutOfDice, TurnView};
use std::collections::HashMap;

/// A position before a roll.
#[derive(Debug, Clone, Copy)]
struct Source {
    cup: Counts,
    feet: Counts,
    shots: Counts,
    aside: u8,
}

/// A position after a roll, where the player decides.
#[derive(Debug, Clone, Copy)]
struct Node {
    hand: [Die; 3],
    /// The source of a further roll.
    source: u32,
}

/// The result of a roll.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Edge {
    /// The dice are used up; this many brains are set aside.
    Out { aside: u8 },
    /// A decision; this many brains have gone back into the cup.
    Node { node: u32, recycled: u8 },
}

/// The probability below which a position counts as stopped: with recycling a bot can roll on forever, and busts sooner or
/// later. All ignored positions together are far below a rounding error.
const NEGLIGIBLE: f64 = 1e-24;

/// All positions, in an order in which a roll never leads back.
#[derive(Debug)]
pub(crate) struct FullGraph {
    sources: Vec<Source>,
    nodes: Vec<Node>,
    edges_of: Vec<u32>,
    edges: Vec<(Edge, f64)>,
    bust: Vec<f64>,
    start: usize,
}

impl FullGraph {
    pub fn new(out_of_dice: OutOfDice) -> Self {
        // Colours matter here in any case.
        let mut states = all_states(OutOfDice::RecycleBrains);
        sort(&mut states);
        let sources: Vec<Source> = states
            .iter()
            .map(|state| Source { cup: state.cup, feet: state.feet, shots: state.shots, aside: state.aside })
            .collect();
        let number: HashMap<(Counts, Counts, Counts), u32> =
            sources.iter().zip(0..).map(|(s, number)| ((s.cup, s.feet, s.shots), number)).collect();
        let mut nodes = Vec::new();
        let mut known: HashMap<(u32, [Die; 3]), u32> = HashMap::new();
        let (mut edges_of, mut edges, mut bust) = (vec![0], Vec::new(), Vec::new());
        let throws = HandThrows::new();
        for source in &sources {
            let mut lost = 0.0;
            for (drawn, drawn_ways) in hands(source.cup, 3 - source.feet.total()) {
                let cup = minus(source.cup, drawn);
                let Ways { of: all, .. } = drawn_ways;
                let chance = f64::from(drawn_ways.ways) / f64::from(all);
                for throw in throws.of(plus(source.feet, drawn)) {
                    let weight = chance * f64::from(throw.weight) / 216.0;
                    let shots = plus(source.shots, throw.shots);
                    if shots.total() >= 3 {
                        lost += weight;
                        continue;
                    }
                    let aside = source.aside + throw.brains;
                    let mut recycled = 0;
                    let mut target = (cup, throw.feet, shots);
                    if cup.total() + throw.feet.total() < 3 {
                        if out_of_dice == OutOfDice::EndTurn {
                            edges.push((Edge::Out { aside }, weight));
                            continue;
                        }
                        recycled = aside;
                        target.0 = minus(minus(DICE, throw.feet), shots);
                    }
                    let target = number[&target];
                    let node = *known.entry((target, throw.hand)).or_insert_with(|| {
                        nodes.push(Node { hand: throw.hand, source: target });
                        nodes.len() as u32 - 1
                    });
                    edges.push((Edge::Node { node, recycled }, weight));
                }
            }
            edges_of.push(edges.len() as u32);
            bust.push(lost);
        }
        let none = Counts::default();
        let start = number[&(DICE, none, none)] as usize;
        FullGraph { sources, nodes, edges_of, edges, bust, start }
    }

    /// Returns how often a turn banks each number of brains (a lost turn banks none). `rolls` returns the probability to roll in
    /// every view that comes up; it sees each view once. The first roll is made. `progress` is called with the share of the work
    /// that is done, from 0 to 1 (dice that go back into the cup make it longer).
    pub fn banks<E>(
        &self,
        mut rolls: impl FnMut(&TurnView) -> Result<f64, E>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Vec<f64>, E> {
        let mut banks = vec![0.0; 1];
        // By layer (brains that have gone back) and source: the probability to roll from there.
        let mut rolling: Vec<Vec<f64>> = vec![vec![0.0; self.sources.len()]];
        rolling[0][self.start] = 1.0;
        let mut answers: Vec<Vec<Option<f64>>> = Vec::new();
        let mut layer = 0;
        while layer < rolling.len() {
            let mut mass = std::mem::take(&mut rolling[layer]);
            for source in 0..mass.len() {
                let own = mass[source];
                if layer == 0 {
                    progress(source as f64 / mass.len() as f64);
                }
                let mut bank = |brains: usize, mass: f64| {
                    if mass > 0.0 {
                        banks.resize(banks.len().max(brains + 1), 0.0);
                        banks[brains] += mass;
                    }
                };
                if own < NEGLIGIBLE {
                    bank(self.brains(source, layer), own);
                    continue;
                }
                let mut ask = |node: u32, extra: usize| {
                    answers.resize_with(answers.len().max(extra + 1), Vec::new);
                    answers[extra].resize(self.nodes.len(), None);
                    let answer = &mut answers[extra][node as usize];
                    match *answer {
                        Some(answer) => Ok(answer),
                        None => rolls(&self.view(node as usize, extra as u32))
                            .inspect(|&said| *answer = Some(said)),
                    }
                };
                let edges = &self.edges[self.edges_of[source] as usize..self.edges_of[source + 1] as usize];
                // Three footsteps that are rolled again come back to where they were: sum the series first.
                let mut own = own;
                if self.sources[source].feet.total() == 3 {
                    for &(edge, weight) in edges {
                        match edge {
                            Edge::Node { node, recycled: 0 } if self.leads_back(node, source) => {
                                let chance = ask(node, layer)?;
                                own /= 1.0 - weight * chance;
                                bank(self.brains(source, layer), own * weight * (1.0 - chance));
                            }
                            _ => {}
                        }
                    }
                }
                bank(0, own * self.bust[source]);
                for &(edge, weight) in edges {
                    let moved = own * weight;
                    match edge {
                        Edge::Out { aside } => bank(layer + usize::from(aside), moved),
                        Edge::Node { node, recycled: 0 } if self.leads_back(node, source) => {}
                        Edge::Node { node, recycled } => {
                            let target = self.nodes[node as usize].source as usize;
                            let extra = layer + usize::from(recycled);
                            let chance = ask(node, extra)?;
                            bank(self.brains(target, extra), moved * (1.0 - chance));
                            if extra == layer {
                                mass[target] += moved * chance;
                            } else if chance > 0.0 {
                                rolling.resize_with(rolling.len().max(extra + 1), Vec::new);
                                rolling[extra].resize(self.sources.len(), 0.0);
                                rolling[extra][target] += moved * chance;
                            }
                        }
                    }
                }
            }
            layer += 1;
        }
        Ok(banks)
    }

    fn leads_back(&self, node: u32, source: usize) -> bool {
        self.nodes[node as usize].source as usize == source
    }

    fn brains(&self, source: usize, extra: usize) -> usize {
        extra + usize::from(self.sources[source].aside)
    }

    fn view(&self, node: usize, extra: u32) -> TurnView {
        let Node { hand, source } = self.nodes[node];
        let Source { cup, feet, shots, aside } = self.sources[source as usize];
        TurnView {
            brains: extra + u32::from(aside),
            shotguns: shots.total(),
            hand: Some(hand),
            cup,
            brain_dice: minus(minus(minus(DICE, cup), feet), shots),
        }
    }
}

/// One way in which three dice can fall, die by die.
struct HandThrow {
    hand: [Die; 3],
    brains: u8,
    feet: Counts,
    shots: Counts,
    /// How many of the 216 falls are like this.
    weight: u32,
}

/// All ways in which three dice can fall, by their colours.
struct HandThrows(HashMap<Counts, Vec<HandThrow>>);

impl HandThrows {
    fn new() -> Self {
        let mut all = HashMap::new();
        for (hand, _) in hands(Counts { green: 3, yellow: 3, red: 3 }, 3) {
            let colours = colours(hand);
            let mut ways: HashMap<[Die; 3], u32> = HashMap::new();
            for code in 0..27 {
                let faces = [code / 9, code / 3 % 3, code % 3].map(|face| Face::ALL[face]);
                let mut dice: [Die; 3] = std::array::from_fn(|i| Die { colour: colours[i], face: faces[i] });
                let side = |die: &Die| die.colour.sides()[die.face as usize];
                let weight: u32 = dice.iter().map(side).product();
                dice.sort_unstable();
                *ways.entry(dice).or_default() += weight;
            }
            let mut throws: Vec<HandThrow> =
                ways.into_iter().map(|(hand, weight)| throw(hand, weight)).collect();
            // The order of sums, and so their last digit, must not depend on a hash.
            throws.sort_unstable_by_key(|throw| throw.hand);
            all.insert(hand, throws);
        }
        HandThrows(all)
    }

    fn of(&self, hand: Counts) -> &[HandThrow] {
        &self.0[&hand]
    }
}

fn throw(hand: [Die; 3], weight: u32) -> HandThrow {
    let mut throw = HandThrow { hand, brains: 0, feet: Counts::default(), shots: Counts::default(), weight };
    for die in hand {
        match die.face {
            Face::Brain => throw.brains += 1,
            Face::Footsteps => throw.feet[die.colour] += 1,
            Face::Shotgun => throw.shots[die.colour] += 1,
        }
    }
    throw
}

fn colours(hand: Counts) -> [necrodome_rules::zombie_dice::Colour; 3] {
    use necrodome_rules::zombie_dice::Colour;
    let mut dice = Colour::ALL.into_iter().flat_map(|c| std::iter::repeat_n(c, hand[c].into()));
    std::array::from_fn(|_| dice.next().unwrap_or(Colour::Green))
}
