//! The DRAM of a channel: banks, each of which remembers the ticks of its last commands.

use std::collections::VecDeque;

use super::{Kind, Request};
use warpbound_core::machine::memory::{Dram as Settings, DramScheduler};
use warpbound_trace::trace::DramStats;

/// A request at the DRAM, and the slice that has sent it.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub request: Request,
    pub slice: usize,
    bank: usize,
    row: u64,
    /// The number of column commands that it still needs.
    bursts: u64,
}

#[derive(Clone, Debug, Default)]
struct Bank {
    /// The requests that wait for the bank, under first-ready scheduling.
    queue: VecDeque<Job>,
    job: Option<Job>,
    /// The row that was opened last, and whether it is still open.
    row: u64,
    open: bool,
    last: Last,
}

/// The ticks of the last commands to a bank.
#[derive(Clone, Debug, Default)]
struct Last {
    activate: Option<u64>,
    precharge: Option<u64>,
    read: Option<u64>,
    write: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Dram {
    settings: Settings,
    banks: Vec<Bank>,
    arrivals: VecDeque<Job>,
    /// The number of all requests that have arrived and not left.
    inside: usize,
    /// The bursts on their way, with the tick in which each is complete; the last one of a request
    /// carries the request.
    data: VecDeque<(u64, Option<Job>)>,
    pub returns: VecDeque<Job>,
    /// The bank that is considered first.
    turn: usize,
    pub stats: DramStats,
}

impl Dram {
    pub fn new(settings: &Settings) -> Self {
        Self {
            banks: vec![Bank::default(); 2_usize.pow(settings.bank_bits.len() as u32)],
            settings: settings.clone(),
            arrivals: VecDeque::new(),
            inside: 0,
            data: VecDeque::new(),
            returns: VecDeque::new(),
            turn: 0,
            stats: DramStats::default(),
        }
    }

    pub fn accepts(&self) -> bool {
        let waiting = match self.settings.scheduler {
            DramScheduler::FrFcfs => self.banks.iter().map(|bank| bank.queue.len()).sum(),
            DramScheduler::Fifo => self.arrivals.len(),
        };
        waiting < self.settings.queue as usize
    }

    /// Adds a request; `address` is that in the channel.
    pub fn push(&mut self, request: Request, slice: usize, address: u64) {
        let bits = self.settings.bank_bits.iter().map(|&bit| (address / 2_u64.pow(bit) % 2) as usize);
        let bank = bits.enumerate().map(|(n, bit)| bit * 2_usize.pow(n as u32)).sum();
        let row = address / 2_u64.pow(self.settings.row_bit);
        let bursts = request.bytes().div_ceil(u64::from(self.settings.burst_bytes));
        self.inside += 1;
        self.arrivals.push_back(Job { request, slice, bank, row, bursts });
    }

    pub fn is_idle(&self) -> bool {
        self.inside == 0
    }

    /// Removes a request that is done, if there is one.
    pub fn take_done(&mut self) -> Option<Job> {
        let done = self.returns.pop_front();
        self.inside -= usize::from(done.is_some());
        done
    }

    /// Simulates a tick. Returns a write-back that has become complete.
    pub fn tick(&mut self, now: u64) -> Option<Job> {
        let written_back = self.take_data(now);
        match self.settings.scheduler {
            DramScheduler::FrFcfs => self.first_ready(),
            DramScheduler::Fifo => self.in_order(),
        }
        let count = self.banks.len();
        let mut row_command = false;
        for n in 0..count {
            // a row command moves the turn, so that the banks that follow are counted from there
            let bank = (self.turn + n) % count;
            if self.column(bank, now) {
                break;
            }
            if !row_command && self.row(bank, now) {
                row_command = true;
                self.turn = (bank + 1) % count;
            }
        }
        written_back
    }

    /// Takes a burst that is complete. Returns the write-back that has become complete with it.
    fn take_data(&mut self, now: u64) -> Option<Job> {
        if self.returns.len() >= self.settings.returns as usize || self.data.front()?.0 > now {
            return None;
        }
        let (_, job) = self.data.pop_front()?;
        if job.as_ref()?.request.kind == Kind::WriteBack {
            self.inside -= 1;
            return job;
        }
        self.returns.extend(job);
        None
    }

    fn in_order(&mut self) {
        if let Some(first) = self.arrivals.front()
            && self.banks[first.bank].job.is_none()
        {
            let bank = first.bank;
            self.banks[bank].job = self.arrivals.pop_front();
        }
    }

