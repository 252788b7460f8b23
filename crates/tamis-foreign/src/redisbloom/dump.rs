//! The value of `DUMP`: the module's fields, each with a tag, a version and a checksum.

use super::{Container, LinkFields, RedisBloom, Release, check_count, lzf};
use crate::array::with_capacity;
use crate::cursor::Cursor;
use crate::{Error, Format};
use std::borrow::Cow;

/// The type of a value that a module wrote, second version.
const MODULE: u8 = 7;
/// "MBbloom--", version 4.
const MODULE_ID: u64 = 0x3016_e5a2_89be_f804;
/// The bits of the identifier that are its version.
const VERSION_BITS: u64 = 0x3ff;

const UNSIGNED: u64 = 2;
const DOUBLE: u64 = 4;
const STRING: u64 = 5;

/// CRC-64 of Jones, lowest bit first, as Redis has it.
fn crc64(bytes: &[u8]) -> u64 {
    // 0xad93d23594c935a9 with its bits turned around.
    const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;
    const TABLE: [u64; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let mut crc = i as u64;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    };
    bytes.iter().fold(0, |crc, byte| TABLE[(crc as u8 ^ byte) as usize] ^ crc >> 8)
}

/// A number, or the mark of a string that is stored in another way.
enum Length {
    Plain(u64),
    Special(u8),
}

fn length(cursor: &mut Cursor<'_>, what: &str) -> Result<Length, Error> {
    let first = cursor.u8(what)?;
    Ok(match (first >> 6, first) {
        (0, _) => Length::Plain((first & 0x3f).into()),
        (1, _) => Length::Plain(u64::from(first & 0x3f) << 8 | u64::from(cursor.u8(what)?)),
        (2, 0x80) => Length::Plain(u64::from(cursor.i32_be(what)? as u32)),
        (2, 0x81) => Length::Plain(cursor.u64_be(what)?),
        (3, _) => Length::Special(first & 0x3f),
        _ => return Err(cursor.damaged(format!("{what} has the length {first:#x}"))),
    })
}

fn plain(cursor: &mut Cursor<'_>, what: &str) -> Result<u64, Error> {
    match length(cursor, what)? {
        Length::Plain(number) => Ok(number),
        Length::Special(mark) => {
            Err(cursor.damaged(format!("{what} is stored as a string of the kind {mark}")))
        }
    }
}

fn tag(cursor: &mut Cursor<'_>, expected: u64, what: &str) -> Result<(), Error> {
    let tag = plain(cursor, what)?;
    if tag == expected {
        return Ok(());
    }
    Err(cursor.damaged(format!("{what} has the tag {tag}, not {expected}")))
}

fn unsigned(cursor: &mut Cursor<'_>, what: &str) -> Result<u64, Error> {
    tag(cursor, UNSIGNED, what)?;
    plain(cursor, what)
}

fn double(cursor: &mut Cursor<'_>, what: &str) -> Result<f64, Error> {
    tag(cursor, DOUBLE, what)?;
    cursor.f64_le(what)
}

/// A string of `len` bytes: as it is, as a small number in decimal, or compressed.
fn string<'a>(cursor: &mut Cursor<'a>, len: u64, what: &str) -> Result<Cow<'a, [u8]>, Error> {
    tag(cursor, STRING, what)?;
    let number = |number: i32| Cow::Owned(number.to_string().into_bytes());
    let string = match length(cursor, what)? {
        Length::Plain(len) => Cow::Borrowed(cursor.take(len, what)?),
        Length::Special(0) => number((cursor.u8(what)? as i8).into()),
        Length::Special(1) => number((cursor.u16_le(what)? as i16).into()),
        Length::Special(2) => number(cursor.u32_le(what)? as i32),
        Length::Special(3) => {
            let packed = plain(cursor, what)?;
            let unpacked = plain(cursor, what)?;
            let packed = cursor.take(packed, what)?;
            if unpacked != len {
                return Err(cursor.damaged(format!("{what} has {unpacked} bytes, not {len}")));
            }
            let unpacked = lzf::unpack(packed, unpacked)?;
            Cow::Owned(unpacked.ok_or_else(|| {
                cursor.damaged(format!("{what} cannot be unpacked to its {len} bytes"))
            })?)
        }
        Length::Special(mark) => {
            return Err(cursor.damaged(format!("{what} is a string of the kind {mark}")));
        }
    };
    if string.len() as u64 != len {
        return Err(cursor.damaged(format!("{what} has {} bytes, not {len}", string.len())));
    }
    Ok(string)
}

