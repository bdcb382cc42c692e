//! Commands that another program calls as a library, such as the Python package.
//!
//! A call runs on a thread of its own and prints to memory. It neither handles signals nor ends the
//! process, whatever its input is.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use super::files::Parts;
use super::printer::{self, Printed};
use super::progress::{Stage, Watched};
use super::session::Caller;
use super::stop::Stop;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::printable;
use warpbound_report::output::Stopped;

/// The size of the stack of a call, in bytes; it is that of the main thread of a program.
const STACK: usize = 8 << 20;

/// The exit code of a command that ended by a fault of this library.
const FAULT: u8 = 101;

/// A command that was called and may still be running.
pub struct Call {
    caller: Caller,
    thread: JoinHandle<u8>,
    /// It is disconnected when the thread ends, whatever ends it.
    end: Receiver<()>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code that the program would have.
    pub code: u8,
    /// The text that the program would print to stdout.
    pub out: String,
    /// The text that the program would print to stderr.
    pub err: String,
}

impl Call {
    /// Starts a command with the words of its command line, of which the first is the name of a
    /// command.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(words: impl IntoIterator<Item = OsString>) -> io::Result<Self> {
        let words: Vec<OsString> = std::iter::once("warpbound".into()).chain(words).collect();
        let (monitor, parts) = (Arc::new(ProgressMonitor::new()), Parts::default());
        let stop = Stop::new(&monitor, &parts);
        let caller = Caller { monitor, stage: Watched::default(), stop, parts, printed: Arc::default() };
        let of_thread = caller.clone();
        let (until_the_end, end) = channel();
        let run = move || {
            let _until_the_end = until_the_end;
            Warnings::go_to(&of_thread.printed);
            super::load::forget_warnings();
            super::called(&words, &of_thread)
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(run)?;
        Ok(Self { caller, thread, end })
    }

    /// Requests the command to stop. It then ends with what it has established so far.
    pub fn stop(&self) {
        self.caller.stop.now(Stopped::Interrupt);
    }

    /// Returns whether the command was requested to stop, or its time limit has passed.
    pub fn is_stopped(&self) -> bool {
        self.caller.stop.reason().is_some()
    }

    /// Waits until the command has ended, at most for this time. Returns whether it has ended.
    pub fn ends_within(&self, time: Duration) -> bool {
        self.end.recv_timeout(time) == Err(RecvTimeoutError::Disconnected)
    }

    /// Returns the current stage of the command.
    pub fn stage(&self) -> Stage {
        self.caller.stage.stage()
    }

    /// Returns the number of completed steps of the current stage.
    pub fn done(&self) -> u64 {
        self.caller.monitor.done()
    }

    /// Waits until the command has ended.
    pub fn wait(self) -> Answer {
        let ended = self.thread.join();
        let Printed { out, mut err } = std::mem::take(&mut *printer::lock(&self.caller.printed));
        let code = ended.unwrap_or_else(|_| {
            let _nothing_can_be_started = self.caller.parts.remove_all();
            err.push_str(super::FAULT);
            err.push('\n');
            FAULT
        });
        Answer { code, out, err }
    }
}

/// The calls that are running, for warnings from threads that belong to none of them.
static RUNNING: Mutex<Vec<Weak<Mutex<Printed>>>> = Mutex::new(Vec::new());

thread_local! {
    /// The call that this thread runs.
    static OWN: RefCell<Option<Arc<Mutex<Printed>>>> = const { RefCell::new(None) };
}

/// A writer of warnings to the call whose thread warns. Threads that a command starts itself belong
/// to no call: their warnings go to all calls that are running.
struct Warnings;

impl Warnings {
    /// Sends the warnings of this thread to a call.
    fn go_to(printed: &Arc<Mutex<Printed>>) {
        OWN.with_borrow_mut(|own| *own = Some(Arc::clone(printed)));
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|call| call.strong_count() > 0);
        running.push(Arc::downgrade(printed));
        // the first call of the process decides
        super::log_to(tracing::Level::WARN, false, || Self);
    }
}

impl Write for Warnings {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let print = |printed: &Mutex<Printed>| printer::lock(printed).err.push_str(&printable(&text));
        let of_call = OWN.with_borrow(|own| own.as_deref().map(print).is_some());
        if !of_call {
            let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            running.iter().filter_map(Weak::upgrade).for_each(|printed| print(&printed));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(words: &str) -> Answer {
        Call::start(words.split_whitespace().map(OsString::from)).unwrap().wait()
    }

    #[test]
    fn a_call_answers_as_the_program_does() {
        let ran = call("run fig3 --format json");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.starts_with("{\"schema\":"), "{}", ran.out);
        let unknown = call("run fig33 --format json");
        assert_eq!((unknown.code, unknown.err.as_str()), (1, ""));
        assert!(unknown.out.contains("did you mean"), "{}", unknown.out);
        let usage = call("run fig3 --nonsense");
        assert_eq!((usage.code, usage.out.as_str()), (2, ""));
        assert!(usage.err.contains("--nonsense"), "{}", usage.err);
    }

    #[test]
    fn each_call_has_its_own_warnings_and_memory() {
        let words = "run fig3 --set limits.blocks=1 --set alu_groups.x=1 --format json";
        assert_eq!(call(words), call(words));
        let limited = call("run saxpy --max-memory 1K --format json");
        assert!(limited.out.contains("memory"), "{}", limited.out);
        assert_eq!(call("run saxpy --format json").code, 0);
    }

    #[test]
    fn a_call_can_be_stopped() {
        let words = "run sgemm_naive_large --format json";
        let call = Call::start(words.split_whitespace().map(OsString::from)).unwrap();
        while call.done() == 0 {
            assert!(!call.ends_within(Duration::from_millis(1)));
        }
        call.stop();
        let answer = call.wait();
        assert!(answer.out.contains("\"stopped\":"), "{answer:?}");
    }
}
