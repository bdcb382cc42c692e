//! `warpbound run` of a program: all its launches, one after the other.

use std::process::ExitCode;
use std::time::Instant;

use crate::bound;
use crate::check::{SequenceChecked, observe_sequence};
use crate::cli::args::Run;
use crate::cli::dumps::{Dumped, Names};
use crate::cli::load;
use crate::cli::output::{self, Failure, Format};
use crate::cli::programs::LoadedProgram;
use crate::exec::Device;
use crate::machine::Machine;
use crate::report::{json, sequence, text};
use crate::trace::UnitUse;

#[derive(serde::Serialize)]
struct Timed {
    #[serde(flatten)]
    check: json::Check,
    #[serde(flatten)]
    run: json::Run,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
}

/// Runs the command.
pub fn run(args: &Run, program: &LoadedProgram) -> Result<ExitCode, Failure> {
    if !args.trace.is_empty() {
        return Err(program.needs_one("--trace").into());
    }
    if args.gantt {
        return Err(program.needs_one("--gantt").into());
    }
    let dumps = names(program).dumps(&args.dump)?;
    let common = &args.on.common;
    let (machine, _) = load::machine_of_program(common)?;
    let policy = program.policy(&machine)?;
    let bounds = bound::all();
    let plan = program.plan(&machine, &bounds, &[], common, false);
    let mut units = UnitUse::new(machine.units().len());
    let began = Instant::now();
    let (checked, device) =
        observe_sequence(&plan, &policy, &mut units).map_err(|problems| program.with_excerpts(problems))?;
    let seconds = began.elapsed().as_secs_f64();
    for dump in dumps {
        output::write_file(&dump.path, contents(&device, &dump.what))?;
    }
    match common.format {
        Format::Json => output::print_json(&Timed {
            check: sequence::json(&program.name, &program.sequence, &machine, common.seed, &checked),
            run: json::Run::new(&checked.total),
            seconds: args.timings.then_some(seconds),
        })?,
        Format::Text => output::print(&shown(args, program, &machine, &checked, &units, seconds))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(
    args: &Run,
    program: &LoadedProgram,
    machine: &Machine,
    checked: &SequenceChecked,
    units: &UnitUse,
    seconds: f64,
) -> String {
    let mut out = sequence::text(&program.name, &program.sequence, machine, checked, output::style());
    out.push('\n');
    out.push_str(&text::run(&checked.total));
    if args.timings {
        let instructions = checked.total.warp_instructions as f64;
        out.push_str(&format!(
            "\n  {seconds:.3} s ({:.1} million warp instructions per second)\n",
            instructions / seconds.max(1e-9) / 1e6
        ));
    } else {
        out.push_str(&text::units(machine, units, &checked.total));
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
