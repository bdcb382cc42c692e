//! Tables of encodings: what they can describe, and how mistakes in them are reported.

use warpbound::base::RegId;
use warpbound::diag::{Diagnostics, SourceText};
use warpbound::program::RegKind;
use warpbound::program::sem::{Operand, Sem, Special};
use warpbound::sass::{Encoding, Module, instruction_at, text};

use crate::cubin::cubin;
use crate::shipped::root;

/// Returns the problems of a table in which one text is replaced by another.
fn problems(good: &str, from: &str, to: &str) -> Diagnostics {
    let text = good.replacen(from, to, 1);
    assert_ne!(text, good, "{from}");
    Encoding::parse(&SourceText::new("t.ron", text)).map(|_| ()).expect_err(to)
}

fn pascal() -> String {
    std::fs::read_to_string(root().join("isa/pascal.ron")).unwrap()
}

fn wide() -> String {
    std::fs::read_to_string(root().join("tests/data/sass/wide.ron")).unwrap()
}

/// Asserts that each replacement gives a message with its place, the offending line and a hint.
fn assert_refused(good: &str, cases: &[(&str, &str, &str)]) {
    for &(from, to, expected) in cases {
        let problems = problems(good, from, to);
        let shown = problems.to_string();
        assert!(shown.contains(expected), "{to}: {shown}");
        for problem in problems.list() {
            assert!(problem.line > 0 && problem.column > 0, "{to}: {problem:?}");
            assert!(!problem.hint.is_empty(), "{to}: {problem:?}");
        }
    }
}

#[test]
fn mistakes_in_instructions_name_the_instruction() {
    assert_refused(
        &pascal(),
        &[
            (
                "{a:R@8 neg@49}, {b:B neg@48}\"",
                "{a:R@8 neg@49}, {b:B neg@49}\"",
                "IADD: the bits of `b` mean something else",
            ),
            ("\"- f0f8\"", "\"- f0c8\"", "a word can be this or"),
            ("cmp=icmp@49}{u!", "cmp=jcmp@49}{u!", "there is no choice `jcmp`"),
            ("r 5c10; c 4c10", "r 5c10; q 4c10", "`q` is no form"),
            ("r 5c10; c 4c10", "r 5c10g; c 4c10", "`5c10g` is no bit pattern"),
            ("r 5c10; c 4c10", "r; c 4c10", "a form needs its bits"),
            ("r 5c10; c 4c10", "r 15c10; c 4c10", "4 digits of bits"),
            (
                "set: \"0x38000000000\",",
                "set: \"0x38000000000\", clear: \"0x8000000000\",",
                "both in `set` and in `clear`",
            ),
            ("set: \"0x38000000000\"", "set: \"38000000000\"", "`38000000000` is no word of bits"),
            ("set: \"0x38000000000\"", "set: \"0x38000000000000000\"", "lies beyond the word"),
            ("sem: int(iadd)", "sem: int(idd)", "idd"),
            ("sem: int(iadd)", "sem: integer(iadd)", "integer"),
            ("{t:T@20+24}", "{t:T@20}", "`20` needs the number of bits"),
            ("{t:T@20+24}", "{t:T@50+24}", "lies beyond the word"),
            ("{a:R@8 neg@49}", "{a:R@8 neg@64}", "`neg@64` does not say which bit"),
            ("{a:R@8 neg@49}", "{a:R@8 nag@49}", "`nag@49` says nothing of an operand"),
            ("{a:R@8 neg@49}", "{a:UR@8 neg@49}", "the table has no uniform registers"),
            ("{a:R@8 neg@49}", "{a:R}", "`a:R` does not say where"),
            ("{a:R@8 neg@49}, {b:B neg@48}", "{a:R@8 neg@49}, {b:B@20 neg@48}", "`b:B@20` says where"),
            ("{a:R@8 neg@49}, {b:B neg@48}", "{a:R@8 neg@49}, {b:B neg@48", "a brace is not closed"),
            ("{a:R@8 neg@56}, {b:S32@20}", "{a:R@8 neg@56}, {b:B}", "`b` is B of a form without B"),
            ("{m:CX@8 offset=S16@20 bank@36+5}", "{m:CX@8 offset=S16@20}", "has no offset or no bank"),
            ("\"lop\": \".AND", "\"lop\": \"0x=.AND", "lop: `0x` is no number"),
        ],
    );
}

