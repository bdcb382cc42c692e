//! Tests that compare the parts with each other: the fast worst case with the exact search, the
//! hunt with itself on more threads, and the result of the shrinker with a second pass.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::explore::model::Model;
use crate::explore::schedules::search;
use crate::explore::search::Limits;
use warpbound_bound::{
    Applicable, BoundValue, Context, Gub, Iwb, LaunchFigures, NotApplicable, Rbb, Scope, SectionAnalysis,
};
use warpbound_core::base::Cycles;
use warpbound_sim::PolicySetup;

const EVERYTHING: usize = usize::MAX;

fn size(warps: usize, identical: bool, instructions: usize) -> Size {
    Size { warps, together: None, identical, instructions, units: 4, init: 6, lat: 9, barriers: true }
}

fn gub() -> Box<dyn Bound> {
    Box::new(Gub)
}

#[test]
fn the_fast_worst_case_is_that_of_the_exact_search() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut evaluator = Evaluator::default();
    let mut subject = Subject::default();
    let mut barriers = 0;
    for round in 0..1500 {
        let (warps, identical, instructions) =
            [(2, false, 6), (2, true, 6), (3, false, 4), (3, true, 3), (1, false, 5)][round % 5];
        let instance = Genome::random(size(warps, identical, instructions), &mut rng).instance();
        subject.fill(&instance);
        let model = Model::new(&subject.table, subject.paths()).unwrap();
        let limits = Limits { max_states: 1_000_000, threads: 1, ..Limits::default() };
        let exact = search(&model, limits, &ProgressMonitor::new()).unwrap();
        let fast = evaluator.worst(&instance, EVERYTHING);
        assert_eq!((fast.makespan, fast.exact), (exact.worst, true), "{instance:?}");
        barriers += usize::from(instance.codes.iter().flatten().any(|ins| ins.kind == Kind::Barrier));
        let (again, witness) = evaluator.witness(&instance, EVERYTHING);
        assert_eq!(again, fast);
        assert_eq!(witness.len(), instance.instructions());
    }
    assert!(barriers > 200, "{barriers} instances with barriers");
}

#[test]
fn schedules_are_counted() {
    let on = |unit| Ins { kind: Kind::On(unit), reads: [None; 2] };
    let units = vec![UnitTime { init: 2, lat: 0, shared: false }];
    let instance = Instance { units, codes: vec![vec![on(0); 3], vec![on(0); 3]], copies: 1, together: None };
    let worst = Evaluator::default().worst(&instance, EVERYTHING);
    assert_eq!((worst.makespan, worst.schedules), (12, 20.0), "6 over 3 interleavings");
}

#[test]
fn a_beam_follows_schedules_that_exist() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut evaluator = Evaluator::default();
    let mut less = 0;
    for _ in 0..200 {
        let instance = Genome::random(size(3, false, 6), &mut rng).instance();
        let exact = evaluator.worst(&instance, EVERYTHING);
        let (beam, schedule) = evaluator.witness(&instance, 4);
        assert!(beam.makespan <= exact.makespan && (beam.exact || beam.states < exact.states));
        less += usize::from(!beam.exact);
        let setting = Setting::Policy(PolicySetup::Lrr);
        let name = "beam";
        let schedule = Witness::Warps(schedule);
        WitnessFiles::new(&instance, &setting, &schedule, beam.makespan, name, name).unwrap();
    }
    assert!(less > 20, "{less}");
}

/// Returns hunts that find a violation within a moment, by setting and seed.
fn quick() -> [Hunt; 4] {
    let policy = Setting::Policy;
    let all = [
        (Setting::Any, 1),
        (Setting::Identical, 1),
        (policy(PolicySetup::Lrr), 2),
        (policy(PolicySetup::Gto), 5),
    ];
    all.map(|(setting, seed)| Hunt::usual(setting, true, seed, 1))
}

