//! Values that the analysis must not take for known, each with a kernel in which it once did: found
//! by a search for runs that are in no set.

use std::collections::HashMap;

use warpbound::path::BlockPaths;
use warpbound::program::KernelCode;
use warpbound::program::launch::{Buffer, Elem, Launch};
use warpbound::sass::Module;

use super::regions::{attack_marked, close, leave, nested, open, refusal, together};
use super::{Case, CaseResult, attack, attack_program, executed, member, sets_of};
use crate::shipped::{encoding_for, machine, root};

/// Returns a kernel of `tests/data/sass/unknown.ptx` as ptxas compiles it.
fn machine_code(entry: &str) -> KernelCode {
    let encoding = encoding_for(90);
    let bytes = std::fs::read(root().join("tests/data/sass/unknown.sm_90.cubin")).unwrap();
    Module::read("unknown.sm_90.cubin", &bytes, encoding).unwrap().program(entry, encoding).unwrap()
}

fn case(inputs: Vec<Vec<u32>>) -> Case {
    Case { inputs, number: 7, ..Case::default() }
}

/// An exchange of 64 bits writes a register of the decoder, from which two other operations read.
#[test]
fn the_result_of_a_wide_atomic() {
    let case = case(vec![vec![0; 1024], vec![1; 1024], (0..1024).map(|word| word / 2 % 2).collect()]);
    let found = attack_program(&case, machine_code("exchange"), &machine("ecrts25-orin"), false);
    assert!(matches!(found, Ok(CaseResult::Held(_))), "{found:?}");
}

/// The paths of a run in which the launch sets a constant to another value are in the sets, too.
#[test]
fn a_constant_that_the_launch_sets() {
    let program = machine_code("constant");
    let case = case(vec![vec![1; 1024]]);
    let launch = |chosen: u32| {
        let bytes = chosen.to_le_bytes().to_vec();
        let symbols = vec![Buffer { name: "chosen".to_owned(), elem: Elem::U32, bytes, constant: false }];
        Launch { symbols, ..case.launch(&case.inputs[0]) }
    };
    let machine = machine("ecrts25-orin");
    let sets = sets_of(&program, &launch(1), &machine, &HashMap::new()).unwrap();
    let mut lengths = Vec::new();
    for chosen in [0, 1] {
        let blocks: Vec<BlockPaths> = executed(&program, &launch(chosen), &machine).unwrap();
        let path = &blocks[0].warps[0];
        assert!(member::contains(&sets[0].warps[0], &member::taken(&program, path)), "{chosen}");
        lengths.push(path.steps().len());
    }
    assert!(lengths[0] > lengths[1], "the value decides the path: {lengths:?}");
}

const DATA: &str = "mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.s64 %rd2, %rd0, %rd1; ld.global.u32 %r1, [%rd2];\n\
    setp.eq.u32 %p0, %r1, 3; setp.lt.u32 %p1, %r0, 16;\n";

const COPY: &str = "mov.u32 %r42, sm; cp.async.ca.shared.global [%r42], [%rd0], 16;\ncp.async.commit_group;";

/// Both ways commit a group, so that the warp has committed one or two.
#[test]
fn copies_of_lanes_that_leave_a_region() {
    let regions =
        nested(&format!("@%p0 {}\n@%p0 bra X;\n{COPY}", leave(1, 1)), &format!("bra OUT;\nX: {COPY}\nOUT:"));
    let body =
        format!("{DATA}{regions}cp.async.wait_group 1;\nadd.u32 %r2, %r0, 1;\ncp.async.wait_group 0;\nret;");
    assert!(refusal(&body).contains("asynchronous copies behind a BREAK"));
}

/// The lanes on the first side of a branch may all end before their copy.
#[test]
fn a_copy_of_lanes_that_may_have_ended() {
    let body = format!(
        "{DATA}@%p1 bra T;\nadd.u32 %r4, %r4, 1;\nbra J;\nT: @%p0 exit;\n{COPY}\nJ: add.u32 %r5, %r5, 1;\n{COPY}\n\
         cp.async.wait_group 1;\nadd.u32 %r6, %r6, 1;\ncp.async.wait_group 0;\nret;"
    );
    let case = Case { body, ..case(vec![vec![3; 64], vec![0; 64]]) };
    let found = attack(&case, &crate::shipped::isa(), &machine("ecrts25-orin"), false);
    let Ok(CaseResult::Refused(error)) = found else { panic!("{found:?}") };
    assert!(error.contains("asynchronous copies that depend on data"), "{error}");
}

