//! The comparison of the worst case of an instance in a setting with a bound.

use std::collections::BTreeMap;

use super::fast_search::Evaluator;
use super::instance::{Instance, Subject, Together};
use crate::explore::resident::{Decision, Launch};
use crate::explore::worst_makespan::WorstMakespan;
use warpbound_bound::{
    self, Analyser, Applicable, BlockShare, Bound, BoundReport, Context, LaunchFigures, LaunchShares,
    NotApplicable, PipelineShares, Residency, Schedules, Scope,
};
use warpbound_core::base::{BlockId, Cycle};
use warpbound_core::diag::SourceText;
use warpbound_core::machine::pipeline::Launch as LaunchCosts;
use warpbound_core::machine::{Features, Machine, MachineSpec, PolicyKind, SubCores};
use warpbound_core::path::Listed;
use warpbound_sim::{Engine, PaperMachine, PolicySetup, simulate};
use warpbound_trace::trace::{Event, Issue, Needs, Observer};

/// The schedules over which the worst case is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// All work-conserving schedules; warps may have different codes.
    Any,
    /// All work-conserving schedules; all warps run the same code.
    Identical,
    /// The schedule of this policy.
    Policy(PolicySetup),
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Identical => f.write_str("identical"),
            Self::Policy(policy) => write!(f, "policy:{policy}"),
        }
    }
}

impl Setting {
    /// Returns the facts that bounds may rely on.
    fn context(&self, resident_blocks: u32) -> Context {
        Context {
            schedules: match self {
                Self::Policy(policy) => Schedules::Run { policy: policy.kind(), passed_over: None },
                Self::Any | Self::Identical => Schedules::WorkConserving,
            },
            resident_blocks,
            // instances have no memory accesses and no partial barriers, and their machines are of
            // the paper model
            partial_barriers: false,
            beyond: Features::default(),
            order: warpbound_bound::Order::Irrelevant,
        }
    }

    /// Returns whether a bound is judged on instances at all. A bound of pipelines is not, because
    /// nothing is analysed for it here.
    pub fn judges(bound: &dyn Bound) -> bool {
        bound.needs_sections()
    }

    /// Checks whether a bound applies in this setting.
    ///
    /// # Errors
    /// Returns the premise that does not hold.
    pub fn admits(&self, bound: &dyn Bound) -> Result<Applicable, NotApplicable> {
        let resident_blocks = match bound.scope() {
            Scope::Block => 1,
            Scope::Launch => 2,
        };
        bound.applicable(&self.context(resident_blocks))
    }
}

/// The worst case and the bound of an instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The worst case over the schedules.
    pub worst: WorstMakespan,
    /// The value of the bound in cycles.
    pub bound: u64,
}

impl Score {
    /// Returns whether the bound is exceeded. The worst case is attained, so this is a proof even
    /// if not every schedule was followed.
    pub fn violated(&self) -> bool {
        self.worst.makespan > self.bound
    }

    /// Returns the ratio of the worst case to the bound.
    pub fn ratio(&self) -> f64 {
        self.worst.makespan as f64 / self.bound.max(1) as f64
    }

    /// Returns whether the ratio is larger than that of `other`, compared exactly.
    pub fn is_closer_than(&self, other: &Self) -> bool {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b.max(1));
        product(self.worst.makespan, other.bound) > product(other.worst.makespan, self.bound)
    }
}

/// Judges instances; reuses its memory from one to the next.
pub struct Judge {
    setting: Setting,
    bound: Box<dyn Bound>,
    /// The largest number of states of a layer that are followed.
    beam: usize,
    /// One machine per number of sub-cores, at index count - 1. The engine takes from it only the
    /// number of sub-cores and settings with default values; the timing is that of `subject`.
    machines: Vec<Machine>,
    subject: Subject,
    evaluator: Evaluator,
}

impl Judge {
    /// Creates a judge of a bound in a setting.
    ///
    /// # Panics
    /// If the bound is not judged on instances, see [`Setting::judges`].
    pub fn new(setting: Setting, bound: Box<dyn Bound>, beam: usize) -> Self {
        assert!(Setting::judges(bound.as_ref()), "{} has no value for an instance", bound.name());
        let machine = |sub_cores: usize| {
            let units = "units: { \"f0\": Unit(init: 1, lat: 0) }";
            let text = format!("Machine(name: \"none\", sub_cores: {sub_cores}, {units})");
            let source = SourceText::new("none", text);
            MachineSpec::parse(&source)
                .and_then(|spec| Machine::new(&spec, &source))
                .expect("the text above is a machine")
        };
        let machines = (1..=SubCores::MAX).map(machine).collect();
        let (subject, evaluator) = (Subject::default(), Evaluator::default());
        Self { setting, bound, beam, machines, subject, evaluator }
    }

