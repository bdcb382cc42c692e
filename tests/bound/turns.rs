//! The bounds for strict and greedy-then-strict round robin compared with the timing engine, on
//! random blocks with barriers and everything else that the generator produces.

use crate::bound_kernels;
use crate::premises;

use bound_kernels::{Kernel, Size, kernel, machine, machine_text, random, texts};
use warpbound::bound::{Analyser, BlockAnalysis, Bound, BoundReport, Context, Gsrr, Iwb, Srr};
use warpbound::machine::PolicyKind;
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

const SIZES: [Size; 4] = [
    Size { warps: 4, sections: 4, section: 8, max_init: 9, max_lat: 12 },
    Size { warps: 3, sections: 1, section: 16, max_init: 16, max_lat: 4 },
    Size { warps: 6, sections: 6, section: 4, max_init: 5, max_lat: 30 },
    Size { warps: 5, sections: 1, section: 6, max_init: 4, max_lat: 6 },
];

/// Returns the makespan and each warp's finish.
fn simulate(kernel: &Kernel, setup: &PolicySetup) -> (u64, Vec<u64>) {
    let any = machine(&machine_text(&[("a", 1, 0)], ""));
    let result = Engine::new(&kernel.table, PaperMachine::of(&any).unwrap())
        .run_block(&kernel.paths, setup, &mut ())
        .expect("barriers involve all warps");
    (result.makespan.get(), result.warps.iter().map(|warp| warp.finish.get()).collect())
}

fn analyse(kernel: &Kernel) -> BlockAnalysis {
    Analyser::new(&kernel.table).in_turns().block(&kernel.paths)
}

/// Returns a description of a violation of the bound, if there is one.
fn broken(report: &BoundReport, (makespan, finishes): &(u64, Vec<u64>)) -> Option<String> {
    let by_warp = finishes.iter().zip(&report.warps).position(|(&at, value)| at > value.cycles().get());
    if *makespan > report.value.cycles().get() || by_warp.is_some() {
        return Some(format!("{makespan} {finishes:?}, bound {} {:?}", report.value, report.warps));
    }
    None
}

#[test]
fn both_hold_and_strict_turns_are_exact_in_one_section() {
    let (mut several, mut exact, mut greedy_tight) = (0, 0, 0);
    let (mut sums, mut alone) = ([0u64; 4], 0u64);
    for (index, size) in SIZES.into_iter().enumerate() {
        for seed in 0..2500 {
            let seed = seed + 1_000_000 * index as u64;
            let kernel = random(seed, size);
            let analysis = analyse(&kernel);
            let (srr, gsrr) = (Srr.evaluate(&analysis), Gsrr.evaluate(&analysis));
            let (strict, greedy) =
                (simulate(&kernel, &PolicySetup::Srr), simulate(&kernel, &PolicySetup::Gsrr));
            assert_eq!(broken(&srr, &strict), None, "srr, seed {seed}");
            assert_eq!(broken(&gsrr, &greedy), None, "gsrr, seed {seed}");
            assert!(srr.value <= gsrr.value, "seed {seed}: gsrr holds for srr too");
            // the fallback of `Srr`
            let without_turns = Srr.evaluate(&Analyser::new(&kernel.table).block(&kernel.paths));
            assert_eq!(without_turns, gsrr);
            assert!(gsrr.value >= Iwb.evaluate(&analysis).value, "seed {seed}: waits count in addition");
            if analysis.sections.len() == 1 {
                assert_eq!(strict.0, srr.value.cycles().get(), "seed {seed}");
            } else {
                several += 1;
                exact += u32::from(strict.0 == srr.value.cycles().get());
            }
            greedy_tight += u32::from(kernel.paths.warps.len() > 1 && greedy.0 == gsrr.value.cycles().get());
            let values = [strict.0, srr.value.cycles().get(), greedy.0, gsrr.value.cycles().get()];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            alone += analysis.warps.iter().map(|warp| warp.isolated.get()).sum::<u64>();
        }
    }
    println!(
        "srr, bound, gsrr, bound: {sums:?}, sum of isolated {alone}; {exact} of {several} exact over barriers; gsrr {greedy_tight} tight"
    );
    assert!(several > 2000 && exact > 100 && greedy_tight > 20, "{several} {exact} {greedy_tight}");
}

/// Shorter latencies never make strict round robin slower, because its order of issues is fixed.
#[test]
fn strict_round_robin_has_no_timing_anomalies() {
    let warps = texts(&["a r0; b r1, r0; a _, r1; b _", "b r0; b r1; a _, r0", "a r0; a r1, r0; b _, r1"]);
    let time = |a: u64, b: u64| {
        let block = kernel(&machine_text(&[("a", 2, a), ("b", 3, b)], ""), &warps);
        simulate(&block, &PolicySetup::Srr).0
    };
    for a in 0..12 {
        for b in 0..12 {
            assert!(time(a, b) <= time(a + 1, b) && time(a, b) <= time(a, b + 1));
        }
    }
}

#[test]
fn each_is_for_its_policy_only() {
    let context = |kind: &PolicyKind| premises::paper(kind, 1, false);
    for kind in PolicyKind::NAMED {
        assert_eq!(Srr.applicable(&context(&kind)).is_ok(), kind == PolicyKind::Srr);
        assert_eq!(Gsrr.applicable(&context(&kind)).is_ok(), kind == PolicyKind::Gsrr);
    }
    let several = Context { resident_blocks: 2, ..context(&PolicyKind::Srr) };
    assert!(Srr.applicable(&several).is_err());
}

/// The comparison detects a bound that is one cycle too low.
#[test]
fn one_cycle_less_is_caught() {
    let mut caught = [0; 2];
    for seed in 0..400 {
        let kernel = random(seed, SIZES[3]);
        let analysis = analyse(&kernel);
        let setups = [PolicySetup::Srr, PolicySetup::Gsrr];
        for ((bound, setup), caught) in [&Srr as &dyn Bound, &Gsrr].into_iter().zip(&setups).zip(&mut caught)
        {
            let value = bound.evaluate(&analysis).value.cycles().get();
            *caught += u32::from(simulate(&kernel, setup).0 > value.saturating_sub(1));
        }
    }
    assert!(caught[0] > 300 && caught[1] > 10, "{caught:?}");
}
