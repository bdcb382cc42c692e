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
use table::{Bundled, Launches, MeasuredTable, Own, Row};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_judge::check::{JudgedApplication, JudgedLaunch, Run};
use warpbound_judge::compile::Assembler;
use warpbound_judge::load::{Assemble, LaunchOptions, Loaded, Location};
use warpbound_report::answer::Answer;
use warpbound_report::output::Output;
use warpbound_report::validate::{Compared, LeftOut, Measured, Quantity, ValidateResult};
use warpbound_trace::trace::StallReason;

/// The metric that counts the cycles of the longest block.
const OF_A_BLOCK: &str = "clock_cycles";

/// What is compared: a kernel or program of the table.
struct Wanted {
    /// The name in the report.
    name: String,
    kernel: String,
    /// The measured numbers: one for each launch of a bundle, in order, or one for all launches.
    measured: Vec<f64>,
    how: How,
}

/// How the launches are known.
enum How {
    /// The launches of a bundle, with the digest of its code and the blocks of each.
    Bundled { code: String, blocks: Vec<u64> },
    /// The options of the table.
    Own(Box<Own>),
}

/// What all kernels of the table have in common.
struct Setting<'a> {
    args: &'a Validate,
    metric: &'a str,
    /// The table, if names of files in it are relative to it.
    table: Location,
    assemble: Option<Assemble>,
    lists: Lists,
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
    let table = MeasuredTable::read(&args.measured, args.metric.as_deref())?;
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
    let names: Vec<String> = wanted.iter().map(|of| of.name.clone()).collect();
    let setting = Setting { args, metric: &table.metric, table: loader().file(&table.path), assemble, lists };
    let threads = args.jobs.unwrap_or_else(resources::threads).clamp(1, names.len().max(1));
    let mut batch = Batch::new(&names);
    let mut compared: Vec<Vec<Compared>> = Vec::new();
    let mut machines: Vec<(Machine, String)> = Vec::new();
    let mut left: Vec<Vec<LeftOut>> = Vec::new();
    let work = |index: usize, monitor: &ProgressMonitor, _: crate::batch::Blocks| {
        one(&wanted[index], &setting, monitor)
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
    let measured = Measured { table: table.file.clone(), gpu, metric: table.metric.clone() };
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
        if !rows().any(|row| row.is_called(name)) {
            let place = format!("--kernels {name}");
            problems.push(Diagnostic::general(place, "the table has no such kernel"));
        }
    }
    problems.into_result(())?;
    let mut names: Vec<&str> = Vec::new();
    let chosen = |row: &&Row| args.kernels.is_empty() || args.kernels.iter().any(|name| row.is_called(name));
    for row in rows().filter(chosen) {
        if names.last() != Some(&row.name.as_str()) && !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    let (mut wanted, mut left_out) = (Vec::new(), Vec::new());
    for name in names {
        let mut of_kernel: Vec<&Row> = rows().filter(|row| row.name == name).collect();
        of_kernel.sort_by_key(|row| row.launch());
        match of_table(&of_kernel, &table.metric) {
            Ok(of) => wanted.push(of),
            Err(reason) => left_out.push(LeftOut { kernel: name.to_owned(), reason }),
        }
    }
    Ok((wanted, left_out))
}

/// Returns the launches of a kernel, or why they cannot be compared.
fn of_table(rows: &[&Row], metric: &str) -> Result<Wanted, String> {
    let first = rows.first().ok_or("there are no rows")?;
    let how = match &first.launches {
        Launches::Own(own) => How::Own(own.clone()),
        Launches::Bundled(_) => {
            let bundled = |row: &&Row| match &row.launches {
                Launches::Bundled(of) => Some(of.clone()),
                Launches::Own(_) => None,
            };
            of_bundle(&rows.iter().filter_map(bundled).collect::<Vec<_>>())?
        }
    };
    let measured = |row: &&Row| {
        row.measured.ok_or_else(|| match row.launches {
            Launches::Bundled(_) => format!("`{metric}` of launch {} was not measured", row.launch()),
            Launches::Own(_) => format!("`{metric}` was not measured"),
        })
    };
    let measured = rows.iter().map(measured).collect::<Result<_, _>>()?;
    Ok(Wanted { name: first.name.clone(), kernel: first.kernel.clone(), measured, how })
}

