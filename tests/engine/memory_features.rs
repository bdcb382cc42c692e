//! Each switch of the load/store unit and of memory on a kernel made for it (`kernels/micro`); the
//! cycles are derived by hand. The machine is `ecrts25-orin` with the switches on that a test
//! names.

use crate::{micro, random_accesses, reference, runs, shipped};

use micro::{cycles, issues, memory};
use warpbound::sim::{MemoryStats, PolicySetup};
use warpbound::trace::{Observer, Recorder};

const LINES: &str = "pipeline.load_store.transaction=128";
const SECTORS: &str = "pipeline.load_store.transaction=32";

/// Runs a kernel with memory of this latency after the load/store unit.
fn fixed(kernel: &str, latency: u64, settings: &[&str]) -> (u64, MemoryStats) {
    let latency = format!("memory.fixed.latency={latency}");
    memory(kernel, &[&[LINES, "memory.lower=Fixed", &latency], settings].concat())
}

/// Returns the number of latencies on the critical path.
fn round_trips(kernel: &str, settings: &[&str]) -> u64 {
    let more = fixed(kernel, 300, settings).0 - fixed(kernel, 100, settings).0;
    assert_eq!(more % 200, 0, "{kernel}");
    more / 200
}

/// Returns the settings of an L1 with these sets and ways.
fn l1(sets: u32, ways: u32) -> [String; 2] {
    [format!("memory.l1.cache.sets={sets}"), format!("memory.l1.cache.ways={ways}")]
}

#[test]
fn a_transaction_takes_a_cycle() {
    // one transaction of the load and one of the store
    let least = cycles("coalesce_stride_1", &[LINES]);
    for (stride, sectors, lines) in [(1, 4, 1), (2, 8, 2), (8, 32, 8), (32, 32, 32)] {
        let kernel = format!("coalesce_stride_{stride}");
        // the store has four sectors of one line
        assert_eq!(cycles(&kernel, &[SECTORS]), least + (sectors - 1) + 3, "stride {stride}");
        assert_eq!(cycles(&kernel, &[LINES]), least + (lines - 1), "stride {stride}");
    }
    // the paper model ignores the addresses
    assert_eq!(cycles("coalesce_stride_1", &[]), cycles("coalesce_stride_32", &[]));
}

#[test]
fn bank_conflicts_follow_their_rule() {
    let at = |stride: u32, settings: &[&str]| cycles(&format!("bank_stride_{stride}"), settings);
    for (stride, ways) in [(1, 1), (2, 2), (8, 8), (32, 32), (33, 1)] {
        // a store followed by a load, each n cycles in the unit instead of one
        let words = ["shared_memory.rule=Words"];
        assert_eq!(at(stride, &words), at(1, &words) + 2 * (ways - 1), "Words, stride {stride}");
        // the same holds in the load/store unit, whatever the rule's latencies
        let unit = ["shared_memory.rule=Turing", "pipeline.load_store.shared_latency=20"];
        assert_eq!(at(stride, &unit), at(1, &unit) + 2 * (ways - 1), "load/store unit, stride {stride}");
        // the store occupies the unit for n cycles, the load takes 22 + 2(n - 1); on Pascal one
        // more
        let turing = ["shared_memory.rule=Turing"];
        assert_eq!(at(stride, &turing), at(1, &turing) + 3 * (ways - 1), "Turing, stride {stride}");
        assert_eq!(at(stride, &["shared_memory.rule=Pascal"]), at(stride, &turing) + 1, "stride {stride}");
        // a unit of 2 cycles without a rule
        assert_eq!(at(stride, &[]), at(1, &words), "no rule, stride {stride}");
    }
    // every stage of the pipeline after the banks counts once, because an instruction waits for the
    // load
    let shared = |stages: u32| at(1, &[&format!("pipeline.load_store.shared_latency={stages}")]);
    assert_eq!(shared(30) - shared(20), 10);
}

/// Returns the cycles of a kernel of one block, whose body is given, on a machine with conflicts of banks
/// and a load/store unit, with these settings.
fn cycles_of(threads: u32, body: &str, settings: &[&str]) -> u64 {
    run_of(threads, body, settings, &mut ())
}

