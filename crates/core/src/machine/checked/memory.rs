//! Checks of the settings of the memory system.

use super::range::{Check, MAX_TIME};
use super::value::Checked;
use crate::machine::written::memory::{
    CacheSettings, Dram, Fixed, Index, Jitter, L1, LowerLevel, MemorySpec, Partitions, Split,
};
use crate::machine::written::pipeline::LoadStore;

/// The validated memory system behind the load/store unit.
pub type MemorySystem = Checked<MemorySpec>;

/// The maximum number of L2 slices.
const MAX_SLICES: u32 = 64;
/// The maximum ratio of two clocks.
const MAX_RATIO: u64 = 64;
/// The maximum number of lines of a cache.
const MAX_LINES: u64 = 1 << 24;

impl MemorySystem {
    /// Returns the memory system of a machine; the default is perfect memory.
    pub(super) fn of(written: Option<&MemorySpec>, check: &mut Check) -> Option<Self> {
        Self::new(written.cloned().unwrap_or_default(), &mut check.part("memory"), settings)
    }
}

fn settings(memory: &MemorySpec, check: &mut Check) {
    let MemorySpec { l1, constant, lower: _, fixed, partitions, jitter, start: _, copied_limit: _, seed: _ } =
        memory;
    if let Some(l1) = l1 {
        check_l1(l1, &mut check.part("l1"));
    }
    if let Some(constant) = constant {
        check_cache_of_sm(constant, &mut check.part("constant"));
    }
    let Fixed { latency, per_cycle, pipelined: _ } = fixed;
    check.range("fixed.latency", *latency, 0..=MAX_TIME);
    check.range("fixed.per_cycle", *per_cycle, 1..=1 << 16);
    check_partitions(partitions, &mut check.part("partitions"));
    check_jitter(*jitter, check);
}

/// Checks that each request lies in one line of each cache that it reaches: a cache looks up one
/// line for a request.
pub(super) fn lines_hold_requests(memory: &MemorySpec, load_store: &LoadStore, check: &mut Check) {
    let transaction = ("pipeline.load_store.transaction", load_store.transaction);
    let l1 = memory.l1.as_ref().map(|l1| ("memory.l1.cache.line", l1.cache.line));
    let constant = memory.constant.as_ref().map(|cache| ("memory.constant.line", cache.line));
    let l2 = match memory.lower {
        LowerLevel::Partitions => memory.partitions.l2.as_ref(),
        LowerLevel::Perfect | LowerLevel::Fixed => None,
    };
    let l2 = l2.map(|cache| ("memory.partitions.l2.line", cache.line));
    let mut check_line = |(name, line): (&str, u32), sent: Option<(&str, u32)>| {
        if let Some((sender, bytes)) = sent.filter(|(_, bytes)| *bytes > line) {
            let message =
                format!("{name} is {line}, and {sender} sends requests of {bytes} bytes to this cache");
            check.problem(
                name,
                message,
                "a request has to lie in one line: make the line longer, or the requests shorter",
            );
        }
    };
    if let Some(l1) = l1 {
        check_line(l1, Some(transaction));
    }
    if let Some(l2) = l2 {
        let longest = [Some(transaction), l1, constant].into_iter().flatten().max_by_key(|(_, bytes)| *bytes);
        check_line(l2, longest);
    }
}

fn check_cache(cache: &CacheSettings, check: &mut Check) {
    let CacheSettings {
        sets,
        ways,
        line,
        sectored: _,
        fetch,
        replacement: _,
        write: _,
        write_miss: _,
        index: _,
        mshrs,
        merge,
        miss_queue,
        port,
    } = *cache;
    check.power_of_two("sets", sets, 1 << 16);
    check.one_of("line", line, [32, 64, 128]);
    check.one_of("fetch", fetch, [32, 64, 128]);
    check.range("ways", ways, 1..=1 << 16);
    if u64::from(sets) * u64::from(ways) > MAX_LINES {
        let message = format!("{} has more than {MAX_LINES} lines", check.full(""));
        check.problem("sets", message, "");
    }
    check.range("mshrs", mshrs, 1..=1 << 16);
    check.range("merge", merge, 1..=1 << 16);
    // a miss may need a second entry to write back its victim
    check.range("miss_queue", miss_queue, 2..=1 << 16);
    check.range("port", port, 1..=1 << 16);
}

