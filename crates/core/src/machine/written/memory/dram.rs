//! The settings of DRAM.

use serde::{Deserialize, Serialize};

/// A DRAM channel. Timing parameters have their usual names and are in periods of the DRAM's
/// command clock, which are called ticks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename = "Dram", deny_unknown_fields, default)]
pub struct Dram {
    /// The clock of the DRAM: `clock.0` ticks per `clock.1` ticks of the L2's clock.
    pub clock: (u32, u32),
    /// The number of ticks of the L2's clock that a request takes from the L2 to DRAM.
    pub latency: u64,
    /// The policy that selects the next request.
    pub scheduler: DramScheduler,
    /// The maximum number of requests that wait for a bank.
    pub queue: u32,
    /// The maximum number of completed requests that wait for the L2.
    pub returns: u32,
    /// The bits of the address (without those of the channel) that form the bank number, the lowest
    /// first. The number of banks is two to the power of their number.
    pub bank_bits: Vec<u32>,
    /// The lowest bit of the row.
    pub row_bit: u32,
    /// The number of bank groups; a bank belongs to group `bank mod groups`.
    pub groups: u32,
    /// The number of bytes that one column command transfers.
    pub burst_bytes: u32,
    /// The number of ticks for which a burst occupies the data bus.
    pub burst: u64,
    /// The ticks between column commands.
    pub ccd: u64,
    /// The ticks between column commands of the same bank group.
    pub ccdl: u64,
    /// The ticks between activations.
    pub rrd: u64,
    /// The ticks from an activation to a read.
    pub rcd: u64,
    /// The ticks from an activation to the precharge.
    pub ras: u64,
    /// The ticks from a precharge to the activation.
    pub rp: u64,
    /// The ticks between activations of the same bank.
    pub rc: u64,
    /// The ticks from a read to its data.
    pub cl: u64,
    /// The ticks from a write to its data.
    pub wl: u64,
    /// The ticks from the data of a write to a read.
    pub cdlr: u64,
    /// The ticks from the data of a write to the precharge.
    pub wr: u64,
    /// The ticks from a read to a precharge in the same bank group.
    pub rtpl: u64,
}

impl Default for Dram {
    fn default() -> Self {
        Self {
            clock: (1, 1),
            latency: 100,
            scheduler: DramScheduler::FrFcfs,
            queue: 64,
            returns: 192,
            bank_bits: vec![7, 12, 13, 14],
            row_bit: 15,
            groups: 1,
            burst_bytes: 32,
            burst: 4,
            ccd: 4,
            ccdl: 4,
            rrd: 6,
            rcd: 12,
            ras: 28,
            rp: 12,
            rc: 40,
            cl: 12,
            wl: 4,
            cdlr: 5,
            wr: 12,
            rtpl: 2,
        }
    }
}

/// The policy that selects the next request of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum DramScheduler {
    /// For each free bank the oldest request to its open row, else the oldest request: Rixner et
    /// al., "Memory access scheduling", ISCA 2000.
    #[default]
    FrFcfs,
    /// The oldest request.
    Fifo,
}
