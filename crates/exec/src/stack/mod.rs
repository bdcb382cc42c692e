//! The SIMT stack: the position of each lane of a warp, and the reconvergence points.
//!
//! An entry consists of the next instruction, the lanes that run there and the point where they
//! rejoin the entries below (npc, mask and rpc of Adalbert et al., ERTS 2022, section III.A). Only
//! the top entry runs. Two mechanisms ([`Reconvergence`]) share the entries and differ in what
//! opens and closes a region of divergent code:
//!
//! * `post_dominator.rs`: a divergent branch opens it, and arrival at the branch's post-dominator
//!   closes it;
//! * `pascal.rs`: SSY or PBK opens it, and SYNC or BRK closes it, whether or not a branch diverges.
//!
//! In both the taken side is on top, so it runs first. Machine code since Volta may turn to another
//! path before the running one ends (`independent.rs`). The common operations (advancing, ending
//! lanes, calls) are the same in both, so the hot path need not distinguish them.
//!
//! A call opens a frame: the entries above its base belong to the callee, and when all of them have
//! been removed, the caller's entry continues.

mod independent;
#[cfg(test)]
mod independent_tests;
mod pascal;
mod post_dominator;

use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::machine::Reconvergence;
use warpbound_core::program::sem::Region;

/// The limit on the depth of nested calls. Deeper calls are rejected, even if the stack has room.
const MAX_FRAMES: usize = 1 << 16;

/// One entry of a [`SimtStack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The next instruction.
    pub npc: Pc,
    /// The point where the lanes rejoin the entry below; [`SimtStack::END`] if they stay apart
    /// until they end or return.
    pub rpc: Pc,
    /// The lanes.
    pub mask: LaneMask,
    within: Within,
}

/// The event that closes the region in which an entry runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// The end of the kernel or function.
    Function,
    /// Arrival at the rpc, which the decoder of a language without reconvergence instructions
    /// determined.
    Joined,
    /// SYNC, BRK or BSYNC.
    Explicit(Region),
    /// ENDCOLLECTIVE.
    Collective,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// The number of entries below the callee's first one.
    base: usize,
    /// The call instruction.
    call: Pc,
    /// The activation that runs in the frame.
    activation: Activation,
    /// The start of the calling function's frame in local memory.
    caller_local: u64,
}

/// An activation of a function: its number, and the position of its frame in local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Activation {
    /// The number of the function in the program.
    pub(super) function: u32,
    /// The start of its frame; that of its caller's frame if it has none.
    pub(super) local: u64,
    /// The start of free local memory.
    pub(super) free: u64,
}

/// The SIMT stack of one warp.
///
/// Invariant between calls: the stack is empty, or its top entry has lanes, has not arrived where
/// its region ends by itself, and lies above the base of the innermost frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimtStack {
    mechanism: Reconvergence,
    entries: Vec<Entry>,
    frames: Vec<Frame>,
    live: LaneMask,
    /// The paths that wait for others.
    waiting: Vec<independent::Waiting>,
    /// The lanes of paths that have yielded since their last turn.
    yielded: LaneMask,
    /// Whether lanes have left the region of a barrier of convergence before its end.
    left_early: bool,
    /// Whether paths of the warp were at different barriers of the block at the same time.
    scattered: bool,
}

impl SimtStack {
    /// The rpc of lanes that rejoin nowhere. Adalbert et al. take the last address of the memory,
    /// which need not hold an instruction; this address never does.
    pub const END: Pc = Pc::new(u32::MAX);

    /// Creates an empty stack.
    pub fn new(mechanism: Reconvergence) -> Self {
        Self { mechanism, ..Self::default() }
    }

    /// Starts `lanes` at the beginning of the kernel.
    pub fn start(&mut self, lanes: LaneMask) {
        self.entries.clear();
        self.frames.clear();
        self.waiting.clear();
        (self.live, self.yielded) = (lanes, LaneMask::empty());
        (self.left_early, self.scattered) = (false, false);
        if !lanes.is_empty() {
            self.entries.push(Entry::function_entry(Pc::new(0), lanes));
        }
    }

    /// Returns the entries, bottom first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the next instruction and the lanes that run it; `None` if all lanes have ended.
    #[inline]
    pub fn top(&self) -> Option<(Pc, LaneMask)> {
        self.entries.last().map(|entry| (entry.npc, entry.mask))
    }

    /// Returns the lanes that have not ended.
    pub fn live(&self) -> LaneMask {
        self.live
    }

    /// Returns the lanes in this set that can only end: they wait, outside of every call, at an
    /// instruction for which `ends` holds.
    pub(super) fn leaving(&self, lanes: LaneMask, ends: impl Fn(Pc) -> bool) -> LaneMask {
        let in_kernel = self.frames.first().map_or(self.entries.len(), |frame| frame.base);
        self.at(lanes, |index, entry| index < in_kernel && ends(entry.npc))
    }

