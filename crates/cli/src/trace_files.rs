//! The option `--trace FILE`: trace files that are written completely or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::files::{Outputs, Part};
use super::ipoints;
use warpbound_core::base::Pc;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Machine;
use warpbound_core::program::Instr;
use warpbound_core::program::warp_cfg::Divergence;
use warpbound_hybrid::{Density, Instrumented};
use warpbound_judge::check::counterexample::ScheduleRecorder;
use warpbound_judge::load::{LoadedKernel, Sources};
use warpbound_report::timeline::{self, About, Recording, TooLong};
use warpbound_trace::trace::{
    CsvTrace, IpointTrace, KanataTrace, Listing, Observer, PerfettoTrace, UnitInstances,
};

/// A kind of trace, which the ending of a file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceKind {
    /// A page with a timeline.
    Page,
    /// A figure.
    Figure,
    /// A Perfetto trace.
    Perfetto,
    /// A Konata log.
    Konata,
    /// A table.
    Table,
    /// A schedule, which can be replayed.
    Schedule,
    /// The times at which warps of all SMs pass ipoints.
    Ipoints,
}

impl TraceKind {
    /// All kinds, in the order of the hint. [`TraceKind::Ipoints`] is the last one.
    const ALL: [Self; Self::Ipoints as usize + 1] =
        [Self::Page, Self::Figure, Self::Perfetto, Self::Konata, Self::Table, Self::Schedule, Self::Ipoints];

    /// Returns the ending of files of this kind, and a description.
    const fn ending(self) -> (&'static str, &'static str) {
        match self {
            Self::Page => ("html", "timeline"),
            Self::Figure => ("svg", "figure"),
            Self::Perfetto => ("json", "Perfetto"),
            Self::Konata => ("kanata", "Konata"),
            Self::Table => ("csv", "table"),
            Self::Schedule => ("replay", "schedule"),
            Self::Ipoints => ("ipoints", "for hybrid"),
        }
    }

    /// Returns the kind that the ending of a file names.
    ///
    /// # Errors
    /// Returns an error if it names none.
    fn of(path: &Path) -> Result<Self, Diagnostic> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        Self::ALL.into_iter().find(|kind| kind.ending().0 == ending).ok_or_else(|| {
            let known = Self::ALL.map(|kind| format!(".{} {}", kind.ending().0, kind.ending().1));
            Diagnostic::general(path.display().to_string(), "the ending names no kind of trace")
                .hint(known.join(", "))
        })
    }

    /// Returns whether a file of this kind is made after the run, from a recording of the whole
    /// run.
    pub const fn is_recorded(self) -> bool {
        match self {
            Self::Page | Self::Figure => true,
            Self::Perfetto | Self::Konata | Self::Table | Self::Schedule | Self::Ipoints => false,
        }
    }
}

/// Returns the kinds of these trace files.
///
/// # Errors
/// Returns an error for each file whose ending names no kind.
pub fn kinds(paths: &[PathBuf]) -> Result<Vec<TraceKind>, Diagnostics> {
    let mut problems = Diagnostics::new();
    let mut kinds = Vec::new();
    for path in paths {
        match TraceKind::of(path) {
            Ok(kind) => kinds.push(kind),
            Err(problem) => problems.push(problem),
        }
    }
    problems.into_result(kinds)
}

/// Returns what traces state about the instructions of a kernel; empty if there is no trace.
pub fn listing(files: &[TraceFile], kernel: &LoadedKernel) -> Listing {
    let instrs = if files.is_empty() { &[] } else { &kernel.workload.program().instrs[..] };
    let line_and_text = |(index, instr): (usize, &Instr)| (instr.line, kernel.text_of(Pc::from_index(index)));
    Listing::new(instrs.iter().enumerate().map(line_and_text))
}

/// Returns the source files of a kernel, if a trace shows them.
pub fn sources(kinds: &[TraceKind], kernel: &LoadedKernel) -> Sources {
    if kinds.contains(&TraceKind::Page) { kernel.sources() } else { Sources::default() }
}

