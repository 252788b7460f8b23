//! Where a filter's body lives: on the heap, aligned to cache lines; in pages of its own, if it is
//! large; or in a memory-mapped file.

use crate::Error;
use bytemuck::{Pod, Zeroable};
#[cfg(feature = "mmap")]
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::io::Read;
#[cfg(not(feature = "mmap"))]
use std::io::{Seek, SeekFrom};

/// A cache line, so that a block never straddles two.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

// SAFETY: a line is 64 bytes with nothing between or after them, and every byte may be zero.
#[allow(unsafe_code)]
unsafe impl Zeroable for Line {}
// SAFETY: a line is 64 bytes, its alignment divides its size, and any bytes are a line.
#[allow(unsafe_code)]
unsafe impl Pod for Line {}

const LINE: usize = 64;

/// Bodies from this size on get pages of their own, of 2 MiB if the system grants them: with pages
/// of 4 KiB, a random access to a large body waits for the page's address almost as long as for its
/// line.
#[cfg(feature = "mmap")]
const LARGE: usize = 4 << 20;

/// The bytes of a body.
pub(crate) struct Store {
    place: Place,
    len: usize,
}

enum Place {
    Heap(Vec<Line>),
    /// Pages of the system, private to this process: a write to those of a file copies the page and
    /// never reaches the file.
    #[cfg(feature = "mmap")]
    Map {
        map: MmapMut,
        start: usize,
    },
}

pub(crate) fn memory(needed: u64) -> Error {
    Error::Memory { needed, allowed: None }
}

/// Refuses what would take more memory than the caller allows.
pub(crate) fn check_memory(needed: u64, allowed: u64) -> Result<(), Error> {
    if needed <= allowed {
        return Ok(());
    }
    Err(Error::Memory { needed, allowed: Some(allowed) })
}

/// So many of the same value. Memory that cannot be had is an error, not an abort.
pub(crate) fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    all.try_reserve_exact(count)
        .map_err(|_| memory(count.saturating_mul(size_of::<T>()) as u64))?;
    all.resize(count, value);
    Ok(all)
}

impl Store {
    /// `len` zero bytes. Memory that cannot be had is an error, not an abort.
    pub(crate) fn zeroed(len: u64) -> Result<Store, Error> {
        let size = usize::try_from(len).map_err(|_| memory(len))?;
        #[cfg(feature = "mmap")]
        if size >= LARGE {
            match MmapMut::map_anon(size) {
                Ok(map) => {
                    #[cfg(all(target_os = "linux", not(miri)))]
                    let _ = map.advise(memmap2::Advice::HugePage); // without them it is only slower
                    return Ok(Store { place: Place::Map { map, start: 0 }, len: size });
                }
                Err(_) if cfg!(any(unix, windows)) => return Err(memory(len)),
                // A system without memory maps, such as WebAssembly: the heap has to do.
                Err(_) => {}
            }
        }
        let lines =
            bytemuck::allocation::try_zeroed_vec(size.div_ceil(LINE)).map_err(|()| memory(len))?;
        Ok(Store { place: Place::Heap(lines), len: size })
    }

    /// The next `len` bytes of `input`. Memory is taken as bytes arrive, so that a false length
    /// costs nothing.
    pub(crate) fn read(mut input: impl Read, len: u64) -> Result<Store, Error> {
        const STRIDE: usize = 1 << 20;
        let size = usize::try_from(len).map_err(|_| memory(len))?;
        let mut lines: Vec<Line> = Vec::new();
        let mut filled = 0;
        while filled < size {
            let wanted = STRIDE.min(size - filled);
            let count = wanted.div_ceil(LINE);
            if lines.capacity() - lines.len() < count {
                // Doubling, but never past what the header promises.
                let more = lines.len().max(count).min((size - filled).div_ceil(LINE));
                lines.try_reserve_exact(more).map_err(|_| memory(len))?;
            }
            let before = lines.len();
            lines.resize(before + count, Line::zeroed());
            let target: &mut [u8] = bytemuck::cast_slice_mut(&mut lines[before..]);
            let got = read_full(&mut input, &mut target[..wanted])?;
            filled += got;
            if got < wanted {
                return Err(Error::Length { expected: len, got: filled as u64 });
            }
        }
        Ok(Store { place: Place::Heap(lines), len: size })
    }

