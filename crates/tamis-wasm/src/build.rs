//! Filters that are built and changed in JavaScript.

use crate::error::thrown;
use crate::filter::RawFilter;
use crate::keys::Batch;
use crate::options::{AnyRate, PrivacyOptions, RateOptions, ZoneOptions, read};
use crate::plan::framed;
use crate::zone::Dictionary;
use tamis::privacy::{LinearDraft, Receipt, UltraFilter};
use tamis::rate::{Kind, StaticBuilder};
use tamis::zone::{CountingFilter, Filter as ZoneFilter};
use tamis::{
    AnyFilter, BlockedBloom, Bloom, CountingBloom, Error, HashFamily, QuotientFilter, Rolling,
    Scalable, SecretKey, SplitBloom,
};
use tamis_facts::{Info, ListFacts, PrivatePlan};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The most items of a release that is drawn here. It is for invented data: no ledger is charged.
const MAX_RELEASE: u64 = 100_000;

/// Refuses what would take more memory than the caller allows.
fn check_memory(needed: u64, allowed: f64) -> Result<(), JsValue> {
    let allowed = allowed as u64;
    if needed <= allowed {
        return Ok(());
    }
    Err(thrown(Error::Memory { needed, allowed: Some(allowed) }))
}

/// Refuses a copy that there is no memory for: without this it would be a trap.
fn check_room(needed: u64) -> Result<(), JsValue> {
    let lacking = || thrown(Error::Memory { needed, allowed: None });
    let size = usize::try_from(needed).map_err(|_| lacking())?;
    Vec::<u8>::new().try_reserve_exact(size).map_err(|_| lacking())
}

fn hash(seed: u64, secret: Option<Vec<u8>>) -> Result<HashFamily, JsValue> {
    match secret {
        Some(secret) => SecretKey::new(&secret).map(HashFamily::keyed).map_err(thrown),
        None => Ok(HashFamily::fast(seed)),
    }
}

/// An empty filter of the rate promise; not a static one.
#[wasm_bindgen]
pub fn build_rate(
    options: &str,
    seed: u64,
    secret: Option<Vec<u8>>,
    max_bytes: f64,
) -> Result<RawFilter, JsValue> {
    let hash = hash(seed, secret)?;
    let filter = match read::<RateOptions>(options)?.plan()? {
        AnyRate::Sized(plan) => {
            check_memory(plan.bytes(), max_bytes)?;
            match plan.filter() {
                Kind::Bloom => Bloom::with_plan(plan, hash).map(AnyFilter::from),
                Kind::Blocked => BlockedBloom::with_plan(plan, hash).map(AnyFilter::from),
                Kind::Split => SplitBloom::with_plan(plan, hash).map(AnyFilter::from),
                Kind::Counting => CountingBloom::with_plan(plan, hash).map(AnyFilter::from),
                Kind::Quotient => QuotientFilter::with_plan(plan, hash).map(AnyFilter::from),
                other => return Err(thrown(format!("a {other} filter cannot be built here"))),
            }
        }
        AnyRate::Static(_) => return Err(thrown("a static filter is built from all its keys")),
        AnyRate::Scalable(plan, _) => {
            check_memory(plan.bytes_for(plan.items()).map_err(thrown)?, max_bytes)?;
            Scalable::with_plan(plan, hash).map(|mut chain| {
                chain.limit_memory(Some(max_bytes as u64));
                AnyFilter::from(chain)
            })
        }
        AnyRate::Rolling(plan) => {
            check_memory(plan.bytes(), max_bytes)?;
            Rolling::with_plan(plan, hash).map(AnyFilter::from)
        }
    };
    filter.map(RawFilter).map_err(thrown)
}

/// An empty zone filter.
#[wasm_bindgen]
pub fn build_zone(
    options: &str,
    dictionary: Option<Dictionary>,
    max_bytes: f64,
) -> Result<RawFilter, JsValue> {
    let plan = read::<ZoneOptions>(options)?.plan(dictionary)?;
    check_memory(plan.bytes(), max_bytes)?;
    let filter = if plan.is_counting() {
        CountingFilter::with_plan(plan).map(AnyFilter::from)
    } else {
        ZoneFilter::with_plan(plan).map(AnyFilter::from)
    };
    filter.map(RawFilter).map_err(thrown)
}

/// A static filter on its way.
#[wasm_bindgen]
pub struct StaticDraft {
    builder: StaticBuilder,
    keys: u64,
    max_bytes: f64,
}

#[wasm_bindgen]
impl StaticDraft {
    /// No keys yet.
    #[wasm_bindgen(constructor)]
    pub fn new(
        fpr: f64,
        seed: u64,
        secret: Option<Vec<u8>>,
        max_bytes: f64,
    ) -> Result<StaticDraft, JsValue> {
        let builder = StaticBuilder::new(fpr).map_err(thrown)?;
        let builder = builder.hash(hash(seed, secret)?).map_err(thrown)?;
        Ok(StaticDraft { builder, keys: 0, max_bytes })
    }

