//! The memory and the cores of this machine. Limits that are given in instructions or states are
//! checked against the memory, so that a command ends with a message rather than a failed
//! allocation.

use std::fs::File;
use std::io::Read;
use std::sync::{Mutex, OnceLock, PoisonError};

use warpbound_core::base::allow_memory;
pub use warpbound_core::base::shown_bytes as shown;

/// Returns the number of bytes that this process can still allocate: the minimum over the machine,
/// its control group and its address space. Returns `None` if none of these is known.
pub fn available() -> Option<u64> {
    [machine(), control_group(), address_space()].into_iter().flatten().min()
}

/// Returns the memory that this process has in use, in MiB, where the system tells.
pub fn resident_mib() -> Option<u64> {
    Some(kilobytes(&text("/proc/self/status")?, "VmRSS:")? >> 20)
}

/// The memory that may be used, and whether `--max-memory` states it. A command begins with
/// [`limit`]; where a process runs several commands at a time, the last one to begin decides.
static LIMIT: Mutex<Limit> = Mutex::new(Limit { bytes: u64::MAX, requested: false });

#[derive(Clone, Copy)]
struct Limit {
    bytes: u64,
    requested: bool,
}

/// The memory for the states of a search without `--max-memory`, in bytes.
const SEARCH: u64 = 1 << 30;

/// Sets the memory that may be used, in bytes: the requested amount, or half of what is available,
/// because a growing vector exists twice while it is copied. Code that allocates an amount that an
/// input states requests this memory first ([`warpbound_core::base::ask_memory`]).
pub fn limit(requested: Option<u64>) {
    let bytes = requested.unwrap_or_else(|| available().map_or(u64::MAX, |available| available / 2));
    *LIMIT.lock().unwrap_or_else(PoisonError::into_inner) = Limit { bytes, requested: requested.is_some() };
    allow_memory(bytes);
}

fn limit_now() -> Limit {
    *LIMIT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the memory for the paths of blocks, in bytes.
pub fn budget() -> u64 {
    limit_now().bytes
}

/// Returns the memory for the states of a search, in bytes.
pub fn of_search() -> u64 {
    match limit_now() {
        Limit { bytes, requested: true } => bytes,
        Limit { bytes, requested: false } => bytes.min(SEARCH),
    }
}

/// The default limit of warp instructions per block.
pub const MAX_INSTRUCTIONS: u64 = 1 << 26;

/// Returns the number of cores, which is the default number of threads.
pub fn threads() -> usize {
    // cached, because the query reads files of the control group
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// The memory of one instruction of a growing path: a step, and if the active lanes change often, a
/// mask.
const BYTES_PER_INSTRUCTION: u64 = 16;

/// Returns the limit of warp instructions per block: the requested number, or fewer if memory is
/// short.
pub fn fuel(requested: u64) -> u64 {
    let fit = budget() / BYTES_PER_INSTRUCTION;
    if requested > fit {
        let size = shown(fit * BYTES_PER_INSTRUCTION);
        let message =
            format!("--max-instructions {requested}: {fit} fit in {size} of memory, and that is the limit");
        // the default was not requested explicitly, so its reduction is no warning
        if requested == MAX_INSTRUCTIONS { tracing::info!("{message}") } else { tracing::warn!("{message}") }
    }
    requested.min(fit)
}

/// Reads a file of the system. Such a file states no size, and [`std::fs::read_to_string`] would read it
/// in many small pieces.
fn text(path: &str) -> Option<String> {
    let mut text = String::with_capacity(1 << 12);
    File::open(path).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

fn number(path: &str) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

/// Returns the value of a line `name: 12 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().find_map(|word| word.parse::<u64>().ok()).map(|kilobytes| kilobytes << 10)
}

fn machine() -> Option<u64> {
    kilobytes(&text("/proc/meminfo")?, "MemAvailable:")
}

/// Returns the free memory of the control group that the process sees as its root, as in a
/// container.
fn control_group() -> Option<u64> {
    let two = || Some((number("/sys/fs/cgroup/memory.max")?, number("/sys/fs/cgroup/memory.current")?));
    let one = || {
        let folder = "/sys/fs/cgroup/memory";
        let limit = number(&format!("{folder}/memory.limit_in_bytes"))?;
        Some((limit, number(&format!("{folder}/memory.usage_in_bytes"))?))
    };
    two().or_else(one).map(|(limit, used)| limit.saturating_sub(used))
}

/// Returns the limit of `ulimit -v` minus the address space in use.
fn address_space() -> Option<u64> {
    let limits = text("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = kilobytes(&text("/proc/self/status")?, "VmSize:")?;
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_are_read() {
        assert_eq!(kilobytes("A: 1 kB\nMemAvailable:   12 kB\n", "MemAvailable:"), Some(12 << 10));
        assert_eq!(kilobytes("A: 1 kB\n", "MemAvailable:"), None);
    }
}
