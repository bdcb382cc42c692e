//! The files of the repository that are embedded in the library, so that it works anywhere.
//!
//! The folders are links to those at the top of the repository, because the published package of a
//! crate contains only what is in its own folder.

use std::path::Path;
use std::sync::LazyLock;

use include_dir::{Dir, File, include_dir};

use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::isa::IsaTable;
use warpbound_front::accelsim::Opcodes;
use warpbound_front::sass::Encoding;

static CONFIGS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/configs");
static KERNELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/kernels");
static PLANS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/plans");
static OPCODES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/isa/traces");
const PTX_ISA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/ptx.ron"));
/// The encoding of Maxwell and Pascal instructions.
const PASCAL: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/pascal.ron"));

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

    fn dir(self) -> &'static Dir<'static> {
        match self {
            Self::Kernels => &KERNELS,
            Self::Configs => &CONFIGS,
            Self::Plans => &PLANS,
        }
    }

    /// Returns the contents of the file with this path in the folder, if there is one.
    pub fn contents(self, path: &str) -> Option<&'static [u8]> {
        // comparing text is several times as fast as comparing the components of paths
        let exact = files(self.dir()).find(|file| text(file.path()) == path);
        exact.or_else(|| self.dir().get_file(path)).map(File::contents)
    }

    /// Returns the name and path of each file that has a name.
    fn named(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        files(self.dir()).filter_map(move |file| {
            let path = text(file.path());
            let (name, ending) = path.rsplit(['/', '\\']).next()?.rsplit_once('.')?;
            self.endings().contains(&ending).then_some((name, path))
        })
    }

    /// Returns the path of the file with this name, if there is one.
    pub fn find(self, name: &str) -> Option<String> {
        self.named().find(|(found, _)| *found == name).map(|(_, path)| path.to_owned())
    }

    /// Returns the name and path of every file that has a name, sorted by name.
    pub fn list(self) -> Vec<(String, String)> {
        let owned = |(name, path): (&str, &str)| (name.to_owned(), path.to_owned());
        let mut found: Vec<(String, String)> = self.named().map(owned).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }
}

/// Returns the files of a folder and of the folders in it.
fn files(dir: &'static Dir<'static>) -> Box<dyn Iterator<Item = &'static File<'static>>> {
    Box::new(dir.files().chain(dir.dirs().flat_map(files)))
}

/// Returns the path of an embedded file as text.
fn text(path: &'static Path) -> &'static str {
    path.to_str().expect("names of embedded files are UTF-8")
}

/// Returns the table of op classes of PTX.
///
/// # Errors
/// Returns an error if the table is invalid, which is a fault of this library.
pub fn ptx_isa() -> Result<IsaTable, Diagnostics> {
    IsaTable::parse(&SourceText::new("isa/ptx.ron", PTX_ISA))
}

/// Returns the table of instruction encodings.
///
/// # Errors
/// Returns an error if the table is invalid, which is a fault of this library.
pub fn encoding() -> Result<Encoding, Diagnostics> {
    Encoding::parse(&SourceText::new("isa/pascal.ron", PASCAL))
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
        let text = OPCODES.get_file(&path).and_then(|file| file.contents_utf8());
        let place = format!("isa/traces/{path}");
        match text {
            Some(text) => Ok(SourceText::new(place, text)),
            None => Err(Diagnostics::from(Diagnostic::general(place, "there is no such table of opcodes"))),
        }
    };
    ["kepler", "pascal", "volta", "turing", "ampere"]
        .iter()
        .map(|name| Opcodes::parse(&source(name)?, &source))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_names_are_unique() {
        for list in [EmbeddedFolder::Kernels.list(), EmbeddedFolder::Configs.list()] {
            assert!(list.windows(2).all(|pair| pair[0].0 != pair[1].0), "{list:?}");
            assert!(list.len() > 5);
        }
    }
}
