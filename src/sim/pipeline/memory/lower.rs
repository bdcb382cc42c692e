//! Everything between the SMs and DRAM.

use super::Request;
use super::cache::Cache;
use super::fixed::FixedLevel;
use super::jitter::Draws;
use super::partitioned::Partitioned;
use crate::machine::MemorySystem;
use crate::machine::memory::{Fixed, LINE_BYTES, LowerLevel, Start};
use crate::sim::result::LowerStats;
use crate::trace::Counted;

/// Everything between the SMs and DRAM, shared by all SMs.
#[derive(Clone, Debug)]
pub struct Lower {
    kind: Kind,
    warm: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Fixed(Box<FixedLevel>),
    Partitions(Box<Partitioned>),
}

impl Lower {
    /// An idle lower level for so many SMs. A perfect
    /// memory has no lower level; asked for one all the same, it answers in the next cycle.
    pub fn new(settings: &MemorySystem, sms: usize) -> Self {
        let seed = settings.seed;
        let draws = |stream| Draws::new(settings.jitter, seed, stream);
        let kind = match settings.lower {
            LowerLevel::Perfect => {
                let fixed = Fixed { latency: 1, per_cycle: u32::MAX, pipelined: true };
                Kind::Fixed(Box::new(FixedLevel::new(fixed, draws(0), sms)))
            }
            LowerLevel::Fixed => Kind::Fixed(Box::new(FixedLevel::new(settings.fixed, draws(0), sms))),
            LowerLevel::Partitions => {
                Kind::Partitions(Box::new(Partitioned::new(&settings.partitions, sms, seed, draws)))
            }
        };
        Self { kind, warm: settings.start == Start::Warm }
    }

    /// Tells of a buffer of the launch, before the first cycle. A warm L2 then holds it.
    pub fn preload(&mut self, address: u64, bytes: u64) {
        if let Kind::Partitions(partitions) = &mut self.kind
            && self.warm
        {
            for line in address / LINE_BYTES..(address + bytes).div_ceil(LINE_BYTES) {
                partitions.preload(line);
            }
        }
    }

    /// Takes a request that waits in a cache of an SM, if there is room for it. Whether it did.
    pub fn take_from(&mut self, cache: &mut Cache, sm: usize) -> bool {
        let Some(&request) = cache.outgoing() else { return false };
        let accepted = self.accepts(sm, &request);
        if accepted {
            self.push(sm, request);
            cache.sent();
        }
        accepted
    }

    /// Whether SM `sm` can hand over a request in this cycle.
    pub fn accepts(&self, sm: usize, _request: &Request) -> bool {
        match &self.kind {
            Kind::Fixed(fixed) => fixed.accepts(),
            Kind::Partitions(partitions) => partitions.accepts(sm),
        }
    }

    /// Hands over a request.
    pub fn push(&mut self, sm: usize, request: Request) {
        match &mut self.kind {
            Kind::Fixed(fixed) => fixed.push(sm, request),
            Kind::Partitions(partitions) => partitions.push(sm, request),
        }
    }

    /// One core cycle.
    pub fn cycle(&mut self) {
        match &mut self.kind {
            Kind::Fixed(fixed) => fixed.cycle(),
            Kind::Partitions(partitions) => partitions.cycle(),
        }
    }

    /// Whether there may be a reply for some SM.
    #[inline]
    pub fn has_replies(&self) -> bool {
        match &self.kind {
            Kind::Fixed(fixed) => !fixed.is_idle(),
            Kind::Partitions(partitions) => partitions.has_replies(),
        }
    }

    /// The next reply for an SM; to be called once per core cycle, before [`Self::cycle`].
    pub fn reply(&mut self, sm: usize) -> Option<Request> {
        match &mut self.kind {
            Kind::Fixed(fixed) => fixed.reply(sm),
            Kind::Partitions(partitions) => partitions.reply(sm),
        }
    }

    /// Whether nothing is under way.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        match &self.kind {
            Kind::Fixed(fixed) => fixed.is_idle(),
            Kind::Partitions(partitions) => partitions.is_idle(),
        }
    }

    /// After the last step of a core cycle: how many of the coming cycles bring no reply and
    /// change nothing here, as long as nobody pushes. Everything, if nothing is under way.
    pub fn quiet_for(&self) -> u64 {
        match &self.kind {
            Kind::Fixed(fixed) => fixed.quiet_for(),
            Kind::Partitions(partitions) => partitions.quiet_for(),
        }
    }

    /// Skips so many cycles, at most [`Self::quiet_for`].
    pub fn skip(&mut self, cycles: u64) {
        debug_assert!(cycles <= self.quiet_for(), "something happens in the skipped cycles");
        match &mut self.kind {
            Kind::Fixed(fixed) => fixed.skip(cycles),
            Kind::Partitions(partitions) => partitions.skip(cycles),
        }
    }

    /// The counters of the parts it has.
    pub fn samples(&self) -> impl Iterator<Item = Counted> {
        let partitions = match &self.kind {
            Kind::Fixed(_) => None,
            Kind::Partitions(partitions) => Some(partitions.samples()),
        };
        partitions.into_iter().flatten()
    }

    /// What happened so far.
    pub fn stats(&self) -> LowerStats {
        match &self.kind {
            Kind::Fixed(_) => LowerStats::default(),
            Kind::Partitions(partitions) => partitions.stats(),
        }
    }
}

#[cfg(test)]
#[path = "lower_tests.rs"]
mod tests;