#[test]
fn mistakes_in_the_format_of_words_have_their_place() {
    assert_refused(
        &pascal(),
        &[
            ("guard: 16", "guard: 62", "the guard lies beyond the 64 bits of a word"),
            ("word_bits: 64", "word_bits: 32", "instructions of 32 bits are not supported"),
            ("word_bits: 64", "word_bits: 0", "instructions of 0 bits are not supported"),
            ("targets: [50, 52, 53, 60, 61, 62]", "targets: []", "no architecture is given"),
            ("slots: [8, 20, 39]", "slots: [8, 20, 64]", "bit 64 lies beyond the 64 bits of a word"),
            ("\"i\": Number(\"20+19,56\")", "\"i\": Number(\"20+19,38\")", "one of them twice"),
            ("bits: 21)", "bits: 20)", "do not fit a word"),
            ("instructions: 3", "instructions: 4", "do not fit a word"),
            ("stay: \"4\"", "stay: \"3\"", "the bits of `stay` belong to another control code"),
            ("stay: \"4\"", "stay: \"4+2\"", "at most 1"),
            ("wait: \"11+6\"", "wait: \"11+7\"", "at most 6"),
            ("write_barrier: \"5+3\"", "write_barrier: \"5+2\"", "6 barriers have no numbers"),
            ("at: \"48+16\"", "at: \"60+16\"", "lies beyond the word"),
            ("at: \"48+16\"", "at: \"48+4\"", "8 to 32 are supported"),
            ("mask: 0xfff8", "mask: 0x1fff8", "is no mask of the 16 bits of the opcode"),
            ("prefix: \"R\", bits: 8", "prefix: \"R\", bits: 9", "a number of 9 bits"),
            ("prefix: \"P\", bits: 3", "prefix: \"P\", bits: 4", "a number of 4 bits"),
            ("fixed: \"RZ\"", "fixed: \"\"", "is no name of a register"),
            ("\"r\": Register(\"20\")", "\"r\": Uniform(\"20\")", "the table has no uniform registers"),
            ("\"r\": Register(\"20\")", "\"r\": Register(\"60\")", "lies beyond the word"),
            ("\"i\": Number(\"20+19,56\")", "\"i\": Number(\"20+35,56\")", "2 to 32"),
            ("\"i\": Number(\"20+19,56\")", "\"i\": Number(\"20+x\")", "`x` is no bit"),
            ("\"d\": Double", "\"f\": Double", "`f` is given twice here"),
        ],
    );
}

#[test]
fn mistakes_in_the_banks_of_constants_have_their_place() {
    assert_refused(
        &pascal(),
        &[
            ("compiler: 2", "compiler: 3", "bank 3 is the one of `compiler`, too"),
            ("addresses: 4", "addresses: 32", "bank 32 does not fit the 5 bits of a bank"),
            ("params: 0x140", "params: 0x142", "which is no multiple of 4"),
            ("params: 0x140", "params: 0x100", "0x100 lies in the parameters"),
            ("at: 0x8,", "at: 0xa,", "0xa is no multiple of 4"),
            ("at: 0x8,", "at: 0x4,", "the word at 0x4 is given twice"),
            ("Window(Shared)", "Window(Global)", "global memory has no window"),
            ("BlockSize(X)", "BlockSize(W)", "W"),
        ],
    );
}

