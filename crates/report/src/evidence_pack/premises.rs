//! The premises of a bound, each with whether it holds for the runs of a claim, where the program
//! checks it, and the tests that cover the check.

use serde::Serialize;

use warpbound_bound::{self as bound, Bound, Context, Order, Schedules, Scope};
use warpbound_core::machine::{Feature, Features, PolicyKind};
use warpbound_judge::check::JudgedLaunch;

/// A premise of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Premise {
    /// The identifier that the pack refers to.
    pub id: String,
    /// What the premise is about.
    pub about: Subject,
    /// The premise.
    pub premise: String,
    /// Whether it holds here.
    pub status: PremiseStatus,
    /// What was found.
    pub finding: String,
    /// The code that checks it, as `FILE: ITEM`; absent if the program cannot check it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_in: Option<&'static str>,
    /// The tests that cover the check, each as `FILE: NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<&'static str>,
}

/// What a premise is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The machine description.
    Machine,
    /// The kernel and its launch.
    Kernel,
    /// The policy.
    Policy,
    /// The analysis itself.
    Analysis,
    /// The device and its use, which the program does not see.
    Device,
}

impl Subject {
    /// Returns the name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Kernel => "kernel",
            Self::Policy => "policy",
            Self::Analysis => "analysis",
            Self::Device => "device",
        }
    }
}

/// Whether a premise holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PremiseStatus {
    /// It was checked and holds.
    Holds,
    /// It was checked and does not hold.
    Broken,
    /// It could be checked, but the run did not.
    NotExamined,
    /// The program cannot check it; it has to be argued elsewhere.
    ToBeArgued,
}

impl PremiseStatus {
    /// Returns the status for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Broken => "BROKEN",
            Self::NotExamined => "not examined",
            Self::ToBeArgued => "to be argued",
        }
    }
}

/// The facts that premises are checked on.
pub(super) struct Facts<'a> {
    /// The bound of the claim, or the one that is closest to being applicable.
    pub bound: &'a dyn Bound,
    /// The features of the machine beyond the paper model.
    pub features: Features,
    /// The runs with their policies.
    pub runs: &'a [(PolicyKind, &'a JudgedLaunch)],
}

const CONTEXT_TEST: &str = "crates/bound/src/context.rs: every_broken_premise_is_named";

/// Returns the premises of the bound.
pub(super) fn all(facts: &Facts) -> Vec<Premise> {
    let mut all = vec![policy(facts)];
    all.extend(features(facts));
    all.extend(placement(facts));
    all.extend([barriers(facts), order(facts), complete(facts)]);
    all.extend(to_be_argued(&THIS_INPUT));
    all
}

/// The facts that the premises of the bound over all paths are checked on.
pub(super) struct StaticFacts<'a> {
    /// The reason why there is no bound, if there is none.
    pub why_none: Option<&'a str>,
    /// The bounds on the paths of a run that the launches extend.
    pub kinds: &'a [&'static str],
    /// The features of the machine beyond the paper model.
    pub features: Features,
    /// The runs with their policies.
    pub runs: &'a [(PolicyKind, &'a JudgedLaunch)],
    /// The given loop bounds, as clauses.
    pub loop_bounds: &'a [String],
    /// The names of buffers that are declared constant.
    pub constants: &'a [String],
    /// Whether it is a program of several launches.
    pub of_program: bool,
}

/// Returns the premises of the bound over all paths.
pub(super) fn of_static(facts: &StaticFacts) -> Vec<Premise> {
    let of_runs = |name: &str| bound_named(name).expect("bounds over all paths extend known bounds");
    let policy_of = of_runs("iwb");
    let mut all = vec![policy(&Facts { bound: &*policy_of, features: facts.features, runs: facts.runs })];
    for (number, name) in facts.kinds.iter().enumerate() {
        let bound = of_runs(name);
        let found = features(&Facts { bound: &*bound, features: facts.features, runs: facts.runs });
        let named = |premise: Premise| match number {
            0 => premise,
            _ => Premise { id: format!("{}-{name}", premise.id), ..premise },
        };
        all.extend(found.into_iter().map(named));
    }
    all.push(applies(facts));
    all.push(paths(facts));
    all.extend(facts.loop_bounds.iter().enumerate().map(|(index, bound)| loop_bound(index, bound)));
    all.extend((!facts.constants.is_empty()).then(|| constants(facts.constants)));
    all.extend(facts.of_program.then(launches));
    all.extend(to_be_argued(&EVERY_INPUT));
    all
}

