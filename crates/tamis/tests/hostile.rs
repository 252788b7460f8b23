//! Files that mean harm: every golden file cut, flipped, exaggerated, swapped and spliced, with its
//! checksums made good again, so that the reader goes past them. Whatever happens is an error in
//! words or a filter that works: no panic, no endless loop, and no more memory than a small
//! multiple of the input.
//!
//! Releases of this field have failed in these ways. The tests here would have caught them:
//!
//! - a heap overflow on loading a chunk whose size was believed (CVE-2024-25115):
//!   `sizes_are_not_believed`, `header_fields_at_their_extremes`;
//! - an assertion on a reservation that cannot be had (CVE-2024-25116):
//!   `memory_that_cannot_be_had_is_an_error`;
//! - an integer overflow in the size at creation (CVE-2024-55656):
//!   `sizes_at_creation_do_not_overflow`;
//! - writes out of bounds on restoring a damaged value (CVE-2026-25589, CVE-2026-62356):
//!   `flipped_in_every_bit`, `several_fields_at_their_extremes`: what opens is written to;
//! - a denial of service on restoring, in a Rust module (CVE-2026-21864): every test: none panics,
//!   and `guarded` ends what does not end;
//! - six bytes that allocate 17 GB (Guava 8463): `a_few_bytes_allocate_little`, and the allocator
//!   in every test;
//! - a hash that changed, after which every lookup was false:
//!   `members_are_found_by_every_later_release`;
//! - pollution with chosen keys: `chosen_keys.rs`;
//! - counters that overflow: `counters_stop_at_their_ceiling`;
//! - the deletion of absent keys: `removing_what_is_absent_changes_nothing`.
//!
//! `regressions/` holds inputs that did harm somewhere, here or to another reader; they are opened
//! with the others.

#![allow(clippy::unwrap_used)]

mod hostile {
    pub(super) mod allocator;
    pub(super) mod files;
    pub(super) mod usage;
}

use hostile::allocator::{Counting, peak};
use hostile::files::{Random, body_length, dictionary, golden, key, repaired};
use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tamis::rate::{Kind, Plan, StaticPlan};
use tamis::zone::{self, CodeKind, Universe};
use tamis::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Error, HashFamily, Open, Promise, SplitBloom,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What reading may take: so many times the input, and so much besides, for the tables of a field
/// (at most 64 Ki elements) and the sieve of primes.
const MULTIPLE: usize = 8;
const BESIDES: usize = 4 << 20;
/// Nothing here takes a tenth of a second on an idle machine; a loop without end takes longer than
/// this.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs `test` in a thread of its own, and fails with the name of the input that takes longer than
/// the limit.
fn guarded(test: impl FnOnce(&Sender<String>) + Send + 'static) {
    let (sender, receiver) = channel();
    let worker = std::thread::spawn(move || test(&sender));
    let mut last = String::new();
    loop {
        match receiver.recv_timeout(LIMIT) {
            Ok(name) => last = name,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("{last} takes more than {LIMIT:?}"),
        }
    }
    if let Err(panic) = worker.join() {
        eprintln!("the input was: {last}");
        std::panic::resume_unwind(panic);
    }
}

/// Opens with whatever the file asks for.
fn open(bytes: &[u8]) -> Result<AnyFilter, Error> {
    match Open::new().bytes(bytes) {
        Err(Error::KeyNeeded) => Open::new().key(key()).bytes(bytes),
        Err(Error::DictionaryNeeded { .. }) => Open::new().dictionary(dictionary()).bytes(bytes),
        other => other,
    }
}

/// Opens the bytes, as a slice and as a stream, within the limits; and uses the filter, if they are
/// one.
///
/// Many changes come to the same once the checksums are repaired; the second time they are passed
/// over.
fn try_to_break(name: String, bytes: &[u8], say: &Sender<String>) -> bool {
    static TRIED: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
    let _ = say.send(name.clone());
    let fingerprint = u128::from(HashFamily::fast(0).digest(bytes).unwrap()) as u64;
    if !TRIED.lock().unwrap_or_else(PoisonError::into_inner).insert(fingerprint) {
        return open(bytes).is_ok();
    }
    let max = MULTIPLE * bytes.len() + BESIDES;
    let (opened, taken) = peak(|| open(bytes));
    assert!(taken <= max, "{name}: {taken} bytes of memory for {} bytes", bytes.len());
    let (streamed, taken) = peak(|| Open::new().key(key()).reader(bytes));
    assert!(taken <= max, "{name}, as a stream: {taken} bytes of memory for {} bytes", bytes.len());
    drop(streamed);
    match opened {
        Err(error) => {
            let text = error.to_string();
            assert!(text.len() > 10 && text.len() < 1_000, "{name}: {text}");
            false
        }
        Ok(filter) => {
            // Sturm sequences are slow: some inputs of many.
            hostile::usage::exercise(&name, filter, open, fingerprint.is_multiple_of(16));
            true
        }
    }
}

