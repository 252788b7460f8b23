//! Streams of bytes in pieces, and a window of a stream.

use std::io::{self, Write};

/// Hands a stream on in pieces of one size; the last one may be shorter.
pub(crate) struct Pieces<F: FnMut(&[u8]) -> io::Result<()>> {
    size: usize,
    held: Vec<u8>,
    take: F,
}

impl<F: FnMut(&[u8]) -> io::Result<()>> Pieces<F> {
    pub(crate) fn new(size: usize, take: F) -> Pieces<F> {
        Pieces { size, held: Vec::new(), take }
    }
}

impl<F: FnMut(&[u8]) -> io::Result<()>> Write for Pieces<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.held.is_empty() && rest.len() >= self.size {
                let (piece, after) = rest.split_at(self.size);
                (self.take)(piece)?;
                rest = after;
                continue;
            }
            let (more, after) = rest.split_at(rest.len().min(self.size - self.held.len()));
            self.held.extend_from_slice(more);
            rest = after;
            if self.held.len() == self.size {
                (self.take)(&self.held)?;
                self.held.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.held.is_empty() {
            (self.take)(&self.held)?;
            self.held.clear();
        }
        Ok(())
    }
}

/// Keeps the bytes of a stream from `skip` on, `most` of them.
pub(crate) struct Window {
    skip: u64,
    most: usize,
    pub(crate) kept: Vec<u8>,
}

impl Window {
    pub(crate) fn new(skip: u64, most: usize) -> Window {
        Window { skip, most, kept: Vec::new() }
    }

    /// Passes over so many bytes if all of them lie before the window.
    pub(crate) fn passes_over(&mut self, bytes: u64) -> bool {
        let before = bytes <= self.skip;
        if before {
            self.skip -= bytes;
        }
        before
    }

    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() == self.most
    }
}

impl Write for Window {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let before = self.skip.min(bytes.len() as u64) as usize;
        self.skip -= before as u64;
        let rest = &bytes[before..];
        let take = rest.len().min(self.most - self.kept.len());
        self.kept.extend_from_slice(&rest[..take]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_windows_are_parts_of_the_stream() {
        let all: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for size in [1, 7, 64, 999, 1000, 1001] {
            for step in [1, 3, 64, 1000] {
                let (mut joined, mut sizes) = (Vec::new(), Vec::new());
                let mut pieces = Pieces::new(size, |bytes: &[u8]| {
                    joined.extend_from_slice(bytes);
                    sizes.push(bytes.len());
                    Ok(())
                });
                for part in all.chunks(step) {
                    pieces.write_all(part).unwrap();
                }
                pieces.flush().unwrap();
                assert_eq!(joined, all);
                assert!(sizes.iter().rev().skip(1).all(|one| *one == size), "{sizes:?}");
                for skip in [0, 1, 500, 999, 1000] {
                    let mut window = Window::new(skip as u64, size);
                    all.chunks(step).for_each(|part| window.write_all(part).unwrap());
                    assert_eq!(window.kept, all[skip..(skip + size).min(1000)]);
                }
            }
        }
    }
}
