use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn shape_of_words() -> impl Strategy<Value = Shape> {
    (1u64..6, 1u32..12).prop_map(|(blocks, width)| Shape { blocks, width })
}

/// A table beside what it should hold.
struct Pair {
    shape: Shape,
    body: Vec<u8>,
    model: BTreeMap<u64, u64>,
}

impl Pair {
    fn new(shape: Shape) -> Pair {
        let body = vec![0; (size::bits(shape.slots(), shape.width) / 8) as usize];
        Pair { shape, body, model: BTreeMap::new() }
    }

    fn table(&self) -> Table<'_, Scalar> {
        Table { body: &self.body, shape: self.shape, kernels: Scalar }
    }

    fn table_mut(&mut self) -> TableMut<'_, Scalar> {
        TableMut { body: &mut self.body, shape: self.shape, kernels: Scalar }
    }

    fn len(&self) -> u64 {
        self.model.values().sum()
    }

    fn insert(&mut self, fingerprint: u64) {
        let (quotient, remainder) = split(self.shape, fingerprint);
        let before = self.table_mut().insert(quotient, remainder);
        let count = self.model.entry(fingerprint).or_default();
        assert_eq!(before, *count);
        *count += 1;
    }

    fn remove(&mut self, fingerprint: u64) {
        let (quotient, remainder) = split(self.shape, fingerprint);
        let before = self.table_mut().remove(quotient, remainder);
        let count = self.model.remove(&fingerprint).unwrap_or(0);
        assert_eq!(before, count);
        if count > 1 {
            self.model.insert(fingerprint, count - 1);
        }
    }

    fn all(&self) -> Vec<u64> {
        let repeat = |(one, count): (&u64, &u64)| std::iter::repeat_n(*one, *count as usize);
        self.model.iter().flat_map(repeat).collect()
    }

    /// The table holds what the model holds, and its bytes are those of the ordered list.
    fn check(&self) {
        let walked: Vec<u64> = Walk::new(self.table())
            .map(|(quotient, remainder)| quotient << self.shape.width | remainder)
            .collect();
        assert_eq!(walked, self.all());
        let (body, tally) = written(self.shape, self.all().into_iter()).unwrap();
        assert_eq!(body.bytes(), self.body);
        assert_eq!(tally, Tally { items: self.len(), distinct: self.model.len() as u64 });
        assert!(walk::is_sound(self.table(), tally));
        for (fingerprint, count) in &self.model {
            let (quotient, remainder) = split(self.shape, *fingerprint);
            assert_eq!(self.table().count(quotient, remainder), *count);
        }
        for fingerprint in (0..size::fingerprints(self.shape)).step_by(7) {
            let (quotient, remainder) = split(self.shape, fingerprint);
            let there = self.model.contains_key(&fingerprint);
            assert_eq!(self.table().contains(quotient, remainder), there);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever comes and goes, in clusters or not, the table is the ordered list.
    #[test]
    fn a_table_is_its_ordered_list(
        shape in shape_of_words(),
        narrow in any::<bool>(),
        steps in prop::collection::vec((any::<u64>(), 0u8..5), 0..500),
    ) {
        let mut pair = Pair::new(shape);
        let space = size::fingerprints(shape);
        for (at, (random, what)) in steps.iter().enumerate() {
            // Many in one place make long runs that go past the end.
            let fingerprint = if narrow { space - 1 - random % 7 } else { random % space };
            if *what > 0 && pair.len() + 1 < shape.slots() {
                pair.insert(fingerprint);
            } else {
                let held = pair.model.keys().nth(*random as usize % pair.model.len().max(1));
                pair.remove(*held.unwrap_or(&fingerprint));
            }
            if at % 50 == 0 {
                pair.check();
            }
        }
        pair.check();
        for fingerprint in pair.all() {
            pair.remove(fingerprint);
        }
        prop_assert!(pair.body.iter().all(|byte| *byte == 0));
    }

    /// A body of any bytes is refused or is a list; reading it ends.
    #[test]
    fn any_bytes_can_be_read(
        shape in shape_of_words(),
        bytes in prop::collection::vec(any::<u8>(), 0..64),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 0..4),
        list in prop::collection::vec(any::<u64>(), 0..100),
    ) {
        let mut pair = Pair::new(shape);
        for one in list.iter().take(shape.slots() as usize - 1) {
            pair.insert(one % size::fingerprints(shape));
        }
        let len = pair.body.len();
        pair.body[..bytes.len().min(len)].copy_from_slice(&bytes[..bytes.len().min(len)]);
        for (at, bit) in &flips {
            pair.body[at.index(len)] ^= 1 << bit;
        }
        let walked: Vec<_> = Walk::new(pair.table()).take(4096).collect();
        for one in &list {
            let (quotient, remainder) = split(shape, one % size::fingerprints(shape));
            let _ = pair.table().contains(quotient, remainder);
            let _ = pair.table().count(quotient, remainder);
        }
        let list = walked.iter().map(|(quotient, remainder)| quotient << shape.width | remainder);
        let items = walked.len() as u64;
        let distinct = walked.iter().collect::<BTreeSet<_>>().len() as u64;
        if walk::is_sound(pair.table(), Tally { items, distinct }) {
            let (body, _) = written(shape, list).unwrap();
            prop_assert_eq!(body.bytes(), &pair.body[..]);
        }
    }
}

/// One key so often that runs and spills pass 255, over the end as well.
#[test]
fn large_spills_are_counted() {
    for width in [1, 7] {
        let mut pair = Pair::new(Shape { blocks: 12, width });
        for place in [5, 700] {
            for _ in 0..360 {
                pair.insert(place << width);
            }
            pair.insert((place + 1) << width);
            pair.check();
        }
        for _ in 0..200 {
            pair.remove(5 << width);
            pair.remove(700 << width);
        }
        pair.check();
        for _ in 0..160 {
            pair.remove(700 << width);
        }
        pair.check();
    }
}
