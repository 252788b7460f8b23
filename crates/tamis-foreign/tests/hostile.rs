//! Files that mean harm: every fixture cut, flipped, exaggerated and spliced. Whatever happens is
//! an error in words or a filter that works: no panic, no endless loop, and no more memory than a
//! small multiple of the input.

#![allow(clippy::unwrap_used)]

#[path = "../../tamis/tests/hostile/allocator.rs"]
mod allocator;
#[path = "hostile/usage.rs"]
mod usage;

use allocator::{Counting, peak};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write};
use std::path::PathBuf;
use tamis_foreign::parquet::ParquetFile;
use tamis_foreign::{Error, ForeignFilter, Format, Open, Plan};
use tamis_random::SplitMix64;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What reading may take: so many times the input, and so much besides, for the tables of gzip.
const MULTIPLE: usize = 8;
const BESIDES: usize = 1 << 18;

/// Every file that a program wrote, and the format it has; `None` for whole Parquet files.
fn files() -> Vec<(String, Option<Format>, Vec<u8>)> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures"].iter().collect();
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut files = Vec::new();
    for name in names {
        let format = match name.split(['_', '.']).next().unwrap() {
            "bloomfilter" => Format::Bloomfilter,
            "bnb" => Format::BitsAndBlooms,
            "dcso" => Format::Dcso,
            "fastbloom" => Format::Fastbloom,
            "guava" => Format::Guava,
            "pybloom" => Format::PybloomLive,
            "rbloom" => Format::Rbloom,
            "redis" | "redis20" => Format::RedisBloom,
            "spark" => Format::Spark,
            "valkey" => Format::ValkeyBloom,
            _ if name.ends_with(".parquet") => {
                files.push((name.clone(), None, read(&name)));
                continue;
            }
            _ => continue,
        };
        if let Some(stem) = name.strip_suffix(".header.bin") {
            let chunks = [read(&name), read(&format!("{stem}.bits.bin"))].concat();
            files.push((stem.to_owned(), Some(format), chunks));
        } else if !name.ends_with(".bits.bin")
            && (!name.ends_with(".json") || name.matches('.').count() > 1)
        {
            files.push((name.clone(), Some(format), read(&name)));
        }
    }
    // A bare filter of Parquet.
    let plan = Plan::new(Format::Parquet, 10, 0.01).unwrap();
    let mut bare = ForeignFilter::with_plan(&plan).unwrap();
    bare.insert(b"ant").unwrap();
    files.push(("bare".to_owned(), Some(Format::Parquet), bare.to_bytes().unwrap()));
    assert!(files.len() > 40);
    files
}

/// Opens the bytes within the limits, as the format and by their shape, and uses the filter if they
/// are one.
fn try_to_break(name: &str, format: Option<Format>, bytes: &[u8]) -> bool {
    let max = MULTIPLE * bytes.len() + BESIDES;
    let Some(format) = format else {
        let (_, taken) = peak(|| {
            let Ok(Some(mut file)) = ParquetFile::open(Cursor::new(bytes)) else { return };
            let columns = file.columns().to_vec();
            for chunk in columns.iter().flat_map(|column| &column.chunks).flatten() {
                let _ = file.filter(chunk);
            }
        });
        assert!(taken <= max, "{name}: {taken} bytes of memory for {} bytes", bytes.len());
        return usage::exercise_file(name, bytes) > 0;
    };
    let (by_shape, taken) = peak(|| Open::new().bytes(bytes));
    assert!(taken <= max, "{name}, by shape: {taken} bytes of memory for {}", bytes.len());
    if let Err(error) = by_shape {
        usage::check(name, &error);
    }
    let (opened, taken) = peak(|| Open::new().from(format).bytes(bytes));
    assert!(taken <= max, "{name}: {taken} bytes of memory for {} bytes", bytes.len());
    match opened {
        Err(error) => {
            usage::check(name, &error);
            false
        }
        Ok(filter) => {
            usage::exercise(name, filter);
            true
        }
    }
}

