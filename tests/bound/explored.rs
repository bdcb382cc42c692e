//! PLB compared with the exact worst case over every choice of the arbiters, for tiny launches on
//! random machines with a pipeline.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::ProgressMonitor;
use warpbound::check::Workload;
use warpbound::diag::SourceText;
use warpbound::exec::Options;
use warpbound::explore::choices::{Explored, climb, explore, replay};
use warpbound::explore::search::Limits;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::path::{BlockPaths, BlockSource, Footprint};
use warpbound::program::{KernelCode, TimingTable};
use warpbound::sim::PolicySetup;
use warpbound::sim::by_cycle::{Arbiter, Carried, Chooser, Given, Launch, run};

use crate::pipelined::{number, pipeline, plb};
use crate::pipelined_memory::{BASES, kernel, of_memory};
use crate::pipelined_streams::SETTINGS;
use crate::random_kernels::{Shape, machine_text, random_launch};
use crate::{random_accesses, reference, runs, shipped};

/// A tiny launch on a machine with a pipeline.
struct Case {
    program: KernelCode,
    blocks: Vec<BlockPaths>,
    machine: Machine,
    resident: u32,
    footprint: Footprint,
    what: String,
}

/// The results of a case.
struct Result {
    bound: u64,
    gto: u64,
    found: Explored,
}

