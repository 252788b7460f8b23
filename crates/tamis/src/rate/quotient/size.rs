//! How many slots, and how wide their remainders.

use super::table::{BLOCK, MARKS, MAX_WIDTH, Shape};
use crate::error::{Error, Fitting, Wanted};
use crate::rate::{Kind, MAX_BITS, Plan};

/// A plan fills 19 of 20 slots. Past that, runs are pushed far from their homes.
const LOAD: (u64, u64) = (19, 20);

/// The most fingerprints that there may be, as a power of two: they are the high bits of a word
/// whose 64 bits are good.
const MAX_FINGERPRINT_BITS: u32 = 58;

/// How many fingerprints a table can tell apart.
pub(super) fn fingerprints(shape: Shape) -> u64 {
    shape.slots() << shape.width
}

/// The bits of the body.
pub(in crate::rate) fn bits(slots: u64, width: u32) -> u64 {
    slots / BLOCK * block_bits(width)
}

fn block_bits(width: u32) -> u64 {
    BLOCK * u64::from(width) + 8 * MARKS
}

/// The fewest blocks that hold the items at the planned load.
fn blocks_for(items: u64) -> u64 {
    let slots = (u128::from(items) * u128::from(LOAD.1)).div_ceil(u128::from(LOAD.0));
    u64::try_from(slots.div_ceil(u128::from(BLOCK))).unwrap_or(u64::MAX)
}

/// The most items that the blocks hold at the planned load.
fn items_in(blocks: u64) -> u64 {
    let slots = u128::from(blocks) * u128::from(BLOCK);
    (slots * u128::from(LOAD.0) / u128::from(LOAD.1)) as u64
}

/// Whether a table can be so large.
fn fits(shape: Shape) -> bool {
    (1..=MAX_WIDTH).contains(&shape.width)
        && (1..=MAX_BITS / block_bits(shape.width)).contains(&shape.blocks)
        && shape.slots() <= 1 << (MAX_FINGERPRINT_BITS - shape.width)
}

/// Whether a file can state such a width.
pub(in crate::rate) fn width_fits(width: u32) -> bool {
    (1..=MAX_WIDTH).contains(&width)
}

/// Whether a file can state so many slots.
pub(in crate::rate) fn slots_fit(slots: u64, width: u32) -> bool {
    slots.is_multiple_of(BLOCK) && fits(Shape { blocks: slots / BLOCK, width })
}

/// The share of strangers that pass when there are so many distinct items.
pub(in crate::rate) fn expected_fpr(slots: u64, width: u32, items: u64) -> f64 {
    expected(Shape { blocks: slots / BLOCK, width }, items)
}

fn expected(shape: Shape, items: u64) -> f64 {
    let each = -1.0 / fingerprints(shape) as f64;
    -(items as f64 * each.ln_1p()).exp_m1()
}

fn shapes(blocks: u64) -> impl Iterator<Item = Shape> {
    (1..=MAX_WIDTH).map(move |width| Shape { blocks, width }).take_while(|shape| fits(*shape))
}

fn plan(shape: Shape, items: u64, fpr: f64) -> Plan {
    Plan::of_slots(shape.slots(), shape.width, items, fpr)
}

/// The plan for items at a rate: the slots for the items, and the narrowest remainders for the
/// rate.
pub(in crate::rate) fn plan_items_fpr(items: u64, fpr: f64) -> Result<Plan, Error> {
    let blocks = blocks_for(items);
    if let Some(shape) = shapes(blocks).find(|shape| expected(*shape, items) <= fpr) {
        return Ok(plan(shape, items, fpr));
    }
    match shapes(blocks).last() {
        Some(shape) => Err(Error::RateTooLow {
            kind: Kind::Quotient.name(),
            items,
            got: fpr,
            nearest: expected(shape, items),
        }),
        None => Err(Error::TooManyBits {
            got: u128::from(blocks) * u128::from(block_bits(1)),
            wanted: Wanted::Items { items, fpr },
            nearest: Fitting::Items(items_in(MAX_BITS / block_bits(1))),
        }),
    }
}

/// The same by the bound items / fingerprints in place of the expected rate. Only sums and products
/// decide: the same on every machine, and twice the items take exactly twice the share.
pub(in crate::rate) fn plan_items_share(items: u64, share: f64) -> Result<Plan, Error> {
    let bound = |shape: &Shape| items as f64 / fingerprints(*shape) as f64;
    match shapes(blocks_for(items)).find(|shape| bound(shape) <= share) {
        Some(shape) => Ok(plan(shape, items, share)),
        None => plan_items_fpr(items, share),
    }
}

/// The plan for items in no more than these bits: the widest remainders that fit.
pub(in crate::rate) fn plan_items_bits(items: u64, bits: u64) -> Result<Plan, Error> {
    let fitting = |shape: &Shape| self::bits(shape.slots(), shape.width) <= bits;
    match shapes(blocks_for(items)).take_while(fitting).last() {
        Some(shape) => Ok(plan(shape, items, expected(shape, items))),
        None => Err(Error::TooFewBits {
            got: bits,
            wanted: Wanted::Slots { items },
            nearest: blocks_for(items).saturating_mul(block_bits(1)),
        }),
    }
}

/// The plan for the most items at the rate in no more than these bits.
pub(in crate::rate) fn plan_fpr_bits(fpr: f64, bits: u64) -> Result<Plan, Error> {
    let most = |shape: Shape| {
        // -ln(1 - fpr) of the fingerprints may be taken; the rounding of floats takes a few.
        let space = fingerprints(shape) as f64;
        let mut items = items_in(shape.blocks).min((-(-fpr).ln_1p() * space) as u64);
        while items > 0 && expected(shape, items) > fpr {
            items -= items / (1 << 50) + 1;
        }
        (items, shape)
    };
    (1..=MAX_WIDTH)
        .map(|width| Shape { blocks: bits / block_bits(width), width })
        .filter(|shape| fits(*shape))
        .map(most)
        .filter(|(items, _)| *items > 0)
        .max_by_key(|(items, shape)| (*items, std::cmp::Reverse(shape.width)))
        .map(|(items, shape)| plan(shape, items, fpr))
        .ok_or_else(|| Error::TooFewBits {
            got: bits,
            wanted: Wanted::Items { items: 1, fpr },
            nearest: plan_items_fpr(1, fpr).map_or(0, |plan| plan.bits()),
        })
}

impl Plan {
    /// The plan of a quotient filter that grew: twice the slots and items, the same fingerprints,
    /// the rate that was asked for.
    pub(in crate::rate) fn doubled(&self) -> Result<Plan, Error> {
        let shape = Shape { blocks: 2 * self.cells() / BLOCK, width: self.counter_bits() - 1 };
        if !fits(shape) {
            return Err(Error::Unsupported {
                kind: Kind::Quotient.name(),
                operation: "grow any further: its remainders have no bit left to give",
                remedy: "build one for more items",
            });
        }
        let plan = plan(shape, 2 * self.items(), self.fpr());
        Ok(if self.is_counted() { plan.counted() } else { plan })
    }
}
