//! The events of a simulation, and the observers that record, summarize or write them.
//!
//! The engine is generic over an [`Observer`]; `()` costs nothing. Observers are pure: they keep
//! their data in memory or write to a `Write` that the caller passes, and they never influence the
//! simulation. All times of events are in the time of the SM, in which the first block of a launch
//! starts at cycle 0; [`BlockStart`] gives the start of each block.

mod banks;
mod csv;
mod digest;
mod first_sm;
mod instances;
mod ipoints;
mod kanata;
mod listing;
mod memory;
mod perfetto;
mod profile;
mod recorder;
mod stall;
mod summary;

pub use banks::{BankProfile, BankUse};
pub use csv::{CsvTrace, quoted};
pub use digest::Digest;
pub use first_sm::FirstSm;
pub use instances::UnitInstances;
pub use ipoints::{IpointMap, IpointTrace, Ipoints, Passed, PassedSink};
pub use kanata::KanataTrace;
pub use listing::Listing;
pub use memory::{CacheSample, CacheStats, Counted, DramSample, DramStats, FetchSample, Sample};
pub use perfetto::PerfettoTrace;
pub use profile::{LostCycles, StallProfile};
pub use recorder::Recorder;
pub use stall::{StallReason, Stalls};
pub use summary::{FinishOrder, UnitUse};

use warpbound_core::base::{BlockId, Cycle, Cycles, UnitId, WarpId, WarpMask};
use warpbound_core::path::Step;

/// Receives every event of the SM, or of all SMs.
///
/// Events are emitted in the order of the cycles in which they were *decided*: an instruction when
/// it issues, although its `done` is later; a warp when its last instruction has issued.
///
/// No method of an observer has a default implementation, so that an observer that passes events on
/// to another one cannot lose any.
pub trait Observer {
    /// Returns what the observer needs. It does not change during a run.
    fn needs(&self) -> Needs;

    /// Receives an event.
    fn on(&mut self, event: &Event);
}

/// What an observer needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether it needs any event. If not, the engine skips the work that only observers need.
    pub events: bool,
    /// Whether it needs [`Event::Sampled`], which requires a check of every counter in each cycle.
    pub samples: bool,
    /// Whether the events of several SMs have to be emitted cycle by cycle; within a cycle, those
    /// of SM 0 precede those of SM 1, and so on. Otherwise they may be emitted SM by SM, for many
    /// cycles at a time, which costs less; the order on each SM is the same.
    pub order: bool,
}

impl Needs {
    /// No event.
    pub const NOTHING: Self = Self { events: false, samples: false, order: false };
    /// The events of each SM in their order, without samples.
    pub const EVENTS: Self = Self { events: true, ..Self::NOTHING };
    /// The events of all SMs in their order, without samples.
    pub const IN_ORDER: Self = Self { order: true, ..Self::EVENTS };
    /// The events of all SMs in their order, with samples.
    pub const SAMPLES: Self = Self { samples: true, ..Self::IN_ORDER };

    /// Returns the needs of two observers together.
    #[must_use]
    #[inline]
    pub fn or(self, other: Self) -> Self {
        Self {
            events: self.events || other.events,
            samples: self.samples || other.samples,
            order: self.order || other.order,
        }
    }
}

/// An event of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The number of the SM of the following events. It is emitted only if there are several SMs.
    Sm(usize),
    /// A block became resident.
    BlockStarted(BlockStart),
    /// An instruction issued.
    Issued(Issue),
    /// An issue slot stayed empty for one reason. The intervals of a sub-core are disjoint and
    /// ascend, and together with its issues they fill the time up to the makespan.
    Idled(Idle),
    /// A barrier released its warps.
    BarrierReleased(Release),
    /// A warp has no instruction left.
    WarpFinished(WarpFinish),
    /// The last result of a block is available.
    BlockEnded {
        /// The block.
        block: BlockId,
        /// The cycle in which the result is available.
        end: Cycle,
    },
    /// The counters of a part of the memory, or of fetch, differ from the last sample of that part.
    /// Samples are emitted at the end of a cycle by machines with a pipeline, if an observer
    /// [needs](Needs::samples) them. The samples of a part ascend; those of
    /// [shared](Counted::is_shared) parts may precede events of an SM in earlier cycles.
    Sampled(Sample),
}

