//! Lines, records, CSV and JSON lines, as the command line reads them.

use clap::Parser;
use tamis_cli::input::{Input, Reading};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    input: Input,
}

const FORMATS: [&[&str]; 10] = [
    &[],
    &["-0"],
    &["--raw"],
    &["--keys", "integers"],
    &["--csv", "1"],
    &["--csv", "name"],
    &["--csv", "2", "--header", "--delimiter", ";"],
    &["--csv", "1", "--keys", "integers"],
    &["--json-field", "a.0.b"],
    &["--json-field", "a", "--skip-missing", "--keys", "integers"],
];

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let Some((format, text)) = bytes.split_first() else { return };
    let format = usize::from(*format) % FORMATS.len();
    let Ok(file) = tempfile::NamedTempFile::new() else { return };
    if std::fs::write(file.path(), text).is_err() {
        return;
    }
    let Ok(line) = Line::try_parse_from(["fuzz"].iter().chain(FORMATS[format])) else {
        panic!("{format}")
    };
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let rows = format >= 4 && text.len() % 2 == 0;
    let reading = if rows { Reading::Rows } else { Reading::InOrder };
    let read = line.input.format.for_new_filter().each(
        &[file.path().to_owned()],
        "fuzzing",
        reading,
        |batch| {
            assert_eq!(batch.keys().len(), batch.len());
            assert_eq!(batch.printed().len(), batch.len());
            keys.extend(batch.texts().map(<[u8]>::to_vec));
            Ok(true)
        },
    );
    if format == 2 && read.is_ok() {
        let whole = text.strip_suffix(b"\n").unwrap_or(text);
        let model: Vec<&[u8]> =
            if text.is_empty() { Vec::new() } else { whole.split(|byte| *byte == b'\n').collect() };
        assert_eq!(keys, model);
    }
    if let Err(error) = read {
        assert!(!error.to_string().is_empty());
    }
}
