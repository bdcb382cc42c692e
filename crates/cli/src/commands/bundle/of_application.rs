//! The files of a program in a bundle.

use super::description::{self, Buffer, Module, Step, launch_step};
use super::memory::MemoryFiles;
use super::{Contents, check, complete, execute};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::program::sequence::{Action, Sequence};
use warpbound_exec::Options;
use warpbound_judge::check::execute_sequence;
use warpbound_judge::load::LoadedApplication;

/// Executes a program and returns its files.
pub fn files(
    program: &LoadedApplication,
    options: Options,
    monitor: &ProgressMonitor,
) -> Result<Contents, Diagnostics> {
    let sequence = program.program()?;
    check_all(program)?;
    let device = execute_sequence(sequence, None, options, monitor, &mut |_, executor| execute(executor))
        .map_err(|problems| program.with_excerpts(problems))?;
    let Described { modules, buffers, steps, files } =
        describe(program, &|index| device.buffer(index), &|module, name| device.variable(module, name))?;
    let modules = modules.into_iter().zip(&program.codes).collect();
    Ok(complete(program.name.clone(), modules, buffers, steps, files))
}

/// Returns the digest of a program, which is not executed.
pub fn digest(program: &LoadedApplication) -> Result<String, Diagnostics> {
    let sequence = program.program()?;
    check_all(program)?;
    // contents after the run are not part of it
    let Described { modules, steps, files, .. } =
        describe(program, &|index| &sequence.buffers[index].bytes, &|_, _| Some(&[]))?;
    let code =
        |(module, code): (&Module, &SourceText)| (module.code.clone(), code.text().as_bytes().to_vec());
    let codes = modules.iter().zip(&program.codes).map(code).collect();
    Ok(super::digest(&codes, &files, &steps))
}

/// Checks that a bundle can hold every launch.
fn check_all(program: &LoadedApplication) -> Result<(), Diagnostics> {
    let sequence = program.program()?;
    for action in sequence.actions() {
        if let Action::Launch(step) = action.map_err(|wrong| wrong.problems)? {
            check(&sequence.kernel(&step).program, &step.launch, &program.name_given)?;
        }
    }
    Ok(())
}

/// A program in the form of a bundle.
struct Described {
    modules: Vec<Module>,
    buffers: Vec<Buffer>,
    steps: Vec<Step>,
    files: MemoryFiles,
}

/// Describes a program whose buffers and variables have these contents after the run.
fn describe<'d>(
    program: &'d LoadedApplication,
    buffer: &dyn Fn(usize) -> &'d [u8],
    variable: &dyn Fn(usize, &str) -> Option<&'d [u8]>,
) -> Result<Described, Diagnostics> {
    let sequence = program.program()?;
    let mut files = MemoryFiles::default();
    let buffers = files.buffers(&sequence.buffers, buffer);
    let mut modules = Vec::new();
    for (index, module) in sequence.modules.iter().enumerate() {
        let after = |name: &str| variable(index, name);
        modules.push(files.module(index, &module.memory, &module.symbols, &after));
    }
    let steps = steps(sequence, &modules, &buffers, &mut files, &program.name_given)?;
    Ok(Described { modules, buffers, steps, files })
}

fn steps(
    sequence: &Sequence,
    modules: &[Module],
    buffers: &[Buffer],
    files: &mut MemoryFiles,
    name: &str,
) -> Result<Vec<Step>, Diagnostics> {
    let place = |at| {
        description::place(at, modules, buffers)
            .ok_or_else(|| Diagnostic::general(name, "a copy is outside of its buffers and variables"))
    };
    let mut steps = Vec::new();
    for action in sequence.actions() {
        steps.push(match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) => {
                let kernel = sequence.kernel(&step);
                launch_step(kernel.module, &kernel.program, &step.launch, buffers)
            }
            Action::Copy { from, to, bytes } => {
                Step::Copy { from: place(from)?, to: place(to)?, bytes: bytes as u64 }
            }
            Action::Write { to, bytes } => {
                let file = files.add("before", &format!("step{}", steps.len()), &bytes);
                Step::Write { to: place(to)?, file }
            }
        });
    }
    Ok(steps)
}
