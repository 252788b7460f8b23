//! Integer arithmetic that the codes are built on.
//!
//! | file | what it holds |
//! |---|---|
//! | `primes` | the sieve, the first primes, prime powers |
//! | `divisor` | division by a fixed number, as a multiplication |
//! | `chinese` | Chinese remaindering, inverses modulo a number |
//! | `field` | the finite fields GF(q) of Reed-Solomon codes |
//! | `ring` | how the tables of such a field are made |
//! | `mersenne` | the field modulo 2^31 - 1 or 2^61 - 1 |
//! | `polynomial` | polynomials over that field |

pub(crate) mod chinese;
pub(crate) mod divisor;
pub(crate) mod field;
pub(crate) mod mersenne;
pub(crate) mod polynomial;
pub(crate) mod primes;
mod ring;