    /// Returns the lanes in this set that wait for `others` at the end of a region, or are at an
    /// instruction for which `closes` holds and will wait there.
    pub(super) fn awaiting(
        &self,
        lanes: LaneMask,
        others: LaneMask,
        closes: impl Fn(Pc) -> bool,
    ) -> LaneMask {
        self.at(lanes, |_, entry| entry.mask.intersects(others) || closes(entry.npc))
    }

    /// Returns the lanes in this set that are at an entry for which `holds` holds.
    fn at(&self, lanes: LaneMask, holds: impl Fn(usize, &Entry) -> bool) -> LaneMask {
        let (mut left, mut found) = (lanes, LaneMask::empty());
        for (index, entry) in self.entries.iter().enumerate().rev() {
            // a lane is at the highest entry that contains it
            let here = entry.mask & left;
            left.remove(here);
            if holds(index, entry) {
                found |= here;
            }
        }
        found
    }

    /// Advances to the next instruction.
    #[inline]
    pub fn advance(&mut self) {
        if let Some(top) = self.entries.last_mut() {
            top.npc = following(top.npc);
            if top.rpc == top.npc {
                self.settle();
            }
        }
    }

    /// Returns the end of a straight run of the active lanes that goes at most to `end`: `end`, or
    /// the end of their region.
    #[inline]
    pub(super) fn straight_until(&self, end: Pc) -> Pc {
        match self.entries.last() {
            Some(top) if top.npc < top.rpc && top.rpc < end => top.rpc,
            _ => end,
        }
    }

    /// Advances to a later instruction, at the end of a straight run.
    #[inline]
    pub(super) fn advance_to(&mut self, pc: Pc) {
        if let Some(top) = self.entries.last_mut() {
            top.npc = pc;
            if top.rpc == pc {
                self.settle();
            }
        }
    }

    /// Executes a branch that `taken` of the active lanes take. `join` is its immediate
    /// post-dominator, if the program relies on it. A branch that all or no lanes take does not
    /// diverge.
    pub fn branch(&mut self, taken: LaneMask, target: Pc, join: Option<Pc>) {
        if self.mechanism == Reconvergence::PascalStack {
            self.open_joined(join);
        }
        let Some(top) = self.entries.last_mut() else { return };
        let taken = taken & top.mask;
        let stay = top.mask - taken;
        if stay.is_empty() {
            top.npc = target;
            self.settle();
        } else if taken.is_empty() {
            self.advance();
        } else {
            let next = following(top.npc);
            self.diverge(join, &[(next, stay), (target, taken)]);
        }
    }

    /// Executes a branch of all active lanes to one target per group; the groups are disjoint, and
    /// the first one runs first.
    pub fn branch_table(&mut self, groups: &[(Pc, LaneMask)], join: Option<Pc>) {
        if self.mechanism == Reconvergence::PascalStack {
            self.open_joined(join);
        }
        if let ([(target, _)], Some(top)) = (groups, self.entries.last_mut()) {
            top.npc = *target;
            self.settle();
        } else {
            let last_first: Vec<(Pc, LaneMask)> = groups.iter().rev().copied().collect();
            self.diverge(join, &last_first);
        }
    }

    /// Replaces the top entry by one per side, with the last of them on top.
    fn diverge(&mut self, join: Option<Pc>, sides: &[(Pc, LaneMask)]) {
        match self.mechanism {
            Reconvergence::PostDominator => self.diverge_until(join, sides),
            Reconvergence::PascalStack => self.diverge_within(sides),
        }
    }

    /// Calls the function at `target` with `lanes`, some of the active ones. Returns false if calls
    /// nest too deeply; the stack is unchanged then.
    pub fn call(&mut self, lanes: LaneMask, target: Pc) -> bool {
        self.call_all(&[(target, lanes, Activation::default())])
    }

    /// Calls several functions, each with its own lanes; the last one runs first. Returns false if
    /// calls nest too deeply.
    pub(super) fn call_all(&mut self, groups: &[(Pc, LaneMask, Activation)]) -> bool {
        let caller_local = self.local();
        let Some(top) = self.entries.last_mut() else { return true };
        if self.frames.len() + groups.len() > MAX_FRAMES {
            return false;
        }
        let call = top.npc;
        top.npc = following(call);
        for &(target, lanes, activation) in groups {
            // when this function has returned, the frame below it is on top: that of the group
            // before, if there is one
            self.frames.push(Frame { base: self.entries.len(), call, activation, caller_local });
            self.entries.push(Entry::function_entry(target, lanes));
        }
        true
    }

