//! The launches of the suite: one path if control flow and addresses do not depend on data, and
//! otherwise a set with every run's paths.

use std::collections::HashMap;

use warpbound::base::{Cycles, Pc, ProgressMonitor};
use warpbound::bound::{Analyser, Bound, BoundReport, Iwb, Schedules, StaticKind};
use warpbound::check::all_paths::{AllPathsBound, AllPathsOutcome, all_paths, for_each_block};
use warpbound::check::{Workload, WorkloadKind};
use warpbound::exec::{Executor, Options};
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::warp_cfg::{Divergence, WarpCfg};
use warpbound::program::{Sem, TimingTable};

use crate::runs;
use crate::shipped::{Shipped, launch_files, load_by, machine, machine_of};

const STEPS: u64 = 1 << 26;

fn workload(shipped: &Shipped) -> Workload {
    let kind = WorkloadKind::Launch {
        program: Box::new(shipped.program.clone()),
        launch: Box::new(shipped.launch.clone()),
    };
    Workload { name: shipped.name.clone(), kind }
}

/// Returns the value of the bound for every work-conserving schedule.
fn value(found: &AllPathsBound) -> Cycles {
    found.under(Schedules::WorkConserving).expect("it applies").cycles()
}

/// Returns IWB over the paths of a run, and the result of the analysis, after checking that these
/// paths are in the sets of all paths.
fn run(
    shipped: &Shipped,
    machine: &Machine,
    bounds: &HashMap<Pc, u64>,
) -> Result<(u64, AllPathsBound), String> {
    let workload = workload(shipped);
    let monitor = ProgressMonitor::default();
    let found = all_paths(&workload, machine, &[], bounds, STEPS, &monitor).map_err(|e| e.to_string())?;
    let AllPathsOutcome::Bound(found) = found else { panic!("{}: {found:?}", shipped.name) };
    let options = Options::of(machine, STEPS);
    let mut sets = Vec::new();
    for_each_block(&workload, options, bounds, &monitor, |block| sets.push(block)).expect("as before");
    let table = TimingTable::new(&shipped.program, machine).expect("it fits");
    let mut executor = Executor::new(&shipped.program, &shipped.launch, options).expect("a launch");
    let (mut paths, mut analyser, mut iwb) = (BlockPaths::default(), Analyser::new(&table), 0);
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{}: {error}", shipped.name)) {
        let sets = &sets[paths.block.index()].warps;
        for (id, (path, set)) in paths.warps.iter().zip(sets).enumerate() {
            assert!(
                set.contains(path.steps()),
                "{}: block {} w{id}: {set:?} does not contain {:?}",
                shipped.name,
                paths.block.get(),
                path.steps()
            );
        }
        let mut report = BoundReport::default();
        analyser.for_each_section(&paths, |section| Iwb.add_section(&mut report, section));
        iwb += report.value.cycles().get();
    }
    Ok((iwb, found))
}

/// Returns, for each loop of the kernel, the largest number of times that a warp of a run goes back
/// to its beginning after it enters it from outside.
fn observed_bounds(shipped: &Shipped) -> HashMap<Pc, u64> {
    let graph =
        WarpCfg::new(&shipped.program, Some(shipped.launch.block), Divergence::Sides).expect("reducible");
    let kernel = &graph.functions[0];
    let options = Options { max_instructions_per_block: STEPS, ..Options::default() };
    let mut executor = Executor::new(&shipped.program, &shipped.launch, options).expect("a launch");
    let (mut paths, mut most) = (BlockPaths::default(), HashMap::new());
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{}: {error}", shipped.name)) {
        for path in &paths.warps {
            let mut rounds = vec![None; kernel.loops.loops.len()];
            for step in path.steps() {
                let Some(block) = graph.kernel_block_entered_at(&shipped.program, step.pc()) else {
                    continue;
                };
                for (index, found) in kernel.loops.loops.iter().enumerate() {
                    rounds[index] = match rounds[index] {
                        _ if !found.contains(block) => None,
                        Some(count) if found.header == block => Some(count + 1),
                        None => Some(0u64),
                        count => count,
                    };
                    let header = graph.blocks[found.header].start;
                    let known: &mut u64 = most.entry(header).or_default();
                    *known = rounds[index].unwrap_or(0).max(*known);
                }
            }
        }
    }
    most
}

