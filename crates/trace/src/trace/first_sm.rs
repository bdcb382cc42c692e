//! A filter that passes on the events of SM 0 and of the memory that it shares with other SMs, for
//! observers that distinguish only the slots and units of one SM.

use super::{Event, Needs, Observer};

/// Passes on the events of SM 0 and of the memory that it shares with other SMs.
#[derive(Clone, Debug, Default)]
pub struct FirstSm<O> {
    inner: O,
    elsewhere: bool,
}

impl<O> FirstSm<O> {
    /// Creates a filter that passes events on to this observer.
    #[inline]
    pub fn new(inner: O) -> Self {
        Self { inner, elsewhere: false }
    }

    /// Returns the observer.
    #[inline]
    pub fn into_inner(self) -> O {
        self.inner
    }
}

impl<O: Observer> Observer for FirstSm<O> {
    fn needs(&self) -> Needs {
        // the events are those of one SM
        Needs { order: false, ..self.inner.needs() }
    }

    fn on(&mut self, event: &Event) {
        let passes = match event {
            Event::Sm(sm) => {
                self.elsewhere = *sm != 0;
                false
            }
            Event::Sampled(sample) => !self.elsewhere || sample.counted.is_shared(),
            Event::BlockStarted(_)
            | Event::Issued(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. } => !self.elsewhere,
        };
        if passes {
            self.inner.on(event);
        }
    }
}
