//! Compares the engine with its simple and slow reference, event by event.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::ProgressMonitor;
use warpbound::check::Workload;
use warpbound::exec::Options;
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::TimingTable;
use warpbound::sim::by_cycle::run;
use warpbound::sim::{BlockResult, CarriedState, PolicySetup, SimSummary, simulate_after};
use warpbound::trace::{Event, Needs, Observer, Recorder};

use crate::{campaign, reference, runs, settings, shipped};

/// The events, by SM.
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
    fn needs(&self) -> Needs {
        if self.samples { Needs::SAMPLES } else { Needs::IN_ORDER }
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Sm(sm) => self.sm = *sm,
            event => self.recorder().on(event),
        }
    }
}

/// The amount of work that was compared.
#[derive(Default)]
struct Compared {
    runs: u32,
    /// The number of these launches that started from the state of an earlier one.
    again: u32,
    events: u64,
    cycles: u64,
}

impl Compared {
    /// Runs a launch on both engines, and a second time where it can start from the state that the
    /// first one left.
    fn add(&mut self, workload: &Workload, machine: &Machine, policy: &PolicySetup, what: &str) {
        let mut left = CarriedState::default();
        self.launch(workload, machine, policy, what, &mut left);
        if left != CarriedState::default() {
            assert!(left.fits(machine), "{what}");
            let read = serde_json::from_str(&serde_json::to_string(&left).unwrap());
            assert_eq!(read.ok().as_ref(), Some(&left), "{what}");
            self.launch(workload, machine, policy, &format!("{what}, once more"), &mut left);
            self.again += 1;
        }
    }

    /// Runs a launch on both engines; compares the events with an observer, and the results without
    /// one.
    fn launch(
        &mut self,
        workload: &Workload,
        machine: &Machine,
        policy: &PolicySetup,
        what: &str,
        left: &mut CarriedState,
    ) {
        let table = TimingTable::new(workload.program(), machine).unwrap_or_else(|error| panic!("{error}"));
        let monitor = ProgressMonitor::new();
        let source = || {
            workload.source(Options::of(machine, 1 << 26), &monitor).unwrap_or_else(|error| panic!("{error}"))
        };
        let resident = machine.limits().occupancy(&workload.needs()).unwrap().blocks.min(workload.blocks());
        let before = left.clone();
        let simulated = |threads, observer: &mut Events| -> (SimSummary, Vec<BlockResult>, CarriedState) {
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
        assert_eq!(unheard, (slow.summary.clone(), slow.blocks, left.clone()), "{what}, without an observer");
        self.runs += 1;
        self.events += slow.events.iter().map(|events: &Vec<Event>| events.len() as u64).sum::<u64>();
        self.cycles += slow.summary.makespan.get();
    }
}

const POLICIES: [PolicySetup; 8] = [
    PolicySetup::Gto,
    PolicySetup::Lrr,
    PolicySetup::TwoLevel,
    PolicySetup::RunToBarrier,
    PolicySetup::Oldest,
    PolicySetup::Srr,
    PolicySetup::Gsrr,
    PolicySetup::Random(5),
];

/// Runs all launches of the reference, on the machines on which they were compared with another
/// simulator. In the default run each launch goes on one of the machines.
#[test]
fn reference_launches() {
    let mut compared = Compared::default();
    let policies = [PolicySetup::Gto, PolicySetup::Lrr];
    for (index, name) in ["accelsim-ecrts", "accelsim-ecrts-dram", "accelsim-sm1"].into_iter().enumerate() {
        let machine = shipped::machine(name);
        for (number, launch) in reference::launches().into_iter().enumerate() {
            if !campaign::takes(number + index, 3) {
                continue;
            }
            let workload = runs::workload(&launch.name, launch.program(), launch.launch.clone());
            let policy = &policies[number % 2];
            compared.add(&workload, &machine, policy, &format!("{} on {name} under {policy}", launch.name));
        }
    }
    let machine = shipped::machine("rtx3070");
    let launches = reference::launches_of_many_blocks();
    let of_all = launches.into_iter().filter(|launch| launch.name.ends_with("g46"));
    for (_, launch) in of_all.enumerate().filter(|&(number, _)| campaign::takes(number, 2)) {
        let workload = runs::workload(&launch.name, launch.program(), launch.launch.clone());
        compared.add(&workload, &machine, &PolicySetup::Lrr, &format!("{} on rtx3070", launch.name));
    }
    println!("{} runs, {} events, {} cycles", compared.runs, compared.events, compared.cycles);
}

/// Compares the engines on randomly drawn machines, one in four of which has every feature.
#[test]
fn random_machines() {
    let mut rng = ChaCha8Rng::seed_from_u64(std::env::var("SEED").map_or(15, |seed| seed.parse().unwrap()));
    let rounds = std::env::var("ROUNDS").map_or(150, |rounds| rounds.parse().unwrap());
    let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
    let launches: Vec<_> =
        reference::launches().into_iter().filter(|launch| launch.warp_instructions < 12_000).collect();
    let kernels =
        ["conv2d", "fft_radix2", "scan_padded", "hgemm_mma", "spmv_warp", "kmeans_assign", "btree_group"];
    let shipped: Vec<_> = kernels.iter().map(|name| shipped::launch(name)).collect();
    let (mut compared, mut refused) = (Compared::default(), 0);
    while compared.runs < rounds {
        let (base, settings) = settings::pipeline(&mut draw);
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
    assert!(refused < rounds && compared.events > 2500 * rounds as u64);
}
