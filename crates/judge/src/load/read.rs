//! Reading of regular files, up to a limit, and decompression of gzip and xz files.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use warpbound_core::diag::Diagnostic;

/// The largest PTX file that is read, in bytes.
pub const PTX_BYTES: u64 = 64 << 20;
/// The largest micro kernel, launch or machine file, in bytes.
pub const TEXT_BYTES: u64 = 16 << 20;
/// The largest replay file, in bytes.
pub const SCHEDULE_BYTES: u64 = 256 << 20;
/// The largest file with the contents of a buffer, in bytes.
pub const DATA_BYTES: u64 = 4 << 30;

/// The largest dictionary of an xz file, in KiB; `xz -9` uses one of half this size.
const XZ_MEMORY_KIB: u32 = 128 << 10;

/// The name of standard input in messages.
pub const STDIN: &str = "stdin";

/// Reads the bytes of a regular file of at most `limit` bytes.
///
/// # Errors
/// Returns an error if the file cannot be read, is larger, or is a directory, device or pipe.
pub fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic> {
    let problem = |message: String| Diagnostic::general(path.display().to_string(), message);
    let unreadable = |error: io::Error| unreadable(path, &error);
    // checked before the file is opened, because opening a pipe waits for a writer
    let there = fs::metadata(path).map_err(unreadable)?;
    if there.is_dir() {
        return Err(problem("this is a directory".to_owned()));
    }
    if !there.is_file() {
        return Err(problem("this is a device, pipe or socket, not a regular file".to_owned())
            .hint("a pipe is read from stdin, named `-`"));
    }
    let mut bytes = Vec::new();
    if there.len() <= limit && bytes.try_reserve_exact(there.len() as usize + 1).is_err() {
        return Err(problem(format!("no memory for the {} bytes of this file", there.len())));
    }
    if there.len() <= limit {
        // one byte more than allowed, so that a file that has grown meanwhile is detected
        File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    }
    let size = there.len().max(bytes.len() as u64);
    if size > limit {
        return Err(too_large(path, size, limit));
    }
    Ok(bytes)
}

/// Returns the error for a file that has more bytes than are read.
pub(super) fn too_large(path: &Path, size: u64, limit: u64) -> Diagnostic {
    let message = format!("the file has {size} bytes; at most {limit} are read");
    Diagnostic::general(path.display().to_string(), message)
}

/// Reads the bytes of a text file, decompressed if it is compressed; neither form may be larger
/// than `limit`.
///
/// # Errors
/// Returns the errors of [`bytes`], and an error if the file cannot be decompressed.
pub fn text(path: &Path, limit: u64) -> Result<Vec<u8>, Diagnostic> {
    unpacked(bytes(path, limit)?, limit, &path.display().to_string())
}

/// Opens a regular file of any size as a stream of its bytes as they are.
///
/// # Errors
/// Returns an error if the file cannot be opened, or is a directory, device or pipe.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, Diagnostic> {
    let there = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !there.is_file() {
        let problem = Diagnostic::general(path.display().to_string(), "this is no regular file");
        return Err(problem.hint("a trace is read more than once"));
    }
    Ok(Box::new(File::open(path).map_err(|error| unreadable(path, &error))?))
}

/// Returns the error for a file that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::general(path.display().to_string(), format!("cannot read the file: {error}"))
}

/// Returns a stream that decompresses a gzip or xz file while it is read, with memory that does not
/// depend on the size of the file; other bytes pass unchanged.
///
/// # Errors
/// Returns an error if the first bytes cannot be read. Errors of decompression are errors of the
/// stream.
pub(super) fn unpacking(file: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut file = BufReader::with_capacity(1 << 16, file);
    Ok(match file.fill_buf()? {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            Box::new(lzma_rust2::XzReader::new_mem_limit(file, true, XZ_MEMORY_KIB))
        }
        _ => Box::new(file),
    })
}

/// Decompresses the contents of a gzip or xz file, recognised by its first bytes; returns other
/// bytes unchanged. `name` is the name of the file in messages.
///
/// # Errors
/// Returns an error if the file cannot be decompressed, or has more than `limit` bytes then.
pub fn unpacked(bytes: Vec<u8>, limit: u64, name: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut inside = Vec::new();
    let (kind, result) = match bytes.as_slice() {
        [0x1f, 0x8b, ..] => {
            let mut reader = flate2::read::MultiGzDecoder::new(bytes.as_slice()).take(limit + 1);
            ("gzip", reader.read_to_end(&mut inside))
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            let reader = lzma_rust2::XzReader::new_mem_limit(bytes.as_slice(), true, XZ_MEMORY_KIB);
            ("xz", reader.take(limit + 1).read_to_end(&mut inside))
        }
        _ => return Ok(bytes),
    };
    let problem = |message: String| Err(Diagnostic::general(name, message));
    match result {
        Err(error) => problem(format!("the {kind} file cannot be unpacked: {error}")),
        Ok(_) if inside.len() as u64 > limit => {
            problem(format!("the {kind} file unpacks to more than {limit} bytes; no more are read"))
        }
        Ok(_) => Ok(inside),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_that_unpacks_to_too_much_is_refused_before_it_fills_the_memory() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
        let packed = packed.finish().unwrap();
        assert!(packed.len() < 4096);
        assert_eq!(unpacked(packed.clone(), 1 << 20, "x").unwrap().len(), 1 << 20);
        let refused = unpacked(packed.clone(), (1 << 20) - 1, "x").unwrap_err();
        assert!(refused.message.contains("unpacks to more than 1048575 bytes"), "{refused}");
        let broken = unpacked(packed[..packed.len() / 2].to_vec(), 1 << 20, "x").unwrap_err();
        assert!(broken.message.contains("cannot be unpacked"), "{broken}");
        // two concatenated files decompress to their concatenation
        assert_eq!(unpacked([&packed[..], &packed].concat(), 4 << 20, "x").unwrap().len(), 2 << 20);
        assert_eq!(unpacked(b"plain".to_vec(), 5, "x").unwrap(), b"plain");
    }
}
