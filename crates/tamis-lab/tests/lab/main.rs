//! What the lab finds, and how it shows it. The documents are recomputed once, in a quick run, for
//! all tests.

#![allow(clippy::unwrap_used)]

mod drawings;
mod recorded;

use std::sync::LazyLock;
use tamis_lab::{Document, Report, reproduce};

static ULTRA: LazyLock<Report> = LazyLock::new(|| reproduce(Document::UltraFilter, true));
static REPORT: LazyLock<Report> = LazyLock::new(|| reproduce(Document::SizingReport, true));
static PAPER: LazyLock<Report> = LazyLock::new(|| reproduce(Document::Egh, true));
static NOTES: LazyLock<Report> = LazyLock::new(|| reproduce(Document::LectureNotes, true));
