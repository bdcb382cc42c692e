//! Clusters of several blocks: the PTX of `tests/data/sass/clusters/clusters.ptx` and what ptxas makes of it
//! for sm_90 leave the same memory.

use warpbound::diag::SourceText;
use warpbound::exec::Options;
use warpbound::load::ptx_isa;

use crate::launched::{self, after, words};

/// Returns what both versions leave in the first buffer, which is the same. The turns of warps do not
/// matter.
fn run(kernel: &str, grid: [u32; 3], block: u32, args: &str) -> Vec<u32> {
    let [x, y, z] = grid;
    let text = format!(
        "Launch(module: \"m\", entry: \"{kernel}\", grid: ({x}, {y}, {z}), block: ({block}, 1, 1), args: [{args}])"
    );
    let mut left = Vec::new();
    for mut program in launched::both("clusters", kernel) {
        if kernel == "atomics" {
            assert_eq!(program.cluster, None);
            program.cluster = Some([2, 1, 1]);
        }
        for another_order in std::iter::once(None).chain((1..=12).map(Some)) {
            let options = Options { another_order, ..Options::default() };
            left.push(after(&program, text.clone(), &[], options, |_, executor| words(executor, 0)));
        }
    }
    for other in &left[1..] {
        assert!(&left[0] == other, "{kernel}");
    }
    left.swap_remove(0)
}

#[test]
fn blocks_read_each_other_and_wait_for_each_other() {
    let out = run("ring", [8, 1, 1], 32, "Buffer(name: \"out\", elem: U32, len: 2048, init: Zero), U32(0)");
    for (block, lane) in (0..8).flat_map(|block| (0..32).map(move |lane| (block, lane))) {
        let (rank, first) = (block % 4, block - block % 4);
        let next = (rank + 1) % 4;
        // the number and the size of clusters, and the position and number of the block's cluster
        let shape = block / 4 + rank + 2 + 4;
        let at = ((block * 32 + lane) * 8) as usize;
        assert_eq!(
            out[at..at + 8],
            [
                (first + next) * 100 + lane,
                (first + next) * 100 + 1,
                // the block before this one has added 7 here, and has stored what was there plus 3
                block * 100 + lane + 3,
                block * 100 + lane + 7,
                next,
                next,
                rank,
                shape
            ],
            "block {block}, lane {lane}"
        );
    }
}

#[test]
fn special_registers_describe_the_shape() {
    let out = run("shape", [4, 6, 2], 1, "Buffer(name: \"out\", elem: U32, len: 768, init: Zero)");
    for (z, y, x) in (0..2).flat_map(|z| (0..6).flat_map(move |y| (0..4).map(move |x| (z, y, x)))) {
        let at = ((z * 6 + y) * 4 + x) as usize * 16;
        let expected =
            [[x % 2, y % 3, 0, x % 2 + 2 * (y % 3)], [x / 2, y / 3, z, 6], [2, 2, 2, x], [2, 3, 1, y]];
        assert_eq!(out[at..at + 16], expected.concat(), "block ({x}, {y}, {z})");
    }
}

#[test]
fn atomics_work_on_the_memory_of_another_block() {
    let out = run("atomics", [4, 1, 1], 64, "Buffer(name: \"out\", elem: U32, len: 1536, init: Zero)");
    for (block, lane) in (0..4).flat_map(|block| (0..16).map(move |lane| (block, lane))) {
        let at = ((block * 16 + lane) * 24) as usize;
        let was = 3 * lane;
        if block % 2 == 0 {
            assert_eq!(out[at..at + 4], [was; 4], "the own memory of block {block}");
            let wide = [was, was];
            assert_eq!(out[at + 12..at + 20], [was, was, was, was, was, was | 256, was, 0b1011]);
            assert_eq!(out[at + 20..at + 23], [wide[0], wide[1], 0f32.to_bits()]);
        } else {
            let inc = if was >= 20 { 0 } else { was + 1 };
            let exchanged = if was == 12 { 77 } else { was };
            assert_eq!(out[at..at + 4], [was + lane + 5, was.min(9), lane + 5, exchanged]);
            assert_eq!(out[at + 4..at + 8], [was + lane, was, inc, 1.5f32.to_bits()]);
            assert_eq!(out[at + 8..at + 12], [was | 256, was, was & !255 | (lane + 5), was]);
            assert_eq!(out[at + 19], 0b1110);
        }
    }
}

