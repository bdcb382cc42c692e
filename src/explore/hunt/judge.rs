//! The worst case of an instance in a setting, against a bound.

use super::instance::{Instance, Subject};
use super::worst::{Evaluator, Worst};
use crate::bound::{Analyser, Bound, BoundReport, Context, NotApplicable};
use crate::diag::SourceText;
use crate::machine::{Machine, MachineSpec, SchedulerKind};
use crate::sim::{Engine, PolicySetup};
use crate::trace::{Issue, Observer};

/// Which schedules count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Any work-conserving one; warps may differ.
    Any,
    /// Any work-conserving one; all warps run the same code.
    Identical,
    /// The policy's.
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
    /// What bounds may rely on.
    fn context(&self) -> Context {
        match self {
            Self::Policy(policy) => Context::new(&policy.kind(), 1, false),
            _ => Context {
                policy: "any work-conserving policy".to_owned(),
                work_conserving: Some(true),
                ..Context::new(&SchedulerKind::Gto, 1, false)
            },
        }
    }

    /// Whether a bound claims anything in this setting.
    ///
    /// # Errors
    /// The premise that does not hold.
    pub fn admits(&self, bound: &dyn Bound) -> Result<(), NotApplicable> {
        bound.applicable(&self.context())
    }
}

/// Worst case and bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// What schedules do.
    pub worst: Worst,
    /// What the bound says, cycles.
    pub bound: u64,
}

impl Score {
    /// Whether the bound is exceeded. The worst case is attained, so this is a proof also where not
    /// every schedule was followed.
    pub fn violated(&self) -> bool {
        self.worst.makespan > self.bound
    }

    /// Worst over bound.
    pub fn ratio(&self) -> f64 {
        self.worst.makespan as f64 / self.bound.max(1) as f64
    }

    /// Compares ratios exactly.
    pub fn is_closer_than(&self, other: &Self) -> bool {
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b.max(1));
        product(self.worst.makespan, other.bound) > product(other.worst.makespan, self.bound)
    }
}

/// Judges instances; keeps its memory from one to the next.
pub struct Judge {
    setting: Setting,
    bound: Box<dyn Bound>,
    /// States of a layer that are followed.
    beam: usize,
    /// The engine asks it for settings that the paper's policies do not have.
    machine: Machine,
    subject: Subject,
    evaluator: Evaluator,
}

impl Judge {
    /// A judge of a bound in a setting.
    pub fn new(setting: Setting, bound: Box<dyn Bound>, beam: usize) -> Self {
        let text = "Machine(name: \"none\", units: { \"f0\": Unit(init: 1, lat: 0) })";
        let source = SourceText::new("none", text);
        let machine = MachineSpec::parse(&source)
            .and_then(|spec| Machine::new(&spec, &source))
            .expect("the text above is a machine");
        let (subject, evaluator) = (Subject::default(), Evaluator::default());
        Self { setting, bound, beam, machine, subject, evaluator }
    }

    /// The worst case and the bound.
    pub fn score(&mut self, instance: &Instance) -> Score {
        self.subject.fill(instance);
        let mut report = BoundReport::default();
        Analyser::new(&self.subject.table)
            .for_each_section(&self.subject.paths, |section| self.bound.add_section(&mut report, section));
        let worst = match &self.setting {
            Setting::Any | Setting::Identical => self.evaluator.worst(instance, self.beam),
            Setting::Policy(policy) => {
                let makespan = self.simulate(policy, &mut ());
                let states = instance.instructions() as u64;
                Worst { makespan, exact: true, states, schedules: 1.0 }
            }
        };
        Score { worst, bound: report.value.cycles().get() }
    }

    /// The warp at each issue of a schedule that attains the worst case.
    pub fn witness(&mut self, instance: &Instance) -> Vec<usize> {
        match &self.setting {
            Setting::Any | Setting::Identical => self.evaluator.witness(instance, self.beam).1,
            Setting::Policy(policy) => {
                self.subject.fill(instance);
                let mut order = Order::default();
                self.simulate(policy, &mut order);
                order.0
            }
        }
    }

    fn simulate<O: Observer>(&self, policy: &PolicySetup, observer: &mut O) -> u64 {
        let mut engine = Engine::new(&self.subject.table, &self.machine);
        // only replays fail, and they are no setting
        engine.run_block(&self.subject.paths, policy, observer).map_or(0, |result| result.makespan.get())
    }
}

/// Whether a policy can be hunted: it needs nothing but its name.
pub fn is_huntable(kind: &SchedulerKind) -> bool {
    !matches!(kind, SchedulerKind::Replay(_))
}

/// Keeps which warp issued.
#[derive(Default)]
struct Order(Vec<usize>);

impl Observer for Order {
    fn issued(&mut self, issue: &Issue) {
        self.0.push(issue.warp.index());
    }
}
