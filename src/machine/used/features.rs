//! What a machine does that the paper model does not.
//!
//! Bounds are argued for the paper model and, one by one, for some of these features; whoever relies on
//! the paper model has to ask for them. So every setting is decided on here: a new one does not compile
//! before it is.

use std::fmt;

use crate::machine::checked::{Parts, SubCores};
use crate::machine::written::MemorySpec;
use crate::machine::written::pipeline::{Issue, Launch, PipelineSpec, Placement};

/// Something that a machine does and the paper model does not. Messages list them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Sub-cores take turns at being first.
    RotatingSubCores,
    /// A warp issues more than one instruction per cycle.
    DualIssue,
    /// Instructions are fetched.
    FrontEnd,
    /// Units have queues of bounded length.
    BoundedQueues,
    /// Operands are collected.
    Collector,
    /// Results wait for a bus.
    ResultBuses,
    /// Results are written back later.
    WriteBack,
    /// Memory accesses go through one load/store unit, and whatever memory is behind it.
    LoadStore,
    /// Launching takes time.
    LaunchCosts,
    /// Blocks are placed in a random order.
    RandomPlacement,
    /// Some results are not waited for.
    UnscoredResults,
    /// Several SMs share the blocks.
    SeveralSms,
    /// The control codes of machine code count, and not its registers.
    ControlCodes,
}

impl Feature {
    const ALL: [Self; 13] = [
        Self::RotatingSubCores,
        Self::DualIssue,
        Self::FrontEnd,
        Self::BoundedQueues,
        Self::Collector,
        Self::ResultBuses,
        Self::WriteBack,
        Self::LoadStore,
        Self::LaunchCosts,
        Self::RandomPlacement,
        Self::UnscoredResults,
        Self::SeveralSms,
        Self::ControlCodes,
    ];

    const fn bit(self) -> u32 {
        assert!((self as usize) < Self::ALL.len(), "a feature that is not listed would be lost");
        1 << self as u32
    }
}

// each is among them, at its place
const _: () = {
    let mut index = 0;
    while index < Feature::ALL.len() {
        assert!(Feature::ALL[index] as usize == index);
        index += 1;
    }
};

impl fmt::Display for Feature {
    /// As a clause of a message, with the setting that switches it on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RotatingSubCores => "sub-cores take turns at being first (pipeline.issue.rotate)",
            Self::DualIssue => "more than one instruction issues per cycle (pipeline.issue.per_warp)",
            Self::FrontEnd => "instructions must be fetched (pipeline.front_end)",
            Self::BoundedQueues => "issue waits for room in a unit's queue (pipeline.queue)",
            Self::Collector => "operands must be collected (pipeline.collector)",
            Self::ResultBuses => "results wait for a bus (pipeline.result_buses)",
            Self::WriteBack => "results are written back later (pipeline.write_back)",
            Self::LoadStore => "memory accesses go through one load/store unit (pipeline.load_store)",
            Self::LaunchCosts => "launching takes time (pipeline.launch)",
            Self::RandomPlacement => "blocks are placed at random (pipeline.launch.placement)",
            Self::UnscoredResults => "some results are not waited for (pipeline.unscored)",
            Self::SeveralSms => "several SMs share the blocks (sms)",
            Self::ControlCodes => "control codes hold instructions back, not registers (dependences)",
        })
    }
}

/// A set of features; none by default, which is the paper model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this one is among them.
    pub fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// These and another one.
    #[must_use]
    pub fn with(self, feature: Feature) -> Self {
        Self(self.0 | feature.bit())
    }

    /// Each of them, in the order of messages.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |&feature| self.contains(feature))
    }

    /// Those of a machine.
    pub(super) fn of(parts: &Parts) -> Self {
        let Parts {
            name: _,
            doc: _,
            // the paper model has these, with other values
            scheduler: _,
            hazards: _,
            units: _,
            limits: _,
            exit_issues: _,
            two_level_active: _,
            // sections say which warps share what
            sub_cores,
            // the path says which lanes are where, its steps what bank conflicts they meet, and the timing
            // table what these cost: nothing of it depends on the schedule
            reconvergence: _,
            shared_memory: _,
            // only where the kernel is machine code; who looks at a run of it adds it
            dependences: _,
            memory,
            sms,
            pipeline,
        } = parts;
        // nothing reaches it but by way of the load/store unit
        let MemorySpec {
            l1: _,
            constant: _,
            lower: _,
            fixed: _,
            partitions: _,
            jitter: _,
            start: _,
            seed: _,
        } = &**memory;
        let several_sms = (sms.get() > 1).then_some(Feature::SeveralSms);
        let of_pipeline = pipeline.iter().flat_map(|pipeline| of_pipeline(pipeline, *sub_cores, sms.get()));
        of_pipeline.chain(several_sms).collect()
    }
}

/// What is switched on in the pipeline of an SM.
fn of_pipeline(pipeline: &PipelineSpec, sub_cores: SubCores, sms: u32) -> impl Iterator<Item = Feature> {
    let PipelineSpec {
        // what two instructions that issue together must be like
        issue: Issue { per_warp, rotate, distinct_units: _ },
        front_end,
        queue,
        collector,
        // the order in which the collector is entered
        collect: _,
        write_back,
        result_buses,
        load_store,
        launch,
        unscored,
    } = pipeline;
    [
        (*rotate && sub_cores.count() > 1, Feature::RotatingSubCores),
        (*per_warp > 1, Feature::DualIssue),
        (front_end.is_some(), Feature::FrontEnd),
        (queue.is_some(), Feature::BoundedQueues),
        (collector.is_some(), Feature::Collector),
        (*write_back > 0, Feature::WriteBack),
        (result_buses.is_some(), Feature::ResultBuses),
        (load_store.is_some(), Feature::LoadStore),
        (Launch { placement: Placement::default(), ..*launch } != Launch::default(), Feature::LaunchCosts),
        // with one SM there is nothing to choose
        (launch.placement != Placement::default() && sms > 1, Feature::RandomPlacement),
        (!unscored.is_empty(), Feature::UnscoredResults),
    ]
    .into_iter()
    .filter_map(|(on, feature)| on.then_some(feature))
}

impl FromIterator<Feature> for Features {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        features.into_iter().fold(Self::default(), Self::with)
    }
}

impl fmt::Display for Features {
    /// Their clauses, with semicolons between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, feature) in self.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(f, "{separator}{feature}")?;
        }
        Ok(())
    }
}
