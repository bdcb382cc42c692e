//! The parts of bounds: by hand, on random kernels, and on the suite. They add up to the bound.

use crate::random_kernels::{Shape, random_kernel};
use crate::resident::{micro, shares};
use crate::shipped;

use warpbound::base::{Cycles, UnitId};
use warpbound::bound::{
    Analyser, Bound, BoundPart, BoundReport, Gub, Iwb, LaunchShares, Lwb, Part, Swb, analyse_block,
};
use warpbound::exec::{Executor, Options};
use warpbound::machine::pipeline::Launch;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::TimingTable;

/// The bounds of blocks that have parts.
const OF_BLOCKS: [&dyn Bound; 4] = [&Gub, &Iwb, &Swb, &Lwb];

/// Returns the parts of RBB, which add up to its value.
pub fn of_rbb(shares: &LaunchShares) -> Vec<BoundPart> {
    let parts = shares.resident_parts();
    let sum: Cycles = parts.iter().map(|part| part.cycles).sum();
    assert_eq!(sum, shares.value().cycles(), "{parts:?}");
    parts
}

/// Returns the report of a bound on a block, whose parts add up to its values.
fn report(bound: &dyn Bound, analyser: &mut Analyser<'_>, paths: &BlockPaths) -> BoundReport {
    let mut report = BoundReport::with_parts();
    analyser.for_each_section(paths, |section| bound.add_section(&mut report, section));
    let parts = report.parts.as_ref().unwrap_or_else(|| panic!("{} has parts", bound.name()));
    let totals = (parts.value.total(), parts.settled.total());
    assert_eq!(totals, (report.value.cycles(), report.settled.cycles()), "{}: {parts:?}", bound.name());
    report
}

fn part(part: Part, cycles: u64) -> BoundPart {
    BoundPart { part, unit: None, cycles: Cycles::new(cycles) }
}

fn unit(index: usize, cycles: u64) -> BoundPart {
    BoundPart { unit: Some(UnitId::from_index(index)), ..part(Part::Units, cycles) }
}

/// Warp 0 issues one f, warp 1 two f and one g. Alone, warp 0 takes 5 cycles, and warp 1 initiates
/// until 4.
#[test]
fn parts_of_a_block_by_hand() {
    let text = ".blocks 1\n.warps 1\n f\n.warps 1\n f\n f\n g\n";
    let (launch, table) = micro(text, &[("f", 2, 3), ("g", 1, 0)], "");
    let of = |bound: &dyn Bound| {
        let report = report(bound, &mut Analyser::new(&table), &launch.blocks[0]);
        report.parts.expect("they are known").value.list()
    };
    let alone = part(Part::Alone, 5);
    // warp 0 does not use g, so that only the slot counts
    assert_eq!(of(&Iwb), [alone, unit(0, 4), part(Part::Slots, 1)]);
    // the three instructions of warp 1 are one sure run, which leaves one cycle queued on f
    assert_eq!(of(&Swb), [alone, unit(0, 1), part(Part::Slots, 3)]);
    assert_eq!(of(&Gub), [alone, part(Part::ExecPhases, 4)]);
}

/// With parts or without, the reports are the same; and in some of the kernels LWB counts less than
/// IWB for the time alone.
#[test]
fn parts_of_random_blocks_add_up() {
    let (mut sections, mut credits) = (0, 0);
    for seed in 0..4000 {
        for shape in [Shape::PAPER, Shape { sub_cores: 4, ..Shape::PAPER }] {
            let kernel = random_kernel(seed, &shape);
            let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
            let analysis = analyse_block(&table, &kernel.paths);
            let mut alone = Vec::new();
            for bound in OF_BLOCKS {
                let report = report(bound, &mut Analyser::new(&table), &kernel.paths);
                alone.push(report.parts.as_ref().map(|parts| parts.value.alone));
                sections += report.sections.len();
                assert_eq!(BoundReport { parts: None, ..report }, bound.evaluate(&analysis), "seed {seed}");
            }
            credits += u64::from(alone[3] < alone[1]);
        }
    }
    assert!(sections > 50_000 && credits > 100, "{sections} {credits}");
}

