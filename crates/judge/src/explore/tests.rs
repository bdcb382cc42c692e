use super::*;
use warpbound_core::diag::SourceText;
use warpbound_core::machine::MachineSpec;
use warpbound_front::micro::MicroKernel;

struct Block {
    machine: Machine,
    table: TimingTable,
    paths: BlockPaths,
}

fn block(machine: &SourceText, kernel: &SourceText) -> Block {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let load = |name: &str| {
        let path = format!("configs/{name}.ron");
        Ok(SourceText::new(path.clone(), std::fs::read_to_string(format!("{root}{path}")).unwrap()))
    };
    let spec = MachineSpec::parse_with_bases(machine, &load).unwrap();
    let machine = Machine::new(&spec, machine).unwrap();
    let kernel = MicroKernel::parse("k", kernel).unwrap();
    let table = TimingTable::new(&kernel.program, &machine).unwrap();
    Block { table, machine, paths: kernel.paths(0) }
}

fn shipped(kernel: &str, machine: &str) -> Block {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let read = |path: String| {
        SourceText::new(path.clone(), std::fs::read_to_string(format!("{root}{path}")).unwrap())
    };
    block(&read(format!("configs/{machine}.ron")), &read(format!("kernels/witness/{kernel}.warp")))
}

const PLENTY: Limits = Limits { max_states: 10_000_000, max_bytes: u64::MAX, threads: 2 };

impl Block {
    fn explore(&self, limits: Limits) -> Exploration {
        explore(&self.table, &self.machine, &self.paths, Cycles::new(1000), limits, &ProgressMonitor::new())
            .unwrap()
    }
}

#[test]
fn known_witnesses_have_their_known_extremes() {
    // the values are from `warpbound::model`, section 12
    for (kernel, machine, worst, best) in [
        ("fig3", "paper-fig2", 18, Some(17)),
        ("witness-929", "pull-apart-9", 48, Some(35)),
        ("witness-626", "pull-apart-6", 30, None),
        ("witness-identical", "identical-warps", 106, Some(91)),
        ("witness-21", "twenty-one", 195, None),
    ] {
        let found = shipped(kernel, machine).explore(PLENTY);
        assert!(found.is_complete());
        assert_eq!(found.worst.exact(), Some(Cycles::new(worst)), "{kernel}");
        if let Some(best) = best {
            assert_eq!(found.best.exact(), Some(Cycles::new(best)), "{kernel}");
        }
        let alone = shipped(kernel, machine).explore(Limits { threads: 1, ..PLENTY });
        assert_eq!(found, alone, "the result depends on the number of threads");
    }
}

#[test]
fn without_fuel_the_interval_is_proved_and_contains_the_exact_value() {
    let block = shipped("witness-929", "pull-apart-9");
    let short = block.explore(Limits { max_states: 10, ..Limits::default() });
    assert!(!short.is_complete() && short.worst.exact().is_none());
    assert!(short.worst.at_least <= Cycles::new(48) && short.worst.at_most >= Cycles::new(48));
    assert!(short.best.at_least <= Cycles::new(35) && short.best.at_most >= Cycles::new(35));
    let replayed = replay(&block.table, &block.machine, &block.paths, &short.worst_witness, &mut ());
    assert_eq!(replayed, Some(short.worst.at_least));
}

#[test]
fn a_point_interval_of_latencies_is_the_policy_itself() {
    for (policy, setup) in [
        (FixedPolicy::Gto, PolicySetup::Gto),
        (FixedPolicy::Lrr, PolicySetup::Lrr),
        (FixedPolicy::Oldest, PolicySetup::Oldest),
    ] {
        for (kernel, machine) in
            [("fig3", "paper-fig2"), ("lrr-witness", "lrr-witness"), ("witness-identical", "identical-warps")]
        {
            let block = shipped(kernel, machine);
            let found =
                explore_latencies(&block.table, &block.paths, policy, &[], PLENTY, &ProgressMonitor::new())
                    .unwrap()
                    .unwrap();
            let run = Engine::new(&block.table, PaperMachine::of(&block.machine).unwrap())
                .run_block(&block.paths, &setup, &mut ())
                .unwrap();
            assert_eq!(
                (found.worst, found.best),
                (run.makespan.get(), run.makespan.get()),
                "{kernel} {policy:?}"
            );
        }
    }
}

#[test]
fn intervals_cover_every_assignment_of_latencies() {
    // two loads per warp; every combination of latencies by brute force, each on its own machine
    let units =
        "\"m0\": Unit(init: 1, lat: L0), \"m1\": Unit(init: 2, lat: L1), \"a\": Unit(init: 3, lat: 1)";
    let ops = "\"l0\": \"m0\", \"l1\": \"m1\", \"f\": \"a\"";
    let kernel = SourceText::new(
        "k",
        ".warps 1\n l0 r\n f s, r\n f t\n l1 u\n f v, u\n.warps 1\n f a\n f b, a\n f c\n",
    );
    let at = |l0: u64, l1: u64| {
        let text = format!("Machine(name: \"m\", units: {{{units}}}, ops: {{{ops}}})")
            .replace("L0", &l0.to_string())
            .replace("L1", &l1.to_string());
        block(&SourceText::new("m", text), &kernel)
    };
    let any = at(3, 3);
    for (policy, setup) in [(FixedPolicy::Lrr, PolicySetup::Lrr), (FixedPolicy::Gto, PolicySetup::Gto)] {
        let run = |block: &Block| {
            Engine::new(&block.table, PaperMachine::of(&block.machine).unwrap())
                .run_block(&block.paths, &setup, &mut ())
                .unwrap()
                .makespan
                .get()
        };
        // each unit is used once, so a machine per pair of latencies covers all assignments
        let all: Vec<u64> =
            (0..=9).flat_map(|l0| (0..=9).map(move |l1| (l0, l1))).map(|(l0, l1)| run(&at(l0, l1))).collect();
        let unit =
            |name: &str| UnitId::from_index(any.machine.units().iter().position(|u| u.name == name).unwrap());
        let varied = [Varied { unit: unit("m0"), lat: 0..=9 }, Varied { unit: unit("m1"), lat: 0..=9 }];
        let found =
            explore_latencies(&any.table, &any.paths, policy, &varied, PLENTY, &ProgressMonitor::new())
                .unwrap()
                .unwrap();
        assert_eq!(Some(&found.worst), all.iter().max());
        assert_eq!(Some(&found.best), all.iter().min());
        assert_eq!(found.worst_witness.len(), 8);
    }
}

#[test]
fn barriers_are_part_of_the_exploration() {
    let machine = SourceText::new(
        "m",
        "Machine(name: \"m\", units: {\"a\": Unit(init: 2, lat: 3), \"b\": Unit(init: 1, lat: 0)}, ops: {\"f\": \"a\", \"g\": \"b\", \"barrier\": \"b\"})",
    );
    let kernel = SourceText::new("k", ".warps 2\n f r\n bar\n g s, r\n f t\n bar\n g _, t\n.warps 1\n f r\n");
    let found = block(&machine, &kernel).explore(PLENTY);
    assert!(found.is_complete() && found.worst.exact() >= found.best.exact());
}
