//! SWB compared with its definition, and attacks on its proof (`crates/bound/src/proofs/swb.md`):
//! exact worst cases of random blocks with barriers, WAW and shared units, and a search that climbs
//! towards the bound.

use crate::bound_kernels;
use crate::bound_swb;

use bound_kernels::{Kernel, Size, kernel, machine_text, random, texts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::{Cycles, ProgressMonitor, UnitId, WarpId};
use warpbound::bound::{Bound, Gub, Iwb, Swb, analyse_block};
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

/// Within one section shorter than a window SWB equals its definition; across barriers the
/// definition may be tighter.
#[test]
fn agrees_with_its_definition() {
    let (mut several, mut equal) = (0, 0);
    for (index, section) in [6, 14, 40].into_iter().enumerate() {
        let size = Size { warps: 4, sections: 3, section, max_init: 5, max_lat: 15 };
        for seed in 0..1500 {
            let kernel = random(seed + 1_000_000 * index as u64, size);
            let report = Swb.evaluate(&analyse_block(&kernel.table, &kernel.paths));
            let found: Vec<u64> = report.sections.iter().map(|s| s.value.cycles().get()).collect();
            let mut defined = bound_swb::swb(&kernel.table, &kernel.paths);
            // a barrier that is the last instruction is followed by an empty section
            assert!(defined.len() <= found.len() && found.len() <= defined.len() + 1);
            defined.resize(found.len(), 0);
            assert_eq!(found[0], defined[0], "seed {seed}");
            assert!(found.iter().zip(&defined).all(|(f, t)| f >= t), "seed {seed}: {found:?} {defined:?}");
            if found.len() > 1 {
                several += 1;
                equal += u32::from(found == defined);
            }
        }
    }
    assert!(several > 1000 && equal * 10 > several * 7, "{equal} of {several}");
}

#[test]
fn runs_are_cut_where_something_may_be_in_flight() {
    let backlogs = |units: &[(&str, u64, u64)], code: &str| {
        let block = kernel(&machine_text(units, ""), &texts(&[code]));
        let analysis = analyse_block(&block.table, &block.paths);
        let last = analysis.sections.last().expect("a section");
        let runs = last.runs(WarpId::new(0));
        (runs.runs, runs.backlog(|_| true).get())
    };
    let units = [("a", 1, 3), ("f", 4, 0), ("g", 6, 2)];
    // independent instructions are one run; it leaves 3 + 3 - 1 - 1 on f and 5 - 1 on g
    assert_eq!(backlogs(&units, "f _; f _; g _; a _"), (1, 4));
    // a result of `a` is available 4 cycles after its issue: three instructions later there is no
    // wait for it
    assert_eq!(backlogs(&units, "a r0; a _; a _; a _, r0").0, 2);
    assert_eq!(backlogs(&units, "a r0; a _; a _; a _; a _, r0").0, 1);
    // a result of a unit with a queue is sure only once an instruction has waited for it
    assert_eq!(backlogs(&units, "f r0; 9*a _; a _, r0; a _, r0").0, 2);
    // or for an instruction that started after it on its unit
    assert_eq!(backlogs(&units, "g r0; g r1; a _, r1; a _, r0").0, 2);
    assert_eq!(backlogs(&units, "g r0; g r1; a _, r0; a _, r1").0, 3);
    // across a barrier: a value that is in flight, one that is not, and one for which an
    // instruction has waited since
    assert_eq!(backlogs(&units, "f r0; bar; a _; a _, r0; a _, r0").0, 2);
    assert_eq!(backlogs(&units, "a r0; a _; a _; bar; a _; a _, r0").0, 1);
    assert_eq!(backlogs(&units, "f r0; a _, r0; bar; a _; a _, r0").0, 1);
    assert_eq!(backlogs(&units, "f r0; bar; a _; bar; a _; a _, r0").0, 2);
    // only the units that the argument selects count
    let block = kernel(&machine_text(&units, ""), &texts(&["f _; g _"]));
    let analysis = analyse_block(&block.table, &block.paths);
    let runs = analysis.sections[0].runs(WarpId::new(0));
    assert_eq!(runs.backlog(|unit| unit == UnitId::new(1)), Cycles::new(2));
    assert_eq!(runs.backlog(|unit| unit == UnitId::new(0)), Cycles::ZERO);
}

/// Compares SWB with exact worst cases, and counts how often lowering one section by one cycle
/// would be detected.
#[test]
fn no_worst_case_exceeds_swb() {
    let sizes = [
        Size { warps: 2, sections: 1, section: 7, max_init: 9, max_lat: 8 },
        Size { warps: 3, sections: 3, section: 3, max_init: 5, max_lat: 8 },
        Size { warps: 5, sections: 2, section: 3, max_init: 6, max_lat: 3 },
        Size { warps: 2, sections: 3, section: 5, max_init: 12, max_lat: 2 },
    ];
    let mut sums = [0u64; 4];
    let (mut looked_at, mut tight, mut tight_over_barriers, mut gub_violated) = (0, 0, 0, 0);
    let mut uncut_violated = 0;
    for (index, size) in sizes.into_iter().enumerate() {
        for seed in 0..3000 {
            let kernel = random(seed + 1_000_000 * index as u64, size);
            if kernel.paths.warps.len() < 2 {
                continue;
            }
            let Some(worst) = worst(&kernel) else { continue };
            let (gub, swb, iwb) = (value(&kernel, &Gub), value(&kernel, &Swb), value(&kernel, &Iwb));
            let strongest: u64 = bound_swb::swb(&kernel.table, &kernel.paths).iter().sum();
            assert!(
                worst <= strongest && strongest <= swb && swb <= iwb,
                "size {index}, seed {seed}: {worst} {swb}"
            );
            sums.iter_mut().zip([worst, gub, swb, iwb]).for_each(|(sum, value)| *sum += value);
            looked_at += 1;
            gub_violated += u32::from(worst > gub);
            uncut_violated +=
                u32::from(worst > bound_swb::uncut(&kernel.table, &kernel.paths).iter().sum::<u64>());
            tight += u32::from(worst == swb);
            let sections = analyse_block(&kernel.table, &kernel.paths).sections.len();
            tight_over_barriers += u32::from(worst == swb && sections > 1);
        }
    }
    println!(
        "{looked_at} blocks: worst, gub, swb, iwb {sums:?}, tight {tight} ({tight_over_barriers} with barriers), gub violated {gub_violated}"
    );
    println!("runs that are not cut: violated {uncut_violated}");
    assert!(looked_at > 5000 && tight > 500 && uncut_violated > 10);
    // in these blocks, one cycle less in any section would be detected
    assert!(tight_over_barriers > 100);
}

/// A block that can be modified in small steps. `times` has the timing of the units f0, f1 and f2
/// and of the op g. `warps` has the instructions of each warp as (op, destination, source), where
/// ops 0 to 3 are f0, f1, f2 and g, and 4 is a barrier.
#[derive(Clone)]
struct MutableBlock {
    times: [(u64, u64); 4],
    waw: bool,
    warps: Vec<Vec<(usize, u8, u8)>>,
}

impl MutableBlock {
    fn random(rng: &mut ChaCha8Rng) -> Self {
        let times = std::array::from_fn(|_| (rng.random_range(1..12), rng.random_range(0..8)));
        let warps = (0..rng.random_range(2..=3))
            .map(|_| (0..rng.random_range(1..7)).map(|_| Self::instruction(rng)).collect())
            .collect();
        Self { times, waw: rng.random_ratio(1, 3), warps }
    }

    fn instruction(rng: &mut ChaCha8Rng) -> (usize, u8, u8) {
        let unit = if rng.random_ratio(1, 12) { 4 } else { rng.random_range(0..4) };
        (unit, rng.random_range(0..3), rng.random_range(0..6))
    }

    fn change(&mut self, rng: &mut ChaCha8Rng) {
        let warp = rng.random_range(0..self.warps.len());
        match rng.random_range(0..6u8) {
            0 => self.times[rng.random_range(0..4usize)] = (rng.random_range(1..12), rng.random_range(0..8)),
            1 if self.warps[warp].len() > 1 => {
                let at = rng.random_range(0..self.warps[warp].len());
                self.warps[warp].remove(at);
            }
            2 if self.warps[warp].len() < 9 => {
                let at = rng.random_range(0..=self.warps[warp].len());
                self.warps[warp].insert(at, Self::instruction(rng));
            }
            _ => {
                let at = rng.random_range(0..self.warps[warp].len());
                self.warps[warp][at] = Self::instruction(rng);
            }
        }
    }

    /// Returns the kernel: f0, f1 and f2 are units, and g is another op on f2.
    fn kernel(&self) -> Kernel {
        let [(i0, l0), (i1, l1), (i2, l2), (i3, l3)] = self.times;
        let hazards = if self.waw { "[Raw, Waw]" } else { "[Raw]" };
        let machine = format!(
            "Machine(name: \"clay\", hazards: {hazards}, units: {{ \"f0\": Unit(init: {i0}, lat: {l0}), \
             \"f1\": Unit(init: {i1}, lat: {l1}), \"f2\": Unit(init: {i2}, lat: {l2}) }}, ops: {{ \
             \"f0\": \"f0\", \"f1\": \"f1\", \"f2\": \"f2\", \"g\": Op(unit: \"f2\", init: {i3}, lat: {l3}), \"ret\": \"f0\" }})"
        );
        let text = |&(unit, dst, src): &(usize, u8, u8)| match unit {
            4 => "bar".to_owned(),
            _ => {
                let class = ["f0", "f1", "f2", "g"][unit];
                if src < 3 { format!("{class} r{dst}, r{src}") } else { format!("{class} r{dst}") }
            }
        };
        let warps: Vec<String> =
            self.warps.iter().map(|code| code.iter().map(text).collect::<Vec<_>>().join("; ")).collect();
        kernel(&machine, &warps)
    }
}

/// Simulated annealing towards a violation, on the distance of the worst case from the bound.
#[test]
fn climbing_finds_no_violation() {
    let (mut tried, mut reached, mut gub_violated) = (0, 0, 0);
    for seed in 0..24 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut now = MutableBlock::random(rng);
        let mut ratio = 0.0;
        for step in 0..400 {
            let mut next = now.clone();
            for _ in 0..rng.random_range(1..=3) {
                next.change(rng);
            }
            let kernel = next.kernel();
            let Some(worst) = worst(&kernel) else { continue };
            let swb = value(&kernel, &Swb);
            let strongest: u64 = bound_swb::swb(&kernel.table, &kernel.paths).iter().sum();
            assert!(
                worst <= strongest && strongest <= swb,
                "{worst} {strongest} {swb}: {:?} {:?}",
                next.times,
                next.warps
            );
            tried += 1;
            reached += u32::from(worst == swb);
            gub_violated += u32::from(worst > value(&kernel, &Gub));
            // avoid trivially tight blocks: the others' instructions must leave backlogs
            let slots: usize = next.warps.iter().map(Vec::len).sum();
            let close =
                worst as f64 / swb as f64 + 0.1 * (worst.saturating_sub(slots as u64) as f64 / worst as f64);
            let heat = 0.05 * (1.0 - f64::from(step) / 400.0);
            if close >= ratio - heat * rng.random_range(0.0..1.0) {
                (now, ratio) = (next, close);
            }
        }
    }
    println!("{tried} tried, {reached} tight, gub violated {gub_violated}");
    assert!(tried > 5000 && reached > 500);
}

/// The known counterexamples of GUB.
#[test]
fn known_counterexamples_of_gub() {
    let pulled = machine_text(&[("f0", 9, 0), ("f1", 2, 0), ("f2", 9, 0)], "");
    let block = kernel(&pulled, &texts(&["14*f1 _; f0 r0; f2 _, r0", "f0 _; f1 r1; f2 _, r1"]));
    let identical = machine_text(&[("f0", 9, 0), ("f1", 13, 4), ("f2", 12, 6)], "");
    let warp = "f0 r0; f0 r1; f0 r2; f2 r3; f1 r4, r0; f0 r5, r3; f1 r6; f1 r7";
    let twins = kernel(&identical, &texts(&[warp, warp]));
    for (block, worst) in [(block, 48), (twins, 106)] {
        println!("worst {worst}: {} {} {}", value(&block, &Gub), value(&block, &Swb), value(&block, &Iwb));
        assert!(value(&block, &Gub) < worst && worst <= value(&block, &Swb));
        assert!(value(&block, &Swb) <= value(&block, &Iwb));
    }
}