#[test]
fn parts_of_the_suite_add_up() {
    for machine in ["ecrts25-orin", "ecrts25-orin-4sub"] {
        let machine = shipped::machine(machine);
        for file in shipped::launch_files() {
            let shipped = shipped::load(&file, 0);
            let table = TimingTable::new(&shipped.program, &machine).unwrap_or_else(|e| panic!("{e}"));
            let options = Options { max_instructions_per_block: 1 << 30, ..Options::default() };
            let mut executor = Executor::new(&shipped.program, &shipped.launch, options).expect("a launch");
            let (mut paths, mut analyser) = (BlockPaths::default(), Analyser::new(&table));
            // the first blocks have all kinds of sections
            for _ in 0..4 {
                if !executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{error}")) {
                    break;
                }
                OF_BLOCKS.iter().for_each(|bound| drop(report(*bound, &mut analyser, &paths)));
            }
        }
    }
}

/// The launches of the tests of RBB by hand.
#[test]
fn parts_of_a_launch_by_hand() {
    // C = 10 and S = 4 for each block
    let text = ".blocks 2\n.warps 1\n f r0\n f _, r0\n";
    let (launch, table) = micro(text, &[("f", 2, 3)], "");
    let of =
        |places: usize, sms: usize| of_rbb(&shares(&table, &launch.blocks, places, sms, Launch::default()));
    assert_eq!(of(2, 1), [part(Part::Alone, 10), unit(0, 4)]);
    assert_eq!(of(1, 1), [part(Part::Alone, 10), unit(0, 4), part(Part::Latency, 6)]);
    assert_eq!(of(1, 2), [part(Part::Alone, 10)]);
    let costs = Launch { first: 7, start: 3, end: 2, blocks_per_cycle: 1, ..Launch::default() };
    let late = of_rbb(&shares(&table, &launch.blocks, 1, 1, costs));
    // the last block starts 3 cycles after it is placed, and so did the block before; one block is
    // placed after the other
    let waits = [part(Part::Launch, 7 + 2 + 3 + 3 + 1), part(Part::Latency, 6)];
    assert_eq!(late, [&[part(Part::Alone, 10), unit(0, 4)][..], &waits].concat());
}

#[test]
fn parts_of_a_launch_on_several_sms_by_hand() {
    let long = ".warps 1\n a r0\n f _, r0\n g _, r0\n bar\n h\n";
    let units = [("a", 1, 6), ("f", 5, 0), ("g", 5, 0), ("h", 1, 1)];
    let text = format!(".blocks 2\n{long}.blocks 2\n.warps 1\n h\n");
    let (launch, table) = micro(&text, &units, "");
    let of = |places: usize, sms: usize| {
        let parts = of_rbb(&shares(&table, &launch.blocks, places, sms, Launch::default()));
        let sum = |kind: Part| {
            parts.iter().filter(|part| part.part == kind).map(|part| part.cycles.get()).sum::<u64>()
        };
        [Part::Alone, Part::Units, Part::LastBlocks, Part::Latency].map(sum)
    };
    // a block of one h ends last: it takes 2 alone, the initiations of the others are 28 - 1, and the
    // H of the others are 6 + 6 + 1
    assert_eq!(of(2, 1), [2, 27, 0, 6]);
    assert_eq!(of(1, 2), [15, 14, 13, 7]);
}

#[test]
fn parts_of_a_launch_on_sub_cores_by_hand() {
    let text = ".blocks 1\n.warps 1\n bar\n f\n.warps 1\n bar\n.blocks 1\n.warps 2\n f\n f\n f\n";
    let (launch, table) = micro(text, &[("f", 1, 2)], "sub_cores: 2");
    let parts = of_rbb(&shares(&table, &launch.blocks, 2, 1, Launch::default()));
    // block 0 takes 1 + 3 alone; the 3 of block 1 count once on each sub-core
    assert_eq!(parts, [part(Part::Alone, 4), unit(0, 3), part(Part::SubCores, 3)]);
}
