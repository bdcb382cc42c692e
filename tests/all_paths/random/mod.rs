//! Random kernels and the bound over all paths: every run's paths are in the sets, and no run takes
//! longer.

mod calls;
mod generate;
mod lanes;
mod measured;
mod member;
mod regions;
mod resident;
mod unknown;
mod written;

use std::collections::{BTreeMap, HashMap};

use warpbound::base::{Pc, ProgressMonitor};
use warpbound::bound::{Analyser, Bound, BoundReport, Iwb, static_bound};
use warpbound::check::all_paths::for_each_block;
use warpbound::diag::SourceText;
use warpbound::exec::all_paths::BlockPathSets;
use warpbound::exec::{Executor, Options};
use warpbound::isa::IsaTable;
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource, PathSet};
use warpbound::program::launch::{Arg, Buffer, Elem, Launch};
use warpbound::program::{KernelCode, TimingTable};
use warpbound::ptx::Module;
use warpbound::sim::PolicySetup;

use crate::runs;

/// A kernel with the data that it runs on.
pub struct Case {
    /// The body of a kernel `k` with a pointer to data in `%rd0` and a number in `%r9`.
    pub body: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// The contents of the buffer, run by run.
    pub inputs: Vec<Vec<u32>>,
    /// The value of `%r9`.
    pub number: u32,
    /// Whether the bounds of the loops are given at once; otherwise they are given if the analysis
    /// needs them.
    pub bounds_first: bool,
    /// A number that is added to the bounds.
    pub slack: u64,
    /// Whether bounds are counted on the path of a warp, from each entry into a loop.
    pub by_warp: bool,
}

/// Statistics about the comparison.
#[derive(Debug, Default)]
pub struct Counts {
    pub paths: u64,
    pub runs: u64,
    pub one_path: u64,
    pub sets_with_loops: u64,
    pub bounded: u64,
    /// The number of paths for which `PathSet::contains` differs from the independent check.
    pub membership: u64,
    /// The number of launches with several blocks that are resident together.
    pub resident: u64,
    /// The number of blocks of which all schedules were simulated.
    pub explored: u64,
    /// The number of warps with a single path in their set, from which the run's path differs in
    /// transactions.
    pub looser: u64,
}

/// The result of a case without a violation.
#[derive(Debug)]
pub enum CaseResult {
    Held(Counts),
    /// The kernel could not be run, for this reason.
    NoRun(String),
    /// The analysis rejected the kernel.
    Refused(String),
}

impl Default for Case {
    /// Returns a block of one warp, without a body and inputs.
    fn default() -> Self {
        Self {
            body: String::new(),
            grid: [1, 1, 1],
            block: [32, 1, 1],
            inputs: Vec::new(),
            number: 0,
            bounds_first: false,
            slack: 0,
            by_warp: false,
        }
    }
}

impl Case {
    pub fn text(&self) -> String {
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .u32 p1)\n{{\n\
             .reg .pred %p<30>; .reg .b32 %r<200>; .reg .b64 %rd<40>; .reg .f32 %f<10>; .shared .align 16 .b8 sm[4096];\n\
             ld.param.u64 %rd0, [p0]; ld.param.u32 %r9, [p1];\n{}\n}}\n",
            self.body
        )
    }

    pub fn program(&self, isa: &IsaTable) -> Result<KernelCode, String> {
        let text = self.text();
        let module = Module::parse(&SourceText::new("k.ptx", text.as_str())).map_err(|e| e.to_string())?;
        module.program("k", isa).map_err(|e| e.to_string())
    }

    /// Returns the program; with `marks` it has regions as in machine code.
    fn code(&self, isa: &IsaTable, marks: bool) -> KernelCode {
        let program = self.program(isa).unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        if marks { regions::marked(program) } else { program }
    }

    pub fn launch(&self, input: &[u32]) -> Launch {
        let bytes = input.iter().flat_map(|word| word.to_le_bytes()).collect();
        Launch {
            grid: self.grid,
            block: self.block,
            dynamic_shared: 0,
            registers: None,
            args: vec![Arg::Buffer(0), Arg::Value(self.number.to_le_bytes().to_vec())],
            buffers: vec![Buffer { name: "p0".to_owned(), elem: Elem::U8, bytes, constant: false }],
            symbols: Vec::new(),
            images: Vec::new(),
        }
    }
}

