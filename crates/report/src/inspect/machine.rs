//! The report of a machine with every inherited and every default setting in place.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use crate::book;
use crate::count;
use crate::style::Style;
use crate::table::Table;
use warpbound_core::machine::memory::{CacheSettings, Fixed, Jitter, L1, LowerLevel, Partitions, Start};
use warpbound_core::machine::{self, Hazards, Machine, MemorySpec};
use warpbound_judge::load::{EmbeddedFolder, Loader};

/// A machine. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineFile {
    /// The name of the machine.
    pub name: String,
    /// A description.
    pub doc: String,
    /// What the machine was compared with and how far off it is.
    pub compared_with: String,
    /// The digest of every setting, in hexadecimal.
    pub machine_digest: String,
    /// The default policy.
    pub policy: String,
    /// The hazards for which an instruction waits.
    pub hazards: Vec<&'static str>,
    /// Whether the final `ret` takes an issue slot.
    pub exit_issues: bool,
    /// The number of warps that two-level policies keep active.
    pub two_level_active: u32,
    /// The limits of what an SM holds, in the form of machine files.
    pub limits: Value,
    /// The number of SMs.
    pub sms: usize,
    /// The number of sub-cores per SM.
    pub sub_cores: usize,
    /// The rule for the reconvergence of lanes, in the form of machine files.
    pub reconvergence: Value,
    /// What enforces the dependences of machine code, in the form of machine files.
    pub dependences: Value,
    /// The functional units.
    pub units: Vec<UnitTiming>,
    /// The op classes.
    pub ops: Vec<OpClass>,
    /// The rule for bank conflicts, in the form of machine files.
    pub shared_memory: Value,
    /// The detailed pipeline, in the form of machine files; null for the paper model.
    pub pipeline: Value,
    /// Caches and DRAM, in the form of machine files.
    pub memory: Value,
    /// The settings that have no effect.
    pub idle_settings: Vec<IdleSetting>,
    /// The machine, from which the text is made.
    #[serde(skip)]
    machine: Box<Machine>,
}

/// A setting that has no effect.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IdleSetting {
    /// The setting, as `--set` names it.
    pub path: String,
    /// The reason.
    pub reason: String,
}

/// A functional unit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnitTiming {
    /// The name of the unit.
    pub name: String,
    /// The initiation interval.
    pub init: u64,
    /// The latency after the initiation.
    pub lat: u64,
    /// Whether the sub-cores share the unit.
    pub shared: bool,
    /// The source of these numbers.
    pub source: String,
}

/// An op class.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpClass {
    /// The name of the class.
    pub class: String,
    /// The unit that executes it.
    pub unit: String,
    /// The initiation interval.
    pub init: u64,
    /// The latency after the initiation.
    pub lat: u64,
}

impl MachineFile {
    /// Returns the report of a machine and of the settings of its file that have no effect.
    pub fn new(machine: Machine, idle: Vec<machine::IdleSetting>) -> Self {
        let unit = |unit: &warpbound_core::machine::Unit| UnitTiming {
            name: unit.name.clone(),
            init: unit.init.get(),
            lat: unit.lat.get(),
            shared: unit.shared,
            source: unit.source.clone(),
        };
        let op = |(name, op): (&str, warpbound_core::machine::OpTiming)| OpClass {
            class: name.to_owned(),
            unit: machine.units()[op.unit.index()].name.clone(),
            init: op.init.get(),
            lat: op.lat.get(),
        };
        let value = |value: &dyn erased_serde::Serialize| {
            serde_json::to_value(value).expect("settings are plain data")
        };
        Self {
            name: machine.name().to_owned(),
            doc: machine.doc().to_owned(),
            compared_with: compared(&machine),
            machine_digest: format!("{:016x}", machine.digest()),
            policy: machine.policy().to_string(),
            hazards: machine.hazards().iter_names().map(|(name, _)| name).collect(),
            exit_issues: machine.exit_issues(),
            two_level_active: machine.two_level_active(),
            limits: value(machine.limits()),
            sms: machine.sms(),
            sub_cores: machine.sub_cores().count(),
            reconvergence: value(&machine.reconvergence()),
            dependences: value(&machine.dependences()),
            units: machine.units().iter().map(unit).collect(),
            ops: machine.ops().map(op).collect(),
            shared_memory: value(&machine.shared_memory()),
            pipeline: machine.pipeline().map_or(Value::Null, |pipeline| pipeline.all_settings()),
            memory: value(machine.memory()),
            idle_settings: idle
                .into_iter()
                .map(|idle| IdleSetting { path: idle.path, reason: idle.reason })
                .collect(),
            machine: Box::new(machine),
        }
    }

    pub(super) fn text(&self, file: &str, style: Style) -> String {
        let machine = &*self.machine;
        let mut text = format!("{file}: machine {}\n  {}\n\n", self.name, self.doc);
        let _ = writeln!(text, "  compared with: {}\n", self.compared_with);
        text.push_str(&settings(machine));
        let _ = write!(text, "\n{}\n{}", self.units_text(style), self.ops_text(style));
        text.push_str(&switches(machine));
        if !self.idle_settings.is_empty() {
            text.push('\n');
        }
        for IdleSetting { path, reason } in &self.idle_settings {
            let _ = writeln!(text, "  note: {path} does nothing: {reason}");
        }
        text
    }

