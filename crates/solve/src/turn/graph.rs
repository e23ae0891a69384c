//! The positions of a turn and the results of each roll, laid out for speed.
//!
//! The rest of a turn depends only on the cup, the footsteps in the hand and the shotguns: their number, and
//! their colours too where brain dice come back. A roll is split in two: draw (a cup and footsteps become a cup and three dice)
//! and throw (three dice become brains, footsteps and shotguns). Three dice that were drawn are the same position as
//! three footsteps, so that both share their throws.

use necrodome_rules::zombie_dice::{Colour, Counts, DICE, OutOfDice, Turn, TurnView};

/// The probability that a roll shows three footsteps: each of the three dice shows them with 1/3, whatever
/// its colour.
pub(super) const ALL_FEET: f64 = 1.0 / 27.0;

const NONE: u32 = u32::MAX;
/// A number that no state has.
const NO_STATE: u16 = u16::MAX;
const CUPS: usize = 7 * 5 * 4;
const FEET: usize = 20;

/// Numbers the triples with a sum of at most `max` (`width` = max + 1).
const fn triples<const N: usize>(width: usize) -> [u8; N] {
    let mut numbers = [u8::MAX; N];
    let (mut code, mut next) = (0, 0);
    while code < N {
        if code / (width * width) + code / width % width + code % width < width {
            numbers[code] = next;
            next += 1;
        }
        code += 1;
    }
    numbers
}

const FEET_NUMBER: [u8; 64] = triples(4);
const SHOTS_NUMBER: [u8; 27] = triples(3);

/// A position within a turn in which the player may go on: only what matters for the rest of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Dice in the cup.
    pub cup: Counts,
    /// Footsteps in the hand.
    pub feet: Counts,
    /// Shotguns by colour.
    pub shots: Counts,
    /// Brains of the turn so far.
    pub brains: u32,
}

impl From<&TurnView> for Position {
    #[inline]
    fn from(view: &TurnView) -> Self {
        let feet = view.footsteps();
        let left = |all: u8, cup: u8, feet: u8, brains: u8| {
            all.saturating_sub(cup).saturating_sub(feet).saturating_sub(brains)
        };
        let shots = Counts {
            green: left(DICE.green, view.cup.green, feet.green, view.brain_dice.green),
            yellow: left(DICE.yellow, view.cup.yellow, feet.yellow, view.brain_dice.yellow),
            red: left(DICE.red, view.cup.red, feet.red, view.brain_dice.red),
        };
        Position { cup: view.cup, feet, shots, brains: view.brains }
    }
}

impl From<&Turn> for Position {
    #[inline]
    fn from(turn: &Turn) -> Self {
        Position {
            cup: turn.cup(),
            feet: turn.footsteps(),
            shots: turn.shotgun_dice(),
            brains: turn.brains(),
        }
    }
}

/// The index of a position in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The number of its state.
    pub(super) state: u32,
    /// Shotguns.
    pub(super) shotguns: u8,
    /// Brains whose dice have gone back into the cup.
    pub(super) extra: u32,
    /// All brains of the turn.
    pub(super) brains: u32,
}

/// One state, without its edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    pub cup: Counts,
    pub feet: Counts,
    pub shots: Counts,
    /// Brain dice set aside.
    pub aside: u8,
}

impl State {
    fn shotguns(&self) -> u8 {
        self.shots.total()
    }
}

/// A way out of the states of one layer: with this many brains set aside, into a state of a later layer (the
/// brain dice went back), or out of the turn (the dice are used up).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub aside: u8,
    pub state: Option<u32>,
}

/// All states, in an order in which a roll leads only to states further on: values are computed from the
/// last to the first. Brains ascending, then shotguns ascending, then the cup descending, three footsteps last.
#[derive(Debug)]
pub struct Graph {
    pub(super) out_of_dice: OutOfDice,
    /// The number of a state, by [`Graph::code`]. It is as small as possible, since every roll looks it up.
    index: Vec<u16>,
    pub(super) states: Vec<State>,
    /// The first state with at least this many brain dice set aside.
    pub(super) first_with: [usize; 16],
    /// The shotguns of each state.
    pub(super) shotguns: Vec<u8>,
    /// The index of a state among those with three footsteps; [`NONE`] for the others.
    pub(super) thrown: Vec<u32>,
    /// The states with three footsteps.
    pub(super) throws: Vec<u32>,
    edges_of: Vec<u32>,
    pub(super) targets: Vec<u32>,
    pub(super) weights: Vec<f64>,
    pub(super) bust: Vec<f64>,
    pub(super) slots: Vec<Slot>,
}

