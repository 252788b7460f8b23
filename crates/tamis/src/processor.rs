//! What the processor can do beyond the common ground of its kind.

/// The widest instructions that were detected, and that the kernels are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing special.
    Portable,
    /// Four words at a time.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    Avx2,
    /// Eight words at a time, of the generations whose clock does not fall for it: those with VBMI.
    /// The kernels use F, DQ, VBMI and POPCNT.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    Avx512,
}

impl Level {
    /// Asks the processor, once: the standard library remembers.
    #[inline]
    pub(crate) fn detect() -> Level {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            if std::is_x86_feature_detected!("avx512vbmi")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("popcnt")
            {
                return Level::Avx512;
            }
            if std::is_x86_feature_detected!("avx2") {
                return Level::Avx2;
            }
        }
        Level::Portable
    }

    /// What the kernels are to be compared on: this level and those below.
    #[cfg(test)]
    pub(crate) fn all() -> Vec<Level> {
        let levels = [Level::Portable, Level::Avx2, Level::Avx512];
        let highest = levels.iter().position(|level| *level == Level::detect());
        levels.into_iter().take(highest.map_or(1, |highest| highest + 1)).collect()
    }
}

/// The same word. The compiler cannot take two of them at a time through this, which it would like
/// to, and which, short of AVX-512, is slower than one by one for multiplications of 64 bits.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn one_by_one(word: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut word = word;
        // SAFETY: there is no instruction in it.
        unsafe {
            std::arch::asm!("/* {} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
        }
        word
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    word
}
