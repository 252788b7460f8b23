//! `tamis build privacy`: a filter of keys that may be published.

use super::part::{PartReport, Shard};
use crate::arguments::{KeyFile, MemoryLimit, count};
use crate::commands::ledger::{Payment, ReleaseReport};
use crate::commands::plan::privacy::PrivacySize;
use crate::input::{Input, Reading};
use crate::output::{self, Destination, Target, count_of, grouped, progress, warn};
use anyhow::{Context, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use tamis::format::{Part, PartNumber};
use tamis::privacy::{LinearDraft, Receipt, UltraFilter};
use tamis::{AnyFilter, Error, HashFamily, KeyRef, Open};
use tamis_facts::PrivatePlan;

/// What is published says of any one item at most a factor e^epsilon
#[derive(Args)]
#[command(after_help = "\
The keys are read, the ledger is charged, and only then is the filter drawn and written. Each run \
draws anew and costs again: publish once, and hand out copies of the file.

Examples:
  tamis build privacy --items 1e4 --epsilon 4 -o public.tamis suspects.txt
  tamis ledger new suspects.ledger --budget 8
  tamis build privacy --items 1e4 --epsilon 4 --ledger suspects.ledger -o public.tamis suspects.txt
  tamis build privacy --items 1e4 --epsilon 4 --method bloom --private -o private.tamis suspects.txt
  tamis build privacy --items 1e9 --epsilon 4 --seed 7 --shard 3/16 -o part-03 all/*.txt
  tamis add private.tamis more.txt && tamis publish private.tamis --epsilon 4 -o public.tamis
  tamis build privacy --items 1e4 --epsilon 4 --method bloom --private --seed-from private.tamis \
    -o second.tamis others.txt && tamis union private.tamis second.tamis -o both.tamis

JSON fields: file, private, keys (read: for you alone), charged, left (of the ledger's budget), \
and those of `plan privacy`. With --shard: file, part, of, filter, items, keys, kept, secret.")]
pub(crate) struct BuildPrivacy {
    #[command(flatten)]
    size: PrivacySize,
    /// Take the seed of this filter, so that the two can be united or compared; for --method bloom
    ///
    /// Private filters with the same seed and size can be united (tamis union), and the overlap of
    /// their releases estimated (tamis overlap). A shared seed costs no privacy: the promise holds
    /// for each seed, also for one that everybody knows.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "shard"])]
    seed_from: Option<PathBuf>,
    /// Write the private Bloom filter, for `add` and `publish`, instead of a release; for --method
    /// bloom
    #[arg(long, conflicts_with = "ledger")]
    private: bool,
    #[command(flatten)]
    payment: Payment,
    #[command(flatten)]
    shard: Shard,
    /// The seed of the hash that all parts share; it becomes public
    #[arg(long, value_name = "S", value_parser = count, allow_negative_numbers = true)]
    #[arg(requires = "shard")]
    seed: Option<u64>,
    #[command(flatten)]
    key: KeyFile,
    #[command(flatten)]
    memory: MemoryLimit,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    input: Input,
}

/// What takes keys before anything is published.
enum Draft {
    Linear(LinearDraft),
    Bloom(UltraFilter),
}

impl Draft {
    fn new(plan: PrivatePlan, hash: Option<HashFamily>) -> Result<Draft, tamis::Error> {
        Ok(match (plan, hash) {
            (PrivatePlan::Linear(plan), Some(hash)) => {
                Draft::Linear(LinearDraft::with_hash(plan, hash)?)
            }
            (PrivatePlan::Linear(plan), None) => Draft::Linear(LinearDraft::new(plan)?),
            (PrivatePlan::Bloom(plan), Some(hash)) => {
                Draft::Bloom(UltraFilter::with_hash(plan, hash)?)
            }
            (PrivatePlan::Bloom(plan), None) => Draft::Bloom(UltraFilter::new(plan)?),
        })
    }

    fn insert(&mut self, keys: &[KeyRef<'_>]) -> Result<(), tamis::Error> {
        match self {
            Draft::Linear(draft) => keys.iter().try_for_each(|key| draft.insert(key)),
            Draft::Bloom(private) => {
                private.insert_many(keys);
                Ok(())
            }
        }
    }

    fn publish(self, receipt: Receipt) -> Result<AnyFilter, tamis::Error> {
        Ok(match self {
            Draft::Linear(draft) => draft.publish(receipt)?.into(),
            Draft::Bloom(private) => private.publish(receipt)?.into(),
        })
    }
}

impl BuildPrivacy {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let sources = self.input.files.iter().chain(self.key.path()).chain(&self.payment.ledger);
        let sources = sources.chain(&self.seed_from);
        output::check_sources(&self.input, [])?;
        if let Some(number) = self.shard.shard {
            let destination = self.target.part_destination(sources)?;
            return self.run_part(number, &destination.private());
        }
        let destination = self.target.destination(sources)?;
        let plan = self.size.plan()?;
        if self.private && matches!(plan, PrivatePlan::Linear(_)) {
            bail!(
                "--private goes with --method bloom; a linear filter is drawn from all its keys at \
                 once"
            );
        }
        let most = self.memory.bytes();
        if let Some(most) = most {
            plan.check_memory(0, most)?;
        }
        let hash = match &self.seed_from {
            Some(path) => Some(self.hash_of(path, &plan)?),
            None => self.key.read()?.map(HashFamily::keyed),
        };
        let mut draft = Draft::new(plan, hash)?;
        let mut keys = 0;
        self.input.format.for_new_filter().each(
            &self.input.files,
            "reading",
            Reading::AnyOrder,
            |batch| {
                keys += batch.len() as u64;
                if let Some(most) = most {
                    plan.check_memory(keys, most)?;
                }
                draft.insert(&batch.keys())?;
                Ok(true)
            },
        )?;
        if keys > plan.items() {
            warn(&format!(
                "tamis: warning: {} keys were read where there is room for {}: unless keys repeat, \
                 more strangers pass than planned (this line is for you alone)",
                grouped(keys),
                grouped(plan.items())
            ));
        }
        if self.private {
            let Draft::Bloom(private) = draft else { bail!("--private goes with --method bloom") };
            destination.private().save(&private.into_bloom().into())?;
            return self.report_private(&plan, keys);
        }
        // The target is open before anything is charged, and charged before anything is drawn.
        let file = destination.create()?;
        let receipt = self.payment.charge(plan.epsilon(), &self.target.output)?;
        let left = receipt.left();
        let bar = progress::spinner("drawing the release");
        let release = draft.publish(receipt);
        bar.finish_and_clear();
        self.payment.say_if_charged(file.save(&release?))?;
        let report = ReleaseReport::new(&self.target, &plan, left).of_keys(keys, None);
        output::report_on(&self.target.output, &report, self.target.json)
    }

    /// Draws a part of a linear filter, out of all keys, of which it keeps its own. Nothing is
    /// charged: the join is the release.
    fn run_part(&self, number: PartNumber, destination: &Destination) -> anyhow::Result<()> {
        let PrivatePlan::Linear(plan) = self.size.plan()? else {
            bail!(
                "--shard goes with --method linear; for --method bloom, build with --private on \
                 every machine (on all but the first with --seed-from), and then tamis union and \
                 tamis publish"
            );
        };
        if self.private {
            bail!("--private goes with --method bloom; a part is private anyway");
        }
        if self.payment.ledger.is_some() {
            bail!(
                "--ledger does not go with --shard: the release is charged once, when its parts \
                 are joined: tamis join --ledger"
            );
        }
        let hash = match (self.key.read()?, self.seed) {
            (Some(_), Some(_)) => bail!("the hash has a seed or a secret key; leave --seed out"),
            (Some(key), None) => HashFamily::keyed(key),
            (None, Some(seed)) => HashFamily::fast(seed),
            (None, None) => bail!(
                "--shard needs a hash that all parts share: --seed S, any number, the same for \
                 every part (it becomes public), or --key-file FILE"
            ),
        };
        let own = number.shards(plan.shards());
        let share = plan.bytes() / plan.shards() * (own.end - own.start);
        let (mut keys, mut digests) = (0, Vec::new());
        self.input.format.for_new_filter().each(
            &self.input.files,
            "reading",
            Reading::AnyOrder,
            |batch| {
                keys += batch.len() as u64;
                for digest in batch.keys().iter().filter_map(|key| hash.digest(key)) {
                    if !own.contains(&plan.shard_of(digest)) {
                        continue;
                    }
                    if digests.len() == digests.capacity() {
                        let more = digests.len().max(1 << 10);
                        let needed = share + 16 * (digests.len() + more) as u64;
                        if let Some(allowed) = self.memory.bytes().filter(|most| needed > *most) {
                            return Err(Error::Memory { needed, allowed: Some(allowed) }.into());
                        }
                        digests
                            .try_reserve_exact(more)
                            .map_err(|_| Error::Memory { needed, allowed: None })?;
                    }
                    digests.push(digest);
                }
                Ok(true)
            },
        )?;
        let kept = digests.len() as u64;
        let bar = progress::spinner("drawing the part");
        let part = Part::draw_linear(&plan, &hash, number, digests);
        bar.finish_and_clear();
        destination.save_part(&part?)?;
        let (file, counts) = (&self.target.output, [keys, kept]);
        let report = PartReport::new(file, number, "linear", plan.items(), counts);
        output::report_on(file, &report, self.target.json)
    }

    /// The hash of a filter that the new one will be united or compared with. It is looked at
    /// before anything is charged.
    fn hash_of(&self, path: &Path, plan: &PrivatePlan) -> anyhow::Result<HashFamily> {
        let PrivatePlan::Bloom(plan) = plan else {
            bail!(
                "--seed-from goes with --method bloom; linear filters are not united, and to \
                 compare them by keys they need no common seed"
            );
        };
        if self.key.path().is_some() {
            bail!(
                "--seed-from goes without a key: filters with the same --key-file have the same \
                 hash already"
            );
        }
        let context = || format!("cannot take the seed of {}", path.display());
        let (hash, bits, hashes) =
            match Open::new().verify(false).path(path).with_context(context)? {
                AnyFilter::Bloom(it) => (it.hash().clone(), it.plan().bits(), it.plan().hashes()),
                AnyFilter::PublicBloom(it) => {
                    (it.hash().clone(), it.plan().bits(), it.plan().hashes())
                }
                other => bail!(
                    "{} is a {} filter; a seed is taken of a private or published Bloom filter",
                    path.display(),
                    other.kind()
                ),
            };
        if (bits, hashes) != (plan.bits(), plan.hashes()) {
            bail!(
                "{} has {}, {hashes} to a key, and this filter would have {}, {} to a key, so they \
                 could not be united or compared; plan both alike: --bits {bits} --hashes {hashes}",
                path.display(),
                count_of(bits, "bit"),
                count_of(plan.bits(), "bit"),
                plan.hashes(),
            );
        }
        Ok(hash)
    }

    fn report_private(&self, plan: &PrivatePlan, keys: u64) -> anyhow::Result<()> {
        let file = self.target.output.display();
        let text = format!(
            "{file}: a private Bloom filter of {}; keep it to yourself, and publish from it: \
             tamis publish {file} --epsilon {} -o OUT",
            count_of(keys, "key"),
            plan.epsilon()
        );
        let report = ReleaseReport::new(&self.target, plan, None).of_keys(keys, Some(text));
        output::report_on(&self.target.output, &report, self.target.json)
    }
}
