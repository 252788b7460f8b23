//! All lines of a ledger: a line for the budget, then a line for each charge.

use super::line::{escape, fields_of, format_line, text, torn_text};
use super::{LedgerError, LedgerText, LineFault, Utc};
use crate::Error;
use crate::privacy::{Composition, Delta, Epsilon};
use std::fmt;
use std::str::FromStr;

/// A charge that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The charges are counted from 1.
    pub sequence: u64,
    /// What was charged.
    pub epsilon: Epsilon,
    /// When, by the clock of the machine that charged.
    pub time: Utc,
    /// What for: one line, its control characters escaped.
    pub note: String,
}

/// What may be lost in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) epsilon: Epsilon,
    /// The chance that more may be lost. Without one, losses add up.
    pub(super) delta: Option<Delta>,
}

impl Budget {
    /// The version of the files that have such a budget.
    fn version(self) -> u16 {
        if self.delta.is_some() { 2 } else { 1 }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.delta {
            None => write!(out, "{}", self.epsilon),
            Some(delta) => write!(out, "{} {delta}", self.epsilon),
        }
    }
}

impl FromStr for Budget {
    type Err = Error;

    fn from_str(text: &str) -> Result<Budget, Error> {
        Ok(match text.split_once(' ') {
            None => Budget { epsilon: text.parse()?, delta: None },
            Some((epsilon, delta)) => {
                Budget { epsilon: epsilon.parse()?, delta: Some(delta.parse()?) }
            }
        })
    }
}

/// What the whole lines of a ledger say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Book {
    pub(super) budget: Budget,
    pub(super) created: Utc,
    pub(super) about: String,
    pub(super) entries: Vec<Entry>,
    /// What the charges add up to.
    pub(super) sum: Epsilon,
    /// What they lose together, if the budget has a delta.
    composed: Option<Composition>,
    /// Where the whole lines end.
    pub(super) len: usize,
    checksum: u32,
}

const SIGNATURE: &str = "tamis-ledger-";
/// The most charges of a ledger whose budget has a delta: what they lose together takes a
/// millisecond for each to compute.
pub(super) const MAX_COMPOSED: usize = 1 << 16;

/// The newest version.
const VERSION: u16 = 2;

impl Book {
    /// A book without charges, and its line.
    pub(super) fn create(
        budget: Budget,
        created: Utc,
        about: &str,
    ) -> Result<(Book, String), LedgerError> {
        let about = text(LedgerText::Description, about)?;
        let (line, checksum) =
            format_line(0, &format!("{SIGNATURE}{}", budget.version()), budget, created, &about);
        let len = line.len();
        let book = Book {
            budget,
            created,
            about,
            entries: Vec::new(),
            sum: Epsilon::ZERO,
            composed: budget.delta.map(|_| Composition::default()),
            len,
            checksum,
        };
        Ok((book, line))
    }

    /// Reads the lines, as far as they are good. The first must be.
    pub(super) fn read(bytes: &[u8]) -> Result<(Book, Result<(), LedgerError>), Error> {
        let (book, rest) = Book::read_lines(bytes, usize::MAX)?;
        if book.is_within() {
            return Ok((book, rest));
        }
        // A charge never loses less: the charges before one that is too much are those that are
        // not. The first of them is found by halving.
        let (mut good, mut bad) = (0, book.entries.len());
        while bad - good > 1 {
            let middle = usize::midpoint(good, bad);
            if Book::read_lines(bytes, middle)?.0.is_within() {
                good = middle;
            } else {
                bad = middle;
            }
        }
        let (book, _) = Book::read_lines(bytes, good)?;
        Ok((book, Err(damaged(bad as u64 + 1, LineFault::ChargesTooMuch))))
    }

    /// The same for the first lines only, of up to so many charges. Whether a budget with a delta
    /// pays for them is not looked at.
    fn read_lines(bytes: &[u8], charges: usize) -> Result<(Book, Result<(), LedgerError>), Error> {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let mut book = Book::parse_first_line(lines.next().unwrap_or_default())?;
        let rest = lines.take(charges).try_for_each(|line| {
            let number = book.entries.len() as u64 + 2;
            book.parse_line(line).map_err(|fault| match line.ends_with(b"\n") {
                true => damaged(number, fault),
                false => LedgerError::Torn { line: number },
            })
        });
        Ok((book, rest))
    }

