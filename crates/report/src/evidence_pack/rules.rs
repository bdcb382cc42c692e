//! The rules of the bounds with the code that implements them, their proofs, and the tests that
//! cover them. A test of the command line looks each file, proof and test up in the repository.

use serde::Serialize;

/// A rule that the value of a bound is computed by, or a fact that its proof uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rule {
    /// The identifier that the pack refers to.
    pub id: &'static str,
    /// The bound that the rule belongs to; `all` for a fact about the model that all proofs use.
    pub bound: &'static str,
    /// The rule.
    pub rule: &'static str,
    /// The file that implements it.
    pub code: &'static str,
    /// The file of its proof, or of the fact.
    pub proof: &'static str,
    /// The part of that file.
    pub part: &'static str,
    /// The tests that cover it, each as `FILE: NAME`.
    pub tests: &'static [&'static str],
}

/// Returns the rules that concern a bound: the facts about the model, and its own rules.
pub fn of(bound: &str) -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(move |rule| rule.bound == "all" || rule.bound == bound)
}

/// Returns the file of the proof of a bound.
pub fn proof(bound: &str) -> Option<&'static str> {
    RULES.iter().find(|rule| rule.bound == bound).map(|rule| rule.proof)
}

const COMMON: &str = "crates/bound/src/proofs/common.md";
const IWB: &str = "crates/bound/src/proofs/iwb.md";
const SWB: &str = "crates/bound/src/proofs/swb.md";
const LWB: &str = "crates/bound/src/proofs/lwb.md";
const RBB: &str = "crates/bound/src/proofs/rbb.md";
const PLB: &str = "crates/bound/src/proofs/plb.md";
const MEMORY: &str = "crates/bound/src/proofs/memory.md";
const STATIC: &str = "crates/bound/src/all_paths/proof.md";
const TURNS: &str = "crates/bound/src/proofs/turns.md";

const LONE_WARP: &[&str] = &[
    "tests/bound/check_random.rs: a_lone_warp_is_the_same_to_analyser_and_simulator",
    "tests/bound/formulas.rs: whole_paths_agree",
];

