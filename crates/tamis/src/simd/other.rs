//! Machines that have the scalar kernels only.

use super::{Block256, Block512, Kernels, Scalar};

/// The level of the kernels that this machine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
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

/// What single keys are looked up with. See the version for x86.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single(Scalar);

impl Single {
    pub(crate) fn new(level: Level) -> Single {
        let Level::Scalar(scalar) = level;
        Single(scalar)
    }

    #[inline(always)]
    pub(crate) fn has_512(self, block: &Block512, word: u64) -> bool {
        self.0.has_512(block, word)
    }

    #[inline(always)]
    pub(crate) fn set_512(self, block: &mut Block512, word: u64) -> bool {
        self.0.set_512(block, word)
    }

    #[inline(always)]
    pub(crate) fn has_256(self, block: &Block256, word: u32) -> bool {
        self.0.has_256(block, word)
    }

    #[inline(always)]
    pub(crate) fn set_256(self, block: &mut Block256, word: u32) -> bool {
        self.0.set_256(block, word)
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
