//! Files of records, decompressed and decoded, with a count of what was read.

use super::decode::{self, Decoded, Purpose};
use crate::output::warn;
use anyhow::Context;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file of records, opened.
pub(crate) struct Opened {
    pub(crate) name: String,
    /// The records, decompressed and decoded.
    pub(crate) reader: Decoded<'static>,
    pub(crate) bytes: Arc<Bytes>,
}

/// How many bytes were read of a file, and how many came out after they were decompressed and
/// decoded.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    consumed: AtomicU64,
    decoded: AtomicU64,
}

impl Bytes {
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    pub(crate) fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    /// Counts what was read at another time.
    pub(crate) fn add(&self, consumed: u64, decoded: u64) {
        self.consumed.fetch_add(consumed, Ordering::Relaxed);
        self.decoded.fetch_add(decoded, Ordering::Relaxed);
    }
}

/// Opens a file of records; `-` is standard input. With `raw` it is read as it is, else
/// decompressed and, with `text`, decoded.
pub(crate) fn open(path: &Path, text: bool, raw: bool) -> anyhow::Result<Opened> {
    let bytes = Arc::new(Bytes::default());
    let count = {
        let bytes = Arc::clone(&bytes);
        move |got| bytes.add(got, 0)
    };
    let (name, input): (_, Decoded<'static>) = if path == Path::new("-") {
        if io::stdin().is_terminal() {
            warn("tamis: reading from the terminal; end with Ctrl-D");
        }
        ("standard input".to_owned(), Box::new(Counted { input: io::stdin(), count }))
    } else {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        (name, Box::new(Counted { input: file, count }))
    };
    let reader = if raw {
        input
    } else {
        decode::decoded(input, text, Purpose::Records)
            .with_context(|| format!("cannot read {name}"))?
    };
    let count = {
        let bytes = Arc::clone(&bytes);
        move |got| bytes.add(0, got)
    };
    Ok(Opened { name, reader: Box::new(Counted { input: reader, count }), bytes })
}

/// A reader that counts what was read.
struct Counted<R, F> {
    input: R,
    count: F,
}

impl<R: Read, F: Fn(u64)> Read for Counted<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(buffer)?;
        (self.count)(got as u64);
        Ok(got)
    }
}
