//! The contents of traces, and the errors of invalid ones.

use warpbound::accelsim::TraceOptions;
use warpbound::base::ProgressMonitor;
use warpbound::exec::Options;
use warpbound::machine::Machine;
use warpbound::path::{BlockPaths, BlockSource};

use super::{VECADD, read, read_as, runs, shipped, workload};

fn blocks(text: &str, machine: &Machine) -> Vec<BlockPaths> {
    let workload = workload(read(text).unwrap());
    let monitor = ProgressMonitor::new();
    let mut source = workload.source(Options::of(machine, 1 << 20), &monitor).unwrap();
    let mut blocks = vec![BlockPaths::default()];
    while source.next_block(blocks.last_mut().unwrap()).unwrap() {
        blocks.push(BlockPaths::default());
    }
    blocks.pop();
    blocks
}

#[test]
fn a_small_trace_is_read_completely() {
    let kernel = read(VECADD).unwrap();
    assert_eq!((kernel.header.grid, kernel.header.block), ([2, 1, 1], [64, 1, 1]));
    assert_eq!((kernel.header.registers, kernel.header.tracer), (12, 4));
    let summary = &kernel.summary;
    assert_eq!((summary.blocks, summary.warps, summary.warp_instructions), (2, 4, 17));
    assert_eq!(summary.thread_instructions, 17 * 32);
    assert_eq!(summary.unknown.keys().collect::<Vec<_>>(), ["FROB.X"]);
    let classes: Vec<&str> =
        kernel.program.instrs.iter().map(|instr| kernel.program.classes.name(instr.class)).collect();
    let expected = [
        "alu.mov",
        "alu.mov",
        "int.mad",
        "ld.global",
        "fp32.add",
        "st.global",
        "control",
        "alu.misc",
        "control",
    ];
    assert_eq!(classes, expected);
    assert!(kernel.program.notes.iter().any(|note| note.contains("FROB.X")));
    let names = |regs: &[warpbound::base::RegId]| {
        regs.iter().map(|reg| kernel.program.regs[reg.index()].name.as_str()).collect::<Vec<_>>()
    };
    let wide = &kernel.program.instrs[2];
    assert_eq!(
        (names(wide.dsts.as_slice()), names(wide.srcs.as_slice())),
        (vec!["R4"], vec!["R6"]),
        "R255 is zero"
    );
}

#[test]
fn paths_have_lines_and_steps() {
    let blocks = blocks(VECADD, &shipped::machine("accelsim-sm1"));
    assert_eq!(blocks.len(), 2);
    let warp = &blocks[0].warps[1];
    assert_eq!(warp.steps().len(), 7);
    assert!(warp.steps()[6].ends_warp());
    let lines: Vec<(u64, u8)> = warp.traffic().iter().map(|used| (used.address(), used.sectors())).collect();
    assert_eq!(lines, [(0x7f10_0000_0080, 0xf), (0x7f10_0000_1080, 0xf)]);
    assert_eq!(blocks[1].warps[0].steps().len(), 1);
}

/// Returns the trace with other instructions of its first warp; block 1 does not change.
fn with(instructions: &[&str]) -> String {
    let (head, rest) = VECADD.split_once("insts = 7\n").unwrap();
    let (_, rest) = rest.split_once("\nwarp = 1").unwrap();
    format!("{head}insts = {}\n{}\n\nwarp = 1{rest}", instructions.len(), instructions.join("\n"))
}

#[test]
fn generic_addresses_belong_to_the_space_in_the_header() {
    let text = with(&[
        "0000 ffffffff 1 R2 LD.E 1 R4 4 1 0x7f0000000010 8",
        "0010 ffffffff 1 R2 LD.E 1 R4 4 1 0x7f0001000010 0",
        "0020 0000ffff 1 R2 LD.E 1 R4 4 1 0x7f1000000010 4",
        "0060 ffffffff 0 EXIT 0 0",
    ]);
    let machine = shipped::machine_with("accelsim-sm1", &[]);
    let blocks = blocks(&text, &machine);
    let warp = &blocks[0].warps[0];
    let spaces: Vec<&str> = warp.steps()[..3].iter().map(|step| step.memory().space.name()).collect();
    assert_eq!(spaces, ["shared", "local", "global"]);
}

