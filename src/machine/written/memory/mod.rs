//! The memory behind the load/store unit, as settings: caches, interconnect, L2, DRAM.
//!
//! Times are core cycles unless a field says otherwise. A transaction covers sectors of 32 bytes
//! of one line of 128 bytes; that much is fixed. A machine that says nothing about `memory` has a
//! perfect one: every transaction is answered at once.

mod cache;
mod dram;

pub use cache::{CacheSettings, Index, L1, Replacement, Split, WriteMiss, WritePolicy};
pub use dram::{Dram, DramScheduler};

use serde::{Deserialize, Serialize};

/// Bytes of a sector, the smallest transaction.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of the line a transaction lies in.
pub const LINE_BYTES: u64 = 128;

/// `Memory(..)` of a machine file. Parts that it leaves out are those of the machine it extends; a
/// part that it gives is given whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Memory", deny_unknown_fields, default)]
pub struct MemorySpec {
    /// The data cache of each SM; without it everything goes to the lower level.
    pub l1: Option<L1>,
    /// The cache of each SM for constants and parameters; without it they are always there. It is
    /// looked up once per line and cycle, as in GPGPU-Sim 4.2, whose own is perfect by default.
    pub constant: Option<CacheSettings>,
    /// What is behind the SMs.
    pub lower: LowerLevel,
    /// The lower level of kind `Fixed`.
    pub fixed: Fixed,
    /// The lower level of kind `Partitions`.
    pub partitions: Partitions,
    /// Random additions to the latency of the lower level: of `Fixed`, or of DRAM.
    pub jitter: Jitter,
    /// What a launch finds.
    pub start: Start,
    /// Seed of everything random here: jitter and random replacement.
    pub seed: u64,
}

/// The kind of memory behind the SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LowerLevel {
    /// Every transaction is answered at once.
    #[default]
    Perfect,
    /// A fixed latency and a bandwidth.
    Fixed,
    /// Interconnect, memory partitions with L2, DRAM.
    Partitions,
}

/// What a launch finds behind the SMs: the contents of the L2, the open rows of DRAM, the phases of the clocks, whose
/// turn it is. An L1 always begins empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// An L2 that holds nothing, and DRAM at rest: each launch as if it were the first.
    #[default]
    Cold,
    /// The same, but for an L2 that holds the launch's buffers, as if they had just been copied there.
    Warm,
    /// What the launch before it in the application has left. The first launch finds what `Cold` says.
    Left,
    /// What the launch before it has left, and what has been copied to the L2 since. The first launch finds what
    /// `Warm` says.
    LeftAndCopied,
}

impl Start {
    /// Whether a launch depends on the launch before it.
    pub fn is_left(self) -> bool {
        matches!(self, Self::Left | Self::LeftAndCopied)
    }

    /// Whether copies of the host leave their data in the L2.
    pub fn copies(self) -> bool {
        matches!(self, Self::Warm | Self::LeftAndCopied)
    }
}

/// A lower level of fixed latency, shared by all SMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Fixed", deny_unknown_fields, default)]
pub struct Fixed {
    /// Cycles from a transaction to its reply.
    pub latency: u64,
    /// Transactions accepted per cycle.
    pub per_cycle: u32,
    /// Whether transactions overlap. If not, one is accepted when all before it are answered.
    pub pipelined: bool,
}

impl Default for Fixed {
    fn default() -> Self {
        Self { latency: 100, per_cycle: 1, pipelined: true }
    }
}

/// Memory partitions behind a crossbar. Each has a DRAM channel and a few L2 slices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Partitions", deny_unknown_fields, default)]
pub struct Partitions {
    /// DRAM channels.
    pub channels: u32,
    /// L2 slices of each channel.
    pub slices: u32,
    /// The channel is `address >> channel_bit` mod `channels`; those bits are then taken out.
    pub channel_bit: u32,
    /// The slice is what is left `>> slice_bit`, mod `slices`.
    pub slice_bit: u32,
    /// What is done to the number of the slice, to spread strides.
    pub spread: Index,
    /// Address bits above the slice's number that take part in that, from the lowest: all where it is 64.
    pub spread_bits: u32,
    /// Clocks of the crossbar and the L2 in core cycles: `clock.0` ticks in `clock.1` cycles.
    pub clock: (u32, u32),
    /// Packets that wait at each end of the crossbar.
    pub crossbar_queue: u32,
    /// Replies that wait at an SM.
    pub ejection_queue: u32,
    /// Ticks that a request spends at the entrance of a slice.
    pub latency: u64,
    /// Requests in each of a slice's four queues: to the L2, to DRAM, from DRAM, to the crossbar.
    pub queue: u32,
    /// The L2; each slice has one of this size. Without it all requests go to DRAM.
    pub l2: Option<CacheSettings>,
    /// The DRAM of each channel.
    pub dram: Dram,
}

impl Default for Partitions {
    fn default() -> Self {
        Self {
            channels: 1,
            slices: 1,
            channel_bit: 8,
            slice_bit: 7,
            spread: Index::Linear,
            spread_bits: 64,
            clock: (1, 1),
            crossbar_queue: 512,
            ejection_queue: 32,
            latency: 0,
            queue: 64,
            l2: None,
            dram: Dram::default(),
        }
    }
}

/// A random addition to a latency, drawn per transaction from ChaCha8 with the memory's seed. The
/// means of the last two are integers by construction, and no draw needs floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Jitter {
    /// None.
    #[default]
    Off,
    /// Uniform between the two, both included.
    Uniform(u64, u64),
    /// Geometric with this mean: after each cycle another follows with probability mean/(mean+1).
    /// Light-tailed.
    Geometric(u64),
    /// Heavy-tailed, a discrete Pareto distribution: at least `scale` (else 0) with probability
    /// 2^-shape, and for every doubling the probability falls by that factor again, up to `most`.
    HeavyTail {
        /// Where the tail begins.
        scale: u64,
        /// The tail index, 1 to 8: moments below it exist (before the cut at `most`).
        shape: u32,
        /// The largest addition.
        most: u64,
    },
}