/// Warns of a schedule that `--policy replay:FILE` may not accept.
pub fn warn_of_schedules(kinds: &[TraceKind], machine: &Machine) {
    if !kinds.contains(&TraceKind::Schedule) {
        return;
    }
    if machine.sms() > 1 {
        tracing::warn!("the schedule is that of SM 0, and cannot be replayed on a machine with several SMs");
    } else if machine.pipeline().is_some() {
        tracing::warn!(
            "on a machine with a pipeline, a replay of the schedule can end with an error, because a warp need not \
             be ready again in the cycle in which it issued"
        );
    }
}

/// Returns the ipoints of a kernel, if a trace needs them.
pub fn instrumented(kinds: &[TraceKind], kernel: &LoadedKernel) -> Result<Option<Instrumented>, Diagnostic> {
    let wanted = kinds.contains(&TraceKind::Ipoints);
    wanted.then(|| ipoints::instrumented(kernel, Divergence::Sides, Density::Blocks)).transpose()
}

/// A trace file that is being written.
pub struct TraceFile<'a> {
    path: &'a Path,
    kind: TraceKind,
    out: BufWriter<Part>,
}

impl<'a> TraceFile<'a> {
    /// Creates a file.
    pub fn create(path: &'a Path, kind: TraceKind, outputs: &mut Outputs) -> Result<Self, Diagnostic> {
        let option = if kind == TraceKind::Page { "--html" } else { "--trace" };
        Ok(Self { path, kind, out: BufWriter::new(outputs.file(option, path)?) })
    }

    /// Returns the observer that writes the file.
    pub fn writer<'w>(
        &'w mut self,
        machine: &Machine,
        listing: &'w Listing,
        code: Option<&'w Instrumented>,
    ) -> Writer<'w> {
        let units = UnitInstances::new(machine);
        match self.kind {
            TraceKind::Table => Writer::Csv(CsvTrace::new(&mut self.out, units, listing)),
            TraceKind::Konata => Writer::Kanata(KanataTrace::new(&mut self.out, units, listing)),
            TraceKind::Page | TraceKind::Figure => Writer::Later,
            TraceKind::Schedule => Writer::Replay(ScheduleRecorder::default(), &mut self.out),
            TraceKind::Perfetto => {
                Writer::Perfetto(Box::new(PerfettoTrace::new(&mut self.out, units, listing)))
            }
            TraceKind::Ipoints => {
                let Some(code) = code else { unreachable!("`instrumented` looked at every kind") };
                Writer::Ipoints(IpointTrace::new(&mut self.out, &code.map, &code.names))
            }
        }
    }

    /// Writes a file that is made from a whole run; other files have been written during the run.
    pub fn fill(&mut self, recording: &Recording, about: &About<'_>) -> io::Result<()> {
        let whole = || {
            recording.check_length().map_err(|TooLong { most }| {
                let advice = "a trace that ends in .json is written as the run goes, and opens in Perfetto";
                io::Error::other(format!(
                    "the run has more than {most} instructions and idle intervals; {advice}"
                ))
            })
        };
        let text = match self.kind {
            TraceKind::Figure => {
                whole()?;
                let advice = "a trace that ends in .html shows longer runs";
                timeline::svg(recording, about).map_err(|why| io::Error::other(format!("{why}; {advice}")))?
            }
            TraceKind::Page => {
                whole()?;
                timeline::page(recording, about).render()
            }
            TraceKind::Perfetto
            | TraceKind::Konata
            | TraceKind::Table
            | TraceKind::Schedule
            | TraceKind::Ipoints => return Ok(()),
        };
        self.out.write_all(text.as_bytes())
    }

    /// Gives the complete file its final name, or removes it and reports the error.
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
    /// Returns the observer of the simulation, which observes all SMs or the first one.
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