fn executed(program: &KernelCode, launch: &Launch, machine: &Machine) -> Result<Vec<BlockPaths>, String> {
    let options = Options { traffic: true, ..Options::of(machine, 1 << 18) };
    let mut executor = Executor::new(program, launch, options).map_err(|e| e.to_string())?;
    let (mut paths, mut blocks) = (BlockPaths::default(), Vec::new());
    while executor.next_block(&mut paths).map_err(|e| e.to_string())? {
        blocks.push(paths.clone());
    }
    Ok(blocks)
}

/// Returns the sets of paths of the blocks of a launch.
fn sets_of(
    program: &KernelCode,
    launch: &Launch,
    machine: &Machine,
    bounds: &HashMap<Pc, u64>,
) -> Result<Vec<BlockPathSets>, String> {
    let workload = runs::workload("k", program.clone(), launch.clone());
    let (options, monitor) =
        (Options { traffic: true, ..Options::of(machine, STEPS) }, ProgressMonitor::default());
    let mut sets = Vec::new();
    for_each_block(&workload, options, bounds, &monitor, |block| sets.push(block))
        .map_err(|error| error.to_string())?;
    Ok(sets)
}

/// The number of steps that the analysis may store.
const STEPS: u64 = 40_000;

/// Runs a case and compares.
///
/// # Errors
/// Returns a description of what contradicts the claims.
pub fn attack(case: &Case, isa: &IsaTable, machine: &Machine, simulate: bool) -> Result<CaseResult, String> {
    attack_program(case, case.code(isa, false), machine, simulate)
}

