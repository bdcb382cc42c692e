//! The data that the walks over all paths of a warp share.

use super::super::code::Code;
use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::effect::Effects;
use super::flow::CodeFlow;
use super::state::State;
use super::values::Holds;
use warpbound_core::base::{LaneMask, Pc, ProgressMonitor};
use warpbound_core::path::{AsyncGroups, PathSet};
use warpbound_core::program::joins::MeetingPlace;

/// The result of a walk.
#[derive(Debug)]
pub(super) struct Walked {
    /// The paths that were executed.
    pub(super) paths: PathSet,
    /// The lanes that may have ended during the walk.
    pub(super) gone: LaneMask,
    /// The lanes that may wait at the end of a region around the walk, because they have left the
    /// regions within it by BREAK.
    pub(super) away: LaneMask,
    /// Whether a path exists; none does if a loop would exceed its bound.
    pub(super) possible: bool,
}

/// Walks the warps of a block.
pub(super) struct Walker<'w, 'a> {
    pub(super) context: &'w mut Context<'a>,
    pub(super) code: &'w Code,
    pub(super) flow: &'w CodeFlow,
    pub(super) effects: &'w Effects,
    /// The number of steps that may still be recorded.
    pub(super) fuel: u64,
    /// The stop request of the walk.
    pub(super) monitor: Option<&'a ProgressMonitor>,
    /// Whether some barrier does not involve all warps.
    pub(super) partial_barriers: bool,
    pub(super) depth: usize,
    /// The number of branches and loops of which a side is walked while lanes may be on another.
    pub(super) others: usize,
    /// The meeting to which both sides of a branch are walked, if there is one.
    pub(super) meeting: Option<Meeting>,
    /// The open regions at whose end lanes arrive early, outer ones first.
    pub(super) early: Vec<Early>,
    /// The open calls: for each, the state of the lanes that have returned from it.
    pub(super) calls: Vec<Option<State>>,
    /// The loops that are taken as a whole, outer ones first.
    pub(super) wholes: Vec<Whole>,
}

impl Walked {
    /// Creates the result of an empty walk.
    pub(super) fn new() -> Self {
        Self { paths: PathSet::default(), gone: LaneMask::empty(), away: LaneMask::empty(), possible: true }
    }

    /// Records the lanes that may have ended or left regions in a walk that is a part of this one.
    pub(super) fn lose(&mut self, part: &Self) {
        self.gone |= part.gone;
        self.away |= part.away;
    }

    /// Records that the lanes in which a guard holds end or return, and removes them from the state.
    pub(super) fn end_lanes(&mut self, guard: Holds, state: &mut State) {
        self.gone |= guard.may;
        state.may.remove(guard.must);
        state.must.remove(guard.may);
    }

    /// Returns those of these lanes that certainly have neither ended nor left regions.
    pub(super) fn remaining(&self, lanes: LaneMask) -> LaneMask {
        lanes - self.gone - self.away
    }
}

/// A barrier or WARPSYNC at which the lanes of both sides of a branch meet.
#[derive(Clone, Copy)]
pub(super) struct Meeting {
    /// Where they meet.
    pub(super) place: MeetingPlace,
    /// The end of the region around the branch.
    pub(super) region: Option<Pc>,
    /// The number of open calls.
    pub(super) calls: usize,
}

/// A region of machine code at whose end lanes arrive that have left the regions within it by BREAK.
pub(super) struct Early {
    /// The end of the region.
    pub(super) join: Pc,
    /// The state of the lanes that have arrived there.
    pub(super) arrived: Option<State>,
    /// These lanes.
    pub(super) lanes: LaneMask,
}

/// A loop that is taken as a whole, in a walk over one of its iterations.
pub(super) struct Whole {
    pub(super) index: usize,
    /// The end of the walk that reached the loop. Lanes that have left the loop wait there, if they
    /// do not reconverge earlier.
    pub(super) until: Option<Pc>,
    /// The point where the lanes that left wait for the others: their reconvergence point, or else
    /// `until`. The outer `None` means that no lane has left yet, the inner one that there is no
    /// such point.
    pub(super) join: Option<Option<Pc>>,
    /// The state of the lanes that left.
    pub(super) left: Option<State>,
    pub(super) gone: LaneMask,
    /// The lanes that left it, and regions around it by BREAK.
    pub(super) away: LaneMask,
    /// The paths, up to the loop header, of lanes that took one side of a branch and waited until
    /// the lanes on the other side had left.
    pub(super) starts: Vec<PathSet>,
}

/// The state of the lanes at the beginning of a walk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// They reach the point now.
    Comes,
    /// They have reached the point already.
    Is,
    /// They have reached the point already, and the walk ends where they reach it again.
    Round,
}

impl<'w, 'a> Walker<'w, 'a> {
    pub(super) fn new(
        (context, code): (&'w mut Context<'a>, &'w Code),
        (flow, effects): (&'w CodeFlow, &'w Effects),
        fuel: u64,
    ) -> Self {
        let wholes = Vec::new();
        Self {
            context,
            code,
            flow,
            effects,
            fuel,
            monitor: None,
            partial_barriers: false,
            depth: 0,
            others: 0,
            meeting: None,
            early: Vec::new(),
            calls: Vec::new(),
            wholes,
        }
    }

    /// Returns whether on every path of a walk some lane is at the position of the state.
    pub(super) fn is_certain(&self, state: &State, out: &Walked) -> bool {
        !state.must.is_empty() || (out.gone | out.away).is_empty()
    }

    /// Returns whether lanes of the warp may be on paths that run before all lanes meet again, or wait
    /// at a meeting.
    pub(super) fn lanes_elsewhere(&self) -> bool {
        self.others > 0
            || self.meeting.is_some()
            || self.wholes.iter().any(|whole| self.flow.splits(whole.index))
    }

    /// Walks while lanes may be on this many further ways that can run.
    pub(super) fn beside<T>(
        &mut self,
        others: usize,
        walk: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.others += others;
        let walked = walk(self);
        self.others -= others;
        walked
    }

    /// Checks that the asynchronous copies in flight are the same on two ways to a point.
    pub(super) fn check_copies(&self, pc: Pc, these: &AsyncGroups, those: &AsyncGroups) -> Result<(), Fault> {
        if these == those {
            return Ok(());
        }
        Err(self.beyond(pc, "asynchronous copies that depend on data"))
    }

    pub(super) fn beyond(&self, pc: Pc, feature: &str) -> Fault {
        let message = format!("the analysis of all paths does not know {feature}");
        fault::at(self.context.program, pc, message, "")
    }
}
