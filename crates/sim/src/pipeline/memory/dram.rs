//! The DRAM of one channel: banks with row buffers, and a shared command and data bus.
//!
//! Up to one column command and one row command issue per tick, the row command first. All times
//! here are ticks, the command clocks of the DRAM. A constraint of n ticks from a command in tick t
//! allows the next command in tick t + n.

use std::collections::VecDeque;

use super::Request;
use super::carried::CarriedRow;
use super::halves::{halves, whole};
use warpbound_core::machine::memory::{Dram as Settings, DramScheduler};
use warpbound_trace::trace::{DramSample, DramStats};

/// A request at the DRAM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub request: Request,
    /// The slice of the channel that sent it.
    pub slice: u8,
    bank: u8,
    row: u64,
    /// The number of remaining column commands.
    bursts: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    current: Option<Transfer>,
    row: u64,
    open: bool,
    read_from: u64,
    write_from: u64,
    precharge_from: u64,
    activate_from: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    column_from: u64,
    precharge_from: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Dram {
    settings: Settings,
    banks: Vec<Bank>,
    groups: Vec<Group>,
    /// The requests that the scheduler has not considered yet.
    arrivals: VecDeque<Transfer>,
    /// For each bank, the requests that wait for it, oldest first.
    queues: Vec<VecDeque<Transfer>>,
    queued: usize,
    /// The banks that serve a request, and the banks for which requests wait, as masks.
    occupied: u64,
    wanted: u64,
    /// The data in flight, with the tick in which it is complete. Only the last burst of a request
    /// carries the request.
    data: VecDeque<(u64, Option<Transfer>)>,
    returns: VecDeque<Transfer>,
    /// The bank that is considered first.
    turn: usize,
    column_from: u64,
    activate_from: u64,
    read_from: u64,
    write_from: u64,
    /// Whether anything happened in the last tick.
    acted: bool,
    stats: DramStats,
}

impl Dram {
    pub fn new(settings: &Settings) -> Self {
        let banks = 1 << settings.bank_bits.len();
        Self {
            banks: vec![Bank::default(); banks],
            groups: vec![Group::default(); settings.groups as usize],
            arrivals: VecDeque::new(),
            queues: vec![VecDeque::new(); banks],
            queued: 0,
            occupied: 0,
            wanted: 0,
            data: VecDeque::new(),
            returns: VecDeque::new(),
            turn: 0,
            column_from: 0,
            activate_from: 0,
            read_from: 0,
            write_from: 0,
            acted: false,
            stats: DramStats::default(),
            settings: settings.clone(),
        }
    }

    /// Returns the state at rest: for each bank its row and whether that is open, and the round
    /// robin pointer of the banks.
    pub fn left(&self) -> (Vec<CarriedRow>, usize) {
        let row = |bank: &Bank| {
            let (high, low) = halves(bank.row);
            (bank.open || bank.row != 0).then_some((high, low, bank.open))
        };
        (self.banks.iter().map(row).collect(), self.turn)
    }

    /// Restores the state that another launch has left, and returns whether it fits.
    #[must_use]
    pub fn go_on_after(&mut self, rows: &[CarriedRow], turn: usize) -> bool {
        let fits = rows.len() == self.banks.len() && turn < self.banks.len();
        if fits {
            for (bank, row) in self.banks.iter_mut().zip(rows) {
                if let &Some((high, low, open)) = row {
                    (bank.row, bank.open) = (whole(high, low), open);
                }
            }
            self.turn = turn;
        }
        fits
    }

    /// Returns whether another request can be accepted.
    pub fn accepts(&self) -> bool {
        let waiting = match self.settings.scheduler {
            DramScheduler::FrFcfs => self.queued,
            DramScheduler::Fifo => self.arrivals.len(),
        };
        waiting < self.settings.queue as usize
    }

    /// Adds a request; `address` is without the bits of the channel.
    pub fn push(&mut self, request: Request, slice: u8, address: u64) {
        let bit = |(n, &bit): (usize, &u32)| (address >> bit & 1) << n;
        let bank = self.settings.bank_bits.iter().enumerate().map(bit).sum::<u64>();
        let bursts = request.bytes().div_ceil(u64::from(self.settings.burst_bytes)).max(1) as u32;
        let row = address >> self.settings.row_bit;
        self.arrivals.push_back(Transfer { request, slice, bank: bank as u8, row, bursts });
    }

