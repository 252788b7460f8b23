//! The statements of the paper that are wrong, each with the computation that shows it.

use super::law::{Law, Metric};
use super::mechanism::{Array, Mechanism, Noise, Rates, change};
use super::sets::{Sets, digest, string};
use super::tables::{Measured, Published, given_by_equations, published_cells};
use super::{AS_RUN, HASHES, PAPER};
use crate::{Notebook, significant};
use tamis::stats::clopper_pearson;
use tamis_random::SplitMix64;

/// The mechanism that the text needs for its claim.
const SYMMETRIC: Mechanism = Mechanism { hashes: HASHES, noise: Noise::Symmetric };

pub(super) fn slips(book: &mut Notebook, measured: &Measured, sets: &Sets) {
    hashes(book, measured);
    randomizer(book, measured, sets);
    privacy(book);
    secrecy(book, measured);
    group(book);
    distance(book, sets);
    bounds(book, measured);
    words(book);
    languages(book, sets);
}

fn rates(measured: &Measured, mechanism: Mechanism, epsilon: Option<f64>) -> Rates {
    measured.score(mechanism, 1.0, epsilon).rates()
}

fn hashes(book: &mut Notebook, measured: &Measured) {
    let ten = Mechanism { hashes: HASHES, noise: Noise::OneSided };
    // How far the law of l hashes is from the Bloom filter's five false-positive rates in Table 4,
    // at most.
    let off = |hashes: u32| {
        let mechanism = Mechanism { hashes, ..ten };
        let plain =
            published_cells().into_iter().filter(|cell| cell.table == 4 && cell.epsilon.is_none());
        plain
            .map(|cell| {
                let items = PAPER.occupied(cell.occupancy) as f64;
                let law = Law::new(mechanism, items, PAPER.bits as f64, None);
                (cell.value() / law.rates.positive).max(law.rates.positive / cell.value())
            })
            .fold(0.0, f64::max)
    };
    book.slip(
        "Section 3 says that l = 10 hash functions were used; the tables are those of one: the ten \
         returned the same position.",
        format!(
            "The Bloom filter without noise lets {} of the strangers pass with one hash, {} with \
             ten; Table 4 prints 0.06. Its five rates are off by a factor of at most {} with one \
             hash, {} with two and {} with ten.",
            significant(rates(measured, AS_RUN, None).positive),
            significant(rates(measured, ten, None).positive),
            significant(off(1)),
            significant(off(2)),
            significant(off(HASHES))
        ),
    );
}

fn randomizer(book: &mut Notebook, measured: &Measured, sets: &Sets) {
    let literal = Mechanism { hashes: 1, noise: Noise::SetToOne };
    let literal = literal.score(sets, 1.0, Some(5.0), 3).rates();
    let run = rates(measured, AS_RUN, Some(5.0));
    book.slip(
        "Algorithm 3 sets bits to 1 with probability e^eps/(e^eps+1); the tables were made by \
         clearing ones with 1/(e^eps+1) and leaving zeros alone.",
        format!(
            "At epsilon 5 the algorithm as printed misses {} of the members and passes {} of the \
             strangers (one hash); clearing ones gives {} and {}; Table 1 prints 0.007 and 0.06.",
            significant(literal.negative),
            significant(literal.positive),
            significant(run.negative),
            significant(run.positive)
        ),
    );
}

/// How often an item passes in this many releases, without it in the set and with it. Both sets
/// have sixteen other strings.
fn audit(mechanism: Mechanism, epsilon: f64, releases: u64) -> (u64, u64) {
    let ascii: Vec<char> = ('a'..='z').collect();
    let others: Vec<u64> = (0..16).map(|i| digest(&string(i, &ascii))).collect();
    let without = Array::filled(&others, 1024, mechanism.hashes);
    // A string whose bits the others do not have, so that nothing but the noise hides it.
    let apart = |item: &u64| Array::filled(&[*item], 1024, mechanism.hashes).common(&without) == 0;
    let item = (16..).map(|i| digest(&string(i, &ascii))).find(apart).unwrap_or_default();
    let with = Array::filled(&[&others[..], &[item]].concat(), 1024, mechanism.hashes);
    let passed = |array: &Array, seed: u64| {
        let release = |i| array.randomized(mechanism.noise, Some(epsilon), seed + i);
        (0..releases).filter(|i| release(*i).contains(item, mechanism.hashes)).count() as u64
    };
    (passed(&without, 0), passed(&with, releases))
}

