//! The loads of a launch that go through the caches for constants.

use super::lines::Sets;
use super::outstanding::LoadId;
use super::path::ConstantCache;
use super::untracked::{Limit, Loads, on_an_sm};
use crate::kept::ByNumber;
use crate::resident::Residency;
use warpbound_core::machine::memory::CacheSettings;
use warpbound_core::machine::place_of;

/// What a launch does with the cache for constants of an SM.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    settings: CacheSettings,
    sets: Sets,
    /// For each line, the look-ups, and the latest load.
    lines: ByNumber<(u64, LoadId)>,
    /// The look-ups, and those whose places are not known.
    loads: Loads,
    anywhere: u64,
}

impl Constants {
    pub fn new(cache: ConstantCache) -> Self {
        Self {
            settings: cache.settings,
            sets: Sets::new(cache.settings.ways),
            lines: ByNumber::default(),
            loads: Loads::default(),
            anywhere: 0,
        }
    }

    pub fn begin_block(&mut self) {
        self.loads.begin_block();
    }

    pub fn end_block(&mut self) {
        self.loads.end_block();
    }

    /// Records that a load looks up the line at an address, and returns whether the same warp has
    /// loaded it before and that load is complete, so that the line is there as long as none is
    /// replaced.
    pub fn look_up(&mut self, address: u64, load: LoadId, is_answered: impl Fn(LoadId) -> bool) -> bool {
        let CacheSettings { line, sets, index, .. } = self.settings;
        let number = address / u64::from(line);
        let set = place_of(number, sets.trailing_zeros(), index) as u64;
        let place = self.sets.touch(set, number);
        self.sets.fetch(place, 1);
        self.loads.add(1);
        let (loads, latest) = self.lines.entry(number).or_default();
        *loads = loads.saturating_add(1);
        // a sectored cache may have another part of the line
        !self.settings.sectored && is_answered(std::mem::replace(latest, load))
    }

    /// Records look-ups whose places are not known.
    pub fn look_up_anywhere(&mut self, requests: u64) {
        self.loads.add(requests);
        self.anywhere = self.anywhere.saturating_add(requests);
    }

    /// Returns whether no line is ever replaced.
    pub fn keeps_all(&self) -> bool {
        self.anywhere == 0 && self.sets.keeps_all()
    }

    /// Returns how many times, one after the other, the cache may be unable to track another fetch.
    /// `loads` and `outstanding` are the most loads of a block that wait at the same time, and their
    /// requests.
    pub fn times_untracked(&self, residency: &Residency, (loads, outstanding): (u64, u64)) -> u64 {
        let CacheSettings { mshrs, merge, ways, sectored, .. } = self.settings;
        // all requests to this cache are loads
        let [mshrs, merge, ways] = [mshrs, merge, ways].map(Limit::new);
        let blocks = residency.together();
        let waiting = outstanding.saturating_mul(blocks);
        let merged = if !merge.may_refuse(loads.saturating_mul(blocks)) && !sectored {
            0
        } else if self.anywhere > 0 {
            merge.times(self.loads.all)
        } else {
            self.lines.values().map(|&(loads, _)| merge.times(loads)).sum()
        };
        let full = if self.anywhere > 0 {
            ways.times_if(waiting, self.loads.all)
        } else {
            self.sets.times_full(ways, |_| waiting)
        };
        let tracked = mshrs.times_if(waiting, self.loads.all);
        let of_sm = |times: u64, limit: Limit| on_an_sm(residency, times, (limit, self.loads));
        let times = of_sm(merged, merge).saturating_add(of_sm(full, ways));
        let times = times.saturating_add(of_sm(tracked, mshrs));
        // a line that stays is fetched once on each SM, and each fetch delays others once; the SM that
        // the bound follows is another one after the last block has been placed
        let fetches = 2 * self.lines.len() as u64;
        if self.keeps_all() && !sectored { times.min(fetches) } else { times }
    }
}
