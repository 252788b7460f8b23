//! Parts of filters: what several machines build is what one machine builds, and what does not
//! belong together is refused.

#![allow(clippy::unwrap_used)]

use tamis::format::{Join, KeysRead, Part, PartNumber};
use tamis::privacy::{LinearPlan, Receipt};
use tamis::rate::{Kind, Plan, StaticBuilder, StaticPlan};
use tamis::{AnyFilter, Bloom, Digest, Error, HashFamily, Kinds, Open, PartFault, SecretKey};
use tamis_random::SplitMix64;

fn number(text: &str) -> PartNumber {
    text.parse().unwrap()
}

/// A part of a static filter, as a machine makes it that reads all keys.
fn static_part(plan: &StaticPlan, hash: &HashFamily, part: PartNumber, keys: &[u64]) -> Part {
    let (own, mut read) = (part.shards(plan.shards()), KeysRead::default());
    let mut digests = Vec::new();
    for digest in keys.iter().filter_map(|key| hash.digest(*key)) {
        read.add(digest);
        if own.contains(&plan.shard_of(digest)) {
            digests.push(digest);
        }
    }
    Part::build_static(plan, hash, Kinds::INTEGERS, part, read, digests).unwrap()
}

fn static_parts(items: u64, of: u64, keys: &[u64]) -> Vec<Vec<u8>> {
    let plan = StaticPlan::new(items, 0.01).unwrap();
    let make = |i| {
        let part = PartNumber::new(i, of).unwrap();
        static_part(&plan, &HashFamily::default(), part, keys).to_bytes()
    };
    (1..=of).map(make).collect()
}

fn join<'a>(parts: impl IntoIterator<Item = &'a Vec<u8>>) -> Result<AnyFilter, Error> {
    join_as(Open::new(), parts)
}

fn join_as<'a>(
    open: Open,
    parts: impl IntoIterator<Item = &'a Vec<u8>>,
) -> Result<AnyFilter, Error> {
    let mut join = Join::new(open);
    for part in parts {
        join.reader(&part[..])?;
    }
    if let Some(plan) = join.linear_plan() {
        let paid = Receipt::unrecorded(plan.epsilon());
        return Ok(join.publish(paid)?.into());
    }
    join.finish()
}

fn fault<'a>(parts: impl IntoIterator<Item = &'a Vec<u8>>) -> PartFault {
    match join(parts) {
        Err(Error::Part(fault)) => fault,
        other => panic!("{:?}", other.map(|filter| filter.kind())),
    }
}

#[test]
fn every_shard_is_in_one_part() {
    for shards in [1, 2, 3, 7, 16, 100, 953_675, u64::MAX] {
        for of in [1, 2, 3, 16, 1_000, 1 << 20] {
            let mut next = 0;
            let step = (of / 500).max(1) as usize;
            for i in (1..=of).step_by(step) {
                let own = PartNumber::new(i, of).unwrap().shards(shards);
                assert!(own.start >= next && own.end <= shards);
                assert!(step > 1 || own.start == next, "{i}/{of} of {shards}");
                next = own.end;
                for shard in [own.start, own.end.saturating_sub(1)] {
                    if own.contains(&shard) {
                        let part = PartNumber::with_shard(shard, shards, of).unwrap();
                        assert_eq!((part.number(), part.of()), (i, of));
                    }
                }
            }
            assert_eq!(PartNumber::new(of, of).unwrap().shards(shards).end, shards);
        }
    }
}

#[test]
fn parts_have_numbers() {
    assert_eq!(number("3/16").to_string(), "3/16");
    for text in
        ["", "3", "/", "3/", "/16", "0/16", "17/16", "3/0", "-1/2", "+1/2", "1/2/3", "a/b", " 1/2"]
    {
        let refused = text.parse::<PartNumber>().unwrap_err();
        assert!(refused.to_string().contains("1/N to N/N"), "{text}: {refused}");
    }
    assert!(PartNumber::new(1, 1 << 20).is_ok() && PartNumber::new(1, (1 << 20) + 1).is_err());
}

