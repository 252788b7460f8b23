//! The commands.
//!
//! | file | what it holds |
//! |---|---|
//! | `bloom` | `BF.*` |
//! | `cuckoo` | `CF.*` |
//! | `chunks` | `SCANDUMP` and `LOADCHUNK` |
//! | `filters` | `TAMIS.*` for filters of every kind |
//! | `zone` | `TAMIS.ZONE.*` |
//! | `privacy` | `TAMIS.PUBLISH`, `TAMIS.LEDGER` |
//! | `parse` | numbers and options |

mod bloom;
mod chunks;
mod cuckoo;
mod filters;
mod parse;
mod privacy;
mod zone;

use crate::server::Argument::{
    Double, Field, Integer, Key, Keys, Maybe, MaybeDouble, MaybeInteger, MaybeText, Text, Texts,
    Word,
};
use crate::server::{Argument, Context, KeyUse, Spec};
use crate::settings;

/// The bytes that a filter may take. What a master or an append-only file sends was allowed there.
fn max_bytes(context: &Context) -> u64 {
    if context.is_replayed() { u64::MAX } else { settings::max_filter_bytes() }
}

const ONE: &str = "O(1)";
const EACH: &str = "O(n), where n is the number of items";
const BYTES: &str = "O(n), where n is the number of bytes";

const KEY_ITEM: &[Argument] = &[Key("key"), Text("item")];
const KEY_ITEMS: &[Argument] = &[Key("key"), Texts("item")];
const SCAN: &[Argument] = &[Key("key"), Integer("iterator")];
const CHUNK: &[Argument] = &[Key("key"), Integer("iterator"), Text("data")];
const CUCKOO_INSERT: &[Argument] = &[
    Key("key"),
    MaybeInteger("capacity", "CAPACITY"),
    Maybe("nocreate", "NOCREATE"),
    Word("items", "ITEMS"),
    Texts("item"),
];

macro_rules! read {
    ($name:literal, $run:path, $arity:literal, $args:expr, $complexity:expr, $summary:literal) => {
        Spec {
            name: $name,
            run: $run,
            writes: false,
            arity: $arity,
            keys: KeyUse::Read,
            summary: $summary,
            complexity: $complexity,
            arguments: $args,
        }
    };
}

macro_rules! write {
    ($name:literal, $run:path, $arity:literal, $args:expr, $complexity:expr, $summary:literal) => {
        Spec {
            name: $name,
            run: $run,
            writes: true,
            arity: $arity,
            keys: KeyUse::Write,
            summary: $summary,
            complexity: $complexity,
            arguments: $args,
        }
    };
}

