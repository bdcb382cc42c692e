//! The way of a request through the memory system, and the stages that it passes.

use super::dram::DramCosts;
use warpbound_core::isa::Space;
use warpbound_core::machine::memory::{
    CacheSettings, Jitter, LowerLevel, Partitions, WriteMiss, WritePolicy,
};
use warpbound_core::machine::{Machine, Mapping, MemorySystem};
use warpbound_core::path::LineUse;
use warpbound_core::program::{Access, Area, KernelCode, MemoryOp};

/// A clock: `ticks` ticks per `cycles` cycles of another clock.
#[derive(Clone, Copy, Debug)]
struct Clock {
    ticks: u64,
    cycles: u64,
}

impl Clock {
    fn new((ticks, cycles): (u32, u32)) -> Self {
        let shared = greatest_common_divisor(ticks.into(), cycles.into());
        Self { ticks: u64::from(ticks) / shared, cycles: u64::from(cycles) / shared }
    }

    /// Returns the number of cycles of the other clock after which this many further ticks have
    /// passed at the latest.
    fn cycles(self, ticks: u64) -> u64 {
        (ticks * self.cycles).div_ceil(self.ticks)
    }

    /// Returns the number of cycles after which these ticks and others in between have passed at the
    /// latest, less the exact time of the others. All of them are rounded up together.
    fn cycles_beside_others(self, ticks: u64) -> u64 {
        (ticks * self.cycles + self.ticks - 1).div_ceil(self.ticks)
    }

    /// Returns the least number of cycles in which this many ticks pass.
    fn least_cycles(self, ticks: u64) -> u64 {
        ticks * self.cycles / self.ticks
    }
}

/// The cache of an SM for constants, in front of the crossbar.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipelined) struct ConstantCache {
    pub settings: CacheSettings,
    /// Whether kernel parameters are read without it.
    parameters_ready: bool,
    /// The regions in which all constants lie, by address and number of bytes.
    pub regions: [(u64, u64); 2],
}

impl ConstantCache {
    /// Returns the cache if loads of the program use it.
    fn new(program: &KernelCode, machine: &Machine) -> Option<Self> {
        let settings = machine.memory().constant.filter(|_| program.uses_constant_cache(machine))?;
        let load_store = machine.pipeline()?.load_store?;
        let (parameters_ready, regions) = (load_store.parameters_ready, program.memory.constant_regions());
        Some(Self { settings, parameters_ready, regions })
    }

    /// Returns whether an access to this space goes through the cache.
    pub fn serves(&self, access: Access, space: Space) -> bool {
        access == Access::Load && (space == Space::Const || space == Space::Param && !self.parameters_ready)
    }

    /// Returns for each transaction of an access that touches these sectors of a line of 128 bytes: the
    /// sectors that are fetched if the transaction misses.
    pub fn transactions(self, sectors: u8) -> impl Iterator<Item = u8> {
        let CacheSettings { line, sectored, .. } = self.settings;
        let mut left = sectors;
        std::iter::from_fn(move || {
            let first = left & left.wrapping_neg();
            let all = around(first, line);
            let touched = left & all;
            left &= !all;
            (touched != 0).then_some(if sectored { touched } else { all })
        })
    }
}

/// Returns the sectors of the lines of this many bytes in which these sectors lie.
pub(super) fn around(sectors: u8, line: u32) -> u8 {
    let part = |mask: u8| if sectors & mask == 0 { 0 } else { mask };
    match line {
        128 => part(0b1111),
        64 => part(0b0011) | part(0b1100),
        _ => sectors,
    }
}

/// Memory that consists of partitions.
#[derive(Clone, Debug)]
pub(in crate::pipelined) struct Partitioned {
    pub settings: Partitions,
    pub mapping: Mapping,
    pub dram: DramCosts,
}