/// Every length. None but the whole is a filter, with its checksums or with better ones.
#[test]
fn cut_at_every_length() {
    guarded(|say| {
        for (name, bytes) in golden() {
            for cut in 0..bytes.len() {
                let case = format!("{name} cut to {cut}");
                assert!(!try_to_break(case, &bytes[..cut], say), "{name} cut to {cut} opens");
            }
            for cut in (0..bytes.len()).filter(|cut| *cut >= 128) {
                let case = format!("{name} cut to {cut} and repaired");
                try_to_break(case, &repaired(bytes[..cut].to_vec()), say);
            }
        }
    });
}

/// Every bit. With the old checksums nothing opens; with new ones, whatever opens can be used.
#[test]
fn flipped_in_every_bit() {
    guarded(|say| {
        let mut opened = 0;
        for (name, bytes) in golden() {
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(open(&flipped).is_err(), "{name} with bit {bit} flipped opens");
                // One bit of a body is as good as another: all of the header, and some of the body.
                if bit < 8 * 128 || bit % 61 == 0 {
                    let case = format!("{name} with bit {bit} flipped and repaired");
                    opened += u32::from(try_to_break(case, &repaired(flipped), say));
                }
            }
        }
        assert!(opened > 1_000, "only {opened} went past the checksums");
    });
}

/// The values that break arithmetic.
fn extremes(width: usize) -> Vec<u64> {
    let max = if width == 8 { u64::MAX } else { (1 << (8 * width)) - 1 };
    let half = max / 2;
    let mut all =
        vec![0, 1, 2, 3, 5, 7, 8, 63, 64, 65, 127, 128, 255, 256, 511, 512, 65_535, 65_536, 65_537];
    all.extend([half - 1, half, half + 1, max - 64, max - 1, max]);
    all.extend([
        1 << 20,
        1 << 31,
        1 << 32,
        (1 << 32) - 1,
        1 << 40,
        1 << 47,
        1 << 50,
        (1 << 50) + 1,
        1 << 61,
    ]);
    all.extend([f64::NAN, f64::INFINITY, -0.0, 1.0, 1e-300].map(f64::to_bits));
    all.retain(|value| *value <= max);
    all
}

