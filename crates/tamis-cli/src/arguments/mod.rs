//! What people type: counts, sizes, shares, losses, universes, key files.
//!
//! Every command uses these parsers, so a number is written the same way everywhere.

mod count;
mod epsilon;
mod key_file;
mod memory;
mod share;
mod size;
mod universe;
mod window;

pub use count::{count, small_count};
pub use epsilon::epsilon;
pub(crate) use key_file::KeyFile;
pub(crate) use memory::MemoryLimit;
pub use share::share;
pub use size::size;
pub use universe::universe;
pub(crate) use universe::{FilterUniverse, dictionary_file};
pub use window::window;
