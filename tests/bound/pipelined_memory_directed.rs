//! PLB where one stage of a memory system is saturated and all others are wide. The comments give
//! the largest makespan divided by the bound when the test was written.

use warpbound::check::WorkloadKind;
use warpbound::program::{Area, Coded, Control, KernelCode, MachineCode, MemoryOp};
use warpbound::sim::PolicySetup;

use crate::pipelined::of_workload;
use crate::pipelined_directed::workload;
use crate::{random_accesses, random_kernels, shipped};

/// A machine with nothing in front of the load/store unit, and memory without any narrow stage.
const WIDE: &str = "hazards=[Raw] pipeline.front_end=none pipeline.collector=none pipeline.result_buses=none \
     units.int.init=1 units.int.lat=0 pipeline.write_back=0 pipeline.load_store.atomics_block=false \
     memory.constant=none pipeline.queue=64 exit_issues=false memory.lower=Partitions memory.start=Cold \
     memory.l1=none memory.partitions.channels=1 memory.partitions.slices=1 \
     memory.partitions.channel_bit=8 memory.partitions.slice_bit=7 memory.partitions.clock=(1,1) \
     memory.partitions.crossbar_queue=60000 memory.partitions.ejection_queue=32 \
     memory.partitions.latency=0 memory.partitions.queue=60000 memory.partitions.l2.sets=64 \
     memory.partitions.l2.ways=1024 memory.partitions.l2.write=Back \
     memory.partitions.l2.write_miss=Allocate memory.partitions.l2.index=Linear \
     memory.partitions.l2.mshrs=60000 memory.partitions.l2.merge=60000 \
     memory.partitions.l2.miss_queue=1024 memory.partitions.dram.latency=0 memory.partitions.dram.ccd=1 \
     memory.partitions.dram.ccdl=0 memory.partitions.dram.rrd=0 memory.partitions.dram.rcd=0 \
     memory.partitions.dram.ras=0 memory.partitions.dram.rp=0 memory.partitions.dram.rc=0 \
     memory.partitions.dram.cl=1 memory.partitions.dram.wl=0 memory.partitions.dram.cdlr=0 \
     memory.partitions.dram.wr=0 memory.partitions.dram.rtpl=0 memory.partitions.dram.burst=0 \
     memory.partitions.dram.queue=64 memory.partitions.dram.returns=64 \
     memory.partitions.dram.bank_bits=[7,12,13,14] memory.partitions.dram.row_bit=15 \
     memory.partitions.dram.groups=1 memory.partitions.dram.burst_bytes=32 \
     memory.partitions.dram.scheduler=FrFcfs memory.partitions.dram.clock=(1,1)";

/// An L1 without any narrow stage.
const L1: &str = "memory.l1.latency=1 memory.l1.banks=1 memory.l1.split=Off memory.l1.cache.sets=64 \
     memory.l1.cache.ways=1024 memory.l1.cache.write=Through memory.l1.cache.write_miss=NoAllocate \
     memory.l1.cache.index=Linear memory.l1.cache.mshrs=60000 memory.l1.cache.merge=60000 \
     memory.l1.cache.miss_queue=1024";

const COPIED: &str = "memory.start=LeftAndCopied";

/// Every request to DRAM uses the same row of the same bank.
const ONE_ROW: &str = "memory.partitions.dram.bank_bits=[39] memory.partitions.dram.row_bit=40";

/// What all kernels begin with: %rd1 is the address of the buffer, %r3 the lane, %r4 the warp, %p1
/// true in lane 0, %p2 true in warp 0.
const HEAD: &str = "and.b32 %r3, %r1, 31;\nshr.u32 %r4, %r1, 5;\nsetp.eq.u32 %p1, %r3, 0;\n\
     setp.eq.u32 %p2, %r4, 0;\n.local .align 16 .b8 loc[64];\n";

const REGISTERS: &str = ".reg .pred %p<9>;\n.reg .b32 %r<250>;\n.reg .b64 %rd<20>;\n";

/// Compares the bound with runs of a kernel with this body. Each part of the settings is a list that
/// is divided by spaces; `m.`, `p.`, `d.`, `l2.` and `l1.` stand for the parts of the memory.
#[track_caller]
fn holds(parts: &[&str], launch: (u32, u32), body: &str) {
    holds_with(parts, launch, body, None);
}

/// Compares the bound like [`holds`], with these control codes of each load.
#[track_caller]
fn holds_with(
    parts: &[&str],
    (blocks, threads): (u32, u32),
    body: &str,
    codes: Option<fn(usize) -> LoadCodes>,
) {
    let full = |setting: &str| {
        let (part, name) = setting.split_once('.').unwrap();
        let part = match part {
            "m" => "memory",
            "p" => "memory.partitions",
            "d" => "memory.partitions.dram",
            "l2" => "memory.partitions.l2",
            "l1" => "memory.l1.cache",
            "ls" => "pipeline.load_store",
            _ => return setting.to_owned(),
        };
        format!("{part}.{name}")
    };
    let settings = [WIDE].iter().chain(parts).flat_map(|part| part.split_whitespace());
    let settings: Vec<String> = settings
        .map(|setting| if setting.contains('.') { full(setting) } else { setting.to_owned() })
        .collect();
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let launch = random_accesses::launch_on_buffer(blocks, threads, 1 << 20);
    let mut workload = workload(REGISTERS, &format!("{HEAD}{body}"), launch);
    if let (Some(codes), WorkloadKind::Launch { program, .. }) = (codes, &mut workload.kind) {
        program.machine_code = Some(machine_code(program, codes));
    }
    let machine = shipped::machine_with("accelsim-ecrts", &settings);
    for policy in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest] {
        let (makespan, bound) = of_workload(&workload, &machine, &policy).unwrap();
        println!("{policy}: {makespan} of {bound} = {:.3} {parts:?}", makespan as f64 / bound as f64);
        assert!(makespan <= bound, "{policy}: {makespan} > {bound}: {parts:?}");
    }
}

