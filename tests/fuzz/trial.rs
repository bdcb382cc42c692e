//! The trial of one input.

use std::fmt;
use std::path::PathBuf;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpbound::base::allow_memory;

use crate::formats::{Format, Taken};
use crate::guard::{guarded, keep_messages_of_panics, panic_message};
use crate::mutate::mutant;
use crate::shipped::root;

/// The number of bytes that the library may allocate if an input determines the amount.
const ALLOWED: u64 = 256 << 20;
/// The largest growth of the process in a trial: the allowed memory, for several concurrent trials,
/// and the same amount again.
const MAX_GROWTH: u64 = 3 << 30;
/// The stack size of a trial: that of the threads that commands start.
const STACK: usize = 2 << 20;

/// The results of several inputs.
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

    /// Returns the counts in a form for programs.
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

/// Returns the files of `tests/data/fuzz` in this format, with their names.
pub fn corpus(format: &Format) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("tests/data/fuzz").join(format.name);
    let Ok(files) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |file: PathBuf| (file.display().to_string(), std::fs::read(&file).unwrap());
    files.into_iter().map(read).collect()
}

/// Returns the input with this number.
pub fn input_of(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    mutant(&mut ChaCha8Rng::seed_from_u64(number), seeds)
}

/// Stores an input that failed.
pub fn kept(format: &str, number: u64, input: &[u8]) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{format}-{number}"));
    std::fs::write(&file, input).unwrap();
    file
}

/// Tries an input on a separate thread.
///
/// # Errors
/// Returns a description of what is wrong with the result.
pub fn try_input(format: &Format, input: &[u8]) -> Result<Taken, String> {
    keep_messages_of_panics();
    allow_memory(ALLOWED);
    let before = forget_peak();
    let taken = std::thread::scope(|scope| {
        let take = || guarded(format.name, |monitor| (format.take)(input, monitor));
        let thread = std::thread::Builder::new().name(format!("trial of {}", format.name)).stack_size(STACK);
        let thread = thread.spawn_scoped(scope, take).expect("a thread can be started");
        let id = thread.thread().id();
        thread.join().map_err(|_| panic_message(id))
    });
    let grown = peak().saturating_sub(before);
    if grown > MAX_GROWTH {
        return Err(format!("takes {} MiB of memory", grown >> 20));
    }
    taken
}

/// Restarts the measurement of the peak memory, and returns the current value in bytes.
fn forget_peak() -> u64 {
    // if it cannot be reset, the peak so far counts
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    peak()
}

/// Returns the peak memory of the process so far, in bytes; 0 if the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) << 10
}
