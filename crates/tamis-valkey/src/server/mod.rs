//! The edge to the server: everything `unsafe` is here, behind types that the commands use safely.
//!
//! | file | what it holds |
//! |---|---|
//! | `raw` | the server's functions and structs, as C has them |
//! | `allocator` | memory from the server |
//! | `types` | the data types: saving, loading, copying, counting |
//! | `describe` | what `COMMAND` and `COMMAND DOCS` say of a command |
//! | `settings` | `CONFIG SET tamis.*` |
//! | `load` | what happens when the server loads the module |
//!
//! A panic that reached the server would end it. Every function that the server calls catches
//! panics.

// The server is written in C. Each block has its reason.
#![allow(unsafe_code)]

mod allocator;
mod describe;
mod load;
mod raw;
mod settings;
mod types;

pub(crate) use describe::{Argument, KeyUse, Spec};
pub(crate) use types::TypeName;

use crate::refusal::{Outcome, Refusal};
use crate::value::Value;
use raw::api;
use std::ffi::{CStr, CString, c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// The context of one call of a command.
pub(crate) struct Context {
    raw: *mut raw::Context,
}

/// An argument of a command.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    raw: *mut raw::Text,
    lifetime: PhantomData<&'a [u8]>,
}

impl<'a> Text<'a> {
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        let mut length = 0;
        // SAFETY: the server keeps the argument during the call, which is the lifetime.
        unsafe {
            let start = (api().string_bytes)(self.raw, &raw mut length);
            slice(start.cast(), length)
        }
    }
}

/// The bytes that C calls by their start and length; a null start is no bytes.
///
/// # Safety
///
/// The bytes are there and unchanged for the lifetime that the caller gives them.
unsafe fn slice<'a>(start: *const u8, length: usize) -> &'a [u8] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, length) }
}

/// The arguments of a command, without its name.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a> {
    raw: &'a [*mut raw::Text],
}

impl<'a> Arguments<'a> {
    pub(crate) fn len(self) -> usize {
        self.raw.len()
    }

    pub(crate) fn get(self, place: usize) -> Option<Text<'a>> {
        self.raw.get(place).map(|raw| Text { raw: *raw, lifetime: PhantomData })
    }

    /// The bytes of an argument that the command's arity guarantees; none if it does not.
    pub(crate) fn bytes(self, place: usize) -> &'a [u8] {
        self.get(place).map_or(&[], Text::bytes)
    }

    pub(crate) fn from(self, place: usize) -> Arguments<'a> {
        Arguments { raw: self.raw.get(place..).unwrap_or(&[]) }
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'a [u8]> + Clone {
        self.raw.iter().map(|raw| Text { raw: *raw, lifetime: PhantomData }.bytes())
    }

    pub(crate) fn texts(self) -> impl Iterator<Item = Text<'a>> + Clone {
        self.raw.iter().map(|raw| Text { raw: *raw, lifetime: PhantomData })
    }
}

