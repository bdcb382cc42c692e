//! Machines with control codes. The analyser is compared with the simulator. The bounds that
//! account for control codes are compared with runs under every policy and, for small blocks, with
//! every schedule. The codes are random and deliberately cover no dependences.

use crate::premises;
use crate::random_kernels;
use crate::resident::rbb;

use random_kernels::{RandomKernel, Shape, machine, machine_text, random_kernel, random_launch};
use warpbound::base::{Cycles, ProgressMonitor};
use warpbound::bound::{Analyser, Bound, Context, Gub, Iwb, Lwb, Rbb, Swb};
use warpbound::check::self_check;
use warpbound::explore::search::Limits;
use warpbound::explore::{explore, replay};
use warpbound::machine::PolicyKind;
use warpbound::path::Listed;
use warpbound::program::TimingTable;
use warpbound::sim::{PolicySetup, simulate};

const CODES: Shape = Shape { codes: true, ..Shape::PAPER };

fn policies(seed: u64) -> impl Iterator<Item = PolicySetup> {
    let drawn = (0..4).map(move |n| PolicySetup::Random(seed + n));
    [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest].into_iter().chain(drawn)
}

fn context(kernel: &RandomKernel) -> Context {
    let beyond = kernel.program.beyond_the_paper_model_on(&kernel.machine);
    Context { beyond, ..premises::paper(&PolicyKind::Gto, 1, false) }
}

