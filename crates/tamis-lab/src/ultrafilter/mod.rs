//! The UltraFilter: its tables measured again on strings of the same kind, under three readings of
//! what was run.
//!
//! K. Odoh, "UltraFilter: A Privacy-Preserving Bloom Filter", Companion Proceedings of the ACM Web
//! Conference 2025. Documents 000 and 002 are two prints of it. A Bloom filter of m bits and l
//! hashes is filled, then its bits are randomized with e^epsilon/(e^epsilon + 1) as the chance that
//! a bit stays.

mod beyond;
mod law;
mod mechanism;
mod sets;
mod slips;
mod tables;

use crate::Notebook;
use mechanism::{Mechanism, Noise};
use sets::{Sets, Size};

/// The paper's filter: n = 2^20 and m = 2^24.
const PAPER: Size = Size { items: 1 << 20, bits: 1 << 24 };
/// The same load with fewer strings.
const QUICK: Size = Size { items: 1 << 17, bits: 1 << 21 };
/// The paper's l.
const HASHES: u32 = 10;

/// What the tables were made with.
const AS_RUN: Mechanism = Mechanism { hashes: 1, noise: Noise::OneSided };

pub(crate) fn reproduce(book: &mut Notebook, quick: bool) {
    book.step("strings");
    let sets = Sets::new(if quick { QUICK } else { PAPER });
    book.step("Tables 1 to 4 under every reading");
    let measured = tables::Measured::new(&sets);
    tables::cells(book, &measured);
    tables::laws(book, &measured);
    tables::figures(book, &measured);
    book.step("other private filters on the same strings");
    beyond::compare(book, &sets);
    book.step("slips");
    slips::slips(book, &measured, &sets);
}
