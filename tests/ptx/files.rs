//! File tests of the PTX front end: `tests/files/ptx/NAME.ptx` and its result in `NAME.expected`.
//! With `WARPBOUND_BLESS=1` the expectations are rewritten; review the difference.

use std::fmt::Write as _;
use std::path::Path;

use warpbound::diag::SourceText;
use warpbound::isa::IsaTable;
use warpbound::program::layout::Segment;
use warpbound::program::{Flow, KernelCode};
use warpbound::ptx::Module;

use crate::repository::below;

fn isa() -> IsaTable {
    warpbound::load::ptx_isa()
}

fn read(path: &Path) -> SourceText {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    SourceText::new(name, std::fs::read_to_string(path).expect("test files are readable"))
}

/// Returns the result of a file: its programs, or its errors.
fn outcome(source: &SourceText) -> String {
    let module = match Module::parse(source) {
        Ok(module) => module,
        Err(problems) => return problems.to_string(),
    };
    let mut text = String::new();
    for entry in module.entries() {
        match module.program(entry, &isa()) {
            Ok(program) => text += &dump(&program),
            Err(problems) => {
                let _ = write!(text, "kernel {entry}\n{problems}");
            }
        }
    }
    text
}

fn dump(program: &KernelCode) -> String {
    let mut text = format!("kernel {}", program.name);
    if let Some(threads) = program.max_threads {
        let _ = write!(text, ", at most {threads} threads");
    }
    text.push('\n');
    for param in &program.params {
        let _ =
            writeln!(text, "  param {} {:?} at {} size {}", param.name, param.ty, param.offset, param.size);
    }
    let regs: Vec<String> = program.regs.iter().map(|r| format!("{}:{:?}", r.name, r.kind)).collect();
    let _ = writeln!(text, "  registers {}", regs.join(" "));
    let memory = &program.memory;
    for (name, segment) in [
        ("global", &memory.globals),
        ("const", &memory.constants),
        ("shared", &memory.shared),
        ("local", &memory.local),
    ] {
        dump_segment(&mut text, name, segment);
    }
    if memory.uses_dynamic_shared {
        let _ = writeln!(text, "  dynamic shared from {}", memory.dynamic_shared_offset());
    }
    for note in &program.notes {
        let _ = writeln!(text, "  note {note}");
    }
    for (pc, instr) in program.instrs.iter().enumerate() {
        let guard =
            instr.guard.map_or(String::new(), |g| format!("@{}{} ", if g.negate { "!" } else { "" }, g.reg));
        let flow = if instr.flow == Flow::Plain { String::new() } else { format!(" {:?}", instr.flow) };
        let generic = if instr.class_by_space.is_some() { "*" } else { "" };
        let _ = writeln!(
            text,
            "  @{pc} line {} {}{generic}{flow} {:?} <- {:?}: {guard}{}",
            instr.line,
            program.classes.name(instr.class),
            instr.dsts,
            instr.srcs,
            short(&format!("{:?}", instr.sem)),
        );
    }
    text
}

fn dump_segment(text: &mut String, name: &str, segment: &Segment) {
    for var in &segment.vars {
        let _ = write!(text, "  {name} {} at {} size {}", var.name, var.offset, var.size);
        let start = segment.init.len().min(var.offset as usize);
        let end = segment.init.len().min((var.offset + var.size) as usize);
        let bytes: String = segment.init[start..end].iter().take(64).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let _ = writeln!(text, "{}{bytes}", if bytes.is_empty() { "" } else { " = " });
    }
}

/// Returns `RegId(3)` as `r3`, `Pc(4)` as `@4`, and omits default values.
fn short(debug: &str) -> String {
    let mut text = debug
        .replace("Reg(RegId(", "\u{1}")
        .replace("carry: Carry { read: None, write: None }, ", "")
        .replace(", saturate: false", "")
        .replace(", partly: false", "")
        .replace(", Imm(0), Imm(0)]", "]");
    for (long, closing, prefix) in [("\u{1}", "))", "r"), ("RegId(", ")", "r"), ("Pc(", ")", "@")] {
        while let Some(start) = text.find(long) {
            let Some(close) = text[start..].find(closing).map(|i| start + i) else { break };
            let number = text[start + long.len()..close].to_owned();
            text.replace_range(start..close + closing.len(), &format!("{prefix}{number}"));
        }
    }
    text
}