/// The file of a local build with the same plan, whatever the number of parts and their order.
#[test]
fn parts_of_a_static_filter_join_to_the_local_file() {
    let mut random = SplitMix64::new(11);
    let keys: Vec<u64> = (0..2_500_000).map(|_| random.next_u64()).collect();
    let mut builder = StaticBuilder::new(0.01).unwrap();
    builder.extend(keys.iter().copied()).unwrap();
    let local = builder.build().unwrap();
    assert_eq!(local.plan().shards(), 3);
    for of in [2, 5] {
        let mut parts = static_parts(local.items(), of, &keys);
        parts.reverse();
        assert!(join(&parts).unwrap().to_bytes() == local.to_bytes(), "{of} parts");
    }
}

/// Small sets have one shard, and none at all is a set.
#[test]
fn small_sets_have_parts() {
    for count in [0u64, 1, 5, 1_000, 50_000] {
        let keys: Vec<u64> = (0..count).collect();
        let mut builder = StaticBuilder::new(0.01).unwrap();
        builder.extend(keys.iter().copied()).unwrap();
        let local = builder.build().unwrap().to_bytes();
        for of in [1, 4] {
            let joined = join(&static_parts(count, of, &keys)).unwrap();
            // A machine that read nothing does not know of which kind the keys are.
            assert!(count == 0 || joined.to_bytes() == local, "{count} keys in {of} parts");
            assert!(keys.iter().all(|key| joined.contains(*key).unwrap()));
        }
    }
}

/// Keys in any split, on machines that know nothing of each other.
#[test]
fn parts_of_other_filters_join_to_the_local_file() {
    let hash = HashFamily::fast(3);
    for kind in [Kind::Bloom, Kind::Blocked, Kind::Split, Kind::Counting, Kind::Quotient] {
        let plan = Plan::from_items_fpr(kind, 3_000, 0.01).unwrap();
        let empty = || AnyFilter::with_rate_plan(plan, hash.clone()).unwrap();
        let mut local = empty();
        let mut machines = [empty(), empty(), empty()];
        for key in 0..3_000u64 {
            local.insert(key).unwrap();
            machines[(key * key % 3) as usize].insert(key).unwrap();
        }
        let part = |(i, machine): (u64, &AnyFilter)| {
            Part::of_filter(machine, PartNumber::new(i, 3).unwrap()).unwrap().to_bytes()
        };
        let parts: Vec<Vec<u8>> = (1..).zip(&machines).map(part).collect();
        let joined = join(parts.iter().rev()).unwrap();
        assert!(joined.to_bytes() == local.to_bytes(), "{kind}");
        let missing = PartFault::Missing { first: 2, count: 1, of: 3 };
        assert_eq!(fault([&parts[0], &parts[2]]), missing);
        assert_eq!(fault([&parts[0], &parts[0]]), PartFault::Again { number: 1, of: 3 });
    }
}

#[test]
fn a_published_or_static_filter_is_no_part() {
    let whole = StaticBuilder::new(0.01).unwrap().build().unwrap();
    let refused = Part::of_filter(&whole.into(), number("1/2")).unwrap_err();
    assert!(matches!(refused, Error::Unsupported { kind: "static", .. }), "{refused}");
}

