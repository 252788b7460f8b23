//! Why something could not be done: the values involved, then the remedy.

#[cfg(feature = "privacy")]
use crate::privacy::{DeltaFault, EpsilonFault, LedgerError, audit::AuditError};
use crate::rate::MAX_BITS;
#[cfg(feature = "zone")]
use crate::zone::{CodeKind, ListError, Size};
use std::fmt;
use std::time::Duration;

/// Why a filter could not be planned, made, changed, merged or read.
///
/// Each message names the value that was refused and what would be accepted.
///
/// ```
/// let refused = tamis::Bloom::new(1_000, 0.0).unwrap_err();
/// assert!(refused.to_string().contains("nearest"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A filter is planned for at least one item.
    Items {
        /// What was asked for.
        got: u64,
    },
    /// A rate must lie within what a filter can keep.
    Rate {
        /// What was asked for.
        got: f64,
        /// The closest rate that would be accepted.
        nearest: f64,
    },
    /// The bits are too few to keep the promise.
    TooFewBits {
        /// The bits asked for.
        got: u64,
        /// What they were to hold.
        wanted: Wanted,
        /// The fewest bits that would do.
        nearest: u64,
    },
    /// More bits than a filter can address.
    TooManyBits {
        /// The bits it would take, or a number of them that is known to be too few.
        got: u128,
        /// What was to be held.
        wanted: Wanted,
        /// A request that fits.
        nearest: Fitting,
    },
    /// A counter's width is out of range.
    CounterBits {
        /// What was asked for.
        got: u32,
        /// The closest width that would be accepted.
        nearest: u32,
    },
    /// A key has from 1 to 64 positions.
    Hashes {
        /// What was asked for.
        got: u32,
        /// The closest number that would be accepted.
        nearest: u32,
    },
    /// A key passes by having some of its bits, up to all of them.
    Threshold {
        /// What was asked for.
        got: u32,
        /// The bits that a key has.
        hashes: u32,
        /// The closest threshold that would be accepted.
        nearest: u32,
    },
    /// There is not enough memory, or the caller's cap forbids it.
    Memory {
        /// The bytes needed.
        needed: u64,
        /// The bytes that the caller allows. `None` if the system refused.
        allowed: Option<u64>,
    },
    /// The plan, or the file, is of another kind of filter.
    Kind {
        /// The kind that it is.
        planned: &'static str,
        /// The kind that was wanted.
        wanted: &'static str,
    },
    /// This kind of filter cannot do that.
    Unsupported {
        /// The kind of filter.
        kind: &'static str,
        /// What was to be done.
        operation: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Two filters that are to be merged differ.
    Mismatch {
        /// The first field found to differ.
        field: &'static str,
        /// Its value in the filter that was to change.
        left: String,
        /// Its value in the other.
        right: String,
    },
    /// The key is certainly not in the filter, so it cannot be removed. Nothing was changed.
    Absent,
    /// A filter of this kind cannot have so low a rate with so many items.
    RateTooLow {
        /// The kind of filter.
        kind: &'static str,
        /// The items.
        items: u64,
        /// The rate that was asked for.
        got: f64,
        /// The lowest rate that it can have.
        nearest: f64,
    },
    /// A link of a chain is from 1 to 32,768 times as large as the one before it.
    GrowthFactor {
        /// What was asked for.
        got: u32,
        /// The closest factor that would be accepted.
        nearest: u32,
    },
    /// A window of time is from a nanosecond to 584 years long.
    WindowTime {
        /// What was asked for.
        got: Duration,
    },
    /// A chain that forgets has from 2 to 128 generations.
    Generations {
        /// What was asked for.
        got: u32,
        /// The closest number that would be accepted.
        nearest: u32,
    },
    /// All links of a chain are full, and it has no other one. Nothing was changed.
    ChainFull {
        /// The keys that the links are planned for.
        items: u64,
        /// How many links there are.
        links: usize,
    },
    /// A quotient filter has no slot left.
    NoSlot {
        /// The keys that it holds.
        items: u64,
        /// The slots that it has, of which a few stay free.
        slots: u64,
    },
    /// The hash family does not go through a 128-bit digest.
    NoDigest {
        /// The family's name.
        family: &'static str,
        /// Who needed a digest.
        filter: &'static str,
    },
    /// The file was made with a keyed hash and no key was given.
    KeyNeeded,
    /// A key was given for a file whose hash takes none.
    KeyUnneeded {
        /// The family's name.
        family: &'static str,
    },
    /// The filter was built with another key.
    WrongKey,
    /// A secret must be long enough to be one.
    ShortKey {
        /// The bytes given.
        got: usize,
    },
    /// The bytes do not begin as a tamis file does.
    NotTamis,
    /// Written by a newer release.
    TooNew {
        /// The version in the file.
        version: u16,
        /// The newest that this release reads.
        newest: u16,
    },
    /// This build of the library leaves out what the file needs.
    NotBuilt {
        /// What the file holds.
        what: &'static str,
        /// The feature of the crate that reads it.
        feature: &'static str,
    },
    /// The length is not what the header promises.
    Length {
        /// The bytes that the header promises.
        expected: u64,
        /// The bytes present (at least).
        got: u64,
    },
    /// A checksum does not match.
    Checksum {
        /// `header` or `body`.
        part: &'static str,
    },
    /// A part of the file is not zero where every writer of this version leaves zeros.
    NotZero {
        /// The part, as FORMAT.md names it.
        part: &'static str,
    },
    /// The header's number of items held is not what the cells show.
    ItemsHeld,
    /// A field holds what no writer of this version writes.
    Field {
        /// The field, as FORMAT.md names it.
        field: &'static str,
        /// Its value.
        got: String,
    },
    /// A universe has at least one element.
    EmptyUniverse,
    /// An interval begins at its smaller end.
    EmptyInterval {
        /// Its first element.
        first: u128,
        /// Its last element.
        last: u128,
    },
    /// The text names no universe.
    NoUniverse {
        /// The text.
        text: String,
        /// What to write instead.
        remedy: String,
    },
    /// Codes have at least one hexadecimal digit, and not too many.
    HexDigits {
        /// The digits asked for.
        got: u32,
        /// The most digits.
        max: u32,
    },
    /// Prefixes of addresses are not that long.
    Prefixes {
        /// The length asked for.
        got: u32,
        /// The longest.
        max: u32,
    },
    /// A dictionary has each key once.
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// The key is no element of the universe, so the filter can say nothing of it.
    Outside {
        /// The key.
        key: String,
        /// The universe.
        universe: String,
    },
    /// A set of elements is no larger than their universe.
    MoreThanUniverse {
        /// The items asked for.
        items: u64,
        /// The size of the universe.
        universe: u128,
    },
    /// No code of this kind keeps so many items apart.
    #[cfg(feature = "zone")]
    Zone {
        /// The kind of code asked for.
        code: CodeKind,
        /// The items.
        items: u64,
        /// The size of the universe.
        universe: Size,
        /// Up to this many items, there is a code of this kind.
        max: u64,
    },
    /// The number of blocks is out of range.
    Blocks {
        /// What was asked for.
        got: u64,
        /// The fewest blocks.
        min: u64,
        /// The most blocks.
        max: u64,
    },
    /// The blocks are too few to keep any two elements apart.
    #[cfg(feature = "zone")]
    TooFewBlocks {
        /// What was asked for.
        got: u64,
        /// The size of the universe.
        universe: Size,
    },
    /// A zone filter cannot grow that far.
    Growth {
        /// The items asked for.
        items: u64,
        /// The most blocks of the code.
        blocks: u64,
        /// The items that these blocks keep apart.
        max: u64,
    },
    /// The filter holds as many items as its promise covers. Nothing was changed.
    Full {
        /// The items that the zone allows.
        zone: u64,
    },
    /// A zone filter cannot be listed.
    #[cfg(feature = "zone")]
    Listing(ListError),
    /// The filter's universe is a dictionary, which must be given to open it.
    DictionaryNeeded {
        /// How many keys it has.
        keys: u64,
    },
    /// The dictionary is another one than the filter was built with.
    WrongDictionary,
    /// This is no privacy loss, or none to publish at.
    #[cfg(feature = "privacy")]
    Epsilon {
        /// What was given.
        got: String,
        /// What is wrong with it.
        fault: EpsilonFault,
    },
    /// This is no delta.
    #[cfg(feature = "privacy")]
    Delta {
        /// What was given.
        got: String,
        /// What is wrong with it.
        fault: DeltaFault,
    },
    /// The operating system gave no random bytes. Nothing was drawn.
    Randomness {
        /// What it answered.
        why: String,
    },
    /// What is published stays as it is.
    Published {
        /// What was to be done to it.
        changed: &'static str,
    },
    /// The number of items was counted, and publishing it would tell it.
    CountedItems {
        /// The items planned for.
        items: u64,
    },
    /// A private filter cannot have such a rate.
    PrivateRate {
        /// What was asked for.
        got: f64,
        /// The lowest rate there is.
        min: f64,
        /// The closest rate that would be accepted.
        nearest: f64,
    },
    /// The noise of published filters hides what was asked.
    TooNoisy,
    /// The ledger cannot be made, read or charged.
    #[cfg(feature = "privacy")]
    Ledger(LedgerError),
    /// The audit is not possible.
    #[cfg(feature = "privacy")]
    Audit(AuditError),
    /// Parts of a filter cannot be made or joined.
    Part(PartFault),
    /// The operating system refused.
    Io(std::io::Error),
}