    /// The `len` bytes of `file` from `start` on, which the caller has checked to be there.
    #[cfg(feature = "mmap")]
    #[allow(unsafe_code)]
    pub(crate) fn map(file: &File, start: u64, len: u64) -> Result<Store, Error> {
        let size = usize::try_from(len).map_err(|_| memory(len))?;
        let offset = usize::try_from(start).map_err(|_| memory(len))?;
        let end = offset.checked_add(size).ok_or_else(|| memory(len))?;
        // SAFETY: the map is private, so nothing written through it reaches the file. Other
        // processes must not cut the file short or write into it while it is mapped; tamis
        // itself never does: it replaces files by renaming. `AnyFilter::open` passes this
        // duty on to its caller in its documentation.
        let map = unsafe { MmapOptions::new().len(end).no_reserve_swap().map_copy(file)? };
        Ok(Store { place: Place::Map { map, start: offset }, len: size })
    }

    /// The same, read into memory.
    #[cfg(not(feature = "mmap"))]
    pub(crate) fn map(mut file: &File, start: u64, len: u64) -> Result<Store, Error> {
        file.seek(SeekFrom::Start(start))?;
        Store::read(file, len)
    }

    /// Without a path to a panic, so that a loop over lookups finds them once.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.place {
            Place::Heap(lines) => bytemuck::cast_slice(lines).get(..self.len).unwrap_or_default(),
            #[cfg(feature = "mmap")]
            Place::Map { map, start } => {
                map.get(*start..start.wrapping_add(self.len)).unwrap_or_default()
            }
        }
    }

    #[inline(always)]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.place {
            Place::Heap(lines) => {
                bytemuck::cast_slice_mut(lines).get_mut(..self.len).unwrap_or_default()
            }
            #[cfg(feature = "mmap")]
            Place::Map { map, start } => {
                map.get_mut(*start..start.wrapping_add(self.len)).unwrap_or_default()
            }
        }
    }
}

/// Reads until `target` is full or the input ends, and says how far it came.
pub(crate) fn read_full(input: &mut impl Read, target: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < target.len() {
        match input.read(&mut target[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

impl PartialEq for Store {
    /// Equal bytes, wherever they live.
    fn eq(&self, other: &Store) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Store {}

impl Clone for Store {
    /// The copy lives in memory as a new body does: in large pages, if it is large.
    fn clone(&self) -> Store {
        match Store::zeroed(self.len as u64) {
            Ok(mut copy) => {
                copy.bytes_mut().copy_from_slice(self.bytes());
                copy
            }
            Err(_) => std::alloc::handle_alloc_error(std::alloc::Layout::for_value(self.bytes())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_exactly_what_is_promised() {
        let data: Vec<u8> = (0..3_000_001u32).map(|i| (i % 251) as u8).collect();
        for len in [0, 1, 63, 64, 65, 1 << 20, (1 << 20) + 1, 3_000_001] {
            let store = Store::read(&data[..], len as u64).unwrap();
            assert_eq!(store.bytes(), &data[..len]);
            assert_eq!(store.bytes().as_ptr().align_offset(64), 0);
            assert_eq!(store.clone().bytes(), &data[..len]);
        }
        assert!(matches!(
            Store::read(&data[..10], 1 << 31),
            Err(Error::Length { expected, got: 10 }) if expected == 1 << 31
        ));
        // More than 32 bits can address is refused there before anything is read.
        match Store::read(&data[..10], 1 << 45) {
            Err(Error::Length { expected, got: 10 }) => {
                assert_eq!((expected, usize::BITS), (1 << 45, 64));
            }
            Err(Error::Memory { needed, .. }) => assert_eq!((needed, usize::BITS), (1 << 45, 32)),
            _ => panic!("ten bytes are not 2^45"),
        }
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        assert!(matches!(Store::zeroed(u64::MAX), Err(Error::Memory { .. })));
        assert!(matches!(Store::zeroed(1 << 62), Err(Error::Memory { .. })));
    }
}
