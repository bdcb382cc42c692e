//! Kernels of the tests, run without the command line.

use std::path::{Path, PathBuf};

use warpbound::diag::{Diagnostics, SourceText};
use warpbound::exec::{Executor, Options};
use warpbound::isa::IsaTable;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::Program;
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
    IsaTable::parse(&source(&root().join("isa/ptx.ron"))).unwrap_or_else(|error| panic!("{error}"))
}

/// A module of `tests/data/cuda_min`.
pub fn test_module(name: &str) -> Module {
    Module::parse(&source(&root().join(format!("tests/data/cuda_min/{name}.ptx")))).unwrap()
}

/// Runs a kernel of one-dimensional shape on buffers that it gets in this order, then on `scalars`; what it leaves in
/// them.
pub fn run(
    program: &Program,
    (blocks, threads): (u32, u32),
    buffers: &[Vec<u8>],
    scalars: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, Diagnostics> {
    let buffer = |(index, bytes): (usize, &Vec<u8>)| Buffer {
        name: format!("b{index}"),
        elem: Elem::U8,
        bytes: bytes.clone(),
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
    };
    let mut executor = Executor::new(program, &launch, Options::default())?;
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths)? {}
    Ok((0..buffers.len()).map(|index| executor.buffer(index).to_vec()).collect())
}
