//! A log that emits events in the order in which they were decided.
//!
//! Observers receive the event of an instruction when it issues, together with the cycles of its
//! start and its completion. In this engine these cycles are known only later, so an event waits in
//! the log until it and all earlier events are complete.

use std::ops::Range;

use super::flight::FlightDetails;
use warpbound_core::base::Cycle;
use warpbound_trace::trace::{Event, Issue, Observer};

#[derive(Clone, Copy, Debug)]
struct Entry {
    event: Event,
    /// Whether the event is complete: all its cycles are known.
    complete: bool,
}

/// The events that wait to be emitted. The log stays empty if no observer is attached.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// The events in the order in which they were decided: first those that have been emitted, then
    /// those that are settled (every event up to them is complete), then the rest.
    entries: Vec<Entry>,
    emitted: usize,
    settled: usize,
    /// The number of entries that have been dropped before the first of these; it wraps around.
    passed: u32,
    /// The ranges of events that became settled, with the cycle, if an observer requests the order
    /// of cycles.
    runs: Vec<(u64, Range<usize>)>,
}

/// Events that are settled: they and all earlier events are complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    entries: Vec<Entry>,
    /// The events before this index have been emitted.
    emitted: usize,
    /// The cycles in which events became settled, in ascending order, and the range of these
    /// events.
    runs: Vec<(u64, Range<usize>)>,
}

impl Settled {
    pub fn runs(&self) -> &[(u64, Range<usize>)] {
        &self.runs
    }

    /// Returns whether there is no event to be emitted.
    pub fn is_empty(&self) -> bool {
        self.emitted == self.entries.len()
    }

    /// Emits the events of a run.
    pub fn tell(&self, run: Range<usize>, observer: &mut dyn Observer) {
        self.entries[run].iter().for_each(|entry| observer.on(&entry.event));
    }

    /// Emits all events.
    pub fn tell_all(&self, observer: &mut dyn Observer) {
        self.tell(self.emitted..self.entries.len(), observer);
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.runs.clear();
        self.emitted = 0;
    }
}

/// The number of emitted entries that are kept, because dropping them moves all later ones.
const KEPT: usize = 256;

impl Log {
    /// Adds an event that is complete.
    pub fn add(&mut self, event: Event) {
        self.entries.push(Entry { event, complete: true });
    }

    /// Adds the event of an issue. Returns the number by which to refer to it when the instruction
    /// [completes](Self::completed).
    pub fn issued(&mut self, issue: Issue) -> u32 {
        self.entries.push(Entry { event: Event::Issued(issue), complete: false });
        self.passed.wrapping_add(self.entries.len() as u32 - 1)
    }

    /// Records that an instruction is complete.
    pub fn completed(&mut self, flight: &FlightDetails, done: u64) {
        let place = flight.entry.wrapping_sub(self.passed) as usize;
        if let Some(Entry { event: Event::Issued(issue), complete }) = self.entries.get_mut(place) {
            issue.start = Cycle::new(flight.start);
            issue.init_end = Cycle::new(flight.init_end);
            issue.done = Cycle::new(done);
            *complete = true;
        }
    }

    /// Returns whether no event waits.
    pub fn is_empty(&self) -> bool {
        self.emitted == self.entries.len()
    }

    /// Emits all events that are settled.
    pub fn tell(&mut self, observer: &mut dyn Observer) {
        self.settle();
        self.entries[self.emitted..self.settled].iter().for_each(|entry| observer.on(&entry.event));
        self.emitted = self.settled;
        self.drop_emitted();
    }

    /// Records which events became settled in the cycle `now`, at its end.
    pub fn settle_at(&mut self, now: u64) {
        let before = self.settled;
        self.settle();
        if self.settled > before {
            self.runs.push((now, before..self.settled));
        }
    }

    /// Moves the end of the settled events forward to the first incomplete one.
    pub fn settle(&mut self) {
        let rest = &self.entries[self.settled..];
        self.settled += rest.iter().position(|entry| !entry.complete).unwrap_or(rest.len());
    }

