//! Random kernels: the lengths add up, every link is tight, the path is connected.

use warpbound::machine::Machine;
use warpbound::path::Listed;
use warpbound::program::TimingTable;
use warpbound::sim::{PolicySetup, simulate};
use warpbound::trace::Recorder;
use warpbound::why::{Explainer, Explanation, Kind, Unexplained};

use crate::random_kernels::{RandomLaunch, Shape, machine_text, random_launch};
use crate::tight::Events;

pub const POLICIES: [fn(u64) -> PolicySetup; 8] = [
    |_| PolicySetup::Gto,
    |_| PolicySetup::Lrr,
    |_| PolicySetup::Srr,
    |_| PolicySetup::Gsrr,
    |_| PolicySetup::Oldest,
    |_| PolicySetup::TwoLevel,
    |_| PolicySetup::RunToBarrier,
    PolicySetup::Random,
];

pub fn explained(launch: &RandomLaunch, setup: &PolicySetup, resident: u32) -> (Explanation, Recorder, u64) {
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
    let mut observer = (Recorder::new(), Explainer::new(&table, &launch.machine, usize::MAX));
    let mut source = Listed::new(&launch.blocks);
    let summary = simulate(&mut source, &table, &launch.machine, setup, resident, &mut observer, |_, _| {})
        .unwrap_or_else(|error| panic!("{error}"));
    let found = observer.1.finish(summary.makespan).unwrap();
    (found, observer.0, summary.makespan.get())
}

/// Checks what holds for the path on every machine.
pub fn adds_up(found: &Explanation, makespan: u64) {
    let mut at = 0;
    for link in &found.links {
        assert_eq!(link.from.get(), at, "{link:?}");
        assert!(link.to > link.from, "{link:?}");
        at = link.to.get();
    }
    assert_eq!((at, found.makespan.get()), (makespan, makespan));
    let spent: u64 = found.spent.iter().map(|spent| spent.cycles.get()).sum();
    assert_eq!(spent, makespan);
    for spent in &found.spent {
        let same = found.links.iter().filter(|s| s.kind == spent.kind && s.of.map(|of| of.pc) == spent.pc);
        assert_eq!(same.clone().count() as u64, spent.links);
        assert_eq!(same.map(|link| link.cycles().get()).sum::<u64>(), spent.cycles.get());
    }
    let slots = found.spent.iter().filter(|spent| spent.kind == Kind::Slot);
    let instead: u64 = found.instead.iter().map(|(_, cycles)| cycles.get()).sum();
    assert_eq!(instead, slots.map(|spent| spent.cycles.get()).sum::<u64>(), "who was issued instead");
}

fn tight(seed: u64, launch: &RandomLaunch, resident: u32) -> Vec<Kind> {
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
    let mut kinds = Vec::new();
    for policy in POLICIES {
        let setup = policy(seed);
        let (found, recorder, makespan) = explained(launch, &setup, resident);
        adds_up(&found, makespan);
        Events::new(&recorder, &table, &launch.blocks)
            .verify(&found, makespan)
            .unwrap_or_else(|why| panic!("seed {seed}, {}, {resident} resident: {why}", setup.kind()));
        let conserving = setup.kind().work_conserving() == Some(true);
        for link in &found.links {
            assert!(
                !conserving || link.kind != Kind::Turn,
                "seed {seed}: {} passes nobody over",
                setup.kind()
            );
            kinds.push(link.kind);
        }
    }
    kinds
}

fn for_seeds(seeds: std::ops::Range<u64>, test: impl Fn(u64) -> Vec<Kind>) {
    let mut seen: Vec<Kind> = seeds.flat_map(test).collect();
    seen.sort_unstable();
    seen.dedup();
    let paper =
        [Kind::Latency, Kind::Initiation, Kind::Unit, Kind::Issue, Kind::Slot, Kind::Turn, Kind::Barrier];
    assert_eq!(seen, paper, "every kind of the paper model occurs");
}

#[test]
fn blocks_of_the_paper_model() {
    for_seeds(0..1_500, |seed| {
        let shape = if seed % 4 == 0 { Shape::PAPER } else { Shape::EVERYTHING };
        tight(seed, &random_launch(seed, &shape, 1), 1)
    });
}

