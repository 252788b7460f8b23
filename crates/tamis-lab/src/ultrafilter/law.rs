//! What a mechanism should answer, and the random error of one run.

use super::mechanism::{Mechanism, Noise, Rates, change};

/// What the tables print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Metric {
    FalsePositive,
    FalseNegative,
    F1,
}

impl Metric {
    pub(super) fn named(name: &str) -> Option<Metric> {
        match name {
            "FP" => Some(Metric::FalsePositive),
            "FN" => Some(Metric::FalseNegative),
            "F1" => Some(Metric::F1),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Metric::FalsePositive => "FP",
            Metric::FalseNegative => "FN",
            Metric::F1 => "F1",
        }
    }

    pub(super) fn of(self, rates: Rates) -> f64 {
        match self {
            Metric::FalsePositive => rates.positive,
            Metric::FalseNegative => rates.negative,
            Metric::F1 => rates.f1(),
        }
    }
}

/// Expected rates, and the variances of one member's and one stranger's answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    pub(super) rates: Rates,
    variances: Rates,
}

impl Law {
    /// The law of a mechanism: an item passes if each of its l bits is set. A member's bit is set
    /// if it stayed, a stranger's bit as often as any bit. For one hash and one-sided noise that is
    /// FP = p(1 - e^(-N/m)) and FN = 1 - p.
    pub(super) fn new(mechanism: Mechanism, items: f64, bits: f64, epsilon: Option<f64>) -> Law {
        let hashes = f64::from(mechanism.hashes);
        let load = -(hashes * items * (-1.0 / bits).ln_1p()).exp_m1();
        let change = change(epsilon);
        let (member, empty) = match mechanism.noise {
            Noise::OneSided => (1.0 - change, 0.0),
            Noise::Symmetric => (1.0 - change, change),
            Noise::SetToOne if epsilon.is_some() => (1.0, 1.0 - change),
            Noise::SetToOne => (1.0, 0.0),
        };
        let stranger = load * member + (1.0 - load) * empty;
        // Each item shares one of its bits with about l^2 N/m others, and their answers are then
        // correlated.
        let sharing = hashes * hashes * items / bits;
        let variance = |bit: f64| {
            let all = bit.powf(hashes);
            if bit == 0.0 {
                0.0
            } else {
                all * (1.0 - all) + sharing * all * all * (1.0 / bit - 1.0)
            }
        };
        Law {
            rates: Rates { positive: stranger.powf(hashes), negative: 1.0 - member.powf(hashes) },
            variances: Rates { positive: variance(stranger), negative: variance(member) },
        }
    }

    /// Eq. 5 to 8: both rates are (1 - (1 - x/m)^(nl))^l, where n is the number of items stored.
    /// For false positives x is p, which is 1 without noise; for false negatives it is q = 1 -
    /// p.
    pub(super) fn equations(hashes: u32, items: f64, bits: f64, epsilon: Option<f64>) -> Law {
        let hashes = f64::from(hashes);
        let rate = |x: f64| (-(items * hashes * (-x / bits).ln_1p()).exp_m1()).powf(hashes);
        let rates =
            Rates { positive: rate(1.0 - change(epsilon)), negative: rate(change(epsilon)) };
        let variance = |rate: f64| rate * (1.0 - rate);
        let variances =
            Rates { positive: variance(rates.positive), negative: variance(rates.negative) };
        Law { rates, variances }
    }

    /// The standard deviation of a number from this many members and as many strangers.
    pub(super) fn deviation(&self, metric: Metric, each: f64) -> f64 {
        let Rates { positive, negative } = self.variances;
        let variance = match metric {
            Metric::FalsePositive => positive,
            Metric::FalseNegative => negative,
            Metric::F1 => {
                let found = 1.0 - self.rates.negative;
                let all = 1.0 + found + self.rates.positive;
                let (by_found, by_passed) = (2.0 * (1.0 + self.rates.positive), 2.0 * found);
                (by_found.powi(2) * negative + by_passed.powi(2) * positive) / all.powi(4)
            }
        };
        (variance / each).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ultrafilter::sets::{Sets, Size};

    /// The means and the deviations agree with those of many runs, each with other strings.
    #[test]
    fn runs_follow_the_law() {
        let (size, runs) = (Size { items: 256, bits: 4096 }, 400u64);
        let all = Sets::new(Size { items: size.items * runs, bits: size.bits });
        for (hashes, noise) in [1, 3, 10].into_iter().flat_map(|l| {
            [Noise::OneSided, Noise::Symmetric, Noise::SetToOne].map(|noise| (l, noise))
        }) {
            let mechanism = Mechanism { hashes, noise };
            let law = Law::new(mechanism, 256.0, 4096.0, Some(2.0));
            let of_run = |run: u64| {
                let own = (run * size.items) as usize..((run + 1) * size.items) as usize;
                let (members, strangers) =
                    (all.members[own.clone()].to_vec(), all.strangers[own].to_vec());
                mechanism.score(&Sets { size, members, strangers }, 1.0, Some(2.0), run).rates()
            };
            let rates: Vec<Rates> = (0..runs).map(of_run).collect();
            for metric in [Metric::FalsePositive, Metric::FalseNegative, Metric::F1] {
                let mean = rates.iter().map(|r| metric.of(*r)).sum::<f64>() / runs as f64;
                let squares = rates.iter().map(|r| (metric.of(*r) - mean).powi(2)).sum::<f64>();
                let (found, said) = ((squares / runs as f64).sqrt(), law.deviation(metric, 256.0));
                let off = (mean - metric.of(law.rates)).abs();
                assert!(
                    off <= 5.0 * said / (runs as f64).sqrt() + 1e-3,
                    "{mechanism:?} {metric:?} {off}"
                );
                assert!(
                    found <= 1.3 * said && said <= 1.5 * found + 1e-12,
                    "{mechanism:?} {metric:?} {found} {said}"
                );
            }
        }
    }
}
