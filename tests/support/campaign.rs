//! The part of a campaign that the default run executes.

#![allow(dead_code, reason = "each test file uses a part")]

/// Returns whether campaigns run in full, which the environment variable `WARPBOUND_LONG` requests.
/// Otherwise a test runs a fixed part of its cases.
pub fn in_full() -> bool {
    std::env::var_os("WARPBOUND_LONG").is_some()
}

/// Returns whether a case belongs to the run: one in `parts` does, or every case if campaigns run
/// in full.
pub fn takes(case: usize, parts: usize) -> bool {
    in_full() || case.is_multiple_of(parts)
}
