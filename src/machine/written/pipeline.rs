//! What the paper model leaves out of an SM's pipeline, as settings.
//!
//! A machine without a `pipeline` is the paper model: an issued instruction is in its unit's queue
//! at once, and instructions are always there to issue. With one, every part is a switch of its
//! own, off unless given; with all of them off the cycles are those of the paper model.

use serde::{Deserialize, Serialize};

/// `Pipeline(..)` of a machine file. Parts that it leaves out are those of the machine it extends; a
/// part that it gives is given whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Pipeline", deny_unknown_fields, default)]
pub struct PipelineSpec {
    /// How many instructions of one warp issue in a cycle.
    #[serde(skip_serializing_if = "is_default")]
    pub issue: Issue,
    /// Where instructions come from; without it they are always there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_end: Option<FrontEnd>,
    /// How many instructions may be issued to a unit and not have started, the unit of all sub-cores if it
    /// is shared (with a collector: of each kind and sub-core, and not be in it yet); without it there is
    /// no limit. 0: an instruction issues only when its unit can start it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// How operands are read; without it they are there when an instruction issues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector: Option<Collector>,
    /// The order in which instructions for different units get collector units, by the units' names;
    /// `memory` is the load/store unit. Those left out come after the others, memory accesses before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collect: Vec<String>,
    /// Cycles between the end of an operation in its unit and its result being there, beyond the
    /// unit's latency.
    #[serde(skip_serializing_if = "is_default")]
    pub write_back: u64,
    /// Results of units that can leave in the same cycle; without it any number can. Needs a
    /// collector, which lets only one leave each unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_buses: Option<u32>,
    /// The load/store unit that all memory accesses go through; without it they run on the units
    /// of their op classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_store: Option<LoadStore>,
    /// What launching costs.
    #[serde(skip_serializing_if = "is_default")]
    pub launch: Launch,
    /// Op classes whose instructions read their destination register instead of writing it. No instruction waits for the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unscored: Vec<String>,
}

/// Issue of one sub-core. One instruction per cycle unless it is told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Issue", deny_unknown_fields, default)]
pub struct Issue {
    /// Consecutive instructions of the chosen warp in one cycle: 1, or 2 for dual issue.
    pub per_warp: u32,
    /// Whether two of them must go to different kinds of unit.
    pub distinct_units: bool,
    /// Whether another sub-core comes first in every cycle, round robin; else always the first.
    pub rotate: bool,
}

impl Default for Issue {
    fn default() -> Self {
        Self { per_warp: 1, distinct_units: true, rotate: false }
    }
}

/// Fetch and decode, one for all sub-cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "FrontEnd", deny_unknown_fields, default)]
pub struct FrontEnd {
    /// Instructions a warp's buffer holds. It is refilled, with as many consecutive ones, when it
    /// is empty.
    pub buffer: u32,
    /// Warps served per cycle, round robin.
    pub fetches: u32,
    /// The instruction cache; without it every fetch hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icache: Option<InstructionCache>,
    /// Whether a warp whose instructions are all complete ends only when fetch passes it. Fetch looks at the slots in
    /// order, from the one after the last that it served, and each time stops at the first warp that it serves. A
    /// block makes room in the cycle after its last warp has ended.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_warps: bool,
    /// Whether a fetch brings nothing from behind the end of a PTX file: of the last instruction of the file only that,
    /// and from behind it something that no warp goes on with. Else there is always something.
    #[serde(skip_serializing_if = "is_default")]
    pub stops_at_end: bool,
}

impl Default for FrontEnd {
    fn default() -> Self {
        Self { buffer: 2, fetches: 1, icache: None, ends_warps: false, stops_at_end: false }
    }
}

/// A set-associative instruction cache with LRU replacement and a fixed miss latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "InstructionCache", deny_unknown_fields, default)]
pub struct InstructionCache {
    /// Bytes of a line.
    pub line: u32,
    /// Sets.
    pub sets: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Cycles from a miss to the instruction.
    pub miss_latency: u64,
    /// Bytes of an instruction.
    pub instruction: u32,
}

