//! The source files from which a compiler made the PTX of a kernel, as far as the PTX states them.

use std::path::{Path, PathBuf};

use super::location::Location;
use warpbound_core::base::Pc;
use warpbound_core::diag::{Diagnostics, SourceText, printable_name, shortened};
use warpbound_front::ptx::Origins;

/// The largest source that is read, in bytes.
const SOURCE_BYTES: u64 = 4 << 20;

/// The extensions of the files that are read. PTX can name any file, and a report that is made from
/// it should not quote a file that is no source.
const ENDINGS: [&str; 13] =
    ["cu", "cuh", "h", "hh", "hpp", "hxx", "inl", "c", "cc", "cpp", "cxx", "cl", "py"];

/// The source files of a kernel, and the line of each instruction.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files, in the order in which the instructions first name them.
    pub files: Vec<SourceFile>,
    /// For each instruction, by program counter, the index of its file and the line, if both are
    /// known.
    pub places: Vec<Option<(usize, u32)>>,
}

/// A source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name in the PTX.
    pub name: String,
    /// The path at which it was found, and its contents.
    pub found: Option<(PathBuf, SourceText)>,
}

/// A line of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePlace<'a> {
    /// The name of the file in the PTX.
    pub file: &'a str,
    /// The line.
    pub line: u32,
    /// The text of the line without the spaces around it, if the file was found.
    pub text: Option<&'a str>,
}

impl SourcePlace<'_> {
    /// Returns the last part of the name of the file.
    pub fn short_name(&self) -> &str {
        last_part(self.file)
    }
}

impl Sources {
    /// Returns the source lines that code states for instructions in these lines of it, with the
    /// files that are found: at the path that the code states, relative to a folder of the inputs
    /// or the working directory, or else in such a folder.
    pub(super) fn of(
        code: &SourceText,
        lines: impl Iterator<Item = u32>,
        location: &Location,
        inputs: &[PathBuf],
    ) -> Self {
        let mut sources = Self::default();
        let origins = Origins::of(code);
        let mut names: Vec<&str> = Vec::new();
        for line in lines {
            sources.places.push(origins.at(line).map(|(name, line)| {
                let known = names.iter().position(|known| *known == name);
                let file = known.unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                });
                (file, line)
            }));
        }
        sources.files = names.into_iter().map(|name| SourceFile::find(name, location, inputs)).collect();
        sources
    }

    /// Returns whether no instruction has a line.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the line from which an instruction was made, if it is known.
    pub fn at(&self, pc: Pc) -> Option<SourcePlace<'_>> {
        let (file, line) = (*self.places.get(pc.index())?)?;
        let file = &self.files[file];
        Some(SourcePlace { file: &file.name, line, text: file.line(line) })
    }

    /// Returns the short names of the files: the last part of each path, or the whole path if two
    /// files have the same last part.
    pub fn labels(&self) -> Vec<String> {
        let count = |wanted: &str| self.files.iter().filter(|file| last_part(&file.name) == wanted).count();
        let label = |name: &str| if count(last_part(name)) > 1 { name } else { last_part(name) }.to_owned();
        self.files.iter().map(|file| label(&file.name)).collect()
    }

    /// Returns the paths of the files that were read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(|file| Some(file.found.as_ref()?.0.as_path()))
    }
}

impl SourceFile {
    /// Finds a file that PTX names.
    fn find(name: &str, location: &Location, inputs: &[PathBuf]) -> Self {
        let found = candidates(name, location, inputs).iter().find_map(read);
        Self { name: printable_name(name).into_owned(), found }
    }

