//! The split block Bloom filter: all of a key's bits in half a cache line.
//!
//! A block is eight lanes of 32 bits. A key sets one bit in every lane of its block. Five bits of
//! the product of its word with the lane's salt choose each bit. Blocks and salts are those of
//! Apache Parquet's filters, so the kernels serve both.
//!
//! A block of 256 bits is loaded, multiplied and tested in a few instructions on every processor
//! with vectors of 256 bits. The price is bits: the smaller the blocks, the more unevenly keys
//! crowd into them. The plan computes that mixture exactly: 10.53 bits an item at 1%, 16.89 at
//! 0.1%.
//!
//! A word has 32 bits, so a stranger whose word is that of a key in the same block passes as
//! well. The plan counts that, too; it matters below a rate of 1e-7.

use super::blocked::InBlocks;
use super::{Filter, Kind, Layout};
use crate::simd::Block256;

/// A set that is sometimes wrong about strangers, never about members, and touches half a cache
/// line a lookup.
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at no more than about the planned rate |
///
/// It is the fastest layout while the first cache holds it, on processors without AVX-512.
/// Elsewhere, and below a rate of 1%, [`BlockedBloom`](super::BlockedBloom) is as fast or faster in
/// fewer bits. It takes the fast and the keyed hash only.
///
/// ```
/// let mut seen = tamis::SplitBloom::new(1_000_000, 0.01)?;
/// seen.insert(42u64);
/// assert!(seen.contains(42u64));
/// assert!(seen.plan().bits_per_item() < 10.54);
/// # Ok::<(), tamis::Error>(())
/// ```
pub type SplitBloom = Filter<Split>;

/// The layout of [`SplitBloom`].
#[derive(Debug)]
pub struct Split;

impl Layout for Split {
    const KIND: Kind = Kind::Split;
}

impl InBlocks for Split {
    type Block = Block256;
}