#[test]
fn stores_and_copies_signal_objects_of_other_blocks() {
    let args = "Buffer(name: \"out\", elem: U32, len: 384, init: Zero), Buffer(name: \"in\", elem: U32, len: 32, init: Iota)";
    let out = run("signals", [4, 1, 1], 32, args);
    for (block, lane) in (0..4).flat_map(|block| (0..32).map(move |lane| (block, lane))) {
        let at = ((block * 32 + lane) * 3) as usize;
        // the reductions: 64 bits are added to words 28 and 29, and word 31 is at least 1000
        let copied = match lane {
            28 => lane + 3,
            29 => lane + 1,
            31 => 1000,
            _ => lane,
        };
        assert_eq!(out[at..at + 3], [lane, copied, 4 * lane], "block {block}, lane {lane}");
    }
}

#[test]
fn one_copy_of_a_tensor_reaches_several_blocks() {
    for blocks in [0b1011u16, 0b1111, 0b0001] {
        let args = format!(
            "Buffer(name: \"out\", elem: U32, len: 1024, init: Zero),
             TensorMap(of: \"a\", elem: U32, dims: [32, 16], box: [16, 8]), U16({blocks})"
        );
        let [x, y] = [16u32, 8];
        let text = format!(
            "Launch(module: \"m\", entry: \"tensors\", grid: (8, 1, 1), block: (32, 1, 1),
                buffers: [Buffer(name: \"a\", elem: U32, len: 512, init: Iota)], args: [{args}])"
        );
        for program in launched::both("clusters", "tensors") {
            let out =
                after(&program, text.clone(), &[], Options::default(), |_, executor| words(executor, 1));
            for (block, word) in (0..8).flat_map(|block| (0..x * y).map(move |word| (block, word))) {
                let copied = (word / x + 3) * 32 + word % x + 8;
                let expected = if blocks >> (block % 4) & 1 == 1 { copied } else { 0 };
                assert_eq!(out[(block * x * y + word) as usize], expected, "block {block}, word {word}");
            }
        }
    }
}

/// Returns the error of a run of some PTX in clusters of two blocks.
fn error(grid: u32, cluster: [u32; 3], body: &str) -> String {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; .shared .align 8 .b64 s[4];\n\
         mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, s; mov.u32 %r3, %tid.x;\n{body}\nret;\n}}\n"
    );
    let module = warpbound::ptx::Module::parse(&SourceText::new("k.ptx", text)).unwrap();
    let mut program = module.program("k", &ptx_isa()).unwrap();
    program.cluster = Some(cluster);
    let launch = format!("Launch(module: \"m\", entry: \"k\", grid: ({grid}, 1, 1), block: (64, 1, 1))");
    let launch = launched::launch(&program, launch, &[]);
    launched::run(&program, &launch, Options::default())
        .map_or_else(|error| error.to_string(), |_| String::new())
}

/// Computes the generic address of the variable in the own block, and in the other one.
const OTHER: &str =
    "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; xor.b32 %r4, %r1, 1; mapa.u64 %rd2, %rd1, %r4;";

#[test]
fn every_warp_that_waits_for_an_object_goes_on_at_some_time() {
    // the time of a wait of block 1 is up, and then it lets the phase of block 0 end
    let body =
        "setp.ne.u32 %p1, %r3, 0; setp.eq.u32 %p2, %r3, 0; @%p2 mbarrier.init.shared::cta.b64 [%r2], 1;
        barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra MEET; setp.eq.u32 %p3, %r1, 1; @%p3 bra OTHER;
        W: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r2], 0; @!%p4 bra W; bra MEET;
        OTHER: mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r2], 0; mapa.shared::cluster.u32 %r4, %r2, 0;
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
        MEET: barrier.cluster.arrive; barrier.cluster.wait;";
    assert_eq!(error(2, [2, 1, 1], body), "");
}

