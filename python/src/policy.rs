//! Policies that are written in Python.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use warpbound_core::base::{BlockId, Cycle, WarpMask};
use warpbound_sim::policy::{self, Placed, Policy, PolicyError, PolicyFault};

/// The cycles in a row in which a policy may choose none of the ready warps.
const PATIENCE: u64 = 100_000;

/// The state on which a policy may base its decision. Warps are numbers of slots of the SM.
#[pyclass(module = "warpbound._native", frozen, get_all)]
pub struct View {
    /// The cycle.
    now: u64,
    /// The warps that can issue in this cycle.
    ready: Vec<usize>,
    /// The warps that have not finished.
    live: Vec<usize>,
    /// The warps among them that wait at a barrier.
    at_barrier: Vec<usize>,
    /// The warps of each resident block, the oldest block first.
    by_age: Vec<Vec<usize>>,
}

impl View {
    fn of(view: &policy::View) -> Self {
        let slots = |mask: WarpMask| mask.slots().collect();
        Self {
            now: view.now.get(),
            ready: slots(view.ready),
            live: slots(view.live),
            at_barrier: slots(view.at_barrier),
            by_age: view.by_age.iter().copied().map(slots).collect(),
        }
    }
}

/// The text of the error of a policy that was stopped.
const STOPPED: &str = "the run was stopped before its end";

/// What is shared by the policies of one definition.
#[derive(Default)]
struct Shared {
    /// Whether they must not call Python any more.
    stopped: AtomicBool,
    /// The threads, as Python numbers them, that are calling a method of a policy now.
    inside: Mutex<BTreeSet<u64>>,
}

