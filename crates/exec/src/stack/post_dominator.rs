//! Reconvergence at immediate post-dominators, for languages without reconvergence instructions
//! (GPGPU-Sim uses it for PTX).

use super::{SimtStack, Within};
use warpbound_core::base::{LaneMask, Pc};

impl SimtStack {
    /// Turns the top entry into the one that waits at `join`, and pushes one entry per side that
    /// has not arrived there, with the last of them on top.
    pub(super) fn diverge_until(&mut self, join: Option<Pc>, sides: &[(Pc, LaneMask)]) {
        let Some(top) = self.entries.last_mut() else { return };
        let (outer, outer_rpc) = (top.within, top.rpc);
        // Code that cannot leave the function has no post-dominator. Its lanes still have to stop
        // where the entry below waits for them.
        let (within, rpc) = join.map_or((outer, outer_rpc), |join| (Within::Joined, join));
        if outer_rpc == rpc {
            // the entry below already waits there: a loop does not grow the stack
            self.entries.pop();
        } else {
            top.npc = rpc;
        }
        for &(npc, mask) in sides {
            if npc != rpc && !mask.is_empty() {
                self.entries.push(super::Entry { npc, rpc, mask, within });
            }
        }
        self.settle();
    }
}
