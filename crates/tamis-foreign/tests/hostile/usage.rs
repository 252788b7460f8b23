//! Everything that can be done with a filter, however it came about.

use std::io::Cursor;
use tamis_foreign::parquet::ParquetFile;
use tamis_foreign::{Error, ForeignFilter, Format, Open};

/// Uses a filter in every way. Nothing may panic; members pass; what is written is read again.
pub(crate) fn exercise(name: &str, mut filter: ForeignFilter) {
    let format = filter.format();
    let reopen = |bytes: &[u8]| Open::new().from(format).max_memory(1 << 30).bytes(bytes);
    assert!(!filter.variant().is_empty() && filter.variant().len() < 1_000, "{name}");
    for part in filter.parts() {
        assert!((0.0..=1.0).contains(&part.fill()), "{name}: fill {}", part.fill());
        assert!((0.0..=1.0).contains(&part.expected_fpr()), "{name}: {}", part.expected_fpr());
        assert!(part.estimated_items() >= 0.0, "{name}: {}", part.estimated_items());
        assert!(part.planned().fpr >= 0.0, "{name}: {:?}", part.planned());
    }
    assert!((0.0..=1.0).contains(&filter.fill()), "{name}");
    let rate = filter.expected_fpr();
    assert!((0.0..=1.0).contains(&rate), "{name}: {rate}");
    let _ = (filter.health(), filter.counted_items(), filter.planned(), filter.bits());
    let keys: [&[u8]; 4] = [b"", b"ant", b"0123456789abcdef", &[0xff; 40]];
    let alone = keys.map(|key| filter.contains(key));
    assert_eq!(filter.contains_many(&keys), alone, "{name}");
    let written = filter.to_bytes().unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = reopen(&written).unwrap_or_else(|error| panic!("{name}, written: {error}"));
    assert_eq!(keys.map(|key| again.contains(key)), alone, "{name}, written");
    assert_eq!(again.fill(), filter.fill(), "{name}, written");
    filter.union(&again).unwrap_or_else(|error| panic!("{name}, with itself: {error}"));
    assert_eq!(keys.map(|key| filter.contains(key)), alone, "{name}, with itself");
    // A chain may want to grow beyond what a test should take.
    let grows = matches!(format, Format::RedisBloom | Format::ValkeyBloom)
        && filter.planned().items > 1 << 16;
    for key in keys.into_iter().filter(|_| !grows) {
        match filter.insert(key) {
            Ok(_) => assert!(filter.contains(key), "{name}: a member does not pass"),
            Err(
                error @ (Error::Full { .. }
                | Error::Unsupported { .. }
                | Error::Memory { .. }
                | Error::Plan { .. }),
            ) => check(name, &error),
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let written = filter.to_bytes().unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = reopen(&written).unwrap_or_else(|error| panic!("{name}, after adding: {error}"));
    assert_eq!(keys.map(|key| again.contains(key)), keys.map(|key| filter.contains(key)), "{name}");
}

/// An error in words, of a size that a person reads.
pub(crate) fn check(name: &str, error: &Error) {
    let text = error.to_string();
    assert!(text.len() > 10 && text.len() < 1_000, "{name}: {text}");
}

/// Uses every filter of a Parquet file; says how many there are.
pub(crate) fn exercise_file(name: &str, bytes: &[u8]) -> usize {
    let mut file = match ParquetFile::open(Cursor::new(bytes)) {
        Ok(Some(file)) => file,
        Ok(None) => return 0,
        Err(error) => {
            check(name, &error);
            return 0;
        }
    };
    let columns = file.columns().to_vec();
    let chunks = columns.iter().flat_map(|column| &column.chunks).flatten();
    let mut filters = 0;
    for chunk in chunks {
        match file.filter(chunk) {
            Ok(Some(filter)) => {
                exercise(name, filter);
                filters += 1;
            }
            Ok(None) => {}
            Err(error) => check(name, &error),
        }
    }
    filters
}
