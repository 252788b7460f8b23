//! Batches of keys in and out of a filter of any kind.

use crate::input::{Batch, KeyFormat};
use crate::output::warn;
use anyhow::{Context, bail};
use tamis::{AnyFilter, Error, KeyRef, Promise};

/// How to ask this filter: for keys as it has them. Warns of keys that it cannot have.
pub(crate) fn format_to_ask(filter: &AnyFilter, format: &KeyFormat) -> anyhow::Result<KeyFormat> {
    if let Some(plan) = filter.plan().zone() {
        return format.for_universe(plan.universe());
    }
    let kinds = filter.kinds();
    if let Some(warning) = format.warning_for(kinds) {
        warn(&format!("tamis: warning: {warning}"));
    }
    Ok(format.for_kinds(kinds))
}

/// How to add to this filter. Says so if it gets keys of another kind than it had.
pub(crate) fn format_to_add(filter: &AnyFilter, format: &KeyFormat) -> anyhow::Result<KeyFormat> {
    if let Some(plan) = filter.plan().zone() {
        return format.for_universe(plan.universe());
    }
    let held = filter.kinds();
    if format.warning_for(held).is_some() {
        warn(&format!(
            "tamis: notice: the filter held only {held} so far; from now on each key is asked for \
             as text and as an integer"
        ));
    }
    need_one_kind(format.for_kinds(held))
}

/// How to remove from this filter.
pub(crate) fn format_to_remove(
    filter: &AnyFilter,
    format: &KeyFormat,
) -> anyhow::Result<KeyFormat> {
    need_one_kind(format_to_ask(filter, format)?)
}

/// Of a filter that has text and integers, it must be said which of them the keys are.
fn need_one_kind(format: KeyFormat) -> anyhow::Result<KeyFormat> {
    if format.takes_both() {
        bail!(
            "the filter holds text and integers; say which these keys are: --keys text or \
             --keys integers"
        );
    }
    Ok(format)
}

/// What a person should know of the kind of keys that are asked for, if it does not go without
/// saying.
pub(crate) fn kind_notice(filter: &AnyFilter, format: &KeyFormat) -> Option<String> {
    if format.takes_both() {
        return Some(
            "the filter holds text and integers: each key is asked for as both \
             (--keys text or --keys integers asks for one)"
                .to_owned(),
        );
    }
    let other = if format.asked() == "text" { "integers" } else { "text" };
    (filter.promise() == Promise::Privacy).then(|| {
        format!(
            "keys are asked for as {}; a published filter does not say what its keys are \
             (--keys {other} asks for {other})",
            format.asked()
        )
    })
}

/// Whether each key of a batch passes.
pub(crate) fn contains(filter: &AnyFilter, batch: &Batch) -> anyhow::Result<Vec<bool>> {
    if let Some(plan) = filter.plan().zone() {
        let universe = plan.universe();
        let passes = |(index, text)| {
            let number = universe.number_of_text(text).with_context(|| batch.place_of(index))?;
            Ok(filter.contains_number(number)?)
        };
        return batch.texts().enumerate().map(passes).collect();
    }
    let mut answers = filter.contains_many(&batch.keys())?;
    if !batch.maybe_integers().is_empty() {
        let left = batch.maybe_integers().iter().enumerate();
        let left =
            left.filter_map(|(i, integer)| Some((i, (*integer)?))).filter(|(i, _)| !answers[*i]);
        let (places, integers): (Vec<usize>, Vec<KeyRef<'_>>) = left.unzip();
        for (place, passed) in places.into_iter().zip(filter.contains_many(&integers)?) {
            answers[place] = passed;
        }
    }
    Ok(answers)
}

/// Whether each key of a batch passes, `None` where it is no element of a zone filter's universe.
pub(crate) fn contains_or_foreign(
    filter: &AnyFilter,
    batch: &Batch,
) -> anyhow::Result<Vec<Option<bool>>> {
    let Some(plan) = filter.plan().zone() else {
        return Ok(contains(filter, batch)?.into_iter().map(Some).collect());
    };
    let universe = plan.universe();
    let passes = |text| match universe.number_of_text(text) {
        Ok(number) => Ok(Some(filter.contains_number(number)?)),
        Err(Error::Outside { .. }) => Ok(None),
        Err(other) => Err(other.into()),
    };
    batch.texts().map(passes).collect()
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
    let insert = |(index, text): (usize, &[u8])| {
        let number = universe.number_of_text(text).with_context(|| batch.place_of(index))?;
        filter.insert_number(number, beyond).with_context(|| {
            format!(
                "{}: {:?} is one item too many (--beyond takes it all the same)",
                batch.place_of(index),
                String::from_utf8_lossy(text)
            )
        })
    };
    batch.texts().enumerate().map(insert).collect()
}

/// Refuses filters that cannot forget.
pub(crate) fn check_removable(filter: &AnyFilter) -> anyhow::Result<()> {
    check_changeable(filter)?;
    match filter {
        AnyFilter::Counting(_) | AnyFilter::Quotient(_) | AnyFilter::ZoneCounting(_) => Ok(()),
        other => bail!(
            "a {} filter cannot forget a key; build it with {} to remove keys",
            other.kind(),
            if other.promise() == Promise::Zone { "--counting" } else { "--filter quotient" }
        ),
    }
}

/// Refuses filters that stay as they were built or published.
pub(crate) fn check_changeable(filter: &AnyFilter) -> anyhow::Result<()> {
    match filter {
        AnyFilter::Static(_) => Err(Error::Unsupported {
            kind: "static",
            operation: "be changed",
            remedy: "build it again from all keys, or take a bloom filter, which can be changed",
        }
        .into()),
        other if other.promise() == Promise::Privacy => {
            Err(Error::Published { changed: "changed" }.into())
        }
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
        AnyFilter::Quotient(quotient) => quotient.remove(key),
        AnyFilter::ZoneCounting(counting) => {
            let number = counting.plan().universe().number_of_text(text)?;
            counting.remove_number(number)
        }
        other => return check_removable(other).map(Ok),
    })
}