impl Graph {
    /// Builds the graph of a turn.
    pub fn new(out_of_dice: OutOfDice) -> Self {
        let mut states = all_states(out_of_dice);
        sort(&mut states);
        let mut index = vec![NO_STATE; CUPS * FEET * kinds_of_shots(out_of_dice)];
        for (number, state) in states.iter().enumerate() {
            index[code(out_of_dice, state.cup, state.feet, state.shots)] = number as u16;
        }
        let mut first_with = [states.len(); 16];
        for (number, state) in states.iter().enumerate().rev() {
            first_with[..=usize::from(state.aside)].fill(number);
        }
        let mut throws = Vec::new();
        let number_throw = |(number, state): (usize, &State)| {
            if state.feet.total() < 3 {
                return NONE;
            }
            throws.push(number as u32);
            throws.len() as u32 - 1
        };
        let thrown = states.iter().enumerate().map(number_throw).collect();
        let mut graph = Graph {
            out_of_dice,
            index,
            shotguns: states.iter().map(State::shotguns).collect(),
            thrown,
            throws,
            edges_of: vec![0],
            targets: Vec::with_capacity(states.len() * 8),
            weights: Vec::with_capacity(states.len() * 8),
            bust: Vec::with_capacity(states.len()),
            slots: Vec::new(),
            first_with,
            states,
        };
        graph.add_edges();
        graph
    }

    fn add_edges(&mut self) {
        let faces: Vec<Vec<Throw>> = (0..64).map(|code| throws(feet_of(code))).collect();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for number in 0..self.states.len() {
            let state = self.states[number];
            if state.feet.total() == 3 {
                merged.clear();
                let mut bust = 0;
                for throw in &faces[feet_code(state.feet)] {
                    match self.after(&state, throw) {
                        After::Bust => bust += throw.weight,
                        After::Same => {}
                        After::To(target) => match merged.iter_mut().find(|(other, _)| *other == target) {
                            Some((_, weight)) => *weight += throw.weight,
                            None => merged.push((target, throw.weight)),
                        },
                    }
                }
                self.bust.push(f64::from(bust) / 216.0);
                for &(target, weight) in &merged {
                    self.targets.push(target);
                    self.weights.push(f64::from(weight) / 216.0);
                }
            } else {
                self.bust.push(0.0);
                self.draw(&state);
            }
            self.edges_of.push(self.targets.len() as u32);
        }
    }

    /// Adds the edges of a draw: to each colouring of the missing dice.
    fn draw(&mut self, state: &State) {
        for (drawn, Ways { ways, of }) in hands(state.cup, 3 - state.feet.total()) {
            let (cup, hand) = (minus(state.cup, drawn), plus(state.feet, drawn));
            let three = usize::from(self.number(cup, hand, state.shots));
            self.targets.push(self.states.len() as u32 + self.thrown[three]);
            self.weights.push(f64::from(ways) / f64::from(of));
        }
    }

    /// The state or the end that a throw of the three dice in the hand leads to.
    fn after(&mut self, state: &State, throw: &Throw) -> After {
        let shots = match self.out_of_dice {
            OutOfDice::EndTurn => {
                Counts { green: state.shots.green + throw.shots.total(), ..Counts::default() }
            }
            OutOfDice::RecycleBrains => plus(state.shots, throw.shots),
        };
        if shots.total() >= 3 {
            return After::Bust;
        }
        if throw.feet.total() == 3 {
            return After::Same;
        }
        let aside = state.aside + throw.brains;
        if state.cup.total() + throw.feet.total() >= 3 {
            return After::To(self.number(state.cup, throw.feet, shots).into());
        }
        let state = match self.out_of_dice {
            OutOfDice::EndTurn => None,
            OutOfDice::RecycleBrains => {
                let cup = minus(minus(DICE, throw.feet), shots);
                Some(self.number(cup, throw.feet, shots).into())
            }
        };
        let slot = Slot { aside, state };
        let found = self.slots.iter().position(|&other| other == slot).unwrap_or_else(|| {
            self.slots.push(slot);
            self.slots.len() - 1
        });
        After::To((self.states.len() + self.throws.len() + found) as u32)
    }

    /// The edges of a state: numbers of targets (states, then throws, then slots) and their probabilities. The probability
    /// missing to 1 is the bust and, with three footsteps, the same state again.
    pub(super) fn edges(&self, state: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.edges_of[state] as usize..self.edges_of[state + 1] as usize;
        self.targets[range.clone()]
            .iter()
            .map(|&target| target as usize)
            .zip(self.weights[range].iter().copied())
    }