/// A command: its arguments without its name. What it refuses becomes the reply.
pub(crate) type Run = fn(&mut Context, Arguments<'_>) -> Outcome;

/// Runs a command for the server.
///
/// # Safety
///
/// The server calls it, with its own context and arguments.
unsafe fn run(
    context: *mut raw::Context,
    arguments: *mut *mut raw::Text,
    count: c_int,
    command: Run,
) -> c_int {
    let all: &[*mut raw::Text] = match usize::try_from(count) {
        // SAFETY: the server gives so many arguments, for the time of the call.
        Ok(count) if !arguments.is_null() => unsafe {
            std::slice::from_raw_parts(arguments, count)
        },
        _ => &[],
    };
    let mut context = Context { raw: context };
    let given = Arguments { raw: all.get(1..).unwrap_or(&[]) };
    match catch_unwind(AssertUnwindSafe(|| command(&mut context, given))) {
        Ok(Ok(())) => {}
        Ok(Err(refusal)) => context.reply_error(&refusal),
        Err(_) => context.reply_error(&Refusal::internal()),
    }
    raw::OK
}

impl Context {
    pub(crate) fn reply_error(&self, refusal: &Refusal) {
        let text = c_text(refusal.text());
        // SAFETY: a context of this call, and a text that ends with zero.
        unsafe { (api().reply_error)(self.raw, text.as_ptr()) };
    }

    pub(crate) fn reply_ok(&self) {
        self.reply_simple(c"OK");
    }

    pub(crate) fn reply_simple(&self, text: &CStr) {
        // SAFETY: a context of this call, and a text that ends with zero.
        unsafe { (api().reply_simple)(self.raw, text.as_ptr()) };
    }

    pub(crate) fn reply_integer(&self, value: i64) {
        // SAFETY: a context of this call.
        unsafe { (api().reply_integer)(self.raw, value) };
    }

    /// A count; one past the largest integer of the protocol is that integer.
    pub(crate) fn reply_count(&self, value: u64) {
        self.reply_integer(i64::try_from(value).unwrap_or(i64::MAX));
    }

    /// An integer in RESP2, a boolean in RESP3.
    pub(crate) fn reply_bool(&self, value: bool) {
        // SAFETY: a context of this call.
        unsafe { (api().reply_bool)(self.raw, c_int::from(value)) };
    }

    pub(crate) fn reply_double(&self, value: f64) {
        // SAFETY: a context of this call.
        unsafe { (api().reply_double)(self.raw, value) };
    }

    pub(crate) fn reply_null(&self) {
        // SAFETY: a context of this call.
        unsafe { (api().reply_null)(self.raw) };
    }

    pub(crate) fn reply_array(&self, length: usize) {
        // SAFETY: a context of this call.
        unsafe { (api().reply_array)(self.raw, length as _) };
    }

    /// A map in RESP3; in RESP2 an array of names and values.
    pub(crate) fn reply_map(&self, length: usize) {
        // SAFETY: a context of this call.
        unsafe { (api().reply_map)(self.raw, length as _) };
    }

    pub(crate) fn reply_bytes(&self, bytes: &[u8]) {
        // SAFETY: a context of this call, and bytes that the server copies.
        unsafe { (api().reply_bytes)(self.raw, bytes.as_ptr().cast(), bytes.len()) };
    }

    /// The key, to read it.
    pub(crate) fn key<'c>(&'c self, name: Text<'_>) -> Key<'c> {
        // SAFETY: a context and an argument of this call.
        Key { raw: unsafe { (api().open_key)(self.raw, name.raw, raw::READ) }, call: PhantomData }
    }

    /// The key, to change it. No other key is open meanwhile, so that no value is borrowed twice.
    pub(crate) fn key_mut<'c>(&'c mut self, name: Text<'_>) -> KeyMut<'c> {
        // SAFETY: a context and an argument of this call.
        let raw = unsafe { (api().open_key)(self.raw, name.raw, raw::READ | raw::WRITE) };
        KeyMut(Key { raw, call: PhantomData })
    }

    /// Tells those who watch the key, and those who listen to events, that it has changed.
    pub(crate) fn changed(&self, name: Text<'_>, event: &CStr) {
        // SAFETY: a context and an argument of this call, and a text that ends with zero.
        unsafe {
            (api().signal_modified)(self.raw, name.raw);
            (api().notify)(self.raw, raw::NOTIFY_GENERIC, event.as_ptr(), name.raw);
        }
    }

    /// Sends the command as it came to replicas and to the append-only file.
    pub(crate) fn replicate_as_is(&self) {
        // SAFETY: a context of this call.
        unsafe { (api().replicate_verbatim)(self.raw) };
    }

    /// Sends another command in its place.
    pub(crate) fn replicate(&self, command: &CStr, arguments: &[&[u8]]) {
        let mut texts = OwnedTexts::new(self.raw, arguments);
        let pointers = &mut texts.all;
        // SAFETY: the format "v" takes an array of strings and its length; the server copies them.
        unsafe {
            let (start, count) = (pointers.as_mut_ptr(), pointers.len());
            (api().replicate)(self.raw, command.as_ptr(), c"v".as_ptr(), start, count);
        }
    }

    /// Whether the command may wait for another thread: not in a transaction or script, and not if
    /// it comes from the master or from the append-only file.
    pub(crate) fn may_wait(&self) -> bool {
        const NEVER: c_int = raw::FLAG_LUA
            | raw::FLAG_MULTI
            | raw::FLAG_REPLICATED
            | raw::FLAG_LOADING
            | raw::FLAG_DENY_BLOCKING;
        self.flags() & NEVER == 0
    }

    /// Whether the command comes from the master or from the append-only file: it was accepted
    /// there, so it is done here whatever this server's settings say.
    pub(crate) fn is_replayed(&self) -> bool {
        self.flags() & (raw::FLAG_REPLICATED | raw::FLAG_LOADING) != 0
    }

    /// Whether the client speaks RESP3.
    pub(crate) fn speaks_resp3(&self) -> bool {
        self.flags() & raw::FLAG_RESP3 != 0
    }

    fn flags(&self) -> c_int {
        // SAFETY: a context of this call.
        unsafe { (api().context_flags)(self.raw) }
    }

    /// Does `work` on another thread while the server goes on, and then `finish` on the server's
    /// own thread. If the command may not wait, both are done at once.
    pub(crate) fn elsewhere<T: Send + 'static>(
        &mut self,
        arguments: Arguments<'_>,
        work: impl FnOnce() -> T + Send + 'static,
        finish: Finish<T>,
    ) -> Outcome {
        self.elsewhere_with(arguments, HeldText(std::ptr::null_mut()), |_| work(), finish)
    }

    /// Keeps an argument for another thread.
    pub(crate) fn hold(&self, text: Text<'_>) -> HeldText {
        // SAFETY: an argument of this call. Without a context nobody but `HeldText` frees it.
        HeldText(unsafe { (api().hold_string)(std::ptr::null_mut(), text.raw) })
    }

    /// The same for work on the bytes of an argument.
    pub(crate) fn elsewhere_with<T: Send + 'static>(
        &mut self,
        arguments: Arguments<'_>,
        held: HeldText,
        work: impl FnOnce(&[u8]) -> T + Send + 'static,
        finish: Finish<T>,
    ) -> Outcome {
        if !self.may_wait() {
            return finish(self, arguments, work(held.bytes()));
        }
        // SAFETY: a context of this call, and functions of the types that the server asks for. No
        // timeout is set, so no function for it is needed.
        let blocked = unsafe {
            (api().block_client)(self.raw, Some(wake::<T>), None, Some(drop_waiting::<T>), 0)
        };
        if blocked.is_null() {
            return finish(self, arguments, work(held.bytes()));
        }
        let mut parcel = Box::new(Parcel {
            blocked,
            work: Some(work),
            waiting: Some(Box::new(Waiting { result: None, finish, held })),
        });
        let started = std::thread::Builder::new().name("tamis".to_owned()).spawn(move || {
            let Some(mut waiting) = parcel.waiting.take() else { return };
            let (bytes, work) = (waiting.held.bytes(), parcel.work.take());
            let work = AssertUnwindSafe(|| work.map(|work| work(bytes)));
            waiting.result = catch_unwind(work).ok().flatten();
            // SAFETY: the client was blocked for this thread, which unblocks it once. The server
            // frees the box by `drop_waiting`, on its own thread.
            unsafe { (api().unblock_client)(parcel.blocked, Box::into_raw(waiting).cast()) };
        });
        if started.is_err() {
            // SAFETY: the client was blocked above, and no thread holds it.
            unsafe { (api().abort_block)(blocked) };
            return Err(Refusal::new("ERR the system gives the server no thread: try again later"));
        }
        Ok(())
    }
}

