//! Files: those embedded in the binary and those on disk, behind one type.
//!
//! `isa/`, `configs/` and `kernels/` are part of the binary, so that an installed `warpbound` works
//! anywhere. A path given explicitly wins.

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use crate::diag::{Diagnostic, Diagnostics, SourceText, closest};
use crate::isa::IsaTable;

static CONFIGS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/configs");
static KERNELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/kernels");
const PTX_ISA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/isa/ptx.ron"));

/// Inputs larger than this are refused before they fill the memory.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// A file, embedded or on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A path inside `kernels/`.
    Kernel(String),
    /// A path inside `configs/`.
    Config(String),
    /// A path on disk.
    Disk(PathBuf),
}

impl Location {
    /// What messages call the file.
    pub fn shown(&self) -> String {
        match self {
            Self::Kernel(path) => format!("kernels/{path}"),
            Self::Config(path) => format!("configs/{path}"),
            Self::Disk(path) => path.display().to_string(),
        }
    }

    /// The file name without its ending.
    pub fn stem(&self) -> String {
        let path = match self {
            Self::Kernel(path) | Self::Config(path) => Path::new(path),
            Self::Disk(path) => path,
        };
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    }

    /// The ending, without the dot.
    pub fn extension(&self) -> String {
        let path = match self {
            Self::Kernel(path) | Self::Config(path) => Path::new(path),
            Self::Disk(path) => path,
        };
        path.extension().map_or_else(String::new, |ending| ending.to_string_lossy().into_owned())
    }

    /// A file named relative to this one.
    pub fn beside(&self, name: &str) -> Self {
        let join = |path: &str| {
            let parent = Path::new(path).parent().unwrap_or(Path::new(""));
            parent.join(name).to_string_lossy().into_owned()
        };
        match self {
            Self::Kernel(path) => Self::Kernel(join(path)),
            Self::Config(path) => Self::Config(join(path)),
            Self::Disk(path) => Self::Disk(path.parent().unwrap_or(Path::new("")).join(name)),
        }
    }

    /// The file's bytes.
    pub fn bytes(&self) -> Result<Vec<u8>, Diagnostics> {
        let missing = || Diagnostic::general(self.shown(), "no such embedded file");
        match self {
            Self::Kernel(path) => Ok(KERNELS.get_file(path).ok_or_else(missing)?.contents().to_vec()),
            Self::Config(path) => Ok(CONFIGS.get_file(path).ok_or_else(missing)?.contents().to_vec()),
            Self::Disk(path) => read_disk(path),
        }
    }

    /// The file as text. Bytes that are not UTF-8 are an error with their place.
    pub fn text(&self) -> Result<SourceText, Diagnostics> {
        match String::from_utf8(self.bytes()?) {
            // some editors put a byte order mark first; it means nothing here
            Ok(text) => Ok(SourceText::new(self.shown(), text.trim_start_matches('\u{feff}'))),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let readable = String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned();
                let source = SourceText::new(self.shown(), readable);
                let problem = source.error(at..at, format!("the file is not text: byte {at} is not UTF-8"));
                Err(problem.hint("a text file was expected here (.ptx, .warp or .ron)").into())
            }
        }
    }
}

fn read_disk(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    let problem =
        |message: String| Diagnostics::from(Diagnostic::general(path.display().to_string(), message));
    let size = std::fs::metadata(path).map_err(|e| problem(format!("cannot read the file: {e}")))?;
    if size.is_dir() {
        return Err(problem("this is a directory".to_owned()));
    }
    if size.len() > MAX_FILE_BYTES {
        return Err(problem(format!("the file has {} bytes; at most {MAX_FILE_BYTES} are read", size.len())));
    }
    std::fs::read(path).map_err(|e| problem(format!("cannot read the file: {e}")))
}

/// The PTX op class table.
pub fn ptx_isa() -> Result<IsaTable, Diagnostics> {
    IsaTable::parse(&SourceText::new("isa/ptx.ron", PTX_ISA))
}

/// Every embedded kernel: name and location, sorted by name.
pub fn kernels() -> Vec<(String, Location)> {
    let mut found: Vec<(String, Location)> = files(&KERNELS)
        .map(Location::Kernel)
        .filter(|location| matches!(location.extension().as_str(), "ron" | "warp"))
        .map(|location| (location.stem(), location))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Every embedded machine: name and location, sorted by name.
pub fn machines() -> Vec<(String, Location)> {
    let mut found: Vec<(String, Location)> = files(&CONFIGS)
        .map(Location::Config)
        .filter(|location| location.extension() == "ron")
        .map(|location| (location.stem(), location))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn files(dir: &'static Dir<'static>) -> Box<dyn Iterator<Item = String>> {
    let here = dir.files().map(|file| file.path().to_string_lossy().into_owned());
    Box::new(here.chain(dir.dirs().flat_map(files)))
}

/// Finds a kernel by embedded name or path.
pub fn find_kernel(name: &str) -> Result<Location, Diagnostics> {
    let on_disk = Location::Disk(PathBuf::from(name));
    if matches!(on_disk.extension().as_str(), "warp" | "ron" | "ptx" | "cu") || name.contains(['/', '\\']) {
        return Ok(on_disk);
    }
    let known = kernels();
    if let Some((_, location)) = known.iter().find(|(known, _)| known == name) {
        return Ok(location.clone());
    }
    let near = closest(name, known.iter().map(|(name, _)| name.as_str()));
    let hint = near.map_or_else(
        || {
            "`warpbound list` shows the embedded kernels; a file is named with its ending (.warp, .ron, .ptx)"
                .to_owned()
        },
        |near| format!("did you mean `{near}`? `warpbound list` shows them all"),
    );
    Err(Diagnostic::general(name, "no embedded kernel of this name").hint(hint).into())
}

/// Finds a machine by embedded name or path; a path is relative to `beside`, if that is given.
pub fn find_machine(name: &str, beside: Option<&Location>) -> Result<Location, Diagnostics> {
    if name.ends_with(".ron") || name.contains(['/', '\\']) {
        return Ok(beside.map_or_else(|| Location::Disk(PathBuf::from(name)), |file| file.beside(name)));
    }
    let known = machines();
    if let Some((_, location)) = known.iter().find(|(known, _)| known == name) {
        return Ok(location.clone());
    }
    let near = closest(name, known.iter().map(|(name, _)| name.as_str()));
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let hint = near
        .map_or_else(|| format!("embedded: {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
    Err(Diagnostic::general(name, "no embedded machine of this name").hint(hint).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_names_are_unique() {
        for list in [kernels(), machines()] {
            assert!(list.windows(2).all(|pair| pair[0].0 != pair[1].0), "{list:?}");
            assert!(list.len() > 5);
        }
    }

    #[test]
    fn slips_get_a_suggestion() {
        assert!(find_kernel("vecad").unwrap_err().to_string().contains("did you mean `vecadd`"));
        assert!(find_machine("paper-fig3", None).unwrap_err().to_string().contains("`paper-fig2`"));
    }
}
