//! Traces and lists of traces on disk.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use super::args::PtxLaunch;
use super::assets::{self, Location};
use super::files::read;
use crate::accelsim::{KernelsList, Listed, Open, Taking, TraceFile, TracedKernel};
use crate::base::{Fnv1a, Watch};
use crate::check::{Workload, WorkloadKind};
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

/// Reads a trace from beginning to end. Reading stops early if `watch` requests it.
pub fn read(file: &Location, options: &PtxLaunch, watch: &Watch) -> Result<TracedKernel, Diagnostics> {
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
    let kernel = TracedKernel::read(file, &assets::opcodes()?, &taking, Some(watch))?;
    if !kernel.summary.unknown.is_empty() {
        // a table of several results has no room for notes
        let notes = kernel.program.notes.iter().filter(|note| note.contains("not known"));
        notes.for_each(|note| tracing::warn!("{}: {note}", kernel.file_name()));
    }
    Ok(kernel)
}

/// Returns the name of a trace in reports: its file, and the kernel if the trace states it.
fn name_of(file: &Location, kernel: &TracedKernel) -> String {
    let name = names::short(&kernel.header.name);
    // the names of templates can be very long, and may contain any characters
    let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
    if name.is_empty() { file.stem() } else { format!("{}:{name}", file.stem()) }
}

/// Returns a trace as a workload, and its instructions as text.
pub fn workload(
    file: &Location,
    options: &PtxLaunch,
    watch: &Watch,
) -> Result<(Workload, SourceText), Diagnostics> {
    after_copies(file, options, (Vec::new(), Vec::new()), watch)
}

/// Copies from the host, each with its address and number of bytes.
type Copies = Vec<(u64, u64)>;

/// Returns the same as [`workload`] after these copies from the host: all of them, and those since
/// the previous kernel.
fn after_copies(
    file: &Location,
    options: &PtxLaunch,
    copies: (Copies, Copies),
    watch: &Watch,
) -> Result<(Workload, SourceText), Diagnostics> {
    let mut kernel = read(file, options, watch)?;
    (kernel.copies, kernel.copied_since) = copies;
    let code = SourceText::new(kernel.program.file.clone(), kernel.listing.clone());
    let name = name_of(file, &kernel);
    Ok((Workload { name, kind: WorkloadKind::Trace(Arc::new(kernel)) }, code))
}

/// Returns the same as [`workload`] for a kernel that a list names.
pub fn listed(
    list: &Location,
    kernel: &Listed,
    options: &PtxLaunch,
    watch: &Watch,
) -> Result<(Workload, SourceText), Diagnostics> {
    let copies = (kernel.copies.clone(), kernel.since.clone());
    after_copies(&list.beside(&kernel.file), options, copies, watch).map_err(|problems| {
        let named = || format!("{}, line {}, names it", list.shown(), kernel.line);
        problems.map(|problem| if problem.hint.is_empty() { problem.hint(named()) } else { problem })
    })
}

/// Returns the names and digests of files of any size.
pub fn digests(files: &[PathBuf]) -> Result<Vec<(String, u64)>, Diagnostic> {
    let of_file = |path: &PathBuf| {
        let mut digest = Fnv1a::default();
        read::each_piece(path, &mut |bytes| digest.write(bytes))?;
        Ok((path.display().to_string(), digest.finish()))
    };
    files.iter().map(of_file).collect()
}

/// Reads a list of traces.
pub fn list(location: &Location) -> Result<(KernelsList, SourceText), Diagnostics> {
    let source = location.text()?;
    Ok((KernelsList::parse(&source)?, source))
}

/// Returns the selected kernel of a list: by `--launch N`, by `LIST@N`, or because it is the only
/// one. Returns `None` if all are selected.
pub fn chosen(
    list: &KernelsList,
    source: &SourceText,
    options: &PtxLaunch,
) -> Result<Option<Listed>, Diagnostics> {
    let count = list.kernels.len();
    let named = options.compiler.as_deref().and_then(|number| number.parse().ok());
    let only = (count == 1).then_some(0);
    let Some(number) = options.launch.or(named).or(only) else { return Ok(None) };
    let found = usize::try_from(number).ok().and_then(|number| list.kernels.get(number));
    let none = || {
        let kernels = if count == 1 { "kernel" } else { "kernels" };
        let message = format!("{} has {count} {kernels}", source.name());
        Diagnostic::general(format!("--launch {number}"), message).hint("the first has the number 0")
    };
    Ok(Some(found.cloned().ok_or_else(none)?))
}
