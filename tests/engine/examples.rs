//! Worked examples: the numbers of `warpbound::model`, small cases calculated by hand, replay
//! errors, and the trace formats on a whole run.

use crate::random_kernels;

use random_kernels::{KernelBuilder, RandomKernel, paper_machine};
use warpbound::base::{Pc, UnitId};
use warpbound::diag::SourceText;
use warpbound::program::{Instr, TimingTable};
use warpbound::sim::policy::{PolicyFault, Schedule};
use warpbound::sim::{BlockResult, Engine, PaperMachine, PolicySetup, RunError};
use warpbound::trace::{
    CsvTrace, Digest, FinishOrder, KanataTrace, Listing, Observer, PerfettoTrace, Recorder, StallProfile,
    StallReason, Stalls, UnitInstances, UnitUse,
};

fn run(kernel: &RandomKernel, setup: &PolicySetup, observer: &mut impl Observer) -> (BlockResult, Stalls) {
    let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
    let mut engine = Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap());
    let result = engine.run_block(&kernel.paths, setup, observer).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(result.issues + engine.stalls().total().get(), result.makespan.get());
    (result, engine.stalls())
}

fn makespan(kernel: &RandomKernel, setup: &PolicySetup) -> u64 {
    run(kernel, setup, &mut ()).0.makespan.get()
}

/// Returns (warp, index, issue, start, init end, done) of every issue.
fn events(kernel: &RandomKernel, setup: &PolicySetup) -> Vec<(u16, u32, u64, u64, u64, u64)> {
    let mut recorder = Recorder::new();
    run(kernel, setup, &mut recorder);
    let event = |i: &warpbound::trace::Issue| {
        (i.warp.get(), i.index, i.issue.get(), i.start.get(), i.init_end.get(), i.done.get())
    };
    recorder.issues().map(event).collect()
}

/// Jeanmougin et al., ECRTS 2025, figure 2: `red r0; blue r1; blue r2; green r3, r0; ret`.
fn figure_2(warps: usize) -> RandomKernel {
    let mut builder = KernelBuilder::new();
    for _ in 0..warps {
        builder.warp().op("red", Some(0), &[]).op("blue", Some(1), &[]).op("blue", Some(2), &[]);
        builder.op("green", Some(3), &[0]).ret("red");
    }
    builder.build(&paper_machine(&[("red", 2, 6), ("blue", 3, 4), ("green", 2, 4)]))
}

#[test]
fn figure_2_one_warp() {
    let initiations: Vec<(u64, u64)> = events(&figure_2(1), &PolicySetup::Gto)
        .into_iter()
        .map(|(_, _, _, start, end, _)| (start, end))
        .collect();
    assert_eq!(initiations, [(0, 2), (1, 4), (4, 7), (8, 10)]);
    assert_eq!(makespan(&figure_2(1), &PolicySetup::Gto), 14);
}

#[test]
fn figure_3_two_warps() {
    let events = events(&figure_2(2), &PolicySetup::Gto);
    let of_w1: Vec<_> = events.iter().filter(|e| e.0 == 1).collect();
    assert_eq!(of_w1[0].2, 3, "w1 starts at cycle 3");
    assert_eq!(of_w1[1].3, 7, "its i1 initiates at 7");
    assert_eq!(of_w1[3].2, 11, "its i3 issues at 11");
    assert_eq!(makespan(&figure_2(2), &PolicySetup::Gto), 17);
}

#[test]
fn the_lrr_witness() {
    let mut builder = KernelBuilder::new();
    builder.warp();
    for reg in 0..20 {
        builder.op("f1", Some(reg), &[]);
    }
    builder.op("f0", Some(20), &[]).op("f2", Some(21), &[20]).ret("f0");
    builder.warp().op("f3", Some(0), &[]).op("f0", Some(1), &[0]).op("f1", Some(2), &[]);
    builder.op("f2", Some(3), &[2]).ret("f0");
    let kernel = builder.build(&paper_machine(&[("f0", 32, 0), ("f1", 4, 0), ("f2", 32, 0), ("f3", 1, 18)]));
    let mut order = FinishOrder::new();
    let (result, _) = run(&kernel, &PolicySetup::Lrr, &mut order);
    assert_eq!(result.makespan.get(), 148);
    let finish: Vec<u64> = result.warps.iter().map(|warp| warp.finish.get()).collect();
    assert_eq!(finish, [148, 116]);
    let order: Vec<(u16, u64)> = order.warps().iter().map(|f| (f.warp.get(), f.done.get())).collect();
    assert_eq!(order, [(1, 116), (0, 148)]);
}

