//! Calls through pointers, and recursive functions.

use crate::exec_support;

use exec_support::{Kernel, Outcome, STORE, kernel};
use warpbound::machine::Reconvergence;

/// Runs a kernel with both mechanisms of reconvergence, which must give the same result.
fn both(make: impl Fn() -> Kernel) -> Outcome {
    let [one, other] = [Reconvergence::PostDominator, Reconvergence::PascalStack].map(|reconvergence| {
        let mut kernel = make();
        kernel.reconvergence = reconvergence;
        kernel.ok()
    });
    assert_eq!((&one.buffers, &one.blocks), (&other.buffers, &other.blocks));
    one
}

fn words(module: &str, body: &str) -> Vec<u32> {
    both(|| kernel(32, &format!("{body}\n{STORE} ret;")).module(module).zeros(128)).words(0)
}

fn each(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

/// `a + b`, `a - b`, `a * b`, with parameters in memory.
const OPERATIONS: &str = "\
.func (.param .b32 r) plus(.param .b32 a, .param .b32 b) { .reg .b32 %x<4>; ld.param.b32 %x0, [a]; ld.param.b32 %x1, [b]; add.u32 %x2, %x0, %x1; st.param.b32 [r], %x2; ret; }
.func (.param .b32 r) minus(.param .b32 a, .param .b32 b) { .reg .b32 %x<4>; ld.param.b32 %x0, [a]; ld.param.b32 %x1, [b]; sub.u32 %x2, %x0, %x1; st.param.b32 [r], %x2; ret; }
.func (.param .b32 r) times(.param .b32 a, .param .b32 b) { .reg .b32 %x<4>; ld.param.b32 %x0, [a]; ld.param.b32 %x1, [b]; mul.lo.u32 %x2, %x0, %x1; st.param.b32 [r], %x2; ret; }
.global .u64 table[3] = {plus, minus, times};
.const .align 8 .u64 other_table[2] = {times, generic(plus)};
";

/// Returns a call of `%rd5` with `%r0` and 7.
fn call(last: &str) -> String {
    format!(
        "{{ .param .b32 p; .param .b32 q; .param .b32 s; st.param.b32 [p], %r0; st.param.b32 [q], 7;\n\
         call (s), %rd5, (p, q), {last};\n\
         ld.param.b32 %r1, [s]; }}"
    )
}

const PROTOTYPE: &str = "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);";

fn applied(lane: u32, which: u32) -> u32 {
    [lane + 7, lane.wrapping_sub(7), lane * 7][which as usize]
}

#[test]
fn addresses_are_values_that_tables_and_selections_hold() {
    let from_table =
        "rem.u32 %r2, %r0, 3; mul.wide.u32 %rd4, %r2, 8; mov.u64 %rd6, table; add.u64 %rd4, %rd4, %rd6;
        ld.global.u64 %rd5, [%rd4];";
    for last in ["proto", "table", "list"] {
        let lists = format!("{PROTOTYPE} list: .calltargets times, plus, minus;");
        let got = words(OPERATIONS, &format!("{from_table} {lists} {}", call(last)));
        assert_eq!(got, each(|lane| applied(lane, lane % 3)), "{last}");
    }
    let selected = format!(
        "{PROTOTYPE} mov.u64 %rd6, plus; mov.u64 %rd7, times; setp.lt.u32 %p1, %r0, 9; selp.b64 %rd5, %rd6, %rd7, %p1; {}",
        call("proto")
    );
    assert_eq!(words(OPERATIONS, &selected), each(|lane| applied(lane, if lane < 9 { 0 } else { 2 })));
    let constants = format!("{PROTOTYPE} ld.const.u64 %rd5, [other_table+8]; {}", call("proto"));
    assert_eq!(words(OPERATIONS, &constants), each(|lane| applied(lane, 0)));
    let equal = "mov.u64 %rd5, plus; ld.global.u64 %rd6, [table]; setp.eq.u64 %p1, %rd5, %rd6; selp.u32 %r1, 1, 0, %p1;";
    assert_eq!(words(OPERATIONS, equal), [1; 32]);
}

#[test]
fn lanes_with_different_targets_split_and_meet_behind_the_call() {
    let functions = "\
.func (.reg .b32 r) low(.reg .b32 a)
{ add.u32 r, a, 100;
ret; }
.func (.reg .b32 r) high(.reg .b32 a)
{ add.u32 r, a, 200;
ret; }";
    let body = format!(
        "proto: .callprototype (.reg .b32 _) _ (.reg .b32 _); mov.u64 %rd6, low; mov.u64 %rd5, high;
        setp.lt.u32 %p1, %r0, 8; setp.lt.u32 %p2, %r0, 24; mov.u32 %r1, 5; @!%p1 mov.u64 %rd5, %rd6;
        @%p2 call (%r1), %rd5, (%r0), proto;
        add.u32 %r1, %r1, 1;
        {STORE} ret;"
    );
    let outcome = both(|| kernel(32, &body).module(functions).zeros(128));
    let expected = each(|lane| match lane {
        0..8 => lane + 201,
        8..24 => lane + 101,
        _ => 6,
    });
    assert_eq!(outcome.words(0), expected);
    // the call once, then the function of the lowest lane, the other one, and everything that
    // follows
    let trace = outcome.trace(0);
    let at = |text: &str| {
        let all = kernel(32, &body).module(functions).zeros(128).text();
        all.lines().position(|line| line.contains(text)).unwrap() as u32 + 1
    };
    let call = trace.iter().position(|(line, _)| *line == at("@%p2 call")).unwrap();
    let (low, high) = (0x00ff_ff00, 0xff);
    let expected = [
        (at("@%p2 call"), u32::MAX),
        (at("add.u32 r, a, 200"), high),
        (at("add.u32 r, a, 200") + 1, high),
        (at("add.u32 r, a, 100"), low),
        (at("add.u32 r, a, 100") + 1, low),
        (at("@%p2 call") + 1, u32::MAX),
    ];
    assert_eq!(trace[call..call + 6], expected);
    let branch = outcome.divergence.branches().find(|used| used.diverged > 0).unwrap();
    assert_eq!((branch.executions, branch.taken_lanes, branch.not_taken_lanes), (1, 24, 8));
    // the dependences of the call: pointer, argument and guard
    let instr = &outcome.program.instrs.iter().find(|i| i.line == at("@%p2 call")).unwrap();
    let names: Vec<&str> =
        instr.srcs.as_slice().iter().map(|reg| outcome.program.regs[reg.index()].name.as_str()).collect();
    assert_eq!(names, ["%rd5", "%r0", "%p2"]);
}

/// Ackermann's function: the inner call's result is an argument, arguments are exchanged, and
/// depths differ from lane to lane.
#[test]
fn arguments_and_registers_belong_to_their_call() {
    let module = "\
.func (.reg .u32 r) ackermann(.reg .u32 m, .reg .u32 n)
{ .reg .pred %z<2>; .reg .u32 %k<4>;
  setp.eq.u32 %z0, m, 0; @%z0 bra ZERO;
  setp.eq.u32 %z1, n, 0; @%z1 bra ONE;
  sub.u32 %k0, m, 1; sub.u32 %k1, n, 1;
  call (%k2), ackermann, (m, %k1);
  call (r), ackermann, (%k0, %k2); ret;
ONE: sub.u32 %k0, m, 1; call (r), ackermann, (%k0, 1); ret;
ZERO: add.u32 r, n, 1; ret; }
.func (.reg .u32 r) swapped(.reg .u32 a, .reg .u32 b, .reg .u32 left)
{ .reg .pred %z; .reg .u32 %k<3>; setp.ne.u32 %z, left, 0; sub.u32 %k0, left, 1;
  @%z call (%k1), swapped, (b, a, %k0);
  shl.b32 %k2, a, 8; or.b32 r, %k2, b; @%z shl.b32 %k1, %k1, 1; @%z xor.b32 r, r, %k1; ret; }";
    fn ackermann(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    let body = "rem.u32 %r2, %r0, 3; shr.u32 %r3, %r0, 3; call (%r1), ackermann, (%r2, %r3);";
    assert_eq!(words(module, body), each(|lane| ackermann(lane % 3, lane / 8)));
    fn swapped(a: u32, b: u32, left: u32) -> u32 {
        let own = a << 8 | b;
        if left == 0 { own } else { own ^ swapped(b, a, left - 1) << 1 }
    }
    let body = "and.b32 %r2, %r0, 7; call (%r1), swapped, (%r0, 3, %r2);";
    assert_eq!(words(module, body), each(|lane| swapped(lane, 3, lane % 8)));
}

/// Every call has its own local memory, and a pointer to that of an outer call stays valid.
#[test]
fn frames_have_local_memory_of_their_own() {
    let module = "\
.func (.param .b32 r) add_digits(.param .b32 n, .param .b64 out)
{ .local .align 8 .b8 own[16]; .reg .b32 %k<9>; .reg .b64 %a<9>; .reg .pred %z;
  ld.param.b32 %k0, [n]; ld.param.b64 %a0, [out];
  rem.u32 %k1, %k0, 10; div.u32 %k2, %k0, 10; st.local.b32 [own+4], %k1; mov.u64 %a1, own; cvta.local.u64 %a2, %a1;
  cvta.local.u64 %a3, own; setp.ne.b64 %z, %a2, %a3; @%z trap;
  setp.eq.u32 %z, %k2, 0; @%z bra DONE;
  { .param .b32 p; .param .b64 q; .param .b32 s; st.param.b32 [p], %k2; add.u64 %a4, %a2, 4; st.param.b64 [q], %a4;
    call (s), add_digits, (p, q); ld.param.b32 %k3, [s]; }
DONE: ld.local.b32 %k4, [own+4]; ld.b32 %k5, [%a0]; add.u32 %k5, %k5, %k4; st.b32 [%a0], %k5;
  st.param.b32 [r], %k0; ret; }";
    let body = "mul.lo.u32 %r2, %r0, 1777; { .local .b32 sum; .param .b32 p; .param .b64 q; .param .b32 s;
        st.local.b32 [sum], 0; cvta.local.u64 %rd4, sum; st.param.b32 [p], %r2; st.param.b64 [q], %rd4;
        call (s), add_digits, (p, q); ld.param.b32 %r3, [s]; ld.local.b32 %r1, [sum]; } mad.lo.u32 %r1, %r1, 100000, %r3;";
    let digits = |mut n: u32| {
        let mut sum = 0;
        while n > 0 {
            (sum, n) = (sum + n % 10, n / 10);
        }
        sum
    };
    assert_eq!(words(module, body), each(|lane| digits(lane * 1777) * 100_000 + lane * 1777));
}

/// Functions that call each other, one of them through a pointer to itself.
#[test]
fn recursion_through_other_functions_and_through_pointers() {
    let module = "\
.func (.reg .u32 r) odd(.reg .u32 n);
.func (.reg .u32 r) even(.reg .u32 n)
{ .reg .pred %z; .reg .u32 %k; setp.eq.u32 %z, n, 0; mov.u32 r, 1; @%z ret; sub.u32 %k, n, 1; call (r), odd, (%k); ret; }
.func (.reg .u32 r) odd(.reg .u32 n)
{ .reg .pred %z; .reg .u32 %k; setp.eq.u32 %z, n, 0; mov.u32 r, 0; @%z ret; sub.u32 %k, n, 1; call (r), even, (%k); ret; }
.func (.reg .u32 r) factorial(.reg .u32 n, .reg .u64 self)
{ .reg .pred %z; .reg .u32 %k<2>; proto: .callprototype (.reg .u32 _) _ (.reg .u32 _, .reg .u64 _);
  setp.lt.u32 %z, n, 2; mov.u32 r, 1; @%z ret; sub.u32 %k0, n, 1;
  call (%k1), self, (%k0, self), proto; mul.lo.u32 r, n, %k1; ret; }";
    let parity =
        "call (%r2), even, (%r0); call (%r3), odd, (%r0); shl.b32 %r2, %r2, 1; or.b32 %r1, %r2, %r3;";
    assert_eq!(words(module, parity), each(|lane| if lane % 2 == 0 { 2 } else { 1 }));
    let body = "rem.u32 %r2, %r0, 13; mov.u64 %rd4, factorial; call (%r1), factorial, (%r2, %rd4);";
    assert_eq!(words(module, body), each(|lane| (1..=lane % 13).product()));
}

#[test]
fn invalid_call_targets_are_named() {
    let error = |body: &str| kernel(32, &format!("{PROTOTYPE} {body} ret;")).module(OPERATIONS).error();
    let null = error(&format!("mov.u64 %rd5, 0; {}", call("proto")));
    assert!(null.contains("k.ptx:") && null.contains("call of address 0x0"), "{null}");
    assert!(null.contains("lane 0 of warp 0") && null.contains("null pointer"), "{null}");
    let inside = error(&format!("mov.u64 %rd5, plus; add.u64 %rd5, %rd5, 4; {}", call("proto")));
    assert!(inside.contains("no function of this kernel"), "{inside}");
    let listed = error(&format!("list: .calltargets minus; mov.u64 %rd5, plus; {}", call("list")));
    assert!(listed.contains("`plus`, which is not among the targets of this call"), "{listed}");
    let other = "wrong: .callprototype _ (.param .b64 _); mov.u64 %rd5, plus;
        { .param .b64 p; call %rd5, (p), wrong; }";
    let prototype = error(other);
    assert!(prototype.contains("another prototype") && prototype.contains("4, 4 bytes"), "{prototype}");
    let data = error("mov.u64 %rd5, plus; ld.u32 %r1, [%rd5];");
    assert!(data.contains("out-of-bounds load"), "{data}");
    for (body, why) in [
        ("mov.u64 %rd5, plus; call %rd5;", "names a .callprototype"),
        ("mov.u64 %rd5, plus; call %rd5, nothing;", "no prototype of a call"),
        ("call %r5, proto;", "arguments, 0 given"),
        ("call %h5, proto;", "cannot hold the address"),
        ("call puls;", "did you mean `plus`"),
        ("mov.u64 %rd5, k;", "is a kernel"),
        ("ld.u32 %r1, [plus];", "is a function"),
    ] {
        let error = error(body);
        assert!(error.contains(why), "{body}: {error}");
    }
}

#[test]
fn a_recursion_without_end_overflows_the_stack() {
    let module = ".func forever(.param .b32 n) { .reg .b32 %k; .param .b32 p; ld.param.b32 %k, [n]; st.param.b32 [p], %k;
        call forever, (p); ret; }";
    let error = kernel(32, "call forever, (3); ret;").module(module).error();
    // 16 KiB hold 1024 frames of 16 bytes
    assert!(error.contains("stack overflow in `forever`: warp 0 is in 1024 calls at once"), "{error}");
    assert!(error.contains("k.ptx:5") && error.contains("does the recursion end?"), "{error}");
}
