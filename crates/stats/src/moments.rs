//! Running sums over blocks. Their size does not depend on the number of blocks.

/// The mean of one number per block, and the sum of its squared deviations.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Running {
    pub blocks: u64,
    pub mean: f64,
    pub squares: f64,
}

impl Running {
    pub fn add(&mut self, value: f64) {
        self.blocks += 1;
        let off = value - self.mean;
        self.mean += off / self.blocks as f64;
        self.squares += off * (value - self.mean);
    }

    /// The variance of the mean; there are at least two blocks.
    pub fn error(&self) -> f64 {
        self.squares / (self.blocks as f64 * (self.blocks as f64 - 1.0))
    }

    /// The sums of these blocks and others.
    pub fn join(self, other: Running) -> Running {
        let blocks = self.blocks + other.blocks;
        if blocks == 0 {
            return self;
        }
        let (apart, share) = (other.mean - self.mean, other.blocks as f64 / blocks as f64);
        Running {
            blocks,
            mean: self.mean + apart * share,
            squares: self.squares + other.squares + apart * apart * self.blocks as f64 * share,
        }
    }
}

/// The means of a list of numbers per block, and the sums of the products of their deviations.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Moments {
    blocks: u64,
    means: Vec<f64>,
    /// The products' lower triangle, row by row.
    products: Vec<f64>,
    /// The distance of the last numbers from the means before them.
    off: Vec<f64>,
}

impl Moments {
    pub fn new(size: usize) -> Self {
        Moments {
            blocks: 0,
            means: vec![0.0; size],
            products: vec![0.0; size * (size + 1) / 2],
            off: vec![0.0; size],
        }
    }

    pub fn add(&mut self, values: &[f64]) {
        self.blocks += 1;
        let count = self.blocks as f64;
        for ((off, mean), value) in self.off.iter_mut().zip(&mut self.means).zip(values) {
            *off = value - *mean;
            *mean += *off / count;
        }
        let weight = (count - 1.0) / count;
        let mut products = self.products.iter_mut();
        for row in 0..self.off.len() {
            let scaled = self.off[row] * weight;
            for (off, product) in self.off[..=row].iter().zip(&mut products) {
                *product += scaled * off;
            }
        }
    }

    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    pub fn mean(&self, index: usize) -> f64 {
        self.means[index]
    }

    /// The sum of the products of the deviations of two of the numbers.
    pub fn product(&self, a: usize, b: usize) -> f64 {
        let (row, column) = (a.max(b), a.min(b));
        self.products[row * (row + 1) / 2 + column]
    }

    /// A weighted sum of the numbers.
    pub fn sum(&self, weights: &[(usize, f64)]) -> Running {
        let mut sum = Running { blocks: self.blocks, ..Running::default() };
        for &(a, weight) in weights {
            sum.mean += weight * self.means[a];
            for &(b, other) in weights {
                sum.squares += weight * other * self.product(a, b);
            }
        }
        // Rounding must not make it negative.
        sum.squares = sum.squares.max(0.0);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [[f64; 2]; 4] = [[1.0, 0.5], [2.0, 0.0], [4.0, 1.0], [1.0, 0.25]];

    #[test]
    fn sums_are_those_of_the_textbook() {
        let mut moments = Moments::new(2);
        BLOCKS.iter().for_each(|block| moments.add(block));
        assert_eq!((moments.blocks(), moments.mean(0), moments.mean(1)), (4, 2.0, 0.4375));
        // (-1, 0, 2, -1) times (0.0625, -0.4375, 0.5625, -0.1875).
        assert!((moments.product(0, 1) - 1.25).abs() < 1e-12);
        assert!((moments.product(0, 0) - 6.0).abs() < 1e-12);
        let difference = moments.sum(&[(0, 1.0), (1, -2.0)]);
        let mut direct = Running::default();
        BLOCKS.iter().for_each(|[a, b]| direct.add(a - 2.0 * b));
        assert!((difference.mean - direct.mean).abs() < 1e-12, "{difference:?} {direct:?}");
        assert!((difference.squares - direct.squares).abs() < 1e-12, "{difference:?} {direct:?}");
    }

    #[test]
    fn halves_join_to_the_whole() {
        let (mut whole, mut halves) = (Running::default(), [Running::default(); 2]);
        for (number, [value, _]) in BLOCKS.iter().enumerate() {
            whole.add(*value);
            halves[number % 2].add(*value);
        }
        let joined = halves[0].join(halves[1]);
        assert_eq!(joined.blocks, 4);
        assert!((joined.mean - whole.mean).abs() < 1e-12 && (joined.squares - whole.squares).abs() < 1e-12);
        assert_eq!(Running::default().join(whole), whole);
    }
}
