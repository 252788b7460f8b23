//! The use cases of Section II, with their numbers checked.

use super::{deceived, others, plan};
use crate::Notebook;
use tamis::zone::{CodeKind, Plan};

pub(super) fn cases(book: &mut Notebook) {
    radio_cells(book);
    flow_attributes(book);
    multicast(book);
    storage(book);
    botnets(book);
}

fn egh(size: u64, items: u64) -> (u64, u64) {
    plan(size, items, CodeKind::Egh).map_or((0, 0), |plan: Plan| (plan.bits(), plan.probes()))
}

fn radio_cells(book: &mut Notebook) {
    let (size, items) = (1 << 16, 100);
    let (bits, probes) = egh(size, items);
    book.near(
        "Section II-A, radio cells, m for n = 2^16, d = 100",
        1e5,
        bits as f64,
        1e3,
        "one per cent: a round number",
        &format!("exactly {bits} bits, {probes} probes; {}", others(size, items, true)),
    );
    let bytes = bits.div_ceil(8);
    book.near(
        "Section II-A, radio cells, message in bytes",
        1e4,
        bytes as f64,
        1e3,
        "a tenth: the text says about 10 KB",
        &format!("{bytes} bytes are {:.1} KiB, a quarter more", bytes as f64 / 1024.0),
    );
    book.known_to_differ();
}

fn flow_attributes(book: &mut Notebook) {
    let (bits, probes) = egh(606, 3);
    book.exact(
        "Section II-B, flow attributes, m for n = 606, d = 3",
        100,
        bits,
        &others(606, 3, true),
    );
    book.exact("Section II-B, flow attributes, probes", 9, probes, "the first nine primes");
    let found = super::universe(100, 3);
    book.exact(
        "Section II-B, flow attributes, n_3 of m = 100",
        606,
        found,
        "the cube root of 223092870",
    );
    book.exact(
        "Section II-B, flow attributes, bits of one",
        10,
        605u32.ilog2() + 1,
        "ceil(log2 606)",
    );
}

fn multicast(book: &mut Notebook) {
    let size = 100_000;
    for (items, room, needs_probes, note) in [
        (6, 800, 22, String::new()),
        (7, 1024, 25, format!("; with the 24 primes that fit, {}", deceived(size, 24, 7))),
    ] {
        let (bits, probes) = egh(size, items);
        let fits = if bits <= room { format!("at most {room}") } else { bits.to_string() };
        book.exact(
            &format!("Section II-C, multicast, m for n = 10^5, d = {items}"),
            format!("at most {room}"),
            fits,
            &format!("{bits} bits{note}; {}", others(size, items, true)),
        );
        if items == 7 {
            book.known_to_differ();
        }
        let place = format!("Section II-C, multicast, probes for d = {items}");
        book.exact(&place, needs_probes, probes, &format!("of the {bits} bits"));
    }
    book.exact(
        "Section II-C, multicast, bits of one link",
        17,
        (size - 1).ilog2() + 1,
        "ceil(log2 10^5)",
    );
}

/// The text gives no numbers. We show that its use case works: a filter holds the changed places,
/// and two filters are intersected.
fn storage(book: &mut Notebook) {
    let conflicts = conflicts().unwrap_or_else(|error| error.to_string());
    book.exact_formula(
        "Section II-D, distributed storage, conflicts",
        "500, 70000",
        conflicts,
        "no numbers in the text; two EGH filters of changed lines of 1..100000, d = 6, intersected \
         and listed",
    );
}

fn conflicts() -> Result<String, tamis::Error> {
    use tamis::zone::{Filter, Universe};
    let plan = Plan::with_code(Universe::interval(1, 100_000)?, 6, CodeKind::Egh)?;
    let mut sides = [Filter::with_plan(plan.clone())?, Filter::with_plan(plan)?];
    for (side, lines) in sides.iter_mut().zip([[3, 500, 501, 70_000], [4, 499, 500, 70_000]]) {
        for line in lines {
            side.insert(u64::from(line as u32))?;
        }
    }
    let [mut mine, theirs] = sides;
    mine.intersect(&theirs)?;
    Ok(mine.list()?.names(&mine).join(", "))
}

fn botnets(book: &mut Notebook) {
    let (size, items) = (1 << 32, 4);
    let (bits, probes) = egh(size, items);
    let allowed = super::universe(1161, items);
    book.exact(
        "Section II-E, botnets, m for n = 2^32, d = 4",
        1161,
        bits,
        &format!(
            "{probes} primes; n_4 of 1161 bits is {allowed}, and {}; {}",
            deceived(size, 26, 4),
            others(size, items, true)
        ),
    );
    book.known_to_differ();
    book.exact(
        "Section II-E, botnets, bytes of 1000 addresses",
        4000,
        1000 * 32 / 8,
        "32 bits each",
    );
}
