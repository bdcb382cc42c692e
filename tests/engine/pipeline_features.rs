//! Each switch of the pipeline on a kernel made for it (`kernels/micro`); the cycles are derived by
//! hand. The machine is `ecrts25-orin` with one switch on. The result of an addition is available
//! after 4 cycles, of which it occupies its unit for 2; for fp32 instructions these numbers are 4
//! and 1. A move, shift or logic operation takes 1 cycle, a parameter 3, a store 200.

use crate::micro;
use crate::runs;

use micro::{cycles, issues, setup};
use warpbound::sim::PolicySetup;

const WRITE_BACK: &str = "pipeline.write_back";
const QUEUE: &str = "pipeline.queue";
const COLLECTOR: &str = "pipeline.collector";
const FRONT_END: &str = "pipeline.front_end";
const DUAL: &str = "pipeline.issue.per_warp=2";

/// Returns `PATH=VALUE` or `PATH.FIELD=VALUE`.
fn set(path: &str, rest: &str) -> String {
    let dot = if rest.starts_with('=') { "" } else { "." };
    format!("{path}{dot}{rest}")
}

#[test]
fn write_back_lengthens_every_dependence_by_its_depth() {
    // 21 results are waited for, one after the other: the parameter, %ntid.x, mad, mul.wide,
    // sixteen additions, and the store at the end (no instruction waits for the address in between)
    let at = |depth: u64| cycles("chain", &[&set(WRITE_BACK, &format!("={depth}"))]);
    assert_eq!(at(0), cycles("chain", &[]), "nothing on: the paper model");
    for depth in [1, 3, 10] {
        assert_eq!(at(depth) - at(0), 21 * depth, "{depth}");
    }
}

#[test]
fn dual_issue_speeds_up_independent_pairs_on_two_kinds_of_unit() {
    // nothing before the pairs can be paired: independent instructions use one unit
    assert_eq!(cycles("pairs_mixed", &[]) - cycles("pairs_mixed", &[DUAL]), 8, "a cycle for each pair");
    for kernel in ["pairs_same", "pairs_dependent"] {
        assert_eq!(cycles(kernel, &[]), cycles(kernel, &[DUAL]), "{kernel}");
    }
}

#[test]
fn pairs_on_one_unit_issue_together_only_if_they_may() {
    // instruction 4 issues in cycle 9, then sixteen follow; the last is number 20
    let last = |settings: &[&str]| issues("pairs_same", settings)[20].issue.get();
    assert_eq!(last(&[]), 9 + 16);
    assert_eq!(last(&[DUAL]), 9 + 16);
    // the first issues with number 4, the last alone, because the next instruction waits for it
    let any = [DUAL, "pipeline.issue.distinct_units=false"];
    assert_eq!(last(&any), 9 + 8);
    // the unit still starts one instruction per cycle
    assert_eq!(cycles("pairs_same", &any), cycles("pairs_same", &[]));
}

#[test]
fn a_fetch_that_cannot_hide_costs_a_cycle() {
    let at = |buffer: u32, fetches: u32| {
        let (buffer, fetches) = (format!("buffer={buffer}"), format!("fetches={fetches}"));
        cycles("pairs_same", &[&set(FRONT_END, &buffer), &set(FRONT_END, &fetches)])
    };
    let free = cycles("pairs_same", &[]);
    // two fetches per cycle: while one group is decoded, the next is fetched. Only the first fetch
    // costs a cycle
    for buffer in [1, 2, 4] {
        assert_eq!(at(buffer, 2), free + 1, "buffer {buffer}");
    }
    // one fetch: two cycles at the beginning, then a cycle for each refill, unless the warp waits
    // anyway. A buffer of 4 provides number 4 in cycle 11 and the sixteen in 12-14, 16-19, 21-24,
    // 26-29, 31; one of 2 number 4 in 12, then 13, 15-16, 18-19, .. 36 (the store is refilled while
    // it waits for its value); one of 1 number 4 in 13, then every second cycle, also for the store
    assert_eq!((at(4, 1), at(2, 1), at(1, 1)), (free + 31 - 26, free + 36 - 26, free + 45 - 26 + 1));
}