/// The control codes of a load: the barrier that its result signals, the barriers that it waits for, and the
/// barrier of which it waits for all but some signals.
#[derive(Clone, Copy, Default)]
struct LoadCodes {
    signals: Option<u8>,
    waits: u8,
    drains: Option<(u8, u8)>,
}

/// Returns control codes that are the given ones for each load, by its number, and wait for nothing elsewhere.
fn machine_code(program: &KernelCode, codes: fn(usize) -> LoadCodes) -> MachineCode {
    let coded = |LoadCodes { signals, waits, drains }: LoadCodes| {
        let control =
            Control { stall: 1, stay: true, write_barrier: signals, wait: waits, ..Control::default() };
        Coded { byte: 0, control, variable: true, waits: 0, drains, sources: Default::default() }
    };
    let mut instructions = vec![coded(LoadCodes::default()); random_kernels::lines(program)];
    let loads = program.instrs.iter().filter(|instr| instr.memory == Some(MemoryOp::Load(Area::Global)));
    loads.enumerate().for_each(|(load, instr)| instructions[instr.line as usize - 1] = coded(codes(load)));
    MachineCode { first_line: 1, instructions, hazards: None, independent: false }
}

/// Returns instructions, given by their number.
fn each(times: usize, of: impl Fn(usize) -> String) -> String {
    (0..times).map(of).collect()
}

/// Accesses of all lanes, `lanes` bytes apart, in steps of this many bytes: r reads and w writes.
fn stream(kinds: &str, times: usize, step: usize, lanes: usize, warps: usize) -> String {
    let begin = format!(
        "mul.lo.u32 %r5, %r3, {lanes};\nmad.lo.u32 %r5, %r4, {warps}, %r5;\ncvt.u64.u32 %rd3, %r5;\n\
         add.u64 %rd3, %rd3, %rd1;\n"
    );
    let access = |n: usize| {
        let at = n * step % (1 << 19);
        match kinds.as_bytes()[n % kinds.len()] {
            b'r' => format!("ld.global.u32 %r9, [%rd3+{at}];\n"),
            b'w' => format!("st.global.u32 [%rd3+{at}], %r1;\n"),
            _ => format!("atom.global.add.u32 %r9, [%rd3+{at}], %r1;\n"),
        }
    };
    begin + &each(times * kinds.len(), access)
}

/// One lane's atomics, in steps of this many bytes.
fn atomics(times: usize, step: usize) -> String {
    each(times, |n| format!("@%p1 atom.global.add.u32 %r10, [%rd1+{}], %r1;\n", n * step))
}

/// Loads of which each waits for the one before.
fn chain(times: usize, step: usize) -> String {
    let link = |_| {
        format!(
            "ld.global.u32 %r12, [%rd1];\nmul.wide.u32 %rd2, %r12, 4;\nadd.u64 %rd1, %rd1, %rd2;\n\
             add.u64 %rd1, %rd1, {step};\n"
        )
    };
    each(times, link)
}

/// Warp 0 executes one body, all others execute another one.
fn two_roles(first: &str, others: &str) -> String {
    format!("@%p2 bra FIRST;\n{others}ret;\nFIRST:\n{first}")
}

const CLOCKS: [&str; 6] =
    ["p.clock=(1,1)", "p.clock=(7,5)", "p.clock=(2,3)", "p.clock=(1,4)", "p.clock=(9,2)", "p.clock=(63,64)"];

/// A lone load, store or atomic takes no longer than its latency, whatever it passes: 1.0.
#[test]
fn lone_requests() {
    for clock in CLOCKS {
        for of_dram in ["d.clock=(1,1)", "d.clock=(1,3)", "d.clock=(7001,2264)"] {
            for caches in ["", "p.l2=none", L1, COPIED] {
                for body in
                    ["ld.global.u32 %r9, [%rd1];\nadd.u32 %r9, %r9, 1;\n", "st.global.u32 [%rd1], %r1;\n"]
                {
                    holds(&["p.latency=5 d.latency=3", clock, of_dram, caches], (1, 32), body);
                }
                holds(&["p.latency=5 d.latency=3", clock, of_dram, caches], (1, 32), &atomics(1, 0));
            }
        }
    }
}

/// A chain of hits in the L2 takes the latency each time, in every phase of the clocks: 1.0.
#[test]
fn chains_of_hits() {
    for clock in CLOCKS {
        for l1 in ["", L1] {
            holds(&[COPIED, clock, l1, "p.latency=3"], (1, 32), &chain(50, 128));
        }
    }
}

