//! What a filter holds, as cells: a small filter cell by cell, a large one by region.

use crate::{Panel, Raster, counted, grouped, percent};
use tamis::rate::{Filter, Kind, Layout};
use tamis::zone::{CodeKind, Plan};
use tamis::{AnyFilter, QuotientFilter};

/// A filter of at most this many cells is drawn cell by cell.
const MAX_CELLS: u64 = 4_096;
/// A larger filter is drawn as this many regions.
const REGIONS: u64 = 2_048;
/// At most this many cells of a region are counted, so that the largest filters are drawn at once.
const SAMPLE: u64 = 1 << 18;
/// The blocks of a zone filter have names if there are at most this many.
const MAX_NAMED: usize = 40;
/// At most this many blocks are drawn.
const MAX_BLOCKS: usize = 256;

/// What a filter holds: a small one cell by cell, a large one by region. `None` for a kind that
/// this release cannot draw.
#[must_use]
pub fn of(any: &AnyFilter, title: String) -> Option<Raster> {
    Some(match any {
        AnyFilter::Bloom(filter) => cells_of_rate(filter, title),
        AnyFilter::Blocked(filter) => cells_of_rate(filter, title),
        AnyFilter::Split(filter) => cells_of_rate(filter, title),
        AnyFilter::Counting(filter) => cells_of_rate(filter, title),
        AnyFilter::Quotient(filter) => cells_of_quotient(filter, title)?,
        AnyFilter::Scalable(chain) => links(chain.links(), chain.expected_fpr(), title)?,
        AnyFilter::Rolling(chain) => links(chain.links(), chain.expected_fpr(), title)?,
        AnyFilter::Static(filter) => {
            let plan = filter.plan();
            let notes = vec![format!(
                "A solution of equations: {} in {:.2} bits each; of strangers {} pass. Which bits \
                 belong to a key cannot be seen.",
                counted(filter.items(), "key"),
                plan.bits_per_item(),
                percent(filter.expected_fpr())
            )];
            Body { bytes: filter.body(), width: 1, cells: plan.bits() }.to_raster(title, notes)
        }
        AnyFilter::Zone(filter) => cells_of_zone(filter.plan(), filter.body(), title),
        AnyFilter::ZoneCounting(filter) => cells_of_zone(filter.plan(), filter.body(), title),
        AnyFilter::PublicBloom(filter) => {
            let plan = filter.plan();
            let notes = vec![format!(
                "Noise: each of {} bits was flipped with {}; {} are ones. What is stored cannot be \
                 seen.",
                grouped(plan.bits()),
                percent(plan.flip_rate().to_f64()),
                percent(filter.ones())
            )];
            Body { bytes: filter.body(), width: 1, cells: plan.bits() }.to_raster(title, notes)
        }
        AnyFilter::Linear(filter) => {
            let plan = filter.plan();
            let notes = vec![format!(
                "Noise: a solution, drawn at random, of equations over {} elements. What is stored \
                 cannot be seen.",
                plan.q()
            )];
            Body { bytes: filter.body(), width: 1, cells: filter.body().len() as u64 * 8 }
                .to_raster(title, notes)
        }
        _ => return None,
    })
}

/// Bare arrays of bits, each with its number of bits, one panel an array.
#[must_use]
pub fn of_bits(arrays: &[(&[u8], u64)], title: String, note: String) -> Raster {
    let mut raster = Raster { title, notes: vec![note], panels: Vec::new() };
    for (i, (bytes, bits)) in arrays.iter().enumerate() {
        let body = Body { bytes, width: 1, cells: *bits };
        let drawn = body.to_raster(String::new(), Vec::new());
        let several = arrays.len() > 1;
        let part = |note| if several { format!("Filter {}: {note}", i + 1) } else { note };
        raster.notes.extend(drawn.notes.into_iter().map(part));
        for mut panel in drawn.panels {
            if several {
                panel.name = format!("filter {}", i + 1);
            }
            raster.panels.push(panel);
        }
    }
    raster
}

