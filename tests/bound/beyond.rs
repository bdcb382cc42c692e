//! The bounds on machines beyond the paper model: dual issue, bounded queues, write-back, results
//! that nothing waits for, sub-cores that take turns at being first, launch costs, several SMs and
//! control codes, in every combination. Random launches under several policies are compared with
//! every bound that applies. The same runs must detect bounds that lack a term.

use crate::campaign;
use crate::launch_schedules;
use crate::parts;
use crate::premises;
use crate::random_kernels;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random_kernels::{KernelBuilder, RandomLaunch, Shape, machine, machine_text, random_launch};
use warpbound::bound::{
    self, Analyser, BlockShare, Bound, Context, Iwb, LaunchShares, Rbb, Residency, Scope,
};
use warpbound::machine::PolicyKind;
use warpbound::machine::pipeline::Launch;
use warpbound::path::Listed;
use warpbound::program::TimingTable;
use warpbound::sim::{PolicySetup, simulate};

/// Returns RBB of a launch on a machine with `places` CTA slots on each SM.
fn rbb(table: &TimingTable, launch: &RandomLaunch, places: usize, costs: Launch) -> u64 {
    let mut shares = LaunchShares::new(Residency {
        places: places as u32,
        sms: launch.machine.sms(),
        blocks: launch.blocks.len() as u32,
        warps: launch.blocks[0].warps.len(),
        sub_cores: table.sub_cores().count(),
        costs,
    });
    let mut analyser = Analyser::new(table);
    for paths in &launch.blocks {
        let mut share = BlockShare::default();
        analyser.for_each_section(paths, |section| share.add_section(section));
        shares.add(paths.block, &share);
    }
    parts::of_rbb(&shares);
    shares.value().cycles().get()
}

fn table(launch: &RandomLaunch) -> TimingTable {
    TimingTable::new(&launch.program, &launch.machine).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the makespan of a launch, and of each of its blocks.
fn run(launch: &RandomLaunch, table: &TimingTable, policy: &PolicySetup, places: usize) -> (u64, Vec<u64>) {
    let mut blocks = vec![0; launch.blocks.len()];
    let ran = simulate(
        &mut Listed::new(&launch.blocks),
        table,
        &launch.machine,
        policy,
        places as u32,
        &mut (),
        |block, _| blocks[block.block.index()] = block.makespan.get(),
    );
    (ran.unwrap_or_else(|error| panic!("{error}")).makespan.get(), blocks)
}

/// A random launch on a random machine beyond the paper model.
struct Case {
    launch: RandomLaunch,
    /// The text of the machine.
    text: String,
    places: usize,
    costs: Launch,
}

/// The settings of a pipeline, each as RON text, and the number of SMs.
struct Settings {
    sms: usize,
    /// The settings other than those that the sabotage changes.
    others: String,
    queue: Option<usize>,
    write_back: usize,
    costs: Launch,
}

impl Settings {
    fn draw(seed: u64) -> Self {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed ^ 0xbe70);
        let mut between = |low: usize, high: usize| rng.random_range(low..=high);
        let mut others = String::new();
        match between(0, 3) {
            0 => {}
            1 => others += "issue: Issue(per_warp: 2, distinct_units: true, rotate: true), ",
            2 => others += "issue: Issue(per_warp: 2, distinct_units: false, rotate: false), ",
            _ => others += "issue: Issue(per_warp: 2, distinct_units: false, rotate: true), ",
        }
        if between(0, 3) == 0 {
            others +=
                ["unscored: [\"f0\"], ", "unscored: [\"g0\", \"far\"], ", "unscored: [\"f0\", \"g0\"], "]
                    [between(0, 2)];
        }
        let mut costs = Launch::default();
        if between(0, 1) == 0 {
            costs.first = between(0, 12) as u64 * between(0, 1) as u64;
            costs.start = between(0, 6) as u64 * between(0, 1) as u64;
            costs.refill = between(0, 9) as u64 * between(0, 1) as u64;
            costs.end = between(0, 20) as u64 * between(0, 1) as u64;
            costs.blocks_per_cycle = between(0, 3) as u32;
            costs.total_blocks_per_cycle = between(0, 3) as u32;
        }
        Self {
            sms: if between(0, 2) == 0 { between(2, 4) } else { 1 },
            others,
            queue: (between(0, 2) > 0).then(|| between(0, 2)),
            write_back: if between(0, 2) == 0 { between(1, 5) } else { 0 },
            costs,
        }
    }

    /// Returns the text of the machine with these settings.
    fn on(&self, machine: &str) -> String {
        let Self { sms, others, queue, write_back, costs } = self;
        let queue = queue.map_or(String::new(), |queue| format!("queue: {queue}, "));
        let Launch { first, start, refill, end, blocks_per_cycle, total_blocks_per_cycle, .. } = costs;
        let launch = format!(
            "Launch(first: {first}, start: {start}, refill: {refill}, end: {end}, blocks_per_cycle: {blocks_per_cycle}, \
             total_blocks_per_cycle: {total_blocks_per_cycle})"
        );
        let pipeline = format!("Pipeline({others}{queue}write_back: {write_back}, launch: {launch})");
        machine.replacen("Pipeline()", &pipeline, 1).replacen("Machine(", &format!("Machine(sms: {sms}, "), 1)
    }
}

