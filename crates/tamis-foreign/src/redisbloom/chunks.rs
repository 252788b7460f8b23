//! The pieces of `BF.SCANDUMP`: a header of all filters, then their bits.

use super::{Container, Link, LinkFields, RedisBloom, Release, check_count};
use crate::array::with_capacity;
use crate::cursor::Cursor;
use crate::{Error, Format};

/// Reads a header and the bits behind it. The length of the header says of which release it is,
/// where it is known. Where it is not, release 2.2.0 is not tried: a file of a later release that
/// is cut short by four bytes has its shape.
pub(super) fn read(
    bytes: &[u8],
    header: Option<u64>,
    container: Container,
) -> Result<RedisBloom, Error> {
    let mut first = None;
    for release in [Release::Current, Release::V2_2_0, Release::V2_0] {
        if release == Release::V2_2_0 && header.is_none() {
            continue;
        }
        match read_as(bytes, header, release, container.clone()) {
            Ok(chain) => return Ok(chain),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or(Error::Unknown))
}

fn read_as(
    bytes: &[u8],
    header: Option<u64>,
    release: Release,
    container: Container,
) -> Result<RedisBloom, Error> {
    let mut cursor = Cursor::new(bytes, Format::RedisBloom);
    let size = cursor.u64_le("the number of keys")?;
    let count = cursor.u32_le("the number of filters")?;
    check_count(&cursor, count.into())?;
    let options = cursor.u32_le("the options")?;
    let has_growth = release != Release::V2_0;
    let growth = if has_growth { cursor.u32_le("the growth")? } else { 2 };
    let fixed = if has_growth { 20 } else { 16 };
    let per_link = if release == Release::Current { 53 } else { 49 };
    if header.is_some_and(|header| header != fixed + per_link * u64::from(count)) {
        return Err(cursor.damaged(format!("its header does not fit {count} filters")));
    }
    let mut fields = Vec::new();
    for _ in 0..count {
        let (bytes, bits) = (cursor.u64_le("the bytes")?, cursor.u64_le("the bits")?);
        fields.push(LinkFields {
            bytes,
            bits,
            size: cursor.u64_le("the keys of a filter")?,
            error: cursor.f64_le("the rate")?,
            bits_per_entry: cursor.f64_le("the bits for each entry")?,
            hashes: cursor.u32_le("the number of hashes")?.into(),
            entries: if release == Release::Current {
                cursor.u64_le("the capacity")?
            } else {
                cursor.u32_le("the capacity")?.into()
            },
            log2_bits: cursor.u8("the power of two")?.into(),
        });
    }
    if cursor.rest().is_empty() && header.is_none() {
        return Err(cursor.damaged(
            "it is the header of SCANDUMP alone; put the other chunks behind it into one file",
        ));
    }
    let mut links = Vec::new();
    for fields in fields {
        let stored = cursor.take(fields.bytes, "the bits of a filter")?;
        links.push(fields.link(&cursor, release, stored)?);
    }
    cursor.end()?;
    RedisBloom { container, release, options, growth, links }.checked(&cursor, size)
}

/// The header.
pub(super) fn header(chain: &RedisBloom) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(chain.size().to_le_bytes());
    out.extend((chain.links.len() as u32).to_le_bytes());
    out.extend(chain.options.to_le_bytes());
    if chain.release != Release::V2_0 {
        out.extend(chain.growth.to_le_bytes());
    }
    for link in &chain.links {
        let Link { array, size, error, bits_per_entry, entries, log2_bits, stored_bits } = link;
        out.extend((array.bytes.len() as u64).to_le_bytes());
        out.extend(stored_bits.to_le_bytes());
        out.extend(size.to_le_bytes());
        out.extend(error.to_le_bytes());
        out.extend(bits_per_entry.to_le_bytes());
        out.extend(array.hashes.to_le_bytes());
        match chain.release {
            Release::Current => out.extend(entries.to_le_bytes()),
            // Capacities of these releases have 32 bits, and were read so.
            _ => out.extend((*entries as u32).to_le_bytes()),
        }
        out.push(*log2_bits);
    }
    out
}

pub(super) fn write(chain: &RedisBloom) -> Result<Vec<u8>, Error> {
    let bodies: usize = chain.links.iter().map(|link| link.array.bytes.len()).sum();
    let header = header(chain);
    let mut out = with_capacity((header.len() + bodies) as u64)?;
    out.extend(header);
    chain.links.iter().for_each(|link| out.extend_from_slice(&link.array.bytes));
    Ok(out)
}
