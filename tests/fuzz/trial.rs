//! One input, tried.

use std::fmt;
use std::path::PathBuf;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpbound::base::allow_memory;

use crate::formats::{Format, Taken};
use crate::guard::{guarded, keep_messages_of_panics, said};
use crate::mutate::mutant;
use crate::shipped::root;

/// What the library may take where an input says how much, bytes.
const ALLOWED: u64 = 256 << 20;
/// So much larger may the process be after a trial: what it may take, for several trials side by side, and as much again.
const MOST_GROWTH: u64 = 3 << 30;
/// The stack of a trial: that of the threads that commands start.
const STACK: usize = 2 << 20;

/// What became of several inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub inputs: u64,
    pub accepted: u64,
    pub refused: u64,
    pub failed: u64,
}

impl Tally {
    pub fn count(&mut self, taken: Result<Taken, String>) -> Result<Taken, String> {
        self.inputs += 1;
        match taken {
            Ok(Taken::Accepted) => self.accepted += 1,
            Ok(Taken::Refused) => self.refused += 1,
            Err(_) => self.failed += 1,
        }
        taken
    }

    /// For programs.
    pub fn numbers(&self) -> String {
        let Self { inputs, accepted, refused, failed } = self;
        format!("{inputs} {accepted} {refused} {failed}")
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { inputs, accepted, refused, failed } = self;
        write!(f, "{inputs} inputs, {accepted} accepted, {refused} refused, {failed} failed")
    }
}

/// The files of `tests/data/fuzz` that are of this format, with their names.
pub fn corpus(format: &Format) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("tests/data/fuzz").join(format.name);
    let Ok(files) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |file: PathBuf| (file.display().to_string(), std::fs::read(&file).unwrap());
    files.into_iter().map(read).collect()
}

/// The input of a number.
pub fn input_of(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    mutant(&mut ChaCha8Rng::seed_from_u64(number), seeds)
}

/// Keeps an input that failed.
pub fn kept(format: &str, number: u64, input: &[u8]) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{format}-{number}"));
    std::fs::write(&file, input).unwrap();
    file
}

/// Tries an input on a thread of its own.
///
/// # Errors
/// What is wrong with what came of it.
pub fn try_input(format: &Format, input: &[u8]) -> Result<Taken, String> {
    keep_messages_of_panics();
    allow_memory(ALLOWED);
    let before = forget_peak();
    let taken = std::thread::scope(|scope| {
        let take = || guarded(format.name, |watch| (format.take)(input, watch));
        let thread = std::thread::Builder::new().name(format!("trial of {}", format.name)).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, take).expect("a thread can be started");
        let id = thread.thread().id();
        thread.join().map_err(|_| said(id))
    });
    let grown = peak().saturating_sub(before);
    if grown > MOST_GROWTH {
        return Err(format!("takes {} MiB of memory", grown >> 20));
    }
    taken
}

/// Begins to look for the most memory anew: what the process has now, bytes.
fn forget_peak() -> u64 {
    // where it cannot be forgotten the most so far counts
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    peak()
}

/// The largest amount of memory that the process has had so far, in bytes; 0 where the system does not say it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) << 10
}
