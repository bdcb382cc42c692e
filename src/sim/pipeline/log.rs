//! Puts events into the order in which they were decided.
//!
//! Observers hear of an instruction when it issues, with the cycles of its start and its result.
//! Here those are known only later, so what happened waits until everything before it is known.

use std::collections::VecDeque;
use std::ops::Range;

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
    /// Entries that wait no more.
    passed: u64,
    /// They are here until somebody tells or takes them.
    settled: Settled,
}

/// Events that nothing unknown comes before.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    entries: Vec<Entry>,
    /// In which cycle they became so, in ascending order, and which ones.
    runs: Vec<(u64, Range<usize>)>,
}

impl Settled {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn runs(&self) -> &[(u64, Range<usize>)] {
        &self.runs
    }

    /// Tells those of a run.
    pub fn tell(&self, run: Range<usize>, observer: &mut dyn Observer) {
        self.entries[run].iter().for_each(|entry| entry.tell(observer));
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.runs.clear();
    }
}

impl Entry {
    fn tell(&self, observer: &mut dyn Observer) {
        match self {
            Self::Issued { issue, .. } => observer.issued(issue),
            Self::BlockStarted(start) => observer.block_started(start),
            Self::Idled(idle) => observer.idled(idle),
            Self::Released(release) => observer.barrier_released(release),
            Self::WarpFinished(finish) => observer.warp_finished(finish),
            Self::BlockEnded(block, end) => observer.block_ended(*block, *end),
            Self::Sampled(sample) => observer.sampled(sample),
        }
    }
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
        self.places.push_back(self.passed + self.waiting.len() as u64);
        self.waiting.push_back(Entry::Issued { issue, age, complete: false });
    }

    /// The instruction with this age is complete.
    pub fn completed(&mut self, flight: &Flight, done: u64) {
        let Some(&place) = self.places.get((flight.age - self.first_age) as usize) else { return };
        if let Some(Entry::Issued { issue, age, complete }) =
            self.waiting.get_mut((place - self.passed) as usize)
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
        self.waiting.is_empty() && self.settled.is_empty()
    }

    /// Tells everything that nothing unknown comes before.
    pub fn tell(&mut self, observer: &mut dyn Observer) {
        self.settle(0);
        let all = 0..self.settled.entries.len();
        self.settled.tell(all, observer);
        self.settled.clear();
    }

    /// Notes what nothing unknown comes before at the end of a cycle.
    pub fn settle(&mut self, now: u64) {
        let before = self.settled.entries.len();
        while let Some(entry) = self.waiting.front()
            && !matches!(entry, Entry::Issued { complete: false, .. })
        {
            if matches!(entry, Entry::Issued { .. }) {
                self.places.pop_front();
                self.first_age += 1;
            }
            self.settled.entries.extend(self.waiting.pop_front());
            self.passed += 1;
        }
        let after = self.settled.entries.len();
        if after > before {
            self.settled.runs.push((now, before..after));
        }
    }

    /// Changes what was settled and not told for something that is empty.
    pub fn take_settled(&mut self, empty: &mut Settled) {
        debug_assert!(empty.is_empty());
        std::mem::swap(&mut self.settled, empty);
    }
}
