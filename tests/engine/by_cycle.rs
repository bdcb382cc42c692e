//! Compares the engine with its simple and slow reference, event by event.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::ProgressMonitor;
use warpbound::check::Workload;
use warpbound::exec::Options;
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource, Footprint};
use warpbound::program::{Control, TimingTable};
use warpbound::sim::by_cycle::{Carried, run};
use warpbound::sim::{
    BlockResult, CarriedState, LowerStats, MemoryStats, PolicySetup, SimSummary, simulate_after,
};
use warpbound::trace::{Event, Needs, Observer, Recorder};

use crate::shipped::{Shipped, launch_files, load_by};
use crate::{campaign, random_accesses, random_memory, reference, runs, settings, shipped};

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

/// The blocks of a launch whose host has copied its buffers once more.
struct Copied<S>(S);

impl<S: BlockSource> BlockSource for Copied<S> {
    type Error = S::Error;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Self::Error> {
        self.0.next_block(paths)
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    fn footprint(&self) -> Footprint {
        let footprint = self.0.footprint();
        Footprint { copied: footprint.buffers.iter().copied().step_by(2).collect(), ..footprint }
    }
}

/// The amount of work that was compared.
#[derive(Default)]
struct Compared {
    runs: u32,
    /// The number of these launches that started from the state of an earlier one.
    again: u32,
    /// The number of those whose instructions waited for control codes.
    coded: u32,
    /// The number of those whose instructions waited for ports of register banks.
    ported: u32,
    events: u64,
    cycles: u64,
    memory: MemoryStats,
}

/// The state that launches leave on both engines.
#[derive(Default)]
struct Left {
    fast: CarriedState,
    slow: Carried,
}

impl Compared {
    /// Runs launches one after the other on both engines, each from the state that those before it
    /// have left.
    fn add(&mut self, workloads: &[&Workload], machine: &Machine, policy: &PolicySetup, what: &str) {
        let mut left = Left::default();
        for (number, workload) in workloads.iter().enumerate() {
            let what = format!("{what}, launch {number}");
            self.launch(workload, machine, policy, &what, &mut left);
            assert_eq!(left.fast == CarriedState::default(), left.slow.is_empty(), "{what}");
            if left.slow.is_empty() {
                return;
            }
            assert!(left.fast.fits(machine), "{what}");
            let read = serde_json::from_str(&serde_json::to_string(&left.fast).unwrap());
            assert_eq!(read.ok().as_ref(), Some(&left.fast), "{what}");
            self.again += u32::from(number > 0);
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
        left: &mut Left,
    ) {
        let table = TimingTable::new(workload.program(), machine).unwrap_or_else(|error| panic!("{error}"));
        let monitor = ProgressMonitor::new();
        let source = || {
            let source = workload.source(Options::of(machine, 1 << 26), &monitor);
            Copied(source.unwrap_or_else(|error| panic!("{error}")))
        };
        let resident = machine.limits().occupancy(&workload.needs()).unwrap().blocks.min(workload.blocks());
        let before = left.fast.clone();
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
        let footprint = executed.footprint();
        let slow = run(machine, &table, policy, resident, &footprint, paths, &mut left.slow);

        let samples = self.runs % 4 == 3;
        let mut events = Events { samples, ..Events::default() };
        let (summary, blocks, fast) = simulated(1 + self.runs as usize % 2, &mut events);
        events.sms.resize_with(machine.sms(), Recorder::new);
        for (sm, (ours, theirs)) in events.sms.iter().zip(&slow.events).enumerate() {
            let differs = ours.events.iter().zip(theirs).position(|(one, other)| one != other);
            let at = differs.unwrap_or(ours.events.len().min(theirs.len()));
            let (one, other) = (ours.events.get(at), theirs.get(at));
            assert!(one == other, "{what}, SM {sm}, event {at}: {one:?}\n{other:?}");
        }
        assert_eq!((&summary, &blocks), (&slow.summary, &slow.blocks), "{what}");
        let unheard = simulated(1, &mut Events { sm: usize::MAX, ..Events::default() });
        assert_eq!(unheard, (summary, blocks, fast.clone()), "{what}, without an observer");
        left.fast = fast;
        self.runs += 1;
        self.coded += u32::from(table.barriers().is_some());
        self.ported += u32::from(table.has_port_reads());
        self.events += slow.events.iter().map(|events: &Vec<Event>| events.len() as u64).sum::<u64>();
        self.cycles += slow.summary.makespan.get();
        self.memory += slow.summary.memory.unwrap_or_default();
    }
}

const POLICIES: [PolicySetup; 9] = [
    PolicySetup::Gto,
    PolicySetup::Gty,
    PolicySetup::Lrr,
    PolicySetup::TwoLevel,
    PolicySetup::RunToBarrier,
    PolicySetup::Oldest,
    PolicySetup::Srr,
    PolicySetup::Gsrr,
    PolicySetup::Random(5),
];

/// Runs all launches of the reference, on the machines on which they were compared with another
/// simulator. The default run has only a part of the pairs of a launch and a machine.
#[test]
fn reference_launches() {
    let mut compared = Compared::default();
    let policies = [PolicySetup::Gto, PolicySetup::Lrr];
    for (index, name) in ["accelsim-ecrts", "accelsim-ecrts-dram", "accelsim-sm1"].into_iter().enumerate() {
        let machine = shipped::machine(name);
        for (number, launch) in reference::launches().into_iter().enumerate() {
            if !campaign::takes(number + index, 5) {
                continue;
            }
            let workload = runs::workload(&launch.name, launch.program(), launch.launch.clone());
            let policy = &policies[number % 2];
            let what = format!("{} on {name} under {policy}", launch.name);
            compared.add(&[&workload, &workload], &machine, policy, &what);
        }
    }
    let machine = shipped::machine("rtx3070");
    let launches = reference::launches_of_many_blocks();
    let of_all = launches.into_iter().filter(|launch| launch.name.ends_with("g46"));
    for (_, launch) in of_all.enumerate().filter(|&(number, _)| campaign::takes(number, 2)) {
        let workload = runs::workload(&launch.name, launch.program(), launch.launch.clone());
        let what = format!("{} on rtx3070", launch.name);
        compared.add(&[&workload, &workload], &machine, &PolicySetup::Lrr, &what);
    }
    println!("{} runs, {} events, {} cycles", compared.runs, compared.events, compared.cycles);
}

/// A block without instructions ends in the cycle in which it is placed, whenever that is.
#[test]
fn an_empty_block_that_comes_late() {
    let launch = reference::launch("empty.w1");
    let workload = runs::workload(&launch.name, launch.program(), launch.launch.clone());
    let settings = ["exit_issues=false", "pipeline.launch.first=9"];
    let machine = shipped::machine_with("turing-tu102", &settings);
    let mut compared = Compared::default();
    compared.add(&[&workload], &machine, &PolicySetup::Gto, "empty.w1");
    assert_eq!(compared.cycles, 9);
}

/// Random kernels.
struct Kernels {
    reference: Vec<reference::Reference>,
    shipped: Vec<Shipped>,
    coded: Vec<Shipped>,
    recent: Vec<Shipped>,
}

impl Kernels {
    fn new() -> Self {
        let shipped =
            ["conv2d", "fft_radix2", "scan_padded", "hgemm_mma", "spmv_warp", "kmeans_assign", "btree_group"];
        let machine_code =
            ["vecadd", "saxpy", "scan_padded", "conv2d", "spmv_warp", "histogram", "fft_radix2"];
        let files = launch_files();
        let recent_code =
            ["vecadd", "histogram", "softmax_block", "sgemm_dbuf_w4", "hgemm_mma", "bitonic_shared"];
        let of = |name: &&str, ending: &str| {
            let file = files.iter().find(|file| file.file_stem().is_some_and(|stem| stem == *name));
            file.map(|file| load_by(file, 0, ending))
        };
        let mut reference = reference::launches();
        reference.retain(|launch| launch.warp_instructions < 12_000);
        Self {
            reference,
            shipped: shipped.iter().map(|name| shipped::launch(name)).collect(),
            coded: machine_code.iter().filter_map(|name| of(name, "sm_61.cubin")).collect(),
            recent: recent_code.iter().filter_map(|name| of(name, "sm_86.cubin")).collect(),
        }
    }

