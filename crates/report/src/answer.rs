//! The answer to the question for which a bound is computed: how long may this take at most? An
//! answer is one sentence, and the same facts as data. It names the smallest proved bound, what the
//! bound covers, and the longest run that was seen; or it names the reasons why no bound is proved.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::output::Origin;
use super::verdict::BoundPart;
use super::{Fraction, count};
use warpbound_bound::{Standing, policy_of};
use warpbound_core::machine::Machine;
use warpbound_judge::check::{BoundRow, JudgedLaunch};

/// The answer for one kernel or application on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Answer {
    /// The name of the kernel or application.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The policies of the runs that the answer is about.
    pub policies: Vec<String>,
    /// The whole answer as a sentence.
    pub sentence: String,
    /// The smallest proved bound; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guaranteed: Option<Guaranteed>,
    /// The longest run; absent if no run came to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest: Option<Longest>,
    /// The bound divided by the longest run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Fraction>,
    /// The reasons why no bound is proved, for the bound that has the fewest; empty if one is
    /// proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<String>,
}

/// A proved bound with what it covers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Guaranteed {
    /// The number of cycles.
    pub cycles: u64,
    /// The name of the bound; `static` for the bound over all paths.
    pub bound: Cow<'static, str>,
    /// The inputs for which it holds.
    pub inputs: Inputs,
    /// The only policy for which it holds; absent if it holds for every work-conserving schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What the bound assumes and the command did not check, as clauses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<String>,
    /// The parts that the value consists of; absent if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<BoundPart>,
}

/// The inputs for which a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// The one input of the runs.
    ThisInput,
    /// The inputs of the runs, which are several.
    TheseInputs,
    /// Every content of the buffers of the launch that are not marked as constant.
    EveryInput,
}

impl Inputs {
    fn text(self) -> &'static str {
        match self {
            Self::ThisInput => "for this input",
            Self::TheseInputs => "for these inputs",
            Self::EveryInput => "for every input",
        }
    }
}

/// The longest of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Longest {
    /// The number of cycles.
    pub cycles: u64,
    /// The policy of the run.
    pub policy: String,
    /// The seed of its input, if the runs had several inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// What an answer consists of, besides its sentence.
pub(super) struct Facts {
    /// The smallest proved bound, or the reasons why there is none.
    pub guaranteed: Result<Guaranteed, Vec<String>>,
    /// The longest run.
    pub longest: Option<Longest>,
    /// The proved bounds that a run exceeds. If there are any, nothing is guaranteed.
    pub exceeded: Vec<String>,
    /// What the sentence adds after all else, as a clause.
    pub more: Option<String>,
}

impl Answer {
    /// Returns the answer for these facts.
    pub(super) fn new(kernel: &str, origin: Origin, policies: Vec<String>, facts: Facts) -> Self {
        let Facts { guaranteed, longest, exceeded, more } = facts;
        let is_exceeded = !exceeded.is_empty();
        let guaranteed = match is_exceeded {
            false => guaranteed,
            true => Err(vec![format!("a run exceeds a bound that is proved: {}", exceeded.join(" and "))]),
        };
        let (guaranteed, blockers) = match guaranteed {
            Ok(guaranteed) => (Some(guaranteed), Vec::new()),
            Err(blockers) => (None, blockers),
        };
        let ratio = guaranteed.as_ref().zip(longest.as_ref()).filter(|(_, longest)| longest.cycles > 0);
        let ratio = ratio.map(|(bound, longest)| Fraction(bound.cycles as f64 / longest.cycles as f64));
        let mut answer = Self {
            kernel: kernel.to_owned(),
            origin,
            policies,
            sentence: String::new(),
            guaranteed,
            longest,
            ratio,
            blockers,
        };
        answer.sentence = answer.sentence_on("this machine", is_exceeded);
        if let Some(more) = more {
            let _ = write!(answer.sentence, "; {more}");
        }
        answer
    }

    /// Returns the answers for the runs of a kernel or application on a machine: one for all runs
    /// that the bounds for work-conserving schedules cover, one for each policy with a bound of its
    /// own, and one for the runs without a proved bound.
    pub fn of_runs(kernel: &str, machine: &Machine, runs: &[&JudgedLaunch]) -> Vec<Self> {
        let mut groups: Vec<(Coverage, Vec<&JudgedLaunch>)> = Vec::new();
        for run in runs {
            let coverage = Coverage::of(run);
            match groups.iter_mut().find(|(of, _)| *of == coverage) {
                Some((_, runs)) => runs.push(run),
                None => groups.push((coverage, vec![run])),
            }
        }
        let several = groups.len() > 1;
        let answer = |(coverage, runs): (Coverage, Vec<&JudgedLaunch>)| {
            let policies: Vec<String> = runs.iter().map(|run| run.policy.clone()).collect();
            let facts = Facts {
                guaranteed: coverage.smallest(&runs),
                longest: longest(&runs),
                exceeded: exceeded(&runs),
                // otherwise the sentence would not say which of the runs it is about
                more: (several && coverage == Coverage::None)
                    .then(|| format!("this is about the runs under {}", policies.join(", "))),
            };
            Self::new(kernel, Origin::new(machine), policies, facts)
        };
        groups.into_iter().map(answer).collect()
    }

