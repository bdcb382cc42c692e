//! What a warp costs, whatever path it takes.
//!
//! A sum of services and a chain of latencies are linear in the algebra of maximum and sum, so that a
//! choice between paths is the elementwise maximum of what follows each of them
//! ([`Measure`]). The content of the instruction buffer is not: the warp is followed separately for
//! each content that it may have.

use std::ops::Sub;

use super::CASES;
use super::costs::{Cost, Costs};
use super::fetch::{Buffer, Fetches};
use super::memory::{Path, Unplaced};
use super::span::Span;
use crate::operands::writes;
use crate::over_paths::{Measure, grown};
use crate::parts::Services;
use warpbound_core::machine::Hazards;
use warpbound_core::path::{Accessed, Step};
use warpbound_core::program::{Flow, TimingTable};

/// What a warp has cost so far, in the scaled unit of [`Costs`]. Each number is a sum over the
/// instructions of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// The service that only the warp's sub-core can wait for, and that which all can wait for.
    pub private: u64,
    pub shared: u64,
    pub services: Services,
    /// The number of accesses that may go to DRAM.
    pub visits: u64,
    /// The service of the writes of results, the requests, and those requests that nothing waits for;
    /// all three count only instructions that not every path has.
    pub writes: u64,
    pub unplaced: Unplaced,
    pub unawaited: u64,
}

impl Sums {
    /// Combines each number with that of another sum.
    #[must_use]
    fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64 + Copy) -> Self {
        Self {
            private: combine(self.private, other.private),
            shared: combine(self.shared, other.shared),
            services: self.services.with(other.services, combine),
            visits: combine(self.visits, other.visits),
            writes: combine(self.writes, other.writes),
            unplaced: self.unplaced.with(other.unplaced, combine),
            unawaited: combine(self.unawaited, other.unawaited),
        }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }
}

/// A warp on its way.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    /// What it may have done, for each content of its instruction buffer.
    ways: Vec<Way>,
}

/// What a warp has done in a section whose instruction buffer has a given content.
#[derive(Clone, Debug)]
struct Way {
    buffer: Buffer,
    /// Whether the last instruction was a barrier.
    is_at_barrier: bool,
    /// The chains of latencies in each case of [`Stays`](super::memory::Stays).
    spans: [Span; CASES],
    /// The longest chain of a section that has ended.
    ended: [u64; CASES],
    sums: Sums,
    has_instructions: bool,
}

/// What a warp costs in a section.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfSection {
    pub sums: Sums,
    /// The longest chain of latencies in each case of [`Stays`](super::memory::Stays), in cycles.
    pub spans: [u64; CASES],
    pub has_instructions: bool,
}

impl Way {
    fn join(&mut self, other: &Self) {
        self.spans.iter_mut().zip(&other.spans).for_each(|(mine, theirs)| mine.join(theirs));
        self.ended.iter_mut().zip(other.ended).for_each(|(mine, theirs)| *mine = theirs.max(*mine));
        self.sums = self.sums.with(other.sums, u64::max);
        self.has_instructions |= other.has_instructions;
    }
}

impl Progress {
    /// Returns the state of a warp that has not begun.
    pub fn new(table: &TimingTable, fetches: &Fetches) -> Self {
        let way = Way {
            buffer: Buffer::default(),
            is_at_barrier: false,
            spans: std::array::from_fn(|_| Span::new(table, fetches.kept_lines())),
            ended: [0; CASES],
            sums: Sums::default(),
            has_instructions: false,
        };
        Self { ways: vec![way] }
    }

    /// Adds the next instruction, and what it costs besides its services and latencies.
    pub fn issue(
        &mut self,
        (table, fetches): (&TimingTable, &Fetches),
        step: Step,
        cost: &Cost,
        besides: Sums,
    ) {
        let service = cost.service.total();
        for way in &mut self.ways {
            let fetch = fetches.before(&mut way.buffer, (step, table), way.spans[0].is_first());
            let (private, shared) = if cost.shared { (0, service) } else { (service, 0) };
            let services = Services { fetch: fetch.service, ..cost.service };
            let shared = shared + fetch.service;
            way.sums = way.sums.and(Sums {
                private,
                shared,
                services,
                visits: u64::from(cost.reaches_memory),
                ..besides
            });
            way.is_at_barrier = table.instr(step.pc()).flow == Flow::Barrier;
            way.has_instructions = true;
            for (case, (span, ended)) in way.spans.iter_mut().zip(&mut way.ended).enumerate() {
                span.issue(table, step, (cost, case), fetch);
                if way.is_at_barrier {
                    *ended = span.longest().max(*ended);
                    span.begin();
                }
            }
            fetches.issued(&mut way.buffer, step, table);
        }
        self.merge();
    }

