//! The analysis of a block, and the judgement of its runs under a policy.

use super::control_codes::ControlCodes;
use super::hazards;
use super::judged_launch::{JudgedLaunch, Unsettled};
use super::left::Left;
use super::plan::Plan;
use super::result_times::ResultTimes;
use super::verdict::{BoundRow, PartRow, WarpRow};
use super::workload::Workload;
use warpbound_bound::{
    Analyser, Applicable, AtStart, BlockParts, BlockShare, Bound, BoundPart, BoundReport, Context, Guarantee,
    LaunchFigures, LaunchShares, MemoryLeft, NotApplicable, Order, PipelineAnalyser, PipelineShare,
    PipelineShares, Residency, Schedules, Scope, WarpTotals,
};
use warpbound_core::base::{Cycles, WarpId};
use warpbound_core::machine::pipeline::Launch;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::path::{BlockPaths, Footprint};
use warpbound_core::program::TimingTable;
use warpbound_sim::{BlockResult, PolicySetup};

/// The analysers of the blocks of a launch.
pub(super) struct Analysers<'t> {
    sections: Analyser<'t>,
    pipelined: Option<PipelineAnalyser<'t>>,
}

impl<'t> Analysers<'t> {
    /// Creates the analysers of a plan, for a launch of which an SM holds this many blocks at a
    /// time and that runs under these policies. The bound of strict round robin needs the order of
    /// turns, which needs a separate pass, so it is computed only if a policy requires it. Likewise,
    /// pipelines are analysed only if a bound that needs it is judged.
    /// `memory` is what the launch finds in memory, if that is known.
    pub fn new(
        plan: &Plan,
        table: &'t TimingTable,
        resident: u32,
        policies: &[PolicySetup],
        memory: &Found,
    ) -> Self {
        let srr = policies.iter().any(|policy| policy.kind() == PolicyKind::Srr);
        let sections = if srr { Analyser::new(table).in_turns() } else { Analyser::new(table) };
        let needs_pipelines = |policy: &PolicySetup| {
            let context = context(plan, policy, resident, false, false);
            let others = plan.options.bounds.iter().filter(|bound| !bound.needs_sections());
            others.into_iter().any(|bound| {
                (bound.concerns(&context) || is_named(plan, bound.as_ref()))
                    && bound.applicable(&context).is_ok()
            })
        };
        let pipelined = policies.iter().any(needs_pipelines);
        let program = plan.workload.program();
        let pipelined = pipelined.then(|| {
            let residency = residency(plan.workload, plan.machine, resident);
            PipelineAnalyser::new(program, table, plan.machine, residency, memory.at_start())
        });
        Self { sections, pipelined }
    }

    /// Returns what the launch leaves in memory, if all of its blocks have been analysed.
    pub fn leaves(&self) -> MemoryLeft {
        self.pipelined.as_ref().map_or_else(MemoryLeft::unknown, PipelineAnalyser::leaves)
    }
}

/// What a launch finds in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    left: MemoryLeft,
    copied: Vec<(u64, u64)>,
    shared_bytes: u64,
}

impl Found {
    /// Takes what a launch with this footprint finds after launches that have left this.
    pub fn new(footprint: Footprint, machine: &Machine, left: &mut Left) -> Self {
        let is_first = !machine.memory().start.is_left() || left.is_first();
        Self::after(footprint, machine, (!is_first).then(|| std::mem::take(&mut left.lines)))
    }

    /// Returns what a launch with this footprint finds after launches of which this is known; `None`
    /// if it is the first one, or if nothing is left from launch to launch.
    pub fn after(footprint: Footprint, machine: &Machine, left: Option<MemoryLeft>) -> Self {
        let Footprint { buffers, copied, shared_bytes } = footprint;
        let mut copied = if left.is_none() { buffers } else { copied };
        copied.retain(|&(_, bytes)| machine.memory().keeps_copies_of(bytes));
        Self { left: left.unwrap_or_default(), copied, shared_bytes }
    }

