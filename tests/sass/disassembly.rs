//! Words to text and back.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::sass::{Encoding, Module, Refused, instruction_at, text};

use crate::shipped::{encoding, root};
use warpbound::load::encoding_of;

/// Returns the FNV-1a hash, as computed by the script that wrote the digests.
fn digest(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |value, byte| (value ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The text of NVIDIA's disassembler for the machine code of all kernels
/// (`scripts/compare-disassembly.py --digests`).
#[test]
fn every_instruction_of_the_kernels_reads_as_nvidias_disassembler_prints_it() {
    let digests = std::fs::read_to_string(root().join("tests/data/sass/disassembly.txt")).unwrap();
    let (mut files, mut instructions) = (0, 0);
    for line in digests.lines() {
        let [path, count, expected] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let bytes = std::fs::read(root().join(path)).unwrap();
        let encoding = encoding_of(path, &bytes).unwrap();
        let module = Module::read(path, &bytes, encoding).unwrap();
        // the listing has the kernels in the order of the file, too
        let lines: Vec<String> = module
            .kernels()
            .iter()
            .flat_map(|kernel| module.build(kernel, encoding).listing)
            // the script omits the blanks after infinities
            .map(|line| line.text.unwrap_or_default().replace(" ,", ",").trim_end().to_owned())
            .collect();
        assert_eq!(lines.len().to_string(), count, "{path}");
        assert_eq!(format!("{:016x}", digest(&lines.join("\n"))), expected, "{path}");
        files += 1;
        instructions += lines.len();
    }
    assert!(files >= 44 && instructions > 12_000, "{files} files, {instructions} instructions");
}

/// Each modifier bit and each choice of each form (`scripts/compare-modifiers.py --write`) is
/// tested. Every word that is accepted is decoded as NVIDIA's disassembler prints it, even if no
/// kernel of the repository contains it.
#[test]
fn every_modifier_reads_as_nvidias_disassembler_prints_it_or_is_refused() {
    let encoding = encoding();
    let words = std::fs::read_to_string(root().join("tests/data/sass/modifiers.txt")).unwrap();
    let (mut equal, mut refused) = (0, 0);
    for line in words.lines() {
        let (word, expected) = line.split_once(' ').unwrap();
        match encoding.decode(u128::from_str_radix(word, 16).unwrap()) {
            Err(_) => refused += 1,
            Ok(decoded) => {
                let ours = text(&decoded, 8, 0, |_| "TARGET".to_owned());
                // the script omits the blanks after infinities
                assert_eq!(ours.replace(" ,", ",").trim_end(), expected, "{word}");
                assert!(!expected.contains("INVALID") && !expected.contains('?'), "{word}: {expected}");
                equal += 1;
            }
        }
    }
    assert!(equal > 2000 && refused > 100, "{equal} equal, {refused} refused");
}

/// F2F has three fields in bits 39 to 42: the direction of rounding, the half of a source of 16
/// bits, and whether it rounds to an integral number.
#[test]
fn f2f_rounds_and_takes_halves() {
    let encoding = encoding();
    for (bits, to, from, expected) in [
        (0, 2, 1, "F2F.F32.F16 R8, R12"),
        (1 << 41, 2, 1, "F2F.F32.F16 R8, R12.H1"),
        (1 << 41 | 1 << 49, 2, 1, "F2F.F32.F16 R8, |R12.H1|"),
        (1 << 42, 2, 2, "F2F.F32.F32.ROUND R8, R12"),
        (1 << 42 | 1 << 39, 2, 2, "F2F.F32.F32.FLOOR R8, R12"),
        (1 << 42 | 1 << 41 | 3 << 39, 1, 1, "F2F.F16.F16.TRUNC R8, R12.H1"),
        (2 << 39, 2, 2, "F2F.F32.F32.PASS R8, R12"),
        (2 << 39, 1, 2, "F2F.F16.F32.RP R8, R12"),
        (3 << 39, 2, 3, "F2F.F32.F64.RZ R8, R12"),
    ] {
        let word: u128 = 0x5ca8_0000_00c7_0008 | bits | to << 8 | from << 10;
        let shown = encoding.decode(word).map(|decoded| text(&decoded, 8, 0, |t| t.to_string()));
        assert_eq!(shown.ok().as_deref(), Some(expected), "{word:#x}");
    }
    // a source of 32 bits has no upper half, and a conversion to another format does not round to
    // an integral number
    for bits in [1 << 41 | 2 << 8 | 2 << 10, 1 << 42 | 1 << 8 | 2 << 10] {
        assert!(encoding.decode(0x5ca8_0000_00c7_0008 | bits).is_err(), "{bits:#x}");
    }
}

/// A decoded word is encoded to the same word, and a word with unknown bits is rejected.
#[test]
fn words_survive_decoding_and_encoding() {
    let encoding = encoding();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let known: Vec<u128> = kernels_words(encoding);
    let (mut decoded, mut refused) = (0, 0);
    for _ in 0..200_000 {
        let mut word = known[random.random_range(0..known.len())];
        for _ in 0..random.random_range(0..4) {
            word ^= 1 << random.random_range(0..64);
        }
        match encoding.decode(word) {
            Ok(instruction) => {
                assert_eq!(
                    encoding.encode(&instruction),
                    Ok(word),
                    "{}",
                    text(&instruction, 8, 0, |t| t.to_string())
                );
                decoded += 1;
            }
            Err(Refused::Bits(_, bits)) => {
                // without those bits it is valid, or has at least fewer unknown bits
                assert!(bits != 0 || encoding.nearest(word).is_some());
                refused += 1;
            }
            Err(_) => refused += 1,
        }
        encoding.nearest(word);
    }
    assert!(decoded > 80_000 && refused > 20_000, "{decoded} decoded, {refused} refused");
}

/// Every form of the table can be written and read.
#[test]
fn the_table_has_every_required_mnemonic() {
    let encoding = encoding();
    let names = encoding.names();
    let wanted = "XMAD FFMA MOV IADD LDS NOP SHR ISETP SHL BRA S2R ISCADD LDG LEA SYNC STG STS EXIT IADD32I FMUL FADD BAR \
                  MEMBAR SSY IADD3 MOV32I SHFL MUFU CAL LOP32I LOP RET DEPBAR FSETP BRK ISET RED PBK LOP3.LUT ATOMS \
                  DFMA DMUL DADD F2F F2I I2F LDC LDL STL LD ST SEL BRX RRO FCHK.DIVIDE ICMP";
    let missing: Vec<&str> = wanted.split_whitespace().filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {names:?}");
}

fn kernels_words(encoding: &Encoding) -> Vec<u128> {
    let mut words = Vec::new();
    for name in ["fft", "montecarlo", "sgemm_naive", "atomics_mix", "layernorm"] {
        let path = root().join(format!("kernels/{name}/{name}.sm_61.cubin"));
        let module = Module::read(name, &std::fs::read(path).unwrap(), encoding).unwrap();
        for kernel in module.kernels() {
            let count = encoding.count(kernel.code.len());
            words.extend((0..count).map(|index| instruction_at(encoding, &kernel.code, index).1));
        }
    }
    words
}
