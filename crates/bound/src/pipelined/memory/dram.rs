//! What a request costs other requests of its DRAM channel.

use warpbound_core::machine::memory::{Dram, DramScheduler, Partitions};
use warpbound_core::path::LineUse;

/// The costs of requests in a channel. Services are in units of which there are `scale` per core
/// cycle.
#[derive(Clone, Debug)]
pub(in crate::pipelined) struct DramCosts {
    settings: Dram,
    /// The service of one DRAM tick, as a fraction.
    tick: (u64, u64),
    /// The services of a column command among others of its kind, of opening a row, and of opening the
    /// first row of a bank in a launch.
    column: u64,
    row: u64,
    first_row: u64,
}

impl DramCosts {
    /// Creates the costs. A DRAM tick takes `core * l2 / ticks` core cycles.
    pub fn new(settings: &Dram, core: u64, l2: u64, ticks: u64, scale: u64) -> Self {
        let tick = (scale * core * l2, ticks);
        let mut costs = Self { settings: settings.clone(), tick, column: 0, row: 0, first_row: 0 };
        costs.column = costs.ticks(costs.column_ticks());
        costs.row = costs.ticks(costs.row_ticks(costs.opens()));
        costs.first_row = costs.ticks(costs.row_ticks(settings.rp));
        costs
    }

    fn ticks(&self, ticks: u64) -> u64 {
        let (of, by) = self.tick;
        u64::try_from((u128::from(ticks) * u128::from(of)).div_ceil(by.into())).unwrap_or(u64::MAX)
    }

    /// Returns the ticks from a column command to the moment at which its data is complete.
    pub fn latency(&self) -> u64 {
        self.settings.cl.max(self.settings.wl)
    }

    /// Returns the ticks for which a column command may keep every other one from being issued, if
    /// both are reads or both are writes.
    fn column_ticks(&self) -> u64 {
        let Dram { ccd, ccdl, rtpl, .. } = self.settings;
        ccd.max(ccdl).max(rtpl).max(1)
    }

    /// Returns the ticks that a request adds because a request of the other direction may wait for it.
    fn turn(&self, is_store: bool) -> u64 {
        let Dram { cl, wl, burst, cdlr, .. } = self.settings;
        let turn = if is_store { wl + burst + cdlr } else { (cl + burst + 2).saturating_sub(wl) };
        turn.saturating_sub(self.column_ticks())
    }

    /// Returns what a read costs a write that waits for it, beyond its service among reads.
    pub fn before_a_write(&self) -> u64 {
        self.ticks(self.turn(false))
    }

    /// Returns the service of opening the row of a request.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Returns the service of opening the first row of a bank in a launch, which may have to close the
    /// one that an earlier launch has left open.
    pub fn first_row(&self) -> u64 {
        self.first_row
    }

    /// Returns the most ticks from the moment at which nothing else delays the commands of a request to
    /// the activation of its row.
    fn opens(&self) -> u64 {
        let Dram { ras, rp, rc, wl, burst, wr, .. } = self.settings;
        let closes = ras.max(wl + burst + wr);
        rc.max(closes + rp)
    }

    /// Returns the ticks that opening a row counts, given those until its activation: those until the
    /// first column command of the request, and the delay of other activations.
    fn row_ticks(&self, opens: u64) -> u64 {
        let Dram { rcd, rrd, .. } = self.settings;
        opens + rcd + 2 + 1 + rrd.max(1)
    }

    /// Returns the service of a request of this many bytes, without what a read costs a write. Its data is
    /// filled into the L2 for `fill` units of service. `reply` is what counts for its reply in any case.
    pub fn service(&self, bytes: u64, is_store: bool, (fill, reply): (u64, u64)) -> u64 {
        let bursts = bytes.div_ceil(self.settings.burst_bytes.into()).max(1);
        let turn = if is_store { self.turn(true) } else { 0 };
        let more = 1 + (bursts - 1) * self.column_ticks() + turn;
        self.ticks(more) + self.column.max(fill).saturating_sub(reply)
    }

    /// Returns the part of the service of opening a row that delays requests of other banks: the commands,
    /// and the time between two activations.
    pub fn row_elsewhere(&self) -> u64 {
        self.ticks(self.row_ticks(0) - self.settings.rcd)
    }

    /// Returns the service of the tick in which a bank takes up a request, so that no other bank does.
    pub fn taken_up(&self) -> u64 {
        self.ticks(1)
    }

    /// Returns the largest number of requests with which no queue of a channel is ever full, so that every
    /// request waits only for its own bank and for commands to others.
    pub fn never_full(&self, partitions: &Partitions) -> u64 {
        let Dram { scheduler, queue, returns, .. } = self.settings;
        if scheduler == DramScheduler::Fifo {
            return 0;
        }
        let of_slices = u64::from(partitions.queue) - 1;
        of_slices.min(queue.into()).min(returns.into()).min(self.places(partitions.slices.into()))
    }

    /// Returns the number of banks of a channel.
    pub fn banks(&self) -> usize {
        1 << self.settings.bank_bits.len()
    }

    /// Returns the bank and the row of an address within the channel.
    pub fn place(&self, address: u64) -> (u64, u64) {
        let bit = |(n, &bit): (usize, &u32)| (address >> bit & 1) << n;
        (self.settings.bank_bits.iter().enumerate().map(bit).sum(), address >> self.settings.row_bit)
    }

    /// Returns whether each line of 128 bytes lies in one row of one bank.
    pub fn one_bank_per_line(&self) -> bool {
        let least = LineUse::LINE_BYTES.trailing_zeros();
        let Dram { bank_bits, row_bit, .. } = &self.settings;
        bank_bits.iter().chain([row_bit]).all(|&bit| bit >= least)
    }

    /// Returns the number of requests that a channel with this many slices holds at the same time
    /// if it takes no more from one of them.
    pub fn places(&self, slices: u64) -> u64 {
        u64::from(self.settings.queue + self.settings.returns).saturating_sub(slices - 1) + 1
    }
}
