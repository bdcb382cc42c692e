//! Telling what happened in a window, which may be while the next one is simulated.

use std::ops::Range;

use super::cores::Core;
use super::log::Settled;
use crate::trace::Observer;

/// The events of a window that have not been told.
#[derive(Debug)]
pub(super) struct Telling {
    /// SM by SM.
    events: Vec<Settled>,
    /// Cycle, SM and which of its events, in the order of telling; empty if they are told SM by SM.
    order: Vec<(u64, usize, Range<usize>)>,
}

impl Telling {
    /// Of so many SMs.
    pub fn new(sms: usize) -> Self {
        Self { events: vec![Settled::default(); sms], order: Vec::new() }
    }

    /// Takes what has settled on SMs, once everything from before is told.
    pub fn take<'c, 'a: 'c>(&mut self, cores: impl Iterator<Item = &'c mut Core<'a>>) {
        debug_assert!(self.order.is_empty(), "events are told in the order in which they happened");
        for core in cores {
            let number = core.sm.index;
            if !core.sm.keeps_order {
                core.sm.log.settle();
            }
            core.sm.log.take_settled(&mut self.events[number]);
            let runs = self.events[number].runs();
            self.order.extend(runs.iter().map(|(at, run)| (*at, number, run.clone())));
        }
        // those of an SM are in order already
        self.order.sort_by_key(|&(at, number, _)| (at, number));
    }

    /// Tells all of it: cycle by cycle if somebody asked in which cycle what settled, or else SM by SM.
    pub fn tell(&mut self, observer: &mut dyn Observer) {
        let several = self.events.len() > 1;
        if self.order.is_empty() {
            for (number, settled) in self.events.iter().enumerate().filter(|(_, settled)| !settled.is_empty())
            {
                if several {
                    observer.on_sm(number);
                }
                settled.tell_all(observer);
            }
        }
        for (_, number, run) in self.order.drain(..) {
            if several {
                observer.on_sm(number);
            }
            self.events[number].tell(run, observer);
        }
        self.events.iter_mut().for_each(Settled::clear);
    }
}
