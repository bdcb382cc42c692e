//! `--trace FILE`: trace files that are complete or not there at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::base::Pc;
use crate::check::counterexample::ScheduleRecorder;
use crate::diag::{Diagnostic, Diagnostics};
use crate::machine::Machine;
use crate::trace::{CsvTrace, KanataTrace, Observer, PerfettoTrace, UnitInstances};

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

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or("")
}

/// A trace file being written, under a name of its own until it is complete.
pub struct TraceFile<'a> {
    path: &'a Path,
    part: PathBuf,
    out: BufWriter<File>,
}

impl<'a> TraceFile<'a> {
    /// Starts a file. What is there and no plain file (a device, a pipe) is written to directly.
    pub fn create(path: &'a Path) -> Result<Self, Diagnostics> {
        let part = if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            path.to_path_buf()
        } else {
            let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
            name.push(".part");
            path.with_file_name(name)
        };
        let file = File::create(&part).map_err(|error| problem(path, &error))?;
        Ok(Self { path, part, out: BufWriter::new(file) })
    }

    /// The observer that fills the file.
    pub fn writer<'w>(&'w mut self, machine: &Machine, name: &'w dyn Fn(Pc) -> String) -> Writer<'w> {
        let units = UnitInstances::new(machine);
        match ending(self.path) {
            "csv" => Writer::Csv(CsvTrace::new(&mut self.out, units)),
            "kanata" => Writer::Kanata(KanataTrace::new(&mut self.out, name)),
            "replay" => Writer::Replay(ScheduleRecorder::default(), &mut self.out),
            _ => Writer::Perfetto(PerfettoTrace::new(&mut self.out, units, name)),
        }
    }

    /// Moves the complete file to its place, or removes what was written.
    pub fn finish(self, written: io::Result<()>, keep: bool) -> Result<(), Diagnostics> {
        drop(self.out);
        if self.part == self.path {
            return written.map_err(|error| problem(self.path, &error));
        }
        let moved = match written {
            Ok(()) if keep => std::fs::rename(&self.part, self.path),
            other => {
                // best effort: the part file is ours
                let _ = std::fs::remove_file(&self.part);
                other
            }
        };
        moved.map_err(|error| problem(self.path, &error))
    }
}

fn problem(path: &Path, error: &io::Error) -> Diagnostics {
    Diagnostic::general(path.display().to_string(), format!("cannot write the trace: {error}")).into()
}

/// Fills one trace file.
pub enum Writer<'a> {
    /// A table.
    Csv(CsvTrace<'a>),
    /// A Konata log.
    Kanata(KanataTrace<'a>),
    /// A Perfetto trace.
    Perfetto(PerfettoTrace<'a>),
    /// A schedule, written at the end.
    Replay(ScheduleRecorder, &'a mut dyn Write),
}

impl Writer<'_> {
    /// What listens to the simulation.
    pub fn observer(&mut self) -> &mut dyn Observer {
        match self {
            Self::Csv(trace) => trace,
            Self::Kanata(trace) => trace,
            Self::Perfetto(trace) => trace,
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
