//! A machine file, but for its larger parts.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::memory::MemorySpec;
use super::pipeline::PipelineSpec;
use super::scheduler::SchedulerKind;
use super::shared_memory::SharedMemorySpec;
use crate::diag::{Diagnostics, SourceText, from_ron, unique_keys};

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
    pub memory: Option<MemorySpec>,
    /// What the paper model leaves out of the SM's pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineSpec>,
    /// SMs that share the blocks of a launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sms: Option<u32>,
    /// Bank conflicts of shared memory; there are none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemorySpec>,
    /// How lanes of a warp that diverged meet again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconvergence: Option<Reconvergence>,
    /// What holds an instruction back until what it needs is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependences: Option<Dependences>,
}

/// What holds an instruction back until what it needs is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dependences {
    /// A scoreboard of registers, which checks [`MachineSpec::hazards`].
    #[default]
    Scoreboard,
    /// The control codes of machine code: stall counts and barriers, whatever the registers. Code without them
    /// has the scoreboard.
    ControlCodes,
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

/// Limits of the SM; see [`crate::machine::Limits`].
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
}
