//! The scheduling of whole phases (Jeanmougin et al., ECRTS 2025, model rules MR 1 to 4;
//! `warpbound::model`, section 16).
//!
//! A warp alternates exec and idle phases of given lengths. One exec phase runs at a time, without
//! preemption; an idle phase starts when its exec phase ends; the policy picks among the warps
//! whose idle phase has ended. The policies are those of the engine ([`warpbound_sim::policy`]): a
//! warp is ready when its next exec phase may start, and an exec phase corresponds to an issue.

use warpbound_core::base::{BlockId, Cycle, Cycles, WarpMask};
use warpbound_core::machine::PolicyKind;
use warpbound_sim::SLOTS;
use warpbound_sim::policy::{Gsrr, Gto, Lrr, Oldest, Placed, Policy, Srr, View};

/// An exec phase and the idle phase after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PhasePair {
    /// The length of the exec phase, at least 1 cycle.
    pub exec: Cycles,
    /// The length of the idle phase after it. If it is zero, the warp is ready again immediately.
    pub idle: Cycles,
}

/// A warp as a sequence of phases.
pub type PhaseWarp = Vec<PhasePair>;

/// The execution of an exec phase and of the idle phase after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseRun {
    /// The warp.
    pub warp: usize,
    /// The index of the warp's phase pair.
    pub index: usize,
    /// The cycle from which the warp could have started it.
    pub ready: Cycle,
    /// The start of the exec phase.
    pub start: Cycle,
    /// The end of the exec phase, which is the start of the idle phase.
    pub exec_end: Cycle,
    /// The end of the idle phase.
    pub idle_end: Cycle,
}

/// The policies that exist at this level. Two-level scheduling is not among them, because it
/// distinguishes loads from other waits, and phases do not.
pub const POLICIES: [PolicyKind; 5] =
    [PolicyKind::Gto, PolicyKind::Lrr, PolicyKind::Oldest, PolicyKind::Srr, PolicyKind::Gsrr];

/// Runs warps under a policy of [`POLICIES`] and calls `on_run` for each exec phase in order.
/// Returns the makespan, which is the end of the last phase, including idle phases. Returns `None`
/// for other policies, for more warps than an SM holds, and for an exec phase of zero length.
pub fn schedule(warps: &[PhaseWarp], policy: &PolicyKind, on_run: impl FnMut(PhaseRun)) -> Option<Cycles> {
    if warps.len() > SLOTS || warps.iter().flatten().any(|pair| pair.exec == Cycles::ZERO) {
        return None;
    }
    match policy {
        PolicyKind::Gto => Some(run(warps, &mut Gto::default(), on_run)),
        PolicyKind::Lrr => Some(run(warps, &mut Lrr::default(), on_run)),
        PolicyKind::Oldest => Some(run(warps, &mut Oldest, on_run)),
        PolicyKind::Srr => Some(run(warps, &mut Srr::default(), on_run)),
        PolicyKind::Gsrr => Some(run(warps, &mut Gsrr::default(), on_run)),
        _ => None,
    }
}

