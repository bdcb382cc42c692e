//! The ports of register banks and the register cache, on machine code that is written here word by
//! word; the cycles are derived by hand. The machine is `rtxa6000` without caches of instructions and
//! without the cost of a launch, so that a warp whose stall counts are 1 issues in every cycle.

use warpbound::base::Pc;
use warpbound::check::Workload;
use warpbound::program::TimingTable;
use warpbound::program::launch::{Arg, Launch};
use warpbound::sass::Module;
use warpbound::sim::PolicySetup;
use warpbound::trace::{Recorder, StallReason};

use crate::cubin::cubin;
use crate::runs;
use crate::shipped::{encoding_for, launch_files, load_by, machine_with};

const OFF: &[&str] =
    &["pipeline.instruction_caches=none", "pipeline.launch=Launch()", "pipeline.queue=none", "sms=1"];
const ON: &str = "pipeline.register_file=RegisterFile()";
const WITHOUT_CACHE: &str = "pipeline.register_file.cache=false";

/// Returns `FFMA R100, Ra, Rb, Rc` with a stall count of 1 and these reuse bits, and EXIT.
fn ffma([a, b, c]: [u64; 3], reuse: u64) -> [u64; 2] {
    [b << 32 | a << 24 | 100 << 16 | 0x7223, control(reuse) | c]
}

fn exit() -> [u64; 2] {
    [0x794d, control(0) | 0x0380_0000]
}

/// Returns the control codes without a yield and without barriers, in the upper word.
fn control(reuse: u64) -> u64 {
    (1 | 1 << 4 | 7 << 5 | 7 << 8 | reuse << 17) << 41
}

/// Returns a launch of one warp with these instructions.
fn launch(mut words: Vec<[u64; 2]>) -> Workload {
    words.push(exit());
    let module = Module::read("k", &cubin(&words), encoding_for(86)).unwrap();
    let program = module.program("k", encoding_for(86)).unwrap_or_else(|problems| panic!("{problems}"));
    let launch = Launch {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        registers: None,
        args: vec![Arg::Value(vec![0; 4])],
        buffers: Vec::new(),
        symbols: Vec::new(),
        images: Vec::new(),
    };
    runs::workload("k", program, launch)
}

/// Returns the cycles in which the instructions issue, counted from the first, without EXIT.
fn issues(words: Vec<[u64; 2]>, settings: &[&str]) -> Vec<u64> {
    let machine = machine_with("rtxa6000", &[OFF, settings].concat());
    let mut recorder = Recorder::new();
    let summary = runs::run(&launch(words), &machine, &PolicySetup::Gto, &mut recorder);
    let mut issues: Vec<u64> = recorder.issues().map(|issue| issue.issue.get()).collect();
    issues.sort_unstable();
    let first = issues[0];
    issues.pop();
    let waits: u64 = issues.windows(2).map(|pair| pair[1] - pair[0] - 1).sum();
    assert_eq!(summary.stalls.get(StallReason::UnitFull).get(), waits, "each wait has its reason");
    issues.iter().map(|issue| issue - first).collect()
}

#[test]
fn three_operands_in_a_bank_take_three_cycles() {
    let words = || vec![ffma([2, 4, 6], 0); 5];
    assert_eq!(issues(words(), &[]), [0, 1, 2, 3, 4]);
    assert_eq!(issues(words(), &[ON]), [0, 3, 6, 9, 12]);
    // two ports: a window holds six reads, so that the first wait comes with the fifth instruction
    assert_eq!(issues(words(), &[ON, "pipeline.register_file.ports=2"]), [0, 1, 2, 3, 5]);
    assert_eq!(issues(words(), &[ON, "pipeline.register_file.ports=3"]), [0, 1, 2, 3, 4]);
    // one bank more takes one of the operands
    assert_eq!(issues(words(), &[ON, "pipeline.register_file.banks=4"]), [0, 1, 3, 5, 7]);
}

/// A window of three cycles absorbs one cycle more for the second of two instructions with two
/// operands in a bank; afterwards the bank decides.
#[test]
fn operands_in_two_banks_take_the_cycles_of_the_fuller_bank() {
    assert_eq!(issues(vec![ffma([2, 4, 7], 0); 5], &[ON]), [0, 1, 3, 5, 7]);
    // in two instructions three registers of each bank
    let words = [ffma([2, 4, 7], 0), ffma([8, 11, 13], 0)].into_iter().cycle().take(9).collect();
    assert_eq!(issues(words, &[ON]), [0, 1, 2, 3, 5, 6, 8, 9, 11]);
    // a window of two cycles
    let window = "pipeline.register_file.window=2";
    assert_eq!(issues(vec![ffma([2, 4, 7], 0); 4], &[ON, window]), [0, 2, 4, 6]);
}

