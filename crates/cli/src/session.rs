//! The context of a command: the style of its output, cancellation, progress and unfinished files.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::args::General;
use super::files::Parts;
use super::printer::{Printed, Printer};
use super::progress::{Progress, Watched};
use super::stop::{Stop, Without};
use super::terminal;
use warpbound_core::base::ProgressMonitor;
use warpbound_report::output::Stopped;
use warpbound_report::style::Style;

/// What a command shares with a program that calls it.
#[derive(Clone)]
pub struct Caller {
    /// The progress counters and the stop request.
    pub monitor: Arc<ProgressMonitor>,
    /// The current stage.
    pub stage: Watched,
    /// The state of the cancellation.
    pub stop: Stop,
    /// The unfinished files.
    pub parts: Parts,
    /// What the command prints.
    pub printed: Arc<Mutex<Printed>>,
}

/// The context of one command.
pub struct Session {
    /// The style of text on stdout.
    pub style: Style,
    /// The table that `--format csv` prints, if one is named.
    pub table: Option<String>,
    /// The progress counters and the stop request, shared by the computation and the rest of the
    /// process.
    pub monitor: Arc<ProgressMonitor>,
    /// The progress display.
    pub progress: Progress,
    /// The unfinished files.
    pub parts: Parts,
    /// The place that results and errors are printed to.
    pub printer: Printer,
    began: Instant,
    stop: Stop,
}

impl Session {
    /// Creates the context of the command of this process from the general options. `without` is
    /// called if the command is stopped before it has a result.
    pub fn new(general: &General, without: Arc<Without>) -> Self {
        let monitor = Arc::new(ProgressMonitor::new());
        let parts = Parts::default();
        let visible = !general.quiet && terminal::shows_progress();
        let progress = Progress::new(visible, monitor.clone());
        let log = visible.then(|| progress.log());
        let stop = Stop::new(&monitor, &parts).listening(log, without);
        Self { style: terminal::style(general.color), ..Self::of(general, stop, progress, parts, monitor) }
    }

    /// Creates the context of a command that another program calls.
    pub fn called(general: &General, caller: &Caller) -> Self {
        let Caller { monitor, stage, stop, parts, printed } = caller.clone();
        let progress = Progress::watched(stage, monitor.clone());
        let session = Self::of(general, stop, progress, parts, monitor);
        Self { printer: Printer::Memory(printed), ..session }
    }

    fn of(
        general: &General,
        stop: Stop,
        progress: Progress,
        parts: Parts,
        monitor: Arc<ProgressMonitor>,
    ) -> Self {
        if let Some(limit) = general.time_limit {
            stop.after(limit);
        }
        Self {
            style: Style::default(),
            table: general.table.clone(),
            monitor,
            progress,
            parts,
            printer: Printer::Process,
            began: Instant::now(),
            stop,
        }
    }

    /// Returns why a stop was requested, if it was.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stop.reason()
    }

    /// Returns why the computation was stopped, if it noticed the request. A computation that was
    /// complete before it noticed one has lost nothing.
    pub fn cut_short(&self) -> Option<Stopped> {
        self.stopped().filter(|_| self.monitor.has_noticed())
    }

    /// Returns the time since the command began, for messages.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Declares the computation finished; what remains is to write and print its result.
    pub fn conclude(&self) {
        self.stop.conclude();
    }

    /// Sets the message on what is kept if the command is stopped before it has a result.
    pub fn keep(&self, what: String) {
        self.stop.keep(what);
    }
}
