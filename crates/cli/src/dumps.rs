//! The option `--dump NAME=FILE`, which writes buffers and module variables to files.

use std::path::PathBuf;

use super::files::{Outputs, Part};
use super::output::Ending;
use warpbound_core::diag::{Diagnostic, Diagnostics, closest};
use warpbound_core::program::names::{self, Found};

/// A requested dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// What is written.
    pub what: Dumped,
    /// The path of the file.
    pub path: PathBuf,
}

/// A named part of device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dumped {
    /// The buffer with this index.
    Buffer(usize),
    /// A variable of a module.
    Variable {
        /// The index of the module.
        module: usize,
        /// The full name of the variable.
        name: String,
    },
}

/// A dump whose file has been created.
pub struct OpenDump {
    what: Dumped,
    path: PathBuf,
    part: Part,
}

impl OpenDump {
    /// Creates the file under a temporary name.
    ///
    /// # Errors
    /// If the path cannot be written.
    pub fn create(dump: Dump, outputs: &mut Outputs) -> Result<Self, Diagnostic> {
        let part = outputs.file("--dump", &dump.path)?;
        Ok(Self { what: dump.what, path: dump.path, part })
    }

    /// Writes the bytes and moves the file to its final name.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn place(self, bytes: &[u8]) -> Result<(), Diagnostic> {
        self.part.complete(format!("--dump {}", self.path.display()), bytes)
    }
}

/// Writes the dumps of a complete run after the results have been printed; `contents` returns the
/// bytes of a part of device memory.
pub fn place_all<'b>(dumps: Vec<OpenDump>, contents: impl Fn(&Dumped) -> &'b [u8], ending: &mut Ending) {
    for dump in dumps {
        let bytes = contents(&dump.what);
        if let Err(problem) = dump.place(bytes) {
            ending.late.push(problem);
        }
    }
}

/// All named parts of device memory.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The buffers with their indices.
    pub buffers: Vec<(String, usize)>,
    /// The variables with the indices of their modules.
    pub variables: Vec<(String, usize)>,
}

impl Names {
    /// Parses the options.
    ///
    /// # Errors
    /// Every name that is unknown or ambiguous.
    pub fn dumps(&self, options: &[String]) -> Result<Vec<Dump>, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut dumps = Vec::new();
        for option in options {
            let place = format!("--dump {option}");
            let Some((name, path)) = option.split_once('=').filter(|(_, path)| !path.is_empty()) else {
                problems.push(
                    Diagnostic::general(place, "expected NAME=FILE").hint("for example --dump c=out.bin"),
                );
                continue;
            };
            match self.find(name) {
                Ok(what) => dumps.push(Dump { what, path: PathBuf::from(path) }),
                Err((message, hint)) => problems.push(Diagnostic::general(place, message).hint(hint)),
            }
        }
        problems.into_result(dumps)
    }

    fn find(&self, name: &str) -> Result<Dumped, (String, String)> {
        if let Some((_, index)) = self.buffers.iter().find(|(known, _)| known == name) {
            return Ok(Dumped::Buffer(*index));
        }
        let known = || self.variables.iter().map(|(known, _)| known.as_str());
        match names::find(name, known()) {
            Found::One(index) => {
                let (name, module) = self.variables[index].clone();
                Ok(Dumped::Variable { module, name })
            }
            Found::Several(which) => {
                let list: Vec<String> = which.iter().map(|&i| names::shown(&self.variables[i].0)).collect();
                Err((format!("`{name}` can be several variables"), list.join(", ")))
            }
            Found::None => {
                let buffers: Vec<&str> = self.buffers.iter().map(|(known, _)| known.as_str()).collect();
                let variables: Vec<String> = known().map(names::shown).collect();
                let near = closest(name, buffers.iter().copied().chain(known()));
                let near = near.map(|near| format!("did you mean `{near}`?"));
                let list =
                    |what: &str, names: String| (!names.is_empty()).then(|| format!("{what}: {names}"));
                let hints = [
                    near,
                    list("buffers", buffers.join(", ")),
                    list("module variables", variables.join(", ")),
                ];
                let hint = hints.into_iter().flatten().collect::<Vec<_>>().join("; ");
                let none = "this kernel has neither buffers nor module variables".to_owned();
                let hint = if hint.is_empty() { none } else { hint };
                Err((format!("no buffer or module variable `{name}`"), hint))
            }
        }
    }
}
