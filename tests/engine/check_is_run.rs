//! `check` replays a kernel under several policies and, if blocks run one by one, on an SM that it
//! reuses; `run` simulates the launch once. Both give the same result, on machines, kernels and
//! policies that are drawn at random.
//!
//! `WARPBOUND_CASES=5000 cargo test --test engine check_is_run` draws more cases than the default,
//! `WARPBOUND_SEED` others.

use crate::random_kernels;
use crate::reference;
use crate::runs;
use crate::settings;
use crate::shipped;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use random_kernels::{Shape, machine, machine_text, random_launch};
use warpbound::base::{Pc, ProgressMonitor};
use warpbound::check::{JudgedLaunch, Plan, RunOptions, Workload, WorkloadKind, check, observe};
use warpbound::machine::{Machine, PolicyKind};
use warpbound::micro::MicroKernel;
use warpbound::program::Flow;
use warpbound::sim::{PolicySetup, SimSummary};
use warpbound::trace::Recorder;

/// Returns policies for a plan, in any order and possibly repeated.
fn policies(draw: &mut impl FnMut(usize) -> usize) -> Vec<PolicySetup> {
    let mut policy = || {
        let named = PolicyKind::NAMED;
        // the two-level policy is the only one that needs more information than which warps are
        // ready
        let kind = match draw(named.len() + 4) {
            n if n < named.len() => named[n].clone(),
            n if n == named.len() => PolicyKind::Random(draw(3) as u64),
            _ => PolicyKind::TwoLevel,
        };
        PolicySetup::new(&kind, |_| unreachable!("no replay among them")).unwrap()
    };
    let first = policy();
    let mut all: Vec<PolicySetup> = (0..3).map(|_| policy()).collect();
    all.truncate(draw(4));
    all.insert(0, first);
    all
}

/// Returns a random launch as a `.warp` file would give it: without accesses whose timing depends
/// on the space and without asynchronous copies, which such a file does not have.
fn micro(seed: u64, draw: &mut impl FnMut(usize) -> usize) -> (Workload, Machine) {
    let shape = Shape {
        partial_barriers: false,
        sub_cores: [1, 4][draw(2)],
        pipeline: draw(4) == 0,
        queues: [0, 0, 0, 3][draw(4)],
        ..Shape::EVERYTHING
    };
    let launch = random_launch(seed, &shape, 1 + draw(6));
    let blocks = format!("Limits(blocks: {})", 1 + draw(3));
    let machine = machine(&machine_text(seed, &shape).replace("Limits(blocks: 8)", &blocks));
    let mut program = launch.program;
    for instr in &mut program.instrs {
        instr.class_by_space = None;
        if matches!(instr.flow, Flow::AsyncCopy | Flow::AsyncWait) {
            instr.flow = Flow::Plain;
        }
    }
    let block_warps = launch.blocks[0].warps.len();
    let paths = launch.blocks.iter().flat_map(|block| &block.warps);
    let warps: Vec<(Pc, Pc)> = paths
        .map(|path| {
            let steps = path.steps();
            (steps[0].pc(), Pc::from_index(steps[steps.len() - 1].pc().index() + 1))
        })
        .collect();
    let blocks = (0..launch.blocks.len()).map(|block| block * block_warps).collect();
    let kernel = MicroKernel { machine: None, policy: None, program, warps, blocks, block_warps };
    let workload = Workload { name: format!("random {seed}"), kind: WorkloadKind::Micro(Box::new(kernel)) };
    (workload, machine)
}

/// Returns the part of the result that both commands give.
fn result(checked: &JudgedLaunch) -> SimSummary {
    SimSummary {
        makespan: checked.makespan,
        issues: checked.issues,
        stalls: checked.stalls,
        sub_cores: checked.sub_cores.clone(),
        blocks: u64::from(checked.launch_blocks),
        resident_blocks: checked.resident_blocks,
        memory: checked.memory,
    }
}

/// Compares both results. Returns false if the workload does not fit the machine.
fn compare(workload: &Workload, machine: &Machine, policies: &[PolicySetup], what: &str) -> bool {
    if machine.limits().occupancy(&workload.needs()).is_err() {
        return false;
    }
    let monitor = ProgressMonitor::new();
    let plan = Plan { workload, machine, policies, options: RunOptions::new(1 << 26, &monitor) };
    let checked = check(&plan).unwrap_or_else(|failed| panic!("{what}: {}", failed.problems));
    assert_eq!(checked.len(), policies.len());
    for (checked, policy) in checked.iter().zip(policies) {
        let run = runs::run(workload, machine, policy, &mut ());
        assert_eq!(result(checked), run, "{what}: `check` and a simulation by itself, under {policy}");
        let alone = Plan { policies: std::slice::from_ref(policy), ..plan };
        let watched = observe(&alone, &mut Recorder::new());
        let watched = watched.unwrap_or_else(|failed| panic!("{what}: {}", failed.problems));
        assert_eq!(result(&watched), run, "{what}: `run` with somebody who listens, under {policy}");
    }
    true
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

#[test]
fn on_random_machines() {
    let (cases, seed) = (number("WARPBOUND_CASES", 300), number("WARPBOUND_SEED", 32));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = move |below: usize| rng.random_range(0..below);
    let launches: Vec<_> =
        reference::launches().into_iter().filter(|launch| launch.warp_instructions < 6000).collect();
    let names =
        ["vecadd", "conv2d", "fft_radix2", "scan_padded", "spmv_warp", "kmeans_assign", "btree_group"];
    let shipped: Vec<_> = names.iter().map(|name| shipped::launch(name)).collect();
    let (mut compared, mut one_by_one, mut runs) = (0, 0, 0);
    for case in 0.. {
        if compared == cases {
            break;
        }
        assert!(case < 4 * cases + 100, "most cases are refused: {compared} of {case} compared");
        let policies = policies(&mut draw);
        let (workload, machine, on) = if draw(3) == 0 {
            let (workload, machine) = micro(seed << 32 | case, &mut draw);
            (workload, Some(machine), "a random machine".to_owned())
        } else {
            let (base, settings) =
                if draw(2) == 0 { settings::paper(&mut draw) } else { settings::pipeline(&mut draw) };
            let workload = if draw(2) == 0 {
                let kernel = &shipped[draw(shipped.len())];
                runs::workload(&kernel.name, kernel.program.clone(), kernel.launch.clone())
            } else {
                let launch = &launches[draw(launches.len())];
                runs::workload(&launch.name, launch.program(), launch.launch.clone())
            };
            (workload, shipped::try_machine_with(base, &settings).ok(), format!("{base} with {settings:?}"))
        };
        let names: Vec<String> = policies.iter().map(ToString::to_string).collect();
        let what = format!("case {case}, {} on {on} under {}", workload.name, names.join(", "));
        let Some(machine) = machine else { continue };
        if compare(&workload, &machine, &policies, &what) {
            compared += 1;
            runs += policies.len();
            let resident = machine.limits().occupancy(&workload.needs()).unwrap().blocks;
            one_by_one += u64::from(resident == 1 && workload.blocks() > 1 && machine.pipeline().is_none());
        }
    }
    println!("{compared} cases, {runs} runs; of {one_by_one} cases blocks run one by one");
    assert!(one_by_one * 20 > cases, "only {one_by_one} of {cases} cases use an SM again");
}