/// Every command of the module.
pub(crate) static COMMANDS: [Spec; 45] = [
    write!(
        c"bf.reserve",
        bloom::reserve,
        -4,
        &[
            Key("key"),
            Double("error_rate"),
            Integer("capacity"),
            MaybeInteger("expansion", "EXPANSION"),
            Maybe("nonscaling", "NONSCALING"),
        ],
        ONE,
        "Creates an empty Bloom filter"
    ),
    write!(
        c"bf.add",
        bloom::add,
        3,
        KEY_ITEM,
        "O(k), where k is the number of filters of the chain",
        "Adds an item to a Bloom filter, which is created if it does not exist"
    ),
    write!(
        c"bf.madd",
        bloom::add_many,
        -3, KEY_ITEMS, EACH, "Adds items to a Bloom filter, which is created if it does not exist"
    ),
    write!(
        c"bf.insert",
        bloom::insert,
        -3,
        &[
            Key("key"),
            MaybeInteger("capacity", "CAPACITY"),
            MaybeDouble("error", "ERROR"),
            MaybeInteger("expansion", "EXPANSION"),
            Maybe("nocreate", "NOCREATE"),
            Maybe("nonscaling", "NONSCALING"),
            Word("items", "ITEMS"),
            Texts("item"),
        ],
        EACH,
        "Adds items to a Bloom filter, which is created as asked if it does not exist"
    ),
    read!(
        c"bf.exists",
        bloom::exists,
        3,
        KEY_ITEM,
        "O(k), where k is the number of filters of the chain",
        "Tells whether an item may be in a Bloom filter"
    ),
    read!(
        c"bf.mexists",
        bloom::exists_many,
        -3,
        KEY_ITEMS,
        EACH,
        "Tells which of the items may be in a Bloom filter"
    ),
    read!(
        c"bf.card",
        bloom::cardinality,
        2,
        &[Key("key")],
        ONE,
        "Counts the items that were new when they were added"
    ),
    read!(
        c"bf.info",
        bloom::info,
        -2,
        &[Key("key"), Field("single_value")],
        ONE,
        "Describes a Bloom filter"
    ),
    read!(c"bf.debug", bloom::debug, 2, &[Key("key")], ONE, "Describes the filters of a chain"),
    read!(
        c"bf.scandump",
        chunks::dump_bloom,
        3,
        SCAN,
        BYTES,
        "Gives a Bloom filter out, chunk by chunk"
    ),
    write!(
        c"bf.loadchunk",
        chunks::load_bloom,
        4, CHUNK, BYTES, "Takes a Bloom filter in, chunk by chunk"
    ),
    write!(
        c"bf.load",
        bloom::load,
        3,
        &[Key("key"), Text("data")],
        BYTES,
        "Takes a Bloom filter in from the bytes of a tamis file"
    ),
    write!(
        c"cf.reserve",
        cuckoo::reserve,
        -3,
        &[
            Key("key"),
            Integer("capacity"),
            MaybeInteger("bucketsize", "BUCKETSIZE"),
            MaybeInteger("maxiterations", "MAXITERATIONS"),
            MaybeInteger("expansion", "EXPANSION"),
        ],
        ONE,
        "Creates an empty filter that can delete"
    ),
    write!(
        c"cf.add",
        cuckoo::add,
        3,
        KEY_ITEM,
        ONE,
        "Adds an item to a filter that can delete, which is created if it does not exist"
    ),
    write!(
        c"cf.addnx",
        cuckoo::add_new,
        3, KEY_ITEM, ONE, "Adds an item unless it may be there already"
    ),
    write!(
        c"cf.insert",
        cuckoo::insert,
        -4,
        CUCKOO_INSERT,
        EACH,
        "Adds items to a filter that can delete, which is created if it does not exist"
    ),
    write!(
        c"cf.insertnx",
        cuckoo::insert_new,
        -4, CUCKOO_INSERT, EACH, "Adds the items that are certainly not there"
    ),
    read!(
        c"cf.exists",
        cuckoo::exists,
        3,
        KEY_ITEM,
        ONE,
        "Tells whether an item may be in a filter that can delete"
    ),
    read!(
        c"cf.mexists",
        cuckoo::exists_many,
        -3,
        KEY_ITEMS,
        EACH,
        "Tells which of the items may be in a filter that can delete"
    ),
    write!(c"cf.del", cuckoo::delete, 3, KEY_ITEM, ONE, "Deletes an item once"),
    read!(
        c"cf.count",
        cuckoo::count,
        3,
        KEY_ITEM,
        ONE,
        "Says how often an item was added, at most"
    ),
    read!(c"cf.info", cuckoo::info, 2, &[Key("key")], ONE, "Describes a filter that can delete"),
    read!(
        c"cf.scandump",
        chunks::dump_cuckoo,
        3,
        SCAN,
        BYTES,
        "Gives a filter out, chunk by chunk"
    ),
    write!(
        c"cf.loadchunk",
        chunks::load_cuckoo,
        4, CHUNK, BYTES, "Takes a filter in, chunk by chunk"
    ),
    read!(
        c"tamis.scandump",
        chunks::dump_any,
        3,
        SCAN,
        BYTES,
        "Gives a filter or a ledger out, chunk by chunk"
    ),
    write!(
        c"tamis.loadchunk",
        chunks::load_any,
        4, CHUNK, BYTES, "Takes a filter or a ledger in, chunk by chunk"
    ),
    Spec {
        keys: KeyUse::None,
        ..read!(
            c"tamis.plan",
            filters::plan,
            -3,
            &[
                Double("error_rate"),
                Integer("capacity"),
                MaybeText("layout", "LAYOUT"),
                Maybe("nonscaling", "NONSCALING"),
            ],
            ONE,
            "Says how large a Bloom filter would be"
        )
    },
    read!(
        c"tamis.info",
        filters::info,
        2,
        &[Key("key")],
        BYTES,
        "Describes a filter of any kind, its fill, its expected rate and its health"
    ),
    read!(
        c"tamis.exists",
        filters::exists,
        -3,
        KEY_ITEMS,
        EACH,
        "Tells which of the items pass a filter of any kind, which must exist"
    ),
    write!(
        c"tamis.reserve",
        filters::reserve,
        -3,
        &[
            Key("key"),
            Text("kind"),
            Double("error_rate"),
            Integer("capacity"),
            MaybeDouble("seconds", "SECONDS"),
        ],
        ONE,
        "Creates an empty filter with counters, or one that forgets"
    ),
    write!(
        c"tamis.addat",
        filters::add_at,
        -3,
        &[Key("key"), Integer("milliseconds"), Texts("item")],
        EACH,
        "Adds items at a time to a filter that forgets"
    ),
    write!(c"tamis.add", filters::add, -3, KEY_ITEMS, EACH, "Adds items to a filter that exists"),
    write!(
        c"tamis.remove",
        filters::remove,
        -3, KEY_ITEMS, EACH, "Removes items from a filter with counters"
    ),
    Spec {
        keys: KeyUse::WriteThenRead,
        ..write!(
            c"tamis.union",
            filters::union,
            -3,
            &[Key("destination"), Keys("source")],
            BYTES,
            "Stores the union of filters"
        )
    },
    Spec {
        keys: KeyUse::WriteThenRead,
        ..write!(
            c"tamis.intersect",
            filters::intersect,
            -3,
            &[Key("destination"), Keys("source")],
            BYTES,
            "Stores the intersection of filters"
        )
    },
    write!(
        c"tamis.load",
        filters::load,
        -3,
        &[Key("key"), Text("data"), MaybeText("keys", "KEYS"), Maybe("replace", "REPLACE"),],
        BYTES,
        "Takes a filter in from the bytes of a tamis file"
    ),
    read!(
        c"tamis.dump",
        filters::dump,
        2,
        &[Key("key")],
        BYTES,
        "Gives the bytes of the filter's tamis file"
    ),
    write!(
        c"tamis.zone.reserve",
        zone::reserve,
        -6,
        &[
            Key("key"),
            MaybeText("universe", "UNIVERSE"),
            MaybeInteger("items", "ITEMS"),
            Maybe("counting", "COUNTING"),
        ],
        "O(d), where d is the number of items of the zone, and the search for a code",
        "Creates an empty zone filter"
    ),
    write!(
        c"tamis.zone.add",
        filters::add,
        -3, KEY_ITEMS, EACH, "Adds elements of the universe to a zone filter"
    ),
    write!(
        c"tamis.zone.rem",
        filters::remove,
        -3, KEY_ITEMS, EACH, "Removes elements from a zone filter with counters"
    ),
    read!(
        c"tamis.zone.exists",
        filters::exists,
        -3,
        KEY_ITEMS,
        EACH,
        "Tells which elements are in a zone filter"
    ),
    read!(
        c"tamis.zone.list",
        zone::list,
        2,
        &[Key("key")],
        "O(n), where n is the work of the listing",
        "Lists the elements of a zone filter"
    ),
    Spec {
        keys: KeyUse::WriteThenRead,
        ..write!(
            c"tamis.zone.union",
            filters::union,
            -3,
            &[Key("destination"), Keys("source")],
            BYTES,
            "Stores the union of zone filters"
        )
    },
    Spec {
        keys: KeyUse::Publish,
        ..write!(
            c"tamis.publish",
            privacy::publish,
            -8,
            &[
                Key("destination"),
                Word("from", "FROM"),
                Key("source"),
                MaybeInteger("items", "ITEMS"),
                MaybeText("epsilon", "EPSILON"),
                MaybeText("ledger", "LEDGER"),
            ],
            EACH,
            "Publishes a set or a filter under noise, charged to a ledger"
        )
    },
    write!(
        c"tamis.ledger",
        privacy::ledger,
        -2,
        &[Key("key"), MaybeText("budget", "BUDGET"), MaybeText("charge", "CHARGE"),],
        ONE,
        "Creates, charges or shows a privacy budget"
    ),
];
