//! Puts events into the order in which they were decided.
//!
//! Observers hear of an instruction when it issues, with the cycles of its start and its result.
//! Here those are known only later, so what happened waits until everything before it is known.

use std::collections::VecDeque;

use super::flight::Flight;
use crate::base::{BlockId, Cycle};
use crate::trace::{BlockStart, Idle, Issue, Observer, Release, Sample, WarpFinish};

#[derive(Clone, Copy, Debug)]
enum Entry {
    BlockStarted(BlockStart),
    Issued { issue: Issue, age: u64, complete: bool },
    Idled(Idle),
    Released(Release),
    WarpFinished(WarpFinish),
    BlockEnded(BlockId, Cycle),
    Sampled(Sample),
}

/// Events that wait to be told. Holds nothing if nobody listens.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    waiting: VecDeque<Entry>,
    /// Place among all entries ever of each issued instruction that was not told, by age from `first_age` on.
    places: VecDeque<u64>,
    first_age: u64,
    /// Entries told so far.
    told: u64,
    /// Entries among the waiting ones that nothing unknown comes before, and by cycle how many of them became so in it.
    settled: usize,
    runs: VecDeque<(u64, usize)>,
}

impl Log {
    pub fn block_started(&mut self, start: BlockStart) {
        self.waiting.push_back(Entry::BlockStarted(start));
    }

    pub fn issued(&mut self, issue: Issue, age: u64) {
        if self.places.is_empty() {
            self.first_age = age;
        }
        debug_assert_eq!(age, self.first_age + self.places.len() as u64, "every issue is noted");
        self.places.push_back(self.told + self.waiting.len() as u64);
        self.waiting.push_back(Entry::Issued { issue, age, complete: false });
    }

    /// The instruction with this age is complete.
    pub fn completed(&mut self, flight: &Flight, done: u64) {
        let Some(&place) = self.places.get((flight.age - self.first_age) as usize) else { return };
        if let Some(Entry::Issued { issue, age, complete }) =
            self.waiting.get_mut((place - self.told) as usize)
        {
            debug_assert_eq!(*age, flight.age);
            issue.start = Cycle::new(flight.start);
            issue.init_end = Cycle::new(flight.init_end);
            issue.done = Cycle::new(done);
            *complete = true;
        }
    }

    pub fn idled(&mut self, idle: Idle) {
        self.waiting.push_back(Entry::Idled(idle));
    }

    pub fn released(&mut self, release: Release) {
        self.waiting.push_back(Entry::Released(release));
    }

    pub fn warp_finished(&mut self, finish: WarpFinish) {
        self.waiting.push_back(Entry::WarpFinished(finish));
    }

    pub fn block_ended(&mut self, block: BlockId, end: Cycle) {
        self.waiting.push_back(Entry::BlockEnded(block, end));
    }

    pub fn sampled(&mut self, sample: Sample) {
        self.waiting.push_back(Entry::Sampled(sample));
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Tells everything that nothing unknown comes before.
    pub fn tell(&mut self, observer: &mut dyn Observer) {
        self.settle(0);
        let settled = std::mem::take(&mut self.settled);
        self.runs.clear();
        self.tell_first(settled, observer);
    }

    /// Notes what nothing unknown comes before at the end of a cycle.
    pub fn settle(&mut self, now: u64) {
        let before = self.settled;
        while let Some(entry) = self.waiting.get(self.settled)
            && !matches!(entry, Entry::Issued { complete: false, .. })
        {
            self.settled += 1;
        }
        if self.settled > before {
            self.runs.push_back((now, self.settled - before));
        }
    }

    /// The cycle of the first entries that were settled and not told.
    pub fn settled_at(&self) -> Option<u64> {
        self.runs.front().map(|&(at, _)| at)
    }

    /// Tells what was settled first.
    pub fn tell_run(&mut self, observer: &mut dyn Observer) {
        let Some((_, count)) = self.runs.pop_front() else { return };
        self.settled -= count;
        self.tell_first(count, observer);
    }

    fn tell_first(&mut self, count: usize, observer: &mut dyn Observer) {
        for entry in self.waiting.drain(..count) {
            match entry {
                Entry::Issued { issue, .. } => {
                    observer.issued(&issue);
                    self.places.pop_front();
                    self.first_age += 1;
                }
                Entry::BlockStarted(start) => observer.block_started(&start),
                Entry::Idled(idle) => observer.idled(&idle),
                Entry::Released(release) => observer.barrier_released(&release),
                Entry::WarpFinished(finish) => observer.warp_finished(&finish),
                Entry::BlockEnded(block, end) => observer.block_ended(block, end),
                Entry::Sampled(sample) => observer.sampled(&sample),
            }
        }
        self.told += count as u64;
    }
}
