//! PLB compared with the exact worst case over every choice of the arbiters, for tiny launches on
//! random machines with a pipeline.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::ProgressMonitor;
use warpbound::diag::SourceText;
use warpbound::explore::choices::{Explored, climb, explore, replay};
use warpbound::explore::search::Limits;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::path::{BlockPaths, Footprint, Listed};
use warpbound::program::{KernelCode, TimingTable};
use warpbound::sim::by_cycle::{Arbiter, Carried, Chooser, Given, Launch};
use warpbound::sim::{PolicySetup, simulate};

use crate::pipelined::{number, pipeline, plb};
use crate::random_kernels::{Shape, machine_text, random_launch};

/// A tiny launch on a machine with a pipeline.
struct Case {
    program: KernelCode,
    blocks: Vec<BlockPaths>,
    machine: Machine,
    resident: u32,
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
        Some(Self { program: launch.program, blocks: launch.blocks, machine, resident, what })
    }

    fn table(&self) -> Option<TimingTable> {
        TimingTable::new(&self.program, &self.machine).ok()
    }

    /// Calls `with` with the launch before its first cycle.
    fn launch<T>(&self, table: &TimingTable, with: impl FnOnce(&Launch) -> T) -> T {
        let given = Given::new(&self.machine, table).expect("the machine has a pipeline");
        let footprint = Footprint::default();
        with(&Launch::new(&given, self.resident, &footprint, &self.blocks, &mut Carried::default()))
    }

    /// Explores the case; returns nothing if the bound does not apply.
    fn explore(&self, max_states: u64) -> Option<Result> {
        let table = self.table()?;
        let footprint = Footprint::default();
        let bound =
            plb(&self.program, &table, &self.machine, &self.blocks, self.resident, &footprint).ok()?;
        let limits = Limits { max_states, ..Limits::default() };
        let found = self.launch(&table, |launch| {
            let found = explore(launch, limits, &ProgressMonitor::new());
            assert_eq!(replay(launch.clone(), &found.worst_witness), Some(found.worst), "{}", self.what);
            assert_eq!(replay(launch.clone(), &found.best_witness), Some(found.best), "{}", self.what);
            found
        });
        let mut source = Listed::new(&self.blocks);
        let policy = &PolicySetup::Gto;
        let ran = simulate(&mut source, &table, &self.machine, policy, self.resident, &mut (), |_, _| ());
        let gto = ran.unwrap_or_else(|error| panic!("{}: {error}", self.what)).makespan.get();
        // the rules are some of the choices
        assert!(found.worst >= gto || found.spent.is_some(), "{} < {gto}: {}", found.worst, self.what);
        assert!(found.best <= gto || found.spent.is_some(), "{} > {gto}: {}", found.best, self.what);
        Some(Result { bound, gto, found })
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
    let tally = campaign(400, 3_000, Case::micro);
    println!("{tally:#?}");
    assert!(tally.exceeded.is_empty(), "{:?}", tally.exceeded);
    assert!(tally.explored > 100 && tally.longer > 20, "{tally:?}");
}

/// Explores `CASES` micro kernels on `JOBS` threads.
#[test]
#[ignore = "a campaign"]
fn explored_pipelines() {
    let tally = campaign(number("CASES", 100_000), number("STATES", 50_000), Case::micro);
    println!("{tally:#?}");
    assert!(tally.exceeded.is_empty(), "{:?}", tally.exceeded);
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
    let mut compared = 0;
    for case in 0..400 {
        let Some(case) = Case::micro(number("SEED", 7) * 1_000_000_000 + case) else { continue };
        let Some(table) = case.table() else { continue };
        case.launch(&table, |launch| {
            let Some(extremes) = of_all_runs(launch, 2_000) else { return };
            let found = explore(launch, Limits::default(), &ProgressMonitor::new());
            assert_eq!((found.worst, found.best), extremes, "{}", case.what);
            let climbed = climb(launch, 50, 1, &ProgressMonitor::new());
            assert!(climbed.makespan <= found.worst, "{}", case.what);
            assert_eq!(replay(launch.clone(), &climbed.choices), Some(climbed.makespan), "{}", case.what);
            compared += u32::from(found.states > 0);
        });
    }
    println!("{compared} compared");
    assert!(compared > 50, "{compared}");
}
