//! A column of any layout, and how its rows become keys.
//!
//! The memory belongs to the library that made the column, which promises not to change it (Arrow)
//! or whose user must not change it during the call (NumPy). What is read is copied before it is
//! used, so that a user who changes an array meanwhile gets wrong answers and nothing worse.
#![allow(unsafe_code)] // reads the memory of other libraries, by the pointers that they hand out

use crate::bulk::{Keys, Sink};
use crate::filter::Failure;
use crate::keys::PyKey;
use std::ops::Range;

/// Items of one size at equal distances.
#[derive(Clone, Copy)]
pub(super) struct Items {
    pub(super) start: *const u8,
    /// From one item to the next, in bytes.
    pub(super) step: isize,
    /// The bytes of an item.
    pub(super) width: usize,
    /// Whether the bytes are in the order of other machines.
    pub(super) swapped: bool,
}

impl Items {
    fn at(&self, row: usize) -> *const u8 {
        self.start.wrapping_offset(row as isize * self.step)
    }

    /// The bytes of an item, in the order of this machine.
    #[inline(always)]
    fn bytes<const N: usize>(&self, row: usize) -> [u8; N] {
        debug_assert_eq!(N, self.width);
        // SAFETY: the column has this row, and its items have N bytes.
        let mut bytes = unsafe { self.at(row).cast::<[u8; N]>().read_unaligned() };
        if self.swapped {
            bytes.reverse();
        }
        bytes
    }

    /// An integer, extended to 64 bits.
    #[inline(always)]
    fn integer(&self, row: usize, signed: bool) -> u64 {
        match (self.width, signed) {
            (1, false) => u8::from_ne_bytes(self.bytes(row)).into(),
            (1, true) => i64::from(i8::from_ne_bytes(self.bytes(row))) as u64,
            (2, false) => u16::from_ne_bytes(self.bytes(row)).into(),
            (2, true) => i64::from(i16::from_ne_bytes(self.bytes(row))) as u64,
            (4, false) => u32::from_ne_bytes(self.bytes(row)).into(),
            (4, true) => i64::from(i32::from_ne_bytes(self.bytes(row))) as u64,
            _ => u64::from_ne_bytes(self.bytes(row)),
        }
    }

    fn float(&self, row: usize) -> f64 {
        match self.width {
            4 => f32::from_ne_bytes(self.bytes(row)).into(),
            _ => f64::from_ne_bytes(self.bytes(row)),
        }
    }

    /// Appends the integers of some rows.
    fn push_integers(&self, rows: Range<usize>, signed: bool, out: &mut Vec<u64>) {
        if self.width == 8 && self.step == 8 && !self.swapped {
            let count = rows.len();
            out.reserve(count);
            // SAFETY: the column has these rows, one after the other, and `out` has room for them.
            unsafe {
                let end = out.as_mut_ptr().add(out.len());
                std::ptr::copy_nonoverlapping(self.at(rows.start), end.cast(), 8 * count);
                out.set_len(out.len() + count);
            }
            return;
        }
        // The width is decided once, outside of the loop.
        match (self.width, signed) {
            (1, _) | (2, _) => out.extend(rows.map(|row| self.integer(row, signed))),
            (4, false) => {
                out.extend(rows.map(|row| u64::from(u32::from_ne_bytes(self.bytes(row)))));
            }
            (4, true) => {
                let extended = |row| i64::from(i32::from_ne_bytes(self.bytes(row))) as u64;
                out.extend(rows.map(extended));
            }
            _ => out.extend(rows.map(|row| u64::from_ne_bytes(self.bytes(row)))),
        }
    }
}

/// Bits, from the low bit of each byte up.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    pub(super) start: *const u8,
    pub(super) offset: usize,
}

impl Bits {
    fn get(&self, row: usize) -> bool {
        let place = self.offset + row;
        // SAFETY: the column has this row, and the bitmap has a bit for every row.
        let byte = unsafe { self.start.add(place / 8).read() };
        byte >> (place % 8) & 1 == 1
    }
}

/// How byte strings lie.
pub(super) enum Strings {
    /// One after the other; 32-bit offsets say where each begins.
    Short { offsets: *const u8, bytes: *const u8 },
    /// The same with 64-bit offsets.
    Long { offsets: *const u8, bytes: *const u8 },
    /// 16 bytes each, with short strings inside and long ones in one of the buffers.
    Views { views: *const u8, buffers: Vec<(*const u8, usize)> },
    /// All of one length.
    Fixed(Items),
    /// The same, without the zeros at the end: NumPy's `S`.
    Padded(Items),
}

