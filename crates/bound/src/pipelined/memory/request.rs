//! What a request costs, wherever it goes.

use super::path::{Partitioned, Path};
use warpbound_core::machine::memory::{Partitions, WritePolicy};
use warpbound_core::path::LineUse;
use warpbound_core::program::Access;

/// Returns whether an access to global memory, or one that stands for it, bypasses the L1.
pub(super) fn bypasses_l1(access: Access) -> bool {
    matches!(access, Access::Atomic | Access::LoadUncached)
}

/// The services of a request, apart from what depends on its place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestCost {
    /// The number of bytes that leave the SM.
    pub sent: u64,
    /// The number of requests that reach a slice: two if an L1 writes the line later.
    pub copies: u64,
    /// The service on the SM and, unless they count by themselves, behind the entrance of the slice.
    pub service: u64,
    /// The services at slices that count by themselves: all of them if several SMs share the slices;
    /// otherwise, for a load that may hit in an L1, what exceeds its service on the SM.
    pub at_slices: u64,
    /// What it adds if it waits for DRAM, because it counts both on its way there and for its reply.
    pub late: u64,
    /// Whether it may go to DRAM if lines of the L2 do not stay.
    pub may_wait: bool,
    /// The service in DRAM, without rows, if it goes there although lines of the L2 stay.
    pub dram_stays: u64,
    /// The service in DRAM if lines of the L2 do not stay.
    pub dram: u64,
}

impl Path {
    /// Returns the costs of a transaction of an access that touches this many bytes, and these sectors of a
    /// line if they are known. `end` is the service that its reply needs on the SM; `alone` states whether
    /// the service at slices counts by itself, because several SMs share them.
    pub(super) fn request(
        &self,
        access: Access,
        (bytes, sectors): (u64, Option<u8>),
        (end, alone): (u64, bool),
    ) -> RequestCost {
        let is_store = access == Access::Store;
        let bypasses = bypasses_l1(access);
        let sent = if is_store { bytes } else { self.sent(bytes, bypasses) };
        // the line that a write-back L1 writes later, because of this store
        let copies = match &self.l1 {
            Some(l1) if is_store && l1.write == WritePolicy::Back => 2,
            _ => 1,
        };
        let (mut there, mut looked_up, mut back) =
            (self.passing(1), self.passing(self.port(sent)), self.reply());
        if !alone {
            (there, looked_up, back) = (there.max(self.scale), looked_up.max(self.scale), back.max(end));
        }
        let largest = looked_up.max(back) + self.rounding;
        let mut cost = RequestCost { sent, copies, service: largest, ..RequestCost::default() };
        // a look-up that misses takes a tick, whatever the size
        cost.late = (there + back + 2 * self.rounding).saturating_sub(largest);
        if alone {
            cost.at_slices = largest;
            cost.service = end.max(self.scale);
        } else if self.l1.is_some() && !is_store && !bypasses {
            cost.service = end.max(self.scale);
            cost.at_slices = largest - cost.service;
        }
        if copies == 2 {
            let later = self.passing(self.port(bytes)).max(self.reply()) + self.rounding + self.ticks(1);
            if alone {
                cost.at_slices += later;
                cost.service += self.scale;
            } else {
                cost.service += later.max(self.scale);
            }
        }
        if self.l1.is_some() && self.has_bypasses && !bypasses {
            // accesses that bypass the L1 take a shorter way to the port
            cost.service += self.scale;
        }
        cost.may_wait = !is_store || self.forwards_stores();
        self.in_dram(access, sectors.filter(|_| sent == bytes), &mut cost);
        cost
    }

    /// Adds the services in DRAM of a request, which asks for these sectors of a line if they are known.
    fn in_dram(&self, access: Access, sectors: Option<u8>, cost: &mut RequestCost) {
        let Some(Partitioned { settings, dram, .. }) = &self.partitions else { return };
        let is_store = access == Access::Store;
        let l2 = settings.l2.as_ref();
        let passed_on = self.passed_on(settings);
        // if lines do not stay, any row may be open
        let row = if l2.is_some() { dram.row() } else { 0 };
        if is_store && self.forwards_stores() {
            let write = |reply| passed_on + dram.service(cost.sent, true, (0, reply));
            // a line that an L1 writes later has no reply
            cost.dram_stays = write(self.reply()) + (cost.copies - 1) * write(0);
            cost.dram = cost.dram_stays + cost.copies * row;
        } else if !is_store {
            let known =
                |sectors| LineUse::SECTOR_BYTES * u64::from(self.fetched_sectors(sectors).count_ones());
            let fetched = sectors.map_or_else(|| self.fetched_bytes(cost.sent), known);
            cost.dram_stays = self.read_stays(fetched);
            // if lines do not stay, they are written back
            cost.dram = self.read(fetched, self.writes_to_dram || l2.is_some()) + row;
        }
        if let Some(l2) =
            l2.filter(|l2| access == Access::Atomic || is_store && l2.write == WritePolicy::Back)
        {
            // an atomic makes all sectors dirty that its fetch brings, or the fetch of a load that it joins
            let by_sector =
                self.by_sector && self.fetches_exactly() && self.l1.as_ref().is_none_or(|l1| l1.sectored);
            let whole = access == Access::Atomic && !by_sector;
            let dirty = if whole { cost.sent.max(l2.line.into()) } else { cost.sent };
            cost.dram += cost.copies * (passed_on + dram.service(dirty, true, (0, 0)) + row);
        }
    }

    /// Returns the service of a read of this many bytes in DRAM, without its row, if lines of the L2 stay.
    pub(super) fn read_stays(&self, bytes: u64) -> u64 {
        self.read(bytes, self.writes_to_dram)
    }

    /// Returns the service of a read of this many bytes in DRAM, without its row. A write may wait for it
    /// if anything is written to DRAM.
    fn read(&self, bytes: u64, may_delay_a_write: bool) -> u64 {
        let Some(Partitioned { settings, dram, .. }) = &self.partitions else { return 0 };
        let fill = if settings.l2.is_some() { self.ticks(self.port(bytes)) } else { 0 };
        let before_a_write = if may_delay_a_write { dram.before_a_write() } else { 0 };
        // some of the service is part of the reply
        let service = dram.service(bytes, false, (fill, self.reply()));
        self.passed_on(settings) + service + before_a_write
    }

    /// Returns what a request to DRAM counts because a slice with a single place that passes it on looks
    /// nothing up.
    fn passed_on(&self, settings: &Partitions) -> u64 {
        if settings.queue == 1 && settings.l2.is_some() { self.ticks(1) } else { 0 }
    }
}
