//! The options of `run`.

use std::path::PathBuf;

use super::{Checkpoint, OneKernel, Writing};

#[derive(Debug, clap::Args)]
pub struct Run {
    /// Write a trace; the extension of FILE selects its form (repeatable)
    ///
    /// The extensions are .html (timeline), .svg (figure), .json (Perfetto), .kanata (Konata),
    /// .csv, .replay (schedule for --policy) and .ipoints (for `hybrid`). On a machine with
    /// several SMs a trace covers SM 0; only .html and .ipoints cover all of them. All times are in
    /// cycles of the SM.
    ///
    /// .html: a page for any browser, with a timeline of the warps beside the source and its
    /// stalls; up to two million instructions and idle intervals, of as many SMs from SM 0 on as fit.
    /// For PTX with `.loc` (nvcc -lineinfo, clang -gline-tables-only) it shows the CUDA source, too.
    ///
    /// .svg: a figure of a short run, up to 300 instructions in 600 cycles.
    ///
    /// .json: trace events for Perfetto, with one cycle shown as one microsecond: instructions by
    /// unit and by warp, the state of each warp, cycles without an issue by sub-core and reason,
    /// counters of the units and, on machines that have them, of fetch, caches and DRAM.
    ///
    /// .kanata: a log for Konata, one row per instruction: lane 0 has the stages Q (waits for its
    /// unit), X (occupies it) and L (until the result is available), lane 1 the name of the unit.
    ///
    /// .csv: block,warp,index,pc,issue,start,done,unit,line,text, one instruction per line.
    ///
    /// .replay: the schedule, for --policy replay:FILE.
    ///
    /// .ipoints: `ipoint sm warp cycle`, one line whenever a warp enters a basic block (b0, b1, ..
    /// as `cfg` numbers them) or ends (end); the warp is its slot on the SM.
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Write the timeline as a page for any browser to FILE, as --trace FILE.html does
    #[arg(long, value_name = "FILE", value_parser = page)]
    pub html: Option<PathBuf>,
    /// Write a buffer or module variable to FILE after the kernel (repeatable)
    ///
    /// The file holds raw little-endian bytes.
    #[arg(long, value_name = "NAME=FILE")]
    pub dump: Vec<String>,
    #[command(flatten)]
    pub writing: Writing,
    #[command(flatten)]
    pub checkpoint: Checkpoint,
    /// Measure and report seconds; the output is then not reproducible
    #[arg(long)]
    pub timings: bool,
    /// Draw the schedule of a small run
    #[arg(long)]
    pub gantt: bool,
    /// Show the critical path: the cause of each cycle of the makespan
    ///
    /// With -v, every link of the path is listed.
    #[arg(long, conflicts_with = "timings")]
    pub explain: bool,
    #[command(flatten)]
    pub on: OneKernel,
}

impl Run {
    /// Returns the paths of all traces.
    pub fn traces(&self) -> Vec<PathBuf> {
        self.trace.iter().chain(&self.html).cloned().collect()
    }
}

/// Returns the path of a page. With `run`, its extension selects the form of a trace.
pub fn page(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("html") => Ok(path),
        _ => Err("the name of a page ends in .html".to_owned()),
    }
}