/// All places of a channel are in use, so that requests wait for one to return: 0.98.
#[test]
fn places_of_a_channel() {
    for slices in ["p.slices=1", "p.slices=2"] {
        let settings = ["d.queue=1 d.returns=1 d.latency=1000 p.clock=(1,4) d.clock=(7001,2264)", slices];
        for warps in [1, 2, 3] {
            holds(&settings, (1, 32 * warps), &stream("r", 60, 4096, 0, 2048));
        }
    }
}

/// A cache with one register, one request per fetch or one way serves one fetch after the other:
/// 0.93 in the L1, 0.9 in the L2.
#[test]
fn one_fetch_at_a_time() {
    let clocks = "p.clock=(1,4) d.clock=(7001,2264) d.latency=100";
    for lanes in [0, 32] {
        for warps in [1, 4] {
            let apart = stream("r", 12, 4096, lanes, 65536);
            for narrow in ["l1.mshrs=1", "l1.ways=1 l1.sets=1"] {
                holds(&[clocks, L1, narrow], (1, 32 * warps), &apart);
            }
            for narrow in ["l2.mshrs=1", "l2.ways=1 l2.sets=1"] {
                holds(&[clocks, narrow], (1, 32 * warps), &apart);
            }
            let same = stream("r", 12, 4096, lanes, 0);
            holds(&[clocks, L1, "l1.merge=1"], (1, 32 * warps), &same);
            holds(&[clocks, "l2.merge=1"], (1, 32 * warps), &same);
        }
    }
}

/// Requests to one bank need another row each, and wait for one delay between its commands: 0.9.
#[test]
fn rows_of_one_bank() {
    let delays = ["d.rc=78", "d.ras=55 d.rp=24", "d.rcd=24", "d.rcd=24 d.rp=24 d.rc=78 d.ras=55 d.cl=24"];
    for policy in ["d.scheduler=FrFcfs", "d.scheduler=Fifo"] {
        let bank = ["p.l2=none d.bank_bits=[39] d.row_bit=10", policy];
        for delay in delays {
            holds(&[&bank[..], &[delay]].concat(), (1, 32), &stream("r", 100, 1024, 0, 0));
        }
        holds(&[&bank[..], &["d.wr=60"]].concat(), (1, 32), &stream("w", 100, 1024, 0, 0));
        let banks = "p.l2=none d.rrd=40 d.bank_bits=[10,11,12,13] d.row_bit=14";
        holds(&[banks, policy], (1, 32), &stream("r", 100, 1024, 0, 0));
    }
}

/// Reads and writes alternate, so that the direction changes each time: 0.98.
#[test]
fn changes_of_direction() {
    for delay in
        ["d.cl=60", "d.cdlr=60 d.cl=0", "d.ccdl=12 d.cl=24 d.wl=24 d.cdlr=40 d.burst=20 d.burst_bytes=8"]
    {
        for policy in ["d.scheduler=FrFcfs", "d.scheduler=Fifo"] {
            let settings = ["p.l2=none", ONE_ROW, "p.queue=64 d.clock=(1,3)", delay, policy];
            holds(&settings, (1, 32), &stream("wr", 60, 1024, 0, 0));
        }
    }
}

/// Stores that stay in the L2 pass the load/store unit and the port, one per cycle: 0.99.
#[test]
fn stores_that_stay() {
    for sectored in ["l2.sectored=true", "l2.sectored=false"] {
        holds(&[sectored], (1, 64), &stream("w", 20, 1024, 32, 32768));
    }
}

/// Stores keep the load/store unit busy while another warp waits for shared memory: 0.997.
#[test]
fn shared_memory_behind_stores() {
    let waits = "ld.shared.u32 %r11, [%r2];\nadd.u32 %r2, %r2, %r11;\n".repeat(60);
    let body = two_roles(&waits, &stream("w", 60, 1024, 32, 0));
    for l1 in ["", L1] {
        for latency in ["ls.shared_latency=1", "ls.shared_latency=24"] {
            holds(&[COPIED, l1, latency], (1, 64), &body);
        }
    }
}

/// Two SMs share a slice whose input holds one request: 0.84.
#[test]
fn several_sms_and_one_slice() {
    let settings =
        ["sms=2 p.queue=1 p.clock=(1,4) p.crossbar_queue=4 p.ejection_queue=1 ls.replies=1", COPIED];
    for blocks in [2, 6] {
        holds(&settings, (blocks, 32), &stream("r", 40, 1024, 32, 0));
    }
}

/// Loads that join a fetch pass the look-up, and come back in front of hits of another warp.
#[test]
fn joined_loads_in_front_of_hits() {
    let joined = "ld.local.u32 %r9, [loc];\n".repeat(300);
    let body = two_roles(&chain(120, 0), &joined);
    for l1 in ["", L1] {
        holds(&[COPIED, "d.latency=1000", l1], (1, 64), &body);
    }
    // a fetch in a fast DRAM costs little more
    let fetches = each(250, |n| format!("ld.local.u32 %r9, [loc+{}];\n", n * 4)).replace("[loc", "[more");
    let fetches = format!(".local .align 16 .b8 more[2048];\n{fetches}");
    let fast = "p.clock=(60,1) d.latency=20000 d.queue=4096 d.returns=4096 d.bank_bits=[7]";
    holds(&[COPIED, fast], (1, 64), &two_roles(&chain(60, 0), &fetches));
}

