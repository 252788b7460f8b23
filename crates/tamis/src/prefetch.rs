//! Asking for memory before it is needed, so that many misses are under way at once.

/// Bodies up to this size stay in the caches of common processors, where asking ahead only costs.
pub(crate) const WORTHWHILE: usize = 1 << 20;

/// Starts to fetch the cache line of `bytes[at]`; says nothing and changes nothing.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn read(bytes: &[u8], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(byte) = bytes.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and faults on nothing; the address is that of a byte we may read anyway.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (bytes, at);
}
