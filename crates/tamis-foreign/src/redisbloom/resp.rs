//! The commands of an append-only file that restore a chain.

use super::{Container, RedisBloom, chunks};
use crate::array::with_capacity;
use crate::cursor::Cursor;
use crate::{Error, Format};

/// A server cuts the bits of a filter into pieces of at most so many bytes.
const MAX_CHUNK: usize = 16 << 20;

/// The name of the command.
const LOAD: &[u8] = b"BF.LOADCHUNK";

/// Reads a line that ends with CR and LF: a letter and a number.
fn number(cursor: &mut Cursor<'_>, letter: u8, what: &str) -> Result<u64, Error> {
    let start = cursor.rest();
    // No number that fits has more digits.
    let end = start.iter().take(22).position(|byte| *byte == b'\n');
    let line = end.and_then(|end| start[..end].strip_suffix(b"\r"));
    let digits = line.and_then(|line| line.strip_prefix(&[letter]));
    let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_digit));
    let number = digits
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| cursor.damaged(format!("{what} does not begin as a command does")))?;
    cursor.take(end.map_or(0, |end| end as u64 + 1), what)?;
    Ok(number)
}

fn bulk<'a>(cursor: &mut Cursor<'a>, what: &str) -> Result<&'a [u8], Error> {
    let len = number(cursor, b'$', what)?;
    let bytes = cursor.take(len, what)?;
    match cursor.take(2, what)? {
        b"\r\n" => Ok(bytes),
        _ => Err(cursor.damaged(format!("{what} has no end"))),
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<RedisBloom, Error> {
    let mut cursor = Cursor::new(bytes, Format::RedisBloom);
    let mut key: Option<&[u8]> = None;
    let mut body = Vec::new();
    let mut header = None;
    while !cursor.rest().is_empty() {
        let words = number(&mut cursor, b'*', "a command")?;
        let name = bulk(&mut cursor, "the name of a command")?;
        if name.eq_ignore_ascii_case(b"SELECT") && words == 2 {
            bulk(&mut cursor, "the number of a database")?;
            continue;
        }
        if !name.eq_ignore_ascii_case(LOAD) || words != 4 {
            let name = String::from_utf8_lossy(&name[..name.len().min(40)]).into_owned();
            return Err(cursor.damaged(format!(
                "it has the command {name:?}; keep only BF.LOADCHUNK of one key"
            )));
        }
        let of = bulk(&mut cursor, "a key")?;
        if key.is_some_and(|key| key != of) {
            return Err(cursor.damaged("it has filters of several keys; keep one of them"));
        }
        key = Some(of);
        let iterator = bulk(&mut cursor, "an iterator")?;
        let chunk = bulk(&mut cursor, "a chunk")?;
        // The header has iterator 1, and each later chunk one more than where its bits end.
        let expected = match header {
            None => 1,
            Some(header) => (body.len() + chunk.len()) as u64 - header + 1,
        };
        if iterator != expected.to_string().as_bytes() {
            let iterator =
                String::from_utf8_lossy(&iterator[..iterator.len().min(40)]).into_owned();
            return Err(cursor.damaged(format!(
                "a chunk has the iterator {iterator}, and {expected} follows; the chunks must be \
                 whole and in order"
            )));
        }
        header = header.or(Some(chunk.len() as u64));
        let needed = body.len() as u64 + chunk.len() as u64;
        body.try_reserve(chunk.len()).map_err(|_| Error::Memory { needed, allowed: None })?;
        body.extend_from_slice(chunk);
    }
    let key = key.ok_or_else(|| cursor.damaged("it has no BF.LOADCHUNK command"))?;
    chunks::read(&body, header, Container::Resp { key: key.to_vec() })
}

fn command(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.extend(format!("*{}\r\n", words.len()).bytes());
    for word in words {
        out.extend(format!("${}\r\n", word.len()).bytes());
        out.extend_from_slice(word);
        out.extend(b"\r\n");
    }
}

pub(super) fn write(chain: &RedisBloom, key: &[u8]) -> Result<Vec<u8>, Error> {
    let bodies: usize = chain.links.iter().map(|link| link.array.bytes.len()).sum();
    let chunks: usize =
        chain.links.iter().map(|link| link.array.bytes.len().div_ceil(MAX_CHUNK)).sum();
    let header = chunks::header(chain);
    let each = key.len() + 96;
    let mut out = with_capacity((bodies + header.len() + (chunks + 2) * each) as u64)?;
    command(&mut out, &[b"SELECT", b"0"]);
    command(&mut out, &[LOAD, key, b"1", &header]);
    let mut end = 1;
    for chunk in chain.links.iter().flat_map(|link| link.array.bytes.chunks(MAX_CHUNK)) {
        end += chunk.len() as u64;
        command(&mut out, &[LOAD, key, end.to_string().as_bytes(), chunk]);
    }
    Ok(out)
}