    /// The spot of a position, or `None` if no turn reaches it.
    // Called for every roll whose luck is measured. Its result is best left in registers.
    #[inline(always)]
    pub fn spot(&self, position: &Position) -> Option<Spot> {
        let Position { cup, feet, shots, brains } = *position;
        // In wide numbers, since a foreign position may have any counts.
        let sum = |a: u8, b: u8, c: u8| u32::from(a) + u32::from(b) + u32::from(c);
        let green = sum(cup.green, feet.green, shots.green);
        let yellow = sum(cup.yellow, feet.yellow, shots.yellow);
        let red = sum(cup.red, feet.red, shots.red);
        let too_many = (green > DICE.green.into()) | (yellow > DICE.yellow.into()) | (red > DICE.red.into());
        if too_many
            | (sum(feet.green, feet.yellow, feet.red) > 3)
            | (sum(shots.green, shots.yellow, shots.red) > 2)
        {
            return None;
        }
        let used = green + yellow + red;
        let shotguns = shots.total();
        let state = self.number(cup, feet, shots);
        let extra = brains.checked_sub(u32::from(DICE.total()) - used)?;
        let recycled = match self.out_of_dice {
            OutOfDice::EndTurn => extra == 0,
            // Eleven dice and more are recycled with at most two of them not brains.
            OutOfDice::RecycleBrains => extra == 0 || extra >= 9,
        };
        (state != NO_STATE && recycled).then_some(Spot { state: state.into(), shotguns, extra, brains })
    }

    /// The spot of a turn of the referee that can go on, without any checks.
    #[inline]
    pub(crate) fn spot_of_turn(&self, turn: &Turn) -> Spot {
        let state = self.number(turn.cup(), turn.footsteps(), turn.shotgun_dice());
        let (shotguns, extra, brains) = (turn.shotguns(), turn.recycled(), turn.brains());
        Spot { state: state.into(), shotguns, extra, brains }
    }

    /// The spot of a state in a layer.
    pub(super) fn spot_at(&self, state: usize, extra: u32) -> Spot {
        let (shotguns, brains) = (self.shotguns[state], self.brains(state, extra));
        Spot { state: state as u32, shotguns, extra, brains }
    }

    /// The spot of a turn that can go on.
    #[inline]
    pub fn spot_of(&self, position: &Position) -> Spot {
        // Every turn that the referee lets go on has its state; a foreign position is taken for the start.
        self.spot(position).unwrap_or(self.start_spot())
    }

    /// The spot of a turn that has not begun.
    #[inline]
    pub(crate) fn start_spot(&self) -> Spot {
        Spot { state: self.start() as u32, shotguns: 0, extra: 0, brains: 0 }
    }

    /// The position at a spot. Where the colours of shotguns do not matter (`out_of_dice=end_turn`), all are green.
    pub(crate) fn position(&self, spot: Spot) -> Position {
        let State { cup, feet, shots, .. } = self.states[spot.state as usize];
        Position { cup, feet, shots, brains: spot.brains }
    }

    /// Writes all states for a file, in the order of observations: brain dice set aside, shotguns, dice in the cup, footsteps
    /// (each green, yellow, red) and, where their colours matter, the brain dice by colour.
    pub(crate) fn columns(&self) -> Vec<u8> {
        let row = |state: &State| {
            let three = |counts: Counts| [counts.green, counts.yellow, counts.red];
            let mut row = vec![state.aside, state.shotguns()];
            row.extend([state.cup, state.feet].map(three).as_flattened());
            if self.out_of_dice == OutOfDice::RecycleBrains {
                row.extend(three(minus(minus(minus(DICE, state.cup), state.feet), state.shots)));
            }
            row
        };
        self.states.iter().flat_map(row).collect()
    }

    /// The number of states.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// The rule for a turn whose dice are used up.
    #[inline]
    pub fn out_of_dice(&self) -> OutOfDice {
        self.out_of_dice
    }

    /// The state of a turn that has not begun.
    #[inline]
    pub(super) fn start(&self) -> usize {
        self.number(DICE, Counts::default(), Counts::default()).into()
    }

    /// The number of a state.
    #[inline]
    fn number(&self, cup: Counts, feet: Counts, shots: Counts) -> u16 {
        self.index[code(self.out_of_dice, cup, feet, shots)]
    }

    /// The number of brains of a state in a layer.
    pub(super) fn brains(&self, state: usize, extra: u32) -> u32 {
        extra + u32::from(self.states[state].aside)
    }
}

/// The number of ways in which something can happen, out of all.
pub(super) struct Ways {
    pub ways: u32,
    pub of: u32,
}

/// All colourings of `dice` dice from a cup.
pub(super) fn hands(cup: Counts, dice: u8) -> Vec<(Counts, Ways)> {
    let choose = |n: u8, k: u8| (0..u32::from(k)).fold(1, |ways, i| ways * (u32::from(n) - i) / (i + 1));
    let mut hands = Vec::with_capacity(10);
    for green in 0..=dice.min(cup.green) {
        for yellow in 0..=(dice - green).min(cup.yellow) {
            let red = dice - green - yellow;
            if red <= cup.red {
                let drawn = Counts { green, yellow, red };
                let ways = Colour::ALL.map(|colour| choose(cup[colour], drawn[colour])).iter().product();
                hands.push((drawn, Ways { ways, of: choose(cup.total(), dice) }));
            }
        }
    }
    hands
}