/// Every field of every header, at every width a reader might take it for, one at a time; with the
/// body that was there, and with one of the length that the header now speaks of.
#[test]
fn header_fields_at_their_extremes() {
    guarded(|say| {
        let mut opened = 0;
        for (name, bytes) in golden() {
            for (at, width) in [8, 10].map(|at| (at, 2)).into_iter().chain(fields()) {
                for value in extremes(width) {
                    let mut lying = bytes.to_vec();
                    lying[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                    let case = format!("{name} with {value} at {at} ({width} bytes)");
                    opened += u32::from(try_to_break(case, &repaired(lying.clone()), say));
                    if let Some(fitted) = fitted(lying) {
                        let case = format!(
                            "{name} with {value} at {at} ({width} bytes) and a fitting body"
                        );
                        opened += u32::from(try_to_break(case, &fitted, say));
                    }
                }
            }
        }
        assert!(opened > 300, "only {opened} went past the checksums");
    });
}

/// All places after the magic that a field of 1, 4 or 8 bytes can have.
fn fields() -> impl Iterator<Item = (usize, usize)> {
    let bytes = [32, 33, 34, 35].map(|at| (at, 1));
    let fours = (12..128 - 4).step_by(4).map(|at| (at, 4));
    bytes.into_iter().chain(fours).chain((16..120).step_by(8).map(|at| (at, 8)))
}

/// The file with a body of the length that its header speaks of, if that is not too long for a
/// test.
fn fitted(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let header = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let body = body_length(&bytes)?;
    if !(128..=bytes.len()).contains(&header) || body > 1 << 16 {
        return None;
    }
    bytes.resize(header + body as usize, 0x55);
    Some(repaired(bytes))
}

/// Several fields at once, drawn from the extremes: what checks one field against another must hold
/// as well.
#[test]
fn several_fields_at_their_extremes() {
    guarded(|say| {
        let mut random = Random::new(7);
        let fields: Vec<(usize, usize)> = fields().collect();
        for (name, bytes) in golden() {
            for round in 0..400 {
                let mut lying = bytes.to_vec();
                for _ in 0..random.below(4) + 2 {
                    let (at, width) = fields[random.below(fields.len())];
                    let values = extremes(width);
                    let value = values[random.below(values.len())];
                    lying[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                }
                let lying = fitted(lying.clone()).unwrap_or_else(|| repaired(lying));
                try_to_break(format!("{name}, several fields, round {round}"), &lying, say);
            }
        }
    });
}

/// Parts of a file exchanged, and the head of one file with the tail of another.
#[test]
fn sections_swapped_and_files_spliced() {
    guarded(|say| {
        let all = golden();
        let mut random = Random::new(11);
        for (name, bytes) in &all {
            for size in [4, 8, 16, 32, 64] {
                let parts = bytes.len() / size;
                for round in 0..20 {
                    let (i, j) = (random.below(parts), random.below(parts));
                    let mut swapped = bytes.to_vec();
                    for k in 0..size {
                        swapped.swap(i * size + k, j * size + k);
                    }
                    let case =
                        format!("{name}, parts {i} and {j} of {size} bytes swapped, round {round}");
                    try_to_break(case.clone(), &swapped, say);
                    try_to_break(case + ", repaired", &repaired(swapped), say);
                }
            }
            let turned = [&bytes[128..], &bytes[..128]].concat();
            try_to_break(format!("{name}, its body first"), &turned, say);
        }
        for (one, head) in &all {
            for (other, tail) in &all {
                // The header of one with the body of the other, and cuts anywhere.
                let cuts = [(128, 128), (32, 32), (96, 96)].into_iter();
                let anywhere: Vec<_> =
                    (0..3).map(|_| (random.below(head.len()), random.below(tail.len()))).collect();
                for (i, j) in cuts.chain(anywhere) {
                    let spliced = [&head[..i.min(head.len())], &tail[j.min(tail.len())..]].concat();
                    let case = format!("{one} up to {i}, then {other} from {j}");
                    try_to_break(case.clone(), &spliced, say);
                    if spliced.len() >= 128 {
                        try_to_break(case + ", repaired", &repaired(spliced), say);
                    }
                }
            }
        }
    });
}

/// Headers of nothing but chance behind a good beginning.
#[test]
fn noise_behind_the_signature() {
    guarded(|say| {
        let mut random = Random::new(13);
        for round in 0..4_000 {
            let mut bytes = vec![0; 128 + random.below(300)];
            bytes[..16].copy_from_slice(b"\x89TAMIS\r\n\x01\0\x01\0\x80\0\0\0");
            bytes[10] = 1 + random.below(9) as u8;
            for byte in &mut bytes[32..] {
                // Mostly zeros, which reserved space must be.
                if random.below(6) == 0 {
                    *byte = random.below(256) as u8;
                }
            }
            let bytes = fitted(bytes.clone()).unwrap_or_else(|| repaired(bytes));
            try_to_break(format!("noise, round {round}"), &bytes, say);
        }
    });
}

/// A header of a zone filter may list 8192 moduli, whose proof is work: the largest such files take
/// neither long nor much.
#[test]
fn the_longest_proofs_end() {
    guarded(|say| {
        let coprime = golden().into_iter().find(|(name, _)| *name == "zone-coprime").unwrap().1;
        let primes = hostile::files::primes(120_000);
        for (count, from) in [(8_192, 0), (8_192, 2_000), (5_000, 6_000), (1_024, 10_000)] {
            for (items, last) in
                [(1u64, u64::MAX), (2, 1 << 20), (100_000, u64::MAX), (u64::MAX, u64::MAX)]
            {
                let moduli = &primes[from..from + count];
                let header = (96 + 4 * count + 4).next_multiple_of(64);
                let mut bytes = coprime[..96].to_vec();
                bytes[12..16].copy_from_slice(&(header as u32).to_le_bytes());
                bytes[36..40].copy_from_slice(&(count as u32).to_le_bytes());
                bytes[40..48].copy_from_slice(&0u64.to_le_bytes());
                bytes[48..56].copy_from_slice(&last.to_le_bytes());
                bytes[64..72].copy_from_slice(&items.to_le_bytes());
                bytes[72..80].copy_from_slice(&0u64.to_le_bytes());
                moduli.iter().for_each(|modulus| bytes.extend((*modulus as u32).to_le_bytes()));
                bytes.resize(header, 0);
                let body = moduli.iter().sum::<u64>().div_ceil(8);
                let case = format!("{count} primes from the {from}-th, {items} items of {last}");
                // As short as the header: nobody needs to send the body for the proof to be made.
                bytes[16..24].copy_from_slice(&body.to_le_bytes());
                let end = header - 4;
                let checksum = hostile::files::crc32c(&bytes[..end]);
                bytes[end..].copy_from_slice(&checksum.to_le_bytes());
                try_to_break(case, &bytes, say);
            }
        }
    });
}

/// A test of the tests: memory that is taken is seen, also if it is given back.
#[test]
fn the_allocator_counts() {
    let (_, taken) = peak(|| drop(vec![1u8; 5_000_000]));
    assert!((5_000_000..5_100_000).contains(&taken), "{taken}");
}

/// Six bytes, or the whole header of an enormous filter, take what they are long and not what they
/// promise.
#[test]
fn a_few_bytes_allocate_little() {
    guarded(|say| {
        for (name, bytes) in golden() {
            for claim in [1 << 20, 1 << 34, 1 << 47, u64::MAX / 2, u64::MAX] {
                let mut lying = bytes[..128.min(bytes.len())].to_vec();
                lying[16..24].copy_from_slice(&u64::to_le_bytes(claim));
                lying[64..72].copy_from_slice(&u64::to_le_bytes(claim.saturating_mul(8)));
                for cut in [6, 8, 32, 127, 128] {
                    try_to_break(
                        format!("{name}, {cut} bytes that claim {claim}"),
                        &lying[..cut],
                        say,
                    );
                }
                let checksum = hostile::files::crc32c(&lying[..124]);
                lying[124..128].copy_from_slice(&checksum.to_le_bytes());
                try_to_break(format!("{name}, a good header that claims {claim}"), &lying, say);
            }
        }
    });
}

/// A reader that gets a size from a header and a length from elsewhere must compare them: a body
/// longer or shorter by one is refused.
#[test]
fn sizes_are_not_believed() {
    guarded(|say| {
        for (name, bytes) in golden() {
            let body = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
            let claims = [body.saturating_sub(1), body + 1, body + 7, body + 64, 2 * body, 0];
            for claim in claims.into_iter().filter(|claim| *claim != body) {
                let mut lying = bytes.to_vec();
                let header = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
                lying.resize(header + claim as usize, 0);
                assert!(
                    !try_to_break(format!("{name} with a body of {claim}"), &repaired(lying), say),
                    "{name} opens with a body of {claim} bytes in place of {body}"
                );
            }
        }
    });
}

/// A file on the disk, mapped: the same answers.
#[test]
fn mapped_files_are_checked_alike() {
    guarded(|say| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hostile.tamis");
        let mut random = Random::new(17);
        for (name, bytes) in golden() {
            for round in 0..30 {
                let mut lying = bytes.to_vec();
                for _ in 0..random.below(3) {
                    let at = random.below(lying.len());
                    lying[at] = random.below(256) as u8;
                }
                if random.below(2) == 0 {
                    lying = repaired(lying);
                }
                if random.below(4) == 0 {
                    lying.truncate(random.below(lying.len()));
                }
                let _ = say.send(format!("{name}, mapped, round {round}"));
                std::fs::write(&path, &lying).unwrap();
                let options = Open::new().key(key()).dictionary(dictionary()).verify(true);
                let (mapped, read) = (options.path(&path), options.bytes(&lying));
                assert_eq!(mapped.is_ok(), read.is_ok(), "{name}, round {round}");
                if let (Ok(mapped), Ok(read)) = (&mapped, &read) {
                    assert_eq!(mapped, read, "{name}, round {round}");
                }
                // Without a look at the body, whatever is in it, a filter can be used.
                if let Ok(unverified) = options.verify(false).path(&path) {
                    hostile::usage::ask(&unverified, false);
                }
            }
        }
    });
}

/// The inputs that did harm somewhere.
#[test]
fn regressions() {
    guarded(|say| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions");
        let mut found = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            found += 1;
            try_to_break(path.display().to_string(), &std::fs::read(&path).unwrap(), say);
        }
        assert!(found >= 2);
    });
}

