//! `warpbound phases`: shows the phases that Algorithm 1 of Jeanmougin et al., ECRTS 2025, computes
//! for each warp alone.

use crate::args::Phases;
use crate::load;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_bound::{WarpPhases, analyse_alone};
use warpbound_core::program::Flow;
use warpbound_report::output::Output;
use warpbound_report::phases::PhasesResult;

/// Runs the command.
pub fn run(args: &Phases, session: &Session) -> Outcome {
    let kernel = load::kernel(&args.on.kernel, &args.on.ptx, args.on.common.seed, &session.monitor)?;
    let (machine, _) = load::machine(&args.on.common, &kernel)?;
    load::paper_model(&machine, "phases are defined in")?;
    let table = load::timing(&kernel, &machine)?;
    let (paths, seen) = load::nth_block(&kernel, &machine, args.of_block, &args.on.common, session)?;
    let warps: Vec<WarpPhases> = paths.warps.iter().map(|path| analyse_alone(&table, path, |_| {})).collect();
    let mut notes = seen.reasons(kernel.workload.program());
    notes.extend(seen.note());
    let mut steps = paths.warps.iter().flat_map(|path| path.steps());
    let barriers = steps.any(|step| matches!(table.instr(step.pc()).flow, Flow::Barrier | Flow::Arrive));
    let result = PhasesResult::new(&kernel.workload.name, &machine, args.of_block, &warps, barriers, notes);
    let seed = Some(args.on.common.seed);
    output::report(session, args.on.common.format, &Output::new("phases", seed, vec![result]))
}
