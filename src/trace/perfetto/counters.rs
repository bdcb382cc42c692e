//! Counters of the fetch, the caches and DRAM.

use super::json::Events;
use super::{MEMORY, SM};
use crate::trace::{CacheSample, CacheStats, Counted, DramSample, DramStats, FetchSample, Sample};

/// Cycles for which a part's counters are written at most once. The memory of a busy launch changes in
/// every cycle, and is shared by SMs that the trace does not show.
pub(super) const STEP: u64 = 16;

/// Writes counters when they change: of every [`STEP`] cycles the last values.
#[derive(Default)]
pub(super) struct Counters {
    /// By part, in the order of appearance: the latest sample, not yet written.
    held: Vec<Sample>,
}

impl Counters {
    pub fn sampled(&mut self, sample: &Sample, events: &mut Events<'_>) {
        let same = |held: &&mut Sample| held.counted.is_of_same_part(&sample.counted);
        match self.held.iter_mut().find(same) {
            Some(held) => {
                if held.at.get() / STEP != sample.at.get() / STEP {
                    write(held, events);
                }
                *held = *sample;
            }
            None => self.held.push(*sample),
        }
    }

    /// Writes what is left.
    pub fn finish(&mut self, events: &mut Events<'_>) {
        self.held.drain(..).for_each(|held| write(&held, events));
    }
}

fn write(Sample { at, counted }: &Sample, events: &mut Events<'_>) {
    let pid = if counted.is_shared() { MEMORY } else { SM };
    let mut cache = |name: &str, sample: &CacheSample| {
        let CacheSample { stats, mshrs } = sample;
        let CacheStats { accesses, hits, misses, merged, stalls, write_backs } = stats;
        let args = format_args!(
            r#""accesses":{accesses},"hits":{hits},"misses":{misses},"merged":{merged},"stalls":{stalls},"write backs":{write_backs},"mshrs":{mshrs}"#
        );
        events.counter(pid, *at, format_args!(r#""{name}""#), args);
    };
    match counted {
        Counted::L1(sample) => cache("L1", sample),
        Counted::Constant(sample) => cache("constant cache", sample),
        Counted::L2(sample) => cache("L2", sample),
        Counted::Fetch(FetchSample { fetches, misses, filled, missing }) => {
            let args = format_args!(
                r#""fetches":{fetches},"misses":{misses},"filled buffers":{filled},"warps at a miss":{missing}"#
            );
            events.counter(pid, *at, r#""fetch""#, args);
        }
        Counted::Dram(DramSample { stats, busy_banks, waiting }) => {
            let DramStats { reads, writes, activations } = stats;
            let args = format_args!(
                r#""reads":{reads},"writes":{writes},"activations":{activations},"busy banks":{busy_banks},"waiting":{waiting}"#
            );
            events.counter(pid, *at, r#""DRAM""#, args);
        }
    }
}
