//! The parts that a bound consists of.

use std::fmt;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use warpbound_core::base::Cycles;

/// What the cycles of a bound are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Initiations in functional units.
    Units,
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
    /// Fetches.
    Fetch,
    /// Cold misses of the instruction cache.
    InstructionCache,
    /// The costs of launching.
    Launch,
    /// Everything that the blocks serve which an SM receives last, if each SM receives several blocks
    /// one after the other; the other services are a mean over the SMs then.
    LastBlocks,
    /// Latencies along the longest path of each block.
    Latency,
}

impl Part {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Units => "units",
            Self::LoadStore => "load-store",
            Self::Memory => "memory",
            Self::Dram => "dram",
            Self::Misses => "misses",
            Self::Operands => "operands",
            Self::Results => "results",
            Self::Fetch => "fetch",
            Self::InstructionCache => "instruction-cache",
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundPart {
    /// The part.
    pub part: Part,
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
        units + load_store + operands + results + fetch
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
        self.with(other, u64::add)
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
