//! `--trace FILE`: trace files that are complete or not there at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::files::{Outputs, Part};
use super::load::LoadedKernel;
use crate::base::Pc;
use crate::check::counterexample::ScheduleRecorder;
use crate::diag::{Diagnostic, Diagnostics};
use crate::machine::Machine;
use crate::program::Instr;
use crate::trace::{CsvTrace, KanataTrace, Listing, Observer, PerfettoTrace, UnitInstances};

/// Refuses files whose ending names no kind of trace.
pub fn check_endings(paths: &[PathBuf]) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    for path in paths.iter().filter(|path| !matches!(ending(path), "json" | "kanata" | "csv" | "replay")) {
        problems.push(
            Diagnostic::general(path.display().to_string(), "the ending names no kind of trace")
                .hint(".json Perfetto, .kanata Konata, .csv table, .replay schedule"),
        );
    }
    problems.into_result(())
}

/// What traces say of the instructions of a kernel; nothing if there is no trace.
pub fn listing(files: &[TraceFile], kernel: &LoadedKernel) -> Listing {
    let instrs = if files.is_empty() { &[] } else { &kernel.workload.program().instrs[..] };
    let said = |(index, instr): (usize, &Instr)| (instr.line, kernel.text_of(Pc::from_index(index)));
    Listing::new(instrs.iter().enumerate().map(said))
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// A trace file being written.
pub struct TraceFile<'a> {
    path: &'a Path,
    out: BufWriter<Part>,
}

impl<'a> TraceFile<'a> {
    /// Starts a file.
    pub fn create(path: &'a Path, outputs: &mut Outputs) -> Result<Self, Diagnostic> {
        Ok(Self { path, out: BufWriter::new(outputs.file("--trace", path)?) })
    }

    /// The observer that fills the file.
    pub fn writer<'w>(&'w mut self, machine: &Machine, listing: &'w Listing) -> Writer<'w> {
        let units = UnitInstances::new(machine);
        match ending(self.path) {
            "csv" => Writer::Csv(CsvTrace::new(&mut self.out, units, listing)),
            "kanata" => Writer::Kanata(KanataTrace::new(&mut self.out, units, listing)),
            "replay" => Writer::Replay(ScheduleRecorder::default(), &mut self.out),
            _ => Writer::Perfetto(Box::new(PerfettoTrace::new(&mut self.out, units, listing))),
        }
    }

    /// Puts the complete file in its place, or says what went wrong; nothing is left then.
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

/// Fills one trace file.
pub enum Writer<'a> {
    /// A table.
    Csv(CsvTrace<'a>),
    /// A Konata log.
    Kanata(KanataTrace<'a>),
    /// A Perfetto trace.
    Perfetto(Box<PerfettoTrace<'a>>),
    /// A schedule, written at the end.
    Replay(ScheduleRecorder, &'a mut dyn Write),
}

impl Writer<'_> {
    /// What listens to the simulation.
    pub fn observer(&mut self) -> &mut dyn Observer {
        match self {
            Self::Csv(trace) => trace,
            Self::Kanata(trace) => trace,
            Self::Perfetto(trace) => &mut **trace,
            Self::Replay(recorder, _) => recorder,
        }
    }

    /// Writes what is left; reports the first write that failed, whenever that was.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Csv(trace) => trace.finish(),
            Self::Kanata(trace) => trace.finish(),
            Self::Perfetto(trace) => trace.finish(),
            Self::Replay(recorder, out) => {
                let text = recorder
                    .text()
                    .ok_or_else(|| io::Error::other("the run is too long for a replay file"))?;
                out.write_all(text.as_bytes())?;
                out.flush()
            }
        }
    }
}
