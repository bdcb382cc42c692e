//! Ending a command before it is through: Ctrl-C, signals, `--time-limit`.
//!
//! The first signal asks the computation to end; the command then prints what it has by then. Where a step does not
//! look at the [`Watch`] in time, the process ends without it and says that it has no result. The
//! second signal ends the process at once, and so do ten seconds after SIGTERM; unfinished files are removed.

use std::io::Write;
use std::process;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::files::Parts;
use super::progress::Log;
use crate::base::Watch;
use crate::report::output::Stopped;

/// How long a computation that was asked to end may take until it has a result.
const PATIENCE: Duration = Duration::from_millis(850);

/// How long it may take after that if it has seen that it should end: it puts a result together then.
const CONCLUSION: Duration = Duration::from_secs(5);

/// The patience grows by no more than this while the machine does other things.
const MOST_STARVED: Duration = Duration::from_secs(4);

/// The command computes.
const COMPUTING: u8 = 0;
/// It has a result and prints it, so that it ends soon.
const CONCLUDING: u8 = 1;
/// It was asked to end and had no result in time: the process is ending without one.
const GIVEN_UP: u8 = 2;

/// Says that there is no result, for this reason, and what stays all the same; gives the exit code.
pub type Without = dyn Fn(Stopped, Option<String>) -> u8 + Send + Sync;

/// Who may end the command.
#[derive(Clone)]
pub struct Stop {
    watch: Arc<Watch>,
    reason: Arc<OnceLock<Stopped>>,
    phase: Arc<AtomicU8>,
    without: Arc<Without>,
    parts: Parts,
    kept: Arc<Mutex<Option<String>>>,
}

impl Stop {
    /// Listens from now on, and ends the computation after `limit`. `log` is where somebody reads that Ctrl-C
    /// was heard; `without` is called if the process ends without a result.
    pub fn new(
        watch: &Arc<Watch>,
        parts: &Parts,
        limit: Option<Duration>,
        log: Option<Log>,
        without: Arc<Without>,
    ) -> Self {
        let stop = Self {
            watch: watch.clone(),
            reason: Arc::default(),
            phase: Arc::new(AtomicU8::new(COMPUTING)),
            without,
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
                wait(PATIENCE);
                if stop.watch.has_noticed() {
                    wait(CONCLUSION);
                }
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
        process::exit((self.without)(reason, kept).into());
    }
}

/// Waits so long, and as long again as the command waited for a processor meanwhile: on a machine that does other
/// things as well it has not had that time.
fn wait(patience: Duration) {
    let (began, before) = (Instant::now(), starved());
    loop {
        let late = starved().saturating_sub(before).min(MOST_STARVED);
        let Some(left) = (patience + late).checked_sub(began.elapsed()).filter(|left| !left.is_zero()) else {
            break;
        };
        std::thread::sleep(left);
    }
}

/// How long the first thread of this process has waited for a processor; 0 where the system does not tell.
fn starved() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0))
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
