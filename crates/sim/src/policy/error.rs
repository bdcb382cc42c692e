//! The error of a policy whose decisions come from outside.

use std::fmt;

use warpbound_core::base::{BlockId, Cycle, WarpId};
use warpbound_core::diag::Diagnostic;

/// A decision that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The replay file, or the policy.
    pub file: String,
    /// The line of the decision, or the last one of the block; 0 if there is none.
    pub line: u32,
    /// The block.
    pub block: BlockId,
    /// The cycle, counted from the start of the block.
    pub cycle: Cycle,
    /// What is wrong.
    pub fault: PolicyFault,
    /// The warps of the block that could issue in this cycle.
    pub ready: Vec<WarpId>,
}

/// What is wrong with a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyFault {
    /// The block has no such warp.
    NoSuchWarp(WarpId),
    /// The warp has no instruction left.
    Finished(WarpId),
    /// The warp waits at a barrier.
    AtBarrier(WarpId),
    /// The warp waits for a register or, on machines with a pipeline, for room in the queue of its
    /// unit or for its fetch.
    WaitsForRegister(WarpId),
    /// Another warp of the sub-core issues in the same cycle.
    SlotTaken(WarpId),
    /// These warps have instructions left after the block's last line.
    EndsEarly(Vec<WarpId>),
    /// The block has ended, but its section has a further decision.
    GoesOn,
    /// A policy of the caller chose no warp that can issue, or failed; the text says what it did.
    Failed(String),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let PolicyFault::Failed(why) = &self.fault {
            return write!(f, "cycle {}: {why}", self.cycle);
        }
        write!(f, "block {}, cycle {}: ", self.block.get(), self.cycle)?;
        match &self.fault {
            PolicyFault::NoSuchWarp(warp) => write!(f, "the block has no warp {}", warp.get())?,
            PolicyFault::Finished(warp) => write!(f, "warp {} is not ready: it has finished", warp.get())?,
            PolicyFault::AtBarrier(warp) => {
                write!(f, "warp {} is not ready: it waits at a barrier", warp.get())?;
            }
            PolicyFault::WaitsForRegister(warp) => {
                write!(
                    f,
                    "warp {} is not ready: it waits for a register or, with a pipeline, for its unit or its fetch",
                    warp.get()
                )?;
            }
            PolicyFault::SlotTaken(warp) => {
                write!(
                    f,
                    "warp {} cannot issue: another warp of its sub-core issues in this cycle",
                    warp.get()
                )?;
            }
            PolicyFault::EndsEarly(left) => {
                write!(f, "the schedule ends, but instructions are left in {}", list(left))?;
            }
            PolicyFault::GoesOn => f.write_str("the block has ended, but the schedule goes on")?,
            PolicyFault::Failed(_) => {}
        }
        match self.ready.as_slice() {
            [] => f.write_str("; no warp is ready"),
            ready => write!(f, "; ready: {}", list(ready)),
        }
    }
}

impl std::error::Error for PolicyError {}

impl PolicyError {
    /// Returns the error as a diagnostic with its location.
    pub fn diagnostic(&self) -> Diagnostic {
        let hint = match &self.fault {
            PolicyFault::Failed(_) => "a policy returns one of the ready warps, or none",
            _ => "a schedule replays only the kernel and machine it was made with",
        };
        let mut diagnostic = Diagnostic::general(self.file.clone(), self.to_string()).hint(hint);
        diagnostic.line = self.line;
        diagnostic.column = u32::from(self.line > 0);
        diagnostic
    }
}

fn list(warps: &[WarpId]) -> String {
    let names: Vec<String> = warps.iter().map(|warp| format!("warp {}", warp.get())).collect();
    names.join(", ")
}
