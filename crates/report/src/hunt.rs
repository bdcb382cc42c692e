//! The report of an adversarial search for a violation of a bound, setting by setting.

use std::fmt::Write;

use serde::Serialize;

use super::machine_hunt::MachineHuntResult;
use super::output::{Output, Report};
use super::style::Style;
use super::verdict::Status;
use super::{Fraction, output::Stopped};
use warpbound_judge::explore::hunt::{
    Hunt, Instance, Score, Setting, Summary, Violation, Witness, WitnessFiles,
};

/// The result of the search in one setting.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HuntResult {
    /// The bound that was to be violated.
    pub bound: String,
    /// The setting: which schedules the bound is to cover.
    pub setting: String,
    /// `violated` if a violating instance was found; otherwise `holds`, for the instances that were
    /// judged.
    pub verdict: Status,
    /// Whether the requested number of instances was judged or a violation was found.
    pub complete: bool,
    /// The number of instances judged.
    pub instances: u64,
    /// The number of these instances whose worst case is exact: every schedule was covered, or only
    /// the schedule of a policy counts.
    pub exact_instances: u64,
    /// The number of distinct states, summed over all instances.
    pub states: u64,
    /// The number of schedules, summed over all instances.
    pub schedules: f64,
    /// The number of instances whose worst case equals the bound.
    pub tight_instances: u64,
    /// The mean of worst case divided by bound.
    pub mean_ratio: Fraction,
    /// The instance whose worst case is closest to the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closest: Option<Block>,
    /// The violation, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Found>,
    /// Whether a policy was simulated rather than every schedule explored.
    #[serde(skip)]
    of_policy: bool,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    stopped: Option<Stopped>,
}

/// An instance and its worst case, in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Block {
    /// The worst-case makespan.
    pub worst: u64,
    /// The value of the bound.
    pub bound: u64,
    /// Worst case divided by bound.
    pub ratio: Fraction,
    /// The number of instructions of all warps.
    pub instructions: usize,
    /// The number of functional units of its machine.
    pub units: usize,
    /// The text of the kernel file.
    pub kernel: String,
    /// The text of the machine file.
    pub machine: String,
}

