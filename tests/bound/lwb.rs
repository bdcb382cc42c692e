//! LWB compared with its definition and with hand-computed values, and attacks on its proof
//! (`crates/bound/src/proofs/lwb.md`): exact worst cases of random blocks with many long waits,
//! with queues, barriers and equal warps.

use crate::bound_kernels;
use crate::bound_lwb;

use bound_kernels::{Kernel, kernel, machine_text, texts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::ProgressMonitor;
use warpbound::bound::{Bound, BoundValue, Iwb, Lwb, SectionAnalysis, Swb, analyse_block};
use warpbound::explore::model::Model;
use warpbound::explore::schedules::search;
use warpbound::explore::search::Limits;

fn value(kernel: &Kernel, bound: &dyn Bound) -> u64 {
    bound.evaluate(&analyse_block(&kernel.table, &kernel.paths)).value.cycles().get()
}

/// Returns the exact worst makespan, if few states suffice to find it.
fn worst(kernel: &Kernel) -> Option<u64> {
    let model = Model::new(&kernel.table, &kernel.paths).ok()?;
    search(&model, Limits { max_states: 60_000, ..Limits::default() }, &ProgressMonitor::new())
        .ok()
        .map(|found| found.worst)
}

fn by_warp(section: &SectionAnalysis, bound: &dyn Bound) -> Vec<u64> {
    let mut values: Vec<BoundValue> = Vec::new();
    bound.warp_values(section, &mut values);
    values.iter().map(|value| value.cycles().get()).collect()
}

/// Returns chains of loads (`m`), short instructions (`a`) and, in every other block, instructions
/// that queue (`q`).
fn random(seed: u64, warps: usize, longest: usize, sections: usize) -> Kernel {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let queue = rng.random_bool(0.5);
    let units = [
        ("m", 1, rng.random_range(3..40)),
        ("a", 1, rng.random_range(0..4)),
        ("q", if queue { rng.random_range(2..4) } else { 1 }, rng.random_range(0..3)),
    ];
    let code = |rng: &mut ChaCha8Rng| {
        let mut text = String::new();
        let mut written = 0;
        for section in 0..sections {
            for _ in 0..rng.random_range(2..=longest) {
                let op = ["m", "m", "a", "a", "q"][rng.random_range(0..5)];
                let source = match rng.random_range(0..6) {
                    _ if written == 0 => String::new(),
                    0 => format!(", r{}", rng.random_range(0..written)),
                    1 => String::new(),
                    _ => format!(", r{}", written - 1),
                };
                text += &format!("{op} r{written}{source}; ");
                written += 1;
            }
            if section + 1 < sections {
                text += "bar; ";
            }
        }
        text
    };
    let first = code(&mut rng);
    let equal = rng.random_bool(0.5);
    let all: Vec<String> =
        (0..warps).map(|warp| if warp == 0 || equal { first.clone() } else { code(&mut rng) }).collect();
    kernel(&machine_text(&units, ""), &all)
}

#[test]
fn credits_are_those_of_the_definition() {
    let (mut with_credit, mut with_queue, mut later) = (0, 0, 0);
    for seed in 0..4000 {
        let sections = 1 + (seed % 2) as usize;
        let kernel = random(seed, 2 + (seed % 5) as usize, 12, sections);
        let block = analyse_block(&kernel.table, &kernel.paths);
        let values = |bound: &dyn Bound| -> Vec<Vec<u64>> {
            block.sections.iter().map(|section| by_warp(section, bound)).collect()
        };
        let (iwb, swb, lwb) = (values(&Iwb), values(&Swb), values(&Lwb));
        let interference: Vec<Vec<u64>> = block
            .sections
            .iter()
            .zip(iwb.iter().zip(&swb))
            .map(|(section, (iwb, swb))| {
                let alone = section.warps().iter().map(|warp| warp.isolated.get());
                alone.zip(iwb.iter().zip(swb)).map(|(alone, (iwb, swb))| iwb.min(swb) - alone).collect()
            })
            .collect();
        let credits = bound_lwb::credits(&kernel.table, &kernel.paths, &interference);
        for (index, section) in lwb.iter().enumerate() {
            for (warp, &value) in section.iter().enumerate() {
                let credit = credits[index][warp];
                let expected = swb[index][warp].min(iwb[index][warp] - credit);
                // in later sections the definition takes registers of earlier sections as
                // available, so that it may give more credits
                assert!(
                    if index == 0 { value == expected } else { value >= expected },
                    "seed {seed}: {value} {expected}"
                );
                with_credit += u32::from(value < swb[index][warp]);
                later += u32::from(index > 0 && value < swb[index][warp]);
                let queued = block.sections[index].long_waits(warpbound::base::WarpId::from_index(warp));
                with_queue += u32::from(
                    value < swb[index][warp] && queued.queued.iter().any(|queued| queued.get() > 0),
                );
            }
        }
    }
    assert!(with_credit > 2000 && with_queue > 200 && later > 50, "{with_credit} {with_queue} {later}");
}

/// Compares LWB with exact worst cases, and counts how often one credit too many would be detected.
#[test]
fn no_worst_case_exceeds_lwb() {
    let mut seen = [0u32; 4];
    for (index, (warps, longest, sections)) in
        [(2, 7, 1), (3, 5, 1), (4, 4, 1), (2, 5, 2), (3, 4, 2)].into_iter().enumerate()
    {
        for seed in 0..2500 {
            let kernel = random(seed + 1_000_000 * index as u64, warps, longest, sections);
            let Some(worst) = worst(&kernel) else { continue };
            let (swb, lwb) = (value(&kernel, &Swb), value(&kernel, &Lwb));
            assert!(worst <= lwb && lwb <= swb, "{warps} warps, seed {seed}: {worst} {lwb} {swb}");
            let below = u32::from(lwb < swb);
            let tight = u32::from(worst == lwb) * below;
            let counts = [1, below, tight, tight * u32::from(sections > 1)];
            seen.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    let [looked_at, below, tight, later] = seen;
    println!("{looked_at} blocks, LWB below SWB in {below}, of which it is the worst case in {tight}");
    assert!(looked_at > 10_000 && below > 2500 && tight > 500 && later > 20, "{seen:?}");
}

#[test]
fn hand_computed_values() {
    // C = 1 + 10: the load issues at 0, its use at 10. Each other warp adds its two slots, less the
    // one that it must use before the load of the first warp is done
    let units = [("m", 1, 9), ("a", 1, 0), ("q", 3, 0)];
    let block = |codes: &[&str]| kernel(&machine_text(&units[..2], ""), &texts(codes));
    let load = "m r0; a _, r0";
    for (warps, iwb, lwb) in [(2, 13, 12), (3, 15, 13), (4, 17, 14)] {
        let block = block(&vec![load; warps]);
        assert_eq!((value(&block, &Iwb), value(&block, &Lwb)), (iwb, lwb));
        assert_eq!(worst(&block), Some(lwb));
    }
    // with an instruction between, the room of the proof is the smaller of 10 - 1 - 1 and 10 / 2 -
    // 1 - 1
    let inside = block(&["m r0; a _; a _, r0"; 2]);
    assert_eq!((value(&inside, &Iwb), value(&inside, &Lwb)), (14, 13));
    // the same with six warps: the room is three, and there are five other warps. S = 15 is more
    // than their last issue, 10, plus rank: x - n = 15 - 5 = 10, L_1 - 1 = 9 < 10, ..., so that all
    // may have finished
    let six = block(&["m r0; a _; a _, r0"; 6]);
    assert_eq!((value(&six, &Iwb), value(&six, &Lwb)), (26, 26));
    // one long wait of the first warp, when the other warp may have finished: 6 + 1 remains, and is
    // the worst case
    let short = kernel(&machine_text(&[("f", 1, 2)], ""), &texts(&["f r0; f _, r0", "f _"]));
    assert_eq!((value(&short, &Iwb), value(&short, &Lwb), worst(&short)), (7, 7, Some(7)));
    // a unit with a queue anywhere in the program: V = 3 + 3, so that 10 - 6 remain, for three
    // others; the largest is that of the last warp, 13 + 6 slots; in the second kernel each of the
    // two warps can queue 3 * 3, so that V is 21 and nothing remains
    let queue = |codes: &[&str]| kernel(&machine_text(&units, ""), &texts(codes));
    let plain = queue(&[load, load, load, "m r0; q _, r0"]);
    assert_eq!((value(&plain, &Iwb), value(&plain, &Lwb)), (19, 16));
    let full = queue(&["q _; q _; q _; m r0; a _, r0"; 2]);
    assert_eq!(value(&full, &Lwb), value(&full, &Swb));
    // a second section, D later than the first: 0 + 4 + 10 - 1 <= 21 - 1, but 11 + 14 - 1 > 21 - 1
    let chain = "a _; bar; m r0; a r1, r0; m r2, r1; a _, r2";
    let later = block(&[chain; 2]);
    assert_eq!((value(&later, &Iwb), value(&later, &Lwb)), (1 + 1 + 1 + 1 + 22 + 4, 29));
    let first = block(&["m r0; a r1, r0; m r2, r1; a _, r2"; 2]);
    assert_eq!((value(&first, &Iwb), value(&first, &Lwb)), (26, 24));
}

/// The second example of the proof: the queue of others delays an instruction between the load and
/// its use, so that the first warp loses time while it waits.
#[test]
fn a_queue_delays_an_instruction_of_a_long_wait() {
    let units = [("m", 1, 69), ("a", 1, 0), ("q", 8, 0)];
    let other = format!("m r0; {}{}a _, r0", "a _; ".repeat(38), "q _; ".repeat(3));
    let block = kernel(&machine_text(&units, ""), &["m r0; q _; q _, r0".to_owned(), other]);
    assert_eq!((value(&block, &Iwb), value(&block, &Lwb), worst(&block)), (142, 141, Some(120)));
}

/// With a longer latency the other load is one of the longest too: C + 1, and two more credits.
#[test]
fn falls_when_a_latency_grows() {
    let at = |lat: u64| {
        let units = [("m", 1, 9), ("b", 1, lat), ("a", 1, 0)];
        let block = kernel(&machine_text(&units, ""), &texts(&["m r0; a _, r0; b r1; a _, r1"; 3]));
        let (iwb, lwb, worst) = (value(&block, &Iwb), value(&block, &Lwb), worst(&block));
        assert!(worst.is_some_and(|worst| worst <= lwb));
        (iwb, lwb)
    };
    assert_eq!((at(8), at(9)), ((29, 27), (30, 26)));
}
