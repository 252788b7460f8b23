//! What happens when the server loads the module, and what `INFO tamis` says.

use super::raw::{self, api};
use super::{Arguments, c_text, describe, settings, types};
use crate::settings as all;
use std::ffi::{CStr, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The function that Valkey and Redis look for in a module.
// SAFETY: no other function of the library has the name.
#[unsafe(no_mangle)]
unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut raw::Context,
    arguments: *mut *mut raw::Text,
    count: c_int,
) -> c_int {
    // First of all, so that nothing is allocated before: see `allocator`.
    // SAFETY: the server's context.
    if !unsafe { raw::find(context) } {
        return raw::ERR;
    }
    let load = || {
        let given: &[*mut raw::Text] = match usize::try_from(count) {
            // SAFETY: the server gives so many arguments.
            Ok(count) if !arguments.is_null() => unsafe {
                std::slice::from_raw_parts(arguments, count)
            },
            _ => &[],
        };
        // SAFETY: the server's context, in its load function.
        unsafe { register(context, Arguments { raw: given }) }
    };
    match catch_unwind(AssertUnwindSafe(load)) {
        Ok(true) => raw::OK,
        _ => raw::ERR,
    }
}

/// # Safety
///
/// The context is that of the load function.
unsafe fn register(context: *mut raw::Context, arguments: Arguments<'_>) -> bool {
    // SAFETY: the server's context. The last 1 is the version of the interface.
    unsafe {
        (api().set_attributes)(context, c"tamis".as_ptr(), 1, 1);
        let options =
            raw::OPTION_HANDLE_IO_ERRORS | raw::OPTION_NO_IMPLICIT_SIGNAL | raw::OPTION_ASYNC_LOAD;
        (api().set_options)(context, options);
    }
    let complain = |what: &str| {
        let text = c_text(what);
        // SAFETY: the server's context, and texts that end with zero.
        unsafe {
            let (log, level) = (api().log, c"warning".as_ptr());
            log(context, level, c"tamis: %s".as_ptr(), text.as_ptr());
        }
        false
    };
    if let Err(why) = all::set_load_arguments(arguments.iter()) {
        return complain(&why);
    }
    // SAFETY: the server's context, in its load function.
    unsafe {
        if !types::register(context) {
            return complain("another module keeps values under the names of this one's types");
        }
        if !describe::register(context) {
            return complain("another module has one of the commands BF.*, CF.* or TAMIS.*");
        }
        if !settings::register(context) {
            return complain("the server refuses a setting of tamis.*");
        }
        (api().register_info)(context, inform) == raw::OK
    }
}

unsafe extern "C" fn inform(info: *mut raw::Info, _for_crash: c_int) {
    let number = |name: &CStr, value: u64| {
        // SAFETY: the server's report, and a name that ends with zero.
        unsafe { (api().info_number)(info, name.as_ptr(), value) };
    };
    let text = |name: &CStr, value: &str| {
        let value = c_text(value);
        // SAFETY: as above.
        unsafe { (api().info_text)(info, name.as_ptr(), value.as_ptr()) };
    };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the server's report; without a name the section is the module's.
        if unsafe { (api().info_section)(info, std::ptr::null()) } != raw::OK {
            return;
        }
        text(c"version", env!("CARGO_PKG_VERSION"));
        text(c"dialect", all::dialect().name());
        text(c"processor_level", tamis::processor_level());
        number(c"max_filter_bytes", all::max_filter_bytes());
        number(c"values", types::live_values());
    }));
}