impl Case {
    /// Draws a micro kernel and a machine; returns nothing if they are not valid together.
    fn micro(case: u64) -> Option<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
        let sub_cores = draw(6) == 0;
        let shape = Shape {
            max_warps: [1, 2, 2, 3, 4][draw(5)],
            max_instructions: [2, 3, 4, 5][draw(4)],
            waw: draw(2) == 0,
            exit_issues: draw(2) == 0,
            sub_cores: if sub_cores { 2 } else { 1 },
            codes: draw(6) == 0,
            memory: draw(2) == 0,
            ..Shape::PAPER
        };
        let blocks = [1, 1, 1, 2, 3][draw(5)];
        let launch = random_launch(case, &shape, blocks);
        let text = machine_text(case, &shape);
        let places = 1 + draw(2);
        let sms = [1, 1, 1, 2][draw(4)];
        let end = text.rfind(')')?;
        let pipeline = pipeline(&mut draw, sub_cores);
        let ron = format!("{}, pipeline: {pipeline}, sms: {sms})", &text[..end]);
        let source = SourceText::new("m.ron", &ron);
        let machine = Machine::new(&MachineSpec::parse(&source).ok()?, &source).ok()?;
        let warps = launch.blocks[0].warps.len().max(1);
        let resident = (places as u32).min(blocks as u32).min(64 / warps as u32);
        let what = format!("ONLY={case}, {places} places, {ron}");
        let footprint = Footprint::default();
        Some(Self { program: launch.program, blocks: launch.blocks, machine, resident, footprint, what })
    }

    /// Draws a kernel in PTX that accesses memory, and a machine; returns nothing if they are not
    /// valid together.
    fn in_ptx(case: u64) -> Option<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
        let base = BASES[draw(BASES.len())];
        let mut settings = if draw(3) == 0 { Vec::new() } else { of_memory(&mut draw, &[]) };
        // the lower levels without random additions, the L1 and the partitions are kept small
        settings.retain(|setting| !setting.contains("jitter"));
        settings.extend(["memory.fixed.per_cycle=64", "memory.constant=none"].map(str::to_owned));
        settings.push(format!("sms={}", [1, 1, 1, 2][draw(4)]));
        settings.push(format!("sub_cores={}", [1, 1, 1, 2][draw(4)]));
        for part in ["front_end", "collector", "result_buses"] {
            if draw(4) > 0 {
                settings.push(format!("pipeline.{part}=none"));
            }
        }
        for _ in 0..draw(3) {
            let of = SETTINGS[4..][draw(SETTINGS.len() - 4)];
            settings.push(of[draw(of.len())].to_owned());
        }
        let (blocks, threads) = ([1, 1, 1, 2][draw(4)], [32, 64, 64, 96][draw(4)]);
        let body = accesses(&mut draw);
        let what = format!("ONLY={case} {base} {settings:?} {blocks} x {threads}:\n{body}");
        let text = format!(
            ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k(.param .u64 k_param_0)\n{{\n\
             .reg .pred %p<4>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [k_param_0];\n\
             mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n{body}ret;\n}}\n"
        );
        let launch = random_accesses::launch_on_buffer(blocks, threads, 1 << 16);
        let workload = runs::workload("k", reference::program("k.ptx", "k", text), launch);
        Self::of_workload(&workload, base, &settings, what)
    }

    /// Draws a kernel in PTX of some hundred instructions, and a machine.
    fn large(case: u64) -> Option<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(case);
        let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
        let base = BASES[draw(BASES.len())];
        let mut settings = of_memory(&mut draw, &[]);
        settings.extend(["memory.fixed.per_cycle=64", "memory.constant=none"].map(str::to_owned));
        settings.push(format!("sms={}", [1, 1, 2, 3][draw(4)]));
        for _ in 0..draw(4) {
            let of = SETTINGS[draw(SETTINGS.len())];
            settings.push(of[draw(of.len())].to_owned());
        }
        let (workload, kernel) = kernel(&mut draw, &[32, 64, 128, 256]);
        let what = format!("ONLY={case} {base} {settings:?} {kernel}");
        Self::of_workload(&workload, base, &settings, what)
    }

    fn of_workload(workload: &Workload, base: &str, settings: &[String], what: String) -> Option<Self> {
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let machine = shipped::try_machine_with(base, &settings).ok()?;
        let resident = machine.limits().occupancy(&workload.needs()).ok()?.blocks.min(workload.blocks());
        let monitor = ProgressMonitor::new();
        let mut source = workload.source(Options::of(&machine, 1 << 26), &monitor).ok()?;
        let (mut blocks, mut room) = (Vec::new(), BlockPaths::default());
        while source.next_block(&mut room).unwrap_or_else(|error| panic!("{error}")) {
            blocks.push(room.clone());
        }
        let footprint = source.footprint();
        Some(Self { program: workload.program().clone(), blocks, machine, resident, footprint, what })
    }

    fn table(&self) -> Option<TimingTable> {
        TimingTable::new(&self.program, &self.machine).ok()
    }

    /// Calls `with` with the launch before its first cycle.
    fn launch<T>(&self, table: &TimingTable, with: impl FnOnce(&Launch) -> T) -> T {
        let given = Given::new(&self.machine, table).expect("the machine has a pipeline");
        with(&Launch::new(&given, self.resident, &self.footprint, &self.blocks, &mut Carried::default()))
    }

    /// Explores the case; returns nothing if the bound does not apply.
    fn explore(&self, max_states: u64) -> Option<Result> {
        let table = self.table()?;
        let Self { program, machine, blocks, footprint, .. } = self;
        let bound = plb(program, &table, machine, blocks, self.resident, footprint).ok()?;
        let limits = Limits { max_states, ..Limits::default() };
        let found = self.launch(&table, |launch| {
            let found = explore(launch, limits, &ProgressMonitor::new());
            assert_eq!(replay(launch.clone(), &found.worst_witness), Some(found.worst), "{}", self.what);
            assert_eq!(replay(launch.clone(), &found.best_witness), Some(found.best), "{}", self.what);
            found
        });
        let (policy, carried) = (&PolicySetup::Gto, &mut Carried::default());
        let ran = run(machine, &table, policy, self.resident, footprint, blocks.clone(), carried);
        let gto = ran.summary.makespan.get();
        // the rules are some of the choices
        assert!(found.worst >= gto || found.spent.is_some(), "{} < {gto}: {}", found.worst, self.what);
        assert!(found.best <= gto || found.spent.is_some(), "{} > {gto}: {}", found.best, self.what);
        Some(Result { bound, gto, found })
    }
}

/// Draws a few accesses to memory, from all warps or from some.
fn accesses(draw: &mut impl FnMut(usize) -> usize) -> String {
    let mut text = String::new();
    for number in 0..1 + draw(4) {
        let at = [0, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 32768][draw(11)];
        let guard = ["", "", "@%p1 ", "@!%p1 "][draw(4)];
        let reg = 10 + number;
        let instruction = match draw(10) {
            0..=4 => format!("{guard}ld.global.u32 %r{reg}, [%rd1+{at}];"),
            5 => format!("{guard}st.global.u32 [%rd1+{at}], %r1;"),
            6 => format!("{guard}atom.global.add.u32 %r{reg}, [%rd1+{at}], 1;"),
            7 => format!("add.u32 %r{}, %r{}, %r{};", reg + 10, reg - 1, reg - 2),
            8 => "membar.gl;".to_owned(),
            _ => format!("{guard}ld.global.v4.u32 {{%r{reg}, %r30, %r38, %r46}}, [%rd1+{at}];"),
        };
        text += &instruction;
        text.push('\n');
    }
    text
}

