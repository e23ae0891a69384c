//! The Pareto front: the language models that no other beats in both regret and cost, and what more money buys along it.
//!
//! The plain quotient of regret and money would favour the entry that spends most. So each price is compared with the next lower one that is
//! worth paying: how much regret does each further unit of money save?

use schemars::JsonSchema;
use serde::Serialize;

/// Where a language model stands among the others, by what a decision costs in money and in regret.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct Bargain {
    /// Whether no other language model has less regret for the same money, or costs less with the same regret (the Pareto front); none
    /// if a price or the regret is not known, or there is no other to compare it with.
    pub on_front: Option<bool>,
    /// Regret per unit of money: how much regret each further unit of money saves, compared with the next language model on the front that is
    /// clearly cheaper, by 10% or more. None for models that are not on the front, and if no model on it is clearly cheaper.
    pub regret_per_cost: Option<f64>,
}

/// A price counts as lower only if it is lower by this share: the quotient of two small differences says nothing.
const CLEARLY_CHEAPER: f64 = 0.1;

/// Whether a price is low enough beside another one to be compared with it.
pub(crate) fn is_clearly_cheaper(price: f64, than: f64) -> bool {
    price <= than * (1.0 - CLEARLY_CHEAPER) && price < than
}

/// Returns the bargains of entries, by the cost and the regret of a decision where both are known.
pub(crate) fn bargains(entries: &[Option<(f64, f64)>]) -> Vec<Bargain> {
    let beats = |(cost, regret): (f64, f64), (other_cost, other_regret): (f64, f64)| {
        cost <= other_cost && regret <= other_regret && (cost < other_cost || regret < other_regret)
    };
    let known = || entries.iter().flatten().copied();
    let is_front = |own: (f64, f64)| !known().any(|other| beats(other, own));
    let bargain = |own: (f64, f64)| {
        let (cost, regret) = own;
        if !is_front(own) {
            return Bargain { on_front: Some(false), regret_per_cost: None };
        }
        let cheaper = known().filter(|&other| is_front(other) && is_clearly_cheaper(other.0, cost));
        let next = cheaper.max_by(|a, b| a.0.total_cmp(&b.0));
        let saved = next.map(|(next_cost, next_regret)| (next_regret - regret) / (cost - next_cost));
        Bargain { on_front: Some(true), regret_per_cost: saved }
    };
    if known().count() < 2 {
        return vec![Bargain::default(); entries.len()];
    }
    entries.iter().map(|entry| entry.map_or_else(Bargain::default, bargain)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_compared_with_the_next_lower_price_that_is_worth_paying() {
        let entries =
            [Some((3.0, 0.05)), Some((1.0, 0.1)), Some((2.0, 0.2)), None, Some((0.0, 0.2)), Some((1.0, 0.1))];
        let told: Vec<_> = bargains(&entries).iter().map(|own| (own.on_front, own.regret_per_cost)).collect();
        // Whoever costs more and is no better is not on the front; the cheapest saves nothing against nobody; twins are both on it.
        assert_eq!(told[0], (Some(true), Some((0.1 - 0.05) / 2.0)));
        assert_eq!(told[1], (Some(true), Some(0.1)));
        assert_eq!(told[2], (Some(false), None));
        assert_eq!(told[3], (None, None));
        assert_eq!(told[4], (Some(true), None));
        assert_eq!(told[5], told[1]);
        assert_eq!(bargains(&[None, Some((1.0, 0.1))]), [Bargain::default(); 2]);
        // A second model that costs ten times as much for the same regret gains nothing by it.
        assert_eq!(bargains(&[Some((1.0, 0.1)), Some((10.0, 0.1))])[1].on_front, Some(false));
    }

    #[test]
    fn prices_that_are_nearly_the_same_make_no_quotient() {
        let saved = |entries: &[(f64, f64)]| -> Vec<Option<f64>> {
            let known: Vec<_> = entries.iter().copied().map(Some).collect();
            let bargains = bargains(&known);
            assert!(bargains.iter().all(|bargain| bargain.on_front == Some(true)));
            bargains.iter().map(|bargain| bargain.regret_per_cost).collect()
        };
        assert_eq!(saved(&[(1.0, 0.2), (1.000001, 0.1)]), [None, None], "not 100000 for each unit of money");
        // It is compared with one that is clearly cheaper, and is itself what dearer ones are compared with.
        let saved = saved(&[(0.5, 0.4), (1.0, 0.2), (1.05, 0.1), (2.05, 0.05)]);
        assert_eq!((saved[0], saved[1]), (None, Some((0.4 - 0.2) / 0.5)));
        assert_eq!(
            (saved[2], saved[3]),
            (Some((0.4 - 0.1) / (1.05 - 0.5)), Some((0.1 - 0.05) / (2.05 - 1.05)))
        );
    }
}
