//! The options of `explore`.

use std::path::PathBuf;

use super::{OneKernel, Writing, at_least_one};

#[derive(Debug, clap::Args)]
pub struct Explore {
    /// Index of the block to explore, from 0
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub of_block: u32,
    /// Most states to visit
    ///
    /// A state takes 50 to 150 bytes, or some hundred bytes with a pipeline. The search also ends, with a note, when the states take more
    /// memory than --max-memory allows; without that option, more than 1 GiB.
    #[arg(long, default_value_t = 20_000_000, value_name = "N")]
    pub max_states: u64,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// Explore latencies of a unit under one policy, e.g. gmem=4..=21 (repeatable)
    ///
    /// Every latency in the interval is tried, instead of every schedule.
    #[arg(long, value_name = "UNIT=FROM..=TO")]
    pub vary: Vec<String>,
    /// Write a worst schedule to FILE, for --policy replay:FILE
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub worst_schedule: Option<PathBuf>,
    /// Write a best schedule to FILE, for --policy replay:FILE
    #[arg(long, value_name = "FILE", conflicts_with = "vary")]
    pub best_schedule: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub on: OneKernel,
}
