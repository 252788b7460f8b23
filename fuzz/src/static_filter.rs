//! Static filters of any digests, also of those that somebody chose.

use arbitrary::{Arbitrary, Unstructured};
use tamis::format::{Join, KeysRead, Part, PartNumber};
use tamis::rate::StaticBuilder;
use tamis::{AnyFilter, Digest, HashFamily, Kinds, Open};

/// The rate, how many digests there are, how many low bits of h1 differ, and the first digest.
type Case = (u16, u16, u8, u128, Vec<u128>);

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let (rate, count, spread, mut word, chosen) = case;
    let fpr = (f64::from(rate) / 65_536.0).powi(1 + i32::from(rate % 4)).clamp(1e-15, 0.999);
    // Digests that crowd, beside those of the input.
    let crowd = (0..count % 6_000).map(|_| {
        word = word.wrapping_mul(0xda94_2042_e4dd_58b5_1153_2255_ca07_4321).wrapping_add(1);
        word & u128::MAX.checked_shr(u32::from(spread % 64)).unwrap_or(0)
    });
    let digests: Vec<Digest> = crowd.chain(chosen).map(Digest::from).collect();
    let build = |digests: &mut dyn Iterator<Item = &Digest>| {
        let mut builder = StaticBuilder::new(fpr).ok()?.threads(1);
        for digest in digests {
            builder.add_digest(*digest).ok()?;
        }
        builder.build().ok()
    };
    let Some(filter) = build(&mut digests.iter()) else { panic!("not built at {fpr}") };
    assert!(digests.iter().all(|digest| filter.contains_digest(*digest)), "a member is lost");
    assert!((0.0..=1.0).contains(&filter.expected_fpr()));
    assert_eq!(filter.body().len() as u64, filter.plan().bytes());
    let again = build(&mut digests.iter().rev().chain(digests.iter().take(7)));
    assert_eq!(again.as_ref(), Some(&filter), "the order matters");
    let plan = *filter.plan();
    let kinds = if digests.is_empty() { Kinds::default() } else { Kinds::DIGESTS };
    let hash = HashFamily::default();
    let of = 1 + u64::from(spread / 64);
    let mut join = Join::new(Open::new());
    for number in (1..=of).filter_map(|number| PartNumber::new(number, of).ok()) {
        let own = number.shards(plan.shards());
        let own = digests.iter().filter(|digest| own.contains(&plan.shard_of(**digest)));
        let (own, read) = (own.copied().collect(), KeysRead::default());
        let part = Part::build_static(&plan, &hash, kinds, number, read, own);
        let Ok(part) = part else { panic!("no part {number}") };
        assert!(join.reader(&part.to_bytes()[..]).is_ok_and(|read| read == number));
    }
    let joined = join.finish();
    let whole = AnyFilter::from(filter.clone());
    assert!(joined.is_ok_and(|joined| joined == whole), "parts make another filter");
    let read = AnyFilter::from_bytes(&filter.to_bytes());
    assert!(read.is_ok_and(|read| read == AnyFilter::from(filter)), "it is read otherwise");
    let _ = Join::new(Open::new().max_memory(1 << 24)).reader(bytes);
}
