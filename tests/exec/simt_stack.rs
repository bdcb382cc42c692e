//! The two SIMT stacks: figures 5 to 7 of Adalbert et al., ERTS 2022, step by step, and that PTX
//! runs the same under both.
//!
//! In our copy of the paper, some masks lack one F (0xFFFFFFF although the text states that all 32
//! threads are active), and a header cell is missing. The rest of the figures is legible and agrees
//! with the text. The paper uses byte addresses, 8 per instruction, and the top bit for lane 0; we
//! use bit 0.

use crate::exec_support;
use crate::shipped;

use exec_support::{Outcome, STORE, kernel};
use shipped::{launch_files, load};
use warpbound::base::{LaneMask, Pc};
use warpbound::exec::stack::SimtStack;
use warpbound::exec::{Executor, Options};
use warpbound::machine::Reconvergence;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::Launch;
use warpbound::program::sem::{Cmp, Compare, CompareInto, IntTy, Operand, Region, Special, ValueTy};
use warpbound::program::{Flow, Guard, Instr, KernelCode, RegKind, RegList, Register, Sem};

const PASCAL: Reconvergence = Reconvergence::PascalStack;

/// Returns the rows of a figure, top first: npc and rpc as byte addresses, mask with lane 0 as the
/// top bit.
fn figure(stack: &SimtStack) -> Vec<(u32, u32, u32)> {
    let bytes = |pc: Pc| if pc == SimtStack::END { 0xffff } else { pc.get() * 8 };
    let row = |e: &warpbound::exec::stack::Entry| (bytes(e.npc), bytes(e.rpc), e.mask.bits().reverse_bits());
    stack.entries().iter().rev().map(row).collect()
}

fn at(address: u32) -> Pc {
    Pc::new(address / 8)
}

#[test]
fn figures_5_to_7_step_by_step() {
    for region in [Region::Sync, Region::Break] {
        let mut stack = SimtStack::new(PASCAL);
        stack.start(LaneMask::ALL);
        stack.advance();
        assert_eq!(figure(&stack), [(0x8, 0xffff, 0xffff_ffff)], "figure 5, before");
        stack.open(region, at(0x70));
        let after_5 = [(0x10, 0x70, 0xffff_ffff), (0x70, 0xffff, 0xffff_ffff)];
        assert_eq!(figure(&stack), after_5, "figure 5, after; figure 6, before");
        let first_two = LaneMask::from_bits_retain(0x0000_0003);
        stack.branch(first_two, at(0x48), None);
        let after_6 = [(0x48, 0x70, 0xc000_0000), (0x18, 0x70, 0x3fff_ffff), (0x70, 0xffff, 0xffff_ffff)];
        assert_eq!(figure(&stack), after_6, "figure 6, after; figure 7, before");
        assert!(stack.close(region, first_two));
        assert_eq!(figure(&stack), after_6[1..], "figure 7, after");
        // the prose continues: the others reach their SYNC, and all resume at 0x70
        stack.advance();
        assert_eq!(figure(&stack)[0], (0x20, 0x70, 0x3fff_ffff));
        assert!(stack.close(region, !first_two));
        assert_eq!(figure(&stack), [(0x70, 0xffff, 0xffff_ffff)]);
    }
}

#[test]
fn a_branch_of_all_or_none_does_not_diverge() {
    let mut stack = SimtStack::new(PASCAL);
    stack.start(LaneMask::ALL);
    stack.open(Region::Sync, at(0x70));
    stack.branch(LaneMask::ALL, at(0x48), None);
    assert_eq!(figure(&stack), [(0x48, 0x70, !0), (0x70, 0xffff, !0)]);
    stack.branch(LaneMask::empty(), at(0x18), None);
    assert_eq!(figure(&stack), [(0x50, 0x70, !0), (0x70, 0xffff, !0)]);
}

#[test]
fn arrival_at_the_rpc_alone_closes_no_explicit_region() {
    let mut stack = SimtStack::new(PASCAL);
    stack.start(LaneMask::ALL);
    stack.open(Region::Sync, at(0x10));
    stack.advance();
    assert_eq!(figure(&stack), [(0x10, 0x10, !0), (0x10, 0xffff, !0)]);
}

#[test]
fn a_break_inside_of_an_if_leaves_the_if_too() {
    let mut stack = SimtStack::new(PASCAL);
    stack.start(LaneMask::first(4));
    stack.open(Region::Break, Pc::new(20));
    stack.open(Region::Sync, Pc::new(10));
    stack.branch(LaneMask::from_bits_retain(0b0011), Pc::new(6), None);
    assert!(stack.close(Region::Break, LaneMask::from_bits_retain(0b0001)));
    let masks = |stack: &SimtStack| -> Vec<(u32, u32)> {
        stack.entries().iter().rev().map(|e| (e.npc.get(), e.mask.bits())).collect()
    };
    // lane 0 waits at 20 only; lane 1 continues after the guarded BRK
    assert_eq!(masks(&stack), [(7, 0b0010), (3, 0b1100), (10, 0b1110), (20, 0b1111)]);
    assert!(stack.close(Region::Sync, LaneMask::from_bits_retain(0b0010)));
    assert!(stack.close(Region::Sync, LaneMask::from_bits_retain(0b1100)));
    assert_eq!(masks(&stack), [(10, 0b1110), (20, 0b1111)]);
    assert!(!stack.close(Region::Sync, LaneMask::from_bits_retain(0b1110)), "SYNC has no SSY here");
    assert!(stack.close(Region::Break, LaneMask::from_bits_retain(0b1110)));
    assert_eq!(masks(&stack), [(20, 0b1111)]);
}