    pub fn at_start(&self) -> AtStart<'_> {
        AtStart { left: &self.left, copied: &self.copied, shared_bytes: self.shared_bytes }
    }
}

/// Returns whether the user named the bound.
fn is_named(plan: &Plan, bound: &dyn Bound) -> bool {
    plan.options.gating.iter().any(|gating| gating == bound.name())
}

/// The analysis of a block, which is the same under every policy.
pub(super) struct Analysed {
    /// One report per bound of the plan; the default report for a bound that was not requested.
    reports: Vec<BoundReport>,
    /// The share of the block in a bound of the launch.
    share: BlockShare,
    /// The same for a bound of machines with a pipeline.
    pipelined: PipelineShare,
    warps: Vec<WarpTotals>,
}

impl Analysed {
    /// Analyses a block for the requested bounds; `requested` has one entry per bound of the plan.
    pub fn new(plan: &Plan, requested: &[bool], analysers: &mut Analysers, paths: &BlockPaths) -> Self {
        let Analysers { sections: analyser, pipelined } = analysers;
        let pipelined =
            pipelined.as_mut().map_or_else(PipelineShare::default, |analyser| analyser.share(paths));
        let bounds = plan.options.bounds;
        let mut reports = vec![BoundReport::with_parts(); bounds.len()];
        let mut share = BlockShare::default();
        let from_sections = |index: &usize| requested[*index] && bounds[*index].needs_sections();
        let of_sections: Vec<usize> = (0..bounds.len()).filter(from_sections).collect();
        if of_sections.is_empty() {
            // without bounds of sections, only the rows of the warps of a single block are reported
            let warps = if plan.workload.blocks() == 1 { analyser.alone(paths) } else { Vec::new() };
            return Self { reports, share, pipelined, warps };
        }
        let is_of_block = |index: &usize| bounds[*index].scope() == Scope::Block;
        let (of_block, of_launch): (Vec<usize>, Vec<usize>) = of_sections.into_iter().partition(is_of_block);
        let mut warps = vec![WarpTotals::default(); paths.warps.len()];
        analyser.for_each_section(paths, |section| {
            for &index in &of_block {
                bounds[index].add_section(&mut reports[index], section);
            }
            if !of_launch.is_empty() {
                share.add_section(section);
            }
            for (total, warp) in warps.iter_mut().zip(section.warps()) {
                total.add(warp);
            }
        });
        Self { reports, share, pipelined, warps }
    }
}

/// Returns how many blocks of a launch are resident at a time, if an SM holds `resident` of them.
pub(super) fn residency(workload: &Workload, machine: &Machine, resident: u32) -> Residency {
    Residency {
        places: resident,
        sms: machine.sms(),
        blocks: workload.blocks(),
        warps: workload.needs().warps() as usize,
        sub_cores: machine.sub_cores().count(),
        costs: machine.pipeline().map_or_else(Launch::default, |pipeline| pipeline.launch),
    }
}

/// Returns the parts of a bound with the names of units.
fn named(parts: impl IntoIterator<Item = BoundPart>, machine: &Machine) -> Vec<PartRow> {
    parts.into_iter().map(|part| PartRow::new(part, machine)).collect()
}

/// Returns the facts that bounds may rely on. `passed_over` states whether a ready warp was passed
/// over.
fn context(
    plan: &Plan,
    policy: &PolicySetup,
    resident: u32,
    partial_barriers: bool,
    passed_over: bool,
) -> Context {
    Context {
        schedules: Schedules::Run { policy: policy.kind(), passed_over: Some(passed_over) },
        resident_blocks: resident,
        partial_barriers,
        beyond: plan.workload.program().beyond_the_paper_model_on(plan.machine),
        order: Order::AtTheEnd,
    }
}

