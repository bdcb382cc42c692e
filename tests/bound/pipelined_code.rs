//! PLB where the instruction caches are saturated, or little else happens. Each test states how much
//! of the bound the longest run reaches at least: without the term that it is about, the run would
//! exceed the bound.

use warpbound::base::BlockId;
use warpbound::path::BlockPaths;
use warpbound::sim::PolicySetup;

use crate::pipelined::of_micro;
use crate::random_kernels::{KernelBuilder, RandomLaunch};

const POLICIES: [PolicySetup; 3] = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest];

/// The settings of instruction caches in which each instruction is a line of its own.
struct Caches {
    l0: (u32, u32),
    l1: (u32, u32),
    l1_latency: u64,
    l1_interval: u64,
    lower_latency: u64,
    lower_interval: u64,
    prefetch: u32,
    jump: u64,
    warm: bool,
}

const ROOMY: Caches = Caches {
    l0: (64, 64),
    l1: (64, 64),
    l1_latency: 1,
    l1_interval: 1,
    lower_latency: 1,
    lower_interval: 1,
    prefetch: 0,
    jump: 1,
    warm: false,
};

impl Caches {
    /// Returns a machine with these caches on which everything else takes a cycle.
    fn machine(&self, sub_cores: usize, others: &str) -> String {
        let Self { l1_latency, l1_interval, lower_latency, lower_interval, prefetch, jump, warm, .. } = self;
        let cache = |(sets, ways): (u32, u32)| format!("CodeCache(sets: {sets}, ways: {ways})");
        let (l0, l1) = (cache(self.l0), cache(self.l1));
        format!(
            "Machine(name: \"m\", units: {{ \"u\": Unit(init: 1, lat: 0) }}, ops: {{ \"f\": \"u\", \
             \"barrier\": \"u\" }}, sub_cores: {sub_cores}, pipeline: Pipeline(instruction_caches: \
             InstructionCaches(line: 16, instruction: 16, l0: {l0}, l1: {l1}, l1_latency: {l1_latency}, \
             l1_interval: {l1_interval}, lower_latency: {lower_latency}, lower_interval: {lower_interval}, \
             prefetch: {prefetch}, jump: {jump}, warm: {warm}){others}))"
        )
    }
}

/// Returns a block of warps with this many instructions each. No two of them have a line in common.
fn warps(count: usize, instructions: usize) -> KernelBuilder {
    let mut builder = KernelBuilder::new();
    for _ in 0..count {
        builder.warp();
        for _ in 0..instructions {
            builder.op("f", None, &[]);
        }
        builder.ret("f");
    }
    builder
}

/// Compares the bound with runs, the longest of which reaches this many hundredths of it.
#[track_caller]
fn reaches(hundredths: u64, launch: &RandomLaunch, places: u32) {
    let runs = POLICIES.map(|policy| of_micro(launch, places, &policy));
    for (makespan, bound) in runs {
        println!("{makespan} of {bound}");
        assert!(makespan <= bound, "{makespan} > {bound}");
    }
    let close = runs.iter().any(|(makespan, bound)| makespan * 100 >= bound * hundredths);
    assert!(close, "{runs:?}");
}

/// A lone warp waits for both latencies at each line, or for that of the L1 if that has all code.
#[test]
fn a_line_takes_both_latencies() {
    let caches = Caches { l1_latency: 30, lower_latency: 50, ..ROOMY };
    reaches(97, &warps(1, 50).build_launch(&caches.machine(1, "")), 1);
    reaches(93, &warps(1, 50).build_launch(&Caches { warm: true, ..caches }.machine(1, "")), 1);
}

/// The lines behind a line arrive together with it, and a line that has been entered once stays.
#[test]
fn prefetched_lines_arrive_together() {
    let caches = Caches { l1_latency: 30, lower_latency: 50, prefetch: 9, ..ROOMY };
    reaches(65, &warps(1, 50).build_launch(&caches.machine(1, "")), 1);
}

/// Requests of all sub-cores keep the L1 busy, or the memory behind it.
#[test]
fn requests_keep_the_l1_and_the_memory_behind_it_busy() {
    for sub_cores in [1, 4] {
        let at_l1 = Caches { l1_interval: 40, warm: true, ..ROOMY };
        // the bound counts each line once for each sub-core, although each is used on one only
        let reached = if sub_cores == 1 { 92 } else { 23 };
        reaches(reached, &warps(8, 20).build_launch(&at_l1.machine(sub_cores, "")), 1);
        let behind = Caches { lower_interval: 40, ..ROOMY };
        reaches(85, &warps(8, 20).build_launch(&behind.machine(sub_cores, "")), 1);
    }
}

/// If only the L1 keeps all code, a warp may wait for it at each line. If it does not either, a warp
/// may wait for the memory behind it.
#[test]
fn lines_that_are_lost() {
    let small = Caches { l0: (1, 1), l1_latency: 30, ..ROOMY };
    reaches(90, &warps(1, 50).build_launch(&small.machine(1, "")), 1);
    let smaller = Caches { l0: (1, 1), l1: (1, 1), lower_latency: 50, ..ROOMY };
    reaches(90, &warps(1, 50).build_launch(&smaller.machine(1, "")), 1);
    // each line is requested once more because of the warps of the other sub-cores
    let busy = Caches { l0: (1, 1), l1: (1, 1), lower_interval: 20, ..ROOMY };
    reaches(90, &warps(8, 20).build_launch(&busy.machine(4, "")), 1);
}

