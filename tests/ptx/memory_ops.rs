//! The memory accesses that front ends report: one line for every form of PTX with its expected
//! result, whatever the names of the op classes.

use crate::shipped;

use warpbound::diag::SourceText;
use warpbound::isa::{IsaTable, Rule};
use warpbound::machine::MemorySpec;
use warpbound::micro::MicroKernel;
use warpbound::program::{Access, Area, Instr, KernelCode, MemoryOp, Sem, TimingTable};
use warpbound::ptx::Module;

use Area::{Const, FunctionParam, Generic, Global, KernelParam, Local, Shared};
use MemoryOp::{AsyncCopy, Atomic, Fence, Load, Store, Unaddressed};

type Line = (&'static str, Option<MemoryOp>);

/// The forms in a kernel.
const KERNEL: &[Line] = &[
    ("ld.param.u64 %rd1, [a];", Some(Load(KernelParam))),
    ("ld.u32 %r1, [n];", Some(Load(KernelParam))),
    ("ld.param::entry.u32 %r1, [n];", Some(Load(KernelParam))),
    ("ld.param.u32 %r1, [%rd2];", Some(Load(KernelParam))),
    ("ld.const.u32 %r2, [table];", Some(Load(Const))),
    ("ld.u32 %r2, [table];", Some(Load(Const))),
    ("ld.u32 %r2, [there];", Some(Load(Global))),
    ("ld.u32 %r2, [%rd1];", Some(Load(Generic))),
    ("ld.global.nc.u32 %r2, [%rd1];", Some(Load(Global))),
    ("ldu.global.u32 %r2, [%rd1];", Some(Load(Global))),
    ("ld.shared.u32 %r2, [tile];", Some(Load(Shared))),
    ("ld.local.u32 %r2, [mine];", Some(Load(Local))),
    ("st.u32 [%rd1], %r2;", Some(Store(Generic))),
    ("st.global.u32 [%rd1], %r2;", Some(Store(Global))),
    ("st.shared.u32 [tile], %r2;", Some(Store(Shared))),
    ("st.local.u32 [mine], %r2;", Some(Store(Local))),
    ("atom.global.add.u32 %r3, [%rd1], 1;", Some(Atomic(Global))),
    ("atom.add.u32 %r3, [%rd1], 1;", Some(Atomic(Generic))),
    ("atom.shared.add.u32 %r3, [tile], 1;", Some(Atomic(Shared))),
    ("red.global.add.u32 [%rd1], 1;", Some(Atomic(Global))),
    ("ld.global.v8.b32 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%rd1];", Some(Load(Global))),
    ("ld.const.u32 %r2, table[3];", Some(Load(Const))),
    ("st.u32 there[%r1], %r2;", Some(Store(Global))),
    ("atom.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1], {%f5,%f6,%f7,%f8};", Some(Atomic(Global))),
    ("red.add.noftz.v2.bf16x2 [%rd1], {%r4,%r5};", Some(Atomic(Generic))),
    ("atom.shared.cas.b16 %h1, [tile], %h1, %h1;", Some(Atomic(Shared))),
    // there is no op class for these in the space that they name
    ("st.const.u32 [table], %r2;", Some(Store(Global))),
    ("atom.local.add.u32 %r3, [mine], 1;", Some(Atomic(Global))),
    (
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [mine];",
        Some(Load(Global)),
    ),
    (
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [%rd1];",
        Some(Load(Generic)),
    ),
    (
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [tile];",
        Some(Load(Shared)),
    ),
    (
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};",
        Some(Store(Global)),
    ),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [tile];", Some(Load(Shared))),
    ("ldmatrix.sync.aligned.m8n8.x1.b16 {%r4}, [%rd1];", Some(Load(Shared))),
    ("stmatrix.sync.aligned.m8n8.x1.b16 [%rd1], {%r4};", Some(Store(Shared))),
    ("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [tex, {%f5,%f6}];", Some(Load(Global))),
    ("suld.b.1d.b32.trap %r5, [surf, {%r1}];", Some(Load(Global))),
    ("sust.b.1d.b32.trap [surf, {%r1}], %r5;", Some(Store(Global))),
    ("cp.async.ca.shared.global [tile], [%rd1], 16;", Some(AsyncCopy)),
    ("membar.gl;", Some(Fence)),
    ("fence.acq_rel.gpu;", Some(Fence)),
    // these concern memory, but timing does not treat them as accesses
    ("mov.u64 %rd2, n;", None),
    ("txq.width.b32 %r5, [tex];", None),
    ("prefetch.global.L2 [%rd1];", None),
    ("cp.async.commit_group;", None),
    ("cp.async.wait_group 0;", None),
    ("mbarrier.init.shared.b64 [bar], 1;", None),
    ("mbarrier.arrive.shared.b64 %rd5, [bar];", None),
    ("bar.warp.sync -1;", None),
    ("bar.sync 0;", None),
    ("add.u32 %r1, %r1, 1;", None),
    // arguments of a function
    ("{ .param .b64 p0; .param .b32 p1; .param .b32 r0;", None),
    ("st.param.b64 [p0], %rd1;", Some(Store(FunctionParam))),
    ("st.param.b32 [p1], %r1;", Some(Store(FunctionParam))),
    ("call (r0), helper, (p0, p1);", None),
    ("ld.param.b32 %r7, [r0];", Some(Load(FunctionParam))),
    // a function of the runtime: the call itself stores the result
    ("call (r0), vprintf, (p0, p0);", Some(Store(Local))),
    ("}", None),
];

