//! Words to text and back.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::diag::SourceText;
use warpbound::sass::{Encoding, Module, Refused, instruction_at, text};

use crate::shipped::{encoding, root};

/// FNV-1a, as the script that wrote the digests computes it.
fn digest(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |value, byte| (value ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The text of NVIDIA's disassembler for the machine code of all kernels (`scripts/compare-disassembly.py --digests`).
#[test]
fn every_instruction_of_the_kernels_reads_as_nvidias_disassembler_prints_it() {
    let encoding = encoding();
    let digests = std::fs::read_to_string(root().join("tests/data/sass/disassembly.txt")).unwrap();
    let (mut files, mut instructions) = (0, 0);
    for line in digests.lines() {
        let [path, count, expected] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let module = Module::read(path, &std::fs::read(root().join(path)).unwrap(), &encoding).unwrap();
        // the listing has the kernels in the order of the file, too
        let lines: Vec<String> = module
            .kernels()
            .iter()
            .flat_map(|kernel| module.build(kernel, &encoding).listing)
            // the script leaves out the blanks behind infinities
            .map(|line| line.text.unwrap_or_default().replace(" ,", ",").trim_end().to_owned())
            .collect();
        assert_eq!(lines.len().to_string(), count, "{path}");
        assert_eq!(format!("{:016x}", digest(&lines.join("\n"))), expected, "{path}");
        files += 1;
        instructions += lines.len();
    }
    assert!(files >= 44 && instructions > 12_000, "{files} files, {instructions} instructions");
}

/// What is decoded is encoded to the same word, and a word that says more than the table knows is none.
#[test]
fn words_survive_decoding_and_encoding() {
    let encoding = encoding();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let known: Vec<u128> = kernels_words(&encoding);
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
                // without those bits it is one, or at least says less that is unknown
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
fn every_mnemonic_of_the_issue_is_in_the_table() {
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

#[test]
fn tables_with_mistakes_name_the_instruction() {
    let good = std::fs::read_to_string(root().join("isa/pascal.ron")).unwrap();
    for (from, to, expected) in [
        (
            "{a:R@8 neg@49}, {b:B neg@48}\"",
            "{a:R@8 neg@49}, {b:B neg@49}\"",
            "IADD: the bits of `b` mean something else",
        ),
        ("\"- f0f8\"", "\"- f0c8\"", "a word can be this or"),
        ("cmp=icmp@49}{u!", "cmp=jcmp@49}{u!", "there is no choice `jcmp`"),
        ("r 5c10; c 4c10", "r 5c10; q 4c10", "`q` is no form"),
        ("guard: 16", "guard: 62", "the guard lies within"),
        ("bits: 21)", "bits: 20)", "do not fit a word"),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let problems =
            Encoding::parse(&SourceText::new("t.ron", text)).map(|_| ()).expect_err(to).to_string();
        assert!(problems.contains(expected), "{to}: {problems}");
    }
}
