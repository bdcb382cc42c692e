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

use warpbound::diag::SourceText;
use warpbound::exec::races::BlockOrder;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::program::{Area, KernelCode, MemoryOp};
use warpbound::sass::Module;

use crate::shipped::{encoding_for, root};

fn program(kernel: &str) -> KernelCode {
    let file = "split.sm_90.cubin";
    let bytes = std::fs::read(root().join("tests/data/sass").join(file)).unwrap();
    let encoding = encoding_for(90);
    Module::read(file, &bytes, encoding).unwrap().program(kernel, encoding).unwrap()
}

/// The barriers wait for no thread whose condition is false. The hardware does not define when
/// those go on, so the paths count as one way of several.
#[test]
fn some_threads_of_a_warp_pass_a_barrier() {
    let program = program("split");
    let text = "Launch(module: \"m\", entry: \"split\", grid: (1, 1, 1), block: (16, 1, 1), args: [
        Buffer(name: \"out\", elem: U32, len: 16, init: Zero),
    ])";
    let source = SourceText::new("split.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap();
    let launch = Launch::new(&spec, &program, 0, &source, &|_, _| Ok(Vec::new())).unwrap();
    let options = Options { races: Some(BlockOrder::OneByOne), ..Options::default() };
    let mut executor = Executor::new(&program, &launch, options).unwrap();
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths).unwrap() {}
    let found: Vec<u32> =
        executor.buffer(0).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let mut expected: Vec<u32> = (0..16).map(|t| 100 * t).collect();
    for i in 0..3 {
        let added = expected[i];
        expected[i + 1..].iter_mut().for_each(|value| *value += added + 1);
    }
    assert_eq!(found, expected);
    let dependences = executor.time_dependences();
    assert!(dependences.split_barrier.is_some() && !dependences.is_empty(), "{dependences:?}");
}

#[test]
fn strong_loads_bypass_the_cache() {
    let loads: Vec<_> = program("uncached").instrs.iter().filter_map(|instr| instr.memory).collect();
    let count = |op: MemoryOp| loads.iter().filter(|&&found| found == op).count();
    assert_eq!(count(MemoryOp::Load(Area::Global)), 1);
    assert_eq!(count(MemoryOp::LoadUncached(Area::Global)), 1);
}
