//! The two worked examples: Table I, and the listing of two elements.

use super::{chinese_remainder, exact_zone, primes, root};
use crate::Notebook;
use tamis::zone::{CodeKind, CountingFilter, Filter, Method, Plan, Universe};

/// Where the example stands.
const PLACE: &str = "Table I (Section V-B)";
const SIZE: u64 = 48;
const ROWS: u64 = 28;

/// Bit i is row i of the matrix, from the top.
pub(super) type Column = u32;

/// The columns of the code matrix for the elements 1 to `size`, each the body of a filter with one
/// element.
pub(super) fn columns(size: u64) -> Result<Vec<Column>, tamis::Error> {
    let plan =
        Plan::with_code(Universe::interval(1, size.into())?, 1, CodeKind::Egh)?.with_blocks(5)?;
    let column = |element: u64| {
        let mut filter = Filter::with_plan(plan.clone())?;
        filter.insert(element)?;
        Ok(filter.body().iter().rev().fold(0, |column, byte| column << 8 | Column::from(*byte)))
    };
    (1..=size).map(column).collect()
}

/// The same by Eq. 3: x mod p, after all rows of the primes before p.
fn by_equation(x: u64, moduli: &[u64]) -> Column {
    let starts = (0..moduli.len()).map(|block| moduli[..block].iter().sum::<u64>());
    moduli.iter().zip(starts).fold(0, |column, (p, start)| column | 1 << (x % p + start))
}

/// As the paper writes a column: block after block, the residue 0 first.
fn written(column: Column) -> String {
    let mut next = 0;
    let mut block = |size: &u64| {
        next += size;
        (next - size..next)
            .map(|row| if column >> row & 1 == 1 { '1' } else { '0' })
            .collect::<String>()
    };
    primes(5).iter().map(&mut block).collect::<Vec<_>>().join(" ")
}

/// How many columns are covered by two others, or by three.
pub(super) fn covered(columns: &[Column], by: usize) -> usize {
    let outside = |union: Column| columns.iter().filter(|column| **column & !union == 0).count();
    let mut found = 0;
    for (i, a) in columns.iter().enumerate() {
        for (j, b) in columns.iter().enumerate().skip(i + 1) {
            if by == 2 {
                found += outside(a | b) - 2;
                continue;
            }
            found += columns.iter().skip(j + 1).map(|c| outside(a | b | c) - 3).sum::<usize>();
        }
    }
    found
}

pub(super) fn table_1(book: &mut Notebook) {
    let Ok(columns) = columns(SIZE) else { return };
    let moduli = primes(5);
    book.exact(&format!("{PLACE}, rows"), ROWS, moduli.iter().sum::<u64>(), "2 + 3 + 5 + 7 + 11");
    book.exact(&format!("{PLACE}, P"), 2310, super::product(&moduli), "at least 48^2 = 2304");

    let same: u32 = (1..=SIZE)
        .zip(&columns)
        .map(|(x, column)| ROWS as u32 - (column ^ by_equation(x, &moduli)).count_ones())
        .sum();
    book.exact_formula(
        &format!("{PLACE}, bits as Eq. 3 has them"),
        ROWS * SIZE,
        same,
        "our filter's body for each single element of 1 to 48 against x mod p plus the primes \
         before p",
    );
    if let (Some(first), Some(last)) = (columns.first(), columns.last()) {
        let published = "10 100 00010 0000001 00001000000";
        book.exact(
            &format!("{PLACE}, column of 48"),
            published,
            written(*last),
            "residues 0, 0, 3, 6, 4",
        );
        book.exact(
            &format!("{PLACE}, column of 1, by the words on it"),
            "10 100 10000 1000000 10000000000",
            written(*first),
            "the text sets the first bit of each block; the residue 1 is the second, as its column \
             of 48 counts",
        );
        book.known_to_differ();
    }
    disjunct(book, &columns, &moduli);
}

fn disjunct(book: &mut Notebook, columns: &[Column], moduli: &[u64]) {
    book.exact_formula(
        &format!("{PLACE}, columns covered by two others"),
        0,
        covered(columns, 2),
        "2-disjunct: all 1128 pairs against the other 46 columns",
    );
    let covered = covered(columns, 3);
    book.exact_formula(
        &format!("{PLACE}, disjunct for how many"),
        2,
        if covered > 0 { 2 } else { 3 },
        &format!(
            "of all 17296 sets of three, {covered} times one covers another column; the packing of \
             the primes says {} too",
            exact_zone(moduli, SIZE.into())
                .map_or_else(|| "nothing".to_owned(), |zone| zone.to_string())
        ),
    );
    for (items, published) in [(1, 2310), (2, 48), (3, 13)] {
        let note = format!("the root of degree {items} of 2310");
        book.exact(
            &format!("{PLACE}, n_{items} of 28 bits"),
            published,
            root(moduli, items),
            &note,
        );
    }
}

/// Section VI-B: 6 and 4 of 1 to 14, from their residues.
pub(super) fn listing_two(book: &mut Notebook) {
    let moduli = primes(4);
    let place = |what: &str| format!("Section VI-B, {what}");
    let residues = |x: u64| moduli.iter().map(|p| x % p).collect::<Vec<u64>>();
    let shown = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let (six, four) = (residues(6), residues(4));
    book.exact(&place("P"), 210, super::product(&moduli), "above 14^2 = 196");
    book.exact(&place("residues of 6"), "0, 0, 1, 6", shown(&six), "modulo 2, 3, 5, 7");
    book.exact(&place("residues of 4"), "0, 1, 4, 4", shown(&four), "modulo 2, 3, 5, 7");

    let combined = |combine: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
        six.iter().zip(&four).zip(&moduli).map(|((a, b), p)| combine(*a, *b) % p).collect()
    };
    let squares = combined(&|a, b| a.abs_diff(b).pow(2));
    let sums = combined(&|a, b| a + b);
    book.exact(
        &place("z_i"),
        "0, 1, 4, 4",
        shown(&squares),
        "the squared differences of the residues",
    );
    let solve = |residues: &[u64]| chinese_remainder(residues, &moduli);
    let (z, sum) = (solve(&squares), solve(&sums));
    book.exact(&place("z"), 4, &z, "by the Chinese remainder theorem");
    book.exact(&place("u = x_1 - x_2"), 2, z.sqrt(), "the square root of z");
    book.exact(&place("x_1 + x_2"), 10, &sum, "by the Chinese remainder theorem");
    let larger = (&sum + z.sqrt()) / 2u8;
    book.exact(
        &place("x_1 and x_2"),
        "6, 4",
        format!("{larger}, {}", &sum - &larger),
        "half of 10 + 2, and the rest",
    );

    for method in [Method::Join, Method::Algebra, Method::Sturm] {
        let listed = listed(method).unwrap_or_else(|error| error.to_string());
        let note = format!(
            "a counting filter over 1..14 with the primes 2, 3, 5, 7, listed by {method:?}"
        );
        book.exact(&place("the list"), "4, 6", listed, &note);
    }
}

fn listed(method: Method) -> Result<String, tamis::Error> {
    let plan = Plan::with_code(Universe::interval(1, 14)?, 2, CodeKind::Egh)?;
    let mut filter = CountingFilter::with_plan(plan)?;
    filter.insert(6u64)?;
    filter.insert(4u64)?;
    Ok(filter.list_by(method)?.names(&filter).join(", "))
}
