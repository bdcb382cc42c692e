//! What machine code of sm_90 does that PTX does not state. `tests/data/sass/split.sm_90.cubin` is
//! ptxas's code for two kernels:
//!
//! ```cuda
//! split(int *out) {            // one block of 16 threads, one t each
//!   s[t] = 100 * t;
//!   for (int i = 0; i < 3; i++)
//!     if (t > i) { s[t] += s[i]; __syncthreads(); s[t] += 1; }
//!   out[t] = s[t];
//! }
//! uncached(int *a, int *out) { out[t] = a[t] + __ldcg(a + 32 + t); }
//! ```
//!
//! and `quotients.sm_90.cubin` that for `q[t] = a[t] / b[t]; r[t] = a[t] % b[t];` of 64-bit integers.

use warpbound::exec::Options;
use warpbound::exec::races::BlockOrder;
use warpbound::program::{Area, BarrierId, KernelCode, MemoryOp, TimingTable};
use warpbound::sass::{Module, text};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::launched::{after, words};
use crate::shipped::{encoding_for, machine, root};

fn program(file: &str, kernel: &str) -> KernelCode {
    let bytes = std::fs::read(root().join("tests/data/sass").join(file)).unwrap();
    let encoding = encoding_for(90);
    Module::read(file, &bytes, encoding).unwrap().program(kernel, encoding).unwrap()
}

/// The barriers wait for no thread whose condition is false. The hardware does not define when
/// those go on, so the paths count as one way of several.
#[test]
fn some_threads_of_a_warp_pass_a_barrier() {
    let program = program("split.sm_90.cubin", "split");
    let text = "Launch(module: \"m\", entry: \"split\", grid: (1, 1, 1), block: (16, 1, 1), args: [
        Buffer(name: \"out\", elem: U32, len: 16, init: Zero),
    ])";
    let options = Options { races: Some(BlockOrder::OneByOne), ..Options::default() };
    let (found, dependences) = after(&program, text.to_owned(), &[], options, |_, executor| {
        (words(executor, 0), executor.time_dependences())
    });
    let mut expected: Vec<u32> = (0..16).map(|t| 100 * t).collect();
    for i in 0..3 {
        let added = expected[i];
        expected[i + 1..].iter_mut().for_each(|value| *value += added + 1);
    }
    assert_eq!(found, expected);
    assert!(dependences.split_barrier.is_some() && !dependences.is_empty(), "{dependences:?}");
}

#[test]
fn strong_loads_bypass_the_cache() {
    let loads: Vec<_> =
        program("split.sm_90.cubin", "uncached").instrs.iter().filter_map(|instr| instr.memory).collect();
    let count = |op: MemoryOp| loads.iter().filter(|&&found| found == op).count();
    assert_eq!(count(MemoryOp::Load(Area::Global)), 1);
    assert_eq!(count(MemoryOp::LoadUncached(Area::Global)), 1);
}

/// Copies of 16 bytes past the L1 bypass it. LDGDEPBAR signals barrier 0, for which DEPBAR.LE waits,
/// when the copies before it are done.
#[test]
fn asynchronous_copies_have_a_barrier() {
    let program = program("later/filled_copies.sm_90.cubin", "filled_copies");
    let count = |op| program.instrs.iter().filter(|instr| instr.memory == Some(op)).count();
    assert_eq!((count(MemoryOp::AsyncCopy), count(MemoryOp::AsyncCopyUncached)), (4, 1));
    let table = TimingTable::new(&program, &machine("h100-sxm")).unwrap();
    let copies = table.instrs().iter().filter(|instr| instr.codes.copies).count();
    let signals =
        table.instrs().iter().filter(|instr| instr.codes.done == Some(BarrierId::OF_COPIES)).count();
    assert_eq!((copies, signals), (5, 2));
}

/// Divisions carry from one part of a product to the next in predicates, also out of IMAD.HI. That
/// happens for few operands, powers of two among them.
#[test]
fn quotients_of_64_bits_are_exact() {
    let program = program("quotients.sm_90.cubin", "quotients");
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut pairs =
        vec![(0x7fc0_0000_0080_0000, -0x80_0000_0000_0000), (i64::MAX, 1 << 32), (i64::MIN + 1, -3)];
    while pairs.len() < 1024 {
        let [a, b] = [0; 2].map(|_: i64| rng.random::<i64>() >> rng.random_range(0..62));
        let b = if rng.random_bool(0.3) { 1 << rng.random_range(0..62) } else { b };
        pairs.extend((b != 0).then_some((a, b)));
    }
    let values = |of: fn(&(i64, i64)) -> i64| {
        let all: Vec<String> = pairs.iter().map(|pair| of(pair).to_string()).collect();
        all.join(", ")
    };
    let text = format!(
        "Launch(module: \"m\", entry: \"quotients\", grid: (1, 1, 1), block: (1024, 1, 1), args: [
            Buffer(name: \"a\", elem: I64, len: 1024, init: Values([{}])),
            Buffer(name: \"b\", elem: I64, len: 1024, init: Values([{}])),
            Buffer(name: \"q\", elem: I64, len: 1024, init: Zero),
            Buffer(name: \"r\", elem: I64, len: 1024, init: Zero),
        ])",
        values(|pair| pair.0),
        values(|pair| pair.1)
    );
    let [q, r] = after(&program, text, &[], Options::default(), |_, executor| {
        [2, 3].map(|buffer| -> Vec<i64> {
            executor.buffer(buffer).as_chunks().0.iter().map(|word| i64::from_le_bytes(*word)).collect()
        })
    });
    for (index, (a, b)) in pairs.into_iter().enumerate() {
        assert_eq!((q[index], r[index]), (a.wrapping_div(b), a.wrapping_rem(b)), "{a} / {b}");
    }
}

/// Branches on whether the lanes are together, of Hopper, and the WARPSYNC of Ampere for lanes that
/// go on alone, as NVIDIA's disassembler prints them.
#[test]
fn branches_of_lanes_that_are_together_are_decoded() {
    for (target, word, expected) in [
        (90, 0x000f_ea00_0b80_0000_0000_0003_0450_7947_u128, "BRA.CONV UR4, TARGET"),
        (90, 0x000f_ea00_0b80_0000_0000_0002_0428_7947, "BRA.DIV UR4, TARGET"),
        (86, 0x000f_ea00_03c0_0000_0000_0004_0000_7348, "WARPSYNC.EXCLUSIVE R4"),
    ] {
        let encoding = encoding_for(target);
        let decoded = encoding.decode(word & !encoding.control.mask()).unwrap();
        assert_eq!(text(&decoded, 16, 0, |_| "TARGET".to_owned()).trim_end(), expected);
    }
}