/// Why parts of a filter cannot be made or joined, in [`Error::Part`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartFault {
    /// There is no part of this number.
    Number {
        /// What was asked for.
        got: String,
    },
    /// The bytes do not begin as a part does.
    NotPart,
    /// Nothing was given to join.
    Nothing,
    /// Not all parts were given.
    Missing {
        /// The first that is missing, from 1.
        first: u64,
        /// How many are missing.
        count: u64,
        /// How many parts there are.
        of: u64,
    },
    /// A part was given twice.
    Again {
        /// Which one, from 1.
        number: u64,
        /// How many parts there are.
        of: u64,
    },
    /// A part belongs to another filter.
    Foreign {
        /// Which one, from 1.
        number: u64,
        /// In what it differs.
        field: &'static str,
        /// The value of the parts before it.
        left: String,
        /// Its own value.
        right: String,
    },
    /// A part of a static filter was made from other keys than the parts before it.
    OtherKeys {
        /// Which one, from 1.
        number: u64,
        /// The keys that were read for the parts before it.
        left: u64,
        /// The keys that were read for it.
        right: u64,
    },
    /// A digest belongs to another part.
    Outside {
        /// The part that was to be made, from 1.
        number: u64,
    },
    /// The parts hold more distinct keys than were planned for.
    TooManyItems {
        /// The keys in the parts so far.
        items: u64,
        /// The items planned for.
        planned: u64,
    },
}