/// Returns a member of the ping-pong family (`warpbound::model`, section 12). If `gated`, each gate
/// first reads the result of a short instruction.
fn ping_pong(p: u64, m: usize, n: usize, gated: bool) -> RandomKernel {
    let names: Vec<String> = ["a", "b"].iter().flat_map(|x| (0..m).map(move |i| format!("{x}{i}"))).collect();
    let mut units: Vec<(&str, u64, u64)> = names.iter().map(|name| (name.as_str(), p, 0)).collect();
    units.push(("x", 1, 2));
    let mut builder = KernelBuilder::new();
    for (own, other) in [("a", "b"), ("b", "a")] {
        builder.warp();
        let mut gate: Option<u16> = None;
        for stage in 0..m {
            for _ in 0..n {
                builder.op(&format!("{own}{stage}"), None, gate.as_slice());
            }
            if stage + 1 < m {
                let next = 2 * stage as u16;
                let reads: &[u16] = if gated {
                    builder.op("x", Some(next + 1), &[]);
                    &[next + 1]
                } else {
                    &[]
                };
                builder.op(&format!("{other}{stage}"), Some(next), reads);
                gate = Some(next);
            }
        }
        builder.ret("x");
    }
    builder.build(&paper_machine(&units))
}

#[test]
fn the_ping_pong_family() {
    for (p, m, n, instructions, lrr) in
        [(8, 3, 8, 52, 209), (16, 4, 16, 134, 1073), (32, 6, 32, 394, 6305), (32, 8, 32, 526, 8417)]
    {
        let kernel = ping_pong(p, m, n, false);
        assert_eq!(kernel.paths.warp_instructions(), instructions + 2, "with one ret per warp");
        assert_eq!(makespan(&kernel, &PolicySetup::Lrr), lrr, "P, m, n = {p}, {m}, {n}");
    }
}

#[test]
fn the_gated_ping_pong_family() {
    for (p, m, n, gto, lrr) in [(16, 4, 16, 1089, 1073), (32, 6, 32, 6337, 6305)] {
        let kernel = ping_pong(p, m, n, true);
        assert_eq!(makespan(&kernel, &PolicySetup::Gto), gto, "P, m, n = {p}, {m}, {n}");
        assert_eq!(makespan(&kernel, &PolicySetup::Lrr), lrr, "P, m, n = {p}, {m}, {n}");
    }
}

const ALU: [(&str, u64, u64); 2] = [("f", 1, 3), ("slow", 1, 9)];

#[test]
fn a_barrier_waits_for_the_latest_done_and_for_warps_that_end() {
    // warp 0 is at the barrier in cycle 0; warp 1 issues at 1, 5 (reads), and ends: release at 6,
    // although everything of the barrier itself was done at 1
    let mut builder = KernelBuilder::new();
    builder.warp().bar().op("f", None, &[]).ret("f");
    builder.warp().op("f", Some(0), &[]).op("f", None, &[0]).ret("f");
    let kernel = builder.build(&paper_machine(&ALU));
    let issues: Vec<(u16, u64)> =
        events(&kernel, &PolicySetup::Gto).into_iter().map(|(warp, _, issue, ..)| (warp, issue)).collect();
    assert_eq!(issues, [(0, 0), (1, 1), (1, 5), (0, 6)]);

    // both are at the barrier; its own latency delays them, the instruction in flight does not
    let mut builder = KernelBuilder::new();
    for _ in 0..2 {
        builder.warp().op("slow", Some(0), &[]).bar().op("f", None, &[]).op("f", None, &[0]).ret("f");
    }
    let ron = paper_machine(&ALU).replace("ops: {", "ops: { \"barrier\": Op(unit: \"f\", init: 1, lat: 4),");
    let (_, stalls) = run(&builder.build(&ron), &PolicySetup::Lrr, &mut ());
    // 0 slow, 1 slow, 2 bar, 3 bar; released at 8; 8 f, 9 f; 10 f (r0 done at 10), 11 f; done 15
    assert_eq!(stalls.get(StallReason::Barrier).get(), 4);
    assert_eq!(stalls.get(StallReason::Scoreboard).get(), 0);
    assert_eq!(stalls.get(StallReason::Drain).get(), 3);
}

#[test]
fn a_warp_without_instructions_finishes_at_once() {
    let mut builder = KernelBuilder::new();
    builder.warp().ret("f").warp().bar().op("f", None, &[]).ret("f");
    let (result, _) = run(&builder.build(&paper_machine(&ALU)), &PolicySetup::Gto, &mut ());
    let finish: Vec<u64> = result.warps.iter().map(|warp| warp.finish.get()).collect();
    assert_eq!(finish, [0, 5]);
    let mut builder = KernelBuilder::new();
    builder.warp().ret("f").warp().ret("f");
    assert_eq!(makespan(&builder.build(&paper_machine(&ALU)), &PolicySetup::Srr), 0);
}

