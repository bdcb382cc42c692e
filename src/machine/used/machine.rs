//! The machine that engines and bounds ask.

use super::features::Features;
use crate::base::Fnv1a;
use crate::diag::{Diagnostics, SourceText};
use crate::machine::checked::{
    Hazards, Limits, MemorySystem, OpTiming, Parts, Pipeline, SharedMemory, SubCores, Unit,
};
use crate::machine::written::{Dependences, MachineSpec, Reconvergence, SchedulerKind};

/// A machine that passed every check. There is no other way to one than [`Machine::new`].
#[derive(Clone, Debug)]
pub struct Machine {
    parts: Parts,
    digest: u64,
}

impl Machine {
    /// Checks a spec. `source` is the file it came from, for the places of messages.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn new(spec: &MachineSpec, source: &SourceText) -> Result<Self, Diagnostics> {
        let parts = Parts::of(spec, source)?;
        let mut digest = Fnv1a::default();
        digest.write(serde_json::to_string(spec).expect("a machine spec is plain data").as_bytes());
        Ok(Self { parts, digest: digest.finish() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// What it models.
    pub fn doc(&self) -> &str {
        &self.parts.doc
    }

    /// Its policy.
    pub fn scheduler(&self) -> &SchedulerKind {
        &self.parts.scheduler
    }

    /// The hazards its scoreboard checks.
    pub fn hazards(&self) -> Hazards {
        *self.parts.hazards
    }

    /// Its functional units, dense in [`crate::base::UnitId`].
    pub fn units(&self) -> &[Unit] {
        self.parts.units.list()
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.parts.limits
    }

    /// Whether the `ret` that ends a warp takes an issue slot.
    pub fn exit_issues(&self) -> bool {
        self.parts.exit_issues
    }

    /// Size of the two-level policy's active set, warps.
    pub fn two_level_active(&self) -> u32 {
        self.parts.two_level_active.get()
    }

    /// How the SM is divided into sub-cores.
    pub fn sub_cores(&self) -> SubCores {
        self.parts.sub_cores
    }

    /// The memory behind the load/store unit; perfect unless the machine says otherwise.
    pub fn memory(&self) -> &MemorySystem {
        &self.parts.memory
    }

    /// SMs that share the blocks of a launch, at least one.
    pub fn sms(&self) -> usize {
        self.parts.sms.get() as usize
    }

    /// What the paper model leaves out of the SM's pipeline; `None` for the paper model.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.parts.pipeline.as_ref()
    }

    /// What it does that the paper model does not: bounds have to account for it, and what looks at the
    /// paper model alone must not be asked about it.
    pub fn beyond_the_paper_model(&self) -> Features {
        Features::of(&self.parts)
    }

    /// Whether constants and parameters have to be fetched.
    pub fn caches_constants(&self) -> bool {
        self.parts.memory.constant.is_some()
            && self.parts.pipeline.as_ref().is_some_and(|p| p.load_store.is_some())
    }

    /// Bank conflicts of shared memory, if it has any.
    pub fn shared_memory(&self) -> Option<&SharedMemory> {
        self.parts.shared_memory.as_ref()
    }

    /// How lanes of a warp that diverged meet again.
    pub fn reconvergence(&self) -> Reconvergence {
        self.parts.reconvergence
    }

    /// What holds an instruction of machine code back until what it needs is there.
    pub fn dependences(&self) -> Dependences {
        self.parts.dependences
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
            if let Some(timing) = self.parts.units.op(name) {
                return Some(timing);
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// The op classes and families this machine maps.
    pub fn ops(&self) -> impl Iterator<Item = (&str, OpTiming)> {
        self.parts.units.ops()
    }
}
