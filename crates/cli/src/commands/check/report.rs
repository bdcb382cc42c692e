//! The output of `check`, and the parts of each result that it needs.

use std::rc::Rc;

use super::folders::Folders;
use super::{Judged, Run};
use crate::args::Check;
use crate::commands::{again, draw};
use crate::failures::Batch;
use crate::lists::{Lists, Setup};
use crate::output::Ending;
use crate::session::Session;
use warpbound_core::diag::Diagnostic;
use warpbound_judge::load::Loaded;
use warpbound_report::answer::Answer;
use warpbound_report::check::CheckResult;
use warpbound_report::suite::{CheckReport, Form};

/// The parts of the judged kernels that the output shows. A kernel with its runs takes tens of
/// kilobytes. It is kept completely only if its schedule is drawn or a folder is written for it.
pub struct Kept<'c> {
    args: &'c Check,
    lists: &'c Lists,
    folders: &'c Folders,
    report: CheckReport,
    violations: Vec<Violation>,
    /// The runs without a verdict, if each has to have one.
    without_verdict: Vec<String>,
    /// The kernel whose schedule is drawn, if that is requested.
    drawn: Option<Rc<Judged>>,
}

/// A violated run.
struct Violation {
    /// What was violated.
    heading: String,
    /// Two commands that repeat the run: one from its folder, if it has a folder, and one without.
    commands: [String; 2],
    /// The kernel and the index of the run, if a folder is to be written.
    in_folder: Option<(Rc<Judged>, usize)>,
}

impl<'c> Kept<'c> {
    /// Returns the collection without any results.
    pub fn new(args: &'c Check, lists: &'c Lists, folders: &'c Folders, session: &Session) -> Self {
        let form = match args.common.format.is_for_people() {
            false => Form::Json,
            true if args.kernels.len() == 1 && !lists.are_lists() => Form::InFull(session.style),
            true => Form::Table { several_machines: lists.several_machines() },
        };
        Self {
            args,
            lists,
            folders,
            report: CheckReport::new(args.common.seed, form),
            violations: Vec::new(),
            without_verdict: Vec::new(),
            drawn: None,
        }
    }

    /// Returns whether nothing was judged.
    pub fn is_empty(&self) -> bool {
        self.report.results() == 0
    }

    /// Adds a kernel with the results of its runs.
    pub fn add(&mut self, judged: Judged, ending: &mut Ending) {
        let judged = Rc::new(judged);
        self.report.answer(answers(&judged));
        for (index, run) in judged.runs.iter().enumerate() {
            let mut result = result(&judged, run);
            if run.is_violated() {
                ending.violated = true;
                let violation = self.violation(&judged, index);
                result.replay_command = Some(violation.commands[0].clone());
                if self.args.common.format.is_for_people() || violation.in_folder.is_some() {
                    self.violations.push(violation);
                }
            }
            let verdict = run.checked().verdict();
            if self.args.require_verdict && !(run.checked().is_complete() && verdict.applies()) {
                self.without_verdict.push(self.named(&judged, run));
            }
            self.report.add(&result, verdict);
        }
        if self.args.gantt && self.args.kernels.len() == 1 {
            self.drawn = Some(judged);
        }
    }

    fn violation(&self, judged: &Rc<Judged>, index: usize) -> Violation {
        let run = &judged.runs[index];
        let Setup { common, policy, .. } = &run.setup;
        let same = again::check(self.args, common, judged.what.name_given(), policy, run.launch());
        let from_folder = self.folders.command(self.args, judged, run);
        Violation {
            heading: format!("{} violates a bound{}", judged.what.name(), self.on_and_under(run)),
            commands: [from_folder.unwrap_or_else(|| same.clone()), same],
            in_folder: run.folder.is_some().then(|| (judged.clone(), index)),
        }
    }

    /// Returns the name of a run for messages.
    fn named(&self, judged: &Judged, run: &Run) -> String {
        format!("{}{}", judged.what.name(), self.on_and_under(run))
    }