#[test]
fn mistakes_are_named() {
    let pair = [2, 1, 1];
    let meet = "barrier.cluster.arrive; barrier.cluster.wait;";
    for (grid, cluster, body, message) in [
        (4, pair, meet, ""),
        (1, [1, 1, 1], meet, ""),
        (3, pair, meet, "grid (3, 1, 1) does not consist of clusters of (2, 1, 1) blocks"),
        (17, [17, 1, 1], meet, "cluster (17, 1, 1) is out of range: 1 to 16 blocks in all"),
        (
            2,
            pair,
            "barrier.cluster.arrive; barrier.cluster.arrive;",
            "arrives again at the barrier of the cluster",
        ),
        (
            2,
            pair,
            "setp.eq.u32 %p1, %r1, 1; @!%p1 bra L; setp.lt.u32 %p2, %r3, 32; @%p2 bar.sync 2, 64;
             L: barrier.cluster.arrive; barrier.cluster.wait;",
            "barrier deadlock in block (1, 0, 0): warps 0 wait at barrier 2",
        ),
        (
            2,
            pair,
            "setp.lt.u32 %p1, %r3, 40; @%p1 bra L; barrier.cluster.arrive; barrier.cluster.wait; L: bar.sync 0;",
            "a wait for the cluster under divergence: lanes 0x000000ff of warp 1 are not at it",
        ),
        (2, pair, "barrier.cluster.wait;", "waits at the barrier of the cluster before it has arrived there"),
        // block 0 ends, and warp 0 of block 1 does not arrive
        (
            2,
            pair,
            "setp.eq.u32 %p1, %r1, 0; @%p1 ret; setp.lt.u32 %p2, %r3, 32; @%p2 bra W; barrier.cluster.arrive;
             barrier.cluster.wait; ret; W: bar.sync 0;",
            "barrier deadlock in block (1, 0, 0): warps 0 wait at barrier 0 at k.ptx:9 (1 of 2 warps have arrived); \
             warps 1 wait for the cluster at k.ptx:9 (32 of 64 threads have arrived)",
        ),
        // threads that end need not arrive
        (2, pair, "setp.eq.u32 %p1, %r1, 1; @%p1 ret; barrier.cluster.arrive; barrier.cluster.wait;", ""),
        (2, pair, "setp.lt.u32 %p1, %r3, 40; @%p1 ret; barrier.cluster.arrive; barrier.cluster.wait;", ""),
        (2, pair, "mapa.shared::cluster.u32 %r4, %r2, 1; ld.shared::cluster.u32 %r5, [%r4+28];", ""),
        (
            2,
            pair,
            "mapa.shared::cluster.u32 %r4, %r2, 1; ld.shared::cluster.u32 %r5, [%r4+32];",
            "load of 4 bytes at shared address 0xa000020: the shared memory of block 1 of the cluster has 32 bytes",
        ),
        (
            2,
            pair,
            "mapa.shared::cluster.u32 %r4, %r2, 2; ld.shared::cluster.u32 %r5, [%r4];",
            "out-of-bounds load of 4 bytes at shared address 0xff000000: the cluster has no such block, but 2",
        ),
        // a generic address of another block, tested and converted as one of the cluster, and of the block
        (2, pair, &format!("{OTHER} isspacep.shared::cluster %p1, %rd2; @!%p1 trap;"), ""),
        (2, pair, &format!("{OTHER} isspacep.shared::cta %p1, %rd2; @%p1 trap;"), ""),
        (2, pair, &format!("{OTHER} isspacep.shared %p1, %rd1; @!%p1 trap;"), ""),
        (2, pair, &format!("{OTHER} isspacep.global %p1, %rd2; @%p1 trap;"), ""),
        (
            2,
            pair,
            &format!("{OTHER} cvta.to.shared::cluster.u64 %rd3, %rd2; ld.shared::cluster.u32 %r5, [%rd3];"),
            "",
        ),
        (
            2,
            pair,
            &format!("{OTHER} cvta.to.shared.u64 %rd3, %rd2; ld.shared.u32 %r5, [%rd3];"),
            "no such block",
        ),
        (
            2,
            pair,
            "mapa.shared::cluster.u64 %rd1, %rd0, 1; cvta.shared.u64 %rd2, %rd1; ld.u32 %r5, [%rd2];",
            "out-of-bounds load",
        ),
        (2, pair, "mov.u64 %rd1, s; cvta.shared::cluster.u64 %rd2, %rd1; st.u32 [%rd2+4], %r1;", ""),
    ] {
        let error = error(grid, cluster, body);
        assert!(error.contains(message) && error.is_empty() == message.is_empty(), "{body}: {error}");
    }
}