/// Lines that are on their way at a barrier are those of the next section, too.
#[test]
fn lines_in_flight_at_barriers() {
    let caches = Caches { l1_latency: 20, lower_latency: 20, prefetch: 1, ..ROOMY };
    for (between, sub_cores) in [0, 1, 5].into_iter().flat_map(|between| [(between, 1), (between, 2)]) {
        let mut builder = KernelBuilder::new();
        for _ in 0..3 {
            builder.warp();
            for _ in 0..12 {
                for _ in 0..between {
                    builder.op("f", None, &[]);
                }
                builder.bar();
            }
            builder.ret("f");
        }
        reaches(40, &builder.build_launch(&caches.machine(sub_cores, "")), 1);
    }
}

/// Each block waits for its lines if no block before it had them.
#[test]
fn blocks_one_after_the_other() {
    let caches = Caches { l1_latency: 30, lower_latency: 30, ..ROOMY };
    reaches(95, &KernelBuilder::blocks_of("f", &[20; 6]).build_launch(&caches.machine(1, "")), 1);
}

/// A block ends without waiting for the lines that were prefetched for it. So the last block of an SM
/// may have to wait for the requests of many blocks that have ended, while the other SMs only wait for
/// latencies.
#[test]
fn requests_of_blocks_that_have_ended() {
    const PAIRS: usize = 20;
    const AHEAD: usize = 8;
    const SMS: usize = 16;
    const ROUNDS: usize = 4;
    let interval = 1000;
    // the other SMs are free again a little later than SM 0
    let latency = PAIRS * (AHEAD + 1) * interval / ROUNDS + 100;
    let mut builder = KernelBuilder::new();
    let mut place = |class: &str, instructions: usize| {
        builder.block().warp();
        for _ in 0..instructions {
            builder.op(class, None, &[]);
        }
        builder.ret("f");
    };
    // each pair is a line, the last of those that are prefetched for it, and the lines behind that one
    for _ in 0..PAIRS {
        place("f", 1);
        place("f", AHEAD - 3);
        place("f", 1);
        place("f", AHEAD - 1);
    }
    place("f", 1);
    place("f", 40);
    place("slow", 1);
    let (first, second) = (|pair: usize| 1 + 4 * pair, |pair: usize| 3 + 4 * pair);
    let (last, other) = (1 + 4 * PAIRS, 3 + 4 * PAIRS);
    // SM 0 has one block of each pair, while the other SMs have their slow blocks; the numbers are the
    // cycles in which the SMs are free again
    let each = (AHEAD + 1) * interval;
    let of_sm_0 = (1..PAIRS).map(|pair| (2 + interval + (pair - 1) * each + pair, first(pair)));
    let of_round = |round: usize| if round == 0 { 1 } else { round * (latency + 3) + each };
    let of_others = (0..=ROUNDS).flat_map(|round| vec![(of_round(round), other); SMS - 1]);
    let mut times: Vec<(usize, usize)> =
        [(0, first(0))].into_iter().chain(of_sm_0).chain(of_others).collect();
    times.sort_by_key(|&(time, _)| time);
    let mut order: Vec<usize> = times.into_iter().map(|(_, block)| block).collect();
    while order.last() == Some(&other) {
        order.pop();
    }
    // then those that find their line, and cause further requests
    order.extend((0..PAIRS - 1).map(second));
    order.push(last);
    let mut launch = builder.build_launch(&format!(
        "Machine(name: \"m\", units: {{ \"u\": Unit(init: 1, lat: 0), \"v\": Unit(init: 1, lat: {latency}) }}, ops: \
         {{ \"f\": \"u\", \"slow\": \"v\" }}, sms: {SMS}, limits: Limits(blocks: 1), pipeline: \
         Pipeline(instruction_caches: InstructionCaches(line: 16, instruction: 16, l0: CodeCache(sets: 1, ways: \
         370), l1: CodeCache(sets: 1024, ways: 16), l1_latency: 1, l1_interval: {interval}, lower_latency: 1, \
         lower_interval: 1, prefetch: {AHEAD}, warm: true, jump: 1)))"
    ));
    let blocks = order.iter().enumerate().map(|(index, &block)| BlockPaths {
        block: BlockId::new(index as u32),
        ..launch.blocks[block].clone()
    });
    launch.blocks = blocks.collect();
    reaches(20, &launch, 1);
}

/// All SMs together receive one block in a cycle, so that most blocks wait for their places.
#[test]
fn places_that_all_sms_share() {
    for sms in [1, 2, 3] {
        let launch = KernelBuilder::blocks_of("f", &[1; 60]).build_launch(&format!(
            "Machine(name: \"m\", units: {{ \"u\": Unit(init: 1, lat: 0) }}, ops: {{ \"f\": \"u\" }}, sms: {sms}, \
             sub_cores: 4, pipeline: Pipeline(load_store: LoadStore(), launch: \
             Launch(total_blocks_per_cycle: 1)), limits: Limits(blocks: 64))"
        ));
        reaches(50, &launch, 60);
    }
}