/// Compares the paths of the runs of a program with the sets.
///
/// # Errors
/// Returns a description of what contradicts the claims.
pub fn attack_program(
    case: &Case,
    program: KernelCode,
    machine: &Machine,
    simulate: bool,
) -> Result<CaseResult, String> {
    let launches: Vec<Launch> = case.inputs.iter().map(|input| case.launch(input)).collect();
    let mut runs = Vec::new();
    for launch in &launches {
        match executed(&program, launch, machine) {
            Ok(blocks) => runs.push(blocks),
            Err(error) => return Ok(CaseResult::NoRun(error)),
        }
    }
    let observed = match lanes::observed_bounds(&program, case.block, runs.iter().flatten(), case.by_warp) {
        Ok(observed) => observed,
        Err(error) => return Ok(CaseResult::Refused(error)),
    };
    let bounds: HashMap<Pc, u64> = observed.into_iter().map(|(pc, most)| (pc, most + case.slack)).collect();
    let analysed = |bounds: &HashMap<Pc, u64>| sets_of(&program, &launches[0], machine, bounds);
    let mut found = if case.bounds_first { analysed(&bounds) } else { analysed(&HashMap::new()) };
    let mut counts = Counts::default();
    if found.is_err() {
        found = analysed(&bounds);
        counts.bounded += 1;
    }
    let sets = match found {
        Ok(sets) => sets,
        Err(error) if error.contains("has no path within the bounds") => {
            return Err(format!("no path: {error}\nbounds {bounds:?}"));
        }
        Err(error) => return Ok(CaseResult::Refused(error)),
    };
    let table = TimingTable::new(&program, machine).map_err(|e| e.to_string())?;
    let values: Vec<u64> = sets.iter().map(|block| static_bound(&table, &block.warps).value.get()).collect();
    let value: u64 = values.iter().sum();
    let mut analyser = Analyser::new(&table);
    let mut missing = None;
    for (run, launch) in runs.iter().zip(&launches) {
        counts.runs += 1;
        let (mut iwb, mut all_one) = (0, true);
        for (paths, sets) in run.iter().zip(&sets) {
            for (id, (path, set)) in paths.warps.iter().zip(&sets.warps).enumerate() {
                counts.paths += 1;
                let lines = |steps: &[warpbound::path::Step]| -> Vec<u32> {
                    steps.iter().map(|step| program.instr(step.pc()).line).collect()
                };
                let theirs = set.contains(path.steps());
                let mine = member::contains(set, &member::taken(&program, path));
                if mine != theirs {
                    counts.membership += 1;
                }
                if !mine && missing.is_none() {
                    missing = Some(format!(
                        "block {} w{id}: a path is in no set\nbounds {bounds:?}\nlines {:?}\nset {set:?}",
                        paths.block.get(),
                        lines(path.steps())
                    ));
                }
                match set.only_path() {
                    // memory accesses of a run may have fewer transactions
                    Some(only) if only != path.steps() => {
                        (counts.looser, all_one) = (counts.looser + 1, false)
                    }
                    Some(_) => counts.one_path += 1,
                    None => all_one = false,
                }
            }
            if paths.partial_barriers && !sets.partial_barriers {
                return Err("partial barriers unseen".to_owned());
            }
            let mut report = BoundReport::default();
            analyser.for_each_section(paths, |section| Iwb.add_section(&mut report, section));
            let of_block = report.value.cycles().get();
            let of_sets = values[paths.block.index()];
            if of_block > of_sets {
                return Err(format!("block {}: IWB {of_block} > static {of_sets}", paths.block.get()));
            }
            iwb += of_block;
            if simulate && !paths.partial_barriers {
                counts.explored += u64::from(resident::explored(&table, machine, paths, of_sets)?);
            }
        }
        if iwb > value || all_one && iwb != value {
            return Err(format!("IWB {iwb}, static {value}, one path: {all_one}"));
        }
        if simulate && !run.iter().any(|paths| paths.partial_barriers) {
            let workload = runs::workload("k", program.clone(), launch.clone());
            for policy in [PolicySetup::Gto, PolicySetup::Lrr] {
                let makespan = runs::run(&workload, machine, &policy, &mut ()).makespan.get();
                if makespan > value {
                    return Err(format!("makespan {makespan} > static {value} under {policy:?}"));
                }
            }
        }
    }
    if let Some(missing) = missing {
        return Err(missing);
    }
    if !sets.iter().any(|block| block.partial_barriers) {
        let sets: Vec<&[PathSet]> = sets.iter().map(|block| block.warps.as_slice()).collect();
        counts.resident += resident::attack(&table, &sets, &runs)?;
    }
    let looped =
        sets.iter().flat_map(|block| &block.warps).filter(|set| format!("{set:?}").contains("Loop("));
    counts.sets_with_loops = looped.count() as u64;
    Ok(CaseResult::Held(counts))
}

/// Statistics over many cases.
#[derive(Debug, Default)]
struct Campaign {
    kernels: u64,
    held: u64,
    counts: Counts,
    /// The number of cases that held and have a BSSY, a BREAK, or a WARPSYNC.
    with: [u64; 3],
    no_run: BTreeMap<String, u64>,
    refused: BTreeMap<String, u64>,
    violations: Vec<(u64, String)>,
}

/// Returns an error without its numbers.
fn reason(error: &str) -> String {
    let line = error.lines().find(|line| line.contains("error") || line.contains(": ")).unwrap_or(error);
    line.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).take(140).collect()
}

const MACHINES: [&str; 3] = ["ecrts25-orin-banks", "ecrts25-orin", "ecrts25-orin-4sub"];

/// Returns the index of the machine for a seed.
fn machine_index(seed: u64) -> usize {
    match seed % 8 {
        3 => 1,
        5 | 7 => 2,
        _ => 0,
    }
}

