//! Ending a command before it is through: Ctrl-C, signals, `--time-limit`.
//!
//! The first signal asks the computation to end; the command then prints what it has by then. The
//! second one ends the process at once, and so do ten seconds after SIGTERM; unfinished files are removed.

use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::files::Parts;
use super::progress::Log;
use crate::base::Watch;
use crate::report::output::Stopped;

/// Who may end the command.
pub struct Stop {
    watch: Arc<Watch>,
    reason: Arc<OnceLock<Stopped>>,
}

impl Stop {
    /// Listens from now on, and ends the computation after `limit`. `log` is where somebody reads that Ctrl-C
    /// was heard.
    pub fn new(watch: &Arc<Watch>, parts: &Parts, limit: Option<Duration>, log: Option<Log>) -> Self {
        let stop = Self { watch: watch.clone(), reason: Arc::default() };
        listen(stop.clone(), parts.clone(), log);
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

    /// Why the computation was asked to end, if it was.
    pub fn reason(&self) -> Option<Stopped> {
        self.reason.get().copied()
    }

    /// Asks it to end. Whether that is news.
    fn now(&self, reason: Stopped) -> bool {
        let first = self.reason.set(reason).is_ok();
        self.watch.stop();
        first
    }
}

impl Clone for Stop {
    fn clone(&self) -> Self {
        Self { watch: self.watch.clone(), reason: self.reason.clone() }
    }
}

/// How long a process that is asked to end from outside may still take.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(10);

#[cfg(unix)]
fn listen(stop: Stop, parts: Parts, mut log: Option<Log>) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // where signals cannot be caught they do what they always do
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
fn listen(_: Stop, _: Parts, _: Option<Log>) {}
