//! Traces on disk, and lists of them.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use super::args::PtxLaunch;
use super::assets::{self, Location};
use super::files::read;
use crate::accelsim::{KernelsList, Listed, Open, Taking, TraceFile, TracedKernel};
use crate::diag::{Diagnostic, Diagnostics, SourceText};
use crate::program::names;

/// A trace on disk.
#[derive(Debug)]
struct OnDisk(PathBuf);

impl Open for OnDisk {
    fn open(&self) -> Result<Box<dyn Read + Send>, Diagnostic> {
        read::stream(&self.0)
    }
}

/// Reads a trace from beginning to end.
pub fn read(file: &Location, options: &PtxLaunch) -> Result<TracedKernel, Diagnostics> {
    let Some(path) = file.on_disk() else {
        let problem =
            Diagnostic::general(file.shown(), "a trace is read more than once, and comes from a file");
        return Err(problem.into());
    };
    let file = TraceFile { name: file.shown(), open: Arc::new(OnDisk(path.to_owned())) };
    let taking = Taking {
        conservative_predicates: options.conservative_predicates,
        unknown: options.unknown_op.clone().unwrap_or(Taking::default().unknown),
    };
    let kernel = TracedKernel::read(file, &assets::opcodes()?, &taking, None)?;
    if !kernel.summary.unknown.is_empty() {
        // a table of several results has no room for notes
        let notes = kernel.program.notes.iter().filter(|note| note.contains("not known"));
        notes.for_each(|note| tracing::warn!("{}: {note}", kernel.file_name()));
    }
    Ok(kernel)
}

/// What reports call a trace: its file, and the kernel if it says which.
pub fn name_of(file: &Location, kernel: &TracedKernel) -> String {
    let name = names::short(&kernel.header.name);
    // names of templates go on for pages, and nobody promises that a name is one
    let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
    if name.is_empty() { file.stem() } else { format!("{}:{name}", file.stem()) }
}

/// Reads a list of traces.
pub fn list(location: &Location) -> Result<(KernelsList, SourceText), Diagnostics> {
    let source = location.text()?;
    Ok((KernelsList::parse(&source)?, source))
}

/// The kernel of a list that was named: by `--launch N`, as `LIST@N`, or because there is no other.
pub fn chosen(
    name: &str,
    list: &KernelsList,
    source: &SourceText,
    options: &PtxLaunch,
) -> Result<Listed, Diagnostics> {
    let count = list.kernels.len();
    let named = options.compiler.as_deref().and_then(|number| number.parse().ok());
    let number = match (options.launch, named) {
        (Some(number), _) | (None, Some(number)) => number,
        (None, None) if count == 1 => 0,
        (None, None) => {
            let message = format!("the list has {count} kernels, and this command takes one");
            let hint =
                format!("choose one with --launch N, 0 to {}; check and compare take lists", count - 1);
            return Err(Diagnostic::general(name, message).hint(hint).into());
        }
    };
    let found = usize::try_from(number).ok().and_then(|number| list.kernels.get(number));
    found.cloned().ok_or_else(|| {
        let message = format!("{} has {count} kernels", source.name());
        Diagnostic::general(format!("--launch {number}"), message).hint("the first has the number 0").into()
    })
}

/// The names of all kernels of a list, unless one is chosen.
pub fn expanded(location: &Location, name: &str, options: &PtxLaunch) -> Option<Vec<String>> {
    if options.launch.is_some() {
        return None;
    }
    // what is wrong with it is said where it is loaded
    let (list, _) = list(location).ok()?;
    Some((0..list.kernels.len()).map(|number| format!("{name}@{number}")).collect())
}

/// The list of a kernel that was named as `LIST@N`.
pub fn list_of(name: &str) -> Option<&str> {
    let (list, number) = name.rsplit_once('@')?;
    let listed = Location::Disk(PathBuf::from(list)).extension() == "g" && number.parse::<u64>().is_ok();
    listed.then_some(list)
}
