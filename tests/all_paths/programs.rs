//! The bound over all paths of programs of several launches: it covers runs with other data, counts
//! every launch, and relies on nothing that depends on data.

use std::sync::Arc;

use warpbound::base::ProgressMonitor;
use warpbound::bound::{self, Schedules};
use warpbound::check::all_paths::{
    AllPathsOutcome, ProgramPaths, all_paths, all_paths_of_program, program_keeps_bounds,
};
use warpbound::check::{JudgedApplication, RunOptions, judge_each};
use warpbound::diag::Diagnostics;
use warpbound::exec::Options;
use warpbound::load::{EmbeddedFolder, LaunchOptions, Loaded, LoadedApplication, Loader, Memory, is_program};
use warpbound::machine::Machine;
use warpbound::program::loop_bounds::{LoopBound, ProgramLoopBounds};
use warpbound::program::sequence::Sequence;
use warpbound::sim::PolicySetup;

use crate::shipped::{machine, machine_with};

const STEPS: u64 = 1 << 26;

/// The paper's machine, and machines with a pipeline, an L2 that keeps lines from launch to launch, and
/// one or several SMs.
const MACHINES: [&str; 4] = ["ecrts25-orin", "accelsim-sm1", "fermi-c2050", "rtx3070"];

/// The loop bounds of the embedded programs with loops whose trip counts depend on data.
const BOUNDED: [(&str, &str); 3] = [
    ("bfs_program", "bfs.ptx:74=40"),
    ("particle_filter", "particle.ptx:196=600"),
    ("sssp_program", "sssp.ptx:83=60"),
];

fn load(loader: &Loader, name: &str, options: &LaunchOptions) -> LoadedApplication {
    match loader.load(name, options, &ProgressMonitor::new()) {
        Ok(Loaded::Application(program)) => *program,
        other => panic!("{name} is no program: {other:?}"),
    }
}

fn sequence(program: &LoadedApplication) -> &Arc<Sequence> {
    program.application.program().expect("a program of launches")
}

fn loop_bounds(program: &LoadedApplication, texts: &[&str]) -> ProgramLoopBounds {
    let bounds: Vec<LoopBound> = texts.iter().map(|text| text.parse().expect("a bound")).collect();
    ProgramLoopBounds::new(sequence(program), &bounds).expect("they fit")
}

fn found(
    program: &LoadedApplication,
    machine: &Machine,
    bounds: &ProgramLoopBounds,
) -> Result<ProgramPaths, Diagnostics> {
    let monitor = ProgressMonitor::new();
    all_paths_of_program(&program.name, sequence(program), machine, &[], bounds, STEPS, &monitor)
        .map(|found| found.expect("it is not stopped"))
}

/// Returns the bound of the program, and that of each launch.
fn values(found: &ProgramPaths) -> (u64, Vec<u64>) {
    let of_launch = |launch: &warpbound::check::all_paths::LaunchPaths| {
        launch.under(Schedules::WorkConserving).expect("it applies").cycles().get()
    };
    let total = found.under(&Schedules::WorkConserving).expect("it applies").cycles().get();
    (total, found.launches.iter().map(of_launch).collect())
}

/// Runs the program under gto and lrr, and judges every bound.
fn judged(program: &LoadedApplication, machine: &Machine) -> Vec<JudgedApplication> {
    let (bounds, monitor) = (bound::all(), ProgressMonitor::new());
    let options = RunOptions::new(STEPS, &monitor).judged_by(&bounds, &[]);
    let policies = [PolicySetup::Gto, PolicySetup::Lrr];
    let runs = judge_each(program.subject(), &[(machine, &policies)], &options);
    let run = |run: warpbound::check::Run| match (run.problems, run.judged) {
        (None, Some(judged)) if judged.total.is_complete() => judged,
        (problems, _) => panic!("{}: {problems:?}", program.name),
    };
    runs.into_iter().flatten().map(run).collect()
}

fn embedded_programs() -> Vec<String> {
    let all = Loader::embedded(EmbeddedFolder::Kernels).into_iter();
    let programs = all.filter(|(_, location)| {
        location.extension() == "ron" && location.text().is_ok_and(|source| is_program(&source))
    });
    programs.map(|(name, _)| name).collect()
}

