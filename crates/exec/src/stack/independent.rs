//! Threads that are scheduled independently of each other, as on Volta and later.
//!
//! The entries of the stack are the nodes of a tree: the parent of an entry is the nearest one
//! below it that contains its lanes, and waits for them. Only the order of parents and children
//! matters to the other operations of the stack. The *leaves*, whose lanes are in no entry above
//! them, are paths that hardware may run in any order. This stack runs one until it ends or
//! rejoins, and turns to another one where machine code says that it may have to:
//!
//! * YIELD lets the other paths of the warp run, in turn. If none is left that has not yielded, the
//!   innermost barrier of convergence is cleared at which lanes wait for lanes that have all
//!   yielded (claim 1 of US patent 10,067,768, "Execution of divergent threads using a convergence
//!   barrier"). Compilers put a YIELD into loops in which lanes wait for a lane that has left the
//!   loop, as for a lock.
//! * WARPSYNC holds a path until the other lanes of its mask have arrived at a WARPSYNC of the same
//!   mask. Paths that arrive at the same place go on together. If nothing else of the warp can run,
//!   the path goes on alone: lanes that wait for it at the end of a region are not waited for.
//! * A barrier of the block holds a path likewise, until all lanes of the warp are there.
//! * BREAK takes lanes out of a region: those that wait at its end no longer wait for them.
//! * BSSY of a barrier of convergence in whose region its lanes already are clears that barrier
//!   first.
//! * From Hopper on, WARPSYNC.COLLECTIVE holds a path until the other lanes of its mask are at such
//!   an instruction, too. They execute the instructions up to ENDCOLLECTIVE together, and then each
//!   path goes on by itself.
//!
//! When a barrier is cleared, no lane waits at it any more: those that did are a path of their own,
//! and the others pass its BSYNC.
//!
//! Only the paths of the running function take turns. Those of its callers wait until it returns.

use super::{Entry, SimtStack, Within, following};
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::program::sem::Region;

/// A path that waits for other lanes of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The lanes of the path.
    lanes: LaneMask,
    /// What they wait for.
    until: Until,
    /// The instructions up to ENDCOLLECTIVE that they execute with the others first.
    part: Option<Pc>,
}

/// The event for which a path waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The arrival of these lanes at a WARPSYNC.
    Warp(LaneMask),
    /// The arrival of these lanes at a WARPSYNC.COLLECTIVE.
    Collective(LaneMask),
    /// The arrival of all lanes of the warp at a barrier of the block.
    Block,
}

impl Until {
    fn members(self) -> LaneMask {
        match self {
            Self::Warp(members) | Self::Collective(members) => members,
            Self::Block => LaneMask::ALL,
        }
    }
}

impl SimtStack {
    /// Executes YIELD, the top's next instruction: another path runs next, if there is one.
    pub fn let_others_run(&mut self) {
        self.advance();
        let Some(top) = self.entries.last() else { return };
        self.yielded |= top.mask;
        if let Some(next) = self.next_path(self.yielded) {
            return self.resume(next);
        }
        if let Some(parent) = self.clearable() {
            self.clear(parent);
            return self.resume(parent);
        }
        self.yielded = LaneMask::empty();
        if let Some(next) = self.next_path(LaneMask::empty()) {
            self.resume(next);
        }
    }

    /// Executes WARPSYNC, the top's next instruction, in these of its lanes: they wait for the other
    /// members, as long as these can still come.
    pub fn meet(&mut self, lanes: LaneMask, members: LaneMask) {
        let Some(before) = self.entries.last().map(|top| top.mask) else { return };
        self.advance();
        // lanes that have joined others by passing it wait for them already
        let apart = self.entries.last().is_some_and(|top| top.mask == before);
        if apart && !lanes.is_empty() && !before.contains(members & self.live) {
            self.waiting.push(Waiting { lanes: before, until: Until::Warp(members), part: None });
            self.settle_waiting();
        }
    }

