//! The sizes that each program itself chooses for so many items at a rate.

use crate::array::Array;
use crate::bits_and_blooms::BitsAndBlooms;
use crate::bloomfilter::Bloomfilter;
use crate::dcso::Dcso;
use crate::fastbloom::Fastbloom;
use crate::filter::{Layout, OneArray};
use crate::guava::Guava;
use crate::parquet::Blocks;
use crate::part::fpr_with;
use crate::pybloom_live::PybloomLive;
use crate::rbloom::Rbloom;
use crate::redisbloom::{self, Container, RedisBloom};
use crate::spark::Spark;
use crate::valkey_bloom::{self, FIXED_SEED, ValkeyBloom};
use crate::{Error, ForeignFilter, Format, MAX_BITS, MAX_HASHES};
use std::fmt;
use std::str::FromStr;

const LN_2: f64 = std::f64::consts::LN_2;

/// Spark reads version 1 in every release and version 2 since 4.1. Version 1 is good up to about
/// so many bits: its hashes reach 2^31.
const MAX_SPARK_1: u64 = 1 << 28;

/// The parameters of a filter that another program will read, before memory is taken.
///
/// ```
/// use tamis_foreign::{Format, Plan};
/// let plan = Plan::new(Format::Parquet, 1_000, 0.01)?;
/// assert_eq!(plan.bits(), 16_384);         // Parquet writers round up to a power of two
/// assert!(plan.expected_fpr(1_000) < 0.002);
/// # Ok::<(), tamis_foreign::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    format: Format,
    form: Form,
    items: u64,
    fpr: f64,
    bits: u64,
    hashes: u32,
}

/// A form of a format that has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The usual one.
    Usual,
    /// Guava's strategy `MURMUR128_MITZ_32`.
    Mitz32,
    /// Spark's version 1.
    V1,
    /// Spark's version 2, with this seed.
    V2 {
        /// The seed.
        seed: i32,
    },
    /// DCSO, gzipped.
    Gzip,
    /// RedisBloom: the pieces of `BF.SCANDUMP`.
    Chunks,
    /// RedisBloom: the commands of an append-only file, for the key `tamis`.
    Resp,
    /// RedisBloom and valkey-bloom: a filter that grows when it is full.
    Scaling,
}

/// The format and the form of a file to write, as `NAME` or `NAME:FORM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The format.
    pub format: Format,
    /// The form.
    pub form: Form,
}

