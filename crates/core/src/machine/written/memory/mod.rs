//! The settings of the memory system behind the load/store unit: caches, interconnect, L2 and DRAM.
//!
//! Times are in core cycles unless a field states otherwise. A transaction covers sectors of 32
//! bytes of one line of 128 bytes; these sizes are fixed. By default memory is perfect: every
//! transaction is answered at once.

mod cache;
mod dram;

pub use cache::{CacheSettings, Index, L1, Replacement, Split, WriteMiss, WritePolicy};
pub use dram::{Dram, DramScheduler};

use super::is_default;
use serde::{Deserialize, Serialize};

/// The size of a sector, the smallest transaction, in bytes.
pub const SECTOR_BYTES: u64 = 32;
/// The size in bytes of the line that a transaction belongs to.
pub const LINE_BYTES: u64 = 128;

/// The `Memory(..)` of a machine file. Parts that it omits are inherited from the machine it
/// extends; a part that it contains replaces the inherited one as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Memory", deny_unknown_fields, default)]
pub struct MemorySpec {
    /// The data cache of each SM. Without it all transactions go to the lower level.
    pub l1: Option<L1>,
    /// The cache of each SM for constants and kernel parameters. Without it they are always
    /// available. Each line takes one look-up and one cycle, as in GPGPU-Sim 4.2, whose constant
    /// cache is perfect by default.
    pub constant: Option<CacheSettings>,
    /// The kind of memory behind the SMs.
    pub lower: LowerLevel,
    /// The settings of a lower level of kind `Fixed`.
    pub fixed: Fixed,
    /// The settings of a lower level of kind `Partitions`.
    pub partitions: Partitions,
    /// Random additions to the latency of the lower level (`Fixed`, or DRAM).
    pub jitter: Jitter,
    /// The state of the memory at the start of a launch.
    pub start: Start,
    /// The largest buffer in bytes that is in the L2 after it has been copied to the device; 0
    /// means that every buffer is. Larger buffers are in DRAM.
    #[serde(skip_serializing_if = "is_default")]
    pub copied_limit: u64,
    /// The seed of jitter and random replacement.
    pub seed: u64,
}

impl MemorySpec {
    /// Returns whether a buffer of this size is in the L2 after it has been copied to the device.
    pub fn keeps_copies_of(&self, bytes: u64) -> bool {
        self.start.copies() && (self.copied_limit == 0 || bytes <= self.copied_limit)
    }
}

/// The kind of memory behind the SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum LowerLevel {
    /// Every transaction is answered at once.
    #[default]
    Perfect,
    /// A fixed latency and bandwidth.
    Fixed,
    /// An interconnect, and memory partitions with L2 and DRAM.
    Partitions,
}

/// The state of the memory behind the SMs at the start of a launch: the contents of the L2, the
/// open rows of DRAM, the phases of the clocks and the round robin pointers of the arbiters. An L1
/// is always empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Start {
    /// An empty L2 and idle DRAM, as if each launch were the first.
    #[default]
    Cold,
    /// Like `Cold`, except that the L2 contains the launch's buffers as if they had just been
    /// copied to the device.
    Warm,
    /// The state that the previous launch of the application left. The first launch starts like
    /// `Cold`.
    Left,
    /// The state that the previous launch left, plus the data that has been copied to the L2 since.
    /// The first launch starts like `Warm`.
    LeftAndCopied,
}

impl Start {
    /// Returns whether a launch depends on the previous launch.
    pub fn is_left(self) -> bool {
        matches!(self, Self::Left | Self::LeftAndCopied)
    }

    /// Returns whether copies by the host leave their data in the L2.
    pub fn copies(self) -> bool {
        matches!(self, Self::Warm | Self::LeftAndCopied)
    }
}

/// A lower level of fixed latency that all SMs share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Fixed", deny_unknown_fields, default)]
pub struct Fixed {
    /// The number of cycles from a transaction to its reply.
    pub latency: u64,
    /// The number of transactions that are accepted per cycle.
    pub per_cycle: u32,
    /// Whether transactions overlap. If not, a transaction is accepted only when all transactions
    /// of earlier cycles have been answered.
    pub pipelined: bool,
}

impl Default for Fixed {
    fn default() -> Self {
        Self { latency: 100, per_cycle: 1, pipelined: true }
    }
}

/// Memory partitions behind a crossbar. Each has a DRAM channel and a few L2 slices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Partitions", deny_unknown_fields, default)]
pub struct Partitions {
    /// The number of DRAM channels.
    pub channels: u32,
    /// The number of L2 slices per channel.
    pub slices: u32,
    /// The lowest bit of the channel number. The channel is `address >> channel_bit` mod
    /// `channels`; these bits are then removed from the address.
    pub channel_bit: u32,
    /// The lowest bit of the slice number: the slice is the remaining address `>> slice_bit`, mod
    /// `slices`.
    pub slice_bit: u32,
    /// The hash of the slice number, which spreads strided accesses.
    pub spread: Index,
    /// The number of address bits above the slice number that the hash uses, beginning with the
    /// lowest; 64 uses all of them.
    pub spread_bits: u32,
    /// The clock of the crossbar and the L2: `clock.0` ticks per `clock.1` core cycles.
    pub clock: (u32, u32),
    /// The capacity in packets of the queues at each end of the crossbar.
    pub crossbar_queue: u32,
    /// The capacity in replies of the queue at an SM.
    pub ejection_queue: u32,
    /// The number of ticks that a request spends at the entrance of a slice.
    pub latency: u64,
    /// The number of further ticks that the first load of a line by an SM of the other half of the
    /// L2 spends at the entrance of a slice; 0 means that the L2 is one. SMs and channels with even numbers form one
    /// half. The copies that the other half keeps for later loads are not kept between launches.
    #[serde(skip_serializing_if = "is_default")]
    pub far_latency: u64,
    /// The number of further ticks that an atomic spends at the entrance of a slice.
    #[serde(skip_serializing_if = "is_default")]
    pub atomic_latency: u64,
    /// The capacity in requests of each of a slice's four queues: to the L2, to DRAM, from DRAM,
    /// and to the crossbar.
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
            far_latency: 0,
            atomic_latency: 0,
            queue: 64,
            l2: None,
            dram: Dram::default(),
        }
    }
}

/// A random addition to a latency, drawn for each transaction from ChaCha8 with the memory's seed.
/// The means of the last two distributions are integers by construction, and no draw needs floating
/// point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub enum Jitter {
    /// No addition.
    #[default]
    Off,
    /// Uniform between both values, inclusive.
    Uniform(u64, u64),
    /// Geometric with this mean: after each cycle another follows with probability mean/(mean+1).
    /// The distribution is light-tailed.
    Geometric(u64),
    /// Heavy-tailed, a discrete Pareto distribution: with probability 2^-shape the addition is at
    /// least `scale`, otherwise 0; each doubling of the addition reduces the probability by the
    /// same factor, up to `most`.
    HeavyTail {
        /// The smallest addition other than 0, in cycles.
        scale: u64,
        /// The tail index, 1 to 8. Without the limit `most`, only moments below it exist.
        shape: u32,
        /// The largest addition in cycles.
        most: u64,
    },
}
