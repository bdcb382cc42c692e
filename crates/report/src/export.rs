//! The report of traces that were written for other tools.

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;

/// The traces of a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExportResult {
    /// The path of the folder.
    pub out: String,
    /// The path of the list of kernels, which `check` accepts.
    pub list: String,
    /// The number of traces.
    pub kernels: u64,
    /// The number of warp instructions of all traces.
    pub warp_instructions: u64,
    /// The files that were written.
    pub files: Vec<WrittenFile>,
    /// The list of kernels as a word of a shell.
    #[serde(skip)]
    pub word: String,
}

/// A file that was written.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WrittenFile {
    /// The name in the folder.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
}

impl ExportResult {
    /// Returns the report as text.
    pub fn text(&self) -> String {
        let Self { word, kernels, warp_instructions, .. } = self;
        format!(
            "wrote {word}: {kernels} kernel{}, {warp_instructions} warp instructions; to simulate it:\n  warpbound check {word}\n",
            if *kernels == 1 { "" } else { "s" }
        )
    }
}

impl Report for Output<ExportResult> {
    fn text(&self, _: Style) -> String {
        self.results.iter().map(ExportResult::text).collect()
    }
}
