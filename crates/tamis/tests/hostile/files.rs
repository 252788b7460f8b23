//! The golden files, and what it takes to change them: FORMAT.md in a few lines.

use std::sync::OnceLock;
use tamis::SecretKey;
use tamis::zone::Universe;
use tamis_random::SplitMix64;

pub(crate) fn golden() -> Vec<(&'static str, &'static [u8])> {
    vec![
        ("bloom-fast", include_bytes!("../golden/v1-bloom-fast.tamis")),
        ("bloom-keyed", include_bytes!("../golden/v1-bloom-keyed.tamis")),
        ("bloom-sha256-md5", include_bytes!("../golden/v1-bloom-sha256-md5.tamis")),
        ("bloom-counted", include_bytes!("../golden/v1-bloom-counted.tamis")),
        ("bloom-keys", include_bytes!("../golden/v1-bloom-keys.tamis")),
        ("bloom-prefixed", include_bytes!("../golden/v1-bloom-prefixed.tamis")),
        ("blocked-fast-8", include_bytes!("../golden/v1-blocked-fast-8.tamis")),
        ("blocked-keyed-16", include_bytes!("../golden/v1-blocked-keyed-16.tamis")),
        ("split-fast", include_bytes!("../golden/v1-split-fast.tamis")),
        ("split-keyed", include_bytes!("../golden/v1-split-keyed.tamis")),
        ("counting-fast-4", include_bytes!("../golden/v1-counting-fast-4.tamis")),
        ("counting-keyed-3", include_bytes!("../golden/v1-counting-keyed-3.tamis")),
        ("quotient-fast", include_bytes!("../golden/v1-quotient-fast.tamis")),
        ("quotient-keyed-grown", include_bytes!("../golden/v1-quotient-keyed-grown.tamis")),
        ("quotient-crowded", include_bytes!("../golden/v1-quotient-crowded.tamis")),
        ("scalable-fast", include_bytes!("../golden/v1-scalable-fast.tamis")),
        ("scalable-keyed-fixed", include_bytes!("../golden/v1-scalable-keyed-fixed.tamis")),
        ("rolling-insertions", include_bytes!("../golden/v1-rolling-insertions.tamis")),
        ("rolling-time", include_bytes!("../golden/v1-rolling-time.tamis")),
        ("rolling-empty", include_bytes!("../golden/v1-rolling-empty.tamis")),
        ("static-fast", include_bytes!("../golden/v1-static-fast.tamis")),
        ("static-planned", include_bytes!("../golden/v1-static-planned.tamis")),
        ("static-shards", include_bytes!("../golden/v1-static-shards.tamis")),
        ("static-wide", include_bytes!("../golden/v1-static-wide.tamis")),
        ("static-coarse", include_bytes!("../golden/v1-static-coarse.tamis")),
        ("empty", include_bytes!("../golden/v1-empty.tamis")),
        ("zone-egh", include_bytes!("../golden/v1-zone-egh.tamis")),
        ("zone-coprime", include_bytes!("../golden/v1-zone-coprime.tamis")),
        ("zone-rs", include_bytes!("../golden/v1-zone-rs.tamis")),
        ("zone-wide-integers", include_bytes!("../golden/v1-zone-wide-integers.tamis")),
        ("zone-ipv6", include_bytes!("../golden/v1-zone-ipv6.tamis")),
        ("zone-counting-mac", include_bytes!("../golden/v1-zone-counting-mac.tamis")),
        ("zone-ipv4-prefixes", include_bytes!("../golden/v1-zone-ipv4-prefixes.tamis")),
        ("zone-counting-egh", include_bytes!("../golden/v1-zone-counting-egh.tamis")),
        ("zone-counting-rs-beyond", include_bytes!("../golden/v1-zone-counting-rs-beyond.tamis")),
        ("public-bloom-fast", include_bytes!("../golden/v1-public-bloom-fast.tamis")),
        ("public-bloom-keyed", include_bytes!("../golden/v1-public-bloom-keyed.tamis")),
        ("linear-fast-16", include_bytes!("../golden/v1-linear-fast-16.tamis")),
        ("linear-keyed-53", include_bytes!("../golden/v1-linear-keyed-53.tamis")),
        ("linear-shards-512", include_bytes!("../golden/v1-linear-shards-512.tamis")),
        ("linear-shards-5", include_bytes!("../golden/v1-linear-shards-5.tamis")),
    ]
}

pub(crate) fn key() -> SecretKey {
    SecretKey::new(b"an example secret of 32 bytes...").unwrap()
}

