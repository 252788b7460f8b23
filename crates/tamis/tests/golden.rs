//! The golden files of each format version: read and written alike, byte for byte, forever.
//!
//! They were written by `golden/make.py`, a second implementation of FORMAT.md.

#![allow(clippy::unwrap_used)]

use sha2::{Digest as _, Sha256};
use std::net::IpAddr;
use std::time::Duration;
use tamis::privacy::{Epsilon, LinearFilter, PublicBloom};
use tamis::rate::{Kind, Plan, RollingPlan, ScalablePlan, StaticBuilder};
use tamis::zone::{self, CodeKind, Universe};
use tamis::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Digest, HashFamily, Kinds, Open, Promise,
    QuotientFilter, Rolling, Scalable, SecretKey, SplitBloom, StaticFilter,
};

fn key() -> SecretKey {
    SecretKey::new(b"an example secret of 32 bytes...").unwrap()
}

fn texts() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..100).map(|i| format!("key {i}").into_bytes()).collect();
    all.extend(["naïve 雪".as_bytes().to_vec(), vec![], vec![b'x'; 200]]);
    all
}

/// Inserts what `make.py` calls TEXT or MIXED.
fn fill(mut filter: AnyFilter, integers: bool) -> AnyFilter {
    for text in texts() {
        filter.insert(text).unwrap();
    }
    if integers {
        for i in 0..50u64 {
            filter.insert(i).unwrap();
        }
        filter.insert(-1i64).unwrap();
        filter.insert(i64::MIN).unwrap();
        filter.insert(u64::MAX).unwrap();
    }
    filter
}

/// Inserts what `make.py` calls WIDE.
fn wide(mut filter: AnyFilter) -> AnyFilter {
    let integers = [i128::from(i64::MIN) - 1, i128::MIN];
    let addresses = ["10.0.0.1", "2001:db8::7"].map(|text| text.parse::<IpAddr>().unwrap());
    filter.insert_many(&[1u128 << 64, u128::MAX]).unwrap();
    filter.insert_many(&integers).unwrap();
    filter.insert_many(&addresses).unwrap();
    filter.insert_many(&[("ab", "c"), ("a", "bc")]).unwrap();
    filter.insert(("", 7, -1)).unwrap();
    filter.insert((("ab", "c"), 1u128 << 64)).unwrap();
    filter.insert(("x".repeat(100), 0, "", 1, 2, i128::MIN)).unwrap();
    assert!(filter.contains(addresses[0].to_string()).is_ok_and(|passes| !passes));
    filter
}

fn golden() -> Vec<(&'static str, &'static [u8], AnyFilter)> {
    let bloom = |hash| AnyFilter::from(Bloom::with_hash(200, 0.01, hash).unwrap());
    let blocked = |fpr, hash| AnyFilter::from(BlockedBloom::with_hash(200, fpr, hash).unwrap());
    let split = |fpr, hash| AnyFilter::from(SplitBloom::with_hash(200, fpr, hash).unwrap());
    let counting = |width, hash| {
        let plan = Plan::from_items_fpr(Kind::Counting, 200, 0.01)
            .unwrap()
            .with_counter_bits(width)
            .unwrap();
        AnyFilter::from(CountingBloom::with_plan(plan, hash).unwrap())
    };
    let counted = Plan::from_items_fpr(Kind::Bloom, 156, 0.01).unwrap().counted();
    let counted = AnyFilter::from(Bloom::with_plan(counted, HashFamily::fast(42)).unwrap());
    let mut crowded = fill(counting(4, HashFamily::fast(7)), true);
    for _ in 0..7 {
        crowded = fill(crowded, false);
    }
    for text in texts().iter().take(5) {
        (0..20).for_each(|_| assert!(!crowded.insert(text).unwrap()));
    }
    let quotient = QuotientFilter::with_hash(200, 0.01, HashFamily::fast(42)).unwrap();
    let mut quotient = fill(quotient.into(), true);
    quotient.insert_many(&texts()[..40]).unwrap();
    let mut grown = QuotientFilter::with_hash(100, 0.001, HashFamily::keyed(key())).unwrap();
    grown.insert_many(texts()).unwrap();
    (0..20).for_each(|_| assert!(!grown.insert(&texts()[1]).unwrap()));
    grown.grow().unwrap();
    (0..5).for_each(|_| assert!(!grown.insert(&texts()[1]).unwrap()));
    let grown = AnyFilter::from(grown);
    // What is removed leaves no trace.
    let mut full = QuotientFilter::with_hash(400, 0.05, HashFamily::fast(7)).unwrap();
    (0..336).for_each(|_| _ = full.insert(&texts()[3]).unwrap());
    full.insert_many(texts()).unwrap();
    full.insert_many(["one", "two"]).unwrap();
    (0..6).for_each(|_| full.remove(&texts()[3]).unwrap());
    ["one", "two"].iter().for_each(|text| full.remove(text).unwrap());
    vec![
        (
            "bloom-fast",
            include_bytes!("golden/v1-bloom-fast.tamis"),
            fill(bloom(HashFamily::fast(42)), true),
        ),
        (
            "bloom-keyed",
            include_bytes!("golden/v1-bloom-keyed.tamis"),
            fill(bloom(HashFamily::keyed(key())), true),
        ),
        (
            "bloom-sha256-md5",
            include_bytes!("golden/v1-bloom-sha256-md5.tamis"),
            fill(bloom(HashFamily::sha256_md5()), true),
        ),
        ("bloom-counted", include_bytes!("golden/v1-bloom-counted.tamis"), fill(counted, true)),
        (
            "bloom-keys",
            include_bytes!("golden/v1-bloom-keys.tamis"),
            wide(bloom(HashFamily::keyed(key()))),
        ),
        (
            "bloom-prefixed",
            include_bytes!("golden/v1-bloom-prefixed.tamis"),
            fill(bloom(HashFamily::prefixed()), false),
        ),
        (
            "blocked-fast-8",
            include_bytes!("golden/v1-blocked-fast-8.tamis"),
            fill(blocked(0.01, HashFamily::fast(0)), true),
        ),
        (
            "blocked-keyed-16",
            include_bytes!("golden/v1-blocked-keyed-16.tamis"),
            fill(blocked(1e-6, HashFamily::keyed(key())), true),
        ),
        (
            "split-fast",
            include_bytes!("golden/v1-split-fast.tamis"),
            fill(split(0.01, HashFamily::fast(0)), true),
        ),
        (
            "split-keyed",
            include_bytes!("golden/v1-split-keyed.tamis"),
            fill(split(0.001, HashFamily::keyed(key())), true),
        ),
        ("counting-fast-4", include_bytes!("golden/v1-counting-fast-4.tamis"), crowded),
        (
            "counting-keyed-3",
            include_bytes!("golden/v1-counting-keyed-3.tamis"),
            fill(counting(3, HashFamily::keyed(key())), true),
        ),
        ("quotient-fast", include_bytes!("golden/v1-quotient-fast.tamis"), quotient),
        ("quotient-keyed-grown", include_bytes!("golden/v1-quotient-keyed-grown.tamis"), grown),
        ("quotient-crowded", include_bytes!("golden/v1-quotient-crowded.tamis"), full.into()),
        (
            "empty",
            include_bytes!("golden/v1-empty.tamis"),
            AnyFilter::from(Bloom::new(1, 0.01).unwrap()),
        ),
    ]
}

