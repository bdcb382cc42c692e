//! Instructions of Turing and later that no kernel of the repository has: the machine code that
//! NVIDIA's assembler makes of `tests/data/sass/later` leaves the bytes that its PTX leaves.

use std::path::PathBuf;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::exec::Options;
use warpbound::load::encoding_of;
use warpbound::program::KernelCode;
use warpbound::sass::{Module, text};

use crate::launched::{after, words};
use crate::shipped::{encoding_for, isa, root, source};

/// The threads of a block, each of which reads four words and writes up to 256.
const THREADS: usize = 256;

/// Returns two numbers of 16 bits: often zeros, infinities, NaNs, and the limits of the normal and
/// the subnormal numbers of both formats.
fn halves(random: &mut ChaCha8Rng) -> u32 {
    const SPECIAL: [u16; 24] = [
        0, 0x8000, 1, 0x8001, 0x3ff, 0x83ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x3800, 0x7bff, 0xfbff, 0x7c00,
        0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc1, 0x80,
    ];
    let mut half = || match random.random_range(0..8) {
        0..5 => SPECIAL[random.random_range(0..SPECIAL.len())],
        _ => random.random(),
    };
    u32::from(half()) << 16 | u32::from(half())
}

/// Runs a kernel with the buffers `o` and `i`, and returns the content of `o`.
fn results(program: &KernelCode, entry: &str, input: &[u8]) -> Vec<u32> {
    let text = format!(
        "Launch(module: \"later\", entry: \"{entry}\", grid: (1, 1, 1), block: ({THREADS}, 1, 1), args: [
             Buffer(name: \"o\", elem: U32, len: {}, init: Zero),
             Buffer(name: \"i\", elem: U32, len: {}, init: File(\"i\")),
         ])",
        THREADS * 256,
        THREADS * 4
    );
    after(program, text, input, Options::default(), |_, executor| words(executor, 0))
}

/// Returns the files of the folder with this ending, sorted.
fn files(ending: &str) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(root().join("tests/data/sass/later")).unwrap();
    let mut all: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    all.sort();
    all
}

/// Returns the contents of `i`: numbers of half precision, and words of any kind, which only kernels
/// without them read, as the bits of a NaN differ.
fn inputs(stem: &str) -> Vec<Vec<u8>> {
    let mut random = ChaCha8Rng::seed_from_u64(41);
    let count = THREADS * 4;
    let mut all = vec![(0..count).flat_map(|_| halves(&mut random).to_le_bytes()).collect()];
    if !stem.starts_with("half") {
        all.push((0..count).flat_map(|_| random.random::<u32>().to_le_bytes()).collect());
    }
    all
}

#[test]
fn machine_code_of_further_instructions_computes_what_its_ptx_does() {
    let isa = isa();
    let (mut kernels, mut nonzero) = (0, 0);
    for ptx in files("ptx") {
        let module = warpbound::ptx::Module::parse(&source(&ptx)).unwrap();
        let stem = ptx.file_stem().unwrap().to_str().unwrap();
        let beside = files("cubin").into_iter().filter(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .strip_prefix(stem)
                .is_some_and(|end| end.starts_with('.'))
        });
        for path in beside {
            let name = path.display().to_string();
            let bytes = std::fs::read(&path).unwrap();
            let encoding = encoding_of(&name, &bytes).unwrap();
            let code = Module::read(&name, &bytes, encoding).unwrap();
            for entry in code.entries() {
                let ptx = module.program(entry, &isa).unwrap();
                let program = code.program(entry, encoding).unwrap_or_else(|problems| panic!("{problems}"));
                for (number, input) in inputs(stem).iter().enumerate() {
                    let (expected, found) = (results(&ptx, entry, input), results(&program, entry, input));
                    let differs = expected.iter().zip(&found).position(|(expected, found)| expected != found);
                    if let Some(at) = differs {
                        panic!(
                            "{name}, {entry}, input {number}, word {at}: PTX {:#x}, machine code {:#x}",
                            expected[at], found[at]
                        );
                    }
                    nonzero += expected.iter().filter(|&&word| word != 0).count();
                }
                kernels += 1;
            }
        }
    }
    // each kernel is counted once for each architecture
    assert_eq!(kernels, 160);
    assert!(nonzero > 10 * THREADS * kernels, "{nonzero} results");
}

/// Instructions that can be printed, but not executed: the text is that of NVIDIA's disassembler,
/// and a kernel with such an instruction is refused by name.
#[test]
fn further_instructions_are_printed_and_refused_by_name() {
    for (target, word, expected) in [
        (75, 0x03e0_0000_0000_0000_1400_7950_u128, "RET.ABS.NODEC R20 0x0"),
        (86, 0x03c0_0000_0000_0040_0000_7943, "CALL.ABS.NOINC 0x40"),
        (90, 0x03c0_0000_0000_0040_0010_7943, "CALL.ABS.NOINC 0x4040"),
        (120, 0x03c0_0000_0000_0000_0000_7343, "CALL.ABS.NOINC R0"),
        (86, 0x03c3_ffff_ffff_ff10_1000_7344, "CALL.REL.NOINC R16 -0xe0"),
        (90, 0x3020_0000_0008_1008_723f, "DMMA.16x8x16 R8, R16, R8, R32"),
        (80, 0x4010_0000_000a_080c_723f, "DMMA.884.RM R12, R8, R10, R16"),
        (86, 0x0001_0017_0000_0005_0021_7231, "HFMA2.FTZ R33, R0, R5, R23"),
        (75, 0x1017_0000_0005_0021_7231, "HFMA2.FMZ R33, R0, R5, R23"),
        (75, 0x4017_0000_0005_0021_7231, "HFMA2.F32 R33, R0, R5, R23"),
        (86, 0x0400_0000_0005_001b_7230, "HADD2 R27, R0.F32, R5"),
        (90, 0x03d0_1080_0000_0005_0000_7234, "HSETP2.LT.H_AND.AND P0, P5, R0, R5, PT"),
    ] {
        let encoding = encoding_for(target);
        let decoded = encoding.decode(word).unwrap_or_else(|why| panic!("{expected}: {why:?}"));
        assert_eq!(
            text(&decoded, 16, 0, |target| if target < 0 {
                format!("-{:#x}", -target)
            } else {
                format!("{target:#x}")
            }),
            expected
        );
        let mut bytes =
            std::fs::read(root().join(format!("tests/data/sass/later/{}", host(target)))).unwrap();
        let at = Module::read("x.cubin", &bytes, encoding).unwrap().kernels()[0].at as usize + 0x10;
        bytes[at..at + 16]
            .copy_from_slice(&(word | encoding.control.mask() & 7 << 110 | 7 << 113).to_le_bytes());
        let module = Module::read("x.cubin", &bytes, encoding).unwrap();
        let entry = module.kernels()[0].name.clone();
        match module.program(&entry, encoding) {
            Ok(_) => {
                let executed = ["HFMA2.FTZ", "RET.ABS"].iter().any(|name| expected.starts_with(name));
                assert!(executed, "{expected} is executed");
            }
            Err(problems) => {
                let shown = problems.to_string();
                let name = expected.split(['.', ' ']).next().unwrap();
                assert!(shown.contains(name) && shown.contains("+0x10 "), "{expected}: {shown}");
            }
        }
    }
}

/// Returns the name of a cubin for an architecture.
fn host(target: u32) -> String {
    let kernel = if target == 80 { "half_minimum" } else { "half" };
    format!("{kernel}.sm_{target}.cubin")
}
