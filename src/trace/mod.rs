//! What happened when: the events of a simulation and what one can make of them.
//!
//! The engine is generic over an [`Observer`]; `()` costs nothing. Observers are pure: they keep
//! what they saw in memory or write to a `Write` the caller gives them, and nothing they do flows
//! back into the simulation. All times of events are in the time of the SM, in which the first
//! block of a launch starts at cycle 0; [`BlockStart`] says where a block's own time begins.

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

/// Hears of everything that happens on the SM, or on all of them.
///
/// Calls come in the order of the cycle in which a thing was *decided*: an instruction when it
/// issues, although its `done` lies ahead; a warp when its last instruction has issued.
pub trait Observer {
    /// Whether anybody listens. The engine skips what only observers need where nobody does.
    fn is_active(&self) -> bool {
        true
    }

    /// Whether somebody wants [`Observer::sampled`], which costs a look at every counter per cycle.
    fn wants_samples(&self) -> bool {
        false
    }

    /// Whether what happens on several SMs is to be told cycle by cycle. Otherwise it may be told SM by SM, for many cycles
    /// at a time, which costs less: the order on each SM is the same.
    fn wants_order(&self) -> bool {
        true
    }

    /// What comes next happened on this SM. Told only where there are several: of one cycle then
    /// comes what happened on SM 0, then on SM 1, and so on.
    fn on_sm(&mut self, sm: usize) {
        let _ = sm;
    }

    /// A block became resident.
    fn block_started(&mut self, start: &BlockStart) {
        let _ = start;
    }

    /// An instruction issued.
    fn issued(&mut self, issue: &Issue) {
        let _ = issue;
    }

    /// An issue slot stayed empty for a while, for one reason. The intervals of a sub-core are
    /// disjoint and ascend, and with its issues they fill the time to the makespan.
    fn idled(&mut self, idle: &Idle) {
        let _ = idle;
    }

    /// A barrier let its warps go.
    fn barrier_released(&mut self, release: &Release) {
        let _ = release;
    }

    /// A warp has no instruction left.
    fn warp_finished(&mut self, finish: &WarpFinish) {
        let _ = finish;
    }

    /// The last result of a block is there.
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        let _ = (block, end);
    }

    /// Counters of a part of the memory, or of the fetch, differ from the last sample of that part. Told
    /// at the end of the cycle by machines with a pipeline, if somebody [wants](Self::wants_samples) it.
    /// The samples of a part ascend; those of [shared](Counted::is_shared) parts may come before what
    /// happened on an SM in earlier cycles.
    fn sampled(&mut self, sample: &Sample) {
        let _ = sample;
    }
}

/// A block became resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockStart {
    /// Which.
    pub block: BlockId,
    /// Slot of its warp 0; the others follow.
    pub first_slot: usize,
    /// Its warps.
    pub warps: usize,
    /// The first cycle in which one of them may issue.
    pub at: Cycle,
}

/// An instruction issued. `[start, init_end)` it occupies its unit, at `done` its result is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The block.
    pub block: BlockId,
    /// The warp slot of the SM.
    pub slot: usize,
    /// The sub-core the slot is on.
    pub sub_core: u8,
    /// The warp of the block.
    pub warp: WarpId,
    /// Index of the step in the warp's path.
    pub index: u32,
    /// The step.
    pub step: Step,
    /// Where it executes; the unit of its sub-core, if it is not a shared one.
    pub unit: UnitId,
    /// The cycle it took the issue slot.
    pub issue: Cycle,
    /// The cycle its initiation began.
    pub start: Cycle,
    /// The cycle its unit was free again.
    pub init_end: Cycle,
    /// The cycle its result is available.
    pub done: Cycle,
}

/// The issue slot of a sub-core stayed empty in `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// First empty cycle.
    pub from: Cycle,
    /// First cycle that is not part of it.
    pub to: Cycle,
    /// The sub-core.
    pub sub_core: u8,
    /// Why.
    pub reason: StallReason,
    /// A warp that the reason fits: the one that is ready first, the lowest slot on a tie.
    /// `None` when no warp of the sub-core has an instruction left.
    pub waiting: Option<Waiting>,
}

impl Idle {
    /// Length of the interval.
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
    /// Index in its path of the instruction that it waits to issue, or of the barrier it waits at.
    pub index: u32,
    /// That instruction.
    pub step: Step,
}

/// A barrier let its warps go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The block.
    pub block: BlockId,
    /// The barrier resource.
    pub barrier: u8,
    /// Slots of the warps that had waited.
    pub slots: WarpMask,
    /// The first cycle in which they may issue again.
    pub at: Cycle,
}

/// A warp has no instruction left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpFinish {
    /// The block.
    pub block: BlockId,
    /// The slot it had.
    pub slot: usize,
    /// The warp.
    pub warp: WarpId,
    /// When its last result is there: the largest `done`; the block's start if nothing issued.
    pub done: Cycle,
    /// How many instructions it issued.
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

/// An observer that is known to be active, so that nobody asks it for every event.
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

/// A list decided at run time; an empty one is as good as `()`.
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