/// The first instruction reads three registers. Each later one does not read those that the one
/// before it has marked.
#[test]
fn marked_operands_are_not_read_again() {
    for (reuse, expected) in [(1, [0, 2, 4, 6]), (3, [0, 1, 2, 3]), (7, [0, 1, 2, 3])] {
        let words = || vec![ffma([2, 4, 6], reuse); 4];
        assert_eq!(issues(words(), &[ON]), expected, "{reuse}");
        assert_eq!(issues(words(), &[ON, WITHOUT_CACHE]), [0, 3, 6, 9], "{reuse}");
    }
    // without the mark, the second read removes the register: every second instruction has a hit
    let words = [ffma([2, 4, 6], 1), ffma([2, 4, 6], 0)].into_iter().cycle().take(5).collect();
    assert_eq!(issues(words, &[ON]), [0, 2, 5, 7, 10]);
    // the same register in another operand slot is read again
    let words = vec![ffma([2, 4, 6], 1), ffma([4, 2, 6], 0)];
    assert_eq!(issues(words, &[ON]), [0, 3]);
}

/// The addend of IMAD.WIDE is a pair of registers, RZ is none, and the result is not read.
#[test]
fn the_registers_of_an_instruction_are_those_of_its_sources() {
    let imad_wide = |c: u64| [6 << 32 | 4 << 24 | 2 << 16 | 0x7225, control(2) | 0x078e_0200 | c];
    let workload = launch(vec![imad_wide(8), imad_wide(255), ffma([255, 9, 9], 4)]);
    let table = TimingTable::new(workload.program(), &machine_with("rtxa6000", &[ON])).unwrap();
    // an instruction may be several operations, of which the others are not timed
    let instrs = workload.program().instrs.iter().enumerate();
    let pcs: Vec<usize> = instrs.filter(|(_, instr)| !instr.folded).map(|(pc, _)| pc).collect();
    let reads = |number: usize| -> Vec<(u8, Option<u8>, bool)> {
        let reads = table.port_reads(Pc::from_index(pcs[number])).unwrap();
        assert!(!reads.wide);
        reads.list.as_slice().iter().map(|read| (read.register, read.slot, read.reuse)).collect()
    };
    let (a, b) = ((4, Some(0), false), (6, Some(1), true));
    assert_eq!(reads(0), [a, b, (8, Some(2), false), (9, Some(2), false)]);
    assert_eq!(reads(1), [a, b]);
    assert_eq!(reads(2), [(9, Some(1), false), (9, Some(2), true)]);
    assert_eq!(reads(3), []);
}

/// The registers of a product of matrices, and those of instructions with a variable latency.
#[test]
fn wide_operands_are_several_registers_and_loads_use_no_ports() {
    let files = launch_files();
    let file = files.iter().find(|file| file.ends_with("hgemm_mma.ron")).unwrap();
    let program = load_by(file, 0, "sm_86.cubin").program;
    let machine = machine_with("rtxa6000", &[ON]);
    let table = TimingTable::new(&program, &machine).unwrap();
    let code = program.machine_code.as_ref().unwrap();
    let (mut products, mut loads) = (0, 0);
    for (pc, instr) in program.instrs.iter().enumerate().filter(|(_, instr)| !instr.folded) {
        let reads = table.port_reads(Pc::from_index(pc)).unwrap();
        let class = program.classes.name(instr.class);
        if class.starts_with("tensor") {
            let counts: Vec<u8> =
                code.of(instr).unwrap().sources.as_slice().iter().map(|source| source.count).collect();
            // the addend of the first ones is RZ
            assert!([&[4, 2, 4][..], &[4, 2]].contains(&counts.as_slice()), "{class}: {counts:?}");
            assert!(reads.wide && reads.list.as_slice().len() >= 6, "{reads:?}");
            products += 1;
        }
        if instr.memory.is_some() {
            assert!(reads.list.as_slice().is_empty(), "{class}: {reads:?}");
            loads += 1;
        }
    }
    assert!(products > 0 && loads > 0);
    // PTX has no such registers, and other machines have no such ports
    assert!(!TimingTable::new(&load_by(file, 0, "ptx").program, &machine).unwrap().has_port_reads());
    assert!(!TimingTable::new(&program, &machine_with("rtxa6000", &[])).unwrap().has_port_reads());
}