    /// Returns the worst case and the bound of an instance.
    pub fn score(&mut self, instance: &Instance) -> Score {
        self.subject.fill(instance);
        let bound = match instance.together {
            None => self.bound_of_block(),
            Some(together) => self.bound_of_launch(instance, together),
        };
        let worst = match (&self.setting, instance.together) {
            (Setting::Policy(policy), _) => {
                let makespan = self.simulate(policy, instance.together, &mut ());
                let states = instance.instructions() as u64;
                WorstMakespan { makespan, exact: true, states, schedules: 1.0 }
            }
            (_, None) => self.evaluator.worst(instance, self.beam),
            (_, Some(together)) => self.launch(together).worst(self.beam),
        };
        Score { worst, bound }
    }

    fn bound_of_block(&self) -> u64 {
        let mut report = BoundReport::default();
        Analyser::new(&self.subject.table)
            .for_each_section(self.subject.paths(), |section| self.bound.add_section(&mut report, section));
        report.value.cycles().get()
    }

    fn bound_of_launch(&self, instance: &Instance, together: Together) -> u64 {
        let residency = Residency {
            places: together.places as u32,
            sms: 1,
            blocks: together.blocks as u32,
            warps: instance.block_warps(),
            sub_cores: together.sub_cores,
            costs: LaunchCosts::default(),
        };
        let mut shares = LaunchShares::new(residency);
        let pipelined = PipelineShares::unused(residency);
        let mut analyser = Analyser::new(&self.subject.table);
        for paths in &self.subject.blocks {
            let mut share = BlockShare::default();
            analyser.for_each_section(paths, |section| share.add_section(section));
            shares.add(paths.block, &share);
        }
        self.bound.of_launch(&LaunchFigures { resident: &shares, pipelined: &pipelined }).cycles().get()
    }

    fn launch(&self, together: Together) -> Launch {
        // instances are small enough to explore
        Launch::new(&self.subject.table, &self.subject.blocks, together.places)
            .expect("an instance is no larger than what can be explored")
    }

    /// Returns the decisions of a schedule that attains the worst case.
    pub fn witness(&mut self, instance: &Instance) -> Witness {
        self.subject.fill(instance);
        match (&self.setting, instance.together) {
            (Setting::Policy(policy), together) => {
                let mut order = Order::default();
                self.simulate(policy, together, &mut order);
                match together {
                    None => Witness::Warps(order.0.iter().map(|issue| issue.warp.index()).collect()),
                    Some(_) => Witness::Decisions(order.decisions()),
                }
            }
            (_, None) => Witness::Warps(self.evaluator.witness(instance, self.beam).1),
            (_, Some(together)) => Witness::Decisions(self.launch(together).witness(self.beam).1),
        }
    }

    fn simulate<O: Observer>(
        &self,
        policy: &PolicySetup,
        together: Option<Together>,
        observer: &mut O,
    ) -> u64 {
        let machine = &self.machines[together.map_or(1, |together| together.sub_cores) - 1];
        let table = &self.subject.table;
        // only a replay can fail, and replays are not a setting
        match together {
            None => {
                let machine = PaperMachine::of(machine).expect("the machines here have units only");
                let mut engine = Engine::new(table, machine);
                let result = engine.run_block(self.subject.paths(), policy, observer);
                result.map_or(0, |result| result.makespan.get())
            }
            Some(together) => {
                let mut source = Listed::new(&self.subject.blocks);
                let places = together.places as u32;
                let summary = simulate(&mut source, table, machine, policy, places, observer, |_, _| ());
                summary.map_or(0, |summary| summary.makespan.get())
            }
        }
    }
}

/// The decisions of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Witness {
    /// The schedule of a block: the warp at each issue.
    Warps(Vec<usize>),
    /// The schedule of a launch.
    Decisions(Vec<Decision>),
}

/// Returns whether a policy can be hunted, which requires that its name is sufficient to create it.
pub fn is_huntable(kind: &PolicyKind) -> bool {
    !matches!(kind, PolicyKind::Replay(_) | PolicyKind::Called(_))
}

/// Records the issues of a run.
#[derive(Default)]
struct Order(Vec<Issue>, BTreeMap<BlockId, Cycle>);

impl Order {
    fn decisions(&self) -> Vec<Decision> {
        let decision = |issue: &Issue| {
            let start = self.1.get(&issue.block).copied().unwrap_or(Cycle::ZERO);
            let cycle = (issue.issue - start).get();
            Decision { block: issue.block.index(), warp: issue.warp.index(), cycle }
        };
        self.0.iter().map(decision).collect()
    }
}

impl Observer for Order {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::BlockStarted(start) => {
                self.1.insert(start.block, start.at);
            }
            Event::Issued(issue) => self.0.push(*issue),
            Event::Sm(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}
