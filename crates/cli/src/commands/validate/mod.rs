//! `warpbound validate`: compares simulated cycles with measured ones.

mod table;

use super::bundle;
use super::plot::PlotFile;
use super::prepared::Prepared;
use crate::args::{PtxLaunch, Validate};
use crate::batch::each_kernel;
use crate::failures::Batch;
use crate::files::{Outputs, Scratch, loader};
use crate::lists::Lists;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::resources;
use crate::session::Session;
use table::{MeasuredTable, Row};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_judge::check::{JudgedApplication, JudgedLaunch, Run};
use warpbound_judge::compile::Assembler;
use warpbound_judge::load::{Assemble, LaunchOptions};
use warpbound_report::answer::Answer;
use warpbound_report::output::Output;
use warpbound_report::validate::{Compared, LeftOut, Measured, Quantity, ValidateResult};
use warpbound_trace::trace::StallReason;

/// The metric that counts the cycles of the longest block.
const OF_A_BLOCK: &str = "clock_cycles";

/// The launches of a kernel in the table, in order.
struct Wanted {
    kernel: String,
    code: String,
    blocks: Vec<u64>,
    measured: Vec<f64>,
}

/// The comparison of a kernel on each machine and under each policy, or why it is left out.
type Done = Vec<Result<Compared, String>>;

/// Runs the command.
pub fn run(args: &Validate, session: &Session) -> Outcome {
    let lists = Lists::new(&args.common)?;
    if !lists.several_machines() {
        // an error of the machine is not one of each kernel
        load::machine_of_application(&args.common)?;
    }
    let table = MeasuredTable::read(&args.measured, &args.metric)?;
    let scratch = args.machine_code.is_some().then(|| Scratch::new(&session.parts)).transpose()?;
    let assemble = match (&args.machine_code, &scratch) {
        (Some(arch), Some(scratch)) => {
            let places = super::compile::places();
            let found = Assembler::find(args.ptxas.as_deref(), arch.clone(), &places, scratch.path())?;
            Some(Assemble::by(move |ptx| found.assemble(ptx, &ProgressMonitor::new())))
        }
        _ => None,
    };
    let mut outputs = Outputs::new(std::slice::from_ref(&table.path), args.writing.force, &session.parts);
    let plot = args.out.as_deref().map(|path| PlotFile::create("--out", path, &mut outputs)).transpose()?;
    let gpu = gpu_of(&table, args.gpu.as_deref())?;
    let (wanted, mut left_out) = wanted(&table, &gpu, args)?;
    let names: Vec<String> = wanted.iter().map(|of| of.kernel.clone()).collect();
    let threads = args.jobs.unwrap_or_else(resources::threads).clamp(1, names.len().max(1));
    let mut batch = Batch::new(&names);
    let mut compared: Vec<Vec<Compared>> = Vec::new();
    let mut machines: Vec<(Machine, String)> = Vec::new();
    let mut left: Vec<Vec<LeftOut>> = Vec::new();
    let work = |index: usize, monitor: &ProgressMonitor, _: crate::batch::Blocks| {
        one(&wanted[index], (args, assemble.as_ref()), &lists, monitor)
    };
    each_kernel(&mut batch, threads, session, work, |batch, index, done| {
        let kernel = || batch.name(index).to_owned();
        match done {
            Err(reason) => left_out.push(LeftOut { kernel: kernel(), reason }),
            Ok(_) if session.monitor.is_stopped() => batch.cut_short(),
            Ok((setups, done)) => {
                if machines.is_empty() {
                    compared.resize_with(setups.len(), Vec::new);
                    left.resize_with(setups.len(), Vec::new);
                    machines = setups;
                }
                for (run, outcome) in done.into_iter().enumerate() {
                    match outcome {
                        Ok(of) => compared[run].push(of),
                        Err(reason) => left[run].push(LeftOut { kernel: kernel(), reason }),
                    }
                }
            }
        }
    });
    let measured = Measured { table: table.file.clone(), gpu, metric: args.metric.clone() };
    let mut results = Vec::new();
    for (run, (machine, policy)) in machines.iter().enumerate() {
        let all = left_out.iter().chain(&left[run]).cloned().collect();
        results.extend(ValidateResult::new(&measured, machine, policy.clone(), &compared[run], all));
    }
    if results.is_empty() && !batch.is_incomplete() {
        left_out.extend(left.into_iter().flatten());
        return Err(nothing(&table, &left_out).into());
    }
    let mut ending = Ending::default();
    let output = Output::of_batch("validate", Some(args.common.seed), results, batch.report(session));
    ending.report(session, args.common.format, &output);
    if let (Some(plot), Some(first)) = (plot, output.results.first()) {
        let drawn = first.scatter();
        match plot.write(|| drawn.svg(), || drawn.pdf()) {
            Ok(path) if args.common.format.is_for_people() => {
                ending.print(session, &format!("\nwrote {}\n", path.display()));
            }
            Ok(_) => {}
            Err(problem) => ending.late.push(problem),
        }
    }
    Ok(ending)
}

