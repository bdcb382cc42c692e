//! The instruction caches that bring code to the sub-cores.
//!
//! A warp looks up a line of code when it goes on to another one. Whether the line is there depends on
//! the other warps, unless a cache has room for all code: then each line is requested once, and a
//! line that the warp itself has entered, or that it has caused to be prefetched, stays. Requests keep
//! the L1 and the memory behind it busy, which is service; what is left are the two latencies.

use crate::resident::Residency;
use warpbound_core::machine::Machine;
use warpbound_core::machine::pipeline::{CodeCache, InstructionCaches};
use warpbound_core::program::TimingTable;

/// The instruction caches of a machine, and the code of a kernel.
#[derive(Clone, Debug)]
pub(super) struct CodeSupply {
    settings: InstructionCaches,
    /// The number of lines of the code.
    lines: u32,
    /// The number of lines that stay in the L0, or in the L1, once they have been requested: all or none.
    kept_lines: usize,
    /// The cycles from the request of a line to the moment from which it stays in the cache that keeps
    /// it, if nothing is busy. It is 0 if the line is there from the beginning.
    arrival: u64,
    /// The cycles that a warp waits in addition each time it enters a line.
    each: u64,
    /// The cycles that requests which are made only once occupy the L1 and the memory behind it.
    once: u64,
    /// The service of a request that may be made each time a warp enters a line.
    service: u64,
    /// The most service that requests of ended blocks may need on an SM at any time; `None` if there
    /// is no other limit than that of all requests.
    of_ended_blocks: Option<u64>,
}

/// Returns whether a cache with these sets and ways has a place for all of this many lines of code.
pub(super) fn fits(lines: u64, sets: u32, ways: u32) -> bool {
    lines.div_ceil(sets.into()) <= ways.into()
}

/// What it costs a warp to go on to an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Supplied {
    /// The service of the requests that it may cause.
    pub service: u64,
    /// The number of cycles that the warp waits because it jumps.
    pub latency: u64,
    /// The line of code that the warp goes on to, if it leaves the one that it is in.
    pub enters: Option<Entry>,
}

/// A line of code that a warp goes on to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The number of the line.
    pub line: usize,
    /// The end of the lines that have been requested when the warp is there; it is 0 if no cache keeps
    /// them.
    pub end: usize,
    /// The cycles after which each of these lines has arrived where it stays.
    pub arrival: u64,
    /// The cycles from then on, or from the entry, until the warp can issue.
    pub each: u64,
}

impl CodeSupply {
    /// Returns the caches of a machine, or `None` if it has none.
    pub fn new(
        table: &TimingTable,
        (machine, residency): (&Machine, &Residency),
        scale: u64,
    ) -> Option<Self> {
        let settings = machine.pipeline()?.instruction_caches?;
        let bytes = u64::from(table.places()) * u64::from(settings.instruction);
        let lines = bytes.div_ceil(settings.line.into());
        let InstructionCaches { l1_latency, l1_interval, lower_latency, lower_interval, warm, .. } = settings;
        let fits_in = |cache: CodeCache| fits(lines, cache.sets, cache.ways);
        let (in_l0, in_l1) = (fits_in(settings.l0), fits_in(settings.l1));
        let lower = if in_l1 && warm { 0 } else { lower_latency };
        let slots = (residency.places as usize).saturating_mul(residency.warps).max(1);
        let sub_cores = table.sub_cores().count().min(slots) as u64;
        // the lines that the memory behind the L1 serves only once
        let from_lower = match (in_l1, in_l0) {
            (true, _) if warm => 0,
            (true, _) => lines,
            (false, true) => sub_cores * lines,
            (false, false) => 0,
        };
        let once = from_lower * lower_interval;
        let supply = Self {
            settings,
            lines: lines as u32,
            kept_lines: if in_l0 || in_l1 { lines as usize } else { 0 },
            arrival: 0,
            each: 0,
            once,
            service: 0,
            of_ended_blocks: Some(0),
        };
        Some(if in_l0 {
            // whatever the L1 loses, each L0 requests a line only once
            let once = once + sub_cores * lines * l1_interval;
            Self { arrival: lower + l1_latency - 1, once, ..supply }
        } else if in_l1 {
            // since the oldest of these requests was made, only lines that an L0 had then were used
            let held = u64::from(settings.l0.sets) * u64::from(settings.l0.ways);
            let ended = (sub_cores * held.min(lines) + 1) * u64::from(settings.prefetch) + 1;
            let service = l1_interval * scale;
            let of_ended_blocks = Some(ended * service);
            Self { arrival: lower, each: l1_latency - 1, service, of_ended_blocks, ..supply }
        } else {
            let service = (l1_interval + lower_interval) * scale;
            Self { each: lower + l1_latency - 1, service, of_ended_blocks: None, ..supply }
        })
    }

    /// Returns the number of lines that a cache keeps.
    pub fn kept_lines(&self) -> usize {
        self.kept_lines
    }

    /// Returns the cycles that requests which are made only once occupy the L1 and the memory behind it.
    pub fn once(&self) -> u64 {
        self.once
    }

    /// Returns the most service that requests of ended blocks may need on an SM at any time, if that is
    /// limited. A block ends without waiting for the lines that were prefetched for it.
    pub fn of_ended_blocks(&self) -> Option<u64> {
        self.of_ended_blocks
    }

    /// Returns what it costs a warp to go on to an instruction at this place. `next` is the place after
    /// its last instruction, if there is one.
    pub fn before(&self, next: Option<u32>, place: u32) -> Supplied {
        let line = self.line_of(place);
        let jumps = next.is_some_and(|next| next != place);
        let latency = if jumps { self.settings.jump - 1 } else { 0 };
        if next.is_some_and(|next| self.line_of(next - 1) == line) {
            return Supplied { latency, ..Supplied::default() };
        }
        let end = line.saturating_add(self.settings.prefetch).saturating_add(1).min(self.lines);
        let requests = u64::from(end.saturating_sub(line));
        let (line, end) = (line as usize, (end as usize).min(self.kept_lines));
        let enters = Some(Entry { line, end, arrival: self.arrival, each: self.each });
        Supplied { service: requests * self.service, latency, enters }
    }

    fn line_of(&self, place: u32) -> u32 {
        (u64::from(place) * u64::from(self.settings.instruction) / u64::from(self.settings.line)) as u32
    }
}
