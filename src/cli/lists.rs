//! `--machine` and `--scheduler` as lists: every combination is a run.
//!
//! What is named twice is refused, since it would be there twice; so is what cannot be found or does not fit the
//! settings, all of it at once and before anything runs.

use std::ops::Range;
use std::path::Path;

use super::args::Common;
use super::assets;
use super::load::{self, Loaded};
use super::policies;
use crate::diag::{Diagnostic, Diagnostics, SourceText};
use crate::machine::{Machine, MachineSpec, ParseSchedulerError, SchedulerKind};
use crate::sim::PolicySetup;

/// What the command line lists; none where it says nothing.
pub struct Lists {
    machines: Option<Vec<String>>,
    policies: Option<Vec<String>>,
}

/// A machine and a policy for a kernel, ready to run.
pub struct Setup {
    /// The machine; where `--scheduler` names the policy, it is the machine's.
    pub machine: Machine,
    /// As the file and the command line say it.
    pub spec: MachineSpec,
    /// The policy.
    pub policy: PolicySetup,
    /// The options that say the same alone.
    pub common: Common,
}

impl Lists {
    /// Reads both options. Of a list everything is tried; a single name is left to whoever uses it.
    pub fn new(common: &Common) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let is_file = |text: &str| Path::new(text).exists();
        let machines = common.machine.as_ref().map(|text| {
            let list = List::new("--machine", text, is_file(text));
            list.try_each(&mut problems, |name, wrong| {
                let location = assets::find_machine(name, None).map_err(|found| wrong(&found))?;
                let alone = Common { machine: Some(name.to_owned()), scheduler: None, ..common.clone() };
                load::machine_at(&location, &alone).map(|_| name.to_owned())
            })
        });
        let policies = common.scheduler.as_ref().map(|text| {
            let is_schedule = text.strip_prefix("replay:").is_some_and(is_file);
            let list = List::new("--scheduler", text, is_schedule);
            list.try_each(&mut problems, |word, wrong| {
                let kind: SchedulerKind = word.parse().map_err(|error: ParseSchedulerError| {
                    wrong(&Diagnostic::general("", error.to_string()).hint(error.hint()).into())
                })?;
                policies::setup(&kind)?;
                Ok(kind.to_string())
            })
        });
        problems.into_result(Self { machines, policies })
    }

    /// The machines, if any are named.
    pub fn machines(&self) -> Option<&[String]> {
        self.machines.as_deref()
    }

    /// The policies, if any are named.
    pub fn policies(&self) -> Option<&[String]> {
        self.policies.as_deref()
    }

    /// Whether several machines are named.
    pub fn several_machines(&self) -> bool {
        self.machines.as_ref().is_some_and(|machines| machines.len() > 1)
    }

    /// Whether a kernel has several runs because of them.
    pub fn are_lists(&self) -> bool {
        self.several_machines() || self.policies.as_ref().is_some_and(|policies| policies.len() > 1)
    }

    /// The runs of a kernel, those on a machine together. Where no policy is named they are `otherwise`, or if that
    /// is empty, what the kernel or the machine says.
    pub fn setups(
        &self,
        common: &Common,
        what: &Loaded,
        otherwise: &[SchedulerKind],
    ) -> Result<Vec<Vec<Setup>>, Diagnostics> {
        let mut all = Vec::new();
        for machine in each(self.machines()) {
            let alone =
                |scheduler: Option<String>| Common { machine: machine.clone(), scheduler, ..common.clone() };
            let mut of_machine = Vec::new();
            if self.policies.is_none() && !otherwise.is_empty() {
                for kind in otherwise {
                    let common = alone(None);
                    let (machine, spec) = load::machine_of(&common, what)?;
                    of_machine.push(Setup { machine, spec, policy: policies::setup(kind)?, common });
                }
            } else {
                for scheduler in each(self.policies()) {
                    let common = alone(scheduler);
                    let (machine, spec) = load::machine_of(&common, what)?;
                    let policy = load::policy_of(&common, what, &machine)?;
                    of_machine.push(Setup { machine, spec, policy, common });
                }
            }
            all.push(of_machine);
        }
        Ok(all)
    }
}

/// The policies of runs, by machine.
pub fn policies_of(setups: &[Vec<Setup>]) -> Vec<Vec<PolicySetup>> {
    setups.iter().map(|runs| runs.iter().map(|run| run.policy.clone()).collect()).collect()
}

/// Each of them, or once nothing.
fn each(list: Option<&[String]>) -> Vec<Option<String>> {
    list.map_or_else(|| vec![None], |list| list.iter().cloned().map(Some).collect())
}

/// The words of an option, with their places in it.
struct List {
    option: &'static str,
    source: SourceText,
    words: Vec<Range<usize>>,
}

impl List {
    /// `whole` is something that has a comma in its name.
    fn new(option: &'static str, text: &str, whole: bool) -> Self {
        let mut words = Vec::new();
        let mut start = 0;
        for part in text.split(',') {
            let from = start + (part.len() - part.trim_start().len());
            words.push(from..(from + part.trim().len()).max(from));
            start += part.len() + 1;
        }
        if whole {
            words.clear();
            words.push(0..text.len());
        }
        Self { option, source: SourceText::new(option, text), words }
    }

    /// Takes each word of a list; what goes wrong with it is said with its place in the list.
    fn try_each(
        &self,
        problems: &mut Diagnostics,
        mut take: impl FnMut(&str, &dyn Fn(&Diagnostics) -> Diagnostics) -> Result<String, Diagnostics>,
    ) -> Vec<String> {
        let text = self.source.text();
        if self.words.len() == 1 {
            return vec![text.to_owned()];
        }
        let mut taken: Vec<String> = Vec::new();
        for range in &self.words {
            let word = &text[range.clone()];
            let here = |message: String| self.source.error(range.clone(), message);
            let placed = |found: &Diagnostics| {
                let mut placed = Diagnostics::new();
                found
                    .list()
                    .iter()
                    .for_each(|one| placed.push(here(one.message.clone()).hint(one.hint.clone())));
                placed
            };
            let one = match word.strip_prefix("replay:").unwrap_or(word) {
                "" => Err(here("a name is missing here".to_owned()).into()),
                assets::FROM_STDIN => Err(here("stdin can be read once only".to_owned())
                    .hint(format!("give {} alone, or write it to a file", self.option))
                    .into()),
                _ => take(word, &placed),
            };
            match one {
                Ok(name) if taken.contains(&name) => problems.push(here(format!("`{word}` is there twice"))),
                Ok(name) => taken.push(name),
                // a setting that is wrong is so on every machine
                Err(found) => {
                    for problem in found.list() {
                        if !problems.list().contains(problem) {
                            problems.push(problem.clone());
                        }
                    }
                }
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_places() {
        let words = |text: &str, whole| -> Vec<(usize, usize)> {
            List::new("--machine", text, whole).words.iter().map(|word| (word.start, word.end)).collect()
        };
        assert_eq!(words("gto", false), [(0, 3)]);
        assert_eq!(words("gto, lrr,,x ", false), [(0, 3), (5, 8), (9, 9), (10, 11)]);
        assert_eq!(words("a,b.ron", true), [(0, 7)]);
    }
}
