//! A privacy budget, kept in a file.

mod book;
mod error;
mod line;
mod utc;

use crate::Error;
use crate::format::{Existing, NewFile, Readers};
use crate::privacy::{Delta, Epsilon, Receipt};
pub use book::Entry;
use book::{Book, Budget};
pub use error::{LedgerError, LedgerText, LineFault};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
pub use utc::Utc;

/// A privacy budget in a file beside the data: what may be spent in all, and every charge that was
/// made.
///
/// Releases of the same data add up, so each must be paid for: charge the ledger, then make the
/// release. A charge is checked against the budget, written and synced before it returns, so it is
/// on the disk before a byte of the release exists. It is never given back. Amounts are exact: a
/// budget of 1 pays for ten charges of 0.1 and for nothing more.
///
/// ```
/// use tamis::privacy::Ledger;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.ledger");
/// let mut ledger = Ledger::create(&path, "1".parse()?, "patients, weekly")?;
/// let receipt = ledger.charge("0.75".parse()?, "week-1.tamis")?;
/// assert_eq!(receipt.left(), Some("0.25".parse()?));
/// // Only now can week-1.tamis be made: publishing takes the receipt.
///
/// let refused = Ledger::open(&path)?.charge("0.5".parse()?, "week-2.tamis").unwrap_err();
/// assert!(refused.to_string().contains("more than the 0.25 that is left"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The file
///
/// Text, a line for each charge after a first line with the budget, meant to be read:
///
/// ```text
/// tamis-ledger-1  1     2026-03-01T12:00:00Z  patients, weekly  cd74d728
/// 1               0.75  2026-03-02T08:30:00Z  week-1.tamis      1ca58f5d
/// ```
///
/// Where the budget has a delta, it is the version 2, and delta follows the budget after a space:
/// `4.8 1e-6`. Both versions are read. A program that knows version 1 only refuses version 2, and
/// says so.
///
/// There is one tab between two fields. The last field is a checksum of this line and all lines
/// before it.
///
/// Charges of threads and of processes wait for each other: each locks the file, and reads it
/// again.
///
/// # Damage
///
/// A ledger in which a byte was changed, or a line changed, removed or moved, is refused with the
/// number of the line. So is one whose last line is torn. One thing cannot be seen in the file
/// itself: whole lines cut off its end. Neither can a new ledger in the place of the old one, nor a
/// forgery, since the checksum is no secret. So keep the ledger where only the publisher writes,
/// and under version control or on append-only storage. A `Ledger` that is held open does
/// notice when charges that it has seen are gone.
///
/// A crash in the middle of a charge leaves a torn line. That charge never returned, so nothing was
/// released for it. But the file looks the same if a copy was cut off in its last charge, which was
/// released. To ignore the line might count too little. So nothing is charged to such a ledger
/// until its owner has restored a good copy or called [`Ledger::repair`], which counts the torn
/// charge as spent.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    book: Book,
}

/// The most bytes of a ledger: some hundred thousands of charges.
const MAX_BYTES: u64 = 64 << 20;

impl Ledger {
    /// Makes a new ledger, whole or not at all, that only its owner can read. An existing file is
    /// left as it is, and that is an error.
    ///
    /// The description is for readers: one line, control characters are escaped.
    pub fn create(path: impl AsRef<Path>, budget: Epsilon, about: &str) -> Result<Ledger, Error> {
        Ledger::write_first(path.as_ref(), Budget { epsilon: budget, delta: None }, about)
    }