    /// Returns the machine of a run, if several are named, and its policy.
    fn on_and_under(&self, run: &Run) -> String {
        let under = format!(" under {}", run.checked().policy);
        match self.lists.several_machines() {
            true => format!(" on {}{under}", run.setup.machine.name()),
            false => under,
        }
    }

    /// Prints the output, and what follows it: schedules, the folders of violations, and the
    /// commands that repeat them.
    pub fn print(mut self, batch: &Batch, session: &Session, ending: &mut Ending) {
        self.report.end(batch.report(session));
        ending.report(session, self.args.common.format, &self.report);
        self.gantt(session, ending);
        for violation in &self.violations {
            self.again(violation, session, ending);
        }
        if self.args.require_verdict {
            self.require_verdict(ending);
        }
    }

    /// Draws the first block of a kernel, if requested.
    fn gantt(&self, session: &Session, ending: &mut Ending) {
        let Some(Judged { what: Loaded::Kernel(kernel), runs }) = self.drawn.as_deref() else {
            return;
        };
        if !self.args.common.format.is_for_people() {
            return;
        }
        for Run { setup, .. } in runs {
            let heading = match self.lists.are_lists() {
                true => format!("{} under {}\n", setup.machine.name(), setup.policy.kind()),
                false => String::new(),
            };
            match draw::gantt(kernel, &setup.machine, &setup.policy, &setup.common, &session.monitor) {
                Ok(drawn) => ending.print(session, &format!("\n{heading}{drawn}")),
                Err(problems) => ending.late.append(problems),
            }
        }
    }

    /// Writes the folder of a violated run, if it is to have one, and prints how to see the
    /// violation again.
    fn again(&self, violation: &Violation, session: &Session, ending: &mut Ending) {
        let Violation { heading, commands: [from_folder, same], in_folder } = violation;
        let written = match in_folder {
            Some((judged, index)) => self.folders.write(self.args, judged, &judged.runs[*index], session),
            None => Ok(()),
        };
        let command = match written {
            Ok(()) => from_folder,
            Err(problems) => {
                ending.late.append(problems);
                same
            }
        };
        if self.args.common.format.is_for_people() {
            ending.print(session, &format!("\n{heading}; to reproduce the violation:\n  {command}\n"));
        }
    }

    /// Adds an error if no gating bound applied to a run, or if a run did not complete.
    fn require_verdict(&self, ending: &mut Ending) {
        let message = match (self.without_verdict.is_empty(), self.is_empty()) {
            (true, false) => return,
            (_, true) => "nothing was judged".to_owned(),
            (false, _) => format!("no verdict on {}", self.without_verdict.join(", ")),
        };
        let problem = Diagnostic::general("--require-verdict", message);
        ending.late.push(
            problem.hint("the reasons are beside the bounds; `--bound NAME` chooses the gating bounds"),
        );
    }
}

/// Returns the answers for a kernel, machine by machine.
fn answers(judged: &Judged) -> Vec<Answer> {
    let by_machine = judged.runs.chunk_by(|a, b| a.setup.common.machine == b.setup.common.machine);
    let of_machine = |runs: &[Run]| {
        let all: Vec<_> = runs.iter().map(Run::checked).collect();
        Answer::of_runs(judged.what.name(), &runs[0].setup.machine, &all)
    };
    by_machine.flat_map(of_machine).collect()
}

/// Returns the result of a run in the form of the output.
fn result<'a>(judged: &'a Judged, run: &'a Run) -> CheckResult<'a> {
    let (name, machine) = (judged.what.name(), &run.setup.machine);
    match &judged.what {
        Loaded::Application(found) => {
            CheckResult::of_application(name, &found.application, machine, &run.judged)
        }
        Loaded::Kernel(_) => CheckResult::new(name, machine, run.checked()),
    }
}
