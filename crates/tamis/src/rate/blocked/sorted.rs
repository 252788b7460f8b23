//! Keys of a filter of blocks, sorted by the region of their block.

use super::batch::{Hashed, Part, Runs};
use super::{InBlocks, put_in, two_words};
use crate::hash::{Digest, Digests};
use crate::rate::sorted::{Region, Sorting, Units, Unsorted};
use crate::rate::{Filter, Layout, Plan};
use crate::simd::{BATCH, Block, Kernels, dispatch};
use crate::{Error, HashFamily, Key, Kinds};
use bytemuck::Pod;
use std::marker::PhantomData;

/// Keys of blocks `B`, of which `W` is kept: h1, or h1 and h2.
struct Words<B, W>(PhantomData<(B, W)>);

/// What is kept of keys that have one word, or two.
trait Kept: Hashed + Pod + Send + Sync {
    const H2: bool;

    fn extend(units: &mut Vec<Self>, digests: &Digests);
}

impl Kept for u64 {
    const H2: bool = false;

    fn extend(units: &mut Vec<u64>, digests: &Digests) {
        units.extend_from_slice(&digests.h1[..digests.len]);
    }
}

impl Kept for [u64; 2] {
    const H2: bool = true;

    fn extend(units: &mut Vec<[u64; 2]>, digests: &Digests) {
        units.extend(digests.iter().map(|digest| [digest.h1, digest.h2]));
    }
}

/// The logarithm of how many blocks a cache line holds.
const fn blocks_of_a_line<B>() -> u32 {
    (64 / size_of::<B>()).ilog2()
}

/// How many blocks a filter has.
fn count<B>(plan: &Plan) -> u64 {
    plan.bytes() / size_of::<B>() as u64
}

impl Hashed for u64 {
    #[inline(always)]
    fn digest(self) -> Digest {
        Digest { h1: self, h2: 0 }
    }
}

impl Hashed for [u64; 2] {
    #[inline(always)]
    fn digest(self) -> Digest {
        let [h1, h2] = self;
        Digest { h1, h2 }
    }
}

impl<B: Block, W: Kept> Units for Words<B, W> {
    type Unit = W;
    type Stretch = ();

    fn for_each_key(_: &Plan) -> usize {
        1
    }

    fn stretch(_: &Plan, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn need_h2(_: &Plan) -> bool {
        W::H2
    }

    fn make<N: Kernels>(
        kernels: N,
        plan: &Plan,
        region: u32,
        _: usize,
        digests: &Digests,
        into: &mut Unsorted<W>,
    ) {
        let mut found = [0; BATCH];
        let blocks = region + blocks_of_a_line::<B>();
        kernels.find_regions(count::<B>(plan), blocks, &digests.h1, &mut found);
        into.regions.extend_from_slice(&found[..digests.len]);
        W::extend(&mut into.units, digests);
    }

    fn insert<'a, N: Kernels>(
        kernels: N,
        plan: &Plan,
        (): &(),
        region: Region<'_>,
        runs: impl Iterator<Item = &'a [W]>,
    ) -> u64 {
        let first = (region.number as u64) << (region.lines + blocks_of_a_line::<B>());
        let part = Part { blocks: count::<B>(plan), first, far: true };
        let blocks = B::all_mut(region.bytes);
        put_in(kernels, part, two_words::<B>(plan), blocks, Runs { runs, now: &[] })
    }

    fn finish((): &()) -> u64 {
        0
    }
}

/// Puts keys in sorted, if that pays and there is memory for it; says how many were certainly new.
pub(super) fn try_insert<B: Block, K: Key, N: Kernels>(
    kernels: N,
    plan: &Plan,
    hash: &HashFamily,
    body: &mut [u8],
    kinds: &mut Kinds,
    keys: &mut impl Iterator<Item = K>,
) -> Option<u64> {
    let count = keys.size_hint().0;
    Some(if two_words::<B>(plan) {
        let sorting = Sorting::<Words<B, [u64; 2]>>::new(plan, count, 1)?;
        sorting.insert(kernels, plan, hash, body, kinds, keys)
    } else {
        let sorting = Sorting::<Words<B, u64>>::new(plan, count, 1)?;
        sorting.insert(kernels, plan, hash, body, kinds, keys)
    })
}

