//! The PTX front end on malformed inputs: it returns diagnostics or a program, never panics, and
//! ends in time.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use warpbound::diag::SourceText;
use warpbound::isa::{IsaTable, Rule};
use warpbound::ptx::Module;

const CONTROL: &str = include_str!("../files/ptx/control.ptx");
const MEMORY: &str = include_str!("../files/ptx/memory.ptx");
const VARIABLES: &str = include_str!("../files/ptx/variables.ptx");
const COMPILED: &str = include_str!("../files/ptx/compiled/nvrtc_warps.ptx");

fn isa() -> IsaTable {
    warpbound::load::ptx_isa()
}

/// Does everything that can be done with a text. Returns whether it parses.
fn exercise(text: impl Into<String>, isa: &IsaTable) -> bool {
    match Module::parse(&SourceText::new("t.ptx", text)) {
        Ok(module) => {
            let inspection = module.inspect(isa);
            for entry in module.entries().into_iter().take(4) {
                let summary = inspection.entries.iter().find(|summary| summary.name == entry);
                match module.program(entry, isa) {
                    Ok(program) => assert!(!program.instrs.is_empty()),
                    Err(problems) => {
                        assert!(!problems.to_string().is_empty());
                        assert!(summary.is_none_or(|summary| !summary.supported));
                    }
                }
            }
            true
        }
        Err(problems) => {
            assert!(!problems.is_empty() && !problems.to_string().is_empty());
            false
        }
    }
}

#[test]
fn truncated_anywhere() {
    let isa = isa();
    for text in [CONTROL, MEMORY, VARIABLES, COMPILED] {
        for end in 0..text.len() {
            exercise(&text[..end], &isa);
        }
        assert!(exercise(text, &isa));
    }
}

#[test]
fn without_any_one_line() {
    let isa = isa();
    for text in [CONTROL, MEMORY, VARIABLES] {
        let lines: Vec<&str> = text.lines().collect();
        for left_out in 0..lines.len() {
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, line)| *line).collect();
            exercise(rest.join("\n"), &isa);
        }
    }
}

/// Words that are meaningful somewhere.
const WORDS: &[&str] = &[
    ".visible",
    ".entry",
    ".func",
    "k",
    "f",
    "(",
    ")",
    "{",
    "}",
    ".param",
    ".reg",
    ".b32",
    ".u64",
    ".pred",
    ".f32",
    "%r<9>",
    "%p<3>",
    "%r1",
    "%r2",
    "%p1",
    "%p|%q",
    ",",
    ";",
    ":",
    "[",
    "]",
    "@",
    "!",
    "add.s32",
    "ld.global.u32",
    "st.param.b32",
    "mov.u32",
    "setp.lt.s32",
    "call",
    "bra",
    "ret",
    "exit",
    "cvt.rn.f32.s32",
    "bar.sync",
    "L1",
    "L1:",
    "0",
    "-1",
    "0x7f",
    "0f3F800000",
    "1.5",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    "?",
    "|",
    "%tid.x",
    "_",
    ".align",
    "8",
    ".global",
    ".shared",
    ".extern",
    "x",
    "[4]",
    "=",
    "generic(x)",
    ".branchtargets",
    "brx.idx",
    ".section",
    ".loc 1 2 3",
    "\"text\"",
    "//",
    "\n",
    "/*",
    "*/",
    "\u{0}",
    "\u{e9}",
    "99999999999999999999",
    "atom.add.u32",
    "shfl.sync.up.b32",
    "mov.b64",
    "{%r1, _}",
    "vprintf",
    ".local",
    ".const",
    "fma.rn.f16x2",
    "prmt.b32",
    "cp.async.ca.shared.global",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soup_of_words(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..200), inside in any::<bool>()) {
        let soup = words.join(" ");
        let text = if inside {
            format!(".visible .entry k(.param .u64 x) {{ .reg .b32 %r<9>; .reg .pred %p<3>; {soup} }}")
        } else {
            soup
        };
        exercise(text, &isa());
    }

    #[test]
    fn flipped_bytes(which in 0usize..4, flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = [CONTROL, MEMORY, VARIABLES, COMPILED][which].as_bytes().to_vec();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        exercise(String::from_utf8_lossy(&bytes).into_owned(), &isa());
    }

    #[test]
    fn shuffled_words(words in Just(MEMORY.split_inclusive([' ', '\n']).collect::<Vec<_>>()).prop_shuffle()) {
        exercise(words.concat(), &isa());
    }
}

