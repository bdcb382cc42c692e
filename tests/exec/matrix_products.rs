//! Products of matrices, `wmma` and `mma.sync`, of every shape and type, compared with explicit
//! sums.
//!
//! For `mma` the fragments are packed register by register, by the formulas that the PTX ISA states
//! for each shape; `wmma` loads and stores them itself, from every layout.

use crate::exec_support;
use crate::kernel_refs::tensor_sums;

use exec_support::kernel;
use tensor_sums::Term;

/// An element type, by its name in PTX.
pub(crate) type Ty = &'static str;

pub(crate) fn bits(ty: Ty) -> usize {
    match ty {
        "s4" | "u4" => 4,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// A generator of numbers that differ in every significant bit.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ self.0 >> 29;
        x.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
    }

    /// Returns the bits of an element: any integer, or a float between 2^-4 and 2^5, of any sign.
    fn element(&mut self, ty: Ty) -> u64 {
        let random = self.next();
        let exponent = random % 9;
        let float = |fraction_bits: u32, exponent_bits: u32, bias: u64| {
            let fraction = (random >> 8) & ((1 << fraction_bits) - 1);
            let sign = (random >> 7 & 1) << (fraction_bits + exponent_bits);
            sign | (bias - 4 + exponent) << fraction_bits | fraction
        };
        match ty {
            "f16" => float(10, 5, 15),
            "e4m3" => float(3, 4, 7),
            "e5m2" => float(2, 5, 15),
            "bf16" => float(7, 8, 127),
            // the lower bits of a tf32 are set but have no effect
            "tf32" | "f32" => float(23, 8, 127),
            "f64" => float(40, 11, 1023) & !(0xfff << 40) | (1019 + exponent) << 52,
            _ => random & ((1u64 << bits(ty)) - 1),
        }
    }

    pub(crate) fn matrix(&mut self, ty: Ty, [rows, cols]: [usize; 2]) -> Matrix {
        Matrix { ty, rows, cols, elements: (0..rows * cols).map(|_| self.element(ty)).collect() }
    }
}

/// A matrix of bits, by rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) ty: Ty,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) elements: Vec<u64>,
}

fn half_value(bits: u64) -> f32 {
    let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f32);
    let sign = if bits >> 15 & 1 == 1 { -1.0 } else { 1.0 };
    match exponent {
        0 => sign * fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

/// Returns the nearest half, found by trying all.
fn nearest_half(value: f32) -> u64 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = u64::from(value.is_sign_negative()) << 15;
    let wanted = f64::from(value.abs());
    let distance = |bits: u64| {
        // infinity is at the position of the next half
        let half = if bits == 0x7c00 { 65536.0 } else { f64::from(half_value(bits)) };
        (half - wanted).abs()
    };
    let above =
        (0..=0x7c00u64).collect::<Vec<_>>().partition_point(|&bits| f64::from(half_value(bits)) < wanted);
    let candidates = [above.saturating_sub(1) as u64, above as u64];
    let best = candidates
        .into_iter()
        .min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))));
    sign | best.unwrap()
}

fn single(ty: Ty, bits: u64) -> f32 {
    match ty {
        "f16" => half_value(bits),
        "bf16" => f32::from_bits((bits as u32) << 16),
        // the upper half of an f16, and a number with a shorter exponent
        "e5m2" => half_value(bits << 8),
        "e4m3" => half_value((bits & 0x80) << 8 | (bits & 0x7f) << 7) * 256.0,
        "tf32" => f32::from_bits(bits as u32 >> 13 << 13),
        _ => f32::from_bits(bits as u32),
    }
}

fn integer(ty: Ty, bits: u64) -> i64 {
    match ty {
        "s4" => i64::from((bits as i8) << 4 >> 4),
        "s8" => i64::from(bits as i8),
        "s32" => i64::from(bits as i32),
        _ => bits as i64,
    }
}

/// Returns `c` plus products as Hopper adds them.
fn sum_of_products(a: Ty, b: Ty, c: f32, pairs: &[(u64, u64)]) -> f32 {
    let least = |ty| if matches!(ty, "f16" | "e5m2" | "e4m3") { -14 } else { -126 };
    let term = |ty, bits| Term::of(single(ty, bits), least(ty));
    let products = pairs.iter().map(|&(x, y)| term(a, x).times(&term(b, y)));
    tensor_sums::sum(products.chain([Term::of(c, -126)]))
}

