//! Random settings of the memory of a machine: every setting may be drawn.
#![allow(dead_code, reason = "each test file uses a part")]

use warpbound::explore::hunt::{OF_CACHE, OF_DRAM, OF_L2, OF_PARTITIONS, Values};

const OF_MEMORY: &[Values] = &[
    ("lower", &["Perfect", "Fixed", "Partitions", "Partitions", "Partitions", "Partitions"]),
    ("fixed.latency", &["0", "1", "7", "60"]),
    ("fixed.per_cycle", &["1", "2", "3"]),
    ("fixed.pipelined", &["true", "false"]),
    ("jitter", &["Off", "Off", "Uniform(0, 9)", "Geometric(3)", "HeavyTail(scale: 3, shape: 1, most: 50)"]),
    ("start", &["Cold", "Warm", "Left", "LeftAndCopied"]),
    ("seed", &["0", "5", "18446744073709551615"]),
];

const OF_L1: &[Values] = &[
    ("latency", &["0", "1", "4", "39"]),
    ("banks", &["1", "2", "3", "4"]),
    ("split", &["Off", "Off", "Percent(total: 2048, l1: 25)", "Fit(total: 4096, shared: [0, 1024, 3000])"]),
];

const OF_LOAD_STORE: &[Values] = &[
    ("shared_latency", &["1", "5", "24"]),
    ("shared_interval", &["1", "2", "3"]),
    ("conflict_latency", &["0", "1", "6"]),
    ("shared_atomic_latency", &["0", "3", "30"]),
    ("constant_interval", &["0", "1", "3"]),
    ("address_interval", &["0", "1", "2", "6"]),
    ("queues", &["One", "BySubCore"]),
    ("replies", &["1", "2", "8"]),
    ("transaction", &["32", "32", "128"]),
    ("data_interval", &["1", "1", "2", "5"]),
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
    if draw(5) == 0 {
        // no bound covers a channel without banks
        all.push("memory.partitions.dram.bank_bits=[]".to_owned());
    }
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
        if cache == "memory.partitions.l2" {
            some(draw, cache, OF_L2, &mut all);
        }
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