fn instr(sem: Sem, guard: Option<Guard>, line: u32) -> Instr {
    let (dsts, srcs, flow) = (RegList::new(), RegList::new(), Flow::Plain);
    let class = warpbound::base::OpClass::from_index(0);
    Instr { class, class_by_space: None, dsts, srcs, guard, flow, memory: None, sem, line, folded: false }
}

/// Returns `if (lane < 2) A else B`, with SSY and SYNC as Pascal's compiler places them.
fn explicit() -> KernelCode {
    let p = warpbound::base::RegId::new(0);
    let compare = Compare {
        cmp: Cmp::Lt,
        ty: ValueTy::Int(IntTy { bits: 32, signed: false }),
        ftz: false,
        a: Operand::Special(Special::LaneId),
        b: Operand::Imm(2),
        combine: None,
        into: CompareInto::Preds(Some(p), None),
    };
    let sync = Sem::CloseRegion { region: Region::Sync };
    let code = [
        (Sem::Compare(Box::new(compare)), false),
        (Sem::OpenRegion { region: Region::Sync, join: Pc::new(7) }, false),
        (Sem::Branch { target: Pc::new(5), reconverge: None }, true),
        (Sem::Nop, false),
        (sync.clone(), false),
        (Sem::Nop, false),
        (sync, false),
        (Sem::Exit, false),
    ];
    let guard = |guarded: bool| guarded.then_some(Guard { reg: p, negate: false });
    let instrs = code.into_iter();
    let mut program = KernelCode {
        name: "k".to_owned(),
        file: "k".to_owned(),
        instrs: instrs.enumerate().map(|(i, (sem, g))| instr(sem, guard(g), i as u32 + 1)).collect(),
        regs: vec![Register { name: "p".to_owned(), kind: RegKind::Pred }],
        ..KernelCode::default()
    };
    program.classes.intern("int");
    program
}

fn launch() -> Launch {
    Launch {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
        registers: None,
        args: Vec::new(),
        buffers: Vec::new(),
        symbols: Vec::new(),
        images: Vec::new(),
    }
}

#[test]
fn programs_with_explicit_instructions_run() {
    let (program, launch) = (explicit(), launch());
    // explicit instructions apply on any machine
    for options in [Options { reconvergence: PASCAL, ..Options::default() }, Options::default()] {
        let mut paths = BlockPaths::default();
        Executor::new(&program, &launch, options).unwrap().next_block(&mut paths).unwrap();
        let pcs: Vec<u32> = paths.warps[0].steps().iter().map(|step| step.pc().get()).collect();
        assert_eq!(pcs, [0, 1, 2, 5, 6, 3, 4, 7]);
        let masks: Vec<(u32, u32)> = paths.warps[0].masks().iter().map(|(i, m)| (*i, m.bits())).collect();
        assert_eq!(masks, [(0, !0), (3, 3), (5, !3), (7, !0)]);
    }
}

#[test]
fn a_sync_without_its_ssy_is_an_error_of_the_kernel() {
    let mut program = explicit();
    program.instrs[1].sem = Sem::Nop;
    let launch = launch();
    let options = Options { reconvergence: PASCAL, ..Options::default() };
    let mut executor = Executor::new(&program, &launch, options).unwrap();
    let error = executor.next_block(&mut BlockPaths::default()).unwrap_err().to_string();
    assert!(
        error.contains("SYNC of warp 0, lanes 0x00000003, without SSY") && error.contains("k:7"),
        "{error}"
    );
}

/// Returns every block's paths and every buffer of a shipped launch.
fn run(
    program: &KernelCode,
    launch: &Launch,
    reconvergence: Reconvergence,
) -> (Vec<BlockPaths>, Vec<Vec<u8>>) {
    let options = Options { reconvergence, ..Options::default() };
    let mut executor = Executor::new(program, launch, options).unwrap();
    let (mut paths, mut blocks) = (BlockPaths::default(), Vec::new());
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{error}")) {
        blocks.push(paths.clone());
    }
    (blocks, (0..launch.buffers.len()).map(|i| executor.buffer(i).to_vec()).collect())
}

