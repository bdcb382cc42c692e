//! The evidence for a guaranteed bound, for a reader who has to argue it in a file of his own: the
//! claim, its premises, the derivation of the number, the runs that it was compared with, digests
//! of everything that it is about, commands that repeat it, and the tests that cover the rules.
//!
//! The pack is data ([`EvidencePack`]), from which a page ([`page()`]) and a text ([`readme`]) are
//! made.
//! All bytes depend only on the program and its inputs.

mod of_all_paths;
mod page;
mod premises;
mod rules;
mod text;

use serde::Serialize;

use super::answer::{Answer, nearest_bound, proved};
use super::output::{Origin, Output, Report};
use super::style::Style;
use super::verdict::{Bound, BoundPart, Status};
use super::{Fraction, count};
use warpbound_bound::Scope;
use warpbound_core::machine::{Features, Machine, PolicyKind};
use warpbound_judge::check::{JudgedLaunch, Verdict};

pub use of_all_paths::FoundStatic;
pub use page::page;
pub use premises::{Premise, PremiseStatus, Subject};
pub use rules::Rule;
pub use text::readme;

/// The largest number of launches or blocks of a claim that are listed one by one.
const MAX_TERMS: usize = 1000;

/// The evidence for the claims of one command.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidencePack {
    /// The program that made the pack.
    pub tool: Tool,
    /// The claims, in the order of kernels and machines.
    pub claims: Vec<Claim>,
    /// The rules of the bounds that the claims use.
    pub rules: Vec<Rule>,
    /// What the pack does not show.
    pub not_shown: Vec<&'static str>,
}

/// The program that made a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tool {
    /// The name of the program.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The commit that it was built from; absent if the build did not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<&'static str>,
    /// The SHA-256 of its executable file; absent if the file could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable_sha256: Option<String>,
}

/// A claim with its evidence. Times are in cycles.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Claim {
    /// The identifier of the claim, and the name of the folder with its files.
    pub id: String,
    /// The claim, or the statement that nothing is guaranteed and why.
    pub statement: String,
    /// Whether a bound is guaranteed.
    pub is_guaranteed: bool,
    /// The claim as data.
    pub answer: Answer,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The launch, or the launches of the application.
    pub launch: LaunchFacts,
    /// The premises of the bound; those of the bound that is closest to being applicable if none
    /// is.
    pub premises: Vec<Premise>,
    /// The bound that the premises are those of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub premises_of: Option<String>,
    /// The bounds whose rules the claim uses.
    #[serde(skip)]
    rules_of: Vec<String>,
    /// The derivation of the number; absent if nothing is guaranteed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub derivation: Option<Derivation>,
    /// The runs that the bound was compared with.
    pub runs: Vec<RunRow>,
    /// Every bound on the longest run, with its verdict.
    pub bounds: Vec<Bound>,
    /// The number of warps on which the analyser and the simulator were compared event by event.
    pub self_checked_warps: u64,
    /// Remarks on the runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The files that the claim is about, with their digests.
    pub files: Vec<FileDigest>,
    /// The commands that repeat the claim and its longest run.
    pub replays: Vec<Replay>,
}

/// What is launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchFacts {
    /// The number of launches.
    pub launches: u64,
    /// The number of blocks; absent for an application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u32>,
    /// The number of threads of a block; absent for an application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// The shared memory of a block in bytes; absent for an application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u32>,
    /// The largest number of blocks that an SM holds at a time.
    pub resident_blocks: u32,
    /// The number of SMs.
    pub sms: usize,
    /// The seed of random contents of buffers.
    pub seed: u64,
    /// Every executed instruction, counted once per warp that executed it.
    pub warp_instructions: u64,
}

/// The derivation of a bound.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Derivation {
    /// The name of the bound.
    pub bound: &'static str,
    /// What it adds up.
    pub summary: &'static str,
    /// The value in cycles.
    pub value: u64,
    /// The file of the proof.
    pub proof: &'static str,
    /// The rules of the pack that the value is computed by.
    pub rules: Vec<&'static str>,
    /// The parts by resource; empty if the bound does not state them.
    pub parts: Vec<BoundPart>,
    /// What the terms below are: `block` or `launch`.
    pub terms_are: &'static str,
    /// The values that are added up, for blocks that run one after the other and for launches of an
    /// application; empty if the value is that of one block or launch.
    pub terms: Vec<Term>,
    /// The number of further terms that are not listed.
    pub more_terms: usize,
    /// A remark on what the derivation does not state.
    pub remark: String,
}

