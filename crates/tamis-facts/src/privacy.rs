//! Releases of the privacy promise.

use crate::{HEADER, Integer};
use serde::Serialize;
use tamis::AnyFilter;
use tamis::privacy::{Epsilon, LinearPlan, UltraPlan, floor};

/// A plan of either method.
#[derive(Debug, Clone, Copy)]
pub enum PrivatePlan {
    /// Of a linear filter.
    Linear(LinearPlan),
    /// Of a Bloom filter under noise.
    Bloom(UltraPlan),
}

impl PrivatePlan {
    /// The plan of a published filter, if it is one.
    #[must_use]
    pub fn of(any: &AnyFilter) -> Option<PrivatePlan> {
        match any {
            AnyFilter::Linear(filter) => Some(PrivatePlan::Linear(*filter.plan())),
            AnyFilter::PublicBloom(filter) => Some(PrivatePlan::Bloom(*filter.plan())),
            _ => None,
        }
    }

    /// What a release costs.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        match self {
            PrivatePlan::Linear(plan) => plan.epsilon(),
            PrivatePlan::Bloom(plan) => plan.epsilon(),
        }
    }

    /// The items that it has room for.
    #[must_use]
    pub fn items(&self) -> u64 {
        match self {
            PrivatePlan::Linear(plan) => plan.items(),
            PrivatePlan::Bloom(plan) => plan.items(),
        }
    }

    /// Refuses to publish so many keys in more memory than is allowed.
    pub fn check_memory(&self, keys: u64, most: u64) -> Result<(), tamis::Error> {
        match self {
            PrivatePlan::Linear(plan) => plan.check_memory(keys, most),
            PrivatePlan::Bloom(plan) => plan.check_memory(most),
        }
    }

    /// The strangers that pass, the members that do not, and F1.
    #[must_use]
    pub fn rates(&self) -> (f64, f64, f64) {
        match self {
            PrivatePlan::Linear(plan) => (plan.fpr(), plan.fnr(), plan.f1()),
            PrivatePlan::Bloom(plan) => (plan.fpr(), plan.fnr(), plan.f1()),
        }
    }

    /// The bits of a release.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match self {
            PrivatePlan::Linear(plan) => plan.bits(),
            PrivatePlan::Bloom(plan) => plan.bits(),
        }
    }
}

/// The facts of a plan of either method. A loss is a JSON number: nine decimals and six digits
/// before them survive that.
#[derive(Debug, Serialize)]
pub struct PrivacyFacts {
    promise: &'static str,
    method: &'static str,
    items: Integer,
    epsilon: f64,
    epsilon_replace: f64,
    fp: f64,
    r#fn: f64,
    f1: f64,
    floor: f64,
    bits: Integer,
    bytes: Integer,
    file_bytes: Integer,
    bits_per_item: f64,
    #[serde(flatten)]
    of_method: MethodFacts,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum MethodFacts {
    Linear {
        q: u32,
        drop_rate: f64,
        shards: Integer,
        columns: Integer,
    },
    Bloom {
        hashes: u32,
        threshold: u32,
        epsilon_bit: f64,
        flip_rate: f64,
        reconstruction_error: f64,
    },
}

impl PrivacyFacts {
    /// What a plan says.
    #[must_use]
    pub fn new(plan: &PrivatePlan) -> PrivacyFacts {
        let (fp, missed, f1) = plan.rates();
        let (method, of_method) = match plan {
            PrivatePlan::Linear(plan) => (
                "linear",
                MethodFacts::Linear {
                    q: plan.q(),
                    drop_rate: plan.drop_rate().to_f64(),
                    shards: plan.shards().into(),
                    columns: plan.columns().into(),
                },
            ),
            PrivatePlan::Bloom(plan) => (
                "bloom",
                MethodFacts::Bloom {
                    hashes: plan.hashes(),
                    threshold: plan.threshold(),
                    epsilon_bit: plan.epsilon_bit(),
                    flip_rate: plan.flip_rate().to_f64(),
                    reconstruction_error: plan.reconstruction_error(),
                },
            ),
        };
        PrivacyFacts {
            promise: "privacy",
            method,
            items: plan.items().into(),
            epsilon: plan.epsilon().to_f64(),
            epsilon_replace: 2.0 * plan.epsilon().to_f64(),
            fp,
            r#fn: missed,
            f1,
            floor: floor(plan.epsilon()),
            bits: plan.bits().into(),
            bytes: plan.bits().div_ceil(8).into(),
            file_bytes: (plan.bits().div_ceil(8) + HEADER).into(),
            bits_per_item: plan.bits() as f64 / plan.items() as f64,
            of_method,
        }
    }
}

/// A plan, and the loss that was asked for: a plan may spend less.
#[derive(Debug, Serialize)]
pub struct PrivacyReport {
    #[serde(flatten)]
    facts: PrivacyFacts,
    epsilon_asked: Option<f64>,
}

impl PrivacyReport {
    /// What a plan says, for a loss that was asked for.
    #[must_use]
    pub fn new(plan: &PrivatePlan, asked: Option<Epsilon>) -> PrivacyReport {
        let epsilon_asked = asked.map(Epsilon::to_f64);
        PrivacyReport { facts: PrivacyFacts::new(plan), epsilon_asked }
    }
}
