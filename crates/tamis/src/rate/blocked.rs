//! The blocked Bloom filter: all of a key's bits in one cache line.
//!
//! A block is eight lanes of 64 bits. A key sets one bit (at 16 hashes: two) in every lane of one block; which one is
//! six bits of its digest. Every key thus costs one cache miss, and the lanes can be tested at once.
//!
//! Some blocks get more keys than others, and the crowded ones let through most strangers. The plan computes that
//! mixture exactly and adds the bits that it costs: 5% at a rate of 1%, 9% at 0.1%.

use super::filter::sealed::Cells;
use super::math::{BLOCK, LANE, LANES};
use super::{Filter, Kind, Layout, Plan};
use crate::hash::{Digest, Probe, scale};
use crate::{Error, Hash};

/// A set that is sometimes wrong about strangers, never about members, and touches one cache line a lookup.
///
/// | key | `contains` |
/// |---|---|
/// | inserted | always `true` |
/// | not inserted | `true` at no more than about the planned rate |
///
/// Rates from 5% to 0.01% suit it; outside them [`Bloom`](super::Bloom) is much smaller. It takes the fast and
/// the keyed hash only.
///
/// ```
/// let mut seen = tamis::BlockedBloom::new(1_000_000, 0.01)?;
/// seen.insert(42u64);
/// assert!(seen.contains(42u64));
/// assert!(seen.plan().bits_per_item() < 1.53 * 100f64.log2());
/// # Ok::<(), tamis::Error>(())
/// ```
pub type BlockedBloom = Filter<Blocked>;

/// The layout of [`BlockedBloom`].
#[derive(Debug)]
pub struct Blocked;

impl Layout for Blocked {
    const KIND: Kind = Kind::Blocked;
}

const BYTES: usize = (BLOCK / 8) as usize;

/// Spreads h1, whose high bits chose the block, for the second bit of each lane.
const SECOND: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bits of a key in its block, lane by lane.
#[inline]
fn pattern(digest: Digest, rounds: u32) -> [u64; LANES as usize] {
    let mut lanes = [0; LANES as usize];
    for (i, lane) in lanes.iter_mut().enumerate() {
        *lane = 1 << (digest.h2 >> (6 * i) & 63);
    }
    if rounds == 2 {
        let second = digest.h1.wrapping_mul(SECOND) >> 16;
        for (i, lane) in lanes.iter_mut().enumerate() {
            *lane |= 1 << (second >> (6 * i) & 63);
        }
    }
    lanes
}

/// The first byte of the key's block.
#[inline]
fn start(digest: Digest, plan: &Plan) -> usize {
    scale(digest.h1, plan.blocks()) as usize * BYTES
}

#[inline]
fn digest_of(probe: &Probe<'_>) -> Digest {
    match probe {
        Probe::Digest(digest) => *digest,
        _ => unreachable!("`accept` refused hashes without a digest when the filter was made"),
    }
}

fn lanes_of(block: &[u8]) -> impl Iterator<Item = u64> {
    block.as_chunks::<8>().0.iter().map(|lane| u64::from_le_bytes(*lane))
}

#[allow(private_interfaces)]
impl Cells for Blocked {
    fn accept(hash: &Hash) -> Result<(), Error> {
        hash.need_digest("a blocked filter")
    }

    #[inline]
    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        let digest = digest_of(probe);
        let first = start(digest, plan);
        let mut new = false;
        let (lanes, _) = body[first..first + BYTES].as_chunks_mut::<8>();
        for (lane, bits) in lanes.iter_mut().zip(pattern(digest, plan.rounds())) {
            let before = u64::from_le_bytes(*lane);
            new |= before & bits != bits;
            *lane = (before | bits).to_le_bytes();
        }
        new
    }

    #[inline]
    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        let digest = digest_of(probe);
        let first = start(digest, plan);
        // All lanes, without a branch: which lane fails first is a coin toss that no processor predicts.
        let missing = lanes_of(&body[first..first + BYTES])
            .zip(pattern(digest, plan.rounds()))
            .fold(0, |missing, (lane, bits)| missing | (bits & !lane));
        missing == 0
    }

    /// The mean over the blocks of the product over the lanes of their fill.
    fn fpr(plan: &Plan, body: &[u8]) -> f64 {
        let rounds = plan.rounds() as i32;
        let share = |lane: u64| (f64::from(lane.count_ones()) / LANE as f64).powi(rounds);
        let blocks = body.chunks_exact(BYTES);
        let total: f64 = blocks.map(|block| lanes_of(block).map(share).product::<f64>()).sum();
        total / plan.blocks() as f64
    }
}
