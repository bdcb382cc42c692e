//! Checks of the memory settings.

use super::{CacheSettings, Dram, Jitter, L1, MemorySystem, Partitions, Split};
use crate::diag::{Diagnostics, SourceText};

/// Latencies beyond this are refused, so that sums of them cannot overflow.
const MAX_TIME: u64 = 1 << 32;
/// L2 slices in all.
const MAX_SLICES: u32 = 64;
/// How many times as fast one clock may be as another.
const MAX_RATIO: u64 = 64;
/// Lines of a cache.
const MAX_LINES: u64 = 1 << 24;

struct Checker<'a> {
    source: &'a SourceText,
    problems: &'a mut Diagnostics,
}

impl Checker<'_> {
    fn problem(&mut self, place: &str, message: String) {
        // a setting that is not in this file is a default or the base's
        self.problems.push(self.source.error_at(&format!("Machine.memory.{place}"), message));
    }

    fn within(&mut self, name: &str, value: u64, least: u64, most: u64) {
        if value < least || value > most {
            self.problem(name, format!("{name} is {value}, it must be {least} to {most}"));
        }
    }

    fn ratio(&mut self, name: &str, (numerator, denominator): (u32, u32)) {
        self.within(&format!("{name}.0"), numerator.into(), 1, 1 << 20);
        self.within(&format!("{name}.1"), denominator.into(), 1, 1 << 20);
        let (fast, slow) = (u64::from(numerator.max(denominator)), u64::from(numerator.min(denominator)));
        if fast > MAX_RATIO * slow {
            let message = format!(
                "{name} is ({numerator}, {denominator}): one clock is more than {MAX_RATIO} times the other"
            );
            self.problem(name, message);
        }
    }

    fn cache(&mut self, name: &str, cache: &CacheSettings) {
        if !cache.sets.is_power_of_two() || cache.sets > 1 << 16 {
            let message = format!("{name}.sets is {}, it must be a power of two up to 65536", cache.sets);
            self.problem("sets", message);
        }
        if !matches!(cache.line, 32 | 64 | 128) {
            self.problem("line", format!("{name}.line is {}, it must be 32, 64 or 128", cache.line));
        }
        self.within(&format!("{name}.ways"), cache.ways.into(), 1, 1 << 16);
        if u64::from(cache.sets) * u64::from(cache.ways) > MAX_LINES {
            self.problem("sets", format!("{name} has more than {MAX_LINES} lines"));
        }
        self.within(&format!("{name}.mshrs"), cache.mshrs.into(), 1, 1 << 16);
        self.within(&format!("{name}.merge"), cache.merge.into(), 1, 1 << 16);
        // a miss may have to write its victim back first
        self.within(&format!("{name}.miss_queue"), cache.miss_queue.into(), 2, 1 << 16);
        self.within(&format!("{name}.port"), cache.port.into(), 1, 1 << 16);
    }

    fn l1(&mut self, l1: &L1) {
        self.cache("l1.cache", &l1.cache);
        self.within("l1.latency", l1.latency, 0, 1 << 16);
        self.within("l1.banks", l1.banks.into(), 1, 64);
        match &l1.split {
            Split::Off => {}
            Split::Percent { total, l1: percent } => {
                self.within("split.l1", (*percent).into(), 1, 100);
                self.within("split.total", (*total).into(), 1, 1 << 24);
            }
            Split::Fit { total, shared } => {
                self.within("split.total", (*total).into(), 1, 1 << 24);
                if shared.is_empty() || !shared.is_sorted() {
                    let message = "the sizes of shared memory must be ascending, at least one".to_owned();
                    self.problem("shared", message);
                }
            }
        }
    }

    fn partitions(&mut self, partitions: &Partitions) {
        self.within("partitions.channels", partitions.channels.into(), 1, MAX_SLICES.into());
        self.within("partitions.slices", partitions.slices.into(), 1, MAX_SLICES.into());
        let slices = partitions.channels.saturating_mul(partitions.slices);
        if slices > MAX_SLICES {
            let message = format!("channels times slices is {slices}, at most {MAX_SLICES} are supported");
            self.problem("channels", message);
        }
        if partitions.spread != super::Index::Linear && !slices.is_power_of_two() {
            let message =
                format!("the slices can only be spread if there is a power of two of them, not {slices}");
            self.problem("spread", message);
        }
        self.within("partitions.channel_bit", partitions.channel_bit.into(), 5, 40);
        self.within("partitions.slice_bit", partitions.slice_bit.into(), 5, 40);
        self.ratio("partitions.clock", partitions.clock);
        self.within("partitions.crossbar_queue", partitions.crossbar_queue.into(), 1, 1 << 16);
        self.within("partitions.ejection_queue", partitions.ejection_queue.into(), 1, 1 << 16);
        self.within("partitions.latency", partitions.latency, 0, MAX_TIME);
        self.within("partitions.queue", partitions.queue.into(), 1, 1 << 16);
        if let Some(l2) = &partitions.l2 {
            self.cache("l2", l2);
        }
        self.dram(&partitions.dram);
    }

    fn dram(&mut self, dram: &Dram) {
        self.ratio("dram.clock", dram.clock);
        self.within("dram.latency", dram.latency, 0, MAX_TIME);
        self.within("dram.queue", dram.queue.into(), 1, 1 << 12);
        self.within("dram.returns", dram.returns.into(), 1, 1 << 12);
        self.within("dram.row_bit", dram.row_bit.into(), 5, 40);
        self.within("dram.groups", dram.groups.into(), 1, 64);
        self.within("dram.burst_bytes", dram.burst_bytes.into(), 1, 1 << 12);
        let repeated = |(index, bit): (usize, &u32)| dram.bank_bits[..index].contains(bit);
        if dram.bank_bits.iter().enumerate().any(repeated) {
            self.problem("dram.bank_bits", "a bank bit is named twice".to_owned());
        }
        if dram.bank_bits.len() > 6 || dram.bank_bits.iter().any(|&bit| bit > 40) {
            self.problem("bank_bits", "at most 6 bank bits, each at most 40, are supported".to_owned());
        }
        let times = [
            ("burst", dram.burst),
            ("ccd", dram.ccd),
            ("ccdl", dram.ccdl),
            ("rrd", dram.rrd),
            ("rcd", dram.rcd),
            ("ras", dram.ras),
            ("rp", dram.rp),
            ("rc", dram.rc),
            ("cl", dram.cl),
            ("wl", dram.wl),
            ("cdlr", dram.cdlr),
            ("wr", dram.wr),
            ("rtpl", dram.rtpl),
        ];
        for (name, ticks) in times {
            self.within(&format!("dram.{name}"), ticks, 0, 1 << 20);
        }
    }

    fn jitter(&mut self, jitter: Jitter) {
        match jitter {
            Jitter::Off => {}
            Jitter::Uniform(least, most) => {
                if least > most || most > MAX_TIME {
                    let message =
                        format!("jitter Uniform({least}, {most}): the bounds must ascend, up to {MAX_TIME}");
                    self.problem("jitter", message);
                }
            }
            Jitter::Geometric(mean) => self.within("jitter", mean, 0, 1 << 20),
            Jitter::HeavyTail { scale, shape, most } => {
                self.within("jitter.scale", scale, 1, MAX_TIME);
                self.within("jitter.shape", shape.into(), 1, 8);
                self.within("jitter.most", most, scale, MAX_TIME);
            }
        }
    }
}