/// Members pass but for the planned share, strangers at the planned rate. The bytes for the same
/// coins are compared where the coins are: in `privacy/linear/shard.rs`.
#[test]
fn parts_of_a_linear_filter_join_to_a_release() {
    let plan = LinearPlan::new(600_000, "3".parse().unwrap()).unwrap();
    assert!(plan.shards() > 2);
    let hash = HashFamily::fast(9);
    let draw = |part: PartNumber| {
        let own = part.shards(plan.shards());
        let digests: Vec<Digest> = (0..600_000u64)
            .filter_map(|key| hash.digest(key))
            .filter(|digest| own.contains(&plan.shard_of(*digest)))
            .collect();
        Part::draw_linear(&plan, &hash, part, digests).unwrap().to_bytes()
    };
    let parts = ["2/2", "1/2"].map(|text| draw(number(text)));
    let joined = join(&parts).unwrap();
    assert_eq!(joined.kind(), "linear");
    assert_eq!(joined.to_bytes().len() as u64, plan.file_bytes());
    let passed = |from: u64| {
        (from..from + 100_000).filter(|key| joined.contains(*key).unwrap()).count() as f64
    };
    for (got, share) in [(passed(0), 1.0 - plan.fnr()), (passed(1 << 40), plan.fpr())] {
        let sigma = (1e5 * share * (1.0 - share)).sqrt();
        assert!((got - 1e5 * share).abs() < 5.0 * sigma + 0.01 * 1e5 * share, "{got} {share}");
    }
    // No release without a receipt, nor for one that pays less.
    let read = || {
        let mut join = Join::new(Open::new());
        parts.iter().for_each(|part| assert!(join.reader(&part[..]).is_ok()));
        join
    };
    assert!(matches!(read().finish(), Err(Error::Unsupported { kind: "linear", .. })));
    assert!(read().publish(Receipt::unrecorded("2".parse().unwrap())).is_err());
    // A part tells nothing of what was read: its header is the same for every set.
    let empty = Part::draw_linear(&plan, &hash, number("1/2"), Vec::new()).unwrap().to_bytes();
    assert_eq!(empty.len(), parts[1].len());
    assert_eq!(empty[32..124], parts[1][32..124]);
    // Two draws of one part do not make a filter.
    assert_eq!(fault([&parts[1], &empty]), PartFault::Again { number: 1, of: 2 });
    // A digest of another part is no silent loss.
    let outside = Part::draw_linear(&plan, &hash, number("2/2"), vec![Digest::from(0)]);
    assert!(matches!(outside, Err(Error::Part(PartFault::Outside { number: 2 }))));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let keys: Vec<u64> = (0..5_000).collect();
    let parts = static_parts(5_000, 4, &keys);
    assert!(join(&parts).is_ok());
    assert_eq!(fault([]), PartFault::Nothing);
    assert_eq!(fault(&parts[1..]), PartFault::Missing { first: 1, count: 1, of: 4 });
    assert_eq!(fault(&parts[2..]), PartFault::Missing { first: 1, count: 2, of: 4 });
    assert_eq!(fault([&parts[1], &parts[1]]), PartFault::Again { number: 2, of: 4 });
    let foreign = |other: &Vec<u8>, wanted: &str| match fault([&parts[0], other]) {
        PartFault::Foreign { field, .. } => assert_eq!(field, wanted),
        fault => panic!("{fault:?}"),
    };
    foreign(&static_parts(5_000, 3, &keys)[1], "number of parts");
    foreign(&static_parts(5_001, 4, &keys)[1], "plan");
    let plan = StaticPlan::new(5_000, 0.01).unwrap();
    // The other keys show first, and then the hash.
    let seeded = static_part(&plan, &HashFamily::fast(1), number("2/4"), &keys).to_bytes();
    assert!(matches!(fault([&parts[0], &seeded]), PartFault::OtherKeys { number: 2, .. }));
    let unsaid = |hash, part| {
        let read = KeysRead::default();
        let part = Part::build_static(&plan, &hash, Kinds::INTEGERS, part, read, Vec::new());
        part.unwrap().to_bytes()
    };
    let one = unsaid(HashFamily::fast(0), number("2/4"));
    match fault([&one, &unsaid(HashFamily::fast(1), number("3/4"))]) {
        PartFault::Foreign { field: "hash", right, .. } => assert_eq!(right, "fast with seed 1"),
        fault => panic!("{fault:?}"),
    }
    // Each machine read its own keys only: most keys would be lost.
    let split: Vec<Vec<u8>> = (1..=4)
        .map(|i| {
            let own: Vec<u64> = keys.iter().copied().filter(|key| key % 4 == i - 1).collect();
            static_part(&plan, &HashFamily::default(), PartNumber::new(i, 4).unwrap(), &own)
        })
        .map(|part| part.to_bytes())
        .collect();
    assert!(matches!(fault(&split), PartFault::OtherKeys { number: 2, .. }));
    // More keys than were planned for.
    let many = static_parts(4_000, 4, &keys);
    assert_eq!(fault(&many), PartFault::TooManyItems { items: 5_000, planned: 4_000 });
    // Another kind, a whole filter, something else, nothing.
    let bloom = AnyFilter::from(Bloom::new(5_000, 0.01).unwrap());
    let other = Part::of_filter(&bloom, number("2/4")).unwrap().to_bytes();
    foreign(&other, "kind of filter");
    for bytes in [bloom.to_bytes(), b"ant\n".to_vec(), Vec::new()] {
        assert_eq!(fault([&bytes]), PartFault::NotPart);
    }
    assert!(matches!(AnyFilter::from_bytes(&parts[0]), Err(Error::NotTamis)));
}

