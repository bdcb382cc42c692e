//! Names of files and of what is embedded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::embedded::EmbeddedFolder;
use super::files::{Disk, Files};
use super::location::Location;
use super::read;
use warpbound_core::diag::{Diagnostic, Diagnostics, closest};
use warpbound_core::machine::PolicyKind;

/// The name that stands for standard input.
pub const FROM_STDIN: &str = "-";

/// The extensions of files with kernels, launches and traces.
const KERNEL_FILES: [&str; 9] = ["warp", "ron", "ptx", "cu", "cubin", "fatbin", "traceg", "tracez", "g"];

/// Finds and reads kernels, machines and policies by their names.
///
/// A name with a path separator, or with the extension of a file that can be loaded, refers to a
/// file of the caller. The name `-` refers to standard input, and any other name to an embedded
/// file. A loader keeps nothing of what it has read.
#[derive(Clone, Debug)]
pub struct Loader {
    files: Arc<dyn Files>,
}

impl Loader {
    /// Returns a loader for these files.
    pub fn new(files: impl Files + 'static) -> Self {
        Self { files: Arc::new(files) }
    }

    /// Returns a loader for the files on disk.
    pub fn disk() -> Self {
        Self::new(Disk)
    }

    /// Returns the location of a file of the caller.
    pub fn file(&self, path: impl Into<PathBuf>) -> Location {
        Location::File(path.into(), Arc::clone(&self.files))
    }

    /// Returns the name and location of every file of an embedded folder that has a name, sorted by
    /// name.
    pub fn embedded(folder: EmbeddedFolder) -> Vec<(String, Location)> {
        let located =
            |(name, path): (&str, &str)| (name.to_owned(), Location::Embedded(folder, path.to_owned()));
        folder.list().into_iter().map(located).collect()
    }

    /// Reads standard input.
    fn stdin(&self, limit: u64) -> Result<Location, Diagnostic> {
        let bytes = self.files.stdin(limit)?;
        let ending = ending_of(&String::from_utf8_lossy(&bytes));
        Ok(Location::Stdin { bytes: bytes.into(), ending, files: Arc::clone(&self.files) })
    }