/// The sectors of a line are in several slices, each of which fetches the whole line.
#[test]
fn whole_lines_in_several_slices() {
    let slices =
        "p.slices=4 p.slice_bit=5 l2.sectored=false d.ccd=4 d.ccdl=4 d.cl=4 d.queue=1000 d.returns=1000";
    holds(&[slices], (1, 32), &stream("r", 100, 512, 4, 0));
}

/// Data that the host has copied is in the slices of its sectors, but a request goes to that of its
/// first sector.
#[test]
fn copied_sectors_in_several_slices() {
    let lines = "mul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd1, %rd1, %rd3;\n".to_owned() + &chain(40, 512);
    for slices in ["p.slices=4 p.slice_bit=5", "p.channels=4 p.channel_bit=5"] {
        holds(&[COPIED, slices, "d.latency=200 ls.transaction=128"], (1, 32), &lines);
        holds(&[COPIED, slices, "d.latency=200", L1, "l1.sectored=false"], (1, 32), &lines);
    }
}

/// Atomics pass the L1, and wait for the port that misses use.
#[test]
fn atomics_and_misses_at_the_port() {
    let pair = |n: usize| {
        format!("ld.global.u32 %r9, [%rd3+{}];\natom.global.add.u32 %r10, [%rd3], %r1;\n", n * 1024)
    };
    let body = "mul.wide.u32 %rd3, %r3, 32;\nadd.u64 %rd3, %rd1, %rd3;\n".to_owned() + &each(30, pair);
    for queue in ["p.crossbar_queue=1", "p.crossbar_queue=2"] {
        holds(&[COPIED, L1, "memory.l1.latency=31", queue], (1, 32), &body);
    }
}

/// A load joins only a fetch of all its sectors, so that sectors are fetched several times.
#[test]
fn fetches_that_overlap() {
    let mut sets: Vec<Vec<u32>> =
        (1..16_u32).map(|mask| (0..4).filter(|sector| mask >> sector & 1 == 1).collect()).collect();
    sets.sort_by_key(Vec::len);
    let load = |line: usize, sectors: &[u32]| {
        let of = |n: usize, sector: &u32| {
            format!("setp.eq.u32 %p3, %r6, {n};\n@%p3 mov.u32 %r7, {};\n", sector * 32)
        };
        let lanes: String = sectors.iter().enumerate().map(|(n, sector)| of(n, sector)).collect();
        format!(
            "rem.u32 %r6, %r3, {};\n{lanes}cvt.u64.u32 %rd2, %r7;\nadd.u64 %rd2, %rd2, %rd1;\n\
             ld.global.u32 %r9, [%rd2+{}];\n",
            sectors.len(),
            line * 128
        )
    };
    let body = each(40, |line| sets.iter().map(|sectors| load(line, sectors)).collect());
    let dram = "d.latency=400 d.ccd=8 d.cl=0 d.queue=1000 d.returns=1000";
    holds(&["ls.transaction=128", dram], (1, 32), &body);
    // an unsectored L1 fetches lines of which atomics fetch sectors
    let line = |n: usize| {
        let atomic = |m: usize| format!("@%p1 atom.global.add.u32 %r10, [%rd1+{}], %r1;\n", n * 128 + m * 32);
        each(4, atomic) + &format!("@%p1 ld.global.u32 %r9, [%rd1+{}];\n", n * 128)
    };
    holds(&[L1, "l1.sectored=false", dram], (1, 32), &each(40, line));
}

/// In a slice whose queues hold one request, stages keep each other from working.
#[test]
fn queues_of_one_request() {
    let narrow = "p.queue=1 p.clock=(1,4)";
    holds(&[narrow, "p.latency=5 d.latency=400"], (1, 1024), &stream("r", 60, 128, 4, 0));
    let fast = "d.clock=(7001,2264) d.queue=4096 d.returns=4096 p.latency=40";
    holds(&[narrow, fast, ONE_ROW, "d.latency=80 p.l2=none"], (1, 128), &stream("r", 30, 1024, 32, 0));
    holds(&[narrow, fast, ONE_ROW, "d.latency=5"], (1, 64), &stream("r", 15, 1024, 32, 32768));
    let forwarded = "l2.write_miss=NoAllocate l2.miss_queue=2";
    holds(&[narrow, fast, ONE_ROW, "d.clock=(50,1)", forwarded], (1, 64), &stream("w", 15, 1024, 32, 32768));
}

/// An atomic makes all that its fetch brings dirty, whatever the write policy is.
#[test]
fn lines_that_atomics_make_dirty() {
    let thrashes = "l2.sets=1 l2.ways=2 d.ccd=64 d.cl=0";
    for cache in ["l2.sectored=false", "l2.write=Through", "l2.write=Evict"] {
        holds(&[thrashes, cache], (1, 32), &atomics(60, 512));
    }
}

