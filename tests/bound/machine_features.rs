//! The features that each switch of a machine adds to the paper model, and the bounds that still
//! apply.

use crate::premises;
use crate::shipped;

use warpbound::bound::{self, Context};
use warpbound::machine::{Feature, Features, Machine, PolicyKind};
use warpbound::program::{Area, Flow, Instr, KernelCode, MachineCode, MemoryOp, RegList, Sem};

const FEATURES: [Feature; 24] = [
    Feature::RotatingSubCores,
    Feature::DualIssue,
    Feature::FrontEnd,
    Feature::InstructionCaches,
    Feature::BoundedQueues,
    Feature::Collector,
    Feature::RegisterFile,
    Feature::ResultBuses,
    Feature::WriteBack,
    Feature::LoadStore,
    Feature::LoadStoreStages,
    Feature::FirstLevel,
    Feature::SlowBanks,
    Feature::ConstantCache,
    Feature::Partitions,
    Feature::L2Halves,
    Feature::NarrowMemory,
    Feature::UnlimitedJitter,
    Feature::LaunchCosts,
    Feature::SharedPlacement,
    Feature::RandomPlacement,
    Feature::UnscoredResults,
    Feature::SeveralSms,
    Feature::ControlCodes,
];

/// The bounds that apply to machines of the paper model: if blocks run one after the other, and if
/// two are resident.
const PAPER: [&[&str]; 2] = [&["gub", "iwb", "swb", "lwb", "srr", "gsrr"], &["rbb"]];
const NONE: [&[&str]; 2] = [&[], &[]];
/// The bounds of machines with dual issue, bounded queues, results that nothing waits for, or
/// sub-cores that take turns at being first.
const WITHOUT_RUNS: [&[&str]; 2] = [&["iwb"], &["rbb"]];
/// The bound of machines with stages in front of the units.
const STAGES: [&[&str]; 2] = [&["plb"], &["plb"]];
/// The bound of launches, which are judged as a whole even if one block at a time is resident.
const LAUNCH: [&[&str]; 2] = [&["rbb"], &["rbb"]];

