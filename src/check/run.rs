//! Runs a workload under one or more policies and judges every bound on every block.

use std::cell::Cell;

use super::ahead::ahead;
use super::judge::{BlockTable, BoundRow, Status, WarpRow};
use super::judging::{Analysed, Judge, analyser};
use super::workload::{Workload, WorkloadSource};
use crate::base::{Cycles, Watch};
use crate::bound::{Bound, Scope};
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::Options;
use crate::exec::races::{BlockOrder, Race, TimeDependences};
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource, Footprint};
use crate::program::{Program, TimingTable};
use crate::sim::{Engine, MemoryStats, PaperMachine, PolicySetup, SimError, SubCoreResult, simulate_on};
use crate::trace::{Idle, Observer, StallReason, Stalls};

/// What to run and what to judge.
pub struct Plan<'a> {
    /// The kernel.
    pub workload: &'a Workload,
    /// The machine.
    pub machine: &'a Machine,
    /// The policies; all of them replay the same functional run.
    pub policies: &'a [PolicySetup],
    /// The bounds.
    pub bounds: &'a [Box<dyn Bound>],
    /// Names of the bounds that decide the verdict; empty for all.
    pub gating: &'a [String],
    /// Fuel of the functional run.
    pub max_instructions_per_block: u64,
    /// Threads for machines with several SMs; they change no result.
    pub threads: usize,
    /// Whether blocks are executed on a thread of their own while earlier ones are simulated, which
    /// changes no result either.
    pub ahead: bool,
    /// Whether to compare the analyser with the simulator on every warp alone.
    pub self_check: bool,
    /// Hears of every block that a policy is through with, and may end the run.
    pub watch: &'a Watch,
    /// Whether to watch for accesses whose order shows, without which no verdict stands: bytes of
    /// memory that the watch may take. `None` trusts the kernel.
    pub race_memory: Option<usize>,
}

impl Plan<'_> {
    /// How the functional run goes.
    ///
    /// # Errors
    /// A block that is larger than an SM.
    pub fn options(&self) -> Result<Options, Diagnostics> {
        let side_by_side = resident_blocks(self)? > 1 || self.machine.sms() > 1 && self.workload.blocks() > 1;
        let order = if side_by_side { BlockOrder::SideBySide } else { BlockOrder::OneByOne };
        let options = Options::of(self.machine, self.max_instructions_per_block);
        Ok(options.watching(self.race_memory, order))
    }

    /// Whether functional execution runs ahead: a single block has nothing to be ahead of.
    pub fn runs_ahead(&self) -> bool {
        self.ahead && self.workload.blocks() > 1
    }
}

/// A run under one policy, judged.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The policy.
    pub scheduler: String,
    /// Of the launch: of blocks one after the other, the sum.
    pub makespan: Cycles,
    /// Blocks that an SM holds at a time, at most.
    pub resident_blocks: u32,
    /// Per warp, if there is one block.
    pub warps: Vec<WarpRow>,
    /// Every bound over the launch.
    pub bounds: Vec<BoundRow>,
    /// Every block that was simulated to its end.
    pub blocks: BlockTable,
    /// Blocks of the launch; more than those above if the run was ended early. Everything else is then
    /// about the run up to there.
    pub launch_blocks: u32,
    /// Instructions issued.
    pub issues: u64,
    /// Idle issue slots by reason; with the issues they add up to the makespan times the number of
    /// sub-cores.
    pub stalls: Stalls,
    /// What happened in the memory, if the machine has one that is not perfect.
    pub memory: Option<MemoryStats>,
    /// Each sub-core, SM by SM.
    pub sub_cores: Vec<SubCoreResult>,
    /// SMs of the machine.
    pub sms: usize,
    /// Warp executions of instructions, `ret` included.
    pub warp_instructions: u64,
    /// Active, not predicated-off lanes over all instructions.
    pub thread_instructions: u64,
    /// Warps compared in the self-check, if one was asked for.
    pub self_checked_warps: u64,
    /// Why the result may depend on what is not modelled.
    pub notes: Vec<String>,
    /// Accesses whose order shows; no bound is judged then.
    pub races: Vec<Race>,
}

impl Checked {
    /// Whether every block was simulated to its end.
    pub fn is_complete(&self) -> bool {
        self.blocks.len() == self.launch_blocks as usize
    }

    /// Violated if a gating bound is; else holds if one does; else not applicable.
    pub fn verdict(&self) -> Status {
        Status::combine(self.bounds.iter().filter(|bound| bound.gates).map(|bound| bound.status))
    }

    /// The bounds that are for runs of this kind.
    pub fn judged(&self) -> impl Iterator<Item = &BoundRow> {
        self.bounds.iter().filter(|bound| !bound.left_out)
    }

    /// Issues over issue slots: the makespan, once for each sub-core.
    pub fn issue_utilisation(&self) -> f64 {
        self.utilisation(self.issues, self.sub_cores.len())
    }

