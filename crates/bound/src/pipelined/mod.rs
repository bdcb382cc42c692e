//! The share of a block in [`Plb`](crate::Plb), the bound of machines with a pipeline.
//!
//! `costs` states for each instruction how long it may occupy what others wait for (its *service*),
//! and how long its own warp waits for nothing but latencies. `fetch` counts what an instruction
//! costs the front end, `code_supply` what it costs instruction caches, and `leaving` what it costs that
//! results leave units one after the other. `span` follows the longest chain of latencies of a warp.
//! `memory` counts the requests to caches, crossbar and DRAM, and `shares` combines the blocks of a
//! launch. `any_path` follows a warp over all paths that it may take, and `followed` keeps sections of
//! warps that have been followed.

mod any_path;
mod code_supply;
mod costs;
mod fetch;
mod followed;
mod leaving;
mod memory;
mod shares;
mod span;

pub use memory::{AtStart, MemoryLeft};
pub use shares::{PipelineShare, PipelineShares};

use any_path::{AnyPath, OfSection, Progress, Sums};
use costs::{Cost, Costs};
use fetch::Fetches;
use followed::{Before, Known, SectionEnd};
use memory::{LaunchMemory, Path, Stays};
use span::Span;

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;

use crate::kept::{Kept, NumberHash};
use crate::over_paths::{Piece, Sections, each_step, over_part};
use crate::parts::{Beside, Services};
use crate::resident::{BlockShare, Residency};
use warpbound_core::base::Pc;
use warpbound_core::machine::{Machine, SubCores};
use warpbound_core::path::{Accessed, BlockPaths, PathSet, Step, WarpPath};
use warpbound_core::program::{Flow, KernelCode, TimingTable};

/// The number of cases of [`Stays`].
const CASES: usize = Stays::ALL.len();

/// Computes the shares of the blocks of a launch.
#[derive(Clone, Debug)]
pub struct PipelineAnalyser<'t> {
    table: &'t TimingTable,
    costs: Costs,
    fetches: Fetches,
    residency: Residency,
    /// The paths of a warp in each case of [`Stays`].
    spans: [Span; CASES],
    /// The requests of the launch, if the machine has a memory system behind the load/store units.
    memory: Option<LaunchMemory>,
    sections: Vec<Section>,
    /// The services of the block.
    services: Services,
    /// The costs of those executions of the present warp of which an instruction may have different
    /// ones, and the ends of its sections.
    noted: Vec<Cost>,
    ends: Vec<SectionEnd>,
    /// Sections that were followed. In most kernels nearly all warps do the same.
    followed: Kept<Known>,
}

/// What a warp adds in a section. Loads are in the scaled unit of [`Costs`].
#[derive(Clone, Copy, Debug, Default)]
struct OfWarp {
    /// The service that only its sub-core can wait for.
    private: u64,
    /// The service that every sub-core can wait for.
    shared: u64,
    services: Services,
    /// The number of its accesses that may go to DRAM.
    visits: u64,
    /// The longest chain of latencies, in cycles, in each case of [`Stays`].
    spans: [u64; CASES],
}

/// What all warps of a block add in one section. Loads are in the scaled unit of [`Costs`].
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    /// The service that only one sub-core can wait for, by sub-core.
    private: [u64; SubCores::MAX],
    /// The service that every sub-core can wait for.
    shared: u64,
    /// The largest number of accesses of a warp that may go to DRAM.
    visits: u64,
    /// The longest chain of latencies of a warp, in cycles, in each case of [`Stays`].
    spans: [u64; CASES],
    /// The sub-cores that have instructions.
    classes: u8,
    /// How many further sections may have as long chains; the loads are those of all of them.
    more: u64,
}

impl<'t> PipelineAnalyser<'t> {
    /// Creates the analyser of a launch of a program on a machine.
    pub fn new(
        program: &KernelCode,
        table: &'t TimingTable,
        machine: &Machine,
        residency: Residency,
        at_start: AtStart,
    ) -> Self {
        let shared_bytes = at_start.shared_bytes.saturating_mul(residency.places.into());
        let path = Path::new(program, machine, shared_bytes, costs::scale(machine));
        let costs = Costs::new(program, table, machine, (path.as_ref(), residency.used_sms()));
        let fetches = Fetches::new(table, (machine, &residency), costs.scale());
        Self {
            table,
            spans: std::array::from_fn(|_| Span::new(table, fetches.kept_lines())),
            costs,
            fetches,
            residency,
            memory: path.map(|path| LaunchMemory::new(path, table, &residency, at_start)),
            sections: Vec::new(),
            services: Services::default(),
            noted: Vec::new(),
            ends: Vec::new(),
            followed: Kept::default(),
        }
    }

    /// Returns how the blocks of the launch share the SMs.
    pub fn residency(&self) -> Residency {
        self.residency
    }

