//! Registers the commands, with what `COMMAND INFO` and `COMMAND DOCS` say of them.

use super::raw::{self, api};
use super::{Run, c_text, run};
use crate::commands::COMMANDS;
use crate::refusal::Refusal;
use crate::settings::{self, Dialect};
use std::ffi::{CStr, CString, c_int};
use std::ptr::{null, null_mut};

/// A command, as the server is told of it.
pub(crate) struct Spec {
    pub(crate) name: &'static CStr,
    pub(crate) run: Run,
    /// Whether it changes keys.
    pub(crate) writes: bool,
    /// Its number of arguments, its name included; negative if there may be more.
    pub(crate) arity: c_int,
    pub(crate) keys: KeyUse,
    pub(crate) summary: &'static str,
    pub(crate) complexity: &'static str,
    pub(crate) arguments: &'static [Argument],
}

/// Where the keys of a command are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyUse {
    /// It has none.
    None,
    /// The first argument, which is read.
    Read,
    /// The first argument, which is changed.
    Write,
    /// The first argument is changed, all others are read.
    WriteThenRead,
    /// The first argument is changed, the third is read, and the one after `LEDGER` is changed.
    Publish,
}

/// An argument in the documentation: its name, and what it is.
pub(crate) enum Argument {
    Key(&'static str),
    Text(&'static str),
    Texts(&'static str),
    Integer(&'static str),
    Double(&'static str),
    /// A word that stands for itself, such as `ITEMS`.
    Word(&'static str, &'static str),
    /// An optional word.
    Maybe(&'static str, &'static str),
    /// An optional word that an integer follows.
    MaybeInteger(&'static str, &'static str),
    /// An optional word that a decimal number follows.
    MaybeDouble(&'static str, &'static str),
    /// An optional word that a text follows.
    MaybeText(&'static str, &'static str),
    /// An optional argument without a word before it.
    Field(&'static str),
    /// One or more keys.
    Keys(&'static str),
}

/// What the server calls for the command at this place of the table.
unsafe extern "C" fn call<const PLACE: usize>(
    context: *mut raw::Context,
    arguments: *mut *mut raw::Text,
    count: c_int,
) -> c_int {
    let spec = &COMMANDS[PLACE];
    // In valkey-bloom's dialect the server is not told the arity.
    let fits = if spec.arity < 0 { count >= -spec.arity } else { count == spec.arity };
    if !fits {
        let name = spec.name.to_string_lossy().to_uppercase();
        let text = format!("ERR wrong number of arguments for '{name}' command");
        super::Context { raw: context }.reply_error(&Refusal::say(text));
        return raw::OK;
    }
    // SAFETY: the server calls with its own context and arguments.
    unsafe { run(context, arguments, count, spec.run) }
}

/// Registers every command. `false` if the server refuses one: another module has it.
///
/// # Safety
///
/// The context is that of the load function.
pub(super) unsafe fn register(context: *mut raw::Context) -> bool {
    let categories = [c"bloom", c"cuckoo", c"tamis"];
    if let Some(add) = api().add_category {
        for name in categories {
            // If the server has the category already, its commands are beside ours.
            // SAFETY: the context is the server's.
            unsafe { add(context, name.as_ptr()) };
        }
    }
    CALLS.iter().zip(&COMMANDS).all(|(call, spec)| {
        let flags = c_text(&flags_of(spec));
        let (first, last, step) = match spec.keys {
            KeyUse::None => (0, 0, 0),
            KeyUse::Read | KeyUse::Write => (1, 1, 1),
            KeyUse::WriteThenRead => (1, -1, 1),
            KeyUse::Publish => (1, 3, 2),
        };
        // SAFETY: the context is the server's, and it copies the texts.
        let command = unsafe {
            let name = spec.name.as_ptr();
            let (make, flags) = (api().create_command, flags.as_ptr());
            if make(context, name, *call, flags, first, last, step) != raw::OK {
                return false;
            }
            (api().get_command)(context, name)
        };
        if command.is_null() {
            return false;
        }
        if let Some(set) = api().set_categories {
            let category = match spec.name.to_bytes() {
                [b'b', ..] => "bloom",
                [b'c', ..] => "cuckoo",
                _ => "tamis",
            };
            // These replace what the server derives from the flags.
            let kind = if spec.writes { "write" } else { "read" };
            let pace = if flags_of(spec).contains("fast") { "fast" } else { "slow" };
            let all = c_text(&format!("{kind} {pace} {category}"));
            // SAFETY: a command of ours. A server that does not know the category refuses them.
            unsafe { set(command, all.as_ptr()) };
        }
        // SAFETY: a command of ours.
        unsafe { describe(command, spec) }
    })
}

fn flags_of(spec: &Spec) -> String {
    let mut flags = if spec.writes { "write" } else { "readonly" }.to_owned();
    let name = spec.name.to_bytes();
    // What makes a filter smaller, or takes things out, is allowed when memory is short.
    if spec.writes && !name.ends_with(b".del") && !name.ends_with(b".rem") {
        flags += " deny-oom";
    }
    if settings::dialect() == Dialect::ValkeyBloom && name.starts_with(b"bf.") {
        flags += " fast";
    }
    flags
}

/// # Safety
///
/// The command is one that the server has just made.
unsafe fn describe(command: *mut raw::Command, spec: &Spec) -> bool {
    // The server copies what it is given: the texts live until the end of this function.
    let mut texts: Vec<CString> = Vec::new();
    let mut keep = |text: &str| {
        texts.push(c_text(text));
        texts.last().map_or(null(), |text| text.as_ptr())
    };
    let mut keys: Vec<raw::KeySpec> = Vec::new();
    let mut key = |position, last, writes| {
        keys.push(raw::KeySpec {
            notes: null(),
            flags: if writes { raw::KEY_WRITE_INSERT } else { raw::KEY_READ_ACCESS },
            begin_kind: raw::BEGIN_INDEX,
            begin: raw::Begin { position },
            find_kind: raw::FIND_RANGE,
            find: raw::Range { last, step: 1, limit: 0 },
        });
    };
    match spec.keys {
        KeyUse::None => {}
        KeyUse::Read => key(1, 0, false),
        KeyUse::Write => key(1, 0, true),
        KeyUse::WriteThenRead => {
            key(1, 0, true);
            key(2, -1, false);
        }
        KeyUse::Publish => {
            key(1, 0, true);
            key(3, 0, false);
            key(0, 0, true);
            if let Some(ledger) = keys.last_mut() {
                ledger.begin_kind = raw::BEGIN_KEYWORD;
                let keyword = raw::Keyword { word: c"LEDGER".as_ptr(), start: 4 };
                ledger.begin = raw::Begin { keyword };
            }
        }
    }
    keys.push(raw::KeySpec {
        notes: null(),
        flags: 0,
        begin_kind: 0,
        begin: raw::Begin { keyword: raw::Keyword { word: null(), start: 0 } },
        find_kind: 0,
        find: raw::Range { last: 0, step: 0, limit: 0 },
    });
    let mut next_key = 0;
    let mut arguments: Vec<raw::CommandArgument> = Vec::new();
    for argument in spec.arguments {
        use Argument::{
            Double, Field, Integer, Key, Keys, Maybe, MaybeDouble, MaybeInteger, MaybeText, Text,
            Texts, Word,
        };
        let (optional, many) = (raw::ARG_OPTIONAL, raw::ARG_MULTIPLE);
        let (name, word, kind, flags) = match argument {
            Key(name) => (name, None, raw::ARG_KEY, 0),
            Keys(name) => (name, None, raw::ARG_KEY, many),
            Text(name) => (name, None, raw::ARG_STRING, 0),
            Texts(name) => (name, None, raw::ARG_STRING, many),
            Integer(name) => (name, None, raw::ARG_INTEGER, 0),
            Double(name) => (name, None, raw::ARG_DOUBLE, 0),
            Word(name, word) => (name, Some(word), raw::ARG_TOKEN, 0),
            Maybe(name, word) => (name, Some(word), raw::ARG_TOKEN, optional),
            MaybeInteger(name, word) => (name, Some(word), raw::ARG_INTEGER, optional),
            MaybeDouble(name, word) => (name, Some(word), raw::ARG_DOUBLE, optional),
            MaybeText(name, word) => (name, Some(word), raw::ARG_STRING, optional),
            Field(name) => (name, None, raw::ARG_STRING, optional),
        };
        let key_spec_index = if kind == raw::ARG_KEY {
            next_key += 1;
            next_key - 1
        } else {
            -1
        };
        arguments.push(raw::CommandArgument {
            name: keep(name),
            kind,
            key_spec_index,
            token: word.map_or(null(), |word| keep(word)),
            summary: null(),
            since: null(),
            flags,
            deprecated_since: null(),
            subargs: null_mut(),
            display_text: null(),
        });
    }
    arguments.push(raw::CommandArgument {
        name: null(),
        kind: 0,
        key_spec_index: -1,
        token: null(),
        summary: null(),
        since: null(),
        flags: 0,
        deprecated_since: null(),
        subargs: null_mut(),
        display_text: null(),
    });
    let strict = settings::dialect() == Dialect::RedisBloom;
    let version = raw::CommandInfoVersion {
        version: 1,
        size_of_history: 2 * size_of::<usize>(),
        size_of_key_spec: size_of::<raw::KeySpec>(),
        size_of_argument: size_of::<raw::CommandArgument>(),
    };
    let info = raw::CommandInfo {
        version: &raw const version,
        summary: keep(spec.summary),
        complexity: keep(spec.complexity),
        since: keep(env!("CARGO_PKG_VERSION")),
        history: null_mut(),
        tips: null(),
        arity: if strict { spec.arity } else { 0 },
        key_specs: keys.as_mut_ptr(),
        arguments: arguments.as_mut_ptr(),
    };
    // SAFETY: a command of ours; the arrays end with an entry of zeros, as the server expects.
    unsafe { (api().set_command_info)(command, &raw const info) == raw::OK }
}

/// One function of C for each place of the table.
macro_rules! calls {
    ($($place:literal)*) => {
        const CALLS: [raw::CommandFunction; [$($place),*].len()] = [$(call::<$place>),*];
    };
}

calls! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44
}

// A command without a function would not be registered.
const _: () = assert!(CALLS.len() == COMMANDS.len(), "one number for each command");