impl fmt::Display for PartFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartFault::Number { got } => write!(
                out,
                "{got} is no part: parts are numbered from 1/N to N/N, such as 3/16, and N is at \
                 most {MAX_PARTS}"
            ),
            PartFault::NotPart => write!(
                out,
                "not a part of a filter: it does not begin with the signature of parts; join \
                 parts, and merge whole filters by a union"
            ),
            PartFault::Nothing => write!(out, "no part was given; give all parts of a filter"),
            PartFault::Missing { first, count: 1, of } => {
                write!(out, "part {first}/{of} is missing; give all parts")
            }
            PartFault::Missing { first, count, of } => write!(
                out,
                "{count} of {of} parts are missing, the first is {first}/{of}; give all parts"
            ),
            PartFault::Again { number, of } => {
                write!(out, "part {number}/{of} was given twice; give each part once")
            }
            PartFault::Foreign { number, field, left, right } => write!(
                out,
                "part {number} belongs to another filter: its {field} is {right}, not {left}; \
                 build it again with the options of the others"
            ),
            PartFault::OtherKeys { number, left, right } => write!(
                out,
                "part {number} was made from other keys than the parts before it ({right} and \
                 {left} keys were read); give all keys to every part of a static filter: each \
                 part keeps its own"
            ),
            PartFault::Outside { number } => write!(
                out,
                "a digest belongs to another part than {number}; give a part its own digests"
            ),
            PartFault::TooManyItems { items, planned } => write!(
                out,
                "the parts hold {items} distinct keys or more, and {planned} were planned; build \
                 them again for more items"
            ),
        }
    }
}

/// The most parts that a filter can be made in.
pub(crate) const MAX_PARTS: u64 = 1 << 20;

