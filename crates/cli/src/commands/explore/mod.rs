//! `warpbound explore`: finds the exact worst and best makespan over all work-conserving schedules,
//! over all choices of the arbiters of a pipeline, or over all latencies in intervals under one
//! policy.

mod choices;
mod latencies;
mod schedules;

use crate::args::Explore;
use crate::load;
use crate::output::Outcome;
use crate::resources;
use crate::session::Session;
use warpbound_bound::Order;
use warpbound_core::diag::Diagnostic;
use warpbound_core::machine::Machine;
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;
use warpbound_judge::check::order::OrderDependences;
use warpbound_judge::explore::search::{Limits, Spent};
use warpbound_judge::load::LoadedKernel;
use warpbound_report::explore::Searched;
use warpbound_report::output::{Batch, Stopped};

/// A block to explore.
struct Block<'a> {
    args: &'a Explore,
    kernel: &'a LoadedKernel,
    machine: &'a Machine,
    table: &'a TimingTable,
    paths: &'a BlockPaths,
    limits: Limits,
    races_not_looked_for: Option<String>,
    session: &'a Session,
}

/// Runs the command.
pub fn run(args: &Explore, session: &Session) -> Outcome {
    let kernel = load::kernel(&args.on.kernel, &args.on.ptx, args.on.common.seed, &session.monitor)?;
    let (machine, _) = load::machine(&args.on.common, &kernel)?;
    let has_arbiters = args.vary.is_empty() && crate::choices::has_arbiters(&machine);
    if !has_arbiters {
        load::paper_model(&machine, "`explore` searches the schedules of")?;
    }
    if let (true, Some(policy)) = (args.vary.is_empty(), &args.on.common.policy) {
        let problem = Diagnostic::general(
            format!("--policy {policy}"),
            "without --vary every work-conserving schedule is explored",
        );
        return Err(problem
            .hint("leave it out, or explore latencies under it with --vary UNIT=FROM..=TO")
            .into());
    }
    if has_arbiters {
        return choices::run(args, &kernel, &machine, session);
    }
    let table = load::timing(&kernel, &machine)?;
    let search =
        |paths: &BlockPaths, seen: &OrderDependences, order: Order, outputs: schedules::Witnesses| {
            let limits = Limits {
                max_states: args.max_states,
                max_bytes: resources::of_search(),
                threads: args.jobs.unwrap_or_else(resources::threads),
            };
            let (kernel, machine, table) = (&kernel, &machine, &table);
            let races_not_looked_for = seen.not_looked_for.map(str::to_owned);
            let block = Block { args, kernel, machine, table, paths, limits, races_not_looked_for, session };
            if args.vary.is_empty() {
                schedules::explore(&block, order, outputs)
            } else {
                latencies::explore(&block)
            }
        };
    let outputs = schedules::Witnesses::create(args, &kernel, session)?;
    let (paths, seen) = load::nth_block(&kernel, &machine, args.of_block, &args.on.common, session)?;
    let order = seen.order(kernel.workload.program());
    if let Order::Decides(reason) = &order {
        let message = format!("this block cannot be explored: {reason}");
        let problem = Diagnostic::general(kernel.workload.name.clone(), message);
        return Err(problem.hint("--races ignore explores the schedules of the paths of one run").into());
    }
    search(&paths, &seen, order, outputs)
}

impl Block<'_> {
    /// Returns the number of issues of a schedule.
    fn issues(&self) -> u64 {
        let of_warp = |path: &warpbound_core::path::WarpPath| {
            path.steps().iter().filter(|step| self.table.issues(**step)).count() as u64
        };
        self.paths.warps.iter().map(of_warp).sum()
    }

    fn not_explorable(&self, error: &dyn std::fmt::Display) -> Diagnostic {
        let message = format!("this block cannot be explored: {error}");
        Diagnostic::general(self.kernel.workload.name.clone(), message)
    }

    /// Returns why a search ended early.
    fn stopped(&self, spent: Spent) -> Stopped {
        match spent {
            Spent::States => Stopped::MaxStates,
            Spent::Memory => Stopped::Memory,
            Spent::Time => self.session.stopped().unwrap_or(Stopped::Interrupt),
        }
    }

    /// Returns the description of the block for reports.
    fn searched(&self) -> Searched {
        let workload = &self.kernel.workload;
        let of = Searched::new(&workload.name, self.machine, self.args.of_block, workload.blocks());
        Searched { races_not_looked_for: self.races_not_looked_for.clone(), ..of }
    }

    /// Returns how the command ended, given why the search was stopped.
    fn batch(stopped: Option<Stopped>) -> Batch {
        stopped.map_or_else(Batch::default, |stopped| Batch::stopped(Some(stopped)))
    }
}
