//! The times at which sections have settled, compared with the definition, and attacks on how LWB
//! combines sections (`crates/bound/src/proofs/common.md`, Lemma C): exact worst cases of random
//! blocks with results in flight across barriers.

use crate::bound_formulas::{self, Ins, Times};
use crate::bound_kernels::{self, Kernel, Size, kernel, machine_text, texts};

use warpbound::base::ProgressMonitor;
use warpbound::bound::{Bound, BoundValue, Lwb, analyse_block};
use warpbound::explore::model::Model;
use warpbound::explore::schedules::search;
use warpbound::explore::search::Limits;

/// The events of a section that count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Late {
    /// All events of the definition.
    All,
    WithoutInitiations,
    WithoutBarrier,
    WithoutResults,
}

/// Returns C° of a warp's section, given the warp's instructions after it.
fn settled(section: &[Ins], later: &[Ins], late: Late) -> u64 {
    let times: Vec<Times> = bound_formulas::alone(section);
    let waited_for = |index: usize| {
        section[index].writes.iter().any(|reg| {
            let last = section.iter().rposition(|ins| ins.writes.contains(reg)) == Some(index);
            let next = later.iter().find(|ins| ins.waits.contains(reg) || ins.writes.contains(reg));
            last && next.is_some_and(|ins| ins.waits.contains(reg))
        })
    };
    let events = section.iter().zip(&times).enumerate().flat_map(|(index, (ins, at))| {
        let result = late != Late::WithoutResults && waited_for(index);
        let barrier = late != Late::WithoutBarrier && ins.barrier;
        [
            (late != Late::WithoutInitiations).then_some(at.start + ins.init),
            (result || barrier).then_some(at.done),
        ]
    });
    events.flatten().max().unwrap_or(0)
}

/// Returns C° by section and warp.
fn all_settled(kernel: &Kernel, late: Late) -> Vec<Vec<u64>> {
    let sections = bound_formulas::sections(&kernel.table, &kernel.paths);
    let of_warp = |number: usize, warp: usize| {
        let later: Vec<Ins> = sections[number + 1..].iter().flat_map(|of| of[warp].clone()).collect();
        settled(&sections[number][warp], &later, late)
    };
    (0..sections.len())
        .map(|number| (0..sections[number].len()).map(|w| of_warp(number, w)).collect())
        .collect()
}

/// Returns the block's bound, from LWB's value of each warp and section and from the times at which
/// they have settled.
fn combined(kernel: &Kernel, settled: &[Vec<u64>]) -> u64 {
    let block = analyse_block(&kernel.table, &kernel.paths);
    let (mut before, mut value) = (0, 0);
    for (section, settled) in block.sections.iter().zip(settled) {
        let mut values: Vec<BoundValue> = Vec::new();
        Lwb.warp_values(section, &mut values);
        let (mut done, mut next) = (0, 0);
        for (index, warp) in section.warps().iter().enumerate().filter(|(_, warp)| warp.instructions > 0) {
            let cycles = values[index].cycles().get();
            done = done.max(cycles);
            next = next.max((cycles + settled[index]).saturating_sub(warp.isolated.get()));
        }
        value = value.max(before + done);
        before += next;
    }
    value
}

fn lwb(kernel: &Kernel) -> u64 {
    Lwb.evaluate(&analyse_block(&kernel.table, &kernel.paths)).value.cycles().get()
}

/// Returns the exact worst makespan, if few states suffice to find it.
fn worst(kernel: &Kernel) -> Option<u64> {
    let model = Model::new(&kernel.table, &kernel.paths).ok()?;
    search(&model, Limits { max_states: 60_000, ..Limits::default() }, &ProgressMonitor::new())
        .ok()
        .map(|found| found.worst)
}

const SIZES: [Size; 3] = [
    Size { warps: 3, sections: 3, section: 3, max_init: 6, max_lat: 25 },
    Size { warps: 2, sections: 5, section: 2, max_init: 5, max_lat: 40 },
    Size { warps: 2, sections: 3, section: 4, max_init: 9, max_lat: 12 },
];