/// What is done on the server's own thread with what another thread has made.
pub(crate) type Finish<T> = fn(&mut Context, Arguments<'_>, T) -> Outcome;

/// An argument that outlives its call.
pub(crate) struct HeldText(*mut raw::Text);

// SAFETY: the bytes of an argument do not change. The string goes back to the server's own thread
// to be freed.
unsafe impl Send for HeldText {}

impl HeldText {
    fn bytes(&self) -> &[u8] {
        if self.0.is_null() {
            return &[];
        }
        Text { raw: self.0, lifetime: PhantomData }.bytes()
    }
}

impl Drop for HeldText {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: held by `Context::hold`, and freed once.
            unsafe { (api().free_string)(std::ptr::null_mut(), self.0) };
        }
    }
}

/// What goes to another thread.
struct Parcel<T, W> {
    blocked: *mut raw::Blocked,
    work: Option<W>,
    waiting: Option<Box<Waiting<T>>>,
}

// SAFETY: the server lets any thread unblock a client; all else may be sent.
unsafe impl<T: Send, W: Send> Send for Parcel<T, W> {}

/// What another thread has made for a client that waits; `None` if it panicked.
struct Waiting<T> {
    result: Option<T>,
    finish: Finish<T>,
    held: HeldText,
}

/// The server calls this on its own thread when the work is done.
unsafe extern "C" fn wake<T>(
    context: *mut raw::Context,
    arguments: *mut *mut raw::Text,
    count: c_int,
) -> c_int {
    // SAFETY: the data of the client is the box that the thread made; nobody else uses it now.
    let waiting = unsafe { (api().blocked_data)(context).cast::<Waiting<T>>().as_mut() };
    let work = waiting.and_then(|waiting| Some((waiting.result.take()?, waiting.finish)));
    let mut caller = Context { raw: context };
    let all: &[*mut raw::Text] = match usize::try_from(count) {
        // SAFETY: the server gives the arguments of the command that waits.
        Ok(count) if !arguments.is_null() => unsafe {
            std::slice::from_raw_parts(arguments, count)
        },
        _ => &[],
    };
    let given = Arguments { raw: all.get(1..).unwrap_or(&[]) };
    let done = catch_unwind(AssertUnwindSafe(|| match work {
        Some((result, finish)) => finish(&mut caller, given, result),
        None => Err(Refusal::internal()),
    }));
    match done {
        Ok(Ok(())) => {}
        Ok(Err(refusal)) => caller.reply_error(&refusal),
        Err(_) => caller.reply_error(&Refusal::internal()),
    }
    raw::OK
}

