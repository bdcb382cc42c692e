//! Machine code of 128-bit words: bits that have a meaning, damaged words and files, refusals.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::exec::{Executor, Options};
use warpbound::load::encoding_of;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::sass::{Encoding, Module, Refused, instruction_at, text};

use crate::shipped::{encoding_for, launch_files, load_by, root};

/// The architectures for which the repository contains machine code of 128-bit words.
const TARGETS: [u32; 4] = [75, 86, 90, 120];

fn cubin(kernel: &str, target: u32) -> Vec<u8> {
    std::fs::read(root().join(format!("kernels/{kernel}/{kernel}.sm_{target}.cubin"))).unwrap()
}

/// Returns the machine code of kernels that use textures and surfaces.
fn images(target: u32) -> Vec<u8> {
    std::fs::read(root().join(format!("tests/data/sass/textures/textures.sm_{target}.cubin"))).unwrap()
}

/// Returns the machine code of kernels whose functions are in sections of their own.
fn linked(target: u32) -> Vec<u8> {
    let stem = if matches!(target, 75 | 90) { "recursion" } else { "calls" };
    std::fs::read(root().join(format!("tests/data/sass/later/{stem}.linked.sm_{target}.cubin"))).unwrap()
}

/// Returns the machine code of kernels with the asynchronous instructions of Hopper.
fn groups() -> Vec<u8> {
    std::fs::read(root().join("tests/data/sass/groups/groups.sm_90.cubin")).unwrap()
}

/// Returns the words of a cubin without their control codes.
fn words(encoding: &Encoding, bytes: &[u8]) -> Vec<u128> {
    let module = Module::read("x.cubin", bytes, encoding).unwrap();
    let of = |code: &[u8]| {
        (0..encoding.count(code.len())).map(|index| instruction_at(encoding, code, index).1).collect()
    };
    module.kernels().iter().flat_map(|kernel| -> Vec<u128> { of(&kernel.code) }).collect()
}

/// Each bit in the upper half of a word of each opcode (`scripts/compare-bits.py --write`): every
/// word that is accepted is decoded as NVIDIA's disassembler prints it.
#[test]
fn every_bit_reads_as_nvidias_disassembler_prints_it_or_is_refused() {
    for (target, file, most, least) in [(86, "bits.txt", 500, 50), (90, "bits.sm_90.txt", 250, 20)] {
        let (equal, refused) = bits_of(target, file);
        assert!(equal > most && refused > least, "{file}: {equal} equal, {refused} refused");
    }
}

/// Compares the texts of the words of a file, and returns how many are equal, and how many are refused.
fn bits_of(target: u32, file: &str) -> (usize, usize) {
    let encoding = encoding_for(target);
    let lines = std::fs::read_to_string(root().join("tests/data/sass").join(file)).unwrap();
    let (mut equal, mut refused) = (0, 0);
    for line in lines.lines() {
        let (word, expected) = line.split_once(' ').unwrap();
        let word = u128::from_str_radix(word, 16).unwrap() & !encoding.control.mask();
        match encoding.decode(word) {
            Err(_) => refused += 1,
            Ok(decoded) => {
                let ours = text(&decoded, 16, 0, |_| "TARGET".to_owned());
                assert_eq!(ours.replace(" ,", ",").trim_end(), expected, "{word:#034x}");
                assert!(!expected.contains("INVALID") && !expected.contains('?'), "{word:#x}: {expected}");
                equal += 1;
            }
        }
    }
    (equal, refused)
}

/// A decoded word is encoded to the same word, and a word with unknown bits is refused.
#[test]
fn words_of_128_bits_survive_decoding_and_encoding() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for target in TARGETS {
        let encoding = encoding_for(target);
        let mut known = words(encoding, &cubin("reduction", target));
        if target == 90 {
            known.extend(words(encoding, &groups()));
        }
        let (mut decoded, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let mut word = known[random.random_range(0..known.len())];
            for _ in 0..random.random_range(0..4) {
                word ^= 1 << random.random_range(0..105);
            }
            match encoding.decode(word) {
                Ok(instruction) => {
                    let shown = text(&instruction, 16, 0, |target| target.to_string());
                    assert_eq!(encoding.encode(&instruction), Ok(word), "sm_{target}: {shown}");
                    decoded += 1;
                }
                Err(Refused::Bits(..) | Refused::Number(..) | Refused::Unknown) => refused += 1,
            }
        }
        assert!(decoded > 6000 && refused > 6000, "sm_{target}: {decoded} decoded, {refused} refused");
    }
}

