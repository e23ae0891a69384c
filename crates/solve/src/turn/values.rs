//! The value of a turn, from the values of its ends.

use super::graph::{ALL_FEET, Graph, Spot};
use necrodome_rules::zombie_dice::{FirstRoll, OutOfDice};
use std::{convert::Infallible, sync::Arc};

/// A number, and how fast it changes with the unknown of an equation.
pub(crate) type Dual = [f64; 2];

/// The values of the ends of a turn to the player.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'a> {
    /// The value of each number of banked brains. Numbers beyond the last are worth as much as the last.
    pub banked: &'a [Dual],
    /// The value of a lost turn.
    pub bust: Dual,
    /// The number of brains at which the player stops, by shotguns.
    pub caps: [u32; 3],
    /// The layers in which brains are counted.
    pub layers: Layers,
}

/// The layers of positions. Positions whose brain dice have gone back into the cup have a layer for each number of brains
/// that are no longer on the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layers {
    /// The layers of one turn. Either no brains have gone back or at least nine: with two shotguns and two dice left there are nine brains.
    Turn,
    /// One layer for every number of brains, as if the turn had begun with them: one evaluation for a whole family of turns.
    Every,
}

impl Layers {
    #[inline]
    fn number(self, extra: u32) -> usize {
        match self {
            Layers::Turn => extra.saturating_sub(8) as usize,
            Layers::Every => extra as usize,
        }
    }

    fn extra(self, number: usize) -> u32 {
        match self {
            Layers::Turn if number > 0 => number as u32 + 8,
            _ => number as u32,
        }
    }

    /// The number of layers below `cap` brains.
    fn count(self, graph: &Graph, cap: u32) -> usize {
        match (self, graph.out_of_dice) {
            (Layers::Turn, OutOfDice::EndTurn) => 1,
            (Layers::Turn, OutOfDice::RecycleBrains) => 1 + self.number(cap.max(9) - 1),
            (Layers::Every, _) => cap as usize,
        }
    }
}

impl Ends<'_> {
    fn banked(&self, brains: u32) -> Dual {
        self.banked[(brains as usize).min(self.banked.len() - 1)]
    }

    fn cap(&self) -> u32 {
        self.caps.into_iter().max().unwrap_or(0)
    }
}

/// Buffers that are reused.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// The values of states, then throws, then slots.
    values: Vec<Dual>,
    /// The states without brain dice of each layer, for the slots of the layers before.
    heads: Vec<Vec<Dual>>,
}

/// The values of rolling, by state, for the positions with `extra` brains besides those set aside.
#[derive(Debug)]
pub(crate) struct Layer {
    go: Column,
    /// The number of states below the cap.
    below_cap: usize,
}

/// A column of a matrix that has a row for each state.
#[derive(Debug, Clone)]
struct Column {
    matrix: Arc<[f64]>,
    width: usize,
    number: usize,
}

impl Column {
    fn alone(values: impl Into<Arc<[f64]>>) -> Self {
        Column { matrix: values.into(), width: 1, number: 0 }
    }

    #[inline]
    fn get(&self, state: u32) -> Option<&f64> {
        self.matrix.get(state as usize * self.width + self.number)
    }
}

/// Lays the values of many turns side by side, so that those of one state are neighbours in memory: some states come up far more
/// often than others, at any score, and all their values fit into a cache. Where dice come back too many states
/// have no value.
pub(crate) fn lay_side_by_side<'a>(graph: &Graph, turns: impl Iterator<Item = &'a mut TurnValues>) {
    if graph.out_of_dice != OutOfDice::EndTurn {
        return;
    }
    let mut columns: Vec<&mut Column> =
        turns.flat_map(|turn| &mut turn.layers).map(|layer| &mut layer.go).collect();
    let width = columns.len();
    let row = |state: u32| columns.iter().map(move |column| column.get(state).copied().unwrap_or(f64::NAN));
    let matrix: Arc<[f64]> = (0..graph.states.len() as u32).flat_map(row).collect();
    for (number, column) in columns.iter_mut().enumerate() {
        **column = Column { matrix: matrix.clone(), width, number };
    }
}