/// Returns the shape of the launch: with and without control codes, small and large.
fn shape(seed: u64) -> Shape {
    let all = Shape { partial_barriers: false, sub_cores: 4, pipeline: true, ..Shape::EVERYTHING };
    let codes = Shape { codes: seed.is_multiple_of(3), ..all };
    match seed % 4 {
        // many blocks without instructions
        0 if seed.is_multiple_of(8) => Shape { max_warps: 2, max_instructions: 1, barriers: false, ..codes },
        // few instructions that wait for nothing, so that queues matter
        0 => Shape { max_warps: 2, max_instructions: 6, memory: false, ..codes },
        1 => Shape { max_warps: 4, max_instructions: 8, ..codes },
        _ => codes,
    }
}

impl Case {
    fn draw(seed: u64) -> (Self, Settings) {
        let shape = shape(seed);
        let mut settings = Settings::draw(seed);
        let mut places = 1 + (seed / 7) as usize % 4;
        if seed.is_multiple_of(8) {
            // blocks that take little more time than their placement
            let all_sms = seed.is_multiple_of(16);
            let Launch { start, blocks_per_cycle, total_blocks_per_cycle, .. } = &mut settings.costs;
            (*start, *blocks_per_cycle, *total_blocks_per_cycle) =
                if all_sms { (1, 0, 1) } else { (1, 1, 0) };
            places += 4;
        }
        let text = machine_text(seed, &shape);
        let blocks = 1 + (seed / 5) as usize % 9;
        let launch = random_launch(seed, &shape, blocks);
        let text_on = settings.on(&text);
        let launch = RandomLaunch { machine: machine(&text_on), ..launch };
        (Self { launch, text, places, costs: settings.costs }, settings)
    }
}

/// The ways to compute a bound that is too low.
const SABOTAGE: [&str; 9] = [
    "first",
    "start",
    "refill",
    "end",
    "blocks_per_cycle",
    "total_blocks_per_cycle",
    "unqueued paths",
    "write-back",
    "stall counts",
];

