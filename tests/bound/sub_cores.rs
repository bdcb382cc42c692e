//! Bounds on machines with several sub-cores: random kernels under every policy, and every schedule
//! of tiny blocks. The same comparisons must detect bounds that are one cycle too low.

use crate::premises;
use crate::random_kernels;

use std::cell::RefCell;
use std::rc::Rc;

use random_kernels::{KernelBuilder, RandomKernel, Shape, random_kernel};
use warpbound::base::{BlockId, LaneMask, ProgressMonitor};
use warpbound::bound::{self, Analyser, Bound, BoundReport, Gub, Iwb, Scope, Swb, analyse_block};
use warpbound::check::self_check;
use warpbound::explore::explore;
use warpbound::explore::model::Model;
use warpbound::explore::schedules::search;
use warpbound::explore::search::Limits;
use warpbound::path::{BlockPaths, Step, WarpPath};
use warpbound::program::TimingTable;
use warpbound::sim::policy::{Policy, PolicyError, View};
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

const LIMITS: Limits = Limits { max_states: 1 << 20, max_bytes: u64::MAX, threads: 1 };

/// Returns whether the block or a warp exceeds its bound less `slack`.
fn exceeded(report: &BoundReport, makespan: u64, finish: &[u64], slack: u64) -> bool {
    let beyond = |value: bound::BoundValue, time: u64| time > 0 && time + slack > value.cycles().get();
    beyond(report.value, makespan)
        || report.warps.iter().zip(finish).any(|(&value, &time)| beyond(value, time))
}

