//! The dice of a turn, as the module shows them.

use necrodome_rules::{
    chance::{Chance, Seeded},
    zombie_dice::{Colour, DICE, Die, Face},
};
use pyo3::{
    intern,
    prelude::*,
    types::{PyDict, PyList, PyString},
};

/// Keeps the turn's part of the module's state. Zombies may hold on to its lists, so they are changed in place.
///
/// The module shows dice in the order in which they were drawn. The referee sorts them, because their order tells nothing; so
/// a random order is drawn here, with the same probabilities.
pub(super) struct Shown {
    state: Py<PyDict>,
    /// Rolled dice by colour and face, as Python shows them.
    dice: Vec<Py<PyAny>>,
    order: Seeded,
    cup: Dice,
    hand: Dice,
    /// The dice of the brains that were rolled.
    brains: Dice,
    /// The brains and shotguns of this turn.
    counts: (u32, u32),
}

/// Dice by colour, and the list that shows them.
struct Dice {
    colours: Vec<Colour>,
    list: Py<PyList>,
}

impl Dice {
    fn new(py: Python<'_>) -> Self {
        Dice { colours: Vec::new(), list: PyList::empty(py).unbind() }
    }

    /// Replaces the dice, with a new list.
    fn begin<'py>(&mut self, py: Python<'py>, colours: &[Colour]) -> PyResult<Bound<'py, PyList>> {
        self.colours.clear();
        self.colours.extend_from_slice(colours);
        let list = PyList::new(py, colours.iter().map(|&colour| word(py, colour)))?;
        self.list = list.clone().unbind();
        Ok(list)
    }

    fn remove(&mut self, colour: Colour) {
        if let Some(place) = self.colours.iter().position(|&other| other == colour) {
            self.colours.remove(place);
        }
    }

    /// Updates the list.
    fn show(&self, py: Python<'_>) -> PyResult<()> {
        let list = self.list.bind(py);
        let now = PyList::new(py, self.colours.iter().map(|&colour| word(py, colour)))?;
        list.set_slice(0, list.len(), &now)
    }
}

