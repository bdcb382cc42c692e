//! Requests whose places are not known, because they depend on data.

use super::path::{ConstantCache, Path};
use super::request::bypasses_l1;
use warpbound_core::path::{Elsewhere, LineUse};
use warpbound_core::program::Access;

/// What requests whose places are not known cost together. Each number is a sum over the requests.
/// So the largest of each number over several paths covers all of these paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::pipelined) struct Unplaced {
    /// The requests to slices, and those among them that are loads or atomics.
    pub requests: u64,
    pub loads: u64,
    pub stores: u64,
    /// The loads that an L1 looks up.
    pub l1_loads: u64,
    /// The loads that a cache for constants looks up.
    pub constants: u64,
    /// The requests that may go to DRAM although lines of the L2 stay, and their service there.
    pub to_dram: u64,
    pub dram_stays: u64,
    /// The services of [`RequestCost`](super::request::RequestCost).
    pub at_slices: u64,
    pub late_stays: u64,
    pub late: u64,
    pub dram: u64,
}

impl Unplaced {
    /// Combines each number with that of another sum.
    #[must_use]
    pub fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            requests: combine(self.requests, other.requests),
            loads: combine(self.loads, other.loads),
            stores: combine(self.stores, other.stores),
            l1_loads: combine(self.l1_loads, other.l1_loads),
            constants: combine(self.constants, other.constants),
            to_dram: combine(self.to_dram, other.to_dram),
            dram_stays: combine(self.dram_stays, other.dram_stays),
            at_slices: combine(self.at_slices, other.at_slices),
            late_stays: combine(self.late_stays, other.late_stays),
            late: combine(self.late, other.late),
            dram: combine(self.dram, other.dram),
        }
    }
}

/// The part of an access whose place is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pipelined) struct SentElsewhere {
    /// The number of requests.
    pub requests: u64,
    /// The service on the SM, and behind it unless that counts by itself.
    pub service: u64,
    /// Whether some request may go to DRAM although lines of the L2 stay.
    pub fetches: bool,
    pub sums: Unplaced,
}

impl Path {
    /// Returns what the part of an access costs that may be anywhere. `ends` is described at
    /// [`Path::request`].
    pub fn elsewhere(&self, access: Access, part: Elsewhere, ends: (u64, bool)) -> SentElsewhere {
        // A transaction of a whole line is one request with whatever sectors are touched. They may
        // extend those of a line that is known, so that all of its sectors count.
        let (requests, bytes) = if self.by_sector {
            (u64::from(part.sectors), LineUse::SECTOR_BYTES)
        } else {
            (u64::from(part.lines), LineUse::LINE_BYTES)
        };
        let finds_data = access != Access::Store && self.loads_find_data;
        self.anywhere(access, (requests, bytes), finds_data, ends)
    }

    /// Returns the cost of a load of constants whose places are not known.
    pub fn constants_elsewhere(&self, part: Elsewhere, ends: (u64, bool)) -> SentElsewhere {
        let Some(ConstantCache { settings, .. }) = self.constants else { return SentElsewhere::default() };
        let requests = if u64::from(settings.line) < LineUse::LINE_BYTES { part.sectors } else { part.lines };
        let bytes = settings.line.into();
        let mut sent = self.anywhere(Access::LoadUncached, (requests.into(), bytes), false, ends);
        sent.sums.constants = sent.requests;
        sent
    }

    /// Returns the cost of requests whose places are not known, given their number and the bytes of each.
    /// `finds_data` states whether the L2 has their data as long as its lines stay.
    fn anywhere(
        &self,
        access: Access,
        (requests, bytes): (u64, u64),
        finds_data: bool,
        ends: (u64, bool),
    ) -> SentElsewhere {
        if requests == 0 {
            return SentElsewhere::default();
        }
        let cost = self.request(access, (bytes, None), ends);
        let times = |number: u64| number.saturating_mul(requests);
        let is_store = access == Access::Store;
        let may_wait = self.partitions.is_some() && cost.may_wait;
        let fetches = may_wait && !finds_data;
        let if_so = |condition: bool, number: u64| if condition { times(number) } else { 0 };
        let sums = Unplaced {
            requests: times(cost.copies),
            loads: if_so(!is_store, 1),
            stores: if_so(is_store, 1),
            l1_loads: if_so(!is_store && !bypasses_l1(access) && self.l1.is_some(), 1),
            constants: 0,
            to_dram: if_so(fetches, cost.copies),
            dram_stays: if_so(fetches, cost.dram_stays),
            at_slices: times(cost.at_slices),
            late_stays: if_so(fetches, cost.late),
            late: if_so(may_wait, cost.late),
            dram: times(cost.dram),
        };
        let service = times(cost.service).saturating_add(times(self.bank_waits(access, 1)));
        SentElsewhere { requests, service, fetches, sums }
    }
}
