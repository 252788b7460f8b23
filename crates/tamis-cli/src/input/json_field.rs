//! A field of a JSON record, found without building the rest of the record.

use anyhow::{Context, bail};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Where a field stands in a record: names of objects' members and numbers of arrays' elements,
/// with dots between them (`user.email`, `tags.0`). A dot within a name is written `\.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldPath {
    steps: Vec<String>,
}

impl FromStr for FieldPath {
    type Err = String;

    fn from_str(text: &str) -> Result<FieldPath, String> {
        let mut steps = vec![String::new()];
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '.' => steps.push(String::new()),
                '\\' => match letters.next() {
                    Some(escaped @ ('.' | '\\')) => push(&mut steps, escaped),
                    _ => return Err(r"a \ stands before a dot or another \ only".to_owned()),
                },
                other => push(&mut steps, other),
            }
        }
        if steps.iter().any(String::is_empty) {
            return Err("write names with single dots between them, such as user.email".to_owned());
        }
        Ok(FieldPath { steps })
    }
}

fn push(steps: &mut [String], letter: char) {
    if let Some(step) = steps.last_mut() {
        step.push(letter);
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            write!(out, "{dot}{}", step.replace('\\', r"\\").replace('.', r"\."))?;
        }
        Ok(())
    }
}

impl FieldPath {
    /// The field as it is written in the record; nothing if the record lacks it or has `null`
    /// there. The first of several members with one name counts.
    pub(crate) fn find<'a>(&self, record: &'a [u8]) -> anyhow::Result<Option<&'a RawValue>> {
        let mut json = serde_json::Deserializer::from_slice(record);
        let found = Step(&self.steps).deserialize(&mut json);
        let found = found.and_then(|found| json.end().map(|()| found)).context("is not JSON")?;
        Ok(found.filter(|value| value.get() != "null"))
    }

    /// The field as text: what a string says, or a number, `true` or `false` as it is written.
    pub(crate) fn text<'a>(&self, record: &'a [u8]) -> anyhow::Result<Option<Cow<'a, str>>> {
        self.find(record)?.map(text_of).transpose()
    }
}

/// What a value says as text.
pub(crate) fn text_of(value: &RawValue) -> anyhow::Result<Cow<'_, str>> {
    let raw = value.get();
    match raw.as_bytes() {
        [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
            Ok(Cow::Borrowed(&raw[1..raw.len() - 1]))
        }
        [b'"', ..] => Ok(Cow::Owned(serde_json::from_str(raw).context("is not JSON")?)),
        [b'{' | b'[', ..] => bail!("has an object or an array there; name a field within it"),
        _ => Ok(Cow::Borrowed(raw)),
    }
}

/// The steps that are left to the field.
struct Step<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        match self.0 {
            [] => serde::Deserialize::deserialize(json).map(Some),
            _ => json.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((name, rest)) = self.0.split_first() else { return Ok(None) };
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if found.is_none() && key == *name {
                found = map.next_value_seed(Step(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let Some((name, rest)) = self.0.split_first() else { return Ok(None) };
        let wanted: Option<usize> = name.parse().ok();
        let mut found = None;
        for at in 0.. {
            if Some(at) == wanted {
                match seq.next_element_seed(Step(rest))? {
                    Some(element) => found = element,
                    None => break,
                }
            } else if seq.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }

    // A step into something that has no parts finds nothing.
    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, record: &str) -> Option<String> {
        let path: FieldPath = path.parse().unwrap();
        path.text(record.as_bytes()).unwrap().map(Cow::into_owned)
    }

    #[test]
    fn fields_are_found_at_every_depth() {
        let record = r#"{"a": {"b": [1, {"c": "x\ny"}], "b.c": "dot"}, "n": -1.50, "z": null}"#;
        assert_eq!(text("a.b.1.c", record).as_deref(), Some("x\ny"));
        assert_eq!(text("a.b.0", record).as_deref(), Some("1"));
        assert_eq!(text(r"a.b\.c", record).as_deref(), Some("dot"));
        assert_eq!(text("n", record).as_deref(), Some("-1.50"));
        for absent in ["z", "a.b.2", "a.b.x", "n.x", "a.x.y", "q"] {
            assert_eq!(text(absent, record), None, "{absent}");
        }
    }

    /// The walk over a record against the tree that serde_json builds of it.
    #[test]
    fn the_walk_agrees_with_the_tree() {
        let record =
            r#"{"k":[[1,2],{"k":"v","w":[true,"é\u00e9"]}],"":{"x":1},"w":{"w":{"k":"d"}}}"#;
        let tree: serde_json::Value = serde_json::from_str(record).unwrap();
        let names = ["k", "w", "0", "1", "x"];
        for a in names {
            for b in names {
                for c in names {
                    for depth in 1..=3 {
                        let steps = &[a, b, c][..depth];
                        let mut at = Some(&tree);
                        for step in steps {
                            at = at.and_then(|value| match value {
                                serde_json::Value::Array(all) => {
                                    all.get(step.parse::<usize>().ok()?)
                                }
                                other => other.get(step),
                            });
                        }
                        let path: FieldPath = steps.join(".").parse().unwrap();
                        let found = path.find(record.as_bytes()).unwrap();
                        let found = found.map(|raw| serde_json::from_str(raw.get()).unwrap());
                        assert_eq!(found.as_ref(), at, "{path}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let path: FieldPath = "a".parse().unwrap();
        for bad in ["", "{", "{\"a\":1", "{\"a\":1} x", "{\"a\" 1}", "nul", "{\"a\":\"\\x\"}"] {
            assert!(path.text(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(path.text(br#"{"a":{}}"#).is_err());
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(path.text(deep.as_bytes()).is_err());
    }

    #[test]
    fn paths_are_written_as_they_are_read() {
        for text in ["a", "user.email", r"a\.b.c", r"a\\b"] {
            assert_eq!(text.parse::<FieldPath>().unwrap().to_string(), text);
        }
        for bad in ["", ".", "a.", ".a", "a..b", r"a\b", r"a\"] {
            assert!(bad.parse::<FieldPath>().is_err(), "{bad}");
        }
    }
}
