//! Products of warp groups, of every type and layout in shared memory, compared with explicit sums.

use crate::exec_support;
use crate::matrix_products::{Matrix, Numbers, Ty, bits, product_of};

use exec_support::{Kernel, kernel};

/// A layout of a factor in shared memory.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// The bytes over which parts of 16 bytes are swizzled; 16 for no swizzling.
    swizzle: usize,
    /// Whether elements of different lines are adjacent. A line is a row of A or a column of B.
    transposed: bool,
    /// The bytes between the ends of tiles and the beginnings of the next ones.
    gap: usize,
}

impl Layout {
    /// The distances that the descriptor calls leading and stride.
    ///
    /// Memory consists of tiles of 8 rows, of which each has as many bytes as are swizzled. Without
    /// transposition a row is a line, and tiles that follow each other along the lines are the stride
    /// apart. Otherwise a row is a position along k.
    fn distances(&self) -> [usize; 2] {
        let tile = 8 * self.swizzle + self.gap;
        match (self.transposed, self.swizzle) {
            // both tiles of 8 rows along k are next to each other
            (false, 16) => [tile, 2 * tile],
            (false, _) => [16, tile],
            // the stride leads to the next 8 lines, the leading distance to the next 8 positions
            (true, 16) => [tile, 2 * tile],
            (true, _) => [2 * tile, tile],
        }
    }

