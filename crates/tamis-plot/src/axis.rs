//! An axis: its title, its scale and its ticks.

use crate::number::{raised, readable};

/// What an axis measures, and how it is scaled.
#[derive(Debug, Clone)]
pub struct Axis {
    /// The title, with its unit.
    pub title: String,
    /// Whether equal steps are equal factors.
    pub log: bool,
    /// The ends, if not those of the data.
    pub ends: Option<(f64, f64)>,
}

impl Axis {
    /// Equal steps are equal differences.
    #[must_use]
    pub fn linear(title: &str) -> Axis {
        Axis { title: title.to_owned(), log: false, ends: None }
    }

    /// Equal steps are equal factors.
    #[must_use]
    pub fn log(title: &str) -> Axis {
        Axis { title: title.to_owned(), log: true, ends: None }
    }

    /// The same with these ends.
    #[must_use]
    pub fn between(mut self, low: f64, high: f64) -> Axis {
        self.ends = Some((low, high));
        self
    }

    /// The scale for these values.
    pub(crate) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let usable = values.filter(|value| value.is_finite() && (!self.log || *value > 0.0));
        let (low, high) =
            usable.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = self.ends.unwrap_or(if low > high { (1.0, 2.0) } else { (low, high) });
        if self.log {
            let (low, high) = (low.log10(), high.log10());
            let margin = match high - low {
                span if span < 1e-9 => 0.5,
                _ if self.ends.is_some() => 0.0,
                span => 0.03 * span,
            };
            return Scale { log: true, low: low - margin, high: high + margin };
        }
        let margin = match (self.ends, high - low < 1e-12 * high.abs().max(1e-300)) {
            (_, true) => 0.5 * high.abs().max(1.0),
            (Some(_), false) => 0.0,
            (None, false) => 0.04 * (high - low),
        };
        Scale { log: false, low: low - margin, high: high + margin }
    }
}

/// A scale: from values to shares of the axis.
pub(crate) struct Scale {
    log: bool,
    low: f64,
    high: f64,
}

impl Scale {
    /// Where a value lies, from 0 to 1. `None` for zero and below on a logarithmic axis.
    pub(crate) fn share(&self, value: f64) -> Option<f64> {
        let value = if self.log { (value > 0.0).then(|| value.log10())? } else { value };
        value.is_finite().then(|| (value - self.low) / (self.high - self.low))
    }

    /// The ticks: where, and what they say. At most about eight.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        let inside = |share: &f64| (-1e-9..=1.0 + 1e-9).contains(share);
        // So that there are two powers of ten or more.
        if self.log && self.high - self.low >= 2.0 {
            let step = ((self.high - self.low) / 7.0).ceil().max(1.0);
            let first = (self.low / step).ceil() as i64;
            let last = (self.high / step).floor() as i64;
            let tick = |i: i64| {
                let power = i as f64 * step;
                let words = match power as i32 {
                    0 => "1".to_owned(),
                    1 => "10".to_owned(),
                    power => format!("10{}", raised(power)),
                };
                ((power - self.low) / (self.high - self.low), words)
            };
            return (first..=last).map(tick).filter(|(share, _)| inside(share)).collect();
        }
        let values = match self.high - self.low {
            // A decade or two: 1, 2, 5, as far as they are seen.
            span if self.log && span > 0.6 => {
                let decades = self.low.floor() as i32..=self.high.floor() as i32;
                decades
                    .flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)))
                    .collect()
            }
            // So little that equal factors are nearly equal differences.
            _ if self.log => round_values(10f64.powf(self.low), 10f64.powf(self.high)),
            _ => round_values(self.low, self.high),
        };
        let ticks =
            values.into_iter().filter_map(|value| Some((self.share(value)?, readable(value))));
        ticks.filter(|(share, _)| inside(share)).collect()
    }
}

/// Round numbers at equal distances, about six of them.
fn round_values(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 6.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|s| s * power)
        .into_iter()
        .find(|step| *step >= raw)
        .unwrap_or(raw);
    let first = (low / step).ceil() as i64;
    let steps = (0..20).map(|i| (first + i) as f64).take_while(|i| i * step <= high + 1e-9 * step);
    steps.map(|i| i * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_on_the_axis() {
        let ranges = [
            (0.0, 1.0),
            (3.0, 3.0),
            (-5.0, 1e9),
            (1e-9, 2e-9),
            (0.001, 40.0),
            (1.0, 3.0),
            (1.0, 1e60),
        ];
        for (low, high) in ranges as [(f64, f64); 7] {
            for axis in [
                Axis::linear("x"),
                Axis::log("x"),
                Axis::log("x").between(low.max(1e-12), high.max(1e-11)),
            ] {
                let scale = axis.scale([low, high].into_iter());
                let ticks = scale.ticks();
                assert!((1..=12).contains(&ticks.len()), "{axis:?} {low} {high} {ticks:?}");
                for (share, words) in ticks {
                    assert!((-0.001..=1.001).contains(&share) && !words.is_empty());
                }
            }
        }
        assert!(Axis::log("x").scale(std::iter::empty()).share(0.0).is_none());
    }

    /// One tick alone says nothing of a scale.
    #[test]
    fn there_are_two_ticks_or_more() {
        for low in 0..40 {
            for span in 1..60 {
                let (low, high) =
                    (10f64.powf(f64::from(low) / 10.0), 10f64.powf(f64::from(low + span) / 10.0));
                for axis in [Axis::linear("x"), Axis::log("x")] {
                    let ticks = axis.scale([low, high].into_iter()).ticks();
                    assert!((2..=12).contains(&ticks.len()), "{axis:?} {low} {high} {ticks:?}");
                }
            }
        }
    }
}
