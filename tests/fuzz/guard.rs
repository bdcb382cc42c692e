//! The supervision of a trial: a computation is asked to stop after a while, and the process is
//! aborted if it then does not end.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use warpbound::base::ProgressMonitor;

/// The processor time after which a computation is asked to stop.
const PATIENCE: Duration = Duration::from_millis(300);
/// The processor time that a trial may take: far above the time of the largest trial, far below
/// that of any quadratic algorithm.
const MOST: Duration = Duration::from_secs(20);
/// The time that a trial may take if it waits for something.
const MAX_WAITING: Duration = Duration::from_secs(300);
/// The interval between two checks.
const EVERY: Duration = Duration::from_millis(20);

/// Runs a function that must end within the limits, and aborts the process otherwise.
pub fn guarded<T>(what: &str, run: impl FnOnce(&ProgressMonitor) -> T) -> T {
    let monitor = Arc::new(ProgressMonitor::new());
    let (end, ended) = mpsc::channel::<()>();
    let clock = Clock::of_this_thread();
    let (seen, panic_message) = (Arc::clone(&monitor), what.to_owned());
    let guard = std::thread::spawn(move || {
        while ended.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
            let (busy, waited) = clock.taken();
            if busy > PATIENCE || waited > MAX_WAITING / 2 {
                seen.stop();
            }
            if busy > MOST || waited > MAX_WAITING {
                // there is no other way to end the thread
                let _ = writeln!(
                    std::io::stderr(),
                    "{panic_message} does not end: {busy:?} of processor time, {waited:?} in all"
                );
                std::process::abort();
            }
        }
    });
    let result = run(&monitor);
    drop(end);
    let _ = guard.join();
    result
}

/// The processor time of a thread.
struct Clock {
    file: Option<std::path::PathBuf>,
    before: Duration,
    began: Instant,
}

impl Clock {
    fn of_this_thread() -> Self {
        let file = std::fs::read_link("/proc/thread-self").ok();
        let mut clock = Self {
            file: file.map(|thread| std::path::Path::new("/proc").join(thread).join("schedstat")),
            before: Duration::ZERO,
            began: Instant::now(),
        };
        clock.before = clock.busy();
        clock
    }

    /// Returns the first number of the file; if there is no file, all elapsed time counts.
    fn busy(&self) -> Duration {
        let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let number = text.and_then(|text| text.split_whitespace().next()?.parse().ok());
        number.map_or_else(|| self.began.elapsed(), Duration::from_nanos)
    }

    fn taken(&self) -> (Duration, Duration) {
        (self.busy().saturating_sub(self.before), self.began.elapsed())
    }
}

/// The messages of panics, by thread: a trial that panics is a result, and its message belongs to
/// it.
static PANIC_MESSAGES: Mutex<Vec<(std::thread::ThreadId, String)>> = Mutex::new(Vec::new());

/// Stores messages of panics for [`panic_message`] and does not print them; a test that fails
/// includes them in its own message.
pub fn keep_messages_of_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let standard = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = info.to_string();
            if std::thread::current().name().is_some_and(|name| name.starts_with("trial")) {
                PANIC_MESSAGES
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push((std::thread::current().id(), text));
            } else {
                standard(info);
            }
        }));
    });
}

/// Returns the message of the last panic of this thread.
pub fn panic_message(thread: std::thread::ThreadId) -> String {
    let mut all = PANIC_MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().rposition(|(of, _)| *of == thread);
    found.map_or_else(|| "a panic".to_owned(), |at| all.remove(at).1)
}