/// Collects the results of one policy.
pub(super) struct Judge<'a> {
    plan: &'a Plan<'a>,
    pub policy: &'a PolicySetup,
    resident: u32,
    /// The blocks so far, for bounds of the launch.
    shares: LaunchShares,
    /// The same for a bound of machines with a pipeline.
    pipelined: PipelineShares,
    /// For each bound of blocks, the sum of its parts, if they are known for each block so far.
    parts: Vec<Option<BlockParts>>,
    /// For each bound of the launch, the proof that it applies to a block.
    applicable: Vec<Option<Applicable>>,
    /// Whether bounds of the launch have been compared with its makespan.
    launch_is_judged: bool,
    pub total: JudgedLaunch,
    /// The dependences that control codes of machine code cover, if their check is requested.
    codes: ControlCodes,
    /// The results that control codes leave too little time for, as observed in the run.
    pub early: ResultTimes<'a>,
}

impl<'a> Judge<'a> {
    pub fn new(plan: &'a Plan, policy: &'a PolicySetup, resident: u32, analysers: &Analysers) -> Self {
        let named = |bound: &dyn Bound| is_named(plan, bound);
        // a conjecture does not affect the verdict unless the user names it
        let gates =
            |bound: &dyn Bound| named(bound) || plan.options.gating.is_empty() && bound.standing().gates();
        let context = context(plan, policy, resident, false, false);
        let bounds = plan.options.bounds.iter().map(|bound| BoundRow {
            name: bound.name(),
            value: Ok(Guarantee::OF_NOTHING),
            violated: false,
            gates: gates(bound.as_ref()),
            standing: bound.standing(),
            left_out: match bound.scope() {
                Scope::Block => bound.policy().is_some_and(|only| only != policy.kind()),
                Scope::Launch => !bound.concerns(&context) && !named(bound.as_ref()),
            },
            of_blocks: bound.scope() == Scope::Block,
            parts: Vec::new(),
        });
        let total = JudgedLaunch {
            launch_blocks: plan.workload.blocks(),
            sms: plan.machine.sms(),
            resident_blocks: resident,
            ..JudgedLaunch::empty(
                policy.kind().to_string(),
                bounds.collect(),
                plan.machine.sub_cores().count(),
            )
        };
        let residency = residency(plan.workload, plan.machine, resident);
        let shares = LaunchShares::new(residency);
        let pipelined = match &analysers.pipelined {
            Some(analyser) => PipelineShares::new(analyser),
            None => PipelineShares::unused(residency),
        };
        let early = ResultTimes::new(plan.workload.program(), plan.checks_control_codes());
        let applicable = vec![None; plan.options.bounds.len()];
        let parts = vec![Some(BlockParts::default()); plan.options.bounds.len()];
        Self {
            plan,
            policy,
            resident,
            shares,
            pipelined,
            parts,
            applicable,
            launch_is_judged: false,
            total,
            codes: ControlCodes::default(),
            early,
        }
    }

    /// Returns for each bound whether it may apply to some block.
    pub fn may_apply(&self) -> Vec<bool> {
        let context = context(self.plan, self.policy, self.resident, false, false);
        self.plan.options.bounds.iter().map(|bound| bound.applicable(&context).is_ok()).collect()
    }

