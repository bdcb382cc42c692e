//! Matrices between memory and registers: the placement of bytes, bank conflicts, lines, races, and
//! rejected forms.

use crate::exec_support;

use exec_support::{Kernel, Outcome, kernel};
use warpbound::exec::races::BlockOrder;
use warpbound::machine::{AtomicRule, BankRule, Banks};

/// Code that fills 4 KiB of shared memory so that the 16-bit element at index i is i, and puts its
/// address in `%rd10` and `%r10`.
const FILLED: &str = "
    mov.u32 %r1, %r0; mov.u64 %rd10, pool; cvt.u32.u64 %r10, %rd10;
    F: shl.b32 %r2, %r1, 1; shl.b32 %r3, %r1, 17; or.b32 %r2, %r2, %r3; or.b32 %r2, %r2, 0x10000;
    shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r10; st.shared.u32 [%r3], %r2;
    add.u32 %r1, %r1, 32; setp.lt.u32 %p0, %r1, 1024; @%p0 bra F; bar.warp.sync -1;";

const POOL: &str = ".shared .align 128 .b8 pool[4096];";

/// Returns code that stores each lane's `%r20` to `%r20 + count - 1` to buffer 0.
fn stored(count: usize) -> String {
    let mut text = format!("mul.wide.u32 %rd20, %r0, {}; add.u64 %rd21, %rd0, %rd20;", 4 * count);
    for i in 0..count {
        text += &format!("st.global.u32 [%rd21+{}], %r{};", 4 * i, 20 + i);
    }
    text + "ret;"
}

fn registers(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("%r{}", 20 + i)).collect();
    format!("{{{}}}", names.join(", "))
}

/// Returns a kernel with `ldmatrix` of this many matrices, whose row r (of all rows) begins at
/// element `row(r)`.
fn load_rows(count: usize, transposed: bool, generic: bool, row: fn(u32) -> u32) -> Kernel {
    let trans = if transposed { ".trans" } else { "" };
    let (space, address) = if generic { ("", "[%rd12]") } else { (".shared", "[%r11]") };
    let rows: Vec<u8> = (0..32).flat_map(|lane| (2 * row(lane)).to_le_bytes()).collect();
    let body = format!(
        "{FILLED} mul.wide.u32 %rd20, %r0, 4; add.u64 %rd21, %rd1, %rd20; ld.global.u32 %r11, [%rd21];
         add.u32 %r11, %r11, %r10; cvt.u64.u32 %rd11, %r11; cvta.shared.u64 %rd12, %rd11;
         ldmatrix.sync.aligned.m8n8.x{count}{trans}{space}.b16 {}, {address};
         {}",
        registers(count),
        stored(count)
    );
    let mut kernel = kernel(32, &body).module(POOL).zeros(128 * count);
    kernel.buffers.push(rows);
    kernel
}

#[test]
fn rows_of_matrices_are_distributed_over_lanes() {
    let row = |lane: u32| 8 * (lane * 7 % 32) + 256 * (lane % 3);
    for count in [1, 2, 4] {
        for (transposed, generic) in [(false, false), (true, false), (false, true), (true, true)] {
            let words = load_rows(count, transposed, generic, row).ok().words(0);
            for lane in 0..32 {
                for matrix in 0..count {
                    let element = |down: usize, right: usize| row((8 * matrix + down) as u32) + right as u32;
                    let (g, t) = (lane / 4, 2 * (lane % 4));
                    let pair = match transposed {
                        false => [element(g, t), element(g, t + 1)],
                        true => [element(t, g), element(t + 1, g)],
                    };
                    assert_eq!(words[lane * count + matrix], pair[1] << 16 | pair[0], "x{count} lane {lane}");
                }
            }
        }
    }
}

#[test]
fn addresses_of_lanes_without_a_row_are_ignored() {
    let body = format!(
        "{FILLED} setp.lt.u32 %p1, %r0, 16; cvta.shared.u64 %rd11, %rd10; mul.wide.u32 %rd12, %r0, 16;
         add.u64 %rd11, %rd11, %rd12; selp.b64 %rd11, %rd11, %rd0, %p1;
         ldmatrix.sync.aligned.m8n8.x2.b16 {{%r20, %r21}}, [%rd11]; {}",
        stored(2)
    );
    let words = kernel(32, &body).module(POOL).zeros(256).ok().words(0);
    for (lane, pair) in words.chunks(2).enumerate() {
        let first = 2 * lane as u32;
        assert_eq!(pair, [(first + 1) << 16 | first, (first + 65) << 16 | (first + 64)]);
    }
}