pub(crate) fn dictionary() -> Universe {
    Universe::dictionary((0..200).map(|i| format!("colour {i}"))).unwrap()
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn half(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
}

/// The length of the body that the other fields of a header speak of, if that is a number at all.
pub(crate) fn body_length(bytes: &[u8]) -> Option<u64> {
    let bits = match (bytes[10], bytes[32]) {
        (1..=3 | 8, _) => word(bytes, 64).checked_mul(half(bytes, 72))?,
        (10, _) => {
            let block = half(bytes, 72).checked_mul(64)?.checked_add(8 * 17)?;
            (word(bytes, 64) / 64).checked_mul(block)?
        }
        (4 | 5, 1) => first_primes(half(bytes, 36)).iter().sum::<u64>() * half(bytes, 80),
        (4 | 5, 2) => {
            let listed = half(bytes, 36).min((bytes.len() as u64).saturating_sub(100) / 4) as usize;
            (0..listed)
                .map(|i| half(bytes, 96 + 4 * i))
                .sum::<u64>()
                .checked_mul(half(bytes, 80))?
        }
        (4 | 5, _) => half(bytes, 84).checked_mul(half(bytes, 36))?.checked_mul(half(bytes, 80))?,
        (6, _) => word(bytes, 64),
        (7, _) => {
            let width =
                u64::from(u32::BITS - (half(bytes, 36) as u32).saturating_sub(1).leading_zeros());
            word(bytes, 64).checked_mul(word(bytes, 72))?.checked_mul(width)?
        }
        (9, _) => return static_length(bytes),
        (11 | 12, _) => return chain_length(bytes),
        _ => return None,
    };
    Some(bits.div_ceil(8))
}

/// The length of the bodies of all links.
fn chain_length(bytes: &[u8]) -> Option<u64> {
    let listed = half(bytes, 36).min((bytes.len() as u64).saturating_sub(100) / 48) as usize;
    (0..listed).map(|i| 96 + 48 * i).try_fold(0u64, |sum, at| {
        let block = half(bytes, at + 32).checked_mul(8)?.checked_add(17)?;
        sum.checked_add((word(bytes, at) / 64).checked_mul(block)?)
    })
}

/// The length of the body of a static filter.
fn static_length(bytes: &[u8]) -> Option<u64> {
    let [width, shards, share] = [half(bytes, 36), word(bytes, 64), word(bytes, 96)];
    let layer = |blocks: u64, share: u64| {
        let low = ((u128::from(share) * u128::from(blocks)) >> 64) as u64 / 8 * 8;
        let padded = |blocks: u64| if blocks == 0 { 0 } else { blocks.saturating_add(3) };
        let planes = padded(low).checked_mul(width.checked_sub(1)?)?;
        planes.checked_add(padded(blocks - low).checked_mul(width)?)?.checked_mul(2)
    };
    let mut all = layer(word(bytes, 88), 0)?;
    for blocks in [word(bytes, 72), word(bytes, 80)] {
        let cuts = blocks.div_ceil(8).div_ceil(4).checked_mul(shards)?;
        all = all.checked_add(layer(blocks.checked_mul(shards)?, share)?)?.checked_add(cuts)?;
    }
    all.checked_add((16 * width.div_ceil(8)).checked_sub(2 * width)?)
}

/// The file with the length of its body and its checksums made good, as far as there is a header.
pub(crate) fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    let header = half(&bytes, 12) as usize;
    if (128..=bytes.len()).contains(&header) {
        let body = (bytes.len() - header) as u64;
        bytes[16..24].copy_from_slice(&body.to_le_bytes());
        let checksum = crc32c(&bytes[header..]);
        bytes[24..28].copy_from_slice(&checksum.to_le_bytes());
        let checksum = crc32c(&bytes[..header - 4]);
        bytes[header - 4..header].copy_from_slice(&checksum.to_le_bytes());
    }
    bytes
}

/// The checksum of the specification, a byte at a time.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let (mut crc, mut bit) = (i as u32, 0);
            while bit < 8 {
                crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc, byte| crc >> 8 ^ TABLE[(crc as u8 ^ byte) as usize])
}

/// The first primes, at most 8192 of them.
fn first_primes(count: u64) -> &'static [u64] {
    static PRIMES: OnceLock<Vec<u64>> = OnceLock::new();
    &PRIMES.get_or_init(|| primes(90_000))[..count.min(8_192) as usize]
}

/// The primes up to a limit.
pub(crate) fn primes(limit: usize) -> Vec<u64> {
    let mut composite = vec![false; limit + 1];
    let mut primes = Vec::new();
    for n in 2..=limit {
        if !composite[n] {
            primes.push(n as u64);
            (n.saturating_mul(n)..=limit)
                .step_by(n)
                .for_each(|multiple| composite[multiple] = true);
        }
    }
    primes
}

/// The same cases in every run.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound as u64) as usize
    }
}
