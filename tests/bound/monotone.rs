//! The effect on the bounds of an increase of a latency or an initiation interval.
//!
//! C(w) is the longest path of a constraint graph whose weights are inits and lats, so it never
//! falls; the charges c(y) of IWB are inits or 1, so IWB never falls either. E(w) is the length of
//! a *union* of initiations: an increase may move one initiation so that it overlaps another. So E
//! sometimes falls, and GUB with it: GUB is not monotone.

use crate::bound_kernels;

use bound_kernels::{kernel, machine_text, texts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::bound::{BlockAnalysis, Bound, Gub, Iwb, analyse_block};

const NAMES: [&str; 4] = ["f0", "f1", "f2", "f3"];

fn analysis(units: &[(&str, u64, u64)], warps: &[String]) -> BlockAnalysis {
    let block = kernel(&machine_text(units, ""), warps);
    analyse_block(&block.table, &block.paths)
}

fn value(bound: &dyn Bound, block: &BlockAnalysis) -> u64 {
    bound.evaluate(block).value.cycles().get()
}

fn random_warp(rng: &mut ChaCha8Rng) -> String {
    let mut code = String::new();
    for _ in 0..rng.random_range(1..12) {
        if rng.random_ratio(1, 8) {
            code += "bar;";
        }
        let unit = NAMES[rng.random_range(0..NAMES.len())];
        code += &format!("{unit} r{}", rng.random_range(0..4));
        if rng.random_ratio(2, 3) {
            code += &format!(", r{}", rng.random_range(0..4));
        }
        code += ";";
    }
    code
}

#[test]
fn isolated_times_and_iwb_never_fall() {
    let mut exec_fell = 0;
    for seed in 0..4000 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let warps: Vec<String> = (0..rng.random_range(1..4)).map(|_| random_warp(rng)).collect();
        let mut units = NAMES.map(|name| (name, rng.random_range(1..8), rng.random_range(0..12)));
        let before = analysis(&units, &warps);
        let grown = &mut units[rng.random_range(0..NAMES.len())];
        let by = rng.random_range(1..6);
        if rng.random_ratio(1, 2) {
            grown.1 += by;
        } else {
            grown.2 += by;
        }
        let after = analysis(&units, &warps);
        for (section, (old, new)) in before.sections.iter().zip(&after.sections).enumerate() {
            for (warp, (old, new)) in old.warps().iter().zip(new.warps()).enumerate() {
                assert!(old.isolated <= new.isolated, "seed {seed}, section {section}, w{warp}");
                exec_fell += u32::from(new.exec < old.exec);
            }
        }
        assert!(value(&Iwb, &before) <= value(&Iwb, &after), "seed {seed}");
    }
    // rare, but if it never happened, the generator or the statement above would be wrong
    assert!(exec_fell > 0);
}

/// `g` waits for `p` and `h` for `f`, which ends at 16. With p's result at 13, g initiates in
/// [13, 16) and h in [16, 26). With p's result at 15, g initiates in [15, 18), overlapping h: the
/// warp still ends at 26, with two cycles less of exec phases.
#[test]
fn gub_falls_when_a_latency_or_an_initiation_grows() {
    let warps = texts(&["p r0; f r1; g _, r0; h _, r1", "p r0; f r1; g _, r0; h _, r1"]);
    let of = |init: u64, lat: u64| {
        let block = analysis(&[("p", init, lat), ("f", 10, 5), ("g", 3, 0), ("h", 10, 0)], &warps);
        let warp = block.warps[0];
        (warp.isolated.get(), warp.exec.get(), value(&Gub, &block))
    };
    assert_eq!(of(1, 12), (26, 24, 50));
    assert_eq!(of(1, 14), (26, 22, 48));
    assert_eq!(of(3, 12), (26, 22, 48));
}
