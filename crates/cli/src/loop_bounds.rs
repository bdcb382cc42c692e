//! The loop bounds given by `--loop-bound` and `--annotations`.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::args::LoopBounds;
use warpbound_core::base::Pc;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::program::loop_bounds::{self, LoopBound, NoLoopBounds, ProgramLoopBounds, WrongBound};
use warpbound_core::program::sequence::Sequence;
use warpbound_core::program::warp_cfg::{Divergence, WarpCfg};
use warpbound_judge::check::WorkloadKind;
use warpbound_judge::load::{LoadedKernel, read};

/// A given bound and its place.
pub struct Given {
    /// The text without comments.
    pub text: String,
    pub place: Diagnostic,
}

/// Returns the given bounds: first the lines of the file, then the options. Each bound has its
/// place, in the form of an error without a message.
pub fn given(options: &[String], annotations: Option<&Path>) -> Result<Vec<Given>, Diagnostics> {
    let mut found = Vec::new();
    if let Some(path) = annotations {
        for (number, line) in text_of(path)?.lines().enumerate() {
            let text = line.split('#').next().unwrap_or("").trim();
            if !text.is_empty() {
                let place = Diagnostic {
                    line: u32::try_from(number + 1).unwrap_or(u32::MAX),
                    column: 1,
                    width: u32::try_from(text.chars().count()).unwrap_or(1),
                    excerpt: line.to_owned(),
                    ..Diagnostic::general(path.display().to_string(), "")
                };
                found.push(Given { text: text.to_owned(), place });
            }
        }
    }
    found.extend(options.iter().map(|text| Given {
        text: text.clone(),
        place: Diagnostic::general(format!("--loop-bound {text}"), ""),
    }));
    Ok(found)
}

fn file_name(source: &str) -> String {
    Path::new(source).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn text_of(path: &Path) -> Result<String, Diagnostic> {
    let bytes = read::text(path, read::TEXT_BYTES)?;
    String::from_utf8(bytes)
        .map_err(|_| Diagnostic::general(path.display().to_string(), "the file is not UTF-8 text"))
}

/// Loop bounds by line of the source.
pub struct ByLine {
    bounds: Vec<LoopBound>,
    places: Vec<Diagnostic>,
    /// The source files of the kernels so far.
    sources: RefCell<BTreeSet<String>>,
}

impl ByLine {
    /// Parses the bounds of the command line.
    ///
    /// # Errors
    /// Every text that is not a valid bound.
    pub fn new(args: &LoopBounds) -> Result<Self, Diagnostics> {
        let (mut bounds, mut places, mut problems) = (Vec::new(), Vec::new(), Diagnostics::new());
        for Given { text, place } in given(&args.loop_bound, args.annotations.as_deref())? {
            match text.parse() {
                Ok(bound) => {
                    bounds.push(bound);
                    places.push(place);
                }
                Err(message) => problems.push(Diagnostic { message, ..place }.hint(
                    "LINE is the line at which the loop begins in the PTX; N is the greatest number of times that a \
                     thread goes back to it",
                )),
            }
        }
        problems.into_result(Self { bounds, places, sources: RefCell::default() })
    }

    /// Returns the bounds that apply to a kernel's source, as a list and as a map from the first
    /// instruction of the loop to the bound.
    ///
    /// # Errors
    /// If a bound refers to no loop or a loop has two bounds, or if the kernel is invalid.
    pub fn of(&self, kernel: &LoadedKernel) -> Result<(Vec<LoopBound>, HashMap<Pc, u64>), Diagnostics> {
        let program = kernel.workload.program();
        if let WorkloadKind::Step { sequence, step } = &kernel.workload.kind {
            let of_program = self.of_program(sequence)?;
            return Ok(of_program.of_launch(sequence.statements[step.statement].kernel, step.number));
        }
        self.sources.borrow_mut().insert(program.file.clone());
        let own: Vec<LoopBound> =
            self.bounds.iter().filter(|bound| bound.is_for(&program.file)).cloned().collect();
        if own.is_empty() {
            return Ok((own, HashMap::new()));
        }
        let of_launches = |bound: &LoopBound| bound.is_for(&program.file) && bound.launches.is_some();
        if let Some(index) = self.bounds.iter().position(of_launches) {
            let message =
                format!("`{}` is one kernel, and only a program has launches", kernel.workload.name);
            let problem = Diagnostic { message, ..self.places[index].clone() };
            return Err(problem.hint("leave out the @ and what follows it, up to the =").into());
        }
        let block = kernel.workload.launch().map(|launch| launch.block);
        let graph = WarpCfg::new(program, block, Divergence::Sides).map_err(|code| code.problem(program))?;
        let found =
            loop_bounds::resolve(program, &graph, &self.bounds).map_err(|wrong| self.problem(wrong))?;
        Ok((own, found))
    }

    /// Returns the bounds of the launches of a program.
    ///
    /// # Errors
    /// If a bound refers to no loop, or to no launch that executes the loop, or if a loop has two
    /// bounds for the same launch.
    pub fn of_program(&self, sequence: &Sequence) -> Result<ProgramLoopBounds, Diagnostics> {
        self.sources.borrow_mut().extend(sequence.kernels.iter().map(|kernel| kernel.program.file.clone()));
        ProgramLoopBounds::new(sequence, &self.bounds).map_err(|why| match why {
            NoLoopBounds::Bound(wrong) => self.problem(wrong).into(),
            NoLoopBounds::Kernel(kernel, code) => code.problem(&sequence.kernels[kernel].program).into(),
        })
    }

    /// Warns of bounds that name a source file from which no kernel so far came.
    pub fn warn_of_unused(&self) {
        let sources = self.sources.borrow();
        let names: BTreeSet<_> = sources.iter().map(|source| format!("`{}`", file_name(source))).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        for (bound, place) in self.bounds.iter().zip(&self.places) {
            if !sources.is_empty() && !sources.iter().any(|source| bound.is_for(source)) {
                let line = if place.line > 0 { format!(":{}", place.line) } else { String::new() };
                tracing::warn!("{}{line}: this bound is not used; the kernels come from {names}", place.file);
            }
        }
    }

    fn problem(&self, wrong: WrongBound) -> Diagnostic {
        let place = self.places[wrong.index].clone();
        let hint = match self.bounds[wrong.index].file {
            Some(_) => wrong.hint,
            None => format!("{}; FILE:LINE=N applies to the kernels of one source file only", wrong.hint),
        };
        Diagnostic { message: wrong.message.to_owned(), ..place }.hint(hint)
    }
}
