//! Ending a command before it is through: Ctrl-C, signals, `--time-limit`.
//!
//! The first signal asks the computation to end; the command then prints what it has by then. Where a step does not
//! look at the [`Watch`] in time, the process ends without it and says that it has no result. The
//! second signal ends the process at once, and so do ten seconds after SIGTERM; unfinished files are removed.

use std::io::Write;
use std::process;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::files::Parts;
use super::format::Format;
use super::output;
use super::progress::Log;
use crate::base::Watch;
use crate::report::output::Stopped;

/// How long a computation that was asked to end may take until it has a result.
const PATIENCE: Duration = Duration::from_millis(850);

/// The command computes.
const COMPUTING: u8 = 0;
/// It has a result and prints it, so that it ends soon.
const CONCLUDING: u8 = 1;
/// It was asked to end and had no result in time: the process is ending without one.
const GIVEN_UP: u8 = 2;

/// Who may end the command.
#[derive(Clone)]
pub struct Stop {
    watch: Arc<Watch>,
    reason: Arc<OnceLock<Stopped>>,
    phase: Arc<AtomicU8>,
    command: &'static str,
    format: Format,
    parts: Parts,
    kept: Arc<Mutex<Option<String>>>,
}

impl Stop {
    /// Listens from now on, and ends the computation of this command after `limit`. `log` is where somebody reads
    /// that Ctrl-C was heard.
    pub fn new(
        watch: &Arc<Watch>,
        parts: &Parts,
        limit: Option<Duration>,
        log: Option<Log>,
        (command, format): (&'static str, Format),
    ) -> Self {
        let stop = Self {
            watch: watch.clone(),
            reason: Arc::default(),
            phase: Arc::new(AtomicU8::new(COMPUTING)),
            command,
            format,
            parts: parts.clone(),
            kept: Arc::default(),
        };
        listen(stop.clone(), log);
        if limit.is_some_and(|limit| limit.is_zero()) {
            stop.now(Stopped::TimeLimit);
        } else if let Some(limit) = limit {
            let stop = stop.clone();
            // without a thread there is no limit, and nothing else of the command would work either
            let _ = std::thread::Builder::new().spawn(move || {
                std::thread::sleep(limit);
                stop.now(Stopped::TimeLimit);
            });
        }
        stop
    }

    /// The command has a result and will print it. If the process is ending without one, this does not return.
    pub fn conclude(&self) {
        let phase = self.phase.compare_exchange(COMPUTING, CONCLUDING, Ordering::AcqRel, Ordering::Acquire);
        while phase == Err(GIVEN_UP) {
            std::thread::park();
        }
    }

    /// Says what stays if the process ends without a result.
    pub fn keep(&self, what: String) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// Why the computation was asked to end, if it was.
    pub fn reason(&self) -> Option<Stopped> {
        self.reason.get().copied()
    }

    /// Asks it to end. Whether that is news.
    fn now(&self, reason: Stopped) -> bool {
        let first = self.reason.set(reason).is_ok();
        self.watch.stop();
        if first {
            let stop = self.clone();
            // without the thread the command ends when its computation does
            let _ = std::thread::Builder::new().spawn(move || {
                std::thread::sleep(PATIENCE);
                stop.give_up(reason);
            });
        }
        first
    }

    /// Ends the process if it still has no result.
    fn give_up(&self, reason: Stopped) {
        let phase = self.phase.compare_exchange(COMPUTING, GIVEN_UP, Ordering::AcqRel, Ordering::Acquire);
        if phase.is_err() {
            return;
        }
        let _until_the_end = self.parts.remove_all();
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        output::no_result(self.command, self.format, reason, kept);
        process::exit(i32::from(output::WRONG_INPUT));
    }
}

/// How long a process that is asked to end from outside may still take.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(10);

#[cfg(unix)]
fn listen(stop: Stop, mut log: Option<Log>) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // where signals cannot be caught they do what they always do
    let parts = stop.parts.clone();
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    let _ = std::thread::Builder::new().spawn(move || {
        let mut interrupted = false;
        for signal in signals.forever() {
            let end = move |parts: &Parts| {
                let _until_the_end = parts.remove_all();
                // ends the process as the signal would have, so that whoever started it can tell
                let _ = emulate_default_handler(signal);
            };
            if std::mem::replace(&mut interrupted, true) {
                return end(&parts);
            }
            stop.now(if signal == SIGINT { Stopped::Interrupt } else { Stopped::Terminated });
            if let Some(log) = log.as_mut().filter(|_| signal == SIGINT) {
                // nobody misses it if stderr is closed
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