/// The launches of all kernels by both compilers: if every warp has one path, the bound is IWB; if
/// loops need bounds, those observed in a run are used.
#[test]
fn paths_of_all_launches_are_in_their_sets() {
    let machine = machine("ecrts25-orin");
    let (mut launches, mut of_one_path, mut bounded) = (0, 0, Vec::new());
    for compiler in ["ptx", "nvrtc.ptx"] {
        for file in launch_files() {
            if compiler != "ptx" && file.parent().is_some_and(|folder| folder.ends_with("micro")) {
                continue;
            }
            let shipped = load_by(&file, 0, compiler);
            // the larger launches of the same kernels
            if shipped.name.ends_with("_grid") {
                continue;
            }
            // 1667 iterations of diverging lanes: to search for such a path in the set takes half a
            // minute
            if shipped.name == "loopbreak" && compiler != "ptx" {
                continue;
            }
            let found = run(&shipped, &machine, &HashMap::new()).or_else(|error| {
                assert!(error.contains("--loop-bound"), "{}: {error}", shipped.name);
                bounded.push(shipped.name.clone());
                run(&shipped, &machine, &observed_bounds(&shipped))
            });
            let (iwb, found) = found.unwrap_or_else(|error| panic!("{}: {error}", shipped.name));
            launches += 1;
            assert!(value(&found).get() >= iwb, "{}: {} is below {iwb}", shipped.name, value(&found));
            if found.with_one_path == found.warps {
                assert_eq!(value(&found).get(), iwb, "{}", shipped.name);
                of_one_path += 1;
            }
        }
    }
    bounded.sort_unstable();
    bounded.dedup();
    assert_eq!(bounded, BOUNDED);
    println!("{launches} launches, {of_one_path} of one path");
    assert!(launches > 200 && of_one_path > launches * 3 / 4, "{of_one_path} of {launches}");
}

/// The same for machine code of Ampere, whose lanes reconverge where BSSY and BSYNC say it, and which
/// calls functions.
#[test]
fn paths_of_machine_code_are_in_their_sets() {
    let machine = machine("ecrts25-orin");
    let (mut with_regions, mut with_calls, mut refused) = (0, 0, Vec::new());
    for file in launch_files() {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let has_code = file.parent().is_some_and(|folder| {
            let kernel = folder.file_name().unwrap().to_string_lossy();
            folder.join(format!("{kernel}.sm_86.cubin")).exists()
        });
        if !has_code || name.ends_with("_grid") || name.ends_with("_waves") {
            continue;
        }
        let shipped = load_by(&file, 0, "sm_86.cubin");
        let has = |is: fn(&Sem) -> bool| shipped.program.instrs.iter().any(|instr| is(&instr.sem));
        let found = run(&shipped, &machine, &HashMap::new()).or_else(|error| {
            assert!(error.contains("--loop-bound") || error.contains("does not know"), "{name}: {error}");
            run(&shipped, &machine, &observed_bounds(&shipped))
        });
        match found {
            Err(error) => {
                assert!(error.contains("does not know"), "{name}: {error}");
                refused.push(name);
            }
            Ok((iwb, found)) => {
                assert!(value(&found).get() >= iwb, "{name}: {} is below {iwb}", value(&found));
                with_regions += usize::from(has(|sem| matches!(sem, Sem::OpenRegion { .. })));
                with_calls += usize::from(has(|sem| matches!(sem, Sem::Call(_))));
            }
        }
    }
    println!("{with_regions} with regions, {with_calls} with calls, refused {refused:?}");
    assert!(with_regions > 15 && with_calls > 3, "{with_regions}, {with_calls}");
    assert_eq!(refused, REFUSED);
}

/// The launches whose machine code the analysis of all paths refuses: lanes end in a long loop.
const REFUSED: [&str; 2] = ["eigen_cluster", "eigen_single"];

/// The launches with loops whose trip counts depend on data.
const BOUNDED: [&str; 9] = [
    "bfs_expand",
    "btree_group",
    "btree_lane",
    "eigen_cluster",
    "eigen_single",
    "loopbreak",
    "nested_if",
    "particle_step",
    "sssp_relax",
];

/// The suite's launches of several blocks that are resident together, with the loop bounds observed
/// in a run. The bound is at least RBB of that run, and equals RBB with one path and one sub-core.
#[test]
fn blocks_that_are_resident_together_are_bounded_as_rbb_does() {
    let machines = [
        "extends: \"ecrts25-orin\", limits: Limits(blocks: 2)",
        "extends: \"ecrts25-orin-banks\", limits: Limits(blocks: 8)",
        "extends: \"ecrts25-orin-4sub\", limits: Limits(blocks: 8)",
        "extends: \"ecrts25-orin\", sms: 2, limits: Limits(blocks: 1), pipeline: Pipeline()",
    ]
    .map(|text| machine_of(format!("Machine(name: \"test\", {text})")));
    let (mut launches, mut equal) = (0, 0);
    for file in launch_files() {
        let shipped = load_by(&file, 0, "ptx");
        if !shipped.spec.suite || shipped.launch.blocks() == 1 {
            continue;
        }
        let workload = workload(&shipped);
        let bounds = loop_bounds(&shipped);
        for machine in &machines {
            let found = static_of(StaticKind::Rbb, &workload, machine, &bounds);
            let run = &runs::judged(&workload, machine, None)[0];
            let rbb = run.judged().find(|row| row.name == "rbb").expect("blocks are resident together");
            let rbb = rbb.value.as_ref().expect("it applies").cycles();
            assert!(run.makespan <= rbb && rbb <= value(&found), "{}: {rbb} {found:?}", shipped.name);
            launches += 1;
            if found.with_one_path == found.warps && machine.sub_cores().count() == 1 {
                assert_eq!(value(&found), rbb, "{}", shipped.name);
                equal += 1;
            }
        }
    }
    println!("{launches} launches, equal on {equal}");
    assert!(launches > 100 && equal > 60, "{equal} of {launches}");
}

