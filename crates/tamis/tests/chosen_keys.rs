//! Keys that an adversary chooses: an attack that succeeds where the hash is public, and fails
//! where it is keyed.
//!
//! The adversary knows everything that a file tells (the layout, the size, the hash family, the
//! seed), computes digests of keys offline, and never touches the victim's filter until the keys
//! are chosen.

#![allow(clippy::unwrap_used)]

use tamis::{BlockedBloom, Bloom, CountingBloom, HashFamily, SecretKey};

const ITEMS: u64 = 2_000;
const FPR: f64 = 0.01;

fn secret(text: &[u8]) -> HashFamily {
    HashFamily::keyed(SecretKey::new(text).unwrap())
}

/// Keys that all set bits which no earlier one has set: far fewer of them than planned items fill
/// the filter.
fn polluting_keys(model: &mut Bloom, tries: u64) -> Vec<u64> {
    let (mut keys, mut fill) = (Vec::new(), 0.0);
    let hashes = f64::from(model.plan().hashes()) / model.plan().cells() as f64;
    for key in 0..tries {
        let mut with = model.clone();
        with.insert(key);
        // All of its bits are new ones.
        if with.fill() >= fill + hashes * 0.999 {
            fill = with.fill();
            keys.push(key);
            *model = with;
        }
    }
    keys
}

/// A filter planned for 1% takes at most as many keys as planned, all of them chosen, and passes
/// several times as many strangers; under the keyed hash the same keys are keys like any others.
#[test]
fn pollution_succeeds_against_the_public_hash_alone() {
    let mut model = Bloom::with_hash(200, FPR, HashFamily::fast(42)).unwrap();
    let chosen = polluting_keys(&mut model, 100_000);
    let chosen = &chosen[..chosen.len().min(200)];
    let strangers = |filter: &Bloom| {
        (1 << 40..(1 << 40) + 50_000u64).filter(|key| filter.contains(*key)).count()
    };
    let fill = |hash: HashFamily, keys: &mut dyn Iterator<Item = u64>| {
        let mut filter = Bloom::with_hash(200, FPR, hash).unwrap();
        filter.insert_many(keys);
        filter
    };
    let honest = fill(HashFamily::fast(42), &mut (1 << 50..(1 << 50) + chosen.len() as u64));
    let polluted = fill(HashFamily::fast(42), &mut chosen.iter().copied());
    let keyed = fill(secret(b"a secret that the adversary lacks"), &mut chosen.iter().copied());
    let (honest, polluted, keyed) = (strangers(&honest), strangers(&polluted), strangers(&keyed));
    assert!(polluted > 3 * honest, "polluted {polluted}, honest {honest}");
    assert!(
        2 * keyed < polluted && keyed < 2 * honest + 100,
        "keyed {keyed}, honest {honest}, polluted {polluted}"
    );
}

/// With the whole file in hand, strangers that pass are found offline, as many as there is patience
/// for; a victim with a secret lets them pass at the planned rate.
#[test]
fn forged_members_pass_the_public_hash_alone() {
    let members = 0..ITEMS;
    let build = |hash: HashFamily| {
        let mut filter = Bloom::with_hash(ITEMS, FPR, hash).unwrap();
        filter.insert_many(members.clone());
        filter
    };
    let victim = build(HashFamily::fast(7));
    // The file is public: the copy answers as the victim does.
    let copy = tamis::AnyFilter::from_bytes(&victim.to_bytes()).unwrap();
    let forged: Vec<u64> =
        (1 << 40..).filter(|key| copy.contains(*key).unwrap()).take(500).collect();
    assert!(forged.iter().all(|key| victim.contains(*key)));
    let keyed = build(secret(b"a secret that the adversary lacks"));
    assert!(
        tamis::AnyFilter::from_bytes(&keyed.to_bytes()).is_err(),
        "the file of a keyed filter cannot be asked"
    );
    let passed = forged.iter().filter(|key| keyed.contains(**key)).count();
    assert!(passed < 30, "{passed} of 500, where 5 are expected");
}

/// A blocked filter can be saturated in one block: a hundred keys out of a million make every key
/// of that block pass.
#[test]
fn a_block_is_saturated_under_the_public_hash_alone() {
    // FORMAT.md: the block is the high half of h1 times the number of blocks.
    let (items, public) = (200_000u64, HashFamily::fast(1));
    let mut victim = BlockedBloom::with_hash(items, FPR, public.clone()).unwrap();
    let mut keyed =
        BlockedBloom::with_hash(items, FPR, secret(b"a secret that the adversary lacks")).unwrap();
    let blocks = victim.plan().cells() / 512;
    let block = |key: u64| {
        let h1 = u128::from(public.digest(key).unwrap()) as u64;
        ((u128::from(h1) * u128::from(blocks)) >> 64) as u64
    };
    let aimed: Vec<u64> = (0..).filter(|key| block(*key) == 5).take(400).collect();
    for key in &aimed {
        victim.insert(*key);
        keyed.insert(*key);
    }
    // 400 keys are a five-hundredth of the plan, yet those of one service, say, whose keys fall
    // here, always pass.
    let targets: Vec<u64> = (1 << 40..).filter(|key| block(*key) == 5).take(300).collect();
    let passed = targets.iter().filter(|key| victim.contains(**key)).count();
    assert!(passed > 250, "{passed} of 300");
    let passed = targets.iter().filter(|key| keyed.contains(**key)).count();
    assert!(passed < 5, "{passed} of 300 under the keyed hash");
}

/// Removing keys that were never put in, but pass, takes members out of a counting filter: the
/// public hash lets them be found.
#[test]
fn forged_removals_take_members_out_under_the_public_hash_alone() {
    let build = |hash: HashFamily| {
        let mut filter = CountingBloom::with_hash(ITEMS, FPR, hash).unwrap();
        filter.insert_many(0..ITEMS);
        filter
    };
    let lost = |filter: &CountingBloom| (0..ITEMS).filter(|key| !filter.contains(*key)).count();
    let (mut victim, mut keyed) =
        (build(HashFamily::fast(3)), build(secret(b"a secret that the adversary lacks")));
    let forged: Vec<u64> = (1 << 40..).filter(|key| victim.contains(*key)).take(300).collect();
    for key in forged {
        let _ = victim.remove(key);
        let _ = keyed.remove(key);
    }
    assert!(lost(&victim) > 500, "{} lost", lost(&victim));
    assert!(lost(&keyed) < 100, "{} lost under the keyed hash", lost(&keyed));
}