impl Shared {
    fn inside(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls Python as long as the policies are not stopped.
    fn during<T>(&self, py: Python<'_>, call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let thread = thread(py).map_err(|error| error.to_string())?;
        // a stop sees the thread, or the thread sees the stop
        self.inside().insert(thread);
        let result = if self.is_stopped() { Err(STOPPED.to_owned()) } else { call() };
        self.inside().remove(&thread);
        if self.is_stopped() { Err(STOPPED.to_owned()) } else { result }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// Returns the number that Python gives to this thread.
fn thread(py: Python<'_>) -> PyResult<u64> {
    thread_local! {
        static NUMBER: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
    }
    if let Some(known) = NUMBER.get() {
        return Ok(known);
    }
    let number = py.import("threading")?.call_method0("get_ident")?.extract()?;
    NUMBER.set(Some(number));
    Ok(number)
}

/// A policy that was made known.
#[pyclass(module = "warpbound._native", frozen)]
pub struct Definition(Arc<Shared>);

#[pymethods]
impl Definition {
    /// Ends the runs that use this definition with an error at their next call of Python. Returns the
    /// threads that are calling a method of a policy now.
    fn stop(&self) -> Vec<u64> {
        self.0.stopped.store(true, Ordering::SeqCst);
        self.0.inside().iter().copied().collect()
    }
}

/// Makes a policy known by a name; `called:NAME` selects it. `make` is called for each sub-core of
/// each SM and returns an object with the method `choose(view)`. Commands that are running keep the
/// definition that they began with.
#[pyfunction]
pub fn define_policy(name: String, make: Py<PyAny>) -> Definition {
    let shown = name.clone();
    let shared = Arc::new(Shared::default());
    let definition = Definition(shared.clone());
    let make = move || -> Box<dyn Policy + Send> {
        let made = Python::attach(|py| shared.during(py, || made(py, &make)));
        let (object, failed) = match made {
            Ok(object) => (Some(object), None),
            Err(why) => (None, Some(why)),
        };
        let (name, shared) = (shown.clone(), shared.clone());
        Box::new(PyPolicy { name, shared, object, failed, unused: 0, waits: false })
    };
    policy::define_policy(name, Arc::new(make));
    definition
}

fn made(py: Python<'_>, make: &Py<PyAny>) -> Result<Py<PyAny>, String> {
    let made = make.call0(py).map_err(|error| shown(py, "the policy cannot be made", &error))?;
    if made.bind(py).hasattr("choose").unwrap_or(false) {
        return Ok(made);
    }
    let error = PyTypeError::new_err("it has no method choose(view)");
    Err(shown(py, "the policy cannot be used", &error))
}

/// Returns an exception with the place where it was raised.
fn shown(py: Python<'_>, what: &str, error: &PyErr) -> String {
    let place = error.traceback(py).and_then(|trace| {
        let frames = py.import("traceback").ok()?.call_method1("extract_tb", (trace,)).ok()?;
        let last = frames.get_item(frames.len().ok()?.checked_sub(1)?).ok()?;
        let (file, line) = (last.getattr("filename").ok()?, last.getattr("lineno").ok()?);
        Some(format!(" ({file}, line {line})"))
    });
    format!("{what}: {error}{}", place.unwrap_or_default())
}

/// A policy on one sub-core.
struct PyPolicy {
    name: String,
    shared: Arc<Shared>,
    /// `None` if it could not be made.
    object: Option<Py<PyAny>>,
    /// What went wrong where no error can be returned.
    failed: Option<String>,
    /// The number of calls in a row in which it chose none of the ready warps.
    unused: u64,
    /// Whether it has just chosen none of them.
    waits: bool,
}

impl PyPolicy {
    /// Calls a method that the policy may lack.
    fn tell<'py>(
        &mut self,
        py: Python<'py>,
        method: &str,
        arguments: impl FnOnce() -> PyResult<Bound<'py, pyo3::types::PyTuple>>,
    ) {
        let Some(object) = self.object.as_ref().map(|object| object.bind(py)) else { return };
        if self.failed.is_some() {
            return;
        }
        let call = || {
            if !object.hasattr(method).unwrap_or(false) {
                return Ok(());
            }
            let called = arguments().and_then(|arguments| object.call_method1(method, arguments));
            called.map(drop).map_err(|error| shown(py, &format!("{method} failed"), &error))
        };
        self.failed = self.shared.during(py, call).err();
    }

    fn chosen(&self, view: &policy::View) -> Result<Option<usize>, String> {
        if let Some(why) = &self.failed {
            return Err(why.clone());
        }
        let object = self.object.as_ref().ok_or("the policy could not be made")?;
        Python::attach(|py| {
            let call = || object.bind(py).call_method1("choose", (View::of(view),));
            let call = || call().map_err(|error| shown(py, "choose failed", &error));
            let chosen = self.shared.during(py, call)?;
            if chosen.is_none() {
                return Ok(None);
            }
            let slot: Option<usize> = chosen.extract().ok();
            match slot.filter(|&slot| slot < warpbound_sim::SLOTS && view.ready.has(slot)) {
                Some(slot) => Ok(Some(slot)),
                None => Err(format!("choose returned {chosen}, which is no ready warp")),
            }
        })
    }

    fn error(&self, now: Cycle, why: String) -> Box<PolicyError> {
        Box::new(PolicyError {
            file: format!("called:{}", self.name),
            line: 0,
            block: BlockId::new(0),
            cycle: now,
            fault: PolicyFault::Failed(why),
            ready: Vec::new(),
        })
    }
}

impl Policy for PyPolicy {
    fn is_work_conserving(&self) -> bool {
        // what it does is observed in each run
        false
    }

    fn restart(&mut self) {
        (self.unused, self.waits) = (0, false);
        Python::attach(|py| self.tell(py, "restart", || Ok(pyo3::types::PyTuple::empty(py))));
    }

    fn placed(&mut self, placed: &Placed) {
        let slots: Vec<usize> = placed.slots.slots().collect();
        Python::attach(|py| {
            self.tell(py, "placed", || (placed.block.get(), slots, placed.at.get()).into_pyobject(py));
        });
    }

    fn choose(&mut self, view: &policy::View) -> Result<Option<usize>, Box<PolicyError>> {
        self.waits = false;
        if view.ready.is_empty() && self.failed.is_none() {
            return Ok(None);
        }
        let chosen = self.chosen(view).map_err(|why| self.error(view.now, why))?;
        self.waits = chosen.is_none();
        self.unused = if self.waits { self.unused + 1 } else { 0 };
        if self.unused > PATIENCE {
            let why = format!("choose returned None {PATIENCE} times in a row, and warps were ready");
            return Err(self.error(view.now, why));
        }
        Ok(chosen)
    }

    fn wake(&self, view: &policy::View) -> Cycle {
        // a policy that waits may choose in the next cycle what it did not choose in this one
        if self.waits { Cycle::new(view.now.get() + 1) } else { Cycle::NEVER }
    }

    fn ended(&mut self, block: BlockId) -> Result<(), Box<PolicyError>> {
        Python::attach(|py| self.tell(py, "ended", || (block.get(),).into_pyobject(py)));
        match self.failed.take() {
            Some(why) => Err(self.error(Cycle::ZERO, why)),
            None => Ok(()),
        }
    }
}
