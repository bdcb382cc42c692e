//! Random machines: an embedded machine with some settings changed.
#![allow(dead_code, reason = "each test file uses a part")]

/// The settings that may be drawn for all machines; then those for machines with memory beyond the
/// SM, and those for machines with an L1.
const OF_ALL: &[&str] = &[
    "sub_cores=1",
    "sub_cores=2",
    "sub_cores=4",
    "sms=2",
    "sms=3",
    "limits.blocks=1",
    "limits.blocks=2",
    "limits.warps=16",
    "hazards=[Raw]",
    "exit_issues=false",
    "units.int.init=1",
    "units.int.lat=9",
    "units.fp32.init=3",
    "units.sfu.lat=300",
    "units.int.shared=true",
    "units.fp32.shared=true",
    "pipeline.issue.per_warp=2",
    "pipeline.issue.distinct_units=true",
    "pipeline.issue.rotate=false",
    "pipeline.front_end=none",
    "pipeline.front_end.fetches=1",
    "pipeline.front_end.fetches=2",
    "pipeline.front_end.buffer=1",
    "pipeline.front_end.buffer=3",
    "pipeline.front_end.icache.miss_latency=30",
    "pipeline.front_end.icache.sets=1",
    "pipeline.front_end.ends_warps=false",
    "pipeline.front_end.stops_at_end=false",
    "pipeline.instruction_caches.prefetch=0",
    "pipeline.instruction_caches.prefetch=2",
    "pipeline.instruction_caches.l0.sets=1",
    "pipeline.instruction_caches.l0.ways=2",
    "pipeline.instruction_caches.l1.ways=1",
    "pipeline.instruction_caches.l1_interval=5",
    "pipeline.instruction_caches.lower_interval=30",
    "pipeline.instruction_caches.jump=6",
    "pipeline.instruction_caches.warm=true",
    "pipeline.queue=none",
    "pipeline.queue=0",
    "pipeline.queue=3",
    "pipeline.collector=none",
    "pipeline.collector.units=4",
    "pipeline.collector.units=12",
    "pipeline.collector.units=16",
    "pipeline.collector.banks=4",
    "pipeline.collector.banks=16",
    "pipeline.collector.steps=1",
    "pipeline.collector.steps=3",
    "pipeline.collector.ports=1",
    "pipeline.collector.ports=3",
    "pipeline.register_file.ports=1",
    "pipeline.collect=[]",
    "pipeline.write_back=0",
    "pipeline.write_back=5",
    "pipeline.result_buses=none",
    "pipeline.result_buses=1",
    "pipeline.load_store.shared_latency=1",
    "pipeline.load_store.shared_latency=5",
    "pipeline.load_store.constant_latency=1",
    "pipeline.load_store.constant_latency=27",
    "pipeline.load_store.read_latency=9",
    "pipeline.load_store.replies=1",
    "pipeline.load_store.replies=8",
    "pipeline.load_store.transaction=64",
    "pipeline.load_store.transaction=128",
    "pipeline.load_store.atomics_block=false",
    "pipeline.load_store.atomics_wait_for_addresses=true",
    "pipeline.launch.first=0",
    "pipeline.launch.first=9",
    "pipeline.launch.start=1",
    "pipeline.launch.start=7",
    "pipeline.launch.refill=9",
    "pipeline.launch.end=5",
    "pipeline.launch.blocks_per_cycle=0",
    "pipeline.launch.placement=Random(3)",
    "pipeline.unscored=[]",
];
/// Settings of register banks with ports, which only machine code uses, and which an operand
/// collector excludes.
const OF_REGISTERS: &[&str] = &[
    "pipeline.register_file.banks=1",
    "pipeline.register_file.banks=2",
    "pipeline.register_file.banks=3",
    "pipeline.register_file.ports=1",
    "pipeline.register_file.ports=2",
    "pipeline.register_file.window=1",
    "pipeline.register_file.window=2",
    "pipeline.register_file.window=5",
    "pipeline.register_file.wide_window=2",
    "pipeline.register_file.cache=false",
];
const OF_MEMORY: &[&str] = &[
    "memory.lower=Perfect",
    "memory.lower=Fixed",
    "memory.fixed.latency=40",
    "memory.fixed.per_cycle=2",
    "memory.start=Cold",
    "memory.jitter=Uniform(0, 9)",
    "memory.partitions.crossbar_queue=2",
    "memory.partitions.crossbar_queue=16",
    "memory.partitions.latency=0",
    "memory.partitions.latency=3",
    "memory.partitions.queue=2",
    "memory.partitions.ejection_queue=1",
    "memory.partitions.l2=none",
    "memory.partitions.clock=(2, 3)",
    "memory.partitions.clock=(7, 5)",
];
const OF_L1: &[&str] = &[
    "memory.l1=none",
    "memory.l1.latency=1",
    "memory.l1.banks=1",
    "memory.l1.cache.mshrs=2",
    "memory.l1.cache.merge=1",
    "memory.l1.cache.miss_queue=2",
    "memory.l1.cache.replacement=Random",
    "memory.l1.cache.write=Back",
    "memory.l1.cache.write=Evict",
];

/// The settings that may be drawn for machines of the paper model.
const OF_PAPER: &[&str] = &[
    "sub_cores=1",
    "sub_cores=2",
    "sub_cores=4",
    "limits.blocks=1",
    "limits.blocks=2",
    "limits.blocks=3",
    "limits.warps=16",
    "hazards=[Raw]",
    "hazards=[Raw, Waw]",
    "exit_issues=false",
    "exit_issues=true",
    "two_level_active=1",
    "two_level_active=2",
    "two_level_active=8",
    "units.int.init=3",
    "units.int.lat=9",
    "units.fp32.init=3",
    "units.gmem.lat=1200",
    "units.int.shared=true",
];

/// Returns a machine with a pipeline: its name and settings, which may be incompatible. `draw`
/// returns a number below its argument.
pub fn pipeline(draw: &mut impl FnMut(usize) -> usize) -> (&'static str, Vec<&'static str>) {
    let base = [
        "accelsim-sm1",
        "accelsim-sm1",
        "accelsim-ecrts-dram",
        "accelsim-ecrts",
        "fermi-c2050",
        "kepler-gk104",
        "turing-tu102",
    ][draw(7)];
    let mut settings = Vec::new();
    for _ in 0..[0, 1, 2, 3, 4, 12][draw(6)] {
        let pool = [OF_ALL, OF_MEMORY, OF_L1][if base == "accelsim-sm1" { draw(3) } else { draw(2) }];
        settings.push(pool[draw(pool.len())]);
    }
    (base, settings)
}

/// Returns settings that give a machine register banks with ports.
pub fn registers(draw: &mut impl FnMut(usize) -> usize) -> Vec<&'static str> {
    let mut settings = vec!["pipeline.collector=none", "pipeline.result_buses=none"];
    settings.extend((0..1 + draw(4)).map(|_| OF_REGISTERS[draw(OF_REGISTERS.len())]));
    settings
}

/// Returns a machine of the paper model, as [`pipeline`] does.
pub fn paper(draw: &mut impl FnMut(usize) -> usize) -> (&'static str, Vec<&'static str>) {
    let base = ["ecrts25-orin", "ecrts25-orin-4sub", "ecrts25-orin-banks", "jetson-tx2"][draw(4)];
    let settings = (0..draw(5)).map(|_| OF_PAPER[draw(OF_PAPER.len())]).collect();
    (base, settings)
}
