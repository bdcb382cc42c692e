//! The JSON that commands print under `--format json`. Scripts rely on it; `schema` counts its versions. Names
//! carry their units; times are cycles.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::Cycles;
use crate::check::{BoundRow, Checked, Status, overestimation};
use crate::diag::Diagnostic;
use crate::exec::races::{self, AccessKind};
use crate::machine::Machine;
use crate::sim::{CacheStats, MemoryStats, SubCoreResult};
use crate::trace::Stalls;

/// Version of the contract.
pub const SCHEMA: u32 = 1;

/// Where a result comes from: enough to get it again.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    /// Version of the tool.
    pub tool_version: &'static str,
    /// Seed of random buffer contents.
    pub seed: u64,
    /// Digest of every machine setting, hexadecimal.
    pub machine_digest: String,
}

impl Origin {
    /// The origin of a run.
    pub fn new(machine: &Machine, seed: u64) -> Self {
        Self {
            tool_version: env!("CARGO_PKG_VERSION"),
            seed,
            machine_digest: format!("{:016x}", machine.digest()),
        }
    }
}

/// A problem.
#[derive(Clone, Debug, Serialize)]
pub struct Problem {
    /// The file or option.
    pub file: String,
    /// Line from 1; 0 where there is none.
    pub line: u32,
    /// Column from 1; 0 where there is none.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
    /// Of several kernels, those that have it, as the command line named them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<String>,
}

impl Problem {
    /// A problem of these kernels.
    pub fn new(problem: &Diagnostic, kernels: Vec<String>) -> Self {
        Self {
            file: problem.file.clone(),
            line: problem.line,
            column: problem.column,
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            kernels,
        }
    }
}

/// What became of a batch as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct Batch {
    /// Whether every kernel was taken to its end.
    pub complete: bool,
    /// Why not, if somebody ended it: `interrupt`, `terminated`, `time-limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<&'static str>,
    /// Kernels that were not begun because of that, as the command line named them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<String>,
    /// What was wrong with kernels that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Problem>,
}

/// `check` on several kernels.
#[derive(Clone, Debug, Serialize)]
pub struct Suite {
    /// Version of the contract.
    pub schema: u32,
    /// One per kernel and policy.
    pub results: Vec<Check>,
    /// Over all of them.
    pub verdict: Status,
    /// Results with a verdict: some gating bound applied.
    pub judged: usize,
    /// How it ended.
    #[serde(flatten)]
    pub batch: Batch,
}