fn check_cache_of_sm(cache: &CacheSettings, check: &mut Check) {
    check_cache(cache, check);
    if cache.fetch != CacheSettings::default().fetch {
        let message = "only the L2 fetches more sectors than it needs".to_owned();
        check.problem("fetch", message, "leave `fetch` out, or set `sectored: false` to fetch whole lines");
    }
}

fn check_l1(l1: &L1, check: &mut Check) {
    let L1 { cache, latency, banks, interval, split } = l1;
    check_cache_of_sm(cache, &mut check.part("cache"));
    check.range("latency", *latency, 0..=1 << 16);
    check.range("banks", *banks, 1..=64);
    check.range("interval", *interval, 1..=1 << 12);
    let check = &mut check.part("split");
    match split {
        Split::Off => {}
        Split::Percent { total, l1 } => {
            check.range("l1", *l1, 1..=100);
            check.range("total", *total, 1..=1 << 24);
        }
        Split::Fit { total, shared } => {
            check.range("total", *total, 1..=1 << 24);
            if shared.is_empty() || !shared.is_sorted() {
                let message =
                    "at least one size of shared memory is needed, and the sizes must ascend".to_owned();
                check.problem("shared", message, "");
            }
        }
    }
}

fn check_partitions(partitions: &Partitions, check: &mut Check) {
    let Partitions {
        channels,
        slices,
        channel_bit,
        slice_bit,
        spread,
        spread_bits,
        clock,
        crossbar_queue,
        ejection_queue,
        latency,
        far_latency,
        atomic_latency,
        queue,
        l2,
        dram,
    } = partitions;
    check.range("channels", *channels, 1..=MAX_SLICES);
    check.range("slices", *slices, 1..=MAX_SLICES);
    let all = channels.saturating_mul(*slices);
    if all > MAX_SLICES {
        let message = format!("channels times slices is {all}, at most {MAX_SLICES} are supported");
        check.problem("channels", message, "");
    }
    if *spread != Index::Linear && !slices.is_power_of_two() {
        let message =
            format!("slices can only be spread if a channel has a power of two of them, not {slices}");
        check.problem("spread", message, "");
    }
    check.range("spread_bits", *spread_bits, 0..=64);
    check.range("channel_bit", *channel_bit, 5..=40);
    check.range("slice_bit", *slice_bit, 5..=40);
    ratio(*clock, check);
    check.range("crossbar_queue", *crossbar_queue, 1..=1 << 16);
    check.range("ejection_queue", *ejection_queue, 1..=1 << 16);
    check.range("far_latency", *far_latency, 0..=1 << 16);
    check.range("atomic_latency", *atomic_latency, 0..=1 << 16);
    check.range("latency", *latency, 0..=MAX_TIME);
    check.range("queue", *queue, 1..=1 << 16);
    if let Some(l2) = l2 {
        check_cache(l2, &mut check.part("l2"));
    }
    check_dram(dram, &mut check.part("dram"));
}

/// Checks a `clock`, which is a ratio to another clock.
fn ratio((numerator, denominator): (u32, u32), check: &mut Check) {
    check.range("clock.0", numerator, 1..=1 << 20);
    check.range("clock.1", denominator, 1..=1 << 20);
    let (fast, slow) = (u64::from(numerator.max(denominator)), u64::from(numerator.min(denominator)));
    if fast > MAX_RATIO * slow {
        let message = format!(
            "{} is ({numerator}, {denominator}): one clock is more than {MAX_RATIO} times the other",
            check.full("clock")
        );
        check.problem("clock", message, "");
    }
}

