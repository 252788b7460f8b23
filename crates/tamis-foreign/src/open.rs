//! Bytes become a filter, of the format that is said or of the one whose shape they have.

use crate::parquet::Blocks;
use crate::{
    Error, ForeignFilter, Format, bits_and_blooms, bloomfilter, dcso, fastbloom, guava,
    pybloom_live, rbloom, redisbloom, spark, valkey_bloom,
};

/// How to read a filter.
///
/// ```
/// use tamis_foreign::{Error, Format, Open};
/// // Six bytes that ask for 17 GB of words.
/// let six = [1, 7, 0x7f, 0xff, 0xff, 0xff];
/// assert!(matches!(Open::new().from(Format::Guava).bytes(&six), Err(Error::Damaged { .. })));
/// assert!(matches!(Open::new().bytes(&six), Err(Error::Unknown)));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Open {
    from: Option<Format>,
    max_memory: Option<u64>,
}

impl Open {
    /// By shape, and with a limit on what a compressed file may unpack to: 64 times its size, or
    /// 64 MiB if that is more.
    #[must_use]
    pub fn new() -> Open {
        Open::default()
    }

    /// As a filter of this format. A shape that fits several formats needs it.
    #[must_use]
    pub fn from(self, format: Format) -> Open {
        Open { from: Some(format), ..self }
    }

    /// Takes at most so many bytes of memory for a filter.
    #[must_use]
    pub fn max_memory(self, max: u64) -> Open {
        Open { max_memory: Some(max), ..self }
    }

    /// The filter that these bytes are. They are copied once, after all sizes were checked.
    pub fn bytes(&self, bytes: &[u8]) -> Result<ForeignFilter, Error> {
        let needed = bytes.len() as u64;
        if let Some(allowed) = self.max_memory.filter(|max| needed > *max) {
            return Err(Error::Memory { needed, allowed: Some(allowed) });
        }
        if let Some(format) = self.from {
            return self.read_as(format, bytes);
        }
        let mut found: Option<ForeignFilter> = None;
        let mut candidates = Vec::new();
        for format in Format::ALL {
            match self.read_as(format, bytes) {
                // Almost any bytes are a filter of rbloom: that proves nothing.
                Ok(_) if format == Format::Rbloom => candidates.push(format),
                Ok(filter) => {
                    candidates.push(format);
                    found = found.or(Some(filter));
                }
                Err(error @ Error::Memory { .. }) => return Err(error),
                Err(_) => {}
            }
        }
        let strong = candidates.iter().filter(|format| **format != Format::Rbloom).count();
        match (found, strong) {
            (Some(filter), 1) => Ok(filter),
            _ if candidates.is_empty() => Err(Error::Unknown),
            _ => Err(Error::Ambiguous { candidates }),
        }
    }

    fn read_as(&self, format: Format, bytes: &[u8]) -> Result<ForeignFilter, Error> {
        Ok(ForeignFilter(match format {
            Format::Parquet => Box::new(Blocks::read(bytes)?),
            Format::Guava => Box::new(guava::read(bytes)?),
            Format::Spark => Box::new(spark::read(bytes)?),
            Format::Dcso => Box::new(dcso::read(bytes, self.max_memory)?),
            Format::BitsAndBlooms => Box::new(bits_and_blooms::read(bytes)?),
            Format::RedisBloom => Box::new(redisbloom::read(bytes)?),
            Format::ValkeyBloom => Box::new(valkey_bloom::read(bytes)?),
            Format::Rbloom => Box::new(rbloom::read(bytes)?),
            Format::Fastbloom => Box::new(fastbloom::read(bytes)?),
            Format::Bloomfilter => Box::new(bloomfilter::read(bytes)?),
            Format::PybloomLive => Box::new(pybloom_live::read(bytes)?),
        }))
    }
}
