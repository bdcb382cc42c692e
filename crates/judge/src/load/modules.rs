//! The code of kernels: PTX or machine code, behind one type.

use super::embedded;
use super::location::Location;
use super::options::LaunchOptions;
use super::read;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::isa::IsaTable;
use warpbound_core::program::KernelCode;
use warpbound_core::program::launch::LaunchSpec;
use warpbound_front::ptx;
use warpbound_front::sass::{self, Encoding};

/// A module with what is needed to lower its kernels.
#[derive(Debug)]
pub struct Module {
    /// The text: PTX, or the disassembly.
    pub code: SourceText,
    language: Language,
}

#[derive(Debug)]
enum Language {
    Ptx { module: Box<ptx::Module>, isa: IsaTable },
    Machine { module: Box<sass::Module>, encoding: &'static Encoding },
}

impl Module {
    /// Reads a module; its variables in global memory start at `globals_start`, after those of
    /// other modules. Of the options, only the compiler and the
    /// assembler are used.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is invalid.
    pub fn read(
        location: &Location,
        options: &LaunchOptions,
        globals_start: u64,
    ) -> Result<Self, Diagnostics> {
        let hinted = |problems| of_compiler(problems, location, options);
        if is_machine_code(location) {
            let bytes = location.bytes(read::PTX_BYTES).map_err(|problem| hinted(problem.into()))?;
            return Self::machine(&location.shown(), &bytes, globals_start);
        }
        let code = location.text().map_err(hinted)?;
        if let Some(assemble) = &options.assemble {
            return Self::machine(&location.shown(), &assemble.machine_code(&code)?, globals_start);
        }
        let module = ptx::Module::parse_behind(&code, globals_start)?;
        Ok(Self { code, language: Language::Ptx { module: Box::new(module), isa: embedded::ptx_isa() } })
    }

    fn machine(name: &str, bytes: &[u8], globals_start: u64) -> Result<Self, Diagnostics> {
        let encoding = embedded::encoding_of(name, bytes)?;
        let module = sass::Module::read_behind(name, bytes, encoding, globals_start)?;
        let code = SourceText::new(name, module.listing(encoding));
        Ok(Self { code, language: Language::Machine { module: Box::new(module), encoding } })
    }

    /// Lowers a kernel.
    ///
    /// # Errors
    /// Returns an error if there is no such kernel, or if it has an instruction that is not
    /// supported.
    pub fn program(&self, entry: &str) -> Result<KernelCode, Diagnostics> {
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

    /// Returns the name of the only kernel.
    ///
    /// # Errors
    /// Returns an error if there is none or more than one; `option` is the name of the option that
    /// names one.
    pub fn only_kernel(&self, option: &str) -> Result<String, Diagnostics> {
        let file = self.code.name();
        match self.entries().as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => {
                let problem = Diagnostic::general(file, "the file has no kernel");
                Err(problem.hint("in PTX a kernel is a `.visible .entry NAME(...) { ... }`").into())
            }
            entries => {
                let message = format!("the file has {} kernels: name one with {option}", entries.len());
                let names: Vec<String> =
                    entries.iter().map(|name| warpbound_core::program::names::shown(name)).collect();
                Err(Diagnostic::general(file, message).hint(names.join(", ")).into())
            }
        }
    }
}

/// Returns whether a file is machine code, by its name.
pub fn is_machine_code(location: &Location) -> bool {
    matches!(location.extension().as_str(), "cubin" | "fatbin")
}

/// Returns the extension and the contents of the file of a module. Those of PTX are its text, as it
/// was read; the text of machine code is only a listing, so its bytes are read again.
///
/// # Errors
/// Returns an error if machine code can no longer be read.
pub fn contents(location: &Location, code: &SourceText) -> Result<(String, Vec<u8>), Diagnostic> {
    match is_machine_code(location) {
        true => Ok((location.extension(), location.bytes(read::PTX_BYTES)?)),
        false => Ok(("ptx".to_owned(), code.text().as_bytes().to_vec())),
    }
}

/// Returns the launches in the folder of a machine code file whose module it can replace, as
/// `LAUNCH@ARCHITECTURE`. A launch is included if the file has its kernel.
///
/// # Errors
/// Returns an error if the file is invalid or its folder cannot be read.
pub fn launches_beside(cubin: &Location) -> Result<Vec<String>, Diagnostics> {
    if cubin.path().is_none() {
        return Ok(Vec::new());
    }
    let entries = Module::read(cubin, &LaunchOptions::default(), 0)?;
    let stem = cubin.stem();
    let Some((module, architecture)) = stem.rsplit_once('.') else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut files = cubin.siblings()?;
    files.sort_by(|a, b| a.path().cmp(&b.path()));
    for file in &files {
        let Some(path) = file.path().filter(|path| path.extension().is_some_and(|ending| ending == "ron"))
        else {
            continue;
        };
        // other files of the folder are skipped, even if they are invalid
        let Ok(source) = file.text() else { continue };
        let Ok(spec) = LaunchSpec::parse(&source) else { continue };
        if spec.module == format!("{module}.ptx") && entries.entries().contains(&spec.entry.as_str()) {
            found.push(format!("{}@{architecture}", path.display()));
        }
    }
    Ok(found)
}

/// Adds a hint to the errors of a module: the file that the option `compiler` selects.
fn of_compiler(problems: Diagnostics, module: &Location, options: &LaunchOptions) -> Diagnostics {
    let Some(compiler) = &options.compiler else { return problems };
    let hint = format!("the code of the module by `{compiler}` would be in {}", module.shown());
    problems.map(|problem| problem.hint(hint.clone()))
}
