//! Batches: what failed is listed, the rest goes on.

use std::fmt;

use super::session::Session;
use crate::diag::{Diagnostic, Diagnostics};
use crate::report::output::{self, Problem};

/// What was wrong with kernels of a batch, the same thing once.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    problems: Vec<(Diagnostic, Vec<String>)>,
    /// Kernels as the command line named them, in order.
    kernels: Vec<String>,
    dropped: usize,
    /// Whether there is more than one kernel, so that problems need to say whose they are.
    several: bool,
}

impl Failures {
    /// A kernel failed.
    pub fn add(&mut self, kernel: &str, problems: &Diagnostics) {
        self.kernels.push(kernel.to_owned());
        self.dropped += problems.dropped();
        for problem in problems.list() {
            match self.problems.iter_mut().find(|(known, _)| known == problem) {
                Some((_, kernels)) if kernels.last().is_some_and(|last| last == kernel) => {}
                Some((_, kernels)) => kernels.push(kernel.to_owned()),
                None => self.problems.push((problem.clone(), vec![kernel.to_owned()])),
            }
        }
    }

    /// Whether none failed.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// As reports have them.
    fn problems(&self) -> Vec<Problem> {
        let whose = |kernels: &Vec<String>| if self.several { kernels.clone() } else { Vec::new() };
        self.problems.iter().map(|(problem, kernels)| Problem::new(problem, whose(kernels))).collect()
    }

    /// The problems alone, where they are of one kernel.
    pub fn into_problems(self) -> Diagnostics {
        let mut all = Diagnostics::new();
        self.problems.into_iter().for_each(|(problem, _)| all.push(problem));
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
                let whose = if kernels.len() == 1 { "kernel" } else { "kernels" };
                writeln!(f, "  = {whose}: {}", kernels.join(", "))?;
            }
        }
        if self.dropped > 0 {
            writeln!(f, "\n... and {} more errors", self.dropped)?;
        }
        Ok(())
    }
}

/// A batch under way: which kernels came to what.
pub struct Batch<'n> {
    names: &'n [String],
    /// How many of them have been begun.
    begun: usize,
    /// Whether one was cut short.
    cut: bool,
    /// Those that failed.
    pub failures: Failures,
}

impl<'n> Batch<'n> {
    /// None of these has been begun.
    pub fn new(names: &'n [String]) -> Self {
        Self {
            names,
            begun: 0,
            cut: false,
            failures: Failures { several: names.len() > 1, ..Failures::default() },
        }
    }

    /// The next kernel and its number, unless somebody ended the command.
    pub fn begin(&mut self, session: &Session) -> Option<(usize, &'n str)> {
        let name = self.names.get(self.begun).filter(|_| !session.watch.is_stopped())?;
        self.begun += 1;
        Some((self.begun - 1, name))
    }

    /// How many there are.
    pub fn kernels(&self) -> usize {
        self.names.len()
    }

    /// The next one has been begun by somebody else.
    pub fn begun(&mut self) {
        self.begun += 1;
    }

    /// The name of a kernel, by its number.
    pub fn name(&self, kernel: usize) -> &'n str {
        &self.names[kernel]
    }

    /// What progress says of the kernel that was begun last.
    pub fn label(&self, kernel: &str) -> String {
        match self.names.len() {
            1 => kernel.to_owned(),
            all => format!("{kernel} ({} of {all})", self.begun),
        }
    }

    /// Those that have not been begun.
    fn left(&self) -> &'n [String] {
        &self.names[self.begun..]
    }

    /// The one under way was ended before it was through.
    pub fn cut_short(&mut self) {
        self.cut = true;
    }

    /// Whether somebody ended the command before all were through.
    pub fn is_incomplete(&self) -> bool {
        self.cut || !self.left().is_empty()
    }

    /// How it ended.
    pub fn report(&self, session: &Session) -> output::Batch {
        output::Batch {
            complete: !self.is_incomplete() && self.failures.is_empty(),
            stopped: session.stopped().filter(|_| self.is_incomplete()),
            not_reached: self.left().to_vec(),
            failed: if self.failures.several { self.failures.kernels.clone() } else { Vec::new() },
            errors: self.failures.problems(),
            more_errors: self.failures.dropped,
        }
    }
}
