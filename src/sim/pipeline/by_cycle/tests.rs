//! The engine against this one, event by event.

#[path = "../../../../tests/support/reference.rs"]
mod reference;
#[path = "../../../../tests/support/runs.rs"]
mod runs;
#[path = "../../../../tests/support/shipped.rs"]
mod shipped;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::run;
use crate::base::{BlockId, Cycle};
use crate::exec::Options;
use crate::machine::Machine;
use crate::path::{BlockPaths, BlockSource};
use crate::program::TimingTable;
use crate::sim::{BlockResult, Left, PolicySetup, SimSummary, simulate_after};
use crate::trace::{BlockStart, Event, Idle, Issue, Observer, Recorder, Release, WarpFinish};
use warpbound::check::Workload;

/// What happened, by SM.
#[derive(Default)]
struct Events {
    sms: Vec<Recorder>,
    sm: usize,
    samples: bool,
}

impl Events {
    fn recorder(&mut self) -> &mut Recorder {
        if self.sms.len() <= self.sm {
            self.sms.resize_with(self.sm + 1, Recorder::new);
        }
        &mut self.sms[self.sm]
    }
}

impl Observer for Events {
    fn wants_samples(&self) -> bool {
        self.samples
    }
    fn on_sm(&mut self, sm: usize) {
        self.sm = sm;
    }
    fn block_started(&mut self, start: &BlockStart) {
        self.recorder().block_started(start);
    }
    fn issued(&mut self, issue: &Issue) {
        self.recorder().issued(issue);
    }
    fn idled(&mut self, idle: &Idle) {
        self.recorder().idled(idle);
    }
    fn barrier_released(&mut self, release: &Release) {
        self.recorder().barrier_released(release);
    }
    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.recorder().warp_finished(finish);
    }
    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        self.recorder().block_ended(block, end);
    }
}

/// What was compared.
#[derive(Default)]
struct Compared {
    runs: u32,
    /// Of these, launches that found what another one had left.
    again: u32,
    events: u64,
    cycles: u64,
}

impl Compared {
    /// A launch on both engines, once and, where that finds what the first has left, once more.
    fn add(&mut self, workload: &Workload, machine: &Machine, policy: &PolicySetup, what: &str) {
        let mut left = Left::default();
        self.launch(workload, machine, policy, what, &mut left);
        if left != Left::default() {
            assert!(left.fits(machine), "{what}");
            let read = serde_json::from_str(&serde_json::to_string(&left).unwrap());
            assert_eq!(read.ok().as_ref(), Some(&left), "{what}");
            self.launch(workload, machine, policy, &format!("{what}, once more"), &mut left);
            self.again += 1;
        }
    }

    /// A launch on both engines: events where somebody listens, and what comes out where nobody does.
    fn launch(
        &mut self,
        workload: &Workload,
        machine: &Machine,
        policy: &PolicySetup,
        what: &str,
        left: &mut Left,
    ) {
        let table = TimingTable::new(workload.program(), machine).unwrap_or_else(|error| panic!("{error}"));
        let source =
            || workload.source(Options::of(machine, 1 << 26)).unwrap_or_else(|error| panic!("{error}"));
        let resident = machine.limits().occupancy(&workload.needs()).unwrap().blocks.min(workload.blocks());
        let before = left.clone();
        let simulated = |threads, observer: &mut Events| -> (SimSummary, Vec<BlockResult>, Left) {
            let mut left = before.clone();
            let mut blocks = Vec::new();
            let on_block = |result: &BlockResult, _: &_| blocks.push(result.clone());
            let source = &mut source();
            let summary = if observer.sm == usize::MAX {
                let silent = &mut ();
                simulate_after(
                    &mut left, threads, source, &table, machine, policy, resident, silent, on_block,
                )
            } else {
                simulate_after(
                    &mut left, threads, source, &table, machine, policy, resident, observer, on_block,
                )
            };
            (summary.unwrap_or_else(|error| panic!("{what}: {error:?}")), blocks, left)
        };
        let mut executed = source();
        let mut paths = Vec::new();
        let mut room = BlockPaths::default();
        while executed.next_block(&mut room).unwrap_or_else(|error| panic!("{error}")) {
            paths.push(room.clone());
        }
        let slow = run(machine, &table, policy, resident, &executed.footprint(), paths, left);

        let samples = self.runs % 4 == 3;
        let mut events = Events { samples, ..Events::default() };
        let fast = simulated(1 + self.runs as usize % 2, &mut events);
        events.sms.resize_with(machine.sms(), Recorder::new);
        for (sm, (ours, theirs)) in events.sms.iter().zip(&slow.events).enumerate() {
            let differs = ours.events.iter().zip(theirs).position(|(one, other)| one != other);
            let at = differs.unwrap_or(ours.events.len().min(theirs.len()));
            let (one, other) = (ours.events.get(at), theirs.get(at));
            assert!(one == other, "{what}, SM {sm}, event {at}: {one:?}\n{other:?}");
        }
        assert_eq!(fast, (slow.summary.clone(), slow.blocks.clone(), left.clone()), "{what}");
        let unheard = simulated(1, &mut Events { sm: usize::MAX, ..Events::default() });
        assert_eq!(unheard, (slow.summary.clone(), slow.blocks, left.clone()), "{what}, and nobody listens");
        self.runs += 1;
        self.events += slow.events.iter().map(|events: &Vec<Event>| events.len() as u64).sum::<u64>();
        self.cycles += slow.summary.makespan.get();
    }
}

