//! What became of a launch.

use super::Sm;
use super::cores::Core;
use super::gpu::Gpu;
use crate::base::{Cycle, Cycles, WarpMask};
use crate::sim::error::Deadlock;
use crate::sim::result::{LowerStats, MemoryStats, SimSummary, SubCoreResult};
use crate::sim::supply::Supply;
use crate::trace::{Observer, Stalls};

impl Gpu<'_> {
    /// The result, if the launch was over in the present cycle and the rest takes so long; `lower` is what had happened
    /// behind the SMs.
    pub fn summary(
        &mut self,
        supply: &Supply<'_, '_>,
        end: u64,
        lower: Option<LowerStats>,
        observer: &mut dyn Observer,
    ) -> SimSummary {
        let now = self.now;
        let mut stalls = Stalls::default();
        let mut sub_cores = Vec::new();
        let mut issues = 0;
        for Core { sm, .. } in self.cores() {
            issues += sm.issues;
            sm.now = now;
            sm.end_stuck();
            sm.sample();
            for sub in 0..sm.sub_cores {
                sm.now = now;
                if end > 0 {
                    sm.idle::<false>(sub, WarpMask::empty(), WarpMask::empty(), false);
                }
                sm.now = now + end;
                sm.end_idle::<false>(sub);
                sm.now = now;
                stalls += sm.subs[sub].stalls;
                sub_cores.push(SubCoreResult { issues: sm.subs[sub].issues, stalls: sm.subs[sub].stalls });
            }
        }
        self.tell(observer);
        SimSummary {
            makespan: Cycles::new(now + end),
            issues,
            stalls,
            sub_cores,
            blocks: supply.given(),
            resident_blocks: supply.layout().places() as u32,
            memory: lower.map(|lower| self.memory_stats(lower)),
        }
    }

    fn memory_stats(&mut self, lower: LowerStats) -> MemoryStats {
        let mut stats = MemoryStats { lower, ..MemoryStats::default() };
        for unit in self.cores().filter_map(|core| core.sm.load_store.as_ref()) {
            unit.add_stats(&mut stats);
        }
        stats
    }

    pub fn deadlock(&mut self) -> Deadlock {
        let of_sm = |sm: &Sm<'_>| {
            let warp = |slot: usize| {
                let (block, warp) = sm.blocks.warp(slot);
                let next = sm.warps[slot].next as usize;
                let last = next.checked_sub(1).map(|index| sm.path(slot).steps()[index].pc());
                (block, warp, last)
            };
            sm.blocks.live().slots().map(warp).collect::<Vec<_>>()
        };
        // the last in which an SM did something
        let cycle = Cycle::new(self.cores().map(|core| core.sm.now).max().unwrap_or(0));
        Deadlock { cycle, warps: self.cores().flat_map(|core| of_sm(&core.sm)).collect() }
    }
}
