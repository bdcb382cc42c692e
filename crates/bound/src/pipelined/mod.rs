//! The share of a block in [`Plb`](crate::Plb), the bound of machines with a pipeline.
//!
//! `costs` states for each instruction how long it may occupy what others wait for (its *service*),
//! and how long its own warp waits for nothing but latencies. `fetch` counts what an instruction
//! costs the front end. `span` follows the longest chain of latencies of a warp. `memory` counts the
//! requests to caches, crossbar and DRAM, and `shares` combines the blocks of a launch.

mod costs;
mod fetch;
mod memory;
mod shares;
mod span;

pub use memory::{AtStart, MemoryLeft};
pub use shares::{PipelineShare, PipelineShares};

use costs::Costs;
use fetch::Fetches;
use memory::{LaunchMemory, Path, Stays};
use span::Span;

use crate::parts::{Beside, Services};
use crate::resident::{BlockShare, Residency};
use warpbound_core::machine::{Machine, SubCores};
use warpbound_core::path::{BlockPaths, WarpPath};
use warpbound_core::program::{Flow, KernelCode, TimingTable};

/// Computes the shares of the blocks of a launch.
#[derive(Clone, Debug)]
pub struct PipelineAnalyser<'t> {
    table: &'t TimingTable,
    costs: Costs,
    fetches: Fetches,
    residency: Residency,
    /// The paths of a warp in each case of [`Stays`].
    spans: [Span; Stays::ALL.len()],
    /// The requests of the launch, if the machine has a memory system behind the load/store units.
    memory: Option<LaunchMemory>,
    sections: Vec<Section>,
    /// The services of the block.
    services: Services,
}

/// What all warps of a block add in one section. Loads are in the scaled unit of [`Costs`].
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    /// The service that only one sub-core can wait for, by sub-core.
    private: [u64; SubCores::MAX],
    /// The service that every sub-core can wait for.
    shared: u64,
    /// The longest chain of latencies of a warp, in cycles, in each case of [`Stays`].
    spans: [u64; Stays::ALL.len()],
    /// The sub-cores that have instructions.
    classes: u8,
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
        let fetches = Fetches::new(table, machine, costs.scale());
        Self {
            table,
            costs,
            fetches,
            residency,
            spans: std::array::from_fn(|_| Span::new(table)),
            memory: path.map(|path| LaunchMemory::new(path, at_start)),
            sections: Vec::new(),
            services: Services::default(),
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

    /// Returns what the launch leaves in memory, if all of its blocks have been analysed.
    pub fn leaves(&self) -> MemoryLeft {
        self.memory.as_ref().map(LaunchMemory::leaves).unwrap_or_default()
    }

    /// Returns the services that the launch adds to those of its blocks in a case, if all blocks are
    /// known and the lines of that case do stay.
    fn beside(&self, case: Stays) -> Option<Beside> {
        let Some(memory) = &self.memory else { return (case == Stays::No).then(Beside::default) };
        memory.stays(case).then(|| memory.beside(&self.residency, case))
    }

    /// Returns the share of a block. Loads are in units of service, and so are latencies.
    pub fn share(&mut self, paths: &BlockPaths) -> PipelineShare {
        self.sections.clear();
        self.services = Services::default();
        if let Some(memory) = &mut self.memory {
            memory.begin_block();
        }
        for (warp, path) in paths.warps.iter().enumerate() {
            self.warp(path, self.table.sub_cores().of_slot(warp));
        }
        if let Some(memory) = &mut self.memory {
            memory.end_block();
        }
        let memory = self.memory.as_ref();
        let holds = |case: Stays| memory.map_or(case == Stays::No, |memory| memory.stays(case));
        let loads = self.loads();
        let case = |case: usize| {
            let spans: u64 = self.sections.iter().map(|section| section.spans[case]).sum();
            let alone = (spans + self.costs.block()) * self.scale();
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
            share.stages += 1;
        }
        share.left = self.costs.left().min(share.work - share.load);
        share
    }

    /// Adds a warp to the sections.
    fn warp(&mut self, path: &WarpPath, sub_core: usize) {
        let Self { table, costs, fetches, spans, memory, sections, services, residency: _ } = self;
        let mut traffic = path.traffic();
        let (mut index, mut waits_at) = (0, None);
        fetches.begin();
        spans.iter_mut().for_each(Span::begin);
        if let Some(memory) = memory {
            memory.begin_warp(table);
        }
        for &step in path.steps() {
            if !table.issues(step) {
                break;
            }
            if sections.len() <= index {
                sections.push(Section::default());
            }
            let section = &mut sections[index];
            let lines = if table.moves_lines(step) {
                let count =
                    traffic.iter().position(|line| line.is_last()).map_or(traffic.len(), |last| last + 1);
                let (group, rest) = traffic.split_at(count);
                traffic = rest;
                group
            } else {
                &[]
            };
            if let Some(memory) = memory {
                memory.before(table, step);
            }
            let cost = costs.of(table, step, lines, memory.as_mut());
            if let Some(memory) = memory {
                memory.writes(cost.writes);
                memory.after(table, step);
            }
            let fetch = fetches.before(step, spans[0].is_first());
            let service = cost.service.total();
            section.shared += fetch.service;
            *(if cost.shared { &mut section.shared } else { &mut section.private[sub_core] }) += service;
            *services += Services { fetch: fetch.service, ..cost.service };
            section.classes |= 1 << sub_core;
            let cases = if memory.is_some() { Stays::ALL.len() } else { 1 };
            for (case, (span, longest)) in spans.iter_mut().zip(&mut section.spans).take(cases).enumerate() {
                span.issue(table, step, &cost.in_case(case), fetch);
                *longest = (*longest).max(span.longest());
            }
            fetches.issued(step, table);
            if table.instr(step.pc()).flow == Flow::Barrier {
                // which section has it does not matter for sums over all of them
                waits_at = Some(index);
                index += 1;
                spans.iter_mut().for_each(Span::begin);
            } else {
                waits_at = None;
            }
        }
        if let Some(memory) = memory {
            memory.end_warp();
        }
        if let Some(section) = waits_at {
            let fetch = fetches.at_last_barrier();
            sections[section].shared += fetch;
            services.fetch += fetch;
        }
    }
}
