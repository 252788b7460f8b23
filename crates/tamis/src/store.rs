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
use std::sync::Arc;
use std::sync::atomic::AtomicU8;

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

/// How many bytes are read before more memory is taken.
const STRIDE: usize = 1 << 20;

/// The bytes of a body.
pub(crate) struct Store {
    /// Where the bytes are, within `place`: a lookup need not ask what kind of place it is.
    start: *mut u8,
    len: usize,
    /// Parts of one body share its place; each owns other bytes of it.
    _place: Arc<Place>,
}

// SAFETY: a store owns its bytes, and hands them out by its own borrows only.
#[allow(unsafe_code)]
unsafe impl Send for Store {}
// SAFETY: as above; a shared store only reads.
#[allow(unsafe_code)]
unsafe impl Sync for Store {}

/// What owns the bytes. It is kept to be dropped: neither kind moves its bytes when it is moved
/// itself, and nothing else touches it.
enum Place {
    Heap {
        _lines: Vec<Line>,
    },
    /// Pages of the system, private to this process: a write to those of a file copies the page and
    /// never reaches the file.
    #[cfg(feature = "mmap")]
    Map {
        _map: MmapMut,
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
    /// The first `len` bytes of these lines, which there must be.
    fn heap(mut lines: Vec<Line>, len: usize) -> Store {
        let bytes: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut lines)[..len];
        let start = bytes.as_mut_ptr();
        Store { start, len, _place: Arc::new(Place::Heap { _lines: lines }) }
    }

    /// The `len` bytes of a map from `offset` on, which there must be.
    #[cfg(feature = "mmap")]
    fn mapped(mut map: MmapMut, offset: usize, len: usize) -> Store {
        let bytes = &mut map[offset..][..len];
        let start = bytes.as_mut_ptr();
        Store { start, len, _place: Arc::new(Place::Map { _map: map }) }
    }

    /// `len` zero bytes. Memory that cannot be had is an error, not an abort.
    pub(crate) fn zeroed(len: u64) -> Result<Store, Error> {
        let size = usize::try_from(len).map_err(|_| memory(len))?;
        #[cfg(feature = "mmap")]
        if size >= LARGE {
            match MmapMut::map_anon(size) {
                Ok(map) => {
                    #[cfg(all(target_os = "linux", not(miri)))]
                    let _ = map.advise(memmap2::Advice::HugePage); // without them it is only slower
                    return Ok(Store::mapped(map, 0, size));
                }
                Err(_) if cfg!(any(unix, windows)) => return Err(memory(len)),
                // A system without memory maps, such as WebAssembly: the heap has to do.
                Err(_) => {}
            }
        }
        let lines =
            bytemuck::allocation::try_zeroed_vec(size.div_ceil(LINE)).map_err(|()| memory(len))?;
        Ok(Store::heap(lines, size))
    }

    /// The next `len` bytes of `input`. Memory is taken as bytes arrive, so that a false length
    /// costs nothing: at most four times what has arrived, and never more than `len`.
    pub(crate) fn read(mut input: impl Read, len: u64) -> Result<Store, Error> {
        let size = usize::try_from(len).map_err(|_| memory(len))?;
        let mut store = Store::zeroed(size.min(STRIDE) as u64)?;
        let mut filled = 0;
        loop {
            let room = &mut store.bytes_mut()[filled..];
            let wanted = room.len();
            let got = read_full(&mut input, room)?;
            filled += got;
            if got < wanted {
                return Err(Error::Length { expected: len, got: filled as u64 });
            }
            if filled == size {
                return Ok(store);
            }
            // A new body, so that a large one has the large pages of those that are made.
            let mut larger = Store::zeroed(size.min(4 * filled) as u64)?;
            larger.bytes_mut()[..filled].copy_from_slice(store.bytes());
            store = larger;
        }
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
        Ok(Store::mapped(map, offset, size))
    }

    /// The same, read into memory.
    #[cfg(not(feature = "mmap"))]
    pub(crate) fn map(mut file: &File, start: u64, len: u64) -> Result<Store, Error> {
        file.seek(SeekFrom::Start(start))?;
        Store::read(file, len)
    }

    /// Cuts off the first `len` bytes as a store of their own, without a copy. There must be so
    /// many.
    #[allow(unsafe_code)]
    pub(crate) fn split_off_front(&mut self, len: usize) -> Store {
        assert!(len <= self.len, "{len} of {} bytes", self.len);
        let front = Store { start: self.start, len, _place: Arc::clone(&self._place) };
        // SAFETY: `len` is at most the length of the store, so the start stays within its bytes or
        // is one past them.
        self.start = unsafe { self.start.add(len) };
        self.len -= len;
        front
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `heap` and `mapped` took the start from a slice of this length, which the store
        // owns, and this borrow keeps everybody from writing. A part that was cut off has bytes
        // that no other part has.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and this borrow is the only one.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
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

/// A body that many threads change at once, byte by byte.
pub(crate) struct SharedStore(Store);

impl From<Store> for SharedStore {
    fn from(store: Store) -> SharedStore {
        SharedStore(store)
    }
}

impl From<SharedStore> for Store {
    fn from(shared: SharedStore) -> Store {
        shared.0
    }
}

impl SharedStore {
    /// All bytes.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn bytes(&self) -> &[AtomicU8] {
        // SAFETY: the store owns `len` bytes from `start` on, an atomic byte is laid out like a
        // byte, and nobody has a plain reference to them: the store is within this type, which only
        // hands out atomic ones.
        unsafe { std::slice::from_raw_parts(self.0.start.cast(), self.0.len) }
    }
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
    fn parts_are_the_whole_and_change_alone() {
        let data: Vec<u8> = (0..200).collect();
        let mut rest = Store::read(&data[..], 200).unwrap();
        let mut parts: Vec<Store> =
            [0, 1, 63, 64, 72].iter().map(|len| rest.split_off_front(*len)).collect();
        assert!(rest.bytes().is_empty());
        let joined: Vec<u8> = parts.iter().flat_map(|part| part.bytes().to_vec()).collect();
        assert_eq!(joined, data);
        parts[3].bytes_mut().fill(7);
        let last = parts.pop().unwrap();
        drop((rest, parts));
        assert_eq!(last.bytes(), &data[128..]);
    }

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
