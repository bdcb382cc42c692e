//! RBB compared with hand-computed values and with a naive formula, with every schedule of tiny
//! launches, and with random launches in both engines; and its variants that do not hold.

use crate::bound_resident::{Variant, value};
use crate::launch_schedules::Launch;
use crate::parts;
use crate::premises;
use crate::random_kernels::{KernelBuilder, RandomLaunch, Shape, random_launch};
use warpbound::base::{BlockId, Cycles};
use warpbound::bound::{
    Analyser, BlockShare, Bound, BoundValue, Context, LaunchShares, Rbb, Residency, analyse_block,
};
use warpbound::diag::SourceText;
use warpbound::explore::resident::{self, replay_text};
use warpbound::machine::{Feature, Features, PolicyKind, pipeline};
use warpbound::micro::MicroKernel;
use warpbound::path::{BlockPaths, Listed};
use warpbound::program::TimingTable;
use warpbound::sim::policy::Schedule;
use warpbound::sim::{PolicySetup, simulate};

/// Returns RBB of a launch with `places` CTA slots on each of `sms` SMs.
pub fn rbb(table: &TimingTable, blocks: &[BlockPaths], places: usize, sms: usize) -> u64 {
    rbb_with(table, blocks, places, sms, pipeline::Launch::default())
}

/// Returns RBB as [`rbb`] does, on a machine on which launching costs something.
fn rbb_with(
    table: &TimingTable,
    blocks: &[BlockPaths],
    places: usize,
    sms: usize,
    costs: pipeline::Launch,
) -> u64 {
    let shares = shares(table, blocks, places, sms, costs);
    parts::of_rbb(&shares);
    shares.value().cycles().get()
}

/// Returns the shares of the blocks of a launch; the order in which they are added does not matter.
pub fn shares(
    table: &TimingTable,
    blocks: &[BlockPaths],
    places: usize,
    sms: usize,
    costs: pipeline::Launch,
) -> LaunchShares {
    let mut shares = LaunchShares::new(Residency {
        places: places as u32,
        sms,
        blocks: blocks.len() as u32,
        warps: blocks[0].warps.len(),
        sub_cores: table.sub_cores().count(),
        costs,
    });
    let mut analyser = Analyser::new(table);
    for paths in blocks.iter().rev() {
        let mut share = BlockShare::default();
        analyser.for_each_section(paths, |section| share.add_section(section));
        shares.add(paths.block, &share);
    }
    shares
}

/// A block that ends before others are placed leaves its place, and so its sub-core, to them: here
/// the two long blocks are on the same sub-core, although their numbers say otherwise.
#[test]
fn places_of_blocks_that_are_placed_late() {
    let launch = KernelBuilder::blocks_of("f", &[40, 0, 1, 1, 1, 40]).build_launch(
        "Machine(name: \"m\", units: { \"u\": Unit(init: 5, lat: 0) }, ops: { \"f\": \"u\" }, \
         sub_cores: 4, pipeline: Pipeline(launch: Launch(blocks_per_cycle: 1)), limits: Limits(blocks: 8))",
    );
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap_or_else(|error| panic!("{error}"));
    let costs = launch.machine.pipeline().expect("launching costs something").launch;
    let time = makespan(&launch, &table, &PolicySetup::Gto, 6);
    let bound = rbb_with(&table, &launch.blocks, 6, 1, costs);
    assert!((2 * 40 * 5..=bound).contains(&time), "{time} of {bound}");
}

fn makespan(launch: &RandomLaunch, table: &TimingTable, policy: &PolicySetup, places: usize) -> u64 {
    let mut source = Listed::new(&launch.blocks);
    simulate(&mut source, table, &launch.machine, policy, places as u32, &mut (), |_, _| ())
        .unwrap_or_else(|error| panic!("{error}"))
        .makespan
        .get()
}

