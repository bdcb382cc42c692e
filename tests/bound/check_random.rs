//! Random micro kernels through all of `check`: the analyser agrees with the simulator on every
//! lone warp, and no proved bound is ever exceeded.

use crate::premises;
use crate::random_kernels;

use random_kernels::{Shape, random_kernel};
use warpbound::bound::{self, Analyser, BoundReport};
use warpbound::check::self_check;
use warpbound::machine::PolicyKind;
use warpbound::program::TimingTable;
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

const KERNELS: u64 = 10_000;

#[test]
fn a_lone_warp_is_the_same_to_analyser_and_simulator() {
    let mut compared = 0;
    for seed in 0..KERNELS {
        for shape in [&Shape::EVERYTHING, &Shape::PAPER] {
            let kernel = random_kernel(seed, shape);
            let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
            compared += self_check(&table, &kernel.machine, &kernel.paths)
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
    }
    assert!(compared > KERNELS, "only {compared} warps were compared");
}

/// Returns the number of runs in which a bound was exceeded, and of all runs, under the
/// work-conserving policies.
fn exceeded(name: &str, slack: u64) -> (u64, u64) {
    let bounds = bound::all();
    let bound = bounds.iter().find(|bound| bound.name() == name).expect("the bound exists");
    let policies =
        [PolicyKind::Gto, PolicyKind::Lrr, PolicyKind::Oldest, PolicyKind::Random(3), PolicyKind::Random(4)];
    let (mut violations, mut runs) = (0, 0);
    for seed in 0..KERNELS {
        let kernel = random_kernel(seed, &Shape::PAPER);
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        let mut report = BoundReport::default();
        Analyser::new(&table)
            .for_each_section(&kernel.paths, |section| bound.add_section(&mut report, section));
        let mut engine = Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap());
        for kind in &policies {
            if bound.applicable(&premises::paper(kind, 1, kernel.paths.partial_barriers)).is_err() {
                continue;
            }
            let policy = PolicySetup::new(kind, |_| unreachable!("no replay among them")).unwrap();
            let run = engine.run_block(&kernel.paths, &policy, &mut ()).unwrap();
            runs += 1;
            violations += u64::from(run.makespan.get() + slack > report.value.cycles().get());
        }
    }
    (violations, runs)
}

#[test]
fn iwb_is_never_exceeded() {
    let (violations, runs) = exceeded("iwb", 0);
    assert_eq!(violations, 0);
    assert!(runs >= 3 * KERNELS, "only {runs} runs were judged");
}

#[test]
fn a_bound_lowered_by_one_cycle_is_caught() {
    // sabotage: if the bound is tight, one cycle less is exceeded
    assert!(exceeded("iwb", 1).0 > 0);
}
