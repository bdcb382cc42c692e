//! Machine files as people write them, before validation.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::memory::MemorySystem;
use super::merge::{from_json, lay, said, to_json};
use super::pipeline::Pipeline;
use super::scheduler::SchedulerKind;
use super::setting::Setting;
use super::shared_memory::SharedMemorySpec;
use crate::diag::{Diagnostic, Diagnostics, SourceText, from_ron, unique_keys};
use crate::isa::GLOBAL_LOAD;

/// The contents of a `configs/*.ron`. Every field may be left to the machine it extends or to the
/// paper model's default.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "Machine", deny_unknown_fields, default)]
pub struct MachineSpec {
    /// The machine's name; a file must give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it models and where its numbers come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// The machine whose settings hold where this one says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// Warp scheduling policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerKind>,
    /// Which register hazards hold an instruction back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hazards: Option<Vec<Hazard>>,
    /// Functional units by name.
    #[serde(deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, UnitSpec>,
    /// Op classes, or families of them (`int` covers `int.add`), to units.
    #[serde(deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub ops: BTreeMap<String, OpSpec>,
    /// Limits of the SM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsSpec>,
    /// Whether the `ret` that ends a warp takes an issue slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_issues: Option<bool>,
    /// Size of the two-level policy's active set, warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_level_active: Option<u32>,
    /// Sub-cores, each with its own scheduler, issue slot and units; 1 to 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_cores: Option<u32>,
    /// The memory behind the load/store unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySystem>,
    /// What the paper model leaves out of the SM's pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Pipeline>,
    /// SMs that share the blocks of a launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sms: Option<u32>,
    /// Bank conflicts of shared memory; there are none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemorySpec>,
    /// How lanes of a warp that diverged meet again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconvergence: Option<Reconvergence>,
}

/// How lanes of a warp that diverged meet again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reconvergence {
    /// At the immediate post-dominator of the branch.
    #[default]
    PostDominator,
    /// Where Pascal's SSY, PBK, SYNC and BRK say (Adalbert et al., ERTS 2022, section III.A).
    PascalStack,
}

/// A register hazard that the scoreboard checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hazard {
    /// Read after write.
    Raw,
    /// Write after write.
    Waw,
}

/// A functional unit: cycles between two starts, cycles from the end of the start to the result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename = "Unit", deny_unknown_fields)]
pub struct UnitSpec {
    /// Initiation interval, at least 1.
    pub init: u64,
    /// Latency after the initiation.
    pub lat: u64,
    /// One unit for all sub-cores, instead of one for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Where the numbers come from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Where an op class runs.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum OpSpec {
    /// On this unit with the unit's timing.
    Unit(String),
    /// On this unit with its own timing.
    Timed(TimedOpSpec),
}

/// `Op(unit: .., init: .., lat: ..)`; what is left out is the unit's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "Op", deny_unknown_fields)]
pub struct TimedOpSpec {
    /// The unit's name.
    pub unit: String,
    /// Initiation interval, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<u64>,
    /// Latency after the initiation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<u64>,
    /// Where the numbers come from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Limits of the SM; see [`super::Limits`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "Limits", deny_unknown_fields, default)]
#[allow(missing_docs, reason = "as in Limits")]
pub struct LimitsSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes_per_block: Option<u32>,
}

impl<'de> Deserialize<'de> for OpSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OpVisitor;

        impl<'de> Visitor<'de> for OpVisitor {
            type Value = OpSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a unit's name or Op(unit: .., init: .., lat: ..)")
            }

            fn visit_str<E: de::Error>(self, unit: &str) -> Result<OpSpec, E> {
                Ok(OpSpec::Unit(unit.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OpSpec, A::Error> {
                TimedOpSpec::deserialize(de::value::MapAccessDeserializer::new(map)).map(OpSpec::Timed)
            }
        }

        deserializer.deserialize_any(OpVisitor)
    }
}