/// The stages between the load/store unit and the write-back on a machine with an L1, a crossbar or
/// both, and the cycles that a request takes if no stage serves another one.
#[derive(Clone, Debug)]
pub(in crate::pipelined) struct Path {
    /// The L1.
    pub l1: Option<CacheSettings>,
    /// The number of banks of the L1.
    pub banks: u32,
    /// The cache for constants, if the program uses it.
    pub constants: Option<ConstantCache>,
    /// The partitions, if memory consists of partitions.
    pub partitions: Option<Partitioned>,
    /// Whether each transaction is a single sector.
    pub by_sector: bool,
    /// Whether each line of 128 bytes lies in one slice.
    pub one_slice_per_line: bool,
    /// Whether each such line lies in one slice and is a line of the L2.
    pub keeps_lines: bool,
    /// Whether the L2 receives requests for the same sectors as the L1.
    pub exact_requests: bool,
    /// Whether a load that hits in the L1 would hit in the L2, too: stores put nothing into the L1.
    pub l1_reads_l2: bool,
    /// Whether a load whose place depends on data finds the data in the L2, if lines stay there.
    pub loads_find_data: bool,
    /// Whether stores of the program go on to DRAM although lines stay.
    pub writes_to_dram: bool,
    /// Whether the program has accesses that bypass the L1, and so reach the port sooner than others.
    pub has_bypasses: bool,
    /// The number of units of service per cycle, and per tick of the crossbar and the L2.
    pub scale: u64,
    tick: u64,
    /// What a request counts because a queue between two clocks is full with it alone: ticks are rounded up
    /// to cycles once more.
    pub rounding: u64,
    /// How long a bank of the L1 stays occupied after the cycle in which a transaction enters it, in units
    /// of service.
    bank_wait: u64,
    /// The cycles from the end of an access in the load/store unit to the moment at which its last
    /// request has left the SM.
    leaves: u64,
    /// The cycles from there to the write-back, with an answer of the L2, and with one of DRAM.
    answered: u64,
    fetched: u64,
    /// The least cycles from there to the write-back.
    soonest: u64,
    /// The most cycles from the entrance of the crossbar of replies to the write-back.
    returned: u64,
    /// The ticks by which the delivery of a request to a slice may take longer than that of others.
    further_latency: u64,
}

impl Path {
    /// The service units per cycle that are needed to express ticks of other clocks.
    const FINE: u64 = 64;

    /// Returns the factor by which the number of service units per cycle grows on this machine.
    pub fn factor(memory: &MemorySystem) -> u64 {
        if memory.lower == LowerLevel::Partitions { Self::FINE } else { 1 }
    }

    /// Returns the path on a machine with a load/store unit, or `None` if the load/store unit uses
    /// memory of perfect or fixed latency without a cache. `shared_bytes` is the number of bytes of
    /// shared memory that the resident blocks use.
    pub fn new(program: &KernelCode, machine: &Machine, shared_bytes: u64, scale: u64) -> Option<Self> {
        let memory = machine.memory();
        let load_store = machine.pipeline()?.load_store?;
        let has_partitions = memory.lower == LowerLevel::Partitions;
        if memory.l1.is_none() && !has_partitions {
            return None;
        }
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        let by_sector = u64::from(load_store.transaction) <= LineUse::SECTOR_BYTES;
        let leaves = memory.l1.as_ref().map_or(0, |l1| l1.latency.max(1) + 1);
        let mut path = Self {
            l1: memory.l1.as_ref().map(|l1| l1.with_shared(shared_bytes)),
            banks: memory.l1.as_ref().map_or(1, |l1| l1.banks),
            constants: ConstantCache::new(program, machine),
            partitions: None,
            by_sector,
            one_slice_per_line: {
                let Partitions { channel_bit, slice_bit, .. } = memory.partitions;
                channel_bit.min(slice_bit) >= LineUse::LINE_BYTES.trailing_zeros()
            },
            keeps_lines: false,
            exact_requests: memory.l1.as_ref().is_none_or(|l1| {
                // without sectors, a load may need the rest of a line that stores have written in part
                if l1.cache.sectored { by_sector } else { reads_l2(&l1.cache) }
            }),
            l1_reads_l2: memory.l1.as_ref().is_none_or(|l1| reads_l2(&l1.cache)),
            loads_find_data: false,
            writes_to_dram: false,
            has_bypasses: program.memory_ops().any(bypasses),
            scale,
            tick: scale,
            rounding: 0,
            bank_wait: memory.l1.as_ref().map_or(0, |l1| l1.interval.saturating_sub(1)) * scale,
            leaves,
            answered: 0,
            fetched: 0,
            soonest: 0,
            returned: 1,
            further_latency: 0,
        };
        if path.constants.is_some() {
            path.has_bypasses = true;
            path.leaves = path.leaves.max(1);
        }
        if !has_partitions {
            let latency = if memory.lower == LowerLevel::Fixed { memory.fixed.latency.max(1) } else { 1 };
            path.answered = latency + longest_jitter(memory.jitter) + 1;
            path.fetched = path.answered;
            path.soonest = path.answered;
            return Some(path);
        }
        let partitions = &memory.partitions;
        let (clock, of_dram) = (Clock::new(partitions.clock), Clock::new(partitions.dram.clock));
        let dram = DramCosts::new(
            &partitions.dram,
            clock.cycles,
            of_dram.cycles,
            clock.ticks * of_dram.ticks,
            scale,
        );
        // the crossbar, the entrance of the slice and its latency, the look-up, and the way back
        let soonest = partitions.latency + 4;
        path.further_latency = further_latency(program, partitions);
        let answered = soonest + path.further_latency;
        // the queue to DRAM, the way there, what passes in DRAM itself, the fill and the return; each
        // change of the clock costs one tick more
        let in_dram = of_dram.cycles(dram.latency() + 5) + 1;
        let fetched =
            answered + 1 + 1 + partitions.dram.latency + longest_jitter(memory.jitter) + in_dram + 2;
        path.tick = (scale * clock.cycles).div_ceil(clock.ticks);
        let queues = [partitions.crossbar_queue, partitions.ejection_queue];
        let single = queues.into_iter().filter(|&queue| queue == 1).count() as u64;
        path.rounding = (scale * single * (clock.ticks - 1)).div_ceil(clock.ticks);
        path.soonest = clock.least_cycles(soonest) + 3;
        path.answered = clock.cycles_beside_others(answered) + 3;
        path.fetched = clock.cycles_beside_others(fetched) + 3;
        path.returned = clock.cycles_beside_others(1) + 3;
        let mapping = Mapping::new(partitions);
        path.keeps_lines = mapping.keeps_lines();
        path.partitions = Some(Partitioned { settings: partitions.clone(), mapping, dram });
        path.writes_to_dram = path.forwards_stores() && program.memory_ops().any(writes);
        Some(path)
    }

