//! The features of a machine that are not in the paper model.
//!
//! Bounds are proved for the paper model and, individually, for some of these features; code that
//! relies on the paper model must check for the others. This module destructures all settings, so a
//! new setting does not compile until it is classified here.

use std::fmt;

use crate::machine::checked::{Parts, SubCores};
use crate::machine::memory::{Jitter, LowerLevel};
use crate::machine::written::MemorySpec;
use crate::machine::written::pipeline::{Issue, Launch, PipelineSpec, Placement};

/// A feature of a machine that is not in the paper model. Messages list features in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// The sub-core with the highest priority rotates.
    RotatingSubCores,
    /// A warp issues more than one instruction per cycle.
    DualIssue,
    /// Instructions must be fetched.
    FrontEnd,
    /// Instructions come from caches with a prefetcher.
    InstructionCaches,
    /// The queues of units are bounded.
    BoundedQueues,
    /// Operands are read by an operand collector.
    Collector,
    /// Operands are read from banks with few ports, without a collector.
    RegisterFile,
    /// Results compete for result buses.
    ResultBuses,
    /// Results are written back with a delay.
    WriteBack,
    /// Memory accesses use one load/store unit and the memory system behind it.
    LoadStore,
    /// Constants, or the reading of sources, take time in the load/store unit.
    LoadStoreStages,
    /// Accesses to global and local memory go through a cache of the SM.
    FirstLevel,
    /// A transaction occupies its bank of that cache for several cycles.
    SlowBanks,
    /// Some loads of the kernel bypass that cache.
    UncachedLoads,
    /// Constants go through a cache of the SM.
    ConstantCache,
    /// Accesses go through a crossbar to slices and DRAM.
    Partitions,
    /// The L2 consists of two halves.
    L2Halves,
    /// The memory of fixed latency does not accept every request at once.
    NarrowMemory,
    /// The latency of memory has no largest value.
    UnlimitedJitter,
    /// Launching takes time.
    LaunchCosts,
    /// All SMs together receive a limited number of blocks per cycle.
    SharedPlacement,
    /// Blocks are placed in random order.
    RandomPlacement,
    /// No instruction waits for the results of some op classes.
    UnscoredResults,
    /// Several SMs share the blocks.
    SeveralSms,
    /// The control codes of machine code determine dependences, rather than its registers.
    ControlCodes,
}

impl Feature {
    const ALL: [Self; 25] = [
        Self::RotatingSubCores,
        Self::DualIssue,
        Self::FrontEnd,
        Self::InstructionCaches,
        Self::BoundedQueues,
        Self::Collector,
        Self::RegisterFile,
        Self::ResultBuses,
        Self::WriteBack,
        Self::LoadStore,
        Self::LoadStoreStages,
        Self::FirstLevel,
        Self::SlowBanks,
        Self::UncachedLoads,
        Self::ConstantCache,
        Self::Partitions,
        Self::L2Halves,
        Self::NarrowMemory,
        Self::UnlimitedJitter,
        Self::LaunchCosts,
        Self::SharedPlacement,
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

// each feature is listed at the index that is its discriminant
const _: () = {
    let mut index = 0;
    while index < Feature::ALL.len() {
        assert!(Feature::ALL[index] as usize == index);
        index += 1;
    }
};

impl fmt::Display for Feature {
    /// Writes a clause for messages that names the setting which enables the feature.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RotatingSubCores => "sub-cores take turns at being first (pipeline.issue.rotate)",
            Self::DualIssue => "more than one instruction issues per cycle (pipeline.issue.per_warp)",
            Self::FrontEnd => "instructions must be fetched (pipeline.front_end)",
            Self::InstructionCaches => {
                "instructions come from caches with a prefetcher (pipeline.instruction_caches)"
            }
            Self::BoundedQueues => "issue waits for room in a unit's queue (pipeline.queue)",
            Self::Collector => "operands must be collected (pipeline.collector)",
            Self::RegisterFile => "operands wait for ports of register banks (pipeline.register_file)",
            Self::ResultBuses => "results wait for a bus (pipeline.result_buses)",
            Self::WriteBack => "results are written back later (pipeline.write_back)",
            Self::LoadStore => "memory accesses go through one load/store unit (pipeline.load_store)",
            Self::LoadStoreStages => {
                "the load/store unit has further stages (pipeline.load_store.constant_latency, read_latency)"
            }
            Self::FirstLevel => "accesses go through a cache of the SM (memory.l1)",
            Self::SlowBanks => "transactions occupy banks of the L1 for several cycles (memory.l1.interval)",
            Self::UncachedLoads => "loads of this kernel bypass the cache of the SM (LDG.STRONG.GPU)",
            Self::ConstantCache => "constants go through a cache (memory.constant)",
            Self::Partitions => "memory consists of partitions (memory.lower)",
            Self::L2Halves => "the L2 consists of two halves (memory.partitions.far_latency)",
            Self::NarrowMemory => "memory does not accept every request at once (memory.fixed)",
            Self::UnlimitedJitter => "the latency of memory has no largest value (memory.jitter)",
            Self::LaunchCosts => "launching takes time (pipeline.launch)",
            Self::SharedPlacement => {
                "all SMs together receive a limited number of blocks per cycle (pipeline.launch.total_blocks_per_cycle)"
            }
            Self::RandomPlacement => "blocks are placed at random (pipeline.launch.placement)",
            Self::UnscoredResults => "some results are not waited for (pipeline.unscored)",
            Self::SeveralSms => "several SMs share the blocks (sms)",
            Self::ControlCodes => "control codes hold instructions back, not registers (dependences)",
        })
    }
}