    fn units_text(&self, style: Style) -> String {
        let mut table = Table::new(["unit", "init", "lat", "total", "source"], &[0, 4]);
        for unit in &self.units {
            let [init, lat, total] = [unit.init, unit.lat, unit.init + unit.lat].map(|n| n.to_string());
            table.row([unit.name.clone(), init, lat, total, unit.source.clone()]);
        }
        table.render(2, style.width)
    }

    fn ops_text(&self, style: Style) -> String {
        let mut table = Table::new(["op class", "unit", "init", "lat", "total"], &[0, 1]);
        for op in &self.ops {
            let [init, lat, total] = [op.init, op.lat, op.init + op.lat].map(|n| n.to_string());
            table.row([op.class.clone(), op.unit.clone(), init, lat, total]);
        }
        table.render(2, style.width)
    }
}

/// Returns what a machine was compared with; what is known of an embedded machine holds for its
/// settings only.
fn compared(machine: &Machine) -> String {
    let name = machine.name();
    let is_embedded = EmbeddedFolder::Configs.find(name).is_some()
        && Loader::disk().machine(name).is_ok_and(|embedded| embedded.digest() == machine.digest());
    match is_embedded {
        true => book::compared(name),
        false => "nothing, because these are not the settings of an embedded machine".to_owned(),
    }
}

/// Returns the settings with a single value each.
fn settings(machine: &Machine) -> String {
    let limits = machine.limits();
    let hazards = if machine.hazards().contains(Hazards::WAW) { "RAW and WAW" } else { "RAW" };
    let ret = if machine.exit_issues() { "takes an issue slot" } else { "is free" };
    let mut text = format!(
        "  policy {}, hazards {hazards}, the final ret {ret}\n  limits: {} warps, {} threads, {} blocks, {} registers, {} bytes of shared memory ({} per block)\n",
        machine.policy(),
        limits.warps,
        limits.threads,
        limits.blocks,
        limits.registers,
        limits.shared_bytes,
        limits.shared_bytes_per_block,
    );
    let cores = machine.sub_cores();
    let _ = write!(text, "  {} with {}", count(machine.sms(), "SM"), count(cores.count(), "sub-core"));
    let shared: Vec<&str> =
        machine.units().iter().filter(|unit| unit.shared).map(|unit| unit.name.as_str()).collect();
    if cores.share() {
        let _ = write!(text, " that share {}", shared.join(", "));
    }
    let _ = writeln!(
        text,
        "\n  reconvergence by {:?}, dependences of machine code by {:?}, {} active under two-level policies",
        machine.reconvergence(),
        machine.dependences(),
        count(machine.two_level_active() as usize, "warp")
    );
    match machine.shared_memory() {
        None => text.push_str("  shared memory without bank conflicts\n"),
        Some(shared) => {
            let _ = writeln!(
                text,
                "  shared memory with {} of 4-byte words, conflicts by rule {:?}",
                count(shared.banks().count as usize, "bank"),
                shared.banks().rule
            );
        }
    }
    text
}

/// The memory in the form in which it is printed, which leaves out an absent lower level.
#[derive(Serialize)]
#[serde(rename = "Memory")]
struct Reached<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    l1: Option<&'a L1>,
    #[serde(skip_serializing_if = "Option::is_none")]
    constant: Option<&'a CacheSettings>,
    lower: LowerLevel,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<&'a Fixed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partitions: Option<&'a Partitions>,
    jitter: Jitter,
    start: Start,
    seed: u64,
}

/// Returns pipeline and memory in the form of a machine file.
fn switches(machine: &Machine) -> String {
    let mut text = String::new();
    match machine.pipeline() {
        None => text.push_str("\n  pipeline: none, this is the paper model\n"),
        Some(pipeline) => {
            let _ = write!(text, "\n  pipeline (what is not shown is off): {}", ron(pipeline));
        }
    }
    let memory = machine.memory();
    if *memory == MemorySpec::default() {
        text.push_str("\n  memory: perfect\n");
    } else {
        let reached = Reached {
            l1: memory.l1.as_ref(),
            constant: memory.constant.as_ref(),
            lower: memory.lower,
            fixed: (memory.lower == LowerLevel::Fixed).then_some(&memory.fixed),
            partitions: (memory.lower == LowerLevel::Partitions).then_some(&memory.partitions),
            jitter: memory.jitter,
            start: memory.start,
            seed: memory.seed,
        };
        let _ = write!(text, "\n  memory: {}", ron(&reached));
    }
    text
}

/// Returns a value as RON, with the lines after the first indented like the report.
fn ron(value: &dyn erased_serde::Serialize) -> String {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let style = ron::ser::PrettyConfig::new().struct_names(true).compact_arrays(true);
    let text = options.to_string_pretty(value, style).expect("what was read as RON can be written");
    text.replace('\n', "\n  ") + "\n"
}
