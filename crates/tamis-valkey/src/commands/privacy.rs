//! `TAMIS.PUBLISH` and `TAMIS.LEDGER`: releases under noise, and the budget that they spend.

use super::max_bytes;
use super::parse::{Words, is, natural};
use crate::ledger::Ledger;
use crate::loaded::{Keys, Loaded};
use crate::refusal::{Outcome, Refusal};
use crate::server::{self, Arguments, Context, Held, Text};
use crate::value::Value;
use tamis::AnyFilter;
use tamis::privacy::{Epsilon, LinearDraft, LinearPlan, Receipt, UltraFilter};

fn milliseconds() -> u64 {
    u64::try_from(server::now().as_millis()).unwrap_or(u64::MAX)
}

fn epsilon(text: &[u8]) -> Result<Epsilon, Refusal> {
    let text = std::str::from_utf8(text).map_err(|_| Refusal::new("ERR bad epsilon"))?;
    Ok(text.parse()?)
}

/// What a release is drawn from.
enum Source {
    Set(LinearDraft),
    Filter(UltraFilter),
}

/// `TAMIS.PUBLISH destination FROM source ITEMS n EPSILON e [LEDGER key]`
pub(crate) fn publish(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let mut words = Words::new(arguments.from(3));
    let (mut items, mut loss, mut ledger, mut place) = (None, None, None, 3);
    if !is(arguments.bytes(1), "FROM") {
        return Err(Refusal::new("ERR Unknown argument received"));
    }
    while let Some(word) = words.next() {
        place += 1;
        if is(word, "ITEMS") {
            items = Some(words.value(natural, "ERR bad items: a whole number from 1 on")?);
        } else if is(word, "EPSILON") {
            loss = Some(epsilon(words.next().unwrap_or_default())?);
        } else if is(word, "LEDGER") {
            words.value(Some, "ERR LEDGER needs a key")?;
            ledger = arguments.get(place);
        } else {
            return Err(Refusal::new("ERR Unknown argument received"));
        }
        place += 1;
    }
    let (Some(items), Some(loss)) = (items, loss) else {
        return Err(Refusal::new("ERR a release needs ITEMS n and EPSILON e"));
    };
    let (Some(destination), Some(from)) = (arguments.get(0), arguments.get(2)) else {
        return Ok(());
    };
    if !matches!(context.key(destination).held(), Held::Nothing) {
        return Err(Refusal::new("BUSYKEY Target key name already exists."));
    }
    let source = source(context, from, items, loss)?;
    // The budget is charged before the release exists, and never given back.
    // It costs what its plan says, which is at most what was asked for.
    let cost = match &source {
        Source::Set(draft) => draft.plan().epsilon(),
        Source::Filter(filter) => filter.plan().epsilon(),
    };
    if let Some(ledger) = ledger {
        charge(context, ledger, cost, destination.bytes(), milliseconds())?;
    }
    // The server keeps the ledger, and the library does not know it.
    let receipt = Receipt::unrecorded(cost);
    let draw = move || -> Result<AnyFilter, tamis::Error> {
        match source {
            Source::Set(draft) => Ok(draft.publish(receipt)?.into()),
            Source::Filter(filter) => Ok(filter.publish(receipt)?.into()),
        }
    };
    context.elsewhere(arguments, draw, |context, arguments, release| {
        let Some(name) = arguments.get(0) else { return Ok(()) };
        let filter = release?;
        // A replica does not draw: it gets this release.
        let file = filter.to_bytes();
        {
            let mut key = context.key_mut(name);
            if !matches!(key.held(), Held::Nothing) {
                return Err(Refusal::new("BUSYKEY Target key name already exists."));
            }
            key.set(Value::Filter(Loaded { filter, keys: Keys::Text }))?;
        }
        context.changed(name, c"tamis.publish");
        context.replicate(c"TAMIS.LOAD", &[name.bytes(), &file]);
        context.reply_ok();
        Ok(())
    })
}