    /// Executes WARPSYNC.COLLECTIVE, the top's next instruction, whose lanes go on at `onward` when
    /// they have executed the instructions behind it together with the other members.
    pub fn collect(&mut self, members: LaneMask, onward: Pc) {
        let Some(top) = self.entries.last_mut() else { return };
        let part = Some(following(top.npc));
        top.npc = onward;
        self.waiting.push(Waiting { lanes: top.mask, until: Until::Collective(members), part });
        self.settle_waiting();
    }

    /// Executes ENDCOLLECTIVE, the top's next instruction: each path goes on by itself. Returns
    /// false if the lanes are in no such part; the stack is unchanged then.
    pub fn end_collective(&mut self) -> bool {
        let ends = self.entries.last().is_some_and(|top| top.within == Within::Collective);
        if ends {
            self.entries.pop();
            self.settle();
        }
        ends
    }

    /// Lets the running path, which is at a barrier of the block, wait for the other lanes of its
    /// warp. Returns false if it need not wait, because no other path can run.
    pub(crate) fn gather(&mut self) -> bool {
        let Some(lanes) = self.entries.last().map(|top| top.mask) else { return false };
        let there = self.waiting.iter().any(|held| held.until == Until::Block);
        if self.scattered || !there && self.next_path(LaneMask::empty()).is_none() {
            return false;
        }
        self.waiting.push(Waiting { lanes, until: Until::Block, part: None });
        self.settle_waiting();
        true
    }

    /// Executes BREAK, the top's next instruction: these of its lanes leave the region.
    ///
    /// If only some of the running lanes do so, or if they are in a region within it, they stay
    /// until they reach the end of an outer region, because a path cannot be in two regions.
    pub fn quit(&mut self, region: Region, lanes: LaneMask) {
        let last = self.entries.len().saturating_sub(1);
        if let Some(top) = self.entries.last()
            && top.within == Within::Explicit(region)
            && top.mask == lanes
            && let Some(parent) = self.parent(last)
        {
            let Entry { mask, within, rpc, .. } = self.entries[parent];
            (self.entries[last].within, self.entries[last].rpc) = (within, rpc);
            self.keep(parent, mask - lanes);
        }
        self.advance();
    }

    /// Ends the region of the running lanes without joining them, if BSSY is about to open another
    /// one with the same barrier.
    pub(super) fn overwrite(&mut self, region: Region) {
        let Some(&Entry { within, .. }) = self.entries.last() else { return };
        if !matches!(region, Region::Barrier(_)) || within != Within::Explicit(region) {
            return;
        }
        if let Some(parent) = self.parent(self.entries.len() - 1) {
            self.clear(parent);
        }
    }

    /// Clears the barrier at whose end the lanes of this entry wait for others.
    fn clear(&mut self, parent: usize) {
        let Entry { mask: members, within: outer, rpc, .. } = self.entries[parent];
        let Some(region) = self.region_within(parent) else { return };
        let mut waiting = members;
        for entry in &mut self.entries[parent + 1..] {
            waiting.remove(entry.mask);
            if entry.within == region && members.contains(entry.mask) {
                (entry.within, entry.rpc) = (outer, rpc);
            }
        }
        self.keep(parent, waiting);
    }

    /// Leaves these lanes in an entry, after the others have left the region within it early. An entry
    /// without lanes is removed, so that the stack does not grow in a loop.
    fn keep(&mut self, parent: usize, lanes: LaneMask) {
        self.entries[parent].mask = lanes;
        if lanes.is_empty() {
            self.entries.remove(parent);
        }
        self.left_early = true;
    }

    /// Returns the innermost entry whose lanes wait at a barrier of convergence for lanes that have
    /// all yielded.
    fn clearable(&self) -> Option<usize> {
        let mut above = LaneMask::empty();
        for at in (self.own()..self.entries.len()).rev() {
            let mask = self.entries[at].mask;
            let (others, waiting) = (mask & above, mask - above);
            let barrier = matches!(self.region_within(at), Some(Within::Explicit(Region::Barrier(_))));
            if barrier && !waiting.is_empty() && self.yielded.contains(others) {
                return Some(at);
            }
            above |= mask;
        }
        None
    }

    /// Returns the region at whose end the lanes of an entry wait for others, if they do.
    fn region_within(&self, parent: usize) -> Option<Within> {
        let mask = self.entries[parent].mask;
        let inner = self.entries[parent + 1..].iter().find(|entry| entry.mask.intersects(mask));
        inner.map(|entry| entry.within)
    }