/// Sorts states into the order of the [`Graph`].
pub(super) fn sort(states: &mut [State]) {
    states.sort_unstable_by_key(|s| {
        (s.aside, s.shotguns(), u8::MAX - s.cup.total(), s.feet.total() == 3, s.cup, s.feet, s.shots)
    });
}

/// The result of a throw.
enum After {
    Bust,
    Same,
    To(u32),
}

/// One way in which three dice can fall.
pub(super) struct Throw {
    pub brains: u8,
    feet: Counts,
    pub shots: Counts,
    /// How many of the 216 falls are like this.
    pub weight: u32,
}

/// All ways in which dice of these colours can fall, three dice or none.
pub(super) fn throws(hand: Counts) -> Vec<Throw> {
    let mut ways = vec![Throw { brains: 0, feet: Counts::default(), shots: Counts::default(), weight: 1 }];
    if hand.total() != 3 {
        return Vec::new();
    }
    for colour in Colour::ALL {
        let [brain, foot, shot] = colour.sides();
        for _ in 0..hand[colour] {
            let more = |throw: &Throw, brains: u8, feet: u8, shots: u8, weight: u32| {
                let mut next =
                    Throw { brains: throw.brains + brains, weight: throw.weight * weight, ..*throw };
                next.feet[colour] += feet;
                next.shots[colour] += shots;
                next
            };
            let split = |throw: &Throw| {
                [more(throw, 1, 0, 0, brain), more(throw, 0, 1, 0, foot), more(throw, 0, 0, 1, shot)]
            };
            ways = ways.iter().flat_map(split).collect();
        }
    }
    ways
}

/// Lists every division of the thirteen dice into cup, hand, shotguns and brains from which the turn can go on.
pub(super) fn all_states(out_of_dice: OutOfDice) -> Vec<State> {
    let small = |max: u8| {
        let triple = move |code: u8| Counts { green: code / 16, yellow: code / 4 % 4, red: code % 4 };
        (0..64).map(triple).filter(move |counts| counts.total() <= max)
    };
    let mut states = Vec::with_capacity(1 << 14);
    for feet in small(3) {
        for shots in small(2) {
            let colourless = shots.yellow == 0 && shots.red == 0;
            if out_of_dice == OutOfDice::EndTurn && !colourless {
                continue;
            }
            for code in 0..CUPS as u8 {
                let cup = Counts { green: code / 20, yellow: code / 4 % 5, red: code % 4 };
                let out = cup.total() + feet.total() + shots.total();
                let fits = Colour::ALL.iter().all(|&colour| {
                    let colours = match out_of_dice {
                        OutOfDice::EndTurn => 0,
                        OutOfDice::RecycleBrains => shots[colour],
                    };
                    cup[colour] + feet[colour] + colours <= DICE[colour]
                });
                if fits && out <= DICE.total() && cup.total() + feet.total() >= 3 {
                    states.push(State { cup, feet, shots, aside: DICE.total() - out });
                }
            }
        }
    }
    states
}

#[inline]
fn feet_code(feet: Counts) -> usize {
    usize::from(feet.green) * 16 + usize::from(feet.yellow) * 4 + usize::from(feet.red)
}

fn feet_of(code: u8) -> Counts {
    Counts { green: code / 16, yellow: code / 4 % 4, red: code % 4 }
}

/// The number of different sets of shotguns: only their count matters where no dice come back.
#[inline]
fn kinds_of_shots(out_of_dice: OutOfDice) -> usize {
    match out_of_dice {
        OutOfDice::EndTurn => 3,
        OutOfDice::RecycleBrains => 10,
    }
}

#[inline]
fn code(out_of_dice: OutOfDice, cup: Counts, feet: Counts, shots: Counts) -> usize {
    let cup = (usize::from(cup.green) * 5 + usize::from(cup.yellow)) * 4 + usize::from(cup.red);
    let feet = usize::from(FEET_NUMBER[feet_code(feet)]);
    let shots = match out_of_dice {
        OutOfDice::EndTurn => shots.total(),
        OutOfDice::RecycleBrains => SHOTS_NUMBER[usize::from(shots.green * 9 + shots.yellow * 3 + shots.red)],
    };
    (cup * FEET + feet) * kinds_of_shots(out_of_dice) + usize::from(shots)
}

pub(super) fn plus(a: Counts, b: Counts) -> Counts {
    Counts { green: a.green + b.green, yellow: a.yellow + b.yellow, red: a.red + b.red }
}

pub(super) fn minus(a: Counts, b: Counts) -> Counts {
    Counts { green: a.green - b.green, yellow: a.yellow - b.yellow, red: a.red - b.red }
}
