//! Pascal's stack (Adalbert et al., ERTS 2022, section III.A; [`crate::model`], section 9): explicit instructions open and
//! close a region of divergent code.
//!
//! * SSY a, PBK a: pop the top; push (a, its rpc, its mask) and above it (next, a, its mask).
//! * A divergent BRA: pop the top; push (next, rpc, lanes that do not take it), above it (target,
//!   rpc, lanes that do).
//! * SYNC, BRK: pop.
//!
//! The paper leaves two cases open. Under a guard only some lanes may come to SYNC or BRK: those
//! leave their entry, the others go on. And lanes may come to BRK inside of an SSY region of their
//! loop: they leave the entries of all regions up to and including the one that PBK opened, for
//! otherwise they would go on behind the inner region instead of behind the loop. Both are plain
//! pops in the cases the paper shows.
//!
//! PTX has no such instructions. There the decoder's post-dominators stand for them: before a
//! branch with post-dominator a stands an SSY a, on every way into a stands a SYNC. They take no
//! issue slot. An SSY is left out where the running region ends at a already, as a compiler does
//! that puts the PBK of a loop in front of it: without that every round would push two entries.
//! Lanes come to the same places in the same order as with [`super::post_dominator`], so paths are
//! the same. What differs is the stack itself: a region is open even if no branch in it diverges,
//! and lanes that left a loop keep an entry until it comes to the top.

use super::{Entry, SimtStack, Within, following};
use crate::base::{LaneMask, Pc};
use crate::program::sem::Region;

impl SimtStack {
    /// SSY or PBK at the top's next instruction: opens a region whose lanes rejoin at `join`.
    pub fn open(&mut self, region: Region, join: Pc) {
        if let Some(top) = self.entries.last() {
            let next = following(top.npc);
            self.push_region(next, join, Within::Explicit(region));
        }
    }

    /// SYNC or BRK at the top's next instruction: `lanes`, some of the active ones, have come to
    /// the end of the innermost region of this kind; the others go on. False if they are in none;
    /// the stack is unchanged then.
    pub fn close(&mut self, region: Region, lanes: LaneMask) -> bool {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        let own = &self.entries[base..];
        // only a region of the kind itself can be left by SYNC; BRK goes through those within it
        let ends = |entry: &Entry| entry.within == Within::Explicit(region);
        let holds = |entry: &Entry| entry.mask.intersects(lanes);
        let innermost = own.iter().rposition(|entry| holds(entry) && ends(entry));
        let lowest = match (region, innermost) {
            (Region::Sync, Some(at)) if at + 1 == own.len() => base + at,
            (Region::Break | Region::Continue, Some(at)) => base + at,
            _ if lanes.is_empty() => self.entries.len(),
            _ => return false,
        };
        if let Some(top) = self.entries.last_mut() {
            top.npc = following(top.npc);
        }
        for entry in &mut self.entries[lowest..] {
            entry.mask.remove(lanes);
        }
        self.settle();
        true
    }

    /// The SSY that stands before a branch whose post-dominator is known.
    pub(super) fn open_joined(&mut self, join: Option<Pc>) {
        if let (Some(join), Some(top)) = (join, self.entries.last())
            && top.rpc != join
        {
            self.push_region(top.npc, join, Within::Joined);
        }
    }

    fn push_region(&mut self, npc: Pc, join: Pc, within: Within) {
        let Some(top) = self.entries.last_mut() else { return };
        let mask = top.mask;
        top.npc = join;
        self.entries.push(Entry { npc, rpc: join, mask, within });
    }

    /// A divergent branch: one entry per side in place of the top one, all in its region.
    pub(super) fn diverge_within(&mut self, sides: &[(Pc, LaneMask)]) {
        let Some(popped) = self.entries.pop() else { return };
        let sides = sides.iter().filter(|(_, mask)| !mask.is_empty());
        self.entries.extend(sides.map(|&(npc, mask)| Entry { npc, mask, ..popped }));
        self.settle();
    }
}
