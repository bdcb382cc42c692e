//! The analysis of a warp that runs alone, over its whole path.

use super::algorithm::{Countdowns, Extent};
use super::phase::{Event, WarpPhases};
use warpbound_core::base::Cycle;
use warpbound_core::path::WarpPath;
use warpbound_core::program::TimingTable;

/// Analyses the whole path of a warp that runs alone, starting at cycle 0, and calls `event` for
/// each instruction that issues, in program order. Each barrier releases the lone warp at the
/// barrier's own `done`.
///
/// The self-check and the display of phases use this mode. The bounds use sections, see
/// [`super::Analyser`].
pub fn analyse_alone(table: &TimingTable, path: &WarpPath, mut event: impl FnMut(Event)) -> WarpPhases {
    let mut phases = Vec::new();
    let profile = Countdowns::new(table).run(
        table,
        path.steps(),
        Extent::Path,
        |issued, _| event(issued),
        |phase| phases.push(phase),
    );
    WarpPhases {
        phases,
        exec: profile.exec,
        idle: profile.isolated - profile.exec,
        end: Cycle::ZERO + profile.isolated,
    }
}