    /// Returns the result, with the notes that a reader needs.
    pub fn finish(self, notes: Vec<String>) -> Unsettled {
        let machine = self.plan.machine;
        let mut total = JudgedLaunch { notes, ..self.total };
        if self.plan.checks_control_codes() {
            let program = self.plan.workload.program();
            total.notes.extend(match hazards::check(program) {
                Some(findings) => findings.notes(program),
                None => self.codes.notes(program),
            });
            total.notes.extend(self.early.notes());
        }
        if total.blocks.is_empty() {
            // a bound that no block was compared with does not count as holding
            for row in &mut total.bounds {
                row.withdraw("no block was simulated to its end");
            }
        } else if !total.is_complete() {
            for row in total.bounds.iter_mut().filter(|row| !row.of_blocks) {
                row.withdraw("the launch was not simulated to its end");
            }
        } else if !self.launch_is_judged {
            for row in total.bounds.iter_mut().filter(|row| !row.of_blocks) {
                row.withdraw("blocks run one after the other, and each is judged by itself");
            }
        }
        for (row, parts) in total.bounds.iter_mut().zip(&self.parts) {
            if row.of_blocks {
                row.parts = named(parts.iter().flat_map(BlockParts::list), machine);
            }
            if row.value.is_err() {
                row.parts.clear();
            }
        }
        Unsettled(total)
    }

    pub fn block(
        &mut self,
        result: &BlockResult,
        paths: &BlockPaths,
        analysed: &Analysed,
        passed_over: bool,
    ) {
        if self.plan.follows_control_codes() {
            self.codes.see(self.plan.workload.program(), paths);
        }
        let context = context(self.plan, self.policy, self.resident, paths.partial_barriers, passed_over);
        let total = &mut self.total;
        total.issues += result.issues;
        total.partial_barriers |= paths.partial_barriers;
        total.warp_instructions += paths.warp_instructions();
        total.thread_instructions += paths.thread_instructions;
        let mut values = Vec::with_capacity(self.plan.options.bounds.len());
        let reports = self.plan.options.bounds.iter().zip(&analysed.reports);
        let rows = total.bounds.iter_mut().zip(self.applicable.iter_mut().zip(&mut self.parts));
        for ((bound, report), (row, (applies, parts))) in reports.zip(rows) {
            let applicable = if row.left_out {
                Err(NotApplicable::new("other bounds are meant for such runs"))
            } else {
                bound.applicable(&context)
            };
            // the launch is judged at its end
            let value = applicable.and_then(|applicable| {
                *applies = Some(applicable);
                if row.of_blocks { applicable.guarantees(report.value).map(Some) } else { Ok(None) }
            });
            match value {
                Ok(None) => values.push(None),
                Ok(Some(value)) => {
                    values.push(Some(value.cycles()));
                    row.add(value);
                    *parts = parts.take().zip(report.parts.as_ref()).map(|(mut sum, of_block)| {
                        sum += &of_block.value;
                        sum
                    });
                    row.violated |= result.makespan > value.cycles();
                }
                Err(reason) => {
                    values.push(None);
                    if row.value.is_ok() {
                        row.value = Err(reason.to_string());
                    }
                }
            }
        }
        total.blocks.enter(result.block, result.makespan, values);
        self.shares.add(result.block, &analysed.share);
        self.pipelined.add(result.block, &analysed.pipelined);
        if self.plan.workload.blocks() == 1 {
            total.warps = result
                .warps
                .iter()
                .zip(&analysed.warps)
                .enumerate()
                .map(|(index, (simulated, alone))| WarpRow {
                    warp: WarpId::from_index(index),
                    finish: simulated.finish,
                    isolated: alone.isolated,
                    exec: alone.exec,
                    idle: alone.idle,
                })
                .collect();
        }
    }

