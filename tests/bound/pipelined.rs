//! PLB compared with random launches on random machines with a pipeline.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::ProgressMonitor;
use warpbound::bound::{
    AtStart, Bound, Context, LaunchFigures, LaunchShares, MemoryLeft, Order, PipelineAnalyser,
    PipelineShares, Plb, Residency, Schedules,
};
use warpbound::check::Workload;
use warpbound::exec::Options;
use warpbound::machine::pipeline::Launch as Costs;
use warpbound::machine::{Machine, PolicyKind};
use warpbound::path::{BlockPaths, BlockSource, Footprint, Listed};
use warpbound::program::{KernelCode, TimingTable};
use warpbound::sim::{CarriedState, PolicySetup, simulate, simulate_after};

use crate::random_kernels::{self, RandomLaunch, Shape, random_launch};
use crate::{bound_memory, bound_pipelined, campaign, random_accesses, reference, runs, settings, shipped};

/// The launches compared with the naive formula of machines with a memory system.
pub static COMPARED: AtomicU64 = AtomicU64::new(0);

pub const POLICIES: [PolicySetup; 4] =
    [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest, PolicySetup::Random(7)];

/// Returns the analyser of a launch that finds its buffers in memory if the machine copies them, and
/// how its blocks share the SMs. `places` states how many blocks an SM holds, the number of blocks, and
/// the number of warps of each.
pub fn analyser<'t>(
    (program, table, machine): (&KernelCode, &'t TimingTable, &Machine),
    (resident, blocks, warps): (u32, usize, usize),
    footprint: &Footprint,
) -> (PipelineAnalyser<'t>, Residency) {
    let copied = if machine.memory().start.copies() { &footprint.buffers[..] } else { &[] };
    let left = MemoryLeft::default();
    let found = AtStart { left: &left, copied, shared_bytes: footprint.shared_bytes };
    let residency = Residency {
        places: resident,
        sms: machine.sms(),
        blocks: blocks as u32,
        warps,
        sub_cores: table.sub_cores().count(),
        costs: machine.pipeline().map_or_else(Costs::default, |pipeline| pipeline.launch),
    };
    (PipelineAnalyser::new(program, table, machine, residency, found), residency)
}

/// Returns PLB of a launch, or the reason why it does not apply.
pub fn plb(
    program: &KernelCode,
    table: &TimingTable,
    machine: &Machine,
    blocks: &[BlockPaths],
    resident: u32,
    footprint: &Footprint,
) -> Result<u64, String> {
    let context = Context {
        schedules: Schedules::Run { policy: PolicyKind::Gto, passed_over: None },
        resident_blocks: resident,
        partial_barriers: blocks.iter().any(|block| block.partial_barriers),
        beyond: program.beyond_the_paper_model_on(machine),
        order: Order::Irrelevant,
    };
    Plb.applicable(&context).map_err(|why| why.to_string())?;
    let places = (resident, blocks.len(), blocks[0].warps.len());
    let (mut analyser, residency) = analyser((program, table, machine), places, footprint);
    let mut shares = PipelineShares::new(&analyser);
    for block in blocks {
        shares.add(block.block, &analyser.share(block));
    }
    shares.end(&analyser);
    let figures = LaunchFigures { resident: &LaunchShares::new(residency), pipelined: &shares };
    let bound = Plb.of_launch(&figures).cycles().get();
    if let Some(naive) = bound_pipelined::value(program, table, machine, blocks, resident.into()) {
        assert_eq!(bound, naive, "the naive formula differs: {} {:?}", program.name, machine.pipeline());
    }
    let places = resident.into();
    if let Some(naive) = bound_memory::value(program, table, machine, blocks, places, footprint) {
        COMPARED.fetch_add(1, Relaxed);
        assert_eq!(bound, naive, "the naive formula differs: {} {:?}", program.name, machine.memory());
    }
    Ok(bound)
}

/// Returns the makespan of a micro kernel under a policy, and the bound.
pub fn of_micro(launch: &RandomLaunch, places: u32, policy: &PolicySetup) -> (u64, u64) {
    let RandomLaunch { program, machine, blocks } = launch;
    let table = TimingTable::new(program, machine).unwrap_or_else(|error| panic!("{error}"));
    let bound = plb(program, &table, machine, blocks, places, &Footprint::default())
        .unwrap_or_else(|why| panic!("{why}"));
    let mut source = Listed::new(blocks);
    let ran = simulate(&mut source, &table, machine, policy, places, &mut (), |_, _| ());
    (ran.unwrap_or_else(|error| panic!("{error}")).makespan.get(), bound)
}

