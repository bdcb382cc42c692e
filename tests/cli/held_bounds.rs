//! Launches that exceeded PLB, or the bound over all paths, before an error of these was corrected.
//! Others are in `tests/bound`; these need several launches or SMs, blocks of different code, generic
//! loads, or asynchronous copies.

use std::fs;
use std::path::Path;

use crate::support::{json_in, scratch};

/// A machine with narrow memory and without an L1.
const NARROW: &str = "Machine(
    name: \"narrow\", doc: \"narrow memory\", extends: \"accelsim-ecrts\", hazards: [Raw], exit_issues: false,
    pipeline: Pipeline(
        front_end: None, collector: None, result_buses: None, queue: 1, write_back: 0,
        load_store: LoadStore(transaction: 32, replies: 2), launch: Launch(),
    ),
    memory: Memory(
        lower: Partitions, start: Cold, l1: None, constant: None,
        partitions: Partitions(
            channels: 1, slices: 1, latency: 0, queue: 8,
            l2: Cache(
                sets: 64, ways: 4, line: 128, sectored: true, fetch: 64, write: Back, write_miss: Allocate,
                mshrs: 64, merge: 8, miss_queue: 16, port: 32,
            ),
            dram: Dram(latency: 300),
        ),
    ),
)";

/// Checks that the bound holds for a launch on a machine with these settings, and that over all paths.
fn holds(dir: &Path, launch: &str, machine: &str, settings: &[&str]) {
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", *setting]).collect();
    let with = |command: &'static str| [&[command, launch, "--machine", machine], &settings[..]].concat();
    let results = json_in(dir, &[&with("check")[..], &["--races", "ignore"]].concat(), 0);
    json_in(dir, &with("static"), 0);
    let bounds = results["results"][0]["bounds"].as_array().unwrap();
    let plb = bounds.iter().find(|of| of["name"] == "plb").unwrap();
    assert_eq!(plb["status"], "holds", "{machine}: {plb}");
}

/// Writes the kernel to `k.ptx`, the machine to `narrow.ron`, and a launch of the kernel to `k.ron`. The
/// launch has this many blocks, and each block has this many threads.
fn write(dir: &Path, ptx: &str, (blocks, threads): (u32, u32)) {
    let launch = format!(
        "Launch(module: \"k.ptx\", entry: \"k\", grid: ({blocks}, 1, 1), block: ({threads}, 1, 1), args: [
            Buffer(name: \"buf\", elem: U32, len: 4096, init: Zero),
        ])"
    );
    for (name, text) in [("k.ptx", ptx), ("narrow.ron", NARROW), ("k.ron", &launch)] {
        fs::write(dir.join(name), text).unwrap();
    }
}

/// Returns the PTX of the kernel `k` with this body, after variables of the module. %rd1 is the address of
/// the buffer.
fn kernel(variables: &str, body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n{variables}.visible .entry k(.param .u64 buf)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [buf];\n{body}ret;\n}}\n"
    )
}

fn each(times: u32, of: impl Fn(u32) -> String) -> String {
    (0..times).map(of).collect()
}

/// A launch leaves in the L2 what its stores and loads have put there. A load that finds what a store
/// has put there fetches nothing, so the rest of the line is not there for the next launch.
#[test]
fn a_launch_leaves_only_what_it_has_fetched() {
    let dir = scratch("left-lines");
    let lines = 24;
    let head = ".reg .pred %p<3>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<6>;\nld.param.u64 %rd1, [buf];\n\
                cvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 8;\n\
                mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd2, %rd1;\n";
    let first = each(lines, |n| format!("@%p1 st.global.u32 [%rd2+{}], %r1;\n", 256 * n))
        + &each(lines, |n| format!("ld.global.u32 %r{}, [%rd1+{}];\n", 10 + n, 256 * n));
    let second =
        each(lines, |n| format!("ld.global.u32 %r3, [%rd1+{}];\nadd.u32 %r2, %r3, 1;\n", 256 * n + 32));
    let entry = |name: &str, body: &str| {
        format!(".visible .entry {name}(.param .u64 buf)\n{{\n{head}{body}ret;\n}}\n")
    };
    let ptx = ".version 6.3\n.target sm_61\n.address_size 64\n".to_owned();
    fs::write(dir.join("k.ptx"), ptx + &entry("a", &first) + &entry("b", &second)).unwrap();
    // a large buffer is not copied into the L2
    fs::write(
        dir.join("k.ron"),
        "Program(module: \"k.ptx\", buffers: [Buffer(name: \"buf\", elem: U32, len: 1048576, init: Zero)], steps: [
            Launch(entry: \"a\", grid: (1, 1, 1), block: (32, 1, 1), args: [Ptr(\"buf\")]),
            Launch(entry: \"b\", grid: (1, 1, 1), block: (32, 1, 1), args: [Ptr(\"buf\")]),
        ])",
    )
    .unwrap();
    holds(&dir, "k.ron", "h100-pcie", &[]);
    holds(&dir, "k.ron", "quadro-rtx6000", &["memory.start=Left"]);
}