/// On kernels of any size, the analyser, which reuses equal sections, agrees with the definition.
#[test]
fn sections_settle_as_defined() {
    let larger = Size { warps: 4, sections: 8, section: 6, max_init: 6, max_lat: 40 };
    let (mut sections, mut earlier, mut results) = (0, 0, 0);
    for (index, size) in SIZES.into_iter().chain([larger]).enumerate() {
        for seed in 0..1500 {
            let kernel = bound_kernels::random(seed + 1_000_000 * index as u64, size);
            let (defined, without) =
                (all_settled(&kernel, Late::All), all_settled(&kernel, Late::WithoutResults));
            let block = analyse_block(&kernel.table, &kernel.paths);
            for (number, section) in block.sections.iter().enumerate() {
                for (warp, analysed) in section.warps().iter().enumerate() {
                    let (settled, defined) = (analysed.settled.get(), defined[number][warp]);
                    assert_eq!(settled, defined, "size {index}, seed {seed}, section {number}, w{warp}");
                    sections += 1;
                    earlier += u32::from(settled < analysed.isolated.get());
                    results += u32::from(settled > without[number][warp]);
                }
            }
            assert_eq!(lwb(&kernel), combined(&kernel, &defined), "size {index}, seed {seed}");
        }
    }
    println!("{sections} sections, {earlier} settle before they are done, {results} by a result");
    assert!(earlier > 2000 && results > 500, "{sections} {earlier} {results}");
}

/// No schedule takes longer, and each kind of event is needed.
#[test]
fn no_worst_case_exceeds_lwb_and_each_kind_of_event_is_needed() {
    let mut looked_at = 0;
    let mut exceeded = [0u32; 4];
    let (mut below, mut divided, mut tight) = (0, 0, 0);
    for (index, size) in SIZES.into_iter().enumerate() {
        for seed in 0..4000 {
            let sub_cores = 1 + usize::from(seed % 4 == 0);
            let kernel = bound_kernels::random_on(seed + 7_000_000 * (index as u64 + 1), size, sub_cores);
            if kernel.paths.warps.len() < 2 {
                continue;
            }
            let Some(worst) = worst(&kernel) else { continue };
            let bound = lwb(&kernel);
            assert!(worst <= bound, "size {index}, seed {seed}: {worst} {bound}");
            looked_at += 1;
            let in_full: Vec<Vec<u64>> = analyse_block(&kernel.table, &kernel.paths)
                .sections
                .iter()
                .map(|section| section.warps().iter().map(|warp| warp.isolated.get()).collect())
                .collect();
            let sum = combined(&kernel, &in_full);
            below += u32::from(bound < sum);
            divided += u32::from(bound < sum && sub_cores > 1);
            tight += u32::from(bound < sum && bound == worst);
            let less = |late| combined(&kernel, &all_settled(&kernel, late));
            let of = [
                less(Late::WithoutInitiations),
                less(Late::WithoutBarrier),
                less(Late::WithoutResults),
                bound.saturating_sub(1),
            ];
            exceeded.iter_mut().zip(of).for_each(|(count, bound)| *count += u32::from(worst > bound));
        }
    }
    println!(
        "{looked_at} blocks, {below} below the sum of sections, {divided} of them on two sub-cores, {tight} exact; {exceeded:?}"
    );
    assert!(
        looked_at > 4000 && below > 500 && divided > 100 && tight > 100,
        "{looked_at} {below} {divided} {tight}"
    );
    assert!(exceeded.iter().all(|&count| count > 20), "{exceeded:?}");
}

fn by_hand(code: &[&str]) -> (u64, Option<u64>) {
    let kernel = kernel(&machine_text(&[("i", 2, 2), ("st", 1, 199), ("barrier", 1, 3)], ""), &texts(code));
    (lwb(&kernel), worst(&kernel))
}

/// In the first section i takes from 0 to 4, st from 4 to 204, the barrier from 5 to 9: C = 204,
/// and C° = 9 or 204.
#[test]
fn hand_computed_values() {
    // no instruction waits for the store: the sections' ends are 204 and 9 + 204
    assert_eq!(by_hand(&["i r0; st _, r0; bar; i r1; st _, r1"]), (213, Some(213)));
    // the second section waits for the store at its beginning, or only at its end, which costs the
    // same
    assert_eq!(by_hand(&["i r0; st r2, r0; bar; i r1, r2"]), (208, Some(208)));
    assert_eq!(by_hand(&["i r0; st r2, r0; bar; i r1; i r1, r2"]), (210, Some(208)));
    // the register is written again, so no instruction waits for the store
    assert_eq!(by_hand(&["i r0; st r2, r0; bar; i r2; i r1, r2"]), (204, Some(204)));
    // an instruction waits for the store two sections later
    assert_eq!(by_hand(&["i r0; st r2, r0; bar; i r1; bar; i r1, r2"]), (213, Some(208)));
}
