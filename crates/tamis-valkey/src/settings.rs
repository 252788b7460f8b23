//! The module's settings: those of the load arguments and those of `CONFIG SET tamis.*`.

use crate::refusal::Refusal;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Which of the two existing modules `BF.*` answers like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    RedisBloom,
    ValkeyBloom,
}

impl Dialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Dialect::RedisBloom => "redisbloom",
            Dialect::ValkeyBloom => "valkey-bloom",
        }
    }
}

/// How the bits of a key lie in a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Blocked where that takes at most a tenth more bits than `Bloom`, else `Bloom`.
    Auto,
    /// Anywhere: the fewest bits.
    Bloom,
    /// In one cache line: faster, and some bits more.
    Blocked,
    /// In half a cache line: the fastest, and more bits.
    Split,
}

impl Layout {
    pub(crate) const ALL: [Layout; 4] =
        [Layout::Auto, Layout::Bloom, Layout::Blocked, Layout::Split];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::Auto => "auto",
            Layout::Bloom => "bloom",
            Layout::Blocked => "blocked",
            Layout::Split => "split",
        }
    }

    pub(crate) fn of(text: &[u8]) -> Result<Layout, Refusal> {
        let found =
            Layout::ALL.into_iter().find(|one| one.name().as_bytes().eq_ignore_ascii_case(text));
        found.ok_or(Refusal::new("ERR bad layout: auto, bloom, blocked or split"))
    }
}

static VALKEY_BLOOM: AtomicBool = AtomicBool::new(false);

pub(crate) fn dialect() -> Dialect {
    if VALKEY_BLOOM.load(Ordering::Relaxed) { Dialect::ValkeyBloom } else { Dialect::RedisBloom }
}

/// Takes the load arguments: `DIALECT redisbloom` or `DIALECT valkey-bloom`.
pub(crate) fn set_load_arguments<'a>(
    arguments: impl Iterator<Item = &'a [u8]>,
) -> Result<(), String> {
    let mut arguments = arguments;
    while let Some(name) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        let said = format!("{} {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value));
        match said.to_ascii_lowercase().as_str() {
            "dialect redisbloom" => VALKEY_BLOOM.store(false, Ordering::Relaxed),
            "dialect valkey-bloom" => VALKEY_BLOOM.store(true, Ordering::Relaxed),
            _ => {
                return Err(format!(
                    "cannot use the argument {said:?}: DIALECT redisbloom or DIALECT valkey-bloom"
                ));
            }
        }
    }
    Ok(())
}

/// A whole number that `CONFIG SET` changes.
pub(crate) struct Number {
    pub(crate) name: &'static std::ffi::CStr,
    pub(crate) default: i64,
    pub(crate) least: i64,
    pub(crate) most: i64,
    /// Whether it is a size, which may be written as `1gb`.
    pub(crate) is_memory: bool,
    value: AtomicI64,
}

impl Number {
    const fn new(
        name: &'static std::ffi::CStr,
        default: i64,
        least: i64,
        most: i64,
        is_memory: bool,
    ) -> Number {
        Number { name, default, least, most, is_memory, value: AtomicI64::new(default) }
    }

    pub(crate) fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, value: i64) {
        self.value.store(value, Ordering::Relaxed);
    }

    pub(crate) fn as_u64(&self) -> u64 {
        u64::try_from(self.get()).unwrap_or(0)
    }
}

/// Every whole number that can be set. The server gives the place of one back.
pub(crate) static NUMBERS: [Number; 4] = [
    // A server has other keys too: a filter of 4 GiB holds 3 * 10^9 items at 1%.
    Number::new(c"max-filter-bytes", 4 << 30, 1 << 10, i64::MAX, true),
    Number::new(c"capacity", 100, 1, 1 << 62, false),
    Number::new(c"expansion", 2, 0, 32_768, false),
    Number::new(c"cuckoo-capacity", 1024, 1, 1 << 62, false),
];

/// The largest filter that a command may make, in bytes.
pub(crate) fn max_filter_bytes() -> u64 {
    NUMBERS[0].as_u64()
}

/// The items that a filter is made for if a command does not say.
pub(crate) fn capacity() -> u64 {
    NUMBERS[1].as_u64()
}

/// How much larger each further link is if a command does not say; 0: there is none.
pub(crate) fn expansion() -> u64 {
    NUMBERS[2].as_u64()
}

/// The items that a filter of `CF.*` is made for if a command does not say.
pub(crate) fn cuckoo_capacity() -> u64 {
    NUMBERS[3].as_u64()
}

/// The bits of the default rate.
static RATE: AtomicU64 = AtomicU64::new(0.01f64.to_bits());
/// The default rate as it was written.
static RATE_TEXT: RwLock<String> = RwLock::new(String::new());
pub(crate) const DEFAULT_RATE: &std::ffi::CStr = c"0.01";

pub(crate) fn rate() -> f64 {
    f64::from_bits(RATE.load(Ordering::Relaxed))
}

pub(crate) fn rate_text() -> String {
    RATE_TEXT.read().map(|text| text.clone()).unwrap_or_default()
}

pub(crate) fn set_rate(text: &[u8]) -> Result<(), String> {
    let refuse = || {
        let got = String::from_utf8_lossy(text);
        format!("{got:?} is no rate: a number from 1e-15 to 0.999, such as 0.01")
    };
    let word = std::str::from_utf8(text).map_err(|_| refuse())?;
    let rate: f64 = word.parse().map_err(|_| refuse())?;
    if !(tamis::rate::MIN_FPR..=tamis::rate::MAX_FPR).contains(&rate) {
        return Err(refuse());
    }
    RATE.store(rate.to_bits(), Ordering::Relaxed);
    if let Ok(mut held) = RATE_TEXT.write() {
        word.clone_into(&mut held);
    }
    Ok(())
}

static LAYOUT: AtomicI64 = AtomicI64::new(Layout::Auto as i64);

pub(crate) fn layout() -> Layout {
    let place = usize::try_from(LAYOUT.load(Ordering::Relaxed)).unwrap_or(0);
    Layout::ALL.get(place).copied().unwrap_or(Layout::Auto)
}

pub(crate) fn set_layout(place: i32) {
    LAYOUT.store(i64::from(place), Ordering::Relaxed);
}
