//! `warpbound phases`: what Algorithm 1 of Jeanmougin et al., ECRTS 2025, says about each warp run alone.

use std::fmt::Write;

use serde::Serialize;

use crate::bound::{PhaseKind, WarpPhases, analyse_alone};
use crate::cli::args::Phases;
use crate::cli::load;
use crate::cli::output::{self, Format, Outcome};
use crate::cli::session::Session;
use crate::report::json::{Origin, SCHEMA};

/// Phases of one warp shown as text before the rest is counted.
const MAX_SHOWN: usize = 40;

#[derive(Serialize)]
struct PhasesReport {
    schema: u32,
    kernel: String,
    machine: String,
    block: u32,
    warps: Vec<Warp>,
    /// Why the paths may be others if the warps run at other times.
    notes: Vec<String>,
    #[serde(flatten)]
    origin: Origin,
}

#[derive(Serialize)]
struct Warp {
    warp: usize,
    isolated: u64,
    exec: u64,
    idle: u64,
    phases: Vec<Phase>,
}

#[derive(Serialize)]
struct Phase {
    kind: &'static str,
    start: u64,
    end: u64,
}

/// Runs the command.
pub fn run(args: &Phases, session: &Session) -> Outcome {
    let kernel = load::kernel(&args.on.kernel, &args.on.ptx, args.on.common.seed)?;
    let (machine, _) = load::machine(&args.on.common, &kernel)?;
    load::paper_model(&machine, "phases are those of")?;
    let table = load::timing(&kernel, &machine)?;
    let (paths, notes) = load::nth_block(&kernel, &machine, args.of_block, &args.on.common, session)?;
    let warps: Vec<WarpPhases> = paths.warps.iter().map(|path| analyse_alone(&table, path, |_| {})).collect();
    match args.on.common.format {
        Format::Text => {
            let mut text = text(&kernel.workload.name, machine.name(), args.of_block, &warps);
            notes
                .iter()
                .for_each(|note| text.push_str(&format!("\nnote: the paths depend on timing: {note}\n")));
            output::text(session, &text)
        }
        Format::Json => output::json(
            session,
            &PhasesReport {
                schema: SCHEMA,
                kernel: kernel.workload.name.clone(),
                machine: machine.name().to_owned(),
                block: args.of_block,
                notes,
                warps: warps.iter().enumerate().map(|(index, warp)| json(index, warp)).collect(),
                origin: Origin::new(&machine, args.on.common.seed),
            },
        ),
    }
}

fn name(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Exec => "exec",
        PhaseKind::Idle => "idle",
    }
}

fn json(warp: usize, phases: &WarpPhases) -> Warp {
    Warp {
        warp,
        isolated: phases.end.get(),
        exec: phases.exec.get(),
        idle: phases.idle.get(),
        phases: phases
            .phases
            .iter()
            .map(|p| Phase { kind: name(p.kind), start: p.start.get(), end: p.end.get() })
            .collect(),
    }
}

fn text(kernel: &str, machine: &str, block: u32, warps: &[WarpPhases]) -> String {
    let mut text = format!("{kernel} on {machine}, block {block}: each warp run alone, phases in cycles\n\n");
    let mut index = 0;
    // warps with the same phases are told once
    for run in warps.chunk_by(|a, b| a.phases == b.phases) {
        let who = if run.len() == 1 {
            format!("w{index}")
        } else {
            format!("w{index} to w{}", index + run.len() - 1)
        };
        let warp = &run[0];
        let _ = writeln!(
            text,
            "{who}: isolated {}, exec {}, idle {}, {} phases",
            warp.end,
            warp.exec,
            warp.idle,
            warp.phases.len()
        );
        for phase in warp.phases.iter().take(MAX_SHOWN) {
            let _ = writeln!(text, "  {} [{}, {})", name(phase.kind), phase.start, phase.end);
        }
        if warp.phases.len() > MAX_SHOWN {
            let _ =
                writeln!(text, "  ... and {} more (--format json lists all)", warp.phases.len() - MAX_SHOWN);
        }
        index += run.len();
    }
    text
}