#[test]
fn two_level_is_not_work_conserving() {
    // an active warp that waits for an ALU result keeps the other, which is ready, out
    let mut builder = KernelBuilder::new();
    builder.warp().op("f", Some(0), &[]).op("f", None, &[0]).ret("f");
    builder.warp().op("f", None, &[]).ret("f");
    let kernel = builder.build(&paper_machine(&ALU).replace("ops:", "two_level_active: 1, ops:"));
    let (_, stalls) = run(&kernel, &PolicySetup::TwoLevel, &mut ());
    assert_eq!(stalls.get(StallReason::NotMyTurn).get(), 3);
    for setup in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest, PolicySetup::Random(1)] {
        assert_eq!(run(&kernel, &setup, &mut ()).1.get(StallReason::NotMyTurn).get(), 0, "{setup}");
    }
    // if it waits for a global load, another warp takes its place
    let mut builder = KernelBuilder::new();
    builder.warp().op("f.global", Some(0), &[]).op("f", None, &[0]).ret("f");
    builder.warp().op("f", None, &[]).ret("f");
    let kernel = builder.build(&paper_machine(&ALU).replace("ops:", "two_level_active: 1, ops:"));
    assert_eq!(run(&kernel, &PolicySetup::TwoLevel, &mut ()).1.get(StallReason::NotMyTurn).get(), 0);
}

fn replay(kernel: &RandomKernel, text: &str) -> Result<u64, (u32, PolicyFault, String)> {
    let schedule = Schedule::parse(&SourceText::new("x.replay", text)).unwrap();
    let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
    let result = Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap()).run_block(
        &kernel.paths,
        &PolicySetup::Replay(schedule),
        &mut (),
    );
    match result {
        Ok(result) => Ok(result.makespan.get()),
        Err(RunError::Policy(error)) => {
            let text = error.to_string();
            assert_eq!(error.diagnostic().line, error.line);
            Err((error.line, error.fault, text))
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn replay_repeats_a_schedule_and_says_why_it_cannot() {
    let mut builder = KernelBuilder::new();
    builder.warp().op("f", Some(0), &[]).op("f", None, &[0]).ret("f");
    builder.warp().op("f", None, &[]).bar().ret("f");
    let kernel = builder.build(&paper_machine(&ALU));
    assert_eq!(replay(&kernel, "0 0\n1 1\n2 1\n4 0\n"), Ok(8));
    assert_eq!(replay(&kernel, "5 0 # late is fine\n9 0\n20 1\n21 1"), Ok(24));
    let (line, fault, text) = replay(&kernel, "0 0\n\n1 0\n").unwrap_err();
    assert_eq!((line, &fault), (3, &PolicyFault::WaitsForRegister(warpbound::base::WarpId::new(0))));
    assert_eq!(
        text,
        "block 0, cycle 1: warp 0 is not ready: it waits for a register or, with a pipeline, for its unit or its fetch; ready: warp 1"
    );
    let fails = |text: &str| replay(&kernel, text).unwrap_err().1;
    assert!(matches!(fails("0 2"), PolicyFault::NoSuchWarp(_)));
    assert!(matches!(fails("0 1\n1 1\n2 1"), PolicyFault::AtBarrier(_)));
    assert!(matches!(fails("0 0\n4 0\n5 0"), PolicyFault::Finished(_)));
    assert!(matches!(fails("0 1\n1 1"), PolicyFault::EndsEarly(left) if left.len() == 1));
    assert!(matches!(fails(""), PolicyFault::EndsEarly(left) if left.len() == 2));
    assert!(matches!(fails("0 0\n1 1\n2 1\n4 0\n9 0"), PolicyFault::GoesOn));
}

#[test]
fn warps_that_wait_for_each_other_are_reported() {
    let mut builder = KernelBuilder::new();
    builder.warp().partial_bar(1, 2, true).ret("f");
    builder.warp().partial_bar(2, 2, true).ret("f");
    let kernel = builder.build(&paper_machine(&ALU));
    let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
    for setup in [PolicySetup::Gto, PolicySetup::Srr, PolicySetup::TwoLevel] {
        let error = Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap())
            .run_block(&kernel.paths, &setup, &mut ())
            .unwrap_err();
        let RunError::Deadlock(deadlock) = error else { panic!("{error}") };
        let at: Vec<Option<Pc>> = deadlock.warps.iter().map(|(_, _, pc)| *pc).collect();
        assert_eq!((at, deadlock.cycle.get()), (vec![Some(Pc::new(0)), Some(Pc::new(2))], 2), "{setup}");
    }
}

#[test]
fn a_block_larger_than_the_sm_is_refused() {
    let mut builder = KernelBuilder::new();
    (0..65).for_each(|_| {
        builder.warp().op("f", None, &[]).ret("f");
    });
    let kernel = builder.build(&paper_machine(&ALU));
    let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
    let mut engine = Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap());
    let error = engine.run_block(&kernel.paths, &PolicySetup::Gto, &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "block 0 has 65 warps, the SM has 64 slots for a block");
    let mut fits = kernel.paths.clone();
    fits.warps.truncate(64);
    assert_eq!(engine.run_block(&fits, &PolicySetup::Lrr, &mut ()).unwrap().makespan.get(), 67);
}

