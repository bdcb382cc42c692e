//! The comparison of the bounds with every block of the small grammar, under every work-conserving
//! schedule. The blocks have two warps of up to three instructions each, or three warps of up to
//! two instructions each. There are two units. An instruction reads the results of any subset of
//! the instructions before it in its warp.
//!
//! The same comparison must detect bounds that are one cycle too low.

use crate::campaign;

use warpbound::base::{Cycles, ProgressMonitor, WarpId};
use warpbound::bound::{
    Applicable, Bound, BoundValue, Context, Gub, Iwb, Lwb, NotApplicable, SectionAnalysis, Standing, Swb,
    analyse_block,
};
use warpbound::explore::grammar::{Grammar, Summary};
use warpbound::explore::model::Model;
use warpbound::explore::schedules::search;
use warpbound::explore::search::Limits;

const THREADS: usize = 2;

fn grammar(warps: usize, longest: usize) -> Grammar {
    Grammar::new(warps, longest).expect("a small grammar")
}

fn all(grammar: &Grammar, bounds: &[&(dyn Bound + Sync)]) -> Summary {
    grammar.enumerate(0..grammar.blocks(), THREADS, bounds, &ProgressMonitor::new()).expect("a valid grammar")
}

#[test]
fn the_grammar_has_the_documented_size() {
    let (two, three, four) = (grammar(2, 3), grammar(3, 2), grammar(2, 4));
    assert_eq!((two.stands_for(), three.stands_for()), (399_600, 31_680));
    assert_eq!(four.stands_for(), 86_882_544);
    assert_eq!(two.describe(0), "f0: init 1 lat 0; f1: init 1 lat 0; w0: r0=f0() | w1: r0=f0()");
}

#[test]
fn proved_bounds_hold_for_every_block() {
    for (warps, longest, blocks) in [(2, 3, 399_600), (3, 2, 31_680)] {
        let grammar = grammar(warps, longest);
        let summary = all(&grammar, &[&Gub, &Swb, &Iwb, &Lwb]);
        assert_eq!(summary.stands_for, blocks);
        for tally in &summary.bounds {
            let (worst, value, number) = tally.closest;
            println!(
                "{warps} warps: {} average {:.4} of {:.4}, tight {}, violated {} {}, closest {worst}/{value}: {}",
                tally.name,
                tally.sum as f64 / blocks as f64,
                summary.worst_sum as f64 / blocks as f64,
                tally.tight,
                tally.violated,
                tally.warp_violated,
                grammar.describe(number),
            );
        }
        let [gub, swb, iwb, lwb] = summary.bounds.as_slice() else { panic!("four bounds") };
        for proved in [swb, iwb, lwb] {
            assert_eq!(
                (proved.violated, proved.warp_violated),
                (0, 0),
                "{}: {:?}",
                proved.name,
                proved.first.iter().map(|&n| grammar.describe(n)).collect::<Vec<_>>()
            );
        }
        assert!(swb.sum < iwb.sum && swb.tight >= iwb.tight);
        assert!(lwb.sum < swb.sum && lwb.tight > swb.tight);
        // GUB fails too, but not for blocks as small as these
        assert_eq!((gub.violated, gub.warp_violated), (0, 0));
    }
}

/// Latencies longer than the grammar's default, and more warps: blocks for which LWB subtracts
/// credits.
#[test]
fn long_waits_hold_for_every_block() {
    let grammars = [(2, 4, &[1][..], &[0, 5, 9][..]), (4, 2, &[1, 2], &[0, 5, 12]), (3, 3, &[1], &[0, 7])];
    let taken = grammars.len() - usize::from(!campaign::in_full());
    for (warps, longest, inits, lats) in grammars.into_iter().take(taken) {
        let grammar = Grammar::with_timing(warps, longest, inits, lats).expect("a small grammar");
        let summary = all(&grammar, &[&Swb, &Lwb]);
        let [swb, lwb] = summary.bounds.as_slice() else { panic!("two bounds") };
        println!(
            "{warps} warps up to {longest}: {} blocks; average {:.3}, LWB {:.3}, SWB {:.3}; tight {} and {}",
            summary.stands_for,
            summary.worst_sum as f64 / summary.stands_for as f64,
            lwb.sum as f64 / summary.stands_for as f64,
            swb.sum as f64 / summary.stands_for as f64,
            lwb.tight,
            swb.tight,
        );
        assert_eq!((lwb.violated, lwb.warp_violated), (0, 0), "{:?}", lwb.first);
        assert!(lwb.sum < swb.sum && lwb.tight > swb.tight);
    }
}