/// A request of the L1 begins at the first sector that is missing, which decides its bank.
#[test]
fn banks_within_a_line() {
    let of_line = |n: usize| {
        format!(
            "@%p4 st.global.u32 [%rd3+{0}], %r3;\n@%p1 ld.global.u32 %r9, [%rd1+{1}];\n\
             @%p1 atom.global.add.u32 %r10, [%rd1+{2}], %r3;\n",
            n * 128,
            n * 128 + 32,
            (1 << 17) + n * 128 + 32
        )
    };
    let body = "setp.lt.u32 %p4, %r3, 8;\nmul.wide.u32 %rd3, %r3, 4;\nadd.u64 %rd3, %rd3, %rd1;\n".to_owned()
        + &each(40, of_line);
    let dram = "p.l2=none d.bank_bits=[5] d.row_bit=17 d.rc=300 d.scheduler=Fifo";
    holds(&[L1, "l1.sectored=false l1.write_miss=Allocate", dram], (1, 32), &body);
}

/// Perfect memory behind an L1 has jitter.
#[test]
fn jitter_of_perfect_memory() {
    holds(&[L1, "m.lower=Perfect m.jitter=Uniform(30,30)"], (1, 32), &chain(40, 512));
}

/// Nothing waits for a load whose register another instruction overwrites, so that all loads are in
/// flight at the same time.
#[test]
fn loads_of_overwritten_registers() {
    for overwrites in ["mov.u32 %r9, %r1;", "ld.shared.u32 %r9, [%r2];", "@%p1 mov.u32 %r9, %r1;"] {
        let load = |n: usize| {
            format!("ld.global.u32 %r9, [%rd1+{}];\n{overwrites}\nadd.u32 %r10, %r9, %r9;\n", n * 512)
        };
        for caches in ["l2.mshrs=1", "l2.ways=1 l2.sets=1", "d.queue=1 d.returns=1"] {
            holds(&["d.latency=100", caches], (1, 32), &each(30, load));
        }
        holds(&["d.latency=100", L1, "l1.mshrs=1"], (1, 32), &each(30, load));
    }
}

/// Banks of an L1 that are occupied by the transactions before: 0.99.
#[test]
fn occupied_banks() {
    for banks in [1, 2, 4, 8] {
        let of = format!("m.l1.banks={banks} m.l1.interval=9");
        let settings = [L1, &of, "l1.sectored=true l1.write_miss=Allocate m.start=LeftAndCopied"];
        for (lanes, warps) in [(4, 128), (32, 1024), (128, 4096)] {
            for kinds in ["r", "w", "rw"] {
                holds(&settings, (1, 64), &stream(kinds, 30, 0, lanes, warps));
            }
        }
    }
}

/// Loads of lines in the far half of an L2: 1.0.
#[test]
fn lines_of_the_far_half() {
    for far in [1, 7, 90] {
        let of = format!("p.far_latency={far} p.channels=2 sms=3");
        for (blocks, queue) in [(1, 60000), (3, 60000), (3, 1), (3, 2)] {
            let settings = [&of, COPIED, &format!("p.queue={queue}")];
            holds(&settings, (blocks, 32), &chain(20, 4096 + 256));
            holds(&settings, (blocks, 32), &chain(20, 4096));
            holds(&settings, (blocks, 96), &stream("rrw", 20, 256, 128, 4096));
        }
    }
    let odd = format!("add.u64 %rd1, %rd1, 256;\n{}", chain(100, 512));
    for far in ["p.far_latency=20", "p.far_latency=300"] {
        let settings = [COPIED, "p.channels=2 p.slices=1 p.spread=Linear", far];
        holds(&settings, (1, 32), &odd);
        holds(&[&settings[..], &[L1]].concat(), (1, 32), &odd);
        holds(&settings, (1, 256), &stream("r", 60, 512, 4, 128));
    }
}

/// Atomics that take longer than loads, alone and in front of loads: 1.0.
#[test]
fn slow_atomics() {
    let dependent = "atom.global.add.u32 %r10, [%rd1], %r10;\n".repeat(40);
    for atomic in [1, 7, 90] {
        for of in ["sms=1", "sms=3 p.channels=2 p.far_latency=20", "sms=1 p.queue=2 l2.port=8"] {
            let settings = [of, COPIED, &format!("p.atomic_latency={atomic}")];
            holds(&settings, (1, 32), &dependent);
            holds(&settings, (3, 64), &two_roles(&dependent, &stream("ra", 30, 128, 4, 128)));
        }
    }
}

/// Reads that keep coming delay writes of lines that leave the L2, each of them anew, while these writes keep
/// the places of the channel: 0.47.
#[test]
fn reads_delay_writes_anew() {
    let load = |n: usize, at: usize| format!("ld.global.u32 %r{}, [%rd1+{at}];\n", 30 + n % 200);
    let (dirty, queue) = (28, 16);
    for (cl, reads) in [(400, 200), (100, 100), (50, 100)] {
        let mut body = each(dirty, |n| format!("st.global.u32 [%rd1+{}], %r1;\n", n * 256));
        for n in 0..8 {
            body += &load(n, 128 + n * 256);
            body += &"add.u32 %r20, %r20, 1;\n".repeat(37);
        }
        body += &each(dirty, |n| load(8 + n, (dirty + n) * 256));
        body += &each(reads, |n| load(n, 128 + (8 + n) * 256));
        let sets = format!("l2.sets=2 l2.ways={dirty} p.channel_bit=19");
        let dram = format!("d.queue={queue} d.returns={queue} d.cl={cl} d.latency=100 d.row_bit=24");
        for scheduler in ["d.scheduler=FrFcfs", "d.scheduler=Fifo"] {
            holds(&[&sets, &dram, "d.bank_bits=[8,9,10,11,12,7]", scheduler], (1, 32), &body);
        }
    }
}

