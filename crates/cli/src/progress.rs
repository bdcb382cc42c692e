//! A line on the terminal that shows the progress of a command.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::resources;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{printable, printable_name};

/// The time after which progress is shown; shorter commands show nothing.
const PATIENCE: Duration = Duration::from_secs(2);
/// The unit of the steps of a search over schedules.
pub const SEARCH: &str = "issues";
const TICK: Duration = Duration::from_millis(100);

/// The progress of a command that is not displayed here, but can be asked for.
#[derive(Clone, Default)]
pub struct Watched(Arc<Shown>);

impl Watched {
    /// Returns the current stage.
    pub fn stage(&self) -> Stage {
        self.0.lock().stage.clone()
    }
}

/// Shows the progress of a command, from a separate thread that reads its [`ProgressMonitor`].
pub struct Progress {
    thread: Mutex<Option<JoinHandle<()>>>,
    /// `None` if progress is not visible.
    shown: Option<Arc<Shown>>,
    monitor: Arc<ProgressMonitor>,
}

/// The state shared by the thread and the command.
#[derive(Default)]
struct Shown {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    stage: Stage,
    bar: Option<ProgressBar>,
    ended: bool,
}

/// The current stage of a command.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// A description.
    pub what: String,
    /// The number of steps, if known.
    pub steps: Option<u64>,
    /// The unit of a step.
    pub unit: &'static str,
}

impl Progress {
    /// Starts the display, if it is visible.
    pub fn new(visible: bool, monitor: Arc<ProgressMonitor>) -> Self {
        let start = || {
            let shown = Arc::<Shown>::default();
            let (of_thread, watched) = (shown.clone(), monitor.clone());
            let thread = std::thread::Builder::new().spawn(move || of_thread.show(&watched)).ok()?;
            Some((shown, thread))
        };
        let (shown, thread) = visible.then(start).flatten().unzip();
        Self { thread: Mutex::new(thread), shown, monitor }
    }

    /// Records the stages, without a display.
    pub fn watched(by: Watched, monitor: Arc<ProgressMonitor>) -> Self {
        Self { thread: Mutex::new(None), shown: Some(by.0), monitor }
    }

    /// Starts a stage; its steps are counted from 0.
    pub fn begin(&self, what: impl Into<String>, steps: Option<u64>, unit: &'static str) {
        self.monitor.restart();
        if let Some(shown) = &self.shown {
            let mut state = shown.lock();
            state.stage = Stage { what: what.into(), steps, unit };
            state.restyle();
        }
    }

    /// Returns a writer for log lines that does not disturb the progress line.
    pub fn log(&self) -> Log {
        Log(self.shown.clone())
    }

    /// Removes the progress line and ends the display.
    pub fn end(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(shown), Some(thread)) = (&self.shown, thread) else { return };
        shown.lock().ended = true;
        shown.changed.notify_all();
        // a panic of the thread has already been reported
        let _ = thread.join();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shown {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, monitor: &ProgressMonitor) {
        let began = Instant::now();
        let mut state = self.lock();
        while !state.ended {
            if state.bar.is_none() && began.elapsed() >= PATIENCE {
                state.bar = Some(ProgressBar::hidden().with_elapsed(began.elapsed()));
                state.restyle();
                state.update(monitor);
                // the bar is drawn only now, when it has text
                state.bar.iter().for_each(|bar| bar.set_draw_target(ProgressDrawTarget::stderr()));
            }
            state.update(monitor);
            let waited = self.changed.wait_timeout(state, TICK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl State {
    fn restyle(&self) {
        let Some(bar) = &self.bar else { return };
        match self.stage.steps {
            Some(steps) => bar.set_length(steps),
            None => bar.unset_length(),
        }
        let template = match (self.stage.steps, self.stage.unit) {
            (_, "") => "{spinner} {prefix} {elapsed}",
            (None, _) => "{spinner} {prefix} {elapsed}: {human_pos} {msg}",
            // the steps of a search take longer and longer, so that no time left can be stated
            (Some(_), SEARCH) => "{spinner} {prefix} {elapsed} {bar:20} {human_pos} of {human_len} {msg}",
            (Some(_), _) => {
                "{spinner} {prefix} {elapsed} {bar:20} {human_pos} of {human_len} {msg}, {rate}, {eta} left"
            }
        };
        let style = ProgressStyle::with_template(template).expect("the templates are ours");
        bar.set_style(style.with_key("rate", |state: &ProgressState, text: &mut dyn fmt::Write| {
            let rate = state.per_sec();
            let _ = match rate < 10.0 {
                true => write!(text, "{rate:.1}/s"),
                false => write!(text, "{}/s", HumanCount(rate as u64)),
            };
        }));
        bar.set_prefix(printable_name(&self.stage.what).into_owned());
    }

    fn update(&self, monitor: &ProgressMonitor) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(monitor.done());
        let states = monitor.states();
        bar.set_message(match states {
            0 => self.stage.unit.to_owned(),
            _ => {
                let memory = resources::resident_mib().map_or_else(String::new, |mib| format!(", {mib} MiB"));
                format!("{}, {} states{memory}", self.stage.unit, HumanCount(states))
            }
        });
        bar.tick();
    }
}

/// Writes to stderr, above the progress line if there is one.
#[derive(Clone)]
pub struct Log(Option<Arc<Shown>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // each call has a whole line of the log
        let text = String::from_utf8_lossy(bytes);
        let write = || io::stderr().write_all(printable(&text).as_bytes()).map(|()| bytes.len());
        match &self.0 {
            Some(shown) => match &shown.lock().bar {
                Some(bar) => bar.suspend(write),
                None => write(),
            },
            None => write(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