fn privacy(book: &mut Notebook) {
    let releases = 10_000;
    let found: Vec<String> = [1.0, 4.0]
        .iter()
        .map(|epsilon| {
            let (without, with) = audit(AS_RUN, *epsilon, releases);
            let loss = proven(without, with, releases);
            format!(
                "epsilon {epsilon}: an item passes in {without} of {releases} releases without it \
                 and {with} with it, so that the loss is at least {loss:.1}"
            )
        })
        .collect();
    let (without, with) = audit(Mechanism { hashes: 1, noise: Noise::Symmetric }, 4.0, releases);
    book.slip(
        "Claim 1 says that Algorithm 3 is epsilon-differentially private. What was run is not, for \
         any epsilon: a 1 in the output proves a 1 in the input.",
        format!(
            "{} (with an error probability of one in a million), and more releases would prove \
             more. Symmetric noise at epsilon 4: {without} and {with}, a loss of at least {:.1}.",
            found.join("; "),
            proven(without, with, releases)
        ),
    );
}

/// The loss that passing proves, with an error probability of one in a million.
fn proven(without: u64, with: u64, releases: u64) -> f64 {
    let (low, _) = clopper_pearson(with, releases, 1e-6);
    let (_, high) = clopper_pearson(without, releases, 1e-6);
    (low / high).ln()
}

fn secrecy(book: &mut Notebook, measured: &Measured) {
    let zero = rates(measured, AS_RUN, Some(0.0));
    let yes = 1.0 - zero.negative;
    let symmetric = rates(measured, SYMMETRIC, Some(0.0));
    book.slip(
        "Section 4 calls epsilon = 0 perfect secrecy; there a filter must answer alike whatever it \
         stores.",
        format!(
            "{} of the members and {} of the strangers are answered yes, so that a yes turns even \
             odds of membership into {:.0}%. Symmetric noise keeps the secret: ten hashes answer \
             yes to {} and {}.",
            significant(yes),
            significant(zero.positive),
            100.0 * yes / (yes + zero.positive),
            significant(1.0 - symmetric.negative),
            significant(symmetric.positive)
        ),
    );
}

/// The largest logarithm of the ratio of two releases' probabilities, over all values of an item's
/// bits, with the item and without it.
fn worst_loss(noise: Noise, hashes: u32, epsilon: f64) -> f64 {
    let change = change(Some(epsilon));
    let (one_to_one, zero_to_one) = match noise {
        Noise::OneSided => (1.0 - change, 0.0),
        Noise::Symmetric => (1.0 - change, change),
        Noise::SetToOne => (1.0, 1.0 - change),
    };
    let loss = |release: u32| {
        let ones = release.count_ones() as i32;
        let chance = |one: f64| one.powi(ones) * (1.0 - one).powi(hashes as i32 - ones);
        (chance(one_to_one) / chance(zero_to_one)).ln().abs()
    };
    (0..1u32 << hashes).map(loss).fold(0.0, f64::max)
}

fn group(book: &mut Notebook) {
    let item = |epsilon| significant(worst_loss(Noise::Symmetric, HASHES, epsilon));
    let kept = |epsilon: f64| (1.0 - change(Some(epsilon))) * PAPER.bits as f64;
    book.slip(
        "Claim 1 says epsilon and proves k epsilon, with k set to m: Eq. 4 for k bits that differ. \
         An item changes up to l bits, so that even with symmetric noise its loss is l epsilon.",
        format!(
            "Over all 2^10 values of an item's ten bits the worst loss is {} at epsilon 1 and {} \
             at 5, the paper's most; one-sided noise makes it {}. The claim's k epsilon at epsilon \
             1 is {:.0} in case 1 and {} in case 2, which promise nothing.",
            item(1.0),
            item(5.0),
            if worst_loss(Noise::OneSided, HASHES, 1.0).is_infinite() {
                "infinite"
            } else {
                "finite"
            },
            kept(1.0),
            PAPER.bits
        ),
    );
}

