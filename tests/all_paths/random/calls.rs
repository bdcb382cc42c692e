//! Calls of functions without parameters: lanes return at different places, from within loops, and
//! the functions call others.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use warpbound::diag::SourceText;
use warpbound::program::{KernelCode, Sem};
use warpbound::ptx::Module;

use super::{Case, CaseResult, attack_program, regions};

/// Each lane's word of `sm` is data. `f` returns early in some lanes, `g` calls it in a loop that
/// depends on no data, and the kernel calls both in code that only some lanes reach.
const KERNEL: &str = "\
.version 7.0
.target sm_80
.address_size 64
.shared .align 4 .b8 sm[512];
.func f()
{
.reg .pred %p<4>; .reg .b32 %r<8>;
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
mov.u32 %r2, sm;
add.u32 %r2, %r2, %r1;
ld.shared.u32 %r3, [%r2];
setp.lt.u32 %p0, %r3, 2;
@%p0 ret;
and.b32 %r4, %r3, 1;
setp.eq.u32 %p1, %r4, 0;
MARK_0
@%p1 bra EVEN;
add.u32 %r3, %r3, 3;
bra BOTH;
EVEN:
shr.u32 %r3, %r3, 1;
BOTH:
MARK_1
st.shared.u32 [%r2], %r3;
setp.lt.u32 %p2, %r0, 9;
@%p2 ret;
add.u32 %r3, %r3, 1;
ret;
}
.func g()
{
.reg .pred %p<4>; .reg .b32 %r<8>;
mov.u32 %r0, 0;
AGAIN:
call f, ();
add.u32 %r0, %r0, 1;
setp.lt.u32 %p0, %r0, 3;
@%p0 bra AGAIN;
ret;
}
.visible .entry k(.param .u64 p0, .param .u32 p1)
{
.reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
ld.param.u64 %rd0, [p0];
mov.u32 %r0, %tid.x;
mul.wide.u32 %rd1, %r0, 4;
add.s64 %rd2, %rd0, %rd1;
ld.global.u32 %r1, [%rd2];
shl.b32 %r2, %r0, 2;
mov.u32 %r3, sm;
add.u32 %r3, %r3, %r2;
st.shared.u32 [%r3], %r1;
call f, ();
and.b32 %r4, %r1, 4;
setp.ne.u32 %p0, %r4, 0;
MARK_2
@%p0 bra SOME;
add.u32 %r5, %r1, %r0;
call g, ();
SOME:
MARK_3
mov.u32 %r6, 0;
and.b32 %r7, %r1, 3;
MARK_4
ROUND:
setp.ge.u32 %p1, %r6, %r7;
@%p1 bra DONE;
call f, ();
add.u32 %r6, %r6, 1;
bra ROUND;
DONE:
MARK_5
add.u32 %r8, %r6, %r5;
ret;
}
";

/// Returns the kernel, as PTX or with the regions of machine code.
fn program(with_regions: bool) -> KernelCode {
    let mut text = KERNEL.to_owned();
    for mark in 0..6 {
        let number = mark / 2;
        let line = if mark % 2 == 0 { regions::open(number, number) } else { regions::close(number, number) };
        let line = if with_regions { line.replace("%r190", "%r7") } else { String::new() };
        text = text.replace(&format!("MARK_{mark}"), &line);
    }
    // the marks must not overwrite what the code uses
    let text = text.replace("%r<16>", "%r<200>").replace("and.b32 %r7, %r1, 3;", "and.b32 %r9, %r1, 3;");
    let text = text.replace("%r6, %r7;\n@%p1", "%r6, %r9;\n@%p1");
    let module = Module::parse(&SourceText::new("k.ptx", text.as_str())).unwrap_or_else(|e| panic!("{e}"));
    let program = module.program("k", &crate::shipped::isa()).unwrap_or_else(|e| panic!("{e}"));
    if with_regions { regions::marked(program) } else { program }
}

fn case(threads: u32, seed: u64) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let words = |rng: &mut ChaCha8Rng, most: u32| (0..64).map(|_| rng.random_range(0..most)).collect();
    let inputs = vec![words(&mut rng, 8), words(&mut rng, 2), words(&mut rng, 100), vec![7; 64], vec![0; 64]];
    Case { block: [threads, 1, 1], inputs, ..Case::default() }
}

#[test]
fn calls_are_followed_to_their_returns() {
    let machine = crate::shipped::machine("ecrts25-orin-banks");
    for with_regions in [false, true] {
        let program = program(with_regions);
        assert!(program.instrs.iter().any(|instr| matches!(instr.sem, Sem::Call(_))));
        for seed in 0..6 {
            let found = attack_program(
                &case(if seed % 2 == 0 { 32 } else { 48 }, seed),
                program.clone(),
                &machine,
                true,
            );
            let found = found.unwrap_or_else(|violation| panic!("{violation:.2000}"));
            assert!(matches!(found, CaseResult::Held(_)), "{found:?}");
        }
    }
}
