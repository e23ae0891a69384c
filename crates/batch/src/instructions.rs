//! The instruction set that the kernels run on: the best that the machine has, or a lesser one for comparison.

use pulp::Arch;
use std::sync::LazyLock;

/// The environment variable that selects a lesser one, by its [`name`].
pub const VARIABLE: &str = "NECRODOME_INSTRUCTIONS";

/// The error for a requested instruction set that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {VARIABLE} to be one of {}, which this machine has, got {came:?}: unset it to use the best", available().join(", "))]
pub struct UnknownInstructions {
    came: String,
}

/// The instruction set for dispatching the kernels. For one that does not exist, which [`chosen`] refuses, it is the best.
pub fn arch() -> Arch {
    chosen().unwrap_or_default()
}

/// The requested instruction set, or the best.
pub fn chosen() -> Result<Arch, UnknownInstructions> {
    static CHOSEN: LazyLock<Result<Arch, UnknownInstructions>> =
        LazyLock::new(|| named(std::env::var_os(VARIABLE).map(|name| name.to_string_lossy().into_owned())));
    CHOSEN.clone()
}

/// The name of an instruction set.
fn name_of(arch: Arch) -> &'static str {
    match arch {
        Arch::Scalar => BASE,
        #[cfg(target_arch = "x86_64")]
        Arch::V3(_) => "avx2",
        #[cfg(target_arch = "x86_64")]
        Arch::V4(_) => "avx512",
        #[cfg(target_arch = "aarch64")]
        Arch::Neon(_) => "neon",
        #[allow(unreachable_patterns)]
        _ => "other",
    }
}

/// The name of the instruction set that the kernels run on.
pub fn name() -> &'static str {
    name_of(arch())
}

/// The names of all instruction sets of this machine, the least first.
pub fn available() -> Vec<&'static str> {
    all().into_iter().map(name_of).collect()
}

/// The instruction set that every processor of this kind has.
const BASE: &str = if cfg!(target_arch = "x86_64") { "sse2" } else { "scalar" };

#[cfg(target_arch = "x86_64")]
fn all() -> Vec<Arch> {
    let better = [pulp::x86::V3::try_new().map(Arch::V3), pulp::x86::V4::try_new().map(Arch::V4)];
    [Arch::Scalar].into_iter().chain(better.into_iter().flatten()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn all() -> Vec<Arch> {
    let (least, best) = (Arch::Scalar, Arch::default());
    if name_of(best) == BASE { vec![least] } else { vec![least, best] }
}

/// The instruction set with this name, or the best if there is no name.
fn named(name: Option<String>) -> Result<Arch, UnknownInstructions> {
    match name {
        None => Ok(Arch::default()),
        Some(name) if name == "scalar" => Ok(Arch::Scalar),
        Some(came) => {
            all().into_iter().find(|&arch| name_of(arch) == came).ok_or(UnknownInstructions { came })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_does_not_have_is_refused() {
        for name in available() {
            assert_eq!(named(Some(name.to_owned())).map(name_of), Ok(name));
        }
        assert_eq!(named(None).map(name_of), Ok(name_of(Arch::default())));
        assert!(available().contains(&name_of(Arch::default())));
        for name in ["avx9", "", "AVX2"] {
            let why = named(Some(name.to_owned())).map(name_of).expect_err("refused").to_string();
            let all = available().join(", ");
            assert_eq!(
                why,
                format!(
                    "expected NECRODOME_INSTRUCTIONS to be one of {all}, which this machine has, got {name:?}: \
                     unset it to use the best"
                )
            );
        }
    }
}