/// Attacks the kernels of these seeds; with `marks` they have regions as in machine code.
fn campaign(seeds: std::ops::Range<u64>, limit: std::time::Duration, marks: bool) -> Campaign {
    let isa = crate::shipped::isa();
    let machines = MACHINES.map(crate::shipped::machine);
    let begun = std::time::Instant::now();
    let mut all = Campaign::default();
    for seed in seeds {
        if begun.elapsed() > limit {
            break;
        }
        let case = generate::case(seed, marks);
        let program = case.code(&isa, marks);
        let with = regions::kinds(&program);
        all.kernels += 1;
        match attack_program(&case, program, &machines[machine_index(seed)], seed % 2 == 0) {
            Ok(CaseResult::Held(counts)) => {
                all.held += 1;
                all.counts.paths += counts.paths;
                all.counts.runs += counts.runs;
                all.counts.one_path += counts.one_path;
                all.counts.sets_with_loops += counts.sets_with_loops;
                all.counts.bounded += counts.bounded;
                all.counts.membership += counts.membership;
                all.counts.looser += counts.looser;
                all.counts.resident += counts.resident;
                all.counts.explored += counts.explored;
                all.with.iter_mut().zip(with).for_each(|(all, has)| *all += u64::from(has));
            }
            Ok(CaseResult::NoRun(error)) => *all.no_run.entry(reason(&error)).or_default() += 1,
            Ok(CaseResult::Refused(error)) => *all.refused.entry(reason(&error)).or_default() += 1,
            Err(error) => all.violations.push((seed, error)),
        }
    }
    all
}

#[test]
fn runs_of_random_kernels_are_in_their_sets() {
    let all = campaign(300..500, std::time::Duration::from_secs(60), false);
    assert!(all.held > 120, "{all:?}");
    assert_eq!(all.counts.membership, 0, "{all:?}");
    assert!(all.counts.resident > 500 && all.counts.explored > 20, "{all:?}");
    assert!(all.violations.is_empty(), "{:?}: {:.3000}", all.violations[0].0, all.violations[0].1);
}

#[test]
#[ignore = "a long campaign; ADVERSARY_SEEDS=FROM..TO, ADVERSARY_MARKS=1 for regions"]
fn long_campaign() {
    let text = std::env::var("ADVERSARY_SEEDS").unwrap_or_else(|_| "0..10000".to_owned());
    let (from, to) = text.split_once("..").expect("FROM..TO");
    let seeds = from.parse().expect("a seed")..to.parse().expect("a seed");
    let marks = std::env::var_os("ADVERSARY_MARKS").is_some();
    let all = campaign(seeds, std::time::Duration::from_secs(3000), marks);
    println!("kernels {} held {} with marks {:?} {:?}", all.kernels, all.held, all.with, all.counts);
    println!("no run {:#?}\nrefused {:#?}", all.no_run, all.refused);
    println!("violations {}", all.violations.len());
    for (seed, violation) in all.violations.iter().take(40) {
        println!("seed {seed}: {:.200}", violation.replace('\n', " | "));
    }
}

#[test]
#[ignore = "shows one kernel; ADVERSARY_SEED=N, ADVERSARY_MARKS=1 for regions"]
fn show() {
    let seed = std::env::var("ADVERSARY_SEED").unwrap().parse().unwrap();
    let marks = std::env::var_os("ADVERSARY_MARKS").is_some();
    let case = generate::case(seed, marks);
    for (number, line) in case.text().lines().enumerate() {
        println!("{:4} {line}", number + 1);
    }
    println!("grid {:?} block {:?} slack {} first {}", case.grid, case.block, case.slack, case.bounds_first);
    let machines = MACHINES.map(crate::shipped::machine);
    let program = case.code(&crate::shipped::isa(), marks);
    let outcome = attack_program(&case, program, &machines[machine_index(seed)], true);
    match outcome {
        Ok(outcome) => println!("{outcome:?}"),
        Err(violation) => println!("{violation}"),
    }
}
