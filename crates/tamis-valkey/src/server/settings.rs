//! `CONFIG SET tamis.*`: the server's way to the module's settings.

use super::raw::{self, api};
use crate::settings::{self, DEFAULT_RATE, Layout, NUMBERS, Number};
use std::ffi::{CString, c_char, c_int, c_longlong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Registers every setting and loads what the server's configuration says of them. `false` if the
/// server refuses one.
///
/// # Safety
///
/// The context is that of the load function.
pub(super) unsafe fn register(context: *mut raw::Context) -> bool {
    let numbers = NUMBERS.iter().all(|number| {
        let flags = if number.is_memory { raw::CONFIG_MEMORY } else { raw::CONFIG_DEFAULT };
        // SAFETY: the context is the server's; the number is static, so it lives as long as the
        // server may ask for it.
        unsafe {
            let status = (api().register_number)(
                context,
                number.name.as_ptr(),
                number.default,
                flags,
                number.least,
                number.most,
                get_number,
                set_number,
                null(),
                (&raw const *number).cast_mut().cast(),
            );
            status == raw::OK
        }
    });
    let names: Vec<CString> = Layout::ALL.iter().map(|one| super::c_text(one.name())).collect();
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let places: Vec<c_int> = (0..).take(pointers.len()).collect();
    // SAFETY: the context is the server's, which copies the names.
    unsafe {
        let rate = (api().register_text)(
            context,
            c"error-rate".as_ptr(),
            DEFAULT_RATE.as_ptr(),
            raw::CONFIG_DEFAULT,
            get_rate,
            set_rate,
            null(),
            null_mut(),
        );
        let layout = (api().register_choice)(
            context,
            c"layout".as_ptr(),
            settings::layout() as c_int,
            raw::CONFIG_DEFAULT,
            pointers.as_ptr(),
            places.as_ptr(),
            pointers.len() as c_int,
            get_layout,
            set_layout,
            null(),
            null_mut(),
        );
        numbers && rate == raw::OK && layout == raw::OK && (api().load_configs)(context) == raw::OK
    }
}

unsafe extern "C" fn get_number(_: *const c_char, number: *mut c_void) -> c_longlong {
    // SAFETY: the static number that was registered.
    unsafe { &*number.cast::<Number>() }.get()
}

unsafe extern "C" fn set_number(
    _: *const c_char,
    value: c_longlong,
    number: *mut c_void,
    _: *mut *mut raw::Text,
) -> c_int {
    // SAFETY: the static number that was registered. The server has checked its range.
    unsafe { &*number.cast::<Number>() }.set(value);
    raw::OK
}

unsafe extern "C" fn get_rate(_: *const c_char, _: *mut c_void) -> *mut raw::Text {
    /// The server reads the string and leaves it to the module: it lives until the next one.
    static LAST: AtomicPtr<raw::Text> = AtomicPtr::new(null_mut());
    let text = catch_unwind(settings::rate_text).unwrap_or_default();
    // SAFETY: the server copies the bytes; the string before is ours to free.
    unsafe {
        let new = (api().create_string)(null_mut(), text.as_ptr().cast(), text.len());
        let old = LAST.swap(new, Ordering::Relaxed);
        if !old.is_null() {
            (api().free_string)(null_mut(), old);
        }
        new
    }
}

unsafe extern "C" fn set_rate(
    _: *const c_char,
    text: *mut raw::Text,
    _: *mut c_void,
    error: *mut *mut raw::Text,
) -> c_int {
    let text = super::Text { raw: text, lifetime: std::marker::PhantomData };
    let set = catch_unwind(AssertUnwindSafe(|| settings::set_rate(text.bytes())));
    let Err(why) = set.unwrap_or_else(|_| Err("a fault in the module tamis".to_owned())) else {
        return raw::OK;
    };
    // SAFETY: the server takes one string from there, and frees it.
    unsafe {
        if !error.is_null() {
            *error = (api().create_string)(null_mut(), why.as_ptr().cast(), why.len());
        }
    }
    raw::ERR
}

unsafe extern "C" fn get_layout(_: *const c_char, _: *mut c_void) -> c_int {
    settings::layout() as c_int
}

unsafe extern "C" fn set_layout(
    _: *const c_char,
    place: c_int,
    _: *mut c_void,
    _: *mut *mut raw::Text,
) -> c_int {
    settings::set_layout(place);
    raw::OK
}
