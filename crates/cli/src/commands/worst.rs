//! `warpbound worst`: searches for the worst schedules, and compares them with makespans and
//! bounds.

use crate::args::Worst;
use crate::choices::{self, Searched};
use crate::failures::Batch;
use crate::files::Folder;
use crate::load;
use crate::output::{Ending, Outcome};
use crate::policies;
use crate::resources;
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_bound::{self as bound, Analyser, Bound, BoundReport, Lwb, Order, Standing};
use warpbound_core::base::{Cycle, Cycles};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::TimingTable;
use warpbound_judge::check::{BoundRow, JudgedLaunch, Plan, Verdict, check};
use warpbound_judge::explore::adversary::{Effort, Found, Method, search};
use warpbound_judge::explore::choices::climb;
use warpbound_judge::explore::model::Unsupported;
use warpbound_judge::explore::replay;
use warpbound_judge::explore::search::Limits;
use warpbound_judge::load::LoadedKernel;
use warpbound_report::output::Output;
use warpbound_report::verdict;
use warpbound_report::worst::{Launch, Sum, Summary, WorstReport, WorstResult};
use warpbound_sim::policy::Schedule;
use warpbound_trace::trace::{Issue, Recorder};

/// The result of a launch.
struct Row {
    result: WorstResult,
    verdict: Verdict,
}

/// Runs the command.
pub fn run(args: &Worst, session: &Session) -> Outcome {
    if let Some(policy) = &args.common.policy {
        let problem = Diagnostic::general(
            format!("--policy {policy}"),
            "`worst` takes no policy: it compares the worst work-conserving schedule with gto and lrr",
        );
        return Err(problem.hint("leave it out; `check --policy` judges a policy").into());
    }
    if args.budget == 0 {
        return Err(Diagnostic::general("--budget 0", "no schedule to evaluate")
            .hint("give 1 or more")
            .into());
    }
    let names = if args.kernels.is_empty() { suite_kernels()? } else { args.kernels.clone() };
    let folder = args.out.as_ref();
    let folder = folder.map(|dir| Folder::prepare("--out", dir, args.writing.force, &session.parts));
    let folder = folder.transpose()?;
    let mut batch = Batch::new(&names);
    let mut rows: Vec<Row> = Vec::new();
    let mut written = Vec::new();
    while let Some((_, name)) = batch.begin(session) {
        match row(name, &batch.label(name), args, folder.as_ref(), &mut written, session) {
            Ok(Some(row)) => {
                rows.push(row);
                // the search may be incomplete
                if session.monitor.is_stopped() {
                    batch.cut_short();
                }
            }
            Ok(None) => batch.without_result(name),
            Err(problems) => batch.failures.add(name, &problems),
        }
    }
    batch.only_failure(!rows.is_empty())?;
    let verdicts = rows.iter().map(|row| row.verdict.clone()).collect::<Vec<_>>();
    let violated = verdicts.iter().any(Verdict::is_violated);
    let results: Vec<WorstResult> = rows.into_iter().map(|row| row.result).collect();
    let summary = Summary::new(&results);
    let output = Output::of_batch("worst", Some(args.common.seed), results, batch.report(session));
    let report = WorstReport { output: output.judged(verdicts.into_iter()), summary };
    let mut ending = Ending { violated, ..Ending::default() };
    ending.report(session, args.common.format, &report);
    ending.failures = batch.failures;
    Ok(ending)
}