/// What bits were to hold, in [`Error::TooFewBits`] and [`Error::TooManyBits`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Wanted {
    /// Items at a false-positive rate.
    Items {
        /// The items.
        items: u64,
        /// The rate.
        fpr: f64,
    },
    /// Items at any rate up to the highest that a plan allows.
    ItemsAtMost {
        /// The items.
        items: u64,
        /// That rate.
        fpr: f64,
    },
    /// Items in the slots of a quotient filter, with the narrowest remainders.
    Slots {
        /// The items.
        items: u64,
    },
    /// Counters of a counting filter.
    Counters {
        /// How many.
        counters: u64,
        /// How wide.
        counter_bits: u32,
    },
    /// Items in a published filter.
    #[cfg(feature = "privacy")]
    Private {
        /// The items.
        items: u64,
        /// The privacy loss.
        epsilon: crate::privacy::Epsilon,
    },
    /// A number of bits, asked for as such.
    Bits,
}

impl fmt::Display for Wanted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Items { items: 1, fpr } => write!(out, "1 item at a rate of {fpr:?}"),
            Wanted::Items { items, fpr } => write!(out, "{items} items at a rate of {fpr:?}"),
            Wanted::ItemsAtMost { items, fpr } => {
                write!(out, "{items} items at a rate of at most {fpr}")
            }
            Wanted::Slots { items } => {
                write!(out, "{items} items in slots with remainders of one bit")
            }
            Wanted::Counters { counters, counter_bits } => {
                write!(out, "{counters} counters of {counter_bits} bits")
            }
            #[cfg(feature = "privacy")]
            Wanted::Private { items, epsilon } => {
                write!(out, "{items} items at an epsilon of {epsilon}")
            }
            Wanted::Bits => out.write_str("the size asked for"),
        }
    }
}

/// A request that fits, in [`Error::TooManyBits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fitting {
    /// The same with this many items. It is the most that fit, or a little below.
    Items(u64),
    /// This many bits.
    Bits(u64),
    /// No number of items fits at this rate: a higher rate does.
    HigherRate,
    /// The same with narrower counters.
    NarrowerCounters,
    /// The same with fewer items.
    FewerItems,
}

