//! `CF.*`, in RedisBloom's dialect.

use super::bloom::EXISTS;
use super::max_bytes;
use super::parse::{Words, is, natural};
use crate::cuckoo::{Cuckoo, MAX_BUCKET_SIZE, MAX_EXPANSION, MAX_ITERATIONS, Shape};
use crate::refusal::{Outcome, Refusal};
use crate::server::{Arguments, Context, Held};
use crate::settings;
use crate::value::Value;

const NO_FILTER: Refusal = Refusal::new("ERR Not found");
const FULL: &str = "ERR Filter is full";

/// `CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n]`
pub(crate) fn reserve(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let mut words = Words::new(arguments.from(1));
    let capacity = words.value(natural, "ERR Bad capacity")?;
    if capacity == 0 {
        return Err(Refusal::new("ERR (capacity should be larger than 0)"));
    }
    let mut shape = Shape::for_capacity(capacity);
    while let Some(word) = words.next() {
        if is(word, "BUCKETSIZE") {
            let size = words.value(natural, "ERR Couldn't parse BUCKETSIZE")?;
            if !(1..=MAX_BUCKET_SIZE).contains(&size) {
                return Err(Refusal::new("ERR BUCKETSIZE: value must be in the range [1, 255]"));
            }
            shape.bucket_size = size;
        } else if is(word, "MAXITERATIONS") {
            let most = words.value(natural, "ERR Couldn't parse MAXITERATIONS")?;
            if !(1..=MAX_ITERATIONS).contains(&most) {
                return Err(Refusal::new(
                    "ERR MAXITERATIONS: value must be in the range [1, 65535]",
                ));
            }
            shape.max_iterations = most;
        } else if is(word, "EXPANSION") {
            let expansion = words.value(natural, "ERR Couldn't parse EXPANSION")?;
            if expansion > MAX_EXPANSION {
                return Err(Refusal::new("ERR EXPANSION: value must be in the range [0, 32768]"));
            }
            // As RedisBloom does: the next power of two.
            shape.expansion = if expansion == 0 { 0 } else { expansion.next_power_of_two() };
        } else {
            return Err(Refusal::new("ERR Unknown argument received"));
        }
    }
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let most = max_bytes(context);
    {
        let mut key = context.key_mut(name);
        match key.held() {
            Held::Nothing => key.set(Value::Cuckoo(Cuckoo::new(shape, most)?))?,
            Held::Ours(Value::Cuckoo(_)) => return Err(EXISTS),
            Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
            Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
        }
    }
    context.changed(name, c"cuckoo.reserve");
    context.replicate_as_is();
    context.reply_ok();
    Ok(())
}

/// What became of an item.
#[derive(Clone, PartialEq, Eq)]
enum Put {
    Added,
    Known,
    Refused(Refusal),
}

/// How items are put in.
#[derive(Clone, Copy)]
struct How {
    capacity: u64,
    create: bool,
    /// Whether an item that may be there is left out.
    only_new: bool,
}

/// `CF.ADD key item`
pub(crate) fn add(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    add_one(context, arguments, false)
}

/// `CF.ADDNX key item`
pub(crate) fn add_new(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    add_one(context, arguments, true)
}

fn add_one(context: &mut Context, arguments: Arguments<'_>, only_new: bool) -> Outcome {
    let how = How { capacity: settings::cuckoo_capacity(), create: true, only_new };
    let done = insert_all(context, arguments, arguments.from(1), how)?;
    match done.first() {
        Some(Put::Refused(refusal)) => return Err(refusal.clone()),
        Some(put) => context.reply_bool(*put == Put::Added),
        None => {}
    }
    Ok(())
}

/// `CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item...`
pub(crate) fn insert(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    insert_many(context, arguments, false)
}

/// `CF.INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item...`
pub(crate) fn insert_new(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    insert_many(context, arguments, true)
}

fn insert_many(context: &mut Context, arguments: Arguments<'_>, only_new: bool) -> Outcome {
    let mut words = Words::new(arguments.from(1));
    let mut how = How { capacity: settings::cuckoo_capacity(), create: true, only_new };
    let items = loop {
        match words.next() {
            Some(word) if is(word, "ITEMS") && words.rest().len() > 0 => break words.rest(),
            Some(word) if is(word, "CAPACITY") => {
                how.capacity = words.value(natural, "ERR Bad capacity")?;
                if how.capacity == 0 {
                    return Err(Refusal::new("ERR Bad capacity"));
                }
            }
            Some(word) if is(word, "NOCREATE") => how.create = false,
            Some(word) if !is(word, "ITEMS") => {
                return Err(Refusal::new("ERR Unknown argument received"));
            }
            _ => return Err(Refusal::new("ERR wrong number of arguments: ITEMS and an item")),
        }
    };
    let done = insert_all(context, arguments, items, how)?;
    context.reply_array(done.len());
    for put in done {
        match put {
            Put::Added => context.reply_bool(true),
            Put::Known => context.reply_bool(false),
            // As RedisBloom does: a full filter is -1 here.
            Put::Refused(refusal) if refusal.text() == FULL => context.reply_integer(-1),
            Put::Refused(refusal) => context.reply_error(&refusal),
        }
    }
    Ok(())
}

