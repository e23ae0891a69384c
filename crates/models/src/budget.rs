//! Budgets: what calls may take, and what they took. Before a call is made, the most that it may take is set aside, so that
//! simultaneous calls cannot overdraw the budget together.

use crate::{AskError, Model, Money, Raise, Reply, Tokens, wait::Waiting};
use std::{collections::BTreeMap, sync::Arc};

/// The limits of a run's calls. Answers from the book take nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// The most money.
    pub money: Option<Money>,
    /// The most tokens, input and output.
    pub tokens: Option<u64>,
}

impl Budget {
    /// Whether there is any limit.
    pub fn is_limited(&self) -> bool {
        self.money.is_some() || self.tokens.is_some()
    }

    /// Says why the budget does not cover a call, or returns `None`. `whose` names the owner of the budget.
    fn shortage(&self, whose: &str, taken: Amount, call: Amount) -> Option<AskError> {
        let lacks = |limit: String, spent: String, most: String| {
            let money = self.money.filter(|&limit| call.money > limit).map(|_| call.money);
            let tokens = self.tokens.filter(|&limit| call.tokens > limit).map(|_| call.tokens);
            let is_too_small = money.is_some() || tokens.is_some();
            let (money, tokens) = (money.unwrap_or_default(), tokens.unwrap_or_default());
            AskError::Budget {
                why: format!(
                    "the budget {whose} ({limit}) does not cover the next call: {spent} is spent, and a call may take {most}"
                ),
                raise: is_too_small.then(|| Raise { whose: whose.to_owned(), money, tokens }),
            }
        };
        let Amount { money, tokens } = taken;
        if let Some(limit) = self.money.filter(|&limit| money + call.money > limit) {
            return Some(lacks(limit.to_string(), money.to_string(), call.money.to_string()));
        }
        let limit = self.tokens.filter(|&limit| tokens.saturating_add(call.tokens) > limit)?;
        Some(lacks(format!("{limit} tokens"), tokens.to_string(), call.tokens.to_string()))
    }
}

/// The amounts that budgets limit.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    money: Money,
    tokens: u64,
}

impl Amount {
    fn add(&mut self, other: Amount) {
        self.money += other.money;
        self.tokens = self.tokens.saturating_add(other.tokens);
    }

    fn take(&mut self, other: Amount) {
        self.money.nanos = self.money.nanos.saturating_sub(other.money.nanos);
        self.tokens = self.tokens.saturating_sub(other.tokens);
    }
}

/// A number of calls, and what they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The number of calls.
    pub calls: u64,
    /// Their tokens.
    pub tokens: Tokens,
    /// Their cost, as far as prices were known.
    pub cost: Money,
    /// The number of calls whose cost is not known.
    pub unpriced: u64,
}

impl Tally {
    /// Counts one call.
    pub(crate) fn one(tokens: Tokens, cost: Option<Money>) -> Self {
        Tally { calls: 1, tokens, cost: cost.unwrap_or_default(), unpriced: u64::from(cost.is_none()) }
    }

    /// The total cost, or `None` if the cost of any call is not known.
    pub fn known_cost(&self) -> Option<Money> {
        (self.unpriced == 0).then_some(self.cost)
    }

    fn amount(&self) -> Amount {
        Amount { money: self.cost, tokens: self.tokens.total() }
    }

    /// An estimate for `calls` calls like these; nothing if there are none.
    pub fn scaled(&self, calls: u64) -> Tally {
        let scaled = |number: u64| {
            let number = u128::from(number) * u128::from(calls);
            u64::try_from(number.div_ceil(u128::from(self.calls.max(1)))).unwrap_or(u64::MAX)
        };
        if self.calls == 0 {
            return Tally::default();
        }
        let tokens = Tokens {
            input: scaled(self.tokens.input),
            cached: scaled(self.tokens.cached),
            output: scaled(self.tokens.output),
            reasoning: scaled(self.tokens.reasoning),
            estimated: true,
        };
        Tally {
            calls,
            tokens,
            cost: Money { nanos: scaled(self.cost.nanos) },
            unpriced: scaled(self.unpriced),
        }
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.calls += other.calls;
        self.tokens += other.tokens;
        self.cost += other.cost;
        self.unpriced += other.unpriced;
    }
}

