//! The files of the repository that are embedded in the library, so that it works anywhere.
//!
//! The folders are links to those at the top of the repository, because the published package of a
//! crate contains only what is in its own folder.

use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::isa::{IsaTable, Rule, Space, TypeKind};
use warpbound_core::machine::MachineSpec;
use warpbound_front::accelsim::Opcodes;
use warpbound_front::sass::{self, Encoding, Latencies};

// the lists of the files of each folder, the machines, and the rules of PTX, as the build script
// writes them
include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

const PASCAL: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/pascal.ron"));
const TURING: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/turing.ron"));
const LATENCIES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/latencies.ron"));

/// The encodings of instructions, one for each generation. Their architectures stand here, too, so that
/// only the table that is needed is read.
static GENERATIONS: [Generation; 7] = [
    Generation::new(&[50, 52, 53, 60, 61, 62], ("isa/pascal.ron", PASCAL), false),
    Generation::new(&[75], ("isa/turing.ron", TURING), true),
    Generation::new(&[80], ("isa/turing.ron", TURING), true),
    Generation::new(&[86, 87], ("isa/turing.ron", TURING), true),
    Generation::new(&[89], ("isa/turing.ron", TURING), true),
    Generation::new(&[90], ("isa/turing.ron", TURING), true),
    Generation::new(&[120], ("isa/turing.ron", TURING), true),
];

/// The encoding of a generation, which is read when it is first needed.
struct Generation {
    targets: &'static [u32],
    file: &'static str,
    text: &'static str,
    /// Whether the table of latencies has this generation.
    has_latencies: bool,
    read: OnceLock<Result<Encoding, Diagnostics>>,
}

impl Generation {
    const fn new(
        targets: &'static [u32],
        (file, text): (&'static str, &'static str),
        has_latencies: bool,
    ) -> Self {
        Self { targets, file, text, has_latencies, read: OnceLock::new() }
    }

    fn encoding(&'static self) -> Result<&'static Encoding, Diagnostics> {
        let read = || {
            let mut encoding = Encoding::parse_for(&SourceText::new(self.file, self.text), self.targets[0])?;
            if self.has_latencies {
                encoding.latencies = latencies(self.targets[0])?;
            }
            Ok(encoding)
        };
        self.read.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

/// An embedded file. The files of a folder are sorted by their file names.
struct EmbeddedFile {
    /// The file name.
    name: &'static str,
    /// The path in the folder, with `/` between its parts.
    path: &'static str,
    contents: &'static [u8],
}

/// An embedded folder. Some of its files have a *name* by which users refer to them: the file name
/// without its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddedFolder {
    /// Kernels, launches and programs.
    Kernels,
    /// Machines.
    Configs,
    /// Plans of experiments.
    Plans,
}

impl EmbeddedFolder {
    /// Returns the name of the folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Configs => "configs",
            Self::Plans => "plans",
        }
    }

    /// Returns the kind of its files in messages.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Kernels => "kernel",
            Self::Configs => "machine",
            Self::Plans => "plan",
        }
    }

    /// Returns the extensions of the files that have names.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Kernels => &["ron", "warp"],
            Self::Configs | Self::Plans => &["ron"],
        }
    }

    fn files(self) -> &'static [EmbeddedFile] {
        match self {
            Self::Kernels => KERNELS,
            Self::Configs => CONFIGS,
            Self::Plans => PLANS,
        }
    }

    /// Returns the contents of the file with this path in the folder, if there is one.
    pub fn contents(self, path: &str) -> Option<&'static [u8]> {
        let path = Path::new(path);
        let file =
            with_name(self.files(), path.file_name()?.to_str()?).find(|file| Path::new(file.path) == path)?;
        Some(file.contents)
    }

    /// Returns the path of the file with this name, if there is one.
    pub fn find(self, name: &str) -> Option<&'static str> {
        let with_ending = |ending| with_name(self.files(), &format!("{name}.{ending}")).next();
        Some(self.endings().iter().find_map(with_ending)?.path)
    }

    /// Returns the files in a folder of this folder, which ends with `/`, and in those inside it:
    /// their paths in that folder, sorted, and their contents.
    pub fn below(self, folder: &str) -> Vec<(&'static str, &'static [u8])> {
        let inside = |file: &EmbeddedFile| Some((file.path.strip_prefix(folder)?, file.contents));
        let mut found: Vec<_> = self.files().iter().filter_map(inside).collect();
        found.sort_unstable();
        found
    }

    /// Returns the name and path of every file that has a name, sorted by name.
    pub fn list(self) -> Vec<(&'static str, &'static str)> {
        let named = |file: &EmbeddedFile| {
            let (name, ending) = file.name.rsplit_once('.')?;
            self.endings().contains(&ending).then_some((name, file.path))
        };
        let mut found: Vec<_> = self.files().iter().filter_map(named).collect();
        found.sort_by_key(|(name, _)| *name);
        found
    }
}

