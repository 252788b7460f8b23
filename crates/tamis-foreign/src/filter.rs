//! A filter of another program, whatever its format.

use crate::array::{Array, Scheme};
use crate::{Error, Format, Part, Plan, Planned};
use std::any::Any;
use std::fmt::Debug;
use tamis::Health;

/// What every format does.
pub(crate) trait Operations: Debug + Send + Sync {
    fn format(&self) -> Format;
    /// Which of the forms of the format it is, in words.
    fn variant(&self) -> String;
    fn parts(&self) -> Vec<Part<'_>>;
    /// What the file says that it was made for, beyond what its parts say.
    fn planned(&self) -> Option<Planned> {
        None
    }
    /// Bytes of the user that the file carries.
    fn data(&self) -> &[u8] {
        &[]
    }
    fn contains(&self, key: &[u8]) -> bool;
    fn contains_many(&self, keys: &[&[u8]], answers: &mut [bool]);
    fn insert(&mut self, key: &[u8]) -> Result<bool, Error>;
    /// Makes it hold what either held; `other` has the same type.
    fn union(&mut self, other: &dyn Any) -> Result<(), Error>;
    fn to_bytes(&self) -> Result<Vec<u8>, Error>;
    fn as_any(&self) -> &dyn Any;
}

/// A set that is sometimes wrong about strangers, never about members, as another program wrote
/// it or will read it.
///
/// | key | `contains` |
/// |---|---|
/// | inserted, by that program or here | always `true` |
/// | not inserted | `true` at about [`expected_fpr`](ForeignFilter::expected_fpr) |
///
/// Keys are the bytes that the program hashes. [`Format::encode`] makes them of text.
///
/// ```
/// use tamis_foreign::{Format, ForeignFilter, Open, Plan};
/// let plan = Plan::new(Format::Guava, 1_000, 0.01)?;
/// let mut seen = ForeignFilter::with_plan(&plan)?;
/// seen.insert(b"ant")?;
/// let file = seen.to_bytes()?;             // what BloomFilter.readFrom of Guava takes
/// let read = Open::new().bytes(&file)?;
/// assert_eq!(read.format(), Format::Guava);
/// assert!(read.contains(b"ant"));
/// # Ok::<(), tamis_foreign::Error>(())
/// ```
#[derive(Debug)]
pub struct ForeignFilter(pub(crate) Box<dyn Operations>);

impl ForeignFilter {
    /// An empty filter with the sizes that the program itself would choose.
    pub fn with_plan(plan: &Plan) -> Result<ForeignFilter, Error> {
        plan.build()
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.0.format()
    }

    /// Which of the forms of the format it is, in words: a version, a strategy, a container.
    #[must_use]
    pub fn variant(&self) -> String {
        self.0.variant()
    }

    /// The arrays of bits: one, or the chain of a scaling filter, the oldest first.
    #[must_use]
    pub fn parts(&self) -> Vec<Part<'_>> {
        self.0.parts()
    }

    /// Bytes of the user that the file carries beside the filter.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        self.0.data()
    }

    /// Whether a key passes.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.0.contains(key)
    }

    /// Whether each of many keys passes: faster than one by one.
    #[must_use]
    pub fn contains_many(&self, keys: &[&[u8]]) -> Vec<bool> {
        let mut answers = vec![false; keys.len()];
        self.0.contains_many(keys, &mut answers);
        answers
    }

    /// Puts a key in, as the program itself would, and says whether it was certainly new. A
    /// filter that does not scale and is full refuses, where the program does.
    pub fn insert(&mut self, key: &[u8]) -> Result<bool, Error> {
        self.0.insert(key)
    }

    /// Makes it hold what either held. The filters must have the same format and sizes.
    pub fn union(&mut self, other: &ForeignFilter) -> Result<(), Error> {
        let (left, right) = (self.format(), other.format());
        if left != right {
            let [left, right] = [left, right].map(|format| format.name().to_owned());
            return Err(Error::Mismatch { field: "format", left, right });
        }
        self.0.union(other.0.as_any())
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.0.to_bytes()
    }

    /// How many bits it has, all parts together.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.parts().iter().fold(0, |sum, part| sum.saturating_add(part.bits))
    }

    /// The share of bits that are set.
    #[must_use]
    pub fn fill(&self) -> f64 {
        let parts = self.parts();
        let reach: f64 = parts.iter().map(|part| part.reach as f64).sum();
        let ones: f64 = parts.iter().map(|part| part.fill() * part.reach as f64).sum();
        ones / reach.max(1.0)
    }

    /// How many items it holds, by the bits that are set. Infinite for one that is full.
    #[must_use]
    pub fn estimated_items(&self) -> f64 {
        self.parts().iter().map(Part::estimated_items).sum()
    }

    /// How many keys the file says that it holds, if it does.
    #[must_use]
    pub fn counted_items(&self) -> Option<u64> {
        self.parts()
            .iter()
            .map(|part| part.counted)
            .try_fold(0u64, |sum, counted| counted.map(|counted| sum.saturating_add(counted)))
    }

    /// The share of strangers that passes now, by the bits that are set.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        1.0 - self.parts().iter().map(|part| 1.0 - part.expected_fpr()).product::<f64>()
    }

    /// What it was made for.
    #[must_use]
    pub fn planned(&self) -> Planned {
        let first = || self.parts().first().map(Part::planned);
        self.0.planned().or_else(first).unwrap_or(Planned { items: 0, fpr: 1.0, stored: false })
    }

    /// Whether it holds no more than it was made for. Estimates and rounded sizes are given 5%.
    #[must_use]
    pub fn health(&self) -> Health {
        let first = || self.parts().first().map_or(0.0, Part::max_planned);
        let planned = self.0.planned().map_or_else(first, |planned| planned.items as f64);
        if self.estimated_items() <= planned * 1.05 + 1.0 { Health::Within } else { Health::Beyond }
    }
}

