//! `tamis build rate`: members always pass, strangers at a rate.

use super::chain;
use super::part::{PartReport, Shard};
use super::static_filter::BuildStatic;
use crate::arguments::{KeyFile, MemoryLimit, count};
use crate::commands::plan::rate::{Layout, Size};
use crate::filters;
use crate::foreign::BuildForeign;
use crate::input::{Input, Reading};
use crate::output::{
    self, Content, Destination, Integer, Report, Target, about, count_of, grouped, rate, warn,
};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;
use tamis::format::Part;
use tamis::rate::{Health, Plan};
use tamis::{AnyFilter, HashFamily, Rolling, Scalable};
use tamis_facts::RateFacts;

/// Members always pass; strangers pass at a rate you choose
#[derive(Args)]
#[command(after_help = "\
Files are counted first, so --items can be left out; repeated keys count each time, so give \
--items if many repeat. A pipe cannot be read twice and needs --items. Without --fpr, the rate is \
1%.

A static filter counts distinct keys as it reads them, from pipes too, and needs no --items. Keys \
that do not fit into --max-memory (or a quarter of the memory that is free) go to a temporary file.

A scalable filter grows as it reads, from pipes too, and needs no --items. A rolling filter \
remembers the keys of its --window; a window of time needs --items, the keys that come within it.