#[test]
fn an_engine_can_be_reused_after_each_block() {
    let kernel = ping_pong(8, 3, 8, true);
    let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
    let mut engine = Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap());
    for setup in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::TwoLevel, PolicySetup::Random(3)] {
        let mut digests = [Digest::new(), Digest::new(), Digest::new()];
        let [first, again, fresh] = &mut digests;
        engine.run_block(&kernel.paths, &setup, first).unwrap();
        engine.run_block(&kernel.paths, &setup, again).unwrap();
        Engine::new(&table, PaperMachine::of(&kernel.machine).unwrap())
            .run_block(&kernel.paths, &setup, fresh)
            .unwrap();
        assert!(digests[0] == digests[1] && digests[0] == digests[2], "{setup}");
        assert_eq!(digests[0].issues(), kernel.paths.warp_instructions() - 2);
    }
}

#[test]
fn stalls_are_attributed_to_instructions() {
    let kernel = figure_2(1);
    let table = TimingTable::new(&kernel.program, &kernel.machine).unwrap();
    let mut profile = StallProfile::new(&table);
    let mut units = UnitUse::new(table.units());
    run(&kernel, &PolicySetup::Gto, &mut (&mut profile, &mut units));
    // issues at 0, 1, 2, 8; the last waits for r0 of the first from 3 on; the drain ends at 14
    let lost: Vec<_> = profile
        .lost()
        .iter()
        .map(|lost| (lost.reason, lost.waiting.map(Pc::get), lost.producer.map(Pc::get), lost.cycles.get()))
        .collect();
    assert_eq!(
        lost,
        [(StallReason::Scoreboard, Some(3), Some(0), 5), (StallReason::Drain, None, Some(3), 5)]
    );
    let named = |name: &str| kernel.machine.units().iter().position(|unit| unit.name == name).unwrap();
    assert_eq!(units.busy(UnitId::from_index(named("blue"))).get(), 6);
    assert_eq!(units.instructions(UnitId::from_index(named("blue"))), 2);
}

#[test]
fn traces_of_a_whole_run() {
    let kernel = figure_2(2);
    let units = || UnitInstances::new(&kernel.machine);
    let class = |instr: &Instr| (instr.line, kernel.program.classes.name(instr.class).to_owned());
    let listing = Listing::new(kernel.program.instrs.iter().map(class));
    let (mut csv, mut json, mut log) = (Vec::new(), Vec::new(), Vec::new());
    let mut csv_trace = CsvTrace::new(&mut csv, units(), &listing);
    let mut perfetto = PerfettoTrace::new(&mut json, units(), &listing);
    let mut kanata = KanataTrace::new(&mut log, units(), &listing);
    {
        let mut all: Vec<&mut dyn Observer> = vec![&mut csv_trace, &mut perfetto, &mut kanata];
        run(&kernel, &PolicySetup::Gto, &mut all);
    }
    csv_trace.finish().unwrap();
    perfetto.finish().unwrap();
    kanata.finish().unwrap();
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), 9);
    assert!(csv.lines().nth(5).unwrap().starts_with("0,1,1,6,4,7,14,blue,"), "{csv}");
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let instructions = events.iter().filter(|e| e["ph"] == "X" && e["args"]["start"].is_u64());
    assert_eq!(instructions.count(), 8);
    let log = String::from_utf8(log).unwrap();
    let total: u64 =
        log.lines().filter_map(|line| line.strip_prefix("C\t")).map(|n| n.parse::<u64>().unwrap()).sum();
    assert_eq!(total, 17, "the log ends with the last done");
    assert_eq!(log.lines().filter(|line| line.starts_with("R\t")).count(), 8);
}
