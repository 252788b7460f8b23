//! Does a mechanism leak more than it claims? An experiment that can show that it does.
//!
//! Release a small set many times, and as often the same set with one more item; look each time at
//! what the release says of that item. Under a claim of epsilon, nothing that can be seen is more
//! than e^epsilon times likelier on one side than on the other. The audit counts, takes exact
//! confidence bounds for both sides, and reports the largest epsilon that the counts prove.
//!
//! **It finds faults; it does not prove their absence.** If a claim is true, it is found violated
//! with a probability of at most [`Options::alpha`]. A mechanism that is found consistent may still
//! leak: through what the outcomes do not tell apart, for sets that were not tried, or by less than
//! these runs can show. A proof is a proof.
//!
//! ```
//! use tamis::privacy::Epsilon;
//! use tamis::privacy::audit::{Event, Mechanism, Options, Verdict, audit};
//!
//! /// Says whether the item is there, and lies one time in four. 3/4 against 1/4 is a loss of
//! /// ln 3 = 1.0986.
//! struct Liar(Epsilon);
//!
//! impl Mechanism for Liar {
//!     fn name(&self) -> &str {
//!         "liar"
//!     }
//!     fn claim(&self) -> Epsilon {
//!         self.0
//!     }
//!     fn outcomes(&self) -> u32 {
//!         2
//!     }
//!     fn describe(&self, event: Event) -> String {
//!         format!("it says {}", if matches!(event, Event::AtLeast(_)) { "yes" } else { "no" })
//!     }
//!     fn run(&self, with_target: bool, coins: u64) -> Result<u32, tamis::Error> {
//!         Ok(u32::from(with_target != (coins % 4 == 0)))
//!     }
//! }
//!
//! let options = Options { runs: 100_000, ..Options::default() };
//! let honest = audit(&Liar("1.0987".parse()?), options, |_| ())?;
//! assert_eq!(honest.verdict, Verdict::Consistent);
//! let boasting = audit(&Liar("1".parse()?), options, |_| ())?;
//! assert_eq!(boasting.verdict, Verdict::Violated);
//! println!("{boasting}");
//! # Ok::<(), tamis::Error>(())
//! ```

mod error;
mod finding;
mod mechanism;
mod plans;

use crate::Error;
use crate::hash::mix;
use crate::stats::clopper_pearson;
use crate::threads::share;
pub use error::AuditError;
pub use finding::{Finding, Verdict, Witness};
pub use mechanism::{Event, Mechanism};
pub use plans::{Compared, United};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How to audit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The runs with the target item, and as many without it.
    pub runs: u64,
    /// The runs are the same for the same seed, on any number of processors.
    pub seed: u64,
    /// The chance that any bound is wrong, of all that are computed, and so of an unjust verdict.
    pub alpha: f64,
}

impl Default for Options {
    /// A million runs a side, and one unjust verdict in a million.
    fn default() -> Options {
        Options { runs: 1_000_000, seed: 0, alpha: 1e-6 }
    }
}

/// The most outcomes: every one of them costs two bounds for each side.
const MAX_OUTCOMES: u32 = 1_000;
/// The most runs of a side: more than anyone waits for.
const MAX_RUNS: u64 = 1 << 40;
/// The runs that a thread does before it asks for more.
const BATCH: u64 = 500;

/// Audits a mechanism on all processors. `progress` hears how many runs were just done, of twice
/// [`Options::runs`].
pub fn audit(
    mechanism: &(impl Mechanism + ?Sized),
    options: Options,
    progress: impl Fn(u64) + Sync,
) -> Result<Finding, Error> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    audit_on(threads, mechanism, options, &progress)
}

fn audit_on(
    threads: usize,
    mechanism: &(impl Mechanism + ?Sized),
    options: Options,
    progress: &(impl Fn(u64) + Sync),
) -> Result<Finding, Error> {
    if !(1..=MAX_RUNS).contains(&options.runs) {
        return Err(AuditError::Runs { got: options.runs }.into());
    }
    if !(1e-9..=0.5).contains(&options.alpha) {
        return Err(AuditError::Alpha { got: options.alpha }.into());
    }
    let outcomes = mechanism.outcomes();
    let bad_outcomes = AuditError::Outcomes { got: outcomes };
    if !(2..=MAX_OUTCOMES).contains(&outcomes) {
        return Err(bad_outcomes.into());
    }
    let seen = count(threads, mechanism, options, progress)?;
    let witness = (1..outcomes)
        .flat_map(|threshold| witnesses(mechanism, options, &seen, threshold))
        .reduce(|max, next| if next.epsilon() > max.epsilon() { next } else { max })
        .ok_or(bad_outcomes)?;
    let (epsilon, [without, with]) = (witness.epsilon(), seen);
    let claim = mechanism.claim();
    let verdict = if epsilon > claim.to_f64() { Verdict::Violated } else { Verdict::Consistent };
    let (name, runs) = (mechanism.name().to_owned(), options.runs);
    Ok(Finding { name, claim, runs, with, without, epsilon, witness, verdict })
}

