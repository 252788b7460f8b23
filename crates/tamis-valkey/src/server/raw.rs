//! The part of the server's C interface that this module uses, written by hand.
//!
//! A server hands its functions out by name, and both Valkey and Redis know the names that begin
//! with `RedisModule_`. So one library loads in both, and no C header or libclang is needed to
//! build it. The interface is stable: functions are added and never changed.

use std::ffi::{c_char, c_int, c_long, c_longlong, c_uint, c_ulonglong, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What a call of the server answers if it worked.
pub(super) const OK: c_int = 0;
/// What it answers if not.
pub(super) const ERR: c_int = 1;

pub(super) const READ: c_int = 1;
pub(super) const WRITE: c_int = 2;

pub(super) const KEY_EMPTY: c_int = 0;
pub(super) const KEY_SET: c_int = 4;
pub(super) const KEY_MODULE: c_int = 6;

/// Truncated data give an error instead of ending the server.
pub(super) const OPTION_HANDLE_IO_ERRORS: c_int = 1 << 0;
/// The module says itself which keys it changed.
pub(super) const OPTION_NO_IMPLICIT_SIGNAL: c_int = 1 << 1;
/// The module keeps nothing outside of keys, so a replica may load in the background.
pub(super) const OPTION_ASYNC_LOAD: c_int = 1 << 2;

pub(super) const NOTIFY_GENERIC: c_int = 1 << 2;

pub(super) const FLAG_LUA: c_int = 1 << 0;
pub(super) const FLAG_MULTI: c_int = 1 << 1;
pub(super) const FLAG_REPLICATED: c_int = 1 << 12;
pub(super) const FLAG_LOADING: c_int = 1 << 13;
pub(super) const FLAG_DENY_BLOCKING: c_int = 1 << 21;
pub(super) const FLAG_RESP3: c_int = 1 << 22;

pub(super) const CONFIG_DEFAULT: c_uint = 0;
pub(super) const CONFIG_MEMORY: c_uint = 1 << 7;

macro_rules! opaque {
    ($($(#[$about:meta])* $name:ident)*) => {$(
        $(#[$about])*
        #[repr(C)]
        pub(crate) struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

opaque! {
    Text
    Key
    Type
    Io
    Digest
    Defrag
    Info
    Command
    Blocked
    Cursor
}

/// The context of a call. It begins with the function that finds the others.
#[repr(C)]
pub(crate) struct Context {
    get_api: Option<unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int>,
}

pub(super) type CommandFunction =
    unsafe extern "C" fn(*mut Context, *mut *mut Text, c_int) -> c_int;
pub(super) type FreeData = unsafe extern "C" fn(*mut Context, *mut c_void);
pub(super) type Scanned = unsafe extern "C" fn(*mut Key, *mut Text, *mut Text, *mut c_void);

/// The callbacks of a data type, version 4: that of Redis 7.0.
#[repr(C)]
pub(super) struct TypeMethods {
    pub(super) version: u64,
    pub(super) rdb_load: Option<unsafe extern "C" fn(*mut Io, c_int) -> *mut c_void>,
    pub(super) rdb_save: Option<unsafe extern "C" fn(*mut Io, *mut c_void)>,
    pub(super) aof_rewrite: Option<unsafe extern "C" fn(*mut Io, *mut Text, *mut c_void)>,
    pub(super) mem_usage: Option<unsafe extern "C" fn(*const c_void) -> usize>,
    pub(super) digest: Option<unsafe extern "C" fn(*mut Digest, *mut c_void)>,
    pub(super) free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) aux_load: Option<unsafe extern "C" fn()>,
    pub(super) aux_save: Option<unsafe extern "C" fn()>,
    pub(super) aux_save_triggers: c_int,
    pub(super) free_effort: Option<unsafe extern "C" fn(*mut Text, *const c_void) -> usize>,
    pub(super) unlink: Option<unsafe extern "C" fn()>,
    pub(super) copy:
        Option<unsafe extern "C" fn(*mut Text, *mut Text, *const c_void) -> *mut c_void>,
    pub(super) defrag:
        Option<unsafe extern "C" fn(*mut Defrag, *mut Text, *mut *mut c_void) -> c_int>,
    pub(super) mem_usage2: Option<unsafe extern "C" fn()>,
    pub(super) free_effort2: Option<unsafe extern "C" fn()>,
    pub(super) unlink2: Option<unsafe extern "C" fn()>,
    pub(super) copy2: Option<unsafe extern "C" fn()>,
}

pub(super) const ARG_STRING: c_int = 0;
pub(super) const ARG_INTEGER: c_int = 1;
pub(super) const ARG_DOUBLE: c_int = 2;
pub(super) const ARG_KEY: c_int = 3;
pub(super) const ARG_TOKEN: c_int = 6;
pub(super) const ARG_OPTIONAL: c_int = 1 << 0;
pub(super) const ARG_MULTIPLE: c_int = 1 << 1;

pub(super) const KEY_READ_ACCESS: u64 = 1 << 0 | 1 << 4;
pub(super) const KEY_WRITE_INSERT: u64 = 1 << 1 | 1 << 6;
pub(super) const BEGIN_INDEX: c_int = 2;
pub(super) const BEGIN_KEYWORD: c_int = 3;
pub(super) const FIND_RANGE: c_int = 2;

/// An argument in the documentation of a command.
#[repr(C)]
pub(super) struct CommandArgument {
    pub(super) name: *const c_char,
    pub(super) kind: c_int,
    pub(super) key_spec_index: c_int,
    pub(super) token: *const c_char,
    pub(super) summary: *const c_char,
    pub(super) since: *const c_char,
    pub(super) flags: c_int,
    pub(super) deprecated_since: *const c_char,
    pub(super) subargs: *mut CommandArgument,
    pub(super) display_text: *const c_char,
}

/// Where the keys of a command are: from the argument `position` on.
#[repr(C)]
pub(super) struct KeySpec {
    pub(super) notes: *const c_char,
    pub(super) flags: u64,
    pub(super) begin_kind: c_int,
    pub(super) begin: Begin,
    pub(super) find_kind: c_int,
    pub(super) find: Range,
}

/// In C a union of an index and of a keyword: a pointer and an integer, the larger of the two.
#[repr(C)]
pub(super) union Begin {
    pub(super) position: c_int,
    pub(super) keyword: Keyword,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Keyword {
    pub(super) word: *const c_char,
    pub(super) start: c_int,
}

/// In C a union of two structs of three integers.
#[repr(C)]
pub(super) struct Range {
    pub(super) last: c_int,
    pub(super) step: c_int,
    pub(super) limit: c_int,
}

#[repr(C)]
pub(super) struct CommandInfoVersion {
    pub(super) version: c_int,
    pub(super) size_of_history: usize,
    pub(super) size_of_key_spec: usize,
    pub(super) size_of_argument: usize,
}

#[repr(C)]
pub(super) struct CommandInfo {
    pub(super) version: *const CommandInfoVersion,
    pub(super) summary: *const c_char,
    pub(super) complexity: *const c_char,
    pub(super) since: *const c_char,
    pub(super) history: *mut c_void,
    pub(super) tips: *const c_char,
    pub(super) arity: c_int,
    pub(super) key_specs: *mut KeySpec,
    pub(super) arguments: *mut CommandArgument,
}

pub(super) type GetNumber = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_longlong;
pub(super) type SetNumber =
    unsafe extern "C" fn(*const c_char, c_longlong, *mut c_void, *mut *mut Text) -> c_int;
pub(super) type GetText = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut Text;
pub(super) type SetText =
    unsafe extern "C" fn(*const c_char, *mut Text, *mut c_void, *mut *mut Text) -> c_int;
pub(super) type GetChoice = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int;
pub(super) type SetChoice =
    unsafe extern "C" fn(*const c_char, c_int, *mut c_void, *mut *mut Text) -> c_int;

/// Declares the functions, and how they are found by name.
macro_rules! functions {
    (
        required { $($name:ident: $server:literal $type:ty;)* }
        optional { $($maybe:ident: $maybe_server:literal $maybe_type:ty;)* }
    ) => {
        /// The server's functions.
        pub(super) struct Api {
            $(pub(super) $name: $type,)*
            $(pub(super) $maybe: Option<$maybe_type>,)*
        }

        impl Api {
            /// Finds the functions. `None` if the server is too old.
            ///
            /// # Safety
            ///
            /// The context is the one that a server gave to the module.
            unsafe fn find(context: *mut Context) -> Option<Api> {
                // SAFETY: the caller says that it is a server's context.
                let get_api = unsafe { (*context).get_api }?;
                let find = |name: *const c_char| {
                    let mut found = std::ptr::null_mut();
                    // SAFETY: the server writes one pointer there, or none.
                    let status = unsafe { get_api(name, &raw mut found) };
                    if status == OK { found } else { std::ptr::null_mut() }
                };
                Some(Api {
                    // SAFETY: a pointer to a function or null is an optional function, and the
                    // server's function of this name has this type.
                    $($name: unsafe {
                        std::mem::transmute::<*mut c_void, Option<$type>>(
                            find(concat!("RedisModule_", $server, "\0").as_ptr().cast()),
                        )
                    }?,)*
                    // SAFETY: as above.
                    $($maybe: unsafe {
                        std::mem::transmute::<*mut c_void, Option<$maybe_type>>(
                            find(concat!("RedisModule_", $maybe_server, "\0").as_ptr().cast()),
                        )
                    },)*
                })
            }
        }
    };
}

functions! {
    required {
        try_alloc: "TryAlloc" unsafe extern "C" fn(usize) -> *mut c_void;
        free: "Free" unsafe extern "C" fn(*mut c_void);
        set_attributes: "SetModuleAttribs"
            unsafe extern "C" fn(*mut Context, *const c_char, c_int, c_int);
        set_options: "SetModuleOptions" unsafe extern "C" fn(*mut Context, c_int);
        create_command: "CreateCommand"
            unsafe extern "C" fn(
                *mut Context, *const c_char, CommandFunction, *const c_char, c_int, c_int, c_int,
            ) -> c_int;
        get_command: "GetCommand"
            unsafe extern "C" fn(*mut Context, *const c_char) -> *mut Command;
        set_command_info: "SetCommandInfo"
            unsafe extern "C" fn(*mut Command, *const CommandInfo) -> c_int;
        create_type: "CreateDataType"
            unsafe extern "C" fn(
                *mut Context, *const c_char, c_int, *mut TypeMethods,
            ) -> *mut Type;
        log: "Log" unsafe extern "C" fn(*mut Context, *const c_char, *const c_char, ...);
        reply_error: "ReplyWithError" unsafe extern "C" fn(*mut Context, *const c_char) -> c_int;
        reply_simple: "ReplyWithSimpleString"
            unsafe extern "C" fn(*mut Context, *const c_char) -> c_int;
        reply_integer: "ReplyWithLongLong"
            unsafe extern "C" fn(*mut Context, c_longlong) -> c_int;
        reply_bool: "ReplyWithBool" unsafe extern "C" fn(*mut Context, c_int) -> c_int;
        reply_double: "ReplyWithDouble" unsafe extern "C" fn(*mut Context, f64) -> c_int;
        reply_null: "ReplyWithNull" unsafe extern "C" fn(*mut Context) -> c_int;
        reply_array: "ReplyWithArray" unsafe extern "C" fn(*mut Context, c_long) -> c_int;
        reply_map: "ReplyWithMap" unsafe extern "C" fn(*mut Context, c_long) -> c_int;
        reply_bytes: "ReplyWithStringBuffer"
            unsafe extern "C" fn(*mut Context, *const c_char, usize) -> c_int;
        create_string: "CreateString"
            unsafe extern "C" fn(*mut Context, *const c_char, usize) -> *mut Text;
        free_string: "FreeString" unsafe extern "C" fn(*mut Context, *mut Text);
        hold_string: "HoldString" unsafe extern "C" fn(*mut Context, *mut Text) -> *mut Text;
        string_bytes: "StringPtrLen"
            unsafe extern "C" fn(*const Text, *mut usize) -> *const c_char;
        open_key: "OpenKey"
            unsafe extern "C" fn(*mut Context, *mut Text, c_int) -> *mut Key;
        close_key: "CloseKey" unsafe extern "C" fn(*mut Key);
        key_type: "KeyType" unsafe extern "C" fn(*mut Key) -> c_int;
        delete_key: "DeleteKey" unsafe extern "C" fn(*mut Key) -> c_int;
        get_type: "ModuleTypeGetType" unsafe extern "C" fn(*mut Key) -> *mut Type;
        get_value: "ModuleTypeGetValue" unsafe extern "C" fn(*mut Key) -> *mut c_void;
        set_value: "ModuleTypeSetValue"
            unsafe extern "C" fn(*mut Key, *mut Type, *mut c_void) -> c_int;
        signal_modified: "SignalModifiedKey"
            unsafe extern "C" fn(*mut Context, *mut Text) -> c_int;
        notify: "NotifyKeyspaceEvent"
            unsafe extern "C" fn(*mut Context, c_int, *const c_char, *mut Text) -> c_int;
        replicate: "Replicate"
            unsafe extern "C" fn(*mut Context, *const c_char, *const c_char, ...) -> c_int;
        replicate_verbatim: "ReplicateVerbatim" unsafe extern "C" fn(*mut Context) -> c_int;
        context_flags: "GetContextFlags" unsafe extern "C" fn(*mut Context) -> c_int;
        milliseconds: "Milliseconds" unsafe extern "C" fn() -> c_longlong;
        save_unsigned: "SaveUnsigned" unsafe extern "C" fn(*mut Io, u64);
        load_unsigned: "LoadUnsigned" unsafe extern "C" fn(*mut Io) -> u64;
        save_bytes: "SaveStringBuffer" unsafe extern "C" fn(*mut Io, *const c_char, usize);
        load_bytes: "LoadStringBuffer" unsafe extern "C" fn(*mut Io, *mut usize) -> *mut c_char;
        is_io_error: "IsIOError" unsafe extern "C" fn(*mut Io) -> c_int;
        log_io_error: "LogIOError"
            unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...);
        emit_aof: "EmitAOF" unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...);
        digest_bytes: "DigestAddStringBuffer"
            unsafe extern "C" fn(*mut Digest, *const c_char, usize);
        digest_end: "DigestEndSequence" unsafe extern "C" fn(*mut Digest);
        defrag_alloc: "DefragAlloc"
            unsafe extern "C" fn(*mut Defrag, *mut c_void) -> *mut c_void;
        register_number: "RegisterNumericConfig"
            unsafe extern "C" fn(
                *mut Context, *const c_char, c_longlong, c_uint, c_longlong, c_longlong,
                GetNumber, SetNumber, *const c_void, *mut c_void,
            ) -> c_int;
        register_text: "RegisterStringConfig"
            unsafe extern "C" fn(
                *mut Context, *const c_char, *const c_char, c_uint,
                GetText, SetText, *const c_void, *mut c_void,
            ) -> c_int;
        register_choice: "RegisterEnumConfig"
            unsafe extern "C" fn(
                *mut Context, *const c_char, c_int, c_uint, *const *const c_char, *const c_int,
                c_int, GetChoice, SetChoice, *const c_void, *mut c_void,
            ) -> c_int;
        load_configs: "LoadConfigs" unsafe extern "C" fn(*mut Context) -> c_int;
        register_info: "RegisterInfoFunc"
            unsafe extern "C" fn(
                *mut Context, unsafe extern "C" fn(*mut Info, c_int),
            ) -> c_int;
        info_section: "InfoAddSection" unsafe extern "C" fn(*mut Info, *const c_char) -> c_int;
        info_number: "InfoAddFieldULongLong"
            unsafe extern "C" fn(*mut Info, *const c_char, c_ulonglong) -> c_int;
        info_text: "InfoAddFieldCString"
            unsafe extern "C" fn(*mut Info, *const c_char, *const c_char) -> c_int;
        block_client: "BlockClient"
            unsafe extern "C" fn(
                *mut Context, Option<CommandFunction>, Option<CommandFunction>,
                Option<FreeData>, c_longlong,
            ) -> *mut Blocked;
        unblock_client: "UnblockClient" unsafe extern "C" fn(*mut Blocked, *mut c_void) -> c_int;
        abort_block: "AbortBlock" unsafe extern "C" fn(*mut Blocked) -> c_int;
        blocked_data: "GetBlockedClientPrivateData"
            unsafe extern "C" fn(*mut Context) -> *mut c_void;
        cursor_create: "ScanCursorCreate" unsafe extern "C" fn() -> *mut Cursor;
        cursor_destroy: "ScanCursorDestroy" unsafe extern "C" fn(*mut Cursor);
        scan_key: "ScanKey"
            unsafe extern "C" fn(*mut Key, *mut Cursor, Scanned, *mut c_void) -> c_int;
    }
    optional {
        try_calloc: "TryCalloc" unsafe extern "C" fn(usize, usize) -> *mut c_void;
        add_category: "AddACLCategory"
            unsafe extern "C" fn(*mut Context, *const c_char) -> c_int;
        set_categories: "SetCommandACLCategories"
            unsafe extern "C" fn(*mut Command, *const c_char) -> c_int;
    }
}

/// Null until a server has loaded the module.
static API: AtomicPtr<Api> = AtomicPtr::new(std::ptr::null_mut());

/// Finds the server's functions, for this call and all that follow. `false` if it has not got all
/// that the module needs.
///
/// # Safety
///
/// The context is the one that a server gave to the module.
pub(super) unsafe fn find(context: *mut Context) -> bool {
    // SAFETY: the caller's promise.
    let Some(found) = (unsafe { Api::find(context) }) else { return false };
    // The box is from the system's allocator, since the server's is not known yet. It is never
    // freed, so it does not matter that the other one would free it.
    API.store(Box::leak(Box::new(found)), Ordering::Release);
    true
}

/// The server's functions, if a server has loaded the module.
#[inline(always)]
pub(super) fn known() -> Option<&'static Api> {
    // SAFETY: null, or the leaked box of `find`.
    unsafe { API.load(Ordering::Acquire).as_ref() }
}

/// The server's functions.
#[inline(always)]
pub(super) fn api() -> &'static Api {
    known().unwrap_or_else(|| unreachable!("only a server calls the module"))
}