/// Checks the bound of a program on a machine against its runs: the bound is at least the bound on the
/// paths of each run, launch by launch, and this is at least the makespan.
fn holds(program: &LoadedApplication, machine: &Machine, found: &ProgramPaths, with_its_data: bool) {
    let (total, launches) = values(found);
    let place = || format!("{} on {}", program.name, machine.name());
    for run in judged(program, machine) {
        assert_eq!(run.total.blocks.len(), launches.len(), "{}", place());
        assert!(run.total.makespan.get() <= total, "{}: {} > {total}", place(), run.total.makespan);
        for ((launch, makespan, values), (&all_paths, paths)) in
            run.total.blocks.iter().zip(launches.iter().zip(&found.launches))
        {
            let kind = paths.bound().expect("it applies").kind.name();
            let index = run.total.bounds.iter().position(|row| row.name == kind).expect("it is judged");
            let on_run = values.into_iter().nth(index).flatten().map(|value| value.get());
            assert!(makespan.get() <= all_paths, "{}, launch {launch}: {makespan} > {all_paths}", place());
            if let Some(on_run) = on_run.filter(|_| with_its_data) {
                assert!(
                    makespan.get() <= on_run && on_run <= all_paths,
                    "{}, launch {launch}: {kind} {on_run}, {all_paths}",
                    place()
                );
            }
        }
    }
}

#[test]
fn programs_are_bounded_for_other_data_on_every_kind_of_machine() {
    let (loader, names) = (Loader::disk(), embedded_programs());
    assert!(names.len() >= 22, "{names:?}");
    for name in &names {
        let texts: Vec<&str> = BOUNDED.iter().filter(|(of, _)| of == name).map(|(_, text)| *text).collect();
        let program = |seed: u64| load(&loader, name, &LaunchOptions { seed, ..LaunchOptions::default() });
        let (first, other) = (program(0), program(1));
        let bounds = loop_bounds(&first, &texts);
        if texts.is_empty() && BOUNDED.iter().any(|(of, _)| of == name) {
            panic!("{name} has no loop bound");
        }
        for machine in MACHINES.map(machine) {
            let all = found(&first, &machine, &bounds).unwrap_or_else(|error| panic!("{name}: {error}"));
            holds(&first, &machine, &all, true);
            let monitor = ProgressMonitor::new();
            program_keeps_bounds(sequence(&other), Options::of(&machine, STEPS), &bounds, &monitor)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            holds(&other, &machine, &all, false);
            // no program has constant buffers, so that the bound does not depend on any data
            let of_other = found(&other, &machine, &bounds).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(values(&all), values(&of_other), "{name} on {}", machine.name());
        }
    }
}

/// On the paper's machine launches do not influence each other. So the sum over launches that are
/// analysed one by one, which the option `--launch` selects, is the bound of the program.
#[test]
fn every_launch_counts() {
    let (loader, machine) = (Loader::disk(), machine("ecrts25-orin"));
    for name in ["jacobi", "gaussian_program", "digits_program", "kmeans"] {
        let program = load(&loader, name, &LaunchOptions::default());
        let bounds = loop_bounds(&program, &[]);
        let (total, launches) = values(&found(&program, &machine, &bounds).expect("it has a bound"));
        assert_eq!(launches.len() as u64, sequence(&program).launches, "{name}");
        let alone = |number: u64| {
            let options = LaunchOptions { launch: Some(number), ..LaunchOptions::default() };
            let monitor = ProgressMonitor::new();
            let kernel = loader.kernel(name, &options, &monitor).expect("a launch");
            let none = std::collections::HashMap::new();
            match all_paths(&kernel.workload, &machine, &[], &none, STEPS, &monitor) {
                Ok(AllPathsOutcome::Bound(bound)) => {
                    bound.under(Schedules::WorkConserving).expect("it applies").cycles().get()
                }
                other => panic!("{name}, launch {number}: {other:?}"),
            }
        };
        let each: Vec<u64> = (0..sequence(&program).launches).map(alone).collect();
        assert!(each.iter().all(|&value| value > 0), "{name}: {each:?}");
        assert_eq!((each.iter().sum::<u64>(), &each), (total, &launches), "{name}");
    }
}

