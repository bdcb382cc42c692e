//! Warp scheduling policies (`warpbound::model`, section 5): they decide which
//! warp issues next.
//!
//! There is one file per policy. A policy decides on the basis of masks of warp slots. It keeps its
//! own state, restarts with each block where one block is resident at a time, and may promise to be
//! work conserving, see [`Policy::is_work_conserving`]. The engine of the paper model is compiled
//! separately for GTO and LRR, so that their decisions are inlined, and once for trait objects;
//! [`PolicySetup`] selects the policy at run time.

mod called;
mod error;
mod greedy;
mod gsrr;
mod lrr;
mod oldest;
mod random;
mod replay;
mod run_to_barrier;
mod schedule;
mod srr;
mod two_level;

pub use called::{CalledPolicy, MakePolicy, define_policy};
pub use error::{PolicyError, PolicyFault};
pub use greedy::{Greedy, Gto, Gty};
pub use gsrr::Gsrr;
pub use lrr::Lrr;
pub use oldest::Oldest;
pub use random::Random;
pub use replay::Replay;
pub use run_to_barrier::RunToBarrier;
pub use schedule::Schedule;
pub use srr::Srr;
pub use two_level::TwoLevel;

use std::fmt;

use crate::SLOTS;
use warpbound_core::base::{BlockId, Cycle, WarpMask};
use warpbound_core::diag::{Diagnostics, SourceText};
use warpbound_core::machine::{Machine, PolicyKind};

/// The state on which a policy may base its decision. Slots are those of the SM; the warps of a
/// block have consecutive slots, warp 0 first.
#[derive(Clone, Debug)]
pub struct View {
    /// The cycle to decide about.
    pub now: Cycle,
    /// The warps that can issue in this cycle.
    pub ready: WarpMask,
    /// The warps that have not finished.
    pub live: WarpMask,
    /// The warps among them that wait at a barrier.
    pub at_barrier: WarpMask,
    /// The slots of each resident block, in launch order.
    pub by_age: Vec<WarpMask>,
    /// For each slot, the cycle until which its next instruction waits for a load from global
    /// memory. It is maintained only for policies that return true from [`Policy::tracks_global`].
    pub global_until: [Cycle; SLOTS],
}

impl View {
    /// Creates the view of an SM without blocks, before its first cycle.
    pub(super) fn new() -> Self {
        Self {
            now: Cycle::ZERO,
            ready: WarpMask::empty(),
            live: WarpMask::empty(),
            at_barrier: WarpMask::empty(),
            by_age: Vec::with_capacity(SLOTS),
            global_until: [Cycle::ZERO; SLOTS],
        }
    }

    /// Resets the view to a new one.
    pub(super) fn clear(&mut self) {
        let Self { now, ready, live, at_barrier, by_age, global_until } = self;
        *now = Cycle::ZERO;
        *ready = WarpMask::empty();
        *live = WarpMask::empty();
        *at_barrier = WarpMask::empty();
        by_age.clear();
        *global_until = [Cycle::ZERO; SLOTS];
    }

    /// Returns the oldest of these warps: by launch order of the block, then by warp.
    pub fn oldest(&self, warps: WarpMask) -> Option<usize> {
        self.by_age.iter().find_map(|&block| (block & warps).lowest())
    }

    /// Returns the youngest of these warps: the last one in the order of [`Self::oldest`].
    pub fn youngest(&self, warps: WarpMask) -> Option<usize> {
        self.by_age.iter().rev().find_map(|&block| (block & warps).highest())
    }

    /// Returns the warps that have an instruction to issue and do not wait at a barrier.
    pub fn in_turn(&self) -> WarpMask {
        self.live - self.at_barrier
    }
}

/// A block that became resident.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The block.
    pub block: BlockId,
    /// The slot of its warp 0.
    pub first_slot: usize,
    /// All its slots.
    pub slots: WarpMask,
    /// The cycle in which it became resident.
    pub at: Cycle,
}

/// A warp scheduling policy.
pub trait Policy {
    /// Returns whether the policy is work conserving: whenever some warp is ready, it selects one.
    /// The engine calls such a policy only when a warp is ready. Any other policy is called in
    /// every cycle in which something changed, and in the cycle after each issue, even if no warp
    /// is ready.
    fn is_work_conserving(&self) -> bool;

