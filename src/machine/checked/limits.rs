//! How much one SM holds.

use serde::Serialize;

use super::range::Check;
use super::value::Checked;
use crate::machine::written::LimitsSpec;

/// The most warp slots a machine may have: sets of warps are 64-bit masks.
const MAX_WARPS: u32 = 64;

/// The limits of one SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Resident warps.
    pub warps: u32,
    /// Resident threads.
    pub threads: u32,
    /// Resident blocks. Paper machines hold one block at a time.
    pub blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Shared memory of the SM, bytes.
    pub shared_bytes: u32,
    /// Shared memory one block may use, bytes.
    pub shared_bytes_per_block: u32,
}

impl Limits {
    /// Those of the paper model where nothing is written: one block at a time, nothing else binds.
    pub(super) fn of(written: Option<&LimitsSpec>, check: &mut Check) -> Option<Checked<Self>> {
        let LimitsSpec { warps, threads, blocks, registers, shared_bytes, shared_bytes_per_block } =
            written.cloned().unwrap_or_default();
        let limits = Self {
            warps: warps.unwrap_or(MAX_WARPS),
            threads: threads.unwrap_or(2048),
            blocks: blocks.unwrap_or(1),
            registers: registers.unwrap_or(65536),
            shared_bytes: shared_bytes.unwrap_or(102_400),
            shared_bytes_per_block: shared_bytes_per_block.unwrap_or(49_152),
        };
        Checked::new(limits, &mut check.part("limits"), |limits, check| {
            check.range("warps", limits.warps, 1..=MAX_WARPS);
            check.at_least_one("threads", limits.threads);
            check.at_least_one("blocks", limits.blocks);
        })
    }
}
