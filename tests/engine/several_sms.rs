//! Several SMs share the blocks of a launch and the lower memory levels: the result is the same on
//! any number of threads, cycle for cycle.

use crate::reference;
use crate::runs;
use crate::shipped;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use runs::workload;
use warpbound::machine::Machine;
use warpbound::sim::{BlockResult, PolicySetup, SimSummary};
use warpbound::trace::{Event, Needs, Observer, Recorder};

fn machine(base: &str, sms: usize) -> Machine {
    shipped::machine_of(format!("Machine(name: \"test\", extends: \"{base}\", sms: {sms})"))
}

fn run(
    machine: &Machine,
    launch: &str,
    policy: &PolicySetup,
    threads: usize,
) -> (SimSummary, Vec<BlockResult>) {
    let reference = reference::launch(launch);
    let workload = workload(launch, reference.program(), reference.launch);
    runs::run_on(threads, &workload, machine, policy)
}

#[test]
fn threads_change_nothing() {
    for (base, launch) in [
        ("accelsim-sm1", "bitonic.w4g4"),
        ("accelsim-sm1", "histogram.w8g4"),
        ("accelsim-ecrts-dram", "reduce_tree.w8g8"),
        ("accelsim-ecrts", "vecadd.w4g8"),
    ] {
        for policy in [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Random(5)] {
            let machine = machine(base, 3);
            let serial = run(&machine, launch, &policy, 1);
            for threads in [2, 3, 7] {
                assert_eq!(
                    run(&machine, launch, &policy, threads),
                    serial,
                    "{base}, {launch}, {threads} threads"
                );
            }
            let slots = serial.0.issues + serial.0.stalls.total().get();
            let all = serial.0.makespan.get() * (3 * machine.sub_cores().count()) as u64;
            assert_eq!(slots, all, "issues and stalls fill the time of every sub-core of every SM");
        }
    }
}

/// With a CTA slot for every block, and memory without contention, blocks run as if each were
/// alone.
#[test]
fn an_sm_for_each_block() {
    let all = run(&machine("accelsim-ecrts", 8), "reduce_tree.w8g8", &PolicySetup::Gto, 2);
    let one = run(&machine("accelsim-ecrts", 1), "reduce_tree.w8", &PolicySetup::Gto, 1);
    assert_eq!(all.1.len(), 8);
    let first = all.1.iter().find(|result| result.block.get() == 0).unwrap();
    assert_eq!(first.issues, one.1[0].issues);
    assert!(
        all.0.makespan
            < run(&machine("accelsim-ecrts", 1), "reduce_tree.w8g8", &PolicySetup::Gto, 1).0.makespan
    );
    // pipeline.launch.first
    assert!(all.1.iter().all(|result| result.start.get() == 1), "every SM gets its block in the same cycle");
}

/// A launch with fewer blocks than CTA slots uses all SMs, even without a limit per cycle.
#[test]
fn blocks_are_distributed_over_all_sms() {
    let one = |sms| {
        shipped::machine_of(format!(
            "Machine(name: \"m\", extends: \"ecrts25-orin\", sms: {sms}, pipeline: Pipeline())"
        ))
    };
    let alone = run(&one(1), "reduce_tree.w8g8", &PolicySetup::Gto, 1).0;
    let spread = run(&one(8), "reduce_tree.w8g8", &PolicySetup::Gto, 1).0;
    assert_eq!(spread.sub_cores.len(), 8);
    assert!(spread.sub_cores.iter().all(|used| used.issues == alone.issues / 8), "{spread:?}");
    assert!(spread.makespan < alone.makespan);
}