fn run_of(threads: u32, body: &str, settings: &[&str], observer: &mut impl Observer) -> u64 {
    let text = format!(
        ".version 6.3\n.target sm_61\n.address_size 64\n.const .align 16 .b8 table[4096];\n\
         .visible .entry k(.param .u64 k_param_0)\n{{\n.reg .b32 %r<8>;\n.shared .align 16 .b8 words[4096];\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, words;\nmov.u32 %r3, table;\n{body}ret;\n}}\n"
    );
    let launch = random_accesses::launch_on_buffer(1, threads, 4096);
    let workload = runs::workload("k", reference::program("k.ptx", "k", text), launch);
    let unit = ["shared_memory.rule=Turing", "pipeline.load_store.shared_latency=20"];
    let machine = shipped::machine_with("ecrts25-orin", &[&unit, settings].concat());
    runs::run(&workload, &machine, &PolicySetup::Gto, observer).makespan.get()
}

#[test]
fn transactions_of_shared_memory_take_as_long_as_set() {
    let at = |stride: u32, settings: &[&str]| {
        let unit = ["shared_memory.rule=Turing", "pipeline.load_store.shared_latency=20"];
        cycles(&format!("bank_stride_{stride}"), &[&unit, settings].concat())
    };
    for (stride, ways) in [(1, 1), (2, 2), (8, 8), (32, 32), (33, 1)] {
        // a store and a load, each with a transaction for each way
        let slow = ["pipeline.load_store.shared_interval=3"];
        assert_eq!(at(stride, &slow), at(1, &[]) + 2 * (3 * ways - 1), "stride {stride}");
        // the result of the load is late, the store is not
        let late = ["pipeline.load_store.conflict_latency=5"];
        assert_eq!(at(stride, &late), at(stride, &[]) + 5 * (ways - 1), "stride {stride}");
    }
}

#[test]
fn lanes_of_an_atomic_at_one_word_take_turns() {
    // the first lanes share a word
    let body = |sharing: u32| {
        format!(
            "setp.lt.u32 %p1, %r1, {sharing};\nmul.lo.u32 %r4, %r1, 4;\nselp.u32 %r4, 0, %r4, %p1;\n\
             add.u32 %r4, %r4, %r2;\natom.shared.add.u32 %r5, [%r4], %r1;\nadd.u32 %r5, %r5, 1;\n"
        )
    };
    let at = |sharing: u32, settings: &[&str]| {
        cycles_of(32, &format!(".reg .pred %p<2>;\n{}", body(sharing)), settings)
    };
    let lanes = "shared_memory.atomics=Lanes";
    let alone = at(1, &[]);
    for sharing in [1, 2, 8, 32] {
        // as on a TU102, where an atomic takes 3 cycles longer than a load, and 2 for each further lane
        let turns = u64::from(sharing) - 1;
        assert_eq!(at(sharing, &[]), alone, "{sharing} lanes, one transaction for a word");
        assert_eq!(at(sharing, &[lanes]), alone + turns, "{sharing} lanes");
        let measured = ["conflict_latency=1", "shared_atomic_latency=3"]
            .map(|setting| format!("pipeline.load_store.{setting}"));
        let measured = [lanes, &measured[0], &measured[1]];
        assert_eq!(at(sharing, &measured), alone + 3 + 2 * turns, "{sharing} lanes");
    }
}

#[test]
fn atomics_of_memory_take_longer_by_their_latency() {
    let dependent = |times: usize, settings: &[&str]| {
        let body = "ld.param.u64 %rd1, [k_param_0];\ncvta.to.global.u64 %rd1, %rd1;\n";
        let links = "atom.global.add.u32 %r5, [%rd1], %r5;\n".repeat(times);
        let memory =
            ["memory.lower=Partitions", "memory.start=LeftAndCopied", "memory.partitions.l2=Cache()"];
        let settings: Vec<&str> = memory.iter().chain(settings).copied().collect();
        cycles_of(1, &format!(".reg .b64 %rd<2>;\n{body}{links}"), &settings)
    };
    for times in [1, 5, 20] {
        let slow = dependent(times, &["memory.partitions.atomic_latency=47"]);
        assert_eq!(slow, dependent(times, &[]) + 47 * times as u64, "{times} atomics");
    }
}