fn insert_all(
    context: &mut Context,
    arguments: Arguments<'_>,
    items: Arguments<'_>,
    how: How,
) -> Result<Vec<Put>, Refusal> {
    let Some(name) = arguments.get(0) else { return Ok(Vec::new()) };
    let most = max_bytes(context);
    let (mut done, mut made) = (Vec::with_capacity(items.len()), None);
    {
        let mut key = context.key_mut(name);
        match key.held() {
            Held::Ours(Value::Cuckoo(cuckoo)) => put(cuckoo, items, how, most, &mut done),
            Held::Nothing if how.create => {
                let shape = Shape::for_capacity(how.capacity);
                let mut cuckoo = Cuckoo::new(shape, most)?;
                put(&mut cuckoo, items, how, most, &mut done);
                key.set(Value::Cuckoo(cuckoo))?;
                made = Some(shape);
            }
            Held::Nothing => return Err(Refusal::not_found()),
            Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
            Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
        }
    }
    let added: Vec<&[u8]> = items
        .iter()
        .zip(&done)
        .filter(|(_, put)| **put == Put::Added)
        .map(|(item, _)| item)
        .collect();
    if made.is_some() {
        context.changed(name, c"cuckoo.reserve");
    }
    if !added.is_empty() {
        context.changed(name, c"cuckoo.add");
    }
    // What was done is sent: a replica has other defaults and limits.
    let capacity = made.map(|shape| shape.capacity.to_string());
    if let (Some(capacity), true) = (&capacity, added.is_empty()) {
        context.replicate(c"CF.RESERVE", &[name.bytes(), capacity.as_bytes()]);
    } else if !added.is_empty() {
        let mut sent = vec![name.bytes()];
        if let Some(capacity) = &capacity {
            sent.extend([b"CAPACITY", capacity.as_bytes()]);
        }
        sent.push(b"ITEMS");
        sent.extend(added);
        context.replicate(c"CF.INSERT", &sent);
    }
    Ok(done)
}

fn put(cuckoo: &mut Cuckoo, items: Arguments<'_>, how: How, most: u64, done: &mut Vec<Put>) {
    for item in items.iter() {
        done.push(if how.only_new && cuckoo.contains(item) {
            Put::Known
        } else {
            match cuckoo.insert(item, most) {
                Ok(()) => Put::Added,
                Err(refusal) => Put::Refused(refusal),
            }
        });
    }
}

/// The value of a command that reads, or `None` if there is no key.
fn with_filter<T>(
    context: &Context,
    arguments: Arguments<'_>,
    read: impl FnOnce(&Cuckoo) -> T,
) -> Result<Option<T>, Refusal> {
    let Some(name) = arguments.get(0) else { return Ok(None) };
    match context.key(name).held() {
        Held::Ours(Value::Cuckoo(cuckoo)) => Ok(Some(read(cuckoo))),
        Held::Nothing => Ok(None),
        Held::Ours(Value::Arriving(_)) => Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => Err(Refusal::wrong_type()),
    }
}

/// `CF.EXISTS key item`
pub(crate) fn exists(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let item = arguments.bytes(1);
    let answer = with_filter(context, arguments, |cuckoo| cuckoo.contains(item))?;
    context.reply_bool(answer.unwrap_or(false));
    Ok(())
}

/// `CF.MEXISTS key item...`
pub(crate) fn exists_many(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let items = arguments.from(1);
    let ask = |cuckoo: &Cuckoo| items.iter().map(|item| cuckoo.contains(item)).collect();
    let answers: Vec<bool> =
        with_filter(context, arguments, ask)?.unwrap_or_else(|| vec![false; items.len()]);
    context.reply_array(answers.len());
    answers.iter().for_each(|answer| context.reply_bool(*answer));
    Ok(())
}

/// `CF.COUNT key item`
pub(crate) fn count(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let item = arguments.bytes(1);
    let count = with_filter(context, arguments, |cuckoo| cuckoo.count(item))?;
    context.reply_count(count.unwrap_or(0));
    Ok(())
}

/// `CF.DEL key item`
pub(crate) fn delete(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let removed = match context.key_mut(name).held() {
        Held::Ours(Value::Cuckoo(cuckoo)) => cuckoo.remove(arguments.bytes(1))?,
        Held::Nothing => return Err(NO_FILTER),
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    };
    if removed {
        context.changed(name, c"cuckoo.del");
        context.replicate_as_is();
    }
    context.reply_bool(removed);
    Ok(())
}

/// `CF.INFO key`
pub(crate) fn info(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let fields = with_filter(context, arguments, |cuckoo| {
        let shape = cuckoo.shape;
        [
            (c"Size", cuckoo.bytes()),
            (c"Number of buckets", cuckoo.slots() / shape.bucket_size.max(1)),
            (c"Number of filters", cuckoo.links().len() as u64),
            (c"Number of items inserted", cuckoo.len()),
            (c"Number of items deleted", cuckoo.deleted),
            (c"Bucket size", shape.bucket_size),
            (c"Expansion rate", shape.expansion),
            (c"Max iterations", shape.max_iterations),
        ]
    })?;
    let fields = fields.ok_or(Refusal::not_found())?;
    context.reply_map(fields.len());
    for (name, value) in fields {
        context.reply_simple(name);
        context.reply_count(value);
    }
    Ok(())
}
