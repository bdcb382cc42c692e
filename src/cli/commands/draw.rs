//! `--gantt`: the first block's schedule as a picture.

use crate::bound::{Phase, analyse_alone};
use crate::cli::args::Common;
use crate::cli::load::{self, LoadedKernel};
use crate::diag::Diagnostics;
use crate::exec::Options;
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource};
use crate::report::gantt::{self, Bar};
use crate::sim::{Engine, PolicySetup};
use crate::trace::{Recorder, UnitInstances};

/// Draws the first block of a kernel.
pub fn gantt(
    kernel: &LoadedKernel,
    machine: &Machine,
    policy: &PolicySetup,
    common: &Common,
) -> Result<String, Diagnostics> {
    let table = load::timing(kernel, machine)?;
    let mut source = kernel.workload.source(Options::of(machine, common.max_instructions))?;
    let mut paths = BlockPaths::default();
    if !source.next_block(&mut paths)? {
        return Ok(String::new());
    }
    let mut recorder = Recorder::default();
    Engine::new(&table, machine)
        .run_block(&paths, policy, &mut recorder)
        .map_err(|error| crate::diag::Diagnostic::general(kernel.workload.name.clone(), error.to_string()))?;
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
    let alone: Vec<Vec<Phase>> =
        paths.warps.iter().map(|path| analyse_alone(&table, path, |_| {}).phases).collect();
    Ok(gantt::draw(&bars, &alone, machine.sub_cores()))
}