fn source(
    context: &Context,
    from: Text<'_>,
    items: u64,
    epsilon: Epsilon,
) -> Result<Source, Refusal> {
    let key = context.key(from);
    match key.held() {
        Held::Nothing => Err(Refusal::not_found()),
        Held::Other => {
            let plan = LinearPlan::new(items, epsilon)?;
            plan.check_memory(items, max_bytes(context))?;
            let mut draft = LinearDraft::new(plan)?;
            let mut refused = None;
            let is_set = key.each_member(&mut |member| {
                if let Err(error) = draft.insert(member) {
                    refused = Some(error);
                }
            });
            match refused {
                Some(error) => Err(error.into()),
                None if is_set => Ok(Source::Set(draft)),
                None => Err(Refusal::wrong_type()),
            }
        }
        Held::Ours(Value::Bloom(bloom)) => {
            let classic = bloom.classic().ok_or(Refusal::new(
                "ERR only a set or a filter reserved NONSCALING LAYOUT bloom can be published",
            ))?;
            if classic.plan().items() != items {
                return Err(Refusal::say(format!(
                    "ERR the filter was reserved for {} items, which the release would tell: \
                     say ITEMS {}",
                    classic.plan().items(),
                    classic.plan().items()
                )));
            }
            Ok(Source::Filter(UltraFilter::from_bloom(classic.clone(), epsilon)?))
        }
        Held::Ours(_) => Err(Refusal::wrong_type()),
    }
}

/// Charges a ledger, and sends the charge.
fn charge(
    context: &mut Context,
    name: Text<'_>,
    epsilon: Epsilon,
    what: &[u8],
    milliseconds: u64,
) -> Outcome {
    match context.key_mut(name).held() {
        Held::Ours(Value::Ledger(ledger)) => ledger.charge(epsilon, milliseconds, what)?,
        Held::Nothing => return Err(Refusal::new("ERR no such ledger: TAMIS.LEDGER key BUDGET e")),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    }
    context.changed(name, c"tamis.charge");
    // The time is that of the master.
    let (epsilon, time) = (epsilon.to_string(), milliseconds.to_string());
    let (epsilon, time) = (epsilon.as_bytes(), time.as_bytes());
    context.replicate(c"TAMIS.LEDGER", &[name.bytes(), b"CHARGE", epsilon, what, time]);
    Ok(())
}

/// `TAMIS.LEDGER key`, `TAMIS.LEDGER key BUDGET e` or `TAMIS.LEDGER key CHARGE e what`
pub(crate) fn ledger(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let mut words = Words::new(arguments.from(1));
    match words.next() {
        None => {}
        Some(word) if is(word, "BUDGET") => {
            let budget = epsilon(words.next().unwrap_or_default())?;
            let made = Ledger::new(budget)?;
            {
                let mut key = context.key_mut(name);
                if !matches!(key.held(), Held::Nothing) {
                    return Err(Refusal::new("BUSYKEY Target key name already exists."));
                }
                key.set(Value::Ledger(made))?;
            }
            context.changed(name, c"tamis.ledger");
            context.replicate_as_is();
        }
        Some(word) if is(word, "CHARGE") => {
            let loss = epsilon(words.next().unwrap_or_default())?;
            let what = words.value(Some, "ERR say what the charge is for")?;
            // Only a master's charge carries a time.
            let time = words.next().and_then(natural).filter(|_| context.is_replayed());
            charge(context, name, loss, what, time.unwrap_or_else(milliseconds))?;
        }
        Some(_) => return Err(Refusal::new("ERR Unknown argument received: BUDGET or CHARGE")),
    }
    match context.key(name).held() {
        Held::Ours(Value::Ledger(ledger)) => {
            let facts =
                [("budget", ledger.budget()), ("spent", ledger.spent()), ("left", ledger.left())];
            context.reply_map(facts.len() + 1);
            for (name, value) in facts {
                context.reply_bytes(name.as_bytes());
                context.reply_bytes(value.to_string().as_bytes());
            }
            context.reply_bytes(b"charges");
            context.reply_count(ledger.charges());
            Ok(())
        }
        Held::Nothing => Err(Refusal::not_found()),
        Held::Ours(_) | Held::Other => Err(Refusal::wrong_type()),
    }
}
