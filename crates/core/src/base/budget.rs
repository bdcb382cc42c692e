//! A limit on memory. Code whose use of memory depends on the input must check the limit before it
//! allocates.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of bytes that may be allocated. It is global because memory belongs to the
/// process; it only determines whether an input is rejected.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);

/// The error that an input needs more memory than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch {
    wanted: u64,
    most: u64,
}

/// Sets the limit in bytes for all later checks.
pub fn allow_memory(bytes: u64) {
    MOST.store(bytes, Ordering::Relaxed);
}

/// Checks the limit before an allocation; `wanted` is the number of bytes that an input needs at
/// the same time.
///
/// # Errors
/// The limit is exceeded.
pub fn ask_memory(wanted: u64) -> Result<(), TooMuch> {
    let most = MOST.load(Ordering::Relaxed);
    if wanted > most { Err(TooMuch { wanted, most }) } else { Ok(()) }
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wanted, most } = self;
        write!(f, "takes {} of memory, and {} may be used", shown_bytes(*wanted), shown_bytes(*most))
    }
}

/// Formats a number of bytes with a unit.
pub fn shown_bytes(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    let places = usize::from(value < 10.0 && unit != "B");
    format!("{value:.places$} {unit}")
}

/// Copies bytes such that pages of zeros are not backed by memory.
pub fn sparse_copy(bytes: &[u8]) -> Vec<u8> {
    const PAGE: usize = 4096;
    const ZEROS: &[u8] = &[0; PAGE];
    let mut copy = vec![0; bytes.len()];
    for (from, to) in bytes.chunks(PAGE).zip(copy.chunks_mut(PAGE)) {
        // comparing whole pages avoids a loop over bytes
        if from != &ZEROS[..from.len()] {
            to.copy_from_slice(from);
        }
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_the_unit_that_fits() {
        assert_eq!(
            [shown_bytes(0), shown_bytes(1023), shown_bytes(1024), shown_bytes(3 << 30)],
            ["0 B", "1023 B", "1.0 KiB", "3.0 GiB"]
        );
    }

    #[test]
    fn a_sparse_copy_is_a_copy() {
        for length in [0, 1, 4095, 4096, 4097, 20_000] {
            let mut bytes = vec![0; length];
            bytes.iter_mut().step_by(9001).for_each(|byte| *byte = 7);
            assert_eq!(sparse_copy(&bytes), bytes);
        }
    }
}
