//! What this machine has: memory and cores. Limits given in instructions or states end in a message and not in an
//! allocation that fails.

use std::fs;
use std::sync::OnceLock;

use crate::base::allow_memory;
pub use crate::base::shown_bytes as shown;

/// Bytes that this process can still have: of the machine, of its control group, of its address space.
/// Nothing where none of that is known.
pub fn available() -> Option<u64> {
    [machine(), control_group(), address_space()].into_iter().flatten().min()
}

/// What `--max-memory` says.
static ASKED: OnceLock<Option<u64>> = OnceLock::new();

/// States of a search take no more unless somebody says how much memory may be used.
const SEARCH: u64 = 1 << 30;

/// Says how many bytes may be used: as many as were asked for, or half of what there is. Whatever takes memory by a
/// number of an input asks for it ([`crate::base::ask_memory`]).
pub fn limit(asked: Option<u64>) {
    // a second start in one process (tests) keeps the first limit
    let _ = ASKED.set(asked);
    allow_memory(budget());
}

/// Bytes that the paths of blocks may take: what was asked for, or half of what there is, since vectors that
/// grow exist twice for a moment.
pub fn budget() -> u64 {
    let half = || available().map_or(u64::MAX, |available| available / 2);
    ASKED.get().copied().flatten().unwrap_or_else(half)
}

/// Bytes that the states of a search may take.
pub fn of_search() -> u64 {
    match ASKED.get().copied().flatten() {
        Some(asked) => asked,
        None => budget().min(SEARCH),
    }
}

/// Warp instructions of a block unless somebody says otherwise.
pub const MAX_INSTRUCTIONS: u64 = 1 << 26;

/// The cores of this machine: how many threads to use where nobody says.
pub fn threads() -> usize {
    // to find out takes files of the control group
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get))
}

/// Of a path that is growing: a step, and where active lanes change often a mask.
const BYTES_PER_INSTRUCTION: u64 = 16;

/// Warp instructions that a block may execute: as many as were asked for, or as there is memory for.
pub fn fuel(asked: u64) -> u64 {
    let fit = budget() / BYTES_PER_INSTRUCTION;
    if asked > fit {
        let room = shown(fit * BYTES_PER_INSTRUCTION);
        let message =
            format!("--max-instructions {asked}: {fit} fit in {room} of memory, and that is the limit");
        // nobody asked for the default
        if asked == MAX_INSTRUCTIONS { tracing::info!("{message}") } else { tracing::warn!("{message}") }
    }
    asked.min(fit)
}

fn number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The value of a line `name: 12 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().find_map(|word| word.parse::<u64>().ok()).map(|kilobytes| kilobytes << 10)
}

fn machine() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// Of the control group that the process sees as its root, as in a container.
fn control_group() -> Option<u64> {
    let two = || Some((number("/sys/fs/cgroup/memory.max")?, number("/sys/fs/cgroup/memory.current")?));
    let one = || {
        let folder = "/sys/fs/cgroup/memory";
        let limit = number(&format!("{folder}/memory.limit_in_bytes"))?;
        Some((limit, number(&format!("{folder}/memory.usage_in_bytes"))?))
    };
    two().or_else(one).map(|(limit, used)| limit.saturating_sub(used))
}

/// `ulimit -v`, less what is taken of it.
fn address_space() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let used = kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "VmSize:")?;
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