/// Code with a kernel that writes, one that reads, and two that iterate as often as data say.
const CODE: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.const .align 4 .u32 times = 3;\n\
.visible .entry put(.param .u64 a)\n{\n\
.reg .b32 %r<8>; .reg .b64 %rd<8>;\n\
ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
st.global.u32 [%rd3], %r4;\nret;\n}\n\
.visible .entry get(.param .u64 a)\n{\n\
.reg .b32 %r<12>; .reg .b64 %rd<8>;\n\
ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n\
mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
ld.global.u32 %r5, [%rd3];\nadd.u32 %r6, %r5, 1;\nret;\n}\n\
.visible .entry turn(.param .u64 a)\n{\n\
.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;\n\
ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1];\nmov.u32 %r2, 0;\n\
again:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra again;\nret;\n}\n\
.visible .entry turn_const()\n{\n\
.reg .b32 %r<8>; .reg .pred %p<2>;\n\
ld.const.u32 %r1, [times];\nmov.u32 %r2, 0;\n\
again:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra again;\nret;\n}\n";

/// Returns a program over the code above.
fn written(buffers: &str, steps: &str) -> LoadedApplication {
    let text = format!("Program(\nmodule: \"k.ptx\",\nbuffers: [{buffers}],\nsteps: [{steps}],\n)\n");
    let loader = Loader::new(Memory::new().with("k.ptx", CODE).with("p.ron", text));
    load(&loader, "p.ron", &LaunchOptions::default())
}

/// A launch leaves dirty lines, and the next one replaces them, so that DRAM has to write them back
/// while it serves that launch.
#[test]
fn lines_that_an_earlier_launch_leaves_are_written_back() {
    let small = [
        "memory.start=Left",
        "memory.partitions.channels=1",
        "memory.partitions.l2.sets=8",
        "memory.partitions.l2.ways=8",
        "sms=1",
    ];
    let slow = [
        &["memory.partitions.dram.ccd=100"][..],
        &["memory.partitions.dram.ccd=400", "memory.partitions.dram.scheduler=Fifo"],
        &[
            "memory.partitions.dram.ccd=400",
            "memory.partitions.dram.wl=200",
            "memory.partitions.dram.cdlr=200",
        ],
        &["memory.partitions.dram.ccd=100", "memory.partitions.queue=1"],
    ];
    for settings in slow {
        let machine = machine_with("fermi-c2050", &[&small[..], settings].concat());
        for blocks in [1, 2, 3, 8] {
            let program = written(
                "Buffer(name: \"a\", elem: U32, len: 2048, init: Zero), Buffer(name: \"b\", elem: U32, len: 8192, init: Zero)",
                &format!(
                    "Launch(entry: \"put\", grid: (2, 1, 1), block: (1024, 1, 1), args: [Ptr(\"a\")]), \
                     Launch(entry: \"get\", grid: ({blocks}, 1, 1), block: (1024, 1, 1), args: [Ptr(\"b\")])"
                ),
            );
            let bounds = loop_bounds(&program, &[]);
            holds(&program, &machine, &found(&program, &machine, &bounds).expect("it has a bound"), true);
        }
    }
}

/// Contents that are declared constant are known, unless a step writes them: then the trip count of a
/// loop depends on data.
#[test]
fn what_a_step_writes_is_not_known() {
    let machine = machine("ecrts25-orin");
    let buffers = "Buffer(name: \"n\", elem: U32, len: 1, init: Fill(5), constant: true), \
                   Buffer(name: \"x\", elem: U32, len: 1, init: Fill(5))";
    let launch = |entry: &str, args: &str| {
        format!("Launch(entry: \"{entry}\", grid: (1, 1, 1), block: (32, 1, 1), args: [{args}])")
    };
    let write = |to: &str| format!("Write(to: Ptr(\"{to}\"), elem: U32, len: 1, init: Fill(7)), ");
    let copy = "Copy(from: Ptr(\"x\"), to: Ptr(\"n\"), bytes: 4), ";
    let of_n = launch("turn", "Ptr(\"n\")");
    let of_const = launch("turn_const", "");
    let run = |steps: &str| {
        let program = written(buffers, steps);
        let bounds = loop_bounds(&program, &[]);
        found(&program, &machine, &bounds).map(|found| values(&found).0).map_err(|error| error.to_string())
    };
    for known in [of_n.clone(), of_const.clone(), format!("{}{of_n}", write("x"))] {
        assert!(run(&known).is_ok(), "{known}: {:?}", run(&known));
    }
    let unknown = [
        launch("turn", "Ptr(\"x\")"),
        format!("{}{of_n}", write("n")),
        format!("{copy}{of_n}"),
        // a later step may come before the launch of another iteration
        format!("Repeat(2, [{of_n}, {}])", write("n").trim_end_matches(", ")),
        format!("{}{of_const}", write("times")),
    ];
    for steps in unknown {
        let error = run(&steps).expect_err(&steps);
        assert!(error.contains("in launch 0") && error.contains("--loop-bound"), "{steps}: {error}");
    }
}