impl MachineSpec {
    /// Reads a machine file.
    ///
    /// # Errors
    /// Where the text stops being a machine.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        let spec: Self = from_ron(source)?;
        if spec.name.is_none() {
            let diagnostic =
                source.error_at("Machine", "the machine has no name").hint("add `name: \"...\"`");
            return Err(diagnostic.into());
        }
        Ok(spec)
    }

    /// Reads a machine file and everything it extends, the base first in effect: what the file
    /// itself says wins. `load` finds a machine by name or path.
    ///
    /// # Errors
    /// What is wrong in any of the files, or a circle of `extends`.
    pub fn parse_with_bases(
        source: &SourceText,
        load: &dyn Fn(&str) -> Result<SourceText, Diagnostics>,
    ) -> Result<Self, Diagnostics> {
        let first = Self::parse(source)?;
        let mut chain = vec![said(source, &first)?];
        let mut names = vec![source.name().to_owned()];
        let mut extends = first.extends;
        while let Some(base) = extends {
            let text = load(&base)?;
            if names.iter().any(|name| name == text.name()) {
                let message =
                    format!("`extends` runs in a circle: {} extends {base} again", names.join(" extends "));
                return Err(source.error_at("extends", message).into());
            }
            names.push(text.name().to_owned());
            let spec = Self::parse(&text)?;
            chain.push(said(&text, &spec)?);
            extends = spec.extends;
        }
        let mut merged = serde_json::Map::new();
        for said in chain.into_iter().rev() {
            lay(&mut merged, said);
        }
        // what the bases said is part of it now
        merged.remove("extends");
        from_json(merged).map_err(|error| source.error_at("Machine", error).into())
    }

    /// The same machine with a global load taking `total` cycles from its start to its result.
    ///
    /// Everything that runs on the same unit with the unit's own timing moves along.
    ///
    /// # Errors
    /// If the machine has no global loads, or their initiation alone takes longer.
    pub fn with_memory_latency(mut self, total: u64) -> Result<Self, Diagnostic> {
        let place = format!("--mem-latency {total}");
        if self.pipeline.as_ref().is_some_and(|pipeline| pipeline.load_store.is_some()) {
            let message = "on this machine memory is behind a load/store unit and has no such latency";
            return Err(Diagnostic::general(place, message)
                .hint("for example --set memory.lower=Fixed --set memory.fixed.latency=200"));
        }
        let none =
            || Diagnostic::general(place.clone(), format!("this machine maps no op class `{GLOBAL_LOAD}`"));
        let op = self.ops.get_mut(GLOBAL_LOAD).ok_or_else(none)?;
        let unit = match op {
            OpSpec::Unit(unit) => unit.clone(),
            OpSpec::Timed(timed) => timed.unit.clone(),
        };
        let unit = self.units.get_mut(&unit).ok_or_else(none)?;
        let (init, lat) = match op {
            OpSpec::Timed(TimedOpSpec { init, lat: Some(lat), .. }) => (init.unwrap_or(unit.init), lat),
            OpSpec::Timed(TimedOpSpec { init, lat: None, .. }) => (init.unwrap_or(unit.init), &mut unit.lat),
            OpSpec::Unit(_) => (unit.init, &mut unit.lat),
        };
        *lat = total.checked_sub(init).ok_or_else(|| {
            Diagnostic::general(
                place.clone(),
                format!("the initiation of a global load alone takes {init} cycles"),
            )
        })?;
        Ok(self)
    }

    /// The same machine with settings of the command line applied, in order.
    ///
    /// # Errors
    /// A setting whose path or value does not fit.
    pub fn with_settings(self, settings: &[Setting]) -> Result<Self, Diagnostics> {
        let mut value = to_json(&self);
        let mut problems = Diagnostics::new();
        for setting in settings {
            let before = value.clone();
            let applied = setting.apply(&mut value).and_then(|()| {
                from_json(value.clone()).map(|_| ()).map_err(|e| Diagnostic::general(setting.place(), e))
            });
            if let Err(problem) = applied {
                value = before;
                problems.push(problem);
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        from_json(value).map_err(|error| Diagnostic::general("--set", error).into())
    }
}