const POLICIES: [PolicySetup; 7] = [
    PolicySetup::Gto,
    PolicySetup::Lrr,
    PolicySetup::TwoLevel,
    PolicySetup::Oldest,
    PolicySetup::Srr,
    PolicySetup::Gsrr,
    PolicySetup::Random(5),
];

/// All launches of the reference, on the machines that they were compared on with another simulator.
#[test]
fn reference_launches() {
    let mut compared = Compared::default();
    let policies = [PolicySetup::Gto, PolicySetup::Lrr];
    for name in ["accelsim-ecrts", "accelsim-ecrts-dram", "accelsim-sm1"] {
        let machine = shipped::machine(name);
        for (number, launch) in reference::launches().into_iter().enumerate() {
            let workload = runs::workload(&launch.name, launch.program(), launch.launch.clone());
            let policy = &policies[number % 2];
            compared.add(&workload, &machine, policy, &format!("{} on {name} under {policy}", launch.name));
        }
    }
    let machine = shipped::machine("rtx3070");
    let launches = reference::launches_of_many_blocks();
    for launch in launches.into_iter().filter(|launch| launch.name.ends_with("g46")) {
        let workload = runs::workload(&launch.name, launch.program(), launch.launch.clone());
        compared.add(&workload, &machine, &PolicySetup::Lrr, &format!("{} on rtx3070", launch.name));
    }
    println!("{} runs, {} events, {} cycles", compared.runs, compared.events, compared.cycles);
}

