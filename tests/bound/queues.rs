//! IWB on machines whose units have bounded queues: random kernels under every work-conserving
//! policy. The same comparison must detect a bound that is one cycle too low.

use crate::premises;
use crate::random_kernels;

use random_kernels::{KernelBuilder, RandomKernel, Shape, machine, random_kernel};
use warpbound::base::Cycles;
use warpbound::bound::{Analyser, Bound, Context, Gub, Iwb, Lwb, Rbb, Swb};
use warpbound::machine::PolicyKind;
use warpbound::path::{BlockPaths, Listed};
use warpbound::program::TimingTable;
use warpbound::sim::{BlockResult, PolicySetup, simulate};

fn run(kernel: &RandomKernel, table: &TimingTable, policy: &PolicySetup) -> BlockResult {
    let mut ran = None;
    let on_block = |result: &BlockResult, _: &BlockPaths| ran = Some(result.clone());
    let mut source = Listed::new(std::slice::from_ref(&kernel.paths));
    simulate(&mut source, table, &kernel.machine, policy, 1, &mut (), on_block).unwrap();
    ran.expect("there is one block")
}

#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    exceeded: u64,
    /// The violations if the bound is lowered by one cycle.
    lowered: u64,
}

fn tally(seeds: std::ops::Range<u64>, shape: &Shape) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let kernel = random_kernel(seed, shape);
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        assert!(table.bounded_queues());
        let block = Analyser::new(&table).block(&kernel.paths);
        let report = Iwb.evaluate(&block);
        let policies = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest];
        for policy in policies.into_iter().chain((0..4).map(|n| PolicySetup::Random(seed + n))) {
            let ran = run(&kernel, &table, &policy);
            let (makespan, bound) = (ran.makespan, report.value.cycles());
            tally.runs += 1;
            tally.exceeded += u64::from(makespan > bound);
            tally.lowered += u64::from(makespan > Cycles::ZERO && makespan + Cycles::new(1) > bound);
            for (warp, value) in ran.warps.iter().zip(&report.warps) {
                tally.exceeded += u64::from(warp.finish > value.cycles());
            }
        }
    }
    tally
}

#[test]
fn the_bound_holds_on_random_kernels() {
    let one = Shape { queues: 3, ..Shape::PAPER };
    let all = [
        tally(0..4000, &one),
        tally(0..2000, &Shape { sub_cores: 4, ..one }),
        tally(0..2000, &Shape { waw: true, exit_issues: true, memory: true, ..one }),
    ];
    println!("{all:?}");
    for tally in &all {
        assert_eq!(tally.exceeded, 0, "{tally:?}");
        assert!(tally.runs > 10_000 && tally.lowered > 0, "{tally:?}");
    }
}

/// A machine whose queues hold one waiting instruction; s0 is a short operation on the unit of f0.
const FULL: &str = "Machine(name: \"full\", pipeline: Pipeline(queue: 1), \
     units: { \"f0\": Unit(init: 20, lat: 0), \"f1\": Unit(init: 20, lat: 0) }, \
     ops: { \"f0\": \"f0\", \"s0\": Op(unit: \"f0\", init: 1, lat: 0), \"f1\": \"f1\" })";

/// The example in the proof of [`Iwb`] (`crates/bound/src/proofs/iwb.md`).
#[test]
fn isolated_times_are_too_small_for_full_queues() {
    let own = ["f0", "s0", "f1"];
    let block = |warps: &[&[&str]]| {
        let mut builder = KernelBuilder::new();
        for warp in warps {
            warp.iter().fold(builder.warp(), |builder, class| builder.op(class, None, &[]));
        }
        builder.build(FULL)
    };
    let makespan = |kernel: &RandomKernel| {
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        run(kernel, &table, &PolicySetup::Lrr).makespan.get()
    };
    let alone = makespan(&block(&[&own]));
    let kernel = block(&[&own, &["s0"]]);
    let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
    let analysed = Analyser::new(&table).block(&kernel.paths);
    // the lone warp of the paper model takes as long as that of the machine
    assert_eq!((alone, analysed.warps[0].isolated.get()), (22, 22));
    // with one cycle for the initiation of the other warp, the bound would be 23
    assert_eq!((makespan(&kernel), Iwb.evaluate(&analysed).value.cycles().get()), (41, 42));
}

#[test]
fn iwb_and_rbb_account_for_queues() {
    let beyond = machine(FULL).beyond_the_paper_model();
    let context = Context { beyond, ..premises::paper(&PolicyKind::Gto, 1, false) };
    assert!(Iwb.applicable(&context).is_ok());
    for bound in [&Gub as &dyn Bound, &Swb, &Lwb] {
        let reason = bound.applicable(&context).expect_err(bound.name()).to_string();
        assert!(reason.contains("pipeline.queue"), "{reason}");
    }
    assert!(Rbb.applicable(&Context { resident_blocks: 2, ..context.clone() }).is_ok());
    let more = FULL.replace("queue: 1", "queue: 1, front_end: FrontEnd()");
    let beyond = machine(&more).beyond_the_paper_model();
    let reason = Iwb.applicable(&Context { beyond, ..context }).expect_err("fetch").to_string();
    assert!(reason.contains("front_end") && !reason.contains("queue"), "{reason}");
}
