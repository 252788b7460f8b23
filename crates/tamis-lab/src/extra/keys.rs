//! Keys like real ones: skewed, in many scripts, and nearly alike.

use std::collections::HashSet;
use tamis_random::SplitMix64;

/// Members and strangers, all distinct as bytes.
pub(crate) struct Keys {
    pub(crate) members: Vec<String>,
    pub(crate) strangers: Vec<String>,
}

/// Pieces of names. The first ones are drawn far more often, as in real names.
const PIECES: [&str; 32] = [
    "an",
    "ma",
    "li",
    "son",
    "ova",
    "el",
    "ro",
    "mü",
    "ñe",
    "çe",
    "ø",
    "ß",
    "ский",
    "ов",
    "ива",
    "на",
    "李",
    "王",
    "小",
    "明",
    "한",
    "지",
    "μα",
    "λη",
    "بن",
    "محمد",
    "कु",
    "मार",
    "👩\u{200d}🔬",
    "ă",
    "țe",
    "ığ",
];
const PLACES: [&str; 8] = [
    "@example.com",
    "@mail.example",
    "@пример.испытание",
    ".example.org",
    "#sales",
    "/home",
    "",
    " & Co",
];

/// Seeded keys: `count` members and twice as many strangers. Half of the strangers differ from a
/// member in one character.
pub(crate) fn members_and_strangers(members: usize, seed: u64) -> Keys {
    let mut random = SplitMix64::new(seed);
    let mut known = HashSet::new();
    let mut fresh = |make: &mut dyn FnMut(&mut SplitMix64) -> String| {
        loop {
            let key = make(&mut random);
            if known.insert(key.clone()) {
                return key;
            }
        }
    };
    // A fifth of the members differ from another member in one character.
    let mut own: Vec<String> = Vec::with_capacity(members);
    for i in 0..members {
        let key = match i % 5 {
            4 => {
                let model = own[i / 2].clone();
                fresh(&mut |random| near(&model, random))
            }
            _ => fresh(&mut name),
        };
        own.push(key);
    }
    let strangers = (0..2 * members).map(|i| match i % 2 {
        0 => {
            let model = own[i / 2].clone();
            fresh(&mut |random| near(&model, random))
        }
        _ => fresh(&mut name),
    });
    let strangers = strangers.collect();
    Keys { members: own, strangers }
}

/// Pieces drawn with a chance that falls with their rank, a number now and then, and a place.
fn name(random: &mut SplitMix64) -> String {
    let mut text = String::new();
    for _ in 0..2 + random.below(4) {
        // The smallest of several draws, so that the first pieces come up more often.
        let rank = (0..3).map(|_| random.below(PIECES.len() as u64)).min().unwrap_or(0);
        text.push_str(PIECES[rank as usize]);
    }
    if random.below(2) == 0 {
        text.push_str(&random.below(100_000).to_string());
    }
    text.push_str(PLACES[random.below(8).min(random.below(8)) as usize]);
    text
}

/// The key with one change: a digit, a space, a capital, or an accent written in another way.
fn near(key: &str, random: &mut SplitMix64) -> String {
    match random.below(6) {
        0 => format!("{key} "),
        1 => format!("{key}{}", random.below(1000)),
        2 => key.replacen('a', "a\u{301}", 1 + random.below(2) as usize) + "\u{200b}",
        3 => format!("{}{}", key.to_uppercase(), random.below(10)),
        4 => key.chars().rev().collect(),
        _ => key.chars().skip(1).chain(['é']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_distinct_near_and_of_many_scripts() {
        let keys = members_and_strangers(3000, 6);
        let all: HashSet<&String> = keys.members.iter().chain(&keys.strangers).collect();
        assert_eq!((keys.members.len(), keys.strangers.len(), all.len()), (3000, 6000, 9000));
        assert!(keys.members.iter().filter(|key| !key.is_ascii()).count() > 600);
        assert!(keys.members.iter().filter(|key| key.starts_with("an")).count() > 150);
        assert_eq!(members_and_strangers(50, 6).members, members_and_strangers(50, 6).members);
        assert_ne!(members_and_strangers(50, 6).members, members_and_strangers(50, 7).members);
    }
}