    /// Returns the answer that states the bound over all paths, or why there is none. The runs may
    /// exceed it.
    pub(super) fn of_all_paths(
        kernel: &str,
        machine: &Machine,
        runs: &[&JudgedLaunch],
        assumes: Vec<String>,
        (value, is_exceeded): (Result<(u64, Vec<BoundPart>), String>, bool),
    ) -> Self {
        let guaranteed = |(cycles, parts)| Guaranteed {
            cycles,
            bound: "static".into(),
            inputs: Inputs::EveryInput,
            policy: None,
            assumes,
            parts,
        };
        let facts = Facts {
            exceeded: is_exceeded.then(|| "static".to_owned()).into_iter().collect(),
            guaranteed: value.map(guaranteed).map_err(|why| vec![why]),
            longest: longest(runs),
            more: None,
        };
        let policies = runs.iter().map(|run| run.policy.clone()).collect();
        Self::new(kernel, Origin::new(machine), policies, facts)
    }

    /// Returns the sentence, with this name for the machine. `is_exceeded` states whether a run
    /// exceeds a proved bound.
    fn sentence_on(&self, machine: &str, is_exceeded: bool) -> String {
        let longest = self.longest.as_ref().map(|longest| {
            let seed = longest.seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
            (self.origin.cycles_text(longest.cycles), format!("{}{seed}", longest.policy))
        });
        let Some(bound) = &self.guaranteed else {
            let nothing = if is_exceeded { "nothing is guaranteed" } else { "no bound is proved" };
            let mut text = format!("{nothing} on {machine}: {}", self.blockers.join("; "));
            if let Some((cycles, run)) = longest {
                let _ = write!(text, "; the longest run seen took {cycles} ({run})");
            }
            return text;
        };
        let schedules = match &bound.policy {
            None => "every work-conserving schedule".to_owned(),
            Some(policy) => format!("the policy {policy}"),
        };
        let mut text = format!(
            "guaranteed on {machine}: {} ({}) {} under {schedules}",
            self.origin.cycles_text(bound.cycles),
            bound.bound,
            bound.inputs.text()
        );
        match (self.ratio, longest) {
            (Some(ratio), Some((cycles, run))) => {
                let _ = write!(text, ", {:.2} times the longest run seen ({cycles}, {run})", ratio.0);
            }
            (None, Some((cycles, run))) => {
                let _ = write!(text, "; the longest run seen took {cycles} ({run})");
            }
            (_, None) => {}
        }
        if !bound.assumes.is_empty() {
            let _ = write!(text, "; this assumes that {}", bound.assumes.join(", and that "));
        }
        text
    }

    /// Returns the sentence with the names of the kernel and the machine, for a list of answers.
    pub fn with_names(&self) -> String {
        format!("{}: {}", self.kernel, self.sentence.replace("this machine", &self.origin.machine))
    }
}

/// The bounds that cover a run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Coverage {
    /// A proved bound for every work-conserving schedule.
    WorkConserving,
    /// A proved bound for the policy of the run alone.
    OnePolicy(String),
    /// No proved bound.
    None,
}

impl Coverage {
    fn of(run: &JudgedLaunch) -> Self {
        let covers = |one_policy: bool| {
            let mut rows = proved(run).filter(|row| policy_of(row.name).is_some() == one_policy);
            run.is_complete() && rows.any(|row| row.value.is_ok())
        };
        match () {
            () if covers(false) => Self::WorkConserving,
            () if covers(true) => Self::OnePolicy(run.policy.clone()),
            () => Self::None,
        }
    }

