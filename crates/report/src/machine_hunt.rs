//! The report of a search for a violation of a bound on machines with changed settings.

use std::fmt::Write;

use serde::Serialize;

use super::Fraction;
use super::output::Stopped;
use super::verdict::Status;
use warpbound_judge::explore::hunt::{Case, CaseSummary, MachineViolation, Times};

/// The result of the search under one policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineHuntResult {
    /// The bound that was to be violated.
    pub bound: String,
    /// The setting: the policy.
    pub setting: String,
    /// `violated` if a violation was found; otherwise `holds`, for the cases that were judged, or
    /// `not-applicable` if none was.
    pub verdict: Status,
    /// Whether the requested number of cases was drawn or a violation was found.
    pub complete: bool,
    /// The machines whose settings were changed.
    pub machines: Vec<String>,
    /// The number of cases drawn.
    pub cases: u64,
    /// The number of cases whose settings do not fit each other, or whose launch does not fit the
    /// machine.
    pub refused: u64,
    /// The number of cases to which the bound does not apply.
    pub not_applicable: u64,
    /// The number of cases compared with the bound.
    pub instances: u64,
    /// The number of these whose makespan equals the bound.
    pub tight_instances: u64,
    /// The mean of makespan divided by bound. Absent if no case was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ratio: Option<Fraction>,
    /// The reason why no case was judged: that of the first case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not_judged: Option<String>,
    /// The case whose makespan is closest to the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closest: Option<CaseReport>,
    /// The violation, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<FoundCase>,
    #[serde(skip)]
    seed: u64,
    #[serde(skip)]
    stopped: Option<Stopped>,
}

/// A case, with its times in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaseReport {
    /// The makespan.
    pub worst: u64,
    /// The value of the bound.
    pub bound: u64,
    /// Makespan divided by bound.
    pub ratio: Fraction,
    /// The machine whose settings are changed.
    pub machine: String,
    /// The changed settings, `PATH=VALUE`.
    pub settings: Vec<String>,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of threads of a block.
    pub threads: u32,
    /// The number of instructions of the body.
    pub instructions: usize,
    /// The kernel in PTX, of which the entry is `k`.
    pub kernel: String,
    /// A command that repeats the run in a folder with the kernel.
    pub command: String,
}

/// A violation.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FoundCase {
    /// The index of the chain of changes in which it was found.
    pub chain: u64,
    /// The number of attempts to shrink it.
    pub shrink_tries: u64,
    /// The case as it was found.
    pub found: CaseReport,
    /// The case after shrinking, from which nothing more can be removed.
    pub witness: CaseReport,
}

/// What a report states besides the numbers.
pub struct About<'a> {
    /// The bound.
    pub bound: &'a str,
    /// The setting.
    pub setting: String,
    /// The machines.
    pub machines: &'a [String],
    /// The seed.
    pub seed: u64,
    /// The reason why not all cases were drawn, if there is one.
    pub ended_early: Option<Option<Stopped>>,
    /// Returns the command that repeats a case in a folder with its kernel.
    pub command: &'a dyn Fn(&Case) -> String,
}

impl CaseReport {
    fn new(about: &About, (case, times): &(Case, Times)) -> Self {
        Self {
            worst: times.makespan,
            bound: times.bound,
            ratio: Fraction(times.ratio()),
            machine: about.machines[case.base].clone(),
            settings: case.settings_text().collect(),
            blocks: case.blocks,
            threads: case.threads,
            instructions: case.instructions(),
            kernel: case.kernel_text(),
            command: (about.command)(case),
        }
    }

    fn text(&self) -> String {
        format!("\n--- kernel.ptx\n{}---\nto repeat the run:\n  {}\n", self.kernel, self.command)
    }
}

impl MachineHuntResult {
    /// Returns the result of a hunt.
    pub fn new(about: &About, summary: &CaseSummary, violation: Option<&MachineViolation>) -> Self {
        let found = |violation: &MachineViolation| FoundCase {
            chain: violation.chain,
            shrink_tries: violation.shrink_tries,
            found: CaseReport::new(about, &violation.found),
            witness: CaseReport::new(about, &violation.witness),
        };
        Self {
            bound: about.bound.to_owned(),
            setting: about.setting.clone(),
            verdict: match (violation, summary.judged) {
                (Some(_), _) => Status::Violated,
                (None, 0) => Status::NotApplicable,
                (None, _) => Status::Holds,
            },
            complete: about.ended_early.is_none(),
            machines: about.machines.to_vec(),
            cases: summary.cases,
            refused: summary.refused,
            not_applicable: summary.not_applicable,
            instances: summary.judged,
            tight_instances: summary.tight,
            mean_ratio: summary.mean_ratio().map(Fraction),
            why_not_judged: summary.why_not_judged.clone().filter(|_| summary.judged == 0),
            closest: summary.closest.as_ref().map(|closest| CaseReport::new(about, closest)),
            violation: violation.map(found),
            seed: about.seed,
            stopped: about.ended_early.flatten(),
        }
    }

    pub(super) fn text(&self) -> String {
        let Self { bound, setting, seed, cases, refused, not_applicable, instances, .. } = self;
        let mut text = format!(
            "{bound} in setting {setting} on {}, seed {seed}: {cases} cases, of which {refused} do not fit, {bound} \
             does not apply to {not_applicable}, and {instances} were judged\n",
            self.machines.join(", ")
        );
        if let Some(mean) = self.mean_ratio {
            let _ = writeln!(
                text,
                "  makespan over bound: {:.4} on average, equal to the bound in {} cases",
                mean.0, self.tight_instances
            );
        }
        if let Some(why) = &self.why_not_judged {
            let _ = writeln!(text, "  nothing was judged; the first case: {why}");
        }
        if !self.complete {
            let _ = writeln!(text, "  INCOMPLETE: {}", self.stopped.map_or("stopped", Stopped::text));
        }
        match (&self.violation, &self.closest) {
            (Some(FoundCase { chain, shrink_tries, found, witness }), _) => {
                let _ = writeln!(
                    text,
                    "  VIOLATED in chain {chain}: makespan {}, {bound} {}, {} instructions, {} settings\n  shrunk to \
                     {} instructions and {} settings: makespan {}, {bound} {} ({shrink_tries} tries)",
                    found.worst,
                    found.bound,
                    found.instructions,
                    found.settings.len(),
                    witness.instructions,
                    witness.settings.len(),
                    witness.worst,
                    witness.bound
                );
                text.push_str(&witness.text());
            }
            (None, Some(closest)) => {
                let _ = writeln!(
                    text,
                    "  no violation; the closest makespan is {} of {}, {:.4} of the bound",
                    closest.worst, closest.bound, closest.ratio.0
                );
                text.push_str(&closest.text());
            }
            (None, None) => {}
        }
        text
    }
}
