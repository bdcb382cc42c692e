//! `warpbound bundle`, which writes kernels with all their data, so that they can be run on a GPU.

mod description;
mod memory;
mod of_application;

use crate::args::Bundle;
use crate::files::{Folder, loader};
use crate::output::{self, Outcome};
use crate::resources;
use crate::session::Session;
use crate::sha256;
use description::{Description, FORMAT, Module, Step, launch_step};
use memory::MemoryFiles;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, printable_json};
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::KernelCode;
use warpbound_core::program::launch::{Arg, Launch};
use warpbound_core::program::tensor_map::TensorMap;
use warpbound_exec::{Executor, Options};
use warpbound_judge::check::{WorkloadKind, WorkloadSource};
use warpbound_judge::load::{EmbeddedFolder, Loaded, LoadedKernel, Loader};

/// The name of the description in the folder of a kernel.
const DESCRIPTION: &str = "launch.json";

/// The files of a kernel: names and contents.
type Contents = Vec<(String, Vec<u8>)>;

/// Runs the command.
pub fn run(args: &Bundle, session: &Session) -> Outcome {
    let all = args.kernels.is_empty();
    let names = if all { embedded() } else { args.kernels.clone() };
    let folder = Folder::prepare("--out", &args.out, args.writing.force, &session.parts)?;
    let options =
        Options { max_instructions_per_block: resources::fuel(args.max_instructions), ..Options::default() };
    let (mut written, mut refused) = (0, Vec::new());
    session.progress.begin("writing".to_owned(), Some(names.len() as u64), "kernels");
    for name in &names {
        let loaded = loader().load(name, &args.ptx.options(args.seed), &session.monitor)?;
        match of(&loaded, options, &session.monitor) {
            Ok(files) => {
                if let Some(reason) = session.stopped() {
                    let message = format!("{} while `{name}` was executed", reason.text());
                    return Err(Diagnostic::general(format!("--out {}", args.out.display()), message).into());
                }
                let inputs = match &loaded {
                    Loaded::Kernel(kernel) => &kernel.inputs,
                    Loaded::Application(program) => &program.inputs,
                };
                folder.check_folder(loaded.name(), inputs)?;
                folder.write(loaded.name(), &files)?;
                written += 1;
            }
            Err(problems) if all => refused.push(format!("{name}: {}", problems.first_message())),
            Err(problems) => return Err(loaded.with_excerpts(problems)),
        }
        session.monitor.advance(1);
    }
    let kernels = if written == 1 { "kernel" } else { "kernels" };
    let mut text = format!("wrote {written} {kernels} to {}\n", args.out.display());
    if !refused.is_empty() {
        text += &format!("not written, because they cannot run there:\n  {}\n", refused.join("\n  "));
    }
    output::text(session, &text)
}

/// Returns the names of the embedded launches and programs.
fn embedded() -> Vec<String> {
    let all = Loader::embedded(EmbeddedFolder::Kernels).into_iter();
    all.filter(|(_, location)| location.extension() == "ron").map(|(name, _)| name).collect()
}

/// Executes a kernel or program and returns its files.
fn of(loaded: &Loaded, options: Options, monitor: &ProgressMonitor) -> Result<Contents, Diagnostics> {
    match loaded {
        Loaded::Kernel(kernel) => of_kernel(kernel, options, monitor),
        Loaded::Application(program) => of_application::files(program, options, monitor),
    }
}

/// Returns an error for code that a bundle cannot hold.
fn check(kernel: &KernelCode, launch: &Launch, name: &str) -> Result<(), Diagnostic> {
    let refused = |message: &str, hint: &str| Err(Diagnostic::general(name, message).hint(hint));
    if kernel.machine_code.is_some() {
        return refused("this is machine code, and a bundle holds PTX", "name the launch without --compiler");
    }
    if !launch.images.is_empty() || !kernel.references.is_empty() {
        return refused(
            "it reads textures or surfaces, which a bundle does not describe",
            "bundle another kernel",
        );
    }
    let maps = |arg: &Arg| matches!(arg, Arg::Value(bytes) if TensorMap::occurs_in(bytes));
    if launch.args.iter().any(maps) {
        return refused(
            "it has tensor maps, which the driver of the card would have to make",
            "bundle another kernel",
        );
    }
    Ok(())
}

