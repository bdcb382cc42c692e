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

pub use memory::AtStart;
pub use shares::{PipelineShare, PipelineShares};

use costs::Costs;
use fetch::Fetches;
use memory::{LaunchMemory, Outstanding, Path, Stays};
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
    /// The paths of a warp if lines of the L2 may be replaced, and if they stay.
    spans: [Span; 2],
    /// The requests of the launch, if the machine has a memory system behind the load/store units.
    memory: Option<LaunchMemory>,
    outstanding: Outstanding,
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
    /// The longest chain of latencies of a warp, in cycles, if lines of the L2 may be replaced, and
    /// if they stay.
    spans: [u64; 2],
    /// The sub-cores that have instructions.
    classes: u8,
}

impl<'t> PipelineAnalyser<'t> {
    /// Creates the analyser of a launch of a program on a machine. `shared_bytes` is the number of
    /// bytes of shared memory that the blocks on an SM use.
    pub fn new(
        program: &KernelCode,
        table: &'t TimingTable,
        machine: &Machine,
        shared_bytes: u64,
        at_start: AtStart,
    ) -> Self {
        let path = Path::new(machine, shared_bytes, costs::scale(machine));
        let costs = Costs::new(program, table, machine, path.as_ref());
        let fetches = Fetches::new(table, machine, costs.scale());
        Self {
            table,
            costs,
            fetches,
            spans: [Span::new(table), Span::new(table)],
            outstanding: Outstanding::new(table),
            memory: path.map(|path| LaunchMemory::new(path, at_start)),
            sections: Vec::new(),
            services: Services::default(),
        }
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

    /// Returns the services that the launch adds to those of its blocks, if lines of the L2 may be
    /// replaced, and if they stay, provided that all blocks are known and that they do stay.
    pub fn beside(&self, residency: &Residency) -> (Beside, Option<Beside>) {
        let Some(memory) = &self.memory else { return (Beside::default(), None) };
        let stays = memory.l2_stays().then(|| memory.beside(residency, Stays::Yes));
        (memory.beside(residency, Stays::No), stays)
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
        let stays = self.memory.as_mut().is_some_and(|memory| {
            memory.end_block();
            memory.l2_stays()
        });
        PipelineShare { replaced: self.block(0), stays: stays.then(|| self.block(1)) }
    }

    /// Returns the share of the block with the spans of this index.
    fn block(&self, of: usize) -> BlockShare {
        let scale = self.scale();
        let mut share = BlockShare { services: self.services, ..BlockShare::default() };
        let latency: u64 =
            self.sections.iter().map(|section| section.spans[of]).sum::<u64>() + self.costs.block();
        share.surplus = i128::from(latency * scale);
        (share.peak, share.alone) = (share.surplus, latency * scale);
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
        let Self { table, costs, fetches, spans, memory, outstanding, sections, services } = self;
        let mut traffic = path.traffic();
        let (mut index, mut waits_at) = (0, None);
        fetches.begin();
        spans.iter_mut().for_each(Span::begin);
        outstanding.begin();
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
            let mut cost = costs.of(table, step, lines, memory.as_mut());
            if let Some(memory) = memory {
                memory.writes(cost.writes);
                outstanding.issue(table, step, cost.requests);
            }
            let fetch = fetches.before(step, spans[0].is_first());
            let service = cost.service.total();
            section.shared += fetch.service;
            *(if cost.shared { &mut section.shared } else { &mut section.private[sub_core] }) += service;
            *services += Services { fetch: fetch.service, ..cost.service };
            section.classes |= 1 << sub_core;
            let used = if memory.is_some() { 2 } else { 1 };
            for (span, longest) in spans.iter_mut().zip(&mut section.spans).take(used) {
                span.issue(table, step, &cost, fetch);
                *longest = (*longest).max(span.longest());
                cost = cost.from_l2();
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
            memory.may_wait(outstanding.most());
        }
        if let Some(section) = waits_at {
            let fetch = fetches.at_last_barrier();
            sections[section].shared += fetch;
            services.fetch += fetch;
        }
    }
}