/// Returns the makespan of a workload, and the bound if it applies.
pub fn of_workload(workload: &Workload, machine: &Machine, policy: &PolicySetup) -> Option<(u64, u64)> {
    let table = TimingTable::new(workload.program(), machine).unwrap_or_else(|error| panic!("{error}"));
    let monitor = ProgressMonitor::new();
    let source = || workload.source(Options::of(machine, 1 << 26), &monitor).unwrap();
    let resident = machine.limits().occupancy(&workload.needs()).unwrap().blocks.min(workload.blocks());
    let (mut executed, mut blocks, mut room) = (source(), Vec::new(), BlockPaths::default());
    while executed.next_block(&mut room).unwrap_or_else(|error| panic!("{error}")) {
        blocks.push(room.clone());
    }
    let (mut left, mut source) = (CarriedState::default(), source());
    let bound = plb(workload.program(), &table, machine, &blocks, resident, &source.footprint()).ok()?;
    let ran =
        simulate_after(&mut left, 1, &mut source, &table, machine, policy, resident, &mut (), |_, _| ());
    let makespan = ran.unwrap_or_else(|error| panic!("{}: {error:?}", workload.name)).makespan.get();
    Some((makespan, bound))
}

#[derive(Debug, Default)]
pub struct Tally {
    pub runs: u64,
    pub refused: u64,
    pub not_applicable: u64,
    pub exceeded: u64,
    /// The runs that a bound of nine tenths would not hold for.
    close: u64,
    /// The sum of the makespans and of the bounds.
    sums: [u64; 2],
}

impl Tally {
    pub fn add(&mut self, makespan: u64, bound: u64, what: impl Fn() -> String) {
        self.runs += 1;
        if makespan > bound {
            self.exceeded += 1;
            println!("EXCEEDED {makespan} > {bound}: {}", what());
        }
        self.close += u64::from(makespan * 10 > bound * 9);
        self.sums[0] += makespan;
        self.sums[1] += bound;
    }
}

/// Returns the number in an environment variable, or another one.
pub fn number(name: &str, or: u64) -> u64 {
    std::env::var(name).map_or(or, |text| text.parse().unwrap())
}

/// Returns the number of rounds of a campaign, given that of the default run.
pub fn rounds(few: u64) -> u64 {
    number("ROUNDS", if campaign::in_full() { 50 * few } else { few })
}

/// Draws instruction caches, most of them too small for the code in one way or another.
pub fn instruction_caches(draw: &mut impl FnMut(usize) -> usize) -> String {
    let instruction = [8, 16][draw(2)];
    let line = instruction * [1, 2, 4, 8][draw(4)];
    let mut cache =
        |most: usize| format!("CodeCache(sets: {}, ways: {})", [1, 2, 4][draw(3)], 1 + draw(most));
    let (l0, l1) = (cache(4), cache(30));
    format!(
        "instruction_caches: InstructionCaches(line: {line}, instruction: {instruction}, l0: {l0}, l1: {l1}, \
         l1_latency: {}, l1_interval: {}, lower_latency: {}, lower_interval: {}, prefetch: {}, jump: {}, \
         warm: {})",
        [1, 2, 5, 30][draw(4)],
        [1, 1, 3, 9][draw(4)],
        [0, 1, 8, 60][draw(4)],
        [1, 2, 7, 30][draw(4)],
        [0, 0, 1, 2, 8][draw(5)],
        [1, 1, 3, 12][draw(4)],
        draw(3) == 0
    )
}

/// Draws the pipeline of a machine of a micro kernel.
pub fn pipeline(draw: &mut impl FnMut(usize) -> usize, sub_cores: bool) -> String {
    let mut parts = Vec::new();
    let mut part = |text: String| parts.push(text);
    if draw(3) > 0 {
        let (steps, ports) = (1 + draw(3), 1 + draw(8));
        let units = [4, 8, 12, 16][draw(4)];
        let (units, banks) =
            if sub_cores { (units, [4, 8][draw(2)]) } else { ([1, 2, 3, 8][draw(4)], [1, 2, 4, 8][draw(4)]) };
        part(format!("collector: Collector(units: {units}, banks: {banks}, steps: {steps}, ports: {ports})"));
        if draw(2) == 0 {
            part(format!("result_buses: {}", 1 + draw(3)));
        }
        part("queue: 1".to_owned());
    } else if draw(2) == 0 {
        part(format!("queue: {}", draw(3)));
    }
    let supply = draw(3);
    if supply == 0 {
        part(instruction_caches(draw));
    }
    if supply == 1 {
        let icache = match draw(3) {
            0 => format!(
                ", icache: InstructionCache(line: 16, sets: {}, ways: {}, miss_latency: {}, instruction: 8)",
                1 + draw(3),
                1 + draw(40),
                draw(60)
            ),
            _ => String::new(),
        };
        part(format!(
            "front_end: FrontEnd(buffer: {}, fetches: {}, ends_warps: {}{icache})",
            1 + draw(3),
            1 + draw(4),
            draw(2) == 0
        ));
    }
    if draw(2) == 0 {
        part(format!("write_back: {}", draw(5)));
    }
    if draw(2) == 0 {
        part(format!(
            "issue: Issue(per_warp: {}, distinct_units: {}, rotate: {})",
            1 + draw(2),
            draw(2) == 0,
            draw(2) == 0
        ));
    }
    if draw(3) == 0 {
        part(format!(
            "launch: Launch(first: {}, start: {}, refill: {}, end: {}, blocks_per_cycle: {}, \
             total_blocks_per_cycle: {})",
            draw(4),
            draw(6),
            draw(6),
            draw(4),
            draw(3),
            draw(4)
        ));
    }
    format!("Pipeline({})", parts.join(", "))
}

