//! Batches of keys in and out of a filter of any kind.

use crate::input::{Batch, KeyFormat};
use crate::output::warn;
use anyhow::{Context, bail};
use tamis::{AnyFilter, Error, KeyRef};

/// How to take keys for this filter: as it has them. Warns of keys that it cannot have.
pub(crate) fn key_format(filter: &AnyFilter, format: &KeyFormat) -> anyhow::Result<KeyFormat> {
    if let Some(zone) = filter.as_zone() {
        return format.for_universe(zone.plan().universe());
    }
    let kinds = filter.as_rate().map(|rate| rate.kinds()).unwrap_or_default();
    if let Some(warning) = format.warning_for(kinds) {
        warn(&format!("tamis: warning: {warning}"));
    }
    Ok(format.for_kinds(kinds))
}

/// Whether each key of a batch passes.
pub(crate) fn contains(filter: &AnyFilter, batch: &Batch) -> anyhow::Result<Vec<bool>> {
    let Some(zone) = filter.as_zone() else { return Ok(filter.contains_many(&batch.keys())?) };
    let universe = zone.plan().universe();
    batch.texts().map(|text| Ok(zone.contains_number(universe.number_of_text(text)?)?)).collect()
}

/// Puts in the keys of a batch, and says how many were (certainly) new.
pub(crate) fn insert(filter: &mut AnyFilter, batch: &Batch, beyond: bool) -> anyhow::Result<u64> {
    match filter.as_rate_mut() {
        Some(rate) => Ok(rate.insert_many(&batch.keys())),
        None => Ok(insert_each(filter, batch, beyond)?.into_iter().map(u64::from).sum()),
    }
}

/// The same, saying of each key whether it was new.
pub(crate) fn insert_each(
    filter: &mut AnyFilter,
    batch: &Batch,
    beyond: bool,
) -> anyhow::Result<Vec<bool>> {
    if let Some(rate) = filter.as_rate_mut() {
        return Ok(batch.keys().into_iter().map(|key| rate.insert(key)).collect());
    }
    let Some(zone) = filter.as_zone_mut() else { return Ok(Vec::new()) };
    let insert = |text: &[u8]| {
        let number = zone.plan().universe().number_of_text(text)?;
        zone.insert_number(number, beyond).with_context(|| {
            format!(
                "{:?} is one item too many (--beyond takes it all the same)",
                String::from_utf8_lossy(text)
            )
        })
    };
    batch.texts().map(insert).collect()
}

/// Refuses filters that cannot forget.
pub(crate) fn check_removable(filter: &AnyFilter) -> anyhow::Result<()> {
    check_changeable(filter)?;
    match filter {
        AnyFilter::Counting(_) | AnyFilter::ZoneCounting(_) => Ok(()),
        other => bail!(
            "a {} filter cannot forget a key; build it with {} to remove keys",
            other.kind(),
            if other.as_zone().is_some() { "--counting" } else { "--filter counting" }
        ),
    }
}

/// Refuses filters that stay as they were published.
pub(crate) fn check_changeable(filter: &AnyFilter) -> anyhow::Result<()> {
    match filter.as_published() {
        Some(_) => Err(Error::Published { changed: "changed" }.into()),
        None => Ok(()),
    }
}

/// Takes one key out.
pub(crate) fn remove(
    filter: &mut AnyFilter,
    key: KeyRef<'_>,
    text: &[u8],
) -> anyhow::Result<Result<(), Error>> {
    Ok(match filter {
        AnyFilter::Counting(counting) => counting.remove(key),
        AnyFilter::ZoneCounting(counting) => {
            let number = counting.plan().universe().number_of_text(text)?;
            counting.remove_number(number)
        }
        other => return check_removable(other).map(Ok),
    })
}