    fn parse_first_line(bytes: &[u8]) -> Result<Book, Error> {
        let line = bytes.strip_prefix(SIGNATURE.as_bytes()).ok_or(LedgerError::NotALedger)?;
        let line = str::from_utf8(line).map_err(|_| damaged(1, LineFault::NotText))?;
        let (version, fields) = line.split_once('\t').ok_or(LedgerError::NotALedger)?;
        match version.parse::<u16>() {
            Ok(1..=VERSION) => {}
            Ok(version) if version > VERSION => {
                return Err(Error::TooNew { version, newest: VERSION });
            }
            _ => return Err(damaged(1, LineFault::NoVersion).into()),
        }
        let (budget, created, about) = fields_of(fields).map_err(|fault| damaged(1, fault))?;
        let (book, line) =
            Book::create(budget, created, about).map_err(|_| damaged(1, LineFault::LongText))?;
        if line.as_bytes() != bytes {
            return Err(damaged(1, LineFault::Checksum).into());
        }
        Ok(book)
    }

    /// Takes in the next line, or says what is wrong with it.
    fn parse_line(&mut self, bytes: &[u8]) -> Result<(), LineFault> {
        let line = str::from_utf8(bytes).map_err(|_| LineFault::NotText)?;
        let (_, fields) = line.split_once('\t').ok_or(LineFault::TooFewFields)?;
        let (epsilon, time, note) = fields_of(fields)?;
        let (entry, line, checksum) =
            self.entry(epsilon, time, note).map_err(|_| LineFault::LongText)?;
        if line.as_bytes() != bytes {
            return Err(LineFault::Checksum);
        }
        if epsilon == Epsilon::ZERO {
            return Err(LineFault::ChargesNothing);
        }
        if self.is_full() {
            return Err(LineFault::TooManyCharges);
        }
        let sum = self.sum.checked_add(epsilon).ok_or(LineFault::ChargesTooMuch)?;
        if self.budget.delta.is_none() && sum > self.budget.epsilon {
            return Err(LineFault::ChargesTooMuch);
        }
        self.push(entry, &line, checksum);
        Ok(())
    }

    /// Adds a charge, and gives its line. The caller has checked that it is above zero and within
    /// what is left.
    pub(super) fn charge(
        &mut self,
        epsilon: Epsilon,
        time: Utc,
        note: &str,
    ) -> Result<String, LedgerError> {
        let (entry, line, checksum) = self.entry(epsilon, time, note)?;
        self.push(entry, &line, checksum);
        Ok(line)
    }

    fn entry(
        &self,
        epsilon: Epsilon,
        time: Utc,
        note: &str,
    ) -> Result<(Entry, String, u32), LedgerError> {
        let (sequence, note) = (self.entries.len() as u64 + 1, text(LedgerText::Note, note)?);
        let (line, checksum) =
            format_line(self.checksum, &sequence.to_string(), epsilon, time, &note);
        Ok((Entry { sequence, epsilon, time, note }, line, checksum))
    }

    fn push(&mut self, entry: Entry, line: &str, checksum: u32) {
        // The caller has checked that the sum can be written, so there is no saturation.
        self.sum = self.sum.checked_add(entry.epsilon).unwrap_or(Epsilon::MAX);
        if let Some(composed) = &mut self.composed {
            composed.add(entry.epsilon);
        }
        self.entries.push(entry);
        self.len += line.len();
        self.checksum = checksum;
    }

    /// What was lost: the sum, or, with a delta, what the charges lose together.
    pub(super) fn spent(&self) -> Epsilon {
        total(self.budget, self.sum, self.composed.as_ref())
    }

