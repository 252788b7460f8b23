//! Turns the WebAssembly that cargo made into a module for JavaScript:
//! `wasm-module FILE.wasm NAME FOLDER` writes NAME.js and NAME_bg.wasm.
//!
//! `--lookup` drops code that the small build never calls. The compiler must keep it, since the
//! table of methods of a filter of any kind names it.

use std::process::ExitCode;
use walrus::{FunctionBuilder, FunctionId, FunctionKind, Module};
use wasm_bindgen_cli_support::Bindgen;

/// The methods of `Stored` that the small build does not call: those that change a filter or write
/// it, and the batches, which are fast rather than small.
const UNCALLED: [&str; 11] = [
    "contains_many",
    "header",
    "insert",
    "insert_many",
    "insert_number",
    "intersect",
    "list",
    "remove",
    "remove_number",
    "resize",
    "union",
];

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let lookup = arguments.last().is_some_and(|last| last == "--lookup");
    if lookup {
        arguments.pop();
    }
    let [wasm, name, folder] = arguments.as_slice() else {
        eprintln!("usage: wasm-module FILE.wasm NAME FOLDER [--lookup]");
        return ExitCode::from(2);
    };
    match make(wasm, name, folder, lookup) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-module: {error}");
            ExitCode::FAILURE
        }
    }
}

fn make(wasm: &str, name: &str, folder: &str, lookup: bool) -> Result<(), String> {
    let mut bytes = std::fs::read(wasm).map_err(|error| format!("{wasm}: {error}"))?;
    if lookup {
        bytes = without_uncalled(&bytes)?;
    }
    let mut bindgen = Bindgen::new();
    bindgen
        .web(true)
        .and_then(|bindgen| {
            bindgen
                .input_bytes(name, bytes)
                .typescript(false)
                .remove_name_section(true)
                .remove_producers_section(true)
                .generate(folder)
        })
        .map_err(|error| format!("{error:#}"))
}

/// The module without the methods that are not called. A call to one would be a trap.
fn without_uncalled(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut module = Module::from_buffer(bytes).map_err(|error| format!("{error:#}"))?;
    let named = |name: &str| name.contains("Stored") && UNCALLED.iter().any(|it| is(name, it));
    let dropped: Vec<FunctionId> = module
        .funcs
        .iter_local()
        .map(|(id, _)| id)
        .filter(|id| module.funcs.get(*id).name.as_deref().is_some_and(named))
        .collect();
    if dropped.is_empty() {
        return Err("no method to drop was found: are the names stripped?".to_owned());
    }
    for id in dropped {
        let kind = module.types.get(module.funcs.get(id).ty());
        let (takes, gives) = (kind.params().to_vec(), kind.results().to_vec());
        let arguments = takes.iter().map(|kind| module.locals.add(*kind)).collect();
        let mut body = FunctionBuilder::new(&mut module.types, &takes, &gives);
        body.func_body().unreachable();
        module.funcs.get_mut(id).kind = FunctionKind::Local(body.local_func(arguments));
    }
    walrus::passes::gc::run(&mut module);
    Ok(module.emit_wasm())
}

/// Whether a mangled name ends in this method: its length and the name, before the hash.
fn is(mangled: &str, method: &str) -> bool {
    let end = format!("{}{method}17h", method.len());
    mangled.rfind("17h").is_some_and(|hash| mangled[..hash + 3].ends_with(&end))
}
