//! Expansion of compressed members of fat binaries.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

/// The maximum size in bytes of an expanded member.
pub(super) const MAX_EXPANDED: u64 = 256 << 20;
/// The maximum number of bytes that LZ4 makes of one byte.
const LZ4_RATIO: u64 = 255;

/// How a member is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// One block of LZ4, as CUDA writes it up to version 12 and in the mode `speed` of later ones.
    Lz4,
    /// A frame of Zstandard.
    Zstd,
}

impl Method {
    /// Returns the method by the flags of a member.
    pub(super) fn of(flags: u64) -> Option<Self> {
        match (flags & 0x2000 != 0, flags & 0x8000 != 0) {
            (true, false) => Some(Self::Lz4),
            (false, true) => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Returns the content of a compressed member, which has `size` bytes.
///
/// # Errors
/// The member is damaged, has another size, or is larger than [`MAX_EXPANDED`].
pub(super) fn expand(packed: &[u8], method: Method, size: u64) -> Result<Vec<u8>, String> {
    if size > MAX_EXPANDED {
        return Err(format!("{size} bytes after expansion, at most {MAX_EXPANDED} are supported"));
    }
    match method {
        Method::Lz4 if size > packed.len() as u64 * LZ4_RATIO => {
            Err(format!("{} bytes of LZ4 cannot expand to {size} bytes", packed.len()))
        }
        Method::Lz4 => {
            let mut out = vec![0; size as usize];
            let count = lz4_flex::block::decompress_into(packed, &mut out)
                .map_err(|error| format!("damaged LZ4 data: {error}"))?;
            of_size(out, count as u64, size)
        }
        Method::Zstd => {
            let wrong = |error: &dyn std::fmt::Display| format!("damaged Zstandard data: {error}");
            let decoder = StreamingDecoder::new(packed).map_err(|error| wrong(&error))?;
            let mut out = Vec::new();
            // one byte more shows that there are too many
            let count = decoder.take(size + 1).read_to_end(&mut out).map_err(|error| wrong(&error))?;
            of_size(out, count as u64, size)
        }
    }
}

/// Returns the bytes if there are as many as the file says.
fn of_size(out: Vec<u8>, count: u64, size: u64) -> Result<Vec<u8>, String> {
    if count == size {
        Ok(out)
    } else {
        let more = if count > size { "more" } else { "fewer" };
        Err(format!("{more} bytes after expansion than the {size} that the file states"))
    }
}