#[test]
fn sizes_at_creation_do_not_overflow() {
    let counts = [
        1,
        2,
        1 << 20,
        1 << 31,
        1 << 32,
        1 << 47,
        1 << 50,
        1 << 61,
        u64::MAX / 64,
        u64::MAX - 1,
        u64::MAX,
    ];
    for kind in [Kind::Bloom, Kind::Blocked, Kind::Split, Kind::Counting] {
        for items in counts {
            for fpr in [
                1e-15,
                1e-9,
                0.01,
                0.999,
                1.0,
                0.0,
                -1.0,
                f64::NAN,
                f64::INFINITY,
                f64::MIN_POSITIVE,
            ] {
                check_size(Plan::from_items_fpr(kind, items, fpr));
            }
            for bits in counts {
                check_size(Plan::from_items_bits(kind, items, bits));
            }
            for fpr in [1e-15, 0.01, 0.999] {
                check_size(Plan::from_fpr_bits(kind, fpr, items));
            }
        }
    }
    for items in counts {
        for fpr in [1e-15, 1e-9, 0.01, 0.25, 0.999, 1.0, 0.0, -1.0, f64::NAN] {
            match StaticPlan::new(items, fpr) {
                Ok(plan) => {
                    let (bits, least) = (plan.bits(), items as f64 * -fpr.log2());
                    assert!(bits <= 1 << 50 && bits as f64 >= least, "{plan:?}");
                    assert!(
                        (bits as f64) < 1.2 * least + 20_000.0 + items as f64 * 0.2,
                        "{plan:?}"
                    );
                }
                Err(error) => assert!(error.to_string().len() > 20),
            }
        }
        for epsilon in ["0.000000001", "0.1", "1", "11", "1000000"] {
            let epsilon = epsilon.parse().unwrap();
            if let Ok(plan) = tamis::privacy::LinearPlan::new(items, epsilon) {
                assert!(plan.bits() <= 1 << 50 && plan.bytes() == plan.bits() / 8);
            }
            if let Ok(plan) = tamis::privacy::UltraPlan::new(items, epsilon) {
                assert!(plan.bits() <= 1 << 50 && plan.bytes() == plan.bits().div_ceil(8));
            }
        }
    }
    let ends = [
        (0, 0),
        (0, u128::from(u64::MAX)),
        (1 << 63, 1 << 64),
        (0, u128::MAX),
        (u128::MAX, u128::MAX),
    ];
    for (first, last) in ends {
        for items in [0, 1, 2, 1_000, 1 << 16, 1 << 32, u64::MAX] {
            for code in CodeKind::ALL {
                let universe = Universe::interval(first, last).unwrap();
                if let Ok(plan) = zone::Plan::with_code(universe, items, code) {
                    assert!(plan.clone().counting().bits() >= plan.bits() && plan.zone() >= items);
                    assert!(plan.bytes() == plan.bits().div_ceil(8));
                }
            }
        }
    }
}