/// Every length. No part of a file is taken for the whole where the format has a length.
#[test]
fn cut_at_every_length() {
    for (name, format, bytes) in files() {
        for cut in 0..bytes.len() {
            let opens = try_to_break(&format!("{name} cut to {cut}"), format, &bytes[..cut]);
            let any_length = format == Some(Format::Rbloom) || name == "dcso_few.bloom";
            assert!(!opens || any_length, "{name} cut to {cut} opens");
        }
        for more in [1, 7, 8, 64] {
            let longer = [&bytes[..], &vec![0; more]].concat();
            let opens = try_to_break(&format!("{name} and {more} more"), format, &longer);
            let any_length = matches!(format, Some(Format::Rbloom | Format::Dcso));
            assert!(!opens || any_length, "{name} with {more} bytes behind it opens");
        }
    }
}

/// Every bit.
#[test]
fn flipped_in_every_bit() {
    let mut opened = 0;
    for (name, format, bytes) in files() {
        for bit in 0..bytes.len() * 8 {
            // One bit of a body is as good as another: all of the header, and some of the body.
            let near_an_end = bit < 8 * 200 || bytes.len() * 8 - bit < 8 * 100;
            if !near_an_end && format.is_some() && bit % 61 != 0 {
                continue;
            }
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let opens = try_to_break(&format!("{name}, bit {bit} flipped"), format, &flipped);
            opened += u32::from(opens);
            assert!(!(opens && name.ends_with(".dump")), "{name}: the checksum missed bit {bit}");
        }
    }
    assert!(opened > 10_000, "only {opened} were filters after all");
}

