//! The claim that the bound over all paths makes, with its evidence.

use super::super::all_paths::Given;
use super::super::answer::Answer;
use super::super::output::Origin;
use super::super::verdict::{Bound, BoundPart};
use super::{Claim, Derivation, Inputs, MAX_TERMS, RunRow, Term, notes, premises, rules, statement};
use warpbound_bound::{Guarantee, NotApplicable, StaticKind};
use warpbound_core::base::Cycles;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_judge::check::{JudgedLaunch, PartRow, Verdict};

/// The name of the bound over all paths.
const NAME: &str = "static";

const SUMMARY: &str = "bound over all paths, proved: the bound on the paths of one run, with every number that it adds up maximised over the set of all paths";

/// The result of the analysis of all paths of a kernel or program, for every work-conserving
/// schedule.
pub struct FoundStatic {
    /// The value, or the premise that does not hold.
    pub value: Result<Guarantee, NotApplicable>,
    /// The bounds on the paths of one run that the launches extend.
    pub kinds: Vec<StaticKind>,
    /// The parts of the value, if they are known.
    pub parts: Vec<PartRow>,
    /// The value of each launch of a program; empty for a single launch.
    pub launches: Vec<Cycles>,
    /// The given loop bounds.
    pub loop_bounds: Vec<Given>,
    /// The names of buffers and variables that are declared constant.
    pub constants: Vec<String>,
}

impl FoundStatic {
    /// Returns the answer for these runs.
    pub fn answer(&self, kernel: &str, machine: &Machine, runs: &[&JudgedLaunch]) -> Answer {
        let parts = || self.parts.iter().map(BoundPart::new).collect();
        let value = self.value.as_ref().map(|value| (value.cycles().get(), parts()));
        let is_exceeded = runs.iter().any(|run| self.verdict(run).is_violated());
        let value = (value.map_err(ToString::to_string), is_exceeded);
        let assumes = self.loop_bounds.iter().map(Given::text).collect();
        Answer::of_all_paths(kernel, machine, runs, assumes, value)
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.kinds.iter().map(|kind| kind.name()).collect()
    }

    /// Returns the verdict on a run, and on each launch of it.
    fn verdict(&self, run: &JudgedLaunch) -> Verdict {
        let mut launches = self.launches.iter().zip(run.blocks.iter());
        if launches.any(|(value, (_, makespan, _))| makespan > *value) {
            return Verdict::Violated;
        }
        let value = self.value.as_ref().map(|value| *value).map_err(ToString::to_string);
        Verdict::of(run.makespan, value.as_ref().map(|value| *value).map_err(String::as_str))
    }

    fn derivation(&self, value: Guarantee, longest: &JudgedLaunch) -> Derivation {
        let kinds = self.kinds();
        let launches = self.launches.iter().zip(longest.blocks.iter()).enumerate();
        let mut terms: Vec<Term> = launches
            .map(|(index, (value, (_, makespan, _)))| Term {
                index,
                value: value.get(),
                makespan: makespan.get(),
            })
            .collect();
        let more_terms = terms.len().saturating_sub(MAX_TERMS);
        terms.truncate(MAX_TERMS);
        let parts: Vec<BoundPart> = self.parts.iter().map(BoundPart::new).collect();
        let extends = format!("It is {} over all paths.", kinds.join(" or "));
        let remark = match (parts.is_empty(), terms.is_empty()) {
            (false, _) => format!("{extends} The parts add up to the value."),
            (true, false) => format!(
                "{extends} The program does not state how it divides by resource. The terms add up to the value."
            ),
            (true, true) => format!(
                "{extends} The program does not state how it divides by resource, and the value is that of one launch."
            ),
        };
        Derivation {
            bound: NAME,
            summary: SUMMARY,
            value: value.cycles().get(),
            proof: "crates/bound/src/all_paths/proof.md",
            rules: all_rules(&kinds).map(|rule| rule.id).collect(),
            parts,
            terms_are: "launch",
            terms,
            more_terms,
            remark,
        }
    }
}

/// Returns the rules of the bound over all paths, which include those of the bounds that it extends.
fn all_rules<'k>(kinds: &'k [&'static str]) -> impl Iterator<Item = &'static rules::Rule> + 'k {
    let of_kinds = kinds.iter().flat_map(|kind| rules::of(kind).filter(|rule| rule.bound != "all"));
    rules::of(NAME).chain(of_kinds)
}

impl Claim {
    /// Returns the claim about every input, with its evidence.
    pub fn of_all_paths(inputs: Inputs, found: &FoundStatic) -> Self {
        let Inputs { id, answer, machine, features, launch, runs, is_application, files, replays } = inputs;
        // the longest run; the first of several
        let longest = runs.iter().map(|(_, run)| *run).rev().max_by_key(|run| run.makespan);
        let why_none = found.value.as_ref().err().map(ToString::to_string);
        let (kinds, loop_bounds) = (found.kinds(), found.loop_bounds.iter().map(Given::text));
        let facts = premises::StaticFacts {
            why_none: why_none.as_deref(),
            kinds: &kinds,
            features,
            runs,
            loop_bounds: &loop_bounds.collect::<Vec<_>>(),
            constants: &found.constants,
            of_program: is_application,
        };
        let value = answer.guaranteed.as_ref().and(found.value.as_ref().ok());
        let row = |(kind, run): &(PolicyKind, &JudgedLaunch)| {
            let bound = value.map(|value| value.cycles().get());
            RunRow::new(kind, run, bound, &found.verdict(run))
        };
        Self {
            id,
            statement: statement(&answer),
            is_guaranteed: answer.guaranteed.is_some(),
            origin: Origin::new(machine),
            launch,
            premises: premises::of_static(&facts),
            premises_of: Some(NAME.to_owned()),
            rules_of: [NAME].iter().chain(&kinds).map(|name| (*name).to_owned()).collect(),
            derivation: value.zip(longest).map(|(value, longest)| found.derivation(*value, longest)),
            runs: runs.iter().map(row).collect(),
            bounds: longest.map_or_else(Vec::new, |run| {
                let value = found.value.as_ref().ok().copied();
                let own = Bound::of_worst_case(NAME, value, &found.verdict(run), Some(run.makespan));
                let on_run = run.judged().map(|row| Bound::of_run(row, run.makespan));
                std::iter::once(own).chain(on_run).collect()
            }),
            self_checked_warps: longest.map_or(0, |run| run.self_checked_warps),
            notes: notes(runs),
            files,
            replays,
            answer,
        }
    }
}