/// The forms in a function.
const FUNCTION: &[Line] = &[
    ("ld.param.b64 %rd1, [p];", Some(Load(FunctionParam))),
    ("ld.param::func.b32 %r2, [q];", Some(Load(FunctionParam))),
    ("ld.param.b32 %r2, [%rd1];", Some(Load(FunctionParam))),
    ("ld.b32 %r1, [q];", Some(Load(Local))),
    ("ld.local.b32 %r3, [own];", Some(Load(Local))),
    ("st.local.b32 [own], %r1;", Some(Store(Local))),
    ("st.param.b32 [out], %r3;", Some(Store(FunctionParam))),
];

/// Returns a module of these lines, each on a separate line, and the expected result for each line.
fn module() -> (String, Vec<Option<MemoryOp>>) {
    let head = "\
.version 7.8
.target sm_80
.address_size 64
.const .align 32 .b8 table[1024];
.global .align 32 .b8 there[1024];
.global .texref tex;
.global .surfref surf;
.extern .func (.param .b32 status) vprintf(.param .b64 form, .param .b64 values);
.func (.param .b32 out) helper(.param .b64 p, .param .b32 q)
{
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
.local .align 8 .b8 own[64];
";
    let between = "\
ret;
}
.visible .entry k(.param .u64 a, .param .u32 n)
{
.reg .b32 %r<40>;
.reg .b16 %h<2>;
.reg .f32 %f<20>;
.reg .b64 %rd<20>;
.local .align 32 .b8 mine[1024];
.shared .align 32 .b8 tile[2048];
.shared .align 8 .b64 bar;
";
    let mut text = String::new();
    let mut expected = vec![None];
    let mut add = |part: &str, what: Option<MemoryOp>| {
        text += part;
        expected.resize(expected.len() + part.lines().count(), what);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    };
    add(head, None);
    FUNCTION.iter().for_each(|&(line, what)| add(line, what));
    add(between, None);
    KERNEL.iter().for_each(|&(line, what)| add(line, what));
    add("ret;\n}\n", None);
    (text, expected)
}

fn program(isa: &IsaTable) -> KernelCode {
    let source = SourceText::new("forms.ptx", module().0);
    Module::parse(&source).and_then(|module| module.program("k", isa)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_form_is_the_expected_access() {
    let expected = module().1;
    let program = program(&shipped::isa());
    assert_eq!(program.instrs.len(), KERNEL.len() - 2 + FUNCTION.len() + 2, "every line is an instruction");
    for instr in &program.instrs {
        let class = program.classes.name(instr.class);
        assert_eq!(instr.memory, expected[instr.line as usize], "line {}, class {class}", instr.line);
    }
}

/// Returns the same table with meaningless classes, `x.0`, `x.1`, ..., as another instruction set
/// might have.
fn meaningless_classes() -> IsaTable {
    let isa = shipped::isa();
    let rules = isa.rules().iter().enumerate();
    IsaTable::new(rules.map(|(number, rule)| Rule { class: format!("x.{number}").leak(), ..*rule }))
}

#[test]
fn names_of_op_classes_do_not_matter() {
    let units = "units: { \"u\": Unit(init: 1, lat: 0) }, pipeline: Pipeline(load_store: LoadStore())";
    let caches = "memory: Memory(constant: Cache())";
    let machine = |op: &str| {
        let ops = format!("ops: {{ {op} }}");
        shipped::machine_of(format!("Machine(name: \"m\", {units}, {ops}, {caches})"))
    };
    let families = ["alu", "atom", "barrier", "control", "cp", "fence", "int", "ld", "st"];
    let named = families.map(|family| format!("\"{family}\": \"u\"")).join(", ");
    let (named, blank) = (machine(&named), machine("\"x\": \"u\", \"barrier\": \"u\""));
    assert!(*blank.memory() != MemorySpec::default() && blank.caches_constants());
    let (as_ever, renamed) = (program(&shipped::isa()), program(&meaningless_classes()));
    let before = TimingTable::new(&as_ever, &named).unwrap_or_else(|error| panic!("{error}"));
    let after = TimingTable::new(&renamed, &blank).unwrap_or_else(|error| panic!("{error}"));
    let of = |table: &TimingTable| -> Vec<_> {
        let facts = table.instrs().iter().map(|i| (i.access, i.loads_global, i.moves_lines));
        facts.collect()
    };
    assert_eq!(of(&before), of(&after));
    let (loading, moving, fences) =
        of(&after).iter().fold((0, 0, 0), |(l, m, f), &(access, loads, moves)| {
            (l + u32::from(loads), m + u32::from(moves), f + u32::from(access == Some(Access::Fence)))
        });
    assert_eq!((loading, moving, fences), (16, 35, 2));
}

/// Returns the access that the class name in the shipped table implies.
fn by_name(program: &KernelCode, instr: &Instr) -> Option<MemoryOp> {
    if matches!(instr.sem, Sem::Mbarrier(_)) {
        // classed as an access, of which timing has no further information
        return None;
    }
    let name = program.classes.name(instr.class);
    let area = match name.split('.').nth(1) {
        _ if instr.class_by_space.is_some() => Generic,
        // a parameter of a function, which is in local memory
        Some("param") if instr.sem.access().is_some_and(|(space, _)| space.name() == "local") => {
            FunctionParam
        }
        Some("param") => KernelParam,
        Some("const") => Const,
        Some("global") => Global,
        Some("shared") => Shared,
        Some("local") => Local,
        _ => Global,
    };
    match name.split('.').next().unwrap() {
        "ld" => Some(Load(area)),
        "st" => Some(Store(area)),
        "atom" => Some(Atomic(area)),
        "cp" => Some(AsyncCopy),
        "fence" => Some(Fence),
        _ => None,
    }
}

#[test]
fn shipped_kernels_agree_with_the_names_of_their_classes() {
    let mut accesses = 0;
    for file in shipped::launch_files() {
        let program = shipped::load(&file, 0).program;
        for instr in &program.instrs {
            assert_eq!(instr.memory, by_name(&program, instr), "{}:{}", program.file, instr.line);
            accesses += u32::from(instr.memory.is_some());
        }
    }
    assert!(accesses > 500, "{accesses}");
}

/// Only the name of an op in a micro kernel shows its effect.
#[test]
fn micro_kernels_name_what_comes_from_global_memory() {
    let text =
        ".warps 1\n ld.global r0\n f.global r1, r0\n LDG r2\n ld.param r3\n fence\n global r4\n bar\n ret\n";
    let kernel = MicroKernel::parse("t", &SourceText::new("t.warp", text)).unwrap();
    let found: Vec<_> = kernel.program.instrs.iter().map(|instr| instr.memory).collect();
    let global = Some(Unaddressed(Global));
    assert_eq!(found, [global, global, None, None, None, None, None, None]);
    assert!(found[0].unwrap().access().is_none(), "past the load/store unit");
    assert!(found[0].unwrap().loads_global() && !found[0].unwrap().moves_lines(true));
}

#[test]
fn the_type_is_small() {
    assert_eq!(std::mem::size_of::<Option<MemoryOp>>(), 2);
    assert!(std::mem::size_of::<Instr>() <= 152, "as large as without it");
}
