//! What a machine is once everything it extends and every default is in place.

use std::fmt::Write;

use serde::Serialize;
use serde_json::json;

use super::InspectReport;
use crate::cli::assets::{self, Location};
use crate::diag::{Diagnostic, Diagnostics, SourceText};
use crate::machine::memory::{CacheSettings, Fixed, Jitter, L1, LowerLevel, Partitions, Start};
use crate::machine::{Hazards, IdleSetting, Machine, MachineSpec, MemorySpec};
use crate::report::style::Style;
use crate::report::table::Table;
use crate::report::text::count;

/// The report of a machine file.
pub fn report(location: &Location, source: &SourceText, style: Style) -> Result<InspectReport, Diagnostics> {
    let load = |name: &str| assets::find_machine(name, Some(location))?.text();
    let spec = MachineSpec::parse_with_bases(source, &load)?;
    let machine = Machine::new(&spec, source)?;
    let idle = spec.idle_settings();
    let mut text = format!("{}: machine {}\n  {}\n\n", source.name(), machine.name(), machine.doc());
    text.push_str(&settings(&machine));
    let _ = write!(text, "\n{}\n{}", units(&machine, style), ops(&machine, style));
    text.push_str(&switches(&machine)?);
    text.push_str(&notes(&idle));
    Ok(InspectReport { text, json: json(&machine, &idle) })
}

/// The settings that are one value each.
fn settings(machine: &Machine) -> String {
    let limits = machine.limits();
    let hazards = if machine.hazards().contains(Hazards::WAW) { "RAW and WAW" } else { "RAW" };
    let ret = if machine.exit_issues() { "takes an issue slot" } else { "is free" };
    let mut text = format!(
        "  scheduler {}, hazards {hazards}, the final ret {ret}\n  limits: {} warps, {} threads, {} blocks, {} registers, {} bytes of shared memory ({} per block)\n",
        machine.scheduler(),
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
        "\n  lanes that diverged meet by {:?}, two-level policies keep {} active",
        machine.reconvergence(),
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

fn units(machine: &Machine, style: Style) -> String {
    let mut table = Table::new(["unit", "init", "lat", "total", "source"], &[0, 4]);
    for unit in machine.units() {
        let total = (unit.init + unit.lat).to_string();
        let (init, lat) = (unit.init.to_string(), unit.lat.to_string());
        table.row([unit.name.clone(), init, lat, total, unit.source.clone()]);
    }
    table.render(2, style.width)
}

fn ops(machine: &Machine, style: Style) -> String {
    let mut table = Table::new(["op class", "unit", "init", "lat", "total"], &[0, 1]);
    for (name, op) in machine.ops() {
        let unit = machine.units()[op.unit.index()].name.clone();
        let total = (op.init + op.lat).to_string();
        table.row([name.to_owned(), unit, op.init.to_string(), op.lat.to_string(), total]);
    }
    table.render(2, style.width)
}

/// The memory as text: without a lower level that is not there.
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

/// Pipeline and memory as a machine file has them.
fn switches(machine: &Machine) -> Result<String, Diagnostics> {
    let mut text = String::new();
    match machine.pipeline() {
        None => text.push_str("\n  pipeline: none, this is the paper model\n"),
        Some(pipeline) => {
            let _ = write!(text, "\n  pipeline (what is not shown is off): {}", ron(pipeline)?);
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
        let _ = write!(text, "\n  memory: {}", ron(&reached)?);
    }
    Ok(text)
}

/// As RON, lines after the first indented as the report is.
fn ron(value: &dyn erased_serde::Serialize) -> Result<String, Diagnostics> {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let style = ron::ser::PrettyConfig::new().struct_names(true).compact_arrays(true);
    let text = options
        .to_string_pretty(value, style)
        .map_err(|error| Diagnostic::general("machine", error.to_string()))?;
    Ok(text.replace('\n', "\n  ") + "\n")
}

fn notes(idle: &[IdleSetting]) -> String {
    if idle.is_empty() {
        return String::new();
    }
    idle.iter().fold("\n".to_owned(), |text, setting| text + &format!("  note: {setting}\n"))
}

fn json(machine: &Machine, idle: &[IdleSetting]) -> serde_json::Value {
    let unit = |unit: &crate::machine::Unit| {
        json!({
            "name": unit.name, "init": unit.init.get(), "lat": unit.lat.get(), "shared": unit.shared, "source": unit.source,
        })
    };
    let op = |(name, op): (&str, crate::machine::OpTiming)| {
        let unit = &machine.units()[op.unit.index()].name;
        json!({"class": name, "unit": unit, "init": op.init.get(), "lat": op.lat.get()})
    };
    let hazards: Vec<&str> = machine.hazards().iter_names().map(|(name, _)| name).collect();
    json!({
        "kind": "machine", "name": machine.name(), "doc": machine.doc(), "digest": format!("{:016x}", machine.digest()),
        "scheduler": machine.scheduler().to_string(), "hazards": hazards, "exit_issues": machine.exit_issues(),
        "two_level_active": machine.two_level_active(), "limits": machine.limits(),
        "sms": machine.sms(), "sub_cores": machine.sub_cores().count(), "reconvergence": machine.reconvergence(),
        "units": machine.units().iter().map(unit).collect::<Vec<_>>(),
        "ops": machine.ops().map(op).collect::<Vec<_>>(),
        "shared_memory": machine.shared_memory(),
        "pipeline": machine.pipeline().map(|pipeline| pipeline.all_settings()),
        "memory": machine.memory(),
        "idle_settings": idle.iter().map(|setting| json!({"path": setting.path, "reason": setting.reason})).collect::<Vec<_>>(),
    })
}
