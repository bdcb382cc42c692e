//! A program: all its launches, one after the other.

use std::time::Instant;

use super::report::output;
use crate::bound;
use crate::check::observe_sequence;
use crate::cli::args::Run;
use crate::cli::dumps::{Dumped, Names, OpenDump};
use crate::cli::files::Outputs;
use crate::cli::load;
use crate::cli::output::{Ending, Outcome};
use crate::cli::programs::LoadedProgram;
use crate::cli::session::Session;
use crate::diag::Diagnostic;
use crate::exec::Device;
use crate::report::check::CheckResult;
use crate::report::run::{self as report, Details, RunResult, Seconds};
use crate::trace::UnitUse;

/// Runs the command.
pub fn run(args: &Run, program: &LoadedProgram, session: &Session) -> Outcome {
    if !args.trace.is_empty() {
        return Err(program.needs_one("--trace"));
    }
    if args.gantt {
        return Err(program.needs_one("--gantt"));
    }
    if args.explain {
        return Err(program.needs_one("--explain"));
    }
    let dumps = names(program).dumps(&args.dump)?;
    let inputs = load::inputs_of_program(&args.on.common, program);
    let mut outputs = Outputs::new(&inputs, args.writing.force, &session.parts);
    let dumps: Result<Vec<OpenDump>, _> =
        dumps.into_iter().map(|dump| OpenDump::create(dump, &mut outputs)).collect();
    let dumps = dumps?;
    let common = &args.on.common;
    let (machine, _) = load::machine_of_program(common)?;
    let policy = program.policy(&machine)?;
    let bounds = bound::all();
    let plan = program.plan(&machine, &bounds, &[], common, false, &session.watch);
    session.progress.begin(&program.name, None, "blocks");
    let mut units = UnitUse::new(machine.units().len());
    let began = Instant::now();
    let run = observe_sequence(&plan, &policy, &mut units);
    let (checked, device) = run.map_err(|failed| program.with_excerpts(failed.problems))?;
    let seconds = began.elapsed().as_secs_f64();
    let details = || Details {
        units: report::units(&machine, &units, checked.total.makespan),
        lost_cycles: Vec::new(),
        bank_conflicts: Vec::new(),
        divergence: None,
        most_branches: 0,
    };
    let judged = CheckResult::of_program(&program.name, &program.sequence, &machine, &checked);
    let result = RunResult {
        details: (!args.timings).then(details),
        seconds: args.timings.then_some(Seconds { exec_seconds: None, sim_seconds: None, seconds }),
        ..RunResult::new(judged, &checked.total)
    };
    let mut ending = Ending::default();
    ending.report(session, common.format, &output(args, result, &checked.total, session));
    if checked.total.is_complete() {
        for dump in dumps {
            let bytes = contents(&device, &dump.what);
            if let Err(problem) = dump.place(bytes) {
                ending.late.push(problem);
            }
        }
    } else if !dumps.is_empty() {
        let message = "not written, since the run did not come to its end";
        ending.late.push(Diagnostic::general("--dump", message));
    }
    Ok(ending)
}

/// What has a name when the program has ended.
fn names(program: &LoadedProgram) -> Names {
    let sequence = &program.sequence;
    let of_module = |(index, module): (usize, &crate::program::sequence::Module)| {
        let vars = module.memory.globals.vars.iter().chain(&module.memory.constants.vars);
        vars.map(|variable| (variable.name.clone(), index)).collect::<Vec<_>>()
    };
    Names {
        buffers: sequence.buffers_at(None),
        variables: sequence.modules.iter().enumerate().flat_map(of_module).collect(),
    }
}

fn contents<'d>(device: &'d Device, what: &Dumped) -> &'d [u8] {
    match what {
        Dumped::Buffer(index) => device.buffer(*index),
        Dumped::Variable { module, name } => device.variable(*module, name).unwrap_or_default(),
    }
}
