//! The validation of a whole machine, part by part.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::hazards::Hazards;
use super::limits::Limits;
use super::memory::{MemorySystem, lines_hold_requests};
use super::pipeline::Pipeline;
use super::range::Check;
use super::shared_memory::SharedMemory;
use super::sub_cores::SubCores;
use super::units::Units;
use super::value::Checked;
use crate::diag::{Diagnostics, SourceText};
use crate::machine::written::{Dependences, MachineSpec, MemorySpec, PolicyKind, Reconvergence};

/// The maximum number of SMs of a GPU.
const MAX_SMS: u32 = 256;

/// The parts of a machine, checked separately and in combination; [`MachineSpec`] describes them.
#[derive(Clone, Debug)]
pub struct Parts {
    pub name: String,
    pub doc: String,
    pub policy: PolicyKind,
    pub hazards: Checked<Hazards>,
    pub units: Units,
    pub limits: Checked<Limits>,
    pub exit_issues: bool,
    pub two_level_active: NonZeroU32,
    pub clock_khz: Option<NonZeroU32>,
    pub fitted: BTreeMap<String, String>,
    pub sub_cores: SubCores,
    pub memory: MemorySystem,
    pub pipeline: Option<Pipeline>,
    pub sms: NonZeroU32,
    pub shared_memory: Option<SharedMemory>,
    pub reconvergence: Reconvergence,
    pub dependences: Dependences,
}

impl Parts {
    /// Validates a machine. `source` is the file it was read from, for the locations of
    /// diagnostics.
    ///
    /// # Errors
    /// Returns a diagnostic for each problem.
    pub fn of(spec: &MachineSpec, source: &SourceText) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let parts = Self::check(spec, &mut Check::new(source, &mut problems));
        problems.into_result(())?;
        Ok(parts.expect("a part is missing only where something is wrong with it"))
    }

    /// Returns the parts, or `None` if there is a problem.
    fn check(spec: &MachineSpec, check: &mut Check) -> Option<Self> {
        let MachineSpec {
            name,
            doc,
            // a layered machine already includes its base
            extends: _,
            policy,
            hazards,
            // the units are checked together with the op classes
            ops: _,
            units: _,
            limits,
            exit_issues,
            two_level_active,
            clock_khz,
            fitted,
            sub_cores,
            memory,
            pipeline,
            sms,
            shared_memory,
            reconvergence,
            dependences,
        } = spec;
        let (units, units_are_fine) = Units::of(spec, check);
        let limits = Limits::of(limits.as_ref(), check);
        let two_level_active = two_level_active.unwrap_or(6);
        check.at_least_one("two_level_active", two_level_active);
        if let Some(clock) = clock_khz {
            check.at_least_one("clock_khz", *clock);
        }
        let sub_cores = sub_cores.unwrap_or(1);
        check.range("sub_cores", sub_cores, 1..=SubCores::MAX as u32);
        let checked_memory = MemorySystem::of(memory.as_ref(), check);
        let memory_is_reached = check.finds_nothing(|check| memory_must_be_reached(spec, check));
        let sms = sms.unwrap_or(1);
        if sms > 1 && pipeline.is_none() {
            let hint = "add `pipeline: Pipeline()`, which changes nothing by itself";
            check.problem("sms", "several SMs need the detailed engine".to_owned(), hint);
        }
        check.range("sms", sms, 1..=MAX_SMS);
        let timed = (&units, &spec.ops);
        let pipeline = pipeline.as_ref().map(|written| Pipeline::of(written, timed, sub_cores, check));
        let load_store = spec.pipeline.as_ref().and_then(|written| written.load_store.as_ref());
        let lines_fit = check.finds_nothing(|check| {
            if let (Some(memory), Some(load_store)) = (memory, load_store) {
                lines_hold_requests(memory, load_store, check);
            }
        });
        let shared_memory = shared_memory.as_ref().map(|written| SharedMemory::of(written, check));
        let hazards = Hazards::of(hazards.as_deref(), check);
        Some(Self {
            name: name.clone().unwrap_or_default(),
            doc: doc.clone().unwrap_or_default(),
            policy: policy.clone().unwrap_or(PolicyKind::Gto),
            hazards: hazards?,
            sub_cores: SubCores::new(sub_cores as usize, units.list()),
            units: units_are_fine.then_some(units)?,
            limits: limits?,
            exit_issues: exit_issues.unwrap_or(false),
            two_level_active: NonZeroU32::new(two_level_active)?,
            clock_khz: clock_khz.and_then(NonZeroU32::new),
            fitted: fitted.clone(),
            memory: checked_memory.filter(|_| memory_is_reached && lines_fit)?,
            // a part that is written must have passed its checks
            pipeline: pipeline.map_or(Some(None), |checked| checked.map(Some))?,
            sms: NonZeroU32::new(sms)?,
            shared_memory: shared_memory.map_or(Some(None), |checked| checked.map(Some))?,
            reconvergence: reconvergence.unwrap_or_default(),
            dependences: dependences.unwrap_or_default(),
        })
    }
}

/// Checks that a memory system which is not perfect is connected to a load/store unit.
fn memory_must_be_reached(spec: &MachineSpec, check: &mut Check) {
    let perfect = spec.memory.as_ref().is_none_or(|memory| *memory == MemorySpec::default());
    if !perfect && spec.pipeline.as_ref().is_none_or(|pipeline| pipeline.load_store.is_none()) {
        let message = "nothing goes to `memory`: this machine has no load/store unit".to_owned();
        let hint = "give it one: `pipeline: Pipeline(load_store: LoadStore())`, or --set pipeline.load_store.transaction=32";
        check.problem("memory", message, hint);
    }
}