/// `check` on one kernel under one policy.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names say it, with their units")]
pub struct Check {
    pub schema: u32,
    pub kernel: String,
    pub machine: String,
    pub scheduler: String,
    pub makespan: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warps: Vec<Warp>,
    pub bounds: Vec<Bound>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
    pub verdict: Status,
    /// Whether every block was simulated to its end; if not, this is about the run up to there.
    pub complete: bool,
    /// Blocks of the launch, if not all of them were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_blocks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_checked_warps: Option<u64>,
    /// Of a program: its steps and launches.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub program: Option<super::sequence::Launches>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Accesses whose order shows; no bound is judged then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<Race>,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A warp.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names say it, with their units")]
pub struct Warp {
    pub warp: u16,
    pub finish: u64,
    pub isolated: u64,
    pub exec: u64,
    pub idle: u64,
}

/// A bound and what became of it.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names say it, with their units")]
pub struct Bound {
    pub name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overestimation: Option<f64>,
}

/// A block of several.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names say it, with their units")]
pub struct Block {
    pub block: u32,
    pub makespan: u64,
    pub bounds: Vec<Bound>,
}

/// What `run` adds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names say it, with their units")]
pub struct Run {
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    pub issue_utilisation: f64,
    /// Idle issue slots by reason; with the issues they add up to the makespan times the number of
    /// sub-cores.
    pub stalls: BTreeMap<&'static str, u64>,
    /// Each sub-core, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sub_cores: Vec<SubCore>,
    /// What happened in the memory, in transactions and DRAM commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// A sub-core of several.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "as the fields of Run")]
pub struct SubCore {
    pub sub_core: usize,
    pub issues: u64,
    pub issue_utilisation: f64,
    /// With the issues they add up to the makespan.
    pub stalls: BTreeMap<&'static str, u64>,
}

/// What happened in the memory.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "as in sim::MemoryStats")]
pub struct Memory {
    pub l1: Cache,
    pub constant: Cache,
    pub l2: Cache,
    pub dram_reads: u64,
    pub dram_writes: u64,
    pub dram_activations: u64,
}

/// A cache, or all of a kind.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "as in sim::CacheStats")]
pub struct Cache {
    pub accesses: u64,
    pub hits: u64,
    pub misses: u64,
    pub merged: u64,
    pub stalls: u64,
    pub write_backs: u64,
}

impl From<MemoryStats> for Memory {
    fn from(MemoryStats { l1, constant, lower }: MemoryStats) -> Self {
        Self {
            l1: l1.into(),
            constant: constant.into(),
            l2: lower.l2.into(),
            dram_reads: lower.dram.reads,
            dram_writes: lower.dram.writes,
            dram_activations: lower.dram.activations,
        }
    }
}

impl From<CacheStats> for Cache {
    fn from(stats: CacheStats) -> Self {
        let CacheStats { accesses, hits, misses, merged, stalls, write_backs } = stats;
        Self { accesses, hits, misses, merged, stalls, write_backs }
    }
}

/// Two accesses to the same bytes without an order between them.
#[derive(Clone, Debug, Serialize)]
pub struct Race {
    /// `shared` or `global`.
    pub space: &'static str,
    /// Where in it.
    pub address: u64,
    /// What lies there.
    pub place: String,
    /// The access that the functional run did first.
    pub first: RaceParty,
    /// The other one.
    pub second: RaceParty,
}

/// One side of a race.
#[derive(Clone, Debug, Serialize)]
pub struct RaceParty {
    /// Block in launch order; null for one of the blocks before the other's.
    pub block: Option<u32>,
    /// Warp of the block.
    pub warp: usize,
    /// Whether other warps did the same.
    pub others: bool,
    /// Line in the source.
    pub line: u32,
    /// `load`, `store`, `atomic` or `async-copy`.
    pub access: &'static str,
}

impl Check {
    /// A judged run as the contract wants it.
    pub fn new(kernel: &str, machine: &Machine, seed: u64, checked: &Checked) -> Self {
        let blocks = if checked.launch_blocks > 1 {
            let rows = checked.blocks.iter().map(|(index, makespan, values)| Block {
                block: u32::try_from(index).unwrap_or(u32::MAX),
                makespan: makespan.get(),
                bounds: checked
                    .bounds
                    .iter()
                    .zip(values)
                    .filter(|(row, _)| !row.left_out && row.of_blocks)
                    .map(|(row, value)| block_bound(row, value, makespan))
                    .collect(),
            });
            rows.collect()
        } else {
            Vec::new()
        };
        Self {
            schema: SCHEMA,
            kernel: kernel.to_owned(),
            machine: machine.name().to_owned(),
            scheduler: checked.scheduler.clone(),
            makespan: checked.makespan.get(),
            warps: checked
                .warps
                .iter()
                .map(|row| Warp {
                    warp: row.warp.get(),
                    finish: row.finish.get(),
                    isolated: row.isolated.get(),
                    exec: row.exec.get(),
                    idle: row.idle.get(),
                })
                .collect(),
            bounds: checked.judged().map(|row| total_bound(row, checked.makespan)).collect(),
            blocks,
            verdict: checked.verdict(),
            complete: checked.is_complete(),
            launch_blocks: (!checked.is_complete()).then_some(checked.launch_blocks),
            run: None,
            self_checked_warps: (checked.self_checked_warps > 0).then_some(checked.self_checked_warps),
            program: None,
            replay_command: None,
            notes: checked.notes.clone(),
            races: checked.races.iter().map(Race::new).collect(),
            origin: Origin::new(machine, seed),
        }
    }
}

impl Race {
    fn new(race: &races::Race) -> Self {
        let party = |party: &races::Party| RaceParty {
            block: party.block,
            warp: party.warp,
            others: party.others,
            line: party.line,
            access: match party.access {
                AccessKind::Load => "load",
                AccessKind::Store => "store",
                AccessKind::Atomic => "atomic",
                AccessKind::AsyncCopy => "async-copy",
            },
        };
        Self {
            space: race.space.name(),
            address: race.address,
            place: race.place.clone(),
            first: party(&race.first),
            second: party(&race.second),
        }
    }
}

impl Run {
    /// What `run` adds to a judged run.
    pub fn new(checked: &Checked) -> Self {
        Self {
            warp_instructions: checked.warp_instructions,
            thread_instructions: checked.thread_instructions,
            issue_utilisation: rounded(checked.issue_utilisation()),
            memory: checked.memory.map(Memory::from),
            stalls: by_name(&checked.stalls),
            sub_cores: if checked.sub_cores.len() > 1 { sub_cores(checked) } else { Vec::new() },
        }
    }
}

fn sub_cores(checked: &Checked) -> Vec<SubCore> {
    let one = |(sub_core, used): (usize, &SubCoreResult)| SubCore {
        sub_core,
        issues: used.issues,
        issue_utilisation: rounded(checked.sub_core_utilisation(sub_core)),
        stalls: by_name(&used.stalls),
    };
    checked.sub_cores.iter().enumerate().map(one).collect()
}

fn by_name(stalls: &Stalls) -> BTreeMap<&'static str, u64> {
    stalls.iter().map(|(reason, cycles)| (reason.name(), cycles.get())).collect()
}

fn total_bound(row: &BoundRow, makespan: Cycles) -> Bound {
    Bound { reason: row.reason.clone(), ..bound(row, row.value, row.status, makespan) }
}

fn block_bound(row: &BoundRow, value: Option<Cycles>, makespan: Cycles) -> Bound {
    bound(row, value, Status::of(makespan, value), makespan)
}

/// A bound of a part of a run: its reason is that of the whole.
pub(super) fn bound(row: &BoundRow, value: Option<Cycles>, status: Status, makespan: Cycles) -> Bound {
    Bound {
        name: row.name,
        value: value.map(Cycles::get),
        status,
        reason: if value.is_none() { row.reason.clone() } else { None },
        overestimation: value.and_then(|value| overestimation(value, makespan)).map(rounded),
    }
}

/// Fractions to four places, as the contract's example shows them.
pub fn rounded(fraction: f64) -> f64 {
    (fraction * 10_000.0).round() / 10_000.0
}
