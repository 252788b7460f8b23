//! Keys to measure with: random, the same in every run.

use tamis_random::SplitMix64;

/// Random keys, different for every seed.
pub(crate) fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| random.next_u64()).collect()
}

/// Who is asked for.
#[derive(Clone, Copy)]
pub(crate) enum Mix {
    Strangers,
    Members,
    /// Half and half, in random order.
    Both,
}

impl Mix {
    pub(crate) const ALL: [Mix; 3] = [Mix::Strangers, Mix::Members, Mix::Both];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Mix::Strangers => "strangers",
            Mix::Members => "members",
            Mix::Both => "members and strangers",
        }
    }

    /// `count` keys to ask for.
    pub(crate) fn keys(self, members: &[u64], count: usize) -> Vec<u64> {
        let strangers = random(2, count);
        let chosen = random(3, count);
        strangers
            .into_iter()
            .zip(chosen)
            .map(|(stranger, dice)| {
                let member = members[((u128::from(dice) * members.len() as u128) >> 64) as usize];
                match self {
                    Mix::Strangers => stranger,
                    Mix::Members => member,
                    Mix::Both if dice & 1 == 0 => stranger,
                    Mix::Both => member,
                }
            })
            .collect()
    }
}

/// Texts of 16 to 50 bytes that begin alike, as names of things do.
pub(crate) fn texts(seed: u64, count: usize) -> Vec<String> {
    random(seed, count)
        .into_iter()
        .map(|number| {
            let filler = &"/items/of/the/shop/in/the/long/street"[..(number % 35) as usize];
            format!("{number:016x}{filler}")
        })
        .collect()
}