#[test]
fn addresses_of_constants_take_turns() {
    let of = |threads: u32, stride: u32, settings: &[&str]| {
        let body =
            format!("mad.lo.u32 %r4, %r1, {stride}, %r3;\nld.const.u32 %r5, [%r4];\nadd.u32 %r5, %r5, 1;\n");
        cycles_of(threads, &body, settings)
    };
    let at = |stride: u32, settings: &[&str]| of(32, stride, settings);
    let turns = ["pipeline.load_store.constant_interval=3"];
    assert_eq!(at(0, &turns), at(0, &[]));
    assert_eq!(at(4, &turns), at(4, &[]) + 31 * 3);
    // a line of the cache counts once, whatever its words
    let cache = "memory.constant=Cache(line: 128, sets: 1, ways: 4, sectored: false)";
    assert_eq!(at(4, &[cache, turns[0]]), at(4, &[cache]) + 31 * 3);
    // lanes without the instruction have no address
    assert_eq!(of(1, 4, &turns), of(1, 4, &[]));
}

/// With one queue, the sub-cores that come first in a cycle take all its room. With a queue of its own,
/// each sub-core has an equal share of the unit.
#[test]
fn sub_cores_share_the_load_store_unit() {
    let last_issues = |queues: &str| {
        let queues = format!("pipeline.load_store.queues={queues}");
        let settings = ["sub_cores=4", "pipeline.queue=2", "pipeline.load_store.shared_interval=4", &queues];
        let mut recorder = Recorder::new();
        let makespan = run_of(128, &"ld.shared.u32 %r5, [%r2];\n".repeat(16), &settings, &mut recorder);
        let last = |sub_core: u8| {
            let of_sub_core = recorder.issues().filter(|issue| issue.sub_core == sub_core);
            of_sub_core.map(|issue| issue.issue.get()).max().expect("each sub-core issues")
        };
        ((0..4).map(last).collect::<Vec<u64>>(), makespan)
    };
    let ((one, of_one), (own, of_own)) = (last_issues("One"), last_issues("BySubCore"));
    // the unit never waits, so that the sum is the same
    assert_eq!(of_one, of_own);
    let spread = |ends: &[u64]| ends.iter().max().unwrap() - ends.iter().min().unwrap();
    assert!(spread(&one) > 40 && spread(&own) <= 4 * 4, "{one:?} {own:?}");
}

/// The addresses of a sub-core's accesses are found one after the other, those of different sub-cores at
/// the same time.
#[test]
fn sub_cores_find_addresses_side_by_side() {
    let at = |threads: u32, loads: usize, interval: u32| {
        let interval = format!("pipeline.load_store.address_interval={interval}");
        let settings = [LINES, "sub_cores=4", "pipeline.load_store.queues=BySubCore", &interval];
        // each lane loads from a line of its own
        let begin = ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [k_param_0];\nmul.lo.u32 %r4, %r1, 128;\n\
             and.b32 %r4, %r4, 4095;\ncvt.u64.u32 %rd2, %r4;\nadd.u64 %rd1, %rd1, %rd2;\n";
        let load = "ld.global.u32 %r5, [%rd1];\n";
        cycles_of(threads, &format!("{begin}{}add.u32 %r5, %r5, 1;\n", load.repeat(loads)), &settings)
    };
    // one warp: a load of 32 lines is late by 32 cycles, and each further one by another 32
    let more = |threads: u32, loads: usize| at(threads, loads, 2) - at(threads, loads, 0);
    assert_eq!((more(32, 1), more(32, 2), more(32, 5)), (32, 64, 160));
    // four warps on four sub-cores: the unit is busy from the first on
    assert_eq!((more(128, 1), more(128, 5)), (32, 32));
}

#[test]
fn loads_delay_their_readers_and_stores_retire_at_once() {
    let blocks = ["pipeline.load_store.atomics_block=true"];
    // every kernel waits for the store at its end
    assert_eq!(round_trips("retire_load", &[]), 2);
    assert_eq!(round_trips("retire_store", &[]), 1);
    assert_eq!(round_trips("retire_atomic", &[]), 1);
    assert_eq!(round_trips("retire_atomic", &blocks), 2);
    for kernel in ["retire_load", "retire_store"] {
        assert_eq!(fixed(kernel, 100, &blocks).0, fixed(kernel, 100, &[]).0, "{kernel} is no atomic");
    }
}

