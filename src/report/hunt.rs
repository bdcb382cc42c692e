//! What an adversarial search for a violation of a bound came to, setting by setting.

use std::fmt::Write;

use serde::Serialize;

use super::output::{Output, Report};
use super::style::Style;
use super::verdict::Status;
use super::{Fraction, output::Stopped};
use crate::explore::hunt::{Hunt, Instance, Score, Setting, Summary, Violation, Witness, WitnessFiles};

/// What came of one setting.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HuntResult {
    /// The bound that was hunted.
    pub bound: String,
    /// Which schedules count.
    pub setting: String,
    /// Violated if an instance was found; else it holds on those that were judged.
    pub verdict: Status,
    /// Whether as many instances were judged as were asked for, or one was found.
    pub complete: bool,
    /// Instances judged.
    pub instances: u64,
    /// Of these, those whose every schedule was covered; none where a policy is simulated.
    pub exact_instances: u64,
    /// Distinct states over all instances.
    pub states: u64,
    /// Schedules over all instances.
    pub schedules: f64,
    /// Instances whose worst case is the bound, to the cycle.
    pub tight_instances: u64,
    /// Worst case over bound, on average.
    pub mean_ratio: Fraction,
    /// The instance that came closest to the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closest: Option<Block>,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Found>,
    /// Whether a policy was simulated, and not every schedule explored.
    #[serde(skip)]
    of_policy: bool,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    stopped: Option<Stopped>,
}

/// An instance with its worst case, cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Block {
    /// The worst case.
    pub worst: u64,
    /// The bound.
    pub bound: u64,
    /// One over the other.
    pub ratio: Fraction,
    /// Its instructions.
    pub instructions: usize,
    /// Units of its machine.
    pub units: usize,
    /// The kernel file.
    pub kernel: String,
    /// The machine file.
    pub machine: String,
}

/// A violation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Found {
    /// The chain of changes in which it was found.
    pub chain: u64,
    /// Tries to make it smaller.
    pub shrink_tries: u64,
    /// As it was found.
    pub found: Block,
    /// The same with nothing left to take away.
    pub witness: Block,
    /// The warp at each issue, where schedules were explored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Vec<usize>>,
    /// The same as a replay file.
    pub replay: String,
    /// What shows it again.
    pub replay_command: String,
    /// The files that show it, where they go to no folder.
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
    /// A violation, the command that shows it again, and its files, which are `shown` as text if they go to no
    /// folder.
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
            let _ = write!(text, "---\nto see it again:\n  {}\n", self.replay_command);
        }
        text
    }
}

impl HuntResult {
    /// What came of this plan. `ended_early` says why not all instances were judged, if so.
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

impl Report for Output<HuntResult> {
    fn text(&self, _: Style) -> String {
        let texts: Vec<String> = self.results.iter().map(HuntResult::text).collect();
        let mut text = texts.join("\n");
        if !self.batch.not_reached.is_empty() {
            let names = self.batch.not_reached.join(", ");
            let _ = writeln!(text, "\nINCOMPLETE: settings not reached: {names}");
        }
        text
    }
}
