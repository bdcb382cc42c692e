//! A recorder that keeps all events in memory, for Gantt charts and tests.

use super::{BlockStart, Idle, Issue, Observer, Release, WarpFinish};
use crate::base::{BlockId, Cycle};

/// Any event that an observer receives, except for samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "one per method of Observer")]
pub enum Event {
    BlockStarted(BlockStart),
    Issued(Issue),
    Idled(Idle),
    BarrierReleased(Release),
    WarpFinished(WarpFinish),
    BlockEnded { block: BlockId, end: Cycle },
}

/// Keeps every event. Its memory grows with the run, so it is meant for small runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorder {
    /// The events, in the order of [`Observer`].
    pub events: Vec<Event>,
}

impl Recorder {
    /// Creates an empty recorder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the issues among the events, by issue cycle.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.events.iter().filter_map(|event| match event {
            Event::Issued(issue) => Some(issue),
            _ => None,
        })
    }

    /// Returns the idle intervals among the events.
    pub fn idles(&self) -> impl Iterator<Item = &Idle> {
        self.events.iter().filter_map(|event| match event {
            Event::Idled(idle) => Some(idle),
            _ => None,
        })
    }
}

impl Observer for Recorder {
    fn block_started(&mut self, start: &BlockStart) {
        self.events.push(Event::BlockStarted(*start));
    }
    fn issued(&mut self, issue: &Issue) {
        self.events.push(Event::Issued(*issue));
    }
    fn idled(&mut self, idle: &Idle) {
        self.events.push(Event::Idled(*idle));
    }
    fn barrier_released(&mut self, release: &Release) {
        self.events.push(Event::BarrierReleased(*release));
    }
    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.events.push(Event::WarpFinished(*finish));
    }
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        self.events.push(Event::BlockEnded { block, end });
    }
}