fn applies(facts: &StaticFacts) -> Premise {
    let (status, finding) = match facts.why_none {
        None => (PremiseStatus::Holds, format!("the bounds are {}", facts.kinds.join(" and "))),
        Some(why) => (PremiseStatus::Broken, why.to_owned()),
    };
    Premise {
        id: "applies".to_owned(),
        about: Subject::Kernel,
        premise: "Each launch has a bound whose proof accounts for how many of its blocks an SM holds, for its barriers, and for the features that it uses."
            .to_owned(),
        status,
        finding,
        checked_in: Some("crates/bound/src/all_paths/mod.rs: static_premises"),
        tests: vec![
            CONTEXT_TEST,
            "tests/all_paths/suite.rs: blocks_that_are_resident_together_are_bounded_as_rbb_does",
        ],
    }
}

fn paths(facts: &StaticFacts) -> Premise {
    let (status, finding) = match facts.why_none {
        None => (PremiseStatus::Holds, "the walk over all paths came to its end"),
        Some(_) => (PremiseStatus::NotExamined, "there is no bound"),
    };
    Premise {
        id: "paths".to_owned(),
        about: Subject::Analysis,
        premise: "The set of paths of each warp contains its path for every input and every order of accesses: everything that is loaded counts as unknown."
            .to_owned(),
        status,
        finding: finding.to_owned(),
        checked_in: Some("crates/exec/src/all_paths/mod.rs: next_block"),
        tests: vec![
            "tests/all_paths/suite.rs: paths_of_all_launches_are_in_their_sets",
            "tests/all_paths/random/mod.rs: runs_of_random_kernels_are_in_their_sets",
        ],
    }
}

fn loop_bound(index: usize, bound: &str) -> Premise {
    Premise {
        id: format!("loop-{}", index + 1),
        about: Subject::Kernel,
        premise: format!("For every input, {bound}."),
        status: PremiseStatus::ToBeArgued,
        finding: "the runs of the pack keep to it, which does not show that other inputs do".to_owned(),
        checked_in: Some("crates/judge/src/check/all_paths/kept.rs: add_blocks"),
        tests: vec!["tests/cli/all_paths.rs: loops_that_depend_on_data_need_a_bound"],
    }
}

fn constants(names: &[String]) -> Premise {
    Premise {
        id: "constants".to_owned(),
        about: Subject::Kernel,
        premise: format!(
            "The contents that are declared constant are those of the launch for every input: {}.",
            names.join(", ")
        ),
        status: PremiseStatus::ToBeArgued,
        finding: "the digests of the pack cover them".to_owned(),
        checked_in: None,
        tests: Vec::new(),
    }
}

fn launches() -> Premise {
    Premise {
        id: "launches".to_owned(),
        about: Subject::Kernel,
        premise: "For every input the host makes the launches of the program file, with the same shapes and arguments, one after the other."
            .to_owned(),
        status: PremiseStatus::ToBeArgued,
        finding: "a program file states its launches, and none depends on what a kernel computes".to_owned(),
        checked_in: None,
        tests: Vec::new(),
    }
}

fn policy(facts: &Facts) -> Premise {
    let names = |wanted: Option<bool>| {
        let runs = facts.runs.iter().filter(|(kind, _)| match facts.bound.policy() {
            Some(only) => Some(*kind == only) == wanted,
            None => kind.work_conserving() == wanted,
        });
        runs.map(|(kind, _)| kind.to_string()).collect::<Vec<_>>()
    };
    let (premise, kept, broken) = match facts.bound.policy() {
        Some(only) => {
            (format!("The policy is {only}."), "the policy of the runs is", "another policy is that of")
        }
        None => (
            "On each sub-core some instruction issues whenever one of its warps is ready.".to_owned(),
            "the contracts of these policies state it:",
            "the contract of a policy does not state it:",
        ),
    };
    let others = [names(Some(false)), names(None)].concat();
    let (status, finding) = match others.is_empty() {
        true => (PremiseStatus::Holds, format!("{kept} {}", names(Some(true)).join(", "))),
        false => (PremiseStatus::Broken, format!("{broken} {}", others.join(", "))),
    };
    Premise {
        id: "policy".to_owned(),
        about: Subject::Policy,
        premise,
        status,
        finding,
        checked_in: Some("crates/bound/src/context.rs: keeps_the_slot_busy"),
        tests: vec![
            CONTEXT_TEST,
            "tests/cli/premises.rs: no_bound_is_printed_as_applicable_outside_its_premises",
            "tests/bound/turns.rs: each_is_for_its_policy_only",
        ],
    }
}

