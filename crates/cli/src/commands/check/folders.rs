//! The folders of counterexamples, which are reserved before the simulation starts and written
//! after the results have been printed.

use std::collections::{HashMap, HashSet};

use super::judged::prepare;
use super::{Judged, Run};
use crate::args::Check;
use crate::commands::again::shell_word;
use crate::files::Folder;
use crate::lists::Lists;
use crate::load;
use crate::session::Session;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::check::{JudgedLaunch, counterexample};
use warpbound_judge::load::{LoadedKernel, Location};

/// Names that differ from each other, although two kernels may have the same name.
#[derive(Default)]
struct UniqueNames {
    taken: HashSet<String>,
    /// The last number that was appended to a name.
    last: HashMap<String, u64>,
}

impl UniqueNames {
    /// Returns this name, or if it is taken, the name with the smallest number that makes it free.
    fn name(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        while !self.taken.insert(name.clone()) {
            let last = self.last.entry(wanted.clone()).or_insert(1);
            *last += 1;
            name = format!("{wanted}-{last}");
        }
        name
    }
}

/// The folder for counterexamples, if one was requested.
pub struct Folders {
    dir: Option<Folder>,
    /// The name of the folder for each kernel and run.
    names: Vec<Vec<String>>,
}

impl Folders {
    /// Creates the common folder, and checks that the folder of each kernel may be written. Kernels
    /// that cannot be read are reported later.
    pub fn prepare(
        args: &Check,
        lists: &Lists,
        names: &[String],
        locations: &[Result<Location, Diagnostics>],
        session: &Session,
    ) -> Result<Self, Diagnostics> {
        let Some(path) = &args.counterexamples else { return Ok(Self { dir: None, names: Vec::new() }) };
        let dir = Folder::prepare("--counterexamples", path, args.writing.force, &session.parts)?;
        let mut unique = UniqueNames::default();
        let mut problems = Diagnostics::new();
        let mut all = Vec::with_capacity(names.len());
        for (name, location) in names.iter().zip(locations) {
            let mut of_kernel = Vec::new();
            let prepared =
                location.clone().and_then(|location| prepare(name, location, args, lists, &session.monitor));
            if let Ok(prepared) = prepared {
                for setup in prepared.setups.iter().flatten() {
                    let kernel = prepared.what.name();
                    let shown = match lists.several_machines() {
                        true => format!("{kernel}-{}", setup.machine.name()),
                        false => kernel.to_owned(),
                    };
                    let wanted = counterexample::folder_name(&shown, &setup.policy);
                    let name = unique.name(wanted);
                    let inputs = load::inputs_of(&setup.common, &prepared.what, &setup.policy);
                    if let Err(problem) = dir.check_folder(&name, &inputs) {
                        problems.push(problem);
                    }
                    of_kernel.push(name);
                }
            }
            all.push(of_kernel);
        }
        problems.into_result(Self { dir: Some(dir), names: all })
    }

    /// Returns the name of the folder for a run of a kernel, given by their indices.
    pub fn name(&self, kernel: usize, run: usize) -> Option<String> {
        self.names.get(kernel)?.get(run).cloned()
    }

    /// Returns the command that repeats a run from its folder.
    pub fn command(&self, args: &Check, judged: &Judged, run: &Run) -> Option<String> {
        let dir = self.dir.as_ref()?.path(run.folder.as_ref()?);
        let witness = judged.witness(run)?;
        let command = counterexample::command(&inputs(args, run, witness, (&[], &ProgressMonitor::new())));
        Some(format!("cd {} && {command}", shell_word(&dir.display().to_string())))
    }

    /// Writes the folder of a violated run.
    pub fn write(
        &self,
        args: &Check,
        judged: &Judged,
        run: &Run,
        session: &Session,
    ) -> Result<(), Diagnostics> {
        let (Some(dir), Some(name)) = (&self.dir, &run.folder) else { return Ok(()) };
        let witness = judged.witness(run).filter(|(_, checked)| checked.is_complete());
        let Some(witness) = witness else {
            let message = "not written, since the run did not come to its end";
            return Err(Diagnostic::general(dir.path(name).display().to_string(), message).into());
        };
        let (kernel, _) = witness;
        let blocks = u64::from(kernel.workload.blocks());
        session.progress.begin(format!("recording {name}"), Some(blocks), "blocks");
        let files = kernel.files()?;
        let about = inputs(args, run, witness, (&files, &session.monitor));
        let files = counterexample::counterexample(&about)?;
        dir.write(name, &files)?;
        Ok(())
    }
}

fn inputs<'a>(
    args: &'a Check,
    run: &'a Run,
    (kernel, checked): (&'a LoadedKernel, &'a JudgedLaunch),
    (files, monitor): (&'a [(String, Vec<u8>)], &'a ProgressMonitor),
) -> counterexample::Inputs<'a> {
    counterexample::Inputs {
        workload: &kernel.workload,
        machine: &run.setup.machine,
        machine_spec: &run.setup.spec,
        policy: &run.setup.policy,
        run: checked,
        files,
        seed: args.common.seed,
        gating: &args.bound,
        max_instructions_per_block: args.common.fuel(),
        monitor,
    }
}

#[cfg(test)]
mod tests {
    use super::UniqueNames;

    #[test]
    fn names_are_numbered_where_they_are_taken() {
        let mut unique = UniqueNames::default();
        let names = ["a", "a", "a-3", "a", "b", "a"].map(|name| unique.name(name.to_owned()));
        assert_eq!(names, ["a", "a-2", "a-3", "a-4", "b", "a-5"]);
    }
}
