//! Everything that happened, in memory: for Gantt charts and tests.

use super::{BlockStart, Idle, Issue, Observer, Release, WarpFinish};
use crate::base::{BlockId, Cycle};

/// Anything an observer hears of.
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

/// Keeps every event. Memory grows with the run: for small runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorder {
    /// What happened, in the order of [`Observer`].
    pub events: Vec<Event>,
}

impl Recorder {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The issues among the events, by issue cycle.
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.events.iter().filter_map(|event| match event {
            Event::Issued(issue) => Some(issue),
            _ => None,
        })
    }

    /// The idle intervals among the events.
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