    /// What is left for one more charge: the largest that the budget pays for.
    pub(super) fn left(&self) -> Epsilon {
        let left = self.left_by_sum();
        if self.composed.is_none() {
            return left;
        }
        // Pays for `low`, and not for `high`.
        let (mut low, mut high) = (left.billionths(), Epsilon::MAX.billionths() + 1);
        let mut step = low.max(1);
        while let Some(epsilon) = Epsilon::from_billionths(low + step)
            && self.pays_for(epsilon)
        {
            low += step;
            step *= 2;
        }
        high = high.min(low + step);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            match Epsilon::from_billionths(middle) {
                Some(epsilon) if self.pays_for(epsilon) => low = middle,
                _ => high = middle,
            }
        }
        Epsilon::from_billionths(low).unwrap_or(left)
    }

    /// Whether the budget pays for one more charge.
    pub(super) fn pays_for(&self, epsilon: Epsilon) -> bool {
        let Some(sum) = self.sum.checked_add(epsilon) else { return false };
        if sum <= self.budget.epsilon {
            return true;
        }
        let composed = self.composed.clone().map(|mut composed| {
            composed.add(epsilon);
            composed
        });
        total(self.budget, sum, composed.as_ref()) <= self.budget.epsilon
    }

    /// How many more charges of one size the budget pays for, counted up to `most`.
    pub(super) fn charges_left(&self, epsilon: Epsilon, most: u64) -> u64 {
        let by_sum = self.left_by_sum().billionths() / epsilon.billionths().max(1);
        let Some(delta) = self.budget.delta else { return by_sum.min(most) };
        if by_sum >= most {
            return most;
        }
        // Steps that double while they are paid for, and are halved once they are not.
        let mut good = (0, self.composed.clone().unwrap_or_default());
        let (mut step, mut doubling) = (1, true);
        while step > 0 && good.0 < most {
            let step_now = step.min(most - good.0);
            let mut tried = good.1.clone();
            tried.extend((0..step_now).map(|_| epsilon));
            if tried.total(delta).is_some_and(|total| total <= self.budget.epsilon) {
                good = (good.0 + step_now, tried);
                step = if doubling { 2 * step } else { step / 2 };
            } else {
                doubling = false;
                step /= 2;
            }
        }
        good.0
    }

    /// Whether it has as many charges as it can.
    pub(super) fn is_full(&self) -> bool {
        self.composed.is_some() && self.entries.len() >= MAX_COMPOSED
    }

    fn left_by_sum(&self) -> Epsilon {
        self.budget.epsilon.checked_sub(self.sum).unwrap_or(Epsilon::ZERO)
    }

    /// Whether the budget pays for all charges.
    fn is_within(&self) -> bool {
        self.sum <= self.budget.epsilon || self.spent() <= self.budget.epsilon
    }

    /// Whether it is an earlier book with charges added.
    pub(super) fn continues(&self, earlier: &Book) -> bool {
        (self.budget, self.created, &self.about)
            == (earlier.budget, earlier.created, &earlier.about)
            && self.entries.starts_with(&earlier.entries)
    }

    /// What to count for the bytes after the whole lines.
    ///
    /// If they are the beginning of a line that could stand there, and its amount is whole, they
    /// count as that amount. Else they may be anything, so they count as all that is left.
    pub(super) fn charge_of_torn(&self, tail: &[u8]) -> Epsilon {
        let amount = torn_text(tail).and_then(|tail| {
            let mut fields = tail.split('\t');
            let (label, amount) = (fields.next()?, fields.next()?);
            let epsilon: Epsilon = amount.parse().ok()?;
            let rest: Vec<&str> = fields.take(4).collect();
            let could_stand = match rest[..] {
                [time] => Utc::may_begin(time),
                [time, note] => Utc::parse(time).is_some() && escape(note) == note,
                [time, note, _] => {
                    let (_, line, _) = self.entry(epsilon, Utc::parse(time)?, note).ok()?;
                    line.starts_with(tail)
                }
                _ => false, // without a tab after it, the amount may have had more digits
            };
            let spelt =
                label == (self.entries.len() + 1).to_string() && amount == epsilon.to_string();
            (could_stand && spelt && epsilon > Epsilon::ZERO).then_some(epsilon)
        });
        amount.map_or(self.left(), |amount| amount.min(self.left()))
    }
}

/// What charges with this sum lose together.
fn total(budget: Budget, sum: Epsilon, composed: Option<&Composition>) -> Epsilon {
    let composed = budget.delta.and_then(|delta| composed?.total(delta));
    composed.map_or(sum, |composed| composed.min(sum))
}

