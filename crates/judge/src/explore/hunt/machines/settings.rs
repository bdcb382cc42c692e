//! The settings of machines that are drawn: every switch of the pipeline and of the memory system, and
//! those of the paper model.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A setting and its values. Values that occur twice are more likely.
pub type Values = (&'static str, &'static [&'static str]);

const OF_SM: &[Values] = &[
    ("sub_cores", &["1", "2", "4"]),
    ("sms", &["1", "2", "3"]),
    ("limits.blocks", &["1", "2", "3", "8"]),
    ("limits.warps", &["16", "32", "64"]),
    ("hazards", &["[Raw]", "[Raw, Waw]"]),
    ("exit_issues", &["true", "false"]),
    ("units.int.init", &["1", "2", "5"]),
    ("units.int.lat", &["0", "4", "40"]),
    ("units.int.shared", &["true", "false"]),
    ("units.fp32.init", &["1", "3", "8"]),
    ("units.fp32.lat", &["0", "9", "200"]),
    ("units.fp32.shared", &["true", "false"]),
    ("units.sfu.init", &["1", "8", "32"]),
    ("units.sfu.lat", &["0", "20", "300"]),
];

const OF_PIPELINE: &[Values] = &[
    ("issue.per_warp", &["1", "2"]),
    ("issue.distinct_units", &["true", "false"]),
    ("issue.rotate", &["true", "false"]),
    ("queue", &["none", "0", "1", "3"]),
    ("write_back", &["0", "1", "5"]),
    ("unscored", &["[]"]),
    ("front_end", &["none"]),
    ("front_end.fetches", &["1", "2", "4"]),
    ("front_end.buffer", &["1", "2", "3"]),
    ("front_end.ends_warps", &["true", "false"]),
    ("front_end.stops_at_end", &["true", "false"]),
    ("front_end.icache.miss_latency", &["0", "30", "200"]),
    ("front_end.icache.sets", &["1", "4", "32"]),
    ("instruction_caches", &["none"]),
    ("instruction_caches.prefetch", &["0", "2", "8"]),
    ("instruction_caches.l0.ways", &["1", "32"]),
    ("instruction_caches.l1.ways", &["1", "16"]),
    ("instruction_caches.lower_interval", &["1", "30"]),
    ("instruction_caches.jump", &["1", "6"]),
    ("collector", &["none"]),
    ("collector.units", &["4", "8", "12", "16"]),
    ("collector.banks", &["4", "8", "16"]),
    ("collector.steps", &["1", "2", "3"]),
    ("collector.ports", &["1", "2", "3"]),
    ("collect", &["[]"]),
    ("result_buses", &["none", "1", "2"]),
    ("load_store.shared_latency", &["1", "5", "24", "200"]),
    ("load_store.shared_interval", &["1", "1", "2", "5"]),
    ("load_store.conflict_latency", &["0", "0", "1", "7"]),
    ("load_store.shared_atomic_latency", &["0", "0", "3", "60"]),
    ("load_store.queues", &["One", "BySubCore"]),
    ("load_store.address_interval", &["0", "1", "2", "6"]),
    ("load_store.constant_latency", &["0", "1", "27"]),
    ("load_store.constant_interval", &["0", "1", "3"]),
    ("load_store.read_latency", &["0", "9"]),
    ("load_store.parameters_ready", &["false", "true"]),
    ("load_store.replies", &["1", "2", "8"]),
    ("load_store.transaction", &["32", "64", "128"]),
    ("load_store.data_interval", &["1", "1", "2", "5"]),
    ("load_store.atomics_block", &["true", "false"]),
    ("load_store.atomics_wait_for_addresses", &["true", "false"]),
    ("launch.first", &["0", "9", "600"]),
    ("launch.start", &["0", "1", "7"]),
    ("launch.refill", &["0", "0", "3", "40"]),
    ("launch.end", &["0", "5"]),
    ("launch.blocks_per_cycle", &["0", "1", "2"]),
    ("launch.total_blocks_per_cycle", &["0", "0", "0", "1", "3"]),
];

const OF_MEMORY: &[Values] = &[
    ("lower", &["Perfect", "Fixed", "Partitions", "Partitions", "Partitions"]),
    ("fixed.latency", &["0", "1", "7", "60"]),
    ("fixed.per_cycle", &["1", "4", "64"]),
    ("fixed.pipelined", &["true", "false"]),
    ("jitter", &["Off", "Off", "Uniform(0, 9)", "HeavyTail(scale: 3, shape: 1, most: 50)"]),
    ("start", &["Cold", "Warm", "Left", "LeftAndCopied"]),
    ("seed", &["0", "5"]),
    ("l1", &["none"]),
    ("l1.latency", &["0", "1", "4", "39"]),
    ("l1.banks", &["1", "2", "3", "4"]),
    ("l1.interval", &["1", "1", "2", "3"]),
    (
        "l1.split",
        &["Off", "Off", "Percent(total: 2048, l1: 25)", "Fit(total: 4096, shared: [0, 1024, 3000])"],
    ),
    ("constant", &["none", "none"]),
];

/// The settings of the crossbar and of slices.
pub const OF_PARTITIONS: &[Values] = &[
    ("channels", &["1", "2", "3", "6", "8"]),
    ("slices", &["1", "2", "3", "4"]),
    ("far_latency", &["0", "0", "0", "9", "60"]),
    ("atomic_latency", &["0", "0", "0", "1", "70"]),
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

/// The settings of DRAM.
pub const OF_DRAM: &[Values] = &[
    ("clock", &["(1, 1)", "(7001, 2264)", "(2, 3)", "(1, 3)"]),
    ("latency", &["0", "1", "20", "90"]),
    ("scheduler", &["FrFcfs", "Fifo"]),
    ("queue", &["1", "2", "5", "64"]),
    ("returns", &["1", "2", "64"]),
    ("bank_bits", &["[7]", "[8, 7]", "[7, 12, 13, 14]", "[5, 6, 9, 10, 11]"]),
    ("row_bit", &["7", "10", "15"]),
    ("groups", &["1", "2", "4"]),
    ("burst_bytes", &["16", "32", "64", "128"]),
    ("burst", &["0", "1", "4", "60"]),
    ("ccd", &["0", "2", "4"]),
    ("ccdl", &["0", "3", "6"]),
    ("rrd", &["0", "6", "12", "40"]),
    ("rcd", &["0", "2", "12", "24", "90"]),
    ("ras", &["0", "28", "55"]),
    ("rp", &["0", "12", "80"]),
    ("rc", &["0", "40", "78", "200"]),
    ("cl", &["0", "12", "24", "120"]),
    ("wl", &["0", "4", "8"]),
    ("cdlr", &["0", "5", "70"]),
    ("wr", &["0", "12", "60"]),
    ("rtpl", &["0", "2", "9", "40"]),
];

/// The settings that only an L2 has.
pub const OF_L2: &[Values] = &[("fetch", &["32", "64", "128"])];

/// The settings of a cache.
pub const OF_CACHE: &[Values] = &[
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

/// The parts of a machine, each with its settings; those that occur twice are drawn more often.
const PARTS: [(&str, &[&[Values]]); 9] = [
    ("", &[OF_SM]),
    ("", &[OF_SM]),
    ("pipeline.", &[OF_PIPELINE]),
    ("pipeline.", &[OF_PIPELINE]),
    ("memory.", &[OF_MEMORY]),
    ("memory.partitions.", &[OF_PARTITIONS, &[("l2", &["none"])]]),
    ("memory.partitions.dram.", &[OF_DRAM]),
    ("memory.l1.cache.", &[OF_CACHE]),
    ("memory.partitions.l2.", &[OF_CACHE, OF_L2]),
];

/// Draws a setting with its value.
pub fn draw(rng: &mut ChaCha8Rng) -> (String, &'static str) {
    let (part, settings) = PARTS[rng.random_range(0..PARTS.len())];
    let settings = settings.concat();
    let (name, values) = settings[rng.random_range(0..settings.len())];
    (format!("{part}{name}"), values[rng.random_range(0..values.len())])
}
