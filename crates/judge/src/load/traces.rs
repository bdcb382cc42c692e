//! Traces and lists of traces.

use std::io::Read;
use std::sync::Arc;

use super::embedded;
use super::location::Location;
use super::options::LaunchOptions;
use crate::check::{Workload, WorkloadKind};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::program::names;
use warpbound_front::accelsim::{KernelsList, Listed, Open, TraceFile, TraceOptions, TracedKernel};

/// The location of a trace, which is read more than once.
#[derive(Debug)]
struct Located(Location);

impl Open for Located {
    fn open(&self) -> Result<Box<dyn Read + Send>, Diagnostic> {
        self.0.stream()
    }
}

/// Reads a trace from beginning to end. Reading stops early if `monitor` requests it. Only those of
/// the options that concern traces are used. Unknown opcodes are logged as warnings.
///
/// # Errors
/// Returns an error if the trace is invalid or not one of the caller's files, or if reading was
/// stopped.
pub fn read(
    file: &Location,
    options: &LaunchOptions,
    watch: &ProgressMonitor,
) -> Result<TracedKernel, Diagnostics> {
    let file = TraceFile { name: file.shown(), open: Arc::new(Located(file.clone())) };
    let taking = TraceOptions {
        conservative_predicates: options.conservative_predicates,
        unknown: options.unknown_op.clone().unwrap_or(TraceOptions::default().unknown),
    };
    let kernel = TracedKernel::read(file, embedded::opcodes()?, &taking, Some(watch))?;
    if !kernel.summary.unknown.is_empty() {
        // a table of several results cannot show notes
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
pub(super) fn workload(
    file: &Location,
    options: &LaunchOptions,
    watch: &ProgressMonitor,
) -> Result<(Workload, SourceText), Diagnostics> {
    after_copies(file, options, (Vec::new(), Vec::new()), watch)
}

/// Copies from the host, each with its address and number of bytes.
type Copies = Vec<(u64, u64)>;

/// Returns the same as [`workload`] for a kernel that runs after copies from the host. `copies`
/// contains all copies so far, and separately those since the previous kernel.
fn after_copies(
    file: &Location,
    options: &LaunchOptions,
    copies: (Copies, Copies),
    watch: &ProgressMonitor,
) -> Result<(Workload, SourceText), Diagnostics> {
    let mut kernel = read(file, options, watch)?;
    (kernel.copies, kernel.copied_since) = copies;
    let code = SourceText::new(kernel.program.file.clone(), kernel.listing.clone());
    let name = name_of(file, &kernel);
    Ok((Workload { name, kind: WorkloadKind::Trace(Arc::new(kernel)) }, code))
}

/// Returns the same as [`workload`] for a kernel that a list names.
pub(super) fn listed(
    list: &Location,
    kernel: &Listed,
    options: &LaunchOptions,
    watch: &ProgressMonitor,
) -> Result<(Workload, SourceText), Diagnostics> {
    let copies = (kernel.copies.clone(), kernel.since.clone());
    after_copies(&list.beside(&kernel.file), options, copies, watch).map_err(|problems| {
        let named = || format!("{}, line {}, names it", list.shown(), kernel.line);
        problems.map(|problem| if problem.hint.is_empty() { problem.hint(named()) } else { problem })
    })
}

/// Reads a list of traces, and returns it with its text.
///
/// # Errors
/// Returns an error if the file cannot be read or is invalid.
pub fn list(location: &Location) -> Result<(KernelsList, SourceText), Diagnostics> {
    let source = location.text()?;
    Ok((KernelsList::parse(&source)?, source))
}

/// Returns the selected kernel of a list: by its number, by `LIST@N`, or because it is the only
/// one. Returns `None` if all are selected.
pub(super) fn chosen(
    list: &KernelsList,
    source: &SourceText,
    options: &LaunchOptions,
) -> Result<Option<Listed>, Diagnostics> {
    let count = list.kernels.len();
    let named = options.compiler.as_deref().and_then(|number| number.parse().ok());
    let only = (count == 1).then_some(0);
    let Some(number) = options.launch.or(named).or(only) else { return Ok(None) };
    let found = usize::try_from(number).ok().and_then(|number| list.kernels.get(number));
    let none = || {
        let kernels = if count == 1 { "kernel" } else { "kernels" };
        let message = format!("{} has {count} {kernels}", source.name());
        Diagnostic::general(format!("{} {number}", options.name("launch")), message)
            .hint("the first has the number 0")
    };
    Ok(Some(found.cloned().ok_or_else(none)?))
}