#[test]
fn stored_rows_come_back_and_transposition_is_its_own_inverse() {
    let body = format!(
        "{FILLED} shl.b32 %r11, %r0, 4; add.u32 %r11, %r11, %r10; add.u32 %r12, %r11, 1024;
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r20, %r21, %r22, %r23}}, [%r11];
         movmatrix.sync.aligned.m8n8.trans.b16 %r21, %r21;
         stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r12], {{%r20, %r21}};
         stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r12+512], {{%r20, %r21, %r22, %r23}};
         ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{%r20, %r21, %r22, %r23}}, [%r11+1024];
         ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r24, %r25, %r26, %r27}}, [%r11+1536];
         {}",
        stored(8)
    );
    let words = kernel(32, &body).module(POOL).zeros(1024).ok().words(0);
    for lane in 0..32 {
        let (g, t) = (lane / 4, 2 * (lane % 4));
        let of = |matrix: u32, row: u32, col: u32| 64 * matrix + 8 * row + col;
        let straight = |matrix| of(matrix, g, t + 1) << 16 | of(matrix, g, t);
        let turned = |matrix| of(matrix, t + 1, g) << 16 | of(matrix, t, g);
        let got = &words[8 * lane as usize..][..8];
        // the first was stored transposed and loaded transposed; the second was transposed once
        // more
        assert_eq!(got[..2], [straight(0), turned(1)], "lane {lane}");
        // matrices that are stored and loaded without transposition are those of the registers
        assert_eq!(got[4..], [straight(0), turned(1), straight(2), straight(3)], "lane {lane}");
    }
}

/// Returns the number of extra transactions of the last access to shared memory.
fn extra(kernel: Kernel, rule: BankRule) -> u8 {
    let outcome =
        Kernel { banks: Some(Banks { rule, count: 32, atomics: AtomicRule::Lanes }), ..kernel }.ok();
    let used = |op: &str| {
        let line = outcome.program.instrs.iter().position(|instr| {
            outcome.program.classes.name(instr.class).ends_with(op) && instr.dsts.as_slice().len() != 1
        });
        line.unwrap()
    };
    let at = used("ld.shared");
    let step = outcome.blocks[0].warps[0].steps().iter().find(|step| step.pc().index() == at);
    step.unwrap().memory().extra_transactions
}

#[test]
fn rows_conflict_where_they_share_banks() {
    // adjacent rows, and rows 80 bytes apart: no two of eight share a bank
    for row in [(|lane| 8 * lane) as fn(u32) -> u32, |lane| 40 * lane] {
        for trans in [false, true] {
            assert_eq!(extra(load_rows(4, trans, false, row), BankRule::Pascal), 0);
            // one transaction for each matrix; under these rules all except one are extra, whatever
            // the width
            assert_eq!(extra(load_rows(4, trans, false, row), BankRule::Turing), 3);
            assert_eq!(extra(load_rows(2, trans, false, row), BankRule::Words), 1);
        }
    }
    // 64 bytes apart: four of eight rows in the same banks; 128 bytes: all eight
    for rule in [BankRule::Pascal, BankRule::Turing, BankRule::Words] {
        let base = if rule == BankRule::Pascal { 0 } else { 1 };
        assert_eq!(extra(load_rows(2, false, false, |lane| 32 * lane), rule), base + 2 * 3);
        assert_eq!(extra(load_rows(2, false, false, |lane| 64 * lane), rule), base + 2 * 7);
        assert_eq!(extra(load_rows(2, false, false, |_| 64), rule), base, "the same row for all");
    }
}

const WMMA_LOAD: &str = "{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}";

/// Returns a kernel with `wmma.load.a` of a 16 by 16 matrix of halves from shared memory.
fn load_a(layout: &str, stride: u32) -> Kernel {
    let body = format!(
        "{FILLED} wmma.load.a.sync.aligned.{layout}.m16n16k16.shared.f16 {WMMA_LOAD}, [%r10], {stride}; {}",
        stored(8)
    );
    kernel(32, &body).module(POOL).zeros(1024)
}

