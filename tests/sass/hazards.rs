//! Control codes of 128-bit words compared with every dependence of the code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use warpbound::check::hazards::{Findings, check};
use warpbound::load::{encoding_of, targets};
use warpbound::program::hazards::{Access, Delay, File, Hazard};
use warpbound::program::{Control, KernelCode};
use warpbound::sass::{Module, target_of};

use crate::shipped::{encoding_for, root};

/// The numbers of an architecture.
#[derive(Debug, Default)]
struct Counts {
    kernels: usize,
    dependences: usize,
    /// Changes of control codes that were tried.
    shortened: usize,
    unwaited: usize,
    unreleased: usize,
}

/// Returns the files in the folders of the kernels that contain 128-bit words, and one with functions
/// that call themselves.
fn cubins() -> Vec<PathBuf> {
    let mut found = vec![root().join("tests/data/sass/later/recursion.sm_86.cubin")];
    for folder in std::fs::read_dir(root().join("kernels")).unwrap() {
        let folder = folder.unwrap().path();
        let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
        found.extend(files.filter(|file| {
            let name = file.file_name().unwrap().to_string_lossy();
            name.ends_with(".cubin") && !name.ends_with(".sm_61.cubin")
        }));
    }
    found.sort();
    found
}

/// Returns the files of further tests that contain 128-bit words.
fn further_cubins() -> Vec<PathBuf> {
    let folders = ["later", "textures"].map(|folder| root().join("tests/data/sass").join(folder));
    let files = folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut found: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    found.retain(|file| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.ends_with(".cubin") && !name.ends_with(".sm_61.cubin")
    });
    found.sort();
    found
}

/// Returns the kernels of a file that can be executed, with their architecture.
fn programs(file: &Path) -> (u32, Vec<KernelCode>) {
    let (name, bytes) = (file.display().to_string(), std::fs::read(file).unwrap());
    let encoding = encoding_of(&name, &bytes).unwrap();
    let module = Module::read(&name, &bytes, encoding).unwrap();
    let programs = module.entries().into_iter().filter_map(|entry| module.program(entry, encoding).ok());
    (target_of(&name, &bytes, &targets()).unwrap(), programs.collect())
}

/// Returns the findings in a kernel, all of whose dependences have to be covered.
fn covered(file: &Path, program: &KernelCode) -> Findings {
    let findings = check(program).unwrap();
    let hazards = program.machine_code.as_ref().unwrap().hazards.as_ref().unwrap();
    assert_eq!(findings.unknown(hazards), [], "{}: {}", file.display(), program.name);
    assert_eq!(findings.uncovered().count(), 0, "{}: {:#?}", file.display(), findings.notes(program));
    findings
}

/// The latencies of QSPC (which sums on generic addresses need), NANOSLEEP, STSM and DMMA are not
/// known, nor when a half-precision instruction of Ampere and Hopper reads the predicate of another
/// one.
#[test]
fn dependences_of_further_instructions_are_covered() {
    const UNKNOWN: [&str; 7] = [
        "float_sums",
        "generic_addresses.",
        "half.sm_86",
        "half.sm_90",
        "pauses.",
        "product_of_doubles.",
        "stored_matrices.",
    ];
    let (mut kernels, mut dependences) = (0, 0);
    for file in further_cubins() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if UNKNOWN.iter().any(|unknown| name.starts_with(unknown)) {
            continue;
        }
        for program in programs(&file).1 {
            dependences += covered(&file, &program).dependences();
            kernels += 1;
        }
    }
    assert!(kernels > 150 && dependences > 10_000, "{kernels} kernels, {dependences} dependences");
}

/// Changes the control codes of an instruction, and returns whether a dependence is reported then.
fn is_reported(program: &mut KernelCode, instruction: usize, change: impl Fn(&mut Control)) -> bool {
    let control = |program: &mut KernelCode, new: Option<Control>| {
        let control = &mut program.machine_code.as_mut().unwrap().instructions[instruction].control;
        let before = *control;
        *control = new.unwrap_or(before);
        before
    };
    let before = control(program, None);
    let mut after = before;
    change(&mut after);
    assert_ne!(before, after);
    control(program, Some(after));
    let reported = check(program).unwrap().uncovered().count() > 0;
    control(program, Some(before));
    reported
}