fn damaged(line: u64, fault: LineFault) -> LedgerError {
    LedgerError::Damaged { line, fault }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A ledger with these charges, and where its lines end.
    fn ledger(charges: &[(u64, &str)]) -> (Book, Vec<u8>, Vec<usize>) {
        in_budget("10", charges)
    }

    fn in_budget(budget: &str, charges: &[(u64, &str)]) -> (Book, Vec<u8>, Vec<usize>) {
        let budget = budget.parse().unwrap();
        let (mut book, line) =
            Book::create(budget, Utc::from_seconds(1_700_000_000), "essai, été").unwrap();
        let (mut bytes, mut ends) = (line.into_bytes(), Vec::new());
        ends.push(bytes.len());
        for (i, (billionths, note)) in charges.iter().enumerate() {
            let epsilon = Epsilon::from_billionths(*billionths).unwrap();
            let time = Utc::from_seconds(1_700_000_000 + 86_399 * i as u64);
            bytes.extend(book.charge(epsilon, time, note).unwrap().bytes());
            ends.push(bytes.len());
        }
        (book, bytes, ends)
    }

    fn sample() -> (Book, Vec<u8>, Vec<usize>) {
        ledger(&[
            (500_000_000, "week-1.tamis"),
            (1_250_000_000, "週間レポート"),
            (1, ""),
            (2_000_000_000, "two\nlines\tand a tab"),
            (999_999_999, "week-1.tamis"),
            (3_000_000_000, "ü"),
        ])
    }

    /// The book, if the bytes are a good ledger.
    fn open(bytes: &[u8]) -> Result<Book, Error> {
        let (book, rest) = Book::read(bytes)?;
        Ok(rest.map(|()| book)?)
    }

    /// What is spent after a repair, or `None` if it cannot be repaired.
    fn repaired(bytes: &[u8]) -> Option<u64> {
        let (book, _) = Book::read(bytes).ok()?;
        let tail = &bytes[book.len..];
        let torn = if tail.is_empty() { Epsilon::ZERO } else { book.charge_of_torn(tail) };
        Some(book.sum.billionths() + torn.billionths())
    }

    /// The file is meant to be read: this is what it looks like. The checksums were computed bit by
    /// bit, elsewhere.
    #[test]
    fn the_text() {
        let (_, bytes, _) = ledger(&[(500_000_000, "week-1.tamis"), (1_250_000_000, "two\nlines")]);
        let expected = "tamis-ledger-1\t10\t2023-11-14T22:13:20Z\tessai, été\tbf59104c\n\
            1\t0.5\t2023-11-14T22:13:20Z\tweek-1.tamis\t9cbb37ea\n\
            2\t1.25\t2023-11-15T22:13:19Z\ttwo\\nlines\t18aa9bd3\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn what_is_written_is_read() {
        let (book, bytes, _) = sample();
        assert_eq!(open(&bytes).unwrap(), book);
        assert_eq!(book.spent().to_string(), "7.75");
        assert_eq!(book.left().to_string(), "2.25");
    }

    /// A cut at the end of a line cannot be seen. Any other is refused, and a repair counts the
    /// torn charge.
    #[test]
    fn every_cut() {
        let (book, bytes, ends) = sample();
        for cut in 0..bytes.len() {
            let bytes = &bytes[..cut];
            let whole = ends.iter().filter(|end| **end <= cut).count();
            if ends.contains(&cut) {
                let sum: u64 =
                    book.entries[..whole - 1].iter().map(|entry| entry.epsilon.billionths()).sum();
                assert_eq!(open(bytes).unwrap().sum.billionths(), sum);
                continue;
            }
            let error = open(bytes).unwrap_err();
            assert!(error.to_string().contains("; "), "{error}");
            if whole == 0 {
                assert_eq!(repaired(bytes), None);
                continue;
            }
            let Error::Ledger(LedgerError::Torn { line }) = error else { panic!("{error}") };
            assert_eq!(line, whole as u64 + 1);
            let sum: u64 =
                book.entries[..whole].iter().map(|entry| entry.epsilon.billionths()).sum();
            let amount_end =
                ends[whole - 1] + 2 + book.entries[whole - 1].epsilon.to_string().len();
            let expected = if cut > amount_end { sum } else { book.budget.epsilon.billionths() };
            assert_eq!(repaired(bytes), Some(expected), "cut at {cut}");
        }
    }

    /// CRC-32C finds every change within 32 bits. The inserted bytes could move a border of fields
    /// or lines.
    #[test]
    fn every_flipped_bit_and_every_exchanged_byte_is_refused() {
        let (_, bytes, _) = sample();
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            let flipped = (0..8).map(|bit| bytes[place] ^ 1 << bit);
            for value in flipped.chain(*b"\n\t 0.e\r\0\xff").filter(|value| *value != bytes[place])
            {
                changed[place] = value;
                assert!(open(&changed).is_err(), "byte {place} as {value}");
            }
            changed.remove(place);
            assert!(open(&changed).is_err(), "without byte {place}");
            changed.splice(place..place, [bytes[place], b'0']);
            assert!(open(&changed).is_err(), "a zero after byte {place}");
        }
    }

    /// Removed, repeated, exchanged, and taken from another ledger with the same beginning.
    #[test]
    fn every_splice_of_lines_is_refused() {
        let (_, bytes, _) = sample();
        let (_, other, _) = ledger(&[
            (500_000_000, "week-1.tamis"),
            (1_250_000_000, "other"),
            (1, ""),
            (1, ""),
            (1, ""),
        ]);
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
        };
        let (lines, other) = (lines(&bytes), lines(&other));
        let n = lines.len();
        let refused = |spliced: &[Vec<u8>]| assert!(open(&spliced.concat()).is_err());
        for i in 0..n {
            let mut removed = lines.clone();
            removed.remove(i);
            if i + 1 < n {
                refused(&removed);
            }
            for j in 0..n {
                let mut repeated = lines.clone();
                repeated.insert(j, lines[i].clone());
                refused(&repeated);
                if i != j {
                    let mut exchanged = lines.clone();
                    exchanged.swap(i, j);
                    refused(&exchanged);
                }
            }
        }
        for i in 3..other.len() {
            // The second line of charges differs, so no later line fits.
            let mut taken = lines.clone();
            taken[i] = other[i].clone();
            refused(&taken);
        }
        refused(&[&lines[..n], &[b"\n".to_vec()]].concat());
    }

    #[test]
    fn a_checksum_does_not_excuse_what_no_writer_writes() {
        let (book, bytes, _) = ledger(&[(9_000_000_000, "")]);
        let now = Utc::from_seconds(0);
        for (amount, why) in [("0", "nothing"), ("1.000000001", "more than was left")] {
            let (line, _) = format_line(book.checksum, "2", amount, now, "");
            let error = open(&[&bytes[..], line.as_bytes()].concat()).unwrap_err().to_string();
            assert!(error.contains("line 3") && error.contains(why), "{error}");
        }
        for text in ["a\rb", "\u{202e}", "\u{85}"] {
            let (line, _) = format_line(book.checksum, "2", "1", now, text);
            assert!(open(&[&bytes[..], line.as_bytes()].concat()).is_err());
        }
        let newer = String::from_utf8(bytes).unwrap().replacen("ledger-1", "ledger-3", 1);
        assert!(matches!(open(newer.as_bytes()), Err(Error::TooNew { version: 3, newest: 2 })));
        let error = open(b"\x89TAMIS\r\n").unwrap_err().to_string();
        assert!(error.contains("not a tamis ledger"), "{error}");
    }

    /// A hundred charges of 0.1 at a delta of 1e-6 lose 4.8 and not 10.
    #[test]
    fn a_delta_pays_for_more() {
        let charges = [(100_000_000, ""); 100];
        let (book, bytes, _) = in_budget("4.8 1e-6", &charges);
        assert!(bytes.starts_with(b"tamis-ledger-2\t4.8 1e-6\t2023-"));
        assert_eq!(open(&bytes).unwrap(), book);
        assert_eq!(book.sum.to_string(), "10");
        assert!(book.spent() <= "4.8".parse().unwrap() && book.spent() > "4.7".parse().unwrap());
        assert_eq!(book.charges_left("0.1".parse().unwrap(), 1_000), 0);
        let left = book.left();
        assert!(left > Epsilon::ZERO && left < "0.1".parse().unwrap());
        assert!(book.pays_for(left));
        assert!(!book.pays_for(left.checked_add(Epsilon::from_billionths(1).unwrap()).unwrap()));
        let (before, _, _) = in_budget("4.8 1e-6", &charges[..40]);
        assert_eq!(before.charges_left("0.1".parse().unwrap(), 1_000), 60);
        assert_eq!(before.charges_left("0.1".parse().unwrap(), 25), 25);
        // A line too many is refused by its number, and what is before it is kept.
        let (line, _) = format_line(book.checksum, "101", "0.1", Utc::from_seconds(0), "");
        let (kept, rest) = Book::read(&[&bytes[..], line.as_bytes()].concat()).unwrap();
        assert_eq!(
            rest.unwrap_err(),
            LedgerError::Damaged { line: 102, fault: LineFault::ChargesTooMuch }
        );
        assert_eq!(kept, book);
        // Without the delta the budget pays for 48 of them.
        let (sums, _, _) = in_budget("4.8", &charges[..40]);
        assert_eq!(sums.charges_left("0.1".parse().unwrap(), 1_000), 8);
    }

    /// Each version has its own budget, and no other.
    #[test]
    fn versions_and_budgets_belong_together() {
        for (label, budget) in [("1", "4 1e-6"), ("2", "4"), ("2", "4 0.000001"), ("2", "4 0")] {
            let label = format!("{SIGNATURE}{label}");
            let (line, _) = format_line(0, &label, budget, Utc::from_seconds(0), "");
            assert!(open(line.as_bytes()).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_comes_back_as_one_line(note in ".*", about in any::<String>()) {
            let note: String = note.chars().take(50).collect();
            let about: String = about.chars().take(50).collect();
            let one: Epsilon = "1".parse().unwrap();
            let budget = Budget { epsilon: one, delta: None };
            let (mut book, first) = Book::create(budget, Utc::from_seconds(0), &about).unwrap();
            let line = book.charge(one, Utc::from_seconds(1), &note).unwrap();
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert_eq!(escape(&escape(&note)), escape(&note));
            prop_assert_eq!(open((first + &line).as_bytes()).unwrap(), book);
        }

        /// A tear with garbage after it is refused. A repair counts what was charged, and the torn
        /// charge too.
        #[test]
        fn garbage_after_a_tear(
            cut in 0usize..1_000,
            garbage in prop::collection::vec(any::<u8>(), 1..200),
        ) {
            let (book, bytes, ends) = sample();
            let cut = ends[0] + cut % (bytes.len() - ends[0]);
            let damaged = [&bytes[..cut], &garbage].concat();
            prop_assert!(open(&damaged).is_err());
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let torn = if ends.contains(&cut) { whole - 1 } else { whole };
            let whole = &book.entries[..torn];
            let sum: u64 = whole.iter().map(|entry| entry.epsilon.billionths()).sum();
            prop_assert!(repaired(&damaged) >= Some(sum));
        }

        /// The law: every change is refused, except cutting whole lines off the end.
        #[test]
        fn anything_else_is_refused(
            changes in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..20),
        ) {
            let (_, bytes, _) = sample();
            let mut changed = bytes.clone();
            for (place, value) in changes {
                *place.get_mut(&mut changed) = value;
            }
            prop_assert!(changed == bytes || open(&changed).is_err());
        }

        #[test]
        fn arbitrary_bytes_never_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            after in 0usize..3,
        ) {
            let (_, good, ends) = sample();
            bytes.splice(..0, good[..[0, ends[0], ends[2]][after]].iter().copied());
            if let Ok((book, rest)) = Book::read(&bytes) {
                prop_assert!(book.spent() <= book.budget.epsilon && book.len <= bytes.len());
                prop_assert!(book.charge_of_torn(&bytes[book.len..]) <= book.left());
                prop_assert_eq!(rest.is_ok(), book.len == bytes.len());
            }
        }
    }
}
