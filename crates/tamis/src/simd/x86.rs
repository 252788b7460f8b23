//! What x86 processors can do beyond their common ground.

#![allow(unsafe_code)]

mod avx2;
mod avx512;
mod single;

use super::{Block256, Block512, Kernels, Scalar, scalar};
pub(crate) use detection::{Avx2, Avx512};
use std::sync::OnceLock;

/// Evaluates an expression with the token of a level.
macro_rules! dispatch {
    ($level:expr, $kernels:ident => $work:expr) => {
        match $level {
            $crate::simd::Level::Scalar($kernels) => $work,
            $crate::simd::Level::Avx2($kernels) => $work,
            $crate::simd::Level::Avx512($kernels) => $work,
        }
    };
}
pub(crate) use dispatch;

/// The level of the kernels that this machine uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Nothing special.
    Scalar(Scalar),
    /// Four words at a time.
    Avx2(Avx2),
    /// Eight words at a time.
    Avx512(Avx512),
}

/// The only place where tokens are made: their fields are private to it.
mod detection {
    use std::arch::is_x86_feature_detected as detected;
    use std::arch::x86_64::__cpuid;

    /// Proof that the processor has AVX2, BMI1, BMI2 and POPCNT.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Avx2 {
        /// Whether PDEP is one step, not hundreds, as it is on the first two generations of Zen.
        fast_pdep: bool,
    }

    /// Proof that the processor has what [`Avx2`] says, and AVX-512 F, DQ, VL and VBMI. The
    /// generations with VBMI do not lower their clock for wide registers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Avx512(());

    impl Avx2 {
        pub(super) fn detect() -> Option<Avx2> {
            let has =
                detected!("avx2") && detected!("bmi1") && detected!("bmi2") && detected!("popcnt");
            has.then(|| Avx2 { fast_pdep: has_fast_pdep() })
        }
    }

    impl Avx2 {
        #[inline(always)]
        pub(super) fn has_fast_pdep(self) -> bool {
            self.fast_pdep
        }
    }

    /// AMD's processors have it from family 19h (Zen 3) on, and all others that have PDEP.
    fn has_fast_pdep() -> bool {
        let vendor = __cpuid(0);
        let amd =
            [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD";
        let version = __cpuid(1).eax;
        let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
        !amd || family >= 0x19
    }

    impl Avx512 {
        pub(super) fn detect() -> Option<Avx512> {
            let has = Avx2::detect().is_some()
                && detected!("avx512f")
                && detected!("avx512dq")
                && detected!("avx512vl")
                && detected!("avx512vbmi");
            has.then_some(Avx512(()))
        }
    }
}

impl Level {
    /// Asks the processor and `TAMIS_LEVEL`, once in the life of the program.
    #[inline]
    pub(crate) fn detect() -> Level {
        static DETECTED: OnceLock<Level> = OnceLock::new();
        *DETECTED.get_or_init(|| Level::capped(std::env::var("TAMIS_LEVEL").ok().as_deref()))
    }

    /// The processor's highest level that is not above the cap.
    fn capped(cap: Option<&str>) -> Level {
        let levels = Level::of_processor();
        let highest = levels.len() - 1;
        let at = levels.iter().position(|level| Some(level.name()) == cap).unwrap_or(highest);
        levels[at]
    }

    /// The levels that the processor has, the lowest first.
    fn of_processor() -> Vec<Level> {
        let wide = [Avx2::detect().map(Level::Avx2), Avx512::detect().map(Level::Avx512)];
        std::iter::once(Level::Scalar(Scalar)).chain(wide.into_iter().flatten()).collect()
    }

    /// The levels that tests compare: all that this machine has, whatever the cap.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Level> {
        Level::of_processor()
    }

    /// The level's name, as `TAMIS_LEVEL` spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Scalar(_) => "scalar",
            Level::Avx2(_) => "avx2",
            Level::Avx512(_) => "avx512",
        }
    }
}