/// Random micro kernels, with units, registers and barriers, but without memory.
#[test]
fn random_micro_kernels() {
    let (rounds, seed) = (rounds(6000), number("SEED", 1));
    let only = std::env::var("ONLY").ok().map(|text| text.parse::<u64>().unwrap());
    let mut tally = Tally::default();
    for round in 0..rounds {
        let case = only.unwrap_or(seed * 1_000_000_000 + round);
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
        let sub_cores = draw(3) == 0;
        let shape = Shape {
            max_warps: [2, 4, 8, 12][draw(4)],
            max_instructions: [4, 8, 20][draw(3)],
            waw: draw(2) == 0,
            exit_issues: draw(2) == 0,
            sub_cores: if sub_cores { 4 } else { 1 },
            codes: draw(6) == 0,
            memory: draw(2) == 0,
            ..Shape::PAPER
        };
        let blocks = 1 + draw(6);
        let launch = random_launch(case, &shape, blocks);
        let text = random_kernels::machine_text(case, &shape);
        let places = 1 + draw(3);
        let sms = [1, 1, 2, 3][draw(4)];
        let end = text.rfind(')').unwrap();
        let pipeline = pipeline(&mut draw, sub_cores);
        let ron = format!("{}, pipeline: {pipeline}, sms: {sms})", &text[..end]);
        let what = || format!("ONLY={case}, {places} places, {ron}");
        let source = warpbound::diag::SourceText::new("m.ron", &ron);
        let machine = warpbound::machine::MachineSpec::parse(&source)
            .ok()
            .and_then(|spec| Machine::new(&spec, &source).ok());
        let Some(machine) = machine else {
            if only.is_some() {
                println!("{ron}");
            }
            tally.refused += 1;
            continue;
        };
        let Ok(table) = TimingTable::new(&launch.program, &machine) else {
            tally.refused += 1;
            continue;
        };
        let resident =
            (places as u32).min(blocks as u32).min(64 / launch.blocks[0].warps.len().max(1) as u32);
        match plb(&launch.program, &table, &machine, &launch.blocks, resident, &Footprint::default()) {
            Err(_) => tally.not_applicable += 1,
            Ok(bound) => {
                let policy = &POLICIES[draw(4)];
                let mut source = Listed::new(&launch.blocks);
                let ran = simulate(&mut source, &table, &machine, policy, resident, &mut (), |_, _| ());
                let makespan = ran.unwrap_or_else(|error| panic!("{}: {error}", what())).makespan.get();
                tally.add(makespan, bound, || format!("{policy}, {}", what()));
            }
        }
        if only.is_some() {
            break;
        }
    }
    println!("{tally:?}");
    assert_eq!(tally.exceeded, 0);
    assert!(tally.runs > rounds / 8, "{tally:?}");
}

/// Kernels in PTX on machines with a load/store unit and memory of perfect or fixed latency.
#[test]
fn random_ptx() {
    let (rounds, seed) = (rounds(400), number("SEED", 1));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
    let shipped =
        ["conv2d", "fft_radix2", "scan_padded", "kmeans_assign", "btree_group"].map(shipped::launch);
    let mut references = reference::launches();
    references.retain(|launch| launch.warp_instructions < 12_000);
    let mut tally = Tally::default();
    while tally.runs < rounds {
        let (base, mut settings) = settings::pipeline(&mut draw);
        if base != "accelsim-ecrts" {
            settings.extend(["memory.l1=none", "memory.lower=Perfect"]);
        }
        let fixed: &[&str] = match draw(3) {
            0 => &["memory.lower=Fixed", "memory.fixed.latency=40", "memory.fixed.per_cycle=4"],
            1 => &[
                "memory.lower=Fixed",
                "memory.fixed.latency=9",
                "memory.fixed.per_cycle=4",
                "memory.jitter=Uniform(0, 9)",
            ],
            _ => &["memory.lower=Perfect"],
        };
        settings.extend(fixed);
        let workload = if draw(2) == 0 {
            let (program, launch) = random_accesses::kernel(&mut draw);
            runs::workload("random accesses", program, launch)
        } else if draw(4) == 0 {
            let shipped = &shipped[draw(shipped.len())];
            runs::workload(&shipped.name, shipped.program.clone(), shipped.launch.clone())
        } else {
            let launch = &references[draw(references.len())];
            runs::workload(&launch.name, launch.program(), launch.launch.clone())
        };
        let what = format!("{} on {base} with {settings:?}", workload.name);
        let machine = shipped::try_machine_with(base, &settings).ok();
        let Some(machine) = machine.filter(|machine| machine.limits().occupancy(&workload.needs()).is_ok())
        else {
            tally.refused += 1;
            continue;
        };
        let policy = &POLICIES[draw(4)];
        let Some((makespan, bound)) = of_workload(&workload, &machine, policy) else {
            tally.not_applicable += 1;
            continue;
        };
        tally.add(makespan, bound, || format!("{what} under {policy}"));
    }
    println!("{tally:?}");
    assert_eq!(tally.exceeded, 0);
}