/// Returns RBB without each of the terms of [`SABOTAGE`]; `None` if the machine does not have it.
fn sabotaged(case: &Case, settings: &Settings) -> [Option<u64>; 9] {
    let Case { launch, text, places, costs } = case;
    let whole = table(launch);
    let lower = |costs: Launch| (costs != case.costs).then(|| rbb(&whole, launch, *places, costs));
    let on = |settings: Settings| {
        let other = machine(&settings.on(text));
        let table = TimingTable::new(&launch.program, &other).unwrap_or_else(|error| panic!("{error}"));
        rbb(&table, launch, *places, *costs)
    };
    let same = || Settings { others: settings.others.clone(), ..*settings };
    let stalls = launch.program.machine_code.as_ref().map(|code| {
        let mut code = code.clone();
        code.instructions.iter_mut().for_each(|coded| coded.control.stall = 1);
        let program = warpbound::program::KernelCode { machine_code: Some(code), ..launch.program.clone() };
        let table = TimingTable::new(&program, &launch.machine).unwrap_or_else(|error| panic!("{error}"));
        rbb(&table, launch, *places, *costs)
    });
    [
        lower(Launch { first: 0, ..*costs }),
        lower(Launch { start: 0, ..*costs }),
        lower(Launch { refill: 0, ..*costs }),
        lower(Launch { end: 0, ..*costs }),
        lower(Launch { blocks_per_cycle: 0, ..*costs }),
        lower(Launch { total_blocks_per_cycle: 0, ..*costs }),
        settings.queue.is_some().then(|| on(Settings { queue: None, ..same() })),
        (settings.write_back > 0).then(|| on(Settings { write_back: 0, ..same() })),
        stalls,
    ]
}

/// The counts of a campaign.
#[derive(Clone, Debug, Default)]
struct Tally {
    launches: u64,
    runs: u64,
    /// By bound: name, comparisons, violations, and runs that equal the bound.
    bounds: Vec<(&'static str, u64, u64, u64)>,
    /// The runs that exceed RBB without a term.
    sabotaged: [u64; 8],
    /// The first violations.
    violations: Vec<String>,
}

impl Tally {
    fn compare(&mut self, name: &'static str, bound: u64, took: u64, what: impl Fn() -> String) {
        let index = self.bounds.iter().position(|row| row.0 == name).unwrap_or_else(|| {
            self.bounds.push((name, 0, 0, 0));
            self.bounds.len() - 1
        });
        let row = &mut self.bounds[index];
        row.1 += 1;
        row.2 += u64::from(took > bound);
        row.3 += u64::from(took == bound && took > 0);
        if took > bound && self.violations.len() < 5 {
            self.violations.push(format!("{name} {bound} < {took}, {}", what()));
        }
    }

