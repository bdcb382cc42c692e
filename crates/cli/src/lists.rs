//! The options `--machine` and `--policy` as lists, of which every combination is a run.
//!
//! A name that is listed twice is rejected, because its run would occur twice. Names that cannot be
//! found or do not fit the settings are rejected, too; all errors are reported at once and before
//! anything runs.

use std::ops::Range;
use std::path::Path;

use super::args::Common;
use super::policies;
use crate::files::loader;
use crate::load;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::machine::{Machine, MachineSpec, ParsePolicyError, PolicyKind};
use warpbound_judge::load::{FROM_STDIN, Loaded};
use warpbound_sim::PolicySetup;

/// The listed machines and policies; `None` for an option that is not given.
pub struct Lists {
    machines: Option<Vec<String>>,
    policies: Option<Vec<String>>,
}

/// A machine and a policy, ready to run a kernel.
pub struct Setup {
    /// The machine; its policy is that of `--policy`, if that is given.
    pub machine: Machine,
    /// The machine as the file and the command line describe it.
    pub spec: MachineSpec,
    /// The policy.
    pub policy: PolicySetup,
    /// The options that describe this run alone.
    pub common: Common,
}

impl Lists {
    /// Parses both options. Every name of a list is checked; a single name is checked where it is
    /// used.
    pub fn new(common: &Common) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let is_file = |text: &str| Path::new(text).exists();
        let machines = common.machine.as_ref().map(|text| {
            let list = List::new("--machine", text, is_file(text));
            list.try_each(&mut problems, |name, wrong| {
                let location = loader().find_machine(name, None).map_err(|found| wrong(&found))?;
                let alone = Common { machine: Some(name.to_owned()), policy: None, ..common.clone() };
                load::machine_at(&location, &alone).map(|_| name.to_owned())
            })
        });
        let policies = common.policy.as_ref().map(|text| {
            let is_schedule = text.strip_prefix("replay:").is_some_and(is_file);
            let list = List::new("--policy", text, is_schedule);
            list.try_each(&mut problems, |word, wrong| {
                let kind: PolicyKind = word.parse().map_err(|error: ParsePolicyError| {
                    wrong(&Diagnostic::general("", error.to_string()).hint(error.hint()).into())
                })?;
                policies::setup(&kind)?;
                Ok(kind.to_string())
            })
        });
        problems.into_result(Self { machines, policies })
    }

    /// Returns the machines, if any are named.
    pub fn machines(&self) -> Option<&[String]> {
        self.machines.as_deref()
    }

    /// Returns the policies, if any are named.
    pub fn policies(&self) -> Option<&[String]> {
        self.policies.as_deref()
    }

    /// Returns whether several machines are named.
    pub fn several_machines(&self) -> bool {
        self.machines.as_ref().is_some_and(|machines| machines.len() > 1)
    }

    /// Returns whether a kernel has several runs because of the lists.
    pub fn are_lists(&self) -> bool {
        self.several_machines() || self.policies.as_ref().is_some_and(|policies| policies.len() > 1)
    }

    /// Returns the runs of a kernel, grouped by machine. If no policy is named, the policies are
    /// `otherwise`, or if that is empty, the policy that the kernel or the machine names.
    pub fn setups(
        &self,
        common: &Common,
        what: &Loaded,
        otherwise: &[PolicyKind],
    ) -> Result<Vec<Vec<Setup>>, Diagnostics> {
        let mut all = Vec::new();
        for machine in each(self.machines()) {
            let alone =
                |policy: Option<String>| Common { machine: machine.clone(), policy, ..common.clone() };
            let mut of_machine = Vec::new();
            if self.policies.is_none() && !otherwise.is_empty() {
                for kind in otherwise {
                    let common = alone(None);
                    let (machine, spec) = load::machine_of(&common, what)?;
                    of_machine.push(Setup { machine, spec, policy: policies::setup(kind)?, common });
                }
            } else {
                for policy in each(self.policies()) {
                    let common = alone(policy);
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

/// Returns the names of a list, or a single `None` if there is no list.
fn each(list: Option<&[String]>) -> Vec<Option<String>> {
    list.map_or_else(|| vec![None], |list| list.iter().cloned().map(Some).collect())
}

/// The names in a list, with their places in the option's value.
struct List {
    option: &'static str,
    source: SourceText,
    words: Vec<Range<usize>>,
}

impl List {
    /// Splits the value of an option. With `whole`, the value is one name that contains commas.
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

    /// Calls `take` for each name of a list and reports its errors at the place of the name.
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
                FROM_STDIN => Err(here("stdin can be read once only".to_owned())
                    .hint(format!("give {} alone, or write it to a file", self.option))
                    .into()),
                _ => take(word, &placed),
            };
            match one {
                Ok(name) if taken.contains(&name) => problems.push(here(format!("`{word}` is there twice"))),
                Ok(name) => taken.push(name),
                // an invalid setting would be reported once for every machine
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