    /// Returns the text of a line without the spaces around it, if the file was found and has the
    /// line.
    fn line(&self, line: u32) -> Option<&str> {
        let (_, source) = self.found.as_ref()?;
        Some(source.line(line).trim()).filter(|text| !text.is_empty())
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// Adds the lines of a file of code to the problems in it, and to their hints the source lines from
/// which a compiler made these, if the file states them.
pub(super) fn with_excerpts(
    problems: Diagnostics,
    code: &SourceText,
    location: &Location,
    inputs: &[PathBuf],
) -> Diagnostics {
    let problems = problems.with_excerpts(code);
    if !problems.list().iter().any(|problem| problem.file == code.name() && problem.line > 0) {
        return problems;
    }
    let origins = Origins::of(code);
    problems.map(|problem| {
        let here = problem.file == code.name();
        let Some((name, line)) = origins.at(problem.line).filter(|_| here && problem.line > 0) else {
            return problem;
        };
        let file = SourceFile::find(name, location, inputs);
        let text = file.line(line).map_or_else(String::new, |text| format!(": {}", shortened(text)));
        let made = format!("line {} was made from {}:{line}{text}", problem.line, file.name);
        let hint = if problem.hint.is_empty() { made } else { format!("{}; {made}", problem.hint) };
        problem.hint(hint)
    })
}

/// Returns the locations at which a source may be, the best one first.
fn candidates(name: &str, location: &Location, inputs: &[PathBuf]) -> Vec<Location> {
    let (Location::File(_, files) | Location::Stdin { files, .. }) = location else {
        return Vec::new();
    };
    let at = |path: PathBuf| Location::File(path, files.clone());
    let mut folders: Vec<&Path> = inputs.iter().filter_map(|input| input.parent()).collect();
    folders.dedup();
    let file_name = Path::new(name).file_name().unwrap_or_default();
    let stated = folders.iter().map(|folder| folder.join(name));
    let here = std::iter::once(PathBuf::from(name));
    let beside = folders.iter().map(|folder| folder.join(file_name));
    stated.chain(here).chain(beside).map(at).collect()
}

/// Reads a file, if it is a source.
fn read(location: &Location) -> Option<(PathBuf, SourceText)> {
    let path = location.path()?;
    let is_source = ENDINGS.contains(&path.extension()?.to_str()?) && location.exists();
    let text = is_source.then(|| location.text_in_any_encoding(SOURCE_BYTES).ok()).flatten()?;
    Some((path.to_owned(), text))
}

#[cfg(test)]
mod tests {
    use super::super::{LaunchOptions, Loader, Memory};
    use super::{SourceFile, Sources};
    use warpbound_core::base::ProgressMonitor;

    const PTX: &str = ".version 6.3\n.target sm_61\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n\
                       .loc 1 2 5\nmov.u32 %r1, %tid.x;\n.loc 2 7 5\nmov.u32 %r2, %r1;\n.loc 1 0 5\nret;\n}\n";

    /// Returns the sources of the kernel with these `.file` lines.
    fn sources(files: &str, memory: Memory) -> Sources {
        let loader = Loader::new(memory.with("in/k.ptx", format!("{PTX}{files}")));
        let options = LaunchOptions { grid: Some([1; 3]), block: Some([32, 1, 1]), ..Default::default() };
        loader.kernel("in/k.ptx", &options, &ProgressMonitor::new()).unwrap().sources()
    }

    /// Returns the paths of the files; empty for one that was not found.
    fn paths(sources: &Sources) -> Vec<String> {
        let path = |file: &SourceFile| file.found.as_ref().map(|(path, _)| path.display().to_string());
        sources.files.iter().map(|file| path(file).unwrap_or_default()).collect()
    }

    #[test]
    fn sources_are_found_beside_the_ptx_and_only_if_they_are_sources() {
        let memory = Memory::new().with("in/k.cu", "a\nb\n").with("in/secret.txt", "key");
        let found = sources(".file 1 \"/elsewhere/k.cu\"\n.file 2 \"secret.txt\"\n", memory);
        assert_eq!(paths(&found), ["in/k.cu", ""]);
        assert_eq!(
            (found.files[0].name.as_str(), found.files[1].name.as_str()),
            ("/elsewhere/k.cu", "secret.txt")
        );
        assert_eq!(found.places, [Some((0, 2)), Some((1, 7)), None]);
    }

    #[test]
    fn a_path_in_the_ptx_comes_before_a_file_of_the_same_name() {
        let memory = Memory::new().with("in/k.cu", "wrong").with("in/src/k.cu", "").with("lib/c.h", "");
        let found = sources(".file 1 \"src/k.cu\"\n.file 2 \"lib/c.h\"\n", memory);
        assert_eq!(paths(&found), ["in/src/k.cu", "lib/c.h"]);
        let none = sources("", Memory::new());
        assert!(none.is_empty() && none.places == [None; 3], "{none:?}");
    }
}