/// The sums that observers compute cover every SM.
#[test]
fn observers_receive_events_of_every_sm() {
    use warpbound::trace::{Event, FirstSm, StallProfile};

    let machine = machine("accelsim-sm1", 3);
    let launch = "histogram.w8g4";
    let reference = reference::launch(launch);
    let workload = workload(launch, reference.program(), reference.launch);
    let observed = |observer: &mut dyn Observer| {
        runs::observed_on(2, &workload, &machine, &PolicySetup::Gto, &mut { observer }).0
    };
    let mut all = Recorder::new();
    let summary = observed(&mut all);
    assert_eq!(all.issues().count() as u64, summary.issues);
    let idle = all.events.iter().filter_map(|event| match event {
        Event::Idled(idle) => Some(idle.cycles().get()),
        _ => None,
    });
    assert_eq!(idle.sum::<u64>(), summary.stalls.total().get());

    let mut first = FirstSm::new(Recorder::new());
    observed(&mut first);
    let issues = first.into_inner().issues().count() as u64;
    let of_first = &summary.sub_cores[..machine.sub_cores().count()];
    assert_eq!(issues, of_first.iter().map(|sub_core| sub_core.issues).sum::<u64>());

    let table = warpbound::program::TimingTable::new(workload.program(), &machine).unwrap();
    let mut profile = StallProfile::new(&table);
    observed(&mut profile);
    let lost: u64 = profile.lost().iter().map(|lost| lost.cycles.get()).sum();
    assert_eq!(lost, summary.stalls.total().get());
    assert!(profile.lost().iter().any(|lost| lost.producer.is_some()));
}

/// Records every event with its SM. An observer that wants samples makes the SMs advance together
/// cycle by cycle.
#[derive(Default)]
struct Events {
    recorder: Recorder,
    sm: usize,
    sms: Vec<usize>,
    together: bool,
}

impl Observer for Events {
    fn needs(&self) -> Needs {
        if self.together { Needs::SAMPLES } else { Needs::IN_ORDER }
    }

    fn on(&mut self, event: &Event) {
        let before = self.recorder.events.len();
        self.recorder.on(event);
        if let Event::Sm(sm) = event {
            self.sm = *sm;
        }
        if self.recorder.events.len() > before {
            self.sms.push(self.sm);
        }
    }
}

/// SMs that advance by themselves for many cycles, and SMs that advance together cycle by cycle:
/// the same events in the same order, on machines drawn at random.
#[test]
fn windows_change_nothing() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut draw = move |below: usize| ((u64::from(rng.next_u32()) * below as u64) >> 32) as usize;
    let launches: Vec<_> =
        ["vecadd.w4g8", "saxpy.w8g4", "sgemm_tiled.w8g4", "blackscholes.w4g4", "bitonic.w4g4"]
            .into_iter()
            .chain(["histogram.w8g4", "reduce_tree.w8g8", "reduce_shfl.w8g4", "transpose_conflict.w8g4"])
            .map(reference::launch)
            .chain(
                reference::launches_of_many_blocks()
                    .into_iter()
                    .filter(|launch| launch.name.ends_with("g46")),
            )
            .collect();
    let (mut blocks, mut issues) = (0, 0);
    for round in 0..120 {
        let launch = &launches[draw(launches.len())];
        let mut settings = vec![format!("sms={}", [1, 2, 3, 7, 46][draw(5)])];
        let base = ["accelsim-sm1", "accelsim-sm1", "accelsim-ecrts-dram", "accelsim-ecrts"][draw(4)];
        let mut set = |name: &str, values: &[&str], of: usize| {
            if draw(of) == 0 {
                settings.push(format!("{name}={}", values[draw(values.len())]));
            }
        };
        set("pipeline.launch.start", &["0", "77", "5000"], 2);
        set("pipeline.launch.refill", &["1", "30", "700"], 2);
        set("pipeline.launch.blocks_per_cycle", &["0", "1", "2"], 2);
        set("pipeline.launch.placement", &["Random(3)", "Random(4)"], 3);
        if base != "accelsim-ecrts" {
            set("memory.partitions.latency", &["0", "3", "9", "40"], 2);
            set("memory.partitions.crossbar_queue", &["1", "8", "100"], 2);
            set("memory.partitions.ejection_queue", &["1", "2"], 3);
            set("memory.partitions.queue", &["1", "4"], 3);
            set("memory.partitions.clock", &["(2, 3)", "(7, 5)", "(1, 2)"], 2);
            set("memory.jitter", &["Geometric(20)", "Uniform(0, 9)"], 3);
        }
        if base == "accelsim-sm1" {
            set("memory.l1.cache.write", &["Back", "Evict"], 3);
        }
        let words: Vec<&str> = settings.iter().map(String::as_str).collect();
        let machine = shipped::machine_with(base, &words);
        let policy = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::TwoLevel, PolicySetup::Random(5)]
            [draw(4)]
        .clone();
        let workload = workload(&launch.name, launch.program(), launch.launch.clone());
        let observed = |together, threads| {
            let mut events = Events { together, ..Events::default() };
            let result = runs::observed_on(threads, &workload, &machine, &policy, &mut events);
            (result, events.recorder, events.sms)
        };
        let (result, events, sms) = observed(false, 1 + round % 3);
        let together = observed(true, 1);
        let what = format!("{} on {base}, {settings:?}, {policy}", launch.name);
        assert!(result == together.0, "{what}: {result:#?}\nand {:#?}", together.0);
        let differs =
            std::iter::zip(&events.events, &together.1.events).position(|(one, other)| one != other);
        assert_eq!(differs, None, "{what}");
        assert!(events == together.1 && sms == together.2, "{what}");
        blocks += result.1.len();
        issues += result.0.issues;
    }
    assert!(blocks > 1000 && issues > 500_000, "{blocks} {issues}");
}