    fn add(&mut self, seed: u64) {
        let (case, settings) = Case::draw(seed);
        let Case { launch, text, places, costs } = &case;
        let table = table(launch);
        let beyond = launch.program.beyond_the_paper_model_on(&launch.machine);
        let context = Context { beyond, ..premises::paper(&PolicyKind::Gto, *places as u32, false) };
        let whole = context.judged_as_a_whole();
        assert_eq!(Rbb.applicable(&context).is_ok(), whole, "seed {seed}");
        let of_launch = rbb(&table, launch, *places, *costs);
        let lower = if whole { sabotaged(&case, &settings) } else { [None; 9] };
        // the bounds of blocks that run one after the other
        let mut of_blocks: Vec<(&'static str, Vec<u64>)> = Vec::new();
        let all = bound::all();
        let proved = |bound: &dyn Bound| bound.scope() == Scope::Block && bound.name() != "gub";
        let mut analyser = Analyser::new(&table);
        for bound in
            all.iter().map(AsRef::as_ref).filter(|&bound| proved(bound) && bound.applicable(&context).is_ok())
        {
            let value = |paths| bound.evaluate(&analyser.block(paths)).value.cycles().get();
            of_blocks.push((bound.name(), launch.blocks.iter().map(value).collect()));
        }
        assert!(whole || of_blocks.iter().any(|(name, _)| *name == "iwb"), "seed {seed}");
        self.launches += 1;
        let policies = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest];
        for policy in policies.into_iter().chain((0..4).map(|n| PolicySetup::Random(seed + n))) {
            let (makespan, blocks) = run(launch, &table, &policy, *places);
            let what = || format!("seed {seed}, {policy:?}, {places} places: {}", settings.on(text));
            self.runs += 1;
            if whole {
                self.compare("rbb", of_launch, makespan, what);
            }
            for (name, values) in &of_blocks {
                values.iter().zip(&blocks).for_each(|(&value, &took)| self.compare(name, value, took, what));
            }
            for (count, lower) in self.sabotaged.iter_mut().zip(lower) {
                *count += u64::from(lower.is_some_and(|lower| makespan > lower));
            }
        }
    }
}

/// Runs the launches of these seeds.
fn campaign(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    seeds.for_each(|seed| tally.add(seed));
    tally
}

#[test]
fn no_run_on_a_machine_beyond_the_paper_model_exceeds_a_bound() {
    let seeds = if campaign::in_full() { 0..200_000 } else { 0..4000 };
    let tally = campaign(seeds);
    println!("{tally:?}");
    assert!(tally.violations.is_empty(), "{:#?}", tally.violations);
    // sabotage: one cycle less, or a missing term, is noticed
    assert!(tally.bounds.iter().all(|&(_, compared, _, equal)| compared > 200 && equal > 20), "{tally:?}");
    for (name, exceeded) in SABOTAGE.into_iter().zip(tally.sabotaged) {
        assert!(exceeded > 0, "{name}: {tally:?}");
    }
}

/// The result of an exhaustive campaign.
#[derive(Debug, Default)]
struct Exhausted {
    launches: u64,
    more_than_places: u64,
    tight: u64,
    /// The launches whose worst case exceeds the bound if its paths are those with queues.
    queued: u64,
    /// The launches whose worst case the engine reaches under a policy.
    reached: u64,
}

/// Runs every schedule of tiny random launches on machines with dual issue, queues, write-back and
/// unscored results, in the reference.
fn exhaust(seeds: std::ops::Range<u64>, shape: &Shape, blocks: usize, sms: usize) -> Exhausted {
    let mut found = Exhausted::default();
    for seed in seeds {
        let mut settings = Settings { sms, costs: Launch::default(), ..Settings::draw(seed) };
        // the reference has a fixed order of the sub-cores
        settings.others = settings.others.replace("rotate: true", "rotate: false");
        let launch = random_launch(seed, shape, 1 + seed as usize % blocks);
        let text = machine_text(seed, shape);
        let launch = RandomLaunch { machine: machine(&settings.on(&text)), ..launch };
        let table = table(&launch);
        let places = 1 + seed as usize / 3 % 3;
        let reference =
            launch_schedules::Launch::new(&table, &launch.blocks, places, sms).on(&launch.machine);
        let Some(worst) = reference.worst(3000) else { continue };
        let bound = rbb(&table, &launch, places, Launch::default());
        assert!(worst <= bound, "seed {seed}: {worst} > {bound}, {places} places, {}", settings.on(&text));
        if places == 1 && sms == 1 {
            let mut analyser = Analyser::new(&table);
            let iwb = |paths| Iwb.evaluate(&analyser.block(paths)).value.cycles().get();
            let iwb: u64 = launch.blocks.iter().map(iwb).sum();
            assert!(worst <= iwb, "seed {seed}: {worst} > {iwb}, {}", settings.on(&text));
        }
        let mut most = 0;
        let policies = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest];
        for policy in policies.into_iter().chain((0..6).map(|n| PolicySetup::Random(seed + n))) {
            most = most.max(run(&launch, &table, &policy, places).0);
        }
        assert!(most <= worst, "seed {seed}: the reference lacks a schedule of {most} cycles");
        found.launches += 1;
        found.more_than_places += u64::from(launch.blocks.len() > places * sms);
        found.tight += u64::from(worst == bound && worst > 0);
        found.reached += u64::from(worst == most);
        if settings.queue.is_some() {
            let other = machine(&Settings { queue: None, ..settings }.on(&text));
            let queued = TimingTable::new(&launch.program, &other).unwrap();
            found.queued += u64::from(worst > rbb(&queued, &launch, places, Launch::default()));
        }
    }
    found
}