impl MemorySystem {
    /// Reports every setting that makes no sense.
    pub(in crate::machine) fn check(&self, source: &SourceText, problems: &mut Diagnostics) {
        let mut checker = Checker { source, problems };
        if let Some(l1) = &self.l1 {
            checker.l1(l1);
        }
        if let Some(constant) = &self.constant {
            checker.cache("constant", constant);
        }
        checker.within("fixed.latency", self.fixed.latency, 0, MAX_TIME);
        checker.within("fixed.per_cycle", self.fixed.per_cycle.into(), 1, 1 << 16);
        checker.partitions(&self.partitions);
        checker.jitter(self.jitter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::from_ron;

    #[derive(serde::Deserialize)]
    struct File {
        memory: MemorySystem,
    }

    fn problems(text: &str) -> Vec<String> {
        let source = SourceText::new("m.ron", text);
        let file: File = from_ron(&source).expect("the test's settings are well formed");
        let mut problems = Diagnostics::new();
        file.memory.check(&source, &mut problems);
        problems.list().iter().map(|p| format!("{}: {}", p.line, p.message)).collect()
    }

    #[test]
    fn every_wrong_setting_is_reported_at_its_line() {
        assert!(problems("(memory: Memory())").is_empty());
        let text = "(memory: Memory(\nl1: L1(cache: Cache(\nsets: 3,\nline: 48), banks: 0),\n\
                    partitions: Partitions(channels: 33, slices: 2,\nspread: Polynomial),\njitter: Uniform(5, 2)))";
        let found = problems(text);
        let expected =
            ["3: l1.cache.sets is 3", "4: l1.cache.line is 48", "4: l1.banks is 0", "5: channels times"];
        for start in expected.iter().chain(&["6: the slices", "7: jitter Uniform(5, 2)"]) {
            assert!(found.iter().any(|p| p.starts_with(start)), "{start}: {found:#?}");
        }
        assert_eq!(found.len(), 6, "{found:#?}");
    }
}