/// Creates a launch from a micro kernel, on a machine of units (name, init, lat) and further
/// settings.
pub fn micro(text: &str, units: &[(&str, u64, u64)], more: &str) -> (RandomLaunch, TimingTable) {
    let kernel = MicroKernel::parse("k", &SourceText::new("k.warp", text)).unwrap_or_else(|e| panic!("{e}"));
    let unit = |(name, init, lat): &(&str, u64, u64)| format!("\"{name}\": Unit(init: {init}, lat: {lat})");
    let op = |(name, ..): &(&str, u64, u64)| format!("\"{name}\": \"{name}\"");
    let join = |list: Vec<String>| list.join(", ");
    let ron = format!(
        "Machine(name: \"m\", units: {{ {} }}, ops: {{ {} }}, {more})",
        join(units.iter().map(unit).collect()),
        join(units.iter().map(op).collect())
    );
    let blocks = (0..kernel.blocks.len()).map(|block| kernel.paths(block)).collect();
    let machine = crate::random_kernels::machine(&ron);
    let launch = RandomLaunch { program: kernel.program, machine, blocks };
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap_or_else(|error| panic!("{error}"));
    (launch, table)
}

/// A sum that does not fit is not a bound, whichever number of the shares is too large and however the
/// blocks share the SMs.
#[test]
fn a_sum_that_does_not_fit_is_no_bound() {
    let context = premises::paper(&PolicyKind::Gto, 2, false);
    let applicable = Rbb.applicable(&context).expect("its premises hold");
    let huge = u64::MAX / 2 + 1;
    let shares = [
        BlockShare { work: huge, load: huge, stages: 1, ..BlockShare::default() },
        BlockShare {
            alone: huge,
            surplus: huge.into(),
            peak: huge.into(),
            stages: 1,
            ..BlockShare::default()
        },
        BlockShare { peak: i128::MAX, ..BlockShare::default() },
        BlockShare { work: u64::MAX, load: u64::MAX, ..BlockShare::default() },
    ];
    for share in shares {
        for (places, sms, blocks) in [(2, 1, 2), (1, 1, 2), (1, 2, 4)] {
            let costs = pipeline::Launch::default();
            let residency = Residency { places, sms, blocks, warps: 1, sub_cores: 1, costs };
            let mut all = LaunchShares::new(residency);
            (0..blocks).for_each(|block| all.add(BlockId::new(block), &share));
            assert_eq!(all.value(), BoundValue::TOO_LARGE);
            assert_eq!(all.resident_parts(), []);
            let reason = applicable.guarantees(all.value()).expect_err("it does not fit").to_string();
            assert!(reason.contains("2^64 - 1 cycles"), "{reason}");
        }
    }
    let half = applicable.guarantees(BoundValue::new(Cycles::new(huge))).expect("it fits");
    assert!(half.plus(half).is_err());
}

/// Two blocks that wait, both resident: all initiations, plus the waiting time of one of them.
#[test]
fn formula_by_hand_for_blocks_that_are_resident_together() {
    // alone, f is done at 5, and the second f, [5, 7), at 10: C = 10, S = 4, D = 6; in total S = 8
    let text = ".blocks 2\n.warps 1\n f r0\n f _, r0\n";
    let (launch, table) = micro(text, &[("f", 2, 3)], "");
    assert_eq!(rbb(&table, &launch.blocks, 2, 1), 8 + 6);
    // one after the other: 8 + (H 6 + H 6) / 1 + (D 6 - H 6), which is 10 and 10
    assert_eq!(rbb(&table, &launch.blocks, 1, 1), 20);
    // one SM for each: 4 + 6
    assert_eq!(rbb(&table, &launch.blocks, 1, 2), 10);
}