impl fmt::Display for Fitting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fitting::Items(most) => {
                write!(out, "the nearest feasible number of items is {most}")
            }
            Fitting::Bits(most) => write!(out, "the nearest feasible size is {most} bits"),
            Fitting::HigherRate => out.write_str("ask for a higher rate"),
            Fitting::NarrowerCounters => out.write_str("take narrower counters"),
            Fitting::FewerItems => out.write_str("plan fewer items"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Items { got } => write!(
                out,
                "a filter needs room for at least 1 item (got {got}); the nearest feasible number \
                 is 1"
            ),
            Error::Rate { got, nearest } => write!(
                out,
                "the false-positive rate must be a number from 1e-15 to 0.999 (got {got:?}); the \
                 nearest feasible rate is {nearest:?}"
            ),
            Error::TooFewBits { got, wanted, nearest } => write!(
                out,
                "{got} bits are too few for {wanted}; the nearest feasible size is {nearest} bits"
            ),
            Error::TooManyBits { got, wanted, nearest } => write!(
                out,
                "{wanted} would take at least {got} bits, more than the {MAX_BITS} that a filter \
                 can address; {nearest}"
            ),
            Error::CounterBits { got, nearest } => write!(
                out,
                "counters are from 2 to 16 bits wide (got {got}); the nearest feasible width is \
                 {nearest}"
            ),
            Error::Hashes { got, nearest } => write!(
                out,
                "a key has from 1 to 64 positions (got {got} hashes); the nearest feasible number \
                 is {nearest}"
            ),
            Error::Threshold { got, hashes, nearest } => write!(
                out,
                "a threshold is from 1 to the {hashes} hashes of a key (got {got}); the nearest \
                 feasible one is {nearest}"
            ),
            Error::Memory { needed, allowed: Some(allowed) } => write!(
                out,
                "the filter needs {needed} bytes of memory and is allowed {allowed}; plan a \
                 smaller filter or allow more"
            ),
            Error::Memory { needed, allowed: None } => write!(
                out,
                "the filter needs {needed} bytes of memory and the system has not got them; plan \
                 a smaller filter, or free some memory"
            ),
            Error::Kind { planned, wanted } => write!(
                out,
                "this is a {planned} filter, not a {wanted} filter; take it as what it is, or \
                 plan a {wanted} filter"
            ),
            Error::Unsupported { kind, operation, remedy } => {
                write!(out, "a {kind} filter cannot {operation}; {remedy}")
            }
            Error::Mismatch { field, left, right } => write!(
                out,
                "the filters differ in {field}: {left} and {right}; rebuild one of them to match"
            ),
            Error::Absent => write!(
                out,
                "the key is certainly absent, so it was not removed; nothing was changed"
            ),
            Error::RateTooLow { kind, items, got, nearest } => write!(
                out,
                "a {kind} filter of {items} items cannot have a rate of {got:?}; the nearest \
                 feasible rate is {nearest:?}"
            ),
            Error::GrowthFactor { got, nearest } => write!(
                out,
                "a link is from 1 to 32768 times as large as the one before it (got {got}); the \
                 nearest feasible growth is {nearest}"
            ),
            Error::WindowTime { got } => write!(
                out,
                "a window of time is from a nanosecond to 584 years long (got {got:?}); give a \
                 time such as 24 hours"
            ),
            Error::Generations { got, nearest } => write!(
                out,
                "a chain that forgets has from 2 to 128 generations (got {got}); the nearest \
                 feasible number is {nearest}"
            ),
            Error::ChainFull { items, links } => write!(
                out,
                "the chain is full: it is planned for {items} keys in {links} links and has no \
                 other one; build one for more items, or one whose links grow"
            ),
            Error::NoSlot { items, slots } => write!(
                out,
                "the filter is full: it holds {items} keys in {slots} slots; grow it, or build one \
                 for more items"
            ),
            Error::NoDigest { family, filter } => write!(
                out,
                "{filter} cannot use the {family} hash, which has no 128-bit digest; use the fast \
                 or the keyed one"
            ),
            Error::KeyNeeded => write!(
                out,
                "the filter's hash is keyed and no key was given; give the key it was built with"
            ),
            Error::KeyUnneeded { family } => write!(
                out,
                "the filter's hash is {family}, which takes no secret key; open it without one"
            ),
            Error::WrongKey => write!(
                out,
                "this is not the key that the filter was built with; give the original one"
            ),
            Error::ShortKey { got } => write!(
                out,
                "a secret key needs at least 16 bytes (got {got}); make one from 32 random bytes"
            ),
            Error::NotTamis => write!(
                out,
                "not a tamis file: it does not begin with the tamis signature; check the path"
            ),
            Error::TooNew { version, newest } => write!(
                out,
                "the file has format version {version}, the newest known here is {newest}; \
                 upgrade tamis to read it"
            ),
            Error::NotBuilt { what, feature } => write!(
                out,
                "the file holds {what}, which this build of tamis leaves out; build tamis with \
                 the feature `{feature}`"
            ),
            Error::Length { expected, got } => write!(
                out,
                "the file is {got} bytes long where its header promises {expected}; it was cut or \
                 appended to: restore a good copy"
            ),
            Error::Checksum { part } => write!(
                out,
                "the {part} is damaged: its checksum does not match; restore a good copy"
            ),
            Error::NotZero { part } => write!(
                out,
                "the file's {part} is not zero; the file is damaged or not tamis's own: restore a \
                 good copy"
            ),
            Error::ItemsHeld => write!(
                out,
                "the file's number of items held is not what its cells show; the file is damaged \
                 or not tamis's own: restore a good copy"
            ),
            Error::Field { field, got } => write!(
                out,
                "the file's {field} is {got}, which this version never writes; the file is \
                 damaged or not tamis's own: restore a good copy"
            ),
            Error::EmptyUniverse => write!(out, "the universe has no elements; give at least 1"),
            Error::EmptyInterval { first, last } => {
                write!(out, "the interval {first}..{last} is empty; write {last}..{first}")
            }
            Error::NoUniverse { text, remedy } => {
                write!(out, "{text:?} is no universe; {remedy}")
            }
            Error::HexDigits { got, max } => {
                write!(out, "a code has from 1 to {max} hexadecimal digits (got {got})")
            }
            Error::Prefixes { got, max } => write!(
                out,
                "a universe has prefixes of at most {max} bits (got {got}); with longer ones it \
                 would have more elements than can be numbered"
            ),
            Error::RepeatedKey { key } => {
                write!(out, "the dictionary has {key} twice; remove one of them")
            }
            Error::Outside { key, universe } => write!(
                out,
                "{key} is not among {universe}; ask only for elements of the filter's universe"
            ),
            Error::MoreThanUniverse { items, universe } => write!(
                out,
                "{items} items are more than the universe has elements; plan for {universe} or \
                 fewer"
            ),
            #[cfg(feature = "zone")]
            Error::Zone { code, items, universe, max } => write!(
                out,
                "no {code} code keeps {items} items of {universe} elements free of false \
                 positives; plan for {max} items or fewer, or take another code"
            ),
            Error::Blocks { got, min, max } => {
                write!(out, "the filter can have from {min} to {max} blocks (got {got})")
            }
            #[cfg(feature = "zone")]
            Error::TooFewBlocks { got, universe } => write!(
                out,
                "{got} blocks are too few to keep 1 item of {universe} elements free of false \
                 positives; take more blocks"
            ),
            Error::Growth { items, blocks, max } => write!(
                out,
                "the filter cannot grow to {items} items: its code has at most {blocks} blocks, \
                 which are free of false positives for {max} items; build a filter with another \
                 code"
            ),
            Error::Full { zone } => write!(
                out,
                "the filter is full: it is free of false positives for {zone} items and holds as \
                 many; build a larger one, or insert beyond the zone on request"
            ),
            #[cfg(feature = "zone")]
            Error::Listing(error) => error.fmt(out),
            Error::DictionaryNeeded { keys } => write!(
                out,
                "the filter's universe is a dictionary of {keys} keys; give the dictionary it was \
                 built with"
            ),
            Error::WrongDictionary => write!(
                out,
                "this is not the dictionary that the filter was built with; give the original one"
            ),
            #[cfg(feature = "privacy")]
            Error::Delta { got, fault } => write!(
                out,
                "{got:?} is no delta: {fault}; give a chance such as 1e-6, with at most 18 decimals"
            ),
            #[cfg(feature = "privacy")]
            Error::Epsilon { got, fault } => write!(
                out,
                "epsilon cannot be {got:?}: {fault}; give a number above 0 and up to 1000000 with \
                 at most nine decimals, such as 0.5"
            ),
            Error::Randomness { why } => write!(
                out,
                "the operating system gave no random bytes ({why}); nothing was drawn: try again \
                 once its source of randomness is ready"
            ),
            Error::Published { changed } => write!(
                out,
                "a published filter cannot be {changed}: nobody can tell from it what its set is; \
                 change the private set and publish that, which costs again"
            ),
            Error::CountedItems { items } => write!(
                out,
                "the filter is planned for {items} items, a number found by counting its keys, \
                 and the header of a release would tell it; plan for a number that you choose \
                 beforehand, or affirm that this number is public"
            ),
            Error::PrivateRate { got, min, nearest } => write!(
                out,
                "a published filter's false-positive rate is from {min:?} to 0.5 (got {got:?}); \
                 the nearest feasible rate is {nearest:?}"
            ),
            Error::TooNoisy => write!(
                out,
                "the noise of these releases hides how much they share; ask both for candidate \
                 keys, or take releases with more bits or a larger epsilon"
            ),
            #[cfg(feature = "privacy")]
            Error::Ledger(error) => error.fmt(out),
            #[cfg(feature = "privacy")]
            Error::Audit(error) => error.fmt(out),
            Error::Part(fault) => fault.fmt(out),
            Error::Io(error) => error.fmt(out),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => error.source(),
            _ => None,
        }
    }
}

#[cfg(feature = "privacy")]
impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Error {
        Error::Ledger(error)
    }
}

#[cfg(feature = "privacy")]
impl From<AuditError> for Error {
    fn from(error: AuditError) -> Error {
        Error::Audit(error)
    }
}

#[cfg(feature = "zone")]
impl From<ListError> for Error {
    fn from(error: ListError) -> Error {
        Error::Listing(error)
    }
}

impl From<PartFault> for Error {
    fn from(fault: PartFault) -> Error {
        Error::Part(fault)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}