    fn descriptor(&self, start: usize) -> u64 {
        let [leading, stride] = self.distances().map(|bytes| bytes as u64 / 16);
        let mode = match self.swizzle {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        (start as u64 / 16) | (leading << 16) | (stride << 32) | (mode << 62)
    }

    /// The address of an element of a line, relative to the beginning, which is a multiple of 1024.
    fn address(&self, bytes: usize, line: usize, k: usize) -> usize {
        let [leading, stride] = self.distances();
        // position in rows of tiles, and along them in bytes
        let (row, along) = if self.transposed { (k, line * bytes) } else { (line, k * bytes) };
        let (tile, within) = (along / self.swizzle, along % self.swizzle);
        let (next_rows, next_tile) = match (self.transposed, self.swizzle) {
            (false, _) => (stride, leading),
            (true, 16) => (leading, stride),
            (true, _) => (stride, leading),
        };
        let linear = row / 8 * next_rows + row % 8 * self.swizzle + tile * next_tile + within;
        // 128 bytes are a row of the shared memory; its number exchanges parts of 16 bytes
        let part = linear / 128 % (self.swizzle / 16);
        linear ^ (part * 16)
    }
}

/// The elements of a factor, line by line, in memory.
fn stored(factor: &Matrix, by_column: bool, layout: Layout) -> Vec<u8> {
    let (lines, depth) = if by_column { (factor.cols, factor.rows) } else { (factor.rows, factor.cols) };
    let size = bits(factor.ty) / 8;
    let mut memory = vec![0xee; 32 * 1024];
    for line in 0..lines {
        for k in 0..depth {
            let at = if by_column { k * factor.cols + line } else { line * factor.cols + k };
            let address = layout.address(size, line, k);
            memory[address..address + size].copy_from_slice(&factor.elements[at].to_le_bytes()[..size]);
        }
    }
    memory
}

fn negative(factor: &Matrix, negated: bool) -> Matrix {
    let sign = 1 << (bits(factor.ty) - 1);
    let elements = factor.elements.iter().map(|e| if negated { e ^ sign } else { *e }).collect();
    Matrix { elements, ..factor.clone() }
}

/// A product of one warp group.
#[derive(Clone, Copy, Debug)]
struct Case {
    n: usize,
    /// The types of the result and of the factors.
    types: [Ty; 3],
    layouts: [Layout; 2],
    /// Whether A is in registers.
    held: bool,
    negated: [bool; 2],
    adds: bool,
    saturate: bool,
}

const PLAIN: Layout = Layout { swizzle: 16, transposed: false, gap: 0 };

const CASE: Case = Case {
    n: 8,
    types: ["f32", "f16", "f16"],
    layouts: [PLAIN; 2],
    held: false,
    negated: [false; 2],
    adds: true,
    saturate: false,
};

/// The bytes of shared memory before the factors, for the one in A and the one in B.
const STARTS: [usize; 2] = [1024, 33 * 1024];

impl Case {
    fn kernel(&self) -> (Kernel, Matrix) {
        let Self { n, types: [d, a, b], layouts, held, negated, adds, saturate } = *self;
        let depth = 256 / bits(a);
        let mut numbers = Numbers((n * 131 + depth) as u64 ^ u64::from(held) << 40);
        let (left, right) = (numbers.matrix(a, [64, depth]), numbers.matrix(b, [depth, n]));
        let addend = numbers.matrix(d, [64, n]);
        let zero = Matrix { elements: vec![0; 64 * n], ..addend.clone() };
        let expected = product_of(
            &negative(&left, negated[0]),
            &negative(&right, negated[1]),
            if adds { &addend } else { &zero },
            d,
            saturate,
            false,
        );
        let per = 32 / bits(d);
        let registers = n * 16 / 32 / per;
        let names =
            |prefix: &str, count: usize| (0..count).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>();
        let (dst, src) = (names("d", registers), names("a", 4));
        let mut memory = vec![0xee; STARTS[1] + 32 * 1024];
        memory[STARTS[0]..STARTS[1]].copy_from_slice(&stored(&left, false, layouts[0]));
        memory[STARTS[1]..].copy_from_slice(&stored(&right, true, layouts[1]));
        let each = |command: &str, pointer: &str, regs: &[String]| -> String {
            let one = |(i, reg): (usize, &String)| match command {
                "ld" => format!("ld.global.b32 {reg}, [{pointer}+{}];\n", 4 * i),
                _ => format!("st.global.b32 [{pointer}+{}], {reg};\n", 4 * i),
            };
            regs.iter().enumerate().map(one).collect()
        };
        let signs = negated.map(|negated| if negated { ", -1" } else { ", 1" }).concat();
        let flags = layouts.map(|layout| if layout.transposed { ", 1" } else { ", 0" });
        let immediates = match (d, a) {
            ("s32", _) => String::new(),
            (_, "f16" | "bf16") if held => signs + flags[1],
            (_, "f16" | "bf16") => signs + &flags.concat(),
            _ => signs,
        };
        let factor = if held { format!("{{{}}}", src.join(", ")) } else { "%rd20".to_owned() };
        let body = format!(
            ".reg .b32 %d<128>, %a<4>; .reg .b64 %desc;
            mov.u32 %r1, %r0;
            COPY: mul.wide.u32 %rd10, %r1, 4; add.u64 %rd11, %rd0, %rd10; ld.global.u32 %r2, [%rd11];
            mov.u64 %rd12, pool; add.u64 %rd12, %rd12, %rd10; st.shared.u32 [%rd12], %r2;
            add.u32 %r1, %r1, 128; setp.lt.u32 %p0, %r1, {words}; @%p0 bra COPY;
            bar.sync 0;
            mul.wide.u32 %rd13, %r0, {bytes}; add.u64 %rd14, %rd1, %rd13;
            mul.wide.u32 %rd15, %r0, 16; add.u64 %rd16, %rd2, %rd15;
            {loads}{held_loads}
            mov.b64 %rd20, {left_descriptor}; mov.b64 %desc, {descriptor}; setp.eq.u32 %p1, {adds}, 1;
            wgmma.fence.sync.aligned;
            wgmma.mma_async.sync.aligned.m64n{n}k{depth}.{d}.{a}.{b}{satfinite} {{{results}}}, {factor}, %desc, %p1{immediates};
            wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
            {stores} ret;",
            words = memory.len() / 4,
            bytes = 4 * registers,
            loads = each("ld", "%rd14", &dst),
            held_loads = each("ld", "%rd16", &src),
            left_descriptor = layouts[0].descriptor(STARTS[0]),
            descriptor = layouts[1].descriptor(STARTS[1]),
            adds = u32::from(adds),
            satfinite = if saturate { ".satfinite" } else { "" },
            results = dst.join(", "),
            stores = each("st", "%rd14", &dst),
        );
        let mut kernel = kernel(128, &body).module(".shared .align 1024 .b8 pool[67584];");
        kernel.buffers = vec![memory, self.held_bytes(&addend), held_left(&left)];
        (kernel, expected)
    }

