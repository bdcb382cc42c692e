//! Templates: launch files generated from the code of a kernel, which run without changes.

use std::path::PathBuf;

use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::launch::{ArgSpec, Launch, LaunchSpec};
use warpbound::program::{KernelCode, template};
use warpbound::ptx::Module;

use crate::support::{isa, root, source};

/// Returns the modules that are compiled from CUDA C.
fn compiled_modules() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("kernels")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut modules: Vec<PathBuf> = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ptx"))
        .filter(|path| path.with_extension("cu").exists())
        .collect();
    modules.sort();
    modules
}

fn written(program: &KernelCode) -> LaunchSpec {
    let text = template::launch_file(program, "module.ptx");
    LaunchSpec::parse(&SourceText::new("template.ron", text.clone()))
        .unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn runs(program: &KernelCode) -> Result<(), String> {
    let text = template::launch_file(program, "module.ptx");
    let source = SourceText::new("template.ron", text);
    let text_of = |problems: warpbound::diag::Diagnostics| problems.to_string();
    let spec = LaunchSpec::parse(&source).map_err(text_of)?;
    let launch = Launch::new(&spec, program, 0, &source, &|name, _| Err(name.to_owned())).map_err(text_of)?;
    let options = Options { max_instructions_per_block: 1 << 20, ..Options::default() };
    let mut executor = Executor::new(program, &launch, options).map_err(text_of)?;
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths).map_err(text_of)? {}
    Ok(())
}

/// Kernels whose sizes depend on each other in a way that the code does not show. Their templates
/// have to be adapted. They have a dynamic tile of blockDim^2 cells or with a halo, a block of one
/// shape, a matrix with one column more than rows, or a box of three sizes.
const SIZED_TOGETHER: [&str; 8] = [
    "align",
    "gauss_back",
    "hotspot",
    "lud_diagonal",
    "lud_perimeter",
    "lud_internal",
    "gemv_rows",
    "stencil3d",
];

#[test]
fn templates_of_shipped_kernels_run() {
    let isa = isa();
    let (mut all, mut failed) = (0, Vec::new());
    for path in compiled_modules() {
        let module = Module::parse(&source(&path)).unwrap();
        for entry in module.entries() {
            all += 1;
            let program = module.program(entry, &isa).unwrap();
            match runs(&program) {
                Ok(()) => assert!(!SIZED_TOGETHER.contains(&entry), "the template of {entry} runs by now"),
                // their error is reported instead of a run
                Err(why) if SIZED_TOGETHER.contains(&entry) => {
                    assert!(why.contains("out-of-bounds"), "{why}")
                }
                Err(why) => failed.push(format!("{entry}: {}", why.lines().next().unwrap_or_default())),
            }
        }
    }
    assert!(all >= 35, "{all} kernels");
    assert!(failed.is_empty(), "{} of {all} fail:\n{}", failed.len(), failed.join("\n"));
}

fn elem(arg: &ArgSpec) -> String {
    match arg {
        ArgSpec::Buffer { elem, init, .. } => {
            let init = format!("{init:?}");
            format!("{elem:?} {}", init.split('(').next().unwrap_or_default())
        }
        other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
    }
}

fn elems(program: &KernelCode) -> Vec<String> {
    written(program).args.iter().map(elem).collect()
}

#[test]
fn parameters_are_what_the_code_does_with_them() {
    let isa = isa();
    let shipped = |folder: &str, entry: &str| {
        let path = root().join(format!("kernels/{folder}/{folder}.ptx"));
        elems(&Module::parse(&source(&path)).unwrap().program(entry, &isa).unwrap())
    };
    assert_eq!(shipped("vecadd", "vecadd"), ["F32 Uniform", "F32 Uniform", "F32 Zero", "I32"]);
    assert_eq!(shipped("saxpy", "saxpy"), ["I32", "F32", "F32 Uniform", "F32 Uniform"]);
    assert_eq!(shipped("bitonic", "bitonic_step"), ["I32 Uniform", "U32", "U32"]);
    assert_eq!(shipped("transpose", "transpose_naive")[..2], ["F32 Uniform", "F32 Zero"]);
    assert_eq!(shipped("jacobi", "residual"), ["F32 Uniform", "F32 Uniform", "F32 Zero", "I32"]);

    // a name contains the types; code that only copies could be of any type
    let head = ".version 6.3\n.target sm_61\n.address_size 64\n";
    let copy = "{\n .reg .b64 %rd<9>; .reg .b32 %r<4>;\n ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];\n
        cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2; mov.u32 %r1, %tid.x; mul.wide.u32 %rd5, %r1, 4;\n
        add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5; ld.global.u32 %r2, [%rd6]; st.global.u32 [%rd7], %r2; ret;\n}\n";
    let program = |text: String, entry: &str| {
        Module::parse(&SourceText::new("t.ptx", text)).unwrap().program(entry, &isa).unwrap()
    };
    let signature =
        |name: &str| format!("{head}.visible .entry {name}(.param .u64 p0, .param .u64 p1)\n{copy}");
    assert_eq!(elems(&program(signature("copy"), "copy")), ["U32 Uniform", "U32 Zero"]);
    assert_eq!(elems(&program(signature("_Z4copyPKfPf"), "copy")), ["F32 Uniform", "F32 Zero"]);

    // a struct with a pointer in it, a pointer to pointers, and an offset that is not a pointer
    let text = format!(
        "{head}.visible .entry k(.param .align 8 .b8 s[24], .param .u64 rows, .param .u64 bytes)
{{
 .reg .b64 %rd<20>; .reg .b32 %r<9>; .reg .f64 %fd<4>; .reg .f32 %f<4>;
 mov.b64 %rd10, s; mov.b64 %rd11, %rd10; ld.param.u64 %rd1, [%rd11]; ld.param.f32 %f1, [s+12]; ld.param.u64 %rd2, [rows]; ld.param.u64 %rd3, [bytes];
 cvta.to.global.u64 %rd4, %rd1; cvta.to.global.u64 %rd5, %rd2; mov.u32 %r1, %tid.x; mul.wide.u32 %rd6, %r1, 8;
 add.s64 %rd7, %rd5, %rd6; ld.global.u64 %rd8, [%rd7];
 ld.global.f64 %fd1, [%rd4]; add.s64 %rd9, %rd4, %rd3; ld.global.f64 %fd2, [%rd9];
 add.f64 %fd3, %fd1, %fd2; st.f64 [%rd8], %fd3; add.f32 %f2, %f1, %f1; st.global.f32 [%rd4+16], %f2; ret;
}}
"
    );
    let spec = written(&program(text, "k"));
    let [ArgSpec::Struct(parts), rows, bytes] = spec.args.as_slice() else { panic!("{:?}", spec.args) };
    // the rest of the struct is never read
    assert_eq!((parts.len(), elem(&parts[0]).as_str()), (3, "F64 Uniform"));
    assert_eq!(parts[1], ArgSpec::At(12.into(), Box::new(ArgSpec::F32(1.0))));
    assert_eq!((elem(rows).as_str(), elem(bytes).as_str()), ("Ptr Rows", "U64"));
    assert_eq!(spec.buffers.len(), 1, "what the rows are rows of");
}