    /// Returns whether a warp whose control codes request a yield is hidden from the policy while
    /// another one is ready. Round robin policies with a turn and given schedules keep their own
    /// order instead.
    fn lets_yield(&self) -> bool {
        false
    }

    /// Returns whether the policy reads [`View::global_until`].
    fn tracks_global(&self) -> bool {
        false
    }

    /// Resets the policy to its initial state.
    fn restart(&mut self);

    /// Records that a block became resident; its slots have new warps.
    fn placed(&mut self, placed: &Placed) {
        let _ = placed;
    }

    /// Returns the slot that issues in this cycle, one of [`View::ready`]. With the same view,
    /// another call after `None` returns `None` again.
    ///
    /// # Errors
    /// [`Replay`] fails when the decision of its file cannot be carried out, and so may a
    /// [`CalledPolicy`]. No other policy fails.
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>>;

    /// Returns the warp of this set that comes first in the order of the policy; `None` if the
    /// policy has no fixed order. It is called only on machines with instruction buffers: when the
    /// policy reaches a warp whose buffer holds the wrong instructions, the buffer is emptied.
    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        let _ = (view, warps);
        None
    }

    /// Returns, after a decision of `None`, the cycle in which the policy has to be called again
    /// even if nothing happens until then.
    fn wake(&self, view: &View) -> Cycle {
        let _ = view;
        Cycle::NEVER
    }

    /// Records that a block has ended.
    ///
    /// # Errors
    /// Returns the same errors as [`Policy::choose`].
    fn ended(&mut self, block: BlockId) -> Result<(), Box<PolicyError>> {
        let _ = block;
        Ok(())
    }
}

/// A policy selected at run time. The most common ones are not trait objects, so that their
/// decisions are inlined.
pub(crate) enum AnyPolicy<'a> {
    Gto(Gto),
    Lrr(Lrr),
    Other(Box<dyn Policy + Send + 'a>),
}

/// Evaluates an expression with the policy of any variant.
macro_rules! of_any {
    ($any:expr, $policy:ident => $what:expr) => {
        match $any {
            AnyPolicy::Gto($policy) => $what,
            AnyPolicy::Lrr($policy) => $what,
            AnyPolicy::Other($policy) => $what,
        }
    };
}

impl Policy for AnyPolicy<'_> {
    fn is_work_conserving(&self) -> bool {
        of_any!(self, policy => policy.is_work_conserving())
    }

    fn lets_yield(&self) -> bool {
        of_any!(self, policy => policy.lets_yield())
    }

    fn tracks_global(&self) -> bool {
        of_any!(self, policy => policy.tracks_global())
    }

    fn restart(&mut self) {
        of_any!(self, policy => policy.restart());
    }

    fn placed(&mut self, placed: &Placed) {
        of_any!(self, policy => policy.placed(placed));
    }

    #[inline(always)]
    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        of_any!(self, policy => policy.choose(view))
    }

    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        of_any!(self, policy => policy.first(view, warps))
    }

    fn wake(&self, view: &View) -> Cycle {
        of_any!(self, policy => policy.wake(view))
    }

    fn ended(&mut self, block: BlockId) -> Result<(), Box<PolicyError>> {
        of_any!(self, policy => policy.ended(block))
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn is_work_conserving(&self) -> bool {
        (**self).is_work_conserving()
    }

    fn lets_yield(&self) -> bool {
        (**self).lets_yield()
    }

    fn tracks_global(&self) -> bool {
        (**self).tracks_global()
    }

    fn restart(&mut self) {
        (**self).restart();
    }

    fn placed(&mut self, placed: &Placed) {
        (**self).placed(placed);
    }

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        (**self).choose(view)
    }

    fn first(&self, view: &View, warps: WarpMask) -> Option<usize> {
        (**self).first(view, warps)
    }

    fn wake(&self, view: &View) -> Cycle {
        (**self).wake(view)
    }

    fn ended(&mut self, block: BlockId) -> Result<(), Box<PolicyError>> {
        (**self).ended(block)
    }
}

/// Returns the first slot of `warps` at or after `from`, circularly.
pub(super) fn next_from(warps: WarpMask, from: usize) -> Option<usize> {
    let rotated = warps.bits().rotate_right(from as u32 & 63);
    (rotated != 0).then(|| (rotated.trailing_zeros() as usize + from) & 63)
}