fn cells_of_rate<L: Layout>(filter: &Filter<L>, title: String) -> Raster {
    let plan = filter.plan();
    let cells = if plan.filter() == Kind::Counting { "counters" } else { "bits" };
    let notes = vec![format!(
        "{:.1}% of {} {cells} are set; of strangers {} pass now.",
        100.0 * filter.fill(),
        grouped(plan.cells()),
        percent(filter.expected_fpr())
    )];
    let body = Body { bytes: filter.body(), width: plan.counter_bits(), cells: plan.cells() };
    let mut raster = body.to_raster(title, notes);
    // One row for each lane of a block.
    let blocks = match plan.filter() {
        Kind::Blocked => Some((64, "one cache line")),
        Kind::Split => Some((32, "half a cache line")),
        _ => None,
    };
    if let Some((lane, size)) = blocks.filter(|_| plan.cells() <= MAX_CELLS) {
        raster.panels.clear();
        for block in 0..plan.cells() / (8 * lane) {
            let cells = block * 8 * lane..(block + 1) * 8 * lane;
            let shades = cells.map(|cell| body.shade(cell)).collect();
            let name = format!("block {block}, {size}");
            raster.panels.push(Panel::new(&name, shades, lane as usize));
        }
    }
    raster
}

/// The links of a chain, one below the other, oldest first. `None` for a damaged file.
fn links(links: &[QuotientFilter], fpr: f64, title: String) -> Option<Raster> {
    let keys = links.iter().map(QuotientFilter::len).sum();
    let notes = vec![format!(
        "{} in {}, the oldest first; slots are the darker the further from home; of strangers {} \
         pass now.",
        counted(keys, "key"),
        counted(links.len() as u64, "link"),
        percent(fpr)
    )];
    let mut panels = Vec::new();
    for (number, link) in (1..).zip(links.iter().take(MAX_BLOCKS)) {
        let (held, room) = (grouped(link.len()), counted(link.plan().items(), "key"));
        let name = format!("link {number}: {held} of {room}");
        panels.push(Panel::new(&name, slots_of(link)?, 64));
    }
    Some(Raster { title, notes, panels })
}

/// The slots, darker the further a remainder lies from its home. `None` for a damaged file.
fn cells_of_quotient(filter: &QuotientFilter, title: String) -> Option<Raster> {
    let slots = filter.plan().cells();
    let notes = vec![format!(
        "{:.1}% of {} slots are taken, the darker the further from home; of strangers {} pass now.",
        100.0 * filter.fill(),
        grouped(slots),
        percent(filter.expected_fpr())
    )];
    Some(Raster { title, notes, panels: vec![Panel::new("", slots_of(filter)?, 64)] })
}

/// The shade of each slot. A large filter is drawn as regions: the mean of their slots.
fn slots_of(filter: &QuotientFilter) -> Option<Vec<f64>> {
    let slots = filter.plan().cells();
    let cells = slots.min(REGIONS.max(MAX_CELLS));
    let mut shades = vec![0.0; cells as usize];
    let per_cell = slots as f64 / cells as f64;
    for (slot, home) in filter.slots().ok()? {
        let away = ((slot + slots - home) % slots) as f64;
        let shade = 0.3 + 0.7 * (away / 64.0).min(1.0).sqrt();
        let cell = (u128::from(slot) * u128::from(cells) / u128::from(slots)) as usize;
        shades[cell] += shade / per_cell;
    }
    Some(shades)
}