fn check_size(plan: Result<Plan, Error>) {
    match plan {
        Ok(plan) => {
            assert!((1..=1 << 50).contains(&plan.bits()), "{plan:?}");
            assert!(plan.bytes() == plan.bits().div_ceil(8) && plan.fpr() < 1.0);
        }
        Err(error) => assert!(error.to_string().len() > 20),
    }
}

/// 2^47 bytes are a size that a plan may have and few machines do.
#[test]
fn memory_that_cannot_be_had_is_an_error() {
    let plan = |kind| Plan::from_items_bits(kind, 1 << 40, 1 << 50).unwrap();
    let refused = |error: Error| assert!(matches!(error, Error::Memory { .. }), "{error}");
    let (outcome, taken) = peak(|| {
        if let Err(error) = Bloom::with_plan(plan(Kind::Bloom), HashFamily::default()) {
            refused(error);
        }
        if let Err(error) = BlockedBloom::with_plan(plan(Kind::Blocked), HashFamily::default()) {
            refused(error);
        }
        if let Err(error) = SplitBloom::with_plan(plan(Kind::Split), HashFamily::default()) {
            refused(error);
        }
        if let Err(error) = CountingBloom::with_plan(plan(Kind::Counting), HashFamily::default()) {
            refused(error);
        }
    });
    let () = outcome;
    assert!(taken < BESIDES, "{taken}");
    // The caller's own cap, which is asked before anything is taken.
    let bytes = Bloom::new(100_000, 0.01).unwrap().to_bytes();
    let (refusal, taken) = peak(|| Open::new().max_memory(10_000).bytes(&bytes).unwrap_err());
    refused(refusal);
    assert!(taken < 10_000, "{taken}");
}

