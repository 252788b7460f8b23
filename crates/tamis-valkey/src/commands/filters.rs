//! `TAMIS.*` for filters of every kind: plan, describe, ask, change, merge, take in and give out.

use super::max_bytes;
use super::parse::{Words, decimal, is, natural};
use crate::bloom::{self, Bloom, Reserve};
use crate::cuckoo::Cuckoo;
use crate::loaded::{Keys, Loaded};
use crate::refusal::{Outcome, Refusal};
use crate::server::{self, Arguments, Context, Held};
use crate::settings::Layout;
use crate::value::Value;
use std::time::Duration;
use tamis::rate::{Kind, Plan, RollingPlan};
use tamis::{AnyFilter, CountingBloom, HashFamily, Health, Open, Rolling};

const BUSY: Refusal = Refusal::new("BUSYKEY Target key name already exists.");
const UNKNOWN: Refusal = Refusal::new("ERR Unknown argument received");
const RATE: &str = "ERR bad error rate: a number from 1e-15 to 0.999";
const CAPACITY: &str = "ERR bad capacity: a whole number from 1 on";

/// A value in a reply.
enum Fact {
    Count(u64),
    Decimal(f64),
    Text(String),
}

fn reply_facts(context: &Context, facts: &[(&str, Fact)]) {
    context.reply_map(facts.len());
    for (name, fact) in facts {
        context.reply_bytes(name.as_bytes());
        match fact {
            Fact::Count(count) => context.reply_count(*count),
            Fact::Decimal(decimal) => context.reply_double(*decimal),
            Fact::Text(text) => context.reply_bytes(text.as_bytes()),
        }
    }
}

/// `TAMIS.PLAN rate capacity [LAYOUT layout] [NONSCALING]`: the exact size, before it is reserved.
pub(crate) fn plan(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let mut words = Words::new(arguments);
    let rate = words.value(decimal, RATE)?;
    let capacity = words.value(natural, CAPACITY)?;
    let mut reserve = Reserve { rate, capacity, ..Reserve::default_settings() };
    while let Some(word) = words.next() {
        if is(word, "LAYOUT") {
            reserve.layout = Layout::of(words.next().unwrap_or_default())?;
        } else if is(word, "NONSCALING") {
            reserve.expansion = None;
        } else {
            return Err(UNKNOWN);
        }
    }
    let planned = bloom::planned(reserve)?;
    let plan = planned.first();
    let bits = plan.bits() as f64 / capacity as f64;
    let facts = [
        ("bytes", Fact::Count(plan.bytes())),
        ("bits_per_item", Fact::Decimal(bits)),
        ("layout", Fact::Text(planned.layout().to_owned())),
        ("hashes", Fact::Count(u64::from(plan.hashes()))),
        ("expected_rate", Fact::Decimal(plan.expected_fpr(capacity))),
    ];
    reply_facts(context, &facts);
    Ok(())
}