#[test]
fn violations_are_found_shrunk_and_replayed_in_every_setting() {
    for plan in quick() {
        let setting = plan.setting.clone();
        let found = hunt(&plan, &gub, &|_, _| {}, &ProgressMonitor::new())
            .violation
            .expect("gub fails in every setting");
        let Violation { witness, score, schedule, .. } = &found;
        assert!(found.found_score.violated() && score.violated(), "{setting}");
        assert!(witness.size() < found.found.size(), "{setting}: nothing was shrunk");
        // judged again, also through the front ends and the engine
        let mut judge = Judge::new(setting.clone(), gub(), plan.beam);
        assert_eq!(judge.score(witness), *score);
        WitnessFiles::new(witness, &setting, schedule, score.worst.makespan, "w", "w").unwrap();
        // a second pass finds nothing to shrink
        let (again, _) = shrink(witness.clone(), |candidate| judge.score(candidate).violated());
        assert_eq!(again, *witness, "{setting}");
        if setting == Setting::Identical {
            assert_eq!((witness.codes.len(), witness.copies), (1, 2));
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    // the last two find a violation in their second chain; the others find none in so few instances
    for plan in quick() {
        let policy = matches!(plan.setting, Setting::Policy(_));
        let plan = if policy { plan } else { Hunt { instances: 3000, chain: 200, seed: 9, ..plan } };
        let one = hunt(&plan, &gub, &|_, _| {}, &ProgressMonitor::new());
        let two = hunt(&Hunt { jobs: 2, ..plan.clone() }, &gub, &|_, _| {}, &ProgressMonitor::new());
        assert_eq!(one, two, "{}", plan.setting);
        assert_eq!(one.violation.as_ref().map(|v| v.chain), policy.then_some(1), "{}", plan.setting);
        let other =
            hunt(&Hunt { seed: 77, instances: 500, ..plan }, &gub, &|_, _| {}, &ProgressMonitor::new());
        assert_ne!(one.summary.closest, other.summary.closest);
    }
    let plan = Hunt { instances: 5000, ..Hunt::usual(Setting::Any, false, 1, 1) };
    let iwb = || Box::new(Iwb) as Box<dyn Bound>;
    let one = hunt(&plan, &iwb, &|_, _| {}, &ProgressMonitor::new());
    assert_eq!(one, hunt(&Hunt { jobs: 2, ..plan }, &iwb, &|_, _| {}, &ProgressMonitor::new()));
    assert_eq!((one.violation, one.summary.instances, one.summary.exact), (None, 5000, 5000));
}

#[test]
fn the_shrinker_preserves_the_given_property() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let on_unit = |instance: &Instance, unit: u16| {
        let fits = |ins: &&Ins| instance.timing(ins.kind).1.init >= unit && !ins.reads.contains(&None);
        instance.codes.iter().flatten().filter(fits).count()
    };
    let mut shrunk = 0;
    for _ in 0..200 {
        let big = Genome::random(Size { barriers: false, ..size(3, false, 20) }, &mut rng).instance();
        if on_unit(&big, 3) == 0 {
            continue;
        }
        let (small, tried) = shrink(big, |candidate| on_unit(candidate, 3) > 0);
        // the result is one instruction that reads two others, on one unit
        assert_eq!(small.size(), (3, 2, 1, 3), "{small:?} after {tried}");
        shrunk += 1;
    }
    assert!(shrunk > 10, "{shrunk}");
}

/// IWB, reduced by one cycle if another warp shares a unit.
struct Sabotaged;

impl Bound for Sabotaged {
    fn name(&self) -> &'static str {
        "sabotaged"
    }

    fn summary(&self) -> &'static str {
        "IWB, one cycle too low where another warp shares a unit"
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        Iwb.applicable(context)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        Iwb.warp_values(section, values);
        for (value, warp) in values.iter_mut().zip(section.warps()) {
            if value.cycles() > warp.isolated {
                *value = BoundValue::new(value.cycles() - Cycles::ONE);
            }
        }
    }
}

#[test]
fn a_bound_one_cycle_too_low_is_caught_at_once() {
    let plan = Hunt { instances: 20_000, ..Hunt::usual(Setting::Any, false, 1, 1) };
    let found = hunt(&plan, &|| Box::new(Sabotaged), &|_, _| {}, &ProgressMonitor::new());
    let violation = found.violation.expect("it is caught");
    assert!(found.summary.instances < 100, "after {}", found.summary.instances);
    assert_eq!(violation.score.worst.makespan, violation.score.bound + 1);
    assert_eq!(violation.witness.instructions(), 2, "{:?}", violation.witness);
    // the hunt finds no violation of the bound itself
    let iwb = hunt(&plan, &|| Box::new(Iwb), &|_, _| {}, &ProgressMonitor::new());
    assert_eq!((iwb.violation, iwb.summary.instances), (None, 20_000));
    assert!(iwb.summary.tight > 1000 && iwb.summary.mean_ratio() > 0.8);
}

/// RBB, reduced by one cycle.
struct SabotagedRbb;

impl Bound for SabotagedRbb {
    fn name(&self) -> &'static str {
        "sabotaged"
    }

    fn summary(&self) -> &'static str {
        "RBB, one cycle too low"
    }

    fn scope(&self) -> Scope {
        Scope::Launch
    }

    fn applicable(&self, context: &Context) -> Result<Applicable, NotApplicable> {
        Rbb.applicable(context)
    }

    fn warp_values(&self, section: &SectionAnalysis, values: &mut Vec<BoundValue>) {
        Rbb.warp_values(section, values);
    }

    fn of_launch(&self, launch: &LaunchFigures) -> BoundValue {
        BoundValue::new(launch.resident.value().cycles().saturating_sub(Cycles::ONE))
    }
}

/// Launches with more blocks than CTA slots or not, and with one or several sub-cores.
#[test]
fn launches_of_several_blocks_are_hunted_too() {
    for (blocks, places, sub_cores) in [(2, 2, 1), (3, 2, 1), (3, 2, 2)] {
        let together = Together { blocks, places, sub_cores };
        let plan = Hunt { instances: 300, chain: 100, ..Hunt::of_launches(Setting::Any, together, 1, 1) };
        let found = hunt(&plan, &|| Box::new(SabotagedRbb), &|_, _| {}, &ProgressMonitor::new());
        let Violation { witness, score, schedule, .. } = found.violation.expect("it is caught");
        assert_eq!(score.worst.makespan, score.bound + 1, "{together:?}");
        WitnessFiles::new(&witness, &plan.setting, &schedule, score.worst.makespan, "w", "w").unwrap();
        let rbb = hunt(&plan, &|| Box::new(Rbb), &|_, _| {}, &ProgressMonitor::new());
        assert_eq!((rbb.violation, rbb.summary.instances), (None, 300), "{together:?}");
        assert!(rbb.summary.tight > 0, "{together:?}: {}", rbb.summary.tight);
    }
}
