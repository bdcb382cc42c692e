//! The engine compared with the per-cycle reference: every event of ten thousand random kernels
//! under every policy, and of launches with several resident blocks.

use std::convert::Infallible;

use crate::campaign;
use crate::per_cycle;
use crate::random_kernels;

use per_cycle::{Issued, Outcome, Rule};
use random_kernels::{RandomLaunch, Shape, machine, machine_text, random_launch};

use warpbound::base::{BlockId, Cycle};
use warpbound::diag::SourceText;
use warpbound::path::{BlockPaths, BlockSource, Listed};
use warpbound::program::TimingTable;
use warpbound::sim::policy::Schedule;
use warpbound::sim::{PolicySetup, SubCoreResult, simulate};
use warpbound::trace::{Event, Recorder, StallReason, WarpFinish};

fn engine(launch: &RandomLaunch, setup: &PolicySetup, resident: u32) -> (Outcome, Recorder) {
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
    let mut recorder = Recorder::new();
    let mut blocks = vec![per_cycle::Ran::default(); launch.blocks.len()];
    let mut source = Listed::new(&launch.blocks);
    let summary =
        simulate(&mut source, &table, &launch.machine, setup, resident, &mut recorder, |result, paths| {
            assert_eq!(result.block, paths.block);
            blocks[result.block.index()] = per_cycle::Ran {
                start: result.start.get(),
                end: (result.start + result.makespan).get(),
                finish: result.warps.iter().map(|warp| warp.finish.get()).collect(),
            };
        })
        .unwrap_or_else(|error| panic!("{setup:?}: {error}\n{:#?}", launch.program.machine_code));
    let issues = recorder.issues().map(|issue| Issued {
        block: issue.block.index(),
        warp: issue.warp.index(),
        sub_core: usize::from(issue.sub_core),
        index: issue.index as usize,
        issue: issue.issue.get(),
        start: issue.start.get(),
        done: issue.done.get(),
    });
    let of_reasons = |used: &SubCoreResult| {
        let mut stalls = [0; StallReason::ALL.len()];
        used.stalls.iter().for_each(|(reason, cycles)| stalls[reason.index()] = cycles.get());
        stalls
    };
    let stalls = summary.sub_cores.iter().map(of_reasons).collect();
    let outcome = Outcome { issues: issues.collect(), makespan: summary.makespan.get(), stalls, blocks };
    assert_eq!(summary.issues, outcome.issues.len() as u64);
    for used in &summary.sub_cores {
        assert_eq!(used.issues + used.stalls.total().get(), summary.makespan.get(), "stalls add up");
    }
    let slots = summary.makespan.get() * summary.sub_cores.len() as u64;
    assert_eq!(summary.issues + summary.stalls.total().get(), slots, "stalls add up");
    idle_intervals_fill_the_gaps(&recorder, summary.makespan.get(), summary.sub_cores.len());
    (outcome, recorder)
}

/// Checks that on every sub-core, each cycle up to the makespan has an issue or is in one idle
/// interval.
fn idle_intervals_fill_the_gaps(recorder: &Recorder, makespan: u64, sub_cores: usize) {
    let mut until = vec![0; sub_cores];
    for event in &recorder.events {
        let (sub_core, from, to) = match event {
            Event::Issued(issue) => (issue.sub_core, issue.issue.get(), issue.issue.get() + 1),
            Event::Idled(idle) => (idle.sub_core, idle.from.get(), idle.to.get()),
            _ => continue,
        };
        assert_eq!(until[usize::from(sub_core)], from);
        until[usize::from(sub_core)] = to;
    }
    assert!(until.iter().all(|&until| until == makespan), "{until:?} of {makespan}");
}

