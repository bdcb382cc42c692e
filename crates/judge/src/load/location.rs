//! The location of a file: embedded, of the caller, or standard input.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::embedded::EmbeddedFolder;
use super::files::Files;
use super::read;
use warpbound_core::base::Fnv1a;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, printable_name};

/// The location of a file, from which it can be read.
#[derive(Clone, Debug)]
pub enum Location {
    /// A path inside one of the embedded folders.
    Embedded(EmbeddedFolder, String),
    /// A path, and the files that it belongs to.
    File(PathBuf, Arc<dyn Files>),
    /// The contents of standard input.
    Stdin {
        /// The bytes that were read.
        bytes: Arc<[u8]>,
        /// The extension that a file with such contents has.
        ending: &'static str,
        /// The files that names in these contents refer to.
        files: Arc<dyn Files>,
    },
}

/// The extensions of compressed files; the extension before them states the kind of the contents.
const PACKED: [&str; 2] = ["gz", "xz"];

impl Location {
    /// Returns the name of the file in messages.
    pub fn shown(&self) -> String {
        match self {
            Self::Embedded(folder, path) => format!("{}/{path}", folder.name()),
            Self::File(path, _) => printable_name(&path.display().to_string()).into_owned(),
            Self::Stdin { .. } => read::STDIN.to_owned(),
        }
    }

    /// Returns the path, if this is one of the caller's files.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path, _) => Some(path),
            _ => None,
        }
    }

    /// Returns whether the file exists.
    pub fn exists(&self) -> bool {
        match self {
            Self::Embedded(folder, path) => folder.contents(path).is_some(),
            Self::File(path, files) => files.exists(path),
            Self::Stdin { .. } => true,
        }
    }

    /// Returns the file name without the extension of compressed files.
    fn unpacked(&self) -> PathBuf {
        let path = match self {
            Self::Embedded(_, path) => Path::new(path),
            Self::File(path, _) => path,
            Self::Stdin { ending, .. } => return Path::new(read::STDIN).with_extension(ending),
        };
        let packed = path.extension().is_some_and(|ending| PACKED.iter().any(|packed| ending == *packed));
        if packed { path.with_extension("") } else { path.to_owned() }
    }

    /// Returns the file name without its extension.
    pub fn stem(&self) -> String {
        let name = |stem: &std::ffi::OsStr| printable_name(&stem.to_string_lossy()).into_owned();
        self.unpacked().file_stem().map_or_else(String::new, name)
    }

    /// Returns the extension without the dot; for a compressed file, that of its contents.
    pub fn extension(&self) -> String {
        self.unpacked().extension().map_or_else(String::new, |ending| ending.to_string_lossy().into_owned())
    }

    /// Returns the location of a file that is named relative to this one.
    pub fn beside(&self, name: &str) -> Self {
        let parent = |path: &Path| path.parent().unwrap_or(Path::new("")).join(name);
        match self {
            Self::Embedded(folder, path) => {
                Self::Embedded(*folder, parent(Path::new(path)).to_string_lossy().into_owned())
            }
            Self::File(path, files) => Self::File(parent(path), Arc::clone(files)),
            Self::Stdin { files, .. } => Self::File(PathBuf::from(name), Arc::clone(files)),
        }
    }

    /// Returns everything in the folder of this file, if it is one of the caller's files.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn siblings(&self) -> Result<Vec<Self>, Diagnostic> {
        let Self::File(path, files) = self else { return Ok(Vec::new()) };
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let found = files.folder(folder)?.into_iter();
        Ok(found.map(|path| Self::File(path, Arc::clone(files))).collect())
    }

    /// Reads the bytes of the file as they are.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has more than `limit` bytes.
    pub fn bytes(&self, limit: u64) -> Result<Vec<u8>, Diagnostic> {
        match self {
            Self::Embedded(folder, path) => folder
                .contents(path)
                .map(<[u8]>::to_vec)
                .ok_or_else(|| Diagnostic::general(self.shown(), "no such embedded file")),
            Self::File(path, files) => files.bytes(path, limit),
            Self::Stdin { bytes, .. } => Ok(bytes.to_vec()),
        }
    }

    /// Reads the file as text: PTX, a micro kernel, a launch or a machine.
    ///
    /// # Errors
    /// Returns the errors of [`Self::text_up_to`], with the limit for files with this extension.
    pub fn text(&self) -> Result<SourceText, Diagnostics> {
        self.text_up_to(if self.extension() == "ptx" { read::PTX_BYTES } else { read::TEXT_BYTES })
    }

    /// Reads the file as text of at most `limit` bytes, decompressed if it is compressed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is larger, or is not UTF-8. For invalid UTF-8,
    /// the error names its position.
    pub fn text_up_to(&self, limit: u64) -> Result<SourceText, Diagnostics> {
        match String::from_utf8(self.unpacked_bytes(limit)?) {
            // some editors put a byte order mark first, which has no meaning here
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

    /// Like [`Self::text_up_to`], for files in any encoding, of which only ASCII matters: what is not
    /// UTF-8 is replaced.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is larger.
    pub fn text_in_any_encoding(&self, limit: u64) -> Result<SourceText, Diagnostics> {
        let bytes = self.unpacked_bytes(limit)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(SourceText::new(self.shown(), text.trim_start_matches('\u{feff}')))
    }

    fn unpacked_bytes(&self, limit: u64) -> Result<Vec<u8>, Diagnostics> {
        match self {
            Self::File(path, _) => {
                Ok(read::unpacked(self.bytes(limit)?, limit, &path.display().to_string())?)
            }
            _ => Ok(self.bytes(limit)?),
        }
    }

    /// Opens one of the caller's files as a stream that is decompressed while it is read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, or is not one of the caller's files.
    pub fn stream(&self) -> Result<Box<dyn Read + Send>, Diagnostic> {
        let Self::File(path, files) = self else {
            let message = "a trace is read more than once, so it must come from a file";
            return Err(Diagnostic::general(self.shown(), message));
        };
        read::unpacking(files.open(path)?).map_err(|error| read::unreadable(path, &error))
    }

    /// Returns the digests of other files of the same caller, which may have any size, each with
    /// its path.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn digests(&self, paths: &[PathBuf]) -> Result<Vec<(String, u64)>, Diagnostic> {
        let (Self::File(_, files) | Self::Stdin { files, .. }) = self else { return Ok(Vec::new()) };
        let digest = |path: &PathBuf| {
            let mut file = BufReader::with_capacity(1 << 16, files.open(path)?);
            let mut digest = Fnv1a::default();
            loop {
                let piece = file.fill_buf().map_err(|error| read::unreadable(path, &error))?;
                if piece.is_empty() {
                    return Ok((path.display().to_string(), digest.finish()));
                }
                digest.write(piece);
                let read = piece.len();
                file.consume(read);
            }
        };
        paths.iter().map(digest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::Disk;
    use super::*;

    #[test]
    fn the_kind_of_a_packed_file_is_that_of_its_contents() {
        let at = |path: &str| Location::File(PathBuf::from(path), Arc::new(Disk));
        assert_eq!((at("a/k.ptx.gz").extension().as_str(), at("a/k.ptx.gz").stem().as_str()), ("ptx", "k"));
        assert_eq!((at("k.warp.xz").extension().as_str(), at("k.warp").stem().as_str()), ("warp", "k"));
    }
}
