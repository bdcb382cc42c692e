//! `warpbound explore`: the true worst and best makespan over all work-conserving schedules, or
//! over all latencies in intervals under one policy.

mod latencies;
mod schedules;

use crate::cli::args::Explore;
use crate::cli::load::{self, LoadedKernel};
use crate::cli::memory;
use crate::cli::output::Outcome;
use crate::cli::session::Session;
use crate::diag::Diagnostic;
use crate::explore::search::{Limits, Spent};
use crate::machine::Machine;
use crate::path::BlockPaths;
use crate::program::TimingTable;

/// A block to search.
struct Block<'a> {
    args: &'a Explore,
    kernel: &'a LoadedKernel,
    machine: &'a Machine,
    table: &'a TimingTable,
    paths: &'a BlockPaths,
    limits: Limits,
    session: &'a Session,
}

/// Runs the command.
pub fn run(args: &Explore, session: &Session) -> Outcome {
    let kernel = load::kernel(&args.on.kernel, &args.on.ptx, args.on.common.seed)?;
    let (machine, _) = load::machine(&args.on.common, &kernel)?;
    load::paper_model(&machine, "`explore` searches the schedules of")?;
    if let (true, Some(scheduler)) = (args.vary.is_empty(), &args.on.common.scheduler) {
        let problem = Diagnostic::general(
            format!("--scheduler {scheduler}"),
            "without --vary every work-conserving schedule is explored",
        );
        return Err(problem
            .hint("leave it out, or explore latencies under it with --vary UNIT=FROM..=TO")
            .into());
    }
    let table = load::timing(&kernel, &machine)?;
    let search = |paths: &BlockPaths, outputs: schedules::Witnesses| {
        let limits = Limits {
            max_states: args.max_states,
            max_bytes: memory::budget(),
            threads: args.jobs.unwrap_or_else(load::threads),
        };
        let (kernel, machine, table) = (&kernel, &machine, &table);
        let block = Block { args, kernel, machine, table, paths, limits, session };
        if args.vary.is_empty() { schedules::explore(&block, outputs) } else { latencies::explore(&block) }
    };
    let outputs = schedules::Witnesses::create(args, &kernel, session)?;
    let (paths, reasons) = load::nth_block(&kernel, &machine, args.of_block, &args.on.common, session)?;
    if let Some(reason) = reasons.first() {
        let message = format!("the paths of its warps depend on the schedule: {reason}");
        let problem = Diagnostic::general(kernel.workload.name.clone(), message);
        return Err(problem.hint("--races ignore explores the schedules of the paths of one run").into());
    }
    search(&paths, outputs)
}

impl Block<'_> {
    /// Issues of a schedule.
    fn issues(&self) -> u64 {
        let of_warp = |path: &crate::path::WarpPath| {
            path.steps().iter().filter(|step| self.table.issues(**step)).count() as u64
        };
        self.paths.warps.iter().map(of_warp).sum()
    }

    fn not_explorable(&self, error: &dyn std::fmt::Display) -> Diagnostic {
        let message = format!("this block cannot be explored: {error}");
        Diagnostic::general(self.kernel.workload.name.clone(), message)
    }

    /// Why a search ended, as scripts read it.
    fn stopped(&self, spent: Spent) -> &'static str {
        match spent {
            Spent::States => "max-states",
            Spent::Memory => "memory",
            Spent::Time => self.session.stopped().map_or("interrupt", |reason| reason.name()),
        }
    }

    /// The same for people.
    fn why(&self, spent: Spent) -> String {
        match spent {
            Spent::States => "--max-states allows more".to_owned(),
            Spent::Memory => {
                format!("more would not fit in {} of memory", memory::shown(self.limits.max_bytes))
            }
            Spent::Time => self.session.stopped().map_or("stopped", |reason| reason.text()).to_owned(),
        }
    }
}
