//! The result of a launch.

use super::Sm;
use super::cores::Core;
use super::gpu::Gpu;
use crate::error::Deadlock;
use crate::result::{LowerStats, MemoryStats, SimSummary, SubCoreResult};
use crate::supply::Supply;
use warpbound_core::base::{Cycle, Cycles};
use warpbound_trace::trace::{Observer, StallReason};

impl Gpu<'_> {
    /// Returns the summary of a launch that ended in the present cycle, or was stopped in it; `end`
    /// is the number of cycles that the end of the launch takes, and `lower` are the statistics of
    /// the memory behind the SMs.
    pub fn summary(
        &mut self,
        supply: &Supply<'_, '_>,
        end: u64,
        lower: Option<LowerStats>,
        observer: &mut dyn Observer,
    ) -> SimSummary {
        let (now, of_sm) = (self.now, self.sub_cores());
        // SMs that never had a block do not exist
        let mut idle = SubCoreResult::default();
        idle.stalls.add(StallReason::Drain, Cycles::new(now + end));
        let mut sub_cores = vec![idle; of_sm * self.count];
        for Core { sm, .. } in self.cores() {
            sm.now = now;
            sm.end_stuck();
            sm.sample();
            for sub_core in 0..of_sm {
                if end > 0 {
                    sm.drain(sub_core);
                }
                let idle = sm.schedulers.end_idle(sub_core, now + end);
                sm.note_idle(idle);
                sub_cores[sm.index * of_sm + sub_core] = sm.schedulers.result(sub_core);
            }
        }
        self.tell_to_the_end(Cycle::new(now + end), observer);
        let mut total = SubCoreResult::default();
        sub_cores.iter().for_each(|&of_sub_core| total += of_sub_core);
        SimSummary {
            makespan: Cycles::new(now + end),
            issues: total.issues,
            stalls: total.stalls,
            sub_cores,
            blocks: supply.given(),
            resident_blocks: supply.layout().cta_slots() as u32,
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
                let (issued, _) = sm.warps.issued(slot);
                let last = (issued as usize).checked_sub(1).map(|index| sm.warps.steps(slot)[index].pc());
                (block, warp, last)
            };
            sm.blocks.live().slots().map(warp).collect::<Vec<_>>()
        };
        // the first cycle in which no SM did anything
        let quiet_from = |Core { sm, .. }: &mut Core<'_>| {
            let done = sm.warps.last_completion().map_or(0, |done| done + 1);
            done.max(sm.now + u64::from(sm.busy))
        };
        let cycle = Cycle::new(self.cores().map(quiet_from).max().unwrap_or(0));
        Deadlock { cycle, warps: self.cores().flat_map(|core| of_sm(&core.sm)).collect() }
    }
}
