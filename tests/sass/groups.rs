//! Barriers in memory, bulk copies, copies of tensors, products of warp groups and elections: the PTX of
//! `tests/data/sass/groups/groups.ptx` and what ptxas makes of it for sm_90 leave the same memory.

use warpbound::diag::SourceText;
use warpbound::exec::Options;
use warpbound::exec::races::BlockOrder;
use warpbound::program::KernelCode;
use warpbound::program::launch::{Launch, LaunchSpec};

use crate::launched::{self, after, words};

fn both(kernel: &str) -> [KernelCode; 2] {
    launched::both("groups", kernel)
}

fn launch(kernel: &str, buffers: &str, args: &str) -> String {
    format!(
        "Launch(module: \"m\", entry: \"{kernel}\", grid: (1, 1, 1), block: (128, 1, 1),
            buffers: [{buffers}], args: [{args}])"
    )
}

/// Returns what both versions leave in the first buffers, which is the same, and checks that no accesses
/// race.
fn run(kernel: &str, text: &str, buffers: usize) -> Vec<Vec<u32>> {
    let [ptx, code] = both(kernel).map(|program| {
        let options = Options { races: Some(BlockOrder::OneByOne), ..Options::default() };
        after(&program, text.to_owned(), &[], options, |_, executor| {
            let races = executor.time_dependences().races;
            assert!(races.is_empty(), "{kernel}: {races:?}");
            (0..buffers).map(|buffer| words(executor, buffer)).collect::<Vec<_>>()
        })
    });
    for (buffer, (ptx, code)) in ptx.iter().zip(&code).enumerate() {
        assert_eq!(ptx, code, "{kernel}: buffer {buffer}");
    }
    ptx
}

const TENSORS: &str = "Buffer(name: \"a\", elem: U32, len: 4096, init: Iota), Buffer(name: \"o\", elem: U32, len: 8192, init: Fill(7))";
const FROM: &str = "TensorMap(of: \"a\", elem: U32, dims: [32, 16, 8], box: [16, 8, 8], swizzle: 64)";
const TO: &str =
    "TensorMap(of: \"o\", elem: U32, dims: [32, 16, 12], strides: [128, 2048], box: [16, 8, 8], swizzle: 64)";

