//! Tables 1 to 4 cell by cell, the laws behind them, and Figures 1 and 2, which draw them.

use super::law::{Law, Metric};
use super::mechanism::{Mechanism, Noise, Score};
use super::sets::{Sets, Size};
use super::{AS_RUN, HASHES, PAPER};
use crate::threads::in_order;
use crate::{Notebook, Place, Reading, Tolerance, Verdict, significant};

/// The published cells; an epsilon of `none` is the Bloom filter without noise.
const TABLES: &str = include_str!("../../data/ultrafilter_tables.csv");

/// One line of the file.
pub(super) struct Published {
    pub(super) table: u32,
    pub(super) occupancy: f64,
    pub(super) epsilon: Option<f64>,
    pub(super) metric: Metric,
    text: &'static str,
}

pub(super) fn published_cells() -> Vec<Published> {
    let row = |line: &'static str| {
        let mut fields = line.split(',');
        Some(Published {
            table: fields.next()?.parse().ok()?,
            occupancy: fields.next()?.parse().ok()?,
            epsilon: match fields.next()? {
                "none" => None,
                epsilon => Some(epsilon.parse().ok()?),
            },
            metric: Metric::named(fields.next()?)?,
            text: fields.next()?,
        })
    };
    TABLES.lines().skip(1).filter_map(row).collect()
}