#[test]
fn every_shipped_launch_is_the_same_under_both() {
    let mut diverging = 0;
    for file in launch_files() {
        let shipped = load(&file, 1);
        let (paths, buffers) = run(&shipped.program, &shipped.launch, Reconvergence::PostDominator);
        let (pascal_paths, pascal_buffers) = run(&shipped.program, &shipped.launch, PASCAL);
        assert!(paths == pascal_paths, "{}: paths differ", shipped.name);
        assert!(buffers == pascal_buffers, "{}: buffers differ", shipped.name);
        diverging += usize::from(paths.iter().flat_map(|b| &b.warps).any(|warp| warp.masks().len() > 1));
    }
    assert!(diverging >= 10, "only {diverging} launches diverge: nothing was compared");
}

#[test]
fn functions_tables_and_endless_loops_are_the_same_under_both() {
    let table = format!(
        "TABLE: .branchtargets L0, L1, L2;
        rem.u32 %r2, %r0, 3;
        brx.idx %r2, TABLE;
        L0: mov.u32 %r1, 100; bra JOIN;
        L1: mov.u32 %r1, 200; bra JOIN;
        L2: mov.u32 %r1, 300;
        JOIN: {STORE} ret;"
    );
    let endless = format!(
        "setp.lt.u32 %p1, %r0, 9; mov.u32 %r1, 0;
        AGAIN: add.u32 %r1, %r1, 1; setp.gt.u32 %p2, %r1, %r0;
        @%p2 bra OUT; @%p1 bra AGAIN; add.u32 %r1, %r1, 1; bra AGAIN;
        OUT: {STORE} ret;"
    );
    for body in [table, endless] {
        let both = [Reconvergence::PostDominator, PASCAL].map(|reconvergence| {
            let mut launch = kernel(40, &body).zeros(160);
            launch.reconvergence = reconvergence;
            let Outcome { blocks, buffers, .. } = launch.ok();
            (blocks, buffers)
        });
        assert_eq!(both[0], both[1]);
    }
}

/// Returns (executions, diverged, taken, not taken) of every branch, in program order.
fn branches(outcome: &Outcome) -> Vec<(u64, u64, u64, u64)> {
    let row = |b: &warpbound::exec::divergence::BranchUse| {
        (b.executions, b.diverged, b.taken_lanes, b.not_taken_lanes)
    };
    outcome.divergence.branches().map(row).collect()
}

#[test]
fn divergence_of_an_if_else_and_of_a_loop() {
    // 8 of 32 lanes take the branch; the unconditional one cannot diverge and is not listed
    let body = "setp.lt.u32 %p1, %r0, 8; @%p1 bra THEN; mov.u32 %r1, 1; bra JOIN;
        THEN: mov.u32 %r1, 2; JOIN: ret;";
    let outcome = kernel(32, body).ok();
    assert_eq!(branches(&outcome), [(1, 1, 8, 24)]);
    // mov setp bra ret with 32 lanes, mov with 8, mov bra with 24
    let active = outcome.divergence.active().counts();
    assert_eq!((active[32], active[8], active[24], active.iter().sum::<u64>()), (4, 1, 2, 7));
    // 8 lanes of the branch are enabled: 3 * 32 + 8 + 8 + 2 * 24 thread instructions
    assert_eq!(outcome.divergence.simd_efficiency(), 160.0 / (7.0 * 32.0));

    // lane k executes max(k, 1) iterations: in iteration n = 1..=31 the lanes with k > n continue
    let body = "mov.u32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0;
        @%p1 bra LOOP; ret;";
    let outcome = kernel(32, body).ok();
    let taken: u64 = (1..=31).map(|n| 31 - n).sum();
    // iteration 1 has 32 lanes, iteration n > 1 the 32 - n lanes with k >= n; all lanes leave in
    // the last iteration, that of lane 31 alone
    let came: u64 = 32 + (2..=31).map(|n| 32 - n).sum::<u64>();
    assert_eq!(branches(&outcome), [(31, 30, taken, came - taken)]);
    let branch = outcome.divergence.branches().next().unwrap();
    assert_eq!(
        (branch.active.counts()[32], branch.active.counts()[1], branch.active.counts()[31]),
        (1, 1, 0)
    );
}

#[test]
fn divergence_of_nested_ifs_and_exits() {
    let body = "and.b32 %r2, %r0, 1; setp.ne.u32 %p1, %r2, 0;
        and.b32 %r3, %r0, 2; setp.ne.u32 %p2, %r3, 0;
        @%p1 bra ODD; @%p2 bra EVEN2; mov.u32 %r1, 0; bra EJOIN;
        EVEN2: mov.u32 %r1, 2; EJOIN: add.u32 %r1, %r1, 1; bra JOIN;
        ODD: setp.gt.u32 %p3, %r0, 99; @%p3 bra JOIN; @%p1 exit;
        JOIN: ret;";
    // two warps of 32 and 8 lanes; odd lanes never take the third branch and end before the join
    let outcome = kernel(40, body).ok();
    assert_eq!(branches(&outcome), [(2, 2, 20, 20), (2, 2, 10, 10), (2, 0, 0, 20)]);
}
