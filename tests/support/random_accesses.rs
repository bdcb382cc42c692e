//! Random kernels that do little but access memory: lanes in strides of any length, words in part,
//! vectors, atomics, constants, fences.
#![allow(dead_code, reason = "each test file uses a part")]

use std::fmt::Write as _;

use warpbound::program::KernelCode;
use warpbound::program::launch::{Arg, Buffer, Elem, Launch};

use crate::reference::program;

/// Accesses: the instruction, where `ADDRESS`, `SHARED` and `TABLE` stand for an address in a buffer, in
/// shared memory and among the constants, and `CONSTANT` for a number; and the alignment that it needs.
const ACCESSES: &[(&str, u32)] = &[
    ("ld.global.u32 %r10, [ADDRESS];", 4),
    ("ld.global.u32 %r10, [ADDRESS];", 4),
    ("ld.global.u8 %r10, [ADDRESS];", 1),
    ("ld.global.v2.u32 {%r10, %r11}, [ADDRESS];", 8),
    ("ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [ADDRESS];", 16),
    ("st.global.u32 [ADDRESS], %r1;", 4),
    ("st.global.u8 [ADDRESS], %r1;", 1),
    ("st.global.v2.u32 [ADDRESS], {%r1, %r2};", 8),
    ("st.global.v4.u32 [ADDRESS], {%r1, %r2, %r1, %r2};", 16),
    ("atom.global.add.u32 %r10, [ADDRESS], %r1;", 4),
    ("red.global.add.u32 [ADDRESS], %r1;", 4),
    ("ld.const.u32 %r10, [table+CONSTANT];", 4),
    ("ld.const.u32 %r10, [TABLE];", 4),
    ("ld.shared.u32 %r10, [SHARED];", 4),
    ("ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [SHARED];", 16),
    ("st.shared.u32 [SHARED], %r1;", 4),
    ("atom.shared.add.u32 %r10, [SHARED], %r1;", 4),
    ("membar.gl;", 4),
    ("add.u32 %r14, %r14, %r10;", 4),
];

/// Draws a kernel; `draw` returns a number below its argument.
pub fn kernel(draw: &mut impl FnMut(usize) -> usize) -> (KernelCode, Launch) {
    let bytes = [512, 2048, 8192, 65536][draw(4)];
    let mut text = ".version 6.3\n.target sm_61\n.address_size 64\n.const .align 16 .b8 table[4096];\n\
        .shared .align 16 .b8 shared[4096];\n\
        .visible .entry accesses(.param .u64 accesses_param_0)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<16>;\n\
        .reg .b64 %rd<4>;\nld.param.u64 %rd1, [accesses_param_0];\ncvta.to.global.u64 %rd1, %rd1;\n\
        mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r14, 0;\n"
        .to_owned();
    for _ in 0..4 + draw(28) {
        access(draw, bytes, &mut text);
    }
    text.push_str("st.global.u32 [%rd1], %r14;\nret;\n}\n");
    let launch = launch_on_buffer(1 + draw(5) as u32, [1, 20, 32, 64, 100, 256][draw(6)], bytes as usize);
    (program("accesses.ptx", "accesses", text), launch)
}

/// Returns a launch whose only argument is a buffer with this many bytes, all zero.
pub fn launch_on_buffer(blocks: u32, threads: u32, bytes: usize) -> Launch {
    Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        registers: None,
        args: vec![Arg::Buffer(0)],
        buffers: vec![Buffer {
            name: "buffer".to_owned(),
            elem: Elem::U32,
            bytes: vec![0; bytes],
            constant: false,
        }],
        symbols: Vec::new(),
        images: Vec::new(),
    }
}

fn access(draw: &mut impl FnMut(usize) -> usize, bytes: u32, text: &mut String) {
    let (instruction, alignment) = ACCESSES[draw(ACCESSES.len())];
    let stride = [0, 1, 4, 4, 4, 8, 16, 32, 36, 128, 260, 1024][draw(12)];
    let of_block = [0, 4, 128, 4096][draw(4)];
    let (first, mask) = (draw(bytes as usize), (bytes - 1) & !(alignment - 1));
    let guard = if draw(4) == 0 { "@%p1 " } else { "" };
    let instruction =
        instruction.replace("ADDRESS", "%rd3").replace("CONSTANT", &(draw(1024) * 4).to_string());
    let instruction = instruction.replace("SHARED", "%r5").replace("TABLE", "%r6");
    write!(
        text,
        "mul.lo.u32 %r3, %r1, {stride};\nmad.lo.u32 %r3, %r2, {of_block}, %r3;\nadd.u32 %r3, %r3, {first};\n\
         and.b32 %r3, %r3, {mask};\ncvt.u64.u32 %rd2, %r3;\nadd.u64 %rd3, %rd1, %rd2;\n\
         and.b32 %r4, %r3, 4095;\nmov.u32 %r5, shared;\nadd.u32 %r5, %r5, %r4;\n\
         mov.u32 %r6, table;\nadd.u32 %r6, %r6, %r4;\nsetp.lt.u32 %p1, %r1, {};\n{guard}{instruction}\n",
        draw(64)
    )
    .expect("a text takes everything");
}