Examples:
  tamis build rate --fpr 0.01 -o seen.tamis seen.txt
  sort -u big.txt | tamis build rate --items 1e7 --fpr 0.1% --filter blocked -o big.tamis
  tamis build rate --csv email -o users.tamis users.csv
  find . -print0 | tamis build rate -0 --items 1e5 -o files.tamis
  tamis build rate --hash keyed --key-file key -o private.tamis seen.txt
  tamis build rate --filter static --max-memory 1GiB -o all.tamis all/*.txt
  zcat log.gz | tamis build rate --filter scalable -o seen.tamis
  tamis build rate --filter rolling --window 24h --items 1e6 -o day.tamis today.txt
  tamis build rate --as dcso --fpr 0.001 -o bad.bloom bad.txt
  tamis build rate --filter static --items 1e9 --shard 3/16 -o part-03 all/*.txt

JSON fields: file, keys, certainly_new, health, estimated_items, fill, fpr_now, and those of \
`plan`; of a static filter: file, keys, distinct, spilled_bytes, health, fill, fpr_now, and those \
of its plan. The links of a scalable or rolling filter also have len, the keys in them. \
With --shard: file, part, of, filter, items, keys, kept (for this part), secret. \
With --as: file, format, variant, asked, keys, certainly_new, items, fpr, bits, hashes, \
file_bytes, expected_fpr, health, estimated_items, fill, fpr_now.")]
pub(crate) struct BuildRate {
    #[command(flatten)]
    size: Size,
    /// Write a filter that another program reads: guava, spark, dcso, bits-and-blooms, parquet,
    /// redisbloom, valkey-bloom, rbloom, fastbloom, bloomfilter, pybloom-live
    ///
    /// Its sizes are those that the program itself chooses. Some have other forms: guava:mitz32,
    /// spark:1, spark:2, dcso:gzip, redisbloom:chunks, redisbloom:resp, redisbloom:scaling,
    /// valkey-bloom:scaling.
    #[arg(long = "as", value_name = "NAME[:FORM]")]
    #[arg(conflicts_with_all = FOREIGN_HAS_NOT)]
    foreign: Option<tamis_foreign::Target>,
    /// How keys are hashed
    #[arg(long, value_enum)]
    hash: Option<Family>,
    /// The public seed of the fast hash [default: 0]
    #[arg(long, value_name = "S", value_parser = count, allow_negative_numbers = true)]
    seed: Option<u64>,
    #[command(flatten)]
    key: KeyFile,
    #[command(flatten)]
    shard: Shard,
    #[command(flatten)]
    memory: MemoryLimit,
    /// Where keys of a static filter go that do not fit into memory [default: the folder of FILE]
    #[arg(long, value_name = "FOLDER")]
    temp_dir: Option<PathBuf>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    input: Input,
}

/// The options that a filter of another program does not have.
const FOREIGN_HAS_NOT: [&str; 9] =
    ["bits", "hash", "seed", "shard", "temp_dir", "counter_bits", "first", "growth", "window"];

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// Fast, with a public seed: for keys that nobody chooses against you (the default)
    Fast,
    /// SipHash with a secret key: where an adversary may choose keys (the default with a key file)
    Keyed,
    /// SHA-256 and MD5 double hashing, as in the report by Sánchez-O'Mullony (slow)
    Sha256Md5,
    /// k prefixed hashes, as in Levine's lecture notes (slow)
    Prefixed,
}

impl BuildRate {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        output::check_sources(&self.input, [])?;
        if let Some(target) = self.foreign {
            return self.build_foreign(target);
        }
        let sources = self.input.files.iter().chain(self.key.path());
        let destination = match self.shard.shard {
            Some(_) => self.target.part_destination(sources)?,
            None => self.target.destination(sources)?,
        };
        let hash = self.hash()?;
        if self.shard.shard.is_some() && self.size.items.is_none() {
            bail!(
                "--shard needs --items N, how many distinct keys all parts have together: every \
                 part is built by one plan"
            );
        }
        if self.size.filter == Layout::Static {
            self.size.check_static()?;
            if self.size.bits.is_some() {
                bail!(
                    "--bits does not go with build --filter static: its size follows from the keys \
                     and the rate; give --fpr (tamis plan says which rate so many bits have)"
                );
            }
            let build = BuildStatic {
                input: &self.input,
                target: &self.target,
                destination,
                hash,
                fpr: self.size.fpr.unwrap_or(0.01),
                items: self.size.items,
                max_memory: self.memory.bytes(),
                temp_dir: self.temp_dir.clone(),
            };
            return match self.shard.shard {
                Some(number) => build.run_part(number),
                None => build.run(),
            };
        }
        if self.temp_dir.is_some() {
            bail!("--temp-dir goes with --filter static; leave it out, or take that filter");
        }
        if let Some(any) = self.chain(&hash)? {
            if self.shard.shard.is_some() {
                bail!("--shard does not go with filters that grow or forget; take --filter static");
            }
            return chain::build(any, &self.input, &self.target, destination);
        }
        let plan = self.plan()?;
        if let Some(most) = self.memory.bytes() {
            plan.check_memory(most)?;
        }
        let mut any = AnyFilter::with_rate_plan(plan, hash)?;
        let (mut keys, mut new) = (0, 0);
        self.input.format.for_new_filter().each(
            &self.input.files,
            "building",
            Reading::AnyOrder,
            |batch| {
                keys += batch.len() as u64;
                new += any.insert_many(&batch.keys())?;
                Ok(true)
            },
        )?;
        if let Some(number) = self.shard.shard {
            destination.save_part(&Part::of_filter(&any, number)?)?;
            let (file, kind) = (&self.target.output, any.kind());
            let report = PartReport::new(file, number, kind, plan.items(), [keys; 2]);
            return output::report_on(file, &report, self.target.json);
        }
        destination.save(&any)?;
        self.report(&any, &plan, keys, new)
    }

    /// A filter that another program reads.
    fn build_foreign(&self, target: tamis_foreign::Target) -> anyhow::Result<()> {
        if self.size.filter != Layout::Bloom {
            bail!("--filter goes with filters of tamis; --as has the layout of its program");
        }
        if self.key.is_on_command_line() {
            bail!("--key-file goes with filters of tamis; no other program has a secret key");
        }
        let Target { output, force, json } = &self.target;
        let destination =
            Destination::new(output, Content::Foreign, *force, self.input.files.iter())?;
        let (items, fpr) = (self.size.items, self.size.fpr.unwrap_or(0.01));
        let (input, memory) = (&self.input, &self.memory);
        BuildForeign { target, items, fpr, input, memory, destination, output, json: *json }.run()
    }

    fn hash(&self) -> anyhow::Result<HashFamily> {
        // A key file asks for the keyed hash, on the command line or in the environment.
        let default = if self.key.path().is_some() { Family::Keyed } else { Family::Fast };
        let family = self.hash.unwrap_or(default);
        if self.seed.is_some() && family != Family::Fast {
            bail!(
                "--seed goes with the fast hash, which has no secret key; leave --seed out, or \
                 take --hash fast"
            );
        }
        if self.key.is_on_command_line() && family != Family::Keyed {
            bail!("--key-file goes with --hash keyed; leave one of them out");
        }
        Ok(match family {
            Family::Fast => HashFamily::fast(self.seed.unwrap_or(0)),
            Family::Keyed => {
                let key = self.key.read()?;
                HashFamily::keyed(key.context(
                    "--hash keyed needs a secret: --key-file FILE (make one: head -c 32 \
                     /dev/urandom > FILE)",
                )?)
            }
            Family::Sha256Md5 => HashFamily::sha256_md5(),
            Family::Prefixed => HashFamily::prefixed(),
        })
    }

    /// An empty filter that grows or forgets, if one is asked for.
    fn chain(&self, hash: &HashFamily) -> anyhow::Result<Option<AnyFilter>> {
        Ok(Some(match self.size.filter {
            Layout::Scalable => {
                if self.size.items.is_some() {
                    bail!(
                        "--filter scalable needs no --items: it grows; leave it out (--first N \
                         sets the keys of its first link), or take --filter bloom, which is smaller"
                    );
                }
                let mut chain = Scalable::with_plan(self.size.scalable_plan()?, hash.clone())?;
                chain.limit_memory(self.memory.bytes());
                chain.into()
            }
            Layout::Rolling => {
                let plan = self.size.rolling_plan()?;
                if let Some(most) = self.memory.bytes() {
                    plan.check_memory(most)?;
                }
                let mut chain = Rolling::with_plan(plan, hash.clone())?;
                chain.limit_memory(self.memory.bytes());
                chain.advance(filters::now());
                chain.into()
            }
            _ => return Ok(None),
        }))
    }

    /// The plan as asked for; items not given are counted, and a rate not given is 1%.
    fn plan(&self) -> anyhow::Result<Plan> {
        let size = &self.size;
        let fpr = if size.bits.is_some() && size.items.is_some() {
            size.fpr
        } else {
            size.fpr.or(Some(0.01))
        };
        let items = match (size.items, size.bits) {
            (Some(items), _) => Some(items),
            (None, Some(_)) => None, // it follows from bits and rate
            (None, None) => Some(self.input.count(&self.input.format.for_new_filter())?),
        };
        let counted = size.items.is_none() && size.bits.is_none();
        let plan = Size {
            items,
            fpr,
            bits: size.bits,
            filter: size.filter,
            counter_bits: size.counter_bits,
            first: size.first,
            growth: size.growth,
            window: size.window,
        }
        .plan()?;
        // The number tells how many keys there are, so publishing it must be affirmed.
        Ok(if counted { plan.counted() } else { plan })
    }

    fn report(&self, filter: &AnyFilter, plan: &Plan, keys: u64, new: u64) -> anyhow::Result<()> {
        let items = filter.estimated_items().unwrap_or_default();
        let report = BuildReport {
            file: self.target.output.display().to_string(),
            keys: keys.into(),
            certainly_new: new.into(),
            health: filter.health().to_string(),
            estimated_items: items,
            fill: filter.fill(),
            fpr_now: filter.expected_fpr(),
            plan: RateFacts::new(plan),
            advice: tamis_facts::advice(plan),
            text: self.text(filter, plan, keys, new),
        };
        output::report_on(&self.target.output, &report, self.target.json)?;
        if filter.health() == Health::Beyond {
            warn(&format!(
                "tamis: warning: {} distinct keys in a filter planned for {}: {} of strangers \
                 pass, not {}; rebuild with --items {}",
                if items.is_finite() { format!("about {}", about(items)) } else { "more".into() },
                grouped(plan.items()),
                rate(filter.expected_fpr()),
                rate(plan.fpr()),
                if items.is_finite() { items.ceil() as u64 } else { keys },
            ));
        }
        Ok(())
    }

    fn text(&self, filter: &AnyFilter, plan: &Plan, keys: u64, new: u64) -> String {
        let mut text = format!(
            "{}: a {} filter of {} ({:.2} bits an item)\n\
             keys      {} read, at least {} of them distinct\n\
             promise   every one of them passes; of strangers, about {}\n\
             health    {} plan ({})",
            self.target.output.display(),
            plan.filter(),
            count_of(plan.bytes(), "byte"),
            plan.bits() as f64 / plan.items().max(1) as f64,
            grouped(keys),
            grouped(new),
            rate(filter.expected_fpr()),
            filter.health(),
            count_of(plan.items(), "item"),
        );
        if filter.hash().is_some_and(|hash| hash.name() == "keyed") {
            text.push_str("\nhash      keyed: only those who have the key file can ask");
        }
        if let Some(advice) = tamis_facts::small_advice(plan) {
            text.push_str(&format!("\nadvice    {advice}"));
        }
        text
    }
}

#[derive(Serialize)]
struct BuildReport {
    file: String,
    keys: Integer,
    certainly_new: Integer,
    health: String,
    estimated_items: f64,
    fill: f64,
    fpr_now: f64,
    #[serde(flatten)]
    plan: RateFacts,
    advice: Vec<String>,
    #[serde(skip)]
    text: String,
}

impl Report for BuildReport {
    fn text(&self) -> String {
        self.text.clone()
    }
}
