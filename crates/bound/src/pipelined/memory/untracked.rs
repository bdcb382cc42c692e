//! How many times, one after the other, a cache or a channel can be unable to track another fetch.

use crate::resident::Residency;

/// Returns how many times a cache of an SM may be unable to track another fetch on the SM that the
/// bound follows, if all of a launch's loads on one SM made that `times`, and each time takes `by`
/// other loads, of which a block has no more than `most`.
pub(super) fn on_an_sm(residency: &Residency, times: u64, (by, most): (u32, u64)) -> u64 {
    let sms = residency.used_sms() as u64;
    let of_blocks = |blocks: u64| times.min(blocks.saturating_mul(most) / u64::from(by));
    if sms <= 1 {
        times
    } else if residency.all_at_once() {
        of_blocks(u64::from(residency.blocks).div_ceil(sms))
    } else {
        // the mean over the SMs until the last block is placed, and then those of one SM
        times.div_ceil(sms).saturating_add(of_blocks(residency.places.into()))
    }
}

/// Returns how many times this many requests fill `by` places, one after the other, if they can fill
/// them at all.
pub(super) fn times_if(may_be: bool, requests: u64, by: u32) -> u64 {
    if may_be { requests / u64::from(by) } else { 0 }
}

/// Returns how many times, one after the other, requests may fill `by` places of a resource, if each
/// resource has this many requests, and `anywhere` further ones may be at any of them.
pub(super) fn times_full(of_each: impl Iterator<Item = u64>, anywhere: u64, by: u64) -> u64 {
    let (mut times, mut left, mut is_any) = (0, 0, false);
    for requests in of_each {
        (times, left, is_any) = (times + requests / by, left + requests % by, true);
    }
    if is_any && anywhere > 0 {
        anywhere.saturating_add(left).div_euclid(by).saturating_add(times)
    } else {
        times
    }
}
