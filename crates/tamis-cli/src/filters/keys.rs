//! Batches of keys in and out of a filter of any kind.

use crate::input::{Batch, KeyFormat};
use crate::output::warn;
use anyhow::{Context, bail};
use tamis::{AnyFilter, Error, KeyRef, Promise};

/// How to take keys for this filter: as it has them. Warns of keys that it cannot have.
pub(crate) fn key_format(filter: &AnyFilter, format: &KeyFormat) -> anyhow::Result<KeyFormat> {
    if let Some(plan) = filter.plan().zone() {
        return format.for_universe(plan.universe());
    }
    let kinds = filter.kinds();
    if let Some(warning) = format.warning_for(kinds) {
        warn(&format!("tamis: warning: {warning}"));
    }
    Ok(format.for_kinds(kinds))
}

/// Whether each key of a batch passes.
pub(crate) fn contains(filter: &AnyFilter, batch: &Batch) -> anyhow::Result<Vec<bool>> {
    let Some(plan) = filter.plan().zone() else {
        return Ok(filter.contains_many(&batch.keys())?);
    };
    let number = |text| plan.universe().number_of_text(text);
    batch.texts().map(|text| Ok(filter.contains_number(number(text)?)?)).collect()
}

/// Puts in the keys of a batch, and says how many were (certainly) new.
pub(crate) fn insert(filter: &mut AnyFilter, batch: &Batch, beyond: bool) -> anyhow::Result<u64> {
    if filter.promise() == Promise::Rate {
        return Ok(filter.insert_many(&batch.keys())?);
    }
    Ok(insert_each(filter, batch, beyond)?.into_iter().map(u64::from).sum())
}

/// The same, saying of each key whether it was new.
pub(crate) fn insert_each(
    filter: &mut AnyFilter,
    batch: &Batch,
    beyond: bool,
) -> anyhow::Result<Vec<bool>> {
    let Some(plan) = filter.plan().zone() else {
        return batch.keys().into_iter().map(|key| Ok(filter.insert(key)?)).collect();
    };
    let universe = plan.universe().clone();
    let insert = |text: &[u8]| {
        let number = universe.number_of_text(text)?;
        filter.insert_number(number, beyond).with_context(|| {
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
            if other.promise() == Promise::Zone { "--counting" } else { "--filter counting" }
        ),
    }
}

/// Refuses filters that stay as they were published.
pub(crate) fn check_changeable(filter: &AnyFilter) -> anyhow::Result<()> {
    match filter.promise() {
        Promise::Privacy => Err(Error::Published { changed: "changed" }.into()),
        _ => Ok(()),
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