impl Default for InstructionCache {
    fn default() -> Self {
        Self { line: 128, sets: 64, ways: 16, miss_latency: 200, instruction: 8 }
    }
}

/// An operand collector in front of the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Collector", deny_unknown_fields, default)]
pub struct Collector {
    /// Collector units of the SM, an equal share for each sub-core. Each holds one instruction
    /// while its operands are read.
    pub units: u32,
    /// Register banks of the SM, an equal share for each sub-core. A register with number r in its name is, for warp
    /// slot w, in bank (r + w) mod the share. A bank is read once in a step, unless it is written. An instruction reads
    /// registers with the same number, such as `%r3` and `%rd3`, once.
    pub banks: u32,
    /// Steps (hand over, read, accept) in a cycle.
    pub steps: u32,
    /// Instructions of each kind that can enter, and instructions that can leave, in a step.
    pub ports: u32,
}

impl Default for Collector {
    fn default() -> Self {
        Self { units: 8, banks: 8, steps: 1, ports: 8 }
    }
}

/// The load/store unit of the SM. It takes one instruction after the other, the oldest first
/// across sub-cores, and spends one cycle per transaction on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "LoadStore", deny_unknown_fields, default)]
pub struct LoadStore {
    /// Stages of the pipeline that shared-memory loads pass after the last bank was served.
    pub shared_latency: u32,
    /// Replies from memory that wait in the unit.
    pub replies: u32,
    /// Bytes of a transaction: 32 (a sector) or 128 (a line).
    pub transaction: u32,
    /// Whether a warp with an atomic under way issues nothing.
    pub atomics_block: bool,
    /// Whether atomics wait for the registers of their address. GPGPU-Sim's do not in PTX mode: it
    /// looks for address registers in loads and stores only.
    pub atomics_wait_for_addresses: bool,
}

impl Default for LoadStore {
    fn default() -> Self {
        Self {
            shared_latency: 24,
            replies: 2,
            transaction: 32,
            atomics_block: false,
            atomics_wait_for_addresses: true,
        }
    }
}

/// What it costs to get blocks on the SM and the result of a launch out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Launch", deny_unknown_fields, default)]
pub struct Launch {
    /// The cycle in which the first block is placed.
    #[serde(skip_serializing_if = "is_default")]
    pub first: u64,
    /// Cycles from the placement of a block to its first fetch.
    pub start: u64,
    /// Cycles from the end of the last block to the end of the launch.
    pub end: u64,
    /// Blocks placed on an SM per cycle; 0 for any number.
    pub blocks_per_cycle: u32,
    /// Which SM gets the next block.
    #[serde(skip_serializing_if = "is_default")]
    pub placement: Placement,
}

/// Which of several SMs with room gets the next block. In each round every one of them gets one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Placement {
    /// The one after the last that got one.
    #[default]
    RoundRobin,
    /// Any, in every round in another order, from ChaCha8 with this seed.
    Random(u64),
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl PipelineSpec {
    /// Every setting by name, also what is off or the default, which a file leaves out.
    pub fn all_settings(&self) -> serde_json::Value {
        // field by field, so that the compiler asks for what is added
        let Self {
            issue,
            front_end,
            queue,
            collector,
            collect,
            write_back,
            result_buses,
            load_store,
            launch,
            unscored,
        } = self;
        let front_end = front_end.map(|FrontEnd { buffer, fetches, icache, ends_warps, stops_at_end }| {
            serde_json::json!({
                "buffer": buffer, "fetches": fetches, "icache": icache, "ends_warps": ends_warps,
                "stops_at_end": stops_at_end,
            })
        });
        let Launch { first, start, end, blocks_per_cycle, placement } = launch;
        let launch = serde_json::json!({
            "first": first, "start": start, "end": end, "blocks_per_cycle": blocks_per_cycle, "placement": placement,
        });
        serde_json::json!({
            "issue": issue, "front_end": front_end, "queue": queue, "collector": collector, "collect": collect,
            "write_back": write_back, "result_buses": result_buses, "load_store": load_store, "launch": launch,
            "unscored": unscored,
        })
    }
}