#[test]
fn wmma_loads_conflict_as_the_accesses_they_are_made_of() {
    let of = |layout, stride| extra(load_a(layout, stride), BankRule::Pascal);
    // a register of all lanes: 8 rows, 16 bytes of each. 32 bytes apart two rows share banks, in
    // each of the four registers; 48 bytes apart none do; 256 bytes apart all eight do
    assert_eq!([of("row", 16), of("row", 24), of("row", 128)], [4, 0, 4 * 7]);
    // by columns each element of a register is a separate access, eight in all. Four of them are
    // not extra, because one access of 16 bytes takes as many. Each accesses 16 bytes of every
    // other column. With columns 32 bytes apart, the third of these is in the banks of the first;
    // 48 bytes apart all four are in different banks
    assert_eq!([of("col", 16), of("col", 24)], [8 * 2 - 4, 8 - 4]);
    // half of the registers repeat the others, without an access
    let words = load_a("row", 16).ok().words(0);
    assert!(words.chunks(8).all(|lane| lane[..4] == lane[4..]));
}

/// Returns the lines of the last group: the address relative to the first buffer, and the sectors.
fn lines(outcome: &Outcome) -> Vec<(u64, u8)> {
    let all = outcome.blocks[0].warps[0].traffic();
    let start = all[..all.len() - 1].iter().rposition(|line| line.is_last()).map_or(0, |at| at + 1);
    let group = &all[start..];
    group.iter().map(|line| (line.address() % 4096, line.sectors())).collect()
}

#[test]
fn lines_are_those_of_all_rows() {
    let load = |instruction: &str| {
        let body = format!("{instruction} ret;");
        Kernel { traffic: true, ..kernel(32, &body).zeros(8192) }.ok()
    };
    let dense = load(&format!("wmma.load.c.sync.aligned.row.m16n16k16.f32 {WMMA_LOAD}, [%rd0];"));
    assert_eq!(lines(&dense), (0..8).map(|line| (128 * line, 15)).collect::<Vec<_>>());
    let apart = load(&format!("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {WMMA_LOAD}, [%rd0], 64;"));
    assert_eq!(lines(&apart), (0..16).map(|line| (128 * line, 1)).collect::<Vec<_>>());
    let disabled = load(&format!(
        "setp.eq.u32 %p0, %r0, 99; @%p0 wmma.load.c.sync.aligned.row.m16n16k16.f32 {WMMA_LOAD}, [%rd0];"
    ));
    let all = disabled.blocks[0].warps[0].traffic();
    assert!(all.len() == 1 && all[0].is_none(), "a group all the same: {all:?}");
    let columns = load(&format!("wmma.store.d.sync.aligned.col.m16n16k16.f32 [%rd0+64], {WMMA_LOAD}, 32;"));
    assert_eq!(lines(&columns), (0..16).map(|line| (128 * line, 12)).collect::<Vec<_>>());
}

#[test]
fn warps_race_on_matrices() {
    // registers that were never written may have any value
    let zeros: String = (20..28).map(|number| format!("mov.b32 %r{number}, 0;")).collect();
    let body = |barrier: &str| {
        format!(
            "mov.u64 %rd10, pool; cvt.u32.u64 %r10, %rd10; shr.u32 %r1, %r0, 5; setp.eq.u32 %p0, %r1, 0;
             {zeros}
             @%p0 wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r10], {WMMA_LOAD}, 16;
             add.u32 %r11, %r10, 256; cvt.rn.f32.u32 %f0, %r0; mov.b32 %r30, %f0;
             {barrier}
             @!%p0 wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {WMMA_LOAD}, [%r11], 16;
             {barrier}
             @%p0 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r10], {{%r30}};
             ret;"
        )
    };
    let run = |barrier: &str| {
        let kernel = kernel(64, &body(barrier)).module(POOL);
        Kernel { races: Some(BlockOrder::OneByOne), ..kernel }.ok().time
    };
    assert!(run("bar.sync 0;").is_empty());
    // the stored value is already there, zero
    let races = run("").races;
    assert!(races.is_empty(), "{races:?}");
    let one = |number: u32, body: &str| {
        body.replace(&format!("mov.b32 %r{number}, 0;"), &format!("mov.b32 %r{number}, 0f3F800000;"))
    };
    let changed = one(27, &one(20, &body("")));
    let kernel = kernel(64, &changed).module(POOL);
    let races = Kernel { races: Some(BlockOrder::OneByOne), ..kernel }.ok().time.races;
    assert_eq!(races.len(), 1, "{races:?}");
}

