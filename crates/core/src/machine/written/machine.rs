//! The content of a machine file, except for its larger parts.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::memory::MemorySpec;
use super::pipeline::PipelineSpec;
use super::policy::PolicyKind;
use super::shared_memory::SharedMemorySpec;
use crate::diag::{Diagnostics, SourceText, Stated, from_ron_stated, unique_keys};

/// The content of a `configs/*.ron` file. Every setting is optional; its default is that of the
/// machine it extends, or that of the paper model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Machine", deny_unknown_fields, default)]
pub struct MachineSpec {
    /// The machine's name; every file must have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A description of the machine and of the source of its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<String>,
    /// The machine from which omitted settings are inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extends: Option<String>,
    /// The warp scheduling policy.
    #[serde(alias = "scheduler", skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyKind>,
    /// The register hazards that prevent an instruction from issuing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hazards: Option<Vec<Hazard>>,
    /// The functional units by name.
    #[serde(deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, UnitSpec>,
    /// The mapping of op classes, or families of them (`int` covers `int.add`), to units.
    #[serde(deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub ops: BTreeMap<String, OpSpec>,
    /// The limits of the SM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitsSpec>,
    /// Whether the `ret` that terminates a warp takes an issue slot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_issues: Option<bool>,
    /// The size of the two-level policy's active set in warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_level_active: Option<u32>,
    /// The frequency of the SMs' clock in kHz. It changes no cycle: reports state times in microseconds
    /// beside cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u32>,
    /// The settings whose values are fitted to measurements, each by its name as in `--set`, with the
    /// measurement. The values of all others come from the sources that the file states.
    #[serde(deserialize_with = "unique_keys", skip_serializing_if = "BTreeMap::is_empty")]
    pub fitted: BTreeMap<String, String>,
    /// The number of sub-cores (1 to 4), each with its own scheduler, issue slot and units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_cores: Option<u32>,
    /// The memory behind the load/store unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySpec>,
    /// The details of the SM's pipeline that the paper model leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineSpec>,
    /// The number of SMs that share the blocks of a launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sms: Option<u32>,
    /// The bank conflicts of shared memory; there are none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_memory: Option<SharedMemorySpec>,
    /// How diverged lanes of a warp reconverge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reconvergence: Option<Reconvergence>,
    /// What makes an instruction wait for its operands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependences: Option<Dependences>,
}

/// The mechanism that makes an instruction wait for its operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Dependences {
    /// A scoreboard of registers, which checks `hazards`.
    #[default]
    Scoreboard,
    /// The control codes of machine code, that is, stall counts and barriers, regardless of
    /// registers. Code without control codes uses the scoreboard.
    ControlCodes,
}

/// The mechanism by which diverged lanes of a warp reconverge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Reconvergence {
    /// At the immediate post-dominator of the branch.
    #[default]
    PostDominator,
    /// At the points that Pascal's SSY, PBK, SYNC and BRK determine (Adalbert et al., ERTS 2022,
    /// section III.A).
    PascalStack,
}

/// A register hazard that the scoreboard checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Hazard {
    /// Read after write.
    Raw,
    /// Write after write.
    Waw,
}

/// A functional unit and its timing in cycles.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Unit", deny_unknown_fields)]
pub struct UnitSpec {
    /// The initiation interval: the number of cycles between two starts, at least 1.
    pub init: u64,
    /// The number of cycles from the end of the initiation to the result.
    pub lat: u64,
    /// Whether all sub-cores share one unit, rather than having one each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The source of the numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// The unit of an op class and, if it differs from that of the unit, the timing.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum OpSpec {
    /// The unit with this name and its timing.
    Unit(String),
    /// A unit with a timing that belongs to the op class.
    Timed(TimedOpSpec),
}

/// `Op(unit: .., init: .., lat: ..)`; omitted numbers are those of the unit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Op", deny_unknown_fields)]
pub struct TimedOpSpec {
    /// The name of the unit.
    pub unit: String,
    /// The initiation interval in cycles, at least 1. If it is omitted, it is that of the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<u64>,
    /// The number of cycles from the end of the initiation to the result. If it is omitted, it is
    /// that of the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat: Option<u64>,
    /// The source of the numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// The resources of one SM.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Limits", deny_unknown_fields, default)]
pub struct LimitsSpec {
    /// The number of resident warps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warps: Option<u32>,
    /// The number of resident threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The number of resident blocks. Machines of the paper model hold one block at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// The number of 32-bit registers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<u32>,
    /// The shared memory of the SM in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u32>,
    /// The shared memory that one block may use in bytes.
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
    /// Parses a machine file.
    ///
    /// # Errors
    /// The text is not a machine, or the machine has no name; the diagnostic has the location.
    pub fn parse(source: &SourceText) -> Result<Self, Diagnostics> {
        Self::parse_stated(source).map(|(spec, _)| spec)
    }

    /// Parses a machine file, and returns also which settings it states.
    ///
    /// # Errors
    /// Returns the errors of [`Self::parse`].
    pub(in crate::machine) fn parse_stated(source: &SourceText) -> Result<(Self, Stated), Diagnostics> {
        let (spec, stated): (Self, Stated) = from_ron_stated(source)?;
        if spec.name.is_none() {
            let diagnostic =
                source.error_at("Machine", "the machine has no name").hint("add `name: \"...\"`");
            return Err(diagnostic.into());
        }
        Ok((spec, stated))
    }
}