    /// Returns the cycles from the end of an access in the load/store unit to the write-back of its
    /// result, if no stage serves another request. `fetches` states whether the request may have to
    /// go to DRAM.
    pub fn latency(&self, fetches: bool) -> u64 {
        self.leaves + if fetches { self.fetched } else { self.answered }
    }

    /// Returns the cycles from the end of an access in the load/store unit until its requests have hit
    /// in the L1, less one.
    pub fn hit_l1(&self) -> u64 {
        self.leaves.saturating_sub(1)
    }

    /// Returns the cycles from the look-up of a fetch in the L1, or in the cache for constants, until its
    /// register is free.
    pub fn fetch_of_l1(&self, fetches: bool) -> u64 {
        2 + if fetches { self.fetched } else { self.answered }
    }

    /// Returns the cycles from the end of an access in the load/store unit to the crossbar of
    /// replies. No request is there earlier.
    pub fn to_replies(&self) -> u64 {
        (self.leaves + self.soonest).saturating_sub(self.returned)
    }

    /// Returns the longest time from the look-up of a fetch in a slice until its register is free.
    pub fn fetch_of_slice(&self) -> u64 {
        self.fetched
    }

    /// Returns whether an access to this space goes through the cache for constants.
    pub fn caches(&self, access: Access, space: Space) -> bool {
        self.constants.is_some_and(|constants| constants.serves(access, space))
    }

    /// Returns whether the cache for constants may ask for a part of what a load needs.
    pub fn parts_of_constants(&self) -> bool {
        self.constants.is_some_and(|constants| constants.settings.sectored)
    }

    /// Returns the L2.
    pub fn l2(&self) -> Option<&CacheSettings> {
        self.partitions.as_ref()?.settings.l2.as_ref()
    }

    /// Returns the sectors of the first transaction of an access that touches these sectors of a line,
    /// and the number of its transactions; all have as many sectors.
    pub fn transactions(&self, sectors: u8) -> Option<(u8, u64)> {
        let all = if self.by_sector {
            (sectors & sectors.wrapping_neg(), sectors.count_ones().into())
        } else {
            (sectors, 1)
        };
        (sectors != 0).then_some(all)
    }

    /// Returns how long an access may wait for banks of the L1 that other transactions have entered, in
    /// units of service. The access has this many transactions in a line. With four banks or more,
    /// transactions for different sectors of a line enter different banks.
    pub fn bank_waits(&self, access: Access, transactions: u64) -> u64 {
        let times = match access {
            Access::Atomic | Access::LoadUncached => 0,
            _ if self.banks >= 4 => transactions.min(1),
            _ => transactions,
        };
        self.bank_wait.saturating_mul(times)
    }

    /// Returns the service of this many ticks of the crossbar and the L2.
    pub fn ticks(&self, ticks: u64) -> u64 {
        ticks * self.tick
    }

    /// Returns the largest number of ticks from the delivery of a request to a slice until it can be looked
    /// up.
    pub fn delivery(&self) -> u64 {
        let Some(Partitioned { settings, .. }) = &self.partitions else { return 0 };
        settings.latency + 1 + self.further_latency
    }

    /// Returns the number of ticks for which a request of this many bytes occupies a port of the L2.
    pub fn port(&self, bytes: u64) -> u64 {
        self.l2().map_or(1, |l2| bytes.div_ceil(u64::from(l2.port)).max(1))
    }

    /// Returns the number of bytes that leave the SM for a load of these bytes.
    pub fn sent(&self, bytes: u64, bypasses: bool) -> u64 {
        match &self.l1 {
            Some(l1) if !l1.sectored && !bypasses => bytes.max(l1.line.into()),
            _ => bytes,
        }
    }