/// A term of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Term {
    /// The index of the block or launch, from 0.
    pub index: usize,
    /// The value of the bound.
    pub value: u64,
    /// The makespan in the longest run.
    pub makespan: u64,
}

/// A run that a bound was compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunRow {
    /// The policy.
    pub policy: String,
    /// The makespan in cycles.
    pub makespan: u64,
    /// Whether the run came to its end.
    pub complete: bool,
    /// The bound divided by the makespan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Fraction>,
    /// The verdict on the bound.
    pub verdict: Status,
}

/// A file and its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileDigest {
    /// The name of the file.
    pub name: String,
    /// Whether the folder of the claim contains the file.
    pub in_pack: bool,
    /// What the file is.
    pub what: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The SHA-256 of its contents, in hexadecimal.
    pub sha256: String,
}

/// A command that repeats something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replay {
    /// What it repeats.
    pub what: String,
    /// The command line, to be run in the folder of the claim.
    pub command: String,
}

/// What a claim is made from.
pub struct Inputs<'a> {
    /// The identifier of the claim.
    pub id: String,
    /// The answer that it claims.
    pub answer: Answer,
    /// The machine.
    pub machine: &'a Machine,
    /// The features of the machine beyond the paper model, as the kernel uses them.
    pub features: Features,
    /// The launch.
    pub launch: LaunchFacts,
    /// The runs that the answer is about, with their policies.
    pub runs: &'a [(PolicyKind, &'a JudgedLaunch)],
    /// Whether the runs are those of an application.
    pub is_application: bool,
    /// The files that it is about.
    pub files: Vec<FileDigest>,
    /// The commands that repeat it.
    pub replays: Vec<Replay>,
}

/// What a pack about one input says nothing about, and a pack about every input.
const OTHER_INPUTS: [&str; 2] = [
    "anything about inputs, grids or arguments other than those of the launch",
    "anything about grids, arguments or sizes of buffers other than those of the launch",
];

const NOT_SHOWN: [&str; 5] = [
    "that the machine description describes a device: no measurement on hardware is part of the pack",
    "that the device executes the instructions of the kernel file, for example after a compiler or a driver changed them",
    "that the program is qualified: its tests and proofs are named, and a reader who relies on them has to judge them",
    "time outside of the kernel: the host, copies, and other work on the same device",
    "the time of a system of tasks: the number is the input of such an analysis, not its result",
];

impl EvidencePack {
    /// Returns the pack of these claims.
    pub fn new(tool: Tool, claims: Vec<Claim>) -> Self {
        let mut rules: Vec<Rule> = Vec::new();
        let used = claims.iter().flat_map(|claim| &claim.rules_of);
        for rule in used.flat_map(|bound| rules::of(bound)) {
            if !rules.contains(rule) {
                rules.push(*rule);
            }
        }
        let is_of_all_paths = claims.iter().any(|claim| claim.premises_of.as_deref() == Some("static"));
        let mut not_shown = NOT_SHOWN.to_vec();
        not_shown.insert(2, OTHER_INPUTS[usize::from(is_of_all_paths)]);
        Self { tool, claims, rules, not_shown }
    }

    /// Returns whether a run exceeds a proved bound.
    pub fn is_violated(&self) -> bool {
        let bounds = self.claims.iter().flat_map(|claim| &claim.runs);
        bounds.into_iter().any(|run| run.verdict == Status::Violated)
    }
}

