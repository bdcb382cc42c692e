//! SHA-256 digests of files, in hexadecimal.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

/// Returns the digest of these bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns the digest of a file of any size, and the number of its bytes.
pub fn of_file(path: &Path) -> io::Result<(String, u64)> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let (mut digest, mut piece, mut bytes) = (Sha256::new(), [0; 1 << 14], 0);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok((hexadecimal(&digest.finalize()), bytes)),
            read => {
                digest.update(&piece[..read]);
                bytes += read as u64;
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::of_bytes;

    #[test]
    fn digests_are_those_of_the_standard() {
        // the examples of FIPS 180-4 for one block and for no bytes
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_bytes(b"abc"), abc);
        let none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of_bytes(b""), none);
    }
}
