//! How many times, one after the other, a cache or a channel can be unable to track another fetch.

use crate::resident::Residency;
use warpbound_core::machine::memory::{CacheSettings, WriteMiss};

/// How many requests take all places of a resource, so that another one is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    places: u64,
    /// Whether the one that is refused may be a request of another kind, which takes no place.
    refuses_others: bool,
}

impl Limit {
    /// Creates the limit of a resource whose requests alone are refused.
    pub fn new(places: impl Into<u64>) -> Self {
        Self { places: places.into(), refuses_others: false }
    }

    /// Creates the limit of the ways of a set of a cache.
    pub fn ways(cache: &CacheSettings) -> Self {
        let refuses_others = cache.write_miss == WriteMiss::Allocate;
        Self { refuses_others, ..Self::new(cache.ways) }
    }

    /// Returns how many times, one after the other, this many requests can take all places while
    /// another one is refused.
    pub fn times(self, requests: u64) -> u64 {
        requests.saturating_sub(u64::from(!self.refuses_others)) / self.places
    }

    /// Returns whether a request can be refused if at most this many wait at the same time.
    pub fn may_refuse(self, waiting: u64) -> bool {
        self.times(waiting) > 0
    }

    /// Returns [`Self::times`] of these requests, of which at most `waiting` wait at the same time.
    pub fn times_if(self, waiting: u64, requests: u64) -> u64 {
        if self.may_refuse(waiting) { self.times(requests) } else { 0 }
    }
}

/// Waits one after the other until a cache or a channel can track another fetch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    /// The number of waits.
    pub times: u64,
    /// The sum of their times, in units of service.
    pub service: u64,
}

impl Waits {
    /// Adds waits, each of which takes this long.
    pub fn add(&mut self, times: u64, each: u64) {
        self.times = self.times.saturating_add(times);
        self.service = self.service.saturating_add(times.saturating_mul(each));
    }
}

/// Loads of a launch, and the most of them that a block has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Loads {
    pub all: u64,
    /// The loads before the present block.
    before: u64,
    most: u64,
}

impl Loads {
    pub fn add(&mut self, loads: u64) {
        self.all = self.all.saturating_add(loads);
    }

    pub fn begin_block(&mut self) {
        self.before = self.all;
    }

    pub fn end_block(&mut self) {
        self.most = self.most.max(self.all - self.before);
    }

    /// Returns how many of `some` of these loads belong to the SM that the bound follows.
    pub fn on_an_sm(self, some: u64, residency: &Residency) -> u64 {
        of_one_sm(residency, some, |blocks| some.min(blocks.saturating_mul(self.most)))
    }
}

/// Returns how many times a cache of an SM may be unable to track another fetch on the SM that the
/// bound follows, if all of a launch's loads on one SM made that `times`, and these loads take the places
/// of this limit.
pub(super) fn on_an_sm(residency: &Residency, times: u64, (limit, loads): (Limit, Loads)) -> u64 {
    of_one_sm(residency, times, |blocks| times.min(limit.times(blocks.saturating_mul(loads.most))))
}

/// Returns the part of a sum over all blocks that belongs to the SM that the bound follows, given the most of
/// this many blocks together.
fn of_one_sm(residency: &Residency, all: u64, most: impl Fn(u64) -> u64) -> u64 {
    let sms = residency.used_sms() as u64;
    if sms <= 1 {
        all
    } else if let Some(blocks) = residency.blocks_of_an_sm() {
        most(blocks)
    } else {
        // the mean over the SMs until the last block is placed, and then those of one SM
        all.div_ceil(sms).saturating_add(most(residency.places.into()))
    }
}

/// Returns how many times, one after the other, a request can be refused because `by` others take all
/// places of a resource, if each resource has this many requests, and `anywhere` further ones may be
/// at any of them.
pub(super) fn times_full(of_each: impl Iterator<Item = u64>, anywhere: u64, by: u64) -> u64 {
    let (mut times, mut left, mut is_any) = (0, 0, false);
    for requests in of_each {
        let others = requests.saturating_sub(1);
        (times, left, is_any) = (times + others / by, left + others % by, true);
    }
    if is_any && anywhere > 0 {
        anywhere.saturating_add(left).div_euclid(by).saturating_add(times)
    } else {
        times
    }
}
