//! The capacity of one SM.

use serde::Serialize;

use super::range::Check;
use super::value::Checked;
use crate::machine::written::LimitsSpec;

/// The maximum number of warp slots, since sets of warps are 64-bit masks.
const MAX_WARPS: u32 = 64;

/// The resources of one SM, see `LimitsSpec`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "as in LimitsSpec")]
pub struct Limits {
    pub warps: u32,
    pub threads: u32,
    pub blocks: u32,
    pub registers: u32,
    pub shared_bytes: u32,
    pub shared_bytes_per_block: u32,
}

impl Limits {
    /// Returns the limits of a machine. The defaults are those of the paper model: one block at a
    /// time, and no other limit matters.
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