/// The values that break arithmetic.
fn extremes() -> Vec<u64> {
    let mut all = vec![0, 1, 2, 3, 7, 8, 63, 64, 65, 127, 128, 255, 256, 1023, 1024, 1025, 65_535];
    for bits in [15, 16, 20, 31, 32, 33, 40, 47, 56, 60, 61, 62, 63] {
        all.extend([(1 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    }
    all.extend([u64::MAX - 64, u64::MAX - 63, u64::MAX - 7, u64::MAX - 1, u64::MAX]);
    all.extend([f64::NAN, f64::INFINITY, -0.0, 1.0, 0.5, 1e-300, -1.0].map(f64::to_bits));
    all
}

/// Every place of a header at every width, low byte first and high byte first.
#[test]
fn header_fields_at_their_extremes() {
    let mut opened = 0;
    // The three shortest files of each format.
    let mut files = files();
    files.sort_by_key(|(_, format, bytes)| (*format, bytes.len()));
    for group in files.chunk_by(|(_, one, _), (_, other, _)| one == other) {
        opened += group.iter().take(3).map(fields_at_their_extremes).sum::<u32>();
    }
    assert!(opened > 10_000, "only {opened} were filters after all");
}

fn fields_at_their_extremes((name, format, bytes): &(String, Option<Format>, Vec<u8>)) -> u32 {
    let mut opened = 0;
    let end = bytes.len();
    let header = (0..end.min(128)).chain(end.saturating_sub(90).max(128)..end);
    for at in header {
        for width in [1, 4, 8] {
            if at + width > bytes.len() {
                continue;
            }
            for value in extremes() {
                if width < 8 && value >> (8 * width) != 0 {
                    continue;
                }
                for big in [false, true] {
                    let mut field = value.to_le_bytes()[..width].to_vec();
                    if big {
                        field.reverse();
                    }
                    if bytes[at..at + width] == field[..] {
                        continue;
                    }
                    let mut lying = bytes.clone();
                    lying[at..at + width].copy_from_slice(&field);
                    let case = format!("{name} with {value} at {at} ({width} bytes, {big})");
                    opened += u32::from(try_to_break(&case, *format, &lying));
                }
            }
        }
    }
    opened
}

/// The head of one file and the tail of another; and noise.
#[test]
fn spliced_files_and_noise() {
    let all = files();
    let mut random = SplitMix64::new(17);
    let mut below = |end: usize| random.below(end.max(1) as u64) as usize;
    for _ in 0..20_000 {
        let ((one, format, head), (other, _, tail)) =
            (&all[below(all.len())], &all[below(all.len())]);
        let (i, j) = (below(head.len().min(300)), below(tail.len()));
        let spliced = [&head[..i], &tail[j..]].concat();
        try_to_break(&format!("{one} up to {i}, then {other} from {j}"), *format, &spliced);
    }
    for round in 0..5_000 {
        let mut noise: Vec<u8> =
            (0..below(300)).map(|_| if below(3) == 0 { below(256) as u8 } else { 0 }).collect();
        if let Some(first) = noise.first_mut() {
            *first = below(8) as u8;
        }
        for format in Format::ALL {
            try_to_break(&format!("noise {round} as {format}"), Some(format), &noise);
        }
    }
}

/// Headers that ask for far more than there is.
#[test]
fn a_few_bytes_allocate_little() {
    let mut redis = vec![0; 20];
    redis[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    redis[12] = 5;
    let valkey = [&[1, 2, 0, 0, 0][..], &0.01f64.to_le_bytes(), &0.5f64.to_le_bytes(), &[0]]
        .concat()
        .into_iter()
        .chain(u64::MAX.to_le_bytes())
        .collect();
    let cases: Vec<(Format, Vec<u8>)> = vec![
        (Format::Guava, vec![1, 7, 0x7f, 0xff, 0xff, 0xff]),
        (Format::Spark, vec![0, 0, 0, 1, 0, 0, 0, 5, 0x7f, 0xff, 0xff, 0xff]),
        (Format::BitsAndBlooms, [[0xff; 8], 7u64.to_be_bytes(), [0xff; 8]].concat()),
        (Format::Fastbloom, vec![0xff; 8]),
        (Format::RedisBloom, redis),
        (Format::ValkeyBloom, valkey),
        (Format::RedisBloom, b"*4\r\n$12\r\nBF.LOADCHUNK\r\n$18446744073709551615\r\n".to_vec()),
        (Format::Parquet, vec![0x15, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0]),
    ];
    for (format, bytes) in cases {
        assert!(!try_to_break(&format!("{format} that asks for much"), Some(format), &bytes));
    }
}

/// A gzip stream that unpacks to very much.
#[test]
fn a_gzip_stream_unpacks_within_limits() {
    let pack = |unpacked: &[u8], zeros: usize| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(unpacked).unwrap();
        for _ in 0..zeros >> 16 {
            packed.write_all(&[0; 1 << 16]).unwrap();
        }
        packed.finish().unwrap()
    };
    // No filter: that is seen at the start.
    let bomb = pack(b"", 256 << 20);
    let (opened, taken) = peak(|| Open::new().bytes(&bomb).map(|_| ()));
    assert!(matches!(opened, Err(Error::Unknown)), "{opened:?}");
    assert!(taken < BESIDES, "{taken}");
    // A filter, with more data behind it than is allowed.
    let plan = Plan::new(Format::Dcso, 10, 0.01).unwrap();
    let start = ForeignFilter::with_plan(&plan).unwrap().to_bytes().unwrap();
    let bomb = pack(&start, 256 << 20);
    let (opened, taken) = peak(|| Open::new().bytes(&bomb).map(|_| ()));
    assert!(matches!(opened, Err(Error::Memory { .. })), "{opened:?}");
    assert!(taken < 300 << 20, "{taken}");
    let limited = Open::new().max_memory(1 << 20);
    let (opened, taken) = peak(|| limited.bytes(&bomb).map(|_| ()));
    assert!(matches!(opened, Err(Error::Memory { .. })), "{opened:?}");
    assert!(taken < 4 << 20, "{taken}");
    // Within the limit it is read.
    let fine = pack(&start, 1 << 16);
    assert_eq!(Open::new().bytes(&fine).unwrap().data().len(), 1 << 16);
}

/// Plans for any numbers are refused in words, or are exact.
#[test]
fn sizes_at_creation_do_not_overflow() {
    let items = [0, 1, 2, 3, 1000, 1 << 20, 1 << 31, 1 << 32, 1 << 40, 1 << 62, 1 << 63, u64::MAX];
    let rates = [
        f64::NAN,
        f64::INFINITY,
        -1.0,
        0.0,
        5e-324,
        1e-300,
        1e-20,
        1e-9,
        0.01,
        0.5,
        0.9999,
        1.0 - 1e-16,
        1.0,
    ];
    let mut built = 0;
    for format in Format::ALL {
        for items in items {
            for fpr in rates {
                match Plan::new(format, items, fpr) {
                    Err(error) => usage::check("a plan", &error),
                    Ok(plan) => {
                        let rate = plan.expected_fpr(items);
                        assert!((0.0..=1.0).contains(&rate), "{plan:?}: {rate}");
                        if plan.bytes() <= 1 << 20 {
                            let filter = ForeignFilter::with_plan(&plan).unwrap();
                            assert_eq!(filter.bits(), plan.bits(), "{plan:?}");
                            usage::exercise(&format!("{plan:?}"), filter);
                            built += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(built > 200, "{built}");
}
