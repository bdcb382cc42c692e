//! `warpbound import-config`: converts a configuration of GPGPU-Sim to a machine.

use std::path::{Path, PathBuf};

use crate::args::ImportConfig;
use crate::files::{Outputs, loader};
use crate::output::{self, Ending, Outcome};
use crate::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, to_ron};
use warpbound_core::machine::Machine;
use warpbound_core::machine::gpgpusim;
use warpbound_report::import_config::ImportResult;
use warpbound_report::output::Output;

/// The base machine, which has the structure of GPGPU-Sim's shader core and of its memory.
const BASE: &str = "accelsim-sm1";
/// The greatest size of a file in bytes; real ones have a few kilobytes.
const MAX_BYTES: u64 = 16 << 20;
/// The greatest number of unknown options that are named by a warning each.
const NAMED: usize = 10;

/// Runs the command.
pub fn run(args: &ImportConfig, session: &Session) -> Outcome {
    let mut problems = Diagnostics::new();
    let mut sources = Vec::new();
    for file in &args.files {
        match loader().find_text(file).and_then(|file| file.text_in_any_encoding(MAX_BYTES)) {
            Ok(source) => sources.push(source),
            Err(problem) => problems.append(problem),
        }
    }
    let sources = problems.into_result(sources)?;
    let (base, _) = loader().machine_spec(&loader().find_machine(BASE, None)?)?;
    let mut imported = gpgpusim::import(&sources, base)?;
    let name = args.name.clone().unwrap_or_else(|| name_of(&args.files));
    if name.trim().is_empty() {
        let problem = Diagnostic::general(format!("--name {name:?}"), "a machine needs a name");
        return Err(problem.hint("leave the option out for a name made of that of the file").into());
    }
    if name.chars().any(char::is_control) {
        let problem = Diagnostic::general(format!("--name {name:?}"), "a name is one line of text");
        return Err(problem.hint("leave out line feeds and other control characters").into());
    }
    imported.spec.name = Some(name.clone());
    imported.spec.doc = Some(format!("Made of {} by import-config", args.files.join(", ")));
    let text = to_ron("machine.ron", &imported.spec, ron::extensions::Extensions::empty())?;
    // an invalid machine is an error, and its message states the option that causes it
    let written = SourceText::new(args.files.join(", "), text.as_str());
    Machine::new(&imported.spec, &written).map_err(|problems| imported.of_options(problems, &written))?;
    let result = ImportResult::new(name, &imported, &(text + "\n"));
    session.conclude();
    let counts = [
        (result.otherwise(), "from which the machine differs"),
        (result.without_counterpart.len(), "without a counterpart"),
        (result.unknown.len(), "not known"),
        (result.repeated.len(), "given again later"),
        (result.not_given.len(), "not given"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !counts.is_empty() {
        tracing::warn!("options: {}; the top of the machine lists them", counts.join(", "));
    }
    for unknown in result.unknown.iter().take(NAMED) {
        tracing::warn!("not known: {}, {}", unknown.option, unknown.place);
    }
    if let Some(more) = result.unknown.len().checked_sub(NAMED).filter(|more| *more > 0) {
        tracing::warn!("not known: {more} more options");
    }
    let Some(path) = &args.out else {
        return output::report(session, args.format, &Output::new("import-config", None, vec![result]));
    };
    let inputs: Vec<PathBuf> = args.files.iter().map(PathBuf::from).collect();
    let file = Outputs::new(&inputs, args.writing.force, &session.parts).file("--out", path)?;
    file.complete(path.display().to_string(), result.machine.as_bytes())?;
    let mut ending = Ending::default();
    ending.print(session, &format!("wrote the machine `{}` to {}\n", result.name, path.display()));
    Ok(ending)
}

/// Returns a name for the machine: those of all files, because an overlay makes another machine.
fn name_of(files: &[String]) -> String {
    // trace.config belongs to the configuration in its folder
    let is_part = |file: &&String| !file.ends_with("trace.config");
    let mut names: Vec<String> = Vec::new();
    for name in files.iter().filter(is_part).map(|file| name_of_file(file)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "imported".to_owned() } else { names.join("+") }
}

/// Returns the name of a file. All are called `gpgpusim.config`, but the names of their folders are
/// specific.
fn name_of_file(file: &str) -> String {
    let path = Path::new(file);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    match (stem.as_deref(), folder) {
        (Some("gpgpusim"), Some(folder)) => folder,
        (Some(stem), _) => stem.to_owned(),
        (None, _) => "imported".to_owned(),
    }
}
