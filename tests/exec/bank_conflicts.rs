//! Bank conflicts: the measurements of Adalbert et al. and others, and the agreement of simulator,
//! analyser and explorer with them.

use crate::banked;
use crate::exec_support;
use crate::runs;
use crate::shipped;

use banked::{access, with_rule};
use exec_support::kernel;
use warpbound::base::{Cycles, ProgressMonitor};
use warpbound::bound::{Bound, Iwb, Swb, analyse_block};
use warpbound::check::{JudgedLaunch, Verdict};
use warpbound::explore::explore;
use warpbound::explore::search::Limits;
use warpbound::machine::Machine;
use warpbound::program::TimingTable;
use warpbound::sim::{Engine, PaperMachine, PolicySetup};

/// Returns tables I and II of Adalbert et al., ERTS 2022: name, mask, transactions of 32, 64 and
/// 128-bit accesses.
fn tables() -> Vec<(String, u32, [u32; 3])> {
    let rows = include_str!("../data/pascal_transactions.csv").lines().filter(|line| !line.starts_with('#'));
    rows.skip(1)
        .map(|row| {
            let fields: Vec<&str> = row.split(',').collect();
            let [table, mask, counts @ ..] = fields.as_slice() else { panic!("{row}") };
            let counts: Vec<u32> = counts.iter().map(|n| n.parse().unwrap()).collect();
            let mask = u32::from_str_radix(mask, 16).unwrap();
            ((*table).to_owned(), mask, counts.try_into().unwrap())
        })
        .collect()
}

#[test]
fn pascal_tables_1_and_2_in_full() {
    let machine = with_rule("Pascal");
    let mut values = [0, 0];
    for (table, mask, counts) in tables() {
        for (bits, expected) in [32, 64, 128].into_iter().zip(counts) {
            // table I: consecutive addresses; table II: a distance at which all lanes use the same
            // banks
            let stride = if table == "I" { bits / 8 } else { 128 };
            let (transactions, cycles) = access(&machine, bits, mask, |lane| lane * stride);
            assert_eq!(transactions, expected, "table {table}, mask {mask:08X}, {bits} bits");
            let (pools, base) = [(1, 1), (2, 8), (4, 16)][bits.ilog2() as usize - 5];
            assert_eq!(cycles, u64::from(22 + base + 2 * (expected - pools)), "duration, {bits} bits");
            values[usize::from(table == "II")] += 1;
        }
    }
    assert_eq!(values, [12, 96]);
}

/// The paper prints 9 transactions: those of the two pools that it draws. Its formula also counts
/// one for each of the two empty pools (lanes 16 to 31), as table II confirms: 11. The paper
/// contradicts itself there; we follow the formula.
#[test]
fn pascal_figure_8_is_9_over_the_pools_drawn_and_11_over_all() {
    let bank = |lane: u32| match lane {
        0..=4 => 0,
        5..=7 => 4,
        8..=11 => 8,
        _ => 12,
    };
    let figure = |mask| access(&with_rule("Pascal"), 128, mask, |lane| lane * 128 + bank(lane) * 4);
    let (all, cycles) = figure(0xffff);
    let empty_pools = 2;
    assert_eq!((all, all - empty_pools), (11, 9));
    assert_eq!(cycles, 22 + 16 + 2 * (4 + 3));
    // pool by pool: 5 and 4, and three empty ones
    assert_eq!((figure(0x00ff).0, figure(0xff00).0), (5 + 3, 4 + 3));
    assert_eq!(figure(0).0, 4, "a pool without lanes costs one");
}

#[test]
fn narrow_accesses_use_one_pool_and_share_words() {
    let pascal = with_rule("Pascal");
    assert_eq!(access(&pascal, 8, u32::MAX, |lane| lane), (1, 23));
    assert_eq!(access(&pascal, 16, u32::MAX, |lane| 2 * lane), (1, 23));
    assert_eq!(access(&pascal, 8, u32::MAX, |lane| 128 * lane), (32, 23 + 62));
    assert_eq!(access(&pascal, 32, u32::MAX, |_| 64), (1, 23), "broadcast");
}

#[test]
fn turing_latencies_are_those_measured() {
    let turing = with_rule("Turing");
    for (ways, cycles) in [(1, 22), (2, 24), (4, 28), (8, 36), (16, 52), (32, 84)] {
        assert_eq!(access(&turing, 32, u32::MAX, |lane| 4 * ways * lane), (ways, cycles));
    }
    assert_eq!(access(&turing, 32, u32::MAX, |_| 400), (1, 22), "broadcast");
}