    /// Returns the first request that is done.
    pub fn done(&self) -> Option<&Transfer> {
        self.returns.front()
    }

    pub fn take_done(&mut self) {
        self.returns.pop_front();
    }

    fn is_idle(&self) -> bool {
        self.queued == 0
            && self.occupied == 0
            && self.arrivals.is_empty()
            && self.data.is_empty()
            && self.returns.is_empty()
    }

    /// Returns the next tick in which something can happen without a push, `u64::MAX` if nothing is in
    /// flight, or `None` if that may be the next one.
    pub fn next(&self) -> Option<u64> {
        if self.is_idle() {
            return Some(u64::MAX);
        }
        let moves = self.acted
            || !self.arrivals.is_empty()
            || !self.returns.is_empty()
            || self.wanted & !self.occupied != 0;
        if moves {
            return None;
        }
        let data = self.data.front().map_or(u64::MAX, |&(at, _)| at);
        Some(rotated(self.occupied, 0).map(|bank| self.command_from(bank)).fold(data, u64::min))
    }

    /// Returns the tick from which on a bank that serves a request can issue its next command.
    fn command_from(&self, number: usize) -> u64 {
        let (bank, group) = (&self.banks[number], &self.groups[number % self.settings.groups as usize]);
        match &bank.current {
            None => u64::MAX,
            Some(_) if !bank.open => bank.activate_from.max(self.activate_from),
            Some(transfer) if bank.row != transfer.row => bank.precharge_from.max(group.precharge_from),
            Some(transfer) => {
                let column_from = self.column_from.max(group.column_from);
                column_from.max(if transfer.request.kind.is_write() {
                    bank.write_from.max(self.write_from)
                } else {
                    bank.read_from.max(self.read_from)
                })
            }
        }
    }

    pub fn stats(&self) -> DramStats {
        self.stats
    }

    /// Returns the counters.
    pub fn sample(&self) -> DramSample {
        let waiting = (self.queued + self.arrivals.len()) as u32;
        DramSample { stats: self.stats, busy_banks: self.occupied.count_ones(), waiting }
    }

    /// Simulates one tick. If a write-back became complete, returns it, because [`Self::done`] does
    /// not.
    pub fn tick(&mut self, now: u64) -> Option<Transfer> {
        let mut written_back = None;
        self.acted = self.returns.len() < self.settings.returns as usize
            && self.data.front().is_some_and(|&(at, _)| at <= now);
        if self.acted
            && let Some((_, Some(transfer))) = self.data.pop_front()
        {
            if transfer.request.kind == super::RequestKind::WriteBack {
                written_back = Some(transfer);
            } else {
                self.returns.push_back(transfer);
            }
        }
        match self.settings.scheduler {
            DramScheduler::FrFcfs => self.first_ready(),
            DramScheduler::Fifo => self.in_order(),
        }
        if self.occupied != 0 {
            self.issue(now);
        }
        written_back
    }

    fn in_order(&mut self) {
        if let Some(&head) = self.arrivals.front()
            && self.banks[usize::from(head.bank)].current.is_none()
        {
            self.arrivals.pop_front();
            self.occupy(head);
        }
    }

    /// Assigns the next request to one free bank.
    fn first_ready(&mut self) {
        while let Some(transfer) = self.arrivals.pop_front() {
            self.queues[usize::from(transfer.bank)].push_back(transfer);
            self.queued += 1;
            self.wanted |= 1 << transfer.bank;
        }
        let free = self.wanted & !self.occupied;
        let Some(bank) = rotated(free, self.turn).next() else { return };
        let queue = &mut self.queues[bank];
        let row = self.banks[bank].row;
        let at = queue.iter().position(|waiting| waiting.row == row).unwrap_or(0);
        if let Some(next) = queue.remove(at) {
            if queue.is_empty() {
                self.wanted &= !(1 << bank);
            }
            self.queued -= 1;
            self.turn = (self.turn + 1) % self.banks.len();
            self.occupy(next);
        }
    }

    fn occupy(&mut self, transfer: Transfer) {
        self.banks[usize::from(transfer.bank)].current = Some(transfer);
        self.occupied |= 1 << transfer.bank;
        self.acted = true;
    }