    /// Returns the smallest proved bound that covers all of these runs, or the reasons why there is
    /// none.
    fn smallest(&self, runs: &[&JudgedLaunch]) -> Result<Guaranteed, Vec<String>> {
        let policy = match self {
            Self::WorkConserving => None,
            Self::OnePolicy(policy) => Some(policy.clone()),
            Self::None => return Err(blockers(runs)),
        };
        let Some((first, others)) = runs.split_first() else { return Err(Vec::new()) };
        let candidates = proved(first).filter(|row| policy_of(row.name).is_some() == policy.is_some());
        let value_in = |run: &JudgedLaunch, name: &str| {
            let row = proved(run).find(|row| row.name == name)?;
            Some(row.value.as_ref().ok()?.cycles().get())
        };
        // the paths are the same in all runs, so a bound has the same value in each; the largest is
        // taken so that the answer does not rely on that
        let largest = |row: &BoundRow| {
            let own = row.value.as_ref().ok()?.cycles().get();
            others.iter().try_fold(own, |most, run| Some(most.max(value_in(run, row.name)?)))
        };
        let valued = candidates.filter_map(|row| Some((largest(row)?, row)));
        let Some((cycles, row)) = valued.min_by_key(|(cycles, _)| *cycles) else {
            return Err(vec!["no bound applies to all of these runs".to_owned()]);
        };
        let order = runs.iter().find_map(|run| run.races_not_looked_for.as_ref());
        let assumes = order.map(|why| one_order(why)).into_iter().collect();
        Ok(Guaranteed {
            cycles,
            bound: row.name.into(),
            inputs: Inputs::ThisInput,
            policy,
            assumes,
            parts: row.parts.iter().map(BoundPart::new).collect(),
        })
    }
}

/// Returns the clause that a bound assumes if races were not looked for.
pub(super) fn one_order(why: &str) -> String {
    format!("no other order of memory accesses leads to other paths (races were not looked for: {why})")
}

/// Returns the proved bounds that are meant for a run.
pub(super) fn proved(run: &JudgedLaunch) -> impl Iterator<Item = &BoundRow> {
    run.judged().filter(|row| row.standing == Standing::Proved)
}

fn longest(runs: &[&JudgedLaunch]) -> Option<Longest> {
    // the first of several equally long runs is named
    let complete = runs.iter().rev().filter(|run| run.is_complete());
    let run = complete.max_by_key(|run| run.makespan)?;
    Some(Longest { cycles: run.makespan.get(), policy: run.policy.clone(), seed: None })
}

fn exceeded(runs: &[&JudgedLaunch]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for row in runs.iter().flat_map(|run| proved(run)).filter(|row| row.violated) {
        if !names.iter().any(|name| name == row.name) {
            names.push(row.name.to_owned());
        }
    }
    names
}

/// Returns the reasons why no proved bound applies to these runs. Each run contributes those of the
/// bound that has the fewest.
fn blockers(runs: &[&JudgedLaunch]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for run in runs {
        let of_run = if run.is_complete() { nearest(run).1 } else { vec!["a run did not come to its end"] };
        for reason in of_run {
            if !all.iter().any(|known| known == reason) {
                all.push(reason.to_owned());
            }
        }
    }
    all
}

/// Returns the name of the proved bound that is closest to being applicable to a run.
pub(super) fn nearest_bound(run: &JudgedLaunch) -> Option<&'static str> {
    nearest(run).0
}

/// Returns the bound that has the fewest reasons not to apply to a run, with these reasons. If
/// there are bounds for the policy of the run alone, only these count.
fn nearest(run: &JudgedLaunch) -> (Option<&'static str>, Vec<&str>) {
    let one_policy = proved(run).any(|row| policy_of(row.name).is_some());
    let rows = proved(run).filter(|row| policy_of(row.name).is_some() == one_policy);
    let reasons = rows.filter_map(|row| Some((row.name, row.value.as_ref().err()?)));
    let reasons = reasons.map(|(name, reason)| (Some(name), reason.split("; ").collect::<Vec<_>>()));
    // the last of several has the widest premises
    let fewest = reasons.reduce(|best, next| if next.1.len() <= best.1.len() { next } else { best });
    fewest.unwrap_or_else(|| (None, vec!["no proved bound was judged"]))
}

/// The answers of several kernels on one machine, combined.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OfMachine {
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The number of kernels and applications.
    pub kernels: usize,
    /// The number of these that have a proved bound, under some policy of their runs at least.
    pub guaranteed: usize,
    /// The policies under which a kernel has no proved bound, although it has one under another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unproved_under: Vec<String>,
    /// The mean of the bounds divided by the longest runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_ratio: Option<Fraction>,
    /// The largest bound divided by its longest run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_ratio: Option<Fraction>,
    /// The kernel with the largest ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_of: Option<String>,
    /// The number of bounds whose parts are known.
    pub with_parts: usize,
    /// The mean share of each part, over the bounds whose parts are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<MeanPart>,
    /// The reasons why kernels have no proved bound, each with the number of kernels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    /// Whether some bound holds for one policy only.
    #[serde(skip)]
    one_policy: bool,
    /// Whether all bounds hold for every input.
    #[serde(skip)]
    every_input: bool,
}