/// The zone filters of `make.py`.
fn zones() -> Vec<(&'static str, &'static [u8], AnyFilter)> {
    let plan = |universe, items, code| zone::Plan::with_code(universe, items, code).unwrap();
    let filled = |plan, elements: &[u64]| {
        let mut filter = zone::Filter::with_plan(plan).unwrap();
        elements.iter().for_each(|element| assert!(filter.insert(*element).unwrap()));
        AnyFilter::from(filter)
    };
    let mut counting =
        zone::CountingFilter::with_plan(plan(Universe::ipv4(), 4, CodeKind::Egh)).unwrap();
    for address in ["10.0.0.1", "10.0.0.2", "255.255.255.255"] {
        assert!(counting.insert(address).unwrap());
    }
    let mut colours = zone::CountingFilter::with_plan(plan(dictionary(), 2, CodeKind::Rs)).unwrap();
    for colour in ["colour 3", "colour 199", "colour 0"] {
        assert!(colours.insert_beyond(colour).unwrap());
    }
    let mut cards =
        zone::CountingFilter::with_plan(plan(Universe::mac(), 3, CodeKind::Rs)).unwrap();
    for card in ["00:00:00:00:00:00", "AA-BB-CC-00-01-02", "ffff.ffff.ffff"] {
        assert!(cards.insert(card).unwrap());
    }
    let named = |universe: &str, items, code, elements: &[&str]| {
        let plan = plan(universe.parse().unwrap(), items, code);
        let mut filter = zone::Filter::with_plan(plan).unwrap();
        for element in elements {
            let number = filter.plan().universe().number_of_text(element.as_bytes()).unwrap();
            assert!(filter.insert_number(number, false).unwrap());
        }
        AnyFilter::from(filter)
    };
    let interval = |first, last| Universe::interval(first, last).unwrap();
    vec![
        (
            "zone-egh",
            include_bytes!("golden/v1-zone-egh.tamis"),
            filled(plan(interval(1, 48), 2, CodeKind::Egh), &[1, 48]),
        ),
        (
            "zone-coprime",
            include_bytes!("golden/v1-zone-coprime.tamis"),
            filled(plan(interval(1000, 1999), 2, CodeKind::Coprime), &[1000, 1999]),
        ),
        (
            "zone-rs",
            include_bytes!("golden/v1-zone-rs.tamis"),
            filled(
                plan(interval(0, u32::MAX.into()), 4, CodeKind::Rs),
                &[0, 1 << 20, u64::from(u32::MAX)],
            ),
        ),
        (
            "zone-counting-egh",
            include_bytes!("golden/v1-zone-counting-egh.tamis"),
            AnyFilter::from(counting),
        ),
        (
            "zone-counting-rs-beyond",
            include_bytes!("golden/v1-zone-counting-rs-beyond.tamis"),
            AnyFilter::from(colours),
        ),
        (
            "zone-wide-integers",
            include_bytes!("golden/v1-zone-wide-integers.tamis"),
            named(
                "18446744073709551600..18446744073709552000",
                2,
                CodeKind::Coprime,
                &["18446744073709551600", "18446744073709552000"],
            ),
        ),
        (
            "zone-ipv6",
            include_bytes!("golden/v1-zone-ipv6.tamis"),
            named(
                "ipv6",
                4,
                CodeKind::Rs,
                &["::1", "2001:db8::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ),
        ),
        (
            "zone-uuid",
            include_bytes!("golden/v1-zone-uuid.tamis"),
            named(
                "uuid",
                2,
                CodeKind::Egh,
                &["00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"],
            ),
        ),
        ("zone-counting-mac", include_bytes!("golden/v1-zone-counting-mac.tamis"), cards.into()),
        (
            "zone-hex",
            include_bytes!("golden/v1-zone-hex.tamis"),
            named(
                "hex:20",
                2,
                CodeKind::Coprime,
                &["00000000000000000abc", "ffffffffffffffffffff"],
            ),
        ),
        (
            "zone-ipv4-prefixes",
            include_bytes!("golden/v1-zone-ipv4-prefixes.tamis"),
            named("ipv4-prefixes", 3, CodeKind::Rs, &["0.0.0.0/0", "10.0.0.0/8", "10.1.2.3"]),
        ),
        (
            "zone-ipv6-prefixes",
            include_bytes!("golden/v1-zone-ipv6-prefixes.tamis"),
            named("ipv6-prefixes:48", 2, CodeKind::Egh, &["2001:db8::/32", "ffff:ffff:ffff::/48"]),
        ),
    ]
}

/// The chains of `make.py`.
fn chains() -> Vec<(&'static str, &'static [u8], AnyFilter)> {
    let grown = Scalable::with_hash(20, 0.01, HashFamily::fast(42)).unwrap();
    let grown = fill(fill(grown.into(), true), false);
    let fixed = ScalablePlan::new(200, 0.05).unwrap().fixed().unwrap();
    let fixed = Scalable::with_plan(fixed, HashFamily::keyed(key())).unwrap();
    let rolling = |plan: RollingPlan, hash| Rolling::with_plan(plan, hash).unwrap();
    let insertions = RollingPlan::last_items(60, 0.02).unwrap().with_generations(5).unwrap();
    let insertions = rolling(insertions, HashFamily::fast(7));
    let insertions = fill(fill(insertions.into(), true), false);
    let nanoseconds = |time: u64| Duration::from_nanos(time);
    let timed = RollingPlan::last_time(nanoseconds(1_000), 100, 0.001).unwrap();
    let mut timed = rolling(timed.with_generations(4).unwrap(), HashFamily::keyed(key()));
    for (i, text) in (0u64..).zip(texts()) {
        let leap = if i > 80 { 400 } else { 0 };
        let back = if i % 9 == 4 { 90 } else { 0 };
        let time = 5_000 + (10 * i).saturating_sub(200) + leap - back;
        timed.insert_at(text, nanoseconds(time)).unwrap();
    }
    let day = RollingPlan::last_time(Duration::from_secs(86_400), 1_000, 0.01).unwrap();
    let mut empty = rolling(day.with_generations(2).unwrap(), HashFamily::default());
    empty.advance(Duration::from_secs(1_700_000_000));
    vec![
        ("scalable-fast", include_bytes!("golden/v1-scalable-fast.tamis"), grown),
        (
            "scalable-keyed-fixed",
            include_bytes!("golden/v1-scalable-keyed-fixed.tamis"),
            fill(fixed.into(), false),
        ),
        ("rolling-insertions", include_bytes!("golden/v1-rolling-insertions.tamis"), insertions),
        ("rolling-time", include_bytes!("golden/v1-rolling-time.tamis"), timed.into()),
        ("rolling-empty", include_bytes!("golden/v1-rolling-empty.tamis"), empty.into()),
    ]
}

/// The static filters of `make.py`: two as they are planned, and others built by the plan that
/// their files state.
fn statics() -> Vec<(&'static str, &'static [u8], AnyFilter)> {
    let digests = |hash: &HashFamily, numbers: u64| -> Vec<Digest> {
        let texts = texts().into_iter().map(|text| hash.digest(text));
        texts.chain((0..numbers).map(|number| hash.digest(number))).flatten().collect()
    };
    let planned = |hash: HashFamily, numbers: u64, more: &[i64]| {
        let mut builder = StaticBuilder::new(0.01).unwrap().hash(hash).unwrap();
        builder.extend(texts()).unwrap();
        builder.extend(0..numbers).unwrap();
        builder.extend(more).unwrap();
        builder
    };
    let mut mixed = planned(HashFamily::fast(42), 50, &[-1, i64::MIN]);
    mixed.add(u64::MAX).unwrap();
    let rebuilt = |bytes: &'static [u8], numbers: u64| {
        let read = StaticFilter::try_from(open(bytes).unwrap()).unwrap();
        let (plan, digests) = (*read.plan(), digests(read.hash(), numbers));
        let shards = (0..plan.shards()).rev().map(|index| {
            let own = digests.iter().filter(|digest| plan.shard_of(**digest) == index);
            plan.build_shard(index, own.rev().copied().collect())
        });
        let kinds = Kinds::BYTES | Kinds::INTEGERS;
        AnyFilter::from(StaticFilter::join(plan, read.hash().clone(), kinds, shards).unwrap())
    };
    let shards = include_bytes!("golden/v1-static-shards.tamis");
    let wide = include_bytes!("golden/v1-static-wide.tamis");
    let coarse = include_bytes!("golden/v1-static-coarse.tamis");
    vec![
        (
            "static-fast",
            include_bytes!("golden/v1-static-fast.tamis"),
            mixed.build().unwrap().into(),
        ),
        (
            "static-planned",
            include_bytes!("golden/v1-static-planned.tamis"),
            planned(HashFamily::default(), 2_400, &[]).build().unwrap().into(),
        ),
        ("static-shards", shards, rebuilt(shards, 1_500)),
        ("static-wide", wide, rebuilt(wide, 180)),
        ("static-coarse", coarse, rebuilt(coarse, 400)),
    ]
}

/// The published filters of `make.py`. Nobody can build them again, since their coins are not ours.
const PUBLISHED: [(&str, &[u8]); 6] = [
    ("public-bloom-fast", include_bytes!("golden/v1-public-bloom-fast.tamis")),
    ("public-bloom-keyed", include_bytes!("golden/v1-public-bloom-keyed.tamis")),
    ("linear-fast-16", include_bytes!("golden/v1-linear-fast-16.tamis")),
    ("linear-keyed-53", include_bytes!("golden/v1-linear-keyed-53.tamis")),
    ("linear-shards-512", include_bytes!("golden/v1-linear-shards-512.tamis")),
    ("linear-shards-5", include_bytes!("golden/v1-linear-shards-5.tamis")),
];

fn dictionary() -> Universe {
    Universe::dictionary((0..200).map(|i| format!("colour {i}"))).unwrap()
}

fn open(bytes: &[u8]) -> Result<AnyFilter, tamis::Error> {
    match Open::new().bytes(bytes) {
        Err(tamis::Error::KeyNeeded) => Open::new().key(key()).bytes(bytes),
        Err(tamis::Error::DictionaryNeeded { .. }) => {
            Open::new().dictionary(dictionary()).bytes(bytes)
        }
        other => other,
    }
}

#[test]
fn version_1_is_written_and_read_byte_for_byte() {
    let all = golden().into_iter().chain(statics()).chain(zones()).chain(chains());
    for (name, bytes, filter) in all {
        assert_eq!(filter.to_bytes(), bytes, "{name} is written otherwise");
        let read = open(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(read, filter, "{name} is read otherwise");
        let forgot = name.starts_with("rolling") || ["empty", "bloom-keys"].contains(&name);
        if read.promise() == Promise::Rate && !forgot {
            assert!(texts().iter().all(|text| read.contains(text).unwrap()), "{name} lost a key");
        }
    }
}

/// What `make.py` says of each key: the file, whether the key passes, whether it is text, and the
/// key.
fn answers() -> impl Iterator<Item = (&'static str, &'static str, bool, &'static str)> {
    include_str!("golden/v1-published.answers").lines().map(|line| {
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().unwrap();
        (word(), word(), word() == "text", word())
    })
}

#[test]
fn published_files_are_read_and_written_byte_for_byte() {
    for (name, bytes) in PUBLISHED {
        let read = open(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(read.to_bytes(), bytes, "{name} is written otherwise");
        let (mut kept, mut asked) = (0, 0);
        for (_, said, is_text, key) in answers().filter(|answer| answer.0 == name) {
            let passes = match (is_text, key.strip_prefix('-')) {
                (true, _) => read.contains(key),
                (false, None) => read.contains(key.parse::<u64>().unwrap()),
                (false, Some(_)) => read.contains(key.parse::<i64>().unwrap()),
            };
            assert_eq!(passes.unwrap(), said != "fails", "{name}: {key} {said}");
            kept += u32::from(said == "kept");
            asked += 1;
        }
        assert_eq!(asked, 294, "{name}");
        assert_eq!(kept > 70, name.starts_with("linear"), "{name}");
    }
}

#[test]
fn published_files_say_their_plans() {
    let epsilon = |billionths| Epsilon::from_billionths(billionths).unwrap();
    let filter = |i: usize| open(PUBLISHED[i].1).unwrap();
    for (i, loss, bits, hashes, threshold, hash) in [
        (0, 5_000_000_000, 3205, 3, 2, HashFamily::fast(42)),
        (1, 2_500_000_001, 1603, 1, 1, HashFamily::keyed(key())),
    ] {
        let public = PublicBloom::try_from(filter(i)).unwrap();
        let plan = public.plan();
        assert_eq!((plan.items(), plan.epsilon(), plan.bits()), (200, epsilon(loss), bits));
        assert_eq!((plan.hashes(), plan.threshold(), public.hash()), (hashes, threshold, &hash));
        let flip = 1.0 / ((loss as f64 / 1e9 / f64::from(hashes)).exp() + 1.0);
        assert!((plan.flip_rate().to_f64() - flip).abs() < 1e-12);
    }
    // Over 512 elements an epsilon of 7 is more than ln 511; over 5 an epsilon of 1 is less than ln
    // 4.
    let e = std::f64::consts::E;
    for (i, loss, q, columns, shards, drop, hash) in [
        (2, 2_708_050_202, 16, 256, 1, 1.0 / 15.0, HashFamily::fast(42)),
        (3, 3_951_243_719, 53, 256, 1, 1.0 / 52.0, HashFamily::keyed(key())),
        (4, 7_000_000_000, 512, 192, 3, e.powi(-7), HashFamily::fast(7)),
        (5, 1_000_000_000, 5, 192, 2, (5.0 - e) / 4.0, HashFamily::keyed(key())),
    ] {
        let linear = LinearFilter::try_from(filter(i)).unwrap();
        let plan = linear.plan();
        assert_eq!((plan.items(), plan.epsilon(), plan.q()), (200, epsilon(loss), q));
        assert_eq!((plan.columns(), plan.shards(), linear.hash()), (columns, shards, &hash));
        assert!((plan.drop_rate().to_f64() - drop).abs() < 1e-12);
        assert_eq!(plan.fpr(), 1.0 / f64::from(q));
        assert!((plan.fnr() - drop * (1.0 - plan.fpr())).abs() < 1e-12);
    }
}

#[test]
fn the_test_vectors_of_the_specification_hold() {
    let specification = include_str!("../FORMAT.md");
    let mut rows = 0;
    for row in specification.lines().filter(|line| line.starts_with("| the ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let hash = match cells[2] {
            "keyed" => HashFamily::keyed(key()),
            seeded => {
                HashFamily::fast(seeded.strip_prefix("fast, seed ").unwrap().parse().unwrap())
            }
        };
        let hundred: Vec<u8> = (0..100).collect();
        let digest = match cells[1] {
            "the empty text" => hash.digest(""),
            "the bytes 0 to 99" => hash.digest(&hundred),
            "the tuple of `ab` and `c`" => hash.digest(("ab", "c")),
            "the tuple of `a` and `bc`" => hash.digest(("a", "bc")),
            "the tuple of the empty text, 7 and -1" => hash.digest(("", 7, -1)),
            "the tuple of the tuple of `ab` and `c`, and 18446744073709551616" => {
                hash.digest((("ab", "c"), 1u128 << 64))
            }
            named => match named.rsplit_once(' ').unwrap() {
                ("the integer", number) if number.starts_with('-') => {
                    hash.digest(number.parse::<i128>().unwrap())
                }
                ("the integer", number) => hash.digest(number.parse::<u128>().unwrap()),
                ("the address", address) => hash.digest(address.parse::<IpAddr>().unwrap()),
                _ => hash
                    .digest(named.strip_prefix("the text `").unwrap().strip_suffix('`').unwrap()),
            },
        };
        let word = |cell: &str| u128::from_str_radix(cell.trim_matches('`'), 16).unwrap();
        let (h1, h2) = (word(cells[3]), word(cells[4]));
        assert_eq!(digest, Some(Digest::from(h2 << 64 | (h1 ^ h1 >> 32))), "{row}");
        rows += 1;
    }
    assert_eq!(rows, 40);
}

/// Every length and every bit: an error in words, never a filter, never a panic.
#[test]
fn damage_is_always_found() {
    let ours =
        golden().into_iter().chain(statics()).chain(zones()).map(|(name, bytes, _)| (name, bytes));
    for (name, bytes) in ours.chain(PUBLISHED) {
        for cut in 0..bytes.len() {
            assert!(open(&bytes[..cut]).is_err(), "{name} cut to {cut}");
        }
        assert!(open(&[bytes, b"\0"].concat()).is_err(), "{name} with a byte more");
        let mut damaged = bytes.to_vec();
        for bit in 0..bytes.len() * 8 {
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error =
                open(&damaged).err().unwrap_or_else(|| panic!("{name} with bit {bit} flipped"));
            assert!(!error.to_string().is_empty());
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// A large body is checked in pieces by several threads: a byte of any of them counts, read or
/// mapped.
#[test]
fn damage_anywhere_in_a_large_body_is_found() {
    const MIB: usize = 1 << 20;
    let plan = Plan::from_items_bits(Kind::Bloom, 1_000_000, 8 * (17 * MIB as u64) + 24).unwrap();
    let mut filter = Bloom::with_plan(plan, HashFamily::default()).unwrap();
    texts().iter().for_each(|key| _ = filter.insert(key));
    let mut bytes = filter.to_bytes();
    assert_eq!(bytes[24..28], crc32c(&bytes[128..]).to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.tamis");
    let check = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        [Open::new().bytes(bytes), Open::new().verify(true).path(&path)].map(|opened| opened.err())
    };
    assert!(check(&bytes).iter().all(Option::is_none));
    for at in (0..17).map(|i| 128 + i * MIB + i).chain([bytes.len() - 1]) {
        bytes[at] ^= 4;
        let errors = check(&bytes);
        let found = |error: &Option<tamis::Error>| {
            matches!(error, Some(tamis::Error::Checksum { part: "body" }))
        };
        assert!(errors.iter().all(found), "byte {at}: {errors:?}");
        bytes[at] ^= 4;
    }
}

/// The header alone, right in its checksum and wrong in one field: the hostile case, which a
/// checksum does not find.
#[test]
fn lies_with_a_good_checksum_are_refused() {
    let (_, bytes, _) = &golden()[0];
    let lie = |at: usize, value: &[u8]| {
        let mut lying = bytes.to_vec();
        lying[at..at + value.len()].copy_from_slice(value);
        let checksum = crc32c(&lying[..124]);
        lying[124..128].copy_from_slice(&checksum.to_le_bytes());
        open(&lying).map(|_| ()).unwrap_err().to_string()
    };
    for (at, value, word) in [
        (8, &2u16.to_le_bytes()[..], "upgrade"),
        (8, &0u16.to_le_bytes(), "version"),
        (10, &0u16.to_le_bytes(), "kind"),
        (10, &99u16.to_le_bytes(), "kind"),
        (10, &8u16.to_le_bytes(), "number of cells"),
        (10, &6u16.to_le_bytes(), "epsilon"),
        (10, &7u16.to_le_bytes(), "epsilon"),
        (10, &2u16.to_le_bytes(), "number of cells"),
        (12, &64u32.to_le_bytes(), "header length"),
        (12, &u32::MAX.to_le_bytes(), "header length"),
        (16, &u64::MAX.to_le_bytes(), "body length"),
        (16, &(1u64 << 40).to_le_bytes(), "body length"),
        (28, &[1], "reserved"),
        (32, &[9], "hash family"),
        (33, &[16], "kinds of keys"),
        (34, &[2], "origin of the number of items"),
        (35, &[1], "reserved"),
        (36, &0u32.to_le_bytes(), "hashes"),
        (36, &65u32.to_le_bytes(), "hashes"),
        (48, &0u64.to_le_bytes(), "items"),
        (56, &f64::NAN.to_le_bytes(), "rate"),
        (56, &(-1f64).to_le_bytes(), "rate"),
        (56, &(-0f64).to_le_bytes(), "rate"),
        (56, &1f64.to_le_bytes(), "rate"),
        (64, &0u64.to_le_bytes(), "cells"),
        (64, &u64::MAX.to_le_bytes(), "cells"),
        (72, &2u32.to_le_bytes(), "counter width"),
        (76, &[1], "reserved"),
        (123, &[1], "reserved"),
    ] {
        let said = lie(at, value);
        assert!(said.contains(word), "offset {at}: {said}");
    }
    // Six cells fewer, in the same number of bytes: the bits past the last cell betray it.
    let mut full = Bloom::new(200, 0.01).unwrap();
    (0..2_000u64).for_each(|i| assert!(full.insert(i) || full.contains(i)));
    let mut lying = full.to_bytes();
    lying[64..72].copy_from_slice(&1913u64.to_le_bytes());
    let checksum = crc32c(&lying[..124]);
    lying[124..128].copy_from_slice(&checksum.to_le_bytes());
    assert!(open(&lying).unwrap_err().to_string().contains("last byte"));
}

/// The same for a zone filter: what it claims is proved anew.
#[test]
fn zone_files_cannot_lie_about_their_zone() {
    let all = zones();
    let lie = |which: usize, at: usize, value: &[u8]| {
        let mut lying = all[which].1.to_vec();
        lying[at..at + value.len()].copy_from_slice(value);
        let length = u32::from_le_bytes(lying[12..16].try_into().unwrap()) as usize;
        lying.resize(lying.len().max(length), 0);
        let end = length - 4;
        let checksum = crc32c(&lying[..end]);
        lying[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
        match open(&lying) {
            Ok(_) => "it was believed".to_owned(),
            Err(error) => error.to_string(),
        }
    };
    for (which, at, value, word) in [
        (0, 10, &5u16.to_le_bytes()[..], "counter width"),
        (0, 12, &192u32.to_le_bytes(), "header length"),
        (0, 32, &[0], "code"),
        (0, 32, &[4], "code"),
        (0, 33, &[0], "names"),
        (0, 33, &[11], "names"),
        (0, 33, &[4], "last element"),
        (0, 34, &[4], "state"),
        (0, 35, &[1], "reserved"),
        (0, 36, &0u32.to_le_bytes(), "body length"),
        (0, 36, &u32::MAX.to_le_bytes(), "number of blocks"),
        (0, 40, &50u64.to_le_bytes(), "last element"),
        (0, 48, &u64::MAX.to_le_bytes(), "number of items"),
        (0, 56, &[1], "fingerprint"),
        (0, 64, &9u64.to_le_bytes(), "number of items"),
        (0, 64, &0u64.to_le_bytes(), "number of items"),
        (0, 72, &3u64.to_le_bytes(), "items held"),
        (0, 80, &2u32.to_le_bytes(), "body length"),
        (0, 84, &[5], "field order"),
        (0, 92, &[1], "reserved"),
        (1, 36, &9000u32.to_le_bytes(), "number of blocks"),
        (1, 96, &4u32.to_le_bytes(), "pairwise coprime"),
        (1, 96, &0u32.to_le_bytes(), "modulus"),
        (2, 84, &6u32.to_le_bytes(), "body length"),
        (2, 84, &65537u32.to_le_bytes(), "body length"),
        (2, 88, &0u32.to_le_bytes(), "degree"),
        (2, 88, &u32::MAX.to_le_bytes(), "degree"),
        (2, 36, &u32::MAX.to_le_bytes(), "body length"),
        // 5 to 11: wide integers, IPv6, UUIDs, MAC addresses, codes, prefixes.
        (5, 96, &[2], "last element"),
        (5, 104, &[0; 8], "last element"),
        (5, 33, &[1], "header length"),
        (6, 33, &[2], "reserved"),
        (6, 33, &[7], "last element"),
        (6, 33, &[9], "last element"),
        (6, 33, &[10], "last element"),
        (6, 88, &127u32.to_le_bytes(), "number of items"),
        (6, 88, &128u32.to_le_bytes(), "degree"),
        (6, 88, &19u32.to_le_bytes(), "degree"),
        (7, 40, &[1], "last element"),
        (7, 48, &[0], "last element"),
        (7, 104, &[0], "last element"),
        (7, 56, &[1], "fingerprint"),
        (7, 36, &43u32.to_le_bytes(), "body length"),
        (8, 48, &[0xfe], "last element"),
        (8, 112, &[1], "reserved"),
        (9, 48, &[0xfe], "last element"),
        (9, 104, &[0xff; 8], "number of items"),
        (9, 112, &13u32.to_le_bytes(), "body length"),
        (10, 48, &[0xff], "last element"),
        (10, 104, &[1], "last element"),
        (11, 48, &[0; 8], "number of items"),
        (11, 104, &[0xff; 8], "last element"),
        (4, 56, &[0; 8], "not the dictionary"),
        (4, 48, &500u64.to_le_bytes(), "not the dictionary"),
    ] {
        let said = lie(which, at, value);
        assert!(said.contains(word), "{} at {at}: {said}", all[which].0);
    }
    // A range of addresses ends within the addresses.
    let mut addresses = all[0].1[33..56].to_vec();
    addresses[0] = 2;
    addresses[15..].copy_from_slice(&(1u64 << 32).to_le_bytes());
    let said = lie(0, 33, &addresses);
    assert!(said.contains("last element"), "{said}");
    let other = Universe::dictionary(["red"]).unwrap();
    assert!(matches!(
        Open::new().dictionary(other).bytes(all[4].1),
        Err(tamis::Error::WrongDictionary)
    ));
}

/// The same for a published filter.
#[test]
fn published_files_cannot_lie_about_their_plan() {
    let forge = |which: usize, changes: &[(usize, &[u8])]| {
        let mut lying = PUBLISHED[which].1.to_vec();
        changes.iter().for_each(|(at, value)| lying[*at..at + value.len()].copy_from_slice(value));
        let end = u32::from_le_bytes(lying[12..16].try_into().unwrap()) as usize - 4;
        let checksum = crc32c(&lying[..end]);
        lying[end..end + 4].copy_from_slice(&checksum.to_le_bytes());
        open(&lying)
    };
    let (bloom, linear) = (0, 2);
    let word = u64::to_le_bytes;
    for (which, at, value, said) in [
        (bloom, 10, &7u16.to_le_bytes()[..], "columns"),
        (bloom, 10, &1u16.to_le_bytes(), "counter width"),
        (bloom, 12, &192u32.to_le_bytes(), "header length"),
        (bloom, 16, &word(402), "body length"),
        (bloom, 28, &[1], "reserved"),
        (bloom, 32, &[0], "hash family"),
        (bloom, 32, &[2], "not the key"),
        (bloom, 32, &[3], "seed"),
        (bloom, 32, &[5], "hash family"),
        (bloom, 33, &[1], "reserved"),
        (bloom, 35, &[1], "reserved"),
        (bloom, 36, &0u32.to_le_bytes(), "number of hashes"),
        (bloom, 36, &1u32.to_le_bytes(), "threshold"),
        (bloom, 36, &65u32.to_le_bytes(), "number of hashes"),
        (bloom, 48, &word(0), "number of items"),
        (bloom, 56, &word(0), "epsilon"),
        (bloom, 56, &word(1_000_000_000_000_001), "epsilon"),
        (bloom, 56, &word(u64::MAX), "epsilon"),
        (bloom, 64, &word(0), "number of cells"),
        (bloom, 64, &word(3209), "body length"),
        (bloom, 64, &word((1 << 50) + 1), "number of cells"),
        (bloom, 72, &0u32.to_le_bytes(), "threshold"),
        (bloom, 72, &4u32.to_le_bytes(), "threshold"),
        (bloom, 76, &[1], "reserved"),
        (bloom, 123, &[1], "reserved"),
        (linear, 10, &6u16.to_le_bytes(), "body length"),
        (linear, 16, &word(127), "body length"),
        (linear, 28, &[1], "reserved"),
        (linear, 32, &[4], "seed"),
        (linear, 33, &[1], "reserved"),
        (linear, 36, &0u32.to_le_bytes(), "field size"),
        (linear, 36, &1u32.to_le_bytes(), "field size"),
        (linear, 36, &8u32.to_le_bytes(), "body length"),
        (linear, 36, &15u32.to_le_bytes(), "field size"),
        (linear, 36, &17u32.to_le_bytes(), "body length"),
        (linear, 36, &32_771u32.to_le_bytes(), "field size"), // a prime, but not below 2^15
        (linear, 36, &65_537u32.to_le_bytes(), "field size"),
        (linear, 36, &(1u32 << 17).to_le_bytes(), "field size"),
        (linear, 36, &u32::MAX.to_le_bytes(), "field size"),
        (linear, 48, &word(0), "number of items"),
        (linear, 56, &word(0), "epsilon"),
        (linear, 56, &word(1_000_000_000_000_001), "epsilon"),
        (linear, 64, &word(0), "number of columns"),
        (linear, 64, &word(128), "number of columns"),
        (linear, 64, &word(255), "number of columns"),
        (linear, 64, &word(192), "body length"),
        (linear, 64, &word((1 << 20) + 64), "number of columns"),
        (linear, 64, &word(!63), "number of columns"),
        (linear, 72, &word(0), "number of shards"),
        (linear, 72, &word(2), "body length"),
        (linear, 72, &word(1 << 41), "number of shards"), /* with 2^8 columns of 4 bits twice
                                                           * too many */
        (linear, 72, &word(u64::MAX), "number of shards"),
        (linear, 80, &[1], "reserved"),
        (linear, 123, &[1], "reserved"),
    ] {
        let error = forge(which, &[(at, value)]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said), "{} at {at}: {error}", PUBLISHED[which].0);
    }
    // The families without a digest, with the seed that they should have.
    for (which, family) in [(bloom, 3), (bloom, 4), (linear, 3), (linear, 4)] {
        let error = forge(which, &[(32, &[family]), (40, &word(0))]).unwrap_err();
        assert!(matches!(error, tamis::Error::NoDigest { .. }), "{error}");
    }
    // The largest body that a header may claim, which is not there; and another epsilon, which is
    // no lie that can be seen.
    for (which, number, claim) in [(bloom, 1u64 << 50, 1u64 << 47), (linear, 1 << 20, 1 << 19)] {
        let error = forge(which, &[(16, &word(claim)), (64, &word(number))]).unwrap_err();
        assert!(matches!(error, tamis::Error::Length { .. }), "{error}");
    }
    for (which, billionths) in
        [(bloom, 1), (bloom, 1_000_000_000_000_000), (linear, 1), (linear, 1_000_000_000_000_000)]
    {
        let filter = forge(which, &[(56, &word(billionths))]).unwrap();
        assert_eq!(filter.epsilon().unwrap().billionths(), billionths);
    }
    // Two bits fewer, in the same number of bytes: a one past the last bit betrays it.
    assert_eq!(PUBLISHED[bloom].1.last().unwrap() >> 3, 0b10);
    let error = forge(bloom, &[(64, &word(3203))]).unwrap_err().to_string();
    assert!(error.contains("last byte"), "{error}");
}

/// The checksum of the specification, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}

/// Version 1 is frozen: its files, however written, are these. A change of the format makes another
/// version, with files of its own.
#[test]
fn version_1_stays_as_it_is() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let sums = std::fs::read_to_string(folder.join("v1.sha256")).unwrap();
    let listed: Vec<(&str, &str)> =
        sums.lines().map(|line| line.split_once("  ").unwrap()).collect();
    for (sum, name) in &listed {
        let digest = Sha256::digest(std::fs::read(folder.join(name)).unwrap());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, *sum, "{name}");
    }
    let present = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let first = present.filter(|name| name.to_string_lossy().starts_with("v1-")).count();
    assert_eq!(first, listed.len(), "a file that is not listed, or the other way round");
}