    /// Gives one bank without a job the oldest request for the row that it opened last or, if none
    /// is for that row, its oldest request.
    fn first_ready(&mut self) {
        for job in self.arrivals.drain(..) {
            self.banks[job.bank].queue.push_back(job);
        }
        let count = self.banks.len();
        for number in (0..count).map(|n| (self.turn + n) % count) {
            let bank = &mut self.banks[number];
            if bank.job.is_some() || bank.queue.is_empty() {
                continue;
            }
            let at = bank.queue.iter().position(|job| job.row == bank.row).unwrap_or(0);
            bank.job = bank.queue.remove(at);
            self.turn = (self.turn + 1) % count;
            return;
        }
    }

    /// Returns whether this many ticks have passed since the last such command to any bank of
    /// those that `among` selects.
    fn passed(
        &self,
        now: u64,
        ticks: u64,
        among: impl Fn(usize) -> bool,
        command: impl Fn(&Last) -> Option<u64>,
    ) -> bool {
        let banks = self.banks.iter().enumerate().filter(|(number, _)| among(*number));
        banks.filter_map(|(_, bank)| command(&bank.last)).all(|at| now >= at + ticks)
    }

    /// Issues the column command of a bank's job, if it can issue now.
    fn column(&mut self, number: usize, now: u64) -> bool {
        let t = &self.settings;
        let bank = &self.banks[number];
        let Some(job) = bank.job.as_ref().filter(|job| bank.open && bank.row == job.row) else {
            return false;
        };
        let (writes, groups) = (job.request.writes(), t.groups as usize);
        let (all, same) = (|_| true, |other| other == number);
        let group = |other| other % groups == number % groups;
        let column = |last: &Last| last.read.max(last.write);
        let may = self.passed(now, t.ccd, all, column)
            && self.passed(now, t.ccdl, group, column)
            && if writes {
                let from_read = (t.cl + t.burst + 2).saturating_sub(t.wl);
                self.passed(now, t.rcd.saturating_sub(t.wl + 1), same, |last| last.activate)
                    && self.passed(now, from_read, all, |last| last.read)
            } else {
                self.passed(now, t.rcd, same, |last| last.activate)
                    && self.passed(now, t.wl + t.burst + t.cdlr, all, |last| last.write)
            };
        if !may {
            return false;
        }
        let (latency, bank) = (if writes { t.wl } else { t.cl }, &mut self.banks[number]);
        if writes {
            bank.last.write = Some(now);
            self.stats.writes += 1;
        } else {
            bank.last.read = Some(now);
            self.stats.reads += 1;
        }
        let job = bank.job.as_mut().expect("it has one");
        job.bursts -= 1;
        let done = if job.bursts == 0 { bank.job.take() } else { None };
        let behind = self.data.back().map_or(0, |(at, _)| at + 1);
        self.data.push_back((behind.max(now + latency), done));
        true
    }

    /// Issues the row command that a bank's job needs, if it can issue now: it opens the row, or
    /// closes another one.
    fn row(&mut self, number: usize, now: u64) -> bool {
        let (t, bank) = (&self.settings, &self.banks[number]);
        let Some(job) = &bank.job else { return false };
        let (all, same) = (|_| true, |other| other == number);
        if !bank.open {
            let may = self.passed(now, t.rrd, all, |last| last.activate)
                && self.passed(now, t.rc, same, |last| last.activate)
                && self.passed(now, t.rp, same, |last| last.precharge);
            if may {
                let row = job.row;
                let bank = &mut self.banks[number];
                (bank.row, bank.open, bank.last.activate) = (row, true, Some(now));
                self.stats.activations += 1;
            }
            return may;
        }
        let groups = t.groups as usize;
        let group = |other| other % groups == number % groups;
        let may = bank.row != job.row
            && self.passed(now, t.ras, same, |last| last.activate)
            && self.passed(now, t.burst, same, |last| last.read)
            && self.passed(now, t.wl + t.burst + t.wr, same, |last| last.write)
            && self.passed(now, t.rtpl, group, |last| last.read);
        if may {
            let bank = &mut self.banks[number];
            (bank.open, bank.last.precharge) = (false, Some(now));
        }
        may
    }

    /// Prepares for the next launch: keeps the rows and the turn, and nothing else.
    pub fn rest(&mut self) {
        self.banks.iter_mut().for_each(|bank| bank.last = Last::default());
        self.stats = DramStats::default();
    }
}