/// Returns `a b + c` of one warp as documented.
fn product(a: &Matrix, b: &Matrix, c: &Matrix, ty: Ty, saturate: bool) -> Matrix {
    product_of(a, b, c, ty, saturate, matches!(a.ty, "e4m3" | "e5m2"))
}

/// Returns `a b + c` as documented; `in_steps` says that two of every four products are added at once.
pub(crate) fn product_of(
    a: &Matrix,
    b: &Matrix,
    c: &Matrix,
    ty: Ty,
    saturate: bool,
    in_steps: bool,
) -> Matrix {
    let mut elements = Vec::new();
    for row in 0..a.rows {
        for col in 0..b.cols {
            let start = c.elements[row * c.cols + col];
            let pairs = (0..a.cols).map(|k| (a.elements[row * a.cols + k], b.elements[k * b.cols + col]));
            elements.push(match ty {
                "s32" => {
                    let terms = pairs.map(|(x, y)| integer(a.ty, x) * integer(b.ty, y));
                    let sum = integer(c.ty, start) + terms.sum::<i64>();
                    let result = if saturate { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
                    u64::from(result as u32)
                }
                "f64" => {
                    let add = |sum: f64, (x, y)| f64::from_bits(x).mul_add(f64::from_bits(y), sum);
                    pairs.fold(f64::from_bits(start), add).to_bits()
                }
                "f32" => {
                    let pairs: Vec<_> = pairs.collect();
                    let start = single(c.ty, start);
                    let sum = if in_steps {
                        let step = |zero, first: usize| {
                            let of_step = pairs.chunks(4).flat_map(|four| four[first..first + 2].to_vec());
                            sum_of_products(a.ty, b.ty, zero, &of_step.collect::<Vec<_>>())
                        };
                        start + step(step(0.0, 0), 2)
                    } else {
                        sum_of_products(a.ty, b.ty, start, &pairs)
                    };
                    u64::from(sum.to_bits())
                }
                _ => {
                    let add = |sum: f32, (x, y)| single(a.ty, x).mul_add(single(b.ty, y), sum);
                    nearest_half(pairs.fold(single(c.ty, start), add))
                }
            });
        }
    }
    Matrix { ty, rows: a.rows, cols: b.cols, elements }
}

impl Matrix {
    /// Returns the bytes of the matrix in memory, with rows (or columns) `stride` elements apart.
    fn bytes(&self, by_column: bool, stride: usize) -> Vec<u8> {
        let lines = if by_column { self.cols } else { self.rows };
        let mut bytes = vec![0xee; lines * stride * bits(self.ty) / 8];
        for (index, element) in self.elements.iter().enumerate() {
            let (row, col) = (index / self.cols, index % self.cols);
            let at = if by_column { col * stride + row } else { row * stride + col } * bits(self.ty);
            if bits(self.ty) == 4 {
                bytes[at / 8] = bytes[at / 8] & !(15 << (at % 8)) | (*element as u8) << (at % 8);
            } else {
                let size = bits(self.ty) / 8;
                bytes[at / 8..at / 8 + size].copy_from_slice(&element.to_le_bytes()[..size]);
            }
        }
        bytes
    }

    fn parse(ty: Ty, [rows, cols]: [usize; 2], bytes: &[u8], by_column: bool, stride: usize) -> Self {
        let size = bits(ty) / 8;
        let element = |index: usize| {
            let (row, col) = (index / cols, index % cols);
            let at = size * if by_column { col * stride + row } else { row * stride + col };
            bytes[at..at + size].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
        };
        Self { ty, rows, cols, elements: (0..rows * cols).map(element).collect() }
    }
}

fn list(name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("%{name}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

const DECLARE: &str = ".reg .b32 %a<8>, %b<8>, %c<8>, %d<8>; .reg .b64 %da<2>, %db<2>, %dc<2>, %dd<2>;";

/// Returns the number of registers of a `wmma` fragment and whether they hold doubles, from the
/// table of the PTX ISA.
fn wmma_registers(role: char, ty: Ty, [m, n, _]: [usize; 3]) -> (usize, bool) {
    let count = match (role, ty, m, n) {
        ('a' | 'b', "f16", ..) => 8,
        ('a' | 'b', "bf16" | "tf32", 16, _) => 4,
        ('a', "bf16", 8, _) | ('b', "bf16", 32, _) => 2,
        ('a', "bf16", ..) | ('b', "bf16", ..) => 8,
        ('a' | 'b', "s8" | "u8", 16, _) => 2,
        ('a', "s8" | "u8", 32, _) | ('b', "s8" | "u8", 8, 32) => 4,
        ('a' | 'b', ..) => 1,
        (_, "f16", ..) => 4,
        (_, "f64", ..) => 2,
        (_, _, 8, 8) => 2,
        _ => 8,
    };
    (count, ty == "f64")
}

/// Loads, multiplies and stores by `wmma`, with these layouts (true: by column) and this much
/// padding between lines; `between` is applied to the registers before the product.
fn wmma(
    shape: [usize; 3],
    [a, b, c, d]: [Ty; 4],
    [la, lb, lc, ld]: [bool; 4],
    pad: usize,
    saturate: bool,
    shared: bool,
) {
    let [m, n, k] = shape;
    let name = format!("m{m}n{n}k{k}");
    let mut numbers =
        Numbers((m * 64 + n) as u64 ^ (k as u64) << 20 ^ u64::from(la) << 30 ^ u64::from(lb) << 31);
    let matrices = [numbers.matrix(a, [m, k]), numbers.matrix(b, [k, n]), numbers.matrix(c, [m, n])];
    let expected = product(&matrices[0], &matrices[1], &matrices[2], d, saturate);
    let layout = |by_column: bool| if by_column { "col" } else { "row" };
    let stride = |rows: usize, cols: usize, by_column: bool| if by_column { rows } else { cols } + pad;
    let registers = |role: char, ty: Ty| {
        let (count, wide) = wmma_registers(role, ty, shape);
        let prefix = if wide { format!("d{role}") } else { role.to_string() };
        list(&prefix, count)
    };
    let strides = [stride(m, k, la), stride(k, n, lb), stride(m, n, lc), stride(m, n, ld)];
    let mut body = DECLARE.to_owned();
    let lines = matrices.iter().zip([la, lb, lc]).zip(strides).map(|((x, by), s)| x.bytes(by, s));
    let buffers: Vec<Vec<u8>> = lines.collect();
    let space = if shared {
        // the matrices pass through shared memory, 8 KiB for each
        for (index, bytes) in buffers.iter().enumerate() {
            let (from, to) = (bytes.len() / 4, 8192 * index);
            body += &format!(
                "mov.u32 %r1, %r0; L{index}: mul.wide.u32 %rd20, %r1, 4; add.u64 %rd21, %rd{index}, %rd20;
                 ld.global.u32 %r2, [%rd21]; mov.u64 %rd22, pool; add.u64 %rd22, %rd22, %rd20;
                 st.shared.u32 [%rd22+{to}], %r2; add.u32 %r1, %r1, 32; setp.lt.u32 %p0, %r1, {from}; @%p0 bra L{index};
                 mov.u64 %rd{index}, pool; add.u64 %rd{index}, %rd{index}, {to};"
            );
        }
        body += "bar.sync 0;";
        ".shared"
    } else {
        ".global"
    };
    for (index, (role, ty, by_column)) in [('a', a, la), ('b', b, lb), ('c', c, lc)].into_iter().enumerate() {
        // without a stride the lines are contiguous
        let stride = if pad == 0 { String::new() } else { format!(", {}", strides[index]) };
        let (layout, registers) = (layout(by_column), registers(role, ty));
        body += &format!(
            "wmma.load.{role}.sync.aligned.{layout}.{name}{space}.{ty} {registers}, [%rd{index}]{stride};\n"
        );
    }
    let types = if a == "f16" { format!("{d}.{c}") } else { format!("{d}.{a}.{b}.{c}") };
    let (la, lb, satfinite) = (layout(la), layout(lb), if saturate { ".satfinite" } else { "" });
    let operands = [('d', d), ('a', a), ('b', b), ('c', c)].map(|(role, ty)| registers(role, ty)).join(", ");
    body += &format!("wmma.mma.sync.aligned.{la}.{lb}.{name}.{types}{satfinite} {operands};\n");
    let (layout, registers) = (layout(ld), registers('d', d));
    body += &format!(
        "mov.u32 %r9, {}; wmma.store.d.sync.aligned.{layout}.{name}.{d} [%rd3], {registers}, %r9; ret;",
        strides[3]
    );
    let mut kernel = kernel(32, &body).module(".shared .align 32 .b8 pool[24576];");
    kernel.buffers = buffers;
    kernel.buffers.push(Matrix { elements: vec![0; m * n], ..expected.clone() }.bytes(ld, strides[3]));
    let outcome = kernel.ok();
    let got = Matrix::parse(d, [m, n], &outcome.buffers[3], ld, strides[3]);
    assert_eq!(got, expected, "{name} {types} {la} {lb} {lc:?} {ld:?} pad {pad} saturate {saturate}");
}

const LAYOUTS: [bool; 2] = [false, true];

fn all_layouts(shape: [usize; 3], types: [Ty; 4]) {
    for la in LAYOUTS {
        for lb in LAYOUTS {
            wmma(shape, types, [la, lb, la, lb], 0, false, la);
            wmma(shape, types, [la, lb, lb, !la], 8, false, lb);
        }
    }
}

const WMMA_SHAPES: [[usize; 3]; 3] = [[16, 16, 16], [8, 32, 16], [32, 8, 16]];

#[test]
fn wmma_of_halves() {
    for shape in WMMA_SHAPES {
        for c in ["f16", "f32"] {
            for d in ["f16", "f32"] {
                all_layouts(shape, ["f16", "f16", c, d]);
            }
        }
    }
}

#[test]
fn wmma_of_bfloat_and_tensor_float() {
    for shape in WMMA_SHAPES {
        all_layouts(shape, ["bf16", "bf16", "f32", "f32"]);
    }
    all_layouts([16, 16, 8], ["tf32", "tf32", "f32", "f32"]);
}

#[test]
fn wmma_of_doubles() {
    all_layouts([8, 8, 4], ["f64", "f64", "f64", "f64"]);
}

#[test]
fn wmma_of_integers() {
    for ty in ["s8", "u8"] {
        for shape in WMMA_SHAPES {
            all_layouts(shape, [ty, ty, "s32", "s32"]);
            wmma(shape, [ty, ty, "s32", "s32"], [false, true, false, false], 16, true, false);
        }
    }
    for ty in ["s4", "u4"] {
        wmma([8, 8, 32], [ty, ty, "s32", "s32"], [false, true, false, true], 0, false, false);
        wmma([8, 8, 32], [ty, ty, "s32", "s32"], [false, true, true, false], 32, true, true);
    }
}

/// A fragment of `mma` according to the PTX ISA: the number of registers, and the row and column of
/// element i of the lane with group ID g and thread ID in group t.
type Places = (usize, fn(g: usize, t: usize, i: usize) -> (usize, usize));

/// The positions of sums of 8 columns: `row = g for i < 2, else g + 8`, `col = 2 t + (i & 1)`.
const SUMS: fn(usize, usize, usize) -> (usize, usize) =
    |g, t, i| (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1));

/// Multiplies by `mma`, with fragments packed by hand.
fn mma(shape: [usize; 3], [a, b, c]: [Ty; 3], places: [Places; 3], saturate: bool) {
    let [m, n, k] = shape;
    let mut numbers = Numbers((m + n * 100 + k * 10_000) as u64);
    let matrices = [numbers.matrix(a, [m, k]), numbers.matrix(b, [k, n]), numbers.matrix(c, [m, n])];
    let expected = product(&matrices[0], &matrices[1], &matrices[2], c, saturate);
    let wide = a == "f64";
    let register_bits = if wide { 64 } else { 32 };
    let pack = |matrix: &Matrix, (registers, place): Places| {
        let (per, width) = (register_bits / bits(matrix.ty), bits(matrix.ty));
        let mut bytes = Vec::new();
        for lane in 0..32 {
            for register in 0..registers {
                let value = (0..per).fold(0, |value, part| {
                    let (row, col) = place(lane / 4, lane % 4, register * per + part);
                    value | matrix.elements[row * matrix.cols + col] << (part * width)
                });
                bytes.extend_from_slice(&value.to_le_bytes()[..register_bits / 8]);
            }
        }
        bytes
    };
    let (prefix, ty, size) = if wide { ("d", "b64", 8) } else { ("", "b32", 4) };
    let mut body = DECLARE.to_owned();
    for (index, (role, (registers, _))) in ["a", "b", "c"].into_iter().zip(places).enumerate() {
        body += &format!("mul.wide.u32 %rd20, %r0, {}; add.u64 %rd21, %rd{index}, %rd20;", registers * size);
        for register in 0..registers {
            body += &format!("ld.global.{ty} %{prefix}{role}{register}, [%rd21+{}];", register * size);
        }
    }
    let operands = ["d", "a", "b", "c"].into_iter().zip([places[2], places[0], places[1], places[2]]);
    let operands: Vec<String> =
        operands.map(|(role, place)| list(&format!("{prefix}{role}"), place.0)).collect();
    let satfinite = if saturate { ".satfinite" } else { "" };
    let name = format!("mma.sync.aligned.m{m}n{n}k{k}.row.col{satfinite}.{c}.{a}.{b}.{c}");
    body += &format!("{name} {};", operands.join(", "));
    body += &format!("mul.wide.u32 %rd20, %r0, {}; add.u64 %rd21, %rd3, %rd20;", places[2].0 * size);
    for register in 0..places[2].0 {
        body += &format!("st.global.{ty} [%rd21+{}], %{prefix}d{register};", register * size);
    }
    let mut kernel = kernel(32, &format!("{body} ret;"));
    kernel.buffers = matrices.iter().zip(places).map(|(matrix, places)| pack(matrix, places)).collect();
    kernel.buffers.push(vec![0; 32 * places[2].0 * size]);
    assert_eq!(kernel.ok().buffers[3], pack(&expected, places[2]), "{name}");
}

#[test]
fn mma_of_halves_and_bfloat() {
    let k8: [Places; 2] =
        [(2, |g, t, i| (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1))), (1, |g, t, i| (t * 2 + i, g))];
    let k16: [Places; 2] = [
        (4, |g, t, i| {
            let row = if i < 2 || (4..6).contains(&i) { g } else { g + 8 };
            (row, t * 2 + (i & 1) + if i >= 4 { 8 } else { 0 })
        }),
        (2, |g, t, i| (t * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, g)),
    ];
    for (k, [a, b]) in [(8, k8), (16, k16)] {
        mma([16, 8, k], ["f16", "f16", "f32"], [a, b, (4, SUMS)], false);
        mma([16, 8, k], ["f16", "f16", "f16"], [a, b, (2, SUMS)], false);
        mma([16, 8, k], ["bf16", "bf16", "f32"], [a, b, (4, SUMS)], false);
    }
}

#[test]
fn mma_of_eight_bit_floats() {
    for (a, b) in [("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e5m2"), ("e5m2", "e4m3")] {
        for (c, sums) in [("f32", 4), ("f16", 2)] {
            let tall: [Places; 2] = [
                (2, |g, t, i| (if i < 4 { g } else { g + 8 }, t * 4 + (i & 3))),
                (1, |g, t, i| (t * 4 + i, g)),
            ];
            mma([16, 8, 16], [a, b, c], [tall[0], tall[1], (sums, SUMS)], false);
            let deep: [Places; 2] = [
                (4, |g, t, i| {
                    let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
                    (row, t * 4 + (i & 3) + if i >= 8 { 16 } else { 0 })
                }),
                (2, |g, t, i| (t * 4 + (i & 3) + if i >= 4 { 16 } else { 0 }, g)),
            ];
            mma([16, 8, 32], [a, b, c], [deep[0], deep[1], (sums, SUMS)], false);
        }
    }
    // the largest e4m3, 448, and its NaN
    let bytes = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
    assert_eq!(f32::from_bits(uniform(bytes, [0x7e7e_7e7e, 0x3838_3838, 0])), 32.0 * 448.0);
    assert_eq!(uniform(bytes, [0x7f7f_7f7f, 0x3838_3838, 0]), 0x7fff_ffff);
    // the smallest subnormal e5m2, 2^-16, times 1
    let wide = "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32";
    assert_eq!(f32::from_bits(uniform(wide, [0x0101_0101, 0x3c3c_3c3c, 0])), 32.0 * 2f32.powi(-16));
}

#[test]
fn mma_of_tensor_floats_and_doubles() {
    mma(
        [16, 8, 4],
        ["tf32", "tf32", "f32"],
        [(2, |g, t, i| (if i == 0 { g } else { g + 8 }, t)), (1, |g, t, _| (t, g)), (4, SUMS)],
        false,
    );
    mma(
        [16, 8, 8],
        ["tf32", "tf32", "f32"],
        [
            (4, |g, t, i| (if i % 2 == 0 { g } else { g + 8 }, if i < 2 { t } else { t + 4 })),
            (2, |g, t, i| (if i == 0 { t } else { t + 4 }, g)),
            (4, SUMS),
        ],
        false,
    );
    let sums: Places = (2, |g, t, i| (g, t * 2 + i));
    mma([8, 8, 4], ["f64"; 3], [(1, |g, t, _| (g, t)), (1, |g, t, _| (t, g)), sums], false);
}

#[test]
fn mma_of_integers() {
    let small: Places = (2, |g, t, i| (g, t * 2 + i));
    for saturate in [false, true] {
        for (a, b) in [("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")] {
            let types = [a, b, "s32"];
            let bytes: [Places; 2] = [(1, |g, t, i| (g, t * 4 + i)), (1, |g, t, i| (t * 4 + i, g))];
            mma([8, 8, 16], types, [bytes[0], bytes[1], small], saturate);
            let tall: Places = (2, |g, t, i| (if i < 4 { g } else { g + 8 }, t * 4 + (i & 3)));
            mma([16, 8, 16], types, [tall, bytes[1], (4, SUMS)], saturate);
            let deep: [Places; 2] = [
                (4, |g, t, i| {
                    let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
                    (row, t * 4 + (i & 3) + if i >= 8 { 16 } else { 0 })
                }),
                (2, |g, t, i| (t * 4 + (i & 3) + if i >= 4 { 16 } else { 0 }, g)),
            ];
            mma([16, 8, 32], types, [deep[0], deep[1], (4, SUMS)], saturate);
        }
        for (a, b) in [("s4", "s4"), ("u4", "s4")] {
            let types = [a, b, "s32"];
            let nibbles: [Places; 2] = [(1, |g, t, i| (g, t * 8 + i)), (1, |g, t, i| (t * 8 + i, g))];
            mma([8, 8, 32], types, [nibbles[0], nibbles[1], small], saturate);
            let tall: Places = (2, |g, t, i| (if i < 8 { g } else { g + 8 }, t * 8 + (i & 7)));
            mma([16, 8, 32], types, [tall, nibbles[1], (4, SUMS)], saturate);
            let deep: [Places; 2] = [
                (4, |g, t, i| {
                    let row = if i < 8 || (16..24).contains(&i) { g } else { g + 8 };
                    (row, t * 8 + (i & 7) + if i >= 16 { 32 } else { 0 })
                }),
                (2, |g, t, i| (t * 8 + (i & 7) + if i >= 8 { 32 } else { 0 }, g)),
            ];
            mma([16, 8, 64], types, [deep[0], deep[1], (4, SUMS)], saturate);
        }
    }
}

/// Returns one product with uniform fragments: every element of d is `c + k a b`, in steps.
fn uniform(instruction: &str, [a, b, c]: [u32; 3]) -> u32 {
    let body = format!(
        "mov.b32 %r2, {a:#x}; mov.b32 %r3, {b:#x}; mov.b32 %r4, {c:#x};
         {instruction} {{%r1, %r5, %r6, %r7}}, {{%r2, %r2, %r2, %r2}}, {{%r3, %r3}}, {{%r4, %r4, %r4, %r4}};
         {} ret;",
        exec_support::STORE
    );
    let words = kernel(32, &body).zeros(128).ok().words(0);
    assert!(words.iter().all(|&word| word == words[0]));
    words[0]
}

#[test]
fn sums_are_cut_off_once_and_saturate_at_the_end() {
    // 2^24 and sixteen times 1, in one step
    let half = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    assert_eq!(uniform(half, [0x3c00_3c00, 0x3c00_3c00, 0x4b80_0000]), 0x4b80_0008);
    // 2^26 and sixteen times 1: a term keeps units of 2; 2^25 and sixteen times 1.9990: units of 1
    assert_eq!(uniform(half, [0x3c00_3c00, 0x3c00_3c00, 0x4c80_0000]), 0x4c80_0000);
    assert_eq!(uniform(half, [0x3c00_3c00, 0x3fff_3fff, 0x4c00_0000]), 0x4c00_0004);
    // -2^26 - 8 and sixteen times 4.5, of which 4 is left
    assert_eq!(uniform(half, [0x4200_4200, 0x3e00_3e00, 0xcc80_0001]), 0xcc7f_fff2);
    // subnormal halves count: 16 times 2^-24 * 2^-24
    assert_eq!(f32::from_bits(uniform(half, [0x0001_0001, 0x0001_0001, 0])), 2f32.powi(-44));
    // infinity times zero
    assert_eq!(uniform(half, [0x7c00_7c00, 0, 0]), 0x7fff_ffff);
    // 2^127 * 2^127 exceeds single precision, and 2^-126 * 2^-126 is negligible next to the 1 that
    // it is added to
    let brain = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
    assert_eq!(uniform(brain, [0x7f00_7f00, 0x7f00_7f00, 0]), 0x7f80_0000);
    assert_eq!(uniform(brain, [0x0080_0080, 0x0080_0080, 0x3f80_0000]), 0x3f80_0000);
    // 2^-126 * 2^-23 is the smallest subnormal single; sixteen of them
    assert_eq!(uniform(brain, [0x0080_0080, 0x3400_3400, 0]), 16);
    // -128 * -128 * 32 above the largest integer
    let wraps = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
    let clamps = "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32";
    let operands = [0x8080_8080, 0x8080_8080, 0x7fff_ff00];
    assert_eq!(uniform(wraps, operands), 0x8007_ff00);
    assert_eq!(uniform(clamps, operands), 0x7fff_ffff);
    assert_eq!(uniform(clamps, [0x8080_8080, 0x7f7f_7f7f, 0x8000_0001]), 0x8000_0000);
}

/// Operations on the elements of fragments have the expected effect: `(2 a) b + c`, then `d - 3 c`.
#[test]
fn fragments_can_be_computed_with() {
    let mut numbers = Numbers(5);
    let matrices =
        [("tf32", [16, 8]), ("tf32", [8, 16]), ("f32", [16, 16])].map(|(ty, size)| numbers.matrix(ty, size));
    let mut body = ".reg .f32 %x<8>, %y<8>, %z<8>; .reg .b32 %a<4>, %b<4>;
        wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%a0, %a1, %a2, %a3}, [%rd0], 8;
        wmma.load.b.sync.aligned.col.m16n16k8.global.tf32 {%b0, %b1, %b2, %b3}, [%rd1], 8;
        wmma.load.c.sync.aligned.col.m16n16k8.global.f32 {%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7}, [%rd2], 16;"
        .to_owned();
    for i in 0..4 {
        body += &format!("mul.f32 %a{i}, %a{i}, 0f40000000;");
    }
    let [x, y] = ["x", "y"].map(|name| list(name, 8));
    body += &format!(
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {y}, {}, {}, {x};",
        list("a", 4),
        list("b", 4)
    );
    for i in 0..8 {
        body += &format!("fma.rn.f32 %z{i}, %x{i}, 0fC0400000, %y{i};");
    }
    body += &format!("wmma.store.d.sync.aligned.row.m16n16k8.global.f32 [%rd3], {}, 16; ret;", list("z", 8));
    let mut kernel = kernel(32, &body);
    kernel.buffers = vec![
        matrices[0].bytes(false, 8),
        matrices[1].bytes(true, 8),
        matrices[2].bytes(true, 16),
        vec![0; 1024],
    ];
    let mut doubled = matrices[0].clone();
    doubled.elements.iter_mut().for_each(|bits| {
        *bits = u64::from((2.0 * f32::from_bits(*bits as u32)).to_bits());
    });
    let mut expected = product(&doubled, &matrices[1], &matrices[2], "f32", false);
    for (d, c) in expected.elements.iter_mut().zip(&matrices[2].elements) {
        let result = f32::from_bits(*c as u32).mul_add(-3.0, f32::from_bits(*d as u32));
        *d = u64::from(result.to_bits());
    }
    assert_eq!(Matrix::parse("f32", [16, 16], &kernel.ok().buffers[3], false, 16), expected);
}