/// A block that became resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockStart {
    /// The block.
    pub block: BlockId,
    /// The slot of its warp 0; those of the other warps follow.
    pub first_slot: usize,
    /// The number of its warps.
    pub warps: usize,
    /// The first cycle in which one of them may issue.
    pub at: Cycle,
}

/// An instruction that issued. It occupies its unit in the cycles `[start, init_end)`, and its
/// result is available at `done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The block.
    pub block: BlockId,
    /// The warp slot on the SM.
    pub slot: usize,
    /// The sub-core of the slot.
    pub sub_core: u8,
    /// The warp of the block.
    pub warp: WarpId,
    /// The index of the step in the warp's path.
    pub index: u32,
    /// The step.
    pub step: Step,
    /// The unit that executes it; if the unit is not shared, its instance on the sub-core.
    pub unit: UnitId,
    /// The cycle in which it issued.
    pub issue: Cycle,
    /// The cycle in which its initiation began.
    pub start: Cycle,
    /// The cycle in which its unit was free again.
    pub init_end: Cycle,
    /// The cycle in which its result is available.
    pub done: Cycle,
}

/// An interval `[from, to)` in which the issue slot of a sub-core stayed empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The first empty cycle.
    pub from: Cycle,
    /// The first cycle after the interval.
    pub to: Cycle,
    /// The sub-core.
    pub sub_core: u8,
    /// The reason.
    pub reason: StallReason,
    /// A warp that the reason fits: the one that becomes ready first, or that in the lowest slot on
    /// a tie. `None` if no warp of the sub-core has an instruction left.
    pub waiting: Option<Waiting>,
}

impl Idle {
    /// Returns the length of the interval.
    #[inline]
    pub fn cycles(&self) -> Cycles {
        self.to - self.from
    }
}

/// A warp that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its block.
    pub block: BlockId,
    /// Its slot.
    pub slot: usize,
    /// The warp.
    pub warp: WarpId,
    /// The index in its path of the instruction that it waits to issue, or of the barrier at which
    /// it waits.
    pub index: u32,
    /// That instruction.
    pub step: Step,
}

/// A barrier that released its warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The block.
    pub block: BlockId,
    /// The barrier resource.
    pub barrier: u8,
    /// The slots of the warps that had waited.
    pub slots: WarpMask,
    /// The first cycle in which they may issue again.
    pub at: Cycle,
}

/// A warp that has no instruction left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpFinish {
    /// The block.
    pub block: BlockId,
    /// The slot of the warp.
    pub slot: usize,
    /// The warp.
    pub warp: WarpId,
    /// The cycle in which its last result is available: the largest `done`, or the block's start if
    /// nothing issued.
    pub done: Cycle,
    /// The number of instructions that it issued.
    pub issues: u64,
}

impl Observer for () {
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
    fn on(&mut self, _: &Event) {}
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn needs(&self) -> Needs {
        (**self).needs()
    }
    fn on(&mut self, event: &Event) {
        (**self).on(event);
    }
}

/// An observer that is known to need events, so that no check is needed for every event. It is for
/// the engine of the paper model, which has one SM and no samples.
pub struct Listening<'o>(&'o mut dyn Observer);

impl<'o> Listening<'o> {
    /// Returns the observer if it needs events.
    #[inline]
    pub fn new(observer: &'o mut dyn Observer) -> Option<Self> {
        observer.needs().events.then_some(Self(observer))
    }
}

impl Observer for Listening<'_> {
    #[inline]
    fn needs(&self) -> Needs {
        Needs::EVENTS
    }
    #[inline]
    fn on(&mut self, event: &Event) {
        self.0.on(event);
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn needs(&self) -> Needs {
        self.0.needs().or(self.1.needs())
    }
    fn on(&mut self, event: &Event) {
        self.0.on(event);
        self.1.on(event);
    }
}

/// A list of observers that is built at run time; an empty one costs as little as `()`.
impl Observer for Vec<&mut dyn Observer> {
    fn needs(&self) -> Needs {
        self.iter().map(|observer| observer.needs()).fold(Needs::NOTHING, Needs::or)
    }
    fn on(&mut self, event: &Event) {
        self.iter_mut().for_each(|observer| observer.on(event));
    }
}