/// Returns settings that switch a feature on, and the bounds that still apply, as in [`PAPER`]. A
/// new feature has to be added to [`FEATURES`] too.
fn switch(feature: Feature) -> (&'static str, [&'static [&'static str]; 2]) {
    match feature {
        Feature::RotatingSubCores => {
            ("sub_cores: 2, pipeline: Pipeline(issue: Issue(rotate: true))", WITHOUT_RUNS)
        }
        Feature::DualIssue => ("pipeline: Pipeline(issue: Issue(per_warp: 2))", WITHOUT_RUNS),
        Feature::FrontEnd => ("pipeline: Pipeline(front_end: FrontEnd())", STAGES),
        Feature::InstructionCaches => ("pipeline: Pipeline(instruction_caches: InstructionCaches())", STAGES),
        Feature::BoundedQueues => ("pipeline: Pipeline(queue: 3)", WITHOUT_RUNS),
        Feature::Collector => ("pipeline: Pipeline(collector: Collector())", STAGES),
        Feature::RegisterFile => ("pipeline: Pipeline(register_file: RegisterFile())", NONE),
        Feature::ResultBuses => ("pipeline: Pipeline(collector: Collector(), result_buses: 1)", STAGES),
        Feature::WriteBack => ("pipeline: Pipeline(write_back: 1)", [&["iwb", "swb", "lwb"], &["rbb"]]),
        Feature::LoadStore => ("pipeline: Pipeline(load_store: LoadStore())", STAGES),
        Feature::LoadStoreStages => ("pipeline: Pipeline(load_store: LoadStore(read_latency: 1))", STAGES),
        Feature::FirstLevel => {
            ("pipeline: Pipeline(load_store: LoadStore()), memory: Memory(l1: L1())", STAGES)
        }
        Feature::SlowBanks => {
            ("pipeline: Pipeline(load_store: LoadStore()), memory: Memory(l1: L1(interval: 2))", STAGES)
        }
        Feature::UncachedLoads => unreachable!("a property of kernels"),
        Feature::ConstantCache => (
            "pipeline: Pipeline(load_store: LoadStore()), memory: Memory(constant: Cache(), lower: Partitions)",
            STAGES,
        ),
        Feature::Partitions => {
            ("pipeline: Pipeline(load_store: LoadStore()), memory: Memory(lower: Partitions)", STAGES)
        }
        Feature::L2Halves => (
            "pipeline: Pipeline(load_store: LoadStore()), memory: Memory(lower: Partitions, \
             partitions: Partitions(l2: Cache(), far_latency: 5))",
            STAGES,
        ),
        Feature::NarrowMemory => (
            "pipeline: Pipeline(load_store: LoadStore()), memory: Memory(lower: Fixed, fixed: Fixed(pipelined: false))",
            NONE,
        ),
        Feature::UnlimitedJitter => (
            "pipeline: Pipeline(load_store: LoadStore()), memory: Memory(lower: Fixed, jitter: Geometric(3))",
            NONE,
        ),
        Feature::LaunchCosts => ("pipeline: Pipeline(launch: Launch(end: 1))", LAUNCH),
        Feature::SharedPlacement => ("pipeline: Pipeline(launch: Launch(total_blocks_per_cycle: 1))", LAUNCH),
        Feature::RandomPlacement => {
            ("sms: 2, pipeline: Pipeline(launch: Launch(placement: Random(1)))", NONE)
        }
        Feature::UnscoredResults => ("pipeline: Pipeline(unscored: [\"f\"])", WITHOUT_RUNS),
        Feature::SeveralSms => ("sms: 2, pipeline: Pipeline()", LAUNCH),
        Feature::ControlCodes => ("dependences: ControlCodes", [&["gub", "iwb", "swb"], &["rbb"]]),
    }
}

fn machine(settings: &str) -> Machine {
    let units = "units: { \"u\": Unit(init: 1, lat: 0) }, ops: { \"f\": \"u\" }";
    shipped::machine_of(format!("Machine(name: \"m\", {units}, {settings})"))
}

/// Returns a kernel of one instruction, which accesses memory.
fn kernel(memory: MemoryOp) -> KernelCode {
    let mut kernel = KernelCode::default();
    let class = kernel.classes.intern("f");
    kernel.instrs.push(Instr {
        class,
        class_by_space: None,
        dsts: RegList::default(),
        srcs: RegList::default(),
        guard: None,
        flow: Flow::Plain,
        memory: Some(memory),
        sem: Sem::None,
        line: 0,
        folded: false,
    });
    kernel
}

/// Returns the machine's features for machine code that loads constants. For other programs they are
/// the same except for two.
fn features(machine: &Machine) -> Features {
    let plain = kernel(MemoryOp::Load(Area::Const));
    assert_eq!(plain.beyond_the_paper_model_on(machine), machine.beyond_the_paper_model());
    assert!(!plain.beyond_the_paper_model_on(machine).contains(Feature::ControlCodes));
    let code = KernelCode { machine_code: Some(MachineCode::default()), ..plain };
    code.beyond_the_paper_model_on(machine)
}

/// Returns the bounds that apply to the machine, each under a policy for which it is stated, with
/// one and with two resident blocks.
fn applicable(machine: &Machine) -> [Vec<&'static str>; 2] {
    [1, 2].map(|resident| {
        let applies = |bound: &dyn bound::Bound| {
            let policy = bound.policy().unwrap_or(PolicyKind::Gto);
            let beyond = features(machine);
            let context = Context { beyond, ..premises::paper(&policy, resident, false) };
            bound.concerns(&context) && bound.applicable(&context).is_ok()
        };
        bound::all().iter().filter(|bound| applies(bound.as_ref())).map(|bound| bound.name()).collect()
    })
}

#[test]
fn every_switch_is_one_feature_with_its_bounds() {
    for feature in FEATURES {
        let (settings, bounds) = switch(feature);
        let machine = machine(settings);
        let expected: Features = match feature {
            // result buses require a collector
            Feature::ResultBuses => [Feature::Collector, feature].into_iter().collect(),
            // only accesses through the load/store unit reach the memory
            Feature::LoadStoreStages
            | Feature::FirstLevel
            | Feature::Partitions
            | Feature::NarrowMemory
            | Feature::UnlimitedJitter => [Feature::LoadStore, feature].into_iter().collect(),
            Feature::SlowBanks => [Feature::LoadStore, Feature::FirstLevel, feature].into_iter().collect(),
            Feature::L2Halves | Feature::ConstantCache => {
                [Feature::LoadStore, Feature::Partitions, feature].into_iter().collect()
            }
            // with one SM there is no choice of placement
            Feature::RandomPlacement => [feature, Feature::SeveralSms].into_iter().collect(),
            _ => [feature].into_iter().collect(),
        };
        assert_eq!(features(&machine), expected, "{settings}");
        assert_eq!(applicable(&machine), bounds, "{settings}");
    }
}

/// Loads that bypass the L1 are a feature of the kernel, on machines that have one.
#[test]
fn loads_that_bypass_the_cache_are_a_feature_of_kernels() {
    let kernel = kernel(MemoryOp::LoadUncached(Area::Global));
    for (feature, bypasses) in [(Feature::FirstLevel, true), (Feature::Partitions, false)] {
        let machine = machine(switch(feature).0);
        let beyond = kernel.beyond_the_paper_model_on(&machine);
        assert_eq!(beyond.contains(Feature::UncachedLoads), bypasses);
        assert!(machine.beyond_the_paper_model().contains(feature));
        let context = Context { beyond, ..premises::paper(&PolicyKind::Gto, 2, false) };
        assert!(plb_applies(&context));
    }
}

fn plb_applies(context: &Context) -> bool {
    bound::all().iter().any(|bound| bound.name() == "plb" && bound.applicable(context).is_ok())
}

/// A cache for constants matters only to kernels that load constants, and parameters that are not
/// ready. Behind it, PLB needs a crossbar.
#[test]
fn the_cache_for_constants_is_a_feature_of_kernels_that_use_it() {
    let machine = |ready: bool, lower: &str| {
        machine(&format!(
            "pipeline: Pipeline(load_store: LoadStore(parameters_ready: {ready})), \
             memory: Memory(constant: Cache(), lower: {lower})"
        ))
    };
    for (area, ready, uses) in [
        (Area::Const, true, true),
        (Area::Generic, true, true),
        (Area::KernelParam, true, false),
        (Area::KernelParam, false, true),
        (Area::Global, false, false),
    ] {
        // a cache that is not used gives perfect memory a latency all the same
        for (lower, covered) in [("Partitions", true), ("Fixed", false), ("Perfect", false)] {
            let uses = uses || lower == "Perfect";
            let beyond = kernel(MemoryOp::Load(area)).beyond_the_paper_model_on(&machine(ready, lower));
            assert_eq!(beyond.contains(Feature::ConstantCache), uses, "{area:?} {ready}");
            let context = Context { beyond, ..premises::paper(&PolicyKind::Gto, 2, false) };
            assert_eq!(plb_applies(&context), covered || !uses, "{area:?} {ready} {lower}");
        }
    }
}

#[test]
fn settings_without_an_effect_are_no_feature() {
    for settings in [
        "",
        "pipeline: Pipeline()",
        "sub_cores: 2, pipeline: Pipeline()",
        // no sub-cores to take turns, no second issue, no instructions to collect
        "pipeline: Pipeline(issue: Issue(rotate: true))",
        "pipeline: Pipeline(launch: Launch(placement: Random(1)))",
        "pipeline: Pipeline(issue: Issue(distinct_units: false))",
        "pipeline: Pipeline(collect: [\"u\"])",
        "hazards: [Raw, Waw], exit_issues: true, two_level_active: 3, sub_cores: 4, limits: Limits(blocks: 4)",
        "shared_memory: SharedMemory(rule: Words), reconvergence: PascalStack",
    ] {
        let machine = machine(settings);
        assert_eq!(features(&machine), Features::default(), "{settings}");
        assert_eq!(applicable(&machine), PAPER, "{settings}");
    }
}

#[test]
fn parts_of_a_feature_are_that_feature() {
    for (settings, feature, bounds) in [
        ("pipeline: Pipeline(launch: Launch(first: 1))", Feature::LaunchCosts, LAUNCH),
        ("pipeline: Pipeline(launch: Launch(start: 1))", Feature::LaunchCosts, LAUNCH),
        ("pipeline: Pipeline(launch: Launch(blocks_per_cycle: 1))", Feature::LaunchCosts, LAUNCH),
        (
            "pipeline: Pipeline(load_store: LoadStore()), memory: Memory(lower: Fixed, jitter: Uniform(1, 2), \
             start: Warm, seed: 3)",
            Feature::LoadStore,
            STAGES,
        ),
    ] {
        let machine = machine(settings);
        assert_eq!(features(&machine), [feature].into_iter().collect(), "{settings}");
        assert_eq!(applicable(&machine), bounds, "{settings}");
    }
}

/// A bound applies only if it accounts for every feature; otherwise it names those that it does not
/// account for, in a fixed order.
#[test]
fn features_that_are_not_accounted_for_are_named() {
    let reason = |machine: &Machine, name: &str| {
        let bound = bound::all().into_iter().find(|bound| bound.name() == name).unwrap();
        let beyond = features(machine);
        let context = Context { beyond, ..premises::paper(&PolicyKind::Gto, 1, false) };
        bound.applicable(&context).unwrap_err().to_string()
    };
    let two = machine("sms: 2, pipeline: Pipeline(queue: 1)");
    let (queue, sms) =
        ("issue waits for room in a unit's queue (pipeline.queue)", "several SMs share the blocks (sms)");
    assert_eq!(reason(&two, "iwb"), sms);
    assert_eq!(reason(&two, "gub"), format!("{queue}; {sms}"));
    assert_eq!(applicable(&two), LAUNCH);

    let all = machine(
        "sms: 2, sub_cores: 2, pipeline: Pipeline(issue: Issue(rotate: true, per_warp: 2), front_end: FrontEnd(), \
         queue: 1, collector: Collector(), result_buses: 1, write_back: 1, load_store: LoadStore(read_latency: 1), \
         launch: Launch(start: 1, total_blocks_per_cycle: 2, placement: Random(1)), unscored: [\"f\"]), dependences: ControlCodes, \
         memory: Memory(l1: L1(interval: 2), constant: Cache(), lower: Fixed, fixed: Fixed(pipelined: false), \
         jitter: Geometric(3))",
    );
    // these exclude another one
    let excluded =
        [Feature::Partitions, Feature::L2Halves, Feature::InstructionCaches, Feature::RegisterFile];
    let others = FEATURES.into_iter().filter(|feature| !excluded.contains(feature));
    assert_eq!(features(&all), others.collect());
    assert_eq!(
        reason(&all, "gub"),
        "sub-cores take turns at being first (pipeline.issue.rotate); \
         more than one instruction issues per cycle (pipeline.issue.per_warp); \
         instructions must be fetched (pipeline.front_end); \
         issue waits for room in a unit's queue (pipeline.queue); \
         operands must be collected (pipeline.collector); \
         results wait for a bus (pipeline.result_buses); \
         results are written back later (pipeline.write_back); \
         memory accesses go through one load/store unit (pipeline.load_store); \
         the load/store unit has further stages (pipeline.load_store.constant_latency, read_latency); \
         accesses go through a cache of the SM (memory.l1); \
         transactions occupy banks of the L1 for several cycles (memory.l1.interval); \
         constants go through a cache (memory.constant); \
         memory does not accept every request at once (memory.fixed); \
         the latency of memory has no largest value (memory.jitter); \
         launching takes time (pipeline.launch); \
         all SMs together receive a limited number of blocks per cycle (pipeline.launch.total_blocks_per_cycle); \
         blocks are placed at random (pipeline.launch.placement); \
         some results are not waited for (pipeline.unscored); \
         several SMs share the blocks (sms)"
    );
    assert_eq!(
        reason(&all, "rbb"),
        "instructions must be fetched (pipeline.front_end); \
         operands must be collected (pipeline.collector); \
         results wait for a bus (pipeline.result_buses); \
         memory accesses go through one load/store unit (pipeline.load_store); \
         the load/store unit has further stages (pipeline.load_store.constant_latency, read_latency); \
         accesses go through a cache of the SM (memory.l1); \
         transactions occupy banks of the L1 for several cycles (memory.l1.interval); \
         constants go through a cache (memory.constant); \
         memory does not accept every request at once (memory.fixed); \
         the latency of memory has no largest value (memory.jitter); \
         blocks are placed at random (pipeline.launch.placement)"
    );
    assert_eq!(applicable(&all), NONE);
    assert!(
        reason(&all, "lwb").ends_with("control codes hold instructions back, not registers (dependences)")
    );
}