#[test]
fn several_warps_hide_each_others_fetches() {
    // four warps keep the integer unit busy, with 24 cycles of initiation each, as long as one of
    // them has an instruction in its buffer: only the cycle of the first fetch is lost
    let fetched = |settings: &[&str]| cycles("four_warps", settings);
    let two = [set(FRONT_END, "buffer=2"), set(FRONT_END, "fetches=2")];
    assert_eq!(fetched(&[&two[0], &two[1]]), fetched(&[]) + 1);
    // alone, each warp loses 10 cycles with one fetch per cycle (as above); together they lose
    // fewer, though the last one is alone at the end
    let lost = fetched(&[&two[0], &set(FRONT_END, "fetches=1")]) - fetched(&[]);
    assert!((2..10).contains(&lost), "{lost}");
}

#[test]
fn a_loop_larger_than_the_instruction_cache_misses_in_every_round() {
    let at = |ways: u32, latency: u64| {
        let (ways, latency) = (format!("icache.ways={ways}"), format!("icache.miss_latency={latency}"));
        let settings = [set(FRONT_END, "icache.sets=1"), set(FRONT_END, &ways), set(FRONT_END, &latency)];
        cycles("icache_loop", &settings.each_ref().map(String::as_str))
    };
    let hits = cycles("icache_loop", &[&set(FRONT_END, "buffer=2")]);
    // three lines, three iterations; with two ways the least recently used line is always the next
    // one
    for latency in [1, 100, 777] {
        assert_eq!(at(2, latency), hits + 9 * latency, "two lines");
        assert_eq!(at(3, latency), hits + 3 * latency, "three lines");
    }
    // without a front end nothing is fetched; with two fetches per cycle the first costs a cycle,
    // and so does each of two taken branches, because the buffer then holds the wrong instructions
    let two = [set(FRONT_END, "buffer=2"), set(FRONT_END, "fetches=2")];
    assert_eq!(cycles("icache_loop", &[&two[0], &two[1]]), cycles("icache_loop", &[]) + 3);
}

#[test]
fn a_queue_with_room_for_all_is_no_queue() {
    let free = cycles("burst", &[]);
    assert_eq!(free, 220);
    assert_eq!(cycles("burst", &[&set(QUEUE, "=3")]), free);
}

#[test]
fn a_full_queue_holds_what_comes_after_it() {
    // four instructions that start in cycles 12, 20, 28, 36. If the queue holds one, the third
    // issues when the second starts, the fourth (in cycle 28 instead of 15) when the third does
    assert_eq!(cycles("burst", &[&set(QUEUE, "=1")]), 220 + 28 - 15);
    // if the queue holds two, the fourth issues when the second starts
    assert_eq!(cycles("burst", &[&set(QUEUE, "=2")]), 220 + 20 - 15);
}

#[test]
fn operands_in_one_bank_are_read_one_after_the_other() {
    let at = |kernel: &str, setting: &str| cycles(kernel, &[&set(COLLECTOR, setting)]);
    // eight dependent instructions with three operands: three steps instead of one
    assert_eq!(at("fma_one_bank", "steps=1") - at("fma_spread", "steps=1"), 8 * 2);
    // two steps per cycle
    assert_eq!(at("fma_one_bank", "steps=2") - at("fma_spread", "steps=2"), 8);
    // with a single bank all operands share it
    assert_eq!(at("fma_one_bank", "banks=1"), at("fma_spread", "banks=1"));
}

