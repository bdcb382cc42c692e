//! `warpbound run` of a program: all its launches, one after the other.

use std::time::Instant;

use crate::bound;
use crate::check::{SequenceChecked, observe_sequence};
use crate::cli::args::Run;
use crate::cli::dumps::{Dumped, Names, OpenDump};
use crate::cli::files::Outputs;
use crate::cli::load;
use crate::cli::output::{Ending, Format, Outcome};
use crate::cli::programs::LoadedProgram;
use crate::cli::session::Session;
use crate::cli::stop::Reason;
use crate::diag::Diagnostic;
use crate::exec::Device;
use crate::machine::Machine;
use crate::report::style::Style;
use crate::report::{json, sequence, text};
use crate::trace::UnitUse;

#[derive(serde::Serialize)]
struct Timed {
    #[serde(flatten)]
    check: json::Check,
    #[serde(flatten)]
    run: json::Run,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

/// Runs the command.
pub fn run(args: &Run, program: &LoadedProgram, session: &Session) -> Outcome {
    if !args.trace.is_empty() {
        return Err(program.needs_one("--trace"));
    }
    if args.gantt {
        return Err(program.needs_one("--gantt"));
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
    let stopped = session.stopped().filter(|_| !checked.total.is_complete());
    let mut ending = Ending::default();
    match common.format {
        Format::Json => {
            let timed = Timed {
                check: sequence::json(&program.name, &program.sequence, &machine, common.seed, &checked),
                run: json::Run::new(&checked.total),
                stopped: stopped.map(Reason::name),
                seconds: args.timings.then_some(seconds),
            };
            ending.print_json(session, &timed);
        }
        Format::Text => {
            let mut text = shown(args, program, &machine, &checked, &units, seconds, session.style);
            if let Some(reason) = stopped {
                text.push_str(&format!("\nINCOMPLETE: {}\n", reason.text()));
            }
            ending.print(session, &text);
        }
    }
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

fn shown(
    args: &Run,
    program: &LoadedProgram,
    machine: &Machine,
    checked: &SequenceChecked,
    units: &UnitUse,
    seconds: f64,
    style: Style,
) -> String {
    let mut out = sequence::text(&program.name, &program.sequence, machine, checked, style);
    out.push('\n');
    out.push_str(&text::run(&checked.total, style));
    if args.timings {
        let instructions = checked.total.warp_instructions as f64;
        out.push_str(&format!(
            "\n  {seconds:.3} s ({:.1} million warp instructions per second)\n",
            instructions / seconds.max(1e-9) / 1e6
        ));
    } else {
        out.push_str(&text::units(machine, units, &checked.total, style));
        out.push_str("\n  --launch N shows one launch alone: lost cycles by source line, branches, traces\n");
    }
    out
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
