//! The fetches of a warp's instructions.
//!
//! Which instructions a warp's buffer holds depends on the warp's path alone, and not on time. So
//! the number of its fetches is known, including those of instructions after a jump that the warp
//! does not execute. Machines without such buffers may have instruction caches ([`CodeSupply`]). What
//! these cost depends on the place of the last instruction.

use super::code_supply::{CodeSupply, Entry, Supplied, fits};
use crate::resident::Residency;
use warpbound_core::machine::Machine;
use warpbound_core::machine::pipeline::FrontEnd;
use warpbound_core::path::Step;
use warpbound_core::program::{Flow, TimingTable};

/// The front end.
#[derive(Clone, Debug)]
pub(super) struct Fetches {
    settings: Option<FrontEnd>,
    /// The service of one fetch or of one line that arrives from memory.
    service: u64,
    /// The address at which the code that can be fetched ends.
    end: u32,
    /// Whether every line of the code misses the instruction cache at most once.
    fits: bool,
    /// The number of lines of the code.
    lines: u64,
    /// The instruction caches of a machine without instruction buffers.
    supply: Option<CodeSupply>,
}

/// The content of a warp's instruction buffer: the address of the first instruction, and the number
/// of instructions. With instruction caches, the address is the place after the last instruction, and
/// the number is 1 if there is such an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Buffer {
    first: u32,
    count: u32,
}

impl Buffer {
    /// Returns the place after the last instruction, if there is one.
    fn next(self) -> Option<u32> {
        (self.count > 0).then_some(self.first)
    }
}

/// The cost of fetching an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FetchCost {
    /// The service of the front end.
    pub service: u64,
    /// The number of cycles that the warp waits although the front end serves no other warp.
    pub latency: u64,
    /// Whether the buffer holds other instructions at first. A warp that a fence or an atomic holds
    /// keeps them.
    pub discards: bool,
    /// The line of code that the warp goes on to, if it leaves the one that it is in.
    pub enters: Option<Entry>,
}

impl Fetches {
    pub fn new(table: &TimingTable, (machine, residency): (&Machine, &Residency), scale: u64) -> Self {
        let settings = machine.pipeline().and_then(|pipeline| pipeline.front_end);
        let cache = settings.and_then(|settings| settings.icache);
        let lines = cache.map_or(0, |cache| {
            // the instruction after the last one may be fetched, too
            let bytes = (u64::from(table.places()) + 1) * u64::from(cache.instruction);
            bytes.div_ceil(u64::from(cache.line))
        });
        let fits = cache.is_none_or(|cache| fits(lines, cache.sets, cache.ways));
        Self {
            settings,
            service: settings.map_or(0, |settings| scale / u64::from(settings.fetches.max(1))),
            end: table.fetch_end(),
            fits,
            lines,
            supply: CodeSupply::new(table, (machine, residency), scale),
        }
    }

    /// Returns the number of lines of code that instruction caches keep.
    pub fn kept_lines(&self) -> usize {
        self.supply.as_ref().map_or(0, CodeSupply::kept_lines)
    }

    fn miss_latency(&self) -> u64 {
        self.settings.and_then(|settings| settings.icache).map_or(0, |cache| cache.miss_latency)
    }

    /// Returns the most service of fetches for ended blocks that may be left on an SM at any time, if it
    /// is limited.
    pub fn of_ended_blocks(&self) -> Option<u64> {
        self.supply.as_ref().map_or(Some(0), CodeSupply::of_ended_blocks)
    }

    /// Returns the latencies of the cold misses of an SM's cache, and the service of the arrivals
    /// in whole cycles, if all code fits into it. With instruction caches it is the service of the
    /// requests that are made only once.
    pub fn cold_misses(&self) -> u64 {
        let cold = if self.fits { self.lines * (self.miss_latency() + 1) } else { 0 };
        cold + self.supply.as_ref().map_or(0, CodeSupply::once)
    }

    /// Returns the cost of the fetches before this step can issue. `is_first` states whether no
    /// instruction of the section has issued before it.
    pub fn before(
        &self,
        buffer: &mut Buffer,
        (step, table): (Step, &TimingTable),
        is_first: bool,
    ) -> FetchCost {
        let mut cost = FetchCost::default();
        let Some(settings) = self.settings else {
            let Some(supply) = &self.supply else { return cost };
            let pc = table.place(step.pc());
            let Supplied { service, latency, enters } = supply.before(buffer.next(), pc);
            *buffer = Buffer { first: pc + 1, count: 1 };
            return FetchCost { service, latency, enters, ..cost };
        };
        let pc = table.place(step.pc());
        let (service, miss) = (self.service(), if self.fits { 0 } else { self.miss_latency() });
        let mut waits = !is_first;
        cost.discards = buffer.count > 0 && buffer.first != pc;
        while buffer.count == 0 || buffer.first != pc {
            if buffer.count > 0 {
                // the wrong instructions are discarded in a cycle of their own
                buffer.first = pc;
                cost.latency += 1;
                waits = true;
            }
            buffer.count = (1..=settings.buffer)
                .take_while(|&n| n == 1 || buffer.first.saturating_add(n) <= self.end)
                .count() as u32;
            cost.service += service;
            // the cycle of the fetch, unless the warp issued in it or discarded instructions in it,
            // and the cycle of the decoding
            cost.latency += 1 + u64::from(!waits) + miss;
            waits = true;
        }
        cost
    }

    /// Returns the service of one fetch.
    fn service(&self) -> u64 {
        // if lines may be missing, they arrive as well
        if self.fits { self.service } else { 2 * self.service }
    }

    /// Returns the service of the fetch for a warp that waits at a barrier and has no instruction
    /// left: such a warp is fetched for like any other.
    pub fn at_last_barrier(&self, buffer: Buffer) -> u64 {
        if self.settings.is_some() && buffer.count == 0 { self.service() } else { 0 }
    }

    /// Removes an issued step from the buffer.
    pub fn issued(&self, buffer: &mut Buffer, step: Step, table: &TimingTable) {
        if self.settings.is_none() {
            return;
        }
        buffer.first += 1;
        buffer.count -= 1;
        if table.instr(step.pc()).flow == Flow::Exit && !step.ends_warp() {
            *buffer = Buffer { first: table.place(step.pc()) + 1, count: 0 };
        }
    }
}