/// Removes the release of a barrier.
fn without_release(control: &mut Control, barrier: u8) {
    for release in [&mut control.read_barrier, &mut control.write_barrier] {
        *release = release.filter(|released| *released != barrier);
    }
}

/// Tries every change of the control codes of a kernel that leaves a dependence uncovered, as far as
/// the check says which these are: stall counts without slack, shortened by one, and waits and
/// releases of barriers that a dependence needs.
fn change_everything(program: &KernelCode, findings: &Findings, counts: &mut Counts) {
    let mut changed = program.clone();
    let stall = |index: usize| program.machine_code.as_ref().unwrap().instructions[index].control.stall;
    for index in findings.tight().filter(|&index| stall(index) > 1) {
        assert!(is_reported(&mut changed, index, |control| control.stall -= 1), "{}: {index}", program.name);
        counts.shortened += 1;
    }
    for (index, barrier) in findings.needed_waits() {
        let found = is_reported(&mut changed, index, |control| control.wait &= !(1 << barrier));
        assert!(found, "{}: {index} waits for {barrier}", program.name);
        counts.unwaited += 1;
    }
    for (index, barrier) in findings.needed_releases() {
        let found = is_reported(&mut changed, index, |control| without_release(control, barrier));
        assert!(found, "{}: {index} releases {barrier}", program.name);
        counts.unreleased += 1;
    }
}

/// Every dependence in the compiler's code is covered. If a stall count without slack is shortened
/// by one, or a wait or a release of a barrier is removed that a dependence needs, the check reports
/// it.
#[test]
fn every_dependence_is_covered_and_every_change_is_reported() {
    let mut all: BTreeMap<u32, Counts> = BTreeMap::new();
    for file in cubins() {
        let (target, programs) = programs(&file);
        let counts = all.entry(target).or_default();
        for program in programs {
            let findings = covered(&file, &program);
            counts.kernels += 1;
            counts.dependences += findings.dependences();
            change_everything(&program, &findings, counts);
        }
    }
    for target in [75, 86, 90, 120] {
        let counts = &all[&target];
        assert!(counts.dependences > 1000 && counts.shortened > 50, "sm_{target}: {counts:?}");
        assert!(counts.unwaited > 20 && counts.unreleased > 20, "sm_{target}: {counts:?}");
    }
}

/// Compares the code in all files of a folder, such as what the compiler makes of other sources, and
/// prints every report.
#[test]
#[ignore = "needs a folder with machine code: WARPBOUND_CUBINS=DIR"]
fn every_dependence_of_further_code_is_covered() {
    let folder = std::env::var("WARPBOUND_CUBINS").expect("WARPBOUND_CUBINS names a folder");
    let mut all: BTreeMap<u32, Counts> = BTreeMap::new();
    let (mut uncovered, mut unknown) = (0, BTreeMap::new());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "cubin")) {
        let (target, programs) = programs(file);
        let counts = all.entry(target).or_default();
        for program in programs {
            let findings = check(&program).unwrap();
            let hazards = program.machine_code.as_ref().unwrap().hazards.as_ref().unwrap();
            for (file, hazard, earlier, later) in findings.unknown(hazards) {
                *unknown.entry(format!("sm_{target} {file:?} {hazard:?} {earlier} {later}")).or_insert(0) +=
                    1;
            }
            counts.kernels += 1;
            counts.dependences += findings.dependences();
            match findings.uncovered().count() {
                0 if std::env::var_os("WARPBOUND_LONG").is_some() => {
                    change_everything(&program, &findings, counts);
                }
                0 => {}
                found => {
                    uncovered += found;
                    println!("{}: {:#?}", file.display(), findings.notes(&program));
                }
            }
        }
    }
    assert!(!all.is_empty(), "the folder has no machine code");
    all.iter().for_each(|(target, counts)| println!("sm_{target}: {counts:?}"));
    unknown.iter().for_each(|(kind, count)| println!("no time is known for {kind}, in {count} kernels"));
    assert_eq!(uncovered, 0, "dependences are not covered");
}

