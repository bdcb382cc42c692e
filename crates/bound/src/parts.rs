//! The parts that a bound consists of.

use std::fmt;
use std::ops::{Add, AddAssign};

use crate::sharing::FromOthers;
use serde::{Deserialize, Serialize};
use warpbound_core::base::{Cycles, UnitId, WarpId};

/// What the cycles of a bound are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The time that the warps which decide the bound take alone. In [`Lwb`](crate::Lwb) it does not
    /// include the part of their waits that is known to be spent in the issue slots of others.
    Alone,
    /// Initiations in functional units. In a bound that has the part [`Part::Alone`], these are the
    /// initiations of other warps.
    Units,
    /// The issue slots of other warps, where their initiations do not count.
    Slots,
    /// The exec phases of other warps.
    ExecPhases,
    /// Transactions of the load/store unit.
    LoadStore,
    /// Requests in the crossbar and in slices of the L2.
    Memory,
    /// Requests in DRAM.
    Dram,
    /// Waits until a cache or a channel has room for another fetch.
    Misses,
    /// Operands that are read while units are idle.
    Operands,
    /// Results that would leave units together.
    Results,
    /// Fetches, and lines of code that may be requested again.
    Fetch,
    /// Cold misses of the instruction cache, and lines of code that are requested once.
    InstructionCache,
    /// What the bound adds because the warps that decide it may be on other sub-cores than the largest
    /// load, and may change their sub-core from section to section.
    SubCores,
    /// The costs of launching.
    Launch,
    /// Everything that the blocks serve which an SM receives last, if each SM receives several blocks
    /// one after the other; the other services are a mean over the SMs then.
    LastBlocks,
    /// Latencies along the longest path of each block. In [`Rbb`](crate::Rbb), these are the latencies
    /// of the blocks that were on an SM before the last one.
    Latency,
}

impl Part {
    /// Every part, in the order of reports.
    pub const ALL: [Self; 16] = [
        Self::Alone,
        Self::Units,
        Self::Slots,
        Self::ExecPhases,
        Self::LoadStore,
        Self::Memory,
        Self::Dram,
        Self::Misses,
        Self::Operands,
        Self::Results,
        Self::Fetch,
        Self::InstructionCache,
        Self::SubCores,
        Self::Launch,
        Self::LastBlocks,
        Self::Latency,
    ];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Units => "units",
            Self::Slots => "slots",
            Self::ExecPhases => "exec-phases",
            Self::LoadStore => "load-store",
            Self::Memory => "memory",
            Self::Dram => "dram",
            Self::Misses => "misses",
            Self::Operands => "operands",
            Self::Results => "results",
            Self::Fetch => "fetch",
            Self::InstructionCache => "instruction-cache",
            Self::SubCores => "sub-cores",
            Self::Launch => "launch",
            Self::LastBlocks => "last-blocks",
            Self::Latency => "latency",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The cycles of a bound that are counted for one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundPart {
    /// The part.
    pub part: Part,
    /// The unit, if the initiations of each unit are known.
    pub unit: Option<UnitId>,
    /// The number of cycles.
    pub cycles: Cycles,
}

/// Services by the resource that is kept busy, in a scaled unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Services {
    /// The service of functional units.
    pub units: u64,
    /// The service of the load/store unit.
    pub load_store: u64,
    /// The service of the operand collector.
    pub operands: u64,
    /// The service of the exits of units and of result buses.
    pub results: u64,
    /// The service of the front end.
    pub fetch: u64,
}

impl Services {
    /// Returns the sum.
    pub fn total(self) -> u64 {
        let Self { units, load_store, operands, results, fetch } = self;
        [units, load_store, operands, results, fetch].into_iter().fold(0, u64::saturating_add)
    }