/// An access that a cache rejects is retried whenever the SM is evaluated, which happens more often
/// with samples. A cache with random replacement draws no victim in that case; otherwise samples
/// would change its hits.
#[test]
fn samples_change_no_draws() {
    let launches = reference::launches_of_many_blocks();
    let launch = launches.iter().find(|launch| launch.name == "pchase.w8g46").unwrap();
    let workload = workload(&launch.name, launch.program(), launch.launch.clone());
    let machine = shipped::machine("kepler-gk104");
    let observed = |together| {
        let mut events = Events { together, ..Events::default() };
        runs::observed_on(1, &workload, &machine, &PolicySetup::Lrr, &mut events)
    };
    let plain = observed(false);
    let l1 = plain.0.memory.as_ref().unwrap().l1;
    assert!(l1.stalls > 10_000 && l1.misses > 10_000, "{l1:?}");
    assert_eq!(plain, observed(true));
}

/// The order in which SMs receive blocks is drawn: it differs for another seed, is the same on any
/// number of threads, and gives each SM as many blocks as round robin.
#[test]
fn blocks_are_placed_at_random() {
    let placed = |placement: &str, sms: usize| {
        let launch = "pipeline: Pipeline(launch: Launch(placement: ".to_owned() + placement + "))";
        shipped::machine_of(format!(
            "Machine(name: \"test\", extends: \"accelsim-ecrts-dram\", sms: {sms}, {launch})"
        ))
    };
    let blocks = |machine: &Machine, threads| {
        let (summary, mut blocks) = run(machine, "histogram.w8g4", &PolicySetup::Gto, threads);
        blocks.sort_by_key(|result| result.block);
        (summary, blocks)
    };
    let in_turn = blocks(&placed("RoundRobin", 3), 1);
    let mut differ = 0;
    for seed in 0..12 {
        let machine = placed(&format!("Random({seed})"), 3);
        let drawn = blocks(&machine, 1);
        assert_eq!(blocks(&machine, 3), drawn, "threads change nothing");
        assert_eq!(drawn.0.issues, in_turn.0.issues);
        differ += usize::from(drawn.1 != in_turn.1);
    }
    assert!(differ > 6, "{differ} of 12");
    // a single SM leaves no choice
    assert_eq!(blocks(&placed("Random(1)", 1), 1), blocks(&placed("RoundRobin", 1), 1));
}