#[test]
fn files_give_the_expected_result() {
    let bless = std::env::var_os("WARPBOUND_BLESS").is_some();
    let files = below("tests/files/ptx", "ptx");
    assert!(files.len() >= 7, "{files:?}");
    let mut wrong = Vec::new();
    for path in files.iter().filter(|path| path.parent().is_some_and(|p| p.ends_with("ptx"))) {
        let expected = path.with_extension("expected");
        let found = outcome(&read(path));
        if bless {
            std::fs::write(&expected, &found).expect("expectations are writable");
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "not as expected (WARPBOUND_BLESS=1 rewrites):\n{}", wrong.join("\n"));
}

/// The compilers' output for our own sources is supported without exception.
#[test]
fn compiled_kernels_are_supported() {
    let isa = isa();
    let mut files = below("kernels", "ptx");
    files.extend(below("tests/files/ptx/compiled", "ptx"));
    assert!(files.len() >= 20, "only {} files", files.len());
    for path in files {
        let source = read(&path);
        let module = Module::parse(&source).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let inspection = module.inspect(&isa);
        assert_eq!(inspection.unsupported, [], "{}", path.display());
        assert!(!inspection.entries.is_empty(), "{}", path.display());
        for entry in module.entries() {
            let program = module.program(entry, &isa).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            check_program(&program);
        }
    }
}

/// Checks the invariants of every program.
fn check_program(program: &KernelCode) {
    use warpbound::program::Sem;
    let len = program.instrs.len();
    assert!(len > 0);
    for instr in &program.instrs {
        for reg in instr.srcs.as_slice().iter().chain(instr.dsts.as_slice()) {
            assert!(reg.index() < program.regs.len());
        }
        let used = instr.sem.registers();
        assert_eq!(used.dsts, instr.dsts);
        assert!(used.srcs.as_slice().iter().all(|reg| instr.srcs.as_slice().contains(reg)));
        match &instr.sem {
            Sem::Branch { target, reconverge } => {
                assert!(target.index() < len && reconverge.is_none_or(|pc| pc.index() < len));
            }
            Sem::Call(call) => assert!(call.target.index() < len),
            _ => {}
        }
        assert!(instr.line > 0);
    }
    for function in &program.functions {
        assert!(function.first.index() < len);
        let registers = function.frame.iter().flat_map(|frame| &frame.registers);
        assert!(registers.into_iter().all(|reg| reg.index() < program.regs.len()));
    }
}

#[test]
fn a_kernel_that_does_not_exist_is_answered_with_those_that_do() {
    let text = ".version 8.0 .entry alpha() { ret; } .entry beta() { ret; }";
    let module = Module::parse(&SourceText::new("k.ptx", text)).unwrap();
    assert_eq!(module.entries(), ["alpha", "beta"]);
    let message = module.program("alfa", &isa()).unwrap_err().to_string();
    assert!(message.contains("did you mean `alpha`?") && message.contains("alpha, beta"), "{message}");
}

#[test]
fn an_inspection_counts_classes_and_finds_loops() {
    let text = ".version 8.0
        .visible .entry k(.param .u64 a) {
            .reg .pred p; .reg .b32 r;
        outer:
        inner: add.s32 r, r, 1;
            @p bra inner;
            setp.lt.s32 p, r, 3;
            @p bra outer;
            frob.b32 r;
            ret;
        }";
    let inspection = Module::parse(&SourceText::new("k.ptx", text)).unwrap().inspect(&isa());
    let entry = &inspection.entries[0];
    assert_eq!((entry.instructions, entry.predicates, entry.supported), (6, 1, false));
    assert_eq!(entry.loops.iter().map(|l| (l.line, l.end_line, l.depth)).collect::<Vec<_>>(), [(5, 8, 1)]);
    assert_eq!(entry.classes[0].class, "control");
    assert_eq!(entry.classes[0].count, 3);
    let unsupported: Vec<_> = inspection.unsupported.iter().map(|u| (u.construct.as_str(), u.line)).collect();
    assert_eq!(unsupported, [("frob.b32", 9)]);
}

#[test]
fn arguments_of_calls_share_memory_between_calls() {
    let call = "{ .param .b64 param0; .param .b32 retval0; call (retval0), f, (param0); }\n";
    let text = format!(
        ".version 8.0\n.func (.param .b32 r) f(.param .b64 a) {{ ret; }}\n.entry k() {{ {} ret; }}",
        call.repeat(50_000)
    );
    let module = Module::parse(&SourceText::new("k.ptx", text)).unwrap();
    let program = module.program("k", &isa()).unwrap_or_else(|e| panic!("{e}"));
    // one location for what the caller passes and one for what the function takes, whatever the
    // number of calls
    assert_eq!(program.memory.local.vars.len(), 4);
    assert_eq!(program.instrs.len(), 50_002);
}

#[test]
fn output_of_old_compilers_is_supported() {
    let text = "
        .version 1.4
        .target sm_13
        @@DWARF .section .debug_abbrev, \"\", @progbits
        .entry _Z6vecaddPf (
            .param .u64 __cudaparm__Z6vecaddPf_a)
        {
        .reg .u16 %rh<4>;
        .reg .u32 %r<5>;
        .reg .u64 %rd<6>;
        .reg .f32 %f<3>;
        .reg .b128 %unused<2>;
        .loc 15 2 0
        $LDWbegin__Z6vecaddPf:
        mov.u16 %rh1, %ctaid.x;
        mov.u16 %rh2, %ntid.x;
        mul.wide.u16 %r1, %rh1, %rh2;
        cvt.u32.u16 %r2, %tid.x;
        add.u32 %r3, %r2, %r1;
        cvt.s64.s32 %rd1, %r3;
        mul.lo.u64 %rd2, %rd1, 4;
        ld.param.u64 %rd3, [__cudaparm__Z6vecaddPf_a];
        add.u64 %rd4, %rd3, %rd2;
        ld.global.f32 %f1, [%rd4+0];
        rcp.approx.f32 %f2, %f1;
        st.global.f32 [%rd4+0], %f2;
        exit;
        $LDWend__Z6vecaddPf:
        } // _Z6vecaddPf";
    let module = Module::parse(&SourceText::new("k.ptx", text)).unwrap_or_else(|e| panic!("{e}"));
    let program = module.program("_Z6vecaddPf", &isa()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.instrs.len(), 13);
}

#[test]
fn register_ranges_declare_what_they_say() {
    let isa = isa();
    let undeclared = |name: &str| {
        let text = format!(
            ".version 8.0 .entry k() {{ .reg .b32 %r<12>, %r1<3>, one; {{ .reg .b32 %x<2>; }} mov.u32 {name}, 1; ret; }}"
        );
        Module::parse(&SourceText::new("k.ptx", text)).unwrap().program("k", &isa).is_err()
    };
    // `%r12` is the last of `%r1<3>`, not one of `%r<12>`
    for name in ["%r0", "%r11", "%r12", "%r10", "one"] {
        assert!(!undeclared(name), "{name}");
    }
    for name in ["%r13", "%r01", "%r", "%x1", "%r99999999999999999999"] {
        assert!(undeclared(name), "{name}");
    }
}
