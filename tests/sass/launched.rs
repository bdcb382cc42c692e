//! Launches that are executed, and what they leave.

use warpbound::diag::SourceText;
use warpbound::exec::{Executor, Options};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::KernelCode;
use warpbound::program::launch::{Launch, LaunchSpec};

/// Executes a launch whose files all have this content, and returns what a function finds afterwards.
pub fn after<T>(
    program: &KernelCode,
    text: String,
    file: &[u8],
    options: Options,
    find: impl FnOnce(&Launch, &Executor) -> T,
) -> T {
    let name = &program.name;
    let source = SourceText::new("launch.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
    let launch = Launch::new(&spec, program, 0, &source, &|_, _| Ok(file.to_vec()));
    let launch = launch.unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut executor = Executor::new(program, &launch, options).unwrap();
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths).unwrap_or_else(|error| panic!("{name}: {error}")) {}
    find(&launch, &executor)
}

/// Returns the words of a buffer, given its number.
pub fn words(executor: &Executor, buffer: usize) -> Vec<u32> {
    executor.buffer(buffer).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
