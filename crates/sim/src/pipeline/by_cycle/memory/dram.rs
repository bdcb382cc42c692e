//! The DRAM of a channel: banks, each of which remembers the ticks of its last commands.

use std::collections::VecDeque;

use super::super::choose::{Arbiter, Deciders};
use super::{Kind, Request};
use crate::key::Key;
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

impl Job {
    fn key(&self, key: &mut Key) {
        // the bank and the row follow from the request
        self.request.key(key);
        key.put(self.slice as u64);
        key.put(self.bursts);
    }
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
    pub fn tick(&mut self, now: u64, deciders: &mut Deciders) -> Option<Job> {
        let written_back = self.take_data(now);
        match self.settings.scheduler {
            DramScheduler::FrFcfs => self.first_ready(deciders),
            DramScheduler::Fifo => self.in_order(),
        }
        self.commands(now, deciders);
        written_back
    }

    /// Issues a command, and after a row command possibly a column command.
    fn commands(&mut self, now: u64, deciders: &mut Deciders) {
        let (count, turn) = (self.banks.len(), self.turn);
        let can: Vec<usize> =
            (0..count).filter(|&bank| self.column(bank, now) || self.row(bank, now)).collect();
        let distance = |bank: usize| (bank + count - turn) % count;
        let Some(first) = deciders.choose(Arbiter::Command, &can, distance) else { return };
        if self.column(first, now) {
            return self.issue_column(first, now);
        }
        self.issue_row(first, now);
        // the rule has considered some banks, and skips as many behind the new turn
        let (considered, turn) = (distance(first) + 1, (first + 1) % count);
        self.turn = turn;
        let then: Vec<Option<usize>> =
            (0..count).filter(|&bank| self.column(bank, now)).map(Some).chain([None]).collect();
        let then = deciders.choose(Arbiter::Command, &then, |bank| match bank {
            Some(bank) => {
                let distance = (bank + count - turn) % count;
                (if distance < considered { 2 } else { 0 }, distance)
            }
            None => (1, 0),
        });
        if let Some(Some(bank)) = then {
            self.issue_column(bank, now);
        }
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
    fn first_ready(&mut self, deciders: &mut Deciders) {
        for job in self.arrivals.drain(..) {
            self.banks[job.bank].queue.push_back(job);
        }
        let (count, turn) = (self.banks.len(), self.turn);
        let is_free =
            |number: &usize| self.banks[*number].job.is_none() && !self.banks[*number].queue.is_empty();
        let free: Vec<usize> = (0..count).filter(is_free).collect();
        let chosen = deciders.choose(Arbiter::Bank, &free, |bank| (bank + count - turn) % count);
        let Some(number) = chosen else { return };
        let bank = &mut self.banks[number];
        let requests: Vec<usize> = (0..bank.queue.len()).collect();
        let at = deciders
            .choose(Arbiter::Request, &requests, |at| (bank.queue[at].row != bank.row, at))
            .expect("the bank has a request");
        bank.job = bank.queue.remove(at);
        self.turn = (self.turn + 1) % count;
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

    /// Returns whether the column command of a bank's job can issue now.
    fn column(&self, number: usize, now: u64) -> bool {
        let t = &self.settings;
        let bank = &self.banks[number];
        let Some(job) = bank.job.as_ref().filter(|job| bank.open && bank.row == job.row) else {
            return false;
        };
        let (writes, groups) = (job.request.writes(), t.groups as usize);
        let (all, same) = (|_| true, |other| other == number);
        let group = |other| other % groups == number % groups;
        let column = |last: &Last| last.read.max(last.write);
        self.passed(now, t.ccd, all, column)
            && self.passed(now, t.ccdl, group, column)
            && if writes {
                let from_read = (t.cl + t.burst + 2).saturating_sub(t.wl);
                self.passed(now, t.rcd.saturating_sub(t.wl + 1), same, |last| last.activate)
                    && self.passed(now, from_read, all, |last| last.read)
            } else {
                self.passed(now, t.rcd, same, |last| last.activate)
                    && self.passed(now, t.wl + t.burst + t.cdlr, all, |last| last.write)
            }
    }

    /// Issues the column command of a bank's job.
    fn issue_column(&mut self, number: usize, now: u64) {
        let (t, bank) = (&self.settings, &mut self.banks[number]);
        let writes = bank.job.as_ref().is_some_and(|job| job.request.writes());
        let latency = if writes { t.wl } else { t.cl };
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
    }

    /// Returns whether the row command that a bank's job needs can issue now.
    fn row(&self, number: usize, now: u64) -> bool {
        let (t, bank) = (&self.settings, &self.banks[number]);
        let Some(job) = &bank.job else { return false };
        let (all, same) = (|_| true, |other| other == number);
        if !bank.open {
            return self.passed(now, t.rrd, all, |last| last.activate)
                && self.passed(now, t.rc, same, |last| last.activate)
                && self.passed(now, t.rp, same, |last| last.precharge);
        }
        let groups = t.groups as usize;
        let group = |other| other % groups == number % groups;
        bank.row != job.row
            && self.passed(now, t.ras, same, |last| last.activate)
            && self.passed(now, t.burst, same, |last| last.read)
            && self.passed(now, t.wl + t.burst + t.wr, same, |last| last.write)
            && self.passed(now, t.rtpl, group, |last| last.read)
    }

    /// Issues the row command that a bank's job needs: it opens the row, or closes another one.
    fn issue_row(&mut self, number: usize, now: u64) {
        let bank = &mut self.banks[number];
        if bank.open {
            (bank.open, bank.last.precharge) = (false, Some(now));
        } else if let Some(job) = &bank.job {
            (bank.row, bank.open, bank.last.activate) = (job.row, true, Some(now));
            self.stats.activations += 1;
        }
    }

    /// Prepares for the next launch: keeps the rows and the turn, and nothing else.
    pub fn rest(&mut self) {
        self.banks.iter_mut().for_each(|bank| bank.last = Last::default());
        self.stats = DramStats::default();
    }

    /// Adds the requests and the banks to the key of a state.
    pub fn key(&self, now: u64, key: &mut Key) {
        let t = &self.settings;
        // no command waits longer than this for an earlier one
        let longest = [t.ccd, t.ccdl, t.rrd, t.rcd, t.ras, t.rp, t.rc, t.rtpl].into_iter().max();
        let longest = longest.unwrap_or(0) + t.cl + t.wl + t.burst + t.cdlr + t.wr + 2;
        for bank in &self.banks {
            let Bank { queue, job, row, open, last } = bank;
            key.list(queue, |key, job| job.key(key));
            key.list(job, |key, job| job.key(key));
            key.put(*row << 1 | u64::from(*open));
            let Last { activate, precharge, read, write } = last;
            for at in [activate, precharge, read, write] {
                key.put(at.map_or(0, |at| longest.saturating_sub(now - at)));
            }
        }
        key.list(&self.arrivals, |key, job| job.key(key));
        key.list(&self.data, |key, (at, job)| {
            key.until(*at, now);
            key.list(job, |key, job| job.key(key));
        });
        key.list(&self.returns, |key, job| job.key(key));
    }
}
