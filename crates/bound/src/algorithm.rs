//! Algorithm 1 of Jeanmougin et al., ECRTS 2025: the execution profile of a warp in isolation.
//!
//! The algorithm walks the instruction sequence once. Its state is one countdown per functional
//! unit, `FU_state` (the cycles for which initiations of earlier instructions still occupy it), and
//! one per register, `reg_state` (the cycles until its value is produced). For each instruction:
//!
//! 1. The wait is the longest countdown of its source registers (and, if the machine checks
//!    write-after-write hazards, of its destinations). If a wait ends before all units have
//!    finished, the paper's text says that the instruction is issued "in the current cycle". Taken
//!    literally, its result would be ready before its sources are. Our reading is that the
//!    instruction waits for its sources within the exec phase: time advances by the wait in step 3.
//! 2. If the wait is longer than the longest countdown of *any* unit, there is a window in which
//!    nothing can be initiated: the exec phase ends when the last unit becomes free, an idle phase
//!    follows until the wait is over, and a new exec phase starts there. Otherwise the instruction
//!    belongs to the current exec phase; in particular, a wait that ends exactly with the last
//!    initiation does not split the phase, since phases are maximal intervals.
//! 3. Time advances by the wait and the instruction issues: `FU_state += init` of its unit, and
//!    `reg_state := FU_state + lat` of its destinations (the paper's example 3 omits the remaining
//!    initiations there; `warpbound::model`, section 11). Time advances by one cycle.
//!
//! After the last instruction the exec phase is closed at the end of the last initiation, and a
//! tail extends to the latest `done` of *all* instructions, not just of the last one.
//!
//! **A phase has no holes.** Step 2 tests only the wait, and an instruction may also wait for its
//! unit after it issued; that cannot open a hole. Let g be the unit that is occupied longest, until
//! m. A unit with something queued initiates back to back. Consider the last instruction that was
//! issued to g while g was free. It was issued before now, and from its start until m, g initiates
//! without a gap. If the next instruction issues at `t <= m`, then `[t, m)` is covered by g; its
//! own start is at most m, since its unit is free by m; so the union of initiations stays one
//! interval up to the new latest end.
//!
//! **Countdowns are lazy.** Decrementing every countdown in every step would cost time in
//! proportion to registers and units. A countdown is stored as the elapsed time at which it reaches
//! zero; the remaining time is that minus the elapsed time, if positive. The longest countdown of
//! all units is stored separately: an instruction only ever lengthens the countdown of its unit. A
//! step costs time in proportion to the registers of its instruction. Likewise nothing is cleared
//! between two runs: time advances until every countdown has reached zero, which *is* the empty
//! machine.

use super::operands::{ready, stall, timing, written};
use super::phase::{Event, Phase, PhaseKind};
use warpbound_core::base::{Cycle, Cycles, RegId};
use warpbound_core::machine::OpTiming;
use warpbound_core::path::Step;
use warpbound_core::program::{Flow, TimingTable};

/// The extent of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The run goes to the end of the path; a barrier releases the lone warp at the barrier's own
    /// `done`.
    Path,
    /// The run goes up to and including the first barrier.
    Section,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// The number of steps consumed; the warp's last step counts even if it does not issue.
    pub steps: usize,
    /// The number of instructions issued.
    pub instructions: u64,
    /// The end of the last phase, C(w).
    pub isolated: Cycles,
    /// The sum of the exec phases, E(w).
    pub exec: Cycles,
    /// The end of the last initiation, or the `done` of the barrier that ends the section if that
    /// is later.
    pub settled: Cycles,
}

/// A countdown, stored as the elapsed time at which it reaches zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Countdown(Cycle);

impl Countdown {
    /// Returns the cycles that remain of it.
    fn remaining(self, elapsed: Cycle) -> Cycles {
        self.0.max(elapsed) - elapsed
    }
}

/// The state of the algorithm.
#[derive(Clone, Debug)]
pub(super) struct Countdowns {
    elapsed: Cycle,
    /// The elapsed time at which the current run, or else the last one, began.
    origin: Cycle,
    fu_state: Vec<Countdown>,
    reg_state: Vec<Countdown>,
    /// The longest countdown in `fu_state`.
    longest_fu: Countdown,
    /// The countdown until the barrier at which the warp waits releases it, or until a stall count
    /// lets it issue again.
    release: Countdown,
    /// The longest countdown of anything, including registers that have been overwritten since.
    longest: Countdown,
}

/// Elapsed times beyond this limit are reset to zero between two runs. One run adds less than the
/// remaining range: at most 2^28 instructions of at most 2^33 cycles each.
const REWIND: Cycle = Cycle::new(1 << 62);

