//! The place that a command prints to: stdout and stderr of this process, or memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use warpbound_core::diag::Diagnostic;

/// The place that a command prints to.
#[derive(Clone, Debug, Default)]
pub enum Printer {
    /// Stdout and stderr of this process.
    #[default]
    Process,
    /// Memory, for a program that calls the command.
    Memory(Arc<Mutex<Printed>>),
}

/// What a command printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The result.
    pub out: String,
    /// Errors and warnings.
    pub err: String,
}

impl Printer {
    /// Prints a part of the result. A reader that closes the pipe early is not an error.
    ///
    /// If stdout was closed before the process started, nothing fails: by now Rust's runtime has
    /// opened /dev/null in its place, for reading and writing. That cannot be made an error, because
    /// programs that do not want the output open /dev/null in the same way, for example Python for
    /// `subprocess.DEVNULL`.
    ///
    /// # Errors
    /// If stdout cannot be written.
    pub fn out(&self, text: &str) -> Result<(), Diagnostic> {
        let printed = match self {
            Self::Process => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Self::Memory(printed) => {
                lock(printed).out.push_str(text);
                Ok(())
            }
        };
        match printed {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Diagnostic::general("stdout", format!("cannot write the result: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Prints an error or a warning. What cannot be written is lost, because there is no other place
    /// to report it.
    pub fn err(&self, text: &str) {
        match self {
            Self::Process => {
                let _ = io::stderr().lock().write_all(text.as_bytes());
            }
            Self::Memory(printed) => lock(printed).err.push_str(text),
        }
    }
}

/// Returns the text that was printed to memory; a panic of the command leaves it as it was.
pub fn lock(printed: &Mutex<Printed>) -> std::sync::MutexGuard<'_, Printed> {
    printed.lock().unwrap_or_else(PoisonError::into_inner)
}
