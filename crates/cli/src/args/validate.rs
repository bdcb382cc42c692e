//! The options of `validate`.

use std::path::PathBuf;

use super::{Common, Writing, at_least_one};
use warpbound_judge::compile::Arch;

#[derive(Debug, clap::Args)]
pub struct Validate {
    /// Table of measured cycles, a .csv file
    ///
    /// The columns `gpu`, `kernel`, `launch`, `code`, `blocks` and `equal` are needed, and that of
    /// the metric; scripts/measure-on-card.py writes such tables.
    #[arg(value_name = "TABLE")]
    pub measured: String,
    /// Column of the measured cycles, or warp instructions
    ///
    /// A metric `smsp__inst_executed.sum` counts the instructions that warps executed, and is compared
    /// with those of the simulation. All other metrics count cycles.
    ///
    /// The metric `clock_cycles` is the time from the first to the last instruction of the block
    /// that takes longest. Only launches that the machine can spread over its SMs as the GPU does,
    /// one block on each, are compared with it. On a machine with one SM, only launches of one block
    /// are compared, whatever the metric is.
    #[arg(long, default_value = "clock_cycles", value_name = "NAME")]
    pub metric: String,
    /// Only the rows of this GPU, if the table has several
    #[arg(long, value_name = "NAME")]
    pub gpu: Option<String>,
    /// Simulate machine code for this architecture, which ptxas makes from the PTX of the kernels
    ///
    /// ARCH is sm_ and a number, for example sm_90. Without this option, PTX is simulated.
    #[arg(long, value_name = "ARCH")]
    pub machine_code: Option<Arch>,
    /// The program ptxas, by its path or name [default: ptxas in PATH or in a CUDA toolkit]
    #[arg(long, value_name = "PROGRAM", requires = "machine_code")]
    pub ptxas: Option<PathBuf>,
    /// Only these kernels of the table, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub kernels: Vec<String>,
    /// Plot of simulated against measured cycles, a .svg or .pdf file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
    /// Threads for several kernels; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub jobs: Option<usize>,
    #[command(flatten)]
    pub common: Common,
}