pub(super) fn read(bytes: &[u8]) -> Result<RedisBloom, Error> {
    let mut cursor = Cursor::new(bytes, Format::RedisBloom);
    let Some((covered, checksum)) = bytes.split_last_chunk() else {
        return Err(cursor.damaged("it is too short for a checksum"));
    };
    let (stored, actual) = (u64::from_le_bytes(*checksum), crc64(covered));
    // A server that does not compute checksums stores 0.
    if stored != actual && stored != 0 {
        return Err(
            cursor.damaged(format!("its checksum is {actual:016x}, and it says {stored:016x}"))
        );
    }
    cursor = Cursor::new(covered, Format::RedisBloom);
    cursor.u8("the type")?;
    let id = plain(&mut cursor, "the module")?;
    if id & !VERSION_BITS != MODULE_ID & !VERSION_BITS {
        return Err(cursor.damaged(format!("its module is {id:016x}, not that of RedisBloom")));
    }
    if id != MODULE_ID {
        let (version, known) = (id & VERSION_BITS, MODULE_ID & VERSION_BITS);
        return Err(cursor.damaged(format!(
            "its encoding has the version {version}, and {known} is read; dump it from a newer \
             server"
        )));
    }
    let size = unsigned(&mut cursor, "the number of keys")?;
    let count = unsigned(&mut cursor, "the number of filters")?;
    check_count(&cursor, count)?;
    let options = unsigned(&mut cursor, "the options")?;
    let growth = unsigned(&mut cursor, "the growth")?;
    let (Ok(options), Ok(growth)) = (u32::try_from(options), u32::try_from(growth)) else {
        return Err(cursor.damaged(format!("its options are {options}, its growth {growth}")));
    };
    let mut links = Vec::new();
    for _ in 0..count {
        let entries = unsigned(&mut cursor, "the capacity")?;
        let error = double(&mut cursor, "the rate")?;
        let hashes = unsigned(&mut cursor, "the number of hashes")?;
        let bits_per_entry = double(&mut cursor, "the bits for each entry")?;
        let bits = unsigned(&mut cursor, "the bits")?;
        let log2_bits = unsigned(&mut cursor, "the power of two")?;
        let positions =
            if log2_bits == 0 { bits } else { 1u64.checked_shl(log2_bits as u32).unwrap_or(0) };
        let bytes = positions / 8;
        let stored = string(&mut cursor, bytes, "the bits of a filter")?;
        let size = unsigned(&mut cursor, "the keys of a filter")?;
        let fields =
            LinkFields { bytes, bits, size, error, bits_per_entry, hashes, entries, log2_bits };
        links.push(fields.link(&cursor, Release::Current, &stored)?);
    }
    tag(&mut cursor, 0, "the end")?;
    let rdb_version = cursor.u16_le("the version")?;
    cursor.end()?;
    let container = Container::Dump { rdb_version };
    RedisBloom { container, release: Release::Current, options, growth, links }
        .checked(&cursor, size)
}

fn write_length(out: &mut Vec<u8>, length: u64) {
    match length {
        0..0x40 => out.push(length as u8),
        0x40..0x4000 => out.extend([0x40 | (length >> 8) as u8, length as u8]),
        0x4000..0x1_0000_0000 => {
            out.push(0x80);
            out.extend((length as u32).to_be_bytes());
        }
        _ => {
            out.push(0x81);
            out.extend(length.to_be_bytes());
        }
    }
}

fn write_unsigned(out: &mut Vec<u8>, number: u64) {
    write_length(out, UNSIGNED);
    write_length(out, number);
}

fn write_double(out: &mut Vec<u8>, number: f64) {
    write_length(out, DOUBLE);
    out.extend(number.to_le_bytes());
}

pub(super) fn write(chain: &RedisBloom, rdb_version: u16) -> Result<Vec<u8>, Error> {
    let bodies: usize = chain.links.iter().map(|link| link.array.bytes.len() + 96).sum();
    let mut out = with_capacity(bodies as u64 + 64)?;
    out.push(MODULE);
    write_length(&mut out, MODULE_ID);
    let options = chain.options.into();
    for number in [chain.size(), chain.links.len() as u64, options, chain.growth.into()] {
        write_unsigned(&mut out, number);
    }
    for link in &chain.links {
        write_unsigned(&mut out, link.entries);
        write_double(&mut out, link.error);
        write_unsigned(&mut out, link.array.hashes.into());
        write_double(&mut out, link.bits_per_entry);
        write_unsigned(&mut out, link.stored_bits);
        write_unsigned(&mut out, link.log2_bits.into());
        write_length(&mut out, STRING);
        write_length(&mut out, link.array.bytes.len() as u64);
        out.extend_from_slice(&link.array.bytes);
        write_unsigned(&mut out, link.size);
    }
    write_length(&mut out, 0);
    out.extend(rdb_version.to_le_bytes());
    let checksum = crc64(&out);
    out.extend(checksum.to_le_bytes());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::crc64;

    /// The vector of Redis itself.
    #[test]
    fn checksum_is_that_of_redis() {
        assert_eq!(crc64(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }
}