/// One row of residues for each block.
fn cells_of_zone(plan: &Plan, bytes: &[u8], title: String) -> Raster {
    let blocks = plan.blocks();
    let body = Body { bytes, width: plan.counter_bits(), cells: plan.cells() };
    let drawn = blocks.len().min(MAX_BLOCKS);
    let mut notes = vec![format!(
        "{}: {} of {}, up to {}. A key sets one cell of each block.",
        plan.code(),
        counted(blocks.len() as u64, "block"),
        grouped(plan.cells()) + if plan.is_counting() { " counters" } else { " bits" },
        counted(plan.items(), "item"),
    )];
    if drawn < blocks.len() {
        notes.push(format!("The first {drawn} blocks."));
    }
    let widest = blocks.iter().take(drawn).copied().max().unwrap_or(1);
    // A wide block is drawn in at most 64 bins.
    let columns = widest.min(64);
    if widest > columns {
        notes.push("Neighbouring residues share a cell of the drawing.".to_owned());
    }
    let mut panels = Vec::new();
    let mut start = 0;
    for (i, size) in blocks.iter().take(drawn).enumerate() {
        let bins = (*size).min(columns);
        let shades = (0..bins)
            .map(|bin| body.darkest(start + size * bin / bins, start + size * (bin + 1) / bins))
            .collect();
        let words = match plan.code().kind() {
            CodeKind::Rs => format!("block {}: {size} values", i + 1),
            _ => format!("residues modulo {size}"),
        };
        let name = if drawn <= MAX_NAMED { words } else { String::new() };
        panels.push(Panel::new(&name, shades, columns as usize));
        start += size;
    }
    Raster { title, notes, panels }
}

/// Cells of some width, packed, the least significant bit first.
struct Body<'a> {
    bytes: &'a [u8],
    width: u32,
    cells: u64,
}

impl Body<'_> {
    fn value(&self, cell: u64) -> u64 {
        let first = cell * u64::from(self.width);
        (0..u64::from(self.width)).fold(0, |value, bit| {
            let at = first + bit;
            let byte = self.bytes.get((at / 8) as usize).copied().unwrap_or(0);
            value | u64::from(byte >> (at % 8) & 1) << bit
        })
    }

    /// A counter is darker when it counts more. The square root keeps small counts visible.
    fn shade(&self, cell: u64) -> f64 {
        let ceiling = (1u64 << self.width.min(62)) - 1;
        match self.value(cell) {
            0 => 0.0,
            value if self.width == 1 => value as f64,
            value => 0.3 + 0.7 * (value as f64 / ceiling as f64).sqrt(),
        }
    }

    /// The darkest of some cells.
    fn darkest(&self, from: u64, to: u64) -> f64 {
        (from..to.min(self.cells)).map(|cell| self.shade(cell)).fold(0.0, f64::max)
    }

    /// The share of cells that are not zero, from a sample if there are many.
    fn fill(&self, from: u64, to: u64) -> f64 {
        let end = to.min(from + SAMPLE);
        let set = (from..end).filter(|cell| self.value(*cell) != 0).count();
        set as f64 / (end - from).max(1) as f64
    }

    fn to_raster(&self, title: String, mut notes: Vec<String>) -> Raster {
        if self.cells <= MAX_CELLS {
            let shades = (0..self.cells).map(|cell| self.shade(cell)).collect();
            return Raster {
                title,
                notes,
                panels: vec![Panel::new("", shades, 64.min(self.cells as usize))],
            };
        }
        let bound = |region: u64| {
            (u128::from(self.cells) * u128::from(region) / u128::from(REGIONS)) as u64
        };
        let fills: Vec<f64> =
            (0..REGIONS).map(|region| self.fill(bound(region), bound(region + 1))).collect();
        let (low, high) =
            fills.iter().fold((f64::MAX, f64::MIN), |(low, high), f| (low.min(*f), high.max(*f)));
        let size = self.cells / REGIONS;
        let sampled = if size > SAMPLE { ", the first part of each counted" } else { "" };
        notes.push(format!(
            "{} regions of about {} cells{sampled}: from {} set (pale) to {} (dark).",
            grouped(REGIONS),
            grouped(size),
            percent(low),
            percent(high)
        ));
        let spread = (high - low).max(1e-9);
        let shades = fills
            .iter()
            .map(|fill| if high == low { *fill } else { 0.06 + 0.94 * (fill - low) / spread })
            .collect();
        Raster { title, notes, panels: vec![Panel::new("", shades, 64)] }
    }
}
