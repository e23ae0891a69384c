//! Shared parts of the plain baselines: a small fast generator, good enough to be a fair yardstick.

/// xorshift64*.
pub struct Xorshift(u64);

impl Xorshift {
    pub fn new(seed: u64) -> Self {
        Xorshift(seed | 1)
    }

    /// Returns one of `0..n`, by multiply and shift.
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((high * u64::from(n)) >> 32) as u32
    }
}

/// The mean of many numbers, with its standard error.
#[derive(Default)]
pub struct Mean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Mean {
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    pub fn value(&self) -> f64 {
        self.sum / self.count
    }

    pub fn error(&self) -> f64 {
        ((self.squares / self.count - self.value().powi(2)) / self.count).sqrt()
    }

    /// Panics when the mean is more than five standard errors from the expected value.
    pub fn assert_near(&self, expected: f64, expected_error: f64, what: &str) {
        let error = self.error().hypot(expected_error);
        let off = (self.value() - expected).abs() / error.max(1e-12);
        assert!(off < 5.0, "{what}: {} instead of {expected}, {off:.1} standard errors off", self.value());
    }
}