/// The control codes inside a word of 128 bits are read, and the word without them is decoded,
/// printed and encoded again.
#[test]
fn instructions_of_128_bits_are_read_printed_and_encoded() {
    let encoding = Encoding::parse(&SourceText::new("wide.ron", wide())).unwrap();
    for (low, high, control, expected) in [
        (0x0000_0a00_0001_7a02, 0x000f_c400_0000_0f00, "00:-:-:Y:2", "MOV R1, c[0x0][0x28]"),
        (0x0000_0004_0005_7802, 0x000f_e200_0000_0f00, "00:-:-:-:1", "MOV R5, 0x4"),
        (0x0000_0004_0002_7c02, 0x000f_c800_0800_0f00, "00:-:-:Y:4", "MOV R2, UR4"),
        (0x0000_0000_0404_7a24, 0x001f_ca00_078e_0203, "01:-:-:Y:5", "IMAD R4, R4, c[0x0][0x0], R3"),
        (0x0000_4600_0004_7ab9, 0x000f_c800_0000_0a00, "00:-:-:Y:4", "ULDC.64 UR4, c[0x0][0x118]"),
        (0x0000_0000_0000_094d, 0x000f_ea00_0380_0000, "00:-:-:-:5", "@P0 EXIT"),
        (0x0000_0000_0000_794d, 0x000f_ea00_0380_0000, "00:-:-:-:5", "EXIT"),
    ] {
        let mut code = u64::to_le_bytes(low).to_vec();
        code.extend(u64::to_le_bytes(high));
        assert_eq!(encoding.count(code.len()), 1);
        let (byte, word, codes) = instruction_at(&encoding, &code, 0);
        assert_eq!((byte, codes.to_string().as_str()), (0, control), "{expected}");
        let decoded = encoding.decode(word).unwrap();
        assert_eq!(text(&decoded, 16, codes.reuse, |target| target.to_string()), expected);
        assert_eq!(encoding.encode(&decoded), Ok(word), "{expected}");
        // the codes and the instruction are the whole word again
        let whole = u128::from(high) << 64 | u128::from(low);
        assert_eq!(word | encoding.control.write(&codes) << 105, whole, "{expected}");
    }
    // bits that no text names are no part of an instruction
    assert!(encoding.decode(0x0000_0f00_0000_0a00_0001_7a02 | 1 << 80).is_err());
}

const STACK: [u64; 2] = [0x0000_0a00_0001_7a02, 0x000f_c400_0000_0f00];
const PARAM: [u64; 2] = [0x0000_5800_0002_7a02, 0x000f_c400_0000_0f00];
const UNIFORM: [u64; 2] = [0x0000_0004_0002_7c02, 0x000f_c800_0800_0f00];
const IMAD: [u64; 2] = [0x0000_0000_0404_7a24, 0x001f_ca00_078e_0203];
const EXIT: [u64; 2] = [0x0000_0000_0000_794d, 0x000f_ea00_0380_0000];

/// The stack pointer and the parameters are where the table says.
#[test]
fn banks_of_constants_are_those_of_the_table() {
    let encoding = Encoding::parse(&SourceText::new("wide.ron", wide())).unwrap();
    let module = Module::read("k", &cubin(&[STACK, PARAM, UNIFORM, EXIT]), &encoding).unwrap();
    assert_eq!(module.target(), 86);
    let program = module.program("k", &encoding).unwrap();
    let sources: Vec<Operand> = program
        .instrs
        .iter()
        .filter_map(|instr| if let Sem::Mov { src, .. } = instr.sem { Some(src) } else { None })
        .collect();
    let shared = program.regs.iter().position(|register| register.name == "UR4").map(RegId::from_index);
    let shared = Operand::Reg(shared.expect("a register of the warp"));
    assert_eq!(sources, [Operand::Imm(0), Operand::Special(Special::Param(0)), shared]);
    let registers: Vec<&str> = program
        .regs
        .iter()
        .filter(|register| register.kind == RegKind::Bits(32) && register.name.starts_with('R'))
        .map(|register| register.name.as_str())
        .collect();
    assert_eq!(registers, ["R1", "R2"]);
    // each instruction takes 16 bytes
    let offsets: Vec<u32> =
        program.machine_code.unwrap().instructions.iter().map(|coded| coded.byte).collect();
    assert_eq!(offsets, [0, 16, 32, 48]);
}

/// What the lowering cannot do yet is refused by name.
#[test]
fn instructions_without_semantics_are_refused() {
    let encoding = Encoding::parse(&SourceText::new("wide.ron", wide())).unwrap();
    for (word, expected) in [
        (
            IMAD,
            "k: .text.k+0x10 (byte 0x7e of the file): `IMAD R4, R4, c[0x0][0x0], R3`: IMAD is not supported",
        ),
        ([0x123, 0], "is not a known instruction; the nearest known opcode is"),
    ] {
        let module = Module::read("k", &cubin(&[STACK, word, EXIT]), &encoding).unwrap();
        let problems = module.program("k", &encoding).expect_err(expected);
        let [problem] = problems.list() else { panic!("{problems}") };
        let shown = format!("{}: {}", problem.file, problem.message);
        assert!(shown.contains(expected), "{shown}");
        assert!(!problem.hint.is_empty(), "{shown}");
    }
}