#[test]
fn no_schedule_of_a_tiny_launch_exceeds_a_bound() {
    let tiny = Shape {
        max_warps: 2,
        max_instructions: 3,
        partial_barriers: false,
        pipeline: true,
        ..Shape::EVERYTHING
    };
    let times = if campaign::in_full() { 20 } else { 1 };
    for (shape, seeds, blocks, sms) in [
        (tiny, 0..800, 4, 1),
        (Shape { max_instructions: 6, memory: false, waw: false, ..tiny }, 0..500, 2, 1),
        (Shape { max_warps: 3, sub_cores: 3, ..tiny }, 0..800, 4, 1),
        (Shape { sub_cores: 2, ..tiny }, 0..800, 6, 2),
    ] {
        let found = exhaust(0..seeds.end * times, &shape, blocks, sms);
        println!("{found:?}");
        assert!(found.launches > 300 && found.tight > 50, "{found:?}");
        assert!(found.reached * 2 > found.launches, "{found:?}");
    }
}

/// A block that ends before all blocks are placed frees its CTA slot for a later one, so the
/// sub-cores of later blocks differ from those that the order of blocks suggests.
#[test]
fn cta_slots_are_used_again_while_blocks_are_placed() {
    let mut builder = KernelBuilder::new();
    for (index, (class, count)) in [("f", 100), ("f", 1), ("g", 1), ("f", 100)].into_iter().enumerate() {
        if index > 0 {
            builder.block();
        }
        builder.warp();
        for _ in 0..count {
            builder.op(class, None, &[]);
        }
    }
    let launch = builder.build_launch(
        "Machine(name: \"m\", sub_cores: 2, limits: Limits(blocks: 4), \
         pipeline: Pipeline(launch: Launch(blocks_per_cycle: 1)), ops: { \"f\": \"f\", \"g\": \"g\" }, \
         units: { \"f\": Unit(init: 1, lat: 0), \"g\": Unit(init: 1, lat: 8) })",
    );
    let table = table(&launch);
    let costs = launch.machine.pipeline().unwrap().launch;
    let (makespan, _) = run(&launch, &table, &PolicySetup::Gto, 4);
    // the second block ends at 2, the third goes to its slot and sub-core, and the fourth to the
    // third slot, which is on the sub-core of the first
    assert_eq!(makespan, 200);
    // L = 100 + 1 + 1 + 100, D = 8 of the third block, and it waits up to 3 cycles for its slot;
    // with the sub-cores of slots 0 to 3, the bound would be 101 + 8 + 3
    assert_eq!(rbb(&table, &launch, 4, costs), 202 + 8 + 3);
}

/// Two instructions of a warp that issue in the same cycle may wait for each other on a unit on which
/// every initiation takes one cycle. So such a unit may have work left when a stage begins.
#[test]
fn pairs_on_one_unit_leave_work() {
    let left = |settings: &str| {
        let mut builder = KernelBuilder::new();
        (0..8).fold(builder.warp(), |builder, _| builder.op("f", None, &[])).bar().op("f", None, &[]);
        let launch = builder.build_launch(&format!(
            "Machine(name: \"m\", sub_cores: 2, pipeline: Pipeline({settings}), ops: {{ \"f\": \"f\" }}, \
             units: {{ \"f\": Unit(init: 1, lat: 0) }})"
        ));
        let mut share = BlockShare::default();
        Analyser::new(&table(&launch))
            .for_each_section(&launch.blocks[0], |section| share.add_section(section));
        share.left
    };
    // the barrier has a unit of its own
    assert_eq!(left("issue: Issue(per_warp: 2, distinct_units: false)"), 8 + 1);
    assert_eq!(left("issue: Issue(per_warp: 2, distinct_units: false), queue: 1"), 8 + 1);
    assert_eq!(left("issue: Issue(per_warp: 2, distinct_units: false), queue: 0"), 0);
    assert_eq!(left("issue: Issue(per_warp: 2, distinct_units: true)"), 0);
    assert_eq!(left(""), 0);
}
