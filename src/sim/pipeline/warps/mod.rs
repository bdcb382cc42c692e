//! The warps of an SM: what each does next, and what of the registers, of control codes, of fences and atomics under way
//! holds it.
//!
//! What goes on elsewhere comes in as calls: an instruction issues, is complete, its sources are read, memory has
//! answered. The answer is whether somebody has to look at the warp again.

mod codes;
mod hazards;
mod scoreboard;

use super::code::{Code, Instr};
use super::load_store::Parts;
use super::per::{Per, PerSlot};
use super::place::KINDS;
use crate::base::{Pc, WarpMask};
use crate::path::{LineUse, Step, WarpPath};
use crate::sim::ops::issuing;
use codes::Held;
use scoreboard::{Scoreboard, SlotPair};

/// A warp slot.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Warp {
    /// What the next step waits for, if it waits simply: for registers in two words, and nothing else.
    waits: SlotPair,
    /// Index of the next step.
    next: u32,
    /// Steps that take an issue slot.
    steps: u32,
    /// The next step, if there is one.
    step: Step,
    /// Instructions under way.
    in_flight: u32,
    /// Transactions of stores that memory has not acknowledged.
    stores: u32,
    /// Transactions of atomics that are under way.
    atomics: u32,
    /// Next group of memory traffic in the path.
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
    /// Where it is in the path.
    pub index: u32,
    /// The kind of unit that it goes to.
    pub kind: u8,
}

/// What the end of an instruction means for its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Completed {
    /// Whether its next instruction has to be looked at again.
    pub wakes: bool,
    /// Whether nothing of it is under way any more, but for stores.
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
    /// What control codes hold back, where they count.
    codes: Option<Box<Held>>,
    /// Whether the policy asks who waits for global memory, and those that do.
    tracks_global: bool,
    global: WarpMask,
    /// Whether nothing but registers and fences keeps an instruction from issuing, and nobody asks what they wait for.
    only_registers: bool,
    /// Warps whose next instruction has no hazard.
    clear: WarpMask,
    /// Per kind of unit: warps whose next instruction goes there.
    wants: Per<WarpMask, KINDS>,
    /// Warps that wait for a fence or an atomic; those of a fence.
    held: WarpMask,
    fenced: WarpMask,
}

impl<'a> Warps<'a> {
    /// So many slots. `tracks_global`: whether the policy asks who waits for global memory.
    pub fn new(code: &'a Code<'a>, slots: usize, tracks_global: bool) -> Self {
        let barriers = code.table.barriers();
        Self {
            code,
            warps: PerSlot::new(|_| NO_WARP),
            last_issues: PerSlot::new(|_| 0),
            paths: Box::new(PerSlot::new(|_| WarpPath::default())),
            scoreboard: Scoreboard::new(code.table, slots, tracks_global),
            codes: barriers.map(|barriers| Box::new(Held::new(barriers))),
            tracks_global,
            global: WarpMask::empty(),
            only_registers: !tracks_global && barriers.is_none(),
            clear: WarpMask::empty(),
            wants: Per::new(|_| WarpMask::empty()),
            held: WarpMask::empty(),
            fenced: WarpMask::empty(),
        }
    }

    /// Whether nothing but registers and fences keeps an instruction from issuing, nobody asks what they wait for, and
    /// no register has two instructions under way that write it.
    #[inline(always)]
    pub fn are_plain(&self) -> bool {
        self.only_registers && self.scoreboard.is_plain()
    }

    /// A warp begins, whose path is [there](Self::exchange_path). What it does first is [still to be
    /// looked at](Self::look_at_next).
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

    /// A path comes to a slot, or back from it.
    pub fn exchange_path(&mut self, slot: usize, path: &mut WarpPath) {
        std::mem::swap(&mut self.paths[slot], path);
    }

    /// The steps of the warp in a slot.
    pub fn steps(&self, slot: usize) -> &[Step] {
        self.paths[slot].steps()
    }

    /// A line of the memory traffic of a warp.
    #[inline]
    pub fn line(&self, slot: usize, number: u32) -> LineUse {
        self.paths[slot].traffic()[number as usize]
    }

    /// Those whose next instruction has no hazard.
    #[inline(always)]
    pub fn clear(&self) -> WarpMask {
        self.clear
    }

    /// Those that a fence or an atomic holds.
    #[inline(always)]
    pub fn held(&self) -> WarpMask {
        self.held
    }

    /// Those whose next instruction goes to this kind of unit.
    #[inline(always)]
    pub fn wanting(&self, kind: usize) -> WarpMask {
        self.wants[kind]
    }

    /// Those whose next instruction waits for global memory, if the policy asks for it.
    pub fn waiting_for_global(&self) -> Option<WarpMask> {
        self.tracks_global.then_some(self.global)
    }

    /// The next step of a warp, if there is one.
    #[inline]
    pub fn next_step(&self, slot: usize) -> Option<Step> {
        let warp = &self.warps[slot];
        warp.has_next.then_some(warp.step)
    }

    #[inline]
    pub fn has_next(&self, slot: usize) -> bool {
        self.warps[slot].has_next
    }

    /// How many steps a warp has issued, and in which cycle the last of them.
    pub fn issued(&self, slot: usize) -> (u32, u64) {
        (self.warps[slot].next, self.last_issues[slot])
    }

    /// How many steps it has left to issue.
    pub fn left(&self, slot: usize) -> u32 {
        self.warps[slot].steps - self.warps[slot].next
    }

    /// The last cycle in which something of a warp was done.
    pub fn last_done(&self, slot: usize) -> u64 {
        self.warps[slot].last_done
    }

    /// Whether nothing of a warp is under way.
    #[inline]
    pub fn rests(&self, slot: usize) -> bool {
        self.warps[slot].in_flight == 0 && self.warps[slot].stores == 0
    }

    /// The next instruction of a warp, which it has.
    #[inline(always)]
    pub fn next(&self, slot: usize) -> Issuing {
        let Warp { step, next, kind, .. } = self.warps[slot];
        Issuing { step, index: next, kind }
    }

    /// It issues.
    #[inline(always)]
    pub fn issue(&mut self, slot: usize, now: u64) {
        let warp = &mut self.warps[slot];
        warp.next = warp.next.wrapping_add(1);
        warp.in_flight = warp.in_flight.wrapping_add(1);
        self.last_issues[slot] = now;
    }

    /// Looks at what comes after the step that has issued: which unit it wants, and whether a hazard holds it. Its address,
    /// if there is one.
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
        Some(step.pc().get())
    }

    /// What an access that issues asks of memory, if it `moves` lines: the end of its traffic, and its transactions.
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

    /// So many transactions of a store set out.
    pub fn store(&mut self, slot: usize, transactions: u32) {
        self.warps[slot].stores += transactions;
    }

    /// One of them is acknowledged.
    pub fn stored(&mut self, slot: usize, now: u64) {
        let warp = &mut self.warps[slot];
        warp.stores -= 1;
        warp.last_done = warp.last_done.max(now);
    }

    /// So many transactions of an atomic are under way, which hold the warp.
    pub fn hold(&mut self, slot: usize, transactions: u32) {
        if transactions > 0 {
            self.warps[slot].atomics += transactions;
            self.held |= WarpMask::slot(slot);
        }
    }
}