impl Strings {
    /// The string of a row, counted from the start of the buffers.
    #[inline(always)]
    fn get(&self, row: usize) -> &[u8] {
        // SAFETY, here and below: the column has this row; the interface promises that offsets
        // rise and lie within the bytes, that the memory is not changed, and that it lives as long
        // as the column. A length that is negative counts as none.
        let slice = |start: *const u8, len: usize| {
            // SAFETY: as above.
            if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, len) } }
        };
        match self {
            Strings::Short { offsets, bytes } => {
                // SAFETY: as above.
                let [from, to] =
                    unsafe { offsets.cast::<i32>().add(row).cast::<[i32; 2]>().read() };
                slice(bytes.wrapping_offset(from as isize), to.saturating_sub(from).max(0) as usize)
            }
            Strings::Long { offsets, bytes } => {
                // SAFETY: as above.
                let [from, to] =
                    unsafe { offsets.cast::<i64>().add(row).cast::<[i64; 2]>().read() };
                slice(bytes.wrapping_offset(from as isize), to.saturating_sub(from).max(0) as usize)
            }
            Strings::Views { views, buffers } => {
                let view = views.wrapping_add(16 * row);
                // SAFETY: as above; a view has 16 bytes, aligned to four at least.
                let [len, _, buffer, offset] = unsafe { view.cast::<[i32; 4]>().read_unaligned() };
                let len = len.max(0) as usize;
                if len <= 12 {
                    return slice(view.wrapping_add(4), len);
                }
                let offset = offset.max(0) as usize;
                match buffers.get(buffer as usize) {
                    Some((start, size)) if offset + len <= *size => {
                        slice(start.wrapping_add(offset), len)
                    }
                    _ => &[],
                }
            }
            Strings::Fixed(items) => slice(items.at(row), items.width),
            Strings::Padded(items) => {
                let bytes = slice(items.at(row), items.width);
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                &bytes[..end]
            }
        }
    }
}

/// What the rows hold.
pub(super) enum Values {
    Nulls,
    Bits(Bits),
    Integers {
        items: Items,
        signed: bool,
    },
    Floats(Items),
    Strings(Strings),
    /// NumPy's `U`: code points of four bytes, without the zeros at the end.
    Points(Items),
    /// The places of the rows' values in another column.
    Dictionary {
        places: Items,
        signed: bool,
        values: Box<Column>,
    },
}

/// A column. The first row that is meant is `offset` rows after the start of the buffers.
pub(crate) struct Column {
    pub(super) rows: usize,
    pub(super) offset: usize,
    /// Which rows are not null; `None` if none is.
    pub(super) valid: Option<Bits>,
    pub(super) values: Values,
}

// SAFETY: nothing is written through the pointers, and the owner of the memory outlives the column.
unsafe impl Send for Column {}
// SAFETY: as above.
unsafe impl Sync for Column {}

impl Column {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    fn has_nulls(&self) -> bool {
        let within = match &self.values {
            Values::Nulls => true,
            Values::Dictionary { values, .. } => values.has_nulls(),
            _ => false,
        };
        within || self.valid.is_some()
    }

    /// The place of a row's value in the dictionary, if it is one that the dictionary has.
    fn place(&self, row: usize, places: &Items, signed: bool, values: &Column) -> Option<usize> {
        let place = usize::try_from(places.integer(self.offset + row, signed)).ok()?;
        (place < values.rows).then_some(place)
    }

    fn is_null(&self, row: usize) -> bool {
        if self.valid.as_ref().is_some_and(|valid| !valid.get(row)) {
            return true;
        }
        match &self.values {
            Values::Nulls => true,
            Values::Dictionary { places, signed, values } => {
                self.place(row, places, *signed, values).is_none_or(|place| values.is_null(place))
            }
            _ => false,
        }
    }

    /// The bytes of a row that is not null, in a column of byte strings.
    #[inline(always)]
    fn string(&self, row: usize) -> &[u8] {
        match &self.values {
            Values::Strings(strings) => strings.get(self.offset + row),
            Values::Dictionary { places, signed, values } => {
                self.place(row, places, *signed, values).map_or(&[], |place| values.string(place))
            }
            _ => &[],
        }
    }

