//! The lines that accesses touch, in the form that engines with caches receive them.

use crate::exec_support;
use crate::shipped;

use exec_support::kernel;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource, LineUse, WarpPath};
use warpbound::program::TimingTable;
use warpbound::program::layout::LOCAL_LINES_BASE;

const BASE: u64 = 0xc000_0000;

/// Returns the groups of a path: address and sectors of each line.
fn groups(path: &WarpPath) -> Vec<Vec<(u64, u8)>> {
    path.traffic()
        .split_inclusive(|used| used.is_last())
        .map(|group| {
            group
                .iter()
                .filter(|l| !l.is_none() && l.written_before().is_none())
                .map(|l| (l.address(), l.sectors()))
                .collect()
        })
        .collect()
}

/// Returns the groups of one warp that runs a body over buffers of these sizes.
fn traffic(body: &str, buffers: &[usize]) -> Vec<Vec<(u64, u8)>> {
    let mut launch = buffers.iter().fold(kernel(32, body), |launch, &bytes| launch.zeros(bytes));
    launch.traffic = true;
    groups(&launch.ok().blocks[0].warps[0])
}

/// Returns the lines of an access in which each lane is `stride` bytes after the previous one,
/// `offset` bytes into buffer 0.
fn strided(stride: u32, offset: u32, access: &str) -> Vec<(u64, u8)> {
    let body = format!(
        "mul.wide.u32 %rd10, %r0, {stride}; add.u64 %rd10, %rd0, %rd10; add.u64 %rd10, %rd10, {offset};
        {access} ret;"
    );
    let groups = traffic(&body, &[8192]);
    let [group] = groups.as_slice() else { panic!("one group, not {groups:?}") };
    group.clone()
}

#[test]
fn loads_and_stores_coalesce_into_lines_and_sectors() {
    let load = "ld.global.u32 %r1, [%rd10];";
    assert_eq!(strided(4, 0, load), [(BASE, 0b1111)]);
    assert_eq!(strided(0, 36, load), [(BASE, 0b0010)]);
    let far: Vec<(u64, u8)> = (0..32).map(|lane| (BASE + 128 * lane, 1)).collect();
    assert_eq!(strided(128, 0, load), far);
    assert_eq!(strided(4, 64, load), [(BASE, 0b1100), (BASE + 128, 0b0011)]);
    assert_eq!(strided(4, 0, "st.global.u32 [%rd10], %r0;"), [(BASE, 0b1111)]);
    assert_eq!(strided(8, 0, "ld.global.u64 %rd11, [%rd10];"), [(BASE, 0b1111), (BASE + 128, 0b1111)]);
    assert_eq!(strided(16, 0, "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%rd10];").len(), 4);
    // descending addresses, ascending lines
    let back = "sub.u64 %rd10, %rd0, %rd10; add.u64 %rd10, %rd10, %rd0; add.u64 %rd10, %rd10, 8188; ld.global.u32 %r1, [%rd10];";
    let down = strided(128, 0, back);
    assert!(down.len() == 32 && down.is_sorted(), "{down:?}");
}

#[test]
fn atomics_on_one_word_take_a_pass_each() {
    let add = "atom.global.add.u32 %r1, [%rd10], 1;";
    assert_eq!(strided(0, 0, add), vec![(BASE, 1); 32]);
    assert_eq!(strided(4, 0, add), [(BASE, 0b1111)]);
    assert_eq!(strided(128, 0, "red.global.add.u32 [%rd10], 1;").len(), 32);
    // two lanes on each of 16 words
    let pairs = "shr.u32 %r2, %r0, 1; mul.wide.u32 %rd10, %r2, 4; add.u64 %rd10, %rd0, %rd10;
        atom.global.add.u32 %r1, [%rd10], 1;";
    assert_eq!(strided(0, 0, pairs), [(BASE, 0b0011); 2]);
}

#[test]
fn buffers_follow_each_other_at_multiples_of_256() {
    let body = "ld.global.u32 %r1, [%rd0+96]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd2+4], %r1; ret;";
    let groups = traffic(body, &[100, 512, 8]);
    assert_eq!(groups, [vec![(BASE, 0b1000)], vec![(BASE + 256, 1)], vec![(BASE + 768, 1)]]);
}

