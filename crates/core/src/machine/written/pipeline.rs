//! The settings of the pipeline of an SM that the paper model leaves out.
//!
//! A machine without a `pipeline` is the paper model: an issued instruction enters its unit's queue
//! at once, and the next instruction is always available. With a `pipeline`, each part is a
//! separate switch that is off by default; with all of them off, the cycles are those of the paper
//! model.

use super::{is_default, is_one};
use serde::{Deserialize, Serialize};

/// The `Pipeline(..)` of a machine file. Parts that it omits are inherited from the machine it
/// extends; a part that it contains replaces the inherited one as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Pipeline", deny_unknown_fields, default)]
pub struct PipelineSpec {
    /// How a sub-core issues instructions.
    #[serde(skip_serializing_if = "is_default")]
    pub issue: Issue,
    /// The fetch and decode stages. By default instructions are always available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_end: Option<FrontEnd>,
    /// The instruction caches of an SM of Turing or later, with their prefetcher. They take the
    /// place of `front_end`. By default instructions are always available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_caches: Option<InstructionCaches>,
    /// The maximum number of instructions that have been issued to a unit and have not started. A
    /// shared unit has one limit for all sub-cores. By default there is no limit. With 0, an
    /// instruction issues only when its unit can start it. With a collector the limit does not count
    /// in the simulation: each kind of unit in each sub-core then has room for one instruction that
    /// has not entered the collector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// The operand collector. By default operands are available when an instruction issues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collector: Option<Collector>,
    /// The banks of registers of a sub-core of Turing or later, with their read ports and the cache
    /// that the reuse bits of machine code fill. They count only for machine code: the registers of
    /// PTX have no place in a bank yet. By default all operands can be read at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub register_file: Option<RegisterFile>,
    /// The order in which instructions for different units are assigned collector units, as a list
    /// of names of units; `memory` is the load/store unit. Units that are not listed come after the
    /// listed ones, except for `memory`, which then comes before all others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collect: Vec<String>,
    /// The number of cycles between the end of an operation in its unit and the availability of its
    /// result, in addition to the unit's latency.
    #[serde(skip_serializing_if = "is_default")]
    pub write_back: u64,
    /// The maximum number of results that can leave units in the same cycle; by default there is no
    /// limit. It requires a collector, which lets only one result leave each unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_buses: Option<u32>,
    /// The load/store unit that all memory accesses use. By default they run on the units of their
    /// op classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_store: Option<LoadStore>,
    /// The cost of launching.
    #[serde(skip_serializing_if = "is_default")]
    pub launch: Launch,
    /// The op classes whose instructions read their destination register instead of writing it, so
    /// that no instruction waits for their results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unscored: Vec<String>,
}

/// The issue stage of one sub-core. By default it issues one instruction per cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Issue", deny_unknown_fields, default)]
pub struct Issue {
    /// The maximum number of consecutive instructions that the selected warp issues in one cycle:
    /// 1, or 2 for dual issue.
    pub per_warp: u32,
    /// Whether two instructions that issue together must use different kinds of units.
    pub distinct_units: bool,
    /// Whether the sub-core with the highest priority changes every cycle (round robin); otherwise
    /// it is always the first.
    pub rotate: bool,
}

impl Default for Issue {
    fn default() -> Self {
        Self { per_warp: 1, distinct_units: true, rotate: false }
    }
}