    /// Returns the number of open calls, including those that wait for their turn.
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns the running activation, and the start of its caller's frame; `None` in the kernel
    /// itself.
    pub(super) fn running(&self) -> Option<(Activation, u64)> {
        self.frames.last().map(|frame| (frame.activation, frame.caller_local))
    }

    /// Returns the start of the running function's frame in local memory.
    pub(super) fn local(&self) -> u64 {
        self.frames.last().map_or(0, |frame| frame.activation.local)
    }

    /// Returns the call instruction of the running function; `None` in the kernel itself.
    pub fn caller(&self) -> Option<Pc> {
        self.frames.last().map(|frame| frame.call)
    }

    /// Returns the position of the first entry of the running function.
    fn own(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.base)
    }

    /// Lets `lanes` return from the running function, or end if it is the kernel; the other active
    /// lanes continue.
    pub fn leave(&mut self, lanes: LaneMask) {
        let Some(frame) = self.frames.last() else { return self.end(lanes) };
        self.remove(frame.base, lanes);
    }

    /// Ends `lanes`, wherever they are; the other active lanes continue.
    pub fn end(&mut self, lanes: LaneMask) {
        self.live.remove(lanes);
        self.remove(0, lanes);
    }

    fn remove(&mut self, from: usize, lanes: LaneMask) {
        let Some(top) = self.entries.last_mut() else { return };
        // the remaining lanes of the top entry continue after the instruction
        top.npc = following(top.npc);
        for entry in &mut self.entries[from..] {
            entry.mask.remove(lanes);
        }
        self.settle();
    }

    /// Restores the invariant: drops entries that are empty or have arrived where their region ends
    /// by itself, and frames without entries.
    fn settle(&mut self) {
        loop {
            if self.frames.last().is_some_and(|frame| frame.base == self.entries.len()) {
                self.frames.pop();
                continue;
            }
            match self.entries.last() {
                Some(top) if top.mask.is_empty() || top.has_joined() => {
                    self.entries.pop();
                }
                _ => break,
            }
        }
        if !self.yielded.is_empty()
            && let Some(top) = self.entries.last()
        {
            self.yielded.remove(top.mask);
        }
        if !self.waiting.is_empty() {
            self.settle_waiting();
        }
    }
}

impl Entry {
    /// Creates the entry of lanes at the beginning of a kernel or function.
    fn function_entry(npc: Pc, mask: LaneMask) -> Self {
        Self { npc, rpc: SimtStack::END, mask, within: Within::Function }
    }

    fn has_joined(&self) -> bool {
        self.within == Within::Joined && self.rpc == self.npc
    }
}