    fn is_strings(&self) -> bool {
        match &self.values {
            Values::Strings(_) => true,
            Values::Dictionary { values, .. } => values.is_strings(),
            _ => false,
        }
    }

    /// The key of a row that is not null.
    fn key(&self, row: usize) -> PyKey<'_> {
        let place = self.offset + row;
        match &self.values {
            Values::Nulls => PyKey::Bytes(&[]),
            Values::Bits(bits) => PyKey::Natural(u64::from(bits.get(row))),
            Values::Integers { items, signed: true } => {
                PyKey::signed(items.integer(place, true) as i64)
            }
            Values::Integers { items, signed: false } => {
                PyKey::Natural(items.integer(place, false))
            }
            Values::Floats(items) => PyKey::float(items.float(place)),
            Values::Strings(_) => PyKey::Bytes(self.string(row)),
            Values::Points(items) => {
                let mut text = Vec::new();
                push_points(items, place, &mut text);
                PyKey::Owned(text.into())
            }
            Values::Dictionary { places, signed, values } => {
                match self.place(row, places, *signed, values) {
                    Some(place) => values.key(place),
                    None => PyKey::Bytes(&[]),
                }
            }
        }
    }

    /// Hands on the keys of some rows.
    pub(super) fn feed(&self, rows: Range<usize>, sink: &mut dyn Sink) -> Result<(), Failure> {
        let batch = sink.batch();
        let (mut start, mut valid) = (rows.start, Vec::new());
        let (mut naturals, mut strings, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        let (mut text, mut ends) = (Vec::new(), Vec::new());
        while start < rows.end {
            let part = start..rows.end.min(start + batch);
            start = part.end;
            let mask = self.has_nulls().then(|| {
                valid.clear();
                valid.extend(part.clone().map(|row| !self.is_null(row)));
                &valid[..]
            });
            let present = part.clone().filter(|row| mask.is_none_or(|mask| mask[row - part.start]));
            match &self.values {
                Values::Integers { items, signed } => {
                    naturals.clear();
                    if mask.is_none() {
                        let shifted = part.start + self.offset..part.end + self.offset;
                        items.push_integers(shifted, *signed, &mut naturals);
                    } else {
                        let get = |row| items.integer(self.offset + row, *signed);
                        naturals.extend(present.map(get));
                    }
                    // Negative integers are keys of another kind.
                    let all = naturals.iter().fold(0, |all, value| all | value);
                    if *signed && (all as i64) < 0 {
                        keys.clear();
                        keys.extend(naturals.iter().map(|value| PyKey::signed(*value as i64)));
                        sink.take(None, &Keys::Any(&keys), mask)?;
                    } else {
                        sink.take(None, &Keys::Naturals(&naturals), mask)?;
                    }
                }
                Values::Points(items) => {
                    text.clear();
                    ends.clear();
                    for row in present {
                        push_points(items, self.offset + row, &mut text);
                        ends.push(text.len());
                    }
                    let mut from = 0;
                    let cut = |end: &usize| &text[std::mem::replace(&mut from, *end)..*end];
                    let strings: Vec<&[u8]> = ends.iter().map(cut).collect();
                    sink.take(None, &Keys::Bytes(&strings), mask)?;
                }
                _ if self.is_strings() => {
                    strings.clear();
                    strings.extend(present.map(|row| self.string(row)));
                    sink.take(None, &Keys::Bytes(&strings), mask)?;
                }
                _ => {
                    keys.clear();
                    keys.extend(present.map(|row| self.key(row)));
                    sink.take(None, &Keys::Any(&keys), mask)?;
                }
            }
        }
        Ok(())
    }
}

/// Appends the UTF-8 of a text of code points. A lone surrogate gets the three bytes that Python's
/// `surrogatepass` gives it.
fn push_points(items: &Items, row: usize, out: &mut Vec<u8>) {
    let one = |place: usize| {
        let point = Items { start: items.at(row), step: 4, width: 4, swapped: items.swapped };
        u32::from_ne_bytes(point.bytes(place))
    };
    let len = (0..items.width / 4).rev().find(|place| one(*place) != 0).map_or(0, |last| last + 1);
    for place in 0..len {
        let point = one(place);
        match char::from_u32(point) {
            Some(letter) => {
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            None => {
                let low = |shift: u32| 0x80 | (point >> shift & 0x3f) as u8;
                out.extend_from_slice(&[0xe0 | (point >> 12 & 0xf) as u8, low(6), low(0)]);
            }
        }
    }
}
