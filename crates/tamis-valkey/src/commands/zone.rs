//! `TAMIS.ZONE.*`: filters that are never wrong, up to so many items of a universe.

use super::filters::put_new;
use super::max_bytes;
use super::parse::{Words, is, natural};
use crate::bloom::refuse;
use crate::loaded::{Keys, Loaded};
use crate::refusal::{Outcome, Refusal};
use crate::server::{Arguments, Context, Held};
use crate::value::Value;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tamis::AnyFilter;
use tamis::zone::{CountingFilter, Filter, Plan, Prefer, Universe};

/// How long a listing may take.
const MAX_LISTING: Duration = Duration::from_secs(10);

/// A universe as the library reads it: `65536`, `1..48`, `ipv6`, `uuid`, `hex:20` and so on.
fn universe(text: &[u8]) -> Result<Universe, Refusal> {
    let text = std::str::from_utf8(text)
        .map_err(|_| Refusal::new("ERR bad universe: its name is no text"))?;
    Ok(text.parse()?)
}

/// `TAMIS.ZONE.RESERVE key UNIVERSE n ITEMS d [COUNTING]`
pub(crate) fn reserve(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let mut words = Words::new(arguments.from(1));
    let (mut of, mut items, mut counting) = (None, None, false);
    while let Some(word) = words.next() {
        if is(word, "UNIVERSE") {
            of = Some(universe(words.next().unwrap_or_default())?);
        } else if is(word, "ITEMS") {
            items = Some(words.value(natural, "ERR bad items: a whole number from 1 on")?);
        } else if is(word, "COUNTING") {
            counting = true;
        } else {
            return Err(Refusal::new("ERR Unknown argument received"));
        }
    }
    let (Some(of), Some(items)) = (of, items) else {
        return Err(Refusal::new("ERR a zone needs UNIVERSE n and ITEMS d"));
    };
    let most = max_bytes(context);
    // The search for the best code may take a while.
    let make = move || -> Result<AnyFilter, Refusal> {
        let plan = Plan::new(of, items, Prefer::Bits)?;
        if counting {
            let plan = plan.counting();
            plan.check_memory(most)?;
            Ok(CountingFilter::with_plan(plan).map_err(refuse)?.into())
        } else {
            plan.check_memory(most)?;
            Ok(Filter::with_plan(plan).map_err(refuse)?.into())
        }
    };
    context.elsewhere(arguments, make, |context, arguments, made| {
        put_new(context, arguments, Loaded { filter: made?, keys: Keys::Text })
    })
}

/// `TAMIS.ZONE.LIST key`: the items, each as its text.
pub(crate) fn list(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let filter = match context.key(name).held() {
        Held::Ours(Value::Filter(loaded)) if loaded.filter.plan().zone().is_some() => {
            Value::Filter(loaded.clone()).copy().ok_or(crate::value::no_memory())?
        }
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    };
    let work = move || -> Result<Vec<Vec<u8>>, Refusal> {
        let Value::Filter(Loaded { filter, .. }) = filter else { return Ok(Vec::new()) };
        // A listing may take longer than anybody waits for: in a script the server would wait.
        let end = Instant::now() + MAX_LISTING;
        let report = &mut |_| {
            if Instant::now() < end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let list = filter.list_with(None, report)?;
        if !list.exact {
            return Err(Refusal::new(
                "ERR the filter holds more items than its zone: they cannot be listed exactly",
            ));
        }
        let universe = filter.plan().zone().map(|plan| plan.universe().clone());
        let name = |number: &u128| universe.as_ref().map_or_else(Vec::new, |all| all.name(*number));
        Ok(list.numbers.iter().map(name).collect())
    };
    context.elsewhere(arguments, work, |context, _, items| {
        let items = items?;
        context.reply_array(items.len());
        items.iter().for_each(|item| context.reply_bytes(item));
        Ok(())
    })
}
