//! The validated machine.

use std::collections::BTreeMap;

use bitflags::bitflags;

use super::feature::Features;
use super::limits::Limits;
use super::memory::MemorySystem;
use super::pipeline::Pipeline;
use super::scheduler::SchedulerKind;
use super::shared_memory::SharedMemory;
use super::spec::Reconvergence;
use super::sub_cores::SubCores;
use crate::base::{Cycles, UnitId};

bitflags! {
    /// The register hazards that hold an instruction back.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Hazards: u8 {
        /// Sources must be available.
        const RAW = 1;
        /// Destinations must be available too.
        const WAW = 2;
    }
}

/// A functional unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// Cycles an initiation occupies it.
    pub init: Cycles,
    /// Pipelined cycles from the end of the initiation to the result.
    pub lat: Cycles,
    /// Whether there is one for all sub-cores, instead of one for each.
    pub shared: bool,
    /// Where the numbers come from; may be empty.
    pub source: String,
}

/// Where an op class runs and how long it takes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTiming {
    /// The unit.
    pub unit: UnitId,
    /// Cycles an initiation occupies it; at least 1.
    pub init: Cycles,
    /// Pipelined cycles from the end of the initiation to the result.
    pub lat: Cycles,
}

/// A machine that passed every check; `validate.rs` makes them.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) scheduler: SchedulerKind,
    pub(super) hazards: Hazards,
    pub(super) units: Vec<Unit>,
    pub(super) ops: BTreeMap<String, OpTiming>,
    pub(super) limits: Limits,
    pub(super) exit_issues: bool,
    pub(super) two_level_active: u32,
    pub(super) memory: MemorySystem,
    pub(super) sms: usize,
    pub(super) pipeline: Option<Pipeline>,
    pub(super) shared_memory: Option<SharedMemory>,
    pub(super) sub_cores: SubCores,
    pub(super) reconvergence: Reconvergence,
    pub(super) digest: u64,
}

impl Machine {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it models.
    pub fn doc(&self) -> &str {
        &self.doc
    }

    /// Its policy.
    pub fn scheduler(&self) -> &SchedulerKind {
        &self.scheduler
    }

    /// The hazards its scoreboard checks.
    pub fn hazards(&self) -> Hazards {
        self.hazards
    }

    /// Its functional units, dense in [`UnitId`].
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether the `ret` that ends a warp takes an issue slot.
    pub fn exit_issues(&self) -> bool {
        self.exit_issues
    }

    /// Size of the two-level policy's active set, warps.
    pub fn two_level_active(&self) -> u32 {
        self.two_level_active
    }

    /// How the SM is divided into sub-cores.
    pub fn sub_cores(&self) -> SubCores {
        self.sub_cores
    }

    /// The memory behind the load/store unit; perfect unless the machine says otherwise.
    pub fn memory(&self) -> &MemorySystem {
        &self.memory
    }

    /// SMs that share the blocks of a launch, at least one.
    pub fn sms(&self) -> usize {
        self.sms
    }

    /// What the paper model leaves out of the SM's pipeline; `None` for the paper model.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }

    /// What it does that the paper model does not: bounds have to account for it, and what looks at the
    /// paper model alone must not be asked about it.
    pub fn beyond_the_paper_model(&self) -> Features {
        Features::of(self)
    }

    /// Whether constants and parameters have to be fetched.
    pub fn caches_constants(&self) -> bool {
        self.memory.constant.is_some() && self.pipeline.as_ref().is_some_and(|p| p.load_store.is_some())
    }

    /// Bank conflicts of shared memory, if it has any.
    pub fn shared_memory(&self) -> Option<&SharedMemory> {
        self.shared_memory.as_ref()
    }

    /// How lanes of a warp that diverged meet again.
    pub fn reconvergence(&self) -> Reconvergence {
        self.reconvergence
    }

    /// A digest of every setting: two machines with the same digest give the same cycles.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Unit and timing of an op class. A class that is not mapped itself takes what its family is
    /// mapped to: `int.add` falls back to `int`.
    pub fn op(&self, class: &str) -> Option<OpTiming> {
        let mut name = class;
        loop {
            if let Some(timing) = self.ops.get(name) {
                return Some(*timing);
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// The op classes and families this machine maps.
    pub fn ops(&self) -> impl Iterator<Item = (&str, OpTiming)> {
        self.ops.iter().map(|(name, timing)| (name.as_str(), *timing))
    }
}