    /// Returns the number of bytes that the L2 fetches for a request of these bytes.
    pub fn fetched_bytes(&self, bytes: u64) -> u64 {
        self.l2().map_or(bytes, |l2| {
            if !l2.sectored {
                return bytes.max(l2.line.into());
            }
            // each of its sectors may bring a part of the line
            let parts = bytes / LineUse::SECTOR_BYTES * u64::from(l2.fetch);
            bytes.max(parts.min(l2.line.into()))
        })
    }

    /// Returns the sectors of a line of 128 bytes that the L2 fetches, if it has none, for a request that
    /// needs these.
    pub fn fetched_sectors(&self, sectors: u8) -> u8 {
        self.l2()
            .map_or(sectors, |l2| around(sectors, if l2.sectored { l2.fetch.min(l2.line) } else { l2.line }))
    }

    /// Returns the sectors of a line that a fetch may bring which a load of these sectors joins in a cache
    /// of its SM. A sectored cache fetches what each load needs, which may be more than this one needs.
    pub fn joined_sectors(&self, access: Access, sectors: u8) -> u8 {
        let l1 = self.l1.as_ref().filter(|l1| l1.sectored && !self.by_sector);
        match (access, self.constants) {
            (Access::Atomic, _) => sectors,
            (Access::LoadUncached, Some(ConstantCache { settings, .. })) if settings.sectored => {
                around(sectors, settings.line)
            }
            (Access::LoadUncached, _) => sectors,
            _ => l1.map_or(sectors, |l1| around(sectors, l1.line)),
        }
    }

    /// Returns whether the L2 fetches nothing but what a request needs.
    pub fn fetches_exactly(&self) -> bool {
        self.l2().is_none_or(|l2| l2.sectored && u64::from(l2.fetch) == LineUse::SECTOR_BYTES)
    }

    /// Returns whether loads join fetches of their own sectors only, in the L1 and in the L2.
    pub fn joins_by_sector(&self) -> bool {
        self.by_sector
            && self.l1.as_ref().is_none_or(|l1| l1.sectored)
            && self.fetches_exactly()
            // requests for different parts of a line of constants may join the same fetch
            && !self.parts_of_constants()
    }

    /// Returns whether stores go on to DRAM: there is no L2, or it forwards them.
    pub fn forwards_stores(&self) -> bool {
        self.l2().is_none_or(|l2| !(l2.write == WritePolicy::Back && l2.write_miss == WriteMiss::Allocate))
    }

    /// Returns the service of a request on its way to a slice and in it, if it is passed on, or looked up, for
    /// this many ticks.
    pub fn passing(&self, ticks: u64) -> u64 {
        if self.partitions.is_some() { self.ticks(ticks) } else { 0 }
    }

    /// Returns the service of a reply between its slice and the write-back.
    pub fn reply(&self) -> u64 {
        self.passing(1).max(self.scale)
    }
}

/// Returns the ticks by which the delivery of an atomic, or that to the other half of the L2, takes
/// longer.
fn further_latency(program: &KernelCode, partitions: &Partitions) -> u64 {
    let is_atomic = |memory: MemoryOp| matches!(memory, MemoryOp::Atomic(area) if area != Area::Shared);
    let has_atomics = program.memory_ops().any(is_atomic);
    let of_halves = if partitions.l2.is_some() { partitions.far_latency } else { 0 };
    if has_atomics { of_halves.max(partitions.atomic_latency) } else { of_halves }
}

/// Returns the greatest common divisor of two numbers, at least 1.
pub(in crate::pipelined) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

fn reads_l2(l1: &CacheSettings) -> bool {
    l1.write == WritePolicy::Evict || l1.write_miss == WriteMiss::NoAllocate
}

/// Returns whether an access may write to global or local memory.
fn writes(memory: MemoryOp) -> bool {
    matches!(memory, MemoryOp::Store(area) | MemoryOp::Atomic(area) if area != Area::Shared)
}

/// Returns whether an access to global memory bypasses the L1.
fn bypasses(memory: MemoryOp) -> bool {
    match memory {
        MemoryOp::Atomic(area) | MemoryOp::LoadUncached(area) => area != Area::Shared,
        MemoryOp::AsyncCopyUncached => true,
        _ => false,
    }
}

/// Returns the largest addition to a latency. The geometric distribution has none; machines with it
/// have no bound.
pub(in crate::pipelined) fn longest_jitter(jitter: Jitter) -> u64 {
    match jitter {
        Jitter::Off | Jitter::Geometric(_) => 0,
        Jitter::Uniform(_, most) | Jitter::HeavyTail { most, .. } => most,
    }
}
