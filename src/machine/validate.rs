//! From a spec to a machine: every check of a setting by itself and of what settings have to do
//! with each other. All problems are reported at once, each at its place in the file.

use std::collections::BTreeMap;

use super::limits::{Limits, MAX_WARPS};
use super::memory::MemorySystem;
use super::model::{Hazards, Machine, OpTiming, Unit};
use super::pipeline::Pipeline;
use super::scheduler::SchedulerKind;
use super::shared_memory::SharedMemory;
use super::spec::{Hazard, LimitsSpec, MachineSpec, OpSpec};
use super::sub_cores::SubCores;
use crate::base::{Cycles, Fnv1a, UnitId};
use crate::diag::{Diagnostic, Diagnostics, SourceText, closest};
use crate::isa::BARRIER;

/// SMs of a GPU.
const MAX_SMS: u32 = 256;
/// Cycles of the longest operation in a pipeline whose results must not meet.
const MAX_PIPELINE: u64 = 1000;
/// Times beyond this are refused, so that sums of them cannot overflow.
pub(super) const MAX_TIME: u64 = 1 << 32;

type Ops = BTreeMap<String, OpTiming>;

impl Machine {
    /// Checks a spec. `source` is the file it came from, for the places of messages.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn new(spec: &MachineSpec, source: &SourceText) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut units = check_units(spec, source, &mut problems);
        let mut ops = check_ops(spec, &units, source, &mut problems);
        add_barrier(&mut units, &mut ops);
        // the detailed engine has a bit for the load/store unit beside them
        let most = if spec.pipeline.is_some() { 63 } else { 64 };
        if units.len() > most {
            let message = format!("{} units; at most {most} are supported", units.len());
            problems.push(locate(source, "units", message));
        }
        let limits = check_limits(spec.limits.as_ref(), source, &mut problems);
        let two_level_active = spec.two_level_active.unwrap_or(6);
        if two_level_active == 0 {
            problems.push(locate(
                source,
                "two_level_active",
                "the two-level policy needs at least one active warp".into(),
            ));
        }
        let sub_cores = spec.sub_cores.unwrap_or(1);
        if !(1..=SubCores::MAX).contains(&(sub_cores as usize)) {
            problems.push(locate(
                source,
                "sub_cores",
                format!("sub_cores is {sub_cores}, it must be 1 to {}", SubCores::MAX),
            ));
        }
        let memory = check_memory(spec, source, &mut problems);
        let sms = spec.sms.unwrap_or(1);
        if sms > 1 && spec.pipeline.is_none() {
            problems.push(
                locate(source, "sms", "several SMs need the detailed engine".into())
                    .hint("add `pipeline: Pipeline()`, which changes nothing by itself"),
            );
        }
        if !(1..=MAX_SMS).contains(&sms) {
            problems.push(locate(source, "sms", format!("sms is {sms}, it must be 1 to {MAX_SMS}")));
        }
        if let Some(pipeline) = &spec.pipeline {
            check_pipeline(pipeline, sub_cores, (&units, &ops), source, &mut problems);
        }
        let shared_memory =
            spec.shared_memory.as_ref().and_then(|shared| SharedMemory::new(shared, source, &mut problems));
        let hazards = check_hazards(spec.hazards.as_deref(), source, &mut problems);
        let mut digest = Fnv1a::default();
        digest.write(serde_json::to_string(spec).expect("a machine spec is plain data").as_bytes());
        let sub_cores = SubCores::new(sub_cores as usize, &units);
        let machine = Self {
            name: spec.name.clone().unwrap_or_default(),
            doc: spec.doc.clone().unwrap_or_default(),
            scheduler: spec.scheduler.clone().unwrap_or(SchedulerKind::Gto),
            hazards,
            units,
            ops,
            limits,
            exit_issues: spec.exit_issues.unwrap_or(false),
            two_level_active,
            memory,
            sms: sms as usize,
            pipeline: spec.pipeline.clone(),
            shared_memory,
            sub_cores,
            reconvergence: spec.reconvergence.unwrap_or_default(),
            digest: digest.finish(),
        };
        problems.into_result(machine)
    }
}

fn check_units(spec: &MachineSpec, source: &SourceText, problems: &mut Diagnostics) -> Vec<Unit> {
    let mut units = Vec::new();
    for (name, unit) in &spec.units {
        check_init(name, unit.init, source, problems);
        check_lat(name, unit.lat, source, problems);
        units.push(Unit {
            name: name.clone(),
            init: Cycles::new(unit.init),
            lat: Cycles::new(unit.lat),
            shared: unit.shared,
            source: unit.source.clone(),
        });
    }
    units
}

fn check_ops(spec: &MachineSpec, units: &[Unit], source: &SourceText, problems: &mut Diagnostics) -> Ops {
    let id = |(index, unit): (usize, &Unit)| (unit.name.clone(), UnitId::from_index(index.min(255)));
    let by_name: BTreeMap<String, UnitId> = units.iter().enumerate().map(id).collect();
    let names = || by_name.keys().map(String::as_str);
    let mut ops = BTreeMap::new();
    for (op, placed) in &spec.ops {
        let (unit_name, init, lat) = match placed {
            OpSpec::Unit(unit) => (unit, None, None),
            OpSpec::Timed(timed) => (&timed.unit, timed.init, timed.lat),
        };
        let Some(&unit) = by_name.get(unit_name.as_str()) else {
            let near = closest(unit_name, names());
            let hint = near.map_or_else(
                || format!("units of this machine: {}", names().collect::<Vec<_>>().join(", ")),
                |name| format!("did you mean `{name}`?"),
            );
            problems.push(
                locate(source, op, format!("op `{op}` runs on unit `{unit_name}`, which does not exist"))
                    .hint(hint),
            );
            continue;
        };
        if let Some(init) = init {
            check_init(op, init, source, problems);
        }
        if let Some(lat) = lat {
            check_lat(op, lat, source, problems);
        }
        let of_unit = &units[unit.index()];
        let timing = OpTiming {
            unit,
            init: init.map_or(of_unit.init, Cycles::new),
            lat: lat.map_or(of_unit.lat, Cycles::new),
        };
        ops.insert(op.clone(), timing);
    }
    ops
}