/// `TAMIS.INFO key`
pub(crate) fn info(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let key = context.key(name);
    let facts = match key.held() {
        Held::Ours(Value::Bloom(bloom)) => {
            let (rate, expected) = (bloom.rate(), bloom.expected_rate());
            let (items, capacity) = (bloom.len(), bloom.capacity());
            let health = if expected > rate || (items > capacity) { "beyond" } else { "within" };
            vec![
                ("kind", Fact::Text(bloom.layout().to_owned())),
                ("promise", Fact::Text("rate".to_owned())),
                ("items", Fact::Count(items)),
                ("capacity", Fact::Count(capacity)),
                ("filters", Fact::Count(bloom.links())),
                ("bytes", Fact::Count(bloom.bytes())),
                ("fill", Fact::Decimal(bloom.fill())),
                ("rate", Fact::Decimal(rate)),
                ("expected_rate", Fact::Decimal(expected)),
                ("health", Fact::Text(health.to_owned())),
                ("seed", Fact::Count(bloom.seed())),
                ("keys", Fact::Text(bloom.keys.name().to_owned())),
            ]
        }
        Held::Ours(Value::Cuckoo(cuckoo)) => {
            let (rate, expected) = (cuckoo.shape.rate(), cuckoo.expected_rate());
            let health = if expected > rate { "beyond" } else { "within" };
            vec![
                ("kind", Fact::Text("quotient".to_owned())),
                ("promise", Fact::Text("rate".to_owned())),
                ("items", Fact::Count(cuckoo.len())),
                ("capacity", Fact::Count(cuckoo.capacity())),
                ("filters", Fact::Count(cuckoo.links().len() as u64)),
                ("bytes", Fact::Count(cuckoo.bytes())),
                ("fill", Fact::Decimal(cuckoo.len() as f64 / cuckoo.slots().max(1) as f64)),
                ("rate", Fact::Decimal(rate)),
                ("expected_rate", Fact::Decimal(expected)),
                ("health", Fact::Text(health.to_owned())),
            ]
        }
        Held::Ours(Value::Filter(loaded)) => {
            let filter = &loaded.filter;
            let plan = filter.plan();
            let mut facts = vec![
                ("kind", Fact::Text(filter.kind().to_owned())),
                ("promise", Fact::Text(filter.promise().to_string())),
                ("capacity", Fact::Count(plan.items())),
                ("bytes", Fact::Count(loaded.bytes())),
                ("fill", Fact::Decimal(filter.fill())),
                ("rate", Fact::Decimal(plan.fpr())),
                ("expected_rate", Fact::Decimal(filter.expected_fpr())),
                ("expected_misses", Fact::Decimal(filter.expected_fnr())),
                ("health", Fact::Text(health_name(filter.health()).to_owned())),
                ("keys", Fact::Text(loaded.keys.name().to_owned())),
            ];
            if let Some(items) = filter.len() {
                facts.push(("items", Fact::Count(items)));
            } else if let Some(items) = filter.estimated_items() {
                facts.push(("items", Fact::Count(items.round() as u64)));
            }
            if let Some(epsilon) = filter.epsilon() {
                facts.push(("epsilon", Fact::Text(epsilon.to_string())));
            }
            facts
        }
        Held::Ours(Value::Ledger(ledger)) => vec![
            ("kind", Fact::Text("ledger".to_owned())),
            ("budget", Fact::Text(ledger.budget().to_string())),
            ("spent", Fact::Text(ledger.spent().to_string())),
            ("left", Fact::Text(ledger.left().to_string())),
            ("charges", Fact::Count(ledger.charges())),
        ],
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Other => return Err(Refusal::wrong_type()),
    };
    reply_facts(context, &facts);
    Ok(())
}

fn health_name(health: Health) -> &'static str {
    match health {
        Health::Within => "within",
        _ => "beyond",
    }
}

/// `TAMIS.EXISTS key item...`: one answer for each item. A missing key is an error, so that it is
/// told from a missing item.
pub(crate) fn exists(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let items = arguments.from(1);
    let answers = match context.key(name).held() {
        Held::Ours(Value::Bloom(bloom)) => bloom.contains_many(items.iter()),
        Held::Ours(Value::Filter(loaded)) => loaded.contains_many(items.iter(), server::now())?,
        Held::Ours(Value::Cuckoo(cuckoo)) => {
            items.iter().map(|item| cuckoo.contains(item)).collect()
        }
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Ours(Value::Ledger(_)) | Held::Other => return Err(Refusal::wrong_type()),
    };
    context.reply_array(answers.len());
    answers.iter().for_each(|answer| context.reply_bool(*answer));
    Ok(())
}

/// `TAMIS.RESERVE key COUNTING rate capacity`: a filter with counters, which can remove.
/// `TAMIS.RESERVE key ROLLING rate capacity [SECONDS s]`: a filter that remembers the items of the
/// last seconds, of which there are so many; without seconds, so many of the last insertions.
pub(crate) fn reserve(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let mut words = Words::new(arguments.from(1));
    let kind = words.next().unwrap_or_default();
    let rate = words.value(decimal, RATE)?;
    let capacity = words.value(natural, CAPACITY)?;
    let mut seconds = None;
    while let Some(word) = words.next() {
        if !is(word, "SECONDS") || !is(kind, "ROLLING") {
            return Err(UNKNOWN);
        }
        let bad = "ERR bad seconds: a number above 0";
        let time = words.value(decimal, bad)?;
        seconds = Some(Duration::try_from_secs_f64(time).map_err(|_| Refusal::new(bad))?);
    }
    let most = max_bytes(context);
    let hash = HashFamily::default();
    let filter: AnyFilter = if is(kind, "COUNTING") {
        let plan = Plan::from_items_fpr(Kind::Counting, capacity, rate)?;
        bloom::check(plan.bytes(), most)?;
        CountingBloom::with_plan(plan, hash).map_err(bloom::refuse)?.into()
    } else if is(kind, "ROLLING") {
        let plan = match seconds {
            Some(time) => RollingPlan::last_time(time, capacity, rate)?,
            None => RollingPlan::last_items(capacity, rate)?,
        };
        bloom::check(plan.bytes(), most)?;
        Rolling::with_plan(plan, hash).map_err(bloom::refuse)?.into()
    } else {
        return Err(Refusal::new("ERR unknown kind of filter: COUNTING or ROLLING"));
    };
    put_new(context, arguments, Loaded { filter, keys: Keys::Text })
}

