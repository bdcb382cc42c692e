//! A recorder that keeps all events in memory, for Gantt charts and tests.

use super::{Event, Idle, Issue, Needs, Observer};

/// Keeps every event except for samples and the numbers of SMs. Its memory grows with the run, so
/// it is meant for small runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorder {
    /// The events, in the order of [`Observer`].
    pub events: Vec<Event>,
}

impl Recorder {
    /// Creates an empty recorder.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the issues among the events, by issue cycle.
    #[inline]
    pub fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.events.iter().filter_map(|event| match event {
            Event::Issued(issue) => Some(issue),
            _ => None,
        })
    }

    /// Returns the idle intervals among the events.
    #[inline]
    pub fn idles(&self) -> impl Iterator<Item = &Idle> {
        self.events.iter().filter_map(|event| match event {
            Event::Idled(idle) => Some(idle),
            _ => None,
        })
    }
}

impl Observer for Recorder {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::BlockStarted(_)
            | Event::Issued(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. } => self.events.push(*event),
            Event::Sm(_) | Event::Sampled(_) => {}
        }
    }
}