/// Ticks that are no whole number of cycles, of which a request takes several at the port of a slice: the
/// ticks of the way and of the requests in front are rounded up together. 1.0.
#[test]
fn ticks_that_are_rounded_up_together() {
    let link = |loads: usize| {
        let others = "ld.global.u32 %r11, [%rd1];\n".repeat(loads - 1);
        format!("{others}{}", chain(1, 0))
    };
    let cases = [
        ("(9,5)", 16, 5, 2),
        ("(5,3)", 16, 1, 4),
        ("(12,13)", 32, 5, 5),
        ("(6,7)", 32, 2, 3),
        ("(5,1)", 4, 6, 3),
    ];
    for (clock, port, latency, loads) in cases {
        for queues in ["p.crossbar_queue=16", "p.crossbar_queue=1 p.ejection_queue=1"] {
            let settings = format!("p.clock={clock} l2.port={port} p.latency={latency} {queues}");
            let links = (0..60).map(|_| link(loads)).collect::<String>();
            holds(&[COPIED, &settings], (1, 8), &links);
        }
    }
}

/// Slices that are full because of their port or of the crossbar of replies, with latencies around the
/// number of requests in the input: 0.84.
#[test]
fn full_slices() {
    for (queue, latency) in [(1, 0), (1, 3), (2, 0), (2, 1), (4, 3), (8, 7), (8, 20), (16, 0)] {
        for of in ["l2.port=8", "l2.port=32 p.clock=(1,4)", "l2.port=16 p.ejection_queue=1 ls.replies=1"] {
            let of = format!("sms=4 p.channels=2 p.crossbar_queue=2 {of}");
            let settings = [&of, COPIED, &format!("p.queue={queue} p.latency={latency}")];
            for kinds in ["r", "rw", "wwwwwwwwr"] {
                holds(&settings, (4, 64), &stream(kinds, 30, 1024, 32, 8192));
            }
        }
    }
}

/// Constants through a cache, in turn with shared memory, the L1 and atomics: 0.98.
#[test]
fn constants_through_a_cache() {
    let constants = |times: usize, step: usize| {
        each(times, |n| format!("ld.const.u32 %r{}, [table+{}];\n", 20 + n % 60, n * step % 4096))
    };
    let dependent =
        each(30, |n| format!("ld.const.u32 %r9, [table+{}];\nadd.u32 %r10, %r9, %r9;\n", n * 132 % 4096));
    let mixed = each(20, |n| {
        format!(
            "ld.const.u32 %r{}, [table+{}];\nld.shared.u32 %r{}, [%r2+{}];\nld.global.u32 %r{}, [%rd1+{}];\n",
            20 + n,
            n * 64,
            50 + n,
            4 * n,
            80 + n,
            128 * (n % 3)
        )
    });
    let atomic = "atom.global.add.u32 %r9, [%rd1], %r1;\n";
    for cache in [
        "m.constant=Cache(line:64,sets:16,ways:4,sectored:false)",
        "m.constant=Cache(line:128,sets:1,ways:1,sectored:false,mshrs:1,merge:1,miss_queue:2)",
        "m.constant=Cache(line:32,sets:2,ways:2,sectored:false,mshrs:2,merge:2,miss_queue:3)",
        "m.constant=Cache(line:128,sets:2,ways:1,sectored:true,mshrs:2,merge:2,miss_queue:2)",
    ] {
        for stages in [0, 2, 40] {
            let of = format!("ls.constant_latency={stages} ls.parameters_ready=true m.l1.interval=2");
            let settings = [L1, cache, &of, COPIED];
            for (blocks, threads) in [(1, 32), (1, 512), (4, 64)] {
                for body in [&dependent, &constants(60, 4), &constants(60, 68), &mixed] {
                    holds(&settings, (blocks, threads), body);
                    holds(&settings, (blocks, threads), &format!("{body}{}", atomic.repeat(5)));
                }
            }
        }
    }
}

/// An atomic that joins the fetch of a whole line for an L1 makes all of the line dirty: 0.82.
#[test]
fn atomics_behind_loads_of_whole_lines() {
    let body = each(66, |n| {
        let load =
            if n < 64 { format!("ld.global.u32 %r{}, [%rd1+{}];\n", 20 + n, 128 * n) } else { String::new() };
        let atomic = |n| format!("@%p1 atom.global.add.u32 %r{}, [%rd1+{}], %r1;\n", 100 + n, 128 * n);
        load + &n.checked_sub(2).map_or(String::new(), atomic)
    });
    for ways in [4, 8] {
        let l2 = format!("l2.sectored=true l2.sets=1 l2.ways={ways} l2.port=128");
        let l1 = "l1.sectored=false l1.line=128 l1.write=Evict ls.transaction=32 d.ccd=64 d.ccdl=64";
        holds(&[L1, l1, &l2, ONE_ROW], (1, 32), &body);
    }
}

