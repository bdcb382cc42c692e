//! The options of `report`.

use std::path::PathBuf;

use super::Writing;
use super::run::page;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("written").required(true).multiple(true))]
pub struct Report {
    /// Folders of `sweep` or `merge`, results.jsonl files, or JSON output
    ///
    /// The JSON output is that of `check`, `static`, `wcet` or `run --explain` with `--format
    /// json`.
    #[arg(required = true, value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Write a page with a summary, plots and tables to FILE
    ///
    /// It opens in any browser and needs no other file and no network.
    #[arg(long, value_name = "FILE", group = "written", value_parser = page)]
    pub html: Option<PathBuf>,
    /// Draw one plot, such as 'cycles ~ mem_latency | policy', into the file of --out
    ///
    /// The form is Y ~ X | LINES / PANELS: Y over X, with a line for each value of LINES and a panel
    /// for each value of PANELS. The last two parts may be left out. Y is `cycles`, `ipc`, `slowdown`
    /// (cycles over those of the fastest line at the same point, or of the fastest policy without
    /// lines and with a line for each kernel), `overestimation` (of the smallest proved bound), or any
    /// column with numbers, such as `lwb` or `idle_scoreboard`. The others are any columns. Where several points are at one place, their mean is drawn; over names, such as
    /// kernels, there are bars instead of lines. `log(X)` and `log(Y)` make an axis logarithmic.
    /// 'box(Y) ~ X' shows the spread of the points as boxes, and 'ecdf(Y) | LINES' their cumulative
    /// distribution.
    #[arg(long, value_name = "FORMULA", requires = "out")]
    pub plot: Option<String>,
    /// File for --plot, whose name ends in .svg or .pdf
    ///
    /// Without --plot it is the same as --html.
    #[arg(long, value_name = "FILE", group = "written")]
    pub out: Option<PathBuf>,
    /// Write each plot as an SVG file into DIR
    #[arg(long, value_name = "DIR", group = "written")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
}
