//! Table II of Betts and Donaldson: estimates of the hybrid analysis over random runs of 25
//! kernels.

use super::Done;
use crate::args::{Common, PtxLaunch, Reproduce};
use crate::campaign::Campaign;
use crate::ipoints::instrumented;
use crate::load;
use crate::session::Session;
use warpbound_core::diag::Diagnostic;
use warpbound_core::diag::Diagnostics;
use warpbound_core::program::warp_cfg::Divergence;
use warpbound_hybrid::{Density, default_limits, estimate};
use warpbound_report::output::Batch;
use warpbound_report::reproduce::Reproduced;
use warpbound_report::reproduce::betts::{BettsResult, BettsRow, TABLE_II};

/// The machine of the paper's evaluation.
const MACHINE: &str = "fermi-c2050";

/// The number of runs of each kernel in the paper.
const RUNS: u64 = 1000;

pub fn table(args: &Reproduce, session: &Session) -> Result<Done, Diagnostics> {
    let (common, ptx) = (Common::on(MACHINE), PtxLaunch::default());
    let runs = args.runs.unwrap_or(RUNS);
    let mut rows = Vec::new();
    let mut batch = Batch::default();
    for (index, published) in TABLE_II.iter().enumerate() {
        let name = published.launch;
        if session.monitor.is_stopped() {
            let left = TABLE_II[index..].iter().map(|row| row.kernel.to_owned()).collect();
            batch = Batch { complete: false, stopped: session.stopped(), not_reached: left, ..batch };
            break;
        }
        let kernel = load::kernel(name, &ptx, common.seed, &session.monitor)?;
        let code = instrumented(&kernel, Divergence::Sides, Density::Blocks)?;
        let (machine, _) = load::machine(&common, &kernel)?;
        let policy = load::policy(&common, &kernel, &machine)?;
        let campaign = Campaign {
            name,
            ptx: &ptx,
            common: &common,
            runs,
            jobs: args.jobs,
            code: &code,
            given: &[],
            machine: &machine,
            policy: &policy,
            bounds: &[],
        };
        let mut instructions = 0;
        let observed = match campaign.run(session, |_, run| instructions += run.warp_instructions) {
            Ok(observed) => observed,
            Err(_) if session.monitor.is_stopped() => continue,
            Err(problems) => return Err(problems),
        };
        let found = estimate(&code.ipg, &observed, &[], default_limits(&code.ipg))
            .map_err(|why| Diagnostic::general(name, format!("no estimate: {why}")))?;
        rows.push(BettsRow::new(published, instructions, &observed, &found));
    }
    let result = BettsResult::new(MACHINE, runs, rows);
    Ok(Done { batch, ..Done::new(Reproduced::Estimates(Box::new(result))) })
}