/// Runs both and compares everything; returns the events of the engine.
fn compare(seed: u64, launch: &RandomLaunch, setup: &PolicySetup, rule: &Rule, resident: usize) -> Recorder {
    let expected = per_cycle::simulate(&launch.program, &launch.machine, &launch.blocks, rule, resident);
    let (outcome, recorder) = engine(launch, setup, resident as u32);
    for (ours, theirs) in outcome.issues.iter().zip(&expected.issues) {
        assert_eq!(ours, theirs, "seed {seed}, {rule:?}, {resident} resident");
    }
    assert_eq!(outcome, expected, "seed {seed}, {rule:?}, {resident} resident");
    recorder
}

/// Returns the schedule of a run, for both simulators.
fn schedule(recorder: &Recorder, starts: &[u64]) -> (PolicySetup, Rule) {
    let text = Schedule::text(recorder.issues(), |block: BlockId| Cycle::new(starts[block.index()]));
    let parsed = Schedule::parse(&SourceText::new("test.replay", text)).unwrap();
    let decision = |issue: &warpbound::trace::Issue| {
        let block = issue.block.index();
        (block, issue.issue.get() - starts[block], issue.warp.index())
    };
    (PolicySetup::Replay(parsed), Rule::Replay(recorder.issues().map(decision).collect()))
}

fn every_policy(seed: u64, launch: &RandomLaunch, resident: usize) {
    let active = launch.machine.two_level_active() as usize;
    let policies = [
        (PolicySetup::Gto, Rule::Gto),
        (PolicySetup::Lrr, Rule::Lrr),
        (PolicySetup::Srr, Rule::Srr),
        (PolicySetup::Gsrr, Rule::Gsrr),
        (PolicySetup::Oldest, Rule::Oldest),
        (PolicySetup::TwoLevel, Rule::TwoLevel(active)),
        (PolicySetup::RunToBarrier, Rule::RunToBarrier),
        (PolicySetup::Random(seed), Rule::Random(seed)),
    ];
    let replayed = seed as usize % policies.len();
    for (index, (setup, rule)) in policies.iter().enumerate() {
        let recorder = compare(seed, launch, setup, rule, resident);
        if index == replayed {
            let (outcome, _) = engine(launch, setup, resident as u32);
            let starts: Vec<u64> = outcome.blocks.iter().map(|ran| ran.start).collect();
            let (setup, rule) = schedule(&recorder, &starts);
            let again = compare(seed, launch, &setup, &rule, resident);
            assert!(again.issues().eq(recorder.issues()), "seed {seed}: a replay repeats the run");
        }
    }
}

/// Divides seeds among two threads; a failure names its seed. Only the first quarter of them is
/// used, unless `WARPBOUND_LONG` is set.
fn for_seeds(seeds: std::ops::Range<u64>, test: impl Fn(u64) + Sync) {
    let few = seeds.start + (seeds.end - seeds.start) / 4;
    let end = if campaign::in_full() { seeds.end } else { few };
    let seeds = seeds.start..end;
    let middle = seeds.start + (seeds.end - seeds.start) / 2;
    std::thread::scope(|scope| {
        scope.spawn(|| (seeds.start..middle).for_each(&test));
        (middle..seeds.end).for_each(&test);
    });
}

#[test]
fn kernels_under_every_policy() {
    for_seeds(0..10_000, |seed| {
        let shape = if seed % 4 == 0 { Shape::PAPER } else { Shape::EVERYTHING };
        every_policy(seed, &random_launch(seed, &shape, 1), 1);
    });
}

#[test]
fn launches_with_several_blocks() {
    let shape = Shape { max_warps: 4, max_instructions: 8, ..Shape::EVERYTHING };
    for_seeds(100_000..101_000, |seed| {
        let resident = 1 + seed as usize % 4;
        every_policy(seed, &random_launch(seed, &shape, 1 + seed as usize % 9), resident);
    });
}

#[test]
fn sub_cores_with_and_without_shared_units() {
    for_seeds(200_000..203_000, |seed| {
        let shape = Shape { sub_cores: 4, ..if seed % 4 == 0 { Shape::PAPER } else { Shape::EVERYTHING } };
        every_policy(seed, &random_launch(seed, &shape, 1), 1);
    });
}

