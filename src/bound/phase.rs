//! Phases of a warp that runs alone.

use crate::base::{Cycle, Cycles};

/// What a lone warp does in a phase (Jeanmougin et al., ECRTS 2025, definition 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// Some functional unit initiates an instruction of the warp in every cycle.
    Exec,
    /// No unit initiates anything: the warp waits for results, or for the last of them.
    Idle,
}

/// A phase: the cycles `start .. end`, half open and never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Exec or idle.
    pub kind: PhaseKind,
    /// First cycle.
    pub start: Cycle,
    /// One past the last cycle.
    pub end: Cycle,
}

impl Phase {
    /// Its length.
    pub fn duration(&self) -> Cycles {
        self.end - self.start
    }
}

/// When an instruction of a lone warp issues, starts on its unit and is done, as the analyser
/// computes it. The single-warp self-check compares these with the simulator's, one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Index of the step in the path.
    pub index: u32,
    /// Cycle in which it issues.
    pub issue: Cycle,
    /// First cycle of its initiation (dispatch).
    pub start: Cycle,
    /// Cycle from which its result is available (write-back).
    pub done: Cycle,
}

/// The multi-phase representation of a warp in isolation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpPhases {
    /// Exec and idle phases in turn, without gaps; the first is exec. Empty if nothing issues.
    pub phases: Vec<Phase>,
    /// Sum of the exec phases.
    pub exec: Cycles,
    /// Sum of the idle phases.
    pub idle: Cycles,
    /// End of the last phase: the latest `done`.
    pub end: Cycle,
}