/// Returns the line of a kernel, or `None` if the command was stopped before there was one.
fn row(
    name: &str,
    label: &str,
    args: &Worst,
    folder: Option<&Folder>,
    written: &mut Vec<String>,
    session: &Session,
) -> Result<Option<Row>, Diagnostics> {
    let kernel = load::kernel(name, &args.ptx, args.common.seed, &session.monitor)?;
    let (machine, _) = load::machine(&args.common, &kernel)?;
    if choices::has_arbiters(&machine) {
        return row_of_choices(&kernel, &machine, args, label, session);
    }
    load::paper_model(&machine, "`worst` searches the schedules of")?;
    let workload = &kernel.workload;
    let file = file_name(&workload.name, written);
    if let Some(folder) = folder {
        folder.check_files(&[&file])?;
    }
    let bounds = bound::all();
    let policies = [policies::setup(&PolicyKind::Gto)?, policies::setup(&PolicyKind::Lrr)?];
    session.progress.begin(label, Some(u64::from(workload.blocks()) * policies.len() as u64), "blocks");
    let options = args.common.run_options(&session.monitor).judged_by(&bounds, &[]).threads(1).ahead(false);
    let plan = Plan { workload, machine: &machine, policies: &policies, options };
    let checked = check(&plan).map_err(|failed| kernel.with_excerpts(failed.problems))?;
    if !checked.iter().all(JudgedLaunch::is_complete) {
        return Ok(None);
    }
    if checked[0].resident_blocks > 1 {
        let message = format!("{} blocks of this launch are resident at a time", checked[0].resident_blocks);
        let problem = Diagnostic::general(workload.name.clone(), message);
        return Err(problem
            .hint("the search needs blocks that run one after the other: use --set limits.blocks=1")
            .into());
    }
    let Some((sum, orders)) = of_blocks(&kernel, &machine, args, label, session)? else { return Ok(None) };
    let rows: Vec<&BoundRow> =
        checked[0].bounds.iter().filter(|row| row.of_blocks && !row.left_out).collect();
    let judge = |row: &&BoundRow| {
        Verdict::of(sum.worst, row.value.as_ref().map(|value| *value).map_err(String::as_str))
    };
    let judged: Vec<verdict::Bound> = rows
        .iter()
        .map(|row| {
            let value = row.value.as_ref().ok().copied();
            let of = verdict::Bound::of_worst_case(row.name, value, &judge(row), Some(sum.worst));
            verdict::Bound { gates: row.gates, ..of }
        })
        .collect();
    let proved = rows.iter().filter(|row| row.standing == Standing::Proved);
    let tightest =
        proved.filter_map(|row| Some((row.name, row.value.as_ref().ok()?.cycles()))).min_by_key(|of| of.1);
    let verdict = Verdict::combine(rows.iter().filter(|row| row.gates).map(judge));
    let schedule = match folder {
        Some(folder) => {
            let path = folder.path(&file);
            folder.write("", &[(file.clone(), orders.into_bytes())])?;
            Some(path.display().to_string())
        }
        None => None,
    };
    written.push(file);
    let launch = Launch {
        kernel: workload.name.clone(),
        machine: &machine,
        blocks: workload.blocks(),
        warps: workload.needs().warps(),
        warp_instructions: checked[0].warp_instructions,
        policies: checked.iter().map(|run| (run.policy.clone(), run.makespan)).collect(),
        races_not_looked_for: checked[0].races_not_looked_for.clone(),
        replays: true,
    };
    Ok(Some(Row { result: WorstResult::new(launch, sum, judged, tightest, schedule), verdict }))
}

/// Returns the line of a kernel on a machine with a pipeline, whose arbiters are searched.
fn row_of_choices(
    kernel: &LoadedKernel,
    machine: &Machine,
    args: &Worst,
    label: &str,
    session: &Session,
) -> Result<Option<Row>, Diagnostics> {
    if args.out.is_some() {
        let message = "a replay file holds the order of the issues, and not the choices of other arbiters";
        return Err(Diagnostic::general("--out", message).hint("leave it out").into());
    }
    let Some(searched) = Searched::new(kernel, machine, &args.common, session)? else { return Ok(None) };
    session.progress.begin(format!("searching {label}"), Some(args.budget), "runs");
    let found =
        searched.launch(machine, |launch| climb(launch, args.budget, args.search_seed, &session.monitor));
    let (workload, checked) = (&kernel.workload, &searched.checked);
    let of_policies = checked.iter().map(|run| run.makespan).max().unwrap_or(Cycles::ZERO);
    let of_rules = of_policies.max(Cycles::new(found.by_rules));
    let worst = of_rules.max(Cycles::new(found.makespan));
    let by = match worst {
        worst if worst == of_policies => Method::Policy,
        worst if worst == of_rules => Method::Rules,
        _ => Method::Climbing,
    };
    let verdicts = searched.verdicts(worst.get(), worst.get());
    let judged = searched.judged(&verdicts, Some(worst.get()));
    let tightest = searched.bounds().find_map(|row| Some((row.name, row.value.as_ref().ok()?.cycles())));
    let sum = Sum {
        searched: workload.blocks(),
        worst,
        of_policies,
        of_rules,
        by,
        exact: tightest.is_some_and(|(_, bound)| bound == worst),
        evaluations: found.runs + checked.len() as u64,
    };
    let launch = Launch {
        kernel: workload.name.clone(),
        machine,
        blocks: workload.blocks(),
        warps: workload.needs().warps(),
        warp_instructions: checked[0].warp_instructions,
        policies: checked.iter().map(|run| (run.policy.clone(), run.makespan)).collect(),
        races_not_looked_for: checked[0].races_not_looked_for.clone(),
        replays: false,
    };
    let result = WorstResult::new(launch, sum, judged, tightest, None);
    Ok(Some(Row { result, verdict: Verdict::combine(verdicts) }))
}

