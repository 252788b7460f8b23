//! What 64-bit ARM processors can do beyond their common ground: nothing, since all have NEON.

#![allow(unsafe_code)]

mod neon;

use super::{Block256, Block512, Kernels, Scalar, scalar};
use std::sync::OnceLock;

/// Evaluates an expression with the token of a level.
macro_rules! dispatch {
    ($level:expr, $kernels:ident => $work:expr) => {
        match $level {
            $crate::simd::Level::Scalar($kernels) => $work,
            $crate::simd::Level::Neon($kernels) => $work,
        }
    };
}
pub(crate) use dispatch;

/// The level of the kernels that this machine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Nothing special.
    Scalar(Scalar),
    /// Two words at a time.
    Neon(Neon),
}

/// The kernels for NEON. The instructions are part of the target: no detection proves them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Neon;

impl Level {
    /// Asks `TAMIS_LEVEL`, once in the life of the program.
    #[inline]
    pub(crate) fn detect() -> Level {
        static DETECTED: OnceLock<Level> = OnceLock::new();
        *DETECTED.get_or_init(|| match std::env::var("TAMIS_LEVEL").as_deref() {
            Ok("scalar") => Level::Scalar(Scalar),
            _ => Level::Neon(Neon),
        })
    }

    /// The levels that tests compare: all that this machine has, whatever the cap.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Level> {
        vec![Level::Scalar(Scalar), Level::Neon(Neon)]
    }

    /// The level's name, as `TAMIS_LEVEL` spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Scalar(_) => "scalar",
            Level::Neon(_) => "neon",
        }
    }
}

/// What single keys are looked up with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single {
    neon: Option<Neon>,
}

impl Single {
    pub(crate) fn new(level: Level) -> Single {
        match level {
            Level::Scalar(_) => Single { neon: None },
            Level::Neon(neon) => Single { neon: Some(neon) },
        }
    }

    #[inline(always)]
    pub(crate) fn has_512(self, block: &Block512, word: u64) -> bool {
        match self.neon {
            Some(neon) => neon.has_512(block, word),
            None => scalar::called::has_512(block, word),
        }
    }

    #[inline(always)]
    pub(crate) fn set_512(self, block: &mut Block512, word: u64) -> bool {
        match self.neon {
            Some(neon) => neon.set_512(block, word),
            None => scalar::called::set_512(block, word),
        }
    }

    #[inline(always)]
    pub(crate) fn has_256(self, block: &Block256, word: u32) -> bool {
        match self.neon {
            Some(neon) => neon.has_256(block, word),
            None => scalar::called::has_256(block, word),
        }
    }

    #[inline(always)]
    pub(crate) fn set_256(self, block: &mut Block256, word: u32) -> bool {
        match self.neon {
            Some(neon) => neon.set_256(block, word),
            None => scalar::called::set_256(block, word),
        }
    }
}

/// Starts to fetch the cache line of an address, whatever is there.
#[inline(always)]
pub(super) fn prefetch<T>(address: *const T) {
    // SAFETY: a prefetch reads nothing and faults on nothing.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{}]", in(reg) address,
            options(nostack, preserves_flags, readonly),
        );
    }
}

/// The same word. See the version for x86.
#[inline(always)]
pub(crate) fn one_by_one(word: u64) -> u64 {
    word
}