fn check_dram(dram: &Dram, check: &mut Check) {
    /// Checks each field and reports it by its name.
    macro_rules! ticks {
        ($($field:ident),*) => {
            for (name, ticks) in [$((stringify!($field), *$field)),*] {
                check.range(name, ticks, 0..=1 << 20);
            }
        };
    }
    let Dram {
        clock,
        latency,
        scheduler: _,
        queue,
        returns,
        bank_bits,
        row_bit,
        groups,
        burst_bytes,
        burst,
        ccd,
        ccdl,
        rrd,
        rcd,
        ras,
        rp,
        rc,
        cl,
        wl,
        cdlr,
        wr,
        rtpl,
    } = dram;
    ratio(*clock, check);
    check.range("latency", *latency, 0..=MAX_TIME);
    check.range("queue", *queue, 1..=1 << 12);
    check.range("returns", *returns, 1..=1 << 12);
    check.range("row_bit", *row_bit, 5..=40);
    check.range("groups", *groups, 1..=64);
    check.range("burst_bytes", *burst_bytes, 1..=1 << 12);
    let repeated = |(index, bit): (usize, &u32)| bank_bits[..index].contains(bit);
    if bank_bits.iter().enumerate().any(repeated) {
        check.problem("bank_bits", "a bank bit is named twice".to_owned(), "");
    }
    if bank_bits.len() > 6 || bank_bits.iter().any(|&bit| bit > 40) {
        let message = "at most 6 bank bits, each at most 40, are supported".to_owned();
        check.problem("bank_bits", message, "");
    }
    ticks!(burst, ccd, ccdl, rrd, rcd, ras, rp, rc, cl, wl, cdlr, wr, rtpl);
}

fn check_jitter(jitter: Jitter, check: &mut Check) {
    match jitter {
        Jitter::Off => {}
        Jitter::Uniform(least, most) => {
            if least > most || most > MAX_TIME {
                let message = format!(
                    "{} is Uniform({least}, {most}): the bounds must ascend, up to {MAX_TIME}",
                    check.full("jitter")
                );
                check.problem("jitter", message, "");
            }
        }
        Jitter::Geometric(mean) => check.range("jitter", mean, 0..=1 << 20),
        Jitter::HeavyTail { scale, shape, most } => {
            let check = &mut check.part("jitter");
            check.range("scale", scale, 1..=MAX_TIME);
            check.range("shape", shape, 1..=8);
            check.range("most", most, scale..=MAX_TIME);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostics, SourceText, from_ron};

    #[derive(serde::Deserialize)]
    #[serde(rename = "Machine")]
    struct File {
        memory: MemorySpec,
    }

    fn problems(text: &str) -> Vec<String> {
        let source = SourceText::new("m.ron", text);
        let file: File = from_ron(&source).expect("the test's settings are well formed");
        let mut problems = Diagnostics::new();
        let memory = MemorySystem::of(Some(&file.memory), &mut Check::new(&source, &mut problems));
        assert_eq!(memory.is_some(), problems.is_empty());
        problems.list().iter().map(|p| format!("{}: {}", p.line, p.message)).collect()
    }

    #[test]
    fn every_wrong_setting_is_reported_at_its_line() {
        assert!(problems("(memory: Memory())").is_empty());
        let text = "(memory: Memory(\nl1: L1(cache: Cache(\nsets: 3,\nline: 48), banks: 0),\n\
                    partitions: Partitions(channels: 33, slices: 2,\nspread: Polynomial),\njitter: Uniform(5, 2)))";
        let found = problems(text);
        let expected = [
            "3: memory.l1.cache.sets is 3",
            "4: memory.l1.cache.line is 48",
            "4: memory.l1.banks is 0",
            "5: channels times",
        ];
        for start in expected.iter().chain(&["7: memory.jitter is Uniform(5, 2)"]) {
            assert!(found.iter().any(|p| p.starts_with(start)), "{start}: {found:#?}");
        }
        assert_eq!(found.len(), 5, "{found:#?}");
    }
}