/// Requests of several SMs for different sectors of a line of constants join one fetch of the L2: 0.9.
#[test]
fn sectors_of_constants_that_join() {
    let begin = "mov.u32 %r5, %ctaid.x;\nsetp.eq.u32 %p3, %r5, 0;\nselp.u32 %r6, 4, 0, %p3;\n\
         mul.lo.u32 %r6, %r6, %r1;\nmad.lo.u32 %r6, %r5, 32, %r6;\nmov.u32 %r8, table;\nadd.u32 %r8, %r8, %r6;\n";
    let body = begin.to_owned() + &each(16, |n| format!("ld.const.u32 %r{}, [%r8+{}];\n", 20 + n, 128 * n));
    for (sms, merge) in [(3, 2), (4, 2), (4, 3)] {
        for sectored in [true, false] {
            let constants = format!(
                "m.constant=Cache(line:128,sets:1,ways:64,sectored:{sectored},mshrs:64,merge:64,miss_queue:16) \
                 sms={sms} l2.merge={merge} d.latency=500 ls.parameters_ready=true"
            );
            holds(&[&constants], (sms, 32), &body);
        }
    }
}

/// A miss fetches parts of the line that are larger than what the load needs: 0.99.
#[test]
fn parts_of_lines() {
    let body = each(60, |n| format!("@%p1 ld.global.u32 %r{}, [%rd1+{}];\n", 20 + n, 128 * n));
    for fetch in [32, 64, 128] {
        let l2 = format!("l2.sectored=true l2.fetch={fetch}");
        for l1 in ["l1.sectored=true", "l1.sectored=false l1.line=64"] {
            holds(&[L1, l1, &l2, ONE_ROW, "ls.transaction=32 d.ccd=64"], (1, 32), &body);
        }
        holds(&[&l2, ONE_ROW, "ls.transaction=32 d.ccd=64"], (1, 32), &body);
    }
}

/// Loads of different sectors join the fetch of a part, which serves few of them: 0.9.
#[test]
fn sectors_that_join_the_fetch_of_a_part() {
    let body = each(64, |n| format!("@%p1 ld.global.u32 %r{}, [%rd1+{}];\n", 20 + n, 32 * n));
    for (fetch, merge) in [(64, 1), (128, 1), (128, 2), (128, 3)] {
        let l2 = format!("l2.sectored=true l2.fetch={fetch} l2.merge={merge} d.latency=500");
        holds(&[L1, &l2, "ls.transaction=32"], (1, 32), &body);
        holds(&[&l2, "ls.transaction=32"], (1, 32), &body);
        holds(&[&l2, "ls.transaction=32 p.queue=2"], (2, 64), &body);
    }
}

/// Stores make sectors readable. The first load of a line then hits and fetches nothing, and the
/// loads of its other sectors go to DRAM one after the other, because each is waited for: 0.88.
#[test]
fn loads_that_hit_because_of_stores() {
    let body = "setp.lt.u32 %p3, %r1, 8;\nmul.wide.u32 %rd4, %r1, 4;\nadd.u64 %rd4, %rd1, %rd4;\n".to_owned()
        + &each(16, |n| format!("@%p3 st.global.u32 [%rd4+{}], %r1;\n", 128 * n))
        + &each(16, |n| format!("ld.global.u32 %r{}, [%rd1+{}];\n", 20 + n, 128 * n))
        + &each(16, |n| format!("add.u32 %r2, %r{}, 1;\n", 20 + n))
        + &each(16, |n| format!("ld.global.u32 %r5, [%rd1+{}];\nadd.u32 %r2, %r5, 1;\n", 128 * n + 32));
    let all = "ls.transaction=32 d.latency=300";
    for l2 in ["l2.sectored=true l2.fetch=64", "l2.sectored=true l2.fetch=128", "l2.sectored=false"] {
        holds(&[l2, all], (1, 32), &body);
        holds(&[L1, "l1.sectored=true", l2, all], (1, 32), &body);
    }
    let into_l1 = "l1.write_miss=Allocate l1.sectored=false l2.sectored=true l2.fetch=32";
    holds(&[L1, into_l1, all], (1, 32), &body);
}

/// The L1 of each SM fetches by itself what blocks on several SMs load, and tracks few of its
/// fetches, or few loads of each: 0.68.
#[test]
fn every_sm_fetches_by_itself() {
    let head = "mov.u32 %r5, %ctaid.x;\nshr.u32 %r5, %r5, 2;\nmul.wide.u32 %rd5, %r5, 512;\n\
                add.u64 %rd5, %rd1, %rd5;\n";
    let waits = each(4, |n| format!("add.u32 %r2, %r{}, 1;\nadd.u32 %r2, %r{}, 1;\n", 20 + n, 30 + n));
    for (limit, twice) in [("l1.mshrs=1", false), ("l1.merge=1", true)] {
        let load = |n: usize| {
            let first = format!("ld.global.u32 %r{}, [%rd5+{}];\n", 20 + n, 128 * n);
            let second = format!("ld.global.u32 %r{}, [%rd5+{}];\n", 30 + n, 128 * n);
            if twice { first + &second } else { first }
        };
        let body = head.to_owned() + &each(4, load) + &waits;
        let settings = "sms=4 limits.blocks=1 ls.transaction=32 d.latency=300 l1.sectored=true l2.merge=64";
        holds(&[L1, settings, limit], (24, 32), &body);
    }
}

