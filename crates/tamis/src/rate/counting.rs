//! The counting Bloom filter: a counter where the classic one has a bit.

use super::filter::sealed::Operations;
use super::{Filter, Kind, Layout, MAX_HASHES, Plan};
use crate::bits::Packed;
use crate::hash::Probe;
use crate::{Error, Key};

/// A set that is sometimes wrong about strangers, never about members, and can forget a member.
///
/// | key | `contains` |
/// |---|---|
/// | inserted, more often than removed | always `true` |
/// | any other | `true` at about the planned rate |
///
/// A key inserted twice must be removed twice. Removing a key that is certainly absent is an error
/// and changes nothing. **Removing a stranger that happens to pass takes a member's counters with
/// it**, which no filter can notice: remove only what was inserted. A counter that reached its
/// ceiling stays there, so that no member is ever lost; [`saturated`](CountingBloom::saturated)
/// counts those.
///
/// ```
/// let mut seen = tamis::CountingBloom::new(1_000, 0.01)?;
/// seen.insert("ant");
/// seen.remove("ant")?;
/// assert!(!seen.contains("ant"));
/// assert!(seen.remove("bee").is_err());
/// # Ok::<(), tamis::Error>(())
/// ```
pub type CountingBloom = Filter<Counting>;

/// The layout of [`CountingBloom`].
#[derive(Debug)]
pub struct Counting;

impl Layout for Counting {
    const KIND: Kind = Kind::Counting;
}

fn counters(plan: &Plan) -> Packed {
    Packed { width: plan.counter_bits() }
}

/// The key's positions, each once. A key that meets a counter twice adds 1 to it, and takes 1 away
/// when it is removed.
struct Places {
    all: [u64; MAX_HASHES as usize],
    len: usize,
}

impl Places {
    fn new(plan: &Plan, probe: &Probe<'_>) -> Places {
        let mut places = Places { all: [0; MAX_HASHES as usize], len: 0 };
        probe.visit(plan.cells(), plan.hashes(), |position| {
            if !places.get().contains(&position) {
                places.all[places.len] = position;
                places.len += 1;
            }
            true
        });
        places
    }

    fn get(&self) -> &[u64] {
        &self.all[..self.len]
    }
}

#[allow(private_interfaces)]
impl Operations for Counting {
    fn insert(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> bool {
        let counters = counters(plan);
        let mut new = false;
        for &place in Places::new(plan, probe).get() {
            let count = counters.get(body, place);
            new |= count == 0;
            counters.set(body, place, (count + 1).min(counters.ceiling()));
        }
        new
    }

    fn contains(plan: &Plan, body: &[u8], probe: &Probe<'_>) -> bool {
        let counters = counters(plan);
        probe.visit(plan.cells(), plan.hashes(), |place| counters.get(body, place) != 0)
    }

    #[allow(private_interfaces)]
    fn remove(plan: &Plan, body: &mut [u8], probe: &Probe<'_>) -> Option<bool> {
        let counters = counters(plan);
        let places = Places::new(plan, probe);
        if places.get().iter().any(|&place| counters.get(body, place) == 0) {
            return Some(false);
        }
        for &place in places.get() {
            let count = counters.get(body, place);
            // At the ceiling nobody knows how many keys share the counter, so it must stay.
            if count < counters.ceiling() {
                counters.set(body, place, count - 1);
            }
        }
        Some(true)
    }

    /// The sum: a key of both must be removed as often as it was inserted into either.
    fn union(plan: &Plan, body: &mut [u8], other: &[u8]) {
        combine(plan, body, other, |l, r| (l + r).min(counters(plan).ceiling()));
    }

    /// The smaller counter: enough for every key of both.
    fn intersect(plan: &Plan, body: &mut [u8], other: &[u8]) {
        combine(plan, body, other, u64::min);
    }

    fn occupied(plan: &Plan, body: &[u8]) -> u64 {
        count(plan, body, |count| count != 0)
    }
}

fn combine(plan: &Plan, body: &mut [u8], other: &[u8], with: impl Fn(u64, u64) -> u64) {
    let counters = counters(plan);
    for place in 0..plan.cells() {
        let merged = with(counters.get(body, place), counters.get(other, place));
        counters.set(body, place, merged);
    }
}

fn count(plan: &Plan, body: &[u8], which: impl Fn(u64) -> bool) -> u64 {
    let counters = counters(plan);
    (0..plan.cells()).filter(|&place| which(counters.get(body, place))).count() as u64
}

impl CountingBloom {
    /// Takes a key out once. [`Error::Absent`], and no change, if it is certainly not there.
    pub fn remove(&mut self, key: impl Key) -> Result<(), Error> {
        match self.take_out(key.as_key()) {
            Some(true) => Ok(()),
            _ => Err(Error::Absent),
        }
    }

    /// How many counters have reached their ceiling and can no longer fall. Keys that met one may
    /// pass even after their removal; if there are many, plan wider counters.
    #[must_use]
    pub fn saturated(&self) -> u64 {
        let ceiling = counters(self.plan()).ceiling();
        count(self.plan(), self.body(), |count| count == ceiling)
    }
}