#[test]
fn shared_addresses_conflict_in_banks() {
    let text = with(&[
        "0000 ffffffff 1 R2 LDS 1 R4 4 1 0x0 128",
        "0010 ffffffff 1 R4 LDS.64 1 R4 4 1 0x0 8",
        "0020 ffffffff 0 BAR.SYNC 0 0",
        "0060 ffffffff 0 EXIT 0 0",
    ]);
    let blocks = blocks(&text, &shipped::machine("ecrts25-orin-banks"));
    let warp = &blocks[0].warps[0];
    assert_eq!(warp.steps()[0].memory().extra_transactions, 31);
    assert_eq!((warp.steps()[2].barrier().id, warp.steps()[2].barrier().warps), (0, 0));
    assert!(!blocks[0].partial_barriers);
}

#[test]
fn wide_loads_fill_several_registers() {
    let text =
        with(&["0000 ffffffff 1 R8 LDG.E.128 1 R4 16 1 0x7f1000000000 16", "0060 ffffffff 0 EXIT 0 0"]);
    let kernel = read(&text).unwrap();
    let dsts = kernel.program.instrs[0].dsts.as_slice();
    let names: Vec<&str> = dsts.iter().map(|reg| kernel.program.regs[reg.index()].name.as_str()).collect();
    assert_eq!(names, ["R8", "R9", "R10", "R11"]);
}

#[test]
fn predicates_cost_nothing_unless_requested() {
    let text = with(&[
        "0000 ffffffff 1 R2 LDG.E.LTC128B 1 R4 4 1 0x7f1000000000 4",
        "0010 ffffffff 0 ISETP.NE.AND 1 R2 0",
        "0020 ffffffff 0 BRA 0 0",
        "0030 ffffffff 1 R3 IABS 0 0",
        "0040 0000ffff 1 R3 POPC 0 0",
        "0060 ffffffff 0 EXIT 0 0",
    ]);
    let machine = shipped::machine("ecrts25-orin");
    let makespan = |conservative_predicates| {
        let kernel =
            read_as(&text, &TraceOptions { conservative_predicates, ..TraceOptions::default() }).unwrap();
        let reads = |opcode: &str| {
            let mut instrs = kernel.program.instrs.iter().enumerate();
            instrs.any(|(index, instr)| kernel.opcode(index) == opcode && !instr.srcs.as_slice().is_empty())
        };
        let read = ["BRA", "IABS", "POPC", "EXIT"].map(reads);
        (runs::judged(&workload(kernel), &machine, None)[0].makespan.get(), read)
    };
    let (plain, read) = makespan(false);
    let (conservative, read_too) = makespan(true);
    assert!(conservative >= plain, "{conservative} {plain}");
    assert_eq!(read, [false; 4]);
    assert_eq!(read_too, [true, false, true, true], "branch, what has fewer lanes than the one before, exit");
}

/// The duration of a sleep is not recorded, and the hardware chooses it.
#[test]
fn a_trace_with_a_sleep_is_not_judged() {
    let machine = shipped::machine("ecrts25-orin");
    let judged = |opcode: &str| {
        let slept = format!("0010 ffffffff 0 {opcode} 0 0");
        let text = with(&["0000 ffffffff 1 R1 MOV 0 0", &slept, "0060 ffffffff 0 EXIT 0 0"]);
        let run = runs::judged(&workload(read(&text).unwrap()), &machine, None).remove(0);
        (run.verdict().applies(), run.bounds.iter().find_map(|row| row.value.clone().err()))
    };
    assert!(judged("NOP").0);
    let (applies, why) = judged("NANOSLEEP");
    let why = why.unwrap_or_default();
    assert!(!applies && why.contains("sleeps for a time that the hardware chooses"), "{why}");
}

#[test]
fn versions_of_the_tracer() {
    let four = read(VECADD).unwrap();
    let shape = |text: &str| {
        let kernel = read(text).unwrap();
        (kernel.summary.warp_instructions, kernel.program.instrs.len())
    };
    let expected = (four.summary.warp_instructions, four.program.instrs.len());
    let lines = |before: &str, after: &str, version: u32, info: u32| {
        let mut text = String::new();
        for line in VECADD.lines() {
            let instruction =
                line.starts_with("00") && line.contains(" 0 ") || line.starts_with("00") && line.len() > 12;
            let line = line
                .replace("tracer version = 4", &format!("tracer version = {version}"))
                .replace("lineinfo = 0", &format!("lineinfo = {info}"));
            match instruction {
                true => text += &format!("{before}{}{after}\n", line.trim_end()),
                false => text += &format!("{line}\n"),
            }
        }
        text
    };
    assert_eq!(shape(&lines("0 0 0 1 ", "", 1, 0)), expected);
    assert_eq!(shape(&lines("0 0 0 1 ", "", 2, 0)), expected);
    assert_eq!(shape(&lines("", "", 3, 0)), expected);
    assert_eq!(shape(&lines("17 ", "", 4, 1)), expected);
    assert_eq!(shape(&lines("", " 0 ", 5, 0)), expected);
    assert_eq!(shape(&lines("3 ", " -1", 5, 1)), expected);
    let newer = read(&lines("", " 0", 8, 0)).unwrap();
    assert!(newer.program.notes.iter().any(|note| note.contains("newer")));
}