    /// Returns the number of units of service per cycle.
    pub fn scale(&self) -> u64 {
        self.costs.scale()
    }

    /// Returns the number of cycles that a launch adds once per SM: those of the cold misses of the
    /// instruction cache.
    pub fn once(&self) -> u64 {
        self.fetches.cold_misses()
    }

    /// Returns the most service of fetches for ended blocks that may be left on an SM at any time, if it
    /// is limited.
    fn of_ended_blocks(&self) -> Option<u64> {
        self.fetches.of_ended_blocks()
    }

    /// Returns what the launch leaves in memory, if all of its blocks have been analysed.
    pub fn leaves(&self) -> MemoryLeft {
        self.memory.as_ref().map(LaunchMemory::leaves).unwrap_or_default()
    }

    /// Returns the services that the launch adds to those of its blocks in a case, if all blocks are
    /// known and the lines of that case do stay. `visits` is the largest number of accesses, one after the
    /// other, that the bound follows to DRAM.
    fn beside(&self, case: Stays, visits: u64) -> Option<Beside> {
        let Some(memory) = &self.memory else { return (case == Stays::No).then(Beside::default) };
        memory.stays(case).then(|| memory.beside(&self.residency, case, visits))
    }

    /// Returns the share of a block. Loads are in units of service, and so are latencies.
    pub fn share(&mut self, paths: &BlockPaths) -> PipelineShare {
        self.begin_block();
        for (warp, path) in paths.warps.iter().enumerate() {
            self.warp(path, self.table.sub_cores().of_slot(warp));
        }
        self.end_block()
    }

    /// States that all accesses to buffers whose places depend on data lie in these regions of memory,
    /// each given by its address and its number of bytes.
    #[must_use]
    pub fn accessing_only(mut self, regions: Vec<(u64, u64)>) -> Self {
        if let Some(memory) = &mut self.memory {
            memory.requests_lie_in(regions);
        }
        self
    }

    /// Returns the share of a block whose warps take any of these paths, and whether the number of its
    /// sections depends on the path. With one path for each warp and accesses whose places are known,
    /// it is that of [`Self::share`].
    pub fn share_of_any(&mut self, warps: &[PathSet]) -> (PipelineShare, bool) {
        self.begin_block();
        let sections = Sections::new(self.table, warps);
        for warp in 0..warps.len() {
            self.any_path(&sections, warp);
        }
        if let (Some(rest), Some(last)) = (&sections.rest, self.sections.get_mut(sections.regular_count())) {
            last.more = rest.sections - 1;
        }
        (self.end_block(), sections.rest.is_some())
    }

    fn begin_block(&mut self) {
        self.sections.clear();
        self.services = Services::default();
        if let Some(memory) = &mut self.memory {
            memory.begin_block();
        }
    }

    /// Ends the block, and returns its share.
    fn end_block(&mut self) -> PipelineShare {
        if let Some(memory) = &mut self.memory {
            memory.end_block();
        }
        let memory = self.memory.as_ref();
        let holds = |case: Stays| memory.map_or(case == Stays::No, |memory| memory.stays(case));
        let loads = self.loads();
        let case = |case: usize| {
            let span = |section: &Section| section.spans[case].saturating_mul(section.more.saturating_add(1));
            let spans = self.sections.iter().map(span).fold(0, u64::saturating_add);
            let alone = spans.saturating_add(self.costs.block()).saturating_mul(self.scale());
            let surplus = i128::from(alone);
            BlockShare { surplus, peak: surplus, alone, ..loads.clone() }
        };
        PipelineShare { cases: std::array::from_fn(|index| holds(Stays::ALL[index]).then(|| case(index))) }
    }

    /// Returns the share of the block without its latencies.
    fn loads(&self) -> BlockShare {
        let mut share = BlockShare { services: self.services, ..BlockShare::default() };
        for section in self.sections.iter().filter(|section| section.classes != 0) {
            share.add_loads(section.private, section.shared, self.table.sub_cores());
            share.classes |= section.classes;
            share.stages = share.stages.saturating_add(section.more).saturating_add(1);
        }
        let visits = |section: &Section| section.visits.saturating_mul(section.more.saturating_add(1));
        share.visits = self.sections.iter().map(visits).fold(0, u64::saturating_add);
        share.left = self.costs.left().min(share.work - share.load);
        share
    }