#[test]
fn a_lone_warp_is_the_same_to_analyser_and_simulator() {
    let mut compared = 0;
    for seed in 0..8_000 {
        for shape in [Shape { codes: true, ..Shape::EVERYTHING }, CODES] {
            let kernel = random_kernel(seed, &shape);
            let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
            compared += self_check(&table, &kernel.machine, &kernel.paths)
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
    assert!(compared > 8_000, "only {compared} warps were compared");
}

/// Returns the number of runs, of runs that exceed a bound of the block or of a warp, and of runs
/// that would exceed a bound that is one cycle lower.
fn tally(
    seeds: std::ops::Range<u64>,
    kernel: impl Fn(u64) -> RandomKernel,
    bounds: &[&dyn Bound],
) -> (u64, u64, u64) {
    let (mut runs, mut exceeded, mut lowered) = (0, 0, 0);
    for seed in seeds {
        let kernel = kernel(seed);
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        assert!(table.barriers().is_some());
        let block = Analyser::new(&table).block(&kernel.paths);
        let reports: Vec<_> = bounds.iter().map(|bound| bound.evaluate(&block)).collect();
        for policy in policies(seed) {
            let mut source = Listed::new(std::slice::from_ref(&kernel.paths));
            simulate(&mut source, &table, &kernel.machine, &policy, 1, &mut (), |ran, _| {
                for report in &reports {
                    let value = report.value.cycles();
                    runs += 1;
                    exceeded += u64::from(ran.makespan > value);
                    lowered += u64::from(ran.makespan > Cycles::ZERO && ran.makespan >= value);
                    for (warp, value) in ran.warps.iter().zip(&report.warps) {
                        exceeded += u64::from(warp.finish > value.cycles());
                    }
                }
            })
            .unwrap();
        }
    }
    (runs, exceeded, lowered)
}

#[test]
fn iwb_and_swb_hold_under_every_policy() {
    let both: &[&dyn Bound] = &[&Iwb, &Swb];
    for (seeds, shape) in [
        (0..5_000, CODES),
        (5_000..8_000, Shape { sub_cores: 4, ..CODES }),
        (8_000..10_000, Shape { exit_issues: true, memory: true, pipeline: true, ..CODES }),
    ] {
        let (runs, exceeded, lowered) = tally(seeds, |seed| random_kernel(seed, &shape), both);
        assert!(exceeded == 0 && runs > 20_000 && lowered > 100, "{runs} {exceeded} {lowered}");
    }
}

#[test]
fn iwb_holds_with_short_queues_too() {
    let short = |seed| random_kernel(seed, &Shape { queues: 3, ..CODES });
    let (runs, exceeded, lowered) = tally(0..2_000, short, &[&Iwb]);
    assert!(exceeded == 0 && runs > 10_000 && lowered > 20, "{runs} {exceeded} {lowered}");
    // without queues, an instruction issues only if it can start at once, as on the machines that
    // follow control codes
    let none = |seed| {
        let shape = Shape { pipeline: true, ..CODES };
        let text = machine_text(seed, &shape).replace("Pipeline()", "Pipeline(queue: 0)");
        RandomKernel { machine: machine(&text), ..random_kernel(seed, &shape) }
    };
    let (runs, exceeded, lowered) = tally(0..4_000, none, &[&Iwb]);
    assert!(exceeded == 0 && runs > 20_000 && lowered > 20, "{runs} {exceeded} {lowered}");
}

/// Every work-conserving schedule of small blocks. The engine repeats the worst one.
#[test]
fn no_schedule_exceeds_iwb_and_swb() {
    let limits = Limits { max_states: 200_000, ..Limits::default() };
    let (mut complete, mut tight, mut gub_exceeded) = (0, 0, 0);
    for seed in 0..2_500 {
        let sub_cores = if seed % 3 == 0 { 3 } else { 1 };
        let shape = Shape { max_warps: 3, max_instructions: 5, sub_cores, ..CODES };
        let kernel = random_kernel(seed, &shape);
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        let (machine, paths) = (&kernel.machine, &kernel.paths);
        let found =
            explore(&table, machine, paths, Cycles::new(1000), limits, &ProgressMonitor::new()).unwrap();
        let Some(worst) = found.worst.exact() else { continue };
        complete += 1;
        assert_eq!(replay(&table, machine, paths, &found.worst_witness, &mut ()), Some(worst), "seed {seed}");
        let block = Analyser::new(&table).block(paths);
        for bound in [&Iwb as &dyn Bound, &Swb] {
            assert!(bound.applicable(&context(&kernel)).is_ok());
            let value = bound.evaluate(&block).value.cycles();
            assert!(worst <= value, "seed {seed}, {}: {worst} > {value}", bound.name());
            tight += u64::from(worst == value && worst > Cycles::ZERO);
        }
        gub_exceeded += u64::from(worst > Gub.evaluate(&block).value.cycles());
        for policy in policies(seed) {
            let mut source = Listed::new(std::slice::from_ref(paths));
            simulate(&mut source, &table, machine, &policy, 1, &mut (), |ran, _| {
                let best = found.best.at_least;
                assert!(best <= ran.makespan && ran.makespan <= worst, "seed {seed}: {}", ran.makespan);
            })
            .unwrap();
        }
    }
    println!("{complete} blocks, {tight} values met, GUB exceeded {gub_exceeded} times");
    assert!(complete > 2_000 && tight > 500, "{complete} {tight}");
}

#[test]
fn rbb_holds_for_blocks_that_are_resident_together() {
    let (mut runs, mut tight) = (0, 0);
    for seed in 0..2_500 {
        let shape = Shape { max_warps: 4, max_instructions: 8, sub_cores: 4, ..CODES };
        let launch = random_launch(seed, &shape, 2 + seed as usize % 9);
        let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
        let places = 2 + seed as usize % 3;
        let bound = Cycles::new(rbb(&table, &launch.blocks, places, 1));
        for policy in policies(seed) {
            let mut source = Listed::new(&launch.blocks);
            let ran =
                simulate(&mut source, &table, &launch.machine, &policy, places as u32, &mut (), |_, _| {});
            let makespan = ran.unwrap().makespan;
            assert!(makespan <= bound, "seed {seed}, {policy:?}: {makespan} > {bound}");
            runs += 1;
            tight += u64::from(makespan == bound && makespan > Cycles::ZERO);
        }
    }
    assert!(runs == 17_500 && tight > 50, "{runs} {tight}");
}

#[test]
fn bounds_that_account_for_control_codes() {
    let kernel = random_kernel(1, &CODES);
    for bound in [&Gub as &dyn Bound, &Iwb, &Swb] {
        assert!(bound.applicable(&context(&kernel)).is_ok(), "{}", bound.name());
    }
    let resident = Context { resident_blocks: 2, ..context(&kernel) };
    assert!(Rbb.applicable(&resident).is_ok());
    let reason =
        Lwb.applicable(&context(&kernel)).expect_err("its credits are argued for registers").to_string();
    assert!(reason.contains("dependences"), "{reason}");
    // the same machine with a program that has no control codes
    let plain = RandomKernel {
        program: warpbound::program::KernelCode { machine_code: None, ..kernel.program },
        ..kernel
    };
    assert!(Lwb.applicable(&context(&plain)).is_ok());
}
