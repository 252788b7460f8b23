//! Filters that the real programs wrote, in `fixtures/`. Every member and every stranger is
//! answered as the program answered. Where the same keys are put into an empty filter of the same
//! sizes, the file is the same to the bit.

#![allow(clippy::unwrap_used)]

#[path = "fixtures/reading.rs"]
mod reading;

use flate2::read::GzDecoder;
use reading::{Fixture, bytes_of, fixtures};
use std::io::{Cursor, Read};
use tamis_foreign::parquet::ParquetFile;
use tamis_foreign::{Error, ForeignFilter, Form, Format, Open, Plan, Target};

/// The files of a fixture that hold its filter.
fn files(fixture: &Fixture) -> Vec<(String, Vec<u8>)> {
    let file = fixture.json["file"].as_str().unwrap();
    let Some(stem) = file.strip_suffix(".header.bin") else {
        let more = fixture.json["more_files"].as_array().into_iter().flatten();
        let names = std::iter::once(file).chain(more.map(|name| name.as_str().unwrap()));
        return names.map(|name| (name.to_owned(), bytes_of(name))).collect();
    };
    // The chunks of SCANDUMP, one behind the other.
    let bits = bytes_of(&format!("{stem}.bits.bin"));
    let mut all = vec![(stem.to_owned(), [bytes_of(file), bits].concat())];
    for end in ["dump", "resp"] {
        let name = format!("{stem}.{end}");
        if fixture.json["more_files"].to_string().contains(&name) {
            all.push((name.clone(), bytes_of(&name)));
        }
    }
    all
}

fn open(fixture: &Fixture, bytes: &[u8]) -> ForeignFilter {
    let open = Open::new();
    if fixture.format == Format::Rbloom {
        return open.from(Format::Rbloom).bytes(bytes).unwrap();
    }
    open.bytes(bytes).unwrap()
}

#[test]
fn every_answer_is_that_of_the_program() {
    let mut asked = 0;
    for fixture in fixtures() {
        for (name, bytes) in files(&fixture) {
            let filter = open(&fixture, &bytes);
            assert_eq!(filter.format(), fixture.format, "{name}");
            let named = Open::new().from(fixture.format).bytes(&bytes).unwrap();
            assert_eq!(named.to_bytes().unwrap(), filter.to_bytes().unwrap(), "{name}");
            let answers = fixture.expected();
            asked += answers.len();
            let keys: Vec<Vec<u8>> = answers.iter().map(|(text, _)| fixture.encode(text)).collect();
            let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let many = filter.contains_many(&slices);
            for (((text, expected), key), batched) in answers.iter().zip(&slices).zip(many) {
                assert_eq!(filter.contains(key), *expected, "{name}: {text}");
                assert_eq!(batched, *expected, "{name}: {text}, in a batch");
            }
        }
    }
    assert!(asked > 80_000, "only {asked} answers were compared");
}