/// What a run has spent so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Calls that were made.
    pub made: Tally,
    /// Calls that the book answered, with what they took when they were made.
    pub reused: Tally,
    /// Calls whose answer was lost (timeouts, cut answers), at the most that they may have cost. Budgets count them.
    pub lost: Tally,
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.made += other.made;
        self.reused += other.reused;
        self.lost += other.lost;
    }
}

/// What a model has spent, and what its open calls may take.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    spent: Spent,
    under_way: u32,
    held: Amount,
}

impl Account {
    fn taken(&self) -> Amount {
        let mut taken = self.held;
        taken.add(self.spent.made.amount());
        taken.add(self.spent.lost.amount());
        taken
    }
}

/// All accounts, and the budget of all models together.
#[derive(Debug)]
pub(crate) struct Purse {
    budget: Budget,
    accounts: Waiting<BTreeMap<String, Account>>,
}

impl Purse {
    pub fn new(budget: Budget) -> Self {
        Purse { budget, accounts: Waiting::default() }
    }

    /// The budget of all models together.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// Sets aside what a call may take. If other open calls may leave enough, it waits for them.
    pub fn hold(
        self: &Arc<Self>,
        model: &Model,
        call: Tally,
        stop: &dyn Fn() -> bool,
    ) -> Result<Held, AskError> {
        self.accounts.until(stop, |accounts| match self.shortage(accounts, model, call.amount()) {
            None => {
                let account = accounts.entry(model.name.clone()).or_default();
                account.under_way += 1;
                account.held.add(call.amount());
                let (purse, name) = (self.clone(), model.name.clone());
                Some(Ok(Held { purse, name, call, end: Spent::default() }))
            }
            Some((_, others)) if others > 0 => None,
            Some((why, _)) => Some(Err(why)),
        })?
    }

    /// Says why a call is not covered, with the number of open calls that may leave something, or returns `None`.
    fn shortage(
        &self,
        accounts: &BTreeMap<String, Account>,
        model: &Model,
        call: Amount,
    ) -> Option<(AskError, u32)> {
        let own = accounts.get(&model.name).copied().unwrap_or_default();
        if let Some(why) = model.budget.shortage(&format!("of {}", model.name), own.taken(), call) {
            return Some((why, own.under_way));
        }
        let mut all = Amount::default();
        accounts.values().for_each(|account| all.add(account.taken()));
        let why = self.budget.shortage("of all models", all, call)?;
        Some((why, accounts.values().map(|account| account.under_way).sum()))
    }

    /// Counts an answer that cost nothing now.
    pub fn reused(&self, model: &Model, reply: &Reply) {
        let tally = Tally::one(reply.tokens, reply.cost);
        self.accounts
            .change(|accounts| accounts.entry(model.name.clone()).or_default().spent.reused += tally);
    }

    /// What each model has spent so far, by name.
    pub fn spent(&self) -> BTreeMap<String, Spent> {
        let spent = |(name, account): (&String, &Account)| (name.clone(), account.spent);
        self.accounts.change(|accounts| accounts.iter().map(spent).collect())
    }
}

/// The amount set aside for a call. When it is dropped, the call is over, and has cost nothing unless `settle` or `lose` was called.
#[derive(Debug)]
pub(crate) struct Held {
    purse: Arc<Purse>,
    name: String,
    call: Tally,
    end: Spent,
}

impl Held {
    /// Counts a call that was answered.
    pub fn settle(mut self, tokens: Tokens, cost: Option<Money>) {
        self.end.made = Tally::one(tokens, cost);
    }

    /// Counts a call that may have been answered or not, at its most.
    pub fn lose(mut self) {
        self.end.lost = self.call;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.purse.accounts.change(|accounts| {
            let account = accounts.entry(self.name.clone()).or_default();
            account.under_way -= 1;
            account.held.take(self.call.amount());
            account.spent += self.end;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_calls_are_estimated_from_a_few() {
        let tokens = Tokens { input: 30, cached: 3, output: 9, reasoning: 0, estimated: false };
        let seen = Tally { calls: 3, tokens, cost: Money { nanos: 7 }, unpriced: 0 };
        let many = seen.scaled(100);
        assert_eq!((many.calls, many.tokens.input, many.tokens.cached), (100, 1000, 100));
        assert_eq!((many.tokens.output, many.cost.nanos, many.tokens.estimated), (300, 234, true));
        assert_eq!(Tally::default().scaled(100), Tally::default());
    }
}