const RULES: &[Rule] = &[
    Rule {
        id: "M1",
        bound: "all",
        rule: "A warp issues its instructions in program order, and a sub-core issues instructions of one warp per cycle.",
        code: "crates/sim/src/paper/mod.rs",
        proof: COMMON,
        part: "(M1) In order.",
        tests: &["tests/engine/against_reference.rs: kernels_under_every_policy"],
    },
    Rule {
        id: "M2",
        bound: "all",
        rule: "An instruction is ready when the instructions that it waits for are done.",
        code: "crates/bound/src/operands.rs",
        proof: COMMON,
        part: "(M2) Ready.",
        tests: &[
            "tests/engine/against_reference.rs: kernels_under_every_policy",
            "tests/engine/by_cycle.rs: random_machines",
        ],
    },
    Rule {
        id: "M3",
        bound: "all",
        rule: "Some instruction of a sub-core issues in each cycle in which one of its warps is ready. (The bounds for srr and gsrr use the order of turns instead.)",
        code: "crates/bound/src/context.rs",
        proof: COMMON,
        part: "(M3) Work conservation.",
        tests: &[
            "crates/bound/src/context.rs: every_broken_premise_is_named",
            "tests/bound/schedules.rs: iwb_holds_exhaustively",
        ],
    },
    Rule {
        id: "M4",
        bound: "all",
        rule: "A unit serves instructions in the order of their issue, one per initiation interval.",
        code: "crates/sim/src/paper/mod.rs",
        proof: COMMON,
        part: "(M4) Units.",
        tests: &[
            "tests/engine/against_reference.rs: kernels_under_every_policy",
            "tests/engine/against_reference.rs: sub_cores_with_and_without_shared_units",
        ],
    },
    Rule {
        id: "M5",
        bound: "all",
        rule: "All warps of a block that have not finished take part in each of its barriers.",
        code: "crates/sim/src/blocks/mod.rs",
        proof: COMMON,
        part: "(M5) Barriers.",
        tests: &[
            "tests/engine/against_reference.rs: both_engines_emit_the_same_events_of_blocks_and_barriers",
            "tests/exec/barriers.rs: named_barriers_take_the_warps_they_count",
        ],
    },
    Rule {
        id: "M6",
        bound: "all",
        rule: "A place of an SM receives the next block in the cycle in which its block ends.",
        code: "crates/sim/src/blocks/mod.rs",
        proof: COMMON,
        part: "(M6) Blocks.",
        tests: &["tests/engine/against_reference.rs: launches_with_several_blocks"],
    },
    Rule {
        id: "M7",
        bound: "all",
        rule: "A warp stays on its sub-core.",
        code: "crates/sim/src/paper/mod.rs",
        proof: COMMON,
        part: "(M7) Sub-cores.",
        tests: &["tests/engine/against_reference.rs: sub_cores_with_several_blocks"],
    },
    Rule {
        id: "IWB-1",
        bound: "iwb",
        rule: "The section of a warp counts with the time that it takes alone from an empty machine.",
        code: "crates/bound/src/algorithm.rs",
        proof: IWB,
        part: "Lemma 2",
        tests: LONE_WARP,
    },
    Rule {
        id: "IWB-2",
        bound: "iwb",
        rule: "An instruction of another warp on a unit that the warp uses counts with its initiation interval, and every other instruction of its sub-core with one issue slot.",
        code: "crates/bound/src/iwb.rs",
        proof: IWB,
        part: "Proof of the theorem",
        tests: &[
            "tests/bound/formulas.rs: sections_and_bounds_agree",
            "tests/bound/schedules.rs: iwb_holds_exhaustively",
            "tests/bound/evidence.rs: proved_bounds_hold_for_every_block",
        ],
    },
    Rule {
        id: "IWB-3",
        bound: "iwb",
        rule: "An instruction of another sub-core counts with its initiation interval if the unit is shared and the warp uses it.",
        code: "crates/bound/src/sharing.rs",
        proof: IWB,
        part: "Lemma 3",
        tests: &[
            "tests/bound/sub_cores.rs: no_proved_bound_is_exceeded_on_random_kernels",
            "tests/bound/sub_cores.rs: proved_bounds_hold_for_every_schedule_of_tiny_blocks",
        ],
    },
    Rule {
        id: "IWB-4",
        bound: "iwb",
        rule: "A section counts with its largest warp, and the sections of a block are added up.",
        code: "crates/bound/src/contract.rs",
        proof: COMMON,
        part: "Lemma B",
        tests: &["tests/bound/schedules.rs: iwb_holds_for_blocks_and_for_each_warp"],
    },
    Rule {
        id: "SWB-1",
        bound: "swb",
        rule: "The section of a warp counts with the time that it takes alone, plus one issue slot for each instruction of the other warps.",
        code: "crates/bound/src/swb.rs",
        proof: SWB,
        part: "Proof of the theorem",
        tests: &[
            "tests/bound/swb.rs: agrees_with_its_definition",
            "tests/bound/swb.rs: no_worst_case_exceeds_swb",
        ],
    },
    Rule {
        id: "SWB-2",
        bound: "swb",
        rule: "Other warps delay the warp further by the work that they leave queued where they issue back to back.",
        code: "crates/bound/src/runs.rs",
        proof: SWB,
        part: "Lemma 6",
        tests: &[
            "tests/bound/swb.rs: runs_are_cut_where_something_may_be_in_flight",
            "tests/bound/swb.rs: climbing_finds_no_violation",
            "tests/bound/evidence.rs: proved_bounds_hold_for_every_block",
        ],
    },
    Rule {
        id: "SWB-3",
        bound: "swb",
        rule: "A section counts with its largest warp, and the sections of a block are added up.",
        code: "crates/bound/src/contract.rs",
        proof: COMMON,
        part: "Lemma B",
        tests: &["tests/bound/formulas.rs: sections_and_bounds_agree"],
    },
    Rule {
        id: "LWB-1",
        bound: "lwb",
        rule: "The value of IWB or SWB is reduced by the issue slots that other warps must use while the warp waits for its longest latency.",
        code: "crates/bound/src/long_waits.rs",
        proof: LWB,
        part: "Lemma 3",
        tests: &[
            "tests/bound/lwb.rs: credits_are_those_of_the_definition",
            "tests/bound/lwb.rs: no_worst_case_exceeds_lwb",
            "tests/bound/evidence.rs: a_credit_too_many_is_caught",
        ],
    },
    Rule {
        id: "LWB-2",
        bound: "lwb",
        rule: "An instruction in flight at a barrier does not delay the next section if no instruction waits for its result.",
        code: "crates/bound/src/settled.rs",
        proof: COMMON,
        part: "Lemma C",
        tests: &[
            "tests/bound/settled.rs: sections_settle_as_defined",
            "tests/bound/settled.rs: no_worst_case_exceeds_lwb_and_each_kind_of_event_is_needed",
        ],
    },
    Rule {
        id: "RBB-1",
        bound: "rbb",
        rule: "All initiation intervals of the instructions on an SM are added up.",
        code: "crates/bound/src/resident/block.rs",
        proof: RBB,
        part: "Lemma 4",
        tests: &[
            "tests/bound/resident.rs: the_bound_agrees_with_the_naive_formula",
            "tests/bound/resident.rs: no_schedule_of_a_tiny_launch_exceeds_rbb",
        ],
    },
    Rule {
        id: "RBB-2",
        bound: "rbb",
        rule: "A block adds, for each of its stages, the largest time that a warp waits when it runs alone.",
        code: "crates/bound/src/resident/block.rs",
        proof: RBB,
        part: "Lemma 2",
        tests: &["tests/bound/resident.rs: formula_by_hand_for_blocks_that_are_resident_together"],
    },
    Rule {
        id: "RBB-3",
        bound: "rbb",
        rule: "If there are more blocks than places, the waiting times are divided by the number of places.",
        code: "crates/bound/src/resident/launch.rs",
        proof: RBB,
        part: "Lemma 7",
        tests: &[
            "tests/bound/resident.rs: formula_by_hand_for_more_blocks_than_cta_slots",
            "tests/bound/resident.rs: peaks_and_not_surpluses_are_shared",
            "tests/bound/resident.rs: waiting_times_of_all_blocks_count",
        ],
    },
    Rule {
        id: "RBB-4",
        bound: "rbb",
        rule: "Several SMs share the blocks; the last wave counts in full.",
        code: "crates/bound/src/resident/launch.rs",
        proof: RBB,
        part: "Lemma 8",
        tests: &[
            "tests/bound/resident.rs: several_sms_do_not_exceed_rbb",
            "tests/bound/resident.rs: the_last_wave_is_not_shared",
        ],
    },
    Rule {
        id: "RBB-5",
        bound: "rbb",
        rule: "Several sub-cores add the work by which a change of sub-core from stage to stage can delay a block.",
        code: "crates/bound/src/resident/block.rs",
        proof: RBB,
        part: "Lemma 3",
        tests: &[
            "tests/bound/resident.rs: formula_by_hand_on_sub_cores",
            "tests/bound/resident.rs: counting_once_is_not_enough_on_sub_cores",
        ],
    },
    Rule {
        id: "RBB-6",
        bound: "rbb",
        rule: "The costs of launching are added.",
        code: "crates/bound/src/resident/launch.rs",
        proof: RBB,
        part: "Lemma 12",
        tests: &[
            "tests/bound/resident.rs: places_of_blocks_that_are_placed_late",
            "tests/bound/beyond.rs: no_run_on_a_machine_beyond_the_paper_model_exceeds_a_bound",
        ],
    },
    Rule {
        id: "PLB-1",
        bound: "plb",
        rule: "Every instruction counts once, with the longest service that a stage of the pipeline gives it.",
        code: "crates/bound/src/pipelined/costs.rs",
        proof: PLB,
        part: "Lemma 3",
        tests: &[
            "tests/bound/pipelined.rs: random_micro_kernels",
            "tests/bound/pipelined_streams.rs: micro_kernels",
            "tests/bound/pipelined_directed.rs: late_writes_of_units",
        ],
    },
    Rule {
        id: "PLB-2",
        bound: "plb",
        rule: "A block adds, for each of its sections, the longest path of latencies of a warp.",
        code: "crates/bound/src/pipelined/span.rs",
        proof: PLB,
        part: "Lemma 1",
        tests: &["tests/bound/pipelined.rs: random_micro_kernels", "tests/bound/pipelined.rs: random_ptx"],
    },
    Rule {
        id: "PLB-3",
        bound: "plb",
        rule: "Fetches, and the cold misses of the instruction cache, are added.",
        code: "crates/bound/src/pipelined/fetch.rs",
        proof: PLB,
        part: "Lemma 6",
        tests: &["tests/bound/pipelined_directed.rs: fetches_at_the_last_barrier"],
    },
    Rule {
        id: "PLB-4",
        bound: "plb",
        rule: "Results that leave a unit or a bus together count with the time for which they keep the exit busy.",
        code: "crates/bound/src/pipelined/costs.rs",
        proof: PLB,
        part: "Lemma 5",
        tests: &["tests/bound/pipelined_directed.rs: results_in_the_order_of_banks"],
    },
    Rule {
        id: "PLB-5",
        bound: "plb",
        rule: "If there are more blocks than places, the paths of latencies are divided by the number of places; the costs of launching are added.",
        code: "crates/bound/src/resident/launch.rs",
        proof: PLB,
        part: "The end of the proof",
        tests: &[
            "tests/bound/pipelined_directed.rs: places_of_blocks_that_are_placed_late",
            "tests/bound/pipelined_code.rs: places_that_all_sms_share",
        ],
    },
    Rule {
        id: "PLB-6",
        bound: "plb",
        rule: "A request counts once with its longest service on its way to the L2, and once more on its way back if it may wait for DRAM.",
        code: "crates/bound/src/pipelined/memory/launch.rs",
        proof: MEMORY,
        part: "Lemma M1",
        tests: &[
            "tests/bound/pipelined_memory.rs: random_memory_systems",
            "tests/bound/pipelined_memory_directed.rs: chains_of_hits",
            "tests/bound/pipelined_memory_directed.rs: joined_loads_in_front_of_hits",
            "tests/bound/pipelined_memory_directed.rs: queues_of_one_request",
        ],
    },
    Rule {
        id: "PLB-7",
        bound: "plb",
        rule: "A request to DRAM counts its column commands, the changes of direction around a write, and the opening of its row.",
        code: "crates/bound/src/pipelined/memory/dram.rs",
        proof: MEMORY,
        part: "Lemma M2",
        tests: &[
            "tests/bound/pipelined_memory_directed.rs: rows_of_one_bank",
            "tests/bound/pipelined_memory_directed.rs: changes_of_direction",
        ],
    },
    Rule {
        id: "PLB-8",
        bound: "plb",
        rule: "A load counts as a hit only if no set of the cache has more lines than ways and its sectors are there whatever the schedule is.",
        code: "crates/bound/src/pipelined/memory/launch.rs",
        proof: MEMORY,
        part: "Lemma M3",
        tests: &[
            "tests/bound/pipelined_memory_directed.rs: copied_sectors_in_several_slices",
            "tests/bound/pipelined_memory_directed.rs: fetches_that_overlap",
        ],
    },
    Rule {
        id: "PLB-9",
        bound: "plb",
        rule: "The waits until a cache can track another fetch, and until a channel has a place, are added.",
        code: "crates/bound/src/pipelined/memory/outstanding.rs",
        proof: MEMORY,
        part: "Lemma M4",
        tests: &[
            "tests/bound/pipelined_memory_directed.rs: one_fetch_at_a_time",
            "tests/bound/pipelined_memory_directed.rs: places_of_a_channel",
            "tests/bound/pipelined_memory_directed.rs: loads_of_overwritten_registers",
        ],
    },
    Rule {
        id: "PLB-10",
        bound: "plb",
        rule: "A line of code counts with both latencies of the instruction caches, once on a path if the L0 of a sub-core keeps all lines and otherwise each time; the requests for lines are added.",
        code: "crates/bound/src/pipelined/code_supply.rs",
        proof: PLB,
        part: "Lemma 7",
        tests: &[
            "tests/bound/pipelined_code.rs: a_line_takes_both_latencies",
            "tests/bound/pipelined_code.rs: requests_keep_the_l1_and_the_memory_behind_it_busy",
            "tests/bound/pipelined_code.rs: lines_that_are_lost",
        ],
    },
    Rule {
        id: "PLB-11",
        bound: "plb",
        rule: "The waits for banks of the L1, the longest way to a half of the L2, and the look-ups and writes of constants are added.",
        code: "crates/bound/src/pipelined/memory/path.rs",
        proof: MEMORY,
        part: "Lemma M1",
        tests: &[
            "tests/bound/pipelined_memory_directed.rs: occupied_banks",
            "tests/bound/pipelined_memory_directed.rs: lines_of_the_far_half",
            "tests/bound/pipelined_memory_directed.rs: constants_through_a_cache",
        ],
    },
    Rule {
        id: "SRR-1",
        bound: "srr",
        rule: "The warps issue in turns whose order is known in advance, and the times of a section follow from it.",
        code: "crates/bound/src/turn.rs",
        proof: TURNS,
        part: "Lemma 3",
        tests: &[
            "tests/bound/turns.rs: both_hold_and_strict_turns_are_exact_in_one_section",
            "tests/bound/turns.rs: each_is_for_its_policy_only",
        ],
    },
    Rule {
        id: "GSRR-1",
        bound: "gsrr",
        rule: "The warps of a section count one after the other: the issues of all warps, with what each adds to a path.",
        code: "crates/bound/src/turn.rs",
        proof: TURNS,
        part: "Lemma 4",
        tests: &[
            "tests/bound/turns.rs: both_hold_and_strict_turns_are_exact_in_one_section",
            "tests/bound/turns.rs: one_cycle_less_is_caught",
        ],
    },
    Rule {
        id: "STATIC-1",
        bound: "static",
        rule: "Threads and blocks, arguments, and contents that are declared constant are known; everything else that is loaded, and everything computed from it, is unknown. Both sides of a branch on an unknown value belong to the set of paths.",
        code: "crates/exec/src/all_paths/mod.rs",
        proof: "crates/exec/src/all_paths/mod.rs",
        part: "Why every path is in the set",
        tests: &[
            "tests/all_paths/suite.rs: paths_of_all_launches_are_in_their_sets",
            "tests/all_paths/random/mod.rs: runs_of_random_kernels_are_in_their_sets",
        ],
    },
    Rule {
        id: "STATIC-2",
        bound: "static",
        rule: "Everything that the bound on the paths of one run adds up counts with its largest value over the set.",
        code: "crates/bound/src/all_paths/mod.rs",
        proof: STATIC,
        part: "## Theorem",
        tests: &[
            "tests/all_paths/random/measured.rs: the_value_of_a_set_is_that_of_its_longest_path",
            "tests/bound/pipelined_any_path.rs: no_path_of_a_set_has_a_larger_bound",
        ],
    },
    Rule {
        id: "STATIC-3",
        bound: "static",
        rule: "The bounds of the launches of a program are added up.",
        code: "crates/judge/src/check/all_paths/program.rs",
        proof: STATIC,
        part: "## Programs",
        tests: &[
            "tests/all_paths/programs.rs: programs_are_bounded_for_other_data_on_every_kind_of_machine",
            "tests/all_paths/programs.rs: every_launch_counts",
        ],
    },
    Rule {
        id: "STATIC-4",
        bound: "static",
        rule: "A launch finds in the L2 what earlier launches leave on every path; a line that may be there may have to be written back.",
        code: "crates/bound/src/pipelined/memory/launch.rs",
        proof: STATIC,
        part: "## Programs",
        tests: &[
            "tests/bound/pipelined_any_path.rs: no_path_of_a_set_has_a_larger_bound",
            "tests/all_paths/programs.rs: lines_that_an_earlier_launch_leaves_are_written_back",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_bound::{Standing, all};

    #[test]
    fn every_proved_bound_has_rules() {
        let proved = all().into_iter().filter(|bound| bound.standing() == Standing::Proved);
        for bound in proved {
            assert!(proof(bound.name()).is_some(), "{} has no rules", bound.name());
        }
        let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        assert!(RULES.iter().all(|rule| !rule.tests.is_empty()));
    }
}