/// Two sections, more blocks than CTA slots, and an H that differs from D.
#[test]
fn formula_by_hand_for_more_blocks_than_cta_slots() {
    // first section: a is done at 7, f [7, 12) and g [8, 13) overlap, the barrier issues at 9 and
    // is done at 10: C = 13, S = 1 + 5 + 5 + 1 = 12, so D = 1; but f issues at 7, after inits of 1
    // only: a(w) = 6
    //
    // second section: h is done at 2: C = 2, S = 1, D = 1. In total S_b = 13, D_b = 2, H_b =
    // max(0 + 6, 1 + 1) = 6
    let long = ".warps 1\n a r0\n f _, r0\n g _, r0\n bar\n h\n";
    // a block of one h: S = 1, D = 1, H = 1
    let short = ".warps 1\n h\n";
    let units = [("a", 1, 6), ("f", 5, 0), ("g", 5, 0), ("h", 1, 1)];
    let text = format!(".blocks 2\n{long}.blocks 2\n{short}");
    let (launch, table) = micro(&text, &units, "");
    // S = 28; H: 6 + 6 + 1 + 1 = 14; D - H / 3: 2 - 2 = 0, or 1 - 1 / 3 = 2 / 3;
    // 28 + (14 + 2) / 3 = 33.3
    assert_eq!(rbb(&table, &launch.blocks, 3, 1), 33);
    // R = 2: 2 - 3 = -1, or 1 - 1 / 2 = 1 / 2; 28 + (14 + 1) / 2 = 35.5
    assert_eq!(rbb(&table, &launch.blocks, 2, 1), 35);
    // R = 1, M = 2: 28 / 2 + 14 / 2 + W 13 + A (13 + 2)
    assert_eq!(rbb(&table, &launch.blocks, 1, 2), 14 + 7 + 13 + 15);
}

/// Two sub-cores, two blocks of two warps; the critical warp of a block with two stages may be on
/// one sub-core and then on the other.
#[test]
fn formula_by_hand_on_sub_cores() {
    // block 0 has two stages, in which S is 2 (each warp has a barrier) and 1 (only the first warp
    // has an f); L = 1 + 1, D = 0 + 2, because f is done two cycles after its initiation
    //
    // block 1: one stage, two warps of three f: S = 6, L = 3, D = 2 (C = 5)
    let text = ".blocks 1\n.warps 1\n bar\n f\n.warps 1\n bar\n.blocks 1\n.warps 2\n f\n f\n f\n";
    let (launch, table) = micro(text, &[("f", 1, 2)], "sub_cores: 2");
    let share = |block: usize| {
        let mut share = BlockShare::default();
        Analyser::new(&table).for_each_section(&launch.blocks[block], |section| share.add_section(section));
        share
    };
    let (first, second) = (share(0), share(1));
    assert_eq!((first.work, first.load, first.surplus, first.stages), (3, 2, 2, 2));
    assert_eq!((second.work, second.load, second.surplus, second.stages), (6, 3, 2, 1));
    // block 0: L = 5, and the 3 of block 1 a second time: 5 + 3 + 2; block 1: most loaded sub-core
    // 2 + 3, + 2
    assert_eq!(rbb(&table, &launch.blocks, 2, 1), 10);
}

/// The work of a block that a chain can count a second time: the work of each sub-core on private
/// units, except the sub-core with the most. Work on shared units delays every sub-core and counts
/// once.
#[test]
fn repeats_by_hand() {
    // on private units 5 of sub-core 0, 2 + 1 of sub-core 1, 4 of sub-core 2; on s, which is
    // shared, 2 + 2 + 2
    let text = ".blocks 1\n.warps 1\n f\n s\n.warps 1\n h\n.warps 1\n g\n s\n.warps 1\n s\n.warps 1\n b\n";
    let (launch, _) = micro(text, &[("f", 5, 0), ("g", 4, 0), ("h", 2, 0), ("b", 1, 0), ("s", 2, 0)], "");
    let ron = "Machine(name: \"m\", sub_cores: 3, ops: { \"f\": \"f\", \"g\": \"g\", \"h\": \"h\", \"b\": \"b\", \"s\": \"s\" }, \
               units: { \"f\": Unit(init: 5, lat: 0), \"g\": Unit(init: 4, lat: 0), \"h\": Unit(init: 2, lat: 0), \
               \"b\": Unit(init: 1, lat: 0), \"s\": Unit(init: 2, lat: 0, shared: true) })";
    let table = TimingTable::new(&launch.program, &crate::random_kernels::machine(ron)).unwrap();
    let mut share = BlockShare::default();
    Analyser::new(&table).for_each_section(&launch.blocks[0], |section| share.add_section(section));
    assert_eq!((share.work, share.load), (5 + 3 + 4 + 6, 5 + 6));
    assert_eq!(share.repeats, [(3, 1), (4, 1)].into());
    assert_eq!(share.of_class, [5 + 6, 3 + 6, 4 + 6, 0]);
}