/// Puts a filter where nothing is, and sends the command as it came.
pub(crate) fn put_new(context: &mut Context, arguments: Arguments<'_>, loaded: Loaded) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    {
        let mut key = context.key_mut(name);
        if !matches!(key.held(), Held::Nothing) {
            return Err(BUSY);
        }
        key.set(Value::Filter(loaded))?;
    }
    context.changed(name, c"tamis.reserve");
    context.replicate_as_is();
    context.reply_ok();
    Ok(())
}

/// `TAMIS.ADD key item...`: whether each was certainly new.
pub(crate) fn add(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    change(context, arguments, arguments.from(1), Change::AddAt(server::now()))
}

/// `TAMIS.ADDAT key milliseconds item...`: the same at a time since 1970, for a filter that
/// forgets. A master sends its own time so.
pub(crate) fn add_at(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let time = natural(arguments.bytes(1));
    let time = time.ok_or(Refusal::new("ERR bad time: milliseconds since 1970"))?;
    let change_at = Change::AddAt(Duration::from_millis(time));
    change(context, arguments, arguments.from(2), change_at)
}

/// `TAMIS.REMOVE key item...`: whether each was there; 0 changes nothing.
pub(crate) fn remove(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    change(context, arguments, arguments.from(1), Change::Remove)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    AddAt(Duration),
    Remove,
}

/// Changes a filter item by item. One that is refused ends the list.
fn change(
    context: &mut Context,
    arguments: Arguments<'_>,
    items: Arguments<'_>,
    change: Change,
) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let most = max_bytes(context);
    let mut done: Vec<Result<bool, Refusal>> = Vec::with_capacity(items.len());
    let mut clock = None;
    match context.key_mut(name).held() {
        Held::Ours(Value::Filter(loaded)) => {
            if let Change::AddAt(now) = change {
                loaded.advance(now);
                clock = Some(now.as_millis().to_string()).filter(|_| loaded.has_clock());
            }
            for item in items.iter() {
                let answer = match change {
                    Change::AddAt(_) => loaded.insert(item, most),
                    Change::Remove => match loaded.remove(item) {
                        Ok(()) => Ok(true),
                        Err(tamis::Error::Absent) => Ok(false),
                        Err(other) => Err(other),
                    },
                };
                done.push(answer.map_err(Refusal::from));
                if matches!(done.last(), Some(Err(_))) {
                    break;
                }
            }
        }
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    }
    // An item that was not certainly new may have changed counters, and time is sent as well.
    let taken = done.iter().take_while(|one| one.is_ok()).count();
    if taken > 0 || clock.is_some() {
        let (command, event) = match (change, &clock) {
            (Change::Remove, _) => (c"TAMIS.REMOVE", c"tamis.remove"),
            (Change::AddAt(_), None) => (c"TAMIS.ADD", c"tamis.add"),
            (Change::AddAt(_), Some(_)) => (c"TAMIS.ADDAT", c"tamis.add"),
        };
        context.changed(name, event);
        let mut sent = vec![name.bytes()];
        sent.extend(clock.as_ref().map(|clock| clock.as_bytes()));
        sent.extend(items.iter().take(taken));
        context.replicate(command, &sent);
    }
    context.reply_array(done.len());
    for answer in &done {
        match answer {
            Ok(answer) => context.reply_bool(*answer),
            Err(refusal) => context.reply_error(refusal),
        }
    }
    Ok(())
}

/// `TAMIS.UNION destination source...`
pub(crate) fn union(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    merge(context, arguments, Value::union)
}

/// `TAMIS.INTERSECT destination source...`
pub(crate) fn intersect(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    merge(context, arguments, Value::intersect)
}