/// The last copy of a group moves nothing and is done at once. The wait for the group then does not
/// show that the copy before it has brought its line.
#[test]
fn a_copy_of_nothing_hides_the_one_before() {
    let dir = scratch("copy-of-nothing");
    let body = each(16, |n| {
        let at = 128 * n;
        format!(
            "cp.async.ca.shared.global [%r1], [%rd1+{at}], 4;\n\
             cp.async.ca.shared.global [%r1+16], [%rd1+{at}], 4, 0;\n\
             cp.async.commit_group;\ncp.async.wait_group 0;\n\
             ld.global.u32 %r{}, [%rd1+{at}];\nadd.u32 %r2, %r{}, 1;\n",
            10 + n,
            10 + n
        )
    });
    let ptx = kernel(".shared .align 16 .b8 area[512];\n", &format!("mov.u32 %r1, area;\n{body}"));
    write(&dir, &ptx, (1, 32));
    holds(&dir, "k.ron", "narrow.ron", &[]);
}

/// The first block loads single sectors again that it has waited for. Blocks beside it load whole lines,
/// and the loads of the first block join their fetches in the L1 of the SM.
#[test]
fn loads_join_fetches_of_more_sectors() {
    let dir = scratch("larger-fetches");
    let load = |to: &str, line: u32| format!("ld.global.u32 {to}, [%rd1+{}];\n", 128 * line);
    let brought = each(4, |group| {
        let loads = each(4, |n| load(&format!("%r{}", 20 + n), 4 + 4 * group + n));
        loads + &each(4, |n| format!("add.u32 %r5, %r5, %r{};\n", 20 + n))
    });
    let again = each(16, |n| "add.u32 %r5, %r5, %r6;\n".repeat(30) + &load("%r6", 4 + n));
    let body = format!(
        "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra FIRST;\nmov.u32 %r2, %tid.x;\n\
         sub.u32 %r1, %r1, 1;\nmul.wide.u32 %rd2, %r1, 128;\nadd.u64 %rd2, %rd2, %rd1;\n\
         mul.wide.u32 %rd3, %r2, 4;\nadd.u64 %rd2, %rd2, %rd3;\nld.global.u32 %r4, [%rd2];\nret;\n\
         FIRST:\n{brought}{again}"
    );
    write(&dir, &kernel("", &body), (21, 32));
    let settings = [
        "hazards=Raw,Waw",
        "limits.blocks=2",
        "pipeline.load_store.transaction=128",
        "memory.l1.latency=4",
        "memory.l1.cache.sectored=true",
        "memory.l1.cache.line=128",
        "memory.l1.cache.sets=1",
        "memory.l1.cache.ways=10",
        "memory.l1.cache.write=Through",
        "memory.l1.cache.write_miss=NoAllocate",
        "memory.partitions.l2.fetch=32",
        "memory.partitions.dram.latency=2000",
    ];
    holds(&dir, "k.ron", "narrow.ron", &settings);
}

/// In each of two SMs, a store needs the only way of an L1, which waits for the data of a load.
#[test]
fn stores_wait_for_the_ways_of_loads() {
    let dir = scratch("ways-of-loads");
    let body = "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 256;\nadd.u64 %rd1, %rd1, %rd2;\n\
                ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1+128], %r1;\n";
    write(&dir, &kernel("", body), (2, 32));
    let settings = [
        "sms=2",
        "hazards=Raw,Waw",
        "memory.l1.latency=1",
        "memory.l1.banks=1",
        "memory.l1.cache.sets=1",
        "memory.l1.cache.ways=1",
        "memory.l1.cache.write=Through",
        "memory.l1.cache.write_miss=Allocate",
        "memory.partitions.latency=2000",
    ];
    holds(&dir, "k.ron", "narrow.ron", &settings);
}

