//! `SCANDUMP` and `LOADCHUNK`, for every type.

use super::max_bytes;
use super::parse::{integer, natural};
use crate::refusal::{Outcome, Refusal};
use crate::server::{Arguments, Context, Held, KeyMut, Text};
use crate::value::{Arriving, Tag, Value};

/// The bytes of a chunk.
const CHUNK: usize = 16 << 20;

const NOT_A_NUMBER: Refusal = Refusal::new("ERR Second argument must be numeric");

/// `BF.SCANDUMP key iterator`
pub(crate) fn dump_bloom(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    dump(context, arguments, &[Tag::Bloom])
}

/// `CF.SCANDUMP key iterator`
pub(crate) fn dump_cuckoo(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    dump(context, arguments, &[Tag::Cuckoo])
}

/// `TAMIS.SCANDUMP key iterator`
pub(crate) fn dump_any(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    dump(context, arguments, &[Tag::Filter, Tag::Ledger])
}

/// `BF.LOADCHUNK key iterator bytes`
pub(crate) fn load_bloom(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    load(context, arguments, &[Tag::Bloom])
}

/// `CF.LOADCHUNK key iterator bytes`
pub(crate) fn load_cuckoo(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    load(context, arguments, &[Tag::Cuckoo])
}

/// `TAMIS.LOADCHUNK key iterator bytes`
pub(crate) fn load_any(context: &mut Context, arguments: Arguments<'_>) -> Outcome {
    load(context, arguments, &[Tag::Filter, Tag::Ledger])
}

/// Answers the next iterator and a chunk. Iterator 0 asks for the preamble, whose iterator is 1. A
/// later one is 1 more than the place in the stream where the chunk begins.
fn dump(context: &mut Context, arguments: Arguments<'_>, tags: &[Tag]) -> Outcome {
    let iterator = integer(arguments.bytes(1)).ok_or(NOT_A_NUMBER)?;
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let key = context.key(name);
    let value = match key.held() {
        Held::Ours(value) if tags.contains(&value.tag()) => value,
        Held::Nothing => return Err(Refusal::not_found()),
        Held::Ours(_) | Held::Other => return Err(Refusal::wrong_type()),
    };
    if matches!(value, Value::Arriving(_)) {
        return Err(Refusal::arriving());
    }
    let (next, bytes) = match u64::try_from(iterator) {
        Ok(0) => (1, value.preamble().0),
        Ok(iterator) => {
            let kept = value.window(iterator - 1, CHUNK);
            let kept = kept.map_err(|error| Refusal::say(format!("ERR {error}")))?;
            let length = kept.len() as u64;
            (if length == 0 { 0 } else { iterator + length }, kept)
        }
        Err(_) => (0, Vec::new()),
    };
    context.reply_array(2);
    context.reply_count(next);
    context.reply_bytes(&bytes);
    Ok(())
}

/// Takes a chunk. The one with the iterator 1 is the preamble and makes the key; the others must
/// come in their order. The last one makes the filter, after every check of its file.
fn load(context: &mut Context, arguments: Arguments<'_>, tags: &[Tag]) -> Outcome {
    let iterator = integer(arguments.bytes(1)).ok_or(NOT_A_NUMBER)?;
    let iterator = natural(iterator.to_string().as_bytes())
        .ok_or(Refusal::new("ERR invalid offset - no link found"))?;
    let (Some(name), Some(text)) = (arguments.get(0), arguments.get(2)) else { return Ok(()) };
    let bytes = text.bytes();
    let lifted =
        if context.may_wait() { lift(&mut context.key_mut(name), bytes.len(), tags) } else { None };
    if let Some(mut arriving) = lifted {
        let held = context.hold(text);
        let work = move |bytes: &[u8]| {
            let put = arriving.put(iterator, bytes);
            (arriving, put)
        };
        return context.elsewhere_with(arguments, held, work, put_back);
    }
    let most = max_bytes(context);
    let taken = take(&mut context.key_mut(name), iterator, bytes, tags, most);
    reply(context, name, taken)
}