#[test]
fn a_keyed_filter_is_joined_with_its_key() {
    let secret = SecretKey::new(&[7; 32]).unwrap();
    let hash = HashFamily::keyed(secret.clone());
    let keys: Vec<u64> = (0..100).collect();
    let plan = StaticPlan::new(100, 0.01).unwrap();
    let parts =
        ["1/2", "2/2"].map(|text| static_part(&plan, &hash, number(text), &keys).to_bytes());
    let joined = join_as(Open::new().key(secret), &parts).unwrap();
    assert!(keys.iter().all(|key| joined.contains(*key).unwrap()));
    assert!(matches!(join(&parts), Err(Error::KeyNeeded)));
    let other = Open::new().key(SecretKey::new(&[8; 32]).unwrap());
    assert!(matches!(join_as(other, &parts), Err(Error::WrongKey)));
}

#[test]
fn memory_is_capped() {
    let parts = static_parts(50_000, 2, &(0..50_000).collect::<Vec<_>>());
    let capped = join_as(Open::new().max_memory(10_000), &parts);
    assert!(matches!(capped, Err(Error::Memory { allowed: Some(10_000), .. })));
}

/// Some of each kind.
fn samples() -> Vec<Vec<u8>> {
    let hash = HashFamily::default();
    let linear = LinearPlan::new(60, "2".parse().unwrap()).unwrap();
    let digests = (0..60u64).filter_map(|key| hash.digest(key)).collect();
    let bloom = AnyFilter::from(Bloom::new(50, 0.1).unwrap());
    vec![
        static_parts(60, 1, &(0..60).collect::<Vec<_>>()).remove(0),
        Part::draw_linear(&linear, &hash, number("1/1"), digests).unwrap().to_bytes(),
        Part::of_filter(&bloom, number("1/1")).unwrap().to_bytes(),
    ]
}

#[test]
fn damaged_parts_are_refused() {
    for bytes in samples() {
        assert!(join([&bytes]).is_ok());
        for cut in 0..bytes.len() {
            assert!(join([&bytes[..cut].to_vec()]).is_err(), "cut to {cut}");
        }
        assert!(join([&[&bytes[..], &[0]].concat()]).is_err());
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(join([&damaged]).is_err(), "bit {bit}");
        }
    }
}

/// Somebody who makes the checksums right can lie, but not crash us or take our memory.
#[test]
fn parts_with_good_checksums_and_wrong_numbers_are_harmless() {
    let mut random = SplitMix64::new(5);
    let words = [0, 1, 2, 255, 1 << 31, u64::from(u32::MAX), 1 << 40, 1 << 63, u64::MAX];
    for bytes in samples() {
        let mut joined = 0;
        for _ in 0..4_000 {
            let mut hostile = bytes.clone();
            let area = hostile.len().min(330) as u64;
            for _ in 0..=random.below(2) {
                let at = random.below(area - 8) as usize;
                let word = words[random.below(words.len() as u64) as usize];
                let length = 1 << random.below(4);
                hostile[at..at + length].copy_from_slice(&word.to_le_bytes()[..length]);
            }
            let length = random.below(20) as usize;
            if random.below(4) == 0 {
                hostile.truncate(hostile.len() - length);
            }
            seal(&mut hostile);
            joined += u32::from(join_as(Open::new().max_memory(1 << 20), [&hostile]).is_ok());
        }
        // Some words were what they were before.
        assert!(joined > 0 && joined < 3_900, "{joined}");
    }
}

/// Makes the checksums right: of the part, and of the header within it.
fn seal(bytes: &mut [u8]) {
    if bytes.len() >= 256 {
        let sum = crc32c::crc32c(&bytes[128..252]).to_le_bytes();
        bytes[252..256].copy_from_slice(&sum);
    }
    let length = (bytes.len() - 128) as u64;
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let sum = crc32c::crc32c(&bytes[128..]).to_le_bytes();
    bytes[24..28].copy_from_slice(&sum);
    let sum = crc32c::crc32c(&bytes[..124]).to_le_bytes();
    bytes[124..128].copy_from_slice(&sum);
}