/// What is read is written again to the bit; but a gzip stream only unpacks to the same.
#[test]
fn files_are_written_as_they_were_read() {
    for fixture in fixtures() {
        for (name, bytes) in files(&fixture) {
            let written = open(&fixture, &bytes).to_bytes().unwrap();
            if name.ends_with(".gz") {
                assert!(unpacked(&written) == unpacked(&bytes), "{name}");
            } else {
                assert!(written == bytes, "{name}");
            }
        }
    }
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

/// An empty filter for the fixture: from a plan with what the program was asked for, or the file
/// itself with its bits and counts cleared.
fn empty(fixture: &Fixture, name: &str, bytes: &[u8]) -> ForeignFilter {
    let plan = |target: Target, items, fpr| {
        ForeignFilter::with_plan(&Plan::with_form(target, items, fpr).unwrap()).unwrap()
    };
    let usual = |items, fpr| plan(fixture.format.name().parse().unwrap(), items, fpr);
    let named = |target: &str, items, fpr| plan(target.parse().unwrap(), items, fpr);
    let cleared = |range: std::ops::Range<usize>| {
        let mut bytes = bytes.to_vec();
        bytes[range].fill(0);
        open(fixture, &bytes)
    };
    match name {
        "guava_m64_utf8.bin" => usual(1007, 0.01),
        "guava_m32_utf8.bin" => named("guava:mitz32", 6, 0.03),
        "guava_m64_chars.bin" => usual(307, 0.02),
        "guava_m64_i64.bin" => usual(1102, 0.01),
        "guava_m32_i32.bin" => named("guava:mitz32", 552, 0.01),
        "guava_m64_bytes.bin" => usual(45, 0.05),
        "spark_v1_utf8.bin" => usual(1007, 0.03),
        "spark_v2_utf8.bin" => named("spark:2", 1007, 0.03),
        "spark_v1_i64.bin" => named("spark:1", 1102, 0.01),
        "spark_v2_i64_seed.bin" => {
            let form = Form::V2 { seed: -559_038_737 };
            plan(Target { format: Format::Spark, form }, 1102, 0.01)
        }
        "spark_v2_bytes.bin" => named("spark:2", 45, 0.05),
        "dcso_words.bloom" => usual(1007, 0.03),
        "dcso_words.bloom.gz" => named("dcso:gzip", 1006, 0.02),
        // Its data stays.
        "dcso_few.bloom" => cleared(40..72),
        "bnb_words.bin" => usual(1007, 0.01),
        "bnb_m1000.bin" => cleared(24..bytes.len()),
        "bnb_m1000.marshal.json" => {
            let zeros = "A".repeat(171);
            let json = format!("{{\"m\":1000,\"k\":5,\"b\":\"AAAAAAAAA-g{zeros}==\"}}");
            open(fixture, json.as_bytes())
        }
        "redis_fixed.dump" => usual(1100, 0.01),
        "redis_scaling.dump" => named("redisbloom:scaling", 200, 0.01),
        "redis_few.dump" => named("redisbloom:scaling", 10, 0.001),
        "redis_fixed" => named("redisbloom:chunks", 1100, 0.01),
        "redis20_pow2" => {
            // The first filter alone, empty; the others must grow.
            let mut first = bytes[..16 + 49].to_vec();
            first[0..8].fill(0);
            first[8] = 1;
            first[16 + 16..16 + 24].fill(0);
            first.extend([0; 256]);
            open(fixture, &first)
        }
        "valkey_scaling.bin" => named("valkey-bloom:scaling", 400, 0.01),
        "valkey_seeded.bin" => cleared(83..bytes.len() - 8),
        "bloomfilter_crate.bin" => cleared(45..bytes.len()),
        "fastbloom.bin" => cleared(8..bytes.len() - 76),
        "rbloom_sha256.bin" => usual(1007, 0.01),
        "pybloom_words.bin" => usual(1100, 0.01),
        "pybloom_few.bin" => usual(10, 0.001),
        // The same chain in another container, which cannot be made empty by clearing.
        "redis_scaling"
        | "redis_few"
        | "redis_fixed.resp"
        | "redis_scaling.resp"
        | "redis_few.resp"
        | "fastbloom.serde.json" => open(fixture, bytes),
        _ => panic!("{name} has no empty filter"),
    }
}

#[test]
fn the_same_keys_give_the_same_file() {
    let mut compared = 0;
    for fixture in fixtures() {
        for (name, bytes) in files(&fixture) {
            let mut filter = empty(&fixture, &name, &bytes);
            compared += u32::from(filter.fill() == 0.0);
            for key in fixture.inserted() {
                filter.insert(&fixture.encode(&key)).unwrap();
            }
            let written = filter.to_bytes().unwrap();
            if name.ends_with(".gz") {
                assert!(unpacked(&written) == unpacked(&bytes), "{name}");
            } else {
                assert!(written == bytes, "{name}");
            }
        }
    }
    assert!(compared >= 28, "only {compared} filters were empty before");
}

/// Sizes and counts are those that the header has.
#[test]
fn facts_are_those_of_the_header() {
    for fixture in fixtures() {
        let params = &fixture.json["params"];
        for (name, bytes) in files(&fixture) {
            let filter = open(&fixture, &bytes);
            let parts = filter.parts();
            if let (Some(bits), Some(hashes)) = (params["m"].as_u64(), params["k"].as_u64()) {
                assert_eq!((parts[0].bits, u64::from(parts[0].hashes)), (bits, hashes), "{name}");
            }
            for (part, link) in parts.iter().zip(params["links"].as_array().into_iter().flatten()) {
                assert_eq!(part.body.len() as u64, link["bytes"].as_u64().unwrap(), "{name}");
                assert_eq!(part.counted, link["size"].as_u64(), "{name}");
                assert_eq!(part.planned().items, link["entries"].as_u64().unwrap(), "{name}");
                assert_eq!(part.planned().fpr, link["error"].as_f64().unwrap(), "{name}");
                assert_eq!(u64::from(part.hashes), link["hashes"].as_u64().unwrap(), "{name}");
            }
            let count = params["N"].as_u64().or(params["size"].as_u64());
            if count.is_some() {
                assert_eq!(filter.counted_items(), count, "{name}");
            }
            // The estimate by the bits is near the number of keys: within five deviations, which
            // are less than the square root of the bits.
            let keys = fixture.inserted().len() as f64;
            let estimate = filter.estimated_items();
            let bound = 5.0 * (keys / 4.0).sqrt() + 3.0;
            assert!((estimate - keys).abs() < bound, "{name}: {estimate} of {keys}");
            // So is the rate that the bits give near the share of strangers that pass.
            let answers = fixture.expected();
            let strangers = answers[fixture.inserted().len()..].iter();
            let (all, yes) = strangers
                .fold((0u32, 0u32), |(all, yes), (_, passed)| (all + 1, yes + u32::from(*passed)));
            let expected = filter.expected_fpr();
            let measured = f64::from(yes) / f64::from(all);
            let bound = 5.0 * (expected / f64::from(all)).sqrt() + 3.0 / f64::from(all);
            assert!((measured - expected).abs() < bound, "{name}: {measured}, {expected}");
        }
    }
}

#[test]
fn data_of_the_user_stays() {
    let filter = Open::new().bytes(&bytes_of("dcso_few.bloom")).unwrap();
    assert_eq!(filter.data(), b"tamis fixture\n{\"source\":\"words\"}\n");
}

#[test]
fn filters_of_parquet_files() {
    let mut groups = 0;
    for fixture in reading::parquet_fixtures() {
        let file = Cursor::new(bytes_of(&fixture.file));
        let mut parquet = ParquetFile::open(file).unwrap().unwrap();
        assert!(parquet.created_by().contains(&fixture.writer), "{}", parquet.created_by());
        for column in fixture.columns {
            let chunks = parquet.column(&column.name).unwrap().chunks.clone();
            assert_eq!(chunks.len(), column.groups.len());
            let mut first = 0;
            for (i, (chunk, group)) in chunks.iter().zip(&column.groups).enumerate() {
                let chunk = chunk.unwrap();
                assert_eq!(parquet.rows()[i], group.rows as u64);
                let filter = parquet.filter(&chunk).unwrap().unwrap();
                let kind = chunk.physical.key_kinds()[0];
                let encode = |text: &str| {
                    let mut key = Vec::new();
                    Format::Parquet.encode(kind, text.as_bytes(), &mut key).unwrap();
                    key
                };
                // DuckDB was given some keys twice, at the end.
                let end = column.inserted.len().min(first + group.rows);
                let members = &column.inserted[first..end];
                first = end;
                for text in members {
                    assert!(filter.contains(&encode(text)), "{} {i}: {text}", column.name);
                }
                let keys: Vec<Vec<u8>> = column.strangers.iter().map(|text| encode(text)).collect();
                let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                let many = filter.contains_many(&slices);
                let passed: Vec<&String> = column
                    .strangers
                    .iter()
                    .zip(&keys)
                    .zip(many)
                    .filter(|((text, key), batched)| {
                        assert_eq!(filter.contains(key), *batched, "{text}");
                        *batched
                    })
                    .map(|((text, _), _)| text)
                    .collect();
                assert_eq!(passed, group.stranger_yes.iter().collect::<Vec<_>>(), "{i}");
                // The same keys in an empty filter of the same size.
                let written = filter.to_bytes().unwrap();
                let whole = bytes_of(&fixture.file);
                assert!(written == whole[group.offset..][..group.length], "{}", column.name);
                let mut cleared = written.clone();
                let header = written.len() - group.bitset;
                cleared[header..].fill(0);
                let mut again = Open::new().bytes(&cleared).unwrap();
                assert_eq!(again.format(), Format::Parquet);
                for text in members {
                    again.insert(&encode(text)).unwrap();
                }
                assert!(again.to_bytes().unwrap() == written, "{} {i}", column.name);
                groups += 1;
            }
        }
        assert!(matches!(parquet.column("no such"), Err(Error::Unsupported { .. })));
    }
    assert_eq!(groups, 7);
}

#[test]
fn unions_pass_what_either_passes() {
    for fixture in fixtures() {
        let (name, bytes) = files(&fixture).remove(0);
        let mut left = open(&fixture, &bytes);
        let right = open(&fixture, &bytes);
        left.union(&right).unwrap();
        let same = left.to_bytes().unwrap();
        for (text, expected) in fixture.expected() {
            assert_eq!(left.contains(&fixture.encode(&text)), expected, "{name}: {text}");
        }
        let reread = Open::new().from(fixture.format).bytes(&same).unwrap();
        assert_eq!(reread.fill(), right.fill(), "{name}");
        // Of another format, or of another size: refused.
        let other = if fixture.format == Format::Guava { Format::Dcso } else { Format::Guava };
        for plan in [Plan::new(other, 10, 0.01), Plan::new(fixture.format, 7_777, 0.003)] {
            let other = ForeignFilter::with_plan(&plan.unwrap()).unwrap();
            assert!(matches!(left.union(&other), Err(Error::Mismatch { .. })), "{name}");
        }
        assert!(left.to_bytes().unwrap() == same, "{name}: a refused union changed it");
    }
}