/// A report names both instructions with address and text, the register, and the cycles required and
/// provided.
#[test]
fn a_report_names_instructions_register_and_cycles() {
    let file = root().join("kernels/vecadd/vecadd.sm_86.cubin");
    let (_, mut programs) = programs(&file);
    let program = &mut programs[0];
    let findings = covered(&file, program);
    let code = program.machine_code.as_mut().unwrap();
    let hazards = code.hazards.as_ref().unwrap();
    let is_product = |index: &usize| hazards.instructions[*index].text.starts_with("IMAD ");
    let index = findings.tight().find(is_product).unwrap();
    code.instructions[index].control.stall -= 1;
    let notes = check(program).unwrap().notes(program);
    assert!(notes[0].contains("1 are not covered") || notes[0].contains("2 are not covered"), "{notes:?}");
    let note = &notes[1];
    for part in ["vecadd+0x", "`IMAD ", " too early: ", "reads R", " cycles are required, "] {
        assert!(note.contains(part), "{part}: {note}");
    }
}

/// The accesses that words name include those of the semantics, which the results of the kernels
/// confirm.
#[test]
fn accesses_include_those_of_the_semantics() {
    let mut compared = 0;
    for file in cubins() {
        for program in programs(&file).1 {
            let code = program.machine_code.as_ref().unwrap();
            let hazards = code.hazards.as_ref().unwrap();
            for instr in program.instrs.iter().filter(|instr| !instr.folded) {
                let index = (instr.line - code.first_line) as usize;
                let accesses = &hazards.instructions[index];
                for (registers, writes) in [(&instr.srcs, false), (&instr.dsts, true)] {
                    for register in registers.as_slice() {
                        let name = &program.regs[register.index()].name;
                        let is_it = |access: &Access| {
                            let known = &hazards.registers[usize::from(access.register)].1;
                            access.writes == writes && known == name
                        };
                        // a name with such a character is a value that the machine keeps elsewhere
                        let elsewhere = name.starts_with('%') || name.contains('.');
                        let found = elsewhere || accesses.list.iter().any(is_it);
                        assert!(found, "{}: `{}` without {name} ({writes})", file.display(), accesses.text);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

/// The compiler leaves exactly the cycles that the table requires between the most frequent kinds,
/// here from Ampere on.
#[test]
fn the_compiler_leaves_no_more_cycles_than_required() {
    let mut least: BTreeMap<(File, String, String), (u32, u32)> = BTreeMap::new();
    for file in cubins() {
        let (target, programs) = programs(&file);
        for program in programs.iter().filter(|_| target > 75) {
            let findings = check(program).unwrap();
            let hazards = program.machine_code.as_ref().unwrap().hazards.as_ref().unwrap();
            for row in findings.by_kind(hazards).into_iter().filter(|row| row.hazard == Hazard::Read) {
                let key = (row.file, row.earlier.to_owned(), row.later.to_owned());
                let known = least.entry(key).or_insert((row.required, row.provided));
                known.1 = known.1.min(row.provided);
            }
        }
    }
    let all = [
        (File::General, "alu", "alu"),
        (File::General, "fma", "fma"),
        (File::General, "alu", "fma"),
        (File::General, "fma", "agu"),
        (File::General, "imadw.d1", "agu"),
        (File::Predicate, "alu", "alu"),
        (File::Uniform, "udp", "udp"),
    ];
    for (file, earlier, later) in all {
        let (required, provided) = least[&(file, earlier.to_owned(), later.to_owned())];
        assert_eq!(provided, required, "{file:?}: {earlier}, {later}");
    }
}

/// The times of the table that measurements confirm: a sum reads the result of a sum four cycles
/// after it, on each generation.
#[test]
fn times_are_those_that_were_measured() {
    for target in [75, 80, 86, 87, 89, 90, 120] {
        let latencies = encoding_for(target).latencies.as_ref().unwrap();
        let kind = |name: &str| latencies.kind(name).unwrap();
        let time = |earlier: &str, later: &str, file: File| {
            latencies.delays.get(file, Hazard::Read, (kind(earlier), kind(later)))
        };
        let cycles = |number: u8| Some(Delay::Cycles { always: number, guarded: number });
        assert_eq!(time("alu", "alu", File::General), cycles(4), "sm_{target}");
        assert_eq!(time("fma", "fma", File::General), cycles(4), "sm_{target}");
        assert_eq!(time("alu", "fma", File::General), cycles(5), "sm_{target}");
        let guard = if target == 75 { 12 } else { 13 };
        assert_eq!(time("alu", "guard", File::Predicate), cycles(guard), "sm_{target}");
        assert_eq!(time("agu", "alu", File::General), Some(Delay::Barrier), "sm_{target}");
    }
    assert!(encoding_for(61).latencies.is_none());
}