#[allow(private_bounds)]
impl<L: Layout + InBlocks> Filter<L> {
    /// [`insert_many`](crate::rate::Filter::insert_many) with several threads: the same filter, and
    /// the same count of keys that were certainly new. Filters of up to 8 MiB are filled by one
    /// thread, for which the caches are fast enough, and so are those that get less than a key
    /// for eight cache lines of 64 bytes. It takes the same memory, and one percent of the
    /// filter's for every thread.
    ///
    /// ```
    /// let keys: Vec<u64> = (0..100_000).collect();
    /// let mut seen = tamis::BlockedBloom::new(100_000, 0.01)?;
    /// let new = seen.insert_parallel(&keys, 2);
    /// let mut same = tamis::BlockedBloom::new(100_000, 0.01)?;
    /// assert_eq!(same.insert_many(&keys), new);
    /// assert_eq!(same, seen);
    /// # Ok::<(), tamis::Error>(())
    /// ```
    pub fn insert_parallel<K: Key + Sync>(&mut self, keys: &[K], threads: usize) -> u64 {
        let sorted = if threads > 1 { self.try_insert_parallel(keys, threads) } else { None };
        sorted.unwrap_or_else(|| self.insert_many(keys))
    }

    fn try_insert_parallel<K: Key + Sync>(&mut self, keys: &[K], threads: usize) -> Option<u64> {
        let level = self.level();
        let (plan, hash, kinds, body) = self.parts_mut();
        if two_words::<L::Block>(plan) {
            let sorting = Sorting::<Words<L::Block, [u64; 2]>>::new(plan, keys.len(), threads)?;
            Some(dispatch!(level, kernels => {
                sorting.insert_parallel(kernels, plan, hash, body, kinds, keys)
            }))
        } else {
            let sorting = Sorting::<Words<L::Block, u64>>::new(plan, keys.len(), threads)?;
            Some(dispatch!(level, kernels => {
                sorting.insert_parallel(kernels, plan, hash, body, kinds, keys)
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HashFamily;
    use crate::rate::sorted::REGION;
    use crate::rate::{Blocked, BlockedBloom, Kind, Split};
    use crate::simd::Level;

    /// Keys sorted in regions of 2^`region` lines, by an iterator and with several threads.
    fn insert_sorted<L: Layout + InBlocks, K: Key + Sync>(
        filter: &mut Filter<L>,
        level: Level,
        keys: &[K],
        threads: Option<usize>,
        region: u32,
    ) -> u64 {
        let (plan, hash, kinds, body) = filter.parts_mut();
        let many = threads.unwrap_or(1);
        if two_words::<L::Block>(plan) {
            let sorting =
                Sorting::<Words<L::Block, [u64; 2]>>::with_region(plan, keys.len(), many, region)
                    .unwrap();
            dispatch!(level, kernels => match threads {
                Some(_) => sorting.insert_parallel(kernels, plan, hash, body, kinds, keys),
                None => sorting.insert(kernels, plan, hash, body, kinds, &mut keys.iter()),
            })
        } else {
            let sorting =
                Sorting::<Words<L::Block, u64>>::with_region(plan, keys.len(), many, region)
                    .unwrap();
            dispatch!(level, kernels => match threads {
                Some(_) => sorting.insert_parallel(kernels, plan, hash, body, kinds, keys),
                None => sorting.insert(kernels, plan, hash, body, kinds, &mut keys.iter()),
            })
        }
    }

    /// Every third key comes twice, and some regions get none.
    fn keys(count: u64) -> Vec<u64> {
        (0..count).flat_map(|i| if i % 3 == 0 { vec![i; 2] } else { vec![i] }).collect()
    }

    /// Any region's size and number of threads make the filter, and the count, that one key after
    /// the other makes: in filters of a block and of many, with one word and with two, for few
    /// keys and for several stretches.
    fn sorting_changes_nothing<L: Layout + InBlocks>(items: u64, fpr: f64) {
        let new_filter = || Filter::<L>::new(items, fpr).unwrap();
        for count in [0, 1, 1_000, 90_000] {
            let keys = keys(count);
            let texts: Vec<String> = keys.iter().map(u64::to_string).collect();
            let mut one = new_filter();
            let new: u64 = keys.iter().map(|key| u64::from(one.insert(key))).sum();
            let mut with_texts = one.clone();
            let new_texts: u64 = texts.iter().map(|text| u64::from(with_texts.insert(text))).sum();
            for region in [0, 3, 6, REGION] {
                for threads in [None, Some(1), Some(2), Some(3), Some(usize::MAX)] {
                    for level in Level::all() {
                        let case = format!(
                            "{level:?}, {items} items, {count} keys, regions of 2^{region} lines, \
                             {threads:?} threads"
                        );
                        let mut many = new_filter();
                        let counted = [
                            insert_sorted(&mut many, level, &keys, threads, region),
                            insert_sorted(&mut many, level, &texts, threads, region),
                        ];
                        assert_eq!(counted, [new, new_texts], "{case}");
                        assert!(many == with_texts, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn sorting_changes_nothing_in_blocks_of_512_bits() {
        for (items, fpr) in [(1, 0.01), (90, 0.01), (5_000, 0.01), (5_000, 1e-6), (200_000, 0.001)]
        {
            sorting_changes_nothing::<Blocked>(items, fpr);
        }
    }

    #[test]
    fn sorting_changes_nothing_in_blocks_of_256_bits() {
        for (items, fpr) in [(1, 0.01), (90, 0.01), (5_000, 0.01), (200_000, 0.001)] {
            sorting_changes_nothing::<Split>(items, fpr);
        }
    }

    /// Keys of one region only, all alike or not.
    #[test]
    fn one_region_may_get_everything() {
        let blocks = BlockedBloom::new(50_000, 0.01).unwrap().plan().bytes() / 64;
        let hash = HashFamily::default();
        let near =
            |key: &u64| crate::simd::Block512::locate(blocks, hash.digest(key).unwrap().h1).0 < 10;
        let near: Vec<u64> = (0..2_000_000).filter(near).collect();
        assert!(near.len() > 1_000);
        for keys in [near, vec![7; 60_000]] {
            let mut one = BlockedBloom::new(50_000, 0.01).unwrap();
            let new = one.insert_many(&keys);
            let mut many = BlockedBloom::new(50_000, 0.01).unwrap();
            let sorted = insert_sorted(&mut many, Level::detect(), &keys, Some(2), 3);
            assert_eq!(sorted, new);
            assert_eq!(many, one);
        }
    }

    /// Sorting is for large filters that get many keys, in room of half their size, or, with two
    /// words a key, of their size; and a little for each thread.
    #[test]
    fn sorting_is_for_many_keys_in_large_filters() {
        fn check<U: Units>(kind: Kind, fpr: f64, share: f64) {
            let plan = |items| Plan::from_items_fpr(kind, items, fpr).unwrap();
            assert!(Sorting::<U>::new(&plan(100_000), 1 << 30, 2).is_none());
            let large = plan(50_000_000);
            assert!(
                Sorting::<U>::new(&large, 100_000, 2).is_none()
                    && Sorting::<U>::new(&large, 500_000, 1).is_none()
            );
            assert!(Sorting::<U>::new(&large, 500_000, 2).is_some());
            for threads in [1, usize::MAX] {
                let (sorted, scratch, threads) =
                    Sorting::<U>::new(&large, 1 << 30, threads).unwrap().sizes();
                assert!((sorted as f64 / large.bytes() as f64 - share).abs() < 0.01);
                assert!((scratch as f64) < 0.015 * large.bytes() as f64 && threads <= 32);
            }
        }
        check::<Words<crate::simd::Block512, u64>>(Kind::Blocked, 0.01, 0.5);
        check::<Words<crate::simd::Block512, [u64; 2]>>(Kind::Blocked, 1e-6, 1.0);
        check::<Words<crate::simd::Block256, u64>>(Kind::Split, 0.01, 0.5);
    }

    /// The whole way, with filters that are large enough for it, and several stretches, the last
    /// one short.
    fn large_filters_get_the_same_keys<L: Layout + InBlocks>(items: u64, fpr: f64) {
        let mut one = Filter::<L>::new(items, fpr).unwrap();
        let count = one.plan().bytes() / 64 * 5 + 77;
        let keys: Vec<u64> = (0..count).map(|i| i * i % (count * 3 / 4)).collect();
        let new = keys.iter().map(|key| u64::from(one.insert(key))).sum::<u64>();
        assert!(Sorting::<Words<L::Block, [u64; 2]>>::new(one.plan(), keys.len(), 1).is_some());
        let mut many = Filter::<L>::new(items, fpr).unwrap();
        assert_eq!(many.insert_many(&keys), new);
        assert!(many == one);
        many.clear();
        assert_eq!(many.insert_parallel(&keys, 3), new);
        assert!(many == one);
    }

    #[test]
    fn large_filters() {
        large_filters_get_the_same_keys::<Blocked>(30_000_000, 0.01);
        large_filters_get_the_same_keys::<Blocked>(8_000_000, 1e-6);
        large_filters_get_the_same_keys::<Split>(30_000_000, 0.01);
    }
}