impl Published {
    pub(super) fn value(&self) -> f64 {
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// Half a unit of the last digit. The tables print three decimals and drop zeros at the end:
    /// 0.06 stands beside 0.061. A 0 is a count of nothing, since they also print 3.72e-5.
    fn half_unit(&self) -> f64 {
        let (digits, power) = self.text.split_once('e').unwrap_or((self.text, "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
        match power.parse::<i32>() {
            _ if self.text == "0" => 0.0,
            Ok(0) => 0.5 * 10f64.powi(-decimals.max(3)),
            Ok(power) => 0.5 * 10f64.powi(power - decimals),
            Err(_) => f64::NAN,
        }
    }

    fn place(&self) -> Place {
        let epsilon =
            self.epsilon.map_or_else(|| "no noise".to_owned(), |e| format!("epsilon {e}"));
        Place::new(
            format!("Table {}", self.table),
            format!("phi {:.1}, {epsilon}", self.occupancy),
            self.metric.name(),
        )
    }

    /// The tolerance for our value, and whether our value is within it.
    fn compare(&self, ours: f64, deviation: f64) -> (f64, Verdict) {
        let tolerance = self.half_unit() + 4.0 * deviation;
        let off = (self.value() - ours).abs();
        // A tiny margin, since decimal fractions are not exact in binary.
        (tolerance, Verdict::of(off <= tolerance + 1e-12))
    }

    /// Whether the record says that the cell holds with ten hashes. It does where the noise is too
    /// weak to be seen, and by coincidence at epsilon 5, where the missed members weigh as much as
    /// the strangers of one hash.
    fn holds_with_ten(&self) -> bool {
        let unseen = self.metric == Metric::FalseNegative && self.epsilon.is_none_or(|e| e >= 15.0);
        unseen || self.metric == Metric::F1 && self.epsilon == Some(5.0)
    }

    /// Whether Eq. 5 to 8 give the cell. With one hash they do for false positives, and where
    /// nothing is missed; with ten hashes only where nothing is missed.
    fn holds_by_equations(&self, hashes: u32) -> bool {
        match self.metric {
            Metric::FalsePositive => hashes == 1,
            Metric::FalseNegative => self.epsilon.is_none_or(|e| e >= 15.0),
            Metric::F1 => hashes == 1 && self.epsilon.is_none_or(|e| e >= 10.0),
        }
    }
}

/// The readings that are run: what fits, and what the text says, with either noise.
const MECHANISMS: [(&str, Mechanism); 3] = [
    ("one hash, one-sided", AS_RUN),
    ("ten hashes, one-sided", Mechanism { hashes: HASHES, noise: Noise::OneSided }),
    ("ten hashes, symmetric", Mechanism { hashes: HASHES, noise: Noise::Symmetric }),
];

/// The scores of every setting of the tables under every mechanism.
pub(super) struct Measured {
    pub(super) size: Size,
    scores: Vec<(Mechanism, f64, Option<f64>, Score)>,
}

impl Measured {
    pub(super) fn new(sets: &Sets) -> Measured {
        let mut settings: Vec<(f64, Option<f64>)> = Vec::new();
        for cell in published_cells() {
            if !settings.contains(&(cell.occupancy, cell.epsilon)) {
                settings.push((cell.occupancy, cell.epsilon));
            }
        }
        let scores = in_order(settings.len() * MECHANISMS.len(), |job| {
            let (occupancy, epsilon) = settings[job / MECHANISMS.len()];
            let (_, mechanism) = MECHANISMS[job % MECHANISMS.len()];
            (mechanism, occupancy, epsilon, mechanism.score(sets, occupancy, epsilon, job as u64))
        });
        Measured { size: sets.size, scores }
    }

    /// The score of a setting of the tables.
    pub(super) fn score(
        &self,
        mechanism: Mechanism,
        occupancy: f64,
        epsilon: Option<f64>,
    ) -> Score {
        let found = self.scores.iter().find(|s| (s.0, s.1, s.2) == (mechanism, occupancy, epsilon));
        found.map_or(Score { each: 0, strangers_passed: 0, members_missed: 0 }, |score| score.3)
    }

    fn law(&self, mechanism: Mechanism, occupancy: f64, epsilon: Option<f64>) -> Law {
        Law::new(mechanism, self.size.occupied(occupancy) as f64, self.size.bits as f64, epsilon)
    }
}

/// What Eq. 5 to 8 give for a cell, and whether it is what the table has.
fn by_equations(cell: &Published, hashes: u32) -> (f64, Verdict) {
    let items = PAPER.occupied(cell.occupancy) as f64;
    let law = Law::equations(hashes, items, PAPER.bits as f64, cell.epsilon);
    let ours = cell.metric.of(law.rates);
    (ours, cell.compare(ours, law.deviation(cell.metric, items)).1)
}

/// How many of the published cells of one metric the equations give, and of how many, with noise or
/// without.
pub(super) fn given_by_equations(metric: Metric, hashes: u32, noise: bool) -> (usize, usize) {
    let rows = published_cells();
    let cells = rows.iter().filter(|cell| cell.metric == metric && cell.epsilon.is_some() == noise);
    let given = cells.clone().filter(|cell| by_equations(cell, hashes).1 == Verdict::Holds);
    (given.count(), cells.count())
}

/// Every cell of the tables, under every reading.
pub(super) fn cells(book: &mut Notebook, measured: &Measured) {
    for cell in published_cells() {
        // Both the paper's run and ours have a random error.
        let run = |mechanism: Mechanism| {
            let law = measured.law(mechanism, cell.occupancy, cell.epsilon);
            let score = measured.score(mechanism, cell.occupancy, cell.epsilon);
            let theirs = law.deviation(cell.metric, PAPER.occupied(cell.occupancy) as f64);
            let deviation = theirs.hypot(law.deviation(cell.metric, score.each as f64));
            let ours = cell.metric.of(score.rates());
            (ours, cell.compare(ours, deviation))
        };
        let (ours, (tolerance, verdict)) = run(AS_RUN);
        book.cell(
            cell.place(),
            cell.text.to_owned(),
            significant(ours),
            Tolerance {
                within: tolerance,
                why: "half a unit of the last digit, and four standard deviations of both \
                      runs"
                    .to_owned(),
            },
            verdict == Verdict::Holds,
            &format!(
                "read as one hash and one-sided noise; measured with n = 2^{}, m = 2^{}, 50 random \
                 characters",
                measured.size.items.ilog2(),
                measured.size.bits.ilog2()
            ),
        );
        book.read_as(MECHANISMS[0].0);
        for (name, mechanism) in &MECHANISMS[1..] {
            let (ours, (_, verdict)) = run(*mechanism);
            let recorded = Verdict::of(cell.holds_with_ten());
            book.reading(Reading { name, recomputed: significant(ours), verdict, recorded });
        }
        for (name, hashes) in [("Eq. 5 to 8, l = 1", 1), ("Eq. 5 to 8, l = 10", HASHES)] {
            let (ours, verdict) = by_equations(&cell, hashes);
            let recorded = Verdict::of(cell.holds_by_equations(hashes));
            book.reading(Reading { name, recomputed: significant(ours), verdict, recorded });
        }
    }
}

/// What each mechanism obeys, over all settings.
pub(super) fn laws(book: &mut Notebook, measured: &Measured) {
    for ((name, mechanism), (positive, negative)) in MECHANISMS.iter().zip([
        ("p(1 - e^(-N/m))", "1 - p"),
        ("(p load)^l, load = 1 - e^(-lN/m)", "1 - p^l"),
        ("(p load + (1-p)(1 - load))^l, load = 1 - e^(-lN/m)", "1 - p^l"),
    ]) {
        for (metric, formula) in
            [(Metric::FalsePositive, positive), (Metric::FalseNegative, negative)]
        {
            let runs: Vec<f64> = measured
                .scores
                .iter()
                .filter(|score| score.0 == *mechanism)
                .map(|(_, occupancy, epsilon, score)| {
                    let law = measured.law(*mechanism, *occupancy, *epsilon);
                    let off = (metric.of(score.rates()) - metric.of(law.rates)).abs();
                    // One count is allowed: where almost no answer is wrong, the deviation is far
                    // below one.
                    let beyond = (off - 1.0 / score.each as f64).max(0.0);
                    if beyond == 0.0 {
                        0.0
                    } else {
                        beyond / law.deviation(metric, score.each as f64)
                    }
                })
                .collect();
            let worst = runs.iter().copied().fold(0.0, f64::max);
            book.law(
                Place::new("Laws", *name, format!("deviations from {} = {formula}", metric.name())),
                worst,
                4.5,
                "standard deviations",
                &format!("the furthest of {} measured rates; N items are stored", runs.len()),
            );
        }
    }
}

/// Figures 1 and 2, from the settings of Tables 1 and 2.
pub(super) fn figures(book: &mut Notebook, measured: &Measured) {
    let rows = published_cells();
    for (name, mechanism) in MECHANISMS {
        let f1 =
            |cell: &Published| measured.score(mechanism, cell.occupancy, cell.epsilon).rates().f1();
        let table_1 = rows.iter().filter(|cell| cell.table == 1 && cell.metric == Metric::F1);
        let points = table_1.map(|cell| (cell.epsilon.unwrap_or(0.0), f1(cell)));
        book.series(format!("Fig. 1, {name}"), "epsilon", "F1", points);
        for epsilon in [None, Some(1.0), Some(2.0), Some(3.0), Some(4.0)] {
            let curve = rows.iter().filter(|cell| cell.table == 2 && cell.epsilon == epsilon);
            let noise = epsilon.map_or_else(|| "no noise".to_owned(), |e| format!("epsilon {e}"));
            let points = curve.map(|cell| (cell.occupancy, f1(cell)));
            book.series(format!("Fig. 2, {noise}, {name}"), "occupancy", "F1", points);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_units() {
        let half = |text| {
            Published { table: 1, occupancy: 1.0, epsilon: None, metric: Metric::F1, text }
                .half_unit()
        };
        for (text, unit) in
            [("0", 0.0), ("0.06", 5e-4), ("0.061", 5e-4), ("0.0479", 5e-5), ("3.72e-5", 5e-8)]
        {
            assert!((half(text) - unit).abs() < 1e-15, "{text}");
        }
        assert_eq!(published_cells().len(), 90);
    }
}
