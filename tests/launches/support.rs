//! Kernels of the tests, run without the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use warpbound::diag::{Diagnostics, SourceText};
use warpbound::exec::{Executor, Options};
use warpbound::isa::IsaTable;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::KernelCode;
use warpbound::program::launch::{Arg, Buffer, Elem, Launch};
use warpbound::ptx::Module;

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn source(path: &Path) -> SourceText {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    SourceText::new(path.display().to_string(), text)
}

pub fn isa() -> IsaTable {
    warpbound::load::ptx_isa()
}

/// Returns a module of `tests/data/cuda_min`.
pub fn test_module(name: &str) -> Module {
    Module::parse(&source(&root().join(format!("tests/data/cuda_min/{name}.ptx")))).unwrap()
}

/// Runs a kernel of one-dimensional shape on buffers that it gets in this order, then on `scalars`;
/// returns the final contents of the buffers.
pub fn run(
    program: &KernelCode,
    (blocks, threads): (u32, u32),
    buffers: &[Vec<u8>],
    scalars: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, Diagnostics> {
    let buffer = |(index, bytes): (usize, &Vec<u8>)| Buffer {
        name: format!("b{index}"),
        elem: Elem::U8,
        bytes: bytes.clone(),
        constant: false,
    };
    let pointers = (0..buffers.len()).map(Arg::Buffer);
    let launch = Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: if program.memory.uses_dynamic_shared { 4096 } else { 0 },
        registers: None,
        args: pointers.chain(scalars.iter().cloned().map(Arg::Value)).collect(),
        buffers: buffers.iter().enumerate().map(buffer).collect(),
        symbols: Vec::new(),
        images: Vec::new(),
    };
    let mut executor = Executor::new(program, &launch, Options::default())?;
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths)? {}
    Ok((0..buffers.len()).map(|index| executor.buffer(index).to_vec()).collect())
}

/// Runs the command line in the repository.
pub fn warpbound(args: &[&str]) -> Output {
    in_dir(&root(), args)
}

pub fn in_dir(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpbound"));
    command.args(args).current_dir(dir).output().expect("the binary runs")
}

/// Returns the JSON output of a command, which has to end with this code.
pub fn json(args: &[&str], code: i32) -> Value {
    // an earlier run of the tests may have left its files
    let force: &[&str] = if args.iter().any(|arg| arg.starts_with("--dump")) { &["--force"] } else { &[] };
    let output = warpbound(&[args, force, &["--format", "json"]].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    crate::json_output::read(text.as_bytes())
}

/// Returns the error message for an invalid input.
pub fn refused(args: &[&str]) -> String {
    let output = warpbound(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{args:?}\n{text}");
    text
}

/// Returns the text output of a command.
pub fn printed(args: &[&str]) -> String {
    let output = warpbound(args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{args:?}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Returns an empty folder for a test.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("launches-{name}"));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Writes a file into a folder, and returns its path.
pub fn put(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}