    /// Issues of one sub-core over the makespan.
    pub fn sub_core_utilisation(&self, sub_core: usize) -> f64 {
        self.utilisation(self.sub_cores[sub_core].issues, 1)
    }

    fn utilisation(&self, issues: u64, sub_cores: usize) -> f64 {
        let slots = self.makespan.get() as f64 * sub_cores as f64;
        if slots == 0.0 { 0.0 } else { issues as f64 / slots }
    }
}

/// A run that ended with an error.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The error.
    pub problems: Diagnostics,
    /// What was judged before, in the order of the policies as far as they were run. It stays true: a
    /// violation among it is one.
    pub judged: Vec<Checked>,
}

impl From<Diagnostics> for Failed {
    fn from(problems: Diagnostics) -> Self {
        Self { problems, judged: Vec::new() }
    }
}

impl From<Failed> for Diagnostics {
    fn from(failed: Failed) -> Self {
        failed.problems
    }
}

impl Failed {
    /// As [`Checked::ordered_by_time`].
    #[must_use]
    pub fn ordered_by_time(mut self, dependences: &TimeDependences, program: &Program) -> Self {
        let ordered = |checked: Checked| checked.ordered_by_time(dependences.clone(), program);
        self.judged = self.judged.into_iter().map(ordered).collect();
        self
    }

    /// After these results.
    fn after(mut self, before: Vec<Checked>) -> Self {
        self.judged.splice(..0, before);
        self
    }
}

/// Runs the plan. The results are in the order of the policies.
///
/// # Errors
/// A launch that does not fit the machine, an error of the kernel, a schedule that does not fit,
/// or a difference in the self-check (which is a fault of this program).
pub fn check(plan: &Plan) -> Result<Vec<Checked>, Failed> {
    if resident_blocks(plan)? > 1 || plan.machine.pipeline().is_some() {
        // blocks overlap in time, so every policy needs its own pass over the functional run
        let mut runs = Vec::with_capacity(plan.policies.len());
        for policy in plan.policies {
            match observe(plan, policy, &mut ()) {
                Ok((checked, _)) => runs.push(checked),
                Err(failed) => return Err(failed.after(runs)),
            }
        }
        return Ok(runs);
    }
    let program = plan.workload.program();
    let table = TimingTable::new(program, plan.machine)?;
    let mut judges: Vec<Judge> = plan.policies.iter().map(|policy| Judge::new(plan, policy, 1)).collect();
    let mut source = plan.workload.source(plan.options()?)?.watched(plan.watch);
    let ended = ahead(&mut source, plan.runs_ahead(), |blocks| each_block(plan, &table, &mut judges, blocks));
    let dependences = source.time_dependences();
    let finished = |judge: Judge| {
        let total = judge.finish(program.notes.clone());
        total.ordered_by_time(dependences.clone(), program)
    };
    let runs = judges.into_iter().map(finished).collect();
    match ended {
        Ok(()) => Ok(runs),
        Err(problems) => Err(Failed::from(problems).after(runs)),
    }
}

/// Each block is executed and analysed once and replayed under every policy.
fn each_block(
    plan: &Plan,
    table: &TimingTable,
    judges: &mut [Judge],
    blocks: &mut impl BlockSource<Error = Diagnostics>,
) -> Result<(), Diagnostics> {
    let mut paths = BlockPaths::default();
    let mut engine = Engine::new(table, PaperMachine::of(plan.machine)?);
    let mut analyser = analyser(plan, table);
    let asked: Vec<bool> = plan.bounds.iter().map(|bound| bound.scope() == Scope::Block).collect();
    while !plan.watch.is_stopped() && blocks.next_block(&mut paths)? {
        let analysed = Analysed::new(plan, &asked, &mut analyser, &paths);
        let checked = if plan.self_check { super::self_check(table, plan.machine, &paths)? } else { 0 };
        for judge in &mut *judges {
            let result = engine
                .run_block(&paths, judge.policy, &mut ())
                .map_err(|error| sim_problem(plan, judge.policy, SimError::Run(error)))?;
            judge.total.makespan += result.makespan;
            judge.total.stalls += engine.stalls();
            judge.total.sub_cores.iter_mut().zip(engine.sub_cores()).for_each(|(sum, used)| *sum += *used);
            judge.total.self_checked_warps += checked;
            let passed_over = engine.stalls().get(StallReason::NotMyTurn) > Cycles::ZERO;
            judge.block(&result, &paths, &analysed, passed_over);
            plan.watch.advance(1);
        }
    }
    Ok(())
}

/// Runs one policy with an observer, and gives back the functional run for its final buffers.
///
/// # Errors
/// As [`check`].
pub fn observe<'a>(
    plan: &Plan<'a>,
    policy: &PolicySetup,
    observer: &mut dyn Observer,
) -> Result<(Checked, WorkloadSource<'a>), Failed> {
    let mut source = plan.workload.source(plan.options()?)?.watched(plan.watch);
    let ended =
        ahead(&mut source, plan.runs_ahead(), |blocks| observe_source(plan, policy, blocks, observer));
    let (dependences, program) = (source.time_dependences(), plan.workload.program());
    let checked = ended.map_err(|failed| failed.ordered_by_time(&dependences, program))?;
    let checked = checked.ordered_by_time(dependences, program);
    Ok((checked, source))
}

