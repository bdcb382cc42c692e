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
pub use recorder::{Event, Recorder};
pub use stall::{StallReason, Stalls};
pub use summary::{FinishOrder, UnitUse};

use crate::base::{BlockId, Cycle, Cycles, UnitId, WarpId, WarpMask};
use crate::path::Step;

/// Receives every event of the SM, or of all SMs.
///
/// Events are emitted in the order of the cycles in which they were *decided*: an instruction when
/// it issues, although its `done` is later; a warp when its last instruction has issued.
pub trait Observer {
    /// Returns whether the observer needs any event. If not, the engine skips the work that only
    /// observers need.
    fn is_active(&self) -> bool {
        true
    }

    /// Returns whether the observer needs [`Observer::sampled`], which requires a check of every
    /// counter in each cycle.
    fn wants_samples(&self) -> bool {
        false
    }

    /// Returns whether the events of several SMs have to be emitted cycle by cycle. Otherwise they
    /// may be emitted SM by SM, for many cycles at a time, which costs less; the order on each SM
    /// is the same.
    fn wants_order(&self) -> bool {
        true
    }

    /// Announces the SM of the following events. It is called only if there are several SMs; within
    /// a cycle, the events of SM 0 precede those of SM 1, and so on.
    fn on_sm(&mut self, sm: usize) {
        let _ = sm;
    }

    /// Receives a block that became resident.
    fn block_started(&mut self, start: &BlockStart) {
        let _ = start;
    }

    /// Receives an instruction that issued.
    fn issued(&mut self, issue: &Issue) {
        let _ = issue;
    }

    /// Receives an interval in which an issue slot stayed empty for one reason. The intervals of a
    /// sub-core are disjoint and ascend, and together with its issues they fill the time up to the
    /// makespan.
    fn idled(&mut self, idle: &Idle) {
        let _ = idle;
    }

    /// Receives a barrier that released its warps.
    fn barrier_released(&mut self, release: &Release) {
        let _ = release;
    }

    /// Receives a warp that has no instruction left.
    fn warp_finished(&mut self, finish: &WarpFinish) {
        let _ = finish;
    }

    /// Receives a block whose last result is available.
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        let _ = (block, end);
    }

    /// Receives counters of a part of the memory, or of fetch, that differ from the last sample of
    /// that part. Samples are emitted at the end of a cycle by machines with a pipeline, if an
    /// observer [requests](Self::wants_samples) them. The samples of a part ascend; those of
    /// [shared](Counted::is_shared) parts may precede events of an SM in earlier cycles.
    fn sampled(&mut self, sample: &Sample) {
        let _ = sample;
    }
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
    fn is_active(&self) -> bool {
        false
    }
    fn wants_order(&self) -> bool {
        false
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn is_active(&self) -> bool {
        (**self).is_active()
    }
    fn wants_samples(&self) -> bool {
        (**self).wants_samples()
    }
    fn wants_order(&self) -> bool {
        (**self).wants_order()
    }
    fn on_sm(&mut self, sm: usize) {
        (**self).on_sm(sm);
    }
    fn block_started(&mut self, start: &BlockStart) {
        (**self).block_started(start);
    }
    fn issued(&mut self, issue: &Issue) {
        (**self).issued(issue);
    }
    fn idled(&mut self, idle: &Idle) {
        (**self).idled(idle);
    }
    fn barrier_released(&mut self, release: &Release) {
        (**self).barrier_released(release);
    }
    fn warp_finished(&mut self, finish: &WarpFinish) {
        (**self).warp_finished(finish);
    }
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        (**self).block_ended(block, end);
    }
    fn sampled(&mut self, sample: &Sample) {
        (**self).sampled(sample);
    }
}

/// An observer that is known to be active, so that no check is needed for every event.
pub struct Listening<'o>(pub &'o mut dyn Observer);

impl Observer for Listening<'_> {
    fn wants_samples(&self) -> bool {
        self.0.wants_samples()
    }
    fn wants_order(&self) -> bool {
        self.0.wants_order()
    }
    fn on_sm(&mut self, sm: usize) {
        self.0.on_sm(sm);
    }
    fn block_started(&mut self, start: &BlockStart) {
        self.0.block_started(start);
    }
    fn issued(&mut self, issue: &Issue) {
        self.0.issued(issue);
    }
    fn idled(&mut self, idle: &Idle) {
        self.0.idled(idle);
    }
    fn barrier_released(&mut self, release: &Release) {
        self.0.barrier_released(release);
    }
    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.0.warp_finished(finish);
    }
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        self.0.block_ended(block, end);
    }
    fn sampled(&mut self, sample: &Sample) {
        self.0.sampled(sample);
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn is_active(&self) -> bool {
        self.0.is_active() || self.1.is_active()
    }
    fn wants_samples(&self) -> bool {
        self.0.wants_samples() || self.1.wants_samples()
    }
    fn wants_order(&self) -> bool {
        self.0.wants_order() || self.1.wants_order()
    }
    fn on_sm(&mut self, sm: usize) {
        self.0.on_sm(sm);
        self.1.on_sm(sm);
    }
    fn block_started(&mut self, start: &BlockStart) {
        self.0.block_started(start);
        self.1.block_started(start);
    }
    fn issued(&mut self, issue: &Issue) {
        self.0.issued(issue);
        self.1.issued(issue);
    }
    fn idled(&mut self, idle: &Idle) {
        self.0.idled(idle);
        self.1.idled(idle);
    }
    fn barrier_released(&mut self, release: &Release) {
        self.0.barrier_released(release);
        self.1.barrier_released(release);
    }
    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.0.warp_finished(finish);
        self.1.warp_finished(finish);
    }
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        self.0.block_ended(block, end);
        self.1.block_ended(block, end);
    }
    fn sampled(&mut self, sample: &Sample) {
        self.0.sampled(sample);
        self.1.sampled(sample);
    }
}

/// A list of observers that is built at run time; an empty one costs as little as `()`.
impl Observer for Vec<&mut dyn Observer> {
    fn is_active(&self) -> bool {
        self.iter().any(|observer| observer.is_active())
    }
    fn wants_samples(&self) -> bool {
        self.iter().any(|observer| observer.wants_samples())
    }
    fn wants_order(&self) -> bool {
        self.iter().any(|observer| observer.wants_order())
    }
    fn on_sm(&mut self, sm: usize) {
        self.iter_mut().for_each(|observer| observer.on_sm(sm));
    }
    fn block_started(&mut self, start: &BlockStart) {
        self.iter_mut().for_each(|observer| observer.block_started(start));
    }
    fn issued(&mut self, issue: &Issue) {
        self.iter_mut().for_each(|observer| observer.issued(issue));
    }
    fn idled(&mut self, idle: &Idle) {
        self.iter_mut().for_each(|observer| observer.idled(idle));
    }
    fn barrier_released(&mut self, release: &Release) {
        self.iter_mut().for_each(|observer| observer.barrier_released(release));
    }
    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.iter_mut().for_each(|observer| observer.warp_finished(finish));
    }
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        self.iter_mut().for_each(|observer| observer.block_ended(block, end));
    }
    fn sampled(&mut self, sample: &Sample) {
        self.iter_mut().for_each(|observer| observer.sampled(sample));
    }
}
