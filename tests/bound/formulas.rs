//! The comparison of the analyser and the bounds with the naive formulas, on thousands of random
//! blocks. The same comparison must detect bounds that were tampered with.

use crate::bound_formulas;
use crate::bound_kernels;

use bound_formulas::{alone, end, exec, gub, initiating, instructions, isolated, iwb, phases, sections};
use bound_kernels::{Builder, Kernel, Size, kernel, machine, machine_text, random, texts};
use warpbound::base::{Cycles, WarpId};
use warpbound::bound::{
    Analyser, Applicable, BlockAnalysis, Bound, BoundReport, BoundValue, Context, Gub, Iwb, NotApplicable,
    PhaseKind, SectionAnalysis, analyse_alone, analyse_block,
};
use warpbound::path::Step;
use warpbound::program::Flow;

const SIZE: Size = Size { warps: 5, sections: 5, section: 14, max_init: 9, max_lat: 15 };
const BLOCKS: u64 = 6000;

/// Returns a description of a fault in the whole-path mode, if there is one.
fn alone_disagrees(kernel: &Kernel) -> Option<String> {
    for (warp, path) in kernel.paths.warps.iter().enumerate() {
        let code = instructions(&kernel.table, path);
        let expected = alone(&code);
        let mut events = Vec::new();
        let found = analyse_alone(&kernel.table, path, |event| events.push(event));
        let listed: Vec<(usize, u64, u64, u64)> =
            events.iter().map(|e| (e.index as usize, e.issue.get(), e.start.get(), e.done.get())).collect();
        let defined: Vec<(usize, u64, u64, u64)> =
            code.iter().zip(&expected).map(|(ins, at)| (ins.index, at.issue, at.start, at.done)).collect();
        if listed != defined {
            return Some(format!("w{warp}: events {listed:?}, expected {defined:?}"));
        }
        let busy = initiating(&code, &expected);
        let marked = phases(&busy);
        let shown: Vec<(bool, u64, u64)> =
            found.phases.iter().map(|p| (p.kind == PhaseKind::Exec, p.start.get(), p.end.get())).collect();
        if shown != marked {
            return Some(format!("w{warp}: phases {shown:?}, expected {marked:?}"));
        }
        let in_exec = busy.iter().filter(|&&b| b).count() as u64;
        let sums = (found.exec.get(), found.idle.get(), found.end.get());
        if sums != (in_exec, busy.len() as u64 - in_exec, end(&expected)) {
            return Some(format!("w{warp}: sums {sums:?}"));
        }
    }
    None
}

/// Returns a description of a fault in the sections, if there is one.
fn sections_disagree(kernel: &Kernel, block: &BlockAnalysis) -> Option<String> {
    let expected = sections(&kernel.table, &kernel.paths);
    if block.sections.len() != expected.len() {
        return Some(format!("{} sections, expected {}", block.sections.len(), expected.len()));
    }
    for (index, (found, defined)) in block.sections.iter().zip(&expected).enumerate() {
        for (warp, code) in defined.iter().enumerate() {
            let of = &found.warps()[warp];
            let shown = (of.isolated.get(), of.exec.get(), of.instructions);
            let wanted = (isolated(code), exec(code), code.len() as u64);
            if shown != wanted {
                return Some(format!("section {index}, w{warp}: C, E, n {shown:?}, expected {wanted:?}"));
            }
            for (unit, used) in found.uses(WarpId::from_index(warp)).iter().enumerate() {
                let on_unit = code.iter().filter(|ins| ins.unit == unit);
                let wanted = on_unit.fold((0, 0), |(n, init), ins| (n + 1, init + ins.init));
                if (used.instructions, used.init.get()) != wanted {
                    return Some(format!(
                        "section {index}, w{warp}, unit {unit}: {used:?}, expected {wanted:?}"
                    ));
                }
            }
        }
    }
    for (warp, totals) in block.warps.iter().enumerate() {
        let of = |value: fn(&[bound_formulas::Ins]) -> u64| -> u64 {
            expected.iter().map(|s| value(&s[warp])).sum()
        };
        let wanted = (of(isolated), of(exec), of(isolated) - of(exec));
        if (totals.isolated.get(), totals.exec.get(), totals.idle.get()) != wanted {
            return Some(format!("w{warp}: totals {totals:?}, expected {wanted:?}"));
        }
    }
    None
}

/// Returns a description of a fault in a pair of bounds, given as implementations of GUB and IWB,
/// if there is one.
fn bounds_disagree(kernel: &Kernel, block: &BlockAnalysis, bounds: [&dyn Bound; 2]) -> Option<String> {
    let sections = sections(&kernel.table, &kernel.paths);
    let by_gub: Vec<u64> = sections.iter().map(|warps| gub(warps)).collect();
    let by_iwb: Vec<u64> = sections.iter().map(|warps| iwb(warps)).collect();
    for (bound, wanted) in bounds.into_iter().zip([by_gub, by_iwb]) {
        let report = bound.evaluate(block);
        let shown: Vec<u64> = report.sections.iter().map(|s| s.value.cycles().get()).collect();
        if shown != wanted || report.value.cycles().get() != wanted.iter().sum::<u64>() {
            return Some(format!("{} {shown:?} sum {}, expected {wanted:?}", bound.name(), report.value));
        }
        let largest = report.warps.iter().max().copied().unwrap_or_default();
        if largest > report.value {
            return Some(format!(
                "{}: a warp may end at {largest}, the block at {}",
                bound.name(),
                report.value
            ));
        }
    }
    None
}

#[test]
fn whole_paths_agree() {
    for seed in 0..BLOCKS {
        assert_eq!(alone_disagrees(&random(seed, SIZE)), None, "seed {seed}");
    }
}

