//! Solutions over GF(2)^width.

use super::planes;
use super::row::Row;
use crate::Error;
use crate::privacy::noise::Coins;
use crate::store::filled;

/// Draws x uniformly from the solutions of all rows, and writes it into zeroed planes. The rows are
/// sorted by their starts and end within the columns.
///
/// In that order a row never reaches past its own band: the rows that reduce it begin no later, so
/// they end no later.
pub(super) fn solve(
    rows: &[Row],
    columns: u64,
    width: u32,
    coins: &mut (impl Coins + ?Sized),
    out: &mut [u8],
) -> Result<(), Error> {
    // pivots[i] is the equation whose first column is i, from there on; 0 if there is none.
    let mut pivots = filled(0u128, columns as usize)?;
    for row in rows {
        let (mut column, mut rest) = (row.start as usize, row.coefficients);
        while rest != 0 {
            let zeros = rest.trailing_zeros();
            column += zeros as usize;
            rest >>= zeros;
            if pivots[column] == 0 {
                pivots[column] = rest;
                break;
            }
            rest ^= pivots[column]; // all of it gone: the row follows from others
        }
    }
    // From the last column to the first: a column without an equation is free, the others follow.
    // `after[j]` holds plane j of the columns after this one.
    let mut after = [0u128; 16];
    for column in (0..columns).rev() {
        let pivot = pivots[column as usize];
        let free = if pivot == 0 { coins.below(1 << width) as u32 } else { 0 };
        let mut value = 0;
        for (j, after) in after.iter_mut().enumerate().take(width as usize) {
            let bit =
                if pivot == 0 { free >> j & 1 } else { (pivot >> 1 & *after).count_ones() & 1 };
            *after = *after << 1 | u128::from(bit);
            value |= bit << j;
        }
        planes::set(out, width, column, value);
    }
    Ok(())
}