#[test]
fn a_collector_unit_is_taken_until_its_operands_are_read() {
    let spacing = |units: u32| {
        let units = format!("units={units}");
        // enough banks that results and operands do not conflict
        let all = issues("pairs_same", &[&set(COLLECTOR, "banks=64"), &set(COLLECTOR, &units)]);
        let starts: Vec<u64> = all[12..=20].iter().map(|issue| issue.start.get()).collect();
        starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
    };
    // an instruction is read in the cycle after it was accepted, and passed on in the next cycle,
    // in which the next one is accepted
    assert_eq!(spacing(1), [2; 8]);
    assert_eq!(spacing(2), [1; 8]);
}

#[test]
fn results_that_leave_in_the_same_cycle_need_a_bus_each() {
    let at = |buses: &str| {
        let mut settings = vec!["pipeline.collector.steps=1"];
        settings.extend((!buses.is_empty()).then_some(buses));
        cycles("result_bus", &settings)
    };
    // once in each of four groups two results coincide, and the next group waits for the second
    assert_eq!(at("pipeline.result_buses=1"), at("") + 4);
    assert_eq!(at("pipeline.result_buses=2"), at(""));
}

#[test]
fn launches_cost_the_configured_cycles() {
    let costs = ["pipeline.launch.start=10", "pipeline.launch.end=5"];
    assert_eq!(cycles("chain", &costs), cycles("chain", &[]) + 10 + 5);
    // consecutive blocks each cost their start, and the launch its end once
    let (one, four) = (cycles("four_blocks", &costs), cycles("four_blocks", &[]));
    assert_eq!(one, four + 4 * 10 + 5);
    // each block but the first comes to a place that another one had, unless there are as many places
    let refilled = |places: &str| {
        let [with, without] = [30, 0]
            .map(|refill| cycles("four_blocks", &[&format!("pipeline.launch.refill={refill}"), places]));
        with - without
    };
    assert_eq!(refilled("limits.blocks=1"), 3 * 30);
    assert_eq!(refilled("limits.blocks=2"), 30);
    assert_eq!(refilled("limits.blocks=4"), 0);
    // the first block is placed later, and so are all that follow
    for kernel in ["chain", "four_blocks"] {
        assert_eq!(cycles(kernel, &["pipeline.launch.first=7"]), cycles(kernel, &[]) + 7, "{kernel}");
    }
}

#[test]
fn blocks_make_room_after_fetch_has_passed_their_warps() {
    for (kernel, blocks) in [("chain", 1), ("four_blocks", 4), ("four_warps", 1)] {
        let [ends, ended] = ["=true", "=false"].map(|value| {
            cycles(kernel, &[&set(FRONT_END, "fetches=4"), &set(FRONT_END, &format!("ends_warps{value}"))])
        });
        // alone on the SM, the last warp is passed in the cycle in which it completes
        assert_eq!(ends, ended + blocks, "{kernel}");
    }
}

#[test]
fn the_number_of_blocks_placed_in_a_cycle_is_limited() {
    for (limit, expected) in [(0, [0, 0, 0, 0]), (1, [0, 1, 2, 3]), (2, [0, 0, 1, 1])] {
        let limit = format!("pipeline.launch.blocks_per_cycle={limit}");
        let (workload, machine) = setup("four_blocks", &["limits.blocks=4", &limit]);
        let (_, mut blocks) = runs::run_on(1, &workload, &machine, &PolicySetup::Gto);
        blocks.sort_by_key(|block| block.block);
        let starts: Vec<u64> = blocks.iter().map(|block| block.start.get()).collect();
        assert_eq!(starts, expected, "{limit}");
    }
}

#[test]
fn sub_cores_share_out_the_warps() {
    let at = |count: u32| cycles("four_warps", &[&format!("sub_cores={count}")]);
    // a warp occupies an integer unit for 24 cycles from cycle 3 on. With several warps it is never
    // idle; the last instruction is an addition, which starts 2 cycles before the end and takes 4;
    // then a store
    assert_eq!(at(1), 3 + 4 * 24 - 2 + 4 + 200);
    assert_eq!(at(2), 3 + 2 * 24 - 2 + 4 + 200);
    assert_eq!(at(4), cycles("pairs_same", &[]), "as if each were alone");
}