fn distance(book: &mut Notebook, sets: &Sets) {
    let array = Array::filled(&sets.members, sets.size.bits, AS_RUN.hashes);
    let share = |noise, epsilon, seed| {
        let release = array.randomized(noise, Some(epsilon), seed);
        release.distance(&array) as f64 / array.bits() as f64
    };
    let lines: Vec<String> = [0.0, 5.0]
        .iter()
        .map(|epsilon| {
            format!(
                "epsilon {epsilon}: the bound is {} m, measured are {} m with one-sided noise and \
                 {} m with symmetric",
                significant(1.0 - change(Some(*epsilon))),
                significant(share(Noise::OneSided, *epsilon, 5)),
                significant(share(Noise::Symmetric, *epsilon, 6))
            )
        })
        .collect();
    let small = Array::filled(&sets.members[..64], 1024, 1);
    let releases = 1000;
    let broken = (0..releases)
        .filter(|seed| small.randomized(Noise::Symmetric, Some(0.0), *seed).distance(&small) > 512)
        .count();
    book.slip(
        "Definition 6.1 bounds the bits that the randomizer flips by m e^eps/(e^eps+1). That is \
         the expected number of bits it keeps, if it treats zeros and ones alike, and it grows \
         where the flips become fewer; and their number is random, which no expectation bounds.",
        format!(
            "{}. At epsilon 0, {broken} of {releases} symmetric releases exceed the \
                 bound.",
            lines.join("; ")
        ),
    );
}

fn bounds(book: &mut Notebook, measured: &Measured) {
    let rows = published_cells();
    let plain = |cell: &Published| {
        let same = |other: &&Published| {
            other.table == 4 && other.epsilon.is_none() && other.occupancy == cell.occupancy
        };
        rows.iter().find(same).map_or(f64::NAN, Published::value)
    };
    let noisy: Vec<&Published> =
        rows.iter().filter(|cell| cell.table == 4 && cell.epsilon.is_some()).collect();
    let count = |holds: fn(f64, f64) -> bool| {
        noisy.iter().filter(|cell| holds(cell.value(), plain(cell))).count()
    };
    let ten = |epsilon| {
        let law = Law::new(SYMMETRIC, PAPER.items as f64, PAPER.bits as f64, epsilon);
        significant(law.rates.positive)
    };
    book.slip(
        "Section 6.3 says that the UltraFilter has the higher false-positive rate, and cites Table \
         1, which has no Bloom filter; Tables 1 and 4 and Section 4 have the opposite.",
        format!(
            "Of Table 4's {} cells with noise {} are below the Bloom filter's, {} equal, {} above; \
             at phi = 1, epsilon 1 we measured {} and {}. With ten hashes and symmetric noise it \
             would be so: {} against {}.",
            noisy.len(),
            count(|ours, plain| ours < plain),
            count(|ours, plain| ours == plain),
            count(|ours, plain| ours > plain),
            significant(rates(measured, AS_RUN, Some(1.0)).positive),
            significant(rates(measured, AS_RUN, None).positive),
            ten(Some(1.0)),
            ten(None)
        ),
    );

    let (items, bits) = (PAPER.items as f64, PAPER.bits as f64);
    let equation = |hashes, epsilon| Law::equations(hashes, items, bits, Some(epsilon)).rates;
    let run = |epsilon| Law::new(AS_RUN, items, bits, Some(epsilon)).rates;
    book.slip(
        "Section 1.1 calls Eq. 5 to 8 upper bounds, the title of Section 6.3 lower ones; they are \
         neither.",
        format!(
            "Eq. 8 at epsilon 1 is {} with l = 10 and {} with l = 1, far below the {} missed. Eq. \
             6 with l = 1 is above the rate of what was run, 1 - e^(-pn/m) = {} against p(1 - \
             e^(-n/m)) = {} at epsilon 0, and with l = 10 below it: {}.",
            significant(equation(HASHES, 1.0).negative),
            significant(equation(1, 1.0).negative),
            significant(run(1.0).negative),
            significant(equation(1, 0.0).positive),
            significant(run(0.0).positive),
            significant(equation(HASHES, 0.0).positive)
        ),
    );
    let given = |metric, hashes, noise| {
        let (given, all) = given_by_equations(metric, hashes, noise);
        format!("{given} of {all}")
    };
    book.slip(
        "Eq. 5 and 6 are said to be the false-positive rates for l hashes; with the paper's l = 10 \
         they are not those of its tables.",
        format!(
            "Read as (1 - (1 - p/m)^(nl))^l, p = 1 without noise and e^eps/(e^eps+1) with it, they \
             give {} and {} cells with l = 1, {} and {} with l = 10.",
            given(Metric::FalsePositive, 1, false),
            given(Metric::FalsePositive, 1, true),
            given(Metric::FalsePositive, HASHES, false),
            given(Metric::FalsePositive, HASHES, true)
        ),
    );
    let q = change(Some(1.0));
    book.slip(
        "Eq. 8 has a member missed if all of its l bits are hit by flips that m dilutes; it is \
         missed as soon as one of them is flipped, whatever m and n are.",
        format!(
            "Read as (1 - (1 - q/m)^(nl))^l, q = 1/(e^eps+1), it gives {} cells with l = 1 and {} \
             with l = 10, those that are 0. At epsilon 1 the rate is 1 - p^l: {} for l = 1, \
             measured {}, and {} for l = 10, measured {}.",
            given(Metric::FalseNegative, 1, true),
            given(Metric::FalseNegative, HASHES, true),
            significant(q),
            significant(rates(measured, AS_RUN, Some(1.0)).negative),
            significant(1.0 - (1.0 - q).powi(HASHES as i32)),
            significant(rates(measured, SYMMETRIC, Some(1.0)).negative)
        ),
    );
}

