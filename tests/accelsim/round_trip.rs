//! A run that is written as a trace and read again is the same run.

use warpbound::accelsim::{Launched, TracedKernel, Writer};
use warpbound::base::{Pc, ProgressMonitor, RegId};
use warpbound::check::{Workload, WorkloadSource};
use warpbound::exec::Options;
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::KernelCode;
use warpbound::sim::PolicySetup;

use super::shipped::{Shipped, machine};
use super::{campaign, read, runs, shipped, tables, workload};

/// Returns the trace of a launch.
fn written(launch: &Workload, machine: &Machine) -> Result<TracedKernel, String> {
    let options = Options {
        banks: None,
        traffic: false,
        constants: false,
        lanes: true,
        ..Options::of(machine, 1 << 26)
    };
    let monitor = ProgressMonitor::new();
    let WorkloadSource::Launch(mut executor) = launch.source(options, &monitor).unwrap() else {
        unreachable!()
    };
    let (program, of) = (launch.program(), launch.launch().unwrap());
    let tables = tables();
    let opcodes = tables.iter().find(|table| table.targets.contains(&86)).unwrap();
    let writer = Writer::new(program, opcodes, 86, &|_: Pc| None).map_err(|error| error.to_string())?;
    let footprint = executor.footprint();
    let launched = Launched {
        grid: of.grid,
        block: of.block,
        registers: launch.needs().registers_per_thread,
        footprint: &footprint,
        local_bytes: executor.local_bytes(),
        number: 1,
    };
    let mut text = Vec::new();
    writer.header(&launched, &mut text).unwrap();
    let mut paths = BlockPaths::default();
    let [x, y, _] = of.grid;
    while executor.next_block(&mut paths).unwrap() {
        let block = paths.block.index() as u32;
        for warp in &paths.warps {
            assert_eq!(warp.enabled().len(), warp.steps().len(), "lanes of each step");
        }
        writer.block(&paths, [block % x, block / x % y, block / x / y], &mut text).unwrap();
    }
    let mut kernel = read(std::str::from_utf8(&text).unwrap()).unwrap_or_else(|error| panic!("{error}"));
    kernel.copies = footprint.buffers.clone();
    Ok(kernel)
}

/// Returns the properties of an instruction that timing uses.
fn timing_properties(program: &KernelCode, pc: Pc) -> String {
    let instr = program.instr(pc);
    let names = |regs: &[RegId]| {
        let mut names: Vec<&str> = regs.iter().map(|reg| program.regs[reg.index()].name.as_str()).collect();
        names.sort_unstable();
        names.join(",")
    };
    let class = program.classes.name(instr.class);
    let guard: Vec<RegId> = instr.guard.iter().map(|guard| guard.reg).collect();
    let (dsts, srcs, guard) = (names(instr.dsts.as_slice()), names(instr.srcs.as_slice()), names(&guard));
    let spaces =
        instr.class_by_space.as_ref().map(|classes| classes.map(|class| program.classes.name(class)));
    let access = instr.sem.access();
    format!("{class} {dsts} <- {srcs} if {guard} {:?} {:?} {spaces:?} {access:?}", instr.flow, instr.memory)
}

/// Checks that paths are the same, except for the numbers of instructions and the active lanes of
/// masks.
fn compare(name: &str, launch: &Workload, trace: &Workload, machine: &Machine) {
    let options = Options::of(machine, 1 << 26);
    let monitor = ProgressMonitor::new();
    let (mut ours, mut theirs) =
        (launch.source(options, &monitor).unwrap(), trace.source(options, &monitor).unwrap());
    let (mut a, mut b) = (BlockPaths::default(), BlockPaths::default());
    loop {
        let there = ours.next_block(&mut a).unwrap();
        assert_eq!(theirs.next_block(&mut b).unwrap(), there, "{name}");
        if !there {
            break;
        }
        assert_eq!(a.thread_instructions, b.thread_instructions, "{name}: lanes");
        assert_eq!(a.partial_barriers, b.partial_barriers, "{name}: barriers");
        for (ours, theirs) in a.warps.iter().zip(&b.warps) {
            assert_eq!(ours.steps().len(), theirs.steps().len(), "{name}: steps");
            assert_eq!(ours.traffic(), theirs.traffic(), "{name}: lines");
            for (a, b) in ours.steps().iter().zip(theirs.steps()) {
                assert_eq!(a.ends_warp(), b.ends_warp(), "{name}");
                let (our, their) = (launch.program(), trace.program());
                assert_eq!(
                    timing_properties(our, a.pc()),
                    timing_properties(their, b.pc()),
                    "{name}: {}",
                    our.place(a.pc())
                );
            }
        }
    }
    assert_eq!(ours.footprint(), theirs.footprint(), "{name}: memory");
}

fn launches() -> Vec<Shipped> {
    shipped::launch_files().into_iter().map(|file| shipped::load(&file, 0)).collect()
}

#[test]
fn launches_come_back_with_their_cycles() {
    // the paper's platform, bank conflicts, a complete SM with caches, a load/store unit and
    // constants, dual issue
    let mut machines = ["ecrts25-orin", "ecrts25-orin-banks", "accelsim-sm1", "turing-tu102"].map(machine);
    // a trace does not record which instruction is the last one of its file, where fetching could
    // stop
    machines[2] = shipped::machine_with("accelsim-sm1", &["pipeline.front_end.stops_at_end=false"]);
    let (mut same, mut refused) = (0, Vec::new());
    // in the default run each launch runs on one of the machines
    for (number, shipped) in launches().into_iter().enumerate() {
        let launch = runs::workload(&shipped.name, shipped.program, shipped.launch);
        // the largest launches take long and add no coverage
        if launch.blocks() > 64 {
            continue;
        }
        for (index, machine) in machines.iter().enumerate() {
            if !campaign::takes(number + index, 4) {
                continue;
            }
            let trace = match written(&launch, machine) {
                Ok(kernel) => workload(kernel),
                Err(why) => {
                    assert!(why.contains("a trace cannot hold"), "{}: {why}", shipped.name);
                    refused.push(shipped.name.clone());
                    break;
                }
            };
            compare(&shipped.name, &launch, &trace, machine);
            for policy in [PolicySetup::Gto, PolicySetup::Lrr] {
                let ours = runs::run(&launch, machine, &policy, &mut ());
                let theirs = runs::run(&trace, machine, &policy, &mut ());
                let place = format!("{} on {}", shipped.name, machine.name());
                assert_eq!(theirs.makespan, ours.makespan, "{place}: makespan");
                assert_eq!(theirs.issues, ours.issues, "{place}: issues");
                assert_eq!(theirs.stalls, ours.stalls, "{place}: stalls");
                same += 1;
            }
        }
    }
    println!("{same} runs are the same; refused: {refused:?}");
    let least = if campaign::in_full() { 300 } else { 75 };
    assert!(same > least, "{same} runs are the same");
    // textures and matrix fragments: several addresses for one lane
    refused.dedup();
    assert!(refused.len() < 30, "{refused:?}");
}
