//! The options of `report`.

use std::path::PathBuf;

use super::Writing;

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
    #[arg(long, alias = "out", value_name = "FILE", group = "written")]
    pub html: Option<PathBuf>,
    /// Write each plot as an SVG file into DIR
    #[arg(long, value_name = "DIR", group = "written")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub writing: Writing,
}