/// Two blocks share each L1, and each of them loads four lines of its own again and again. All SMs together
/// touch more lines than an L1 has. The lines of an L1 stay if it has room for eight, and not if it has
/// room for four: 0.82.
#[test]
fn each_l1_serves_the_blocks_of_its_sm() {
    let head = "mov.u32 %r5, %ctaid.x;\nmul.wide.u32 %rd5, %r5, 512;\nadd.u64 %rd5, %rd1, %rd5;\n";
    let round = each(4, |n| format!("ld.global.u32 %r9, [%rd5+{}];\nadd.u32 %r2, %r9, 1;\n", 128 * n));
    let body = head.to_owned() + &round.repeat(12);
    for ways in [4, 8] {
        let settings = format!("sms=3 limits.blocks=2 l1.sets=1 l1.ways={ways} p.latency=100 p.queue=4");
        holds(&[L1, COPIED, &settings], (6, 32), &body);
        holds(&[L1, &settings, "d.latency=300"], (6, 32), &body);
    }
}

/// With control codes, a load waits until all but one of two loads before it have come: the first one, which
/// hits in the L1. It joins the fetch of the second one, and the next load waits for it: 0.96.
#[test]
fn loads_that_wait_at_barriers() {
    let body = each(30, |n| {
        let at = 128 * (n + 1);
        format!(
            "ld.global.u32 %r9, [%rd1];\nld.global.u32 %r10, [%rd1+{at}];\nld.global.u32 %r11, [%rd1+{at}];\n"
        )
    });
    let codes = |load: usize| {
        // another barrier in each round, so that only the third load keeps the next round waiting
        let barrier = (load / 3 % 5) as u8;
        match load % 3 {
            0 => LoadCodes { signals: Some(barrier), waits: 1 << 5, drains: None },
            1 => LoadCodes { signals: Some(barrier), ..LoadCodes::default() },
            _ => LoadCodes { signals: Some(5), waits: 0, drains: Some((barrier, 1)) },
        }
    };
    for start in [COPIED, "d.latency=300"] {
        holds_with(&[L1, start, "p.latency=200", "dependences=ControlCodes"], (1, 32), &body, Some(codes));
    }
}

/// Loads join a fetch of DRAM in the L1. A chain of loads that hit in the L2 passes them: they are in front of
/// its first load in the load/store unit, and in front of its second one when results are written. Other
/// loads keep the L2 busy before. 0.97.
#[test]
fn loads_that_pass_joined_ones() {
    let sines = |times: usize| "sin.approx.f32 %x, %x;\n".repeat(times);
    let next = |at: usize, before: usize| {
        format!(
            "mov.b32 %x, %r12;\n{}mov.b32 %r13, %x;\n@%p1 ld.global.u32 %r12, [%rd1+{at}];\n",
            sines(before)
        )
    };
    for (joined, busy, dram, port, lane) in
        [(16, 8, 356, 16, 32), (60, 30, 1060, 16, 32), (16, 8, 316, 32, 128), (60, 30, 1020, 32, 128)]
    {
        let load = |n: usize| format!("ld.global.u32 %r12, [%rd3+{}];\n", lane * 32 * (n + 1));
        let first = format!(
            ".reg .f32 %x;\nmul.wide.u32 %rd3, %r3, {lane};\nadd.u64 %rd3, %rd3, %rd1;\n{}{}{}mov.b32 %x, %r12;\n{}",
            each(busy, load),
            next(1 << 19, 1),
            next((1 << 19) + 4096, 2),
            sines(12 + joined / 4)
        );
        let local = |n: usize| {
            let to: Vec<String> = (0..4).map(|word| format!("%w{}", 4 * n + word)).collect();
            format!("ld.local.v4.u32 {{{}}}, [zz];\n", to.join(", "))
        };
        let others = format!(
            ".local .align 16 .b8 zz[64];\n.reg .f64 %fd<3>;\n.reg .b32 %w<240>;\nadd.f64 %fd1, %fd1, %fd1;\n\
             mov.b64 %rd7, %fd1;\n@%p1 ld.global.f64 %fd1, [%rd1+851968];\nadd.f64 %fd2, %fd1, %fd1;\n\
             mov.b64 %rd7, %fd2;\n{}",
            each(joined, local)
        );
        let units = "units.sfu.init=1 units.sfu.lat=60 units.fp32.init=1 units.fp32.lat=0 units.fp64.init=1 \
             units.fp64.lat=57 d.clock=(50,1) ls.transaction=32 d.queue=1000 d.returns=1000";
        let sectored = lane == 32;
        let caches = format!("d.latency={dram} l2.port={port} l1.sectored={sectored}");
        holds(&[COPIED, L1, ONE_ROW, units, &caches], (1, 64), &two_roles(&first, &others));
    }
}
