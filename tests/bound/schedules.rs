//! IWB against schedules: every claim of its proof (`crates/bound/src/proofs/iwb.md`) on random
//! blocks with everything that the proof covers, under adversarial choices.

use crate::bound_formulas;
use crate::bound_kernels;
use crate::bound_schedules;

use bound_formulas::Ins;
use bound_kernels::{Kernel, Size, random};
use bound_schedules::{Sm, code, extremes, gto, lrr, run};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::bound::{Bound, BoundReport, BoundValue, Gub, Iwb, Swb, analyse_block};

/// Visits schedules of one block: the usual policies, fixed priorities in both directions, random
/// ones, and ones that prefer a random warp for a while.
fn schedules(code: &[Vec<Ins>], seed: u64, mut visit: impl FnMut(&str, &Sm)) {
    visit("lrr", &lrr(code));
    visit("gto", &gto(code));
    visit("first", &run(code, |_, ready| ready[0]));
    visit("last", &run(code, |_, ready| ready[ready.len() - 1]));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..6 {
        visit("random", &run(code, |_, ready| ready[rng.random_range(0..ready.len())]));
        let mut favourite = 0;
        let sm = run(code, |_, ready| {
            if rng.random_ratio(1, 6) {
                favourite = rng.random_range(0..code.len());
            }
            if ready.contains(&favourite) { favourite } else { ready[rng.random_range(0..ready.len())] }
        });
        visit("sticky", &sm);
        // one warp always comes last, which shows how much the others can delay it
        let victim = rng.random_range(0..code.len());
        let sm = run(code, |_, ready| ready.iter().copied().find(|&w| w != victim).unwrap_or(victim));
        visit("victim", &sm);
    }
}

fn report(kernel: &Kernel, bound: &dyn Bound) -> BoundReport {
    bound.evaluate(&analyse_block(&kernel.table, &kernel.paths))
}

const SIZES: [Size; 3] = [
    Size { warps: 4, sections: 4, section: 8, max_init: 9, max_lat: 12 },
    Size { warps: 3, sections: 2, section: 16, max_init: 16, max_lat: 4 },
    Size { warps: 6, sections: 6, section: 4, max_init: 5, max_lat: 30 },
];

#[test]
fn iwb_holds_for_blocks_and_for_each_warp() {
    for (index, size) in SIZES.into_iter().enumerate() {
        for seed in 0..1500 {
            let seed = seed + 1_000_000 * index as u64;
            let kernel = random(seed, size);
            let iwb = report(&kernel, &Iwb);
            let swb = report(&kernel, &Swb);
            assert!(swb.value <= iwb.value && swb.warps.iter().zip(&iwb.warps).all(|(s, i)| s <= i));
            let iwb = swb;
            schedules(&code(&kernel.table, &kernel.paths), seed, |name, sm| {
                assert!(
                    sm.makespan() <= iwb.value.cycles().get(),
                    "seed {seed} {name}: {} {}",
                    sm.makespan(),
                    iwb.value
                );
                for (warp, (finish, claimed)) in sm.finishes().into_iter().zip(&iwb.warps).enumerate() {
                    assert!(
                        finish <= claimed.cycles().get(),
                        "seed {seed} {name} w{warp}: {finish} {claimed}"
                    );
                }
            });
        }
    }
}

/// Every work-conserving schedule of small blocks.
#[test]
fn iwb_holds_exhaustively() {
    let size = Size { warps: 3, sections: 2, section: 4, max_init: 6, max_lat: 6 };
    let (mut looked_at, mut tight) = (0, 0);
    for seed in 0..3000 {
        let kernel = random(seed, size);
        let code = code(&kernel.table, &kernel.paths);
        if code.len() < 2 || code.iter().map(Vec::len).sum::<usize>() > 11 {
            continue;
        }
        let (_, worst, _) = extremes(&code);
        let iwb = report(&kernel, &Swb).value.cycles().get();
        assert!(worst <= iwb, "seed {seed}: {worst} {iwb}");
        looked_at += 1;
        tight += u32::from(worst == iwb);
    }
    assert!(looked_at > 1000 && tight > 50, "{looked_at} {tight}");
}

/// If a warp is alone in every section, the bounds equal its time alone.
#[test]
fn alone_both_bounds_are_the_isolated_time() {
    let size = Size { warps: 1, ..SIZES[0] };
    for seed in 0..500 {
        let kernel = random(seed, size);
        let analysis = analyse_block(&kernel.table, &kernel.paths);
        let isolated = BoundValue::new(analysis.warps[0].isolated);
        assert_eq!((Gub.evaluate(&analysis).value, Iwb.evaluate(&analysis).value), (isolated, isolated));
    }
}

/// The same schedules exceed bounds that charge too little, so they would detect a wrong IWB.
#[test]
fn schedules_break_bounds_that_are_too_low() {
    // one slot for each instruction of the others, however long it occupies its unit
    let slots = |warps: &[Vec<Ins>]| -> u64 {
        (0..warps.len())
            .map(|w| {
                let others: usize = (0..warps.len()).filter(|&o| o != w).map(|o| warps[o].len()).sum();
                bound_formulas::isolated(&warps[w]) + others as u64
            })
            .max()
            .unwrap_or(0)
    };
    // the correct bound, less one cycle in each section with interference
    let less = |warps: &[Vec<Ins>]| bound_formulas::iwb(warps).saturating_sub(1);
    let (mut broke_slots, mut broke_less) = (0, 0);
    for seed in 0..1500 {
        let kernel = random(seed, SIZES[0]);
        let sections = bound_formulas::sections(&kernel.table, &kernel.paths);
        let too_low: u64 = sections.iter().map(|s| slots(s)).sum();
        let one_less: u64 = sections.iter().map(|s| less(s)).sum();
        if kernel.paths.warps.len() == 1 {
            continue;
        }
        let mut worst = 0;
        schedules(&code(&kernel.table, &kernel.paths), seed, |_, sm| worst = worst.max(sm.makespan()));
        broke_slots += u32::from(worst > too_low);
        broke_less += u32::from(worst > one_less);
    }
    assert!(broke_slots > 50 && broke_less > 10, "{broke_slots} {broke_less}");
}
