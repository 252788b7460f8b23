//! Memory from the server, so that `INFO memory`, `maxmemory` and eviction count filters.
//!
//! The server's plain allocator ends the server when memory is short. Its "try" functions answer
//! null, and the library makes an error of that.

use super::raw;
use std::alloc::{GlobalAlloc, Layout, System};

struct Server;

#[global_allocator]
static ALLOCATOR: Server = Server;

/// The server aligns to 16 bytes.
const ALIGNED: usize = 16;

// SAFETY: memory is the system's until a server has loaded the module, and the server's from then
// on. Nothing that was allocated before is freed after: `raw::find` allocates the first thing, and
// never frees it.
unsafe impl GlobalAlloc for Server {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match raw::known() {
            // SAFETY: the server's function takes any size.
            Some(api) => place(layout, |size| unsafe { (api.try_alloc)(size) }.cast()),
            // SAFETY: the caller's promise.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(api) = raw::known() else {
            // SAFETY: the caller's promise.
            return unsafe { System.alloc_zeroed(layout) };
        };
        if let Some(try_calloc) = api.try_calloc {
            // Pages that nobody has touched yet cost nothing.
            // SAFETY: the server's function takes any size.
            return place(layout, |size| unsafe { try_calloc(1, size) }.cast());
        }
        // SAFETY: the caller's promise.
        let start = unsafe { self.alloc(layout) };
        if !start.is_null() {
            // SAFETY: `alloc` gave so many bytes.
            unsafe { start.write_bytes(0, layout.size()) };
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        let Some(api) = raw::known() else {
            // SAFETY: the caller's promise.
            return unsafe { System.dealloc(start, layout) };
        };
        let whole = if layout.align() <= ALIGNED {
            start
        } else {
            // SAFETY: `place` wrote the start of the whole there.
            unsafe { start.cast::<*mut u8>().sub(1).read() }
        };
        // SAFETY: the server allocated it.
        unsafe { (api.free)(whole.cast()) };
    }
}

/// Memory with the alignment asked for. If that is more than the server's, the word before the
/// memory says where the whole begins.
fn place(layout: Layout, allocate: impl FnOnce(usize) -> *mut u8) -> *mut u8 {
    if layout.align() <= ALIGNED {
        return allocate(layout.size());
    }
    let Some(size) = layout.size().checked_add(layout.align()) else {
        return std::ptr::null_mut();
    };
    let whole = allocate(size);
    if whole.is_null() {
        return whole;
    }
    // From 16 bytes to the alignment: the server's memory begins at a multiple of 16.
    let ahead = layout.align() - whole.addr() % layout.align();
    // SAFETY: `ahead` is at most the alignment, which was added to the size, and at least 16, so
    // that a pointer fits before the start.
    unsafe {
        let start = whole.add(ahead);
        start.cast::<*mut u8>().sub(1).write(whole);
        start
    }
}
