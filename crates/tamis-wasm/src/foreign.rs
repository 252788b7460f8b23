//! Filters of other programs.

use crate::error::thrown;
use crate::plan::framed;
use tamis_facts::ForeignInfo;
use tamis_foreign::{ForeignFilter, KeyKind, Open};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// A filter of another program.
#[wasm_bindgen]
pub struct RawForeign(ForeignFilter);

#[wasm_bindgen]
impl RawForeign {
    /// Opens bytes of this format, or of the one whose shape they have.
    pub fn open(
        bytes: &[u8],
        format: Option<String>,
        max_bytes: f64,
    ) -> Result<RawForeign, JsValue> {
        let mut open = Open::new().max_memory(max_bytes as u64);
        if let Some(format) = format {
            open = open.from(format.parse().map_err(|error: String| thrown(error))?);
        }
        open.bytes(bytes).map(RawForeign).map_err(thrown)
    }

    /// The name of its format.
    #[must_use]
    pub fn format(&self) -> String {
        self.0.format().name().to_owned()
    }

    /// The kinds of keys that it takes.
    #[must_use]
    pub fn key_kinds(&self) -> Vec<String> {
        self.0.format().key_kinds().iter().map(ToString::to_string).collect()
    }

    /// Whether a key passes that is written as text.
    pub fn query(&self, text: &str, kind: Option<String>) -> Result<bool, JsValue> {
        let kind: KeyKind = match (kind, self.0.format().key_kinds()) {
            (Some(kind), _) => kind.parse().map_err(|error: String| thrown(error))?,
            (None, [first, ..]) => *first,
            (None, []) => return Err(thrown("say what the key is: keyKind")),
        };
        let mut key = Vec::new();
        self.0.format().encode(kind, text.as_bytes(), &mut key).map_err(thrown)?;
        let is_other = || kind.other_zero(&key).is_some_and(|other| self.0.contains(&other));
        Ok(self.0.contains(&key) || is_other())
    }

    /// What is known of it, as JSON.
    pub fn info(&self) -> Result<String, JsValue> {
        serde_json::to_string(&ForeignInfo::new(&self.0)).map_err(thrown)
    }

    /// What it holds, as SVG.
    #[must_use]
    pub fn picture(&self, title: String, bare: bool) -> String {
        let parts = self.0.parts();
        let bodies: Vec<_> = parts.iter().map(|part| (part.body, part.bits)).collect();
        let note = format!(
            "{:.1}% of {} are set; of strangers {} pass now.",
            100.0 * self.0.fill(),
            tamis_plot::counted(self.0.bits(), "bit"),
            tamis_plot::percent(self.0.expected_fpr())
        );
        framed(tamis_plot::picture::of_bits(&bodies, title, note).svg(), bare)
    }
}