/// The fetch and decode stages, shared by all sub-cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "FrontEnd", deny_unknown_fields, default)]
pub struct FrontEnd {
    /// The number of instructions in a warp's buffer. When it is empty, it is refilled with this
    /// number of consecutive instructions.
    pub buffer: u32,
    /// The number of warps that are served per cycle, in round robin order.
    pub fetches: u32,
    /// The instruction cache. By default every fetch hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icache: Option<InstructionCache>,
    /// Whether a warp whose instructions are all complete terminates only when fetch reaches its
    /// slot. Fetch visits the slots in order, beginning after the slot that it served last, and
    /// stops at the first warp that it serves. A block frees its resources in the cycle after its
    /// last warp has terminated.
    #[serde(skip_serializing_if = "is_default")]
    pub ends_warps: bool,
    /// Whether the end of a PTX file limits fetching: a fetch returns no instructions after the
    /// last one of the file, and a fetch that begins after the end returns one that no warp
    /// executes. Otherwise there are always further instructions.
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "InstructionCache", deny_unknown_fields, default)]
pub struct InstructionCache {
    /// The size of a line in bytes.
    pub line: u32,
    /// The number of sets.
    pub sets: u32,
    /// The number of lines per set.
    pub ways: u32,
    /// The number of cycles from a miss to the arrival of the instruction.
    pub miss_latency: u64,
    /// The size of an instruction in bytes.
    pub instruction: u32,
}

impl Default for InstructionCache {
    fn default() -> Self {
        Self { line: 128, sets: 64, ways: 16, miss_latency: 200, instruction: 8 }
    }
}

/// Two levels of instruction caches: an L0 in each sub-core and an L1 of the SM. The memory behind the
/// L1 has all code.
///
/// The instruction buffers of the warps are not simulated: a warp has the rest of the line that it
/// is in. When it goes on to another line, it waits until the line has arrived in the L0. A line
/// that misses the L0, and each line that was prefetched and is used for the first time, make the
/// prefetcher request the lines behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "InstructionCaches", deny_unknown_fields, default)]
pub struct InstructionCaches {
    /// The size of a line in bytes.
    pub line: u32,
    /// The size of an instruction in bytes.
    pub instruction: u32,
    /// The L0 of a sub-core.
    pub l0: CodeCache,
    /// The L1 of the SM.
    pub l1: CodeCache,
    /// The number of cycles from a request of an L0 to the arrival of the line, if the L1 has it.
    pub l1_latency: u64,
    /// The number of cycles between two lines that the L1 returns to the sub-cores together.
    pub l1_interval: u64,
    /// The number of cycles that a miss of the L1 adds.
    pub lower_latency: u64,
    /// The number of cycles between two lines that the memory behind the L1 returns.
    pub lower_interval: u64,
    /// The number of lines that are prefetched behind a requested one. With 0 there is no
    /// prefetcher.
    pub prefetch: u32,
    /// Whether the L1 has the code when a launch begins, as after an earlier launch of the same
    /// kernel. If the code is larger than the L1, its end is there. The L0 are always empty then.
    #[serde(skip_serializing_if = "is_default")]
    pub warm: bool,
    /// The number of cycles from the issue of a jump to the first possible issue of its target: a
    /// jump is whatever is followed by another instruction than the next one in the code.
    pub jump: u64,
}

/// The size of a cache of code, with LRU replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "CodeCache", deny_unknown_fields)]
pub struct CodeCache {
    /// The number of sets.
    pub sets: u32,
    /// The number of lines per set.
    pub ways: u32,
}

impl Default for InstructionCaches {
    fn default() -> Self {
        Self {
            line: 128,
            instruction: 16,
            l0: CodeCache { sets: 8, ways: 32 },
            l1: CodeCache { sets: 64, ways: 16 },
            l1_latency: 40,
            l1_interval: 1,
            lower_latency: 200,
            lower_interval: 4,
            prefetch: 8,
            warm: false,
            jump: 1,
        }
    }
}

/// An operand collector in front of the units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Collector", deny_unknown_fields, default)]
pub struct Collector {
    /// The number of collector units of the SM, of which each sub-core has an equal share. Each
    /// holds one instruction while its operands are read.
    pub units: u32,
    /// The number of register banks of the SM, of which each sub-core has an equal share. For warp
    /// slot w, a register with the number r in its name is in bank (r + w) mod the share. A bank is
    /// read once per step, unless it is written. An instruction reads registers with the same
    /// number, such as `%r3` and `%rd3`, only once.
    pub banks: u32,
    /// The number of steps (dispatch, read, accept) per cycle.
    pub steps: u32,
    /// The number of instructions of each kind that can enter the collector, and the number of
    /// instructions that can leave it, per step.
    pub ports: u32,
}

