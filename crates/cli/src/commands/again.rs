//! Command lines that reproduce a result.

use crate::args::{Check, Common, PtxLaunch, Races};
use crate::resources::MAX_INSTRUCTIONS;
use warpbound_sim::PolicySetup;

/// Returns the `check` command that repeats a run with the same inputs and the machine of `common`.
/// For a program, the command repeats only one launch if its index is given.
pub fn check(
    args: &Check,
    common: &Common,
    kernel: &str,
    policy: &PolicySetup,
    launch: Option<u64>,
) -> String {
    let mut words = vec!["warpbound".to_owned(), "check".to_owned()];
    words.extend(subject(kernel, common, &policy.kind().to_string()));
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    if !args.bound.is_empty() {
        option("--bound", args.bound.join(","));
    }
    if common.races == Races::Ignore {
        option("--races", "ignore".to_owned());
    }
    let options = PtxLaunch { launch: launch.or(args.ptx.launch), ..args.ptx.clone() };
    words.extend(options.words());
    shell_line(&words)
}

/// Returns the arguments for a run of a kernel under a policy on the machine of `common`, without
/// those about races and about the launch.
pub fn subject(kernel: &str, common: &Common, policy: &str) -> Vec<String> {
    let Common { machine, mem_latency, set, seed, max_instructions, .. } = common;
    let mut words = vec![kernel.to_owned()];
    let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
    option("--policy", policy.to_owned());
    machine.iter().for_each(|m| option("--machine", m.clone()));
    mem_latency.iter().for_each(|l| option("--mem-latency", l.to_string()));
    set.iter().for_each(|s| option("--set", s.clone()));
    if *seed != 0 {
        option("--seed", seed.to_string());
    }
    if *max_instructions != MAX_INSTRUCTIONS {
        option("--max-instructions", max_instructions.to_string());
    }
    words
}

/// Returns the words as a line that a shell splits into the same words.
pub fn shell_line<'a>(words: impl IntoIterator<Item = &'a String>) -> String {
    words.into_iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a word, quoted for a shell if necessary.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
