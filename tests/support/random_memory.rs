//! Random settings of the memory of a machine: every setting may be drawn.
#![allow(dead_code, reason = "each test file uses a part")]

/// A setting and its values. Values that occur twice are more likely.
type Values = (&'static str, &'static [&'static str]);

const OF_MEMORY: &[Values] = &[
    ("lower", &["Perfect", "Fixed", "Partitions", "Partitions", "Partitions", "Partitions"]),
    ("fixed.latency", &["0", "1", "7", "60"]),
    ("fixed.per_cycle", &["1", "2", "3"]),
    ("fixed.pipelined", &["true", "false"]),
    ("jitter", &["Off", "Off", "Uniform(0, 9)", "Geometric(3)", "HeavyTail(scale: 3, shape: 1, most: 50)"]),
    ("start", &["Cold", "Warm", "Left", "LeftAndCopied"]),
    ("seed", &["0", "5", "18446744073709551615"]),
];

const OF_PARTITIONS: &[Values] = &[
    ("channels", &["1", "2", "3", "6", "8"]),
    ("slices", &["1", "2", "3", "4"]),
    ("channel_bit", &["5", "7", "8", "10"]),
    ("slice_bit", &["5", "7", "9"]),
    ("spread", &["Linear", "Xor", "Polynomial"]),
    ("spread_bits", &["0", "3", "15", "64"]),
    ("clock", &["(1, 1)", "(2, 3)", "(7, 5)", "(1, 4)", "(9, 2)"]),
    ("crossbar_queue", &["1", "2", "4", "64"]),
    ("ejection_queue", &["1", "2", "32"]),
    ("latency", &["0", "1", "5", "40"]),
    ("queue", &["1", "2", "3", "8", "64"]),
];

const OF_DRAM: &[Values] = &[
    ("clock", &["(1, 1)", "(7001, 2264)", "(2, 3)", "(1, 3)"]),
    ("latency", &["0", "1", "20"]),
    ("scheduler", &["FrFcfs", "Fifo"]),
    ("queue", &["1", "2", "5", "64"]),
    ("returns", &["1", "2", "64"]),
    ("bank_bits", &["[]", "[7]", "[8, 7]", "[7, 12, 13, 14]", "[5, 6, 9, 10, 11]"]),
    ("row_bit", &["7", "10", "15"]),
    ("groups", &["1", "2", "4"]),
    ("burst_bytes", &["16", "32", "64", "128"]),
    ("burst", &["0", "1", "4"]),
    ("ccd", &["0", "2", "4"]),
    ("ccdl", &["0", "3", "6"]),
    ("rrd", &["0", "6", "12"]),
    ("rcd", &["0", "2", "12", "24"]),
    ("ras", &["0", "28", "55"]),
    ("rp", &["0", "12"]),
    ("rc", &["0", "40", "78"]),
    ("cl", &["0", "12", "24"]),
    ("wl", &["0", "4", "8"]),
    ("cdlr", &["0", "5"]),
    ("wr", &["0", "12"]),
    ("rtpl", &["0", "2", "9"]),
];

const OF_CACHE: &[Values] = &[
    ("sets", &["1", "2", "4", "16"]),
    ("ways", &["1", "2", "3", "8"]),
    ("line", &["32", "64", "128", "128"]),
    ("sectored", &["true", "false"]),
    ("replacement", &["Lru", "Fifo", "Random"]),
    ("write", &["Through", "Back", "Back", "Evict"]),
    ("write_miss", &["NoAllocate", "Allocate"]),
    ("index", &["Linear", "Xor", "Polynomial"]),
    ("mshrs", &["1", "2", "5", "64"]),
    ("merge", &["1", "2", "8"]),
    ("miss_queue", &["2", "3", "16"]),
    ("port", &["8", "32", "50", "128"]),
];

const OF_L1: &[Values] = &[
    ("latency", &["0", "1", "4", "39"]),
    ("banks", &["1", "2", "3", "4"]),
    ("split", &["Off", "Off", "Percent(total: 2048, l1: 25)", "Fit(total: 4096, shared: [0, 1024, 3000])"]),
];

const OF_LOAD_STORE: &[Values] = &[
    ("shared_latency", &["1", "5", "24"]),
    ("replies", &["1", "2", "8"]),
    ("transaction", &["32", "32", "128"]),
    ("atomics_block", &["true", "false"]),
];

/// Draws settings for a whole memory: of each part either all settings or, more rarely, some.
/// `draw` returns a number below its argument.
pub fn settings(draw: &mut impl FnMut(usize) -> usize) -> Vec<String> {
    let mut all = vec!["pipeline.load_store.transaction=32".to_owned()];
    some(draw, "pipeline.load_store", OF_LOAD_STORE, &mut all);
    some(draw, "memory", OF_MEMORY, &mut all);
    some(draw, "memory.partitions", OF_PARTITIONS, &mut all);
    some(draw, "memory.partitions.dram", OF_DRAM, &mut all);
    for cache in ["memory.l1", "memory.constant", "memory.partitions.l2"] {
        let l1 = cache == "memory.l1";
        if draw(4) == 0 {
            all.push(format!("{cache}=none"));
            continue;
        }
        if l1 {
            some(draw, cache, OF_L1, &mut all);
        }
        let cache = if l1 { "memory.l1.cache" } else { cache };
        some(draw, cache, OF_CACHE, &mut all);
    }
    all
}

fn some(draw: &mut impl FnMut(usize) -> usize, part: &str, values: &[Values], all: &mut Vec<String>) {
    let every = draw(4) > 0;
    for (name, values) in values {
        if every || draw(3) == 0 {
            all.push(format!("{part}.{name}={}", values[draw(values.len())]));
        }
    }
}
