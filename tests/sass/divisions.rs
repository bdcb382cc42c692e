//! The way that the machine code of a division takes, beside that on a GPU.

use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::{Launch, LaunchSpec};
use warpbound::sass::Module;

use crate::shipped::{encoding_for, root};

/// Returns, for each biased exponent a of a dividend and b of a divisor, at index 256 a + b, whether
/// the division took its slow path on an H200.
fn measured() -> Vec<bool> {
    let bits = warpbound::load::read::text(&root().join("data/measured/h200-division.xz"), 1 << 20).unwrap();
    assert_eq!(bits.len(), 1 << 13);
    bits.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect()
}

/// FCHK decides between the ways. Its condition is not documented.
#[test]
fn divisions_take_the_slow_path_as_on_a_gpu() {
    let bytes = std::fs::read(root().join("tests/data/sass/division.sm_90.cubin")).unwrap();
    let encoding = encoding_for(90);
    let module = Module::read("division.sm_90.cubin", &bytes, encoding).unwrap();
    let program = module.program("division", encoding).unwrap();
    let text = "Launch(module: \"m\", entry: \"division\", grid: (256, 256, 1), block: (1, 1, 1), args: [
        Buffer(name: \"o\", elem: F32, len: 65536, init: Zero),
    ])";
    let source = SourceText::new("division.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap();
    let launch = Launch::new(&spec, &program, 0, &source, &|_, _| Ok(Vec::new())).unwrap();
    let mut executor = Executor::new(&program, &launch, Options::default()).unwrap();
    let mut steps = Vec::new();
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths).unwrap() {
        steps.push(paths.warps[0].steps().len());
    }
    let shortest = *steps.iter().min().unwrap();
    let measured = measured();
    let mut slow = 0;
    // blocks are in order of x, which is the dividend, within each y
    for (block, &steps) in steps.iter().enumerate() {
        let (dividend, divisor) = (block % 256, block / 256);
        let expected = measured[256 * dividend + divisor];
        assert_eq!(steps > shortest, expected, "2^({dividend} - 127) / 2^({divisor} - 127)");
        slow += u32::from(expected);
    }
    assert_eq!(slow, 21_290);
    // and the results are correctly rounded
    for (index, word) in executor.buffer(0).as_chunks().0.iter().enumerate() {
        let of = |exponent: usize| f32::from_bits((exponent as u32) << 23);
        let (found, expected) = (f32::from_le_bytes(*word), of(index / 256) / of(index % 256));
        assert!(found == expected || found.is_nan() && expected.is_nan(), "{index}: {found}, not {expected}");
    }
}