/// Loads of constants pass stages, and keep results of shared memory that are there before them from
/// being written back.
#[test]
fn constants_in_front_of_shared_loads() {
    for (constants, latency) in [(12, 9), (16, 14)] {
        let latency = format!("pipeline.load_store.constant_latency={latency}");
        let settings = "sms=1 sub_cores=1 memory.constant=none pipeline.front_end=none pipeline.collector=none \
            pipeline.result_buses=none pipeline.load_store.shared_latency=1 units.int.init=1 units.int.lat=1 \
            exit_issues=false";
        let mut settings: Vec<String> = settings.split_whitespace().map(str::to_owned).collect();
        settings.push(latency);
        let each = |number: usize| format!("ld.const.u32 %r{}, [table+{}];\n", 10 + number, 4 * number);
        let constants: String = (0..constants).map(each).collect();
        let text = format!(
            ".version 6.3\n.target sm_61\n.address_size 64\n.const .align 16 .b8 table[4096];\n\
             .visible .entry k(.param .u64 k_param_0)\n{{\n.reg .b32 %r<99>;\n\
             .shared .align 16 .b8 shared[64];\nmov.u32 %r2, shared;\n{constants}\
             ld.shared.u32 %r3, [%r2];\n{}ret;\n}}\n",
            "add.u32 %r3, %r3, %r3;\n".repeat(20)
        );
        let launch = random_accesses::launch_on_buffer(1, 32, 1 << 16);
        let workload = runs::workload("k", reference::program("k.ptx", "k", text), launch);
        let case = Case::of_workload(&workload, "accelsim-sm1", &settings, format!("{settings:?}")).unwrap();
        let result = case.explore(10_000).unwrap();
        println!("{} under the rules, {} of {}", result.gto, result.found.worst, result.bound);
        assert!(result.found.worst <= result.bound, "EXCEEDED {} > {}", result.found.worst, result.bound);
    }
}

/// A summary of cases.
#[derive(Debug, Default)]
struct Tally {
    refused: u64,
    not_applicable: u64,
    explored: u64,
    /// The cases in which the search reached its limit.
    cut_short: u64,
    exceeded: Vec<String>,
    states: u64,
    most_states: u64,
    edges: u64,
    /// The cases in which the worst case is longer than the run under GTO, and those in which it
    /// equals the bound.
    longer: u64,
    tight: u64,
    /// The numbers of cases by the percentage of the bound that the worst case reaches, in steps of
    /// ten, and by that of the run under GTO, in steps of five.
    of_bound: BTreeMap<u64, u64>,
    of_gto: BTreeMap<u64, u64>,
}

impl Tally {
    fn add(&mut self, result: &Result, what: &str) {
        let Result { bound, gto, found } = result;
        self.states += found.states;
        self.most_states = self.most_states.max(found.states);
        self.edges += found.edges;
        if found.worst > *bound {
            let line = format!("EXCEEDED {} > {bound}: {what}", found.worst);
            println!("{line}");
            self.exceeded.push(line);
        }
        if found.spent.is_some() {
            self.cut_short += 1;
            return;
        }
        self.explored += 1;
        self.longer += u64::from(found.worst > *gto);
        self.tight += u64::from(found.worst == *bound);
        if *gto > 0 {
            *self.of_bound.entry(found.worst * 10 / bound * 10).or_default() += 1;
            *self.of_gto.entry(found.worst * 20 / gto * 5).or_default() += 1;
        }
    }
}