/// What single keys are looked up with, in code that need not be compiled for the level.
///
/// The levels are two answers to two questions, and not one of three: so a compiler makes a loop
/// over lookups into one for each level, with no question left in it. Of one question with three
/// answers it makes a branch in the loop, and 0.35 ns a key were lost by that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single {
    avx512: Option<Avx512>,
    avx2: Option<Avx2>,
}

/// Whether the whole program is compiled for the level: then intrinsics are inlined everywhere.
const AVX512_EVERYWHERE: bool =
    cfg!(all(target_feature = "avx512vbmi", target_feature = "avx512vl"));
const AVX2_EVERYWHERE: bool = cfg!(target_feature = "avx2");

/// `$with` is the kernel's name if it is an intrinsic, `$inline` if it is inline assembly.
macro_rules! single {
    ($self:ident, $with:ident, $inline:ident, $block:ident, $word:ident) => {
        if let Some(avx512) = $self.avx512 {
            if AVX512_EVERYWHERE {
                avx512.$with($block, $word)
            } else {
                avx512.$inline($block, $word)
            }
        } else if let Some(avx2) = $self.avx2 {
            if AVX2_EVERYWHERE { avx2.$with($block, $word) } else { avx2.$inline($block, $word) }
        } else {
            scalar::called::$with($block, $word)
        }
    };
}

impl Single {
    pub(crate) fn new(level: Level) -> Single {
        match level {
            Level::Scalar(_) => Single { avx512: None, avx2: None },
            Level::Avx2(avx2) => Single { avx512: None, avx2: Some(avx2) },
            Level::Avx512(avx512) => Single { avx512: Some(avx512), avx2: None },
        }
    }

    #[inline(always)]
    pub(crate) fn has_512(self, block: &Block512, word: u64) -> bool {
        single!(self, has_512, has_512_inline, block, word)
    }

    #[inline(always)]
    pub(crate) fn set_512(self, block: &mut Block512, word: u64) -> bool {
        single!(self, set_512, set_512_inline, block, word)
    }

    #[inline(always)]
    pub(crate) fn has_256(self, block: &Block256, word: u32) -> bool {
        single!(self, has_256, has_256_inline, block, word)
    }

    #[inline(always)]
    pub(crate) fn set_256(self, block: &mut Block256, word: u32) -> bool {
        single!(self, set_256, set_256_inline, block, word)
    }
}

/// The set bit of which `rank` others are lower, by PDEP, which the processor has.
#[inline(always)]
fn select_by_deposit(word: u64, rank: u32) -> Result<u32, u32> {
    let bit: u64;
    // SAFETY: the callers hold a token that proves BMI1 and BMI2; registers only.
    unsafe {
        std::arch::asm!(
            "pdep {bit}, {bit}, {word}",
            "tzcnt {bit}, {bit}",
            bit = inout(reg) 1_u64 << (rank & 63) => bit,
            word = in(reg) word,
            options(pure, nomem, nostack),
        );
    }
    if bit < 64 { Ok(bit as u32) } else { Err(word.count_ones()) }
}

/// Starts to fetch the cache line of an address, whatever is there.
#[inline(always)]
pub(super) fn prefetch<T>(address: *const T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing and faults on nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
}

/// The same word, out of the compiler's sight. Without this it would multiply two words of 64 bits
/// at a time, which short of AVX-512 is slower than one by one.
#[inline(always)]
pub(crate) fn one_by_one(word: u64) -> u64 {
    let mut word = word;
    // SAFETY: there is no instruction in it.
    unsafe {
        std::arch::asm!(
            "/* {} */",
            inout(reg) word,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_only_lowers() {
        let highest = Level::capped(None);
        assert_eq!(Level::capped(Some("scalar")), Level::Scalar(Scalar));
        assert_eq!(Level::capped(Some("sse9")), highest);
        assert_eq!(Level::capped(Some("avx512")), highest);
        for level in Level::all() {
            assert_eq!(Level::capped(Some(level.name())), level);
        }
        assert!(Level::all().contains(&Level::detect()));
    }
}