/// Tests an input of about ten megabytes; the time limit is far above the usual time and far below
/// that of anything quadratic.
fn in_time(name: &str, text: String) {
    let text = format!(".version 8.0\n{text}");
    let start = Instant::now();
    exercise(text, &isa());
    let taken = start.elapsed();
    assert!(taken < Duration::from_secs(60), "{name} took {taken:?}");
}

#[test]
fn ten_megabytes_of_garbage() {
    const SIZE: usize = 10 << 20;
    // a fixed linear congruential generator is sufficient for garbage
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let alphabet: Vec<char> =
        "abr%$_.,;:{}[]()@!|<>=+-*/&^~?0123456789xf\"# \n\t\u{e9}\u{0}".chars().collect();
    let many_lines: String = (0..SIZE).map(|_| alphabet[next() % alphabet.len()]).collect();
    in_time("one line", many_lines.replace('\n', " "));
    in_time("many lines", many_lines);
    let binary: Vec<u8> = (0..SIZE).map(|_| next() as u8).collect();
    in_time("binary", String::from_utf8_lossy(&binary).into_owned());
}

#[test]
fn deep_and_long() {
    const MANY: usize = 2_000_000;
    in_time("scopes", format!(".entry k(){{{}{}}}", "{".repeat(MANY), "}".repeat(MANY)));
    in_time("open scopes", format!(".entry k(){{{}", "{".repeat(MANY)));
    in_time("parentheses", format!(".entry k(){{ mov.u32 %r, {}", "(".repeat(MANY)));
    in_time("signs", format!(".global .u32 x = {}1;", "-".repeat(MANY)));
    in_time("initialiser", format!(".global .u32 x[5] = {}", "{".repeat(MANY)));
    in_time("vector", format!(".entry k(){{ .reg .b32 r; mov.b32 {{{}r}}, r; }}", "r,".repeat(MANY)));
    in_time("opcode", format!(".entry k(){{ mov{} %r, 1; }}", ".u32".repeat(MANY)));
    in_time("word", format!(".entry k(){{ mov.u32 {}, 1; }}", "r".repeat(MANY)));
    in_time("comment", "/*".repeat(MANY));
    in_time("directives", ".visible .entry ".repeat(MANY / 4));
    in_time("names", format!(".entry k(){{ {} }}", ".reg .b32 x;".repeat(MANY / 8)));
    let unknown: String = (0..MANY / 8).map(|i| format!("mov.u32 %x{i}, 1; ")).collect();
    in_time("unknown names on one line", format!(".entry k(){{ .reg .b32 %r<9>; {unknown} }}"));
}

#[test]
fn long_chains_and_tables() {
    const MANY: usize = 2_000_000;
    let chain: String =
        (0..MANY / 20).map(|i| format!(".func f{i}(){{ call f{}; ret; }}\n", i + 1)).collect();
    in_time("chain of calls", format!("{chain}.func f{}(){{ ret; }} .entry k(){{ call f0; }}", MANY / 20));
    let pointers: String = (0..MANY / 40)
        .map(|i| {
            format!(
                ".func f{i}(){{ .reg .b64 d; p: .callprototype _ (); mov.u64 d, f{}; call d, p; ret; }}\n",
                i + 1
            )
        })
        .collect();
    in_time(
        "chain of pointers",
        format!("{pointers}.func f{}(){{ ret; }} .entry k(){{ call f0; }}", MANY / 40),
    );
    let entries: String = (0..MANY / 40).map(|i| format!(".entry k{i}(){{ call f; ret; }}\n")).collect();
    let body = "add.u32 r, r, 1;\n".repeat(MANY / 20);
    in_time("kernels of one function", format!(".func f(){{ .reg .b32 r; {body} ret; }}\n{entries}"));
    let table: String = (0..4000).map(|i| format!("L{i}: mov.b32 r, 1;\n")).collect();
    let labels: Vec<String> = (0..4000).map(|i| format!("L{i}")).collect();
    let branches = "brx.idx r, t;\n".repeat(MANY / 8);
    let labels = labels.join(",");
    in_time(
        "tables",
        format!(".entry k(){{ .reg .b32 r;\n{table} t: .branchtargets {labels};\n{branches} }}"),
    );
}