impl Default for Collector {
    fn default() -> Self {
        Self { units: 8, banks: 8, steps: 1, ports: 8 }
    }
}

/// The register banks of each sub-core, without an operand collector.
///
/// An instruction of machine code that has a fixed latency and a unit of its sub-core has to read
/// its operands within a number of cycles. If the ports are not free enough for that, the sub-core
/// holds the instruction and issues nothing until they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "RegisterFile", deny_unknown_fields, default)]
pub struct RegisterFile {
    /// The number of banks of a sub-core. Register r is in bank r mod this number.
    pub banks: u32,
    /// The number of registers that can be read from a bank per cycle.
    pub ports: u32,
    /// The number of cycles in which an instruction reads its operands. One with more registers in a
    /// bank than can be read in that time takes the cycles that it needs.
    pub window: u32,
    /// The number of cycles in which an instruction with an operand of four registers reads its
    /// operands, as products of matrices do.
    pub wide_window: u32,
    /// Whether a register is kept in a cache if its operand has the reuse bit. The cache has an entry
    /// for each bank and operand slot. The next read of this slot and bank removes it, and uses no
    /// port if it is of the same warp and register.
    pub cache: bool,
}

impl RegisterFile {
    /// The largest number of banks of a sub-core.
    pub const MOST_BANKS: u32 = 16;
}

impl Default for RegisterFile {
    fn default() -> Self {
        Self { banks: 2, ports: 1, window: 3, wide_window: 6, cache: true }
    }
}

/// The queues in which accesses wait for the load/store unit. `pipeline.queue` limits each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum AccessQueues {
    /// One queue, in which the accesses of all sub-cores wait in the order of their issue.
    #[default]
    One,
    /// One queue for each sub-core. The unit serves the queues in turn.
    BySubCore,
}

/// The load/store unit of the SM. It serves instructions one after the other, the oldest of all
/// sub-cores first unless they have queues of their own. It spends one cycle on each transaction, or
/// `shared_interval` cycles on one of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "LoadStore", deny_unknown_fields, default)]
pub struct LoadStore {
    /// The number of pipeline stages that a shared-memory load passes after the last bank has been
    /// served.
    pub shared_latency: u32,
    /// The number of cycles for which a transaction of shared memory occupies the unit.
    #[serde(skip_serializing_if = "is_one")]
    pub shared_interval: u32,
    /// The number of cycles by which each transaction of a shared-memory load beyond the first delays
    /// its result, in addition to those for which the transaction occupies the unit.
    #[serde(skip_serializing_if = "is_default")]
    pub conflict_latency: u32,
    /// The number of cycles that an atomic of shared memory takes longer than a load.
    #[serde(skip_serializing_if = "is_default")]
    pub shared_atomic_latency: u32,
    /// The queues of accesses that have issued and not started, on a machine without a collector.
    #[serde(skip_serializing_if = "is_default")]
    pub queues: AccessQueues,
    /// The number of cycles for which each transaction of a load or store of global or local memory
    /// occupies the address unit of its sub-core, which handles one access after the other. The unit
    /// takes an access when it can send one of its transactions per cycle. 0 if addresses take no
    /// time.
    #[serde(skip_serializing_if = "is_default")]
    pub address_interval: u32,
    /// The maximum number of replies from memory that wait in the unit.
    pub replies: u32,
    /// The size of a transaction in bytes: 32 (a sector) or 128 (a line).
    pub transaction: u32,
    /// The number of cycles for which each transaction of a store or an atomic of global or local memory
    /// occupies the unit.
    #[serde(skip_serializing_if = "is_one")]
    pub data_interval: u32,
    /// Whether a warp with an atomic operation in flight cannot issue.
    pub atomics_block: bool,
    /// Whether atomic operations wait for the registers of their address. In GPGPU-Sim's PTX mode
    /// they do not, since it detects address registers only in loads and stores.
    pub atomics_wait_for_addresses: bool,
    /// The number of pipeline stages that a load of a constant or a parameter passes after the
    /// constant cache, or at once if constants are not cached.
    #[serde(skip_serializing_if = "is_default")]
    pub constant_latency: u32,
    /// The number of cycles for which each address of a load of constants or parameters beyond the first
    /// one occupies the unit, if its lanes have different addresses.
    #[serde(skip_serializing_if = "is_default")]
    pub constant_interval: u32,
    /// The number of cycles from the last transaction of an instruction to the moment when its
    /// sources count as read, for which the barriers of control codes wait.
    #[serde(skip_serializing_if = "is_default")]
    pub read_latency: u32,
    /// Whether kernel parameters are available from the start of a launch, even if constants go
    /// through a cache (`memory.constant`).
    #[serde(skip_serializing_if = "is_default")]
    pub parameters_ready: bool,
}

