//! `warpbound hybrid`: computes estimates from the times between ipoints, of simulated runs or of
//! traces.

mod bounds;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::args::{Edges, Hybrid, IpointsAt};
use crate::campaign::{Campaign, warn_of_equal_inputs};
use crate::files::{Outputs, Part};
use crate::ipoints::instrumented;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::program::warp_cfg::Divergence;
use warpbound_hybrid::{
    Density, Estimates, IntegerProgram, Ipg, Layout, Observed, WrittenGraph, default_limits, estimate,
    read_traces,
};
use warpbound_judge::check::order::IN_A_TRACE;
use warpbound_judge::load::read;
use warpbound_report::hybrid::{About, HybridResult, Source};
use warpbound_report::output::Output;

/// Runs the command.
pub fn run(args: &Hybrid, session: &Session) -> Outcome {
    match (&args.graph, &args.kernel) {
        (Some(graph), _) => of_graph(args, graph, session),
        (None, Some(name)) => of_kernel(args, name, session),
        (None, None) => {
            Err(Diagnostic::general("hybrid", "no kernel").hint("name one, or a graph with --graph").into())
        }
    }
}

fn of_graph(args: &Hybrid, path: &Path, session: &Session) -> Outcome {
    let file = path.display().to_string();
    let bytes = read::text(path, read::TEXT_BYTES)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Diagnostic::general(file.clone(), "the file is not UTF-8 text"))?;
    let written = WrittenGraph::parse(&SourceText::new(file.clone(), text))?;
    let ipg = written.ipg().map_err(|error| Diagnostic::general(file.clone(), error.to_string()))?;
    let names: Vec<String> = ipg.loops().iter().map(|of| written.names[of.header].clone()).collect();
    let given = bounds::bounds(args, &names, "node")?;
    let mut inputs = args.traces.clone();
    inputs.push(path.to_owned());
    let lp = create_lp(args, &inputs, session)?;
    let layout = written.layout(&ipg);
    let observed = of_traces(&args.traces, &ipg, &given, layout.as_ref())?;
    let source = Source::Traces { traces: shown(&args.traces) };
    let about = About {
        name: file,
        source,
        ipoints_at: "nodes",
        ipg: &ipg,
        loop_lines: &[],
        given: &given,
        decided_by_order: None,
        races_not_looked_for: Some(IN_A_TRACE.to_owned()),
    };
    finish(args, about, observed, lp, None, session)
}

fn of_kernel(args: &Hybrid, name: &str, session: &Session) -> Outcome {
    let common = &args.common;
    let kernel = load::kernel(name, &args.ptx, common.seed, &session.monitor)?;
    warn_of_equal_inputs(name, (&args.ptx, common), &kernel, args.runs, session)?;
    let (ipoints_at, density) = match args.ipoints {
        IpointsAt::Blocks => ("blocks", Density::Blocks),
        IpointsAt::Loops => ("loops", Density::Loops),
    };
    let divergence = match args.edges {
        Edges::Sides => Divergence::Sides,
        Edges::Published => Divergence::Published,
    };
    let code = instrumented(&kernel, divergence, density)?;
    let lines: Vec<String> = code.loop_lines.iter().map(u32::to_string).collect();
    let given = bounds::bounds(args, &lines, "line")?;
    let (machine, _) = load::machine(common, &kernel)?;
    let policy = load::policy(common, &kernel, &machine)?;
    let mut inputs = load::inputs(common, &kernel, &policy);
    inputs.extend(args.traces.iter().cloned());
    let lp = create_lp(args, &inputs, session)?;
    let (mut decided_by_order, mut races_not_looked_for) = (None, None);
    let (observed, source, seed) = if args.traces.is_empty() {
        let campaign = Campaign {
            name,
            ptx: &args.ptx,
            common,
            runs: args.runs,
            jobs: args.jobs,
            code: &code,
            given: &given,
            machine: &machine,
            policy: &policy,
            bounds: &[],
        };
        let observed = campaign.run(session, |seed, run| {
            if decided_by_order.is_none() {
                decided_by_order = run.decided_by_order.as_ref().map(|why| format!("{why} (seed {seed})"));
            }
            if races_not_looked_for.is_none() {
                races_not_looked_for.clone_from(&run.races_not_looked_for);
            }
        })?;
        let last = common.seed + (args.runs - 1);
        let policy = policy.kind().to_string();
        (observed, Source::simulated(&machine, policy, [common.seed, last]), Some(common.seed))
    } else {
        let observed = of_traces(&args.traces, &code.ipg, &given, None)?;
        races_not_looked_for = Some(IN_A_TRACE.to_owned());
        (observed, Source::Traces { traces: shown(&args.traces) }, None)
    };
    let about = About {
        name: kernel.workload.name.clone(),
        source,
        ipoints_at,
        ipg: &code.ipg,
        loop_lines: &code.loop_lines,
        given: &given,
        decided_by_order,
        races_not_looked_for,
    };
    finish(args, about, observed, lp, seed, session)
}

/// Reads the observations of trace files, one after the other.
fn of_traces(
    paths: &[PathBuf],
    ipg: &Ipg,
    given: &[Option<u64>],
    layout: Option<&Layout>,
) -> Result<Observed, Diagnostics> {
    let mut all: Option<Observed> = None;
    for path in paths {
        let file = path.display().to_string();
        let unreadable = |error: std::io::Error| {
            Diagnostic::general(file.clone(), format!("cannot read the file: {error}"))
        };
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            return Err(Diagnostic::general(file, "this is a directory").hint("name a trace file").into());
        }
        let input = File::open(path).map_err(unreadable)?;
        let found = read_traces(input, &file, ipg, given, layout).map_err(unreadable)??;
        match &mut all {
            Some(all) => all.then(found),
            None => all = Some(found),
        }
    }
    all.ok_or_else(|| Diagnostic::general("--traces", "no file").into())
}

fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

fn create_lp(args: &Hybrid, inputs: &[PathBuf], session: &Session) -> Result<Option<Part>, Diagnostic> {
    let mut outputs = Outputs::new(inputs, args.writing.force, &session.parts);
    args.dump_lp.as_ref().map(|path| outputs.file("--dump-lp", path)).transpose()
}

/// Computes the estimates, and prints and writes the results.
fn finish(
    args: &Hybrid,
    about: About<'_>,
    observed: Observed,
    lp: Option<Part>,
    seed: Option<u64>,
    session: &Session,
) -> Outcome {
    let limits = default_limits(about.ipg);
    let problem = |why: String| Diagnostic::general(about.name.clone(), why);
    let mut ending = Ending::default();
    if let (Some(part), Some(path)) = (lp, &args.dump_lp) {
        let mut timing = observed.timing.clone();
        timing.set_bounds(about.ipg, about.given);
        let program =
            IntegerProgram::new(about.ipg, &timing, limits).map_err(|error| problem(error.to_string()))?;
        let place = format!("--dump-lp {}", path.display());
        if let Err(problem) = part.complete(place, program.lp_text().as_bytes()) {
            ending.late.push(problem);
        }
    }
    let found: Estimates = estimate(about.ipg, &observed, about.given, limits)
        .map_err(|error| problem(format!("no estimate: {error}")))?;
    let result = HybridResult::new(about, &observed, &found);
    ending.report(session, args.common.format, &Output::new("hybrid", seed, vec![result]));
    Ok(ending)
}
