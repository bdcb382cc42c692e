//! Kernels whose lanes reconverge where instructions say it, as in machine code since Volta.
//!
//! The generator marks in PTX where regions begin and end, and where lanes leave them, by moves of
//! certain constants. [`marked`] replaces these by the instructions, and takes the reconvergence
//! points of the branches away.

use std::collections::HashMap;
use std::time::Duration;

use warpbound::base::Pc;
use warpbound::program::sem::{Operand, Region};
use warpbound::program::{KernelCode, MachineCode, RegList, Sem};

use super::{Case, CaseResult, attack_program, campaign, sets_of};

const OPEN: u64 = 0x7100_0000;
const CLOSE: u64 = 0x7200_0000;
const LEAVE: u64 = 0x7300_0000;
const TOGETHER: u64 = 0x7400_0000;

fn mark(kind: u64, barrier: u32, number: u32) -> String {
    format!("mov.u32 %r190, {};", kind | u64::from(barrier) << 16 | u64::from(number))
}

/// Returns the mark that opens a region with this barrier.
pub fn open(barrier: u32, number: u32) -> String {
    mark(OPEN, barrier, number)
}

/// Returns the mark that closes it.
pub fn close(barrier: u32, number: u32) -> String {
    mark(CLOSE, barrier, number)
}

/// Returns the mark by which lanes leave it.
pub fn leave(barrier: u32, number: u32) -> String {
    mark(LEAVE, barrier, number)
}

/// Returns the mark that writes to a predicate whether all lanes of the warp are together.
pub fn together(predicate: &str) -> String {
    format!("vote.sync.any.pred {predicate}, {predicate}, {TOGETHER};")
}

/// Returns a region with code in it behind a region, 1, with other code in it.
pub fn nested(inner: &str, outer: &str) -> String {
    format!("{}\n{}\n{inner}\n{}\n{outer}\n{}\n", open(0, 0), open(1, 1), close(1, 1), close(0, 0))
}

/// Returns the program with instructions instead of marks.
pub fn marked(mut program: KernelCode) -> KernelCode {
    let of = |sem: &Sem| match sem {
        Sem::Mov { src: Operand::Imm(value), .. } => match value & 0xff00_0000 {
            kind @ (OPEN | CLOSE | LEAVE) => Some((kind, (value >> 16 & 0xff) as u8, value & 0xffff)),
            _ => None,
        },
        _ => None,
    };
    let marks: Vec<_> = program.instrs.iter().map(|instr| of(&instr.sem)).collect();
    let mut ends = HashMap::new();
    for (index, mark) in marks.iter().enumerate() {
        if let Some((CLOSE, _, number)) = mark {
            ends.insert(*number, Pc::from_index(index + 1));
        }
    }
    for (instr, mark) in program.instrs.iter_mut().zip(marks) {
        match &mut instr.sem {
            Sem::Branch { reconverge, .. } => *reconverge = None,
            Sem::Barrier(barrier) => barrier.partly = true,
            Sem::Vote { dst, members: Some(Operand::Imm(TOGETHER)), .. } => {
                instr.sem = Sem::Together { dst: *dst, members: Operand::Imm(0xffff_ffff) };
            }
            _ => {}
        }
        let Some((kind, barrier, number)) = mark else { continue };
        let region = Region::Barrier(barrier);
        instr.sem = match kind {
            OPEN => Sem::OpenRegion { region, join: ends[&number] },
            CLOSE => Sem::CloseRegion { region },
            _ => Sem::LeaveRegion { region },
        };
        (instr.dsts, instr.srcs) = (RegList::new(), RegList::new());
        if let Some(guard) = instr.guard {
            instr.srcs.insert(guard.reg);
        }
    }
    program.machine_code = Some(MachineCode { independent: true, ..MachineCode::default() });
    program
}

/// Returns whether a program has a BSSY, a BREAK and a WARPSYNC.
pub fn kinds(program: &KernelCode) -> [bool; 3] {
    let has = |is: fn(&Sem) -> bool| program.instrs.iter().any(|instr| is(&instr.sem));
    [
        has(|sem| matches!(sem, Sem::OpenRegion { .. })),
        has(|sem| matches!(sem, Sem::LeaveRegion { .. })),
        has(|sem| matches!(sem, Sem::WarpSync { .. })),
    ]
}

#[test]
fn runs_of_random_kernels_with_regions_are_in_their_sets() {
    let all = campaign(0..800, Duration::from_secs(60), true);
    assert!(all.violations.is_empty(), "{:?}: {:.3000}", all.violations[0].0, all.violations[0].1);
    assert!(all.held > 300 && all.with[1] > 10 && all.with[2] > 40, "{all:?}");
}

