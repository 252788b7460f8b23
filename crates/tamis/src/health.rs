//! Whether a filter still keeps its promise.

use std::fmt;

/// Whether a filter still keeps what its plan promised.
///
/// ```
/// let mut seen = tamis::Bloom::new(10, 0.01)?;
/// seen.insert_many(0..10u64);
/// assert_eq!(seen.health(), tamis::Health::Within);
/// seen.insert_many(0..100u64);
/// assert_eq!(seen.health(), tamis::Health::Beyond);
/// # Ok::<(), tamis::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Health {
    /// It holds no more than it was planned for.
    Within,
    /// It holds more than it was planned for: members still pass, but so do more strangers than
    /// promised.
    Beyond,
}

impl fmt::Display for Health {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Health::Within => "within",
            Health::Beyond => "beyond",
        })
    }
}
