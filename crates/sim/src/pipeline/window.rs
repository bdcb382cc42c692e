//! The simulation of many cycles of each SM at a time.
//!
//! A request of an SM is not answered before the minimum latency of memory has passed. Memory can
//! therefore be simulated ahead by that latency, and then each SM independently, with the replies
//! that it will get ([`run_ahead`](super::memory::Lower::run_ahead)). This is conservative parallel
//! simulation (Fujimoto, "Parallel discrete event simulation", CACM 33(10), 1990) with the latency
//! of memory as lookahead. Blocks are placed in the order of time: an SM on which a block ends
//! stops in that cycle until no SM is in an earlier one. Only SMs that have stopped have room, so
//! no other SM could get the block.
//!
//! The length of windows affects how much work is done at a time, and nothing else.

use super::cores::Core;
use super::gpu::Gpu;
use crate::error::SimError;
use crate::supply::{Kept, OnBlock, Supply};
use warpbound_trace::trace::Observer;

/// The number of cycles of the shortest window and of the longest one.
const SHORTEST: u64 = 8;
const LONGEST: u64 = 1024;
/// The worker pool helps if at least this number of SMs continue after the end of a block.
const CREW: usize = 8;

impl Gpu<'_> {
    /// Returns the number of cycles that SMs can now simulate independently.
    pub fn window(&self) -> u64 {
        // a sample is taken when all SMs are in the same cycle
        if self.may_place || self.told.is_some() {
            return 1;
        }
        let horizon = self.lower.as_ref().map_or(LONGEST, |lower| lower.horizon());
        if horizon < SHORTEST { 1 } else { horizon.min(self.length) }
    }

    /// Simulates a window of this many cycles. Returns the cycle in which something happens next on
    /// an SM, or `None` if the launch is over.
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
                // memory has room now
                if core.sm.stuck_since.is_some() && port.is_full() {
                    core.next = from;
                }
                lower.open_window(core.sm.index, port);
            }
        }
        // the events of the previous window are emitted in the meantime
        self.crew.run(&mut self.shares, until, || self.pending.tell(observer));
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
        // use short windows where many blocks end, because SMs continue one by one after an end
        self.length = if stops > 2 + self.count / 8 { self.length / 2 } else { self.length * 2 };
        self.length = self.length.clamp(SHORTEST, LONGEST);
        let next = self.close_window();
        self.take_settled();
        Ok(Some(next))
    }

    /// Hands the requests that SMs have sent in the window to memory. Returns the cycle in which
    /// something happens next on an SM.
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

    /// Takes the events that were settled in the window, so that they are emitted.
    fn take_settled(&mut self) {
        if self.listening {
            self.pending.take(self.shares.iter_mut().flatten());
        }
    }
}