/// The smallest violations of GUB need two warps of four instructions: 32 of 86.9 million blocks,
/// of which 24 have inits 2 and 3 and no latency.
#[test]
fn gub_fails_first_with_four_instructions() {
    let grammar = Grammar::with_timing(2, 4, &[2, 3], &[0]).expect("a small grammar");
    let summary = all(&grammar, &[&Gub, &Swb]);
    let [gub, swb] = summary.bounds.as_slice() else { panic!("two bounds") };
    assert_eq!((gub.violated, gub.warp_violated), (24, 24));
    assert_eq!((swb.violated, swb.warp_violated), (0, 0));
    let first = gub.first[0];
    assert_eq!(
        grammar.describe(first),
        "f0: init 2 lat 0; f1: init 3 lat 0; \
         w0: r0=f1() r1=f0() r2=f0() r3=f1(r0) | w1: r0=f1() r1=f1() r2=f0() r3=f0(r2)"
    );
    // the search confirms it
    let (table, paths) = grammar.kernel(first).expect("a valid grammar");
    let model = Model::new(&table, &paths).expect("a small block");
    let found = search(&model, Limits::default(), &ProgressMonitor::new()).expect("few states");
    let value = |bound: &dyn Bound| bound.evaluate(&analyse_block(&table, &paths)).value.cycles().get();
    println!("worst {} gub {} swb {} iwb {}", found.worst, value(&Gub), value(&Swb), value(&Iwb));
    assert!(value(&Gub) < found.worst && found.worst <= value(&Swb));
}

/// The worst cases that the enumeration finds are those of the search.
#[test]
fn worst_cases_agree_with_the_search() {
    for (warps, longest) in [(2, 3), (3, 2), (2, 4), (4, 2)] {
        let grammar = grammar(warps, longest);
        let step = grammar.blocks() / 400 + 1;
        for number in (0..grammar.blocks()).step_by(step as usize) {
            let (table, paths) = grammar.kernel(number).expect("a valid grammar");
            let model = Model::new(&table, &paths).expect("a small block");
            let limits = Limits::default();
            let found = search(&model, limits, &ProgressMonitor::new()).expect("few states");
            assert_eq!(grammar.worst(number).0, found.worst, "{}", grammar.describe(number));
        }
    }
}

#[test]
fn parts_add_up_and_threads_do_not_matter() {
    let grammar = grammar(2, 2);
    let bounds: [&(dyn Bound + Sync); 2] = [&Gub, &Swb];
    let whole = all(&grammar, &bounds);
    let mut parts = grammar.enumerate(0..1000, 1, &bounds, &ProgressMonitor::new()).expect("a valid grammar");
    parts.add(
        &grammar.enumerate(1000..u64::MAX, 2, &bounds, &ProgressMonitor::new()).expect("a valid grammar"),
    );
    assert_eq!(whole, parts);
}

/// A bound lowered by one cycle for one warp, or for all.
struct Lowered<B>(B, Option<WarpId>);

impl<B: Bound> Bound for Lowered<B> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn summary(&self) -> &'static str {
        self.0.summary()
    }
    fn standing(&self) -> Standing {
        self.0.standing()
    }
    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        self.0.applicable(context)
    }
    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        self.0.warp_values(section, values);
        for (index, value) in values.iter_mut().enumerate() {
            if self.1.is_none_or(|warp| warp.index() == index) {
                *value = BoundValue::new(value.cycles().saturating_sub(Cycles::ONE));
            }
        }
    }
}

#[test]
fn one_cycle_less_is_caught() {
    let grammar = grammar(2, 2);
    let caught = |bound: &(dyn Bound + Sync)| {
        let summary = all(&grammar, &[bound]);
        (summary.bounds[0].violated > 0, summary.bounds[0].warp_violated > 0)
    };
    assert_eq!(caught(&Lowered(Swb, None)), (true, true));
    assert_eq!(caught(&Lowered(Iwb, None)), (true, true));
    assert_eq!(caught(&Lowered(Lwb, None)), (true, true));
    for warp in [0, 1].map(WarpId::new) {
        assert!(caught(&Lowered(Swb, Some(warp))).1, "swb {warp}");
        assert!(caught(&Lowered(Iwb, Some(warp))).1, "iwb {warp}");
        assert!(caught(&Lowered(Lwb, Some(warp))).1, "lwb {warp}");
    }
}

/// LWB with one credit too many, if it gives any.
struct Greedy;

impl Bound for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }
    fn summary(&self) -> &'static str {
        "lwb, less one cycle where it is below swb"
    }
    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        Lwb.applicable(context)
    }
    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        let mut swb = Vec::new();
        Swb.warp_values(section, &mut swb);
        Lwb.warp_values(section, values);
        for (value, swb) in values.iter_mut().zip(swb).filter(|(value, swb)| **value < *swb) {
            *value = BoundValue::new(value.cycles().min(swb.cycles()).saturating_sub(Cycles::ONE));
        }
    }
}

#[test]
fn a_credit_too_many_is_caught() {
    let grammar = Grammar::with_timing(3, 2, &[1, 2], &[0, 5]).expect("a small grammar");
    let summary = all(&grammar, &[&Lwb, &Greedy]);
    assert_eq!(summary.bounds[0].warp_violated, 0);
    assert!(summary.bounds[1].violated > 0 && summary.bounds[1].warp_violated > 0);
}