/// When all running lanes leave a region, the lanes at its end run before these come to a barrier.
#[test]
fn barriers_of_lanes_that_have_left_a_region() {
    let body = |inner: &str, outer: &str| format!("{DATA}{}ret;", nested(inner, outer));
    for (barrier, expected) in
        [("bar.sync 0;", "barriers that lanes on other paths"), ("bar.warp.sync -1;", "barriers of a warp")]
    {
        let inner = format!(
            "@%p1 bra STAY;\nadd.u32 %r4, %r4, 1;\n{}\n{barrier}\nadd.u32 %r5, %r5, 2;\nbra OUT;\n\
             STAY: add.u32 %r6, %r6, 3;",
            leave(1, 1)
        );
        let error = refusal(&body(&inner, "add.u32 %r7, %r7, 4;\nOUT: add.u32 %r8, %r8, 5;"));
        assert!(error.contains(expected), "{error}");
    }
    let between = format!("@%p0 {}\nbar.sync 0;\n@%p0 bra OUT;\nadd.u32 %r2, %r1, 1;", leave(1, 1));
    assert!(refusal(&body(&between, "OUT:")).contains("a barrier between a BREAK and its branch"));
}

/// Lanes that wait at the end of a region get no result of a reduction at a barrier.
#[test]
fn the_result_of_a_barrier_that_lanes_wait_beside() {
    let body = format!(
        "{DATA}mov.u32 %r5, 7;\n{}\n@%p1 bra T;\nbar.red.popc.u32 %r5, 0, %p1;\nbra J;\nT: mov.u32 %r5, 3;\n\
         J: add.u32 %r8, %r8, 1;\n{}\nsetp.eq.u32 %p3, %r5, 3;\n@%p3 bra Z;\nadd.u32 %r4, %r4, 1;\nZ: ret;",
        open(0, 0),
        close(0, 0)
    );
    let found = attack_marked(&body);
    assert!(matches!(found, Ok(CaseResult::Held(_))), "{found:?}");
}

/// Whether all lanes are together: those that have ended do not count, and those whose guard is false
/// do not take part.
#[test]
fn whether_lanes_are_together() {
    let branch = "@%p9 bra A;\nadd.u32 %r4, %r4, 1;\nA: add.u32 %r5, %r5, 1;\nret;";
    for before in ["@!%p1 exit;", "", "@%p1 ", "@%p0 ", "@%p0 exit;"] {
        let body = format!("{DATA}setp.lt.u32 %p9, %r0, 0;\n{before}{}\n{branch}", together("%p9"));
        let found = attack_marked(&body);
        assert!(matches!(found, Ok(CaseResult::Held(_))), "{before}: {found:?}");
    }
}

/// A run takes the number and the size of a barrier from the first lane that has not ended.
#[test]
fn barriers_that_differ_between_lanes() {
    let prelude = format!("{DATA}selp.u32 %r7, 1, 2, %p1;\nselp.u32 %r6, 64, 32, %p1;\n@%p0 ret;");
    for (barrier, is_refused) in
        [("bar.sync %r7;", true), ("bar.sync 1, %r6;", true), ("mov.u32 %r7, 3;\nbar.sync %r7;", false)]
    {
        let inputs = vec![(0..64).map(|word| if word < 16 { 3 } else { 0 }).collect()];
        let body = format!("{prelude}\n{barrier}\nadd.u32 %r4, %r4, 1;\nret;");
        let case = Case { body, block: [64, 1, 1], ..case(inputs) };
        for marks in [false, true] {
            let program = case.code(&crate::shipped::isa(), marks);
            match attack_program(&case, program, &machine("ecrts25-orin"), false) {
                Ok(CaseResult::Refused(error)) if is_refused => {
                    assert!(error.contains("differs between lanes"), "{error}");
                }
                Ok(CaseResult::Held(_)) if !is_refused => {}
                other => panic!("{barrier}: {other:?}"),
            }
        }
    }
}

/// Lanes do not meet at a WARPSYNC that only one side of a branch has in front of the barrier at which
/// they meet.
#[test]
fn a_warpsync_in_front_of_a_meeting() {
    let body = format!(
        "{DATA}@%p1 bra T;\nadd.u32 %r4, %r4, 1;\nbra B;\nT: add.u32 %r5, %r5, 1;\nbar.warp.sync -1;\n\
         B: bar.sync 0;\nret;"
    );
    assert!(refusal(&body).contains("barriers of a warp"));
}
