//! What control codes of machine code do when an instruction issues.

use super::Sm;
use crate::base::WarpMask;
use crate::path::Step;
use crate::program::BarrierId;

impl Sm<'_> {
    /// Follows the control codes of an instruction that issues now. `ends`, if they name barriers: when its sources are
    /// read, which is when its initiation ends, and when it is done. Kept out of the event loop, most of whose programs have none.
    #[inline(never)]
    pub(super) fn follow_codes(
        &mut self,
        sub_core: usize,
        slot: usize,
        step: Step,
        ends: Option<(u64, u64)>,
    ) {
        let codes = self.ops.table.instr(step.pc()).codes;
        self.yielding -= self.sub_cores.slots(sub_core);
        if codes.yields {
            self.yielding |= WarpMask::slot(slot);
        }
        let Some((read, done)) = ends else { return };
        if let Some(barrier) = codes.read {
            self.signal(slot, barrier, read, false);
        }
        if let Some(barrier) = codes.done {
            let global = self.tracks_global && self.ops.table.loads_global(step);
            self.signal(slot, barrier, done, global);
        }
    }

    /// An instruction that has issued will be through with this barrier at some time, and not before those that
    /// signalled it earlier.
    fn signal(&mut self, slot: usize, barrier: BarrierId, at: u64, global: bool) {
        let Some(barriers) = self.barriers else { return };
        let regs = barriers.of_barrier(barrier);
        let base = slot * self.regs;
        let (first, last) = (base + regs.start, base + regs.end - 1);
        let all = self.avail[first].max(at);
        self.avail.copy_within(first..last, first + 1);
        self.avail[first] = all;
        if self.tracks_global {
            let of_loads = if global { all } else { self.from_global[first] };
            self.from_global.copy_within(first..last, first + 1);
            self.from_global[first] = of_loads;
        }
    }
}
