//! Settings of DRAM.

use serde::{Deserialize, Serialize};

/// A DRAM channel. Timing parameters have their usual names and count the DRAM's command clocks,
/// "ticks" here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Dram", deny_unknown_fields, default)]
pub struct Dram {
    /// Ticks per clock of the L2: `clock.0` in `clock.1`.
    pub clock: (u32, u32),
    /// L2 clocks between L2 and DRAM.
    pub latency: u64,
    /// Which waiting request is next.
    pub scheduler: DramScheduler,
    /// Requests that wait for a bank.
    pub queue: u32,
    /// Requests that are done and wait for the L2.
    pub returns: u32,
    /// Bits of the address, without the channel's, that number the bank, lowest first. Two to this
    /// power is the number of banks.
    pub bank_bits: Vec<u32>,
    /// The lowest bit of the row.
    pub row_bit: u32,
    /// Bank groups; a bank is in group `bank mod groups`.
    pub groups: u32,
    /// Bytes that one column command moves.
    pub burst_bytes: u32,
    /// Ticks that a burst takes on the data bus.
    pub burst: u64,
    /// Between column commands.
    pub ccd: u64,
    /// Between column commands of one bank group.
    pub ccdl: u64,
    /// Between activations.
    pub rrd: u64,
    /// From an activation to a read.
    pub rcd: u64,
    /// From an activation to the precharge.
    pub ras: u64,
    /// From a precharge to the activation.
    pub rp: u64,
    /// Between activations of one bank.
    pub rc: u64,
    /// From a read to its data.
    pub cl: u64,
    /// From a write to its data.
    pub wl: u64,
    /// From the data of a write to a read.
    pub cdlr: u64,
    /// From the data of a write to the precharge.
    pub wr: u64,
    /// From a read to a precharge in the same bank group.
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

/// Which waiting request of a channel is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DramScheduler {
    /// For each free bank the oldest request to its open row, else the oldest: Rixner et al.,
    /// "Memory access scheduling", ISCA 2000.
    #[default]
    FrFcfs,
    /// The oldest.
    Fifo,
}
