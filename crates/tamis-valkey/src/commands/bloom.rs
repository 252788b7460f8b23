//! `BF.*`, in the dialect of RedisBloom or of valkey-bloom.

use super::max_bytes;
use super::parse::{Words, decimal, integer, is, natural};
use crate::bloom::{Bloom, Reserve, Stop};
use crate::loaded::Keys;
use crate::refusal::{Outcome, Refusal};
use crate::server::{self, Arguments, Context, Held, Text};
use crate::settings::{self, Dialect, Layout};
use crate::value::Value;

const FULL: Refusal = Refusal::new("ERR non scaling filter is full");
pub(crate) const EXISTS: Refusal = Refusal::new("ERR item exists");
const UNKNOWN: Refusal = Refusal::new("Unknown argument received");
const UNKNOWN_OF_VALKEY: Refusal = Refusal::new("ERR unknown argument received");

const ADDED: &std::ffi::CStr = c"bloom.add";
const RESERVED: &std::ffi::CStr = c"bloom.reserve";

/// From so many bytes on a filter is made on another thread: the system may need milliseconds to
/// give so much memory.
const LARGE: u64 = 16 << 20;

/// The most items that RedisBloom takes for one filter.
const MAX_CAPACITY_OF_REDIS: u64 = 1 << 30;

fn of_valkey() -> bool {
    settings::dialect() == Dialect::ValkeyBloom
}

/// Which command is reading an option: the two say the same in other words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Reserve,
    Insert,
}

fn read_rate(text: Option<&[u8]>, by: By) -> Result<f64, Refusal> {
    let insert = by == By::Insert && !of_valkey();
    let bad = if insert { "Bad error rate" } else { "ERR bad error rate" };
    let outside = match (of_valkey(), insert) {
        (true, _) => "ERR (0 < error rate range < 1)",
        (_, true) => "Bad error rate",
        _ => "ERR error rate must be in the range (0.000000, 1.000000)",
    };
    let rate = text.and_then(decimal).ok_or(Refusal::new(bad))?;
    if rate > 0.0 && rate < 1.0 { Ok(rate) } else { Err(Refusal::new(outside)) }
}

fn read_capacity(text: Option<&[u8]>, by: By) -> Result<u64, Refusal> {
    let insert = by == By::Insert && !of_valkey();
    let bad = if insert { "Bad capacity" } else { "ERR bad capacity" };
    let outside = match (of_valkey(), insert) {
        (true, _) => "ERR (capacity should be larger than 0)",
        (_, true) => "Bad capacity",
        _ => "ERR capacity must be in the range [1, 1073741824]",
    };
    let capacity = text.and_then(integer).ok_or(Refusal::new(bad))?;
    let most = if of_valkey() { i64::MAX as u64 } else { MAX_CAPACITY_OF_REDIS };
    let capacity = u64::try_from(capacity).ok().filter(|one| (1..=most).contains(one));
    capacity.ok_or(Refusal::new(outside))
}

/// The expansion; `None` for 0, which is a filter that does not scale.
fn read_expansion(text: Option<&[u8]>, by: By) -> Result<Option<u32>, Refusal> {
    const BAD: Refusal = Refusal::new("ERR bad expansion");
    if of_valkey() {
        let expansion = text.and_then(natural).and_then(|one| u32::try_from(one).ok());
        let known = expansion.filter(|one| (1..=tamis::rate::MAX_GROWTH).contains(one));
        return known.map(Some).ok_or(BAD);
    }
    let insert = by == By::Insert;
    let bad = if insert { Refusal::new("Bad expansion") } else { BAD };
    let none = if insert { bad.clone() } else { Refusal::new("ERR no expansion") };
    let expansion = integer(text.ok_or(none)?).ok_or(bad.clone())?;
    let outside =
        if insert { bad } else { Refusal::new("ERR expansion must be in the range [0, 32768]") };
    let expansion = u32::try_from(expansion).ok();
    let expansion = expansion.filter(|one| *one <= tamis::rate::MAX_GROWTH).ok_or(outside)?;
    Ok(Some(expansion).filter(|one| *one > 0))
}