/// The value of a turn that begins, for each layer, under perfect play; on a tie the safe choice counts. `keep` gets the
/// value of every roll. Nobody who plays well rolls beyond the cap, but others do: where there are few states (all those of
/// `end_turn`), the values of such rolls are kept, too.
pub(crate) fn evaluate(
    graph: &Graph,
    ends: &Ends,
    first_roll: FirstRoll,
    work: &mut Work,
    mut keep: Option<&mut Vec<Layer>>,
) -> Vec<Dual> {
    let states = graph.states.len();
    let cap = ends.cap();
    let layers = ends.layers.count(graph, cap);
    work.values.resize(states + graph.throws.len() + graph.slots.len(), [0.0; 2]);
    work.heads.resize_with(layers.max(work.heads.len()), Vec::new);
    if let Some(kept) = &mut keep {
        kept.clear();
        kept.resize_with(layers, || Layer { go: Column::alone([]), below_cap: 0 });
    }
    let beyond = keep.is_some() && graph.out_of_dice == OutOfDice::EndTurn;
    let mut starts = vec![[0.0; 2]; layers];
    for layer in (0..layers).rev() {
        let extra = ends.layers.extra(layer);
        let first_with = |brains: u32| graph.first_with[(brains.saturating_sub(extra) as usize).min(15)];
        let inner = first_with(cap);
        for (slot, value) in graph.slots.iter().zip(&mut work.values[states + graph.throws.len()..]) {
            let brains = extra + u32::from(slot.aside);
            let later = slot.state.and_then(|state| {
                work.heads.get(ends.layers.number(brains)).and_then(|head| head.get(state as usize)).copied()
            });
            // Layers at and beyond the cap have no head that was filled in this evaluation.
            *value = later.filter(|_| brains < cap).unwrap_or_else(|| ends.banked(brains));
        }
        for state in inner..(if beyond { states } else { first_with(cap + 3) }) {
            work.values[state] = ends.banked(graph.brains(state, extra));
        }
        let valued = if beyond { states } else { inner };
        let mut go_values = keep.is_some().then(|| vec![f64::NAN; valued]);
        let mut below_cap = 0;
        for state in (0..valued).rev() {
            let brains = graph.brains(state, extra);
            let stop = ends.banked(brains);
            let capped = brains >= ends.caps[usize::from(graph.shotguns[state])];
            if capped && !beyond {
                work.values[state] = stop;
                continue;
            }
            below_cap += usize::from(!capped);
            let bust = graph.bust[state];
            let mut sum = [bust * ends.bust[0], bust * ends.bust[1]];
            for (target, weight) in graph.edges(state) {
                let value = work.values[target];
                sum[0] += weight * value[0];
                sum[1] += weight * value[1];
            }
            let throw = graph.thrown[state];
            let three_feet = throw != u32::MAX;
            // Three footsteps: the same three dice are thrown again. Who rolls on then has g = sum + g/27, solved for g.
            let again = if three_feet { 1.0 / (1.0 - ALL_FEET) } else { 1.0 };
            let mut go = [sum[0] * again, sum[1] * again];
            let value = if go[0] > stop[0] && !capped { go } else { stop };
            work.values[state] = value;
            if three_feet {
                // One throw, and the better choice after it.
                go = [sum[0] + ALL_FEET * value[0], sum[1] + ALL_FEET * value[1]];
                work.values[states + throw as usize] = go;
            }
            if let Some(go_values) = &mut go_values {
                go_values[state] = go[0];
            }
            if state == graph.start() && !capped {
                starts[layer] = if first_roll == FirstRoll::Mandatory { go } else { value };
            }
        }
        let head = &mut work.heads[layer];
        head.clear();
        head.extend_from_slice(&work.values[..graph.first_with[1]]);
        if let (Some(kept), Some(go_values)) = (&mut keep, go_values) {
            kept[layer] = Layer { go: Column::alone(go_values), below_cap };
        }
    }
    starts
}