    /// Combines each service with that of others.
    #[must_use]
    pub(crate) fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            units: combine(self.units, other.units),
            load_store: combine(self.load_store, other.load_store),
            operands: combine(self.operands, other.operands),
            results: combine(self.results, other.results),
            fetch: combine(self.fetch, other.fetch),
        }
    }

    /// Returns the services with their parts.
    pub(crate) fn parts(self) -> [(Part, u64); 5] {
        let Self { units, load_store, operands, results, fetch } = self;
        [
            (Part::Units, units),
            (Part::LoadStore, load_store),
            (Part::Operands, operands),
            (Part::Results, results),
            (Part::Fetch, fetch),
        ]
    }
}

impl Add for Services {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }
}

impl AddAssign for Services {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The services that a launch adds to those of its blocks: requests in stages that they do not pass
/// together with the load/store unit, and waits until a cache can track another fetch.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// In units of service; the parts have no order.
    parts: Vec<(Part, u64)>,
}

impl Beside {
    pub(crate) fn new(parts: Vec<(Part, u64)>) -> Self {
        Self { parts }
    }

    /// Returns the sum.
    pub fn total(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, service)| sum.saturating_add(*service))
    }

    /// Returns the services by part.
    pub fn parts(&self) -> &[(Part, u64)] {
        &self.parts
    }
}

/// The parts of a bound on a block, which add up to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockParts {
    /// The cycles of [`Part::Alone`].
    pub alone: Cycles,
    /// The cycles of [`Part::Slots`].
    pub slots: Cycles,
    /// The cycles of [`Part::ExecPhases`].
    pub exec_phases: Cycles,
    /// The cycles of [`Part::Units`], by unit; units after the last entry have none.
    pub units: Vec<Cycles>,
}

impl BlockParts {
    /// Returns the parts of a warp that takes this long alone on a machine with this many units.
    pub(crate) fn alone(alone: Cycles, units: usize) -> Self {
        Self { alone, units: vec![Cycles::ZERO; units], ..Self::default() }
    }

    /// Adds the initiations of other sub-cores on shared units that the warp uses.
    pub(crate) fn add_from_others(&mut self, others: &FromOthers<'_>, own: WarpId) {
        for (unit, cycles) in others.by_unit(own) {
            self.units[unit.index()] += cycles;
        }
    }

    /// Returns the sum.
    pub fn total(&self) -> Cycles {
        self.alone + self.slots + self.exec_phases + self.units.iter().copied().sum()
    }

    /// Returns the same parts with fewer cycles alone, so that they add up to `total`; `None` if that
    /// is impossible.
    pub(crate) fn reduced_to(mut self, total: Cycles) -> Option<Self> {
        let less = self.total().get().checked_sub(total.get())?;
        self.alone = Cycles::new(self.alone.get().checked_sub(less)?);
        Some(self)
    }

    /// Returns each part that has cycles.
    pub fn list(&self) -> Vec<BoundPart> {
        let Self { alone, slots, exec_phases, units } = self;
        let of_units = units.iter().enumerate();
        let of_units = of_units.map(|(unit, &cycles)| (Part::Units, Some(UnitId::from_index(unit)), cycles));
        let all = [(Part::Alone, None, *alone)].into_iter().chain(of_units);
        let all = all.chain([(Part::Slots, None, *slots), (Part::ExecPhases, None, *exec_phases)]);
        let parts = all.map(|(part, unit, cycles)| BoundPart { part, unit, cycles });
        parts.filter(|part| part.cycles > Cycles::ZERO).collect()
    }
}

impl AddAssign<&Self> for BlockParts {
    fn add_assign(&mut self, other: &Self) {
        self.alone += other.alone;
        self.slots += other.slots;
        self.exec_phases += other.exec_phases;
        add_each(&mut self.units, &other.units);
    }
}

/// Adds numbers to those at the same places.
pub(crate) fn add_each<T: AddAssign + Copy + Default>(sums: &mut Vec<T>, more: &[T]) {
    sums.resize(sums.len().max(more.len()), T::default());
    for (sum, &more) in sums.iter_mut().zip(more) {
        *sum += more;
    }
}