#[test]
fn every_error_names_its_line() {
    let line_of = |needle: &str| VECADD.lines().position(|line| line.contains(needle)).unwrap() as u32 + 1;
    let end = VECADD.lines().count() as u32;
    for (from, to, line, says) in [
        ("-grid dim = (2,1,1)", "-grid dim = (2,1)", line_of("grid dim"), "grid dim"),
        ("-grid dim = (2,1,1)\n", "", line_of("#BEGIN") - 1, "no `-grid dim"),
        ("-block dim = (64,1,1)", "-block dim = (2048,1,1)", line_of("block dim"), "block dim"),
        ("-nregs = 12", "-nregs 12", line_of("nregs"), "without `=`"),
        (
            "thread block = 0,0,0",
            "thread block = 5,0,0",
            line_of("thread block = 0"),
            "not a block of a grid",
        ),
        ("thread block = 1,0,0", "thread block = 0,0,0", line_of("thread block = 1"), "or twice"),
        ("warp = 1\ninsts = 7", "warp = 7\ninsts = 7", line_of("warp = 1"), "not the number of a warp"),
        ("insts = 7", "insts = 8", 32, "not allowed here"),
        ("insts = 7", "insts = 6", 30, "not allowed here"),
        ("insts = 7", "insts = x", line_of("insts = 7"), "not a number of instructions"),
        ("0010 ffffffff 1 R6 S2R 0 0", "0010 fffffffff 1 R6 S2R 0 0", line_of("S2R"), "not a mask"),
        ("R6 S2R 0 0", "R6 S2R 0 9999", line_of("S2R"), "no width"),
        ("1 0x7f1000000000 4 \n", "1 0x7f10 4 5 6\n", line_of("LDG"), "more words"),
        ("1 0x7f1000000000 4 \n", "7 0x7f10 4\n", line_of("LDG"), "form 7"),
        ("1 0x7f1000000000 4 \n", "0 0x7f10\n", line_of("LDG"), "the line ends"),
        ("#END_TB\n#BEGIN_TB", "#BEGIN_TB", line_of("#END_TB"), "within another"),
        ("binary version = 86", "binary = 86", 0, "for which GPU"),
    ] {
        let text = VECADD.replacen(from, to, 1);
        assert_ne!(text, VECADD, "{from}");
        let error = read(&text).map(|_| ()).unwrap_err();
        let first = &error.list()[0];
        assert!(first.message.contains(says), "{from} -> {to}: {error}");
        assert!(
            first.line.abs_diff(line) <= 1,
            "{from} -> {to}: line {} and not {line}: {error}",
            first.line
        );
    }
    // a trace that is cut off anywhere is reported as such
    let cut = &VECADD[..VECADD.rfind("0060").unwrap()];
    assert!(read(cut).unwrap_err().to_string().contains("within a block"));
    let whole_blocks = &VECADD[..VECADD.find("#BEGIN_TB\nthread block = 1").unwrap()];
    let error = read(whole_blocks).unwrap_err();
    assert!(error.to_string().contains("after 1 of the 2 blocks"), "{error}");
    assert!(error.list()[0].line <= end);
    let raw = "-grid dim = (1,1,1)\n-block dim = (32,1,1)\n0 0 0 0 0010 ffffffff 0 EXIT 0 0\n";
    assert!(read(raw).unwrap_err().to_string().contains("post-processing"));
    assert!(read("").unwrap_err().to_string().contains("ends in the header"));
    // unknown header lines are counted
    let unknown = read(&VECADD.replace("-nregs", "-colour = red\n-nregs")).unwrap();
    assert!(unknown.program.notes.iter().any(|note| note.contains("colour")));
}
