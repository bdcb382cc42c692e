//! The versions of the tracer: the same kernel as each of them writes it.

use warpbound::accelsim::TracedKernel;

use super::{hostile, read, runs, shipped, workload};

/// A kernel of sm_90 with a bulk copy, a barrier in memory, a product of a warp group, and loads and
/// stores, as tracers of versions 5, 6 and 7 write it.
pub const TILE5: &str = include_str!("files/tile5.traceg");
pub const TILE6: &str = include_str!("files/tile6.traceg");
pub const TILE7: &str = include_str!("files/tile7.traceg");

/// Returns what a trace determines: the program as text, the op class of each instruction, the
/// executions, and the makespan on some machines.
pub fn outcome(kernel: &TracedKernel) -> (String, Vec<String>, Vec<u64>, Vec<u64>) {
    let program = &kernel.program;
    let classes = program.instrs.iter().map(|instr| program.classes.name(instr.class).to_owned()).collect();
    let executions = kernel.summary.executions.clone();
    let makespans = ["ecrts25-orin", "accelsim-sm1", "rtx3070"].map(|name| {
        let workload = workload(kernel.clone());
        runs::judged(&workload, &shipped::machine(name), None)[0].makespan.get()
    });
    (kernel.listing.clone(), classes, executions, makespans.into())
}

#[test]
fn all_versions_give_the_same_program_and_cycles() {
    let kernel = read(TILE5).unwrap();
    assert_eq!((kernel.summary.opcodes.as_str(), kernel.header.tracer), ("hopper", 5));
    assert_eq!(kernel.summary.unknown.len(), 0);
    assert_eq!((kernel.summary.warps, kernel.summary.warp_instructions), (4, 52));
    assert!(kernel.program.notes.iter().any(|note| note.contains("bulk copies only take their unit")));
    let five = outcome(&kernel);
    for text in [TILE6, TILE7] {
        let kernel = read(text).unwrap();
        assert_eq!(outcome(&kernel), five, "version {}", kernel.header.tracer);
        let notes = &kernel.program.notes;
        assert!(!notes.iter().any(|note| note.contains("newer") || note.contains("not known")), "{notes:?}");
    }
    // a version that is not known may end like version 6
    let newer = read(&TILE6.replace("tracer version = 6", "tracer version = 8")).unwrap();
    assert_eq!(outcome(&newer), five);
    assert!(newer.program.notes.iter().any(|note| note.contains("newer")));
}

/// Tracers of version 5 before Accel-Sim 2.0 write neither a second immediate, nor a flag of
/// products of warp groups, nor barriers of bulk copies.
#[test]
fn both_kinds_of_version_5() {
    let mut text = String::new();
    for line in TILE5.lines() {
        let line = match line {
            _ if line.starts_with("00") && line.contains("UTMALDG") => {
                let place = line.split("0x400 0 1024 0 4 ").nth(1).unwrap().split(' ').next().unwrap();
                format!("0020 00000001 0 UTMALDG.2D 0 16 4 {place} 4 256 256 256 0")
            }
            _ if line.contains("HGMMA") => "0050 ffffffff 1 R24 HGMMA.64x64x16.F32 2 R24 R24 0 0".to_owned(),
            _ if line.starts_with("00") => line.rsplit_once(' ').unwrap().0.to_owned(),
            _ => line.to_owned(),
        };
        text += &line;
        text.push('\n');
    }
    assert_ne!(text, TILE5);
    assert_eq!(outcome(&read(&text).unwrap()), outcome(&read(TILE5).unwrap()));
    // bulk copies that are not recorded at all
    let unrecorded = "0020 00000001 0 UTMALDG.2D 0 0 0";
    let lines = text.lines().map(|line| if line.contains("UTMALDG") { unrecorded } else { line });
    let text = lines.map(|line| format!("{line}\n")).collect::<String>();
    assert_eq!(outcome(&read(&text).unwrap()), outcome(&read(TILE5).unwrap()));
}

#[test]
fn numbers_of_sms_come_before_the_program_counter() {
    let line =
        |line: &str| if line.starts_with("00") { format!("3 17 {line}\n") } else { format!("{line}\n") };
    let text: String = TILE6.lines().map(line).collect();
    let text = text.replacen("-enable lineinfo", "-enable core id = 1\n-enable lineinfo", 1);
    assert_eq!(outcome(&read(&text).unwrap()), outcome(&read(TILE6).unwrap()));
}