/// The mean share of a part of bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MeanPart {
    /// The name of the part.
    pub part: Cow<'static, str>,
    /// The mean of its share in the bounds.
    pub share: Fraction,
}

/// A reason why no bound is proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Blocker {
    /// The reason.
    pub reason: String,
    /// The number of kernels.
    pub kernels: usize,
}

/// Returns the answers of each kernel. A kernel has an answer for each group of its policies to which
/// the same bounds apply.
fn by_kernel<'a>(answers: &[&'a Answer]) -> Vec<Vec<&'a Answer>> {
    let mut kernels: Vec<Vec<&Answer>> = Vec::new();
    for answer in answers {
        // with the same policies, it is another kernel of the same name
        let is_same = |of: &&mut Vec<&Answer>| {
            of[0].kernel == answer.kernel && of.iter().all(|known| known.policies != answer.policies)
        };
        match kernels.iter_mut().find(is_same) {
            Some(of) => of.push(answer),
            None => kernels.push(vec![answer]),
        }
    }
    kernels
}

impl OfMachine {
    /// Returns the combined answers of each machine, in the order in which machines occur first.
    pub fn all(answers: &[Answer]) -> Vec<Self> {
        let mut machines: Vec<(&Origin, Vec<&Answer>)> = Vec::new();
        for answer in answers {
            match machines.iter_mut().find(|(origin, _)| **origin == answer.origin) {
                Some((_, of)) => of.push(answer),
                None => machines.push((&answer.origin, vec![answer])),
            }
        }
        machines.into_iter().map(|(origin, of)| Self::new(origin, &of)).collect()
    }

    fn new(origin: &Origin, answers: &[&Answer]) -> Self {
        let kernels = by_kernel(answers);
        let is_guaranteed = |of: &&Vec<&Answer>| of.iter().any(|answer| answer.guaranteed.is_some());
        let unproved = |of: &Vec<&Answer>| {
            let without = of.iter().filter(|answer| answer.guaranteed.is_none());
            without.flat_map(|answer| answer.policies.clone()).collect::<Vec<_>>()
        };
        let mut all = Self {
            origin: origin.clone(),
            kernels: kernels.len(),
            guaranteed: kernels.iter().filter(is_guaranteed).count(),
            unproved_under: kernels
                .iter()
                .filter(is_guaranteed)
                .flat_map(unproved)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            mean_ratio: None,
            largest_ratio: None,
            largest_of: None,
            with_parts: 0,
            parts: Vec::new(),
            blockers: Vec::new(),
            one_policy: answers
                .iter()
                .filter_map(|answer| answer.guaranteed.as_ref())
                .any(|bound| bound.policy.is_some()),
            every_input: answers
                .iter()
                .filter_map(|answer| answer.guaranteed.as_ref())
                .all(|bound| bound.inputs == Inputs::EveryInput),
        };
        let (mut sum, mut ratios) = (0.0, 0_usize);
        kernels.iter().for_each(|of| all.add_blockers(of));
        for answer in answers {
            if let Some(bound) = answer.guaranteed.as_ref().filter(|bound| !bound.parts.is_empty()) {
                all.with_parts += 1;
                all.add_parts(bound);
            }
            let Some(ratio) = answer.ratio else { continue };
            sum += ratio.0;
            ratios += 1;
            if all.largest_ratio.is_none_or(|largest| ratio > largest) {
                all.largest_ratio = Some(ratio);
                all.largest_of = Some(answer.kernel.clone());
            }
        }
        all.mean_ratio = (ratios > 0).then(|| Fraction(sum / ratios as f64));
        for part in &mut all.parts {
            part.share.0 /= all.with_parts as f64;
        }
        all
    }

    /// Adds the reasons of a kernel, each once.
    fn add_blockers(&mut self, answers: &[&Answer]) {
        let mut seen = BTreeSet::new();
        for reason in answers.iter().flat_map(|answer| &answer.blockers) {
            if !seen.insert(reason) {
                continue;
            }
            match self.blockers.iter_mut().find(|known| known.reason == *reason) {
                Some(known) => known.kernels += 1,
                None => self.blockers.push(Blocker { reason: reason.clone(), kernels: 1 }),
            }
        }
    }

    /// Adds the shares of the parts of a bound; they are divided by the number of bounds later.
    fn add_parts(&mut self, bound: &Guaranteed) {
        for part in &bound.parts {
            let share = part.cycles as f64 / bound.cycles.max(1) as f64;
            match self.parts.iter_mut().find(|known| known.part == part.part) {
                Some(known) => known.share.0 += share,
                None => self.parts.push(MeanPart { part: part.part.clone(), share: Fraction(share) }),
            }
        }
    }