/// A set of features. The default is the empty set, which is the paper model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features(u32);

impl Features {
    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the set contains a feature.
    pub fn contains(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// Returns the set with a further feature.
    #[must_use]
    pub fn with(self, feature: Feature) -> Self {
        Self(self.0 | feature.bit())
    }

    /// Returns the set without a feature.
    #[must_use]
    pub fn without(self, feature: Feature) -> Self {
        Self(self.0 & !feature.bit())
    }

    /// Returns the features in the order of messages.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |&feature| self.contains(feature))
    }

    /// Returns the features of a machine.
    pub(super) fn of(parts: &Parts) -> Self {
        let Parts {
            name: _,
            doc: _,
            // the paper model has these, with other values
            policy: _,
            hazards: _,
            units: _,
            limits: _,
            exit_issues: _,
            two_level_active: _,
            clock_khz: _,
            fitted: _,
            // sections distinguish the warps of each sub-core
            sub_cores,
            // The path, the transactions of its steps and the timing table take these into account,
            // independently of the schedule.
            reconvergence: _,
            shared_memory: _,
            // only relevant if the kernel is machine code; code that analyses such a kernel adds it
            dependences: _,
            memory,
            sms,
            pipeline,
        } = parts;
        // only accesses through the load/store unit reach the memory
        let MemorySpec { l1, constant, lower, fixed, partitions, jitter, start: _, copied_limit: _, seed: _ } =
            &**memory;
        let load_store = pipeline.as_ref().is_some_and(|pipeline| pipeline.load_store.is_some());
        let is_fixed = *lower == LowerLevel::Fixed;
        // an L1 sends misses, and the load/store unit sends atomics past it in the same cycle
        let requests = if l1.is_some() { 2 } else { 1 };
        let narrow = is_fixed && (!fixed.pipelined || fixed.per_cycle < sms.get().saturating_mul(requests));
        // perfect memory behind a cache has a latency, which jitter is added to
        let has_latency = *lower != LowerLevel::Perfect || l1.is_some() || constant.is_some();
        let unlimited = has_latency && matches!(jitter, Jitter::Geometric(_));
        let of_memory = [
            (l1.is_some(), Feature::FirstLevel),
            (l1.as_ref().is_some_and(|l1| l1.interval > 1), Feature::SlowBanks),
            (constant.is_some(), Feature::ConstantCache),
            (*lower == LowerLevel::Partitions, Feature::Partitions),
            (
                *lower == LowerLevel::Partitions && partitions.l2.is_some() && partitions.far_latency > 0,
                Feature::L2Halves,
            ),
            (narrow, Feature::NarrowMemory),
            (unlimited, Feature::UnlimitedJitter),
        ];
        let of_memory = of_memory.into_iter().filter(|&(on, _)| on && load_store).map(|(_, feature)| feature);
        let several_sms = (sms.get() > 1).then_some(Feature::SeveralSms);
        let features =
            pipeline.iter().flat_map(|pipeline| pipeline_features(pipeline, *sub_cores, sms.get()));
        features.chain(of_memory).chain(several_sms).collect()
    }
}

/// Returns the features that are enabled in the pipeline of an SM.
fn pipeline_features(
    pipeline: &PipelineSpec,
    sub_cores: SubCores,
    sms: u32,
) -> impl Iterator<Item = Feature> {
    let PipelineSpec {
        // only restricts which instructions can issue together
        issue: Issue { per_warp, rotate, distinct_units: _ },
        front_end,
        instruction_caches,
        queue,
        collector,
        register_file,
        // only the order in which instructions enter the collector
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
        (instruction_caches.is_some(), Feature::InstructionCaches),
        (queue.is_some(), Feature::BoundedQueues),
        (collector.is_some(), Feature::Collector),
        (register_file.is_some(), Feature::RegisterFile),
        (*write_back > 0, Feature::WriteBack),
        (result_buses.is_some(), Feature::ResultBuses),
        (load_store.is_some(), Feature::LoadStore),
        (
            load_store.is_some_and(|unit| unit.constant_latency > 0 || unit.read_latency > 0),
            Feature::LoadStoreStages,
        ),
        (
            Launch { placement: Placement::default(), total_blocks_per_cycle: 0, ..*launch }
                != Launch::default(),
            Feature::LaunchCosts,
        ),
        (launch.total_blocks_per_cycle > 0, Feature::SharedPlacement),
        // with one SM there is no choice
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
    /// Writes the clauses of the features, separated by semicolons.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, feature) in self.iter().enumerate() {
            let separator = if index > 0 { "; " } else { "" };
            write!(f, "{separator}{feature}")?;
        }
        Ok(())
    }
}