/// Returns the files with this file name from the files of a folder.
fn with_name(files: &'static [EmbeddedFile], name: &str) -> impl Iterator<Item = &'static EmbeddedFile> {
    let from = files.partition_point(|file| file.name < name);
    files[from..].iter().take_while(move |file| file.name == name)
}

/// Returns the machine of an embedded file, combined with those that it extends, if there is one with
/// this path.
pub(super) fn machine(path: &str) -> Option<MachineSpec> {
    let file = with_name(MACHINES, Path::new(path).file_name()?.to_str()?).find(|file| file.path == path)?;
    Some(serde_json::from_slice(file.contents).expect("the build script wrote it"))
}

/// Returns the table of op classes of PTX.
pub fn ptx_isa() -> IsaTable {
    IsaTable::prepared(PTX_RULES)
}

/// Returns the latencies of an architecture, if the table has them.
fn latencies(target: u32) -> Result<Option<Latencies>, Diagnostics> {
    Latencies::parse_for(&SourceText::new("isa/latencies.ron", LATENCIES), target)
}

/// Returns the architectures whose machine code can be read, such as 61 for sm_61.
pub fn targets() -> Vec<u32> {
    GENERATIONS.iter().flat_map(|generation| generation.targets).copied().collect()
}

/// Returns the encoding of the instructions in a file of machine code.
///
/// # Errors
/// The file contains no machine code for one of the [`targets`]. An invalid table is a fault of this
/// library.
pub fn encoding_of(name: &str, bytes: &[u8]) -> Result<&'static Encoding, Diagnostics> {
    encoding_for(sass::target_of(name, bytes, &targets())?)
}

/// Returns the encoding of the instructions of an architecture.
///
/// # Errors
/// It is none of the [`targets`]. An invalid table is a fault of this library.
pub fn encoding_for(target: u32) -> Result<&'static Encoding, Diagnostics> {
    let found = GENERATIONS.iter().find(|generation| generation.targets.contains(&target));
    let unknown = || Diagnostic::general(format!("sm_{target}"), "there is no table of encodings for it");
    found.ok_or_else(unknown)?.encoding()
}

/// Returns the opcodes of machine code, as traces name them, for each generation. The tables are
/// constant, and read when they are first needed.
///
/// # Errors
/// Returns an error if a table is invalid, which is a fault of this library.
pub fn opcodes() -> Result<&'static [Opcodes], Diagnostics> {
    static TABLES: LazyLock<Result<Vec<Opcodes>, Diagnostics>> = LazyLock::new(read_opcodes);
    TABLES.as_deref().map_err(Clone::clone)
}

fn read_opcodes() -> Result<Vec<Opcodes>, Diagnostics> {
    let source = |name: &str| {
        let path = format!("{name}.ron");
        let file = with_name(OPCODES, &path).next();
        let text = file.and_then(|file| str::from_utf8(file.contents).ok());
        let place = format!("isa/traces/{path}");
        match text {
            Some(text) => Ok(SourceText::new(place, text)),
            None => Err(Diagnostics::from(Diagnostic::general(place, "there is no such table of opcodes"))),
        }
    };
    ["kepler", "pascal", "volta", "turing", "ampere", "hopper", "blackwell"]
        .iter()
        .map(|name| Opcodes::parse(&source(name)?, &source))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_those_of_the_tables() {
        for generation in &GENERATIONS {
            assert_eq!(generation.encoding().unwrap().targets, generation.targets);
            let known = latencies(generation.targets[0]).unwrap().is_some();
            assert_eq!(known, generation.has_latencies, "{:?}", generation.targets);
        }
        let stated = |text: &str| text.lines().filter(|line| line.contains("targets: [")).count();
        assert_eq!(stated(PASCAL) + stated(TURING), GENERATIONS.len());
    }

    #[test]
    fn embedded_names_are_unique() {
        for list in [EmbeddedFolder::Kernels.list(), EmbeddedFolder::Configs.list()] {
            assert!(list.windows(2).all(|pair| pair[0].0 != pair[1].0), "{list:?}");
            assert!(list.len() > 5);
        }
    }
}
