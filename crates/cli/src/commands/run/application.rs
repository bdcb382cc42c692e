//! A run of an application: all its kernels, one after the other.

use std::time::Instant;

use super::report::output;
use crate::applications;
use crate::args::Run;
use crate::checkpoint::{Checkpoint, Identity};
use crate::dumps::{self, Dumped, Names, OpenDump};
use crate::files::Outputs;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use warpbound_bound as bound;
use warpbound_core::diag::Diagnostic;
use warpbound_exec::Device;
use warpbound_judge::check::{ApplicationProgress, ProgressOf, judge_from, only_run};
use warpbound_judge::load::LoadedApplication;
use warpbound_report::check::CheckResult;
use warpbound_report::run::{self as report, Details, RunResult, Seconds};
use warpbound_trace::trace::UnitUse;

/// Runs the command.
pub fn run(args: &Run, program: &LoadedApplication, session: &Session) -> Outcome {
    let of_one = [
        ("--trace", !args.trace.is_empty()),
        ("--html", args.html.is_some()),
        ("--gantt", args.gantt),
        ("--explain", args.explain),
    ];
    if let Some((option, _)) = of_one.into_iter().find(|(_, given)| *given) {
        return Err(applications::needs_one(program, option));
    }
    let dumps = names(program).dumps(&args.dump)?;
    let inputs = load::inputs_of_application(&args.on.common, program);
    let mut outputs = Outputs::new(&inputs, args.writing.force, &session.parts);
    let dumps: Result<Vec<OpenDump>, _> =
        dumps.into_iter().map(|dump| OpenDump::create(dump, &mut outputs)).collect();
    let dumps = dumps?;
    let common = &args.on.common;
    let (machine, _) = load::machine_of_application(common)?;
    let policy = applications::policy(program, &machine)?;
    let bounds = bound::all();
    let options = common.run_options(&session.monitor).judged_by(&bounds, &[]);
    let mut units = UnitUse::new(machine.units().len());
    let policies = std::slice::from_ref(&policy);
    let on = [(&machine, policies)];
    let (mut checkpoint, mut begun) = (None, None);
    if args.checkpoint.checkpoint.is_some() {
        let of = ProgressOf { application: &program.application, on: &on, bounds: &bounds };
        let identity = Identity::new("run", program, &on, (common, &args.on.ptx), &[], false)?;
        let opened = Checkpoint::open(&args.checkpoint, args.writing.force, identity, &of, &inputs, session)?;
        if let Some(opened) = opened {
            checkpoint = Some(opened.checkpoint);
            if let Some((from, counted)) = opened.from {
                (begun, units) = (Some(from), counted);
            }
        }
    }
    session.progress.begin(&program.name, None, "blocks");
    let began = Instant::now();
    let mut keep = |reached: &ApplicationProgress, units: &UnitUse| {
        if let Some(checkpoint) = &mut checkpoint {
            checkpoint.keep(&program.application, reached, units);
        }
    };
    let (runs, device) = judge_from(program.subject(), &on, &options, &mut units, begun, &mut keep);
    let checked = only_run(runs).map_err(|problems| program.with_excerpts(problems))?;
    let seconds = began.elapsed().as_secs_f64();
    let details = || Details {
        units: report::units(&machine, &units, checked.total.makespan),
        lost_cycles: Vec::new(),
        bank_conflicts: Vec::new(),
        divergence: None,
        most_branches: 0,
    };
    let judged = CheckResult::of_application(&program.name, &program.application, &machine, &checked);
    let result = RunResult {
        details: (!args.timings).then(details),
        seconds: args.timings.then_some(Seconds {
            exec_seconds: None,
            analysis_seconds: None,
            sim_seconds: None,
            seconds,
        }),
        ..RunResult::new(judged, &checked.total)
    };
    let mut ending = Ending::default();
    ending.report(session, common.format, &output(args, result, &checked.total, session));
    if checked.total.is_complete() {
        let device = device.as_ref();
        let bytes = |what: &Dumped| device.map_or(&[][..], |device| contents(device, what));
        dumps::place_all(dumps, bytes, &mut ending);
    } else if !dumps.is_empty() {
        let message = "not written, since the run did not come to its end";
        ending.late.push(Diagnostic::general("--dump", message));
    }
    if let Some(checkpoint) = checkpoint {
        checkpoint.conclude(session, &mut ending);
    }
    Ok(ending)
}

/// Returns the named parts of device memory after the application has ended.
fn names(program: &LoadedApplication) -> Names {
    let Some(sequence) = program.application.program() else {
        return Names { buffers: Vec::new(), variables: Vec::new() };
    };
    let of_module = |(index, module): (usize, &warpbound_core::program::sequence::Module)| {
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