fn words(book: &mut Notebook) {
    let rows = published_cells();
    let largest = rows
        .iter()
        .filter(|cell| cell.table == 4)
        .filter_map(|cell| cell.epsilon)
        .fold(0.0, f64::max);
    let plain = rows.iter().filter(|cell| cell.table == 1 && cell.epsilon.is_none()).count();
    book.slip(
        "Section 4 cites Table 4 for epsilon >= 5, and Table 1 for the Bloom filter's rates.",
        format!(
            "Table 4 ends at epsilon {largest}; Table 1 has {plain} cells of the Bloom filter."
        ),
    );
    let products: Vec<String> = rows
        .iter()
        .filter(|cell| cell.table == 2 && cell.epsilon.is_none())
        .map(|cell| significant(cell.occupancy * cell.value()))
        .collect();
    book.slip(
        "Section 4 calls occupancy and F1 inversely proportional; F1 falls a little while the \
         occupancy grows fivefold.",
        format!("Their products in Table 2, without noise, are {}.", products.join(", ")),
    );
    let flipped = [0.0, 5.0, 20.0].map(|epsilon| significant(change(Some(epsilon))));
    book.slip(
        "Sections 3 and 4 call epsilon the noise and say that more of it improves the filter; more \
         epsilon is less noise.",
        format!("The chance of a flip is {} at epsilon 0, 5 and 20.", flipped.join(", ")),
    );
}

/// Letters of six scripts, and pictures.
fn scripts() -> Vec<char> {
    ['Α'..='Ρ', 'а'..='я', 'א'..='ת', 'あ'..='ん', '一'..='鿿', '가'..='힣', '😀'..='🙏']
        .into_iter()
        .flatten()
        .collect()
}

fn languages(book: &mut Notebook, sets: &Sets) {
    let scripts = scripts();
    let each = sets.size.items / 8;
    let mut random = SplitMix64::new(8);
    let mut texts = || (0..each).map(|_| digest(&string(random.next_u64(), &scripts))).collect();
    let size = super::Size { items: each, bits: sets.size.bits / 8 };
    let texts = Sets { size, members: texts(), strangers: texts() };
    let score = AS_RUN.score(&texts, 1.0, Some(3.0), 9);
    let law = Law::new(AS_RUN, each as f64, size.bits as f64, Some(3.0));
    let part = |metric: Metric| {
        format!(
            "{} {} (by the law {}, standard deviation {})",
            metric.name(),
            significant(metric.of(score.rates())),
            significant(metric.of(law.rates)),
            significant(law.deviation(metric, each as f64))
        )
    };
    book.slip(
        "Section 4 limits the filter to ASCII strings and leaves other languages to future work; \
         hashing the bytes of the text is all it takes.",
        format!(
            "{each} strings of 50 characters from {} in Greek, Cyrillic, Hebrew, hiragana, \
             Chinese, Korean and emoji, at epsilon 3: {}, {}.",
            scripts.len(),
            part(Metric::FalsePositive),
            part(Metric::FalseNegative)
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_by_enumeration() {
        assert!((worst_loss(Noise::Symmetric, 1, 0.5) - 0.5).abs() < 1e-12);
        assert!((worst_loss(Noise::Symmetric, 10, 0.5) - 5.0).abs() < 1e-12);
        assert_eq!(worst_loss(Noise::OneSided, 1, 0.5), f64::INFINITY);
    }

    /// The audit convicts what leaks, and nothing else.
    #[test]
    fn the_audit_tells_them_apart() {
        for epsilon in [1.0, 4.0] {
            let (without, with) = audit(AS_RUN, epsilon, 2000);
            assert!(without == 0 && proven(without, with, 2000) > epsilon);
            let (without, with) =
                audit(Mechanism { hashes: 1, noise: Noise::Symmetric }, epsilon, 2000);
            assert!(without > 0 && proven(without, with, 2000) <= epsilon);
        }
    }
}
