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
    /// (age, place among all entries ever) of the instructions under way, by ascending age.
    places: VecDeque<(u64, u64)>,
    /// Entries told so far.
    told: u64,
}

impl Log {
    pub fn block_started(&mut self, start: BlockStart) {
        self.waiting.push_back(Entry::BlockStarted(start));
    }

    pub fn issued(&mut self, issue: Issue, age: u64) {
        self.places.push_back((age, self.told + self.waiting.len() as u64));
        self.waiting.push_back(Entry::Issued { issue, age, complete: false });
    }

    /// The instruction with this age is complete.
    pub fn completed(&mut self, flight: &Flight, done: u64) {
        let Ok(at) = self.places.binary_search_by_key(&flight.age, |&(age, _)| age) else { return };
        let place = self.places[at].1;
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
        while let Some(entry) = self.waiting.front() {
            match entry {
                Entry::Issued { complete: false, .. } => return,
                Entry::Issued { issue, age, .. } => {
                    observer.issued(issue);
                    debug_assert_eq!(self.places.front().map(|&(a, _)| a), Some(*age));
                    self.places.pop_front();
                }
                Entry::BlockStarted(start) => observer.block_started(start),
                Entry::Idled(idle) => observer.idled(idle),
                Entry::Released(release) => observer.barrier_released(release),
                Entry::WarpFinished(finish) => observer.warp_finished(finish),
                Entry::BlockEnded(block, end) => observer.block_ended(*block, *end),
                Entry::Sampled(sample) => observer.sampled(sample),
            }
            self.waiting.pop_front();
            self.told += 1;
        }
    }
}
