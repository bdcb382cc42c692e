//! The option `--gantt`, which draws the schedule of the first block.

use crate::args::Common;
use crate::load;
use warpbound_bound::{Phase, analyse_alone};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_core::path::{BlockPaths, BlockSource, Footprint};
use warpbound_exec::Options;
use warpbound_judge::check::WorkloadSource;
use warpbound_judge::load::LoadedKernel;
use warpbound_report::gantt::{self, Bar};
use warpbound_sim::{BlockResult, PolicySetup, SimError, simulate};
use warpbound_trace::trace::{FirstSm, Recorder, UnitInstances};

/// Draws the first block of a kernel.
pub fn gantt(
    kernel: &LoadedKernel,
    machine: &Machine,
    policy: &PolicySetup,
    common: &Common,
    monitor: &ProgressMonitor,
) -> Result<String, Diagnostics> {
    let table = load::timing(kernel, machine)?;
    let source = kernel.workload.source(Options::of(machine, common.fuel()), monitor)?;
    let mut source = First { source, given: false };
    let mut recorder = Recorder::default();
    let mut alone: Vec<Vec<Phase>> = Vec::new();
    let of_block = |_: &BlockResult, paths: &BlockPaths| {
        alone = paths.warps.iter().map(|path| analyse_alone(&table, path, |_| {}).phases).collect();
    };
    simulate(&mut source, &table, machine, policy, 1, &mut FirstSm::new(&mut recorder), of_block).map_err(
        |error| match error {
            SimError::Source(problems) => problems,
            SimError::Run(error) => {
                Diagnostic::general(kernel.workload.name.clone(), error.to_string()).into()
            }
        },
    )?;
    let units = UnitInstances::new(machine);
    let bars: Vec<Bar> = recorder
        .issues()
        .map(|event| Bar {
            warp: event.warp,
            text: kernel.text_of(event.step.pc()),
            unit: units.name(event).to_owned(),
            issue: event.issue,
            start: event.start,
            initiated: event.init_end,
            done: event.done,
        })
        .collect();
    Ok(gantt::draw(&bars, &alone, machine.sub_cores()))
}

/// Returns the phases of each warp of the first block when it runs alone.
pub fn alone(
    kernel: &LoadedKernel,
    machine: &Machine,
    common: &Common,
    monitor: &ProgressMonitor,
) -> Result<Vec<Vec<Phase>>, Diagnostics> {
    let table = load::timing(kernel, machine)?;
    let mut source = kernel.workload.source(Options::of(machine, common.fuel()), monitor)?;
    let mut paths = BlockPaths::default();
    source.next_block(&mut paths)?;
    Ok(paths.warps.iter().map(|path| analyse_alone(&table, path, |_| {}).phases).collect())
}

/// A source that yields only the first block of a launch.
struct First<'a> {
    source: WorkloadSource<'a>,
    given: bool,
}

impl<'a> BlockSource for First<'a> {
    type Error = <WorkloadSource<'a> as BlockSource>::Error;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Self::Error> {
        if std::mem::replace(&mut self.given, true) { Ok(false) } else { self.source.next_block(paths) }
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }
}
