//! Table 1 and figures 2 to 4 of Berezovskyi et al., ARCS 2016: the campaign and the analysis of
//! `pwcet` in each of 12 configurations.

use super::Done;
use crate::args::{Common, PtxLaunch, Pwcet, Reproduce};
use crate::commands::pwcet::{Campaign, MAX_THREADS, Simulated, options};
use crate::files::Folder;
use crate::load;
use crate::resources;
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::sweep::Source;
use warpbound_pwcet::{NoAnalysis, Options, Sample, analyse};
use warpbound_report::output::{Batch, Origin};
use warpbound_report::pwcet::PwcetResult;
use warpbound_report::reproduce::Reproduced;
use warpbound_report::reproduce::diagxtrm::published::{TABLE_1, Trace};
use warpbound_report::reproduce::diagxtrm::{DiagxtrmResult, NoCurve, TraceRow, names, split};

/// The machine of the paper's experiments.
const MACHINE: &str = "kepler-gk104";

/// The default number of runs of each configuration. A tenth of them, 100 runs, are the tail. With
/// 100 runs in the tail, the interval of the extremal index distinguishes clusters of two large
/// times from large times that occur alone, but it does not detect weaker clusters (see
/// `pwcet::extremal`). All configurations take about 17 minutes on two cores. The paper has 50,000
/// runs.
const RUNS: u64 = 1000;

/// All sources of variation that the machine has; it has no jitter.
const VARIED: [Source; 3] = [Source::Inputs, Source::Replacement, Source::Placement];

pub fn table(args: &Reproduce, session: &Session) -> Result<Done, Diagnostics> {
    let prepare = |dir| Folder::prepare("--svg", dir, args.writing.force, &session.parts);
    let folder = args.svg.as_deref().map(prepare).transpose()?;
    if let Some(folder) = &folder {
        folder.check_files(&names().iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    let runs = args.runs.unwrap_or(RUNS);
    let kernel = load::kernel(TABLE_1[0].launch, &PtxLaunch::default(), 0, &session.monitor)?;
    let origin = Origin::new(&load::machine(&Common::on(MACHINE), &kernel)?.0);
    let mut traces = Vec::new();
    let mut batch = Batch::default();
    for (index, trace) in TABLE_1.iter().enumerate() {
        match configuration(trace, runs, args.jobs, session) {
            Ok(found) => traces.push(found),
            Err(_) if session.monitor.is_stopped() => {
                let name = |trace: &Trace| format!("{} with {} %", trace.launch, trace.l1_percent);
                let not_reached = TABLE_1[index..].iter().map(name).collect();
                batch = Batch { complete: false, stopped: session.stopped(), not_reached, ..batch };
                break;
            }
            Err(problems) => return Err(problems),
        }
    }
    let varied = VARIED.map(Into::into).to_vec();
    let result = DiagxtrmResult::new(origin, runs, varied, traces);
    if let Some(folder) = folder {
        let plots = result.plots().into_iter().map(|(name, svg)| (name, svg.into_bytes()));
        folder.write("", &plots.collect::<Vec<_>>())?;
    }
    Ok(Done { batch, ..Done::new(Reproduced::Traces(Box::new(result))) })
}

/// Returns the options of the analysis of simulated runs.
fn simulated(wanted: &Pwcet) -> Result<Options, Diagnostics> {
    Ok(Options { exact_clock: true, ..options(wanted)? })
}

/// Returns the row of one configuration, and its makespans.
fn configuration(
    trace: &Trace,
    runs: u64,
    jobs: Option<usize>,
    session: &Session,
) -> Result<(TraceRow, Vec<u64>), Diagnostics> {
    let common = Common { set: vec![split(trace.l1_percent)], ..Common::on(MACHINE) };
    let wanted = Pwcet { jobs, ..Pwcet::of(trace.launch, runs, &VARIED, common) };
    let campaign = Campaign::new(&wanted, wanted.common.seed, runs, &session.monitor)?;
    let (measured, makespans) = match campaign.run(&wanted, session)? {
        Simulated::All { measured, makespans } => (measured, makespans),
        // occurs only if runs are kept in a folder
        Simulated::Part(_) => return Err(Diagnostic::general(trace.launch, "a part of the runs").into()),
    };
    let threads = jobs.unwrap_or_else(resources::threads).clamp(1, MAX_THREADS);
    let analysed = match Sample::from_cycles(&makespans) {
        Err(why) => Err(NoCurve::Sample(why)),
        Ok(sample) => match analyse(&sample, &simulated(&wanted)?, threads, &session.monitor) {
            Ok(analysis) => Ok(PwcetResult::new(measured, "cycles".to_owned(), &sample, analysis)),
            Err(NoAnalysis::Stopped) => {
                return Err(Diagnostic::general(trace.launch, NoAnalysis::Stopped.to_string()).into());
            }
            Err(why) => Err(NoCurve::Analysis(why)),
        },
    };
    Ok((TraceRow::new(trace, &makespans, analysed), makespans))
}
