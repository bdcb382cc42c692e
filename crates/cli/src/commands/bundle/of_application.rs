//! The files of a program in a bundle.

use super::description::{self, Step, launch_step};
use super::memory::MemoryFiles;
use super::{Contents, check, complete, execute};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
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
    for action in sequence.actions() {
        if let Action::Launch(step) = action.map_err(|wrong| wrong.problems)? {
            check(&sequence.kernel(&step).program, &step.launch, &program.name_given)?;
        }
    }
    let device = execute_sequence(sequence, None, options, monitor, &mut |_, executor| execute(executor))
        .map_err(|problems| program.with_excerpts(problems))?;
    let mut files = MemoryFiles::default();
    let buffers = files.buffers(&sequence.buffers, |index| device.buffer(index));
    let mut modules = Vec::new();
    for (index, module) in sequence.modules.iter().enumerate() {
        let after = |name: &str| device.variable(index, name);
        modules.push(files.module(index, &module.memory, &module.symbols, &after));
    }
    let steps = steps(sequence, &modules, &buffers, &mut files, &program.name_given)?;
    let modules = modules.into_iter().zip(&program.codes).collect();
    Ok(complete(program.name.clone(), modules, buffers, steps, files))
}

fn steps(
    sequence: &Sequence,
    modules: &[description::Module],
    buffers: &[description::Buffer],
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
