//! UltraFilter made right: a Bloom filter whose bits are flipped before it is published (Odoh,
//! "UltraFilter: A Privacy-Preserving Bloom Filter", 2025).
//!
//! Every bit, zero or one, is flipped with chance 1/(e^b+1), so an observer learns of a bit at most
//! a factor e^b. An item has k bits, so there is a factor of at most e^(kb) between a set with it
//! and one without. The paper flips ones only. Then every published one was a real one, so no
//! epsilon holds.
//!
//! Before the noise, a member has all its k bits, and each bit of a stranger is one with the
//! probability of the fill. After the noise, both counts of ones are binomial, and more ones make a
//! member more likely. So "at least t ones" is the best test there is, and the plan chooses t with
//! k. The paper's rule is t = k.

mod filter;
mod plan;
mod release;

pub use filter::UltraFilter;
pub use plan::UltraPlan;
pub use release::PublicBloom;
