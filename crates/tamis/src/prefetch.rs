//! Asking for memory before it is needed, so that many misses are under way at once.

/// Bodies up to this size stay in caches so near that a processor which runs ahead hides them by
/// itself, and asking only costs.
const NEAR: usize = 1 << 20;

/// Whether asking pays for a body of so many bytes. (The more a lookup has to do otherwise, the
/// later: it divides the size.)
#[inline(always)]
pub(crate) fn worthwhile(len: usize) -> bool {
    len > NEAR
}

/// Starts to fetch the cache line of an address, whatever is there; says nothing and changes
/// nothing.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn read<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and faults on nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// Starts to fetch the cache line of a byte.
#[inline(always)]
pub(crate) fn byte(bytes: &[u8], at: usize) {
    read(bytes.as_ptr().wrapping_add(at));
}
