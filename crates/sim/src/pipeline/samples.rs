//! Samples of the counters of fetch and memory, for observers that request them.

use super::Sm;
use warpbound_core::base::Cycle;
use warpbound_trace::trace::{Counted, Event, Sample};

/// The counter values of the last samples, part by part.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Vec<Counted>);

impl Told {
    /// Returns the sample of a part, whose counters have these values at the end of a cycle, or
    /// `None` if they have not changed.
    pub fn sample_if_changed(&mut self, counted: Counted, now: u64) -> Option<Sample> {
        match self.0.iter_mut().find(|last| last.is_of_same_part(&counted)) {
            Some(last) if *last == counted => return None,
            Some(last) => *last = counted,
            None => self.0.push(counted),
        }
        Some(Sample { at: Cycle::new(now), counted })
    }
}

impl Sm<'_> {
    /// Records the counters that have changed, if an observer requests samples.
    pub fn sample(&mut self) {
        let Some(told) = &mut self.told else { return };
        let fetch = self.front_end.sample(self.blocks.live()).map(Counted::Fetch).into_iter();
        let caches = self.load_store.iter().flat_map(|unit| unit.samples());
        for sample in fetch.chain(caches).filter_map(|counted| told.sample_if_changed(counted, self.now)) {
            self.log.add(Event::Sampled(sample));
        }
    }
}
