//! From cells back to elements.
//!
//! | from | code | how |
//! |---|---|---|
//! | bits or counters | residues | join the occupied residues of a few moduli (in `zone::crt`) |
//! | bits or counters | Reed-Solomon | interpolate through the occupied positions of a few blocks ([`rs::join`]) |
//! | counters | residues | elementary symmetric polynomials, roots modulo a prime ([`modular`]) or by Sturm ([`sturm`]) |
//! | counters | Reed-Solomon | interpolation and the roots of Roth and Ruckenstein ([`rs::algebra`]) |

pub(crate) mod crt;
pub(crate) mod modular;
pub(crate) mod rs;
pub(crate) mod sturm;
