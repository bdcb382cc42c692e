//! Programs that are run, with what they print.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::Diagnostic;

/// The time between two checks whether a program has ended.
const STEP: Duration = Duration::from_millis(5);

/// A program that has ended.
pub struct Ended {
    /// Whether it succeeded.
    pub success: bool,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// Its messages.
    pub stderr: String,
}

impl Ended {
    /// Returns what it printed as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// Runs a program with this input, and ends it if the monitor is stopped.
///
/// # Errors
/// Returns an error if the program cannot be started, or if it was stopped.
pub fn run(command: &mut Command, input: Vec<u8>, monitor: &ProgressMonitor) -> Result<Ended, Diagnostic> {
    let name = command.get_program().to_string_lossy().into_owned();
    let problem = |error: io::Error| Diagnostic::general(name.clone(), format!("cannot run it: {error}"));
    // messages in English, which are read here
    command.env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(problem)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // a program that does not read all of its input says why
    thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)));
    let (printed, messages) = (thread::spawn(|| read(stdout)), thread::spawn(|| read(stderr)));
    match wait(&mut child, monitor).map_err(problem)? {
        Some(success) => Ok(Ended {
            success,
            stdout: printed.join().unwrap_or_default(),
            stderr: String::from_utf8_lossy(&messages.join().unwrap_or_default()).into_owned(),
        }),
        // the threads are not waited for, because programs that it started may keep its output open
        None => Err(stopped(&name)),
    }
}

/// Returns the error for a program that was stopped.
pub fn stopped(name: &str) -> Diagnostic {
    Diagnostic::general(name, "the compilation was stopped before its end")
}

fn read(from: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // what arrived before an error is kept
    let _ = from.map(|mut from| from.read_to_end(&mut bytes));
    bytes
}

/// Returns whether the program succeeded, or `None` if it was stopped.
fn wait(child: &mut Child, monitor: &ProgressMonitor) -> io::Result<Option<bool>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if monitor.is_stopped() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(STEP);
    }
}