    /// Adds a warp to the sections.
    fn warp(&mut self, path: &WarpPath, sub_core: usize) {
        self.record(path);
        if self.sections.len() < self.ends.len() {
            self.sections.resize_with(self.ends.len(), Section::default);
        }
        let mut before = Before::default();
        let (mut first, mut first_cost) = (0, 0);
        for index in 0..self.ends.len() {
            let end = self.ends[index];
            let (steps, costs) = (&path.steps()[first..end.step], first_cost..end.cost);
            let known = self.followed.get(end.hash);
            let known = known.and_then(|known| known.of((steps, &self.noted[costs.clone()]), &before));
            let (of_warp, after) = known.unwrap_or_else(|| {
                let (of_warp, after) = self.follow(steps, costs.clone(), &before);
                let costs = self.noted[costs].to_vec();
                let size = steps.len() + costs.len();
                let (before, steps) = (before.clone(), steps.to_vec());
                let known = Known { steps, costs, before, of_warp, after: after.clone() };
                self.followed.keep(end.hash, size, known);
                (of_warp, after)
            });
            self.add(index, sub_core, of_warp);
            before = after;
            (first, first_cost) = (end.step, end.cost);
        }
        let last = first.checked_sub(1).map(|last| path.steps()[last]);
        if last.is_some_and(|step| self.table.instr(step.pc()).flow == Flow::Barrier) {
            // which section has it does not matter for sums over all of them
            let fetch = self.fetches.at_last_barrier(before.buffer);
            let services = Services { fetch, ..Services::default() };
            self.add(self.ends.len() - 1, sub_core, OfWarp { shared: fetch, services, ..OfWarp::default() });
        }
    }

    /// Adds what a warp adds in a section of its block.
    fn add(&mut self, section: usize, sub_core: usize, of_warp: OfWarp) {
        let section = &mut self.sections[section];
        section.shared += of_warp.shared;
        section.private[sub_core] += of_warp.private;
        section.classes |= 1 << sub_core;
        self.services += of_warp.services;
        section.visits = section.visits.max(of_warp.visits);
        for (longest, span) in section.spans.iter_mut().zip(of_warp.spans) {
            *longest = span.max(*longest);
        }
    }

    /// Records the requests of a warp, and notes the ends of its sections and the costs of those
    /// executions of which an instruction may have different ones.
    fn record(&mut self, path: &WarpPath) {
        let Self { table, costs, memory, noted, ends, .. } = self;
        let mut traffic = path.traffic();
        noted.clear();
        ends.clear();
        if let Some(memory) = memory {
            memory.begin_warp(table);
        }
        let mut hash = NumberHash::default();
        let (mut writes, mut count) = (0_u64, 0);
        for &step in path.steps().iter().take_while(|step| table.issues(**step)) {
            count += 1;
            hash.step(step);
            let lines = if table.moves_lines(step) {
                let count =
                    traffic.iter().position(|line| line.is_last()).map_or(traffic.len(), |last| last + 1);
                let (group, rest) = traffic.split_at(count);
                traffic = rest;
                group
            } else {
                &[]
            };
            if let Some(fixed) = costs.fixed(step) {
                if let Some(memory) = memory {
                    memory.pass(table, step);
                    writes = writes.saturating_add(fixed.writes);
                }
            } else {
                let accessed = Accessed { lines, ..Accessed::default() };
                let cost = recorded(costs, table, step, accessed, memory);
                hash.write_u64(cost.service.total());
                noted.push(cost);
            }
            if table.instr(step.pc()).flow == Flow::Barrier {
                ends.push(SectionEnd { step: count, cost: noted.len(), hash: hash.finish() });
                hash = NumberHash::default();
            }
        }
        if ends.last().map_or(0, |end| end.step) < count {
            ends.push(SectionEnd { step: count, cost: noted.len(), hash: hash.finish() });
        }
        if let Some(memory) = memory {
            memory.writes(writes);
            memory.end_warp();
        }
    }

    /// Follows a warp, whose costs have been noted, through the steps of a section.
    fn follow(&mut self, steps: &[Step], costs: Range<usize>, before: &Before) -> (OfWarp, Before) {
        let Self { table, fetches, spans, memory, noted, .. } = self;
        let noted = &noted[costs];
        let mut buffer = before.buffer;
        let cases = if memory.is_some() { CASES } else { 1 };
        // without an answer that may come earlier, all cases are the same
        let different = if noted.iter().any(|cost| cost.earlier != [0; CASES]) { cases } else { 1 };
        let mut of_warp = OfWarp::default();
        let mut varying = noted.iter();
        spans.iter_mut().for_each(|span| span.begin_after(before.stall, &before.requested));
        for &step in steps {
            let fixed = self.costs.fixed(step);
            let cost = fixed.or_else(|| varying.next()).expect("a cost was noted for each such execution");
            let fetch = fetches.before(&mut buffer, (step, table), spans[0].is_first());
            of_warp.shared += fetch.service;
            *(if cost.shared { &mut of_warp.shared } else { &mut of_warp.private }) += cost.service.total();
            of_warp.services += Services { fetch: fetch.service, ..cost.service };
            of_warp.visits += u64::from(cost.reaches_memory);
            for (case, span) in spans.iter_mut().take(different).enumerate() {
                span.issue(table, step, (cost, case), fetch);
            }
            fetches.issued(&mut buffer, step, table);
        }
        for (case, longest) in of_warp.spans.iter_mut().take(cases).enumerate() {
            *longest = spans[if case < different { case } else { 0 }].longest();
        }
        (of_warp, Before { buffer, stall: spans[0].stall(), requested: spans[0].requested().collect() })
    }