/// The selection of a policy, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are those of `PolicyKind`")]
pub enum PolicySetup {
    Gto,
    Gty,
    Lrr,
    Srr,
    Gsrr,
    Oldest,
    TwoLevel,
    RunToBarrier,
    Random(u64),
    Replay(Schedule),
    Called(CalledPolicy),
}

impl PolicySetup {
    /// Prepares a policy; `read` returns the text of a replay file.
    ///
    /// # Errors
    /// Returns what is wrong with the replay file.
    pub fn new(
        kind: &PolicyKind,
        read: impl FnOnce(&str) -> Result<SourceText, Diagnostics>,
    ) -> Result<Self, Diagnostics> {
        Ok(match kind {
            PolicyKind::Gto => Self::Gto,
            PolicyKind::Gty => Self::Gty,
            PolicyKind::Lrr => Self::Lrr,
            PolicyKind::Srr => Self::Srr,
            PolicyKind::Gsrr => Self::Gsrr,
            PolicyKind::Oldest => Self::Oldest,
            PolicyKind::TwoLevel => Self::TwoLevel,
            PolicyKind::RunToBarrier => Self::RunToBarrier,
            PolicyKind::Random(seed) => Self::Random(*seed),
            PolicyKind::Replay(file) => Self::Replay(Schedule::parse(&read(file)?)?),
            PolicyKind::Called(name) => Self::Called(CalledPolicy::find(name)?),
        })
    }
}

impl PolicySetup {
    /// Creates the policies of an SM, one for each sub-core.
    pub(crate) fn policies(&self, machine: &Machine) -> Vec<AnyPolicy<'_>> {
        let sub_cores = machine.sub_cores();
        let on = |sub_core| -> AnyPolicy<'_> {
            AnyPolicy::Other(match self {
                Self::Gto => return AnyPolicy::Gto(Gto::default()),
                Self::Lrr => return AnyPolicy::Lrr(Lrr::default()),
                Self::Gty => Box::new(Gty::default()),
                Self::Srr => Box::new(Srr::default()),
                Self::Gsrr => Box::new(Gsrr::default()),
                Self::Oldest => Box::new(Oldest),
                Self::TwoLevel => Box::new(TwoLevel::new(machine.two_level_active())),
                Self::RunToBarrier => Box::new(RunToBarrier::default()),
                Self::Random(seed) => Box::new(Random::on_sub_core(*seed, sub_core)),
                Self::Replay(schedule) => Box::new(Replay::on_sub_core(schedule, sub_cores, sub_core)),
                Self::Called(called) => called.make(),
            })
        };
        (0..sub_cores.count()).map(on).collect()
    }

    /// Returns the kind of the policy.
    pub fn kind(&self) -> PolicyKind {
        match self {
            Self::Gto => PolicyKind::Gto,
            Self::Gty => PolicyKind::Gty,
            Self::Lrr => PolicyKind::Lrr,
            Self::Srr => PolicyKind::Srr,
            Self::Gsrr => PolicyKind::Gsrr,
            Self::Oldest => PolicyKind::Oldest,
            Self::TwoLevel => PolicyKind::TwoLevel,
            Self::RunToBarrier => PolicyKind::RunToBarrier,
            Self::Random(seed) => PolicyKind::Random(*seed),
            Self::Replay(schedule) => PolicyKind::Replay(schedule.file().to_owned()),
            Self::Called(called) => PolicyKind::Called(called.name().to_owned()),
        }
    }
}

impl fmt::Display for PolicySetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a view with these warps ready, all of 0..count live and none at a barrier.
    pub(crate) fn view(now: u64, count: usize, ready: &[usize]) -> View {
        let all = (0..count).fold(WarpMask::empty(), |set, slot| set | WarpMask::slot(slot));
        View {
            now: Cycle::new(now),
            ready: ready.iter().fold(WarpMask::empty(), |set, &slot| set | WarpMask::slot(slot)),
            live: all,
            at_barrier: WarpMask::empty(),
            by_age: vec![all],
            global_until: [Cycle::ZERO; SLOTS],
        }
    }

    #[test]
    fn next_from_goes_around() {
        let set = WarpMask::slot(3) | WarpMask::slot(63);
        for (from, expected) in [(0, 3), (3, 3), (4, 63), (63, 63), (64, 3)] {
            assert_eq!(next_from(set, from), Some(expected), "from {from}");
        }
        assert_eq!(next_from(WarpMask::empty(), 5), None);
    }
}