    /// Adds keys.
    pub fn add(&mut self, batch: &Batch) -> Result<(), JsValue> {
        let keys = batch.keys();
        self.keys += keys.len() as u64;
        // A digest is 16 bytes, and sorting takes as many again.
        check_memory(self.keys.saturating_mul(32), self.max_bytes)?;
        self.builder.extend(keys).map_err(thrown)
    }

    /// Builds the filter of all keys.
    pub fn build(self) -> Result<RawFilter, JsValue> {
        self.builder.build().map(|filter| RawFilter(filter.into())).map_err(thrown)
    }
}

/// A private set on its way to be published, for demonstrations.
#[wasm_bindgen]
pub struct ReleaseDraft {
    set: Set,
    keys: u64,
}

enum Set {
    Linear(LinearDraft),
    Bloom(UltraFilter),
}

#[wasm_bindgen]
impl ReleaseDraft {
    /// An empty set.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str, max_bytes: f64) -> Result<ReleaseDraft, JsValue> {
        let plan = read::<PrivacyOptions>(options)?.plan()?;
        check_release(plan.items())?;
        check_memory(plan.bits().div_ceil(8).saturating_add(16 * MAX_RELEASE), max_bytes)?;
        let set = match plan {
            PrivatePlan::Linear(plan) => LinearDraft::new(plan).map(Set::Linear),
            PrivatePlan::Bloom(plan) => UltraFilter::new(plan).map(Set::Bloom),
        };
        Ok(ReleaseDraft { set: set.map_err(thrown)?, keys: 0 })
    }

    /// Adds keys.
    pub fn add(&mut self, batch: &Batch) -> Result<(), JsValue> {
        let keys = batch.keys();
        self.keys += keys.len() as u64;
        check_release(self.keys)?;
        match &mut self.set {
            Set::Linear(draft) => {
                keys.into_iter().try_for_each(|key| draft.insert(key)).map_err(thrown)
            }
            Set::Bloom(filter) => {
                filter.insert_many(keys);
                Ok(())
            }
        }
    }

    /// Draws the release.
    pub fn publish(self) -> Result<RawFilter, JsValue> {
        let filter = match self.set {
            Set::Linear(draft) => {
                let receipt = Receipt::unrecorded(draft.plan().epsilon());
                draft.publish(receipt).map(AnyFilter::from)
            }
            Set::Bloom(filter) => {
                let receipt = Receipt::unrecorded(filter.plan().epsilon());
                filter.publish(receipt).map(AnyFilter::from)
            }
        };
        filter.map(RawFilter).map_err(thrown)
    }
}

fn check_release(items: u64) -> Result<(), JsValue> {
    if items <= MAX_RELEASE {
        return Ok(());
    }
    Err(thrown(format!(
        "a release of {items} items is not for here, where no ledger is charged: at most \
         {MAX_RELEASE}; publish it with tamis publish"
    )))
}

#[wasm_bindgen]
impl RawFilter {
    /// Puts keys in, and says how many were certainly new.
    pub fn insert_batch(&mut self, batch: &Batch) -> Result<f64, JsValue> {
        self.0.insert_many(&batch.keys()).map(|new| new as f64).map_err(thrown)
    }

    /// Puts elements in even past the zone, and says how many were certainly new.
    pub fn insert_beyond(&mut self, batch: &Batch) -> Result<f64, JsValue> {
        let mut new = 0.0;
        for key in batch.keys() {
            new += f64::from(u8::from(self.0.insert_beyond(key).map_err(thrown)?));
        }
        Ok(new)
    }

    /// Takes keys out.
    pub fn remove_batch(&mut self, batch: &Batch) -> Result<(), JsValue> {
        batch.keys().into_iter().try_for_each(|key| self.0.remove(key)).map_err(thrown)
    }

    /// Takes in what another filter holds.
    pub fn union(&mut self, other: &RawFilter) -> Result<(), JsValue> {
        self.0.union(&other.0).map_err(thrown)
    }

    /// A copy.
    pub fn copy(&self) -> Result<RawFilter, JsValue> {
        check_room(self.0.plan().bytes())?;
        Ok(RawFilter(self.0.clone()))
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, JsValue> {
        check_room(self.0.plan().file_bytes())?;
        Ok(self.0.to_bytes())
    }

    /// What is known of it, as JSON.
    pub fn info(&self) -> Result<String, JsValue> {
        let info = Info::new(&self.0, true).ok_or_else(|| {
            thrown(format!("a {} filter cannot be shown by this release", self.0.kind()))
        })?;
        serde_json::to_string(&info).map_err(thrown)
    }

    /// Its elements, as JSON.
    pub fn list(&self) -> Result<String, JsValue> {
        let list = self.0.list().map_err(thrown)?;
        let Some(plan) = self.0.plan().zone() else {
            return Err(thrown("only a zone filter lists its elements"));
        };
        serde_json::to_string(&ListFacts::new(&list, plan.universe())).map_err(thrown)
    }

    /// What it holds, as SVG.
    pub fn picture(&self, title: String, bare: bool) -> Result<String, JsValue> {
        let drawing = tamis_plot::picture::of(&self.0, title).ok_or_else(|| {
            thrown(format!("a {} filter cannot be drawn by this release", self.0.kind()))
        })?;
        Ok(framed(drawing.svg(), bare))
    }
}
