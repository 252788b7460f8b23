//! The checksum of a body, CRC-32C, on all cores if the body is large.

use crate::threads::share;
use std::num::NonZero;
use std::thread;

/// What a thread takes at a time. A body of a piece or less is no work for two.
const PIECE: usize = 8 << 20;

/// A few threads read as fast as the memory delivers.
const MAX_THREADS: usize = 8;

/// The CRC-32C of `bytes`.
pub(super) fn of(bytes: &[u8]) -> u32 {
    if bytes.len() <= PIECE {
        return crc32c::crc32c(bytes);
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    in_pieces(bytes, PIECE, cores.min(MAX_THREADS))
}

/// The CRC-32C of these bytes, one after the other.
pub(super) fn of_parts(parts: &[&[u8]]) -> u32 {
    parts.iter().fold(0, |sum, part| crc32c::crc32c_combine(sum, of(part), part.len()))
}

/// The same, from pieces of `size` bytes, which up to `threads` threads take as they come to them.
fn in_pieces(bytes: &[u8], size: usize, threads: usize) -> u32 {
    let pieces = bytes.chunks(size).enumerate();
    let threads = threads.min(pieces.len());
    let mut sums = share(threads, pieces, |(i, piece)| (i, crc32c::crc32c(piece), piece.len()));
    sums.sort_unstable_by_key(|(i, ..)| *i);
    sums.iter().fold(0, |sum, (_, piece, len)| crc32c::crc32c_combine(sum, *piece, *len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_give_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..1009u32).map(|i| (i * i % 251) as u8).collect();
        for len in [0, 1, 2, 63, 64, 65, 500, 1008, 1009] {
            for size in (1..=70).chain([len.max(1), 504, 505, 1008, 1009, 1010]) {
                for threads in [1, 2, 3, 8] {
                    assert_eq!(
                        in_pieces(&bytes[..len], size, threads),
                        crc32c::crc32c(&bytes[..len])
                    );
                }
            }
        }
    }

    #[test]
    fn parts_give_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i * i % 251) as u8).collect();
        for cut in [0, 1, 64, 999, 1000] {
            let (front, back) = bytes.split_at(cut);
            assert_eq!(of_parts(&[front, &[], back]), crc32c::crc32c(&bytes));
        }
        assert_eq!(of_parts(&[]), crc32c::crc32c(&[]));
    }

    #[test]
    fn large_bodies_have_the_same_checksum() {
        let bytes: Vec<u8> =
            (0..2 * PIECE as u32 + 5).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
        for len in [PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 5] {
            assert_eq!(of(&bytes[..len]), crc32c::crc32c(&bytes[..len]));
        }
    }

    #[test]
    fn a_flipped_bit_of_any_piece_changes_it() {
        let mut bytes = vec![0x5a; 1000];
        let whole = in_pieces(&bytes, 70, 2);
        for i in 0..bytes.len() {
            for bit in 0..8 {
                bytes[i] ^= 1 << bit;
                assert_ne!(in_pieces(&bytes, 70, 1), whole);
                bytes[i] ^= 1 << bit;
            }
        }
    }
}
