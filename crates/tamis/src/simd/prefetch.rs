//! Asking for memory before it is needed, so that many misses are under way at once.

use super::native;

/// Bodies up to this size stay in caches so near that a processor which runs ahead hides them by
/// itself, and asking only costs.
const NEAR: usize = 1 << 20;

/// Whether asking pays for a body of so many bytes. A lookup that does more work besides divides
/// the size: asking pays later for it.
#[inline(always)]
pub(crate) fn worthwhile(len: usize) -> bool {
    len > NEAR
}

/// Starts to fetch the cache line of an address. Any address will do: nothing is read.
#[inline(always)]
pub(crate) fn read<T>(address: *const T) {
    native::prefetch(address);
}

/// Starts to fetch the cache line of a byte.
#[inline(always)]
pub(crate) fn byte(bytes: &[u8], at: usize) {
    read(bytes.as_ptr().wrapping_add(at));
}
