//! Why something could not be done: the values involved, then the remedy.

use crate::privacy::Epsilon;
#[cfg(feature = "zone")]
use crate::zone::{CodeKind, ListError};

/// Why a filter could not be planned, made, changed, merged or read.
///
/// Each message names the value that was refused and what would be accepted.
///
/// ```
/// let refused = tamis::Bloom::new(1_000, 0.0).unwrap_err();
/// assert!(refused.to_string().contains("nearest"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A filter is planned for at least one item.
    #[error(
        "a filter needs room for at least 1 item (got {got}); the nearest feasible number is 1"
    )]
    Items {
        /// What was asked for.
        got: u64,
    },
    /// A rate must lie within what a filter can keep.
    #[error(
        "the false-positive rate must be a number from 1e-15 to 0.999 (got {got:?}); the nearest feasible rate is {nearest:?}"
    )]
    Rate {
        /// What was asked for.
        got: f64,
        /// The closest rate that would be accepted.
        nearest: f64,
    },
    /// So few bits cannot keep the promise.
    #[error("{got} bits are too few for {wanted}; the nearest feasible size is {nearest} bits")]
    TooFewBits {
        /// The bits asked for.
        got: u64,
        /// What they were to hold.
        wanted: String,
        /// The fewest bits that would do.
        nearest: u64,
    },
    /// More bits than a filter can address.
    #[error(
        "{wanted} would take at least {got} bits, more than the {most} that a filter can address; {remedy}",
        most = crate::rate::MAX_BITS
    )]
    TooManyBits {
        /// The bits it would take, or a number of them that is known to be too few.
        got: u128,
        /// What was to be held.
        wanted: String,
        /// The nearest request that fits.
        remedy: String,
    },
    /// A counter's width is out of range.
    #[error(
        "counters are from 2 to 16 bits wide (got {got}); the nearest feasible width is {nearest}"
    )]
    CounterBits {
        /// What was asked for.
        got: u32,
        /// The closest width that would be accepted.
        nearest: u32,
    },
    /// A key has from 1 to 64 positions.
    #[error(
        "a key has from 1 to 64 positions (got {got} hashes); the nearest feasible number is {nearest}"
    )]
    Hashes {
        /// What was asked for.
        got: u32,
        /// The closest number that would be accepted.
        nearest: u32,
    },
    /// A key passes by having some of its bits, up to all of them.
    #[error(
        "a threshold is from 1 to the {hashes} hashes of a key (got {got}); the nearest feasible one is {nearest}"
    )]
    Threshold {
        /// What was asked for.
        got: u32,
        /// The bits that a key has.
        hashes: u32,
        /// The closest threshold that would be accepted.
        nearest: u32,
    },
    /// Memory could not be had, or the caller's cap forbids it.
    #[error(
        "the filter needs {needed} bytes of memory and {available}; plan a smaller filter or allow more"
    )]
    Memory {
        /// The bytes needed.
        needed: u64,
        /// What stood against it.
        available: String,
    },
    /// The plan, or the file, is of another kind of filter.
    #[error(
        "this is a {planned} filter, not a {wanted} filter; take it as what it is, or plan a {wanted} filter"
    )]
    Kind {
        /// The kind that it is.
        planned: &'static str,
        /// The kind that was wanted.
        wanted: &'static str,
    },
    /// This kind of filter cannot do that.
    #[error("a {kind} filter cannot {operation}; {remedy}")]
    Unsupported {
        /// The kind of filter.
        kind: &'static str,
        /// What was to be done.
        operation: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Two filters that are to be merged differ.
    #[error("the filters differ in {field}: {left} and {right}; rebuild one of them to match")]
    Mismatch {
        /// The first field found to differ.
        field: &'static str,
        /// Its value in the filter that was to change.
        left: String,
        /// Its value in the other.
        right: String,
    },
    /// The key is certainly not in the filter, so it cannot be removed. Nothing was changed.
    #[error("the key is certainly absent, so it was not removed; nothing was changed")]
    Absent,
    /// The hash family does not go through a 128-bit digest.
    #[error(
        "{filter} cannot use the {family} hash, which has no 128-bit digest; use the fast or the keyed one"
    )]
    NoDigest {
        /// The family's name.
        family: &'static str,
        /// Who needed a digest.
        filter: &'static str,
    },
    /// The file was made with a keyed hash and no key was given.
    #[error("the filter's hash is keyed and no key was given; give the key it was built with")]
    KeyNeeded,
    /// A key was given for a file whose hash takes none.
    #[error("the filter's hash is {family}, which takes no secret key; open it without one")]
    KeyUnneeded {
        /// The family's name.
        family: &'static str,
    },
    /// The key is not the one that the filter was built with.
    #[error("this is not the key that the filter was built with; give the original one")]
    WrongKey,
    /// A secret must be long enough to be one.
    #[error("a secret key needs at least 16 bytes (got {got}); make one from 32 random bytes")]
    ShortKey {
        /// The bytes given.
        got: usize,
    },
    /// The bytes do not begin as a tamis file does.
    #[error("not a tamis file: it does not begin with the tamis signature; check the path")]
    NotTamis,
    /// Written by a newer release.
    #[error(
        "the file has format version {version}, the newest known here is {newest}; upgrade tamis to read it"
    )]
    TooNew {
        /// The version in the file.
        version: u16,
        /// The newest that this release reads.
        newest: u16,
    },
    /// The length is not what the header promises.
    #[error(
        "the file is {got} bytes long where its header promises {expected}; it was cut or appended to: restore a good copy"
    )]
    Length {
        /// The bytes that the header promises.
        expected: u64,
        /// The bytes present (at least).
        got: u64,
    },
    /// A checksum does not match.
    #[error("the {part} is damaged: its checksum does not match; restore a good copy")]
    Checksum {
        /// `header` or `body`.
        part: &'static str,
    },
    /// A field holds what no writer of this version writes.
    #[error(
        "the file's {field} is {got}, which this version never writes; the file is damaged or not tamis's own"
    )]
    Field {
        /// The field, as FORMAT.md names it.
        field: &'static str,
        /// Its value.
        got: String,
    },
    /// A universe has at least one element.
    #[error("the universe has no elements; give at least 1")]
    EmptyUniverse,
    /// An interval begins at its smaller end.
    #[error("the interval {first}..{last} is empty; write {last}..{first}")]
    EmptyInterval {
        /// Its first element.
        first: u64,
        /// Its last element.
        last: u64,
    },
    /// A dictionary has each key once.
    #[error("the dictionary has {key} twice; remove one of them")]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// The key is no element of the universe, so the filter can say nothing of it.
    #[error("{key} is not among {universe}; ask only for elements of the filter's universe")]
    Outside {
        /// The key.
        key: String,
        /// The universe.
        universe: String,
    },
    /// A set of elements is no larger than their universe.
    #[error("{items} items are more than the universe has elements; plan for {universe} or fewer")]
    MoreThanUniverse {
        /// The items asked for.
        items: u64,
        /// The size of the universe.
        universe: u128,
    },
    /// No code gives such a zone.
    #[cfg(feature = "zone")]
    #[error(
        "no {code} code keeps {items} items of {universe} elements free of false positives; \
         plan for {most} items or fewer, or take another code"
    )]
    Zone {
        /// The kind of code asked for.
        code: CodeKind,
        /// The items.
        items: u64,
        /// The size of the universe.
        universe: u128,
        /// So many items have a code of this kind for certain.
        most: u64,
    },
    /// A zone filter cannot have so many blocks, or so few.
    #[error("the filter can have from {least} to {most} blocks (got {got})")]
    Blocks {
        /// What was asked for.
        got: u64,
        /// The fewest blocks.
        least: u64,
        /// The most blocks.
        most: u64,
    },
    /// So few blocks keep nothing apart.
    #[error(
        "{got} blocks are too few to keep 1 item of {universe} elements free of false positives; \
         take more blocks"
    )]
    TooFewBlocks {
        /// What was asked for.
        got: u64,
        /// The size of the universe.
        universe: u128,
    },
    /// A zone filter cannot grow so far.
    #[error(
        "the filter cannot grow to {items} items: its code has at most {blocks} blocks, which are \
         free of false positives for {most} items; build a filter with another code"
    )]
    Growth {
        /// The items asked for.
        items: u64,
        /// The most blocks of the code.
        blocks: u64,
        /// The items that these blocks keep apart.
        most: u64,
    },
    /// The filter holds as many items as its promise covers. Nothing was changed.
    #[error(
        "the filter is full: it is free of false positives for {zone} items and holds as many; build a larger one, or insert beyond the zone on request"
    )]
    Full {
        /// The items that the zone allows.
        zone: u64,
    },
    /// A zone filter cannot be listed.
    #[cfg(feature = "zone")]
    #[error(transparent)]
    Listing(#[from] ListError),
    /// The filter's universe is a dictionary, which must be given to open it.
    #[error(
        "the filter's universe is a dictionary of {keys} keys; give the dictionary it was built with"
    )]
    DictionaryNeeded {
        /// How many keys it has.
        keys: u64,
    },
    /// The dictionary is another one than the filter was built with.
    #[error("this is not the dictionary that the filter was built with; give the original one")]
    WrongDictionary,
    /// A privacy loss is a number from 0 to a million.
    #[error(
        "epsilon cannot be {got:?}: {why}; give a number from 0 to 1000000 with at most nine decimals, such as 0.5"
    )]
    Epsilon {
        /// What was given.
        got: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The operating system gave no random bytes. Nothing was drawn.
    #[error(
        "the operating system gave no random bytes ({why}); nothing was drawn: try again once its source of randomness is ready"
    )]
    Randomness {
        /// What it answered.
        why: String,
    },
    /// What is published stays as it is.
    #[error(
        "a published filter cannot be {changed}: nobody can tell from it what its set is; change the private set and publish that, which costs again"
    )]
    Published {
        /// What was to be done to it.
        changed: &'static str,
    },
    /// The number of items was counted, and publishing it would tell it.
    #[error(
        "the filter is planned for {items} items, a number found by counting its keys, and the \
         header of a release would tell it; plan for a number that you choose beforehand, or \
         affirm that this number is public"
    )]
    CountedItems {
        /// The items planned for.
        items: u64,
    },
    /// A private filter cannot have such a rate.
    #[error(
        "a published filter's false-positive rate is from {least:?} to 0.5 (got {got:?}); the nearest feasible rate is {nearest:?}"
    )]
    PrivateRate {
        /// What was asked for.
        got: f64,
        /// The lowest rate there is.
        least: f64,
        /// The closest rate that would be accepted.
        nearest: f64,
    },
    /// The budget does not allow the charge. Nothing was charged.
    #[error(
        "a charge of {asked} is more than the {left} that is left of the budget of {budget}, so nothing was charged; charge no more than is left, or publish an earlier release again byte for byte, which costs nothing"
    )]
    Budget {
        /// The whole budget.
        budget: Epsilon,
        /// What is left of it.
        left: Epsilon,
        /// What was asked for.
        asked: Epsilon,
    },
    /// The last line of the ledger is not whole.
    #[error(
        "line {line} of the ledger, the last one, is torn: a charge was interrupted, or the file was cut; restore a good copy, or repair the ledger, which counts the torn charge as spent"
    )]
    Torn {
        /// The line, counted from 1.
        line: u64,
    },
    /// The ledger cannot be made, read or charged.
    #[error("{why}; {remedy}")]
    Ledger {
        /// What stands against it.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The mechanism cannot be audited so.
    #[error("{why}; {remedy}")]
    Audit {
        /// What stands against it.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