impl Default for LoadStore {
    fn default() -> Self {
        Self {
            shared_latency: 24,
            shared_interval: 1,
            conflict_latency: 0,
            shared_atomic_latency: 0,
            queues: AccessQueues::One,
            address_interval: 0,
            replies: 2,
            transaction: 32,
            data_interval: 1,
            atomics_block: false,
            atomics_wait_for_addresses: true,
            constant_latency: 0,
            constant_interval: 0,
            read_latency: 0,
            parameters_ready: false,
        }
    }
}

/// The cost of placing blocks on the SM and of completing a launch, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Launch", deny_unknown_fields, default)]
pub struct Launch {
    /// The cycle in which the first block is placed.
    #[serde(skip_serializing_if = "is_default")]
    pub first: u64,
    /// The number of cycles from the placement of a block to its first fetch.
    pub start: u64,
    /// The number of cycles after the end of a block in which its place can receive no other block: the
    /// SM reports that the place is free, and receives the block.
    #[serde(skip_serializing_if = "is_default")]
    pub refill: u64,
    /// The number of cycles from the end of the last block to the end of the launch.
    pub end: u64,
    /// The number of blocks that are placed on an SM per cycle; 0 means any number.
    pub blocks_per_cycle: u32,
    /// The number of blocks that are placed on all SMs together per cycle; 0 means any number.
    #[serde(skip_serializing_if = "is_default")]
    pub total_blocks_per_cycle: u32,
    /// The choice of the SM that receives the next block.
    #[serde(skip_serializing_if = "is_default")]
    pub placement: Placement,
}

/// The choice of the SM that receives the next block among those that have room. In each round,
/// each of them receives one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Placement {
    /// Round robin: the SM after the one that received the last block.
    #[default]
    RoundRobin,
    /// A random SM, in a new order in each round, drawn from ChaCha8 with this seed.
    Random(u64),
}

impl PipelineSpec {
    /// Returns all settings by name, including those with default values, which a file omits.
    pub fn all_settings(&self) -> serde_json::Value {
        // destructured, so that a new field does not compile until it is added here
        let Self {
            issue,
            front_end,
            instruction_caches,
            queue,
            collector,
            register_file,
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
        let Launch { first, start, refill, end, blocks_per_cycle, total_blocks_per_cycle, placement } =
            launch;
        let launch = serde_json::json!({
            "first": first, "start": start, "refill": refill, "end": end, "blocks_per_cycle": blocks_per_cycle,
            "total_blocks_per_cycle": total_blocks_per_cycle, "placement": placement,
        });
        serde_json::json!({
            "issue": issue, "front_end": front_end, "instruction_caches": instruction_caches, "queue": queue, "collector": collector,
            "register_file": register_file, "collect": collect, "write_back": write_back, "result_buses": result_buses, "load_store": load_store, "launch": launch,
            "unscored": unscored,
        })
    }
}
