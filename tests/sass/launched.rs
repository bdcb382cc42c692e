//! Launches that are executed, and what they leave.

use warpbound::diag::{Diagnostics, SourceText};
use warpbound::exec::{Executor, Options};
use warpbound::load::ptx_isa;
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::KernelCode;
use warpbound::program::launch::{Launch, LaunchSpec};

use crate::shipped::{encoding_for, root};

/// Executes a launch whose files all have this content, and returns what a function finds afterwards.
pub fn after<T>(
    program: &KernelCode,
    text: String,
    file: &[u8],
    options: Options,
    find: impl FnOnce(&Launch, &Executor) -> T,
) -> T {
    let launch = launch(program, text, file);
    let executed = run(program, &launch, options).unwrap_or_else(|error| panic!("{}: {error}", program.name));
    find(&launch, &executed)
}

/// Returns the launch of a text.
pub fn launch(program: &KernelCode, text: String, file: &[u8]) -> Launch {
    let name = &program.name;
    let source = SourceText::new("launch.ron", text);
    let spec = LaunchSpec::parse(&source).unwrap_or_else(|error| panic!("{name}: {error}"));
    let launch = Launch::new(&spec, program, 0, &source, &|_, _| Ok(file.to_vec()));
    launch.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Executes all blocks of a launch.
pub fn run<'a>(
    program: &'a KernelCode,
    launch: &'a Launch,
    options: Options,
) -> Result<Executor<'a>, Diagnostics> {
    let mut executor = Executor::new(program, launch, options)?;
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths)? {}
    Ok(executor)
}

/// Returns a kernel from the PTX in a folder of `tests/data/sass`, and from what ptxas makes of it for
/// sm_90.
pub fn both(folder: &str, kernel: &str) -> [KernelCode; 2] {
    let path = root().join("tests/data/sass").join(folder);
    let text = std::fs::read_to_string(path.join(format!("{folder}.ptx"))).unwrap();
    let module = warpbound::ptx::Module::parse(&SourceText::new(format!("{folder}.ptx"), text)).unwrap();
    let bytes = std::fs::read(path.join(format!("{folder}.sm_90.cubin"))).unwrap();
    let encoding = encoding_for(90);
    let code = warpbound::sass::Module::read(&format!("{folder}.cubin"), &bytes, encoding).unwrap();
    [module.program(kernel, &ptx_isa()).unwrap(), code.program(kernel, encoding).unwrap()]
}

/// Returns the words of a buffer, given its number.
pub fn words(executor: &Executor, buffer: usize) -> Vec<u32> {
    executor.buffer(buffer).as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
