//! Pascal's stack (Adalbert et al., ERTS 2022, section III.A; `warpbound::model`, section 9):
//! explicit instructions open and close a region of divergent code.
//!
//! * SSY a, PBK a: pop the top; push (a, its rpc, its mask) and above it (next, a, its mask).
//! * A divergent BRA: pop the top; push (next, rpc, lanes that do not take it), above it (target,
//!   rpc, lanes that do).
//! * SYNC, BRK: pop.
//!
//! The paper leaves two cases open. Under a guard only some lanes may execute SYNC or BRK: those
//! leave their entry, and the others continue. Lanes may also execute BRK inside an SSY region of
//! their loop: they leave the entries of all regions up to and including the one that PBK opened,
//! because otherwise they would continue after the inner region instead of after the loop. Both are
//! plain pops in the cases that the paper shows.
//!
//! Later generations name regions by barriers of convergence. BSSY is an SSY. BSYNC is a BRK: its
//! lanes leave all regions up to and including that of its barrier, because lanes may leave inner
//! regions by BREAK, after which no BSYNC of these waits for them.
//!
//! PTX has no such instructions. The decoder's post-dominators replace them: an implicit SSY a
//! precedes each branch with post-dominator a, and an implicit SYNC precedes a on every way to it.
//! They take no issue slot. An SSY is omitted where the running region already ends at a: otherwise
//! every iteration of a loop would push two entries. (A compiler achieves the same by putting the
//! PBK in front of the loop.) Lanes reach the same points in the same order as with
//! [`super::post_dominator`], so the paths are the same. The stack itself differs: a region is open
//! even if no branch in it diverges, and lanes that left a loop keep an entry until it is on top.

use super::{Entry, SimtStack, Within, following};
use warpbound_core::base::{LaneMask, Pc};
use warpbound_core::program::sem::Region;

impl SimtStack {
    /// Executes SSY or PBK, the top's next instruction: opens a region whose lanes rejoin at
    /// `join`.
    pub fn open(&mut self, region: Region, join: Pc) {
        self.overwrite(region);
        if let Some(top) = self.entries.last() {
            let next = following(top.npc);
            self.push_region(next, join, Within::Explicit(region));
        }
    }

    /// Executes SYNC or BRK, the top's next instruction: `lanes`, some of the active ones, have
    /// reached the end of the innermost region of this kind, and the others continue. Returns false
    /// if they are in no such region; the stack is unchanged then.
    pub fn close(&mut self, region: Region, lanes: LaneMask) -> bool {
        let base = self.own();
        let own = &self.entries[base..];
        // SYNC leaves only a region of its own kind; BRK also leaves the regions within its region
        let ends = |entry: &Entry| entry.within == Within::Explicit(region);
        let holds = |entry: &Entry| entry.mask.intersects(lanes);
        let innermost = own.iter().rposition(|entry| holds(entry) && ends(entry));
        let lowest = match (region, innermost) {
            (Region::Sync, Some(at)) if at + 1 == own.len() => base + at,
            (Region::Break | Region::Continue | Region::Barrier(_), Some(at)) => base + at,
            _ if lanes.is_empty() => self.entries.len(),
            // lanes that are no longer in the region do not wait at its end
            (Region::Barrier(_), None) if self.left_early => self.entries.len(),
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

    /// Executes the implicit SSY before a branch whose post-dominator is known.
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

    /// Executes a divergent branch: replaces the top entry by one entry per side, all in its
    /// region.
    pub(super) fn diverge_within(&mut self, sides: &[(Pc, LaneMask)]) {
        let Some(popped) = self.entries.pop() else { return };
        let sides = sides.iter().filter(|(_, mask)| !mask.is_empty());
        self.entries.extend(sides.map(|&(npc, mask)| Entry { npc, mask, ..popped }));
        self.settle();
    }
}
