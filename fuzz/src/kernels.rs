//! Filters of blocks, with the kernel that this processor has, against the words of FORMAT.md.

use arbitrary::{Arbitrary, Unstructured};
use tamis::rate::{Blocked, Filter, Kind, Layout, Plan, Split};
use tamis::{Digest, HashFamily};

/// Outside the library, the high half of h1 is mixed into its low half.
fn words(digest: u128) -> (u64, u64) {
    let (mixed, h2) = (digest as u64, (digest >> 64) as u64);
    (mixed ^ mixed >> 32, h2)
}

/// The bits of a digest, as FORMAT.md lays out a blocked filter.
fn positions_in_block(digest: u128, plan: &Plan) -> Vec<u64> {
    let (h1, h2) = words(digest);
    let block = ((u128::from(h1) * u128::from(plan.cells() / 512)) >> 64) as u64;
    let mut words = vec![h1.wrapping_mul(0x9e37_79b9_7f4a_7c15)];
    if plan.hashes() == 16 {
        words.push(h2);
    }
    let bit = |g: u64, lane: u64| block * 512 + lane * 64 + 63 - (g >> (16 + 6 * lane) & 63);
    words.iter().flat_map(|g| (0..8).map(move |lane| bit(*g, lane))).collect()
}

/// The bits of a digest, as FORMAT.md lays out a split filter.
fn split_bits(digest: u128, plan: &Plan) -> Vec<u64> {
    const SALTS: [u32; 8] = [
        0x47b6_137b,
        0x4497_4d91,
        0x8824_ad5b,
        0xa2b7_289d,
        0x7054_95c7,
        0x2df1_424b,
        0x9efc_4947,
        0x5c6b_fb31,
    ];
    let product = u128::from(words(digest).0) * u128::from(plan.cells() / 256);
    let (block, word) = ((product >> 64) as u64, (product >> 32) as u32);
    let bit = |salt: &u32| u64::from(word.wrapping_mul(*salt) >> 27);
    let lanes = SALTS.iter().zip(0..);
    lanes.map(|(salt, lane): (_, u64)| block * 256 + lane * 32 + bit(salt)).collect()
}

type Case = (u8, u8, Vec<u64>, Vec<u64>);

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let (layout, items, inserted, asked) = case;
    let items = u64::from(items) + 1;
    match layout % 3 {
        0 => compare::<Blocked>(Kind::Blocked, items, 0.01, positions_in_block, &inserted, &asked),
        1 => compare::<Blocked>(Kind::Blocked, items, 1e-6, positions_in_block, &inserted, &asked),
        _ => compare::<Split>(Kind::Split, items, 0.01, split_bits, &inserted, &asked),
    }
}

fn compare<L: Layout>(
    kind: Kind,
    items: u64,
    rate: f64,
    bits: fn(u128, &Plan) -> Vec<u64>,
    inserted: &[u64],
    asked: &[u64],
) {
    let Ok(plan) = Plan::from_items_fpr(kind, items, rate) else { return };
    let hash = HashFamily::fast(items);
    let digest = |key: &u64| u128::from(hash.digest(*key).unwrap_or(Digest::from(0)));
    let mut model = vec![0u8; plan.bytes() as usize];
    let passes = |model: &[u8], key: &u64| {
        bits(digest(key), &plan).iter().all(|bit| model[(bit / 8) as usize] >> (bit % 8) & 1 == 1)
    };
    let (mut together, mut single) =
        match [(); 2].map(|()| Filter::<L>::with_plan(plan, hash.clone())) {
            [Ok(one), Ok(other)] => (one, other),
            _ => return,
        };
    let mut new = 0;
    for key in inserted {
        let was_new = !passes(&model, key);
        new += u64::from(was_new);
        for bit in bits(digest(key), &plan) {
            model[(bit / 8) as usize] |= 1 << (bit % 8);
        }
        assert_eq!(single.insert(*key), was_new);
    }
    assert_eq!(together.insert_many(inserted.iter().copied()), new);
    assert_eq!(together.body(), model);
    assert_eq!(single.body(), model);
    let expected: Vec<bool> = asked.iter().chain(inserted).map(|key| passes(&model, key)).collect();
    let keys: Vec<u64> = asked.iter().chain(inserted).copied().collect();
    assert_eq!(together.contains_many(&keys), expected);
    assert!(keys.iter().zip(&expected).all(|(key, passes)| single.contains(*key) == *passes));
}
