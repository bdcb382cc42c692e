//! The machine that engines and bounds use.

use std::num::NonZeroU32;

use super::features::Features;
use crate::base::Fnv1a;
use crate::diag::{Diagnostics, SourceText};
use crate::machine::checked::{
    Hazards, Limits, MemorySystem, OpTiming, Parts, Pipeline, SharedMemory, SubCores, Unit,
};
use crate::machine::written::{Dependences, MachineSpec, PolicyKind, Reconvergence};

/// A machine that has passed all checks. [`Machine::new`] is the only way to construct one.
#[derive(Clone, Debug)]
pub struct Machine {
    parts: Parts,
    digest: u64,
}

impl Machine {
    /// Validates a machine. `source` is the file it was read from, for the locations of
    /// diagnostics.
    ///
    /// # Errors
    /// Returns a diagnostic for each problem.
    pub fn new(spec: &MachineSpec, source: &SourceText) -> Result<Self, Diagnostics> {
        let parts = Parts::of(spec, source)?;
        let mut digest = Fnv1a::default();
        digest.write(serde_json::to_string(spec).expect("a machine spec is plain data").as_bytes());
        Ok(Self { parts, digest: digest.finish() })
    }

    /// Returns the name.
    #[inline]
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Returns the description.
    #[inline]
    pub fn doc(&self) -> &str {
        &self.parts.doc
    }

    /// Returns the scheduling policy.
    #[inline]
    pub fn policy(&self) -> &PolicyKind {
        &self.parts.policy
    }

    /// Returns the hazards that the scoreboard checks.
    #[inline]
    pub fn hazards(&self) -> Hazards {
        *self.parts.hazards
    }

    /// Returns the functional units, indexed by [`crate::base::UnitId`].
    #[inline]
    pub fn units(&self) -> &[Unit] {
        self.parts.units.list()
    }

    /// Returns the limits of the SM.
    #[inline]
    pub fn limits(&self) -> &Limits {
        &self.parts.limits
    }

    /// Returns whether the `ret` that terminates a warp takes an issue slot.
    #[inline]
    pub fn exit_issues(&self) -> bool {
        self.parts.exit_issues
    }

    /// Returns the size of the two-level policy's active set in warps.
    #[inline]
    pub fn two_level_active(&self) -> u32 {
        self.parts.two_level_active.get()
    }

    /// Returns the division of the SM into sub-cores.
    #[inline]
    pub fn sub_cores(&self) -> SubCores {
        self.parts.sub_cores
    }

    /// Returns the memory system behind the load/store unit; the default is perfect memory.
    #[inline]
    pub fn memory(&self) -> &MemorySystem {
        &self.parts.memory
    }

    /// Returns the number of SMs that share the blocks of a launch, at least one.
    #[inline]
    pub fn sms(&self) -> usize {
        self.parts.sms.get() as usize
    }

    /// Returns the details of the SM's pipeline that the paper model leaves out; `None` for the
    /// paper model.
    #[inline]
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.parts.pipeline.as_ref()
    }

    /// Returns the features that are not in the paper model. Bounds must account for them, and
    /// analyses of the paper model do not apply to machines that have any.
    #[inline]
    pub fn beyond_the_paper_model(&self) -> Features {
        Features::of(&self.parts)
    }

    /// Returns whether constants and kernel parameters must be fetched.
    #[inline]
    pub fn caches_constants(&self) -> bool {
        self.parts.memory.constant.is_some()
            && self.parts.pipeline.as_ref().is_some_and(|p| p.load_store.is_some())
    }

    /// Returns whether lanes of a load of constants that have different addresses are served one after
    /// the other.
    #[inline]
    pub fn serves_constants_by_address(&self) -> bool {
        let load_store = self.parts.pipeline.as_ref().and_then(|pipeline| pipeline.load_store);
        load_store.is_some_and(|unit| unit.constant_interval > 0)
    }

    /// Returns the model of bank conflicts of shared memory, if any.
    #[inline]
    pub fn shared_memory(&self) -> Option<&SharedMemory> {
        self.parts.shared_memory.as_ref()
    }

    /// Returns how diverged lanes of a warp reconverge.
    #[inline]
    pub fn reconvergence(&self) -> Reconvergence {
        self.parts.reconvergence
    }

    /// Returns what makes an instruction of machine code wait for its operands.
    #[inline]
    pub fn dependences(&self) -> Dependences {
        self.parts.dependences
    }

    /// Returns the frequency of the SMs' clock in kHz, if the machine states it.
    #[inline]
    pub fn clock_khz(&self) -> Option<u32> {
        self.parts.clock_khz.map(NonZeroU32::get)
    }

    /// Returns the settings whose values are fitted to measurements, with the measurements.
    pub fn fitted(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.fitted.iter().map(|(setting, to)| (setting.as_str(), to.as_str()))
    }

    /// Returns a digest of all settings: two machines with the same digest produce the same cycles.
    #[inline]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Returns the unit and timing of an op class. A class that is not mapped itself uses the
    /// mapping of its family: `int.add` falls back to `int`.
    #[inline]
    pub fn op(&self, class: &str) -> Option<OpTiming> {
        let mut name = class;
        loop {
            if let Some(timing) = self.parts.units.op(name) {
                return Some(timing);
            }
            name = name.rsplit_once('.')?.0;
        }
    }

    /// Returns the op classes and families that this machine maps.
    #[inline]
    pub fn ops(&self) -> impl Iterator<Item = (&str, OpTiming)> {
        self.parts.units.ops()
    }
}
