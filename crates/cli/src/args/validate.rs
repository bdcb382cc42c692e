//! The options of `validate`.

use std::path::PathBuf;

use clap::Parser;

use super::{Common, PtxLaunch, Writing, at_least_one};
use warpbound_judge::compile::Arch;

#[derive(Debug, clap::Args)]
pub struct Validate {
    /// Table of measured cycles, a .csv file
    ///
    /// scripts/measure-on-card.py writes tables with the columns `gpu`, `kernel`, `launch`, `code`,
    /// `blocks`, `equal` and those of the metrics.
    ///
    /// A table without a column `code` is one of your own. It needs the columns `kernel`, a KERNEL
    /// (files are relative to the table), and that of the metric. A row is compared with the cycles of
    /// all launches together. Columns that may be there: `name` of the row; `gpu`; `options` of the
    /// launch, such as --entry and --block; `less`, the options of a launch of the same kernel whose
    /// cycles are subtracted; and `per`, a number by which the simulated cycles are divided then.
    #[arg(value_name = "TABLE")]
    pub measured: String,
    /// Column of the measured cycles, or warp instructions [default: clock_cycles; cycles in a table
    /// of your own]
    ///
    /// A metric `smsp__inst_executed.sum` counts the instructions that warps executed, and is compared
    /// with those of the simulation. All other metrics count cycles.
    ///
    /// The metric `clock_cycles` is the time from the first to the last instruction of the block
    /// that takes longest. Only launches that the machine can spread over its SMs as the GPU does,
    /// one block on each, are compared with it. On a machine with one SM, only launches of one block
    /// are compared, whatever the metric is.
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
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
    /// Only these kernels of the table, or rows by their names, separated by commas
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

/// The options of a launch in a table.
#[derive(Debug, Parser)]
#[command(name = "launch", no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
pub struct QuotedLaunch {
    #[command(flatten)]
    pub launch: PtxLaunch,
}