    /// Judges the launch, if all of its blocks have ended.
    pub fn launch(&mut self, makespan: Cycles, analysers: &Analysers) {
        self.total.makespan = makespan;
        if !self.total.is_complete() {
            return;
        }
        if let Some(analyser) = &analysers.pipelined {
            self.pipelined.end(analyser);
        }
        self.launch_is_judged = true;
        let rows = self.plan.options.bounds.iter().zip(&mut self.total.bounds).zip(&self.applicable);
        for ((bound, row), applicable) in rows.filter(|((_, row), _)| !row.of_blocks && row.value.is_ok()) {
            let Some(applicable) = applicable else { continue };
            let figures = LaunchFigures { resident: &self.shares, pipelined: &self.pipelined };
            row.value = applicable.guarantees(bound.of_launch(&figures)).map_err(|why| why.to_string());
            if let Ok(value) = &row.value {
                row.parts = named(bound.parts_of_launch(&figures), self.plan.machine);
                row.violated = makespan > value.cycles();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::RunOptions;
    use super::super::verdict::Verdict;
    use super::super::workload::{Workload, WorkloadKind};
    use super::*;
    use warpbound_bound::{BoundValue, Gub, NotApplicable, SectionAnalysis};
    use warpbound_core::base::ProgressMonitor;
    use warpbound_core::diag::{Diagnostics, SourceText};
    use warpbound_core::machine::{Machine, MachineSpec};
    use warpbound_core::path::BlockSource;
    use warpbound_front::micro::{MicroKernel, MicroSource};

    /// A bound which claims that all warps together take two cycles, if barriers involve all warps.
    struct TwoCycles;

    impl Bound for TwoCycles {
        fn name(&self) -> &'static str {
            "two-cycles"
        }

        fn summary(&self) -> &'static str {
            "two cycles"
        }

        fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
            if context.partial_barriers {
                Err(NotApplicable::new("partial"))
            } else {
                Gub.applicable(context)
            }
        }

        fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
            values.clear();
            values.resize(section.warps().len(), BoundValue::new(Cycles::new(2)));
        }
    }

    /// A source that marks one of its blocks as having partial barriers.
    struct Partial<'a>(MicroSource<'a>, usize);

    impl BlockSource for Partial<'_> {
        type Error = Diagnostics;

        fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
            let there = self.0.next_block(paths)?;
            paths.partial_barriers = paths.block.index() == self.1;
            Ok(there)
        }
    }

    /// Judges a run of one block of each length, one after the other, of which block `partial` has
    /// partial barriers.
    fn judged(lengths: [usize; 2], partial: usize) -> BoundRow {
        let block = |&length: &usize| format!(".blocks 1\n.warps 1\n{}", " f\n".repeat(length));
        let text = SourceText::new("k.warp", lengths.iter().map(block).collect::<String>());
        let kernel = MicroKernel::parse("k", &text).expect("it is well formed");
        let text = "Machine(name: \"m\", units: { \"f\": Unit(init: 1, lat: 0) }, ops: { \"f\": \"f\" })";
        let source = SourceText::new("m.ron", text);
        let machine =
            Machine::new(&MachineSpec::parse(&source).expect("it is RON"), &source).expect("it is valid");
        let workload = Workload { name: "k".into(), kind: WorkloadKind::Micro(Box::new(kernel.clone())) };
        let monitor = ProgressMonitor::new();
        let bounds: [Box<dyn Bound>; 1] = [Box::new(TwoCycles)];
        let options = RunOptions::new(100, &monitor).judged_by(&bounds, &[]);
        let plan = Plan { workload: &workload, machine: &machine, policies: &[PolicySetup::Gto], options };
        let mut source = Partial(kernel.source(), partial);
        let checked = super::super::run::observe_source(
            &mut Left::default(),
            &plan,
            &PolicySetup::Gto,
            &mut source,
            &mut (),
        );
        checked.expect("it runs").0.bounds.remove(0)
    }

    #[test]
    fn a_violation_is_kept_whatever_the_other_blocks_give() {
        let partial_barriers = || Verdict::NotApplicable("partial".to_owned());
        for (lengths, partial, verdict) in [
            ([5, 1], 1, Verdict::Violated),
            ([1, 5], 0, Verdict::Violated),
            ([5, 1], 0, partial_barriers()),
            ([1, 1], 1, partial_barriers()),
            ([1, 1], 7, Verdict::Holds),
        ] {
            let row = judged(lengths, partial);
            assert_eq!(row.verdict(), verdict, "{lengths:?}, {partial}");
            assert_eq!(row.value.is_ok(), partial >= lengths.len());
        }
    }
}