impl Claim {
    /// Returns a claim with its evidence.
    pub fn new(inputs: Inputs) -> Self {
        let Inputs { id, answer, machine, features, launch, runs, is_application, files, replays } = inputs;
        // the longest run; the first of several
        let longest = runs.iter().map(|(_, run)| *run).rev().max_by_key(|run| run.makespan);
        let guaranteed = answer.guaranteed.as_ref();
        let name = match guaranteed {
            Some(bound) => Some(bound.bound.to_string()),
            None => runs.first().and_then(|(_, run)| nearest_bound(run)).map(str::to_owned),
        };
        let bound = name.as_deref().and_then(premises::bound_named);
        let facts = bound.as_ref().map(|bound| premises::Facts { bound: &**bound, features, runs });
        let derivation = guaranteed.zip(bound.as_ref()).zip(longest).map(|((answer, bound), longest)| {
            let terms = Terms { run: longest, of_application: is_application };
            Derivation::new(&**bound, answer, &terms)
        });
        let row = |(kind, run): &(PolicyKind, &JudgedLaunch)| {
            let verdict = Verdict::combine(proved(run).map(|row| row.verdict()));
            RunRow::new(kind, run, guaranteed.map(|bound| bound.cycles), &verdict)
        };
        Self {
            id,
            statement: statement(&answer),
            is_guaranteed: guaranteed.is_some(),
            origin: Origin::new(machine),
            launch,
            premises: facts.as_ref().map(premises::all).unwrap_or_default(),
            rules_of: name.iter().cloned().collect(),
            premises_of: name,
            derivation,
            runs: runs.iter().map(row).collect(),
            bounds: longest.map_or_else(Vec::new, |run| {
                run.judged().map(|row| Bound::of_run(row, run.makespan)).collect()
            }),
            self_checked_warps: longest.map_or(0, |run| run.self_checked_warps),
            notes: notes(runs),
            files,
            replays,
            answer,
        }
    }
}

/// Returns the claim of an answer.
fn statement(answer: &Answer) -> String {
    match answer.guaranteed {
        Some(_) => answer.with_names(),
        None => format!("nothing is guaranteed for {}", answer.with_names()),
    }
}

/// Returns the remarks on the runs, each once.
fn notes(runs: &[(PolicyKind, &JudgedLaunch)]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in runs.iter().flat_map(|(_, run)| &run.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}

impl RunRow {
    /// Returns the row of a run, given the bound in cycles.
    fn new(kind: &PolicyKind, run: &JudgedLaunch, bound: Option<u64>, verdict: &Verdict) -> Self {
        let ratio = bound.filter(|_| run.makespan.get() > 0);
        Self {
            policy: kind.to_string(),
            makespan: run.makespan.get(),
            complete: run.is_complete(),
            ratio: ratio.map(|bound| Fraction(bound as f64 / run.makespan.get() as f64)),
            verdict: Status::of(verdict),
        }
    }
}

/// The run whose blocks or launches are the terms of a derivation.
struct Terms<'a> {
    run: &'a JudgedLaunch,
    of_application: bool,
}

impl Derivation {
    fn new(bound: &dyn warpbound_bound::Bound, answer: &super::answer::Guaranteed, of: &Terms) -> Self {
        let name = bound.name();
        let index = of.run.bounds.iter().position(|row| row.name == name);
        let all = of.run.blocks.iter().filter_map(|(block, makespan, mut values)| {
            let value = values.nth(index?)??;
            Some(Term { index: block, value: value.get(), makespan: makespan.get() })
        });
        let is_sum = (of.of_application || bound.scope() == Scope::Block) && of.run.blocks.len() > 1;
        let mut terms: Vec<Term> = if is_sum { all.collect() } else { Vec::new() };
        let more_terms = terms.len().saturating_sub(MAX_TERMS);
        terms.truncate(MAX_TERMS);
        let parts = answer.parts.clone();
        let remark = match (parts.is_empty(), terms.is_empty()) {
            (false, _) => "The parts add up to the value.".to_owned(),
            (true, false) => format!(
                "The program does not state how {name} divides by resource. The terms add up to the value."
            ),
            (true, true) => format!(
                "The program does not state how {name} divides by resource, and the value is that of one {}.",
                if bound.scope() == Scope::Block { "block" } else { "launch" }
            ),
        };
        Self {
            bound: name,
            summary: bound.summary(),
            value: answer.cycles,
            proof: rules::proof(name).unwrap_or(""),
            rules: rules::of(name).map(|rule| rule.id).collect(),
            parts,
            terms_are: if of.of_application { "launch" } else { "block" },
            terms,
            more_terms,
            remark,
        }
    }
}

impl Report for Output<EvidencePack> {
    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        for pack in &self.results {
            for claim in &pack.claims {
                text.push_str(&style.fill(&format!("{}\n", claim.statement)));
            }
            let broken: Vec<&str> = pack
                .claims
                .iter()
                .filter(|claim| !claim.is_guaranteed)
                .map(|claim| claim.id.as_str())
                .collect();
            if !broken.is_empty() {
                let claims = count(broken.len(), "claim");
                text.push_str(&style.fill(&format!(
                    "\nnothing is guaranteed in {claims} of {}: {}\n",
                    pack.claims.len(),
                    broken.join(", ")
                )));
            }
        }
        text + &self.batch.text()
    }
}