fn merge(
    context: &mut Context,
    arguments: Arguments<'_>,
    merge: fn(&mut Value, &Value, u64) -> Outcome,
) -> Outcome {
    let Some(destination) = arguments.get(0) else { return Ok(()) };
    let most = max_bytes(context);
    let mut merged: Option<Value> = None;
    for source in arguments.from(1).texts() {
        let key = context.key(source);
        let value = match key.held() {
            Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
            Held::Ours(value) => value,
            Held::Nothing => return Err(Refusal::not_found()),
            Held::Other => return Err(Refusal::wrong_type()),
        };
        match &mut merged {
            None => merged = Some(value.copy().ok_or(crate::value::no_memory())?),
            Some(merged) => merge(merged, value, most)?,
        }
    }
    let Some(merged) = merged else { return Ok(()) };
    {
        let mut key = context.key_mut(destination);
        if matches!(key.held(), Held::Other) {
            return Err(Refusal::wrong_type());
        }
        key.set(merged)?;
    }
    context.changed(destination, c"tamis.merge");
    context.replicate_as_is();
    context.reply_ok();
    Ok(())
}

/// `TAMIS.LOAD key bytes [KEYS INTEGERS | TEXT] [REPLACE]`: a file of the library, as it is.
pub(crate) fn load(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    /// From so many bytes on the file is read on another thread.
    const LARGE: usize = 1 << 20;
    let mut words = Words::new(arguments.from(2));
    let (mut keys, mut replace) = (None, false);
    while let Some(word) = words.next() {
        if is(word, "KEYS") {
            keys = Some(match words.next().unwrap_or_default() {
                word if is(word, "INTEGERS") => Keys::Integers,
                word if is(word, "TEXT") => Keys::Text,
                _ => return Err(Refusal::new("ERR bad keys: INTEGERS or TEXT")),
            });
        } else if is(word, "REPLACE") {
            replace = true;
        } else {
            return Err(UNKNOWN);
        }
    }
    let (Some(name), Some(bytes)) = (arguments.get(0), arguments.get(1)) else { return Ok(()) };
    if !replace && !matches!(context.key(name).held(), Held::Nothing) {
        return Err(BUSY);
    }
    let most = max_bytes(context);
    let read = move |bytes: &[u8]| (read(bytes, keys, most), replace);
    if bytes.bytes().len() < LARGE {
        return put_loaded(context, arguments, read(bytes.bytes()));
    }
    let held = context.hold(bytes);
    context.elsewhere_with(arguments, held, read, put_loaded)
}

fn read(bytes: &[u8], keys: Option<Keys>, most: u64) -> Result<Value, Refusal> {
    let filter = Open::new().max_memory(most).bytes(bytes)?;
    let keys = keys.unwrap_or_else(|| Keys::of(filter.kinds()));
    if Bloom::takes(&filter) {
        return Bloom::from_file(filter, keys).map(Value::Bloom).ok_or(Refusal::internal());
    }
    Ok(match filter {
        AnyFilter::Quotient(filter) if keys == Keys::Text => {
            Value::Cuckoo(Cuckoo::from_file(filter))
        }
        filter => Value::Filter(Loaded { filter, keys }),
    })
}

fn put_loaded(
    context: &mut Context,
    arguments: Arguments<'_>,
    (value, replace): (Result<Value, Refusal>, bool),
) -> Outcome {
    let value = value?;
    let Some(name) = arguments.get(0) else { return Ok(()) };
    {
        let mut key = context.key_mut(name);
        // Another client may have made the key while this one waited.
        if !replace && !matches!(key.held(), Held::Nothing) {
            return Err(BUSY);
        }
        key.set(value)?;
    }
    context.changed(name, c"tamis.load");
    let sent: Vec<&[u8]> = arguments.iter().collect();
    context.replicate(c"TAMIS.LOAD", &sent);
    context.reply_ok();
    Ok(())
}

/// `TAMIS.DUMP key`: the filter's file, as the library writes it.
pub(crate) fn dump(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let grown = Refusal::new(
        "ERR the filter has grown past one file: reserve a larger one, or use SCANDUMP",
    );
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let file = match context.key(name).held() {
        Held::Ours(Value::Bloom(bloom)) => bloom.file().ok_or(grown)?,
        Held::Ours(Value::Cuckoo(cuckoo)) => cuckoo.file().ok_or(grown)?,
        Held::Ours(Value::Filter(loaded)) => loaded.filter.to_bytes(),
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Ours(Value::Ledger(_)) | Held::Other => return Err(Refusal::wrong_type()),
    };
    context.reply_bytes(&file);
    Ok(())
}