/// Explores cases on some threads.
fn campaign(cases: u64, max_states: u64, draw: impl Fn(u64) -> Option<Case> + Sync) -> Tally {
    let seed = number("SEED", 1) * 1_000_000_000;
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..number("JOBS", 1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    if number >= cases {
                        return;
                    }
                    let Some(case) = draw(seed + number) else {
                        tally.lock().unwrap().refused += 1;
                        continue;
                    };
                    let result = case.explore(max_states);
                    let mut tally = tally.lock().unwrap();
                    match result {
                        Some(result) => tally.add(&result, &case.what),
                        None => tally.not_applicable += 1,
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap()
}

#[test]
fn micro_kernels() {
    let tally = campaign(300, 200, Case::micro);
    println!("{tally:#?}");
    assert!(tally.exceeded.is_empty(), "{:?}", tally.exceeded);
    assert!(tally.explored > 100 && tally.longer > 20, "{tally:?}");
}

#[test]
fn accesses_to_memory() {
    let tally = campaign(100, 150, Case::in_ptx);
    println!("{tally:#?}");
    assert!(tally.exceeded.is_empty(), "{:?}", tally.exceeded);
    assert!(tally.explored > 20 && tally.longer > 5, "{tally:?}");
}

/// Explores `CASES` launches on `JOBS` threads, each up to `STATES` states: micro kernels, or those
/// that access memory if `MEMORY` is 1.
#[test]
#[ignore = "a campaign"]
fn explored_pipelines() {
    let draw = if number("MEMORY", 0) == 0 { Case::micro } else { Case::in_ptx };
    let tally = campaign(number("CASES", 100_000), number("STATES", 50_000), draw);
    println!("{tally:#?}");
    assert!(tally.exceeded.is_empty(), "{:?}", tally.exceeded);
}

/// Compares PLB with the longest of some runs with different choices, for launches that are too
/// large to explore. Returns the number of launches, and how often a run exceeds the one under the
/// rules and the bound.
fn climbed(cases: u64, runs: u64) -> [u64; 3] {
    let mut counts = [0; 3];
    for case in 0..cases {
        let case = number("ONLY", number("SEED", 1) * 1_000_000_000 + case);
        let Some(case) = Case::large(case) else { continue };
        let Some(table) = case.table() else { continue };
        let Case { program, machine, blocks, footprint, .. } = &case;
        let Ok(bound) = plb(program, &table, machine, blocks, case.resident, footprint) else { continue };
        let found = case.launch(&table, |launch| climb(launch, runs, 1, &ProgressMonitor::new()));
        counts[0] += 1;
        counts[1] += u64::from(found.makespan > found.by_rules);
        if found.makespan > bound {
            counts[2] += 1;
            println!("EXCEEDED {} > {bound}: {}", found.makespan, case.what);
        }
    }
    counts
}

#[test]
fn large_launches() {
    let counts = climbed(30, 6);
    println!("{counts:?}");
    assert!(counts[0] > 10 && counts[1] > 5 && counts[2] == 0, "{counts:?}");
}

/// Climbs in `CASES` launches, with `RUNS` runs of each.
#[test]
#[ignore = "a campaign"]
fn climbed_pipelines() {
    let counts = climbed(number("CASES", 10_000), number("RUNS", 30));
    println!("{counts:?}");
    assert_eq!(counts[2], 0);
}

/// A chooser that follows the choices of a list, then the first candidates, and records the numbers
/// of candidates.
#[derive(Default)]
struct Listing {
    chosen: Vec<usize>,
    counts: Vec<usize>,
}

impl Chooser for Listing {
    fn choose(&mut self, _: Arbiter, count: usize, _: usize) -> usize {
        let chosen = self.chosen.get(self.counts.len()).copied().unwrap_or(0);
        self.counts.push(count);
        chosen
    }
}

/// Returns the extremes over all runs, each of which is simulated from the start; nothing if there
/// are more than `most`.
fn of_all_runs(launch: &Launch, most: u64) -> Option<(u64, u64)> {
    let (mut worst, mut best) = (0, u64::MAX);
    let mut listing = Listing::default();
    for _ in 0..most {
        let mut run = launch.clone();
        listing.counts.clear();
        let makespan = loop {
            if let Some(makespan) = run.cycle_by(&mut listing) {
                break makespan;
            }
        };
        (worst, best) = (worst.max(makespan), best.min(makespan));
        listing.chosen.resize(listing.counts.len(), 0);
        while let (Some(last), Some(count)) = (listing.chosen.last_mut(), listing.counts.pop()) {
            *last += 1;
            if *last < count {
                break;
            }
            listing.chosen.pop();
        }
        if listing.chosen.is_empty() {
            return Some((worst, best));
        }
    }
    None
}

/// Whether states are equal is decided by their keys: a search without keys finds the same extremes.
#[test]
fn states_with_equal_keys_have_equal_futures() {
    let mut compared = [0; 2];
    for case in 0..number("CASES", 300) {
        let draw = if case % 4 == 0 { Case::in_ptx } else { Case::micro };
        let Some(case) = draw(number("SEED", 7) * 1_000_000_000 + case) else { continue };
        let Some(table) = case.table() else { continue };
        case.launch(&table, |launch| {
            let Some(extremes) = of_all_runs(launch, 500) else { return };
            let found = explore(launch, Limits::default(), &ProgressMonitor::new());
            assert_eq!((found.worst, found.best), extremes, "{}", case.what);
            let climbed = climb(launch, 50, 1, &ProgressMonitor::new());
            assert!(climbed.makespan <= found.worst, "{}", case.what);
            assert_eq!(replay(launch.clone(), &climbed.choices), Some(climbed.makespan), "{}", case.what);
            compared[usize::from(case.footprint.buffers.is_empty())] += u32::from(found.states > 0);
        });
    }
    println!("{compared:?} compared");
    assert!(compared[0] > 5 && compared[1] > 25, "{compared:?}");
}
