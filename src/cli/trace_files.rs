//! The option `--trace FILE`: trace files that are written completely or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::files::{Outputs, Part};
use super::ipoints;
use super::load::LoadedKernel;
use crate::base::Pc;
use crate::check::counterexample::ScheduleRecorder;
use crate::diag::{Diagnostic, Diagnostics};
use crate::hybrid::{Density, Instrumented};
use crate::machine::Machine;
use crate::program::Instr;
use crate::program::warp_cfg::Divergence;
use crate::report::timeline::{self, About, Recording, TooLong};
use crate::trace::{CsvTrace, IpointTrace, KanataTrace, Listing, Observer, PerfettoTrace, UnitInstances};

/// Rejects files whose extension denotes no kind of trace.
pub fn check_endings(paths: &[PathBuf]) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    let known = |path: &Path| {
        is_recorded(path) || matches!(ending(path), "json" | "kanata" | "csv" | "replay" | "ipoints")
    };
    for path in paths.iter().filter(|path| !known(path)) {
        problems.push(
            Diagnostic::general(path.display().to_string(), "the ending names no kind of trace").hint(
                ".html timeline, .svg figure, .json Perfetto, .kanata Konata, .csv table, .replay schedule, \
                 .ipoints for hybrid",
            ),
        );
    }
    problems.into_result(())
}

/// Returns what traces state about the instructions of a kernel; empty if there is no trace.
pub fn listing(files: &[TraceFile], kernel: &LoadedKernel) -> Listing {
    let instrs = if files.is_empty() { &[] } else { &kernel.workload.program().instrs[..] };
    let said = |(index, instr): (usize, &Instr)| (instr.line, kernel.text_of(Pc::from_index(index)));
    Listing::new(instrs.iter().enumerate().map(said))
}

/// Returns the ipoints of a kernel, if a trace needs them.
pub fn instrumented(paths: &[PathBuf], kernel: &LoadedKernel) -> Result<Option<Instrumented>, Diagnostic> {
    let wanted = paths.iter().any(|path| ending(path) == "ipoints");
    wanted.then(|| ipoints::instrumented(kernel, Divergence::Sides, Density::Blocks)).transpose()
}

/// Returns whether a file is made after the run, from a recording of the whole run.
pub fn is_recorded(path: &Path) -> bool {
    matches!(ending(path), "html" | "svg")
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// A trace file that is being written.
pub struct TraceFile<'a> {
    path: &'a Path,
    out: BufWriter<Part>,
}

impl<'a> TraceFile<'a> {
    /// Creates a file.
    pub fn create(path: &'a Path, outputs: &mut Outputs) -> Result<Self, Diagnostic> {
        Ok(Self { path, out: BufWriter::new(outputs.file("--trace", path)?) })
    }

    /// Returns the observer that writes the file.
    pub fn writer<'w>(
        &'w mut self,
        machine: &Machine,
        listing: &'w Listing,
        code: Option<&'w Instrumented>,
    ) -> Writer<'w> {
        let units = UnitInstances::new(machine);
        if let (Some(code), "ipoints") = (code, ending(self.path)) {
            return Writer::Ipoints(IpointTrace::new(&mut self.out, &code.map, &code.names));
        }
        match ending(self.path) {
            "csv" => Writer::Csv(CsvTrace::new(&mut self.out, units, listing)),
            "kanata" => Writer::Kanata(KanataTrace::new(&mut self.out, units, listing)),
            "html" | "svg" => Writer::Later,
            "replay" => Writer::Replay(ScheduleRecorder::default(), &mut self.out),
            _ => Writer::Perfetto(Box::new(PerfettoTrace::new(&mut self.out, units, listing))),
        }
    }

    /// Writes a file that is made from a whole run; other files have been written during the run.
    pub fn fill(&mut self, recording: &Recording, about: &About<'_>) -> io::Result<()> {
        if !is_recorded(self.path) {
            return Ok(());
        }
        recording.whole().map_err(|TooLong { most }| {
            let advice = "a trace that ends in .json is written as the run goes, and opens in Perfetto";
            io::Error::other(format!(
                "the run has more than {most} instructions and idle intervals; {advice}"
            ))
        })?;
        let text = match ending(self.path) {
            "svg" => {
                let advice = "a trace that ends in .html shows longer runs";
                timeline::svg(recording, about).map_err(|why| io::Error::other(format!("{why}; {advice}")))?
            }
            _ => timeline::page(recording, about).render(),
        };
        self.out.write_all(text.as_bytes())
    }

    /// Gives the complete file its final name, or reports the error and leaves nothing.
    pub fn finish(self, written: io::Result<()>) -> Result<(), Diagnostic> {
        let path = self.path;
        let placed =
            written.and_then(|()| self.out.into_inner().map_err(io::Error::from)).and_then(Part::place);
        placed.map_err(|error| {
            Diagnostic::general(
                format!("--trace {}", path.display()),
                format!("cannot write the file: {error}"),
            )
        })
    }
}

/// An observer of a simulation.
pub enum Listener<'w> {
    /// An observer of SM 0.
    FirstSm(&'w mut dyn Observer),
    /// An observer of all SMs.
    AllSms(&'w mut dyn Observer),
}

/// The writer of one trace file.
pub enum Writer<'a> {
    /// A table.
    Csv(CsvTrace<'a>),
    /// A Konata log.
    Kanata(KanataTrace<'a>),
    /// A Perfetto trace.
    Perfetto(Box<PerfettoTrace<'a>>),
    /// A schedule, which is written at the end.
    Replay(ScheduleRecorder, &'a mut dyn Write),
    /// The times at which warps of all SMs pass ipoints.
    Ipoints(IpointTrace<'a>),
    /// A file that is made from a [`Recording`] after the run.
    Later,
}

impl Writer<'_> {
    /// Returns the observer of the simulation: of all SMs, or of the first.
    pub fn observer(&mut self) -> Option<Listener<'_>> {
        match self {
            Self::Csv(trace) => Some(Listener::FirstSm(trace)),
            Self::Kanata(trace) => Some(Listener::FirstSm(trace)),
            Self::Perfetto(trace) => Some(Listener::FirstSm(&mut **trace)),
            Self::Replay(recorder, _) => Some(Listener::FirstSm(recorder)),
            Self::Ipoints(trace) => Some(Listener::AllSms(trace)),
            Self::Later => None,
        }
    }

    /// Writes what is left and returns the first error of any write.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Csv(trace) => trace.finish(),
            Self::Kanata(trace) => trace.finish(),
            Self::Perfetto(trace) => trace.finish(),
            Self::Ipoints(trace) => trace.finish(),
            Self::Replay(recorder, out) => {
                let text = recorder
                    .text()
                    .ok_or_else(|| io::Error::other("the run is too long for a replay file"))?;
                out.write_all(text.as_bytes())?;
                out.flush()
            }
            Self::Later => Ok(()),
        }
    }
}
