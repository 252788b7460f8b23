//! What a file is, by its first bytes: plain text, compressed, UTF-16, or something else that is
//! no list of keys or records.

use anyhow::bail;
use std::io::{self, Read};

/// What the first bytes of an input say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Compressed(Compression),
    /// A file of columns, by its name with an article.
    Columns(&'static str),
    Utf8Mark,
    Utf16Le,
    Utf16Be,
    /// Something that has no lines.
    Other(Other),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

/// Something that has no lines: what it is, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Other {
    what: &'static str,
    remedy: &'static str,
}

const FILTER: Other = Other {
    what: "a filter, not a file of keys",
    remedy: "to merge filters: tamis union A B -o C",
};
const LEDGER: Other = Other { what: "a ledger", remedy: "to read it: tamis ledger show FILE" };
const ZIP: Other = Other { what: "a zip archive", remedy: "unpack it: unzip -p FILE | tamis ..." };
const TAR: Other = Other { what: "a tar archive", remedy: "unpack it: tar -xOf FILE | tamis ..." };
const SEVEN_ZIP: Other = Other { what: "a 7z archive", remedy: "unpack it first" };
const LZ4: Other = Other { what: "an lz4 file", remedy: "decompress it: lz4 -dc FILE | tamis ..." };
const UTF_16: Other = Other {
    what: "UTF-16 without a byte-order mark, it seems",
    remedy: "convert it: iconv -f UTF-16LE (or UTF-16BE) -t UTF-8; if records end with NUL bytes, \
             say -0",
};

/// How each kind begins. `?` stands for any byte.
const SIGNATURES: [(Kind, &[u8]); 16] = [
    (Kind::Compressed(Compression::Gzip), b"\x1f\x8b\x08"),
    (Kind::Compressed(Compression::Zstd), b"\x28\xb5\x2f\xfd"),
    (Kind::Compressed(Compression::Xz), b"\xfd7zXZ\0"),
    (Kind::Compressed(Compression::Bzip2), b"BZh?1AY&SY"),
    (Kind::Other(FILTER), &tamis::format::MAGIC),
    (Kind::Other(LEDGER), crate::output::LEDGER),
    (Kind::Other(ZIP), b"PK\x03\x04"),
    (Kind::Other(ZIP), b"PK\x05\x06"),
    (Kind::Other(SEVEN_ZIP), b"7z\xbc\xaf\x27\x1c"),
    (Kind::Other(LZ4), b"\x04\x22\x4d\x18"),
    (Kind::Columns("a Parquet file"), b"PAR1"),
    (Kind::Columns("an Arrow file"), b"ARROW1"),
    // The length of the schema: positive, a multiple of 8, and below 2^24.
    (Kind::Columns("an Arrow stream"), b"\xff\xff\xff\xff???\0"),
    (Kind::Utf8Mark, b"\xef\xbb\xbf"),
    (Kind::Utf16Le, b"\xff\xfe"),
    (Kind::Utf16Be, b"\xfe\xff"),
];

/// How much of an input is looked at: a tar archive is known by its 257th byte.
const START: usize = 512;

/// What an input is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Keys,
    /// Records that are printed again.
    Records,
}

/// An input that yields the text of the keys.
pub(crate) type Decoded<'a> = Box<dyn Read + Send + 'a>;

/// Decompresses, and with `text` decodes UTF-16 and drops a byte-order mark.
pub(super) fn decoded<'a>(
    input: impl Read + Send + 'a,
    text: bool,
    purpose: Purpose,
) -> anyhow::Result<Decoded<'a>> {
    decoded_at(Box::new(input), text, purpose, 0)
}

/// How often a file may be compressed again. There are files that decompress to themselves.
const MAX_LAYERS: u32 = 4;

fn decoded_at<'a>(
    mut input: Decoded<'a>,
    text: bool,
    purpose: Purpose,
    layers: u32,
) -> anyhow::Result<Decoded<'a>> {
    let (kind, start) = recognised(&mut input, text)?;
    let skipped = if kind == Kind::Utf8Mark && text { 3 } else { 0 };
    let mut whole = io::Cursor::new(start).chain(input);
    whole.get_mut().0.set_position(skipped);
    match kind {
        Kind::Other(Other { what, remedy }) => {
            bail!("it is {what}; {remedy} (--raw takes its bytes as lines)")
        }
        Kind::Columns(what) if purpose == Purpose::Keys => bail!(
            "it is {what}; name its column of keys: --column NAME (--raw takes its bytes as lines)"
        ),
        Kind::Columns(what) => {
            bail!(
                "it is {what}; write its rows as JSON lines first (--raw takes its bytes as lines)"
            )
        }
        Kind::Utf16Le if text => Ok(utf16(whole, encoding_rs::UTF_16LE)),
        Kind::Utf16Be if text => Ok(utf16(whole, encoding_rs::UTF_16BE)),
        Kind::Compressed(compression) => {
            if layers == MAX_LAYERS {
                bail!("it is compressed more than {MAX_LAYERS} times over; decompress it first");
            }
            // What was compressed may be UTF-16, or compressed again.
            decoded_at(decompressed(compression, whole)?, text, purpose, layers + 1)
        }
        _ => Ok(Box::new(whole)),
    }
}

fn utf16<'a>(
    input: impl Read + Send + 'a,
    encoding: &'static encoding_rs::Encoding,
) -> Decoded<'a> {
    let mut builder = encoding_rs_io::DecodeReaderBytesBuilder::new();
    Box::new(builder.encoding(Some(encoding)).build(input))
}