#[test]
fn uniform_registers_and_predicates_that_are_listed_are_dependences() {
    let text = TILE6
        .replace("1 R4 IMAD.WIDE 2 R2 R6 0 4 0 Val 1 4 1 0 1 2", "1 UR4 UMOV 1 UR63 0 4 0 Val 1 4 1 0")
        .replace("1 R10 VIMNMX3 3 R8 R9 R24 0", "1 R10 VIMNMX3 4 R8 UR4 P0 P7 0");
    let kernel = read(&text).unwrap();
    let names = |regs: &[warpbound::base::RegId]| {
        regs.iter().map(|reg| kernel.program.regs[reg.index()].name.clone()).collect::<Vec<_>>()
    };
    let [mov, minimum] = [1, 9].map(|index: usize| &kernel.program.instrs[index]);
    assert_eq!(names(mov.dsts.as_slice()), ["UR4"]);
    assert_eq!(names(mov.srcs.as_slice()), [""; 0], "UR63 is zero on sm_90");
    assert_eq!(names(minimum.srcs.as_slice()), ["R8", "UR4", "P0"], "P7 is true");
    assert!(kernel.program.notes.iter().any(|note| note.contains("that are not recorded cost nothing")));
}

#[test]
fn every_error_names_its_line() {
    for (trace, from, to, says) in [
        (TILE6, "0060 ffffffff 0 WARPGROUP.DEPBAR.LE 0 0 0 0 NoVal", "0060 ffffffff 0 X 0 0 0 0", "NoVal"),
        (TILE6, "S2R 0 0 0 0 Val 1 0\n", "S2R 0 0 0 0 Val 2 0 0\n", "`2` values of a register"),
        (TILE6, "S2R 0 0 0 0 Val 1 0\n", "S2R 0 0 0 0 Val 1 0 1 0 1\n", "more words"),
        (TILE6, "S2R 0 0 0 0 Val 1 0\n", "S2R 0 0 0 0 Val\n", "the line ends"),
        (TILE6, "R24 R24 1 0 0 0", "R24 R24 2 0 0 0", "no flag of a product"),
        (TILE6, "0x400 0 1024 0 4", "0x400 0 1024 0 1", "addresses of form 1 in a bulk copy"),
        (TILE6, "0x400 0 1024 0 4", "0x400 2 1024 0 4", "stated by 0 or 1"),
        (TILE6, "1 R9 VIADD", "1 UR300 VIADD", "`UR300` is not a register"),
        (TILE7, "3 GLOBAL 3 GLOBAL 1 0 0 1 0\n", "3 GLOBAL 3 LOCAL 1 0 0 1 0\n", "name of a space"),
        (TILE7, "0 4 0 MEM_META_V1", "0 4 MEM_META_V1", "one of two immediates"),
        (TILE7, "0 4 0 MEM_META_V1", "0 4 0 MEM_META_V3", "`MEM_META_V3` is not"),
        (TILE7, "-mref metadata version = 1", "-mref metadata version = 2", "no value for"),
        (TILE7, "tracer version = 7", "tracer version = 6", "in a trace of tracer version 6"),
    ] {
        let text = trace.replacen(from, to, 1);
        assert_ne!(text, trace, "{from}");
        let error = read(&text).map(|_| ()).unwrap_err();
        let first = &error.list()[0];
        assert!(first.message.contains(says), "{from} -> {to}: {error}");
        if !from.contains("tracer version") {
            let line = trace.lines().position(|line| line.contains(from.trim_end())).unwrap() as u32 + 1;
            assert_eq!(first.line, line, "{from}: {error}");
        }
    }
    // without the key, version 7 is one that is not known
    let seven = read(&TILE5.replace("tracer version = 5", "tracer version = 7")).unwrap();
    assert!(seven.program.notes.iter().any(|note| note.contains("version 7 is newer")));
    let error =
        read(&TILE7.replace("-mref metadata version = 1\n", "").replace("MEM_META_V1", "MEM")).unwrap_err();
    assert!(error.list()[0].hint.contains("versions 1 to 6 are known"), "{error}");
}

#[test]
fn truncated_and_changed_anywhere() {
    let machines = hostile::machines();
    for trace in [TILE5, TILE6, TILE7] {
        assert!(hostile::exercise(trace, &machines));
        let pieces =
            (0..trace.len()).step_by(3).filter(|&end| hostile::exercise(&trace[..end], &machines)).count();
        assert!(pieces <= 2, "{pieces} pieces are traces");
        for at in 0..trace.len() {
            let mut bytes = trace.as_bytes().to_vec();
            bytes[at] ^= 1 << (at % 8);
            hostile::exercise_bytes(&bytes, &machines[..1]);
        }
    }
}
