//! The native part of the Python package: it runs commands of warpbound inside the interpreter.
//!
//! The lock of the interpreter is free while a command runs. Python waits for its end in short
//! intervals, so that Ctrl-C reaches a running command.

mod policy;

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use warpbound_cli::{Answer, Stage};

/// A command that runs on a thread of its own.
#[pyclass(module = "warpbound._native", frozen)]
struct Call {
    /// `None` after the answer was taken.
    call: Mutex<Option<warpbound_cli::Call>>,
}

impl Call {
    fn with<T>(&self, get: impl FnOnce(&warpbound_cli::Call) -> T) -> PyResult<T> {
        let call = self.call.lock().unwrap_or_else(PoisonError::into_inner);
        call.as_ref().map(get).ok_or_else(taken)
    }
}

fn taken() -> PyErr {
    PyRuntimeError::new_err("the answer of this call was taken")
}

#[pymethods]
impl Call {
    /// Starts a command with the words of its command line.
    #[new]
    fn new(words: Vec<OsString>) -> PyResult<Self> {
        let call =
            warpbound_cli::Call::start(words).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(Self { call: Mutex::new(Some(call)) })
    }

    /// Waits at most this number of milliseconds for the end of the command. Returns whether it has
    /// ended.
    fn ends_within(&self, py: Python<'_>, milliseconds: u32) -> bool {
        let time = Duration::from_millis(milliseconds.into());
        py.detach(|| self.with(|call| call.ends_within(time)).unwrap_or(true))
    }

    /// Requests the command to stop. It then ends with what it has established so far.
    fn stop(&self) -> PyResult<()> {
        self.with(warpbound_cli::Call::stop)
    }

    /// Returns whether the command was requested to stop, or its time limit has passed.
    fn is_stopped(&self) -> PyResult<bool> {
        self.with(warpbound_cli::Call::is_stopped)
    }

    /// Returns what is being done, the number of completed steps, the number of all steps if it is
    /// known, and the unit of a step.
    fn progress(&self) -> PyResult<(String, u64, Option<u64>, &'static str)> {
        let (Stage { what, steps, unit }, done) = self.with(|call| (call.stage(), call.done()))?;
        Ok((what, done, steps, unit))
    }

    /// Waits for the end of the command. Returns its exit code, and what it printed to stdout and
    /// stderr. The answer can be taken once.
    fn answer(&self, py: Python<'_>) -> PyResult<(u8, String, String)> {
        py.detach(|| {
            let call = self.call.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Answer { code, out, err } = call.ok_or_else(taken)?.wait();
            Ok((code, out, err))
        })
    }
}

/// The native part of the package `warpbound`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::Call;
    #[pymodule_export]
    use super::policy::{Definition, View, define_policy};

    /// The version of warpbound.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const version: &str = env!("CARGO_PKG_VERSION");
}