/// Returns how the launches of a bundle are known, or why they cannot be compared.
fn of_bundle(launches: &[Bundled]) -> Result<How, String> {
    if let Some(of) = launches.iter().find(|of| of.equal != "yes") {
        let what = if of.equal == "failed" {
            "the run on the GPU failed"
        } else {
            "the results on the GPU are not equal bit for bit"
        };
        return Err(what.to_owned());
    }
    if let Some((number, of)) = launches.iter().enumerate().find(|(number, of)| of.launch != *number as u64) {
        return Err(format!("launch {number} has no row, launch {} has one", of.launch));
    }
    let first = launches.first().ok_or("there are no rows")?;
    if launches.iter().any(|of| of.code != first.code) {
        return Err("the rows are of several versions of the code".to_owned());
    }
    Ok(How::Bundled { code: first.code.clone(), blocks: launches.iter().map(|of| of.blocks).collect() })
}

/// Simulates a kernel on every machine under every policy. Returns these, and the comparisons.
fn one(
    of: &Wanted,
    setting: &Setting<'_>,
    monitor: &ProgressMonitor,
) -> Result<(Vec<(Machine, String)>, Done), String> {
    let prepared = setting.prepared(of, monitor)?;
    let setups = || prepared.setups.iter().flatten();
    let named = setups().map(|setup| (setup.machine.clone(), setup.policy.kind().to_string())).collect();
    let refused: Vec<Option<String>> =
        setups().map(|setup| too_many_blocks(of, &setup.machine, setting.metric)).collect();
    if let Some(refused) = refused.iter().cloned().collect::<Option<Vec<_>>>() {
        return Ok((named, refused.into_iter().map(Err).collect()));
    }
    let less = match &of.how {
        How::Own(own) => own.less.as_ref().map(|less| setting.own(of, less, monitor)).transpose()?,
        How::Bundled { .. } => None,
    };
    let less = less.map(|less| setting.judged(&less, false, monitor));
    let runs = setting.judged(&prepared, less.is_none(), monitor);
    let mut less = less.map(Vec::into_iter);
    let all = setups().zip(refused).zip(runs);
    let done = all.map(|((setup, refused), run)| {
        let less = less.as_mut().and_then(Iterator::next).transpose();
        match refused {
            Some(refused) => Err(refused),
            None => compared(of, (&run?, less?.as_ref()), &setup.machine, setting.metric),
        }
    });
    Ok((named, done.collect()))
}

impl Setting<'_> {
    /// Reads a kernel, whose code and data have to be those that were measured.
    fn prepared(&self, of: &Wanted, monitor: &ProgressMonitor) -> Result<Prepared, String> {
        let code = match &of.how {
            How::Own(own) => return self.own(of, &own.options, monitor),
            How::Bundled { code, .. } => code,
        };
        let mut options = PtxLaunch::default().options(self.args.common.seed);
        let load = |options: &LaunchOptions| loader().load(&of.kernel, options, monitor);
        let mut loaded = load(&options).map_err(|problems| problems.first_message())?;
        let digest = bundle::digest_of(&loaded).map_err(|problems| problems.first_message())?;
        if digest != *code {
            return Err("the code or the data are not those that were measured".to_owned());
        }
        if self.assemble.is_some() {
            options.assemble.clone_from(&self.assemble);
            loaded = load(&options).map_err(|problems| problems.first_message())?;
        }
        self.with_setups(loaded)
    }

    /// Reads a kernel with options of the table.
    fn own(&self, of: &Wanted, given: &PtxLaunch, monitor: &ProgressMonitor) -> Result<Prepared, String> {
        let mut options = given.options(self.args.common.seed);
        options.assemble.clone_from(&self.assemble);
        let location = loader().find_kernel_beside(&of.kernel, &self.table);
        let loaded = location.and_then(|at| loader().load_at(&of.kernel, at, &options, monitor));
        self.with_setups(loaded.map_err(|problems| problems.first_message())?)
    }

    fn with_setups(&self, loaded: Loaded) -> Result<Prepared, String> {
        Prepared::new(loaded, &self.args.common, &self.lists, &[])
            .map_err(|problems| problems.first_message())
    }

    /// Simulates a kernel on every machine under every policy, with bounds if they are asked for and
    /// if the table is about cycles.
    fn judged(
        &self,
        prepared: &Prepared,
        bounds: bool,
        monitor: &ProgressMonitor,
    ) -> Vec<Result<JudgedApplication, String>> {
        let bounds = bounds && Quantity::of_metric(self.metric) == Quantity::Cycles;
        let bounds = if bounds { warpbound_bound::all() } else { Vec::new() };
        let options = self.args.common.run_options(monitor);
        let options = options.race_memory(None).ahead(false).judged_by(&bounds, &[]);
        let judged = |run: Run| match (run.judged, run.problems) {
            (_, Some(problems)) => Err(problems.first_message()),
            (Some(judged), None) => Ok(judged),
            (None, None) => Err("nothing was simulated".to_owned()),
        };
        prepared.run(&options).into_iter().flatten().map(judged).collect()
    }
}