    /// The accumulators of all threads, as the PTX ISA places the elements of `d`: element `i` of a
    /// thread is in row `16 warp + lane / 4 + 8 (i / 2 % 2)` and column `8 (i / 4) + lane % 4 * 2 + i % 2`.
    fn held_bytes(&self, matrix: &Matrix) -> Vec<u8> {
        let size = bits(matrix.ty) / 8;
        let mut memory = Vec::new();
        for thread in 0..128 {
            for i in 0..self.n / 2 {
                let (row, col) = place(thread, i);
                memory.extend(&matrix.elements[row * self.n + col].to_le_bytes()[..size]);
            }
        }
        memory
    }

    fn check(&self) {
        let (kernel, expected) = self.kernel();
        let outcome = kernel.ok();
        assert_eq!(outcome.buffers[1], self.held_bytes(&expected), "{self:?}");
    }
}

fn place(thread: usize, i: usize) -> (usize, usize) {
    let (warp, lane) = (thread / 32, thread % 32);
    (16 * warp + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + lane % 4 * 2 + i % 2)
}

/// The registers of A of all threads: words of 32 bits in the places of pairs of 16-bit elements.
fn held_left(left: &Matrix) -> Vec<u8> {
    let (size, words) = (bits(left.ty) / 8, 8);
    let line = left.cols * size;
    let memory: Vec<u8> = left.elements.iter().flat_map(|e| e.to_le_bytes()[..size].to_vec()).collect();
    assert_eq!(line, 4 * words);
    let mut registers = Vec::new();
    for thread in 0..128 {
        let (warp, lane) = (thread / 32, thread % 32);
        for i in 0..4 {
            let (row, word) = (16 * warp + lane / 4 + 8 * (i % 2), lane % 4 + 4 * (i / 2));
            registers.extend(&memory[row * line + 4 * word..][..4]);
        }
    }
    registers
}

const SWIZZLES: [usize; 4] = [16, 32, 64, 128];

#[test]
fn factors_of_every_layout() {
    for swizzle in SWIZZLES {
        for gap in [0, 1024] {
            for transposed in [[false, false], [true, false], [false, true], [true, true]] {
                let layouts = transposed.map(|transposed| Layout { swizzle, transposed, gap });
                for n in [8, 40, 128] {
                    // what is further apart does not fit
                    if gap == 0 || n < 128 {
                        Case { n, layouts, ..CASE }.check();
                    }
                }
            }
        }
    }
}

#[test]
fn every_type_with_factors_in_memory_and_in_registers() {
    let types: [[Ty; 3]; 13] = [
        ["f32", "f16", "f16"],
        ["f16", "f16", "f16"],
        ["f32", "bf16", "bf16"],
        ["f32", "tf32", "tf32"],
        ["f32", "e4m3", "e4m3"],
        ["f32", "e4m3", "e5m2"],
        ["f32", "e5m2", "e4m3"],
        ["f16", "e5m2", "e5m2"],
        ["s32", "s8", "s8"],
        ["s32", "s8", "u8"],
        ["s32", "u8", "s8"],
        ["s32", "u8", "u8"],
        ["f16", "e4m3", "e4m3"],
    ];
    for types in types {
        for held in [false, true] {
            for (n, swizzle) in [(8, 128), (24, 16), (256, 32)] {
                let layout = Layout { swizzle, ..PLAIN };
                Case { n, types, layouts: [layout; 2], held, ..CASE }.check();
            }
        }
    }
}

#[test]
fn signs_addends_and_limits() {
    for negated in [[true, false], [false, true], [true, true]] {
        for held in [false, true] {
            Case { negated, held, ..CASE }.check();
            Case { negated, held, types: ["f32", "tf32", "tf32"], ..CASE }.check();
            Case { negated, held, types: ["f32", "e5m2", "e4m3"], adds: false, ..CASE }.check();
        }
    }
    for saturate in [false, true] {
        Case { adds: false, saturate, types: ["s32", "s8", "s8"], ..CASE }.check();
        Case { saturate, types: ["s32", "s8", "u8"], n: 16, ..CASE }.check();
    }
}

#[test]
fn mistakes_are_named() {
    let error = |from: &str, to: &str, threads: u32| {
        let (mut kernel, _) = CASE.kernel();
        assert!(kernel.body.contains(from), "{}", kernel.body);
        kernel.body = kernel.body.replace(from, to);
        kernel.block[0] = threads;
        kernel.error()
    };
    let product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16";
    let other = |modifiers: &str| format!("wgmma.mma_async.sync.aligned.{modifiers}");
    for (to, why) in [
        (other("m64n12k16.f32.f16.f16"), "this shape are not simulated"),
        (other("m64n264k16.f32.f16.f16"), "this shape are not simulated"),
        (other("m64n8k8.f32.f16.f16"), "this shape are not simulated"),
        (other("m64n8k16.f32.f16.bf16"), "this shape are not simulated"),
        (other("m64n8k32.f32.e4m3.f16"), "this shape are not simulated"),
        (other("m64n8k32.s32.s8.s32"), "this shape are not simulated"),
        (other("sp.m64n8k16.f32.f16.f16"), "this shape are not simulated"),
        ("wgmma.store.sync.aligned".to_owned(), "names no operation"),
    ] {
        let text = error(product, &to, 128);
        assert!(text.contains(why) && text.contains("k.ptx:"), "{text}");
    }
    let signs = error("%p1, 1, 1, 0, 0", "%p1, 2, 1, 0, 0", 128);
    assert!(signs.contains("1 or -1"), "{signs}");
    let fewer = error("%p1, 1, 1, 0, 0", "%p1, 1, 1", 128);
    assert!(fewer.contains("takes 8 operands"), "{fewer}");
    assert!(error("%p1, 1, 1", "%p1, 1, 1", 96).contains("in no group of four warps"));
    let far = error("mov.b64 %desc, ", "mov.b64 %desc, 16383; //", 128);
    assert!(far.contains("extends to address 0x3fff0 of shared memory"), "{far}");
    let offset = error("mov.b64 %desc, ", "mov.b64 %desc, 562949953421312; //", 128);
    assert!(offset.contains("base offset 1"), "{offset}");
    let lanes = error("wgmma.fence.sync.aligned;", "and.b32 %r3, %r0, 31; cvt.u64.u32 %rd20, %r3;", 128);
    assert!(lanes.contains("have different matrix descriptors, 0x0 and 0x1"), "{lanes}");
    let part = error("wgmma.fence.sync.aligned;", "setp.lt.u32 %p1, %r0, 7;", 128);
    assert!(part.contains("want the sum with the addend"), "{part}");
}

/// A product reads what other warps wrote, so a missing barrier is a race.
#[test]
fn reads_of_factors_are_watched() {
    let races = |barrier: &str| {
        let (mut kernel, _) = CASE.kernel();
        kernel.body = kernel.body.replace("bar.sync 0;", barrier);
        kernel.races = Some(warpbound::exec::races::BlockOrder::OneByOne);
        kernel.ok().time.races.len()
    };
    assert_eq!(races("bar.sync 0;"), 0);
    assert!(races("") > 0);
}