    /// Considers the banks from the round robin pointer on: each may issue its column command or,
    /// if none has issued one yet, its row command. A row command advances the pointer at once, so
    /// that the remaining banks are counted from another bank, as in GPGPU-Sim 4.2.
    fn issue(&mut self, now: u64) {
        let mut looked_at = None;
        for bank in rotated(self.occupied, self.turn) {
            let place = self.place(bank);
            if self.column(bank, now) {
                return;
            }
            if self.row(bank, now) {
                looked_at = Some(place);
                break;
            }
        }
        let Some(looked_at) = looked_at else { return };
        for bank in rotated(self.occupied, self.turn) {
            if self.place(bank) > looked_at && self.column(bank, now) {
                return;
            }
        }
    }

    /// Returns the number of banks that are considered before this one.
    fn place(&self, bank: usize) -> usize {
        (bank + self.banks.len() - self.turn) % self.banks.len()
    }

    /// Issues a read or write command, if the right row is open. Returns whether it issued one.
    fn column(&mut self, number: usize, now: u64) -> bool {
        let t = &self.settings;
        let bank = &mut self.banks[number];
        let group = &mut self.groups[number % t.groups as usize];
        let Some(transfer) = &mut bank.current else { return false };
        if !bank.open || bank.row != transfer.row || now < self.column_from || now < group.column_from {
            return false;
        }
        let latency = if transfer.request.kind.is_write() {
            if now < bank.write_from || now < self.write_from {
                return false;
            }
            self.read_from = now + t.wl + t.burst + t.cdlr;
            bank.precharge_from = bank.precharge_from.max(now + t.wl + t.burst + t.wr);
            self.stats.writes += 1;
            t.wl
        } else {
            if now < bank.read_from || now < self.read_from {
                return false;
            }
            self.write_from = now + (t.cl + t.burst + 2).saturating_sub(t.wl);
            bank.precharge_from = bank.precharge_from.max(now + t.burst);
            group.precharge_from = now + t.rtpl;
            self.stats.reads += 1;
            t.cl
        };
        self.column_from = now + t.ccd;
        group.column_from = now + t.ccdl;
        transfer.bursts -= 1;
        let last = (transfer.bursts == 0).then_some(*transfer);
        if last.is_some() {
            bank.current = None;
            self.occupied &= !(1 << number);
        }
        // the data bus carries one burst after the other
        let after = self.data.back().map_or(0, |&(at, _)| at + 1);
        self.data.push_back(((now + latency).max(after), last));
        self.acted = true;
        true
    }

    /// Issues a command that opens the row of the request, or closes another one. Returns whether
    /// it issued one.
    fn row(&mut self, number: usize, now: u64) -> bool {
        let t = &self.settings;
        let group = &self.groups[number % t.groups as usize];
        let bank = &mut self.banks[number];
        let Some(transfer) = &bank.current else { return false };
        if !bank.open {
            if now < self.activate_from || now < bank.activate_from {
                return false;
            }
            bank.row = transfer.row;
            bank.open = true;
            bank.read_from = now + t.rcd;
            bank.write_from = now + t.rcd.saturating_sub(t.wl + 1);
            bank.precharge_from = bank.precharge_from.max(now + t.ras);
            bank.activate_from = now + t.rc;
            self.activate_from = now + t.rrd;
            self.stats.activations += 1;
        } else if bank.row != transfer.row && now >= bank.precharge_from && now >= group.precharge_from {
            bank.open = false;
            bank.activate_from = bank.activate_from.max(now + t.rp);
        } else {
            return false;
        }
        self.turn = (number + 1) % self.banks.len();
        self.acted = true;
        true
    }
}

/// Returns the members of a set from `first` on, then those below.
fn rotated(set: u64, first: usize) -> impl Iterator<Item = usize> {
    let below = (1u64 << first) - 1;
    let mut halves = [set & !below, set & below];
    std::iter::from_fn(move || {
        let half = if halves[0] != 0 { &mut halves[0] } else { &mut halves[1] };
        let member = (*half != 0).then(|| half.trailing_zeros() as usize)?;
        *half &= *half - 1;
        Some(member)
    })
}

#[cfg(test)]
#[path = "dram_tests.rs"]
mod tests;
