//! Turns the WebAssembly that cargo made into a module for JavaScript:
//! `wasm-module FILE.wasm NAME FOLDER` writes NAME.js and NAME_bg.wasm.

use std::process::ExitCode;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [wasm, name, folder] = arguments.as_slice() else {
        eprintln!("usage: wasm-module FILE.wasm NAME FOLDER");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    let made = bindgen.web(true).and_then(|bindgen| {
        bindgen
            .input_path(wasm)
            .out_name(name)
            .typescript(false)
            .remove_name_section(true)
            .remove_producers_section(true)
            .generate(folder)
    });
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wasm-module: {error:#}");
            ExitCode::FAILURE
        }
    }
}
