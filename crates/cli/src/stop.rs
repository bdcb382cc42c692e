//! Cancellation of a command by Ctrl-C, signals or `--time-limit`.
//!
//! The first signal requests the computation to stop; the command then prints what it has
//! established so far. If the computation does not check its [`ProgressMonitor`] in time, the
//! process reports that there is no result and ends. A second signal ends the process at once, and
//! SIGTERM ends it after ten seconds at the latest; unfinished files are removed.

use std::io::Write;
use std::process;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::files::Parts;
use super::progress::Log;
use warpbound_core::base::ProgressMonitor;
use warpbound_report::output::Stopped;

/// The time from a stop request until the computation must have noticed it.
const PATIENCE: Duration = Duration::from_millis(850);

/// The further time that a computation which has noticed the request may take to assemble its
/// result.
const CONCLUSION: Duration = Duration::from_secs(5);

/// The greatest extension of a time limit on a machine that is busy with other processes.
const MAX_STARVED: Duration = Duration::from_secs(4);

/// The greatest time between two looks whether a command with a time limit has ended.
const LOOK: Duration = Duration::from_millis(200);

/// The command is computing.
const COMPUTING: u8 = 0;
/// The command has a result and is printing it, so that it will end soon.
const CONCLUDING: u8 = 1;
/// The command had no result in time after a stop request; the process is ending without one.
const GIVEN_UP: u8 = 2;

/// A function that reports that there is no result for this reason, and what is kept nevertheless.
/// It returns the exit code.
pub type Without = dyn Fn(Stopped, Option<String>) -> u8 + Send + Sync;

/// The state of the cancellation of a command.
#[derive(Clone)]
pub struct Stop {
    monitor: Arc<ProgressMonitor>,
    reason: Arc<OnceLock<Stopped>>,
    phase: Arc<AtomicU8>,
    /// Reports that there is no result in time, after which the process ends. `None` if the command
    /// is called by another program, which waits for it.
    without: Option<Arc<Without>>,
    parts: Parts,
    kept: Arc<Mutex<Option<String>>>,
}

impl Stop {
    /// Returns the state of a command that no signal stops.
    pub fn new(monitor: &Arc<ProgressMonitor>, parts: &Parts) -> Self {
        Self {
            monitor: monitor.clone(),
            reason: Arc::default(),
            phase: Arc::new(AtomicU8::new(COMPUTING)),
            without: None,
            parts: parts.clone(),
            kept: Arc::default(),
        }
    }

    /// Starts to handle signals. `log` receives a message when Ctrl-C is handled; `without` is called
    /// if the process ends without a result.
    #[must_use]
    pub fn listening(self, log: Option<Log>, without: Arc<Without>) -> Self {
        let stop = Self { without: Some(without), ..self };
        listen(stop.clone(), log);
        stop
    }

    /// Stops the computation after this time.
    pub fn after(&self, limit: Duration) {
        if limit.is_zero() {
            self.now(Stopped::TimeLimit);
            return;
        }
        let (stop, end) = (self.clone(), Instant::now().checked_add(limit));
        // if the thread cannot be started there is no limit, but then the command would fail anyway
        let _ = std::thread::Builder::new().spawn(move || {
            while stop.phase.load(Ordering::Acquire) == COMPUTING {
                match end.map(|end| end.saturating_duration_since(Instant::now())) {
                    Some(Duration::ZERO) => {
                        stop.now(Stopped::TimeLimit);
                        return;
                    }
                    // the thread ends soon after a command that is called by another program
                    left => std::thread::sleep(left.unwrap_or(LOOK).min(LOOK)),
                }
            }
        });
    }

    /// Declares that the command has a result and will print it. If the process is already ending
    /// without one, this function does not return.
    pub fn conclude(&self) {
        let phase = self.phase.compare_exchange(COMPUTING, CONCLUDING, Ordering::AcqRel, Ordering::Acquire);
        while phase == Err(GIVEN_UP) {
            std::thread::park();
        }
    }

    /// Sets the message on what is kept if the process ends without a result.
    pub fn keep(&self, what: String) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// Returns why the computation was stopped, if it was.
    pub fn reason(&self) -> Option<Stopped> {
        self.reason.get().copied()
    }

    /// Requests the computation to stop. Returns whether this is the first request.
    pub fn now(&self, reason: Stopped) -> bool {
        let first = self.reason.set(reason).is_ok();
        self.monitor.stop();
        if let Some(without) = self.without.clone().filter(|_| first) {
            let stop = self.clone();
            // if the thread cannot be started, the command ends when its computation does
            let _ = std::thread::Builder::new().spawn(move || {
                wait(PATIENCE);
                if stop.monitor.has_noticed() {
                    wait(CONCLUSION);
                }
                stop.give_up(reason, &*without);
            });
        }
        first
    }

    /// Ends the process if it still has no result.
    fn give_up(&self, reason: Stopped, without: &Without) {
        let phase = self.phase.compare_exchange(COMPUTING, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire);
        if phase.is_err() {
            return;
        }
        let _until_the_end = self.parts.remove_all();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        process::exit(without(reason, kept).into());
    }
}

/// Sleeps for this time, and longer by the time that the process waits for a processor. On a busy
/// machine the computation cannot use that time.
fn wait(patience: Duration) {
    let (began, before) = (Instant::now(), starved());
    loop {
        let late = starved().saturating_sub(before).min(MAX_STARVED);
        let Some(left) = (patience + late).checked_sub(began.elapsed()).filter(|left| !left.is_zero()) else {
            break;
        };
        std::thread::sleep(left);
    }
}

/// Returns how long the main thread of this process has waited for a processor; 0 if the system
/// does not report it.
fn starved() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0))
}

/// The time that the process may take after SIGTERM.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(10);

#[cfg(unix)]
fn listen(stop: Stop, mut log: Option<Log>) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // if signals cannot be caught, they have their default effect
    let parts = stop.parts.clone();
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let _ = std::thread::Builder::new().spawn(move || {
        let mut interrupted = false;
        for signal in signals.forever() {
            let end = move |parts: &Parts| {
                let _until_the_end = parts.remove_all();
                // ends the process by the signal itself, so that its parent sees the cause
                let _ = emulate_default_handler(signal);
            };
            if std::mem::replace(&mut interrupted, true) {
                return end(&parts);
            }
            stop.now(if signal == SIGINT { Stopped::Interrupt } else { Stopped::Terminated });
            if let Some(log) = log.as_mut().filter(|_| signal == SIGINT) {
                // errors are ignored: stderr may be closed
                let _ = log.write_all(b"stopping; Ctrl-C again ends at once\n");
            }
            if signal != SIGINT {
                let parts = parts.clone();
                let _ = std::thread::Builder::new().spawn(move || {
                    std::thread::sleep(GRACE);
                    end(&parts);
                });
            }
        }
    });
}

#[cfg(not(unix))]
fn listen(_: Stop, _: Option<Log>) {}
