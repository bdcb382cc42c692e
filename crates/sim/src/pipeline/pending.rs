//! The emission of the events of a window, which may overlap with the simulation of the next
//! window.

use std::ops::Range;

use super::cores::Core;
use super::log::Settled;
use warpbound_trace::trace::{Event, Observer};

/// The events of a window that have not been emitted.
#[derive(Debug)]
pub(super) struct PendingEvents {
    /// The events, SM by SM.
    events: Vec<Settled>,
    /// The cycle, the SM and the range of its events, in the order of emission. It is empty if
    /// events are emitted SM by SM.
    order: Vec<(u64, usize, Range<usize>)>,
}

impl PendingEvents {
    /// Creates the buffers for this many SMs.
    pub fn new(sms: usize) -> Self {
        Self { events: vec![Settled::default(); sms], order: Vec::new() }
    }

    /// Takes the settled events of SMs. All earlier events must have been emitted.
    pub fn take<'c, 'a: 'c>(&mut self, cores: impl Iterator<Item = &'c mut Core<'a>>) {
        debug_assert!(self.order.is_empty(), "all earlier events have been emitted");
        for core in cores {
            let number = core.sm.index;
            if !core.sm.keeps_order {
                core.sm.log.settle();
            }
            core.sm.log.take_settled(&mut self.events[number]);
            let runs = self.events[number].runs();
            self.order.extend(runs.iter().map(|(at, run)| (*at, number, run.clone())));
        }
        // the events of one SM are in order already
        self.order.sort_by_key(|&(at, number, _)| (at, number));
    }

    /// Emits all events: cycle by cycle if the observer requires that order, or else SM by SM.
    pub fn tell(&mut self, observer: &mut dyn Observer) {
        let several = self.events.len() > 1;
        if self.order.is_empty() {
            for (number, settled) in self.events.iter().enumerate().filter(|(_, settled)| !settled.is_empty())
            {
                if several {
                    observer.on(&Event::Sm(number));
                }
                settled.tell_all(observer);
            }
        }
        for (_, number, run) in self.order.drain(..) {
            if several {
                observer.on(&Event::Sm(number));
            }
            self.events[number].tell(run, observer);
        }
        self.events.iter_mut().for_each(Settled::clear);
    }
}
