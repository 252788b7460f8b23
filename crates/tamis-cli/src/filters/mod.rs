//! Filters as the commands use them: opened, asked, changed, locked, described.

mod contents;
mod keys;
mod lock;
mod open;

pub(crate) use contents::{Contents, zone_promise};
pub(crate) use keys::{
    check_changeable, check_removable, contains, contains_or_foreign, format_to_add, format_to_ask,
    format_to_remove, insert, insert_each, kind_notice, remove,
};
pub(crate) use lock::{Lock, is_at};
pub(crate) use open::{Access, Opening, now};