    /// Splits `NAME@COMPILER`, the name of a launch with the code of another compiler, at its last
    /// `@`; the name of a file may contain one, too.
    pub fn by_compiler<'a>(&self, name: &'a str) -> (&'a str, Option<&'a str>) {
        match name.rsplit_once('@') {
            Some((base, compiler))
                if !compiler.contains(['/', '\\', '.']) && !self.files.exists(Path::new(name)) =>
            {
                (base, Some(compiler))
            }
            _ => (name, None),
        }
    }

    /// Finds a kernel by embedded name or path.
    ///
    /// # Errors
    /// Returns an error if nothing embedded has this name, or if standard input cannot be read.
    pub fn find_kernel(&self, name: &str) -> Result<Location, Diagnostics> {
        if name == FROM_STDIN {
            let location = self.stdin(read::PTX_BYTES)?;
            if location.extension().is_empty() {
                let problem =
                    Diagnostic::general(read::STDIN, "neither PTX nor a micro kernel, launch or machine");
                return Err(problem.hint("they begin with .version, .warps, Launch( and Machine(").into());
            }
            return Ok(location);
        }
        let (name, _) = self.by_compiler(name);
        let file = self.file(name);
        if KERNEL_FILES.contains(&file.extension().as_str()) || name.contains(['/', '\\']) {
            return Ok(file);
        }
        let hint = |near: Option<&str>, _: &[&str]| {
            match near {
            Some(near) => format!("did you mean `{near}`? `warpbound list` shows them all"),
            None => "`warpbound list` shows the embedded kernels; a file is named with its ending (.warp, .ron, .ptx)"
                .to_owned(),
        }
        };
        let hint = |near: Option<&str>, names: &[&str]| {
            let meant = of_config(name)
                .or_else(|| self.of_file(name))
                .or_else(|| other_kind(name, EmbeddedFolder::Kernels));
            meant.unwrap_or_else(|| hint(near, names))
        };
        find_embedded(EmbeddedFolder::Kernels, name, hint)
    }

    /// Finds a kernel that a file names: an embedded one, or by a path relative to the file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::find_kernel`], and an error for the name of standard input.
    pub fn find_kernel_beside(&self, name: &str, file: &Location) -> Result<Location, Diagnostics> {
        if name == FROM_STDIN {
            let problem = Diagnostic::general(name, "a kernel from stdin can be read once only");
            return Err(problem.hint("write it to a file, and name that").into());
        }
        Ok(match self.find_kernel(name)? {
            Location::File(..) => file.beside(name),
            embedded => embedded,
        })
    }

    /// Returns the location of a file that is named in `relative_to`, or by the caller if that is
    /// `None`.
    fn relative(&self, name: &str, relative_to: Option<&Location>) -> Location {
        relative_to.map_or_else(|| self.file(name), |file| file.beside(name))
    }

    /// Finds a plan: an embedded one by name, a path, or standard input.
    ///
    /// # Errors
    /// Returns an error if nothing embedded has this name, or if standard input cannot be read.
    pub fn find_plan(&self, name: &str) -> Result<Location, Diagnostics> {
        self.ron_or_embedded(name, None, EmbeddedFolder::Plans)
    }

    /// Finds a machine by embedded name or path; a path is relative to `relative_to` if that is
    /// given.
    ///
    /// # Errors
    /// Returns an error if nothing embedded has this name, or if standard input cannot be read.
    pub fn find_machine(&self, name: &str, relative_to: Option<&Location>) -> Result<Location, Diagnostics> {
        self.ron_or_embedded(name, relative_to, EmbeddedFolder::Configs)
    }

    /// Finds the file of a schedule to replay; its path is relative to `relative_to` if that is
    /// given.
    ///
    /// # Errors
    /// Returns an error if standard input cannot be read.
    pub fn find_schedule(&self, name: &str, relative_to: Option<&Location>) -> Result<Location, Diagnostics> {
        match name {
            FROM_STDIN => Ok(self.stdin(read::SCHEDULE_BYTES)?),
            _ => Ok(self.relative(name, relative_to)),
        }
    }

    /// Finds a text file by its path, or standard input.
    ///
    /// # Errors
    /// Returns an error if standard input cannot be read.
    pub fn find_text(&self, name: &str) -> Result<Location, Diagnostics> {
        match name {
            FROM_STDIN => Ok(self.stdin(read::TEXT_BYTES)?),
            _ => Ok(self.file(name)),
        }
    }

    /// Returns the hint for the name of a file whose ending is that of another kind of file.
    fn of_file(&self, name: &str) -> Option<String> {
        let here = || {
            format!(
                "there is a file `{name}`, but its ending is that of another kind of file: kernels are in .warp, .ron, \
                 .ptx, .cubin, .fatbin, .traceg, .tracez and .g files, machines and plans in .ron files"
            )
        };
        (!name.is_empty() && self.files.exists(Path::new(name))).then(here)
    }

    /// Finds a RON file by its path (relative to `relative_to` if that is given), an embedded one
    /// by its name, or standard input.
    fn ron_or_embedded(
        &self,
        name: &str,
        relative_to: Option<&Location>,
        folder: EmbeddedFolder,
    ) -> Result<Location, Diagnostics> {
        if name == FROM_STDIN {
            return Ok(self.stdin(read::TEXT_BYTES)?);
        }
        let file = self.relative(name, relative_to);
        if file.extension() == "ron" || name.contains(['/', '\\']) {
            return Ok(file);
        }
        find_embedded(folder, name, |near, names| {
            let meant = of_config(name).or_else(|| self.of_file(name)).or_else(|| other_kind(name, folder));
            match (meant, near) {
                (Some(hint), _) => hint,
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => format!("embedded: {}", names.join(", ")),
            }
        })
    }
}

