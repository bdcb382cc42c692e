//! The observation of a simulated run, without a trace that is written and parsed.

use super::instrumented::Instrumented;
use super::observed::{Fault, Observed, Observer};
use super::sections::Sections;
use super::trace::Event;
use super::waves::CtaSlots;
use warpbound_core::base::Cycle;
use warpbound_trace::trace::{self, Ipoints, Needs, Passed, PassedSink};

/// Observes one run of a kernel. [`Observed::then`] combines its result with that of other runs.
pub struct Run<'a>(Ipoints<'a, Feed<'a>>);

impl<'a> Run<'a> {
    /// Creates the observer before the run; `bounds` are the iteration bounds of the loops, if the
    /// user gives them.
    pub fn new(kernel: &'a Instrumented, bounds: &[Option<u64>]) -> Self {
        let observer = Observer::with_bounds(&kernel.ipg, bounds);
        let (cta_slots, sections) = (CtaSlots::default(), Sections::new(&kernel.ipg));
        let feed = Feed { kernel, observer, cta_slots, sections, fault: None };
        Self(Ipoints::new(&kernel.map, feed))
    }

    /// Returns the result after the run.
    ///
    /// # Errors
    /// Returns an error if the graph or a bound does not allow the run. The line of its position is
    /// a source line.
    pub fn finish(self) -> Result<Observed, Fault> {
        let Feed { observer, cta_slots, sections, fault, .. } = self.0.finish();
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Observed {
                blocks: Some(cta_slots.waves()),
                sections: sections.finish(),
                ..observer.finish()?
            }),
        }
    }
}

struct Feed<'a> {
    kernel: &'a Instrumented,
    observer: Observer<'a>,
    cta_slots: CtaSlots,
    sections: Sections<'a>,
    fault: Option<Fault>,
}

impl PassedSink for Feed<'_> {
    fn passed(&mut self, passed: Passed) {
        let Passed { ipoint, sm, slot, cycle, pc } = passed;
        match pc {
            Some(_) => self.cta_slots.seen(sm, slot, cycle),
            None => self.cta_slots.ended(sm, slot, cycle),
        }
        if self.fault.is_none() {
            let line = u64::from(self.kernel.lines[ipoint]);
            let event = Event { ipoint, sm, warp: slot, cycle };
            self.fault = self.observer.event(event, line).err();
            self.sections.passed(event);
        }
    }

    fn block_started(&mut self, sm: u32, first_slot: usize, warps: usize) {
        self.cta_slots.block(sm, first_slot, warps);
    }

    fn met(&mut self, sm: u32, arrivals: &[(u32, Cycle)]) {
        self.sections.met(sm, arrivals);
    }
}

impl trace::Observer for Run<'_> {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn on(&mut self, event: &trace::Event) {
        self.0.on(event);
    }
}
