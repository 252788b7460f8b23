//! Privacy losses.

use tamis::privacy::Epsilon;

/// A privacy loss.
pub fn epsilon(text: &str) -> Result<Epsilon, String> {
    text.parse().map_err(|error: tamis::Error| error.to_string())
}