    /// Makes a new ledger whose budget may be overdrawn with a chance of at most `delta`, as
    /// [`create`](Ledger::create) does. Charges then cost what they lose together, which is less
    /// than their sum when they are many and small: see
    /// [`Composition`](crate::privacy::Composition).
    ///
    /// ```
    /// use tamis::privacy::Ledger;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("daily.ledger");
    /// let (budget, delta) = ("4.8".parse()?, "1e-6".parse()?);
    /// let mut ledger = Ledger::create_with_delta(&path, budget, delta, "daily")?;
    /// // The sum of 100 charges of 0.1 would be 10.
    /// assert_eq!(ledger.charges_left("0.1".parse()?, 1_000), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_with_delta(
        path: impl AsRef<Path>,
        budget: Epsilon,
        delta: Delta,
        about: &str,
    ) -> Result<Ledger, Error> {
        Ledger::write_first(path.as_ref(), Budget { epsilon: budget, delta: Some(delta) }, about)
    }

    fn write_first(path: &Path, budget: Budget, about: &str) -> Result<Ledger, Error> {
        let path = std::path::absolute(path)?;
        if budget.epsilon == Epsilon::ZERO {
            return Err(LedgerError::NoBudget.into());
        }
        let (book, line) = Book::create(budget, Utc::now(), about)?;
        let write = || {
            let mut file = NewFile::create(&path, Existing::Refuse, Readers::OwnerOnly)?;
            file.write_all(line.as_bytes())?;
            file.commit()
        };
        write().map_err(|e| match e.kind() {
            io::ErrorKind::AlreadyExists => Error::Ledger(LedgerError::Exists),
            _ => e.into(),
        })?;
        Ok(Ledger { path, book })
    }

    /// Reads a ledger. Waits while a charge is being made.
    pub fn open(path: impl AsRef<Path>) -> Result<Ledger, Error> {
        let path = std::path::absolute(path)?;
        let file = locked(&path, OpenOptions::new().read(true), File::lock_shared)?;
        let (book, rest) = Book::read(&bytes_of(&file)?)?;
        Ok(rest.map(|()| Ledger { path, book })?)
    }

    /// Makes a torn or damaged ledger whole, and opens it. One that is whole already is left as it
    /// is.
    ///
    /// The lines before the damage stay. The rest is replaced by one charge. If the rest is the
    /// beginning of a line with a whole amount, the charge is that amount; else it is all that is
    /// left of the budget. So no less is counted than was charged, except for whole lines that are
    /// missing at the end, and for a line that was both changed and cut. The note quotes the
    /// beginning of what was replaced.
    ///
    /// Restore a good copy if there is one. Damage in the first line, which holds the budget,
    /// cannot be repaired.
    pub fn repair(path: impl AsRef<Path>) -> Result<Ledger, Error> {
        let path = std::path::absolute(path)?;
        let mut file = locked(&path, OpenOptions::new().read(true).write(true), File::lock)?;
        let bytes = bytes_of(&file)?;
        let (mut book, rest) = Book::read(&bytes)?;
        let Err(damage) = rest else {
            return Ok(Ledger { path, book });
        };
        let (kept, tail) = bytes.split_at(book.len);
        let worth = book.charge_of_torn(tail);
        // Where nothing is left there is nothing to count, and the lines before the damage say so.
        if worth > Epsilon::ZERO {
            let what = if matches!(damage, LedgerError::Torn { .. }) { "torn" } else { "damaged" };
            let note = format!("repaired, counted as spent; {what} was: {}", line::excerpt(tail));
            let line = book.charge(worth, Utc::now(), &note)?;
            // Over the tail and not after cutting it off: between the two, the ledger would be
            // whole and count less.
            file.seek(SeekFrom::Start(kept.len() as u64))?;
            file.write_all(line.as_bytes())?;
        }
        file.set_len(book.len as u64)?;
        file.sync_all()?;
        Ok(Ledger { path, book })
    }

    /// What may be spent in all.
    #[must_use]
    pub fn budget(&self) -> Epsilon {
        self.book.budget.epsilon
    }

    /// The chance that more than the budget may be lost, if one was given.
    #[must_use]
    pub fn delta(&self) -> Option<Delta> {
        self.book.budget.delta
    }

    /// What was spent, when the ledger was last read: the sum of the charges or, with a delta, what
    /// they lose together.
    #[must_use]
    pub fn spent(&self) -> Epsilon {
        self.book.spent()
    }

    /// What the charges add up to, when the ledger was last read.
    #[must_use]
    pub fn sum(&self) -> Epsilon {
        self.book.sum
    }

    /// How many more charges of this size the budget pays for, counted up to `most`.
    #[must_use]
    pub fn charges_left(&self, epsilon: Epsilon, most: u64) -> u64 {
        self.book.charges_left(epsilon, most)
    }

    /// What is left, when the ledger was last read: the largest charge that the budget pays for.
    #[must_use]
    pub fn left(&self) -> Epsilon {
        self.book.left()
    }

    /// Every charge, in order, when the ledger was last read.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.book.entries
    }

    /// What the ledger is for.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.book.about
    }

    /// When it was made.
    #[must_use]
    pub fn created(&self) -> Utc {
        self.book.created
    }

    /// Charges the ledger, for what the note says: the name of the output, say. One line; control
    /// characters are escaped.
    ///
    /// Once it returns, the charge is on the disk, and its receipt pays for one release. If it
    /// fails, nothing can be released. It fails if the budget does not allow the charge, and then
    /// nothing was charged. If the disk is full or fails, the charge is taken back. If that fails
    /// too, the ledger is left torn, and says so when it is next read.
    pub fn charge(&mut self, epsilon: Epsilon, note: &str) -> Result<Receipt, Error> {
        if epsilon == Epsilon::ZERO {
            return Err(LedgerError::NoCharge.into());
        }
        // Opened for appending, since append-only files allow nothing else.
        let mut file = locked(&self.path, OpenOptions::new().read(true).append(true), File::lock)?;
        let (mut book, rest) = Book::read(&bytes_of(&file)?)?;
        rest?;
        if !book.continues(&self.book) {
            return Err(LedgerError::ChargesGone.into());
        }
        let end = book.len as u64;
        if !book.pays_for(epsilon) {
            let (budget, left) = (book.budget.epsilon, book.left());
            return Err(LedgerError::Budget { budget, left, asked: epsilon }.into());
        }
        if book.is_full() {
            return Err(LedgerError::Full.into());
        }
        let line = book.charge(epsilon, Utc::now(), note)?;
        if book.len as u64 > MAX_BYTES {
            return Err(LedgerError::TooLarge.into());
        }
        if let Err(error) = file.write_all(line.as_bytes()).and_then(|()| file.sync_all()) {
            // If this fails too, the line stays, and counts as torn or as spent.
            let _ = file.set_len(end).and_then(|()| file.sync_all());
            return Err(error.into());
        }
        // Another file in its place would not have the charge.
        if !same_file(&file, &self.path)? {
            return Err(LedgerError::Replaced.into());
        }
        self.book = book;
        let note = self.book.entries.last().map(|entry| entry.note.clone()).unwrap_or_default();
        let sequence = self.book.entries.len() as u64;
        Ok(Receipt::recorded(epsilon, sequence, self.book.left(), note))
    }
}

/// All bytes of the file, if they are not too many.
fn bytes_of(file: &File) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES { Err(LedgerError::TooLarge.into()) } else { Ok(bytes) }
}

/// The file, locked until it is closed.
///
/// The lock is on the ledger itself and not on a second file beside it: so it holds for every name
/// of the ledger, also after a move, and nothing is left behind. If another file has taken the name
/// while we waited, that is the ledger now.
fn locked(
    path: &Path,
    options: &OpenOptions,
    lock: impl Fn(&File) -> io::Result<()>,
) -> Result<File, Error> {
    loop {
        if !fs::metadata(path)?.is_file() {
            return Err(LedgerError::NotAFile.into());
        }
        let file = options.open(path)?;
        lock(&file)?;
        if same_file(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (held, named) = (file.metadata()?, fs::metadata(path)?);
    Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
}

#[cfg(not(unix))]
fn same_file(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
