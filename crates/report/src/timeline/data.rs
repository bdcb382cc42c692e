//! The data for the scripts of a timeline: columns of numbers. A column that ascends holds the
//! differences between consecutive numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::about::About;
use super::legend::Legend;
use super::packed::Packed;
use super::recording::{Gap, OfSm, Recording, Row};
use crate::explain::Stretch;
use warpbound_core::base::Pc;
use warpbound_trace::trace::StallReason;
use warpbound_trace::why::Kind;

/// The data of a timeline.
#[derive(Debug, Serialize)]
pub(super) struct Data<'a> {
    /// The number of cycles.
    end: u64,
    sub_cores: usize,
    reasons: Vec<&'static str>,
    units: Vec<&'a str>,
    /// The colour of each unit and of each kind.
    unit_colours: Vec<usize>,
    kind_colours: Vec<usize>,
    /// The line of each instruction, by program counter.
    lines: Vec<u32>,
    texts: Vec<&'a str>,
    /// The names of the source files.
    files: Vec<String>,
    /// The source file + 1 (0 for none) and the line of each instruction, by program counter.
    places: Packed,
    /// The SMs from number 0 on, and the number of SMs including those that are left out.
    sms: Vec<OneSm>,
    sm_count: usize,
    kinds: Vec<&'static str>,
    /// The critical path from cycle 0, without gaps: length, kind, row + 1 (0 for none) and line of
    /// each stretch; and its SM.
    path: Packed,
    path_sm: Option<usize>,
    /// The lengths of the phases of each warp when it runs alone, exec and idle in turn.
    alone: Vec<Packed>,
}

/// The data of an SM. Each row represents a warp.
#[derive(Debug, Serialize)]
struct OneSm {
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

/// Returns the column of the releases of a warp from barriers.
fn release_column(row: &Row) -> Packed {
    Packed::of(row.releases.iter().flat_map(|(at, barrier)| [*at, u64::from(*barrier)]))
}

/// Returns the column of a critical path on this SM.
fn path_column(stretches: &[Stretch], sm: &OfSm) -> Packed {
    let row_of: BTreeMap<(u32, u16), u64> =
        (1..).zip(&sm.rows).map(|(row, of)| ((of.block, of.warp), row)).collect();
    Packed::of(stretches.iter().flat_map(|stretch| {
        let of = stretch.of.as_ref();
        let row = of.and_then(|of| row_of.get(&(of.block, of.warp)).copied()).unwrap_or(0);
        let line = of.map_or(0, |of| u64::from(of.line));
        [stretch.to - stretch.from, stretch.kind as u64, row, line]
    }))
}

impl OneSm {
    fn new(sm: &OfSm, units: usize) -> Self {
        let issue = sm.rows.iter().flat_map(|row| differences(row.instructions.iter().map(|i| i.issue)));
        Self {
            rows: sm.rows.iter().map(numbers_of).collect(),
            issue: Packed::of(issue),
            waits: Packed::of(sm.instructions().map(|i| u64::from(i.waits))),
            init: Packed::of(sm.instructions().map(|i| u64::from(i.init))),
            lat: Packed::of(sm.instructions().map(|i| u64::from(i.lat))),
            pc: Packed::of(sm.instructions().map(|i| u64::from(i.pc))),
            unit: Packed::of(sm.instructions().map(|i| u64::from(i.unit))),
            busy: sm.busy(units).into_iter().map(busy_column).collect(),
            gaps: sm.gaps.iter().map(|gaps| gap_column(gaps)).collect(),
            releases: sm.rows.iter().map(release_column).collect(),
        }
    }
}

impl<'a> Data<'a> {
    /// Returns the data of a recording.
    pub fn new(recording: &'a Recording, about: &About<'a>, legend: &Legend) -> Self {
        let mut texts: Vec<&str> = about.listing.texts().collect();
        let lines = (0..texts.len()).map(|pc| about.listing.line(Pc::from_index(pc))).collect();
        texts.iter_mut().for_each(|text| *text = text.trim());
        let places = about
            .sources
            .places
            .iter()
            .flat_map(|place| place.map_or([0, 0], |(file, line)| [file as u64 + 1, u64::from(line)]));
        let path = about.path(recording);
        let units = recording.units();
        Self {
            end: recording.end(),
            sub_cores: recording.sub_cores(),
            reasons: StallReason::ALL.iter().map(|reason| reason.name()).collect(),
            units: units.iter().map(String::as_str).collect(),
            unit_colours: legend.unit_colours.clone(),
            kind_colours: legend.kind_colours(),
            lines,
            texts,
            files: about.sources.labels(),
            places: Packed::of(places),
            sms: recording.sms().iter().map(|sm| OneSm::new(sm, units.len())).collect(),
            sm_count: recording.limits().0,
            kinds: Kind::ALL.iter().map(|kind| kind.name()).collect(),
            path: path.map_or_else(Packed::default, |(sm, path)| path_column(path, &recording.sms()[sm])),
            path_sm: path.map(|(sm, _)| sm),
            alone: about
                .alone
                .iter()
                .map(|phases| Packed::of(phases.iter().map(|phase| phase.duration().get())))
                .collect(),
        }
    }
}