    /// Moves the settled events that have not been emitted into `empty`. The shorter one of the
    /// settled part and the rest is copied: the rest may be long if one instruction is overtaken by
    /// many others in the collector.
    pub fn take_settled(&mut self, empty: &mut Settled) {
        debug_assert!(empty.is_empty() && empty.runs.is_empty());
        std::mem::swap(&mut self.runs, &mut empty.runs);
        empty.entries.clear();
        if self.entries.len() - self.settled > self.settled - self.emitted {
            empty.entries.extend_from_slice(&self.entries[self.emitted..self.settled]);
            for (_, run) in &mut empty.runs {
                *run = run.start - self.emitted..run.end - self.emitted;
            }
            empty.emitted = 0;
            self.emitted = self.settled;
            self.drop_emitted();
            return;
        }
        empty.emitted = self.emitted;
        std::mem::swap(&mut self.entries, &mut empty.entries);
        self.entries.extend_from_slice(&empty.entries[self.settled..]);
        empty.entries.truncate(self.settled);
        self.passed = self.passed.wrapping_add(self.settled as u32);
        (self.emitted, self.settled) = (0, 0);
    }

    /// Drops the emitted events if there are enough of them to be worth moving the rest.
    fn drop_emitted(&mut self) {
        if self.emitted > KEPT && self.emitted > self.entries.len() / 2 {
            self.entries.drain(..self.emitted);
            self.passed = self.passed.wrapping_add(self.emitted as u32);
            (self.emitted, self.settled) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::{BlockId, Pc, UnitId, WarpId};
    use warpbound_core::path::Step;
    use warpbound_trace::trace::Needs;

    /// The order in which instructions issued, and when they completed.
    #[derive(Default)]
    struct Received(Vec<(u32, u64)>);

    impl Observer for Received {
        fn needs(&self) -> Needs {
            Needs::IN_ORDER
        }

        fn on(&mut self, event: &Event) {
            if let Event::Issued(issue) = event {
                self.0.push((issue.index, issue.done.get()));
            }
        }
    }

    fn issue(index: u32) -> Issue {
        let at = Cycle::ZERO;
        Issue {
            block: BlockId::new(0),
            slot: 0,
            sub_core: 0,
            warp: WarpId::from_index(0),
            index,
            step: Step::plain(Pc::new(0)),
            unit: UnitId::new(0),
            issue: at,
            start: at,
            init_end: at,
            done: at,
        }
    }

    /// Checks that all events are emitted in order, whether they are taken in pieces or emitted at
    /// once.
    #[test]
    fn all_events_are_handed_over_in_order() {
        for slow in [1, 3, 700, 5000] {
            let (mut log, mut handed, mut heard) = (Log::default(), Settled::default(), Received::default());
            let mut pending = Vec::new();
            let mut copied = 0;
            for n in 0..5000_u32 {
                let entry = log.issued(issue(n));
                // every 1000th instruction takes long, the others a few cycles
                pending.push((n + if n % 1000 == 0 { slow } else { n % 3 }, n, entry));
                pending.retain(|&(due, index, entry)| {
                    if due <= n {
                        log.completed(
                            &FlightDetails { entry, ..FlightDetails::default() },
                            (index + 1).into(),
                        );
                    }
                    due > n
                });
                if n % 10 == 9 {
                    log.settle_at(n.into());
                    log.take_settled(&mut handed);
                    copied += handed.entries.len() - handed.emitted;
                    handed.runs.drain(..).for_each(|(_, run)| {
                        handed.entries[run].iter().for_each(|entry| heard.on(&entry.event));
                    });
                    handed.clear();
                }
            }
            pending.drain(..).for_each(|(_, index, entry)| {
                log.completed(&FlightDetails { entry, ..FlightDetails::default() }, (index + 1).into());
            });
            log.settle();
            log.take_settled(&mut handed);
            copied += handed.entries.len() - handed.emitted;
            handed.tell_all(&mut heard);
            assert!(heard.0.into_iter().eq((0..5000).map(|n| (n, u64::from(n) + 1))), "{slow}");
            assert_eq!(copied, 5000);
            assert!(log.is_empty());
        }
    }
}
