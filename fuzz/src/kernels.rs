//! The blocked filter, with the kernel that this processor has, against the words of FORMAT.md.

use arbitrary::{Arbitrary, Unstructured};
use tamis::rate::{Kind, Plan};
use tamis::{BlockedBloom, Digest, HashFamily};

/// The bits of a digest, as FORMAT.md lays out a blocked filter.
fn bits(digest: u128, blocks: u64, hashes: u32) -> Vec<u64> {
    // Outside the library, the high half of h1 is mixed into its low half.
    let (mixed, h2) = (digest as u64, (digest >> 64) as u64);
    let h1 = mixed ^ mixed >> 32;
    let block = ((u128::from(h1) * u128::from(blocks)) >> 64) as u64;
    let mut words = vec![h1.wrapping_mul(0x9e37_79b9_7f4a_7c15)];
    if hashes == 16 {
        words.push(h2);
    }
    let bit = |g: u64, lane: u64| block * 512 + lane * 64 + 63 - (g >> (16 + 6 * lane) & 63);
    words.iter().flat_map(|g| (0..8).map(move |lane| bit(*g, lane))).collect()
}

type Case = (bool, u8, Vec<u64>, Vec<u64>);

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let (precise, items, inserted, asked) = case;
    let rate = if precise { 1e-6 } else { 0.01 };
    let Ok(plan) = Plan::from_items_fpr(Kind::Blocked, u64::from(items) + 1, rate) else { return };
    let hash = HashFamily::fast(u64::from(items));
    let blocks = plan.cells() / 512;
    let digest = |key: &u64| u128::from(hash.digest(*key).unwrap_or(Digest::from(0)));
    let mut model = vec![0u8; plan.bytes() as usize];
    let passes = |model: &[u8], key: &u64| {
        bits(digest(key), blocks, plan.hashes())
            .iter()
            .all(|bit| model[(bit / 8) as usize] >> (bit % 8) & 1 == 1)
    };
    let (mut together, mut single) =
        match [(); 2].map(|()| BlockedBloom::with_plan(plan, hash.clone())) {
            [Ok(one), Ok(other)] => (one, other),
            _ => return,
        };
    let mut new = 0;
    for key in &inserted {
        let was_new = !passes(&model, key);
        new += u64::from(was_new);
        for bit in bits(digest(key), blocks, plan.hashes()) {
            model[(bit / 8) as usize] |= 1 << (bit % 8);
        }
        assert_eq!(single.insert(*key), was_new);
    }
    assert_eq!(together.insert_many(inserted.iter().copied()), new);
    assert_eq!(together.body(), model);
    assert_eq!(single.body(), model);
    let expected: Vec<bool> =
        asked.iter().chain(&inserted).map(|key| passes(&model, key)).collect();
    let keys: Vec<u64> = asked.iter().chain(&inserted).copied().collect();
    assert_eq!(together.contains_many(&keys), expected);
    assert!(keys.iter().zip(&expected).all(|(key, passes)| single.contains(*key) == *passes));
}
