//! Machines that have the scalar kernels only.

use super::Scalar;

/// The level of the kernels that this machine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing special.
    Scalar(Scalar),
}

impl Level {
    pub(crate) fn detect() -> Level {
        Level::Scalar(Scalar)
    }

    /// The levels that tests compare: all that this machine has.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Level> {
        vec![Level::detect()]
    }

    /// The level's name, as `TAMIS_LEVEL` spells it.
    pub(crate) fn name(self) -> &'static str {
        "scalar"
    }
}

/// Evaluates an expression with the token of a level.
macro_rules! dispatch {
    ($level:expr, $kernels:ident => $work:expr) => {
        match $level {
            $crate::simd::Level::Scalar($kernels) => $work,
        }
    };
}
pub(crate) use dispatch;

pub(super) fn prefetch<T>(_: *const T) {}

/// The same word. See the version for x86.
#[inline(always)]
pub(crate) fn one_by_one(word: u64) -> u64 {
    word
}
