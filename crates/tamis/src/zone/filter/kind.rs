//! What a cell is: a bit or a counter.

/// What a cell is: a bit or a counter. Only this crate can implement it.
pub trait CellKind: sealed::Sealed + Send + Sync + 'static {
    /// Whether cells count.
    const COUNTING: bool;
}

mod sealed {
    /// Keeps the trait closed.
    pub trait Sealed {}
    impl Sealed for super::Bits {}
    impl Sealed for super::Counters {}
}

/// A cell is a bit.
#[derive(Debug)]
pub struct Bits;

/// A cell is a counter.
#[derive(Debug)]
pub struct Counters;

impl CellKind for Bits {
    const COUNTING: bool = false;
}

impl CellKind for Counters {
    const COUNTING: bool = true;
}