/// The shape of random launches to which RBB applies.
const SHAPE: Shape = Shape { partial_barriers: false, sub_cores: 4, ..Shape::EVERYTHING };

#[test]
fn the_bound_agrees_with_the_naive_formula() {
    let (mut waves, mut differ) = (0, [0; 3]);
    for seed in 0..3000 {
        let launch = random_launch(seed, &SHAPE, 1 + seed as usize % 11);
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let (places, sms) = (1 + seed as usize % 4, 1 + seed as usize % 5 / 3);
        let naive = Launch::new(&table, &launch.blocks, places, sms);
        let found = rbb(&table, &launch.blocks, places, sms);
        assert_eq!(found, value(&naive, Variant::Rbb), "seed {seed}");
        waves += u64::from(launch.blocks.len() > places * sms);
        // each omitted term would be noticed
        for (variant, count) in [Variant::SurplusForPeak, Variant::CountOnce, Variant::WithoutLastWave]
            .into_iter()
            .zip(&mut differ)
        {
            *count += u64::from(value(&naive, variant) != found);
        }
    }
    assert!(waves > 1000 && differ.iter().all(|&count| count > 100), "{waves} {differ:?}");
}

/// The bound of a single block is at least IWB, because it counts every init.
#[test]
fn a_single_block_is_bounded_no_lower_than_by_iwb() {
    for seed in 0..500 {
        let launch = random_launch(seed, &SHAPE, 1);
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let block = analyse_block(&table, &launch.blocks[0]);
        let iwb = warpbound::bound::Iwb.evaluate(&block).value;
        assert!(Rbb.evaluate(&block).value >= iwb, "seed {seed}");
        if table.sub_cores().count() == 1 {
            let alone = rbb(&table, &launch.blocks, 1, 1);
            assert_eq!(Rbb.evaluate(&block).value.cycles().get(), alone, "seed {seed}");
        }
    }
}

/// The result of an exhaustive campaign.
#[derive(Debug, Default)]
struct Exhausted {
    launches: u64,
    more_than_places: u64,
    exceeded: u64,
    tight: u64,
}

/// Runs every schedule of tiny random launches, in the reference.
fn exhaust(seeds: std::ops::Range<u64>, shape: &Shape, blocks: usize, sms: usize) -> Exhausted {
    let mut found = Exhausted::default();
    for seed in seeds {
        let launch = random_launch(seed, shape, 1 + seed as usize % blocks);
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let places = 1 + seed as usize % 3;
        let naive = Launch::new(&table, &launch.blocks, places, sms);
        let Some(worst) = naive.worst(3000) else { continue };
        let bound = rbb(&table, &launch.blocks, places, sms);
        found.launches += 1;
        found.more_than_places += u64::from(launch.blocks.len() > places * sms);
        found.exceeded += u64::from(worst > bound);
        found.tight += u64::from(worst == bound && worst > 0);
        if sms == 1 {
            // the search of the product finds the same worst case, and the engine follows its
            // schedule
            let model = resident::Launch::new(&table, &launch.blocks, places).unwrap();
            let (searched, decisions) = model.witness(usize::MAX);
            assert_eq!((searched.makespan, searched.exact), (worst, true), "seed {seed}");
            let text = SourceText::new("s.replay", replay_text(&decisions));
            let policy = PolicySetup::Replay(Schedule::parse(&text).unwrap());
            assert_eq!(makespan(&launch, &table, &policy, places), worst, "seed {seed}");
        }
    }
    found
}