#[test]
fn invalid_accesses_are_reported() {
    let wmma = format!("wmma.load.a.sync.aligned.row.m16n16k16.f16 {WMMA_LOAD}, [%rd0], 16;");
    let of =
        |threads: u32, body: &str| kernel(threads, &format!("{body} ret;")).module(POOL).zeros(512).error();
    assert!(of(16, &wmma).contains("only lanes"), "{}", of(16, &wmma));
    let guarded = format!("setp.lt.u32 %p1, %r0, 9; @%p1 {wmma}");
    assert!(of(32, &guarded).contains("only lanes"));
    let diverged = format!("setp.lt.u32 %p1, %r0, 9; @%p1 bra L; {wmma} L:");
    assert!(of(32, &diverged).contains("matrix instruction together"));
    let mma = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r1, %r2}, {%r3}, {%r4, %r5};";
    assert!(of(31, mma).contains("only lanes"));
    assert!(of(31, "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;").contains("only lanes"));
    // an instruction without active lanes is not an error
    assert!(kernel(32, &format!("setp.lt.u32 %p1, %r0, 0; @%p1 {wmma} ret;")).zeros(512).run().is_ok());

    let short = wmma.replace("16;", "17;");
    assert!(of(32, &short).contains("misaligned load of 4 bytes"), "{}", of(32, &short));
    let long = wmma.replace("16;", "24;");
    assert!(of(32, &long).contains("out-of-bounds load of 4 bytes"), "{}", of(32, &long));
    let apart = format!("mul.wide.u32 %rd5, %r0, 4; add.u64 %rd0, %rd0, %rd5; {wmma}");
    assert!(of(32, &apart).contains("lanes 0 and 1 of warp 0 give different addresses"));
    let strides = wmma.replace(" 16;", " %r0;");
    assert!(of(32, &strides).contains("different strides"));

    let rows = "mov.u64 %rd10, pool; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%rd10+8];";
    assert!(of(32, rows).contains("misaligned load of 16 bytes"), "{}", of(32, rows));
    let global = "ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd0];";
    assert!(of(32, global).contains("goes to global memory"), "{}", of(32, global));
    let far = "mov.u32 %r1, 4096; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};";
    assert!(of(32, far).contains("out-of-bounds store of 16 bytes"), "{}", of(32, far));
}

#[test]
fn forms_that_do_not_exist_are_refused() {
    for (instruction, expected) in [
        ("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};", "not simulated"),
        ("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};", "not simulated"),
        ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 {%r1}, {%r1}, {%r1}, {%r1};", "not simulated"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.f16.f32 {%r1}, {%r1}, {%r1}, {%r1};", "not simulated"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1}, {%r1, %r2}, {%r3}, {%r4, %r5};",
            "takes 2 elements",
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.satfinite.f16.f16.f16.f16 {%r1}, {%r1}, {%r3}, {%r4};",
            "`.satfinite`",
        ),
        (
            "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r1}, {%r1}, {%r3}, {%r4};",
            "not simulated",
        ),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1}, {%r1}, {%r3}, {%r4}, %r5, 0;", "`.sp`"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {1, %r2}, {%r3}, {%r4, %r5};",
            "a register",
        ),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f32 {%r1}, [%rd0];", "not simulated"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd0];", "takes 8 elements"),
        ("wmma.store.d.sync.aligned.m16n16k16.f32 [%rd0], {%r1};", "1 layouts"),
        ("wmma.load.d.sync.aligned.row.m16n16k16.f32 {%r1}, [%rd0];", "names no matrix"),
        ("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1}, [%rd0];", "number of matrices"),
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1}, [%rd0];", "8 by 8"),
        ("tcgen05.fence::before_thread_sync;", "tensor memory"),
    ] {
        let error = kernel(32, &format!("{instruction} ret;")).zeros(512).error();
        assert!(error.contains(expected), "{instruction}: {error}");
    }
}
