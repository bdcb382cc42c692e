//! The warps of an SM: the next instruction of each, and the registers, control codes, fences and
//! atomics in flight that hold it.
//!
//! Events elsewhere are passed in as calls: an instruction issues or completes, its sources are
//! read, or memory has answered. The return value says whether the warp has to be considered for
//! issue again.

mod codes;
mod hazards;
mod scoreboard;
mod stalls;

use super::code::{Code, Instr};
use super::latch_entry::KINDS;
use super::load_store::Parts;
use super::per::{Per, PerSlot};
use crate::ops::issuing;
use codes::Held;
use scoreboard::{Scoreboard, SlotPair};
use warpbound_core::base::{Pc, WarpMask};
use warpbound_core::path::{LineUse, Step, WarpPath};

/// A warp slot.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Warp {
    /// The registers that the next step waits for, if it waits simply: for registers in two words
    /// only.
    waits: SlotPair,
    /// The index of the next step.
    next: u32,
    /// The number of steps that take an issue slot.
    steps: u32,
    /// The next step, if there is one.
    step: Step,
    /// The number of instructions in flight.
    in_flight: u32,
    /// The number of store transactions that memory has not acknowledged.
    stores: u32,
    /// The number of transactions of atomics in flight.
    atomics: u32,
    /// The index of the next group of memory traffic in the path.
    traffic: u32,
    /// The kind of unit that the next step goes to.
    kind: u8,
    /// Whether there is a next step.
    has_next: bool,
    waits_simply: bool,
    last_done: u64,
}

const _: () = assert!(size_of::<Warp>() == 64);

const NO_WARP: Warp = Warp {
    waits: SlotPair::NONE,
    next: 0,
    steps: 0,
    step: Step::plain(Pc::new(0)),
    in_flight: 0,
    stores: 0,
    atomics: 0,
    traffic: 0,
    kind: 0,
    has_next: false,
    waits_simply: false,
    last_done: 0,
};

/// An instruction that issues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issuing {
    pub step: Step,
    /// Its index in the path.
    pub index: u32,
    /// The kind of unit that it goes to.
    pub kind: u8,
}

/// The effect of a completion on the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completed {
    /// Whether its next instruction has to be considered for issue again.
    pub wakes: bool,
    /// Whether none of its instructions is in flight any more, except for stores.
    pub over: bool,
}

/// The warps of an SM, by slot.
#[derive(Clone, Debug)]
pub(super) struct Warps<'a> {
    code: &'a Code<'a>,
    warps: PerSlot<Warp>,
    last_issues: PerSlot<u64>,
    paths: Box<PerSlot<WarpPath>>,
    scoreboard: Scoreboard,
    /// The state of control codes, if the program has any.
    codes: Option<Box<Held>>,
    /// Whether the policy uses the set of warps that wait for global memory.
    tracks_global: bool,
    /// The warps whose next instruction waits for global memory, if the policy uses this.
    global: WarpMask,
    /// Whether nothing but registers and fences keeps an instruction from issuing, and the policy
    /// does not need to know which warps wait for global memory.
    only_registers: bool,
    /// The warps whose next instruction has no hazard.
    clear: WarpMask,
    /// For each kind of unit, the warps whose next instruction goes there.
    wants: Per<WarpMask, KINDS>,
    /// The warps that wait for a fence or an atomic.
    held: WarpMask,
    /// The warps that wait for a fence.
    fenced: WarpMask,
}

impl<'a> Warps<'a> {
    /// Creates this many slots. `tracks_global` says whether the policy needs to know which warps
    /// wait for global memory.
    pub fn new(code: &'a Code<'a>, slots: usize, tracks_global: bool) -> Self {
        let barriers = code.table.barriers();
        Self {
            code,
            warps: PerSlot::new(|_| NO_WARP),
            last_issues: PerSlot::new(|_| 0),
            paths: Box::new(PerSlot::new(|_| WarpPath::default())),
            scoreboard: Scoreboard::new(code.table, slots, tracks_global),
            codes: barriers.map(|_| Box::new(Held::new())),
            tracks_global,
            global: WarpMask::empty(),
            only_registers: !tracks_global && barriers.is_none(),
            clear: WarpMask::empty(),
            wants: Per::new(|_| WarpMask::empty()),
            held: WarpMask::empty(),
            fenced: WarpMask::empty(),
        }
    }

    /// Returns whether nothing but registers and fences keeps an instruction from issuing, the
    /// policy does not need to know which warps wait for global memory, and no two instructions in
    /// flight can write the same register.
    #[inline(always)]
    pub fn are_plain(&self) -> bool {
        self.only_registers && self.scoreboard.is_plain()
    }

    /// Starts a warp, whose path must be [in the slot](Self::exchange_path). Its first step must be
    /// [looked at](Self::look_at_next) afterwards.
    pub fn begin(&mut self, slot: usize, now: u64) {
        let steps = issuing(&self.paths[slot], self.code.table).len() as u32;
        let warp = &mut self.warps[slot];
        (warp.next, warp.steps, warp.traffic) = (0, steps, 0);
        warp.last_done = now;
        self.last_issues[slot] = now;
        if let Some(held) = &mut self.codes {
            held.start(slot);
        }
    }

    /// Exchanges the path in a slot, when a warp begins or ends.
    pub fn exchange_path(&mut self, slot: usize, path: &mut WarpPath) {
        std::mem::swap(&mut self.paths[slot], path);
    }

    /// Returns the steps of the warp in a slot.
    pub fn steps(&self, slot: usize) -> &[Step] {
        self.paths[slot].steps()
    }

