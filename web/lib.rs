//! The explorer, a static page, as bytes in the program: `tamis explore` serves them.

/// The files of the page: a path below its root, and the bytes. `pkg/` holds the library as
/// WebAssembly; it is empty in a build that `scripts/web` did not precede.
pub const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Whether the library as WebAssembly is among the files. Without it the page cannot compute.
#[must_use]
pub fn has_engine() -> bool {
    FILES.iter().any(|(path, _)| path.starts_with("pkg/") && path.ends_with(".wasm"))
}