fn word(py: Python<'_>, colour: Colour) -> &Bound<'_, PyString> {
    match colour {
        Colour::Green => intern!(py, "green"),
        Colour::Yellow => intern!(py, "yellow"),
        Colour::Red => intern!(py, "red"),
    }
}

impl Shown {
    /// Makes the shown dice. `state` is the dict that zombies look at; `die` makes a rolled die from the words for its colour and face.
    pub fn new(py: Python<'_>, state: Py<PyDict>, die: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut dice = Vec::new();
        for colour in Colour::ALL {
            for face in [intern!(py, "brains"), intern!(py, "footsteps"), intern!(py, "shotgun")] {
                dice.push(die.call1((word(py, colour), face))?.unbind());
            }
        }
        let order = Seeded::new(0, "order", 0);
        let [cup, hand, brains] = [(); 3].map(|()| Dice::new(py));
        Ok(Shown { state, dice, order, cup, hand, brains, counts: (0, 0) })
    }

    /// Begins a match.
    pub fn reseed(&mut self, seed: u64) {
        self.order = Seeded::new(seed, "order", 0);
    }

    /// Begins a turn.
    pub fn begin(&mut self, py: Python<'_>) -> PyResult<()> {
        let mut cup = colours(DICE.weights());
        self.order.shuffle(&mut cup);
        self.set(py, &cup, &[], &[], (0, 0))
    }

    /// Joins a turn that began before the zombie came.
    #[cfg(target_os = "linux")]
    pub fn join(&mut self, py: Python<'_>, turn: &necrodome_rules::zombie_dice::TurnView) -> PyResult<()> {
        let mut cup = colours(turn.cup.weights());
        self.order.shuffle(&mut cup);
        let (hand, brains) = (colours(turn.footsteps().weights()), colours(turn.brain_dice.weights()));
        self.set(py, &cup, &hand, &brains, (turn.brains, turn.shotguns.into()))
    }

    fn set(
        &mut self,
        py: Python<'_>,
        cup: &[Colour],
        hand: &[Colour],
        brains: &[Colour],
        counts: (u32, u32),
    ) -> PyResult<()> {
        let state = self.state.bind(py);
        self.counts = counts;
        state.set_item(intern!(py, "CURRENT_CUP"), self.cup.begin(py, cup)?)?;
        state.set_item(intern!(py, "CURRENT_HAND"), self.hand.begin(py, hand)?)?;
        state.set_item(intern!(py, "SHOTGUNS_ROLLED"), counts.1)?;
        state.set_item(intern!(py, "BRAINS_ROLLED"), counts.0)?;
        state.set_item(intern!(py, "ROLLED_BRAINS_DETAILS"), self.brains.begin(py, brains)?)
    }

    /// Shows three rolled dice. Returns what `roll()` returns.
    pub fn land<'py>(&mut self, py: Python<'py>, hand: [Die; 3]) -> PyResult<Bound<'py, PyDict>> {
        if self.hand.colours.len() + self.cup.colours.len() < 3 {
            // Out of dice: the brains go back into the cup.
            self.cup.colours.append(&mut self.brains.colours);
            let none = self.brains.begin(py, &[])?;
            self.state.bind(py).set_item(intern!(py, "ROLLED_BRAINS_DETAILS"), none)?;
        }
        let rolls = self.in_order(hand);
        let state = self.state.bind(py);
        self.hand.colours.clear();
        self.hand.colours.extend(rolls.iter().map(|die| die.colour));
        let mut counts = [0; 3];
        for die in &rolls {
            counts[die.face as usize] += 1;
        }
        for die in rolls.iter().filter(|die| die.face == Face::Shotgun) {
            self.hand.remove(die.colour);
        }
        for die in rolls.iter().filter(|die| die.face == Face::Brain) {
            self.hand.remove(die.colour);
            self.brains.colours.push(die.colour);
        }
        for dice in [&self.cup, &self.hand, &self.brains] {
            dice.show(py)?;
        }
        let [brains, footsteps, shotguns] = counts;
        self.counts = (self.counts.0 + brains, self.counts.1 + shotguns);
        state.set_item(intern!(py, "BRAINS_ROLLED"), self.counts.0)?;
        state.set_item(intern!(py, "SHOTGUNS_ROLLED"), self.counts.1)?;
        let result = PyDict::new(py);
        result.set_item(intern!(py, "shotgun"), shotguns)?;
        result.set_item(intern!(py, "footsteps"), footsteps)?;
        result.set_item(intern!(py, "brains"), brains)?;
        let dice = rolls.iter().map(|die| &self.dice[die.colour as usize * 3 + die.face as usize]);
        result.set_item(intern!(py, "rolls"), PyList::new(py, dice)?)?;
        Ok(result)
    }

    /// The dice of a roll in the order of the hand: those that were kept first, then those that were drawn, which leave the cup.
    fn in_order(&mut self, hand: [Die; 3]) -> [Die; 3] {
        let kept = [0, 1, 2].map(|place| self.hand.colours.get(place).copied());
        let rolls = arranged(kept, hand, &mut self.order);
        for die in &rolls[self.hand.colours.len().min(3)..] {
            self.cup.remove(die.colour);
        }
        rolls
    }
}

/// Arranges a roll in the places of the hand: dice that were kept stay in place, the others come in random order. If there are
/// several dice of a colour, chance also decides which of them was kept.
pub(super) fn arranged(kept: [Option<Colour>; 3], mut hand: [Die; 3], order: &mut Seeded) -> [Die; 3] {
    order.shuffle(&mut hand);
    for place in 0..3 {
        let Some(colour) = kept[place] else { continue };
        let is_free = |other: usize| other >= place || kept[other].is_none();
        if let Some(found) = (0..3).find(|&other| is_free(other) && hand[other].colour == colour) {
            hand.swap(place, found);
        }
    }
    hand
}

/// Lists the colours of dice by their counts.
fn colours(counts: [u32; 3]) -> Vec<Colour> {
    let dice = Colour::ALL.into_iter().zip(counts);
    dice.flat_map(|(colour, count)| (0..count).map(move |_| colour)).collect()
}