/// The server calls this when the client has its reply, or is gone.
unsafe extern "C" fn drop_waiting<T>(_: *mut raw::Context, data: *mut c_void) {
    if !data.is_null() {
        // SAFETY: the box that the thread made; the server frees it once.
        let waiting = unsafe { Box::from_raw(data.cast::<Waiting<T>>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(waiting)));
    }
}

/// Strings of the server that are freed at the end.
struct OwnedTexts {
    context: *mut raw::Context,
    all: Vec<*mut raw::Text>,
}

impl OwnedTexts {
    /// The context may be null where there is none.
    fn new(context: *mut raw::Context, texts: &[&[u8]]) -> OwnedTexts {
        let make = |text: &&[u8]| {
            // SAFETY: the server copies the bytes.
            unsafe { (api().create_string)(context, text.as_ptr().cast(), text.len()) }
        };
        OwnedTexts { context, all: texts.iter().map(make).collect() }
    }
}

impl Drop for OwnedTexts {
    fn drop(&mut self) {
        for text in &self.all {
            // SAFETY: made by `new`, with the same context.
            unsafe { (api().free_string)(self.context, *text) };
        }
    }
}

/// What a key holds.
pub(crate) enum Held<T> {
    /// There is no such key.
    Nothing,
    /// A value of this module.
    Ours(T),
    /// A value of another type.
    Other,
}

/// An open key.
pub(crate) struct Key<'c> {
    raw: *mut raw::Key,
    call: PhantomData<&'c Context>,
}