#[cfg(feature = "compression")]
fn decompressed<'a>(
    compression: Compression,
    input: impl Read + Send + 'a,
) -> anyhow::Result<Decoded<'a>> {
    Ok(match compression {
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(input)),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(input)?),
        Compression::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(input)),
        Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(input)),
    })
}

#[cfg(not(feature = "compression"))]
fn decompressed<'a>(compression: Compression, _: impl Read) -> anyhow::Result<Decoded<'a>> {
    bail!(
        "it is compressed ({compression:?}), which this build of tamis does not read; decompress \
         it first (--raw takes its bytes as lines)"
    )
}

/// Reads as little as tells the kind: a pipe may hold no more yet.
fn recognised(input: &mut impl Read, text: bool) -> io::Result<(Kind, Vec<u8>)> {
    let mut start = Vec::new();
    loop {
        let fits = |signature: &[u8]| {
            start.iter().zip(signature).all(|(got, known)| got == known || *known == b'?')
        };
        let possible = SIGNATURES.iter().find(|(_, signature)| fits(signature));
        match possible {
            None => return Ok((by_content(&start, text), start)),
            Some((kind, signature)) if start.len() >= signature.len() => return Ok((*kind, start)),
            Some(_) => {}
        }
        let before = start.len();
        start.resize(START, 0);
        let got = match input.read(&mut start[before..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                start.truncate(before);
                continue;
            }
            got => got?,
        };
        start.truncate(before + got);
        if got == 0 {
            return Ok((by_content(&start, text), start));
        }
    }
}

/// The kind of an input that begins with no signature, by what has come of it.
fn by_content(start: &[u8], text: bool) -> Kind {
    if start.get(257..262) == Some(b"ustar") {
        return Kind::Other(TAR);
    }
    // Nearly every other byte of Latin text in UTF-16 is zero, always on the same side.
    let pairs = start.as_chunks::<2>().0;
    let zeros = |side: usize| pairs.iter().filter(|pair| pair[side] == 0).count();
    let is_wide = |zero: usize, other: usize| other == 0 && zero * 4 >= pairs.len() * 3;
    let (first, second) = (zeros(0), zeros(1));
    if text && pairs.len() >= 2 && (is_wide(first, second) || is_wide(second, first)) {
        return Kind::Other(UTF_16);
    }
    Kind::Plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], text: bool) -> anyhow::Result<Vec<u8>> {
        let mut out = Vec::new();
        decoded(bytes, text, Purpose::Keys)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn marks_and_encodings() {
        for same in [&b""[..], b"ant\n", b"BZhello", b"PK", b"PAR", b"a\0", b"\xff\xff\xff\xff9"] {
            assert_eq!(read(same, true).unwrap(), same);
        }
        assert_eq!(read(b"\xef\xbb\xbfant", true).unwrap(), b"ant");
        assert_eq!(read(b"\xef\xbb\xbfant", false).unwrap(), b"\xef\xbb\xbfant");
        assert_eq!(read(b"\xef\xbb", true).unwrap(), b"\xef\xbb");
        assert_eq!(read(b"\xff\xfea\0\n\0\xe9\0", true).unwrap(), "a\né".as_bytes());
        assert_eq!(read(b"\xfe\xff\0a\0\n\0\xe9", true).unwrap(), "a\né".as_bytes());
        assert_eq!(read(b"\xff\xfea\0", false).unwrap(), b"\xff\xfea\0");
        let long = "key\n".repeat(10_000);
        assert_eq!(read(long.as_bytes(), true).unwrap(), long.as_bytes());
    }

    #[test]
    fn what_has_no_lines_is_refused_with_a_remedy() {
        let mut tar = [b'x'; 600];
        tar[257..262].copy_from_slice(b"ustar");
        for (bytes, words) in [
            (
                &tamis::format::MAGIC[..],
                "a filter, not a file of keys; to merge filters: tamis union",
            ),
            (b"tamis-ledger-1\n", "a ledger; to read it: tamis ledger show"),
            (b"PK\x03\x04\x14\0", "a zip archive; unpack it: unzip -p"),
            (&tar, "a tar archive; unpack it: tar"),
            (b"a\0n\0t\0\n\0", "UTF-16 without a byte-order mark"),
            (b"\0a\0n\0t\0\n\0\xe9", "UTF-16 without a byte-order mark"),
            (b"PAR1", "a Parquet file; name its column"),
            (b"ARROW1", "an Arrow file; name its column"),
            (b"\xff\xff\xff\xff\x78\x01\0\0\x10", "an Arrow stream; name its column"),
        ] {
            let refused = read(bytes, true).err().unwrap().to_string();
            assert!(refused.contains(words), "{refused}");
            assert!(refused.contains("--raw"), "{refused}");
        }
        // With -0, keys of one letter are no UTF-16.
        assert_eq!(read(b"a\0b\0c\0", false).unwrap(), b"a\0b\0c\0");
    }

    /// A pipe that holds two bytes and stays open must not be asked for a third.
    #[test]
    fn no_more_is_read_than_tells() {
        struct Two(u8);
        impl Read for Two {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                assert!(self.0 <= 2, "asked for more");
                buffer[0] = b'a';
                Ok(1)
            }
        }
        assert_eq!(recognised(&mut Two(0), true).unwrap(), (Kind::Plain, vec![b'a']));
    }
}
