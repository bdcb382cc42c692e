//! What walks over all paths of a warp share.

use super::super::code::Code;
use super::super::context::Context;
use super::super::fault::{self, Fault};
use super::effect::Effects;
use super::flow::CodeFlow;
use super::state::State;
use crate::base::{LaneMask, Pc, Watch};
use crate::path::PathSet;

/// How a walk went.
#[derive(Debug)]
pub(super) struct Walked {
    /// What was executed.
    pub(super) paths: PathSet,
    /// Lanes that may have ended on the way.
    pub(super) gone: LaneMask,
    /// Whether there is such a path: not if a loop would go round more often than its bound.
    pub(super) possible: bool,
}

/// Walks the warps of a block.
pub(super) struct Walker<'w, 'a> {
    pub(super) context: &'w mut Context<'a>,
    pub(super) code: &'w Code,
    pub(super) flow: &'w CodeFlow,
    pub(super) effects: &'w Effects,
    /// Steps that may still be written down.
    pub(super) fuel: u64,
    /// Who may end the walk.
    pub(super) watch: Option<&'a Watch>,
    /// Whether some barrier is not of all warps.
    pub(super) partial_barriers: bool,
    pub(super) depth: usize,
    /// Loops that are taken as a whole, outer ones first.
    pub(super) wholes: Vec<Whole>,
}

impl Walked {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { paths: PathSet::default(), gone: LaneMask::empty(), possible: true }
    }
}

/// A loop that is taken as a whole, in a walk over one of its rounds.
pub(super) struct Whole {
    pub(super) index: usize,
    /// Where lanes wait that meet nowhere before.
    pub(super) until: Option<Pc>,
    /// Where those that left wait for the others.
    pub(super) join: Option<Option<Pc>>,
    /// Those that left.
    pub(super) left: Option<State>,
    pub(super) gone: LaneMask,
    /// What lanes do, to the beginning of the loop, that went another way than others and waited until those had left.
    pub(super) starts: Vec<PathSet>,
}

/// How lanes are where a walk begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// They come there now.
    Comes,
    /// They have come there.
    Is,
    /// They have, and the walk ends where they come there again.
    Round,
}

impl<'w, 'a> Walker<'w, 'a> {
    pub(super) fn new(
        (context, code): (&'w mut Context<'a>, &'w Code),
        (flow, effects): (&'w CodeFlow, &'w Effects),
        fuel: u64,
    ) -> Self {
        let wholes = Vec::new();
        Self { context, code, flow, effects, fuel, watch: None, partial_barriers: false, depth: 0, wholes }
    }

    /// Whether some lane is where the state says on every path of a walk.
    pub(super) fn is_certain(&self, state: &State, out: &Walked) -> bool {
        !state.must.is_empty() || out.gone.is_empty()
    }

    pub(super) fn beyond(&self, pc: Pc, what: &str) -> Fault {
        let message = format!("the analysis of all paths does not know {what}");
        fault::at(self.context.program, pc, message, "")
    }
}