#[test]
fn a_working_set_that_fits_is_fetched_once() {
    let [sets, ways] = l1(4, 4);
    let cache = [sets.as_str(), ways.as_str()];
    // every load waits for the previous one; then the store
    assert_eq!((round_trips("walk_fits", &[]), round_trips("walk_exceeds", &[])), (64 + 1, 128 + 1));
    assert_eq!(round_trips("walk_fits", &cache), 16 + 1);
    let stats = fixed("walk_fits", 100, &cache).1.l1;
    assert_eq!((stats.hits, stats.misses), (48, 16 + 1), "{stats:?}");
    // 32 lines in turn, 16 ways in total: the line that is needed next has just been evicted, in
    // arrival order as well
    for replacement in ["Lru", "Fifo"] {
        let replacement = format!("memory.l1.cache.replacement={replacement}");
        let settings = [cache[0], cache[1], &replacement];
        assert_eq!(round_trips("walk_exceeds", &settings), 128 + 1, "{replacement}");
        assert_eq!(fixed("walk_exceeds", 100, &settings).1.l1.hits, 0, "{replacement}");
    }
    // random replacement spares some lines, and every hit saves a round trip
    let random = [cache[0], cache[1], "memory.l1.cache.replacement=Random"];
    let hits = fixed("walk_exceeds", 100, &random).1.l1.hits;
    assert!((1..96).contains(&hits), "{hits} hits");
    assert_eq!(round_trips("walk_exceeds", &random), 128 + 1 - hits);
}

#[test]
fn lines_of_one_set_evict_each_other_in_a_direct_mapped_cache() {
    let cache = |sets, ways, index: &str| {
        let [sets, ways] = l1(sets, ways);
        let settings = [sets.as_str(), ways.as_str(), &format!("memory.l1.cache.index={index}")];
        (round_trips("walk_conflict", &settings), fixed("walk_conflict", 100, &settings).0)
    };
    // lines 0 and 16, in turn: eight loads and a store, or two loads and a store
    let (direct, slow) = cache(16, 1, "Linear");
    let (associative, quick) = cache(4, 4, "Linear");
    assert_eq!((direct, associative), (9, 3));
    assert_eq!(cache(16, 1, "Xor").0, 3, "line 16 is in another set");
    // a hit completes at the tags. A miss is sent in the next cycle, filled after the latency,
    // taken up by the write-back in the next cycle and complete in the one after that
    assert_eq!(slow - quick, 6 * (100 + 3));
}

#[test]
fn a_second_miss_joins_the_first() {
    let [sets, ways] = l1(16, 4);
    let cache = [sets.as_str(), ways.as_str()];
    let merged = fixed("walk_together", 100, &cache).1.l1;
    // 16 loads of each of two warps, and their stores
    assert_eq!((merged.misses, merged.merged, merged.hits), (16 + 2, 16, 0), "{merged:?}");
    let refused = fixed("walk_together", 100, &[cache[0], cache[1], "memory.l1.cache.merge=1"]).1.l1;
    assert_eq!((refused.misses, refused.merged, refused.hits), (16 + 2, 0, 16), "{refused:?}");
    assert!(refused.stalls > merged.stalls, "{refused:?}");
    // in both cases both warps wait for one fetch
    assert_eq!(round_trips("walk_together", &cache), 16 + 1);
}

#[test]
fn stores_change_lines_as_the_policy_says() {
    let with = |policy: &str| {
        let [sets, ways] = l1(16, 4);
        let settings = [sets.as_str(), ways.as_str(), &format!("memory.l1.cache.write={policy}")];
        (round_trips("rewrite", &settings), fixed("rewrite", 100, &settings))
    };
    // eight loads, each after the store of the previous iteration; the last store is waited for
    assert_eq!(round_trips("rewrite", &[]), 8 + 1);
    let (through, (through_cycles, through_stats)) = with("Through");
    let (back, (back_cycles, back_stats)) = with("Back");
    let (evict, (_, evict_stats)) = with("Evict");
    assert_eq!((through, back, evict), (1 + 1, 1, 8 + 1));
    assert_eq!((through_stats.l1.misses, back_stats.l1.misses, evict_stats.l1.misses), (1, 1, 8));
    // one completes at the tags, the other is sent in the next cycle and then answered
    assert_eq!(through_cycles - back_cycles, 1 + 100);
}

