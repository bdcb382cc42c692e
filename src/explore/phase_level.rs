//! Scheduling whole phases (Jeanmougin et al., ECRTS 2025, model rules MR 1 to 4; [the model](crate::model#16-whole-phases), section 16).
//!
//! A warp alternates exec and idle phases of given lengths. One exec phase runs at a time, without
//! preemption; an idle phase starts when its exec phase ends; the policy picks among the warps whose
//! idle phase has ended. The policies are those of the engine ([`crate::sim::policy`]): a warp is
//! ready when its next exec phase may start, and an exec phase takes the place of an issue.

use crate::base::{BlockId, Cycle, Cycles, WarpMask};
use crate::machine::SchedulerKind;
use crate::sim::SLOTS;
use crate::sim::policy::{Gsrr, Gto, Lrr, Oldest, Placed, Policy, Srr, View};

/// An exec phase and the idle phase after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PhasePair {
    /// Length of the exec phase, at least 1.
    pub exec: Cycles,
    /// Length of the idle phase after it; zero for none, then the warp is ready again at once.
    pub idle: Cycles,
}

/// A warp as a sequence of phases.
pub type PhaseWarp = Vec<PhasePair>;

/// When an exec phase ran, and until when the idle phase after it lasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseRun {
    /// The warp.
    pub warp: usize,
    /// Which of its pairs.
    pub index: usize,
    /// When the warp could have started it.
    pub ready: Cycle,
    /// Start of the exec phase.
    pub start: Cycle,
    /// End of the exec phase, start of the idle phase.
    pub exec_end: Cycle,
    /// End of the idle phase.
    pub idle_end: Cycle,
}

/// The policies that exist at this level. Two-level scheduling tells loads from other waits, which
/// phases do not.
pub const POLICIES: [SchedulerKind; 5] =
    [SchedulerKind::Gto, SchedulerKind::Lrr, SchedulerKind::Oldest, SchedulerKind::Srr, SchedulerKind::Gsrr];

/// Runs warps under a policy of [`POLICIES`], calling `on_run` for each exec phase in order. The
/// makespan is the end of the last phase, idle phases included. `None` for other policies, for
/// more warps than an SM holds, and for an exec phase of no length.
pub fn schedule(warps: &[PhaseWarp], policy: &SchedulerKind, on_run: impl FnMut(PhaseRun)) -> Option<Cycles> {
    if warps.len() > SLOTS || warps.iter().flatten().any(|pair| pair.exec == Cycles::ZERO) {
        return None;
    }
    match policy {
        SchedulerKind::Gto => Some(run(warps, &mut Gto::default(), on_run)),
        SchedulerKind::Lrr => Some(run(warps, &mut Lrr::default(), on_run)),
        SchedulerKind::Oldest => Some(run(warps, &mut Oldest, on_run)),
        SchedulerKind::Srr => Some(run(warps, &mut Srr::default(), on_run)),
        SchedulerKind::Gsrr => Some(run(warps, &mut Gsrr::default(), on_run)),
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
        let ask = !policy.is_work_conserving() || !view.ready.is_empty();
        // only replays fail, and they are no policy of this level
        let chosen = if ask { policy.choose(&view).unwrap_or(None) } else { None };
        let Some(warp) = chosen else {
            // what keeps a warp from its turn is an idle phase, so some phase is still to end
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

    fn starts(warps: &[PhaseWarp], policy: SchedulerKind) -> (Vec<(usize, u64)>, u64) {
        let mut starts = Vec::new();
        let makespan = schedule(warps, &policy, |run| starts.push((run.warp, run.start.get()))).unwrap();
        (starts, makespan.get())
    }

    #[test]
    fn idle_phases_run_beside_exec_phases_and_exec_phases_one_by_one() {
        let two = warps(&[&[(2, 3), (1, 4)], &[(4, 1), (1, 0)]]);
        // w0 [0,2) idle to 5; w1 [2,6) idle to 7; w0 [6,7) idle to 11; w1 [7,8)
        let expected = (vec![(0, 0), (1, 2), (0, 6), (1, 7)], 11);
        for policy in POLICIES {
            assert_eq!(starts(&two, policy.clone()), expected, "{policy}");
        }
    }

    #[test]
    fn policies_differ_where_several_warps_wait() {
        let three = warps(&[&[(1, 1), (1, 0)], &[(3, 0), (1, 0)], &[(1, 0)]]);
        assert_eq!(starts(&three, SchedulerKind::Lrr).0, [(0, 0), (1, 1), (2, 4), (0, 5), (1, 6)]);
        // w1 is ready again at once, and gto stays with it
        assert_eq!(starts(&three, SchedulerKind::Gto).0, [(0, 0), (1, 1), (1, 4), (0, 5), (2, 6)]);
        assert_eq!(starts(&three, SchedulerKind::Oldest).0, [(0, 0), (1, 1), (0, 4), (1, 5), (2, 6)]);
    }

    #[test]
    fn what_is_no_phase_schedule_is_refused() {
        let one = warps(&[&[(1, 1)]]);
        assert_eq!(schedule(&one, &SchedulerKind::TwoLevel, |_| {}), None);
        assert_eq!(schedule(&warps(&[&[(0, 1)]]), &SchedulerKind::Lrr, |_| {}), None);
        assert_eq!(schedule(&vec![one[0].clone(); SLOTS + 1], &SchedulerKind::Lrr, |_| {}), None);
        assert_eq!(schedule(&[], &SchedulerKind::Lrr, |_| {}), Some(Cycles::ZERO));
    }
}
