//! Anomalies of kernels: a smaller latency gives a longer makespan, or the order of two policies
//! changes.

use super::findings::{self, Commands};
use super::range::{self, Sweep, Swept};
use crate::args::{Anomaly, Common, Races};
use crate::failures::Batch;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::policies;
use crate::resources;
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_core::diag::{Diagnostic, Diagnostics, closest};
use warpbound_core::isa::GLOBAL_LOAD;
use warpbound_core::machine::{Machine, PolicyKind, Setting};
use warpbound_core::program::TimingTable;
use warpbound_judge::explore::anomaly::series::{Point, SweepError, sweep};
use warpbound_judge::load::LoadedKernel;
use warpbound_report::anomaly::{AnomalyResult, KernelFindings};
use warpbound_report::output::Output;
use warpbound_sim::PolicySetup;

/// Sweeps every kernel.
pub fn run(args: &Anomaly, session: &Session) -> Outcome {
    let kinds = super::policies(args, &PolicyKind::NAMED)?;
    let policies: Vec<PolicySetup> = kinds.iter().map(policies::setup).collect::<Result<_, Diagnostics>>()?;
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    let mut batch = Batch::new(&names);
    let mut results = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        tracing::info!(kernel = %name, "sweeping");
        match kernel(name, &batch.label(name), args, &policies, session) {
            Ok(Some((found, whole))) => {
                results.push(found);
                if !whole {
                    batch.cut_short();
                }
            }
            Ok(None) => batch.without_result(name),
            Err(wrong) => batch.failures.add(name, &wrong),
        }
    }
    batch.only_failure(!results.is_empty())?;
    let mut ending = Ending::default();
    let results = results.into_iter().map(AnomalyResult::Kernel).collect();
    let output = Output::of_batch("anomaly", Some(args.seed.unwrap_or(0)), results, batch.report(session));
    ending.report(session, args.format, &output);
    ending.failures = batch.failures;
    Ok(ending)
}

/// Executes one kernel and simulates it at every point under every policy. Also returns whether the
/// whole launch was simulated. Returns `None` if the command was stopped before the first block
/// completed.
fn kernel(
    name: &str,
    label: &str,
    args: &Anomaly,
    policies: &[PolicySetup],
    session: &Session,
) -> Result<Option<(KernelFindings, bool)>, Diagnostics> {
    let kernel = load::kernel(name, &args.ptx, args.seed.unwrap_or(0), &session.monitor)?;
    let common = common(args);
    let (base, _) = load::machine(&common, &kernel)?;
    load::paper_model(&base, "anomalies are searched in")?;
    let sweep_of = match &args.unit {
        Some(unit) => unit_sweep(unit, &base)?,
        None => range::parse(args.sweep.as_deref())?,
    };
    if sweep_of.setting == Swept::MemLatency && base.op(GLOBAL_LOAD).is_none() {
        let message = format!("machine `{}` has no global loads whose latency could be swept", base.name());
        return Err(Diagnostic::general(name, message)
            .hint("sweep one of its units with --unit NAME")
            .into());
    }
    let points = points(&sweep_of, &common, &kernel)?;
    // the other options set the value from which the latency of --unit goes down
    if args.unit.is_none() {
        not_set_too(args, &sweep_of)?;
        has_effect(args, &sweep_of, &points, &kernel)?;
    }
    one_block_at_a_time(&kernel, &points)?;
    let blocks = u64::from(kernel.workload.blocks());
    let replays = blocks * points.len() as u64 * policies.len() as u64;
    session.progress.begin(label, Some(replays), "replays of blocks");
    let mut source = kernel.workload.source(common.functional_options(&base), &session.monitor)?;
    let threads = args.jobs.unwrap_or_else(resources::threads);
    let makespans =
        sweep(&mut source, &points, policies, threads, &session.monitor).map_err(|error| match error {
            SweepError::Source(problems) => problems,
            SweepError::Run(value, policy, error) => {
                Diagnostic::general(kernel.workload.name.clone(), error.to_string())
                    .hint(format!("policy {policy}, {}={value}", sweep_of.setting.name()))
                    .into()
            }
        })?;
    if makespans.blocks == 0 && blocks > 0 {
        return Ok(None);
    }
    let commands = Commands::new(args, name, &sweep_of.setting);
    let mut notes = kernel.workload.program().notes.clone();
    notes.extend(source.seen().reasons(kernel.workload.program()));
    let whole = makespans.blocks == blocks;
    if !whole {
        notes.push(format!("INCOMPLETE: the first {} of {blocks} blocks only", makespans.blocks));
    }
    let name = &kernel.workload.name;
    let found = findings::findings(name, &base, &sweep_of, policies, &makespans, &commands, notes);
    Ok(Some((found, whole)))
}

