//! The formats: valid files of each, and all operations on a file.

mod binary;
mod cubin;
mod launches;
mod machines;
mod ptx;
mod run;
mod schedules;
mod traces;
mod written;

use warpbound::base::ProgressMonitor;
use warpbound::diag::{Diagnostics, SourceText};

/// The result of reading an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was read, and was run as far as the time allowed.
    Accepted,
    /// An error reported what is wrong with it.
    Refused,
}

/// A format.
#[derive(Clone, Copy)]
pub struct Format {
    pub name: &'static str,
    /// Returns valid files.
    seeds: fn() -> Vec<Vec<u8>>,
    /// Performs all operations on an input. Panics if a result is wrong.
    pub take: fn(&[u8], &ProgressMonitor) -> Taken,
    /// The number of mutants that the test tries.
    pub mutants: u64,
}

impl Format {
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let seeds = (self.seeds)();
        assert!(!seeds.is_empty(), "{} has no good files", self.name);
        seeds
    }
}

/// All formats.
pub const ALL: [Format; 14] = [
    ptx::FORMAT,
    cubin::FORMAT,
    traces::TRACE,
    traces::LIST,
    machines::MACHINE,
    machines::CONFIG,
    launches::LAUNCH,
    launches::PROGRAM,
    launches::PLAN,
    schedules::REPLAY,
    schedules::WARP,
    written::TIMES,
    written::RESULTS,
    written::CHECKPOINT,
];

/// Returns the format of this name.
pub fn named(name: &str) -> Format {
    let all = ALL.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let found = ALL.iter().find(|format| format.name == name);
    *found.unwrap_or_else(|| panic!("no format `{name}`: {all}"))
}

/// Returns the text of a file as the command line passes it on; it rejects invalid UTF-8 earlier.
fn source(name: &str, input: &[u8]) -> SourceText {
    SourceText::new(name, String::from_utf8_lossy(input))
}

/// Checks errors: each names the file and the problem, in terms that the user knows.
fn refused(problems: &Diagnostics) -> Taken {
    assert!(!problems.is_empty(), "refused without an error");
    for problem in problems.list() {
        assert!(!problem.file.is_empty() && !problem.message.is_empty(), "{problem:?}");
        for word in ["serde", "unwrap", "`None`", "panicked", "ParseIntError", "variant identifier"] {
            assert!(!problem.message.contains(word), "a word of Rust: {problem:?}");
        }
    }
    assert!(!problems.to_string().is_empty());
    Taken::Refused
}

/// Does the same for a text: an error of reading it must have a line of it.
fn refused_at(problems: &Diagnostics, source: &SourceText) -> Taken {
    let lines = source.text().split('\n').count() as u32;
    for problem in problems.list().iter().filter(|problem| problem.file == source.name()) {
        assert!((1..=lines).contains(&problem.line) && problem.column > 0, "no place: {problem:?}");
    }
    refused(problems)
}

/// Returns the valid files in a folder and the folders below it whose names have one of these
/// endings and whose length is at most `most` bytes.
fn files(folder: &str, endings: &[&str], most: u64) -> Vec<Vec<u8>> {
    let mut folders = vec![crate::shipped::root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending))
                && path.metadata().unwrap().len() <= most
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found.iter().map(|path| std::fs::read(path).unwrap()).collect()
}
