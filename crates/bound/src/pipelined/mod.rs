//! The share of a block in [`Plb`](crate::Plb), the bound of machines with a pipeline.
//!
//! `costs` states for each instruction how long it may occupy what others wait for (its *service*),
//! and how long its own warp waits for nothing but latencies. `fetch` counts what an instruction
//! costs the front end. `span` follows the longest chain of latencies of a warp.

mod costs;
mod fetch;
mod span;

use costs::Costs;
use fetch::Fetches;
use span::Span;

use crate::parts::Services;
use crate::resident::BlockShare;
use warpbound_core::machine::{Machine, SubCores};
use warpbound_core::path::{BlockPaths, WarpPath};
use warpbound_core::program::{Flow, KernelCode, TimingTable};

/// Computes the shares of the blocks of a launch.
#[derive(Clone, Debug)]
pub struct PipelineAnalyser<'t> {
    table: &'t TimingTable,
    costs: Costs,
    fetches: Fetches,
    span: Span,
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
    /// The longest chain of latencies of a warp, in cycles.
    span: u64,
    /// The sub-cores that have instructions.
    classes: u8,
}

impl<'t> PipelineAnalyser<'t> {
    /// Creates the analyser of a program's launches on a machine.
    pub fn new(program: &KernelCode, table: &'t TimingTable, machine: &Machine) -> Self {
        let costs = Costs::new(program, table, machine);
        let fetches = Fetches::new(table, machine, costs.scale());
        Self {
            table,
            costs,
            fetches,
            span: Span::new(table),
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

    /// Returns the share of a block. Loads are in units of service, and so are latencies.
    pub fn share(&mut self, paths: &BlockPaths) -> BlockShare {
        self.sections.clear();
        self.services = Services::default();
        for (warp, path) in paths.warps.iter().enumerate() {
            self.warp(path, self.table.sub_cores().of_slot(warp));
        }
        let scale = self.scale();
        let mut share = BlockShare { services: self.services, ..BlockShare::default() };
        let latency: u64 = self.sections.iter().map(|section| section.span).sum::<u64>() + self.costs.block();
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
        let Self { table, costs, fetches, span, sections, services } = self;
        let mut traffic = path.traffic();
        let (mut index, mut waits_at) = (0, None);
        fetches.begin();
        span.begin();
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
            let cost = costs.of(table, step, lines);
            let fetch = fetches.before(step, span.is_first());
            let service = cost.service.total();
            section.shared += fetch.service;
            *(if cost.shared { &mut section.shared } else { &mut section.private[sub_core] }) += service;
            *services += Services { fetch: fetch.service, ..cost.service };
            section.classes |= 1 << sub_core;
            span.issue(table, step, &cost, fetch);
            section.span = section.span.max(span.longest());
            fetches.issued(step, table);
            if table.instr(step.pc()).flow == Flow::Barrier {
                // which section has it does not matter for sums over all of them
                waits_at = Some(index);
                index += 1;
                span.begin();
            } else {
                waits_at = None;
            }
        }
        if let Some(section) = waits_at {
            let fetch = fetches.at_last_barrier();
            sections[section].shared += fetch;
            services.fetch += fetch;
        }
    }
}
