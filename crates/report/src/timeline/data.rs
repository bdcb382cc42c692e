//! The data for the scripts of a timeline: columns of numbers. A column that ascends holds the
//! differences between consecutive numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::about::About;
use super::packed::Packed;
use super::recording::{Gap, Recording, Row};
use warpbound_core::base::Pc;
use warpbound_trace::trace::StallReason;
use warpbound_trace::why::Kind;

/// The data of a timeline. Each row represents a warp.
#[derive(Debug, Serialize)]
pub(super) struct Data<'a> {
    /// The number of cycles.
    end: u64,
    sub_cores: usize,
    reasons: Vec<&'static str>,
    units: Vec<&'a str>,
    /// The line of each instruction, by program counter.
    lines: Vec<u32>,
    texts: Vec<&'a str>,
    /// Block, warp, sub-core, slot, start, end and number of instructions of each row.
    rows: Vec<[u64; 7]>,
    /// The columns of instructions, with all rows one after the other. Issue cycles are differences
    /// within a row.
    issue: Packed,
    waits: Packed,
    init: Packed,
    lat: Packed,
    pc: Packed,
    unit: Packed,
    /// The busy intervals of each unit: start and length.
    busy: Vec<Packed>,
    /// The gaps of each sub-core: start, length, reason, row + 1 and program counter + 1 (0 for
    /// none).
    gaps: Vec<Packed>,
    /// The cycle and the barrier of each release, by row.
    releases: Vec<Packed>,
    /// The lengths of the phases of each row's warp when it runs alone, exec and idle in turn.
    alone: Vec<Packed>,
    kinds: Vec<&'static str>,
    /// The critical path from cycle 0, without gaps: length, kind, row + 1 (0 for none) and line of
    /// each stretch.
    path: Packed,
}

/// Returns each number minus the one before.
fn differences(numbers: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    numbers.scan(0, |before, number| Some(number - std::mem::replace(before, number)))
}

/// Returns the numbers that describe a row.
fn numbers_of(row: &Row) -> [u64; 7] {
    let (core, slot, count) = (row.sub_core as u64, row.slot as u64, row.instructions.len() as u64);
    [u64::from(row.block), u64::from(row.warp), core, slot, row.start, row.end, count]
}

/// Returns the column of the busy intervals of a unit.
fn busy_column(intervals: Vec<(u64, u64)>) -> Packed {
    let mut before = 0;
    Packed::of(intervals.into_iter().flat_map(move |(from, to)| {
        let gap = from - std::mem::replace(&mut before, from);
        [gap, to - from]
    }))
}

/// Returns the column of the gaps of a sub-core.
fn gap_column(gaps: &[Gap]) -> Packed {
    let mut before = 0;
    Packed::of(gaps.iter().flat_map(move |gap| {
        let (row, pc) = gap.waiting.map_or((0, 0), |(row, pc)| (u64::from(row) + 1, u64::from(pc) + 1));
        let from = gap.from - std::mem::replace(&mut before, gap.from);
        [from, gap.to - gap.from, u64::from(gap.reason), row, pc]
    }))
}

impl<'a> Data<'a> {
    /// Returns the data of a recording.
    pub fn new(recording: &'a Recording, about: &About<'a>) -> Self {
        let all = || recording.rows.iter().flat_map(|row| &row.instructions);
        let mut texts: Vec<&str> = about.listing.texts().collect();
        let lines = (0..texts.len()).map(|pc| about.listing.line(Pc::from_index(pc))).collect();
        texts.iter_mut().for_each(|text| *text = text.trim());
        let issue =
            recording.rows.iter().flat_map(|row| differences(row.instructions.iter().map(|i| i.issue)));
        let row_of: BTreeMap<(u32, u16), u64> =
            (1..).zip(&recording.rows).map(|(row, of)| ((of.block, of.warp), row)).collect();
        let path = about.path().iter().flat_map(|stretch| {
            let of = stretch.of.as_ref();
            let row = of.and_then(|of| row_of.get(&(of.block, of.warp)).copied()).unwrap_or(0);
            let line = of.map_or(0, |of| u64::from(of.line));
            [stretch.to - stretch.from, stretch.kind as u64, row, line]
        });
        Self {
            kinds: Kind::ALL.iter().map(|kind| kind.name()).collect(),
            path: Packed::of(path),
            end: recording.end(),
            sub_cores: recording.gaps.len(),
            reasons: StallReason::ALL.iter().map(|reason| reason.name()).collect(),
            units: recording.units().iter().map(String::as_str).collect(),
            lines,
            texts,
            rows: recording.rows.iter().map(numbers_of).collect(),
            issue: Packed::of(issue),
            waits: Packed::of(all().map(|i| u64::from(i.waits))),
            init: Packed::of(all().map(|i| u64::from(i.init))),
            lat: Packed::of(all().map(|i| u64::from(i.lat))),
            pc: Packed::of(all().map(|i| u64::from(i.pc))),
            unit: Packed::of(all().map(|i| u64::from(i.unit))),
            busy: recording.busy().into_iter().map(busy_column).collect(),
            gaps: recording.gaps.iter().map(|gaps| gap_column(gaps)).collect(),
            releases: recording
                .rows
                .iter()
                .map(|row| {
                    Packed::of(row.releases.iter().flat_map(|(at, barrier)| [*at, u64::from(*barrier)]))
                })
                .collect(),
            alone: about
                .alone
                .iter()
                .map(|phases| Packed::of(phases.iter().map(|phase| phase.duration().get())))
                .collect(),
        }
    }
}
