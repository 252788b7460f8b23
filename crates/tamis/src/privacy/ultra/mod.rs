//! UltraFilter made right: a Bloom filter whose bits are flipped before it is published (Odoh,
//! "UltraFilter: A Privacy-Preserving Bloom Filter", 2025).
//!
//! Every bit, zero or one, is flipped with chance 1/(e^b+1), so an observer learns of a bit at most
//! a factor e^b. An item has k bits, so there is a factor of at most e^(kb) between a set with it
//! and one without. The paper reads its Algorithm 3 otherwise: flipping ones only, which no epsilon
//! covers, since a one that is published was a one before.
//!
//! A member has all its k bits before the noise, a stranger each with the chance of the load; after
//! it, the number of ones is binomial for both, and its likelihood ratio grows with it. So "at
//! least t ones" is the best test there is, and the plan chooses t with k. The paper's rule is t =
//! k.

mod filter;
mod plan;
mod release;

pub use filter::UltraFilter;
pub use plan::UltraPlan;
pub use release::PublicBloom;