    /// Lets the paths go on that no longer wait for others, and turns to another path if the running
    /// one waits.
    pub(super) fn settle_waiting(&mut self) {
        let live = self.live;
        self.waiting.retain_mut(|held| {
            held.lanes &= live;
            !held.lanes.is_empty()
        });
        while let Some(until) = self.complete() {
            self.part(until);
        }
        let Some(top) = self.entries.last() else { return };
        let Some(held) = self.waiting.iter().find(|held| held.lanes.intersects(top.mask)) else { return };
        let until = held.until;
        match self.next_path(LaneMask::empty()) {
            Some(next) => self.resume(next),
            // no other lane can come any more
            None => self.part(until),
        }
    }

    /// Returns an event for which all expected lanes wait.
    fn complete(&self) -> Option<Until> {
        let expected = |until: Until| until.members() & self.live;
        let mut awaited = self.waiting.iter().map(|held| held.until);
        awaited.find(|&until| self.arrived(until).contains(expected(until)))
    }

    fn arrived(&self, until: Until) -> LaneMask {
        let here = self.waiting.iter().filter(|held| held.until == until);
        here.fold(LaneMask::empty(), |all, held| all | held.lanes)
    }

    /// Ends the waiting for an event. Its paths that continue at the same instruction become one.
    fn part(&mut self, until: Until) {
        let mut left = self.arrived(until);
        let ended: Vec<Waiting> = self.waiting.extract_if(.., |held| held.until == until).collect();
        let mut found = Vec::new();
        for at in (self.own()..self.entries.len()).rev() {
            let entry = self.entries[at];
            // the highest entry with these lanes is their path
            if entry.mask.intersects(left) {
                left.remove(entry.mask);
                found.push((at, self.parent(at)));
            }
        }
        // lanes that wait for different lanes at the end of a region stay apart
        let mut paths: Vec<(Option<usize>, Entry)> = Vec::new();
        for (at, parent) in found {
            let entry = self.entries.remove(at);
            let same = |(other, path): &&mut (Option<usize>, Entry)| {
                *other == parent && (path.npc, path.rpc, path.within) == (entry.npc, entry.rpc, entry.within)
            };
            match paths.iter_mut().find(same) {
                Some((_, path)) => path.mask |= entry.mask,
                None => paths.push((parent, entry)),
            }
        }
        self.scattered |= until == Until::Block && paths.len() > 1;
        self.entries.extend(paths.into_iter().rev().map(|(_, path)| path));
        // lanes at the same place execute it together; the others only wait for them
        let first = self.entries.len();
        for (npc, mask) in ended.iter().filter_map(|held| Some((held.part?, held.lanes))) {
            match self.entries[first..].iter_mut().find(|entry| entry.npc == npc) {
                Some(entry) => entry.mask |= mask,
                None => self.entries.push(Entry { npc, rpc: Self::END, mask, within: Within::Collective }),
            }
        }
    }

    /// Returns the position of the path whose turn it is next: the lowest one of the running
    /// function that does not wait, apart from the running one and those of the lanes in `without`.
    fn next_path(&self, without: LaneMask) -> Option<usize> {
        let mut above = self.waiting.iter().fold(without, |all, held| all | held.lanes);
        let (own, top) = (self.own(), self.entries.len().checked_sub(1)?);
        let mut next = None;
        for at in (own..=top).rev() {
            let mask = self.entries[at].mask;
            if at < top && !mask.is_empty() && !mask.intersects(above) {
                next = Some(at);
            }
            above |= mask;
        }
        next
    }

    /// Returns the position of the entry of the running function in which lanes wait for those of an
    /// entry.
    fn parent(&self, at: usize) -> Option<usize> {
        let mask = self.entries[at].mask;
        (self.own()..at).rev().find(|&below| self.entries[below].mask.intersects(mask))
    }

    /// Puts a path on top.
    fn resume(&mut self, at: usize) {
        let path = self.entries.remove(at);
        self.yielded.remove(path.mask);
        self.entries.push(path);
    }
}