/// Returns a kernel with this body, in which %rd3 is a generic address: that of constants in this lane, and
/// that of the buffer in all others.
fn generic(lane: u32, body: &str) -> String {
    let body = format!(
        "mov.u64 %rd2, table;\ncvta.const.u64 %rd2, %rd2;\nmov.u32 %r1, %tid.x;\n\
         setp.eq.u32 %p1, %r1, {lane};\nselp.b64 %rd3, %rd2, %rd1, %p1;\ncvta.to.global.u64 %rd4, %rd1;\n{body}"
    );
    kernel(".const .align 128 .b8 table[256];\n", &body)
}

/// A cache for constants brings a whole line, because a generic load begins with a constant and goes on
/// in a buffer. Loads of other sectors of this line join its fetch in the L2.
#[test]
fn loads_join_fetches_of_a_cache_for_constants() {
    let dir = scratch("fetches-of-constants");
    let settings = [
        "hazards=Raw,Waw",
        "memory.constant.sets=4",
        "memory.constant.ways=4",
        "memory.constant.line=128",
        "memory.constant.sectored=false",
        "memory.partitions.l2.fetch=32",
        "memory.partitions.dram.latency=2000",
    ];
    for (sectors, merge) in [(1, "memory.partitions.l2.merge=1"), (2, "memory.partitions.l2.merge=2")] {
        let loads = each(sectors, |n| format!("ld.global.u32 %r{}, [%rd4+{}];\n", 20 + n, 32 * (n + 1)));
        let body = format!("ld.u32 %r10, [%rd3];\n{loads}ld.global.u32 %r12, [%rd4+1024];\n");
        write(&dir, &generic(0, &body), (1, 32));
        holds(&dir, "k.ron", "narrow.ron", &[&settings[..], &[merge]].concat());
    }
}

/// A generic load whose place depends on data reads a constant, which no copy has brought into the L2.
#[test]
fn generic_loads_of_constants_miss() {
    let dir = scratch("generic-constants");
    let body = "ld.global.u32 %r5, [%rd4];\nmul.wide.u32 %rd5, %r5, 4;\nadd.u64 %rd3, %rd3, %rd5;\n\
                ld.u32 %r10, [%rd3];\nadd.u32 %r11, %r10, 1;\n";
    write(&dir, &generic(1, body), (1, 32));
    let settings = ["hazards=Raw,Waw", "memory.start=LeftAndCopied", "memory.partitions.dram.latency=2000"];
    holds(&dir, "k.ron", "narrow.ron", &settings);
}

/// Each of several SMs loads a line many times, and then has atomics answered. These wait for the results
/// of the loads that join the fetch of the line in the L1, and replies to other SMs wait behind them.
#[test]
fn replies_wait_for_loads_that_join_in_another_l1() {
    let dir = scratch("joins-of-others");
    // the SMs begin one after the other
    let later = format!(
        "L0:\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L1;\n{}sub.u32 %r2, %r2, 1;\nbra L0;\nL1:\n",
        "add.u32 %r3, %r3, 1;\n".repeat(100)
    );
    let body = each(100, |line| {
        let loads = each(20, |n| format!("ld.global.u32 %r{}, [%rd1+{}];\n", 10 + n, 128 * (line + 1)));
        let atomics = each(20, |n| format!("atom.global.add.u32 %r{}, [%rd1], %r5;\n", 30 + n));
        format!("{loads}{atomics}add.u32 %r5, %r49, 1;\nadd.u32 %r5, %r29, 1;\n")
    });
    let body = format!("mov.u32 %r2, %ctaid.x;\n{later}{body}");
    write(&dir, &kernel("", &body), (16, 1));
    let settings = [
        "sms=16",
        "hazards=Raw,Waw",
        "pipeline.load_store.replies=1",
        "memory.start=LeftAndCopied",
        "memory.l1.latency=20",
        "memory.l1.banks=1",
        "memory.l1.cache.sets=256",
        "memory.l1.cache.ways=16",
        "memory.l1.cache.sectored=true",
        "memory.l1.cache.write=Through",
        "memory.l1.cache.write_miss=NoAllocate",
        "memory.l1.cache.mshrs=64",
        "memory.l1.cache.merge=64",
        "memory.partitions.latency=20",
        "memory.partitions.queue=4000",
        "memory.partitions.crossbar_queue=1",
        "memory.partitions.ejection_queue=1",
        "memory.partitions.l2.sets=256",
        "memory.partitions.l2.ways=16",
        "memory.partitions.l2.fetch=32",
        "memory.partitions.l2.merge=64",
        "memory.partitions.l2.port=128",
        "memory.partitions.dram.latency=0",
    ];
    holds(&dir, "k.ron", "narrow.ron", &settings);
}