    fn of(shipped: &Shipped) -> Workload {
        runs::workload(&shipped.name, shipped.program.clone(), shipped.launch.clone())
    }

    /// Draws a kernel in PTX.
    fn ptx(&self, draw: &mut impl FnMut(usize) -> usize) -> Workload {
        if draw(3) == 0 {
            let (program, launch) = random_accesses::kernel(draw);
            return runs::workload("random accesses", program, launch);
        }
        if draw(4) == 0 {
            return Self::of(&self.shipped[draw(self.shipped.len())]);
        }
        let launch = &self.reference[draw(self.reference.len())];
        runs::workload(&launch.name, launch.program(), launch.launch.clone())
    }

    /// Draws a kernel in machine code. Half of the kernels have random control codes.
    fn coded(&self, draw: &mut impl FnMut(usize) -> usize, recent: bool) -> Workload {
        let among = if recent { &self.recent } else { &self.coded };
        let shipped = &among[draw(among.len())];
        let mut program = shipped.program.clone();
        if draw(2) == 0 {
            for coded in &mut program.machine_code.as_mut().expect("it is machine code").instructions {
                coded.control = control(draw);
                if draw(8) == 0 {
                    coded.drains = Some((draw(6) as u8, draw(4) as u8));
                }
            }
        }
        runs::workload(&shipped.name, program, shipped.launch.clone())
    }
}

/// Draws control codes.
fn control(draw: &mut impl FnMut(usize) -> usize) -> Control {
    let mut barrier = || (draw(3) == 0).then(|| draw(6) as u8);
    let (write_barrier, read_barrier) = (barrier(), barrier());
    let wait = if draw(3) == 0 { 1 << draw(6) | 1 << draw(6) } else { 0 };
    let (stall, stay, reuse) = (draw(16) as u8, draw(3) > 0, draw(16) as u8);
    Control { stall, stay, write_barrier, read_barrier, wait, reuse }
}

/// The kind of code of a randomly drawn kernel.
#[derive(Clone, Copy, PartialEq)]
enum Code {
    Ptx,
    Pascal,
    Ampere,
}

/// A randomly drawn machine: its base and settings.
fn machine(draw: &mut impl FnMut(usize) -> usize, code: Code) -> (&'static str, Vec<String>) {
    let (mut base, mut settings) = settings::pipeline(draw);
    match code {
        Code::Ptx => {}
        Code::Pascal => {
            base = ["jetson-tx2", "jetson-tx2", "jetson-tx2-pastis", "jetson-tx2-microgpusim"][draw(4)];
        }
        Code::Ampere => {
            base = "rtxa6000";
            settings.extend(["pipeline.launch.first=3", ["sms=1", "sms=2"][draw(2)]]);
        }
    }
    if code != Code::Ptx && draw(3) > 0 {
        settings.extend(settings::registers(draw));
    }
    let mut settings: Vec<String> = settings.into_iter().map(str::to_owned).collect();
    if draw(2) == 0 {
        settings.extend(random_memory::settings(draw));
    }
    (base, settings)
}

/// Compares the engines on randomly drawn machines, half of which have a random memory, with
/// kernels in PTX and in machine code.
#[test]
fn random_machines() {
    let mut rng = ChaCha8Rng::seed_from_u64(std::env::var("SEED").map_or(15, |seed| seed.parse().unwrap()));
    let rounds: u32 = std::env::var("ROUNDS").map_or(150, |rounds| rounds.parse().unwrap());
    let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
    let kernels = Kernels::new();
    let (mut compared, mut refused) = (Compared::default(), 0);
    while compared.runs < rounds {
        let code = [Code::Ptx, Code::Ptx, Code::Ptx, Code::Pascal, Code::Ampere][draw(5)];
        let (base, settings) = machine(&mut draw, code);
        let policy = &POLICIES[draw(POLICIES.len())];
        let mut kernel = || match code {
            Code::Ptx => kernels.ptx(&mut draw),
            Code::Pascal | Code::Ampere => kernels.coded(&mut draw, code == Code::Ampere),
        };
        let first = kernel();
        let second = kernel();
        let what = format!("{}, {} on {base} with {settings:?} under {policy}", first.name, second.name);
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let takes = |machine: &Machine| {
            let fits = |workload: &Workload| machine.limits().occupancy(&workload.needs()).is_ok();
            machine.pipeline().is_some() && fits(&first) && fits(&second)
        };
        match shipped::try_machine_with(base, &settings).ok().filter(takes) {
            Some(machine) => compared.add(&[&first, &second, &first], &machine, policy, &what),
            None => refused += 1,
        }
    }
    println!(
        "{} runs, {} of them after another one, {} with control codes, {} with register ports, {} events, \
         {} cycles, {refused} refused",
        compared.runs, compared.again, compared.coded, compared.ported, compared.events, compared.cycles
    );
    println!("{:?}", compared.memory);
    assert!(refused < rounds && compared.events > 1000 * u64::from(rounds));
    // everything is reached
    assert!(compared.again > 0 && compared.coded > 0 && compared.ported > 0);
    let MemoryStats { l1, constant, lower: LowerStats { l2, dram } } = compared.memory;
    for cache in [l1, constant, l2] {
        assert!(cache.hits.min(cache.misses).min(cache.merged).min(cache.stalls) > 0, "{cache:?}");
    }
    assert!(l1.write_backs + l2.write_backs > 0, "{l1:?} {l2:?}");
    assert!(dram.reads.min(dram.writes).min(dram.activations) > 0, "{dram:?}");
}