/// Returns the GPU whose rows are compared.
fn gpu_of(table: &MeasuredTable, wanted: Option<&str>) -> Result<String, Diagnostic> {
    let mut gpus: Vec<&str> = Vec::new();
    for row in &table.rows {
        if !gpus.contains(&row.gpu.as_str()) {
            gpus.push(&row.gpu);
        }
    }
    match (wanted, gpus.as_slice()) {
        (None, [only]) => Ok((*only).to_owned()),
        (None, _) => {
            let message = format!("the table has rows of {} GPUs", gpus.len());
            Err(Diagnostic::general(&table.file, message)
                .hint(format!("choose one with --gpu: {}", gpus.join(", "))))
        }
        (Some(name), _) if gpus.contains(&name) => Ok(name.to_owned()),
        (Some(name), _) => {
            let place = format!("--gpu {name}");
            Err(Diagnostic::general(place, "the table has no row of this GPU").hint(gpus.join(", ")))
        }
    }
}

/// Returns the kernels to compare, and those that the table itself rules out.
fn wanted(
    table: &MeasuredTable,
    gpu: &str,
    args: &Validate,
) -> Result<(Vec<Wanted>, Vec<LeftOut>), Diagnostics> {
    let rows = || table.rows.iter().filter(|row| row.gpu == gpu);
    let mut problems = Diagnostics::new();
    for name in &args.kernels {
        if !rows().any(|row| row.kernel == *name) {
            let place = format!("--kernels {name}");
            problems.push(Diagnostic::general(place, "the table has no such kernel"));
        }
    }
    problems.into_result(())?;
    let mut names: Vec<&str> = Vec::new();
    for row in rows().filter(|row| args.kernels.is_empty() || args.kernels.contains(&row.kernel)) {
        if names.last() != Some(&row.kernel.as_str()) && !names.contains(&row.kernel.as_str()) {
            names.push(&row.kernel);
        }
    }
    let (mut wanted, mut left_out) = (Vec::new(), Vec::new());
    for name in names {
        let mut of_kernel: Vec<&Row> = rows().filter(|row| row.kernel == name).collect();
        of_kernel.sort_by_key(|row| row.launch);
        match of_table(name, &of_kernel, &args.metric) {
            Ok(of) => wanted.push(of),
            Err(reason) => left_out.push(LeftOut { kernel: name.to_owned(), reason }),
        }
    }
    Ok((wanted, left_out))
}

/// Returns the launches of a kernel, or why they cannot be compared.
fn of_table(name: &str, rows: &[&Row], metric: &str) -> Result<Wanted, String> {
    if let Some(row) = rows.iter().find(|row| row.equal != "yes") {
        let what = if row.equal == "failed" {
            "the run on the GPU failed"
        } else {
            "the results on the GPU are not equal bit for bit"
        };
        return Err(what.to_owned());
    }
    if let Some((number, row)) = rows.iter().enumerate().find(|(number, row)| row.launch != *number as u64) {
        return Err(format!("launch {number} has no row, launch {} has one", row.launch));
    }
    let measured = |row: &&Row| {
        row.measured.ok_or_else(|| format!("`{metric}` of launch {} was not measured", row.launch))
    };
    let measured = rows.iter().map(measured).collect::<Result<_, _>>()?;
    let first = rows.first().ok_or("there are no rows")?;
    if rows.iter().any(|row| row.code != first.code) {
        return Err("the rows are of several versions of the code".to_owned());
    }
    let blocks = rows.iter().map(|row| row.blocks).collect();
    Ok(Wanted { kernel: name.to_owned(), code: first.code.clone(), blocks, measured })
}

