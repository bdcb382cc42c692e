//! The effects of the control codes of machine code when an instruction issues.

use super::Sm;
use warpbound_core::base::WarpMask;
use warpbound_core::path::Step;
use warpbound_core::program::BarrierId;

impl Sm<'_> {
    /// Applies the control codes of an instruction that issues in the present cycle. If they name
    /// barriers, `ends` contains the cycle in which its sources are read, which is the end of its
    /// initiation, and the cycle in which it is done. The function is not inlined, because most
    /// programs have no control codes.
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
        if codes.copies {
            self.copy(slot, done);
        }
    }

    /// Records that an asynchronous copy is done at this cycle, before which no later signal of its
    /// barrier comes.
    fn copy(&mut self, slot: usize, done: u64) {
        let Some(barriers) = self.barriers else { return };
        let base = slot * self.regs;
        let copies = base + barriers.of_copies();
        let first = base + barriers.of_barrier(BarrierId::OF_COPIES).start;
        self.avail[copies] = self.avail[copies].max(done);
        if self.tracks_global {
            // the signals before this copy delay it
            self.from_global[copies] = self.avail[copies].max(self.avail[first]);
        }
    }

    /// Records that an instruction that has issued signals this barrier at cycle `at`, but not
    /// before the instructions that signalled it earlier.
    fn signal(&mut self, slot: usize, barrier: BarrierId, at: u64, global: bool) {
        let Some(barriers) = self.barriers else { return };
        let regs = barriers.of_barrier(barrier);
        let base = slot * self.regs;
        let of_copies = (barrier == BarrierId::OF_COPIES).then(|| base + barriers.of_copies());
        let copied = of_copies.map_or(0, |copies| self.avail[copies]);
        let (first, last) = (base + regs.start, base + regs.end - 1);
        let all = self.avail[first].max(at).max(copied);
        self.avail.copy_within(first..last, first + 1);
        self.avail[first] = all;
        if self.tracks_global {
            let copied = of_copies.map_or(0, |copies| self.from_global[copies]);
            let of_loads = if global { all } else { self.from_global[first].max(copied) };
            self.from_global.copy_within(first..last, first + 1);
            self.from_global[first] = of_loads;
        }
    }
}