#[test]
fn sections_and_bounds_agree() {
    let (mut with_barriers, mut uneven) = (0, 0);
    for seed in 0..BLOCKS {
        let kernel = random(seed, SIZE);
        let block = analyse_block(&kernel.table, &kernel.paths);
        assert_eq!(sections_disagree(&kernel, &block), None, "seed {seed}");
        assert_eq!(bounds_disagree(&kernel, &block, [&Gub, &Iwb]), None, "seed {seed}");
        with_barriers += u32::from(block.sections.len() > 1);
        let last = block.sections.last().expect("a warp has a section");
        uneven += u32::from(last.warps().iter().any(|w| w.instructions == 0));
    }
    // the generator covers what it is meant to cover
    assert!(with_barriers > 1000 && uneven > 1000, "{with_barriers} {uneven}");
}

/// Few units and no latency: initiations of different units often overlap and touch.
#[test]
fn phases_that_touch_agree() {
    let size = Size { warps: 1, sections: 2, section: 24, max_init: 3, max_lat: 2 };
    for seed in 0..BLOCKS {
        assert_eq!(alone_disagrees(&random(seed, size)), None, "seed {seed}");
    }
}

#[test]
fn one_analyser_serves_many_blocks() {
    let first = random(3, SIZE);
    let mut analyser = Analyser::new(&first.table);
    for _ in 0..3 {
        assert_eq!(analyser.block(&first.paths), analyse_block(&first.table, &first.paths));
    }
    let mut count = 0;
    let mut report = BoundReport::default();
    analyser.for_each_section(&first.paths, |section| {
        count += 1;
        Iwb.add_section(&mut report, section);
    });
    let whole = analyse_block(&first.table, &first.paths);
    assert_eq!(count, whole.sections.len());
    assert_eq!(report, Iwb.evaluate(&whole));
}

/// Phases merge if a source becomes available exactly at the end of the last initiation, and split
/// if it becomes available one cycle later.
#[test]
fn phases_merge_when_they_touch() {
    for (lat, expected) in [(2, vec![(0, 6)]), (3, vec![(0, 3), (4, 7)])] {
        let units = [("a", 1, lat), ("b", 2, 0), ("c", 3, 0)];
        let block = kernel(&machine_text(&units, ""), &texts(&["a r0; b _; c _, r0"]));
        let found = analyse_alone(&block.table, &block.paths.warps[0], |_| ());
        let exec: Vec<(u64, u64)> = found
            .phases
            .iter()
            .filter(|p| p.kind == PhaseKind::Exec)
            .map(|p| (p.start.get(), p.end.get()))
            .collect();
        assert_eq!(exec, expected);
    }
}

/// The tail ends with the latest `done` of all, here that of the first instruction.
#[test]
fn tail_waits_for_the_slowest() {
    let block = kernel(&machine_text(&[("a", 1, 30), ("b", 2, 0)], ""), &texts(&["a _; b _"]));
    let found = analyse_alone(&block.table, &block.paths.warps[0], |_| ());
    assert_eq!((found.exec.get(), found.idle.get(), found.end.get()), (3, 28, 31));
}

#[test]
fn empty_warps_take_no_time() {
    let block = kernel(&machine_text(&[("a", 1, 0)], ""), &texts(&["", "bar; a _; bar"]));
    assert_eq!(analyse_alone(&block.table, &block.paths.warps[0], |_| panic!("nothing issues")).phases, []);
    let analysis = analyse_block(&block.table, &block.paths);
    assert_eq!(analysis.sections.len(), 3);
    let report = Iwb.evaluate(&analysis);
    assert_eq!(report.value.cycles(), Cycles::new(3));
    assert_eq!(report.warps.iter().map(|v| v.cycles().get()).collect::<Vec<_>>(), [0, 3]);
    let attained: Vec<WarpId> = report.sections.iter().map(|s| s.warp).collect();
    assert_eq!(attained, [WarpId::new(1), WarpId::new(1), WarpId::new(0)]);
}

/// A path that ends without an end marker must not make the analyser treat the beginning of another
/// path as the same section.
#[test]
fn sections_are_remembered_only_with_their_end() {
    let mut builder = Builder::new(1);
    let pc = builder.instr("a", &[], &[], Flow::Plain);
    builder.unended_warp(&[Step::plain(pc)]);
    builder.unended_warp(&[Step::plain(pc); 3]);
    let block = builder.finish(&machine(&machine_text(&[("a", 2, 0)], "")));
    let analysis = analyse_block(&block.table, &block.paths);
    assert_eq!(analysis.warps.iter().map(|w| w.isolated.get()).collect::<Vec<_>>(), [2, 6]);
    assert_eq!(analysis.sections.len(), 1);
}

/// A bound that is one cycle too low in one section, for the sabotage test.
struct Lowered<B>(B);

impl<B: Bound> Bound for Lowered<B> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn summary(&self) -> &'static str {
        self.0.summary()
    }
    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        self.0.applicable(context)
    }
    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        self.0.warp_values(section, values);
        for value in values {
            *value = BoundValue::new(value.cycles().saturating_sub(Cycles::ONE));
        }
    }
}

#[test]
fn one_cycle_less_is_caught() {
    let caught = |bounds: [&dyn Bound; 2]| {
        (0..200).all(|seed| {
            let kernel = random(seed, SIZE);
            let block = analyse_block(&kernel.table, &kernel.paths);
            let empty = kernel.paths.warps.iter().all(|path| instructions(&kernel.table, path).is_empty());
            empty || bounds_disagree(&kernel, &block, bounds).is_some()
        })
    };
    assert!(caught([&Lowered(Gub), &Iwb]));
    assert!(caught([&Gub, &Lowered(Iwb)]));
}
