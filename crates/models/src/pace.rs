//! The pace of a model: calls at once, requests and tokens per minute, and pauses that the endpoint asks for.
//!
//! The token buckets are our own: what a call takes is known only afterwards, and must be corrected then.

use crate::{AskError, Model, wait::Waiting};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The limits of a model, and how much of them is free now.
#[derive(Debug)]
pub(crate) struct Pace {
    most: u32,
    state: Waiting<State>,
}

#[derive(Debug)]
struct State {
    under_way: u32,
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    paused_until: Option<Instant>,
}

impl Pace {
    pub fn new(model: &Model) -> Self {
        let now = Instant::now();
        let state = State {
            under_way: 0,
            // A second's worth of requests at once, ten seconds' worth of tokens.
            requests: model.requests_per_minute.map(|rate| Bucket::new(rate, rate.div_ceil(60), now)),
            tokens: model.tokens_per_minute.map(|rate| Bucket::new(rate, rate.div_ceil(6), now)),
            paused_until: None,
        };
        Pace { most: model.concurrency, state: Waiting::new(state) }
    }

    /// Waits until a call of about `tokens` tokens may be made.
    pub fn enter(self: &Arc<Self>, tokens: u64, stop: &dyn Fn() -> bool) -> Result<Permit, AskError> {
        self.state.until(stop, |state| {
            let now = Instant::now();
            let is_paused = state.paused_until.is_some_and(|until| now < until);
            let is_free = state.under_way < self.most && !is_paused;
            let mut buckets = [(&mut state.requests, 1.0), (&mut state.tokens, tokens as f64)];
            let has = |(bucket, amount): &mut (&mut Option<Bucket>, f64)| {
                bucket.as_mut().is_none_or(|bucket| bucket.has(*amount, now))
            };
            if !is_free || !buckets.iter_mut().all(has) {
                return None;
            }
            for (bucket, amount) in buckets {
                bucket.iter_mut().for_each(|bucket| bucket.level -= amount);
            }
            state.under_way += 1;
            Some(Permit { pace: self.clone(), tokens })
        })
    }
}

/// The permission to make a call. When it is dropped, the call is over.
#[derive(Debug)]
pub(crate) struct Permit {
    pace: Arc<Pace>,
    tokens: u64,
}

impl Permit {
    /// Corrects the count to what the call really took. A count that is much too large is forgotten after a minute, as endpoints do.
    pub fn correct(&self, tokens: u64) {
        let left = self.tokens as f64 - tokens as f64;
        self.pace.state.change(|state| state.tokens.iter_mut().for_each(|bucket| bucket.correct(left)));
    }

    /// Stops all calls for a while, because the endpoint asks for it.
    pub fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        self.pace.state.change(|state| state.paused_until = state.paused_until.max(Some(until)));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.pace.state.change(|state| state.under_way -= 1);
    }
}

/// A bucket that fills at a steady rate up to its size.
#[derive(Debug)]
struct Bucket {
    size: f64,
    per_second: f64,
    level: f64,
    at: Instant,
}

impl Bucket {
    fn new(per_minute: u32, size: u32, now: Instant) -> Self {
        let size = f64::from(size);
        Bucket { size, per_second: f64::from(per_minute) / 60.0, level: size, at: now }
    }

    /// Adds what was not taken, or takes more, but falls behind by no more than a minute.
    fn correct(&mut self, left: f64) {
        let lowest = (-60.0 * self.per_second).min(self.level);
        self.level = (self.level + left).max(lowest);
    }

    /// Whether there is enough. An amount larger than the bucket may be taken when it is full; it fills up again afterwards.
    fn has(&mut self, amount: f64, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + passed * self.per_second).min(self.size);
        self.at = now;
        self.level >= amount.min(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Models;
    use std::{cell::Cell, path::Path};

    fn pace(lines: &str) -> Arc<Pace> {
        let text = format!("[models.m]\nbase_url = \"http://h\"\nmodel = \"x\"\n{lines}");
        let models = Models::parse(&text, Path::new("f.toml")).unwrap();
        Arc::new(Pace::new(models.get("m").unwrap()))
    }

    /// Returns a permit, or `None` if the caller has to wait for it.
    fn at_once(pace: &Arc<Pace>, tokens: u64) -> Option<Permit> {
        let looks = Cell::new(0);
        pace.enter(tokens, &|| looks.replace(looks.get() + 1) > 0).ok()
    }

    #[test]
    fn who_is_too_fast_waits() {
        let two_at_once = pace("concurrency = 2");
        let both = [at_once(&two_at_once, 0), at_once(&two_at_once, 0)];
        assert!(both.iter().all(Option::is_some) && at_once(&two_at_once, 0).is_none());
        drop(both);
        assert!(at_once(&two_at_once, 0).is_some());

        let one_a_minute = pace("requests_per_minute = 1");
        assert!(at_once(&one_a_minute, 0).is_some());
        assert!(at_once(&one_a_minute, 0).is_none());

        let six_tokens_a_minute = pace("tokens_per_minute = 6");
        let permit = at_once(&six_tokens_a_minute, 1).unwrap();
        assert!(at_once(&six_tokens_a_minute, 1).is_none());
        permit.correct(0);
        drop(permit);
        // It took less than was expected.
        assert!(at_once(&six_tokens_a_minute, 1).is_some());

        let asked_to_wait = pace("");
        let permit = at_once(&asked_to_wait, 0).unwrap();
        permit.pause(Duration::from_secs(3600));
        permit.pause(Duration::ZERO);
        assert!(at_once(&asked_to_wait, 0).is_none());
    }

    #[test]
    fn a_wrong_count_is_forgotten_after_a_minute() {
        let start = Instant::now();
        let mut bucket = Bucket::new(60, 10, start);
        bucket.correct(-10_000_000.0);
        assert!(!bucket.has(1.0, start + Duration::from_secs(60)));
        assert!(bucket.has(1.0, start + Duration::from_secs(62)));
        bucket.level = -100.0;
        bucket.correct(-1.0);
        assert_eq!(bucket.level, -100.0, "a debt that is there stays");
    }

    #[test]
    fn a_bucket_gives_what_flows_into_it() {
        let start = Instant::now();
        let after = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut bucket = Bucket::new(120, 2, start);
        for (amount, now, enough) in [
            (2.0, 0.0, true),
            (1.0, 0.4, false),
            (1.0, 0.6, true),
            (2.0, 60.0, true),
            // Ten are more than it holds: taken when it is full, and filled up for 4.5 seconds until there is one again.
            (10.0, 60.9, false),
            (10.0, 61.1, true),
            (1.0, 65.5, false),
            (1.0, 65.7, true),
        ] {
            assert_eq!(bucket.has(amount, after(now)), enough, "{amount} after {now} s");
            if enough {
                bucket.level -= amount;
            }
        }
    }
}
