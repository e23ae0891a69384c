//! Actions from outside: numbers of any kind, which may be wrong.

use crate::instructions::arch;
use pulp::NullaryFnOnce;

/// A number that may be an action.
pub trait Number: Copy + Into<i64> + Send + Sync {}

impl<T: Copy + Into<i64> + Send + Sync> Number for T {}

/// The action that leaves a row unchanged in a step: only for a program that steps some rows of a batch and not others.
///
/// Such a row gets no reward, draws nothing from its stream and keeps its observation. It is `terminated` only if its match
/// had ended before and waits; it does not begin anew. In Last Bullet, a world is left unchanged if all its rows hold; one
/// survivor among others cannot stop the clock, and stays on its square.
///
/// [`narrow`] and [`check`] refuse it, since no game has that many actions.
pub const HOLD: u8 = u8::MAX;

/// Whether any row holds.
pub fn any_holds(actions: &[u8]) -> bool {
    arch().dispatch(Most(actions)) == HOLD
}

/// Writes numbers as actions, all of which must be below `actions` (at most 255). On `Err`, the row of the first number that is
/// too large.
pub fn narrow<T: Number>(numbers: &[T], actions: usize, out: &mut Vec<u8>) -> Result<(), usize> {
    out.resize(numbers.len(), 0);
    let most = arch().dispatch(Narrow { numbers, out });
    if numbers.is_empty() || most < actions as u64 {
        return Ok(());
    }
    let wrong = |&number: &T| number.into() as u64 >= actions as u64;
    Err(numbers.iter().position(wrong).unwrap_or_default())
}

/// Checks numbers that are already bytes. On `Err`, the row of the first that is not an action.
pub fn check(numbers: &[u8], actions: usize) -> Result<(), usize> {
    let most = arch().dispatch(Most(numbers));
    match usize::from(most) < actions {
        true => Ok(()),
        false => Err(numbers.iter().position(|&number| usize::from(number) >= actions).unwrap_or_default()),
    }
}

struct Most<'a>(&'a [u8]);

impl NullaryFnOnce for Most<'_> {
    type Output = u8;

    #[inline(always)]
    fn call(self) -> u8 {
        self.0.iter().fold(0, |most, &number| most.max(number))
    }
}

/// Marks the rows in which either flag is set. Returns whether there are any.
pub fn either(one: &[bool], other: &[bool], out: &mut [bool]) -> bool {
    arch().dispatch(Either { one, other, out })
}

struct Either<'a> {
    one: &'a [bool],
    other: &'a [bool],
    out: &'a mut [bool],
}

impl NullaryFnOnce for Either<'_> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let mut any = false;
        for (out, (one, other)) in self.out.iter_mut().zip(self.one.iter().zip(self.other)) {
            *out = one | other;
            any |= *out;
        }
        any
    }
}

struct Narrow<'a, T> {
    numbers: &'a [T],
    out: &'a mut [u8],
}

impl<T: Number> NullaryFnOnce for Narrow<'_, T> {
    type Output = u64;

    /// The greatest number; a negative one counts as greater than all others.
    #[inline(always)]
    fn call(self) -> u64 {
        let mut most = 0;
        for (out, &number) in self.out.iter_mut().zip(self.numbers) {
            let number: i64 = number.into();
            *out = number as u8;
            most = (number as u64).max(most);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_action_is_found() {
        let mut out = Vec::new();
        assert_eq!(narrow(&[0i64, 1, 1, 0], 2, &mut out), Ok(()));
        assert_eq!(out, [0, 1, 1, 0]);
        assert_eq!(narrow(&[0i64, 1, 256], 2, &mut out), Err(2));
        assert_eq!(narrow(&[0i32, -1, 7], 130, &mut out), Err(1));
        assert_eq!(narrow(&[129u8, 130], 130, &mut out), Err(1));
        assert_eq!(narrow::<u8>(&[], 2, &mut out), Ok(()));
        assert_eq!(narrow(&[true, false], 2, &mut out), Ok(()));
        assert_eq!(out, [1, 0]);
        assert_eq!(check(&[0, 1, 2, 1], 2), Err(2));
        assert_eq!(check(&[0, 1, 254], 255), Ok(()));
        assert_eq!(check(&[0, 1, HOLD], 255), Err(2));
        assert!(any_holds(&[0, HOLD, 1]) && !any_holds(&[0, 254]) && !any_holds(&[]));
    }

    #[test]
    fn either_is_enough() {
        let mut out = [true; 4];
        assert!(either(&[true, false, true, false], &[true, true, false, false], &mut out));
        assert_eq!(out, [true, true, true, false]);
        assert!(!either(&[false], &[false], &mut out));
    }
}