#[test]
fn sub_cores_with_several_blocks() {
    let shape = Shape { max_warps: 4, max_instructions: 8, sub_cores: 4, ..Shape::EVERYTHING };
    for_seeds(300_000..300_500, |seed| {
        let resident = 1 + seed as usize % 4;
        every_policy(seed, &random_launch(seed, &shape, 1 + seed as usize % 9), resident);
    });
}

/// The detailed engine agrees with the paper model if no feature is enabled.
#[test]
fn the_pipeline_with_nothing_on() {
    for_seeds(400_000..402_000, |seed| {
        let sub_cores = if seed % 2 == 0 { 1 } else { 4 };
        let shape = Shape { sub_cores, pipeline: true, ..Shape::EVERYTHING };
        every_policy(seed, &random_launch(seed, &shape, 1), 1);
    });
    for_seeds(500_000..500_500, |seed| {
        let resident = 1 + seed as usize % 4;
        let shape =
            Shape { max_warps: 4, max_instructions: 8, sub_cores: 4, pipeline: true, ..Shape::EVERYTHING };
        every_policy(seed, &random_launch(seed, &shape, 1 + seed as usize % 9), resident);
    });
}

/// Returns the events that both engines emit, in the same order. The division of idle cycles into
/// intervals, and the time at which the end of a warp is reported, are not specified.
fn common_events(launch: &RandomLaunch, resident: u32) -> (Vec<Event>, Vec<WarpFinish>) {
    let (_, recorder) = engine(launch, &PolicySetup::Lrr, resident);
    let (mut events, mut finishes) = (Vec::new(), Vec::new());
    for event in recorder.events {
        match event {
            Event::Idled(_) => {}
            Event::WarpFinished(finish) => finishes.push(finish),
            other => events.push(other),
        }
    }
    finishes.sort_by_key(|finish| (finish.block.get(), finish.warp.get()));
    (events, finishes)
}

#[test]
fn both_engines_emit_the_same_events_of_blocks_and_barriers() {
    for_seeds(700_000..701_000, |seed| {
        let shape = Shape { max_warps: 6, sub_cores: 4, ..Shape::EVERYTHING };
        let (blocks, resident) = (1 + seed as usize % 5, 1 + seed as u32 % 3);
        let paper = random_launch(seed, &shape, blocks);
        let pipeline = random_launch(seed, &Shape { pipeline: true, ..shape }, blocks);
        let (paper, pipeline) = (common_events(&paper, resident), common_events(&pipeline, resident));
        for (ours, theirs) in pipeline.0.iter().zip(&paper.0) {
            assert_eq!(ours, theirs, "seed {seed}");
        }
        assert_eq!(pipeline, paper, "seed {seed}");
    });
}

/// Stall counts, barriers of both kinds, waits for all signals of a barrier except the last few,
/// and warps that yield.
#[test]
fn control_codes() {
    let codes = Shape { codes: true, ..Shape::EVERYTHING };
    for_seeds(800_000..804_000, |seed| {
        let sub_cores = if seed % 2 == 0 { 1 } else { 4 };
        // on both engines
        let shape = Shape { sub_cores, pipeline: seed % 4 < 2, ..codes };
        every_policy(seed, &random_launch(seed, &shape, 1), 1);
    });
    let small = Shape { max_warps: 4, max_instructions: 8, sub_cores: 4, ..codes };
    for_seeds(810_000..811_000, |seed| {
        let shape = Shape { pipeline: seed % 2 == 0, ..small };
        every_policy(seed, &random_launch(seed, &shape, 1 + seed as usize % 9), 1 + seed as usize % 4);
    });
    for_seeds(820_000..821_000, |seed| {
        every_policy(seed, &random_launch(seed, &Shape { queues: 3, ..codes }, 1), 1);
    });
}