/// Returns the number of runs of random kernels that exceed each bound less `slack`, by name, and
/// the number of all runs.
fn random_runs(kernels: u64, slack: u64) -> (Vec<(&'static str, u64)>, u64) {
    let shape = Shape { sub_cores: 4, ..Shape::PAPER };
    // bounds of one block by itself
    let bounds: Vec<_> = bound::all().into_iter().filter(|bound| bound.scope() == Scope::Block).collect();
    let mut found: Vec<(&'static str, u64)> = bounds.iter().map(|bound| (bound.name(), 0)).collect();
    let mut runs = 0;
    for seed in 0..kernels {
        let RandomKernel { program, machine, paths } = random_kernel(seed, &shape);
        let table = TimingTable::new(&program, &machine).unwrap();
        self_check(&table, &machine, &paths).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let block = Analyser::new(&table).in_turns().block(&paths);
        let reports: Vec<BoundReport> = bounds.iter().map(|bound| bound.evaluate(&block)).collect();
        assert!(reports[2].value <= reports[1].value, "seed {seed}: SWB is at most IWB");
        let mut engine = Engine::new(&table, PaperMachine::of(&machine).unwrap());
        let fixed =
            [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest, PolicySetup::Srr, PolicySetup::Gsrr];
        for policy in fixed.into_iter().chain([seed, seed + 1].map(PolicySetup::Random)) {
            let run = engine.run_block(&paths, &policy, &mut ()).unwrap();
            let finish: Vec<u64> = run.warps.iter().map(|warp| warp.finish.get()).collect();
            let context = premises::paper(&policy.kind(), 1, paths.partial_barriers);
            for ((bound, report), tally) in bounds.iter().zip(&reports).zip(&mut found) {
                if bound.applicable(&context).is_ok() {
                    runs += 1;
                    tally.1 += u64::from(exceeded(report, run.makespan.get(), &finish, slack));
                }
            }
        }
    }
    (found, runs)
}

#[test]
fn no_proved_bound_is_exceeded_on_random_kernels() {
    let (found, runs) = random_runs(3000, 0);
    assert!(found.iter().all(|&(name, violations)| name == "gub" || violations == 0), "{found:?}");
    assert!(runs > 40_000, "only {runs} runs were judged");
}

#[test]
fn a_bound_lowered_by_one_cycle_is_caught_on_random_kernels() {
    let (found, _) = random_runs(500, 1);
    assert!(found.iter().all(|&(_, violations)| violations > 0), "{found:?}");
}

/// Blocks of a tiny grammar: each warp has one or two instructions, the second reads the first or
/// nothing, each on one of two units.
struct Tiny {
    kernel: RandomKernel,
    /// The paths of the warps of the grammar.
    codes: Vec<WarpPath>,
}

impl Tiny {
    fn new(machine: &str, longest: usize) -> Self {
        let mut builder = KernelBuilder::new();
        builder.warp();
        for unit in ["f0", "f1"] {
            builder.op(unit, Some(0), &[]).op(unit, Some(1), &[]).op(unit, Some(1), &[0]);
        }
        let kernel = builder.build(machine);
        let step = |index: usize| kernel.paths.warps[0].steps()[index];
        let path = |steps: &[Step]| {
            let mut path = WarpPath::default();
            steps.iter().for_each(|&step| path.push(step, LaneMask::ALL));
            path
        };
        let mut codes = Vec::new();
        for first in [0, 3] {
            codes.push(path(&[step(first)]));
            if longest > 1 {
                codes.extend([1, 2, 4, 5].map(|second| path(&[step(first), step(second)])));
            }
        }
        Self { kernel, codes }
    }

    /// Visits every block of this many warps.
    fn for_each(&self, warps: u32, mut visit: impl FnMut(&TimingTable, &BlockPaths)) {
        let table = TimingTable::new(&self.kernel.program, &self.kernel.machine).unwrap();
        let mut paths = BlockPaths { block: BlockId::new(0), ..BlockPaths::default() };
        for number in 0..self.codes.len().pow(warps) {
            let digit = |warp: u32| number / self.codes.len().pow(warp) % self.codes.len();
            paths.warps = (0..warps).map(|warp| self.codes[digit(warp)].clone()).collect();
            visit(&table, &paths);
        }
    }
}

fn tiny_machine(sub_cores: usize, timing: [(u64, u64); 2], shared: [bool; 2]) -> String {
    let unit = |i: usize| {
        let ((init, lat), shared) = (timing[i], shared[i]);
        format!("\"f{i}\": Unit(init: {init}, lat: {lat}, shared: {shared})")
    };
    format!(
        "Machine(name: \"tiny\", sub_cores: {sub_cores}, units: {{ {}, {} }}, ops: {{ \"f0\": \"f0\", \"f1\": \"f1\" }})",
        unit(0),
        unit(1)
    )
}

#[derive(Debug, Default)]
struct Tally {
    blocks: u64,
    /// For GUB, IWB and SWB: the number of blocks whose worst case exceeds the bound, and of those
    /// in which it is attained.
    exceeded: [u64; 3],
    tight: [u64; 3],
}

fn exhaust(tally: &mut Tally, ron: &str, warps: u32, longest: usize) {
    Tiny::new(ron, longest).for_each(warps, |table, paths| {
        let block = analyse_block(table, paths);
        let worst =
            search(&Model::new(table, paths).unwrap(), LIMITS, &ProgressMonitor::new()).unwrap().worst;
        tally.blocks += 1;
        for (index, bound) in [&Gub as &dyn Bound, &Iwb, &Swb].into_iter().enumerate() {
            let value = bound.evaluate(&block).value.cycles().get();
            tally.exceeded[index] += u64::from(worst > value);
            tally.tight[index] += u64::from(worst == value);
        }
    });
}

#[test]
fn proved_bounds_hold_for_every_schedule_of_tiny_blocks() {
    let mut tally = Tally::default();
    let timings = [(1, 0), (1, 2), (2, 0), (2, 1), (3, 0), (3, 2)];
    for (index, &a) in timings.iter().enumerate() {
        for (other, &b) in timings.iter().enumerate() {
            for shared in [[false, true], [true, true]] {
                // warps 0 and 2 on one sub-core, 1 on the other
                exhaust(&mut tally, &tiny_machine(2, [a, b], shared), 3, 2);
            }
            if (index + 2 * other) % 9 == 0 {
                exhaust(&mut tally, &tiny_machine(2, [a, b], [false, true]), 4, 2);
                exhaust(&mut tally, &tiny_machine(3, [a, b], [false, true]), 4, 2);
            }
        }
    }
    assert_eq!(tally.blocks, 152_000);
    assert_eq!((tally.exceeded[1], tally.exceeded[2]), (0, 0), "{tally:?}");
    // sabotage: if a bound is attained, one cycle less is exceeded
    assert!(tally.tight.iter().all(|&tight| tight > 1000), "{tally:?}");
    println!("{tally:?}");
}

/// Takes the decisions of an odometer: one digit for each choice among several warps, on any
/// sub-core.
struct Odometer {
    /// The digits, each with its base.
    digits: Vec<(usize, usize)>,
    next: usize,
}

#[derive(Clone)]
struct Chooser(Rc<RefCell<Odometer>>);

impl Policy for Chooser {
    fn is_work_conserving(&self) -> bool {
        true
    }

    fn restart(&mut self) {}

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let mut odometer = self.0.borrow_mut();
        let base = view.ready.count() as usize;
        let at = odometer.next;
        odometer.next += 1;
        if at == odometer.digits.len() {
            odometer.digits.push((0, base));
        }
        assert_eq!(odometer.digits[at].1, base, "the same decisions lead to the same choices");
        Ok(view.ready.slots().nth(odometer.digits[at].0))
    }
}

/// Returns the worst and the best makespan over all schedules, by running the engine under each.
fn by_brute_force(kernel: &RandomKernel, table: &TimingTable) -> (u64, u64) {
    let odometer = Rc::new(RefCell::new(Odometer { digits: Vec::new(), next: 0 }));
    let mut policies = vec![Chooser(Rc::clone(&odometer)); kernel.machine.sub_cores().count()];
    let mut engine = Engine::new(table, PaperMachine::of(&kernel.machine).unwrap());
    let (mut worst, mut best) = (0, u64::MAX);
    loop {
        odometer.borrow_mut().next = 0;
        let run = engine.run_block_with(&kernel.paths, &mut policies, &mut ()).unwrap();
        worst = worst.max(run.makespan.get());
        best = best.min(run.makespan.get());
        let digits = &mut odometer.borrow_mut().digits;
        while digits.last().is_some_and(|&(digit, base)| digit + 1 == base) {
            digits.pop();
        }
        match digits.last_mut() {
            Some((digit, _)) => *digit += 1,
            None => return (worst, best),
        }
    }
}

/// The search finds the same extremes as the engine under every schedule, with barriers and shared
/// units.
#[test]
fn exploration_agrees_with_the_engine_under_every_schedule() {
    let shape = Shape { max_warps: 5, max_instructions: 3, waw: true, sub_cores: 3, ..Shape::PAPER };
    let (mut compared, mut differ) = (0, 0);
    for seed in 0..2000 {
        let kernel = random_kernel(seed, &shape);
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        let per_core = |core: usize| {
            let own = kernel
                .paths
                .warps
                .iter()
                .enumerate()
                .filter(|(warp, _)| kernel.machine.sub_cores().of_slot(*warp) == core);
            own.map(|(_, path)| path.steps().len() - 1).sum::<usize>()
        };
        let cores = kernel.machine.sub_cores().count();
        if cores == 1 || (0..cores).any(|core| per_core(core) > 8) {
            continue;
        }
        let iwb = Iwb.evaluate(&analyse_block(&table, &kernel.paths)).value.cycles();
        let found =
            explore(&table, &kernel.machine, &kernel.paths, iwb, LIMITS, &ProgressMonitor::new()).unwrap();
        let (worst, best) = (found.worst.at_least.get(), found.best.at_most.get());
        assert!(found.is_complete());
        assert_eq!((worst, best), by_brute_force(&kernel, &table), "seed {seed}");
        compared += 1;
        differ += u64::from(worst > best);
    }
    assert!(compared > 300 && differ > 50, "{compared} compared, in {differ} schedules differ");
}

/// Two sub-cores, one shared unit of init 3, one instruction each: the second sub-core waits for
/// the first although both issue at the same time. Without sharing neither waits.
#[test]
fn instructions_of_one_cycle_are_served_by_sub_core() {
    for (shared, finish, value) in [(true, [3, 6], 6), (false, [3, 3], 3)] {
        let mut builder = KernelBuilder::new();
        builder.warp().op("f0", None, &[]).warp().op("f0", None, &[]);
        let kernel = builder.build(&tiny_machine(2, [(3, 0), (1, 0)], [shared, false]));
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        let mut engine = Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap());
        let run = engine.run_block(&kernel.paths, &PolicySetup::Gto, &mut ()).unwrap();
        assert_eq!([0, 1].map(|warp: usize| run.warps[warp].finish.get()), finish);
        for bound in [&Gub as &dyn Bound, &Iwb, &Swb] {
            let report = bound.evaluate(&analyse_block(&table, &kernel.paths));
            assert_eq!(report.value.cycles().get(), value, "{}", bound.name());
        }
    }
}

/// A unit of init 1 that sub-cores share can have a queue. A sure run of SWB must not rely on such
/// a unit, because a result may become available later than the code of its warp implies.
#[test]
fn shared_units_of_init_one_have_queues() {
    let code = |shared: bool| {
        let mut builder = KernelBuilder::new();
        // the warp waits for its f0 three cycles later; other instructions fill the time
        builder.warp().op("f0", Some(0), &[]).op("f1", Some(1), &[]).op("f1", Some(2), &[]).op(
            "f1",
            None,
            &[0],
        );
        let kernel = builder.build(&tiny_machine(4, [(1, 1), (1, 0)], [shared, false]));
        let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
        analyse_block(&table, &kernel.paths).sections[0].runs(warpbound::base::WarpId::new(0)).runs
    };
    assert_eq!((code(false), code(true)), (1, 2));
}