fn run<P: Policy>(warps: &[PhaseWarp], policy: &mut P, mut on_run: impl FnMut(PhaseRun)) -> Cycles {
    let all = (0..warps.len()).fold(WarpMask::empty(), |set, warp| set | WarpMask::slot(warp));
    let mut view = View {
        now: Cycle::ZERO,
        ready: WarpMask::empty(),
        live: WarpMask::empty(),
        at_barrier: WarpMask::empty(),
        by_age: vec![all],
        global_until: [Cycle::ZERO; SLOTS],
    };
    policy.restart();
    policy.placed(&Placed { block: BlockId::new(0), first_slot: 0, slots: all, at: Cycle::ZERO });
    let mut next = [0usize; SLOTS];
    let mut ready_at = [Cycle::ZERO; SLOTS];
    let mut end = Cycle::ZERO;
    loop {
        view.live = WarpMask::empty();
        view.ready = WarpMask::empty();
        let mut soonest = Cycle::NEVER;
        for (warp, pairs) in warps.iter().enumerate() {
            if next[warp] == pairs.len() {
                continue;
            }
            view.live |= WarpMask::slot(warp);
            if ready_at[warp] <= view.now {
                view.ready |= WarpMask::slot(warp);
            } else {
                soonest = soonest.min(ready_at[warp]);
            }
        }
        if view.live.is_empty() {
            return end.since_start();
        }
        let must_choose = !policy.is_work_conserving() || !view.ready.is_empty();
        // only a replay can fail, and replays are not among the policies of this level
        let chosen = if must_choose { policy.choose(&view).unwrap_or(None) } else { None };
        let Some(warp) = chosen else {
            // only an idle phase can delay a warp's turn, so some phase has not ended yet
            debug_assert!(soonest != Cycle::NEVER);
            view.now = soonest;
            continue;
        };
        let pair = warps[warp][next[warp]];
        let exec_end = view.now + pair.exec;
        let idle_end = exec_end + pair.idle;
        on_run(PhaseRun {
            warp,
            index: next[warp],
            ready: ready_at[warp],
            start: view.now,
            exec_end,
            idle_end,
        });
        next[warp] += 1;
        ready_at[warp] = idle_end;
        end = end.max(idle_end);
        view.now = exec_end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn warps(lengths: &[&[(u64, u64)]]) -> Vec<PhaseWarp> {
        let pair = |(e, i): &(u64, u64)| PhasePair { exec: Cycles::new(*e), idle: Cycles::new(*i) };
        lengths.iter().map(|warp| warp.iter().map(pair).collect()).collect()
    }

    fn starts(warps: &[PhaseWarp], policy: PolicyKind) -> (Vec<(usize, u64)>, u64) {
        let mut starts = Vec::new();
        let makespan = schedule(warps, &policy, |run| starts.push((run.warp, run.start.get()))).unwrap();
        (starts, makespan.get())
    }

    #[test]
    fn exec_phases_run_one_by_one_and_idle_phases_overlap_them() {
        let two = warps(&[&[(2, 3), (1, 4)], &[(4, 1), (1, 0)]]);
        // w0 [0,2), idle until 5; w1 [2,6), idle until 7; w0 [6,7), idle until 11; w1 [7,8)
        let expected = (vec![(0, 0), (1, 2), (0, 6), (1, 7)], 11);
        for policy in POLICIES {
            assert_eq!(starts(&two, policy.clone()), expected, "{policy}");
        }
    }

    #[test]
    fn policies_differ_where_several_warps_wait() {
        let three = warps(&[&[(1, 1), (1, 0)], &[(3, 0), (1, 0)], &[(1, 0)]]);
        assert_eq!(starts(&three, PolicyKind::Lrr).0, [(0, 0), (1, 1), (2, 4), (0, 5), (1, 6)]);
        // w1 is ready again immediately, and gto stays with it
        assert_eq!(starts(&three, PolicyKind::Gto).0, [(0, 0), (1, 1), (1, 4), (0, 5), (2, 6)]);
        assert_eq!(starts(&three, PolicyKind::Oldest).0, [(0, 0), (1, 1), (0, 4), (1, 5), (2, 6)]);
    }

    #[test]
    fn invalid_phase_schedules_are_refused() {
        let one = warps(&[&[(1, 1)]]);
        assert_eq!(schedule(&one, &PolicyKind::TwoLevel, |_| {}), None);
        assert_eq!(schedule(&warps(&[&[(0, 1)]]), &PolicyKind::Lrr, |_| {}), None);
        assert_eq!(schedule(&vec![one[0].clone(); SLOTS + 1], &PolicyKind::Lrr, |_| {}), None);
        assert_eq!(schedule(&[], &PolicyKind::Lrr, |_| {}), Some(Cycles::ZERO));
    }
}
