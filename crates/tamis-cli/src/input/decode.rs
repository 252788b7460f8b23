//! What a file of keys is, by its first bytes: plain text, compressed, UTF-16, or a filter.

use anyhow::bail;
use std::io::{self, Read};

/// What the first bytes of an input say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Gzip,
    Zstd,
    Xz,
    Bzip2,
    /// A filter, which is no file of keys.
    Filter,
    /// Files of columns, which are read from their end.
    Parquet,
    Arrow,
    Utf8Mark,
    Utf16Le,
    Utf16Be,
}

/// How each kind begins. `?` stands for any byte.
const SIGNATURES: [(Kind, &[u8]); 10] = [
    (Kind::Gzip, b"\x1f\x8b\x08"),
    (Kind::Zstd, b"\x28\xb5\x2f\xfd"),
    (Kind::Xz, b"\xfd7zXZ\0"),
    (Kind::Bzip2, b"BZh?1AY&SY"),
    (Kind::Filter, &tamis::format::MAGIC),
    (Kind::Parquet, b"PAR1"),
    (Kind::Arrow, b"ARROW1"),
    (Kind::Utf8Mark, b"\xef\xbb\xbf"),
    (Kind::Utf16Le, b"\xff\xfe"),
    (Kind::Utf16Be, b"\xfe\xff"),
];

/// An input that yields the text of the keys.
pub(super) type Decoded<'a> = Box<dyn Read + Send + 'a>;

/// Decompresses, and with `text` decodes UTF-16 and drops a byte-order mark.
pub(super) fn decoded<'a>(
    name: &str,
    input: impl Read + Send + 'a,
    text: bool,
) -> anyhow::Result<Decoded<'a>> {
    decoded_at(name, Box::new(input), text, 0)
}

/// How often a file may be compressed again. There are files that decompress to themselves.
const MAX_LAYERS: u32 = 4;

fn decoded_at<'a>(
    name: &str,
    mut input: Decoded<'a>,
    text: bool,
    layers: u32,
) -> anyhow::Result<Decoded<'a>> {
    let (kind, start) = recognised(&mut input)?;
    let skipped = if kind == Kind::Utf8Mark && text { 3 } else { 0 };
    let mut whole = io::Cursor::new(start).chain(input);
    io::copy(&mut (&mut whole).take(skipped), &mut io::sink())?;
    match kind {
        Kind::Filter => bail!(
            "{name} is a filter, not a file of keys; to merge filters: tamis union A B -o C \
             (--raw takes its bytes as lines)"
        ),
        Kind::Parquet | Kind::Arrow => bail!(
            "{name} is a {kind:?} file; name its column of keys: --column NAME \
             (--raw takes its bytes as lines)"
        ),
        Kind::Utf16Le if text => Ok(utf16(whole, encoding_rs::UTF_16LE)),
        Kind::Utf16Be if text => Ok(utf16(whole, encoding_rs::UTF_16BE)),
        Kind::Gzip | Kind::Zstd | Kind::Xz | Kind::Bzip2 => {
            decompressed(name, kind, whole, text, layers)
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
    name: &str,
    kind: Kind,
    input: impl Read + Send + 'a,
    text: bool,
    layers: u32,
) -> anyhow::Result<Decoded<'a>> {
    if layers == MAX_LAYERS {
        bail!("{name} is compressed more than {MAX_LAYERS} times over; decompress it first");
    }
    let plain: Decoded<'a> = match kind {
        Kind::Gzip => Box::new(flate2::read::MultiGzDecoder::new(input)),
        Kind::Zstd => Box::new(zstd::stream::read::Decoder::new(input)?),
        Kind::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(input)),
        _ => Box::new(bzip2::read::MultiBzDecoder::new(input)),
    };
    // What was compressed may be UTF-16, or compressed again.
    decoded_at(name, plain, text, layers + 1)
}

#[cfg(not(feature = "compression"))]
fn decompressed<'a>(
    name: &str,
    kind: Kind,
    _: impl Read + Send + 'a,
    _: bool,
    _: u32,
) -> anyhow::Result<Decoded<'a>> {
    bail!(
        "{name} is compressed ({kind:?}), which this build of tamis does not read; decompress it \
         first, or take its bytes as they are with --raw"
    )
}

/// Reads as little as tells the kind: a pipe may hold no more yet.
fn recognised(input: &mut impl Read) -> io::Result<(Kind, Vec<u8>)> {
    let mut start = Vec::new();
    let mut byte = [0];
    loop {
        let fits = |signature: &[u8]| {
            start.iter().zip(signature).all(|(got, known)| got == known || *known == b'?')
        };
        let possible = SIGNATURES.iter().find(|(_, signature)| fits(signature));
        match possible {
            None => return Ok((Kind::Plain, start)),
            Some((kind, signature)) if start.len() >= signature.len() => return Ok((*kind, start)),
            Some(_) => {}
        }
        match input.read(&mut byte) {
            Ok(0) => return Ok((Kind::Plain, start)),
            Ok(_) => start.push(byte[0]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], text: bool) -> anyhow::Result<Vec<u8>> {
        let mut out = Vec::new();
        decoded("x", bytes, text)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn marks_and_encodings() {
        assert_eq!(read(b"", true).unwrap(), b"");
        assert_eq!(read(b"ant\n", true).unwrap(), b"ant\n");
        assert_eq!(read(b"\xef\xbb\xbfant", true).unwrap(), b"ant");
        assert_eq!(read(b"\xef\xbb\xbfant", false).unwrap(), b"\xef\xbb\xbfant");
        assert_eq!(read(b"\xef\xbb", true).unwrap(), b"\xef\xbb");
        assert_eq!(read(b"\xff\xfea\0\n\0\xe9\0", true).unwrap(), "a\né".as_bytes());
        assert_eq!(read(b"\xfe\xff\0a\0\n\0\xe9", true).unwrap(), "a\né".as_bytes());
        assert_eq!(read(b"\xff\xfea\0", false).unwrap(), b"\xff\xfea\0");
        assert_eq!(read(b"BZhello", true).unwrap(), b"BZhello");
        assert!(read(&tamis::format::MAGIC, true).unwrap_err().to_string().contains("union"));
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
        assert_eq!(recognised(&mut Two(0)).unwrap(), (Kind::Plain, vec![b'a']));
    }
}
