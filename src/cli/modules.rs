//! The code of kernels: PTX or machine code, behind one type.

use std::path::{Path, PathBuf};

use super::args::PtxLaunch;
use super::assets::{self, Location};
use super::files::read;
use crate::diag::{Diagnostic, Diagnostics, SourceText};
use crate::isa::IsaTable;
use crate::program::Program;
use crate::program::launch::LaunchSpec;
use crate::ptx;
use crate::sass::{self, Encoding};

/// A module with what is needed to lower its kernels.
pub struct Module {
    /// The text: PTX, or the disassembly.
    pub code: SourceText,
    language: Language,
}

enum Language {
    Ptx { module: Box<ptx::Module>, isa: IsaTable },
    Machine { module: sass::Module, encoding: Box<Encoding> },
}

impl Module {
    /// Reads a module; its variables in global memory start at `globals_start`, after those of
    /// other modules.
    pub fn read(location: &Location, options: &PtxLaunch, globals_start: u64) -> Result<Self, Diagnostics> {
        let hinted = |problems| of_compiler(problems, location, options);
        if is_machine_code(location) {
            let bytes = location.bytes(read::PTX_BYTES).map_err(|problem| hinted(problem.into()))?;
            return Self::machine(&location.shown(), &bytes, globals_start);
        }
        let code = location.text().map_err(hinted)?;
        let module = ptx::Module::parse_behind(&code, globals_start)?;
        Ok(Self { code, language: Language::Ptx { module: Box::new(module), isa: assets::ptx_isa()? } })
    }

    fn machine(name: &str, bytes: &[u8], globals_start: u64) -> Result<Self, Diagnostics> {
        let encoding = assets::encoding()?;
        let module = sass::Module::read_behind(name, bytes, &encoding, globals_start)?;
        let code = SourceText::new(name, module.listing(&encoding));
        Ok(Self { code, language: Language::Machine { module, encoding: Box::new(encoding) } })
    }

    /// Lowers a kernel.
    pub fn program(&self, entry: &str) -> Result<Program, Diagnostics> {
        match &self.language {
            Language::Ptx { module, isa } => module.program(entry, isa),
            Language::Machine { module, encoding } => module.program(entry, encoding),
        }
    }

    /// Returns the names of the kernels.
    pub fn entries(&self) -> Vec<&str> {
        match &self.language {
            Language::Ptx { module, .. } => module.entries(),
            Language::Machine { module, .. } => module.entries(),
        }
    }

    /// Returns the address after its variables in global memory, where those of another module can
    /// start.
    pub fn globals_end(&self) -> u64 {
        match &self.language {
            Language::Ptx { module, .. } => module.globals_end(),
            Language::Machine { module, .. } => module.globals_end(),
        }
    }

    /// Returns the name of the only kernel, or an error if there is none or more than one.
    pub fn only_kernel(&self) -> Result<String, Diagnostics> {
        let file = self.code.name();
        match self.entries().as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => {
                let problem = Diagnostic::general(file, "the file has no kernel");
                Err(problem.hint("in PTX a kernel is a `.visible .entry NAME(...) { ... }`").into())
            }
            entries => {
                let message = format!("the file has {} kernels: name one with --entry", entries.len());
                let names: Vec<String> =
                    entries.iter().map(|name| crate::program::names::shown(name)).collect();
                Err(Diagnostic::general(file, message).hint(names.join(", ")).into())
            }
        }
    }
}

/// Returns whether a file is machine code, by its name.
pub fn is_machine_code(location: &Location) -> bool {
    matches!(location.extension().as_str(), "cubin" | "fatbin")
}

/// Returns the launches in the folder of a machine code file whose module it can replace, as
/// `LAUNCH@ARCHITECTURE`. A launch is included if the file has its kernel.
pub fn launches_beside(cubin: &Location) -> Result<Vec<String>, Diagnostics> {
    let Some(path) = cubin.on_disk() else { return Ok(Vec::new()) };
    let entries = Module::read(cubin, &PtxLaunch::default(), 0)?;
    let stem = cubin.stem();
    let Some((module, architecture)) = stem.rsplit_once('.') else { return Ok(Vec::new()) };
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found = Vec::new();
    let files = std::fs::read_dir(folder)
        .map_err(|error| Diagnostic::general(folder.display().to_string(), error.to_string()))?;
    let mut files: Vec<_> = files
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ron"))
        .collect();
    files.sort();
    for file in files {
        // other files of the folder are skipped, even if they are invalid
        let location = Location::Disk(file.clone());
        let Ok(source) = location.text() else { continue };
        let Ok(spec) = LaunchSpec::parse(&source) else { continue };
        if spec.module == format!("{module}.ptx") && entries.entries().contains(&spec.entry.as_str()) {
            found.push(format!("{}@{architecture}", file.display()));
        }
    }
    Ok(found)
}

/// Replaces the names of machine code files by the launches found beside them.
pub fn expanded(names: &[String], options: &PtxLaunch) -> Vec<String> {
    let with_launches = |name: &String| {
        let location = Location::Disk(PathBuf::from(name));
        let own = vec![name.clone()];
        if !is_machine_code(&location) || options.grid.is_some() || options.block.is_some() {
            return own;
        }
        // an invalid file is reported where it is loaded
        launches_beside(&location).ok().filter(|found| !found.is_empty()).unwrap_or(own)
    };
    names.iter().flat_map(with_launches).collect()
}

/// Adds the file that `--compiler` selects as a hint to the errors of a module.
fn of_compiler(problems: Diagnostics, module: &Location, options: &PtxLaunch) -> Diagnostics {
    let Some(compiler) = &options.compiler else { return problems };
    let hint = format!("what `{compiler}` makes of the module would be {}", module.shown());
    problems.map(|problem| problem.hint(hint.clone()))
}