/// Simulates a kernel on every machine under every policy. Returns these, and the comparisons.
fn one(
    of: &Wanted,
    (args, assemble): (&Validate, Option<&Assemble>),
    lists: &Lists,
    monitor: &ProgressMonitor,
) -> Result<(Vec<(Machine, String)>, Done), String> {
    let seed = args.common.seed;
    let mut options = PtxLaunch::default().options(seed);
    let load = |options: &LaunchOptions| {
        loader().load(&of.kernel, options, monitor).map_err(|problems| problems.first_message())
    };
    let mut loaded = load(&options)?;
    let digest = bundle::digest_of(&loaded).map_err(|problems| problems.first_message())?;
    if digest != of.code {
        return Err("the code or the data are not those that were measured".to_owned());
    }
    if assemble.is_some() {
        options.assemble = assemble.cloned();
        loaded = load(&options)?;
    }
    let prepared =
        Prepared::new(loaded, &args.common, lists, &[]).map_err(|problems| problems.first_message())?;
    let setups = || prepared.setups.iter().flatten();
    let named = setups().map(|setup| (setup.machine.clone(), setup.policy.kind().to_string())).collect();
    let refused: Vec<Option<String>> =
        setups().map(|setup| too_many_blocks(of, &setup.machine, args)).collect();
    if let Some(refused) = refused.iter().cloned().collect::<Option<Vec<_>>>() {
        return Ok((named, refused.into_iter().map(Err).collect()));
    }
    let quantity = Quantity::of_metric(&args.metric);
    // bounds are about cycles
    let bounds = if quantity == Quantity::Cycles { warpbound_bound::all() } else { Vec::new() };
    let options = args.common.run_options(monitor);
    let options = options.race_memory(None).ahead(false).judged_by(&bounds, &[]);
    let compare = |machine: &Machine, run: Run| match (run.judged, run.problems) {
        (_, Some(problems)) => Err(problems.first_message()),
        (Some(judged), None) => compared(of, &judged, machine, quantity),
        (None, None) => Err("nothing was simulated".to_owned()),
    };
    let runs = prepared.run(&options).into_iter().flatten();
    let all = setups().zip(refused).zip(runs);
    let done = all.map(|((setup, refused), run)| refused.map_or_else(|| compare(&setup.machine, run), Err));
    Ok((named, done.collect()))
}

/// Returns why a machine cannot spread the blocks of each launch as the GPU does, if it cannot.
fn too_many_blocks(of: &Wanted, machine: &Machine, args: &Validate) -> Option<String> {
    let sms = machine.sms() as u64;
    // a machine with one SM runs all blocks there
    let limited = args.metric == OF_A_BLOCK || sms == 1;
    let too_many = limited && of.blocks.iter().any(|blocks| *blocks > sms);
    let machine = if sms == 1 { "one SM".to_owned() } else { format!("{sms} SMs") };
    too_many.then(|| format!("the machine has {machine}, and a launch has more blocks"))
}

fn compared(
    of: &Wanted,
    judged: &JudgedApplication,
    machine: &Machine,
    quantity: Quantity,
) -> Result<Compared, String> {
    let total = &judged.total;
    let simulated: Vec<u64> = match (&judged.launches, quantity) {
        (None, Quantity::Cycles) => vec![total.makespan.get()],
        (None, Quantity::WarpInstructions) => vec![total.warp_instructions],
        // the blocks of an application are its launches
        (Some(_), Quantity::Cycles) => total.blocks.iter().map(|(_, makespan, _)| makespan.get()).collect(),
        (Some(rows), Quantity::WarpInstructions) => rows.iter().map(|row| row.warp_instructions).collect(),
    };
    if simulated.len() != of.measured.len() {
        let (table, here) = (of.measured.len(), simulated.len());
        return Err(format!("the table has {table} launches, and the simulation {here}"));
    }
    let launches = of.measured.iter().copied().zip(simulated).collect();
    let answers = Answer::of_runs(&of.kernel, machine, &[total]);
    let bound = answers.into_iter().find_map(|answer| answer.guaranteed).map(|bound| bound.cycles);
    Ok(Compared { kernel: of.kernel.clone(), launches, bound, stall: most_idle(total) })
}

/// Returns the reason of most idle issue slots. SMs without work are idle, too, so draining does not
/// count.
fn most_idle(of: &JudgedLaunch) -> Option<&'static str> {
    let idle = of.stalls.iter().filter(|(reason, cycles)| *reason != StallReason::Drain && cycles.get() > 0);
    // of equal reasons, the first by priority
    idle.reduce(|most, next| if next.1 > most.1 { next } else { most }).map(|(reason, _)| reason.name())
}

/// Returns the error for a table of which nothing can be compared.
fn nothing(table: &MeasuredTable, left_out: &[LeftOut]) -> Diagnostic {
    let shown: Vec<String> =
        left_out.iter().take(3).map(|of| format!("{}: {}", of.kernel, of.reason)).collect();
    let more = if left_out.len() > 3 { "; .." } else { "" };
    Diagnostic::general(&table.file, "no kernel of the table can be compared")
        .hint(format!("{}{more}", shown.join("; ")))
}
