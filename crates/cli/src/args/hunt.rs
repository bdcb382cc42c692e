//! The options of `hunt`.

use std::path::PathBuf;

use super::{Writing, at_least_one};
use crate::format::Format;

#[derive(Debug, clap::Args)]
pub struct Hunt {
    /// The bound to violate
    #[arg(long, value_name = "NAME")]
    pub bound: String,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Machines whose settings are changed at random, names or files separated by commas
    ///
    /// Kernels in PTX run under a policy on these machines, with any switch of the pipeline and of the
    /// memory system changed. Without this option the machines are of the paper model and drawn whole.
    #[arg(long, value_name = "MACHINES", value_delimiter = ',')]
    pub machine: Vec<String>,
    /// Schedules to search: any, identical or policy:NAME (repeatable)
    ///
    /// `identical` is any schedule of warps that all run the same code [default: any; for gub any,
    /// identical and policy:lrr; for srr policy:srr; with --machine policy:gto and policy:lrr]
    #[arg(long, value_name = "WHICH")]
    pub setting: Vec<String>,
    /// Most instances to judge per setting [default: 1000000]
    ///
    /// The default is 20000000 for gub, 20000 for rbb, and 10000 with --machine.
    #[arg(long, value_name = "N")]
    pub instances: Option<u64>,
    /// Warps per instance; for rbb, per block [default: 2]
    ///
    /// At most 8. With --machine, the most warps of a block, at most 32; the default is then 16.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=32))]
    pub warps: Option<u16>,
    /// For rbb: blocks per launch [default: 3]
    ///
    /// With --machine, the most blocks of a launch; the default is then 8.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub blocks: Option<u16>,
    /// For rbb: blocks resident on the SM at a time [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=8))]
    pub resident: Option<u16>,
    /// For rbb: sub-cores of the SM [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4))]
    pub sub_cores: Option<u16>,
    /// Most instructions per warp [default: 6]
    ///
    /// The default for gub is 14, or 12 for identical warps, or 32 under a policy; for rbb it is 4. With
    /// --machine it is 24, for the body of a kernel.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    pub instructions: Option<u16>,
    /// Most functional units [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=16))]
    pub units: Option<u16>,
    /// Threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    /// Write a folder to replay each violation into DIR
    #[arg(long, value_name = "DIR")]
    pub counterexamples: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}