/// Returns a premise for each feature of the machine, or one that says that there is none.
fn features(facts: &Facts) -> Vec<Premise> {
    let name = facts.bound.name();
    let premise = |id: String, premise: String, status, finding| Premise {
        id,
        about: Subject::Machine,
        premise,
        status,
        finding,
        checked_in: Some("crates/bound/src/claim.rs: accounts_for"),
        tests: vec![
            "tests/bound/machine_features.rs: every_switch_is_one_feature_with_its_bounds",
            "tests/bound/machine_features.rs: features_that_are_not_accounted_for_are_named",
            "tests/bound/beyond.rs: no_run_on_a_machine_beyond_the_paper_model_exceeds_a_bound",
        ],
    };
    if facts.features.is_empty() {
        let text = format!("The proof of {name} accounts for every feature of the machine.");
        let finding = "the machine has no feature beyond the paper model".to_owned();
        return vec![premise("machine".to_owned(), text, PremiseStatus::Holds, finding)];
    }
    let each = facts.features.iter().enumerate().map(|(index, feature)| {
        let text = format!("The proof of {name} accounts for this feature: {feature}.");
        let (status, finding) = match accounts_for(facts.bound, feature, facts.features) {
            true => (PremiseStatus::Holds, "it does"),
            false => (PremiseStatus::Broken, "it does not"),
        };
        premise(format!("machine-{}", index + 1), text, status, finding.to_owned())
    });
    each.collect()
}

/// Returns whether a bound applies on a machine with this feature, all other premises granted. `all` are
/// the features of the machine.
fn accounts_for(bound: &dyn Bound, feature: Feature, all: Features) -> bool {
    let mut beyond = Features::default().with(feature);
    if feature == Feature::ConstantCache && all.contains(Feature::Partitions) {
        // caches for constants are accounted for in front of a crossbar only
        beyond = beyond.with(Feature::Partitions);
    }
    let schedules = match bound.policy() {
        Some(policy) => Schedules::Run { policy, passed_over: None },
        None => Schedules::WorkConserving,
    };
    // some bounds are for one block at a time, and others for several
    [1, 2].into_iter().any(|resident_blocks| {
        let context = Context {
            schedules: schedules.clone(),
            resident_blocks,
            partial_barriers: false,
            beyond,
            order: Order::Irrelevant,
        };
        bound.applicable(&context).is_ok()
    })
}

fn placement(facts: &Facts) -> Option<Premise> {
    let most = facts.runs.iter().map(|(_, run)| run.resident_blocks).max().unwrap_or(0);
    let several_sms = facts.features.contains(Feature::SeveralSms);
    let whole = most > 1 || several_sms || facts.features.contains(Feature::LaunchCosts);
    let finding = format!("at most {most} blocks are on an SM at the same time");
    let (premise, holds, checked_in) = match (facts.bound.scope(), facts.bound.needs_sections()) {
        (Scope::Block, _) => (
            "Blocks run one after the other, so that their bounds can be added up.",
            most <= 1,
            "crates/bound/src/context.rs: one_aligned_block",
        ),
        (Scope::Launch, true) => (
            "The launch is judged as a whole: several blocks may run at a time, or launching takes time that belongs to no block.",
            whole,
            "crates/bound/src/context.rs: judged_as_a_whole",
        ),
        // this bound is for any number of blocks
        (Scope::Launch, false) => return None,
    };
    Some(Premise {
        id: "placement".to_owned(),
        about: Subject::Kernel,
        premise: premise.to_owned(),
        status: if holds { PremiseStatus::Holds } else { PremiseStatus::Broken },
        finding,
        checked_in: Some(checked_in),
        tests: vec![CONTEXT_TEST, "tests/bound/resident.rs: premises_are_named"],
    })
}

fn barriers(facts: &Facts) -> Premise {
    let partial = facts.runs.iter().any(|(_, run)| run.partial_barriers);
    let (status, finding) = match partial {
        false => (PremiseStatus::Holds, "no barrier of the runs involves only some warps"),
        true => (PremiseStatus::Broken, "a barrier involves only some warps of its block"),
    };
    Premise {
        id: "barriers".to_owned(),
        about: Subject::Kernel,
        premise: "Every barrier involves all warps of its block.".to_owned(),
        status,
        finding: finding.to_owned(),
        checked_in: Some("crates/bound/src/context.rs: barriers_of_all"),
        tests: vec![CONTEXT_TEST, "tests/exec/barriers.rs: named_barriers_take_the_warps_they_count"],
    }
}