    /// Adds a warp that takes any of its paths.
    fn any_path(&mut self, block: &Sections, warp: usize) {
        let Self { table, costs, fetches, memory, .. } = self;
        let table = *table;
        let (mut progress, mut found) = (Progress::new(table, fetches), Vec::new());
        if let Some(memory) = memory {
            memory.begin_warp(table);
        }
        for pieces in block.of_warp(warp) {
            for piece in pieces {
                match piece {
                    Piece::Steps(steps, range) => {
                        for (step, accessed) in
                            steps.range(range.clone()).filter(|&(step, _)| table.issues(step))
                        {
                            let accessed =
                                if table.moves_lines(step) { accessed } else { Accessed::default() };
                            let cost = recorded(costs, table, step, accessed, memory);
                            progress.issue((table, fetches), step, &cost, Sums::default());
                        }
                    }
                    Piece::Part(part, last) => {
                        let path = memory.as_ref().map(LaunchMemory::path);
                        over_part(&AnyPath { table, costs, fetches, path }, part, &mut progress, *last);
                        if let Some(memory) = memory {
                            each_step(part, *last, &mut |step, _| memory.may_write(table, step));
                        }
                    }
                }
            }
            found.push(progress.end_section());
        }
        let waiting = progress.at_last_barrier(fetches);
        if waiting > 0
            && let Some(last) = found.iter_mut().rfind(|section| section.has_instructions)
        {
            last.sums.shared = last.sums.shared.saturating_add(waiting);
            last.sums.services.fetch = last.sums.services.fetch.saturating_add(waiting);
        }
        self.add_sections(&found, table.sub_cores().of_slot(warp));
        self.add_requests(&found, block, warp);
    }

    /// Adds the services and chains of a warp to the sections of its block.
    fn add_sections(&mut self, found: &[OfSection], sub_core: usize) {
        if self.sections.len() < found.len() {
            self.sections.resize(found.len(), Section::default());
        }
        for (section, of_warp) in self.sections.iter_mut().zip(found) {
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            add(&mut section.shared, of_warp.sums.shared);
            add(&mut section.private[sub_core], of_warp.sums.private);
            section.classes |= u8::from(of_warp.has_instructions) << sub_core;
            self.services += of_warp.sums.services;
            section.visits = section.visits.max(of_warp.sums.visits);
            for (longest, span) in section.spans.iter_mut().zip(of_warp.spans) {
                *longest = span.max(*longest);
            }
        }
    }

    /// Ends a warp, and adds those of its requests that only some of its paths have. Of the loads
    /// among them that wait for themselves, no more than one per instruction waits at a time.
    fn add_requests(&mut self, found: &[OfSection], block: &Sections, warp: usize) {
        let Self { table, costs, fetches, memory: Some(memory), .. } = self else { return };
        let all = found.iter().fold(Sums::default(), |sum, section| sum.and(section.sums));
        let mut waiting: BTreeMap<Pc, u64> = BTreeMap::new();
        if all.unplaced.loads > 0 {
            let measure = AnyPath { table, costs, fetches, path: Some(memory.path()) };
            let mut see = |step: Step, accessed: Accessed| {
                if table.issues(step)
                    && let Some((requests, true)) = measure.requests(step, accessed)
                {
                    let most = waiting.entry(step.pc()).or_default();
                    *most = requests.max(*most);
                }
            };
            let parts = block.of_warp(warp).flatten();
            parts.for_each(|piece| {
                if let Piece::Part(part, last) = piece {
                    each_step(part, *last, &mut see);
                }
            });
        }
        let requests = waiting.values().sum::<u64>().saturating_add(all.unawaited);
        memory.wait_elsewhere((waiting.len() as u64).saturating_add(all.unawaited), requests);
        memory.add_unplaced(all.unplaced);
        memory.writes(all.writes);
        memory.end_warp();
    }
}

/// Returns the cost of an execution that every path has, and records its requests.
fn recorded(
    costs: &Costs,
    table: &TimingTable,
    step: Step,
    accessed: Accessed,
    memory: &mut Option<LaunchMemory>,
) -> Cost {
    if let Some(memory) = memory {
        memory.before(table, step);
    }
    let cost = costs.of(table, step, accessed, memory.as_mut());
    if let Some(memory) = memory {
        memory.writes(cost.writes);
        memory.after(table, step);
    }
    cost
}