/// Options that both commands have. `true` if the word was one.
struct Options {
    reserve: Reserve,
    expands: bool,
    fixed: bool,
    /// The items that the filter must be able to grow to.
    scale_to: Option<u64>,
}

impl Options {
    fn new() -> Options {
        Options {
            reserve: Reserve::default_settings(),
            expands: false,
            fixed: false,
            scale_to: None,
        }
    }

    fn take(&mut self, word: &[u8], words: &mut Words<'_>, by: By) -> Result<bool, Refusal> {
        if is(word, "EXPANSION") {
            self.reserve.expansion = read_expansion(words.next(), by)?;
            self.expands = self.reserve.expansion.is_some();
        } else if is(word, "NONSCALING") {
            self.fixed = true;
        } else if is(word, "LAYOUT") {
            self.reserve.layout = Layout::of(words.next().unwrap_or_default())?;
        } else if is(word, "SEED") {
            self.reserve.seed = words.value(natural, "ERR bad seed: a number from 0 to 2^63-1")?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn finish(mut self) -> Result<Reserve, Refusal> {
        if self.fixed && self.expands {
            return Err(if of_valkey() {
                Refusal::new("ERR wrong number of arguments for 'BF.RESERVE' command")
            } else {
                Refusal::new("Nonscaling filters cannot expand")
            });
        }
        if self.fixed {
            self.reserve.expansion = None;
        }
        if let Some(items) = self.scale_to {
            if self.fixed {
                return Err(Refusal::new(
                    "ERR cannot use NONSCALING and VALIDATESCALETO options together",
                ));
            }
            let bytes = crate::bloom::bytes_for(self.reserve, items)?;
            crate::bloom::check(bytes, settings::max_filter_bytes())?;
        }
        Ok(self.reserve)
    }
}

/// `BF.RESERVE key rate capacity [EXPANSION n] [NONSCALING] [LAYOUT layout] [SEED n]`
pub(crate) fn reserve(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let mut words = Words::new(arguments.from(1));
    let mut options = Options::new();
    options.reserve.rate = read_rate(words.next(), By::Reserve)?;
    options.reserve.capacity = read_capacity(words.next(), By::Reserve)?;
    while let Some(word) = words.next() {
        if !options.take(word, &mut words, By::Reserve)? {
            return Err(if of_valkey() { UNKNOWN_OF_VALKEY } else { UNKNOWN });
        }
    }
    let reserve = options.finish()?;
    let Some(name) = arguments.get(0) else { return Ok(()) };
    vacant(context, name)?;
    let most = max_bytes(context);
    // What is refused is refused at once.
    let bytes = crate::bloom::planned(reserve)?.first().bytes();
    crate::bloom::check(bytes, most)?;
    let make = move || (Bloom::new(reserve, most), reserve);
    if bytes < LARGE {
        return put_reserved(context, arguments, make());
    }
    context.elsewhere(arguments, make, put_reserved)
}

/// Refuses if the key holds something.
fn vacant(context: &Context, name: Text<'_>) -> Outcome {
    match context.key(name).held() {
        Held::Nothing => Ok(()),
        Held::Ours(Value::Bloom(_)) => Err(EXISTS),
        Held::Ours(Value::Arriving(_)) => Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => Err(Refusal::wrong_type()),
    }
}

fn put_reserved(
    context: &mut Context,
    arguments: Arguments<'_>,
    (made, reserve): (Result<Bloom, Refusal>, Reserve),
) -> Outcome {
    let made = made?;
    let Some(name) = arguments.get(0) else { return Ok(()) };
    // Another client may have made the key while this one waited.
    vacant(context, name)?;
    context.key_mut(name).set(Value::Bloom(made))?;
    context.changed(name, RESERVED);
    let (rate, capacity) = (format!("{:?}", reserve.rate), reserve.capacity.to_string());
    let mut sent = vec![name.bytes(), rate.as_bytes(), capacity.as_bytes()];
    let options = sent_options(reserve);
    sent.extend(options.iter().map(|one| one.as_bytes()));
    context.replicate(c"BF.RESERVE", &sent);
    context.reply_ok();
    Ok(())
}

/// The options that make the same filter on a server with other defaults.
fn sent_options(reserve: Reserve) -> Vec<String> {
    let mut options = match reserve.expansion {
        Some(expansion) => vec!["EXPANSION".to_owned(), expansion.to_string()],
        None => vec!["NONSCALING".to_owned()],
    };
    options.extend(["LAYOUT".to_owned(), reserve.layout.name().to_owned()]);
    options.extend(["SEED".to_owned(), reserve.seed.to_string()]);
    options
}

/// `BF.ADD key item`
pub(crate) fn add(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let done = insert_all(context, arguments, arguments.from(1), Some(Reserve::default_settings))?;
    match done.first() {
        Some(Ok(new)) => reply_bool(context, *new),
        Some(Err(refusal)) => return Err(refusal.clone()),
        None => {}
    }
    Ok(())
}

/// `BF.MADD key item...`
pub(crate) fn add_many(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let done = insert_all(context, arguments, arguments.from(1), Some(Reserve::default_settings))?;
    reply_all(context, &done);
    Ok(())
}

/// `BF.INSERT key [CAPACITY n] [ERROR r] [EXPANSION n] [NOCREATE] [NONSCALING] [LAYOUT layout]
/// [SEED n] ITEMS item...`
pub(crate) fn insert(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let mut words = Words::new(arguments.from(1));
    let (mut options, mut create, mut items) = (Options::new(), true, None);
    while let Some(word) = words.next() {
        if is(word, "ITEMS") {
            items = Some(words.rest());
            break;
        } else if is(word, "CAPACITY") {
            options.reserve.capacity = read_capacity(words.next(), By::Insert)?;
        } else if is(word, "ERROR") {
            options.reserve.rate = read_rate(words.next(), By::Insert)?;
        } else if is(word, "NOCREATE") {
            create = false;
        } else if of_valkey() && is(word, "VALIDATESCALETO") {
            let bad = "ERR bad validate scale to value";
            options.scale_to = Some(words.value(natural, bad)?);
        } else if !options.take(word, &mut words, By::Insert)? {
            return Err(if of_valkey() { UNKNOWN_OF_VALKEY } else { UNKNOWN });
        }
    }
    let reserve = options.finish()?;
    // valkey-bloom lets a command make a filter without items.
    let items = match items.filter(|items| items.len() > 0) {
        Some(items) => items,
        None if of_valkey() => arguments.from(arguments.len()),
        None => {
            let text = "ERR wrong number of arguments for 'bf.insert' command";
            return Err(Refusal::new(text));
        }
    };
    let done = insert_all(context, arguments, items, create.then_some(move || reserve))?;
    reply_all(context, &done);
    Ok(())
}

/// Puts items in, and makes the filter if `create` says how. One that is refused ends the list.
fn insert_all(
    context: &mut Context,
    arguments: Arguments<'_>,
    items: Arguments<'_>,
    create: Option<impl FnOnce() -> Reserve>,
) -> Result<Vec<Result<bool, Refusal>>, Refusal> {
    let Some(name) = arguments.get(0) else { return Ok(Vec::new()) };
    let most = max_bytes(context);
    let mut done = Vec::with_capacity(items.len());
    let mut made = None;
    {
        let mut key = context.key_mut(name);
        match key.held() {
            Held::Ours(Value::Bloom(bloom)) => put(bloom, items, most, &mut done),
            Held::Nothing => {
                let reserve = create.ok_or(Refusal::not_found())?();
                let mut bloom = Bloom::new(reserve, most)?;
                put(&mut bloom, items, most, &mut done);
                key.set(Value::Bloom(bloom))?;
                made = Some(reserve);
            }
            Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
            Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
        }
    }
    let any = done.iter().any(|one| matches!(one, Ok(true)));
    if any || made.is_some() {
        if made.is_some() {
            context.changed(name, RESERVED);
        }
        if any {
            context.changed(name, ADDED);
        }
        replicate(context, arguments, items, &done, made);
    }
    Ok(done)
}

fn put(bloom: &mut Bloom, items: Arguments<'_>, most: u64, done: &mut Vec<Result<bool, Refusal>>) {
    for item in items.iter() {
        let answer = bloom.insert(item, most).map_err(|stop| match stop {
            Stop::Full => FULL,
            Stop::NoGrowth(why) => {
                Refusal::say(format!("ERR problem inserting into filter: {why}"))
            }
        });
        let refused = answer.is_err();
        done.push(answer);
        if refused {
            return;
        }
    }
}

/// Sends what was done: a replica has other defaults and other limits.
fn replicate(
    context: &Context,
    arguments: Arguments<'_>,
    items: Arguments<'_>,
    done: &[Result<bool, Refusal>],
    made: Option<Reserve>,
) {
    let taken = done.iter().take_while(|one| one.is_ok()).count();
    let name = arguments.bytes(0);
    let Some(reserve) = made else {
        if taken == items.len() {
            context.replicate_as_is();
        } else {
            let sent: Vec<&[u8]> = std::iter::once(name).chain(items.iter().take(taken)).collect();
            context.replicate(c"BF.MADD", &sent);
        }
        return;
    };
    if taken == 0 {
        let (rate, capacity) = (format!("{:?}", reserve.rate), reserve.capacity.to_string());
        let options = sent_options(reserve);
        let mut sent = vec![name, rate.as_bytes(), capacity.as_bytes()];
        sent.extend(options.iter().map(|one| one.as_bytes()));
        context.replicate(c"BF.RESERVE", &sent);
        return;
    }
    let mut options = vec![
        "CAPACITY".to_owned(),
        reserve.capacity.to_string(),
        "ERROR".to_owned(),
        format!("{:?}", reserve.rate),
    ];
    options.extend(sent_options(reserve));
    options.push("ITEMS".to_owned());
    let mut sent = vec![name];
    sent.extend(options.iter().map(|one| one.as_bytes()));
    sent.extend(items.iter().take(taken));
    context.replicate(c"BF.INSERT", &sent);
}

/// valkey-bloom answers integers in both protocols.
#[inline]
fn reply_bool(context: &Context, value: bool) {
    if of_valkey() { context.reply_integer(i64::from(value)) } else { context.reply_bool(value) }
}

fn reply_all(context: &Context, done: &[Result<bool, Refusal>]) {
    context.reply_array(done.len());
    for answer in done {
        match answer {
            Ok(new) => reply_bool(context, *new),
            Err(refusal) => context.reply_error(refusal),
        }
    }
}

/// `BF.EXISTS key item`
pub(crate) fn exists(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let item = arguments.bytes(1);
    let answer = match context.key(name).held() {
        Held::Ours(Value::Bloom(bloom)) => bloom.contains(item),
        Held::Ours(Value::Filter(loaded)) => loaded.contains(item, server::now())?,
        Held::Nothing => false,
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other if of_valkey() => return Err(Refusal::wrong_type()),
        Held::Ours(_) | Held::Other => false,
    };
    reply_bool(context, answer);
    Ok(())
}

/// `BF.MEXISTS key item...`
pub(crate) fn exists_many(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let items = arguments.from(1);
    let none = || vec![false; items.len()];
    let answers = match context.key(name).held() {
        Held::Ours(Value::Bloom(bloom)) => bloom.contains_many(items.iter()),
        Held::Ours(Value::Filter(loaded)) => loaded.contains_many(items.iter(), server::now())?,
        Held::Nothing => none(),
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other if of_valkey() => return Err(Refusal::wrong_type()),
        Held::Ours(_) | Held::Other => none(),
    };
    context.reply_array(answers.len());
    answers.iter().for_each(|answer| reply_bool(context, *answer));
    Ok(())
}

/// `BF.CARD key`
pub(crate) fn cardinality(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let items = match context.key(name).held() {
        Held::Ours(Value::Bloom(bloom)) => bloom.len(),
        Held::Nothing => 0,
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    };
    context.reply_count(items);
    Ok(())
}

/// A field of `BF.INFO`: the word that asks for it, its name, and its value.
type Field = (&'static str, &'static std::ffi::CStr, fn(&Context, &Bloom));

const FIELDS: [Field; 5] = [
    ("CAPACITY", c"Capacity", |context, bloom| context.reply_count(bloom.capacity())),
    ("SIZE", c"Size", |context, bloom| context.reply_count(bloom.bytes())),
    ("FILTERS", c"Number of filters", |context, bloom| context.reply_count(bloom.links())),
    ("ITEMS", c"Number of items inserted", |context, bloom| context.reply_count(bloom.len())),
    ("EXPANSION", c"Expansion rate", |context, bloom| match bloom.expansion() {
        Some(expansion) => context.reply_integer(i64::from(expansion)),
        None => context.reply_null(),
    }),
];

/// `BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]`
pub(crate) fn info(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let key = context.key(name);
    let bloom = match key.held() {
        Held::Ours(Value::Bloom(bloom)) => bloom,
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    };
    let Some(word) = arguments.get(1) else {
        if of_valkey() {
            context.reply_array(2 * FIELDS.len());
        } else {
            context.reply_map(FIELDS.len());
        }
        for (_, name, value) in FIELDS {
            context.reply_simple(name);
            value(context, bloom);
        }
        return Ok(());
    };
    let found = FIELDS.iter().find(|(field, _, _)| is(word.bytes(), field));
    let Some((_, name, value)) = found else {
        if of_valkey() && is(word.bytes(), "ERROR") {
            context.reply_double(bloom.rate());
            return Ok(());
        }
        return Err(if of_valkey() {
            Refusal::new("ERR invalid information value")
        } else {
            Refusal::new("Invalid information value")
        });
    };
    if !of_valkey() {
        if context.speaks_resp3() {
            context.reply_map(1);
            context.reply_simple(name);
        } else {
            context.reply_array(1);
        }
    }
    value(context, bloom);
    Ok(())
}

/// `BF.DEBUG key`
pub(crate) fn debug(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let key = context.key(name);
    let bloom = match key.held() {
        Held::Ours(Value::Bloom(bloom)) => bloom,
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Ours(Value::Arriving(_)) => return Err(Refusal::arriving()),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    };
    let links = bloom.describe_links();
    context.reply_array(1 + links.len());
    context.reply_bytes(format!("size:{}", bloom.len()).as_bytes());
    links.iter().for_each(|link| context.reply_bytes(link.as_bytes()));
    Ok(())
}

/// `BF.LOAD key bytes`: a file of the library that holds a Bloom filter.
pub(crate) fn load(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    if !matches!(context.key(name).held(), Held::Nothing) {
        return Err(Refusal::new("BUSYKEY Target key name already exists."));
    }
    let most = max_bytes(context);
    let opened = tamis::Open::new().max_memory(most).bytes(arguments.bytes(1)).ok();
    let bloom = opened.and_then(|filter| {
        let keys = Keys::of(filter.kinds());
        Bloom::from_file(filter, keys)
    });
    let bloom = bloom.ok_or(Refusal::new("ERR bloom object decoding failed"))?;
    context.key_mut(name).set(Value::Bloom(bloom))?;
    context.changed(name, c"bloom.load");
    context.replicate_as_is();
    context.reply_ok();
    Ok(())
}
