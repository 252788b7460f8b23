//! `tamis build --shard`: a part of a filter that several machines build.

use crate::output::{Integer, Report, count_of, grouped};
use clap::Args;
use serde::Serialize;
use std::path::Path;
use tamis::format::PartNumber;

/// Which part to build.
#[derive(Args)]
pub(super) struct Shard {
    /// Build part I of N, from 1/N to N/N, for `tamis join`
    ///
    /// Give every part the same options. For a static or a private filter, give every part all
    /// keys: it keeps its own. For other filters, give a part any of the keys.
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub(super) shard: Option<PartNumber>,
}

/// What was built.
#[derive(Serialize)]
pub(super) struct PartReport {
    file: String,
    part: Integer,
    of: Integer,
    filter: &'static str,
    items: Integer,
    keys: Integer,
    kept: Integer,
    secret: bool,
    #[serde(skip)]
    text: String,
}

impl PartReport {
    /// A part in `file` of a filter planned for `items`: of the keys read, it holds those kept.
    pub(super) fn new(
        file: &Path,
        number: PartNumber,
        filter: &'static str,
        items: u64,
        [keys, kept]: [u64; 2],
    ) -> PartReport {
        let (file, secret) = (file.display().to_string(), filter == "linear");
        let mut text = format!(
            "{file}: part {number} of a {filter} filter for {}\n\
             keys      {} read, {} of them for this part\n\
             next      tamis join, with all {} parts",
            count_of(items, "item"),
            grouped(keys),
            grouped(kept),
            number.of(),
        );
        if secret {
            text.push_str(
                "\nsecret    keep it to yourself, and join it: the join is the release, and \
                 charges the ledger",
            );
        }
        PartReport {
            file,
            part: number.number().into(),
            of: number.of().into(),
            filter,
            items: items.into(),
            keys: keys.into(),
            kept: kept.into(),
            secret,
            text,
        }
    }
}

impl Report for PartReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