/// The value of banked brains.
#[derive(Debug)]
pub(crate) enum Banked {
    /// A point each.
    Points,
    /// A chance to win; numbers beyond the last are worth as much as the last.
    Chances(Box<[f64]>),
}

/// A turn with all its values, under perfect play.
#[derive(Debug)]
pub(crate) struct TurnValues {
    pub banked: Banked,
    pub bust: f64,
    caps: [u32; 3],
    numbers: Layers,
    layers: Vec<Layer>,
    /// The value before the first roll (or the choice of it), by layer.
    pub starts: Vec<f64>,
}

/// A turn with the values of its choices.
#[derive(Debug, Clone, Copy)]
pub struct TurnPrices<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) values: &'a TurnValues,
    /// Brains to add (or subtract, if negative), in a family of turns.
    pub(crate) shift: i64,
}

impl<'a> TurnPrices<'a> {
    /// The value before the first roll, or the choice of it.
    pub fn start(&self) -> f64 {
        self.values.starts[self.values.numbers.number(self.shifted_count(0))]
    }

    /// The value of having banked this many brains.
    #[inline]
    pub fn banked(&self, brains: u32) -> f64 {
        self.values.stop(self.shifted_count(brains))
    }

    /// The value of a lost turn.
    pub fn bust(&self) -> f64 {
        self.values.bust
    }

    /// The value of rolling.
    #[inline]
    pub fn go(&self, spot: Spot) -> f64 {
        self.values.go(self.graph, self.shifted(spot))
    }

    /// The value of the better choice.
    #[inline]
    pub fn value(&self, spot: Spot) -> f64 {
        self.values.value(self.graph, self.shifted(spot))
    }

    /// The value of the better choice, if the value of rolling is known.
    #[inline]
    pub(crate) fn better(&self, spot: Spot, go: f64) -> f64 {
        let spot = self.shifted(spot);
        let stop = self.values.stop(spot.brains);
        if self.values.is_capped(spot) { stop } else { stop.max(go) }
    }

    /// The values of rolling that are kept, and NaN for the others: for callers who look up many of one turn.
    #[inline]
    pub(crate) fn kept_go(&self) -> impl Fn(Spot) -> f64 + use<'a> {
        let prices = *self;
        let first = prices.values.column(prices.shifted_count(0));
        move |spot| {
            let column = match spot.extra {
                0 => first,
                extra => prices.values.column(prices.shifted_count(extra)),
            };
            column.and_then(|column| column.get(spot.state)).copied().unwrap_or(f64::NAN)
        }
    }

    /// Whether it is better to roll than to stop.
    #[inline]
    pub fn rolls(&self, spot: Spot) -> bool {
        self.values.rolls(self.graph, self.shifted(spot))
    }

    /// Returns how often the turn banks each number of brains under perfect play; a lost turn banks none.
    pub fn distribution(&self, first_roll: FirstRoll) -> Vec<f64> {
        self.values.distribution(self.graph, first_roll)
    }

    /// Lists whether to roll in every state of these layers.
    pub(crate) fn policy(&self, extras: &[u32]) -> impl Iterator<Item = u8> {
        let states = 0..self.graph.states.len();
        let spots = extras.iter().flat_map(move |&extra| states.clone().map(move |state| (state, extra)));
        spots.map(|(state, extra)| u8::from(self.rolls(self.graph.spot_at(state, extra))))
    }

    #[inline]
    fn shifted(&self, spot: Spot) -> Spot {
        let extra = self.shifted_count(spot.extra);
        Spot { extra, brains: spot.brains - spot.extra + extra, ..spot }
    }

    #[inline]
    fn shifted_count(&self, brains: u32) -> u32 {
        (i64::from(brains) + self.shift).clamp(0, u32::MAX.into()) as u32
    }
}

impl TurnValues {
    #[inline]
    pub fn prices<'a>(&'a self, graph: &'a Graph) -> TurnPrices<'a> {
        TurnPrices { graph, values: self, shift: 0 }
    }