/// How often each outcome comes, without the target and with it.
fn count(
    threads: usize,
    mechanism: &(impl Mechanism + ?Sized),
    options: Options,
    progress: &(impl Fn(u64) + Sync),
) -> Result<[Vec<u64>; 2], Error> {
    let outcomes = mechanism.outcomes();
    let (total, next, failed) = (2 * options.runs, AtomicU64::new(0), AtomicBool::new(false));
    let empty = || [vec![0; outcomes as usize], vec![0; outcomes as usize]];
    let work = || {
        let mut seen = empty();
        while !failed.load(Ordering::Relaxed) {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let end = (start + BATCH).min(total);
            if start >= end {
                break;
            }
            for run in start..end {
                let with_target = run % 2 == 1;
                let outcome =
                    mechanism.run(with_target, coins(options.seed, run)).and_then(|got| {
                        let counts = &mut seen[usize::from(with_target)];
                        let unknown = AuditError::UnknownOutcome { got, outcomes };
                        counts.get_mut(got as usize).ok_or(unknown.into())
                    });
                match outcome {
                    Ok(times) => *times += 1,
                    Err(error) => {
                        failed.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
            progress(end - start);
        }
        Ok(seen)
    };
    let mut sum = empty();
    for seen in share(threads, 0..threads, |_| work()) {
        for (sum, seen) in sum.iter_mut().flatten().zip(seen?.iter().flatten()) {
            *sum += seen;
        }
    }
    Ok(sum)
}

/// The coins of a run: the finish of SplitMix64 (Steele, Lea, Flood 2014), which is one to one.
fn coins(seed: u64, run: u64) -> u64 {
    mix((run + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed))
}

/// The events of a threshold, each in both directions.
fn witnesses(
    mechanism: &(impl Mechanism + ?Sized),
    options: Options,
    [without, with]: &[Vec<u64>; 2],
    threshold: u32,
) -> [Witness; 4] {
    let runs = options.runs;
    let [with, without] =
        [with, without].map(|seen| seen[threshold as usize..].iter().sum::<u64>());
    // An interval for every threshold and side. The interval of "below" follows from that of "at
    // least": it is wrong when the other is, so it costs no extra chance.
    let alpha = options.alpha / f64::from(2 * (mechanism.outcomes() - 1));
    let [chance_with, chance_without] =
        [with, without].map(|hits| clopper_pearson(hits, runs, alpha));
    let below = |(low, high): (f64, f64)| (1.0 - high, 1.0 - low);
    let witness = |at_least: bool, speaks_for_target: bool| {
        let (event, with, without, chance_with, chance_without) = match at_least {
            true => (Event::AtLeast(threshold), with, without, chance_with, chance_without),
            false => {
                let (chance_with, chance_without) = (below(chance_with), below(chance_without));
                (Event::Below(threshold), runs - with, runs - without, chance_with, chance_without)
            }
        };
        let (low, high) = match speaks_for_target {
            true => (chance_with.0, chance_without.1),
            false => (chance_without.0, chance_with.1),
        };
        Witness {
            event,
            words: mechanism.describe(event),
            with,
            without,
            speaks_for_target,
            low,
            high,
        }
    };
    [witness(true, true), witness(true, false), witness(false, true), witness(false, false)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Epsilon;

    /// The outcome is at least t with a chance of `odds[side][t - 1]` of 1000.
    struct Dice {
        odds: [Vec<u64>; 2],
        claim: f64,
    }

    impl Mechanism for Dice {
        fn name(&self) -> &str {
            "dice"
        }
        fn claim(&self) -> Epsilon {
            self.claim.try_into().unwrap()
        }
        fn outcomes(&self) -> u32 {
            self.odds[0].len() as u32 + 1
        }
        fn run(&self, with_target: bool, coins: u64) -> Result<u32, Error> {
            let roll = coins % 1_000;
            Ok(self.odds[usize::from(with_target)].iter().filter(|odds| roll < **odds).count()
                as u32)
        }
    }

    fn dice<const N: usize>(without: [u64; N], with: [u64; N], claim: f64) -> Dice {
        Dice { odds: [without.to_vec(), with.to_vec()], claim }
    }

    fn found(dice: &Dice, runs: u64) -> Finding {
        audit(dice, Options { runs, ..Options::default() }, |_| ()).unwrap()
    }

    /// Every event of every direction is looked at: here each of them tells most, once.
    #[test]
    fn the_event_that_tells_most_is_found() {
        for (dice, event, speaks_for_target, loss) in [
            (dice([100, 90], [110, 100], 0.1), Event::AtLeast(2), true, (100.0f64 / 90.0).ln()),
            (dice([10, 5], [200, 5], 2.0), Event::AtLeast(1), true, 20f64.ln()),
            (dice([200, 5], [10, 5], 2.0), Event::AtLeast(1), false, 20f64.ln()),
            (dice([800, 5], [990, 5], 2.0), Event::Below(1), false, 20f64.ln()),
            (dice([990, 5], [800, 5], 2.0), Event::Below(1), true, 20f64.ln()),
            (dice([999, 990], [999, 800], 2.0), Event::Below(2), true, 20f64.ln()),
        ] {
            let finding = found(&dice, 300_000);
            assert_eq!(
                (finding.witness.event, finding.witness.speaks_for_target),
                (event, speaks_for_target)
            );
            assert!(finding.epsilon < loss && finding.epsilon > loss - 0.15, "{finding}");
        }
    }

    #[test]
    fn what_never_happens_on_one_side_is_a_loss_that_grows_with_the_runs() {
        let dice = dice([0], [1_000], 4.0);
        assert_eq!(found(&dice, 200).verdict, Verdict::Consistent);
        let finding = found(&dice, 1_000);
        assert_eq!(finding.verdict, Verdict::Violated);
        assert_eq!((finding.witness.with, finding.witness.without), (1_000, 0));
        // For 0 of n, the upper bound is 1 - a^(1/n), where a is the chance of error of one bound.
        let high = 1.0 - (1e-6f64 / 4.0).powf(1e-3);
        assert!(
            (finding.witness.high - high).abs() < 1e-9
                && (finding.witness.low - 1.0 + high).abs() < 1e-9
        );
        assert!((finding.epsilon - ((1.0 - high) / high).ln()).abs() < 1e-6);
        assert!(
            finding
                .to_string()
                .contains("\"the outcome is at least 1\" in 1000 of 1000 runs with the item"),
            "{finding}"
        );
    }

    /// A claim that is exactly true is found violated no more often than alpha says.
    #[test]
    fn unjust_verdicts_are_as_rare_as_promised() {
        let dice = dice([200], [400], 2f64.ln());
        let (audits, alpha) = (400, 0.5);
        let unjust = (0..audits)
            .filter(|seed| {
                // Seeds far apart, so that no two audits share coins.
                let options = Options { runs: 100, seed: coins(1, *seed), alpha };
                audit_on(1, &dice, options, &|_| ()).unwrap().verdict == Verdict::Violated
            })
            .count() as f64;
        assert!(unjust <= audits as f64 * alpha, "{unjust}");
        assert!(unjust > 0.0, "the bounds are not so loose that no verdict is ever unjust");
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let dice = dice([500, 300], [600, 200], 1.0);
        let options = Options { runs: 12_345, seed: 7, alpha: 1e-3 };
        let done = AtomicU64::new(0);
        let progress = |runs| {
            done.fetch_add(runs, Ordering::Relaxed);
        };
        let one = audit_on(1, &dice, options, &progress).unwrap();
        assert_eq!(done.into_inner(), 2 * 12_345);
        assert_eq!([one.with.iter().sum::<u64>(), one.without.iter().sum()], [12_345; 2]);
        for threads in [2, 3, 16] {
            assert_eq!(audit_on(threads, &dice, options, &|_| ()).unwrap(), one);
        }
        let other = audit_on(1, &dice, Options { seed: 8, ..options }, &|_| ()).unwrap();
        assert_ne!(other.with, one.with);
    }

    #[test]
    fn no_two_runs_have_the_same_coins() {
        let mut all: Vec<u64> = (0..100_000).map(|run| coins(3, run)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 100_000);
    }

    struct Broken {
        outcomes: u32,
    }

    impl Mechanism for Broken {
        fn name(&self) -> &str {
            "broken"
        }
        fn claim(&self) -> Epsilon {
            Epsilon::ZERO
        }
        fn outcomes(&self) -> u32 {
            self.outcomes
        }
        fn run(&self, _: bool, coins: u64) -> Result<u32, Error> {
            if coins.is_multiple_of(2) { Ok(self.outcomes) } else { Err(Error::Absent) }
        }
    }

    #[test]
    fn what_cannot_be_audited_is_refused() {
        let good = Options { runs: 10, ..Options::default() };
        for (outcomes, options) in [
            (0, good),
            (1, good),
            (u32::MAX, good),
            (2, good),
            (2, Options { runs: 0, ..good }),
            (2, Options { runs: u64::MAX, ..good }),
            (2, Options { alpha: 0.0, ..good }),
            (2, Options { alpha: 1.0, ..good }),
            (2, Options { alpha: f64::NAN, ..good }),
        ] {
            assert!(audit(&Broken { outcomes }, options, |_| ()).is_err());
        }
        let boxed: Box<dyn Mechanism> = Box::new(dice([1], [1], 1.0));
        assert!(audit(&*boxed, good, |_| ()).is_ok());
    }
}
