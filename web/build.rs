//! Lists the files of the page, so that none can be forgotten: those of this folder, and those of
//! `pkg/` if `scripts/web` has made them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What a browser may ask for. The sources of this crate and its tests are not among them.
const SERVED: [&str; 5] = ["html", "css", "js", "svg", "wasm"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=.");
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut table = String::from("&[\n");
    for folder in ["", "pkg/"] {
        for name in names(&root.join(folder))? {
            let path = root.join(folder).join(&name);
            let _ =
                writeln!(table, "    ({:?}, include_bytes!({path:?})),", folder.to_owned() + &name);
        }
    }
    table.push(']');
    fs::write(out.join("files.rs"), table)
}

/// The names of the served files in a folder, in order. A folder that is missing has none.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let served = path.extension().is_some_and(|end| SERVED.iter().any(|served| end == *served));
        if let (true, Some(name)) = (served, path.file_name().and_then(|name| name.to_str())) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