/// Bounds of loops may be given for some launches only.
#[test]
fn loop_bounds_name_launches() {
    let machine = machine("ecrts25-orin");
    let turn = "Launch(entry: \"turn\", grid: (1, 1, 1), block: (32, 1, 1), args: [Ptr(\"x\")])";
    let program =
        written("Buffer(name: \"x\", elem: U32, len: 1, init: Fill(5))", &format!("Repeat(3, [{turn}])"));
    let line = 1 + CODE.lines().position(|line| line == "again:").expect("a loop");
    let of = |texts: &[String]| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        values(&found(&program, &machine, &loop_bounds(&program, &texts)).expect("it has a bound")).1
    };
    let all = |most: u64| of(&[format!("{line}={most}")]);
    assert_eq!(of(&[format!("{line}=10"), format!("{line}@1=20")]), [all(10)[0], all(20)[1], all(10)[2]]);
    assert_eq!(of(&[format!("{line}@0=10"), format!("{line}@1-2=20")]), [all(10)[0], all(20)[1], all(20)[2]]);
    assert!(all(10)[0] < all(20)[0]);
    let wrong = |texts: &[&str]| {
        let bounds: Vec<LoopBound> = texts.iter().map(|text| text.parse().expect("a bound")).collect();
        format!("{:?}", ProgramLoopBounds::new(sequence(&program), &bounds).expect_err("they do not fit"))
    };
    let of_line = |text: &str| format!("{line}{text}");
    assert!(wrong(&[&of_line("@3=5")]).contains("the program has no launch of this number"));
    assert!(wrong(&[&of_line("@0-1=5"), &of_line("@1=6")]).contains("has a bound already"));
    assert!(wrong(&[&of_line("=5"), &of_line("=6")]).contains("has a bound already"));
    assert!(wrong(&["1=5"]).contains("no loop begins in this line"));
    // a run that exceeds a bound is an error, which names the launch
    let monitor = ProgressMonitor::new();
    let bounds = loop_bounds(&program, &[&of_line("=9"), &of_line("@2=3")]);
    let kept = program_keeps_bounds(sequence(&program), Options::of(&machine, STEPS), &bounds, &monitor);
    let error = kept.expect_err("the loop goes back 4 times").to_string();
    assert!(error.contains("in launch 2") && error.contains("goes back 4 times"), "{error}");
}

/// A launch without a bound is named.
#[test]
fn a_launch_without_a_bound_is_named() {
    let machine = machine_with("ecrts25-orin", &["units.int.lat=4294967296"]);
    let turn = "Launch(entry: \"turn\", grid: (1, 1, 1), block: (32, 1, 1), args: [Ptr(\"x\")])";
    let put = "Launch(entry: \"put\", grid: (1, 1, 1), block: (32, 1, 1), args: [Ptr(\"x\")])";
    let program =
        written("Buffer(name: \"x\", elem: U32, len: 32, init: Fill(5))", &format!("{put}, {turn}"));
    let line = 1 + CODE.lines().position(|line| line == "again:").expect("a loop");
    let bounds = loop_bounds(&program, &[&format!("{line}={}", u64::MAX)]);
    let found = found(&program, &machine, &bounds).expect("it is analysed");
    assert!(found.launches[0].under(Schedules::WorkConserving).is_ok());
    let why = found.under(&Schedules::WorkConserving).expect_err("it does not fit").to_string();
    assert!(why.starts_with("launch 1 (turn): ") && why.contains("2^64 - 1"), "{why}");
}