#[test]
fn gpgpu_sim_adds_a_cycle_for_each_word_more() {
    // measured on GPGPU-Sim 4.2: distance 34 without conflict, 35 for two ways, 65 for 32
    let machine = shipped::machine_with("accelsim-ecrts", &["shared_memory.rule=words"]);
    for (ways, cycles) in [(1, 34), (2, 35), (32, 65)] {
        assert_eq!(access(&machine, 32, u32::MAX, |lane| 4 * ways * lane), (ways, cycles));
    }
}

#[test]
fn without_a_rule_there_are_no_conflicts() {
    let machine = shipped::machine("ecrts25-orin");
    assert!(machine.shared_memory().is_none());
    let shipped = shipped::launch("transpose_conflict");
    let table = TimingTable::new(&shipped.program, &machine).unwrap();
    assert!(table.instrs().iter().all(|instr| instr.banks.is_none()));
    // without the setting the machine file is the same as before the setting existed
    assert_eq!(machine.digest(), shipped::machine("ecrts25-orin").digest());
    assert_ne!(machine.digest(), with_rule("Turing").digest());
}

/// Returns the verdicts of every bound and the self-check, under gto and lrr.
fn judged(machine: &Machine, name: &str) -> Vec<JudgedLaunch> {
    let shipped = shipped::launch(name);
    let workload = runs::workload(name, shipped.program, shipped.launch);
    runs::judged(&workload, machine, None)
}

#[test]
fn analyser_and_bounds_stay_exact_with_conflicts() {
    for rule in ["Pascal", "Turing", "Words"] {
        let machine = with_rule(rule);
        let mut makespans = Vec::new();
        for name in [
            "transpose_conflict",
            "transpose_padded",
            "scan_blelloch",
            "histogram",
            "sgemm_prefetch",
            "sgemm_dbuf",
        ] {
            let runs = judged(&machine, name);
            for run in &runs {
                assert!(run.self_checked_warps > 0, "{name}: a difference would have been an error");
                for row in run.judged() {
                    assert_eq!(row.verdict(), Verdict::Holds, "{name}, {rule}: {}", row.name);
                }
            }
            makespans.push(runs[0].makespan);
        }
        assert!(makespans[0] > makespans[1], "{rule}: conflicts cost nothing: {makespans:?}");
    }
}

#[test]
fn every_schedule_of_a_block_with_conflicts_lies_within_the_bounds() {
    // two warps: a 16-way conflict, then a load without one; a third instruction needs both
    let body = ".shared .align 16 .b8 tile[8192];
        mov.u32 %r4, tile; and.b32 %r5, %r0, 31; shl.b32 %r6, %r5, 6; add.u32 %r6, %r4, %r6;
        shl.b32 %r7, %r5, 2; add.u32 %r7, %r4, %r7;
        ld.shared.u32 %r8, [%r6]; ld.shared.u32 %r9, [%r7]; add.u32 %r8, %r8, %r9;
        st.shared.u32 [%r7], %r8; ret;";
    let mut worst = Vec::new();
    for rule in ["Pascal", "Turing", "Words"] {
        let machine = with_rule(rule);
        let mut launch = kernel(64, body);
        launch.banks = machine.shared_memory().map(|memory| memory.banks());
        let outcome = launch.ok();
        let paths = &outcome.blocks[0];
        let table = TimingTable::new(&outcome.program, &machine).unwrap();
        let degrees: Vec<u32> = paths.warps[1]
            .steps()
            .iter()
            .filter_map(|&s| table.bank_transactions(s))
            .map(|(n, _)| n)
            .collect();
        assert_eq!(degrees, [16, 1, 1]);
        let analysis = analyse_block(&table, paths);
        let iwb = Iwb.evaluate(&analysis).value.cycles();
        let swb = Swb.evaluate(&analysis).value.cycles();
        let limits = Limits { max_states: 1_000_000, threads: 2, ..Limits::default() };
        let found = explore(&table, &machine, paths, iwb, limits, &ProgressMonitor::new()).unwrap();
        assert!(found.is_complete());
        let (low, high) = (found.best.exact().unwrap(), found.worst.exact().unwrap());
        assert!(high <= swb && swb <= iwb, "{rule}: worst {high}, SWB {swb}, IWB {iwb}");
        for policy in [PolicySetup::Gto, PolicySetup::Lrr] {
            let run = Engine::new(&table, PaperMachine::of(&machine).unwrap())
                .run_block(paths, &policy, &mut ())
                .unwrap();
            assert!((low..=high).contains(&run.makespan), "{rule}");
        }
        worst.push(high);
    }
    assert!(worst.iter().all(|&cycles| cycles > Cycles::new(32)), "two 16-way conflicts on one unit");
}