    pub fn new(graph: &Graph, ends: &Ends, first_roll: FirstRoll, work: &mut Work, banked: Banked) -> Self {
        let mut layers = Vec::new();
        let starts = evaluate(graph, ends, first_roll, work, Some(&mut layers));
        let starts = starts.iter().map(|start| start[0]).collect();
        TurnValues { banked, bust: ends.bust[0], caps: ends.caps, numbers: ends.layers, layers, starts }
    }

    pub fn chances(graph: &Graph, ends: &Ends, first_roll: FirstRoll, work: &mut Work) -> Self {
        let banked = Banked::Chances(ends.banked.iter().map(|end| end[0]).collect());
        TurnValues::new(graph, ends, first_roll, work, banked)
    }

    /// The value of stopping with this many brains.
    #[inline]
    pub fn stop(&self, brains: u32) -> f64 {
        match &self.banked {
            Banked::Points => brains.into(),
            Banked::Chances(chances) => chances[(brains as usize).min(chances.len() - 1)],
        }
    }

    /// The value of rolling.
    #[inline]
    pub fn go(&self, graph: &Graph, spot: Spot) -> f64 {
        // Beyond the cap one stops, whatever comes: one step tells what it costs not to.
        let kept = self.kept_go(spot).copied().filter(|go| !go.is_nan());
        kept.unwrap_or_else(|| self.look_ahead(graph, spot.state as usize, spot.extra))
    }

    /// The place of the value of rolling, if it is kept; NaN where the value is not known.
    #[inline]
    fn kept_go(&self, spot: Spot) -> Option<&f64> {
        self.column(spot.extra)?.get(spot.state)
    }

    /// The values of rolling in a layer, by state.
    #[inline]
    fn column(&self, extra: u32) -> Option<&Column> {
        self.layers.get(self.numbers.number(extra)).map(|layer| &layer.go)
    }

    /// The value of the better choice.
    #[inline]
    pub fn value(&self, graph: &Graph, spot: Spot) -> f64 {
        let stop = self.stop(spot.brains);
        if self.is_capped(spot) { stop } else { stop.max(self.go(graph, spot)) }
    }

    /// Whether rolling is better than stopping.
    #[inline]
    pub fn rolls(&self, graph: &Graph, spot: Spot) -> bool {
        !self.is_capped(spot) && self.go(graph, spot) > self.stop(spot.brains)
    }

    #[inline]
    fn is_capped(&self, spot: Spot) -> bool {
        spot.brains >= self.caps[usize::from(spot.shotguns.min(2))]
    }

    #[cold]
    fn look_ahead(&self, graph: &Graph, state: usize, extra: u32) -> f64 {
        let states = graph.states.len();
        let at = |state: usize, extra: u32| self.value(graph, graph.spot_at(state, extra));
        let mut sum = graph.bust[state] * self.bust;
        for (target, weight) in graph.edges(state) {
            let value = if target < states {
                at(target, extra)
            } else if let Some(&three) = graph.throws.get(target - states) {
                self.look_ahead(graph, three as usize, extra)
            } else {
                let slot = graph.slots[target - states - graph.throws.len()];
                let brains = extra + u32::from(slot.aside);
                slot.state.map_or_else(|| self.stop(brains), |state| at(state as usize, brains))
            };
            sum += weight * value;
        }
        if graph.thrown[state] != u32::MAX {
            sum += ALL_FEET * at(state, extra);
        }
        sum
    }

    /// The number of positions with a value of their own.
    pub fn positions(&self) -> usize {
        self.layers.iter().map(|layer| layer.below_cap).sum()
    }

    /// The layers that have values: brains whose dice have gone back.
    pub fn extras(&self) -> Vec<u32> {
        (0..self.layers.len()).map(|layer| self.numbers.extra(layer)).collect()
    }

    /// The probability of each number of banked brains under perfect play.
    pub fn distribution(&self, graph: &Graph, first_roll: FirstRoll) -> Vec<f64> {
        let rolls = |spot: &Spot| f64::from(u8::from(self.rolls(graph, *spot)));
        let banks = graph.banks(first_roll, |spots| Ok::<_, Infallible>(spots.iter().map(rolls).collect()));
        banks.unwrap_or_else(|never| match never {})
    }
}