    /// Merges ways with the same content of the buffer.
    fn merge(&mut self) {
        let mut kept = 0;
        for index in 0..self.ways.len() {
            let (before, rest) = self.ways.split_at_mut(index);
            let way = &rest[0];
            let is_same =
                |other: &&mut Way| (other.buffer, other.is_at_barrier) == (way.buffer, way.is_at_barrier);
            match before[..kept].iter_mut().find(is_same) {
                Some(same) => same.join(way),
                None => {
                    self.ways.swap(kept, index);
                    kept += 1;
                }
            }
        }
        self.ways.truncate(kept);
    }

    /// Ends a section, and returns what it cost.
    pub fn end_section(&mut self) -> OfSection {
        let mut section = OfSection::default();
        for way in &mut self.ways {
            section.sums = section.sums.with(std::mem::take(&mut way.sums), u64::max);
            section.has_instructions |= std::mem::take(&mut way.has_instructions);
            for (longest, (span, ended)) in section.spans.iter_mut().zip(way.spans.iter().zip(&mut way.ended))
            {
                *longest = span.longest().max(std::mem::take(ended)).max(*longest);
            }
        }
        section
    }

    /// Returns the service of a fetch for a warp that waits at a barrier and has no instruction left.
    pub fn at_last_barrier(&self, fetches: &Fetches) -> u64 {
        let waiting = self.ways.iter().filter(|way| way.is_at_barrier);
        waiting.map(|way| fetches.at_last_barrier(way.buffer)).max().unwrap_or(0)
    }
}

/// Measures the part of a warp's paths that only some of them have.
pub(super) struct AnyPath<'a> {
    pub table: &'a TimingTable,
    pub costs: &'a Costs,
    pub fetches: &'a Fetches,
    /// The way through the memory system, if there is one.
    pub path: Option<&'a Path>,
}

impl AnyPath<'_> {
    /// Returns the number of requests of a load or an atomic, and whether it can issue again only
    /// when these requests have been answered, because it waits for the registers that it writes.
    pub fn requests(&self, step: Step, accessed: Accessed) -> Option<(u64, bool)> {
        let (_, sent) = self.costs.of_some_paths(self.table, step, accessed, self.path);
        (sent.sums.loads > 0).then(|| (sent.requests, waits_for_itself(self.table, step)))
    }
}

/// Returns whether an instruction waits until its previous execution by the same warp is complete.
fn waits_for_itself(table: &TimingTable, step: Step) -> bool {
    let is_copy = table.instr(step.pc()).flow == Flow::AsyncCopy;
    // control codes need not wait for a register that is written again
    let checks = table.hazards().contains(Hazards::WAW) && table.barriers().is_none();
    checks && !is_copy && writes(table, step).next().is_some()
}

/// The amounts by which the chains of each case grow, and each sum.
pub(super) struct Growth {
    chains: [u64; CASES],
    sums: Sums,
}

impl Measure for AnyPath<'_> {
    type State = Progress;
    type Growth = Growth;

    fn step(&self, state: &mut Progress, step: Step, accessed: Accessed) {
        if !self.table.issues(step) {
            return;
        }
        let (cost, sent) = self.costs.of_some_paths(self.table, step, accessed, self.path);
        let is_unawaited = sent.sums.loads > 0 && !waits_for_itself(self.table, step);
        let unawaited = if is_unawaited { sent.requests } else { 0 };
        let besides = Sums { writes: cost.writes, unplaced: sent.sums, unawaited, ..Sums::default() };
        state.issue((self.table, self.fetches), step, &cost, besides);
    }

    fn join(&self, state: &mut Progress, other: &Progress) {
        state.ways.extend(other.ways.iter().cloned());
        state.merge();
    }

    fn growth(&self, before: &Progress, after: &Progress) -> Option<Growth> {
        let mut growth = None;
        let all = before.ways.iter().zip(&after.ways);
        for (before, after) in all.filter(|_| before.ways.len() == after.ways.len()) {
            if (before.buffer, before.is_at_barrier) != (after.buffer, after.is_at_barrier) {
                return None;
            }
            let mut chains = [0; CASES];
            for (chain, (before, after)) in chains.iter_mut().zip(before.spans.iter().zip(&after.spans)) {
                *chain = before.growth(after)?;
            }
            if after.sums.with(before.sums, u64::min) != before.sums {
                return None;
            }
            let sums = after.sums.with(before.sums, u64::sub);
            let is_known = growth.get_or_insert((chains, sums));
            if *is_known != (chains, sums) {
                return None;
            }
        }
        growth.map(|(chains, sums)| Growth { chains, sums })
    }

    fn grow(&self, state: &mut Progress, by: &Growth, times: u64) {
        for way in &mut state.ways {
            way.spans.iter_mut().zip(by.chains).for_each(|(span, by)| span.grow(by, times));
            way.sums = way.sums.with(by.sums, |sum, by| grown(sum, by, times));
        }
    }
}