impl Countdowns {
    /// Creates the empty machine at elapsed time zero.
    pub(super) fn new(table: &TimingTable) -> Self {
        Self {
            elapsed: Cycle::ZERO,
            origin: Cycle::ZERO,
            fu_state: vec![Countdown::default(); table.units()],
            reg_state: vec![Countdown::default(); table.regs()],
            longest_fu: Countdown::default(),
            release: Countdown::default(),
            longest: Countdown::default(),
        }
    }

    /// Advances time until nothing is in flight.
    fn run_down(&mut self) {
        self.elapsed += self.longest.remaining(self.elapsed);
        if self.elapsed > REWIND {
            self.fu_state.fill(Countdown::default());
            self.reg_state.fill(Countdown::default());
            self.longest_fu = Countdown::default();
            self.longest = Countdown::default();
            self.elapsed = Cycle::ZERO;
        }
    }

    /// Returns the registers whose value, in the last run, becomes available later than `from`
    /// cycles after the run's start, each with the number of cycles after the start at which it
    /// does. Every value written before that run was available when it started.
    pub(super) fn in_flight(&self, from: Cycles) -> Vec<(RegId, Cycles)> {
        let regs = self.reg_state.iter().enumerate();
        let later = regs.filter(|(_, available)| available.0 > self.origin + from);
        later.map(|(reg, available)| (RegId::from_index(reg), available.0 - self.origin)).collect()
    }

    /// Returns how many cycles the instruction has to wait before it can issue.
    #[inline]
    fn wait(&self, table: &TimingTable, step: Step) -> Cycles {
        let from = self.elapsed.max(self.release.0);
        ready(table, step, from, |reg| self.reg_state[reg.index()].0) - self.elapsed
    }

    /// Issues the instruction now. Returns when it starts and when it is done, in elapsed time.
    #[inline]
    fn issue(&mut self, table: &TimingTable, step: Step, op: OpTiming) -> (Cycle, Cycle) {
        let fu_state = &mut self.fu_state[op.unit.index()];
        let start = self.elapsed + fu_state.remaining(self.elapsed);
        let free = start + op.init;
        let done = free + op.lat;
        *fu_state = Countdown(free);
        self.longest_fu.0 = self.longest_fu.0.max(free);
        self.longest.0 = self.longest.0.max(done);
        written(table, step, (Countdown(free), Countdown(done)), &mut self.reg_state);
        (start, done)
    }

    /// Runs the algorithm from the first of `steps`, on the empty machine. Calls `event` for each
    /// issued instruction and `phase` for each phase, in order; times count from the start of the
    /// run.
    #[inline]
    pub(super) fn run(
        &mut self,
        table: &TimingTable,
        steps: &[Step],
        extent: Extent,
        mut event: impl FnMut(Event, OpTiming),
        mut phase: impl FnMut(Phase),
    ) -> Profile {
        self.run_down();
        let origin = self.elapsed;
        self.origin = origin;
        self.release = Countdown(origin);
        let since = |instant: Cycle| Cycle::ZERO + (instant - origin);
        let mut profile = Profile::default();
        let mut exec_from = origin;
        for (index, &step) in (0..).zip(steps) {
            profile.steps += 1;
            if !table.issues(step) {
                break;
            }
            let wait = self.wait(table, step);
            let initiating = self.longest_fu.remaining(self.elapsed);
            if wait > initiating {
                let closed = self.elapsed + initiating;
                let opens = self.elapsed + wait;
                profile.exec += closed - exec_from;
                phase(Phase { kind: PhaseKind::Exec, start: since(exec_from), end: since(closed) });
                phase(Phase { kind: PhaseKind::Idle, start: since(closed), end: since(opens) });
                exec_from = opens;
            }
            self.elapsed += wait;
            let op = timing(table, step);
            let (start, done) = self.issue(table, step, op);
            let issue = since(self.elapsed);
            event(Event { index, issue, start: since(start), done: since(done) }, op);
            profile.instructions += 1;
            let again = self.elapsed + stall(table, step);
            self.release = Countdown(again);
            self.elapsed += Cycles::ONE;
            if table.instr(step.pc()).flow == Flow::Barrier {
                let over = done.max(again);
                profile.settled = over - origin;
                if extent == Extent::Section {
                    self.longest.0 = self.longest.0.max(again);
                    break;
                }
                self.release = Countdown(over);
            }
        }
        if profile.instructions == 0 {
            return profile;
        }
        // every initiation takes at least one cycle, so the last phase closes at or after now
        let closed = self.longest_fu.0;
        let end = self.longest.0;
        profile.exec += closed - exec_from;
        profile.isolated = end - origin;
        profile.settled = profile.settled.max(closed - origin);
        phase(Phase { kind: PhaseKind::Exec, start: since(exec_from), end: since(closed) });
        if end > closed {
            phase(Phase { kind: PhaseKind::Idle, start: since(closed), end: since(end) });
        }
        profile
    }
}
