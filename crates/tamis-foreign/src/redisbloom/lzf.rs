//! LZF, the compression of strings in a dump: runs of bytes as they are, and copies of earlier
//! ones.

use crate::Error;
use crate::array::with_capacity;

/// A copy of at most 264 bytes takes at least 2.
const MAX_RATIO: u64 = 132;

/// Unpacks to exactly `len` bytes, or not at all.
pub(super) fn unpack(packed: &[u8], len: u64) -> Result<Option<Vec<u8>>, Error> {
    if len > MAX_RATIO * packed.len() as u64 {
        return Ok(None);
    }
    let mut out = with_capacity(len)?;
    Ok(unpack_into(packed, len as usize, &mut out).map(|()| out))
}

fn unpack_into(mut packed: &[u8], len: usize, out: &mut Vec<u8>) -> Option<()> {
    while let Some((&control, rest)) = packed.split_first() {
        packed = rest;
        if control < 32 {
            let (run, rest) = packed.split_at_checked(usize::from(control) + 1)?;
            packed = rest;
            if out.len() + run.len() > len {
                return None;
            }
            out.extend_from_slice(run);
            continue;
        }
        let mut count = usize::from(control >> 5) + 2;
        if control >> 5 == 7 {
            let (&more, rest) = packed.split_first()?;
            packed = rest;
            count += usize::from(more);
        }
        let (&low, rest) = packed.split_first()?;
        packed = rest;
        let back = (usize::from(control & 31) << 8 | usize::from(low)) + 1;
        let from = out.len().checked_sub(back)?;
        if out.len() + count > len {
            return None;
        }
        // A copy may reach into what it writes.
        for at in from..from + count {
            out.push(out[at]);
        }
    }
    (out.len() == len).then_some(())
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn copies_may_overlap_and_lengths_are_kept() {
        // "ab", then ten bytes from two back, then zeros from one back.
        let packed = [1, b'a', b'b', 0xe0, 1, 1, 0, 0, 0x20, 0];
        let unpacked = unpack(&packed, 16).unwrap().unwrap();
        assert_eq!(unpacked, b"abababababab\0\0\0\0");
        for len in (0..16).chain(17..40) {
            assert!(unpack(&packed, len).unwrap().is_none(), "{len}");
        }
        assert!(unpack(&[0x20, 5], 3).unwrap().is_none(), "a copy from before the start");
        assert!(unpack(&[0; 10], 1 << 40).unwrap().is_none(), "a length that cannot be");
    }
}