/// Returns a name for the replay file of a kernel that no other kernel of the command has.
fn file_name(kernel: &str, taken: &[String]) -> String {
    let name = kernel.replace([':', '/', '\\', ' ', '[', ']'], "-");
    let numbered = (2..).map(|number| format!("{name}-{number}.replay"));
    let free = |file: &String| !taken.contains(file);
    std::iter::once(format!("{name}.replay")).chain(numbered).find(free).unwrap_or_default()
}

/// Searches the blocks of a launch, equal ones only once. Returns the sums over the blocks and the
/// text of the replay file, or `None` if the command was stopped before the last block was started.
fn of_blocks(
    kernel: &LoadedKernel,
    machine: &Machine,
    args: &Worst,
    label: &str,
    session: &Session,
) -> Result<Option<(Sum, String)>, Diagnostics> {
    let table = load::timing(kernel, machine)?;
    let mut source = kernel.workload.source(args.common.functional_options(machine), &session.monitor)?;
    let mut paths = BlockPaths::default();
    let mut begun = 0;
    let mut known: Vec<(BlockPaths, Found)> = Vec::new();
    let mut sum = Sum::default();
    let mut issues = Issues::default();
    while source.next_block(&mut paths).map_err(|problems| kernel.with_excerpts(problems))? {
        let number = known.iter().position(|(other, _)| is_same(other, &paths));
        if number.is_none() {
            session.progress.begin(format!("searching {label}"), Some(args.budget), "schedules");
            let found = of_block(&table, machine, &paths, args, session).map_err(|error| {
                let message = format!("the schedules of this launch cannot be searched: {error}");
                Diagnostic::general(kernel.workload.name.clone(), message)
            })?;
            if known.len() == KNOWN {
                known.remove(0);
            }
            known.push((paths.clone(), found));
        }
        let (_, found) = &known[number.unwrap_or(known.len() - 1)];
        sum.add(found, number.is_some());
        issues.record(&table, machine, &paths, found);
        begun += 1;
    }
    if let Order::Decides(reason) = source.seen().order(kernel.workload.program()) {
        let message = format!("the schedules of this launch cannot be searched: {reason}");
        let problem = Diagnostic::general(kernel.workload.name.clone(), message);
        return Err(problem.hint("--races ignore searches the schedules of the paths of one run").into());
    }
    // a launch with missing blocks has no worst case
    if begun < kernel.workload.blocks() {
        return Ok(None);
    }
    let text = Schedule::text(&issues.0, |_| Cycle::ZERO);
    Ok(Some((sum, text)))
}

/// The most blocks that are kept for comparison with later ones; a launch may have millions of
/// different blocks.
const KNOWN: usize = 64;

/// Returns whether two blocks have the same timing behaviour.
fn is_same(a: &BlockPaths, b: &BlockPaths) -> bool {
    a.partial_barriers == b.partial_barriers
        && a.warps.len() == b.warps.len()
        && a.warps.iter().zip(&b.warps).all(|(a, b)| a.steps() == b.steps())
}

/// Searches a block.
fn of_block(
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    args: &Worst,
    session: &Session,
) -> Result<Found, Unsupported> {
    let mut report = BoundReport::default();
    Analyser::new(table).for_each_section(paths, |section| Lwb.add_section(&mut report, section));
    let threads = args.jobs.unwrap_or_else(resources::threads).max(1);
    let exploration = Limits { max_states: args.max_states, max_bytes: resources::of_search(), threads };
    let effort = Effort { budget: args.budget, seed: args.search_seed, exploration };
    search(table, machine, paths, &report, effort, &session.monitor)
}

/// The issues of all blocks, each counted from the start of its block.
#[derive(Default)]
struct Issues(Vec<Issue>);

impl Issues {
    /// Records the schedule of a block.
    fn record(&mut self, table: &TimingTable, machine: &Machine, paths: &BlockPaths, found: &Found) {
        let mut recorder = Recorder::new();
        let makespan = replay(table, machine, paths, &found.order, &mut recorder);
        assert_eq!(makespan, Some(found.makespan), "a schedule that was found cannot be followed");
        self.0.extend(recorder.issues().map(|issue| Issue { block: paths.block, ..*issue }));
    }
}