/// What a format with one array of bits says of itself. The rest is the same for all of them.
pub(crate) trait Layout: Scheme + Debug + Clone + Send + Sync + 'static {
    const FORMAT: Format;

    fn variant(&self) -> String;

    fn to_bytes(&self, array: &Array) -> Result<Vec<u8>, Error>;

    fn planned(&self) -> Option<Planned> {
        None
    }

    fn counted(&self) -> Option<u64> {
        None
    }

    fn data(&self) -> &[u8] {
        &[]
    }

    /// A key was put in that was certainly new.
    fn count(&mut self) {}

    /// Refuses a filter that hashes otherwise; takes over what the other counted.
    fn merge(&mut self, other: &Self) -> Result<(), Error>;
}

/// A filter of one array of bits.
#[derive(Debug, Clone)]
pub(crate) struct OneArray<L> {
    pub(crate) layout: L,
    pub(crate) array: Array,
}

/// How many keys are hashed before they are looked up.
const BATCH: usize = 256;

impl<L: Layout> Operations for OneArray<L> {
    fn format(&self) -> Format {
        L::FORMAT
    }

    fn variant(&self) -> String {
        self.layout.variant()
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let part = self.array.part(self.layout.reach(self.array.bits));
        vec![Part { planned: self.layout.planned(), counted: self.layout.counted(), ..part }]
    }

    fn data(&self) -> &[u8] {
        self.layout.data()
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.array.has(&self.layout, self.layout.hash(key))
    }

    fn contains_many(&self, keys: &[&[u8]], answers: &mut [bool]) {
        each_batch(&self.layout, keys, answers, |hashes, answers| {
            self.array.has_many(&self.layout, hashes, answers);
        });
    }

    fn insert(&mut self, key: &[u8]) -> Result<bool, Error> {
        if self.array.bytes.len() as u64 * 8 < self.layout.reach(self.array.bits) {
            return Err(Error::Unsupported {
                format: L::FORMAT,
                why: format!(
                    "of {} bits that stores only {} of them takes no keys here; build a new one",
                    self.array.bits,
                    self.array.bytes.len() * 8
                ),
            });
        }
        let new = self.array.set(&self.layout, self.layout.hash(key));
        if new {
            self.layout.count();
        }
        Ok(new)
    }

    fn union(&mut self, other: &dyn Any) -> Result<(), Error> {
        let Some(other) = other.downcast_ref::<Self>() else {
            return Err(Error::Unsupported {
                format: L::FORMAT,
                why: "has another form than the other one".to_owned(),
            });
        };
        let mut layout = self.layout.clone();
        layout.merge(&other.layout)?;
        self.array.union(&other.array)?;
        self.layout = layout;
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.layout.to_bytes(&self.array)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Hashes keys, some at a time, and gives them to `look_up` with their answers.
pub(crate) fn each_batch<S: Scheme>(
    scheme: &S,
    keys: &[&[u8]],
    answers: &mut [bool],
    mut look_up: impl FnMut(&[S::Hash], &mut [bool]),
) {
    let mut hashes = Vec::with_capacity(BATCH.min(keys.len()));
    for (keys, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
        hashes.clear();
        hashes.extend(keys.iter().map(|key| scheme.hash(key)));
        look_up(&hashes, answers);
    }
}
