//! The search for compilers.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Compiler, Kind, nvrtc, process};
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::Diagnostic;

/// The versions in the names of clang, the newest first.
const CLANGS: std::ops::RangeInclusive<u32> = 14..=30;
/// The names of Python interpreters.
const PYTHONS: [&str; 2] = ["python3", "python"];
/// The command that installs a compiler.
const INSTALL: &str = "pip install nvidia-cuda-nvrtc-cu12";

/// Where compilers are looked for.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The folders of programs (`PATH`).
    pub path: Vec<PathBuf>,
    /// The folders of CUDA toolkits (`CUDA_HOME`, `CUDA_PATH`, `/usr/local/cuda`).
    pub toolkits: Vec<PathBuf>,
    /// The virtual environment of Python (`VIRTUAL_ENV`).
    pub virtual_env: Option<PathBuf>,
}

impl Places {
    /// Returns the programs with this name, in the order of the folders.
    fn programs<'a>(&'a self, name: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
        self.path.iter().filter_map(move |folder| program(folder, name))
    }

    /// Returns the program that the caller names by its path, or by its name as a program in `PATH`.
    pub(super) fn named(&self, name: &Path) -> Option<PathBuf> {
        match name.components().count() {
            1 => self.programs(&name.to_string_lossy()).next(),
            _ => name.is_file().then(|| name.to_owned()),
        }
    }

    /// Returns a tool of the CUDA toolkit: the first one in `PATH`, or else in a toolkit.
    pub(super) fn tool(&self, name: &str) -> Option<PathBuf> {
        let in_toolkit = || self.toolkits.iter().find_map(|folder| program(&folder.join("bin"), name));
        self.programs(name).next().or_else(in_toolkit)
    }
}

/// Returns the program with this name in a folder.
fn program(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    path.is_file().then_some(path)
}

/// Finds a compiler of a kind.
///
/// # Errors
/// Returns what was looked for, in words.
pub fn find(kind: Kind, places: &Places, monitor: &ProgressMonitor) -> Result<Compiler, String> {
    let (candidates, looked_for) = match kind {
        Kind::Clang => {
            let versions = CLANGS.rev().map(|version| format!("clang-{version}"));
            let names: Vec<String> = std::iter::once("clang".to_owned()).chain(versions).collect();
            let found = names.iter().flat_map(|name| places.programs(name).take(1)).collect();
            (found, "clang with the target nvptx64 (clang, or clang-14 and later, in PATH)")
        }
        Kind::Nvcc => {
            let toolkits = places.toolkits.iter().filter_map(|folder| program(&folder.join("bin"), "nvcc"));
            let found: Vec<PathBuf> = places.programs("nvcc").take(1).chain(toolkits).collect();
            (found, "nvcc (in PATH, and in bin of CUDA_HOME, CUDA_PATH and /usr/local/cuda)")
        }
        Kind::Nvrtc => {
            let own = places.virtual_env.iter().flat_map(|folder| {
                PYTHONS.iter().filter_map(|name| program(&folder.join("bin"), name)).take(1)
            });
            let others = PYTHONS.iter().flat_map(|name| places.programs(name));
            let mut found: Vec<PathBuf> = own.chain(others).collect();
            found.dedup();
            (found, "NVRTC in a package of Python (python3 of VIRTUAL_ENV and in PATH)")
        }
    };
    let mut reasons = Vec::new();
    for candidate in &candidates {
        match probe(kind, candidate, monitor) {
            Ok(compiler) => return Ok(compiler),
            Err(why) => reasons.push(format!("{} {why}", candidate.display())),
        }
    }
    match reasons.as_slice() {
        [] => Err(looked_for.to_owned()),
        reasons => Err(format!("{looked_for}: {}", reasons.join(", "))),
    }
}

/// Finds the compiler that the caller names by its path or name.
///
/// # Errors
/// Returns an error if there is no such program, or if it is no compiler of CUDA.
pub fn named(name: &Path, places: &Places, monitor: &ProgressMonitor) -> Result<Compiler, Diagnostic> {
    let place = format!("--compiler {}", name.display());
    let problem = |message: String| Diagnostic::general(place.clone(), message);
    let hint = "auto, clang, nvcc, nvrtc, or the name or path of clang, of nvcc, or of a Python interpreter with NVRTC";
    let path = places.named(name).ok_or_else(|| problem("there is no such program".to_owned()).hint(hint))?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kind = match file.as_str() {
        file if file.contains("clang") => Kind::Clang,
        file if file.contains("nvcc") => Kind::Nvcc,
        file if file.contains("python") => Kind::Nvrtc,
        _ => {
            return Err(
                problem("by its name this is none of the compilers that are known".to_owned()).hint(hint)
            );
        }
    };
    probe(kind, &path, monitor).map_err(|why| {
        let problem = problem(format!("it {why}"));
        if kind == Kind::Nvrtc { problem.hint(format!("`{INSTALL}` installs it")) } else { problem }
    })
}

/// Returns the error if there is no compiler, with what was looked for.
pub fn none(looked_for: &[String]) -> Diagnostic {
    let message = "no compiler of CUDA was found";
    let list: Vec<String> = looked_for.iter().map(|what| format!("\n        {what}")).collect();
    let hint = format!("`{INSTALL}` installs one. This was looked for:{}", list.concat());
    Diagnostic::general("compile", message).hint(hint)
}

/// Returns the compiler that a program is, or why it is none.
fn probe(kind: Kind, program: &Path, monitor: &ProgressMonitor) -> Result<Compiler, String> {
    let asked = |option: &str| {
        let ended = process::run(Command::new(program).arg(option), Vec::new(), monitor);
        let ended = ended.map_err(|_| "cannot be run".to_owned())?;
        if ended.success { Ok(ended.text()) } else { Err(format!("has no {option}")) }
    };
    let (version, known) = match kind {
        Kind::Clang => {
            if !asked("--print-targets")?.contains("nvptx64") {
                return Err("has no target nvptx64".to_owned());
            }
            (after(&asked("--version")?, "version "), Vec::new())
        }
        Kind::Nvcc => (after(&asked("--version")?, "release "), Vec::new()),
        Kind::Nvrtc => nvrtc::probe(program, monitor)?,
    };
    Ok(Compiler { kind, program: program.to_owned(), version, known })
}

/// Returns the number after a word.
fn after(text: &str, word: &str) -> String {
    let rest = text.split_once(word).map_or("", |(_, rest)| rest);
    let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    if number.is_empty() { "of unknown version".to_owned() } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found() {
        let clang = "Debian clang version 16.0.6 (15~deb12u1)\nTarget: x86_64-pc-linux-gnu\n";
        let nvcc = "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.4, V12.4.131\n";
        assert_eq!((after(clang, "version ").as_str(), after(nvcc, "release ").as_str()), ("16.0.6", "12.4"));
        assert_eq!(after("", "version "), "of unknown version");
    }
}