#[test]
fn only_accesses_have_groups() {
    let body = ".shared .align 16 .b8 s[512]; .local .align 4 .b8 l[16];
        mov.u32 %r2, s; ld.shared.u32 %r1, [%r2]; setp.gt.u32 %p1, %r0, 99;
        @%p1 ld.global.u32 %r1, [%rd0];
        mov.u64 %rd9, l; cvta.local.u64 %rd8, %rd9; st.u32 [%rd8+4], %r0;
        @%p1 ld.u32 %r1, [%rd8];
        mul.wide.u32 %rd10, %r0, 16; add.u64 %rd10, %rd0, %rd10; shl.b32 %r3, %r0, 4; add.u32 %r3, %r2, %r3;
        cp.async.cg.shared.global [%r3], [%rd10], 16;
        cp.async.wait_all; ret;";
    let groups = traffic(body, &[512]);
    let [off, local, nowhere, copied] = groups.as_slice() else { panic!("{groups:?}") };
    assert!(off.is_empty() && nowhere.is_empty(), "no lane went anywhere");
    // word 1 of 32 lanes
    assert_eq!(*local, [(LOCAL_LINES_BASE + 128, 0b1111)]);
    assert_eq!(*copied, (0..4).map(|i| (BASE + 128 * i, 0b1111)).collect::<Vec<_>>());
}

#[test]
fn local_memory_of_warps_and_blocks_is_separate() {
    let body = ".local .align 8 .b8 l[16]; mov.u64 %rd9, l; st.local.u64 [%rd9], %rd9; ret;";
    let mut launch = kernel(64, body);
    (launch.grid, launch.traffic) = ([2, 1, 1], true);
    let outcome = launch.ok();
    let mut all: Vec<(u64, u8)> =
        outcome.blocks.iter().flat_map(|block| &block.warps).flat_map(groups).flatten().collect();
    assert_eq!(all.len(), 8, "8 bytes of 32 lanes are two lines, in four warps");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 8);
    assert!(all.iter().all(|&(address, sectors)| address >= LOCAL_LINES_BASE && sectors == 0b1111));
}

#[test]
fn groups_and_steps_go_together_on_every_shipped_launch() {
    let cached = shipped::machine_with(
        "ecrts25-orin",
        &["pipeline.load_store.transaction=32", "memory.constant.sets=16"],
    );
    let machines = [(shipped::machine("ecrts25-orin"), false), (cached, true)];
    let mut lines = 0;
    for (file, (machine, constants)) in
        shipped::launch_files().iter().flat_map(|f| machines.iter().map(move |m| (f, m)))
    {
        let constants = *constants;
        assert_eq!(Options::of(machine, 1).constants, constants);
        let shipped = shipped::load(file, 0);
        let table = TimingTable::new(&shipped.program, machine).unwrap();
        let run = |traffic| {
            let options = Options { traffic, constants, ..Options::default() };
            let mut executor = Executor::new(&shipped.program, &shipped.launch, options).unwrap();
            let mut paths = BlockPaths::default();
            assert!(executor.next_block(&mut paths).unwrap());
            paths
        };
        let (with, without) = (run(true), run(false));
        for (path, plain) in with.warps.iter().zip(&without.warps) {
            assert_eq!((path.steps(), path.masks()), (plain.steps(), plain.masks()));
            assert!(plain.traffic().is_empty());
            let accesses = path.steps().iter().filter(|&&step| table.moves_lines(step)).count();
            assert_eq!(groups(path).len(), accesses, "{}", shipped.name);
            for group in path.traffic().split_inclusive(|used| used.is_last()) {
                let lines = group.iter().filter(|used| used.written_before().is_none());
                assert!(lines.map(|used: &LineUse| used.line()).is_sorted(), "{}", shipped.name);
            }
            lines += path.traffic().len();
        }
    }
    assert!(lines > 5_000, "{lines}");
}