/// Barriers have a unit of their own, init 1, lat 0, unless configured.
fn add_barrier(units: &mut Vec<Unit>, ops: &mut Ops) {
    if !ops.contains_key(BARRIER) {
        let unit = UnitId::from_index(units.len().min(255));
        units.push(Unit {
            name: BARRIER.to_owned(),
            init: Cycles::ONE,
            lat: Cycles::ZERO,
            shared: false,
            source: "the default: a unit of its own".to_owned(),
        });
        ops.insert(BARRIER.to_owned(), OpTiming { unit, init: Cycles::ONE, lat: Cycles::ZERO });
    }
}

/// The memory, which has to be reached by something if it is more than perfect.
fn check_memory(spec: &MachineSpec, source: &SourceText, problems: &mut Diagnostics) -> MemorySystem {
    let memory = spec.memory.clone().unwrap_or_default();
    memory.check(source, problems);
    let accesses = spec.pipeline.as_ref().is_some_and(|pipeline| pipeline.load_store.is_some());
    if memory != MemorySystem::default() && !accesses {
        let message = "nothing goes to `memory`: this machine has no load/store unit".to_owned();
        problems.push(
            locate(source, "memory", message)
                .hint("give it one: `pipeline: Pipeline(load_store: LoadStore())`, or --set pipeline.load_store.transaction=32"),
        );
    }
    memory
}

fn check_pipeline(
    pipeline: &Pipeline,
    sub_cores: u32,
    (units, ops): (&[Unit], &Ops),
    source: &SourceText,
    problems: &mut Diagnostics,
) {
    let is_class = |name: &str| ops.contains_key(name);
    if pipeline.collector.is_some() || pipeline.result_buses.is_some() {
        for (op, timing) in ops {
            let total = timing.init.get().saturating_add(timing.lat.get());
            if total >= MAX_PIPELINE {
                problems.push(locate(
                    source,
                    op,
                    format!(
                        "`{op}` takes {total} cycles, pipelines with a collector or result buses hold less than {MAX_PIPELINE}"
                    ),
                ));
            }
        }
    }
    let is_unit = |name: &str| units.iter().any(|unit| unit.name == name);
    pipeline.check(sub_cores.max(1) as usize, source, problems, is_class, is_unit);
}

fn check_hazards(hazards: Option<&[Hazard]>, source: &SourceText, problems: &mut Diagnostics) -> Hazards {
    let hazards = hazards.map_or(Hazards::RAW, |list| {
        list.iter().fold(Hazards::empty(), |set, h| {
            set | match h {
                Hazard::Raw => Hazards::RAW,
                Hazard::Waw => Hazards::WAW,
            }
        })
    });
    if !hazards.contains(Hazards::RAW) {
        problems.push(
            locate(
                source,
                "hazards",
                "a machine that ignores read-after-write hazards computes nonsense".into(),
            )
            .hint("hazards: [Raw] or [Raw, Waw]"),
        );
    }
    hazards
}

pub(super) fn locate(source: &SourceText, name: &str, message: String) -> Diagnostic {
    let quoted = format!("\"{name}\"");
    let needle = if source.text().contains(&quoted) { quoted.as_str() } else { name };
    source.error_at(needle, message)
}

fn check_init(name: &str, init: u64, source: &SourceText, problems: &mut Diagnostics) {
    if init == 0 {
        problems.push(
            locate(source, name, format!("`{name}` has init 0"))
                .hint("an initiation occupies the unit for at least one cycle: init >= 1"),
        );
    }
    if init > MAX_TIME {
        problems.push(locate(
            source,
            name,
            format!("`{name}` has init {init}; at most {MAX_TIME} is supported"),
        ));
    }
}

fn check_lat(name: &str, lat: u64, source: &SourceText, problems: &mut Diagnostics) {
    if lat > MAX_TIME {
        problems.push(locate(
            source,
            name,
            format!("`{name}` has lat {lat}; at most {MAX_TIME} is supported"),
        ));
    }
}

fn check_limits(spec: Option<&LimitsSpec>, source: &SourceText, problems: &mut Diagnostics) -> Limits {
    let empty = LimitsSpec::default();
    let spec = spec.unwrap_or(&empty);
    // the paper model: one block at a time, nothing else binds
    let limits = Limits {
        warps: spec.warps.unwrap_or(MAX_WARPS),
        threads: spec.threads.unwrap_or(2048),
        blocks: spec.blocks.unwrap_or(1),
        registers: spec.registers.unwrap_or(65536),
        shared_bytes: spec.shared_bytes.unwrap_or(102_400),
        shared_bytes_per_block: spec.shared_bytes_per_block.unwrap_or(49_152),
    };
    if limits.warps == 0 || limits.warps > MAX_WARPS {
        problems.push(locate(
            source,
            "warps",
            format!("limits.warps is {}, it must be 1 to {MAX_WARPS}", limits.warps),
        ));
    }
    if limits.threads == 0 || limits.blocks == 0 {
        problems.push(locate(source, "limits", "limits.threads and limits.blocks must be at least 1".into()));
    }
    limits
}