/// A violation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found {
    /// The index of the chain of mutations in which it was found.
    pub chain: u64,
    /// The number of attempts to shrink it.
    pub shrink_tries: u64,
    /// The instance as it was found.
    pub found: Block,
    /// The instance after shrinking, from which nothing more can be removed.
    pub witness: Block,
    /// The index of the warp of each issue, if schedules were explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Vec<usize>>,
    /// The schedule as the text of a replay file.
    pub replay: String,
    /// A command that reproduces the violation.
    pub replay_command: String,
    /// The names and texts of the files that reproduce it, if they are not written to a folder.
    #[serde(skip)]
    files: Option<[(&'static str, String); 3]>,
}

impl Block {
    fn new(instance: &Instance, score: &Score, title: &str) -> Self {
        Self {
            worst: score.worst.makespan,
            bound: score.bound,
            ratio: Fraction(score.ratio()),
            instructions: instance.instructions(),
            units: instance.units.len(),
            kernel: instance.kernel_text(title, "machine.ron"),
            machine: instance.machine_text("hunt", title),
        }
    }

    fn closest(instance: &Instance, score: &Score, setting: &Setting) -> Self {
        let title = format!(
            "closest: worst {}, bound {}, ratio {:.4}, setting {setting}",
            score.worst.makespan,
            score.bound,
            score.ratio()
        );
        Self::new(instance, score, &title)
    }
}

impl Found {
    /// Returns a violation with the command that reproduces it. If `shown`, the files are not
    /// written to a folder, and text shows them.
    pub fn new(violation: &Violation, command: &str, files: &WitnessFiles, shown: bool) -> Self {
        let Violation { found, found_score, witness, score, schedule, chain, shrink_tries, .. } = violation;
        let WitnessFiles { kernel_text, machine_text, schedule_text, .. } = files;
        let files = || {
            [("kernel.warp", kernel_text), ("machine.ron", machine_text), ("schedule.replay", schedule_text)]
                .map(|(name, text)| (name, text.clone()))
        };
        Self {
            chain: *chain,
            shrink_tries: *shrink_tries,
            found: Block::new(found, found_score, ""),
            witness: Block::new(witness, score, ""),
            schedule: match schedule {
                Witness::Warps(warps) => Some(warps.clone()),
                Witness::Decisions(_) => None,
            },
            replay: schedule_text.clone(),
            replay_command: command.to_owned(),
            files: shown.then(files),
        }
    }

    fn text(&self, bound: &str) -> String {
        let Self { found, witness, .. } = self;
        let mut text = format!(
            "  VIOLATED in chain {}: worst {}, {bound} {}, {} instructions\n  shrunk to {} instructions on {} units: worst {}, {bound} {} ({} tries)\n",
            self.chain,
            found.worst,
            found.bound,
            found.instructions,
            witness.instructions,
            witness.units,
            witness.worst,
            witness.bound,
            self.shrink_tries
        );
        if let Some(files) = &self.files {
            for (name, file) in files {
                let _ = write!(text, "\n--- {name}\n{file}");
            }
            let _ = write!(text, "---\nto reproduce the violation:\n  {}\n", self.replay_command);
        }
        text
    }
}

impl HuntResult {
    /// Returns the result for this plan. `ended_early` is the reason why not all instances were
    /// judged, if there is one.
    pub fn new(
        bound: &str,
        plan: &Hunt,
        summary: &Summary,
        ended_early: Option<Option<Stopped>>,
        violation: Option<Found>,
    ) -> Self {
        Self {
            bound: bound.to_owned(),
            setting: plan.setting.to_string(),
            verdict: if violation.is_some() { Status::Violated } else { Status::Holds },
            complete: ended_early.is_none(),
            instances: summary.instances,
            exact_instances: summary.exact,
            states: summary.states,
            schedules: summary.schedules,
            tight_instances: summary.tight,
            mean_ratio: Fraction(summary.mean_ratio()),
            closest: summary
                .closest
                .as_ref()
                .map(|(instance, score)| Block::closest(instance, score, &plan.setting)),
            violation,
            of_policy: matches!(plan.setting, Setting::Policy(_)),
            seed: plan.seed,
            stopped: ended_early.flatten(),
        }
    }

    fn text(&self) -> String {
        let covered = if self.of_policy {
            format!("{} instances simulated", self.instances)
        } else {
            format!(
                "{} instances, {} of them exactly ({} states, {:.4e} schedules)",
                self.instances, self.exact_instances, self.states, self.schedules
            )
        };
        let mut text = format!("{} in setting {}, seed {}: {covered}\n", self.bound, self.setting, self.seed);
        let _ = writeln!(
            text,
            "  worst over bound: {:.4} on average, equal to the bound in {} instances",
            self.mean_ratio.0, self.tight_instances
        );
        if !self.complete {
            let _ = writeln!(text, "  INCOMPLETE: {}", self.stopped.map_or("stopped", Stopped::text));
        }
        match (&self.violation, &self.closest) {
            (Some(found), _) => text.push_str(&found.text(&self.bound)),
            (None, Some(closest)) => {
                let _ = write!(text, "  no violation\n\n{}{}", closest.kernel, closest.machine);
            }
            (None, None) => {}
        }
        text
    }
}

/// The result of the search in one setting.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum HuntOutcome {
    /// The search for blocks on machines of the paper model.
    Schedules(HuntResult),
    /// The search on machines with a pipeline or a memory system.
    Machines(MachineHuntResult),
}

impl Report for Output<HuntOutcome> {
    fn text(&self, _: Style) -> String {
        let text = |result: &HuntOutcome| match result {
            HuntOutcome::Schedules(result) => result.text(),
            HuntOutcome::Machines(result) => result.text(),
        };
        let texts: Vec<String> = self.results.iter().map(text).collect();
        let mut text = texts.join("\n");
        if !self.batch.not_reached.is_empty() {
            let names = self.batch.not_reached.join(", ");
            let _ = writeln!(text, "\nINCOMPLETE: settings not reached: {names}");
        }
        text
    }
}
