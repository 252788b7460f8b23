//! Numbers for people and for programs.

use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::Path;

/// Digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate as a person reads it: a percentage, or a power of ten where that would be all zeros.
pub(crate) fn rate(rate: f64) -> String {
    if rate == 0.0 {
        "0%".to_owned()
    } else if rate >= 1e-4 {
        let decimals = (3.0 - (rate * 100.0).log10().floor()).max(0.0) as usize;
        let text = format!("{:.decimals$}", rate * 100.0);
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        format!("{text}%")
    } else {
        format!("{rate:.2e}")
    }
}

/// An estimate as a person reads it.
pub(crate) fn about(number: f64) -> String {
    if number.is_finite() {
        grouped(number.round() as u64)
    } else {
        "more than it can tell".to_owned()
    }
}

/// A number of things, in words.
pub(crate) fn of(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// An exact JSON number, or a string past 2^53, where readers that use floats would lose digits.
pub(crate) fn integer(number: u64) -> Value {
    if number <= 1 << 53 { json!(number) } else { json!(number.to_string()) }
}

/// A JSON number, or null where there is none.
pub(crate) fn number(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { Value::Null }
}

/// Prints one JSON object, a line.
pub(crate) fn print_json(object: Map<String, Value>) -> anyhow::Result<()> {
    print(&Value::Object(object).to_string())
}

/// Prints a line; a reader who went away is an error that `main` forgives.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Prints a report of what was written to `file`; on standard error where the file itself went to
/// standard output.
pub(crate) fn report(file: &Path, text: &str) -> anyhow::Result<()> {
    if file == Path::new("-") {
        complain(text);
        return Ok(());
    }
    print(text)
}

/// The same for a JSON object.
pub(crate) fn report_json(file: &Path, object: Map<String, Value>) -> anyhow::Result<()> {
    report(file, &Value::Object(object).to_string())
}

/// Prints a line on standard error. If even that fails, there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A JSON object from names and values, in their order.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
        assert_eq!(rate(0.01), "1%");
        assert_eq!(rate(0.010_039), "1.004%");
        assert_eq!(rate(0.5), "50%");
        assert_eq!(rate(0.999), "99.9%");
        assert_eq!(rate(0.001), "0.1%");
        assert_eq!(rate(1e-6), "1.00e-6");
        assert_eq!(rate(0.0), "0%");
        assert_eq!(integer(1 << 53), json!(9_007_199_254_740_992u64));
        assert_eq!(integer((1 << 53) + 1), json!("9007199254740993"));
        assert_eq!(number(f64::INFINITY), Value::Null);
    }
}