#[test]
fn no_schedule_of_a_tiny_launch_exceeds_rbb() {
    let tiny = Shape { max_warps: 2, max_instructions: 3, sub_cores: 1, ..SHAPE };
    for (shape, seeds, blocks, sms) in [
        (tiny, 0..800, 4, 1),
        (Shape { max_warps: 3, sub_cores: 3, ..tiny }, 0..800, 4, 1),
        (Shape { sub_cores: 2, ..tiny }, 0..800, 6, 2),
    ] {
        let found = exhaust(seeds, &shape, blocks, sms);
        assert_eq!(found.exceeded, 0, "{found:?}");
        assert!(found.launches > 500 && found.more_than_places > 100, "{found:?}");
        // sabotage: one cycle less is exceeded
        assert!(found.tight > 100, "{found:?}");
    }
}

/// Runs random launches under the policies, in the engine of the paper model.
fn campaign(seeds: std::ops::Range<u64>) -> (u64, u64, u64, u64) {
    let (mut runs, mut exceeded, mut tight, mut one_wait) = (0, 0, 0, 0);
    for seed in seeds {
        let launch = random_launch(seed, &SHAPE, 1 + seed as usize % 9);
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let places = 1 + seed as usize / 3 % 4;
        let bound = rbb(&table, &launch.blocks, places, 1);
        let once = value(&Launch::new(&table, &launch.blocks, places, 1), Variant::OneWait);
        let policies = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest];
        for policy in policies.into_iter().chain([seed, seed + 1, seed + 2].map(PolicySetup::Random)) {
            let makespan = makespan(&launch, &table, &policy, places);
            runs += 1;
            exceeded += u64::from(makespan > bound);
            tight += u64::from(makespan == bound && makespan > 0);
            one_wait += u64::from(makespan > once);
        }
    }
    (runs, exceeded, tight, one_wait)
}

#[test]
fn no_policy_exceeds_rbb_on_random_launches() {
    let (runs, exceeded, tight, one_wait) = campaign(0..4000);
    assert_eq!(exceeded, 0, "of {runs} runs");
    // the campaign detects a bound that is one cycle too low, and one that lets all CTA slots wait
    // at the same time
    assert!(runs == 24_000 && tight > 300 && one_wait > 1000, "{runs} {tight} {one_wait}");
}

/// The detailed engine with no feature enabled does not exceed the bound either, nor do launches on
/// several SMs.
#[test]
fn several_sms_do_not_exceed_rbb() {
    let shape = Shape { pipeline: true, ..SHAPE };
    let (mut runs, mut tight, mut without_wave) = (0, 0, 0);
    for seed in 0..2500 {
        let launch = random_launch(seed, &shape, 1 + seed as usize % 13);
        let sms = 1 + seed as usize % 4;
        let launch = RandomLaunch { machine: on_sms(&shape, seed, sms), ..launch };
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let places = 1 + seed as usize / 2 % 3;
        let bound = rbb(&table, &launch.blocks, places, sms);
        let lower = value(&Launch::new(&table, &launch.blocks, places, sms), Variant::WithoutLastWave);
        for policy in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Random(seed)] {
            let makespan = makespan(&launch, &table, &policy, places);
            assert!(makespan <= bound, "seed {seed}, {policy:?}: {makespan} > {bound}");
            runs += 1;
            tight += u64::from(makespan == bound && makespan > 0);
            without_wave += u64::from(makespan > lower);
        }
    }
    assert!(runs == 7500 && tight > 100 && without_wave > 10, "{runs} {tight} {without_wave}");
}

