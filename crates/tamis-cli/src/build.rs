//! `tamis build`: a filter from keys.

use crate::build_privacy::BuildPrivacy;
use crate::build_zone::BuildZone;
use crate::filter::{self, KeyFile, Target};
use crate::input::Input;
use crate::memory::Memory;
use crate::output::{self, grouped, integer, rate};
use crate::plan::{self, Size};
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use tamis::rate::{Health, Kind, Plan, RateFilter};
use tamis::{AnyFilter, BlockedBloom, Bloom, CountingBloom, HashFamily};

/// Make a filter of keys
#[derive(Args)]
pub(crate) struct Build {
    #[command(subcommand)]
    promise: Promise,
}

#[derive(Subcommand)]
enum Promise {
    Rate(BuildRate),
    Zone(BuildZone),
    Privacy(BuildPrivacy),
}

/// Members always pass; strangers pass at a rate you choose
#[derive(Args)]
#[command(after_help = "\
Files are counted first, so --items can be left out; repeated keys count each time, so give --items \
if many repeat. A pipe cannot be read twice and needs --items. Without --fpr, the rate is 1%.

Examples:
  tamis build rate --fpr 0.01 -o seen.tamis seen.txt
  sort -u big.txt | tamis build rate --items 1e7 --fpr 0.1% --filter blocked -o big.tamis
  tamis build rate --csv email -o users.tamis users.csv
  find . -print0 | tamis build rate -0 --items 1e5 -o files.tamis
  tamis build rate --hash keyed --key-file key -o private.tamis seen.txt

JSON fields: file, keys, certainly_new, health, estimated_items, fill, fpr_now, and those of `plan`.")]
struct BuildRate {
    #[command(flatten)]
    size: Size,
    /// How keys are hashed
    #[arg(long, value_enum)]
    hash: Option<Family>,
    /// The public seed of the fast hash [default: 0]
    #[arg(long, value_name = "S", value_parser = plan::count)]
    seed: Option<u64>,
    #[command(flatten)]
    key: KeyFile,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    input: Input,
}

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

impl Build {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        match &self.promise {
            Promise::Rate(rate) => rate.run(),
            Promise::Zone(zone) => zone.run(),
            Promise::Privacy(privacy) => privacy.run(),
        }
    }
}

impl BuildRate {
    fn run(&self) -> anyhow::Result<()> {
        filter::spare_sources(&self.target, self.input.files.iter().chain(&self.key.key_file))?;
        let hash = self.hash()?;
        let plan = self.plan()?;
        if let Some(most) = self.memory.most()? {
            plan.check_memory(most)?;
        }
        let mut any = make(plan, hash)?;
        let filter = any.as_rate_mut().context("a rate filter was made")?;
        let (mut keys, mut new) = (0, 0);
        self.input.manner.as_asked().each(&self.input.files, "building", false, |batch| {
            keys += batch.len() as u64;
            new += filter.insert_many(&batch.keys());
            Ok(true)
        })?;
        filter::save(&any, &self.target.output)?;
        any.as_rate().map_or(Ok(()), |filter| self.report(filter, keys, new))
    }

    fn hash(&self) -> anyhow::Result<HashFamily> {
        let default = if self.key.key_file.is_some() { Family::Keyed } else { Family::Fast };
        let family = self.hash.unwrap_or(default);
        if self.seed.is_some() && family != Family::Fast {
            bail!(
                "--seed goes with the fast hash, which has no secret key; leave --seed out, or take --hash fast"
            );
        }
        if self.key.key_file.is_some() && family != Family::Keyed {
            bail!("--key-file goes with --hash keyed; leave one of them out");
        }
        Ok(match family {
            Family::Fast => HashFamily::fast(self.seed.unwrap_or(0)),
            Family::Keyed => {
                let key = self.key.read()?;
                HashFamily::keyed(key.context(
                    "--hash keyed needs a secret: --key-file FILE (make one: head -c 32 /dev/urandom > FILE)",
                )?)
            }
            Family::Sha256Md5 => HashFamily::sha256_md5(),
            Family::Prefixed => HashFamily::prefixed(),
        })
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
            (None, None) => {
                if !self.input.can_be_counted() {
                    bail!(
                        "standard input and pipes cannot be read twice to count their keys; say how many: --items N"
                    );
                }
                Some(self.input.count()?.max(1))
            }
        };
        Size { items, fpr, bits: size.bits, filter: size.filter, counter_bits: size.counter_bits }
            .plan()
    }

    fn report(&self, filter: &dyn RateFilter, keys: u64, new: u64) -> anyhow::Result<()> {
        let plan = filter.plan();
        let beyond = filter.health() == Health::Beyond;
        if self.target.json {
            let mut fields = output::object([
                ("file", json!(self.target.output.display().to_string())),
                ("keys", integer(keys)),
                ("certainly_new", integer(new)),
                ("health", json!(filter.health().to_string())),
                ("estimated_items", output::number(filter.estimated_items())),
                ("fill", output::number(filter.fill())),
                ("fpr_now", output::number(filter.expected_fpr())),
            ]);
            fields.extend(plan::fields(plan));
            fields.insert("advice".to_owned(), json!(plan::advice(plan)));
            output::report_json(&self.target.output, fields)?;
        } else {
            let text = format!(
                "{}: a {} filter of {} bytes ({:.2} bits an item)\n\
                 keys      {} read, at least {} of them distinct\n\
                 promise   every one of them passes; of strangers, about {}\n\
                 health    {} plan ({} items)",
                self.target.output.display(),
                plan.filter(),
                grouped(plan.bytes()),
                plan.bits() as f64 / plan.items().max(1) as f64,
                grouped(keys),
                grouped(new),
                rate(filter.expected_fpr()),
                filter.health(),
                grouped(plan.items()),
            );
            output::report(&self.target.output, &text)?;
            if let Some(advice) = plan::small_advice(plan) {
                output::report(&self.target.output, &format!("advice    {advice}"))?;
            }
        }
        if beyond {
            output::complain(&format!(
                "tamis: warning: about {} distinct keys in a filter planned for {}: {} of strangers pass, not {}; rebuild with --items {}",
                output::about(filter.estimated_items()),
                grouped(plan.items()),
                rate(filter.expected_fpr()),
                rate(plan.fpr()),
                if filter.estimated_items().is_finite() {
                    filter.estimated_items().ceil() as u64
                } else {
                    keys
                },
            ));
        }
        Ok(())
    }
}

/// An empty filter as planned.
fn make(plan: Plan, hash: HashFamily) -> anyhow::Result<AnyFilter> {
    Ok(match plan.filter() {
        Kind::Bloom => Bloom::with_plan(plan, hash)?.into(),
        Kind::Blocked => BlockedBloom::with_plan(plan, hash)?.into(),
        Kind::Counting => CountingBloom::with_plan(plan, hash)?.into(),
    })
}