impl Key<'_> {
    /// What the key holds.
    #[inline]
    pub(crate) fn held(&self) -> Held<&Value> {
        match self.value() {
            // SAFETY: the key is open to read, and nobody can change it meanwhile: `key_mut` needs
            // the context for itself alone.
            Held::Ours(value) => Held::Ours(unsafe { &*value }),
            Held::Nothing => Held::Nothing,
            Held::Other => Held::Other,
        }
    }

    fn value(&self) -> Held<*mut Value> {
        // SAFETY: an open key, or null for none.
        unsafe {
            if self.raw.is_null() {
                return Held::Nothing;
            }
            match (api().key_type)(self.raw) {
                raw::KEY_EMPTY => Held::Nothing,
                raw::KEY_MODULE if types::is_ours((api().get_type)(self.raw)) => {
                    Held::Ours((api().get_value)(self.raw).cast())
                }
                _ => Held::Other,
            }
        }
    }

    /// Hands the members of a set to `take`. `false` if the key holds no set.
    pub(crate) fn each_member(&self, take: &mut dyn FnMut(&[u8])) -> bool {
        unsafe extern "C" fn scanned(
            _: *mut raw::Key,
            field: *mut raw::Text,
            _: *mut raw::Text,
            data: *mut c_void,
        ) {
            // SAFETY: the data is the reference below, and the field is a string of this call.
            let (take, member) = unsafe {
                (
                    &mut *data.cast::<&mut dyn FnMut(&[u8])>(),
                    Text { raw: field, lifetime: PhantomData },
                )
            };
            let _ = catch_unwind(AssertUnwindSafe(|| take(member.bytes())));
        }
        // SAFETY: the key is open; the cursor is made and destroyed here; `take` outlives the scan.
        unsafe {
            if self.raw.is_null() || (api().key_type)(self.raw) != raw::KEY_SET {
                return false;
            }
            let cursor = (api().cursor_create)();
            let mut take: &mut dyn FnMut(&[u8]) = take;
            let data = (&raw mut take).cast::<c_void>();
            while (api().scan_key)(self.raw, cursor, scanned, data) != 0 {}
            (api().cursor_destroy)(cursor);
        }
        true
    }
}

impl Drop for Key<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: opened by this call, and closed once.
            unsafe { (api().close_key)(self.raw) };
        }
    }
}

/// A key that is open to be changed.
pub(crate) struct KeyMut<'c>(Key<'c>);

impl KeyMut<'_> {
    /// What the key holds.
    #[inline]
    pub(crate) fn held(&mut self) -> Held<&mut Value> {
        match self.0.value() {
            // SAFETY: the key is open to write, and it is the only open key of this call.
            Held::Ours(value) => Held::Ours(unsafe { &mut *value }),
            Held::Nothing => Held::Nothing,
            Held::Other => Held::Other,
        }
    }

    /// Puts a value there, in place of what was there.
    pub(crate) fn set(&mut self, value: Value) -> Outcome {
        let name = value.type_name();
        let value = types::hand_over(value);
        // SAFETY: the key is open to write; the server frees the value by the type's `free`.
        let status = unsafe { (api().set_value)(self.0.raw, types::pointer(name), value) };
        if status == raw::OK {
            return Ok(());
        }
        // SAFETY: the server refused it, so it is still ours.
        drop(unsafe { types::take_back(value) });
        Err(Refusal::new("ERR the server refused the value"))
    }

    /// Removes the key.
    pub(crate) fn delete(&mut self) {
        // SAFETY: the key is open to write.
        unsafe { (api().delete_key)(self.0.raw) };
    }
}

/// The server's clock: the time since 1970, in whole milliseconds.
pub(crate) fn now() -> Duration {
    // SAFETY: takes nothing.
    Duration::from_millis(u64::try_from(unsafe { (api().milliseconds)() }).unwrap_or(0))
}

/// A text for C, up to its first zero.
fn c_text(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}