#[test]
fn another_row_needs_a_precharge_and_an_activation() {
    let dram = |kernel: &str, row_bit: &str| {
        let row_bit = format!("memory.partitions.dram.row_bit={row_bit}");
        memory(kernel, &[LINES, "memory.lower=Partitions", &row_bit])
    };
    let (hits, hit_stats) = dram("dram_row_hits", "15");
    let (misses, miss_stats) = dram("dram_row_misses", "15");
    // eight loads and a store to the next 32 KiB
    assert_eq!(hit_stats.lower.dram.activations, 1);
    assert_eq!(miss_stats.lower.dram.activations, 9);
    // each of the seven loads after the first: tRP to the activation, tRCD to the read; the store:
    // to the write, which comes tWL + 1 earlier. tRAS and tRC have long passed
    let (rp, rcd, wl) = (12, 12, 4);
    assert_eq!(misses - hits, 7 * (rp + rcd) + rp + rcd - (wl + 1));
    // with rows of 256 bytes the first kernel behaves like the second
    assert_eq!(dram("dram_row_hits", "8").0, misses);
}

/// Returns the settings of a cache of `4 * sets` lines of 64 bytes for constants and parameters.
fn constants(sets: u32) -> [String; 2] {
    [format!("memory.constant.sets={sets}"), "memory.constant.line=64".to_owned()]
}

#[test]
fn constants_are_fetched_once_per_line_and_stay_while_they_fit() {
    let with = |kernel: &str, sets: u32| {
        let settings = constants(sets);
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        (round_trips(kernel, &settings), fixed(kernel, 100, &settings).1.constant)
    };
    // without the cache only the store at the end
    assert_eq!(round_trips("const_uniform", &[]), 1);
    // the line of the three parameters, 64 lines one after the other, the store
    let (trips, stats) = with("const_uniform", 16);
    assert_eq!(trips, 1 + 64 + 1);
    assert_eq!((stats.accesses, stats.misses, stats.hits, stats.merged), (3 + 64, 1 + 64, 2, 0));
    // a second iteration hits if all 64 lines fit (the parameters are not needed any more); with
    // least recently used replacement a cache of 32 never has the next one
    assert_eq!(with("const_twice", 16).0, 1 + 64 + 1);
    assert_eq!(with("const_twice", 8).0, 1 + 128 + 1);
    // lanes on 32 consecutive words: two lines per step, of which the first was the second line of
    // the previous step
    let (trips, stats) = with("const_lanes", 32);
    assert_eq!(trips, 1 + 63 + 1);
    assert_eq!((stats.accesses, stats.misses), (3 + 2 * 64, 1 + 64));
}

#[test]
fn a_constant_takes_a_cycle_per_line() {
    let last_load = |kernel: &str| {
        let settings = constants(32);
        let memory = [LINES, "memory.lower=Fixed", &settings[0], &settings[1]];
        let all = issues(kernel, &memory);
        // after it: add, add, and, add, setp, bra, st
        let load = all[all.len() - 8];
        load.done.get() - load.start.get()
    };
    // a hit completes in the cycle after the unit took it; two lines are handled one after the
    // other
    assert_eq!(last_load("const_twice"), 1);
    assert_eq!(last_load("const_lanes"), 2);
}

/// The transactions of stores and atomics leave the load/store unit one after the other, those of loads
/// as before.
#[test]
fn data_take_time_in_the_load_store_unit() {
    let of = |op: &str, stride: u32, interval: u32| {
        let body = format!(
            ".reg .b64 %rd<3>;\nld.param.u64 %rd1, [k_param_0];\nmad.wide.u32 %rd2, %r1, {stride}, %rd1;\n{op}\n"
        );
        cycles_of(32, &body, &[&format!("pipeline.load_store.data_interval={interval}")])
    };
    let (store, add) = ("st.global.u32 [%rd2], %r1;", "atom.global.add.u32 %r5, [%rd2], %r1;");
    let load = "ld.global.u32 %r5, [%rd2];\nadd.u32 %r5, %r5, 1;";
    for stride in [4, 32, 128] {
        let transactions = u64::from(stride).min(32);
        assert_eq!(of(load, stride, 3), of(load, stride, 1));
        for op in [store, add] {
            let once = of(op, stride, 1);
            assert_eq!(of(op, stride, 2), once + transactions, "{op} {stride}");
            assert_eq!(of(op, stride, 5), once + 4 * transactions, "{op} {stride}");
        }
    }
}