/// Settings that may be drawn, and for which machines: of all, of those with memory behind the SM, of those with an L1.
const OF_ALL: &[&str] = &[
    "sub_cores=1",
    "sub_cores=2",
    "sub_cores=4",
    "sms=2",
    "sms=3",
    "limits.blocks=1",
    "limits.blocks=2",
    "limits.warps=16",
    "hazards=[Raw]",
    "exit_issues=false",
    "units.int.init=1",
    "units.int.lat=9",
    "units.fp32.init=3",
    "units.sfu.lat=300",
    "units.int.shared=true",
    "units.fp32.shared=true",
    "pipeline.issue.per_warp=2",
    "pipeline.issue.distinct_units=true",
    "pipeline.issue.rotate=false",
    "pipeline.front_end=none",
    "pipeline.front_end.fetches=1",
    "pipeline.front_end.fetches=2",
    "pipeline.front_end.buffer=1",
    "pipeline.front_end.buffer=3",
    "pipeline.front_end.icache.miss_latency=30",
    "pipeline.front_end.icache.sets=1",
    "pipeline.queue=none",
    "pipeline.queue=0",
    "pipeline.queue=3",
    "pipeline.collector=none",
    "pipeline.collector.units=4",
    "pipeline.collector.units=12",
    "pipeline.collector.units=16",
    "pipeline.collector.banks=4",
    "pipeline.collector.banks=16",
    "pipeline.collector.steps=1",
    "pipeline.collector.steps=3",
    "pipeline.collector.ports=1",
    "pipeline.collector.ports=3",
    "pipeline.collect=[]",
    "pipeline.write_back=0",
    "pipeline.write_back=5",
    "pipeline.result_buses=none",
    "pipeline.result_buses=1",
    "pipeline.load_store.shared_latency=1",
    "pipeline.load_store.shared_latency=5",
    "pipeline.load_store.replies=1",
    "pipeline.load_store.replies=8",
    "pipeline.load_store.transaction=64",
    "pipeline.load_store.transaction=128",
    "pipeline.load_store.atomics_block=false",
    "pipeline.load_store.atomics_wait_for_addresses=true",
    "pipeline.launch.start=0",
    "pipeline.launch.start=7",
    "pipeline.launch.end=5",
    "pipeline.launch.blocks_per_cycle=0",
    "pipeline.launch.placement=Random(3)",
    "pipeline.unscored=[]",
];
const OF_MEMORY: &[&str] = &[
    "memory.lower=Perfect",
    "memory.lower=Fixed",
    "memory.fixed.latency=40",
    "memory.fixed.per_cycle=2",
    "memory.start=Cold",
    "memory.jitter=Uniform(0, 9)",
    "memory.partitions.crossbar_queue=2",
    "memory.partitions.crossbar_queue=16",
    "memory.partitions.latency=0",
    "memory.partitions.latency=3",
    "memory.partitions.queue=2",
    "memory.partitions.ejection_queue=1",
    "memory.partitions.l2=none",
    "memory.partitions.clock=(2, 3)",
    "memory.partitions.clock=(7, 5)",
];
const OF_L1: &[&str] = &[
    "memory.l1=none",
    "memory.l1.latency=1",
    "memory.l1.banks=1",
    "memory.l1.cache.mshrs=2",
    "memory.l1.cache.merge=1",
    "memory.l1.cache.miss_queue=2",
    "memory.l1.cache.replacement=Random",
    "memory.l1.cache.write=Back",
    "memory.l1.cache.write=Evict",
];

/// On machines drawn at random, one in four of which has something of everything.
#[test]
fn random_machines() {
    let mut rng = ChaCha8Rng::seed_from_u64(std::env::var("SEED").map_or(15, |seed| seed.parse().unwrap()));
    let rounds = std::env::var("ROUNDS").map_or(400, |rounds| rounds.parse().unwrap());
    let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
    let launches: Vec<_> =
        reference::launches().into_iter().filter(|launch| launch.warp_instructions < 12_000).collect();
    let kernels =
        ["conv2d", "fft_radix2", "scan_padded", "hgemm_mma", "spmv_warp", "kmeans_assign", "btree_group"];
    let shipped: Vec<_> = kernels.iter().map(|name| shipped::launch(name)).collect();
    let (mut compared, mut refused) = (Compared::default(), 0);
    while compared.runs < rounds {
        let base = [
            "accelsim-sm1",
            "accelsim-sm1",
            "accelsim-ecrts-dram",
            "accelsim-ecrts",
            "fermi-c2050",
            "kepler-gk104",
            "turing-tu102",
        ][draw(7)];
        let mut settings = Vec::new();
        for _ in 0..[0, 1, 2, 3, 4, 12][draw(6)] {
            let pool = [OF_ALL, OF_MEMORY, OF_L1][if base == "accelsim-sm1" { draw(3) } else { draw(2) }];
            settings.push(pool[draw(pool.len())]);
        }
        let policy = &POLICIES[draw(POLICIES.len())];
        let workload = if draw(4) == 0 {
            let kernel = &shipped[draw(shipped.len())];
            runs::workload(&kernel.name, kernel.program.clone(), kernel.launch.clone())
        } else {
            let launch = &launches[draw(launches.len())];
            runs::workload(&launch.name, launch.program(), launch.launch.clone())
        };
        let what = format!("{} on {base} with {settings:?} under {policy}", workload.name);
        let machine = shipped::try_machine_with(base, &settings);
        let takes = |machine: &Machine| {
            machine.pipeline().is_some() && machine.limits().occupancy(&workload.needs()).is_ok()
        };
        match machine.ok().filter(takes) {
            Some(machine) => compared.add(&workload, &machine, policy, &what),
            None => refused += 1,
        }
    }
    println!(
        "{} runs, {} events, {} cycles, {refused} refused",
        compared.runs, compared.events, compared.cycles
    );
    assert!(refused < rounds && compared.events > 1_000_000);
}