#[test]
fn control_codes() {
    for_seeds(50_000..51_000, |seed| {
        let shape = Shape { codes: true, pipeline: seed % 2 == 0, ..Shape::EVERYTHING };
        tight(seed, &random_launch(seed, &shape, 1), 1)
    });
    for_seeds(60_000..60_400, |seed| {
        let shape =
            Shape { codes: true, max_warps: 4, max_instructions: 8, sub_cores: 3, ..Shape::EVERYTHING };
        tight(seed, &random_launch(seed, &shape, 1 + seed as usize % 9), 1 + seed as u32 % 4)
    });
}

#[test]
fn sub_cores_and_shared_units() {
    for_seeds(10_000..10_600, |seed| {
        let shape = Shape { sub_cores: 4, max_warps: 12, ..Shape::EVERYTHING };
        tight(seed, &random_launch(seed, &shape, 1), 1)
    });
}

#[test]
fn launches_of_several_blocks() {
    let shape = Shape { max_warps: 4, max_instructions: 8, sub_cores: 2, ..Shape::EVERYTHING };
    for_seeds(20_000..20_500, |seed| {
        tight(seed, &random_launch(seed, &shape, 1 + seed as usize % 9), 1 + seed as u32 % 4)
    });
}

#[test]
fn the_pipeline_with_nothing_on_is_explained_as_the_paper_model() {
    for_seeds(30_000..30_400, |seed| {
        let shape = Shape { sub_cores: 4, pipeline: true, ..Shape::EVERYTHING };
        tight(seed, &random_launch(seed, &shape, 1), 1)
    });
}

/// Both engines emit the same events, so the path is the same too.
#[test]
fn both_engines_have_the_same_path() {
    for seed in 40_000..40_200 {
        let shape = Shape { max_warps: 4, max_instructions: 8, sub_cores: 4, ..Shape::EVERYTHING };
        let paper = random_launch(seed, &shape, 5);
        let pipeline =
            RandomLaunch { machine: with_pipeline(seed, &shape), ..random_launch(seed, &shape, 5) };
        for policy in POLICIES {
            let setup = policy(seed);
            let resident = 1 + seed as u32 % 3;
            let (a, b) = (explained(&paper, &setup, resident), explained(&pipeline, &setup, resident));
            assert_eq!(a.0, b.0, "seed {seed}, {}", setup.kind());
        }
    }
}

fn with_pipeline(seed: u64, shape: &Shape) -> Machine {
    let text = machine_text(seed, shape).replace("limits:", "pipeline: Pipeline(), limits:");
    crate::random_kernels::machine(&text)
}

#[test]
fn bounded_queues_partition_the_makespan_too() {
    let mut full = 0;
    for seed in 50_000..50_300 {
        let shape = Shape { queues: 3, sub_cores: 2, ..Shape::EVERYTHING };
        let launch = random_launch(seed, &shape, 1 + seed as usize % 3);
        for policy in POLICIES {
            let (found, _, makespan) = explained(&launch, &policy(seed), 1 + seed as u32 % 2);
            adds_up(&found, makespan);
            full += found.links.iter().filter(|link| link.kind == Kind::UnitFull).count();
        }
    }
    assert!(full > 100, "{full}");
}

#[test]
fn the_number_of_stored_events_is_limited() {
    let launch = random_launch(7, &Shape::EVERYTHING, 6);
    let table = TimingTable::new(&launch.program, &launch.machine).unwrap();
    let under = |limit: usize, resident: u32| {
        let mut explainer = Explainer::new(&table, &launch.machine, 0).limited_to(limit);
        let mut source = Listed::new(&launch.blocks);
        let gto = PolicySetup::Gto;
        let ran = simulate(&mut source, &table, &launch.machine, &gto, resident, &mut explainer, |_, _| {});
        let makespan = ran.unwrap().makespan;
        explainer.finish(makespan).map(|found| found.makespan == makespan)
    };
    let most = launch.blocks.iter().map(|block| block.warp_instructions() as usize).max().unwrap();
    let all = launch.blocks.iter().map(|block| block.warp_instructions() as usize).sum();
    // with one block at a time, events that have been explained are dropped
    assert_eq!(under(most, 1), Ok(true));
    assert_eq!(under(all, 6), Ok(true));
    assert_eq!(under(most / 2, 6), Err(Unexplained::TooLong { limit: most / 2 }));
}