fn case(body: &str) -> Case {
    let inputs = vec![vec![3; 64], (0..64).map(|word| word % 7).collect()];
    Case { body: body.to_owned(), inputs, ..Case::default() }
}

/// Compares the paths of a kernel with marks with its sets.
///
/// # Errors
/// Returns a description of what contradicts the claims.
pub fn attack_marked(body: &str) -> Result<CaseResult, String> {
    let case = case(body);
    attack_program(
        &case,
        case.code(&crate::shipped::isa(), true),
        &crate::shipped::machine("ecrts25-orin"),
        false,
    )
}

/// Returns the message with which the analysis of all paths refuses a kernel.
pub fn refusal(body: &str) -> String {
    let case = case(body);
    let program = case.code(&crate::shipped::isa(), true);
    let machine = crate::shipped::machine("ecrts25-orin");
    let found = sets_of(&program, &case.launch(&case.inputs[0]), &machine, &HashMap::new());
    found.expect_err("it is refused")
}

/// Both sides of a branch load the same word at its post-dominator, one after the other, and change
/// it. The lanes have different values when they meet at the end of the region.
#[test]
fn lanes_that_load_a_word_one_after_the_other_may_diverge_at_it() {
    let body = format!(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 9;\n{}\n@%p0 bra SAME;\nadd.u32 %r2, %r0, 1;\nSAME:\n\
         ld.global.u32 %r1, [%rd0];\nadd.u32 %r3, %r1, 1;\nst.global.u32 [%rd0], %r3;\n{}\n\
         and.b32 %r4, %r1, 1;\nsetp.ne.u32 %p1, %r4, 0;\n{}\n@%p1 bra ODD;\nadd.u32 %r5, %r0, 1;\nODD:\n{}\nret;",
        open(0, 0),
        close(0, 0),
        open(0, 1),
        close(0, 1)
    );
    let found = attack_marked(&body).unwrap_or_else(|violation| panic!("{violation:.2000}"));
    assert!(matches!(found, CaseResult::Held(_)), "{found:?}");
}

/// Where the open regions are not determined, the message says why, at the line.
#[test]
fn irregular_regions_are_refused_by_name() {
    let data = "mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1; ld.global.u32 %r1, [%rd2];\n\
                setp.lt.u32 %p0, %r1, %r0; setp.lt.u32 %p1, %r0, 5;";
    for (code, expected) in [
        // BREAK out of the only region
        (
            format!(
                "{}\n@%p0 {}\n@%p0 bra OUT;\nadd.u32 %r2, %r1, 1;\n{}\nOUT: ret;",
                open(0, 0),
                leave(0, 0),
                close(0, 0)
            ),
            "a BREAK that does not leave the innermost region for an outer one",
        ),
        // no branch under the guard of BREAK
        (
            format!(
                "{}ret;",
                nested(&format!("@%p0 {}\n@%p1 bra IN;\nIN: add.u32 %r2, %r1, 1;", leave(1, 1)), "")
            ),
            "a BREAK that no branch under its guard follows",
        ),
        // the guard changes between BREAK and branch
        (
            format!(
                "{}ret;",
                nested(
                    &format!(
                        "@%p0 {}\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra OUT;\nadd.u32 %r2, %r1, 1;",
                        leave(1, 1)
                    ),
                    "OUT:"
                )
            ),
            "a BREAK whose guard changes in front of its branch",
        ),
        // one side of a branch comes to the join inside the region, the other one outside of it
        (
            format!("@%p0 bra IN;\n{}\nIN: add.u32 %r2, %r1, 1;\n{}\nret;", open(0, 0), close(0, 0)),
            "code that lanes reach in different regions of BSSY",
        ),
        // the same barrier twice
        (
            format!("{}\n{}\n{}\n{}\nret;", open(0, 0), open(0, 1), close(0, 1), close(0, 0)),
            "a BSSY of a barrier in whose region lanes may be",
        ),
        // regions that overlap
        (
            format!("{}\n{}\n{}\n{}\nret;", open(0, 0), open(1, 1), close(0, 0), close(1, 1)),
            "a BSYNC of a region that is not the innermost one",
        ),
    ] {
        let error = refusal(&format!("{data}\n{code}"));
        assert!(error.contains(expected) && error.contains("k.ptx:"), "{expected}: {error}");
    }
}