    /// Returns a line of the memory traffic of a warp.
    #[inline]
    pub fn line(&self, slot: usize, number: u32) -> LineUse {
        self.paths[slot].traffic()[number as usize]
    }

    /// Returns the warps whose next instruction has no hazard.
    #[inline(always)]
    pub fn clear(&self) -> WarpMask {
        self.clear
    }

    /// Returns the warps that a fence or an atomic holds.
    #[inline(always)]
    pub fn held(&self) -> WarpMask {
        self.held
    }

    /// Returns the warps whose next instruction goes to this kind of unit.
    #[inline(always)]
    pub fn wanting(&self, kind: usize) -> WarpMask {
        self.wants[kind]
    }

    /// Returns the warps whose next instruction waits for global memory, if the policy uses this.
    pub fn waiting_for_global(&self) -> Option<WarpMask> {
        self.tracks_global.then_some(self.global)
    }

    /// Returns the next step of a warp, if there is one.
    #[inline]
    pub fn next_step(&self, slot: usize) -> Option<Step> {
        let warp = &self.warps[slot];
        warp.has_next.then_some(warp.step)
    }

    #[inline]
    pub fn has_next(&self, slot: usize) -> bool {
        self.warps[slot].has_next
    }

    /// Returns the number of steps that a warp has issued, and the cycle of the last issue.
    pub fn issued(&self, slot: usize) -> (u32, u64) {
        (self.warps[slot].next, self.last_issues[slot])
    }

    /// Returns the number of steps that it has left to issue.
    pub fn left(&self, slot: usize) -> u32 {
        self.warps[slot].steps - self.warps[slot].next
    }

    /// Returns the last cycle in which an instruction or a store of a warp completed.
    pub fn last_done(&self, slot: usize) -> u64 {
        self.warps[slot].last_done
    }

    /// Returns whether a warp has no instruction in flight and no unacknowledged store.
    #[inline]
    pub fn rests(&self, slot: usize) -> bool {
        self.warps[slot].in_flight == 0 && self.warps[slot].stores == 0
    }

    /// Returns the next instruction of a warp, which must exist.
    #[inline(always)]
    pub fn next(&self, slot: usize) -> Issuing {
        let Warp { step, next, kind, .. } = self.warps[slot];
        Issuing { step, index: next, kind }
    }

    /// Issues the next instruction of a warp.
    #[inline(always)]
    pub fn issue(&mut self, slot: usize, now: u64) {
        let warp = &mut self.warps[slot];
        warp.next = warp.next.wrapping_add(1);
        warp.in_flight = warp.in_flight.wrapping_add(1);
        self.last_issues[slot] = now;
    }

    /// Records that the instruction that a warp has issued will complete in this cycle, if nothing waits
    /// for that but the end of the warp.
    #[inline(always)]
    pub fn will_complete(&mut self, slot: usize, done: u64) {
        let warp = &mut self.warps[slot];
        warp.in_flight = warp.in_flight.wrapping_sub(1);
        warp.last_done = warp.last_done.max(done);
    }

    /// Returns the last cycle in which an instruction of any warp completes, as far as it is known.
    pub fn last_completion(&self) -> Option<u64> {
        self.warps.iter().map(|warp| warp.last_done).max()
    }

    /// Looks at the step after the one that has issued: determines its kind of unit and whether a
    /// hazard holds it. Returns its address, if there is such a step.
    #[inline(always)]
    pub fn look_at_next(&mut self, slot: usize, now: u64) -> Option<u32> {
        let warp = &mut self.warps[slot];
        let (bit, before) = (WarpMask::slot(slot), usize::from(warp.kind));
        warp.has_next = warp.next < warp.steps;
        if !warp.has_next {
            warp.waits_simply = false;
            self.wants[before] -= bit;
            self.follow(slot, now);
            return None;
        }
        let step = self.paths[slot].steps()[warp.next as usize];
        let instr = self.code.of(step);
        let kind = self.code.kind(step, instr);
        warp.step = step;
        warp.kind = kind;
        warp.waits = self.scoreboard.pair_of_slot(slot, instr.waits);
        warp.waits_simply = instr.waits_simply && self.only_registers;
        if before != usize::from(kind) {
            self.wants[before] -= bit;
        }
        self.wants[usize::from(kind)] |= bit;
        self.follow(slot, now);
        Some(self.code.table.place(step.pc()))
    }

    /// Determines the memory traffic of an access that issues, if it `moves` lines. Returns the end
    /// of its lines and the number of its transactions.
    pub fn claim_traffic(&mut self, slot: usize, parts: Parts, moves: bool) -> (u32, u32) {
        let first = self.warps[slot].traffic;
        let (mut lines, mut transactions) = (0, 0);
        if moves {
            for line in self.paths[slot].traffic().get(first as usize..).unwrap_or(&[]) {
                lines += 1;
                transactions += parts.count(line.sectors());
                if line.is_last() {
                    break;
                }
            }
        }
        self.warps[slot].traffic = first + lines;
        (first + lines, transactions)
    }

    /// Records that this many transactions of a store are sent.
    pub fn store(&mut self, slot: usize, transactions: u32) {
        self.warps[slot].stores += transactions;
    }

    /// Records that one of them is acknowledged.
    pub fn stored(&mut self, slot: usize, now: u64) {
        let warp = &mut self.warps[slot];
        warp.stores -= 1;
        warp.last_done = warp.last_done.max(now);
    }

    /// Records that this many transactions of an atomic are in flight; they hold the warp.
    pub fn hold(&mut self, slot: usize, transactions: u32) {
        if transactions > 0 {
            self.warps[slot].atomics += transactions;
            self.held |= WarpMask::slot(slot);
        }
    }
}