fn of_kernel(
    kernel: &LoadedKernel,
    options: Options,
    monitor: &ProgressMonitor,
) -> Result<Contents, Diagnostics> {
    let (program, launch) = launch_of(kernel)?;
    let source = kernel.workload.source(options, monitor)?;
    let WorkloadSource::Launch(mut executor) = source else {
        return Err(Diagnostic::general(&kernel.name_given, "nothing is executed").into());
    };
    execute(&mut executor)?;
    let mut files = MemoryFiles::default();
    let buffers = files.buffers(&launch.buffers, |index| executor.buffer(index));
    let module = files.module(0, &program.memory, &launch.symbols, &|name| executor.variable(name));
    let steps = vec![launch_step(0, program, launch, &buffers)];
    let modules = vec![(module, &kernel.code)];
    Ok(complete(kernel.workload.name.clone(), modules, buffers, steps, files))
}

/// Returns the code and the launch of a kernel that a bundle can hold.
fn launch_of(kernel: &LoadedKernel) -> Result<(&KernelCode, &Launch), Diagnostics> {
    let WorkloadKind::Launch { program, launch } = &kernel.workload.kind else {
        let what = match kernel.workload.kind {
            WorkloadKind::Trace(_) => "this is a trace, which has no code to run",
            WorkloadKind::Step { .. } => "this is one launch of a program",
            _ => "a .warp kernel has no code that a GPU runs",
        };
        let problem = Diagnostic::general(&kernel.name_given, what);
        return Err(problem.hint("name a launch file with PTX, or a program without --launch").into());
    };
    if kernel.launch_spec().is_some_and(|spec| spec.cluster.is_some()) {
        let problem =
            Diagnostic::general(&kernel.name_given, "a bundle does not say how blocks form clusters");
        return Err(problem.hint("write .reqnctapercluster into the PTX in place of `cluster`").into());
    }
    check(program, launch, &kernel.name_given)?;
    Ok((program, launch))
}

/// Returns the digest that a bundle of this kernel or program would have.
///
/// # Errors
/// If it cannot be bundled.
pub fn digest_of(loaded: &Loaded) -> Result<String, Diagnostics> {
    let mut files = MemoryFiles::default();
    match loaded {
        Loaded::Application(program) => of_application::digest(program),
        Loaded::Kernel(kernel) => {
            let (program, launch) = launch_of(kernel)?;
            let buffers = files.buffers(&launch.buffers, |index| &launch.buffers[index].bytes);
            // contents after the run are not part of it
            files.module(0, &program.memory, &launch.symbols, &|_| Some(&[]));
            let steps = [launch_step(0, program, launch, &buffers)];
            let codes = vec![("code.ptx".to_owned(), kernel.code.text().as_bytes().to_vec())];
            Ok(digest(&codes, &files, &steps))
        }
    }
}

/// Executes all blocks of a launch.
fn execute(executor: &mut Executor) -> Result<(), Diagnostics> {
    let mut paths = BlockPaths::default();
    while executor.next_block(&mut paths)? {}
    Ok(())
}

/// Returns a digest of everything that determines a run: the code, the contents of memory before it,
/// and the steps.
fn digest(codes: &Contents, files: &MemoryFiles, steps: &[Step]) -> String {
    let mut all = Vec::new();
    for (name, bytes) in codes.iter().chain(files.before()) {
        all.extend(format!("{name} {}\n", bytes.len()).into_bytes());
        all.extend(bytes);
    }
    all.extend(serde_json::to_vec(steps).expect("steps are plain data"));
    sha256::of_bytes(&all)[..16].to_owned()
}

/// Returns all files of a kernel, the description first.
fn complete(
    kernel: String,
    modules: Vec<(Module, &SourceText)>,
    buffers: Vec<description::Buffer>,
    steps: Vec<Step>,
    files: MemoryFiles,
) -> Contents {
    let mut contents: Contents =
        modules.iter().map(|(module, code)| (module.code.clone(), code.text().as_bytes().to_vec())).collect();
    let modules = modules.into_iter().map(|(module, _)| module).collect();
    let digest = digest(&contents, &files, &steps);
    let description = Description { format: FORMAT, kernel, digest, modules, buffers, steps };
    let json = serde_json::to_string_pretty(&description).expect("a description is plain data") + "\n";
    contents.insert(0, (DESCRIPTION.to_owned(), printable_json(&json).into_owned().into_bytes()));
    contents.extend(files.into_contents());
    contents
}