fn following(pc: Pc) -> Pc {
    Pc::new(pc.get().saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(bits: u32) -> LaneMask {
        LaneMask::from_bits_retain(bits)
    }

    fn started_with(mechanism: Reconvergence) -> SimtStack {
        let mut stack = SimtStack::new(mechanism);
        stack.start(lanes(0xf));
        stack
    }

    fn started() -> SimtStack {
        started_with(Reconvergence::PostDominator)
    }

    fn top(stack: &SimtStack) -> Option<(u32, u32)> {
        stack.top().map(|(pc, mask)| (pc.get(), mask.bits()))
    }

    #[test]
    fn taken_side_runs_first_then_the_other_then_both() {
        // 0: bra 3 (joins at 4); 1; 2: bra 4; 3; 4
        let mut stack = started();
        stack.branch(lanes(0b0110), Pc::new(3), Some(Pc::new(4)));
        assert_eq!(top(&stack), Some((3, 0b0110)));
        stack.advance();
        assert_eq!(top(&stack), Some((1, 0b1001)));
        stack.advance();
        stack.branch(lanes(0b1001), Pc::new(4), None);
        assert_eq!(top(&stack), Some((4, 0xf)));
        assert_eq!(stack.entries.len(), 1);
    }

    #[test]
    fn a_branch_of_all_or_none_does_not_diverge() {
        let mut stack = started();
        stack.branch(lanes(0xf), Pc::new(7), Some(Pc::new(9)));
        assert_eq!(top(&stack), Some((7, 0xf)));
        stack.branch(lanes(0), Pc::new(2), Some(Pc::new(9)));
        assert_eq!(top(&stack), Some((8, 0xf)));
    }

    #[test]
    fn loops_do_not_grow_the_stack() {
        // lane k leaves the loop at 5..=6 after k iterations; the join is 7
        let mut stack = started();
        for round in 0..3 {
            stack.branch(lanes(0xf & !((2 << round) - 1)), Pc::new(0), Some(Pc::new(1)));
            assert_eq!(stack.entries.len(), 2);
        }
        stack.branch(lanes(0), Pc::new(0), Some(Pc::new(1)));
        assert_eq!(top(&stack), Some((1, 0xf)));
    }

    #[test]
    fn without_a_join_lanes_stay_apart() {
        let mut stack = started();
        stack.branch(lanes(0b0011), Pc::new(5), None);
        assert_eq!(top(&stack), Some((5, 0b0011)));
        stack.end(lanes(0b0001));
        assert_eq!(top(&stack), Some((6, 0b0010)));
        stack.end(lanes(0b0010));
        assert_eq!(top(&stack), Some((1, 0b1100)));
        stack.leave(lanes(0b1100));
        assert_eq!((top(&stack), stack.live()), (None, lanes(0)));
    }

    #[test]
    fn an_endless_region_still_stops_at_the_outer_join() {
        let mut stack = started();
        stack.branch(lanes(0b0011), Pc::new(5), Some(Pc::new(9)));
        stack.branch(lanes(0b0001), Pc::new(8), None);
        assert_eq!(top(&stack), Some((8, 0b0001)));
        stack.advance();
        assert_eq!(top(&stack), Some((6, 0b0010)));
    }

    #[test]
    fn calls_return_to_the_caller_with_its_lanes() {
        let mut stack = started();
        assert!(stack.call(lanes(0b0111), Pc::new(20)));
        assert_eq!((top(&stack), stack.caller()), (Some((20, 0b0111)), Some(Pc::new(0))));
        // one lane returns early, one ends inside, one returns last
        stack.branch(lanes(0b0001), Pc::new(30), None);
        stack.leave(lanes(0b0001));
        assert_eq!(top(&stack), Some((21, 0b0110)));
        stack.end(lanes(0b0010));
        assert_eq!(top(&stack), Some((22, 0b0100)));
        stack.leave(lanes(0b0100));
        assert_eq!((top(&stack), stack.caller()), (Some((1, 0b1101)), None));
        assert_eq!(stack.live(), lanes(0b1101));
    }

    #[test]
    fn a_join_inside_a_function_is_not_one_of_its_caller() {
        let mut stack = started();
        stack.branch(lanes(0b0011), Pc::new(5), Some(Pc::new(7)));
        assert!(stack.call(lanes(0b0011), Pc::new(6)));
        stack.advance();
        assert_eq!(top(&stack), Some((7, 0b0011)), "pc 7 is in the callee here");
        stack.leave(lanes(0b0011));
        assert_eq!(top(&stack), Some((6, 0b0011)));
        stack.advance();
        assert_eq!(top(&stack), Some((1, 0b1100)));
    }

    #[test]
    fn tables_run_the_first_group_first() {
        let mut stack = started();
        let groups = [(Pc::new(9), lanes(1)), (Pc::new(4), lanes(6)), (Pc::new(6), lanes(8))];
        stack.branch_table(&groups, Some(Pc::new(6)));
        assert_eq!(top(&stack), Some((9, 1)));
        stack.end(lanes(1));
        assert_eq!(top(&stack), Some((4, 6)));
        stack.advance();
        stack.advance();
        assert_eq!(top(&stack), Some((6, 0xe)));
    }

    #[test]
    fn calls_nest_so_deep_and_no_deeper() {
        let mut stack = started();
        assert!((0..MAX_FRAMES).all(|_| stack.call(lanes(1), Pc::new(0))));
        assert!(!stack.call(lanes(1), Pc::new(0)));
    }

    #[test]
    fn lanes_with_different_targets_run_one_after_the_other_and_go_on_together() {
        for mechanism in [Reconvergence::PostDominator, Reconvergence::PascalStack] {
            let mut stack = started_with(mechanism);
            let at = |local| Activation { local, ..Activation::default() };
            let groups = [(Pc::new(40), lanes(0b0010), at(16)), (Pc::new(20), lanes(0b0101), at(16))];
            assert!(stack.call_all(&groups));
            assert_eq!((top(&stack), stack.local(), stack.depth()), (Some((20, 0b0101)), 16, 2));
            // the first target calls another function, which leaves the second where it is
            assert!(stack.call_all(&[(Pc::new(40), lanes(0b0100), at(32))]));
            assert_eq!((top(&stack), stack.local()), (Some((40, 0b0100)), 32));
            stack.leave(lanes(0b0100));
            stack.leave(lanes(0b0101));
            assert_eq!((top(&stack), stack.caller()), (Some((40, 0b0010)), Some(Pc::new(0))));
            stack.leave(lanes(0b0010));
            assert_eq!((top(&stack), stack.local(), stack.depth()), (Some((1, 0b1111)), 0, 0));
        }
    }
}
