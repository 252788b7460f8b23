//! Filters of tamis in Valkey and Redis: `BF.*` and `CF.*` as services use them, and `TAMIS.*`.
//!
//! `docs/src/valkey.md` has the commands, the settings and the measurements. A command of the
//! server comes in through `server/`, is read by `commands/`, and changes a `value`. All that is
//! `unsafe` is in `server/`.

mod bloom;
mod commands;
mod cuckoo;
mod ledger;
mod loaded;
mod refusal;
mod server;
mod settings;
mod stream;
mod value;
