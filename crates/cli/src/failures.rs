//! Batches of kernels: a kernel that fails is listed, and the others still run.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::session::Session;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_report::output::{self, Problem};

/// The errors of the kernels of a batch; equal errors are combined.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    problems: Vec<(Rc<Diagnostic>, Vec<String>)>,
    /// The index of each error.
    known: HashMap<Rc<Diagnostic>, usize>,
    /// The failed kernels as the command line named them, in order.
    kernels: Vec<String>,
    dropped: usize,
    /// Whether the batch has several kernels, so that errors must name them.
    several: bool,
}

impl Failures {
    /// Adds a kernel that failed with these errors.
    pub fn add(&mut self, kernel: &str, problems: &Diagnostics) {
        self.kernels.push(kernel.to_owned());
        self.dropped += problems.dropped();
        for problem in problems.list() {
            let Some(&index) = self.known.get(problem) else {
                let problem = Rc::new(problem.clone());
                self.known.insert(problem.clone(), self.problems.len());
                self.problems.push((problem, vec![kernel.to_owned()]));
                continue;
            };
            let kernels = &mut self.problems[index].1;
            if kernels.last().is_none_or(|last| last != kernel) {
                kernels.push(kernel.to_owned());
            }
        }
    }

    /// Returns whether no kernel failed.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// Returns the errors in the form of reports.
    fn problems(&self) -> Vec<Problem> {
        let affected = |kernels: &Vec<String>| if self.several { kernels.clone() } else { Vec::new() };
        self.problems.iter().map(|(problem, kernels)| Problem::new(problem, affected(kernels))).collect()
    }

    /// Returns the errors alone, for a batch of one kernel.
    pub fn into_problems(self) -> Diagnostics {
        let mut all = Diagnostics::new();
        self.problems.into_iter().for_each(|(problem, _)| all.push((*problem).clone()));
        all
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (problem, kernels)) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
            if self.several {
                let affected = if kernels.len() == 1 { "kernel" } else { "kernels" };
                writeln!(f, "  = {affected}: {}", kernels.join(", "))?;
            }
        }
        if self.dropped > 0 {
            writeln!(f, "\n... and {} more errors", self.dropped)?;
        }
        Ok(())
    }
}

/// The progress of a batch: which kernels were started, which failed.
pub struct Batch<'n> {
    names: &'n [String],
    /// The number of kernels that were started.
    begun: usize,
    /// Whether a kernel was stopped before it completed.
    cut: bool,
    /// The kernels that were stopped before they had any result.
    without_result: Vec<String>,
    /// The failed kernels.
    pub failures: Failures,
}

impl<'n> Batch<'n> {
    /// Returns a batch of these kernels, none of which has been started.
    pub fn new(names: &'n [String]) -> Self {
        Self {
            names,
            begun: 0,
            cut: false,
            without_result: Vec::new(),
            failures: Failures { several: names.len() > 1, ..Failures::default() },
        }
    }

    /// Starts the next kernel and returns its index and name, or `None` if there is none or the
    /// command was stopped.
    pub fn begin(&mut self, session: &Session) -> Option<(usize, &'n str)> {
        let name = self.names.get(self.begun).filter(|_| !session.monitor.is_stopped())?;
        self.begun += 1;
        Some((self.begun - 1, name))
    }

    /// Returns the number of kernels.
    pub fn kernels(&self) -> usize {
        self.names.len()
    }

    /// Records that the next kernel was started elsewhere.
    pub fn begun(&mut self) {
        self.begun += 1;
    }

    /// Returns the name of a kernel by its index.
    pub fn name(&self, kernel: usize) -> &'n str {
        &self.names[kernel]
    }

    /// Returns the label of the kernel that was started last, for the progress display.
    pub fn label(&self, kernel: &str) -> String {
        match self.names.len() {
            1 => kernel.to_owned(),
            all => format!("{kernel} ({} of {all})", self.begun),
        }
    }

    /// Returns the kernels that were not started.
    fn left(&self) -> &'n [String] {
        &self.names[self.begun..]
    }

    /// Records that the current kernel was stopped before it completed.
    pub fn cut_short(&mut self) {
        self.cut = true;
    }

    /// Records that a kernel was stopped before it had any result.
    pub fn without_result(&mut self, kernel: &str) {
        self.cut_short();
        self.without_result.push(kernel.to_owned());
    }

    /// Returns whether the command was stopped before all kernels completed.
    pub fn is_incomplete(&self) -> bool {
        self.cut || !self.left().is_empty()
    }

    /// Ends the command with the errors of its only kernel, if that has no result.
    ///
    /// # Errors
    /// The errors of the kernel, if the batch has no other and was not stopped.
    pub fn only_failure(&self, has_results: bool) -> Result<(), Diagnostics> {
        match has_results || self.names.len() != 1 || self.is_incomplete() {
            true => Ok(()),
            false => Err(self.failures.clone().into_problems()),
        }
    }

    /// Returns whether and how the batch ended early.
    pub fn report(&self, session: &Session) -> output::Batch {
        output::Batch {
            complete: !self.is_incomplete() && self.failures.is_empty(),
            stopped: session.stopped().filter(|_| self.is_incomplete()),
            not_reached: self.without_result.iter().chain(self.left()).cloned().collect(),
            failed: if self.failures.several { self.failures.kernels.clone() } else { Vec::new() },
            errors: self.failures.problems(),
            more_errors: self.failures.dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn very_many_errors_are_added_in_linear_time() {
        let mut all = Failures { several: true, ..Failures::default() };
        let began = Instant::now();
        for number in 0..100_000 {
            let mut problems = Diagnostics::from(Diagnostic::general("machine.ron", "in all of them"));
            problems.push(Diagnostic::general("kernel", format!("{number} in one of them")));
            all.add(&number.to_string(), &problems);
        }
        // five billion comparisons take much longer
        let took = began.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
        let problems = all.problems();
        assert_eq!(problems.len(), 100_001);
        assert_eq!(problems[0].kernels.len(), 100_000);
        assert_eq!(
            (&*problems[70_000].message, &problems[70_000].kernels[..]),
            ("69999 in one of them", &["69999".to_owned()][..])
        );
    }
}