/// Returns why a machine cannot spread the blocks of each launch as the GPU does, if it cannot.
fn too_many_blocks(of: &Wanted, machine: &Machine, metric: &str) -> Option<String> {
    let How::Bundled { blocks, .. } = &of.how else { return None };
    let sms = machine.sms() as u64;
    // a machine with one SM runs all blocks there
    let limited = metric == OF_A_BLOCK || sms == 1;
    let too_many = limited && blocks.iter().any(|blocks| *blocks > sms);
    let machine = if sms == 1 { "one SM".to_owned() } else { format!("{sms} SMs") };
    too_many.then(|| format!("the machine has {machine}, and a launch has more blocks"))
}

/// Compares a kernel with its simulation, from which that of another launch may be subtracted.
fn compared(
    of: &Wanted,
    (judged, less): (&JudgedApplication, Option<&JudgedApplication>),
    machine: &Machine,
    metric: &str,
) -> Result<Compared, String> {
    let quantity = Quantity::of_metric(metric);
    let simulated = numbers(judged, quantity);
    let (launches, pairs) = (
        simulated.len(),
        match &of.how {
            How::Own(own) => vec![(of.measured[0], difference(&simulated, less, own, quantity)?)],
            How::Bundled { .. } if simulated.len() != of.measured.len() => {
                let (table, here) = (of.measured.len(), simulated.len());
                return Err(format!("the table has {table} launches, and the simulation {here}"));
            }
            How::Bundled { .. } => {
                of.measured.iter().copied().zip(simulated.iter().map(|cycles| *cycles as f64)).collect()
            }
        },
    );
    let answers = Answer::of_runs(&of.kernel, machine, &[&judged.total]);
    let bound = answers.into_iter().find_map(|answer| answer.guaranteed).map(|bound| bound.cycles);
    // a part of a launch has no bound
    let whole = match &of.how {
        How::Own(own) => own.less.is_none() && own.per.is_none(),
        How::Bundled { .. } => true,
    };
    let bound = bound.filter(|_| whole);
    Ok(Compared { kernel: of.name.clone(), launches, pairs, bound, stall: most_idle(&judged.total) })
}

/// Returns the simulated number of each launch.
fn numbers(judged: &JudgedApplication, quantity: Quantity) -> Vec<u64> {
    let total = &judged.total;
    match (&judged.launches, quantity) {
        (None, Quantity::Cycles) => vec![total.makespan.get()],
        (None, Quantity::WarpInstructions) => vec![total.warp_instructions],
        // the blocks of an application are its launches
        (Some(_), Quantity::Cycles) => total.blocks.iter().map(|(_, makespan, _)| makespan.get()).collect(),
        (Some(rows), Quantity::WarpInstructions) => rows.iter().map(|row| row.warp_instructions).collect(),
    }
}

/// Returns the number of all launches, less that of another one, divided as the table says.
fn difference(
    simulated: &[u64],
    less: Option<&JudgedApplication>,
    own: &Own,
    quantity: Quantity,
) -> Result<f64, String> {
    let all: u64 = simulated.iter().sum();
    let less: u64 = less.map_or(0, |less| numbers(less, quantity).iter().sum());
    let difference = all.checked_sub(less).ok_or_else(|| {
        let counted = quantity.name();
        format!("the launch takes {all} {counted}, and the one whose {counted} are subtracted {less}")
    })?;
    Ok(difference as f64 / own.per.unwrap_or(1.0))
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