/// Returns the machine of a random launch with more SMs.
fn on_sms(shape: &Shape, seed: u64, sms: usize) -> warpbound::machine::Machine {
    let text = crate::random_kernels::machine_text(seed, shape);
    crate::random_kernels::machine(&text.replacen("Machine(", &format!("Machine(sms: {sms}, "), 1))
}

/// Returns the ping-pong family with P = n = 32 and 8 stages: its two warps as two blocks, `times`
/// times.
fn ping_pong(times: usize) -> (RandomLaunch, TimingTable) {
    let (period, stages) = (32, 8);
    let warp = |own: &str, other: &str| {
        let mut text = String::from(".blocks 1\n.warps 1\n");
        for stage in 1..=stages {
            let gate = if stage > 1 { format!(", g{}", stage - 1) } else { String::new() };
            text += &format!(" {own}{stage} _{gate}\n").repeat(period);
            if stage < stages {
                text += &format!(" {other}{stage} g{stage}\n");
            }
        }
        text
    };
    let names: Vec<String> =
        (1..=stages).flat_map(|stage| [format!("a{stage}"), format!("b{stage}")]).collect();
    let units: Vec<(&str, u64, u64)> = names.iter().map(|name| (name.as_str(), period as u64, 0)).collect();
    micro(&(warp("a", "b") + &warp("b", "a")).repeat(times), &units, "")
}

/// With D_b in place of H_b, the formula for more blocks than CTA slots would give 6416 for both
/// blocks together, which take 8417 under lrr.
#[test]
fn peaks_and_not_surpluses_are_shared() {
    let (launch, table) = ping_pong(1);
    // C alone is 1472 and S is 263 * 32 = 8416 for each: D = -6944, and the total 16832
    assert_eq!(16832 + (-6944 - 6944) / 2 + (-6944 + 6944 / 2), 6416);
    assert_eq!(makespan(&launch, &table, &PolicySetup::Lrr, 2), 8417);
    assert_eq!(rbb(&table, &launch.blocks, 2, 1), 16832 - 6944);
    // with more blocks than CTA slots, that formula applies and is exceeded
    let (launch, table) = ping_pong(2);
    let naive = Launch::new(&table, &launch.blocks, 2, 1);
    assert_eq!(value(&naive, Variant::SurplusForPeak), 2 * 16832 - 2 * 6944 - 6944 / 2);
    assert_eq!(makespan(&launch, &table, &PolicySetup::Lrr, 2), 16833);
    assert!(rbb(&table, &launch.blocks, 2, 1) >= 16833);
}

/// Work of other sub-cores may have to be counted twice. Block 0 waits on sub-core 0 for the first
/// warp of the other block. In its second stage it waits on sub-core 1 for the second warp, which
/// waited for its load in the meantime.
#[test]
fn counting_once_is_not_enough_on_sub_cores() {
    let text = ".blocks 1\n.warps 1\n bar\n.warps 1\n bar\n l r0\n f _, r0\n\
                .blocks 1\n.warps 1\n f\n f\n f\n f\n f\n f\n f\n f\n.warps 1\n l r0\n f _, r0\n f\n f\n f\n f\n f\n f\n f\n";
    let (launch, table) = micro(text, &[("f", 1, 0), ("l", 1, 7)], "sub_cores: 2");
    let naive = Launch::new(&table, &launch.blocks, 2, 1);
    // sub-core 0: block 1's eight f until 8, then block 0's barrier; the release at 9. Sub-core 1:
    // block 1's l at 1 is done at 9, its eight f until 17, then block 0's l, done at 25, and its f
    assert_eq!(naive.worst(100_000), Some(26));
    // L = 1 + 2 of block 0's stages and 9 of block 1; D = 7 of both (C - S: 9 - 2 and 16 - 9)
    assert_eq!(value(&naive, Variant::CountOnce), 12 + 7);
    // block 0 changes its sub-core once: the 8 of block 1 that are not on its busiest sub-core
    // count too
    assert_eq!(rbb(&table, &launch.blocks, 2, 1), 12 + 8 + 7);
}