/// The golden files were written by another implementation of the specification: their members
/// pass.
#[test]
fn members_are_found_by_every_later_release() {
    for (name, bytes) in golden() {
        let filter = open(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(filter.to_bytes(), bytes, "{name} is written otherwise");
        let forgot = filter.kind() == "rolling" || ["empty", "bloom-keys"].contains(&name);
        if filter.promise() == Promise::Rate && !forgot {
            for i in 0..100 {
                assert!(
                    filter.contains(format!("key {i}").as_str()).unwrap(),
                    "{name} lost key {i}"
                );
            }
        }
    }
}

#[test]
fn counters_stop_at_their_ceiling() {
    for width in [2, 3, 4, 16] {
        let plan = Plan::from_items_fpr(Kind::Counting, 10, 0.01)
            .unwrap()
            .with_counter_bits(width)
            .unwrap();
        let mut filter = CountingBloom::with_plan(plan, HashFamily::default()).unwrap();
        filter.insert("other");
        let ceiling = (1u32 << width) - 1;
        for _ in 0..ceiling + 5 {
            filter.insert("ant");
        }
        // Had a counter wrapped, the key would be gone already; had one counted past its ceiling,
        // its neighbours would be others.
        assert!(filter.contains("ant") && filter.contains("other"));
        let empty = CountingBloom::with_plan(*filter.plan(), HashFamily::default()).unwrap();
        let mut doubled = filter.clone();
        doubled.union(&filter).unwrap();
        doubled.union(&empty).unwrap();
        assert!(doubled.contains("ant") && doubled.contains("other"));
        for _ in 0..ceiling {
            let _ = filter.remove("ant");
        }
        assert!(filter.contains("ant"), "a counter that is stuck cannot say how many there were");
    }
    let plan = zone::Plan::with_code(Universe::sized(1_000).unwrap(), 3, CodeKind::Rs).unwrap();
    let mut zone = zone::CountingFilter::with_plan(plan).unwrap();
    (0..1_000u64).for_each(|i| assert!(zone.insert_beyond(i).is_ok()));
    assert!((0..1_000u64).all(|i| zone.contains(i).unwrap()));
    assert_eq!(zone.health(), tamis::Health::Beyond);
}

#[test]
fn removing_what_is_absent_changes_nothing() {
    let mut filter = CountingBloom::new(1_000, 0.01).unwrap();
    (0..500u64).for_each(|i| assert!(filter.insert(i) || filter.contains(i)));
    let before = filter.clone();
    let absent: Vec<u64> = (1_000..20_000).filter(|i| !filter.contains(*i)).collect();
    assert!(absent.len() > 18_000);
    for key in absent {
        assert!(filter.remove(key).is_err());
    }
    assert_eq!(filter, before);
    let plan = zone::Plan::with_code(Universe::sized(1_000).unwrap(), 3, CodeKind::Egh).unwrap();
    let mut zone = zone::CountingFilter::with_plan(plan).unwrap();
    (0..3u64).for_each(|i| assert!(zone.insert(i).unwrap()));
    let before = zone.clone();
    for key in 3..1_000u64 {
        assert!(zone.remove(key).is_err());
    }
    assert_eq!(zone, before);
}