/// As [`observe`], over a source of the caller's.
///
/// # Errors
/// As [`check`].
pub fn observe_source(
    plan: &Plan,
    policy: &PolicySetup,
    source: &mut dyn BlockSource<Error = Diagnostics>,
    observer: &mut dyn Observer,
) -> Result<Checked, Failed> {
    let table = TimingTable::new(plan.workload.program(), plan.machine)?;
    let resident = resident_blocks(plan)?;
    let mut judge = Judge::new(plan, policy, resident);
    let mut failed = None;
    let mut analyser = analyser(plan, &table);
    let passed_over = Cell::new(false);
    // a policy with a contract needs no watching
    let watched = policy.kind().work_conserving().is_none();
    let mut observer = (PassedOver { seen: &passed_over, watched }, observer);
    let asked = judge.may_apply();
    let mut latest = Cycles::ZERO;
    let summary = match simulate_on(
        plan.threads,
        &mut Watched { source, watch: plan.watch },
        &table,
        plan.machine,
        policy,
        resident,
        &mut observer,
        |result, paths| {
            // the analyser knows the paper model only
            if plan.self_check && failed.is_none() && plan.machine.pipeline().is_none() {
                match super::self_check(&table, plan.machine, paths) {
                    Ok(checked) => judge.total.self_checked_warps += checked,
                    Err(problem) => failed = Some(problem),
                }
            }
            let analysed = Analysed::new(plan, &asked, &mut analyser, paths);
            judge.block(result, paths, &analysed, passed_over.take());
            latest = latest.max((result.start + result.makespan).since_start());
            plan.watch.advance(1);
        },
    ) {
        Ok(summary) => summary,
        Err(error) => {
            judge.total.makespan = latest;
            return Err(Failed::from(sim_problem(plan, policy, error)).after(vec![judge.finish(Vec::new())]));
        }
    };
    if let Some(problem) = failed {
        return Err(problem.into());
    }
    judge.launch(summary.makespan);
    judge.total.stalls = summary.stalls;
    judge.total.memory = summary.memory;
    judge.total.sub_cores = summary.sub_cores;
    Ok(judge.finish([&plan.workload.program().notes[..], &machine_notes(plan)].concat()))
}

/// What a reader of the tables must know about the detailed engine.
fn machine_notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    if !plan.machine.beyond_the_paper_model().is_empty() {
        notes.push("isolated, exec and idle cycles of warps are those of the paper model".to_owned());
    }
    if plan.machine.sms() > 1 {
        notes.push("traces and drawings are those of SM 0 only".to_owned());
    }
    if plan.self_check && plan.machine.pipeline().is_some() {
        notes.push("no self-check: the analyser knows lone warps of the paper model only".to_owned());
    }
    let load_store = plan.machine.pipeline().is_some_and(|pipeline| pipeline.load_store.is_some());
    if load_store && plan.workload.launch().is_none() {
        let note = "a .warp kernel has no addresses: its memory instructions run on the units of their \
                    classes, past the load/store unit";
        notes.push(note.to_owned());
    }
    notes
}

fn resident_blocks(plan: &Plan) -> Result<u32, Diagnostics> {
    let occupancy = plan.machine.limits().occupancy(&plan.workload.needs()).map_err(|error| {
        Diagnostic::general(plan.workload.name.clone(), format!("block larger than the SM holds: {error}"))
            .hint(format!("choose a smaller block, or another machine than `{}`", plan.machine.name()))
    })?;
    Ok(occupancy.blocks.min(plan.workload.blocks()))
}

/// Gives no more blocks once somebody has ended the run.
struct Watched<'a> {
    source: &'a mut dyn BlockSource<Error = Diagnostics>,
    watch: &'a Watch,
}

impl BlockSource for Watched<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        if self.is_stopped() { Ok(false) } else { self.source.next_block(paths) }
    }

    fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }

    fn footprint(&self) -> Footprint {
        self.source.footprint()
    }
}

/// Sees whether some cycle stayed empty although a warp was ready.
struct PassedOver<'a> {
    seen: &'a Cell<bool>,
    /// Whether anybody asks.
    watched: bool,
}

impl Observer for PassedOver<'_> {
    fn is_active(&self) -> bool {
        self.watched
    }

    fn idled(&mut self, idle: &Idle) {
        self.seen.set(self.seen.get() || idle.reason == StallReason::NotMyTurn);
    }
}

fn sim_problem(plan: &Plan, policy: &PolicySetup, error: SimError<Diagnostics>) -> Diagnostics {
    match error {
        SimError::Source(problems) => problems,
        other => Diagnostic::general(plan.workload.name.clone(), other.to_string())
            .hint(format!("policy {}, machine {}", policy.kind(), plan.machine.name()))
            .into(),
    }
}