fn order(facts: &Facts) -> Premise {
    let first = |of: fn(&JudgedLaunch) -> Option<&String>| facts.runs.iter().find_map(|(_, run)| of(run));
    let decided = first(|run| run.decided_by_order.as_ref());
    let open = first(|run| run.races_not_looked_for.as_ref());
    let (status, finding) = match (decided, open) {
        (Some(why), _) => (PremiseStatus::Broken, why.clone()),
        (None, Some(why)) => (PremiseStatus::NotExamined, format!("races were not looked for: {why}")),
        (None, None) => (
            PremiseStatus::Holds,
            "the functional run watched shared and global memory, and no race decides a path or an address"
                .to_owned(),
        ),
    };
    Premise {
        id: "order".to_owned(),
        about: Subject::Kernel,
        premise:
            "The paths of the warps do not depend on the order in which warps access memory, nor on a clock."
                .to_owned(),
        status,
        finding,
        checked_in: Some("crates/judge/src/check/order.rs: settle"),
        tests: vec![
            "tests/exec/races.rs: random_accesses_agree_with_the_definition",
            "tests/exec/races.rs: programs_without_races_give_the_same_results_in_every_order",
            "tests/exec/orders.rs: kernels_without_reported_dependences_have_the_same_paths_in_every_order",
            "tests/exec/orders.rs: clocks_and_placement_count_if_they_decide_a_path_also_through_memory",
        ],
    }
}

fn complete(facts: &Facts) -> Premise {
    let complete = facts.runs.iter().all(|(_, run)| run.is_complete());
    let (status, finding) = match complete {
        true => (PremiseStatus::Holds, "all runs came to their end"),
        false => (PremiseStatus::Broken, "a run was stopped before its end"),
    };
    Premise {
        id: "complete".to_owned(),
        about: Subject::Analysis,
        premise: "The bound is computed from the paths of all blocks and launches.".to_owned(),
        status,
        finding: finding.to_owned(),
        checked_in: Some("crates/judge/src/check/judge.rs: finish"),
        tests: vec![
            "crates/judge/src/check/judge.rs: a_violation_is_kept_whatever_the_other_blocks_give",
            "tests/cli/answers.rs: a_run_that_is_stopped_guarantees_nothing",
        ],
    }
}

/// The premise about the input, and what was found.
type OfInput = (&'static str, &'static str);

const THIS_INPUT: OfInput = (
    "The launch has this input: grid, arguments and contents of buffers. Another input may lead to other paths, for which the number says nothing.",
    "`warpbound static` and `warpbound wcet` bound all paths where that is possible",
);

const EVERY_INPUT: OfInput = (
    "The grid, the block, the numbers and addresses among the arguments, and the sizes of buffers are those of the launch. Contents of buffers that are not declared constant may be any.",
    "the analysis is of this launch; the contents in the pack are those of its runs only",
);

/// Returns the premises that the program cannot check.
fn to_be_argued(of_input: &OfInput) -> impl Iterator<Item = Premise> + use<> {
    let (input, of_the_input) = *of_input;
    let all = [
        (
            "device",
            Subject::Device,
            "The machine description describes the device: every rule, latency and limit of it is that of the device, or one that cannot make the bound too small.",
            "no measurement is part of this pack; docs/limits.md says what each embedded machine was compared with",
        ),
        (
            "code",
            Subject::Device,
            "The device executes the instructions of the kernel file. For PTX this includes that the compiler to machine code adds, removes and reorders nothing that matters.",
            "the analysis reads the kernel file only",
        ),
        ("input", Subject::Kernel, input, of_the_input),
        (
            "isolation",
            Subject::Device,
            "Nothing else uses the SMs and their memory while the kernel runs. Time on the host, for copies and between launches is not part of the number.",
            "the simulation contains the launch alone",
        ),
        (
            "tool",
            Subject::Analysis,
            "The program computes the bound as its rules state.",
            "the tests of the rules below are evidence; this pack is no tool qualification",
        ),
    ];
    all.into_iter().map(|(id, about, premise, finding)| Premise {
        id: id.to_owned(),
        about,
        premise: premise.to_owned(),
        status: PremiseStatus::ToBeArgued,
        finding: finding.to_owned(),
        checked_in: None,
        tests: Vec::new(),
    })
}

/// Returns the bound with this name.
pub(super) fn bound_named(name: &str) -> Option<Box<dyn Bound>> {
    bound::all().into_iter().find(|bound| bound.name() == name)
}