    /// Returns the sentence that sums up the machine.
    pub fn sentence(&self) -> String {
        let kernels = count(self.kernels, "kernel");
        // the number of kernels is stated for reasons that do not apply to all that have any
        let most = self.blockers.iter().map(|blocker| blocker.kernels).max().unwrap_or(0);
        let reasons: Vec<String> = self
            .blockers
            .iter()
            .map(|blocker| match blocker.kernels == most.max(self.kernels - self.guaranteed) {
                true => blocker.reason.clone(),
                false => format!("{} ({})", blocker.reason, count(blocker.kernels, "kernel")),
            })
            .collect();
        if self.guaranteed == 0 {
            return format!(
                "no bound is proved on {} for any of {kernels}: {}",
                self.origin.machine,
                reasons.join("; ")
            );
        }
        let mut text = format!(
            "guaranteed on {}: {} of {kernels} {} a proved bound for {} under {}",
            self.origin.machine,
            self.guaranteed,
            if self.guaranteed == 1 { "has" } else { "have" },
            match (self.every_input, self.guaranteed) {
                (true, _) => "every input",
                (false, 1) => "its input",
                (false, _) => "their input",
            },
            match self.one_policy || !self.unproved_under.is_empty() {
                true => "the schedules that it covers",
                false => "every work-conserving schedule",
            },
        );
        if let (Some(mean), Some(largest), Some(of)) = (self.mean_ratio, self.largest_ratio, &self.largest_of)
        {
            let _ = write!(
                text,
                ", on average {:.2} times the longest run seen, at most {:.2} times ({of})",
                mean.0, largest.0
            );
        }
        if !reasons.is_empty() {
            let policies: Vec<&str> = self.unproved_under.iter().map(String::as_str).collect();
            let of = match (policies.as_slice(), self.guaranteed == self.kernels) {
                ([], _) => "for the others".to_owned(),
                (under, true) => format!("under {}", under.join(" and ")),
                (under, false) => format!("for the others, and under {}", under.join(" and ")),
            };
            let _ = write!(text, "; none is proved {of}: {}", reasons.join("; "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(cycles: u64, longest: u64, exceeded: &[&str]) -> Answer {
        let guaranteed = Guaranteed {
            cycles,
            bound: "iwb".into(),
            inputs: Inputs::ThisInput,
            policy: None,
            assumes: Vec::new(),
            parts: Vec::new(),
        };
        let facts = Facts {
            guaranteed: Ok(guaranteed),
            longest: Some(Longest { cycles: longest, policy: "gto".to_owned(), seed: None }),
            exceeded: exceeded.iter().map(|&name| name.to_owned()).collect(),
            more: None,
        };
        let origin = Origin { machine: "m".to_owned(), machine_digest: "0".to_owned(), clock_khz: None };
        Answer::new("k", origin, vec!["gto".to_owned()], facts)
    }

    #[test]
    fn a_run_that_exceeds_a_proved_bound_leaves_no_guarantee() {
        let fine = answer(1500, 1000, &[]);
        assert_eq!(fine.ratio, Some(Fraction(1.5)));
        assert!(fine.sentence.starts_with("guaranteed on this machine: 1,500 cycles (iwb)"), "{fine:?}");
        let broken = answer(1500, 1600, &["iwb", "swb"]);
        assert!(broken.guaranteed.is_none() && broken.ratio.is_none());
        assert_eq!(
            broken.sentence,
            "nothing is guaranteed on this machine: a run exceeds a bound that is proved: iwb and swb; the longest run seen \
             took 1,600 cycles (gto)"
        );
    }

    #[test]
    fn nothing_is_divided_by_zero() {
        let empty = answer(0, 0, &[]);
        assert_eq!(empty.ratio, None);
        assert!(empty.sentence.ends_with("; the longest run seen took 0 cycles (gto)"), "{empty:?}");
        let all = OfMachine::all(&[empty.clone(), answer(1500, 1000, &[]), answer(1, 2, &["iwb"])]);
        assert_eq!((all.len(), all[0].kernels, all[0].guaranteed), (1, 3, 2));
        assert_eq!((all[0].mean_ratio, all[0].largest_ratio), (Some(Fraction(1.5)), Some(Fraction(1.5))));
        let none = OfMachine::all(&[answer(1, 2, &["iwb"])]);
        assert!(
            none[0]
                .sentence()
                .starts_with("no bound is proved on m for any of 1 kernel: a run exceeds a bound")
        );
    }
}