impl Target {
    /// The forms of a format beside its usual one, by name.
    fn forms(format: Format) -> &'static [(&'static str, Form)] {
        match format {
            Format::Guava => &[("mitz32", Form::Mitz32)],
            Format::Spark => &[("1", Form::V1), ("2", Form::V2 { seed: 0 })],
            Format::Dcso => &[("gzip", Form::Gzip)],
            Format::RedisBloom => {
                &[("chunks", Form::Chunks), ("resp", Form::Resp), ("scaling", Form::Scaling)]
            }
            Format::ValkeyBloom => &[("scaling", Form::Scaling)],
            _ => &[],
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let (name, form) = text.split_once(':').map_or((text, None), |(a, b)| (a, Some(b)));
        let format = name.parse()?;
        let Some(form) = form else { return Ok(Target { format, form: Form::Usual }) };
        let forms = Target::forms(format);
        let found = forms.iter().find(|(name, _)| *name == form);
        found.map(|(_, form)| Target { format, form: *form }).ok_or_else(|| {
            let names: Vec<String> =
                forms.iter().map(|(name, _)| format!("{format}:{name}")).collect();
            match names.is_empty() {
                true => format!("{format} has one form only: write {format}"),
                false => format!("{format} has no form {form:?}; there are: {}", names.join(", ")),
            }
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forms = Target::forms(self.format);
        match forms.iter().find(|(_, form)| *form == self.form) {
            Some((name, _)) => write!(out, "{}:{name}", self.format),
            None => write!(out, "{}", self.format),
        }
    }
}

/// The bits of the textbook for so many items at a rate, not rounded.
pub(crate) fn classic_bits(items: u64, fpr: f64) -> f64 {
    -(items as f64) * fpr.ln() / (LN_2 * LN_2)
}

/// Whether a rate can be had.
pub(crate) fn positive(fpr: f64) -> bool {
    fpr > 0.0 && fpr < 1.0
}

impl Plan {
    /// The sizes that the program itself would choose, in the usual form of its format.
    pub fn new(format: Format, items: u64, fpr: f64) -> Result<Plan, Error> {
        Plan::with_form(Target { format, form: Form::Usual }, items, fpr)
    }

    /// The same, in another form.
    pub fn with_form(target: Target, items: u64, fpr: f64) -> Result<Plan, Error> {
        let Target { format, mut form } = target;
        if items == 0 {
            let why = "0 items; plan for at least 1".to_owned();
            return Err(Error::Plan { format, why });
        }
        if !positive(fpr) {
            let why = format!("the rate {fpr} is not between 0 and 1; 0.01 is usual");
            return Err(Error::Plan { format, why });
        }
        let raw = classic_bits(items, fpr);
        let for_bits = |bits: f64| LN_2 * bits / items as f64;
        let words = |bits: f64| ((bits as u64).max(1)).checked_next_multiple_of(64).unwrap_or(0);
        let (bits, hashes) = match format {
            Format::Guava | Format::Spark => {
                (words(raw), for_bits(raw.trunc()).round().max(1.0) as u32)
            }
            Format::Dcso => {
                let bits = raw.floor().max(1.0);
                (bits as u64, for_bits(bits).ceil().max(1.0) as u32)
            }
            Format::BitsAndBlooms => {
                let bits = raw.ceil();
                (bits as u64, for_bits(bits).ceil() as u32)
            }
            Format::Rbloom => {
                let bits = 8.0 * (raw / 8.0).ceil();
                (bits as u64, for_bits(raw).trunc().max(1.0) as u32)
            }
            Format::Fastbloom => {
                let bits = words((8.0 * (raw / 8.0).ceil()).max(64.0));
                (bits, for_bits(bits as f64).round().max(1.0) as u32)
            }
            Format::Bloomfilter | Format::ValkeyBloom => {
                let (bytes, hashes) = valkey_bloom::sizes(items, fpr);
                (bytes.saturating_mul(8), hashes)
            }
            Format::RedisBloom => redisbloom::sizes(items, fpr, form == Form::Scaling),
            Format::PybloomLive => {
                let (slice, hashes) = PybloomLive::sizes(items, fpr);
                (slice.saturating_mul(hashes.into()), hashes)
            }
            Format::Parquet => (Blocks::bits_for(items, fpr), 8),
        };
        if form == Form::Usual && format == Format::Spark {
            form = if bits <= MAX_SPARK_1 { Form::V1 } else { Form::V2 { seed: 0 } };
        }
        let plan = Plan { format, form, items, fpr, bits, hashes };
        plan.check()?;
        Ok(plan)
    }

    /// Refuses what the format cannot store, and what its program would not have.
    fn check(&self) -> Result<(), Error> {
        let Plan { format, items, fpr, bits, hashes, .. } = *self;
        let refuse = |why: String| Err(Error::Plan { format, why });
        let max_bits = match format {
            // Numbers of words have 31 bits.
            Format::Guava | Format::Spark => MAX_BITS.min(64 * i32::MAX as u64),
            _ => MAX_BITS,
        };
        if bits == 0 || bits > max_bits {
            return refuse(format!(
                "{items} items at a rate of {fpr} take more than its {max_bits} bits; plan for \
                 fewer items or a larger rate"
            ));
        }
        if format == Format::ValkeyBloom && items > i64::MAX as u64 {
            return refuse(format!("{items} items; its numbers have 63 bits"));
        }
        let max_hashes = if format == Format::Guava { 255 } else { MAX_HASHES };
        if !(1..=max_hashes).contains(&hashes) {
            return refuse(format!(
                "a rate of {fpr} takes {hashes} hashes, and it has at most {max_hashes}; plan for \
                 a larger rate"
            ));
        }
        Ok(())
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The form, which may be one that the format itself chose.
    #[must_use]
    pub fn target(&self) -> Target {
        Target { format: self.format, form: self.form }
    }

    /// How many items it is for.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The rate that was asked for.
    #[must_use]
    pub fn fpr(&self) -> f64 {
        self.fpr
    }

    /// How many bits the filter has.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// How many bits a key has.
    #[must_use]
    pub fn hashes(&self) -> u32 {
        self.hashes
    }

    /// How many bytes of memory the bits take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bits.div_ceil(64) * 8
    }

    /// The rate to expect of this filter with so many items: what the program's promise is worth.
    #[must_use]
    pub fn expected_fpr(&self, items: u64) -> f64 {
        let reach = match (self.format, self.form) {
            (Format::Guava, Form::Mitz32) | (Format::Spark, Form::V1) => self.bits.min(1 << 31),
            _ => self.bits,
        };
        fpr_with(items, self.bits, reach, self.hashes, self.format == Format::Parquet)
    }

    /// An empty filter.
    pub(crate) fn build(&self) -> Result<ForeignFilter, Error> {
        let Plan { format, form, items, fpr, bits, hashes } = *self;
        fn one<L: Layout>(layout: L, array: Array) -> ForeignFilter {
            ForeignFilter(Box::new(OneArray { layout, array }))
        }
        let words = || Array::zeroed(bits, 8, hashes);
        let bytes = || Array::zeroed(bits, 1, hashes);
        let growth = (form == Form::Scaling).then_some(2);
        Ok(match format {
            Format::Guava if form == Form::Mitz32 => one(Guava::Mitz32, words()?),
            Format::Guava => one(Guava::Mitz64, words()?),
            Format::Spark => match form {
                Form::V2 { seed } => one(Spark::V2 { seed }, words()?),
                _ => one(Spark::V1, words()?),
            },
            Format::Dcso => one(Dcso::new(items, fpr, form == Form::Gzip), words()?),
            Format::BitsAndBlooms => one(BitsAndBlooms::new(bits), words()?),
            Format::Rbloom => one(Rbloom, bytes()?),
            Format::Fastbloom => one(Fastbloom::new(0), words()?),
            Format::Bloomfilter => one(Bloomfilter { seed: FIXED_SEED }, bytes()?),
            Format::ValkeyBloom => {
                ForeignFilter(Box::new(ValkeyBloom::new(items, fpr, growth.unwrap_or(0), None)?))
            }
            Format::RedisBloom => {
                let container = match form {
                    Form::Chunks => Container::Chunks,
                    Form::Resp => Container::Resp { key: b"tamis".to_vec() },
                    // The version of Redis 7.0; later servers read it, too.
                    _ => Container::Dump { rdb_version: 10 },
                };
                ForeignFilter(Box::new(RedisBloom::new(container, items, fpr, growth)?))
            }
            Format::PybloomLive => ForeignFilter(Box::new(PybloomLive::new(items, fpr)?)),
            Format::Parquet => ForeignFilter(Box::new(Blocks::zeroed(bits)?)),
        })
    }
}