/// Says what became of a chunk.
fn reply(context: &Context, name: Text<'_>, taken: Result<(), (Refusal, Key)>) -> Outcome {
    if matches!(taken, Err((_, Key::Gone))) {
        context.changed(name, c"del");
        context.replicate(c"DEL", &[name.bytes()]);
    }
    taken.map_err(|(refusal, _)| refusal)?;
    context.changed(name, c"tamis.loadchunk");
    context.replicate_as_is();
    context.reply_ok();
    Ok(())
}

/// Takes a value out of its key for another thread, if this chunk completes a large part of it: the
/// part is then checked as a whole. Until it comes back the key refuses chunks, except one that
/// begins anew.
fn lift(key: &mut KeyMut<'_>, bytes: usize, tags: &[Tag]) -> Option<Arriving> {
    let Held::Ours(Value::Arriving(arriving)) = key.held() else { return None };
    let large = tags.contains(&arriving.tag()) && arriving.completes_large_part(bytes as u64);
    large.then(|| arriving.lift())
}

/// Puts back what another thread has worked on.
fn put_back(
    context: &mut Context,
    arguments: Arguments<'_>,
    (worked_on, put): (Arriving, Result<(), Refusal>),
) -> Outcome {
    let Some(name) = arguments.get(0) else { return Ok(()) };
    let taken = {
        let mut key = context.key_mut(name);
        match key.held() {
            Held::Ours(Value::Arriving(arriving)) if arriving.is_lifted() => {
                *arriving = worked_on;
                settle(&mut key, put)
            }
            // The key was deleted or begun anew meanwhile.
            _ => Err((Refusal::not_found(), Key::AsItWas)),
        }
    };
    reply(context, name, taken)
}

/// What a refusal leaves of the key.
enum Key {
    AsItWas,
    /// Bytes that are no filter do not become one by what follows.
    Gone,
}

fn take(
    key: &mut KeyMut<'_>,
    iterator: u64,
    bytes: &[u8],
    tags: &[Tag],
    most: u64,
) -> Result<(), (Refusal, Key)> {
    let stays = |refusal| (refusal, Key::AsItWas);
    const BAD_DATA: Refusal = Refusal::new("ERR received bad data");
    let put = match key.held() {
        Held::Other => return Err(stays(Refusal::wrong_type())),
        Held::Ours(value) if !tags.contains(&value.tag()) => {
            return Err(stays(Refusal::wrong_type()));
        }
        // A load that was given up may begin again; a filter is not overwritten.
        Held::Nothing | Held::Ours(Value::Arriving(_)) if iterator == 1 => {
            let arriving = Arriving::begin(bytes, most).map_err(stays)?;
            if !tags.contains(&arriving.tag()) {
                return Err(stays(BAD_DATA));
            }
            key.set(Value::Arriving(arriving)).map_err(stays)?;
            Ok(())
        }
        Held::Nothing => return Err(stays(Refusal::not_found())),
        Held::Ours(Value::Arriving(arriving)) => arriving.put(iterator, bytes),
        Held::Ours(_) => return Err(stays(BAD_DATA)),
    };
    settle(key, put)
}

/// Makes the filter if all of it has come, and removes the key if that can never be.
fn settle(key: &mut KeyMut<'_>, put: Result<(), Refusal>) -> Result<(), (Refusal, Key)> {
    let Held::Ours(value) = key.held() else { return Ok(()) };
    let Value::Arriving(arriving) = value else { return Ok(()) };
    let finished = match put {
        Err(refusal) if !arriving.is_spoiled() => return Err((refusal, Key::AsItWas)),
        Err(refusal) => Err(refusal),
        Ok(()) if !arriving.is_complete() => return Ok(()),
        Ok(()) => arriving.lift().finish(),
    };
    match finished {
        Ok(finished) => {
            *value = finished;
            Ok(())
        }
        Err(refusal) => {
            key.delete();
            Err((refusal, Key::Gone))
        }
    }
}