/// Returns the hint for the name of something embedded that is of another kind than `wanted`.
fn other_kind(name: &str, wanted: EmbeddedFolder) -> Option<String> {
    let is_in = |folder: EmbeddedFolder| folder != wanted && folder.find(name).is_some();
    if is_in(EmbeddedFolder::Kernels) {
        return Some(format!("`{name}` is a kernel: `warpbound run {name}` simulates it"));
    }
    if is_in(EmbeddedFolder::Configs) {
        return Some(format!("`{name}` is a machine: --machine {name}"));
    }
    if is_in(EmbeddedFolder::Plans) {
        return Some(format!("`{name}` is a plan: `warpbound sweep {name} --out DIR` runs it"));
    }
    if let Some((first, _)) = name.split_once(',')
        && wanted.find(first).is_some()
    {
        let all = name.split(',').all(|part| wanted.find(part).is_some());
        return all.then(|| {
            "one name is expected here; `check`, `compare` and `evidence-pack` take several machines, as A,B".to_owned()
        });
    }
    let policy: PolicyKind = name.parse().ok()?;
    Some(format!("`{policy}` is a policy: --policy {policy}"))
}

/// Returns the hint for the name of a configuration of another simulator.
fn of_config(name: &str) -> Option<String> {
    let import = || format!("`warpbound import-config {name} --out machine.ron` makes a machine of it");
    name.ends_with(".config").then(import)
}

/// Finds an embedded file by its name. `hint` makes the hint of the error; it gets the most similar
/// name, if one is similar, and all names.
fn find_embedded(
    folder: EmbeddedFolder,
    name: &str,
    hint: impl FnOnce(Option<&str>, &[&str]) -> String,
) -> Result<Location, Diagnostics> {
    if let Some(path) = folder.find(name) {
        return Ok(Location::Embedded(folder, path.to_owned()));
    }
    let names: Vec<&str> = folder.list().into_iter().map(|(name, _)| name).collect();
    let hint = hint(closest(name, names.iter().copied()), &names);
    let message = format!("no embedded {} of this name", folder.kind());
    Err(Diagnostic::general(name, message).hint(hint).into())
}

/// Returns the extension of files with such contents, or an empty string if it cannot be
/// determined.
pub fn ending_of(text: &str) -> &'static str {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    // skip comments of PTX, RON and micro kernels
    while let Some(comment) = ["//", "/*", "#"].into_iter().find(|start| rest.starts_with(start)) {
        if rest.starts_with("#!") {
            return "ron";
        }
        let end = if comment == "/*" { "*/" } else { "\n" };
        rest = rest.split_once(end).map_or("", |(_, rest)| rest).trim_start();
    }
    let starts = [
        (".version", "ptx"),
        (".warps", "warp"),
        (".machine", "warp"),
        (".policy", "warp"),
        (".scheduler", "warp"),
        ("Launch", "ron"),
        ("Machine", "ron"),
        ("(", "ron"),
    ];
    starts.into_iter().find(|(start, _)| rest.starts_with(start)).map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_text_is_recognised_by_its_beginning() {
        for (text, ending) in [
            ("// by a compiler\n\n/* and\n#me */\n.version 6.3", "ptx"),
            ("# a worked example\n.machine m\n", "warp"),
            ("\u{feff}  .warps 2", "warp"),
            ("// a launch\nLaunch(module: \"x\")", "ron"),
            ("#![enable(implicit_some)]\nMachine(", "ron"),
            ("block 0\n0 0\n", ""),
            ("// only a comment", ""),
            ("/* never closed", ""),
            ("", ""),
        ] {
            assert_eq!(ending_of(text), ending, "{text}");
        }
    }

    #[test]
    fn misspelt_names_get_a_suggestion() {
        let loader = Loader::disk();
        assert!(loader.find_kernel("vecad").unwrap_err().to_string().contains("did you mean `vecadd`"));
        let machine = loader.find_machine("paper-fig3", None);
        assert!(machine.unwrap_err().to_string().contains("`paper-fig2`"));
        let packed = loader.find_machine("m.ron.gz", None).unwrap();
        assert_eq!(packed.path(), Some(Path::new("m.ron.gz")));
    }
}
