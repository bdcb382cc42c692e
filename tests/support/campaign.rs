//! How much of a campaign the default run does.

#![allow(dead_code, reason = "each test file uses a part")]

/// Whether campaigns run in full: where the environment has `WARPBOUND_LONG`. Otherwise a test takes a part of its cases
/// that is the same each time.
pub fn in_full() -> bool {
    std::env::var_os("WARPBOUND_LONG").is_some()
}

/// Whether a case belongs to the run: one in `parts` does, and each does in full.
pub fn takes(case: usize, parts: usize) -> bool {
    in_full() || case.is_multiple_of(parts)
}