/// Whatever the bytes are, nothing panics.
#[test]
fn mutated_files_of_later_architectures_are_survived() {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (mut built, mut refused) = (0, 0);
    for round in 0..1600 {
        let target = TARGETS[round % TARGETS.len()];
        let mut bytes = match round / TARGETS.len() % 5 {
            0 => cubin("vecadd", target),
            1 => cubin("reduction", target),
            2 => linked(target),
            3 if target == 90 => groups(),
            _ => images(target),
        };
        for _ in 0..random.random_range(1..12) {
            let at = random.random_range(0..bytes.len());
            bytes[at] ^= 1 << random.random_range(0..8);
        }
        let read = encoding_of("x.cubin", &bytes)
            .and_then(|encoding| Ok((encoding, Module::read("x.cubin", &bytes, encoding)?)));
        match read {
            Err(problems) => {
                assert!(!problems.to_string().is_empty());
                refused += 1;
            }
            Ok((encoding, module)) => {
                module.listing(encoding);
                for kernel in module.kernels() {
                    module.build(kernel, encoding);
                    built += 1;
                }
            }
        }
    }
    assert!(built > 500 && refused > 20, "{built} built, {refused} refused");
}

/// A word with a bit that no text names is refused with its place and the nearest instruction.
#[test]
fn unknown_bits_and_opcodes_are_refused_with_their_place() {
    let encoding = encoding_for(86);
    let bytes = cubin("vecadd", 86);
    let at = Module::read("x.cubin", &bytes, encoding).unwrap().kernels()[0].at as usize + 0x10;
    for (word, expected) in [
        // an opcode that no GPU has, MOV with a bit without a name, BMOV.32 that restores a barrier
        (0x03c0_0000_0000_0000_0000_77ff_u128, "is not a known instruction; the nearest known opcode is"),
        (1 << 99 | 0x0f00_0000_0004_0009_7802, "is MOV with bits"),
        (0x0000_0000_0011_0600_7356, "BMOV.32: no BMOV of the kernel saves this barrier"),
    ] {
        let mut bytes = bytes.clone();
        bytes[at..at + 16].copy_from_slice(&word.to_le_bytes());
        let module = Module::read("x.cubin", &bytes, encoding).unwrap();
        let shown = module.program("vecadd", encoding).map(|_| ()).expect_err(expected).to_string();
        assert!(shown.contains(expected), "{expected}: {shown}");
        assert!(shown.contains(".text.vecadd+0x10"), "{shown}");
    }
}

/// Threads that leave a region early, and barriers of a warp after a branch without a region, leave
/// the results of PTX.
#[test]
fn regions_by_barriers_of_convergence_leave_the_results_of_ptx() {
    let mut compared = 0;
    for file in launch_files() {
        let has_code = ["betts", "bitonic", "reduction", "histogram", "sgemm_dbuf", "digits"]
            .iter()
            .any(|kernel| file.parent().is_some_and(|folder| folder.ends_with(kernel)));
        if !has_code {
            continue;
        }
        let buffers = |ending: &str| -> Vec<Vec<u8>> {
            let shipped = load_by(&file, 3, ending);
            let mut executor = Executor::new(&shipped.program, &shipped.launch, Options::default()).unwrap();
            let mut paths = BlockPaths::default();
            while executor.next_block(&mut paths).unwrap() {}
            (0..shipped.launch.buffers.len()).map(|index| executor.buffer(index).to_vec()).collect()
        };
        assert!(buffers("ptx") == buffers("sm_86.cubin"), "{}", file.display());
        compared += 1;
    }
    assert!(compared >= 20, "{compared} launches");
}