/// The work that remains on an SM when the last block is placed takes its time there, even if other
/// SMs are idle.
#[test]
fn the_last_wave_is_not_shared() {
    // three CTA slots on each of two SMs; the blocks in between are empty and go elsewhere
    let nothing = |blocks: u32| format!(".blocks {blocks}\n.warps 1\n ret\n");
    let one = ".blocks 1\n.warps 1\n f\n";
    let text = [&nothing(2), one, &nothing(1), one, &nothing(1), one, &nothing(2)].concat();
    let (launch, table) = micro(&text, &[("f", 50, 0)], "sms: 2, pipeline: Pipeline()");
    assert_eq!(makespan(&launch, &table, &PolicySetup::Gto, 3), 150, "all three are on SM 0");
    let naive = Launch::new(&table, &launch.blocks, 3, 2);
    assert_eq!(naive.worst(1000), Some(150));
    // half of the work, and a block that takes 50 alone: without W, the bound has no other terms
    assert_eq!(value(&naive, Variant::WithoutLastWave), 75 + 50);
    assert_eq!(rbb(&table, &launch.blocks, 3, 2), 75 + 150 + 50);
}

/// Blocks that run one after the other wait one after the other.
#[test]
fn waiting_times_of_all_blocks_count() {
    let (launch, table) = micro(".blocks 2\n.warps 1\n f\n", &[("f", 1, 9)], "");
    assert_eq!(makespan(&launch, &table, &PolicySetup::Gto, 1), 20);
    assert_eq!(value(&Launch::new(&table, &launch.blocks, 1, 1), Variant::OneWait), 11);
    assert_eq!(rbb(&table, &launch.blocks, 1, 1), 20);
}

#[test]
fn premises_are_named() {
    let fine = premises::paper(&PolicyKind::Lrr, 4, false);
    assert!(Rbb.applicable(&fine).is_ok());
    let beyond = |features: &[Feature]| features.iter().copied().collect::<Features>();
    let several = beyond(&[Feature::SeveralSms]);
    let several = Context { beyond: several, ..premises::paper(&PolicyKind::Lrr, 1, false) };
    assert!(Rbb.applicable(&several).is_ok());
    // what launching costs belongs to no block
    let launching = Context { beyond: beyond(&[Feature::LaunchCosts]), ..several };
    assert!(Rbb.applicable(&launching).is_ok());
    for (context, named) in [
        (Context { resident_blocks: 1, ..fine.clone() }, "each is judged by itself"),
        (Context { partial_barriers: true, ..fine.clone() }, "does not involve all warps"),
        (
            Context { beyond: beyond(&[Feature::SeveralSms, Feature::FrontEnd]), ..fine.clone() },
            "instructions must be fetched",
        ),
        (premises::paper(&PolicyKind::TwoLevel, 4, false), "is not work conserving"),
    ] {
        let reason = Rbb.applicable(&context).expect_err(named).to_string();
        assert!(reason.contains(named), "{reason}");
    }
}

/// Blocks without instructions, warps without instructions, and blocks that end in the same cycle
/// as others.
#[test]
fn empty_blocks_take_no_time() {
    let mut builder = KernelBuilder::new();
    builder.warp().ret("f").block().warp().op("f", None, &[]).ret("f").block().warp().ret("f");
    let launch = builder.build_launch(&crate::random_kernels::paper_machine(&[("f", 3, 2)]));
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
    for places in 1..=3 {
        let naive = Launch::new(&table, &launch.blocks, places, 1);
        assert_eq!(naive.worst(100), Some(5));
        assert_eq!(rbb(&table, &launch.blocks, places, 1), 5);
    }
    let empty = &launch.blocks[..1];
    assert_eq!(rbb(&table, empty, 1, 1), 0);
    assert_eq!(empty[0].block, BlockId::new(0));
}
