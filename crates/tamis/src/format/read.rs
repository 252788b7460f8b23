//! The door in: nothing is believed before it is checked, and nothing is allocated before it is
//! justified.

#[cfg(feature = "zone")]
use super::header::Dictionary;
use super::header::{Fields, PROLOGUE, Prologue, refused};
use super::stored::Parsed;
use super::{AnyFilter, checksum};
use crate::store::{Store, check_memory, read_full};
#[cfg(feature = "zone")]
use crate::zone::Universe;
use crate::{Error, SecretKey, bits};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How to open a filter: with which key, how thoroughly, within how much memory.
///
/// ```
/// use tamis::{Bloom, HashFamily, Open, SecretKey};
/// let key = SecretKey::new(b"32 random bytes, read from a file")?;
/// let bytes = Bloom::with_hash(100, 0.01, HashFamily::keyed(key.clone()))?.to_bytes();
/// assert!(Open::new().bytes(&bytes).is_err());                 // needs its key
/// assert!(Open::new().key(key).verify(true).bytes(&bytes).is_ok());
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Open {
    key: Option<SecretKey>,
    #[cfg(feature = "zone")]
    dictionary: Option<Universe>,
    #[cfg(feature = "zone")]
    without_dictionary: bool,
    verify: Option<bool>,
    max_memory: Option<u64>,
}

impl Open {
    /// No key and no cap on memory. The header is always checked; the body's checksum when the body
    /// is read anyway, from bytes or a reader, but not when it is mapped.
    #[must_use]
    pub fn new() -> Open {
        Open::default()
    }

    /// The secret key of a keyed filter.
    #[must_use]
    pub fn key(mut self, key: SecretKey) -> Open {
        self.key = Some(key);
        self
    }

    /// The dictionary that is the universe of a zone filter.
    #[cfg(feature = "zone")]
    #[must_use]
    pub fn dictionary(mut self, dictionary: Universe) -> Open {
        self.dictionary = Some(dictionary);
        self
    }

    /// Opens a zone filter without its dictionary, to learn its plan and its contents. No key can
    /// be asked for then: the elements have numbers only.
    ///
    /// ```
    /// use tamis::{AnyFilter, Open, zone::{Filter, Plan, Prefer, Universe}};
    /// let colours = Universe::dictionary(["red", "green", "blue"])?;
    /// let mut filter = Filter::with_plan(Plan::new(colours, 1, Prefer::Bits)?)?;
    /// filter.insert("blue")?;
    /// let bytes = AnyFilter::from(filter).to_bytes();
    /// assert!(Open::new().bytes(&bytes).is_err());
    /// let opened = Open::new().without_dictionary().bytes(&bytes)?;
    /// assert_eq!(opened.len(), Some(1));
    /// assert!(opened.contains("blue").is_err());
    /// # Ok::<(), tamis::Error>(())
    /// ```
    #[cfg(feature = "zone")]
    #[must_use]
    pub fn without_dictionary(mut self) -> Open {
        self.without_dictionary = true;
        self
    }

    /// Whether to check the body's checksum, which reads all of it.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Open {
        self.verify = Some(verify);
        self
    }

    /// Refuse filters whose body would take more memory than this. (A mapped file takes none until
    /// it is read, but is refused all the same.)
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Open {
        self.max_memory = Some(bytes);
        self
    }

    /// Opens a file by mapping it; what cannot be mapped, such as a pipe, is read. See
    /// [`AnyFilter::open`].
    pub fn path(&self, path: impl AsRef<Path>) -> Result<AnyFilter, Error> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return self.reader(file);
        }
        let (prologue, header) = self.header(&mut file)?;
        check_length(&prologue, metadata.len())?;
        self.finish(
            &prologue,
            header,
            Store::map(&file, prologue.header as u64, prologue.body)?,
            false,
        )
    }

    /// Reads a filter from the bytes of a file.
    pub fn bytes(&self, bytes: &[u8]) -> Result<AnyFilter, Error> {
        let mut input = bytes;
        let (prologue, header) = self.header(&mut input)?;
        check_length(&prologue, bytes.len() as u64)?;
        self.finish(&prologue, header, Store::read(input, prologue.body)?, true)
    }

    /// Reads a filter from a stream that ends with it.
    pub fn reader(&self, mut reader: impl Read) -> Result<AnyFilter, Error> {
        let (prologue, header) = self.header(&mut reader)?;
        let body = match Store::read(&mut reader, prologue.body) {
            Err(Error::Length { got, .. }) => {
                let expected = prologue.file_length();
                return Err(Error::Length { expected, got: prologue.header as u64 + got });
            }
            other => other?,
        };
        if read_full(&mut reader, &mut [0])? != 0 {
            return Err(Error::Length {
                expected: prologue.file_length(),
                got: prologue.file_length() + 1,
            });
        }
        self.finish(&prologue, header, body, true)
    }

    fn header(&self, input: &mut impl Read) -> Result<(Prologue, Parsed<AnyFilter>), Error> {
        let mut first = [0; PROLOGUE];
        let present = read_full(input, &mut first)?;
        let prologue = Prologue::parse(&first, present)?;
        let mut bytes = vec![0; prologue.header]; // at most some kilobytes
        let (start, rest) = bytes.split_at_mut(PROLOGUE);
        start.copy_from_slice(&first);
        let present = read_full(input, rest)?;
        if present < rest.len() {
            return Err(Error::Length {
                expected: prologue.file_length(),
                got: (PROLOGUE + present) as u64,
            });
        }
        let parse = |fields: &Fields<'_>| AnyFilter::parse(prologue.kind, fields);
        let header = self.with_fields(&bytes, prologue.body, parse)?;
        if prologue.body != header.bits.div_ceil(8) {
            return Err(refused("body length", prologue.body));
        }
        if let Some(most) = self.max_memory {
            check_memory(prologue.body, most)?;
        }
        Ok((prologue, header))
    }

    /// Reads the fields of a whole header, of a body of this length.
    pub(super) fn with_fields<T>(
        &self,
        header: &[u8],
        #[cfg_attr(not(feature = "zone"), allow(unused_variables))] body: u64,
        read: impl FnOnce(&Fields<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        read(&Fields::parse(
            header,
            self.key.as_ref(),
            #[cfg(feature = "zone")]
            body,
            #[cfg(feature = "zone")]
            match &self.dictionary {
                Some(given) => Dictionary::Given(given),
                None if self.without_dictionary => Dictionary::Unneeded,
                None => Dictionary::Needed,
            },
        )?)
    }

    /// The most memory that a filter may take.
    pub(super) fn memory_cap(&self) -> Option<u64> {
        self.max_memory
    }

    fn finish(
        &self,
        prologue: &Prologue,
        header: Parsed<AnyFilter>,
        body: Store,
        verify: bool,
    ) -> Result<AnyFilter, Error> {
        if self.verify.unwrap_or(verify) && checksum::of(body.bytes()) != prologue.body_checksum {
            return Err(Error::Checksum { part: "body" });
        }
        if !bits::clear_from(body.bytes(), header.bits) {
            return Err(Error::NotZero { part: "last byte past the last cell" });
        }
        let filter = (header.with_body)(body)?;
        if self.verify.unwrap_or(verify) && !filter.is_consistent() {
            return Err(Error::ItemsHeld);
        }
        Ok(filter)
    }
}

fn check_length(prologue: &Prologue, got: u64) -> Result<(), Error> {
    let expected = prologue.file_length();
    if got == expected { Ok(()) } else { Err(Error::Length { expected, got }) }
}