/// Returns the messages for a text, parsed and lowered.
fn messages(text: &str) -> String {
    let source = SourceText::new("t.ptx", format!(".version 8.0 {text}"));
    match Module::parse(&source) {
        Err(problems) => problems.to_string(),
        Ok(module) => module.program("k", &isa()).map_or_else(|e| e.to_string(), |_| String::new()),
    }
}

#[test]
fn limits_are_named() {
    let list = |item: &dyn Fn(usize) -> String| (0..41).map(item).collect::<Vec<_>>().join(", ");
    let registers: String = (0..66_000).map(|i| format!("mov.u32 %r{i}, 1;\n")).collect();
    for (text, expected) in [
        (format!(".entry k(){{ .reg .b32 %r<4000000000>;\n{registers} }}"), "more than 65000 registers"),
        (".global .b8 x[99999999999]; .entry k(){ }".into(), "larger than 1 GiB"),
        (".global .b8 x[0x40000000]; .global .b8 y[0x40000000]; .entry k(){ }".into(), "bytes together"),
        (".entry k(.param .b8 x[40000]){ }".into(), "cannot be a parameter"),
        (".entry k(){ .local .b8 x[600000]; }".into(), "local memory of a thread exceeds"),
        (".shared .b8 x[20000000]; .entry k(){ .reg .b32 r; mov.u32 r, x; }".into(), "shared memory exceeds"),
        (
            format!(".entry k(){{ .reg .b32 r;\n{} }}", "add.u32 r,r,1;\n".repeat(1 << 20)),
            "instructions, at most",
        ),
        (format!(".entry k(){{ {}{} }}", "{".repeat(300), "}".repeat(300)), "scopes nest deeper"),
        (
            format!(
                ".func f({}) {{ ret; }} .entry k(){{ .reg .b32 %r<41>; call f, ({}); }}",
                list(&|i| format!(".reg .b32 a{i}")),
                list(&|i| format!("%r{i}")),
            ),
            "more than 40 registers",
        ),
    ] {
        let found = messages(&text);
        assert!(found.contains(expected), "{expected}: {}", found.chars().take(500).collect::<String>());
    }
    // declaring a range costs nothing
    assert_eq!(messages(".entry k(){ .reg .b32 %r<4000000000>; mov.u32 %r3999999999, 1; }"), "");
}

#[test]
fn a_file_without_a_version_is_no_ptx() {
    for (text, expected) in [
        ("", "t.ptx:1:1"),
        ("// nothing\n\n", "the file contains no PTX"),
        ("\0", "the file contains no PTX"),
        ("\n  .visible .entry k() { ret; }\n", "t.ptx:2:3"),
        (".target sm_80\n.visible .entry k() { ret; }", "the directive `.version` is missing"),
    ] {
        let problems = Module::parse(&SourceText::new("t.ptx", text)).map(|_| ()).unwrap_err();
        assert_eq!(problems.list().len(), 1, "{text:?}");
        let message = problems.to_string();
        assert!(message.contains(expected) && message.contains(".version 8.0"), "{message}");
    }
    let ended = ".version 8.0\n.target sm_80\n.visible .entry k() { ret; }\n\0";
    assert!(Module::parse(&SourceText::new("t.ptx", ended)).is_ok());
}

#[test]
fn a_broken_function_matters_only_to_kernels_that_reach_it() {
    let text = ".func bad() { frob.b32 %x; ret; }
        .visible .entry k() { ret; }
        .visible .entry l() { call bad; ret; } .version 8.0";
    let module = Module::parse(&SourceText::new("t.ptx", text)).unwrap();
    assert!(module.program("k", &isa()).is_ok());
    let message = module.program("l", &isa()).unwrap_err().to_string();
    assert!(message.contains("t.ptx:1:15") && message.contains("`frob.b32`"), "{message}");
}

#[test]
fn a_root_without_a_class_is_named() {
    let isa = IsaTable::new([Rule { roots: "ret mov", kind: None, space: None, class: "x" }]);
    let text = ".entry k() {\n.reg .b32 r;\nmov.u32 r, 1;\nadd.u32 r, r, 1;\nld.global.u32 r, [r];\nret;\n}\n.version 8.0";
    let module = Module::parse(&SourceText::new("t.ptx", text)).unwrap();
    let problems = module.program("k", &isa).unwrap_err();
    let lines: Vec<u32> = problems.list().iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [4, 5]);
    assert!(problems.to_string().contains("`ld.global.u32` has no op class"));
}
