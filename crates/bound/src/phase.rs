//! The phases of a warp that runs alone.

use warpbound_core::base::{Cycle, Cycles};

/// The activity of a lone warp in a phase (Jeanmougin et al., ECRTS 2025, definition 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// In every cycle some functional unit initiates an instruction of the warp.
    Exec,
    /// No unit initiates an instruction: the warp waits for results, or its last results are
    /// pending.
    Idle,
}

/// A phase: the cycles `start .. end`, half open and never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The kind of the phase.
    pub kind: PhaseKind,
    /// The first cycle.
    pub start: Cycle,
    /// The cycle after the last one.
    pub end: Cycle,
}

impl Phase {
    /// Returns the length of the phase.
    pub fn duration(&self) -> Cycles {
        self.end - self.start
    }
}

/// The times at which an instruction of a lone warp issues, starts on its unit and is done, as the
/// analyser computes them. The single-warp self-check compares each of them with the simulator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The index of the step in the path.
    pub index: u32,
    /// The cycle in which the instruction issues.
    pub issue: Cycle,
    /// The first cycle of its initiation (dispatch).
    pub start: Cycle,
    /// The cycle from which its result is available (write-back).
    pub done: Cycle,
}

/// The multi-phase representation of a warp in isolation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpPhases {
    /// The exec and idle phases in turn, without gaps; the first is an exec phase. Empty if no
    /// instruction issues.
    pub phases: Vec<Phase>,
    /// The sum of the exec phases.
    pub exec: Cycles,
    /// The sum of the idle phases.
    pub idle: Cycles,
    /// The end of the last phase, which is the latest `done`.
    pub end: Cycle,
}