/// Returns the loop bounds that a launch needs.
fn loop_bounds(shipped: &Shipped) -> HashMap<Pc, u64> {
    if BOUNDED.contains(&shipped.name.as_str()) { observed_bounds(shipped) } else { HashMap::new() }
}

/// Returns the bound over all paths of a launch, which is this bound for the paths of one run.
fn static_of(
    kind: StaticKind,
    workload: &Workload,
    machine: &Machine,
    bounds: &HashMap<Pc, u64>,
) -> AllPathsBound {
    let found = all_paths(workload, machine, &[], bounds, STEPS, &ProgressMonitor::default());
    let found = found.unwrap_or_else(|error| panic!("{}: {error}", workload.name));
    let AllPathsOutcome::Bound(found) = found else { panic!("{}: {found:?}", workload.name) };
    assert_eq!(found.kind, kind);
    found
}

/// The suite's launches on the machines for the Jetson TX2, which have dual issue, units without
/// queues, two SMs and, in one case, launch costs. The bound is at least RBB of a run.
#[test]
fn launches_on_the_jetson_are_bounded_as_rbb_does() {
    let machines = ["jetson-tx2", "jetson-tx2-microgpusim", "jetson-tx2-pastis"].map(machine);
    let (mut launches, mut without) = (0, Vec::new());
    for file in launch_files() {
        let shipped = load_by(&file, 0, "ptx");
        if !shipped.spec.suite {
            continue;
        }
        let workload = workload(&shipped);
        let bounds = loop_bounds(&shipped);
        for machine in &machines {
            let found = static_of(StaticKind::Rbb, &workload, machine, &bounds);
            for run in runs::judged(&workload, machine, None) {
                let rbb = run.judged().find(|row| row.name == "rbb").expect("two SMs share the blocks");
                let Ok(rbb) = &rbb.value else {
                    without.push(shipped.name.clone());
                    continue;
                };
                let rbb = rbb.cycles();
                assert!(run.makespan <= rbb && rbb <= value(&found), "{}: {rbb} {found:?}", shipped.name);
                launches += 1;
            }
        }
    }
    without.dedup();
    println!("{launches} runs, without a bound: {without:?}");
    assert!(launches > 500, "{launches}");
}

/// The suite's launches on machines with a pipeline and memory systems of each kind. The bound is at
/// least PLB of a run and equals it if nothing depends on data; it holds for runs with other data.
#[test]
fn launches_on_pipelines_are_bounded_as_plb_does() {
    let machines =
        ["accelsim-ecrts", "accelsim-ecrts-dram", "accelsim-sm1", "fermi-c2050", "kepler-gk104", "rtx3070"]
            .map(machine);
    let (mut runs, mut equal, mut others) = (0, 0, 0);
    for file in launch_files() {
        let shipped = load_by(&file, 0, "ptx");
        if !shipped.spec.suite {
            continue;
        }
        let workload = self::workload(&shipped);
        let bounds = loop_bounds(&shipped);
        let other = load_by(&file, 1, "ptx");
        // other data may need other bounds of loops, or be constants on which paths depend
        let constants = |shipped: &Shipped| -> Vec<Vec<u8>> {
            let constant = shipped.launch.buffers.iter().filter(|buffer| buffer.constant);
            constant.map(|buffer| buffer.bytes.clone()).collect()
        };
        let is_other = bounds.is_empty() && constants(&other) == constants(&shipped);
        for machine in &machines {
            let found = static_of(StaticKind::Plb, &workload, machine, &bounds);
            for run in runs::judged(&workload, machine, None) {
                let plb = run.judged().find(|row| row.name == "plb").expect("the machine has a pipeline");
                let plb = plb.value.as_ref().expect("it applies").cycles();
                let text = || format!("{} on {}: {plb} {found:?}", shipped.name, machine.name());
                assert!(run.makespan <= plb && plb <= value(&found), "{}", text());
                runs += 1;
                equal += u64::from(plb == value(&found));
            }
            if is_other {
                for run in runs::judged(&self::workload(&other), machine, None) {
                    assert!(run.makespan <= value(&found), "{} on {}", shipped.name, machine.name());
                    others += 1;
                }
            }
        }
    }
    println!("{runs} runs, equal on {equal}, {others} runs with other data");
    assert!(runs > 1000 && equal > 700 && others > 900, "{equal} of {runs}, {others}");
}
