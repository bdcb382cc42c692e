//! The counters of fetch, the caches and DRAM.

use super::json::Events;
use super::{MEMORY, SM};
use crate::trace::{CacheSample, CacheStats, Counted, DramSample, DramStats, FetchSample, Sample};

/// The counters of a part are written at most once in this number of cycles. This keeps traces
/// small: the memory of a busy launch changes in every cycle, also because of SMs that the trace
/// does not show.
pub(super) const STEP: u64 = 16;

/// Writes counters when they change: the last values of every [`STEP`] cycles.
#[derive(Default)]
pub(super) struct Counters {
    /// The parts, in the order of appearance.
    parts: Vec<Part>,
}

struct Part {
    latest: Sample,
    /// The counters that were written last.
    written: Option<Counted>,
}

impl Part {
    /// Writes the latest counters, unless they are unchanged.
    fn write(&mut self, events: &mut Events<'_>) {
        if self.written.replace(self.latest.counted) != Some(self.latest.counted) {
            write(&self.latest, events);
        }
    }
}

impl Counters {
    pub fn sampled(&mut self, sample: &Sample, events: &mut Events<'_>) {
        let same = |part: &&mut Part| part.latest.counted.is_of_same_part(&sample.counted);
        match self.parts.iter_mut().find(same) {
            Some(part) => {
                if part.latest.at.get() / STEP != sample.at.get() / STEP {
                    part.write(events);
                }
                part.latest = *sample;
            }
            None => self.parts.push(Part { latest: *sample, written: None }),
        }
    }

    /// Writes the remaining counters.
    #[inline]
    pub fn finish(&mut self, events: &mut Events<'_>) {
        self.parts.iter_mut().for_each(|part| part.write(events));
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

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::Cycle;

    #[test]
    fn the_last_value_of_a_step_is_written_if_it_is_new() {
        let mut out = Vec::new();
        let mut events = Events::new(&mut out);
        let mut counters = Counters::default();
        for (at, fetches) in [(0, 0), (3, 1), (STEP - 1, 2), (STEP, 3), (STEP + 1, 2), (9 * STEP, 5)] {
            let counted = Counted::Fetch(FetchSample { fetches, ..FetchSample::default() });
            counters.sampled(&Sample { at: Cycle::new(at), counted }, &mut events);
        }
        counters.finish(&mut events);
        events.finish().unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let written = json["traceEvents"].as_array().unwrap().iter();
        let values = written.map(|e| [&e["ts"], &e["args"]["fetches"]].map(|n| n.as_u64().unwrap()));
        assert_eq!(values.collect::<Vec<_>>(), [[STEP - 1, 2], [9 * STEP, 5]]);
    }
}