/// A unit without a queue: an instruction that does not start does not issue.
#[test]
fn no_queue_at_all() {
    for_seeds(830_000..832_000, |seed| {
        let sub_cores = if seed % 2 == 0 { 1 } else { 4 };
        let shape = Shape { sub_cores, pipeline: true, codes: seed % 4 < 2, ..Shape::EVERYTHING };
        let mut launch = random_launch(seed, &shape, 1);
        let text = machine_text(seed, &shape).replace("Pipeline()", "Pipeline(queue: 0)");
        launch.machine = machine(&text);
        let recorder = compare(seed, &launch, &PolicySetup::Gto, &Rule::Gto, 1);
        assert!(recorder.issues().all(|issue| issue.start == issue.issue), "seed {seed}");
        every_policy(seed, &launch, 1);
    });
}

/// Queues that hold only a few instructions.
#[test]
fn bounded_queues() {
    let mut full = 0;
    for_seeds(600_000..602_000, |seed| {
        let sub_cores = if seed % 2 == 0 { 1 } else { 4 };
        let shape = Shape { sub_cores, queues: 4, ..Shape::EVERYTHING };
        every_policy(seed, &random_launch(seed, &shape, 1), 1);
    });
    for seed in 600_000..600_200 {
        let shape = Shape { queues: 4, ..Shape::EVERYTHING };
        let (outcome, _) = engine(&random_launch(seed, &shape, 1), &PolicySetup::Gto, 1);
        full += outcome.stalls[0][StallReason::UnitFull.index()];
    }
    assert!(full > 1000, "queues were full in {full} cycles only");
}

/// The random kernels cover the cases that they are meant to, which the tests above rely on.
#[test]
fn random_kernels_reach_every_reason_and_every_feature() {
    let mut stalls = [0; StallReason::ALL.len()];
    let (mut releases, mut far, mut empty) = (0, 0, 0);
    for seed in 0..300 {
        let launch = random_launch(seed, &Shape::EVERYTHING, 1);
        let (outcome, recorder) = engine(&launch, &PolicySetup::Srr, 1);
        outcome.stalls[0].iter().zip(&mut stalls).for_each(|(cycles, sum)| *sum += cycles);
        let released = |e: &&Event| matches!(e, Event::BarrierReleased(_));
        releases += recorder.events.iter().filter(released).count();
        far += recorder.issues().filter(|issue| (issue.done - issue.issue).get() > 1024).count();
        empty += outcome.blocks[0].finish.iter().filter(|finish| **finish == 0).count();
    }
    let common = |reason: StallReason| match reason {
        StallReason::NotMyTurn | StallReason::Scoreboard | StallReason::Barrier | StallReason::Drain => true,
        // these never occur in the paper model
        StallReason::UnitFull | StallReason::Fetch => false,
    };
    let mut common = StallReason::ALL.into_iter().filter(|&reason| common(reason));
    assert!(common.all(|reason| stalls[reason.index()] > 100), "{stalls:?}");
    assert!(releases > 100 && far > 20 && empty > 5, "{releases} releases, {far} far, {empty} empty warps");
}

/// A source that is stopped after two blocks.
struct Stopping<'a> {
    blocks: Listed<'a>,
    given: usize,
}

impl BlockSource for Stopping<'_> {
    type Error = Infallible;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Infallible> {
        self.given += 1;
        self.blocks.next_block(paths)
    }

    fn is_stopped(&self) -> bool {
        self.given >= 2
    }
}

#[test]
fn a_stopped_launch_is_left_unfinished() {
    let shape = Shape { pipeline: true, ..Shape::EVERYTHING };
    let launch = random_launch(1, &shape, 2);
    let (whole, _) = engine(&launch, &PolicySetup::Gto, 2);
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
    let mut source = Stopping { blocks: Listed::new(&launch.blocks), given: 0 };
    let mut ended = 0;
    let summary =
        simulate(&mut source, &table, &launch.machine, &PolicySetup::Gto, 2, &mut (), |_, _| ended += 1)
            .unwrap();
    let cycles = summary.makespan.get();
    assert!(ended == 0 && summary.blocks == 2, "{ended} of {} blocks ended", summary.blocks);
    assert!(0 < cycles && cycles < whole.makespan, "{cycles} of {} cycles", whole.makespan);
}