/// Returns the options in the form in which kernels and machines are loaded; the policy is set
/// separately.
fn common(args: &Anomaly) -> Common {
    Common {
        machine: args.machine.clone(),
        policy: None,
        mem_latency: args.mem_latency,
        set: args.set.clone(),
        seed: args.seed.unwrap_or(0),
        format: args.format,
        sm_threads: None,
        max_instructions: args.max_instructions,
        races: Races::Report,
        race_memory: 1024,
    }
}

/// Returns the sweep of a unit's latency from the value of the machine down to 0.
fn unit_sweep(name: &str, machine: &Machine) -> Result<Sweep, Diagnostic> {
    let Some(unit) = machine.units().iter().find(|unit| unit.name == name) else {
        let known: Vec<&str> = machine.units().iter().map(|unit| unit.name.as_str()).collect();
        let near =
            closest(name, known.iter().copied()).map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let message = format!("machine `{}` has no such unit", machine.name());
        return Err(Diagnostic::general(format!("--unit {name}"), message)
            .hint(format!("{near}units: {}", known.join(", "))));
    };
    range::parse(Some(&format!("units.{name}.lat=0..={}", unit.lat)))
}

fn points(sweep: &Sweep, common: &Common, kernel: &LoadedKernel) -> Result<Vec<Point>, Diagnostics> {
    let point = |value: &u64| {
        let mut with = common.clone();
        match &sweep.setting {
            Swept::MemLatency => with.mem_latency = Some(*value),
            Swept::Path(path) => with.set.push(format!("{path}={value}")),
        }
        let (machine, _) = load::machine(&with, kernel)?;
        let table = TimingTable::new(kernel.workload.program(), &machine)?;
        Ok(Point { value: *value, machine, table })
    };
    sweep.values.iter().map(point).collect()
}

/// Refuses an option that sets what is swept.
fn not_set_too(args: &Anomaly, sweep: &Sweep) -> Result<(), Diagnostics> {
    let swept = |option: String| {
        Diagnostic::general(option, format!("{} is swept, so it has no other value", sweep.setting.name()))
            .hint("leave this option out, or sweep something else")
    };
    let mut problems = Diagnostics::new();
    match &sweep.setting {
        Swept::MemLatency => {
            let given = args.mem_latency.iter();
            given.for_each(|latency| problems.push(swept(format!("--mem-latency {latency}"))));
        }
        Swept::Path(path) => {
            let is_path = |text: &&String| Setting::parse(text).is_ok_and(|set| set.path() == path);
            let given = args.set.iter().filter(is_path);
            given.for_each(|text| problems.push(swept(format!("--set {text}"))));
        }
    }
    problems.into_result(())
}

/// Checks that every value of the sweep gives another machine, and that --mem-latency changes these
/// machines.
fn has_effect(
    args: &Anomaly,
    sweep: &Sweep,
    points: &[Point],
    kernel: &LoadedKernel,
) -> Result<(), Diagnostics> {
    let name = sweep.setting.name();
    if points.windows(2).any(|two| two[0].machine.digest() == two[1].machine.digest()) {
        let problem = Diagnostic::general(format!("--sweep {name}"), "two values give the same machine");
        return Err(problem.hint("leave out the other option that sets this latency").into());
    }
    let (Some(latency), Some(point)) = (args.mem_latency, points.first()) else { return Ok(()) };
    let without = Common { mem_latency: None, ..common(args) };
    let one = Sweep { setting: sweep.setting.clone(), values: vec![point.value] };
    let without = self::points(&one, &without, kernel)?;
    if without.iter().any(|other| other.machine.digest() == point.machine.digest()) {
        let message = format!("{name} is swept, which replaces this latency");
        let problem = Diagnostic::general(format!("--mem-latency {latency}"), message);
        return Err(problem.hint("leave this option out, or sweep something else").into());
    }
    Ok(())
}

/// Checks that only one block is resident at a time; otherwise blocks that are simulated one by one
/// would take another time than the launch.
fn one_block_at_a_time(kernel: &LoadedKernel, points: &[Point]) -> Result<(), Diagnostics> {
    for point in points {
        let occupancy = point.machine.limits().occupancy(&kernel.workload.needs()).map_err(|error| {
            Diagnostic::general(
                kernel.workload.name.clone(),
                format!("block larger than the SM holds: {error}"),
            )
        })?;
        let resident = occupancy.blocks.min(kernel.workload.blocks());
        if resident > 1 {
            let message = format!("{resident} blocks are resident together on `{}`", point.machine.name());
            let problem = Diagnostic::general(kernel.workload.name.clone(), message);
            return Err(problem
                .hint("anomalies are searched with one block at a time: --set limits.blocks=1")
                .into());
        }
    }
    Ok(())
}
