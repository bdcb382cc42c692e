//! Many cycles of each SM at a time.
//!
//! What an SM sends is not answered sooner than memory takes to answer anything, so memory can be simulated ahead by
//! that time, and then each SM for itself, with the replies that it will get ([`run_ahead`](super::memory::Lower::run_ahead)): conservative
//! parallel simulation (Fujimoto, "Parallel discrete event simulation", CACM 33(10), 1990) with memory's latency
//! as lookahead. Blocks are given out in the order of time: an SM on which one ends stands in that cycle until no SM
//! stands in an earlier one. Only SMs that stand there have room, so nobody else would get a block.
//!
//! How long windows are decides how much is done at a time, and nothing else.

use super::cores::Core;
use super::gpu::Gpu;
use crate::sim::error::SimError;
use crate::sim::supply::{Kept, OnBlock, Supply};
use crate::trace::Observer;

/// Cycles of the shortest window and of the longest.
const SHORTEST: u64 = 8;
const LONGEST: u64 = 1024;
/// SMs that go on by themselves after a block has ended: from so many on the crew helps.
const CREW: usize = 8;

impl Gpu<'_> {
    /// How many cycles SMs can go through by themselves now.
    pub fn window(&self) -> u64 {
        // samples are of all SMs at a time
        if self.may_place || self.told.is_some() {
            return 1;
        }
        let horizon = self.lower.as_ref().map_or(LONGEST, |lower| lower.horizon());
        if horizon < SHORTEST { 1 } else { horizon.min(self.length) }
    }

    /// So many cycles. When something happens next on an SM; nothing if the launch is over.
    pub fn run_window(
        &mut self,
        cycles: u64,
        supply: &mut Supply<'_, '_>,
        observer: &mut dyn Observer,
        on_block: &mut OnBlock<'_>,
    ) -> Result<Option<u64>, SimError<Kept>> {
        let (from, until) = (self.now, self.now + cycles);
        let may_end = !self.cores().any(|core| core.goes_on_for(cycles));
        if let Some(lower) = &mut self.lower {
            lower.run_ahead(cycles, may_end, |shares| self.crew.run_memory(shares));
        }
        let Self { shares, lower, .. } = self;
        for core in shares.iter_mut().flatten() {
            (core.at, core.stop) = (from, u64::MAX);
            if let (Some(lower), Some(port)) = (&mut *lower, &mut core.port) {
                // there is room now
                if core.sm.stuck_since.is_some() && port.is_full() {
                    core.next = from;
                }
                lower.open_window(core.sm.index, port);
            }
        }
        // what happened in the window before is told meanwhile
        self.crew.run(&mut self.shares, until, || self.telling.tell(observer));
        let mut stops = 0;
        while let Some(at) = self.cores().filter(|core| core.waits).map(|core| core.at).min() {
            stops += 1;
            self.now = at;
            self.change_blocks(supply, on_block)?;
            if self.is_over(supply) {
                self.take_settled();
                return Ok(None);
            }
            for core in self.cores().filter(|core| core.at == at) {
                if let Some(error) = core.failed.take() {
                    return Err(error.into());
                }
            }
            let may_place = self.may_place;
            let mut going = 0;
            for core in self.cores().filter(|core| core.at == at) {
                core.stop = if may_place { at + 1 } else { u64::MAX };
                core.finish_cycle();
                core.next = core.next.min(core.stop);
                going += 1;
            }
            if going < CREW {
                self.cores().for_each(|core| core.run(until));
            } else {
                self.crew.run(&mut self.shares, until, || {});
            }
        }
        self.now = until;
        // short windows where many blocks end: SMs go on one by one after that
        self.length = if stops > 2 + self.count / 8 { self.length / 2 } else { self.length * 2 };
        self.length = self.length.clamp(SHORTEST, LONGEST);
        let next = self.close_window();
        self.take_settled();
        Ok(Some(next))
    }

    /// What SMs have sent in the window sets out for memory. When something happens next on an SM.
    pub fn close_window(&mut self) -> u64 {
        let Self { shares, lower, .. } = self;
        let (mut next, mut waiting) = (u64::MAX, 0);
        for Core { sm, port, next: of_core, .. } in shares.iter_mut().flatten() {
            next = next.min(*of_core);
            if let (Some(lower), Some(port)) = (&mut *lower, port) {
                waiting += port.waiting();
                lower.close_window(sm.index, port);
            }
        }
        if let Some(lower) = lower {
            lower.follow(waiting);
        }
        next
    }

    /// What has settled in the window is to be told.
    fn take_settled(&mut self) {
        if self.listening {
            self.telling.take(self.shares.iter_mut().flatten());
        }
    }
}