#[test]
fn products_are_those_of_ptx() {
    let text = launch(
        "products",
        "",
        "Buffer(name: \"factors\", elem: U32, len: 1024, init: Uniform(0, 4294967296)),
         Buffer(name: \"c\", elem: F32, len: 512, init: Zero),
         Buffer(name: \"d\", elem: F32, len: 1024, init: Uniform(-2.0, 2.0)),
         Buffer(name: \"e\", elem: I32, len: 512, init: Zero),
         Buffer(name: \"leaders\", elem: U32, len: 4, init: Fill(9))",
    );
    let found = run("products", &text, 5);
    assert!(found[1..4].iter().all(|buffer| buffer.iter().any(|&word| word != 0)));
    // lane 0 of each warp is elected
    assert_eq!(found[4], [0, 32, 64, 96]);
    // the integer in row 9 and column 5 of the product of bytes, which lane 6 holds in its fourth register
    let byte = |at: usize| found[0][at / 4] >> (8 * (at % 4)) & 0xff;
    // the distances are 128 bytes along k and 256 bytes for every eight lines
    let at = |line: usize, k: usize| line % 8 * 16 + line / 8 * 256 + k % 16 + k / 16 * 128;
    let sum: i32 = (0..32).map(|k| i32::from(byte(at(9, k)) as i8) * byte(2048 + at(5, k)) as i32).sum();
    assert_eq!(found[3][6 * 4 + 3] as i32, sum);
}

#[test]
fn boxes_of_tensors_are_copied() {
    let args = format!("{FROM}, {TO}, U32(\"(1 << 32) - 2\"), U32(3), U32(1)");
    let found = run("boxes", &launch("boxes", TENSORS, &args), 2);
    let (from, to) = (&found[0], &found[1]);
    let mut expected = vec![7; 8192];
    // what is outside of the first tensor reads as zero, and what is outside of the second is not written
    for (first, adds) in [([3, -2, 1], false), ([-2, 3, 1], true)] {
        for at in 0..1024 {
            let within = [at % 16, at / 16 % 8, at / 128];
            let element = |first: [i64; 3], dims: [i64; 3]| {
                let position = [0, 1, 2].map(|axis| first[axis] + within[axis]);
                let inside = (0..3).all(|axis| (0..dims[axis]).contains(&position[axis]));
                inside.then(|| (position[0] + 32 * position[1] + 512 * position[2]) as usize)
            };
            let value = element([-2, 3, 1], [32, 16, 8]).map_or(0, |index| from[index]);
            if let Some(index) = element(first, [32, 16, 12]) {
                expected[index] = value + if adds { expected[index] } else { 0 };
            }
        }
    }
    assert_eq!(*to, expected);
}

#[test]
fn threads_copies_and_bytes_arrive() {
    let text = launch(
        "arrivals",
        "",
        "Buffer(name: \"words\", elem: U32, len: 128, init: Uniform(0, 4294967296)),
         Buffer(name: \"sums\", elem: U32, len: 128, init: Uniform(0, 4294967296)),
         Buffer(name: \"states\", elem: U32, len: 128, init: Zero)",
    );
    let initial = |program: &KernelCode| {
        let source = SourceText::new("launch.ron", text.as_str());
        let spec = LaunchSpec::parse(&source).unwrap();
        let launch = Launch::new(&spec, program, 0, &source, &|_, _| Ok(Vec::new())).unwrap();
        let bytes = launch.buffers[1].bytes.as_chunks::<4>().0.to_vec();
        bytes.into_iter().map(u32::from_le_bytes).collect::<Vec<_>>()
    };
    let before = initial(&both("arrivals")[0]);
    let found = run("arrivals", &text, 3);
    // every thread has waited for the first phase, so that the second one runs
    let states: Vec<u32> = found[0].iter().map(|word| word.wrapping_mul(3).wrapping_add(1)).collect();
    assert_eq!(found[2], states);
    let combined = |at: usize| match at {
        0..64 => before[at].wrapping_add(found[0][at]),
        64..96 => (before[at] as i32).max(found[0][at] as i32) as u32,
        _ => found[0][at],
    };
    assert_eq!(found[1], (0..128).map(combined).collect::<Vec<_>>());
}

#[test]
fn each_lane_copies_between_its_own_addresses() {
    let text = launch(
        "lanes",
        "",
        "Buffer(name: \"from\", elem: U32, len: 256, init: Iota),
         Buffer(name: \"to\", elem: U32, len: 128, init: Fill(1000))",
    );
    let found = run("lanes", &text, 2);
    let expected = |at: u32| match at {
        0..32 => 20 + at,
        32..96 => 1020 + at,
        _ => 1000,
    };
    assert_eq!(found[1], (0..128).map(expected).collect::<Vec<_>>());
}

#[test]
fn tensor_maps_are_checked() {
    let [program, _] = both("boxes");
    for (map, why) in [
        ("TensorMap(of: \"b\", elem: U32, dims: [32], box: [16])", "no buffer or variable `b`"),
        ("TensorMap(of: \"a\", elem: U32, dims: [], box: [])", "a tensor of 0 axes"),
        ("TensorMap(of: \"a\", elem: U32, dims: [32, 16], box: [16])", "a box of 1 axes"),
        ("TensorMap(of: \"a\", elem: U32, dims: [4097], box: [16])", "which has 16384 bytes"),
        ("TensorMap(of: \"a\", offset: 16, elem: U32, dims: [4096], box: [16])", "ends 16400 bytes"),
        ("TensorMap(of: \"a\", offset: 4, elem: U32, dims: [32], box: [16])", "no multiple of 16"),
        ("TensorMap(of: \"a\", elem: U32, dims: [33, 2], box: [16, 1])", "a stride of 132 bytes"),
        ("TensorMap(of: \"a\", elem: U32, dims: [32], box: [3])", "12 bytes, which is no multiple of 16"),
        ("TensorMap(of: \"a\", elem: U32, dims: [-1], box: [4])", "-1 is out of range"),
        ("TensorMap(of: \"a\", elem: U32, dims: [32], box: [4], swizzle: 48)", "swizzling of 48 bytes"),
        (
            "TensorMap(of: \"a\", elem: U32, dims: [32], box: [4], fill_nan: true)",
            "integers cannot be filled",
        ),
    ] {
        let text = launch("boxes", TENSORS, &format!("{map}, {TO}, U32(0), U32(0), U32(0)"));
        let source = SourceText::new("launch.ron", text.as_str());
        let spec = LaunchSpec::parse(&source).unwrap();
        let error =
            Launch::new(&spec, &program, 0, &source, &|_, _| Ok(Vec::new())).expect_err(why).to_string();
        assert!(error.contains(why) && error.contains("launch.ron:"), "{error}");
    }
}

/// Errors of a run.
#[test]
fn maps_that_do_not_fit_are_named() {
    let of_axes = "TensorMap(of: \"a\", elem: U32, dims: [32, 16], box: [16, 8])";
    let none = "Bytes([0; 128])".replace("[0; 128]", &format!("{:?}", [0; 128]));
    let high = FROM.replace("box: [16, 8, 8]", "box: [16, 8, 16]");
    for (map, why) in [
        (of_axes, "a copy of 3 axes of a tensor that has 2"),
        (none.as_str(), "there is no tensor map at address"),
        (high.as_str(), "a box of 8192 bytes"),
    ] {
        for program in both("boxes") {
            let text = launch("boxes", TENSORS, &format!("{map}, {TO}, U32(0), U32(0), U32(0)"));
            let error = std::panic::catch_unwind(|| {
                after(&program, text, &[], Options::default(), |_, executor| words(executor, 1))
            });
            let error = error.expect_err(why);
            let message = error.downcast_ref::<String>().unwrap();
            assert!(message.contains(why), "{message}");
        }
    }
}
