//! The exact extremes of execution time, over every schedule, or over every latency under one
//! policy.
//!
//! A single simulated schedule proves little about a bound, which limits all schedules. This layer
//! finds the exact worst and best makespan over all work-conserving schedules of a block, or over
//! all latencies in given intervals under a fixed policy. It also finds a schedule that attains
//! each of them. If the search cannot finish, it reports what it proved, never a wrong "worst".
//!
//! The transition system ([`model`]) is a third implementation of the model (`warpbound::model`),
//! in addition to the engine and the per-cycle reference of the tests. Witnesses are replayed by
//! the engine before they are reported, and must give the same makespan.

pub mod adversary;
pub mod anomaly;
pub mod choices;
pub mod fermi;
pub mod grammar;
pub mod hunt;
pub mod latencies;
mod layer;
pub mod model;
pub mod phase_level;
pub mod resident;
pub mod schedules;
pub mod search;
mod worst_makespan;

use latencies::{FixedPolicy, Latencies};
use model::{Model, Unsupported};
use schedules::search;
use search::{Extremes, Limits, OutOfFuel, Spent, search_system};

use warpbound_bound::analyse_alone;
use warpbound_core::base::{BlockId, Cycle, Cycles, ProgressMonitor, UnitId};
use warpbound_core::machine::Machine;
use warpbound_core::path::BlockPaths;
use warpbound_core::program::TimingTable;
use warpbound_sim::policy::{Policy, PolicyError, View};
use warpbound_sim::{Engine, PaperMachine, PolicySetup};
use warpbound_trace::trace::{Issue, Observer, Recorder};

/// A makespan that is known exactly, or that lies between two proved limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The lower limit of the makespan.
    pub at_least: Cycles,
    /// The upper limit of the makespan.
    pub at_most: Cycles,
}

impl Interval {
    fn exactly(value: u64) -> Self {
        Self { at_least: Cycles::new(value), at_most: Cycles::new(value) }
    }

    /// Returns the value, if it is known exactly.
    pub fn exact(self) -> Option<Cycles> {
        (self.at_least == self.at_most).then_some(self.at_least)
    }
}

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// The largest makespan.
    pub worst: Interval,
    /// The smallest makespan.
    pub best: Interval,
    /// The reason why not every state was visited; `None` if every state was.
    pub spent: Option<Spent>,
    /// The number of distinct states visited.
    pub states: u64,
    /// The number of issues up to which every schedule was followed.
    pub followed_issues: usize,
    /// A schedule that attains `worst.at_least`, as the warp at each issue.
    pub worst_witness: Vec<usize>,
    /// A schedule that attains `best.at_most`.
    pub best_witness: Vec<usize>,
}

impl Exploration {
    /// Returns whether every state was visited.
    pub fn is_complete(&self) -> bool {
        self.spent.is_none()
    }
}

/// The number of random policies whose schedules are simulated instead if the search does not
/// finish.
const STAND_INS: u64 = 64;

/// Explores all work-conserving schedules of a block. `proved_bound` is an upper bound that is
/// proved for all of them (IWB); it limits the worst case if the search runs out of fuel. `monitor`
/// is notified of issues and states, and can stop the search.
///
/// # Errors
/// Returns an error for blocks and machines that exploration does not support.
pub fn explore(
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    proved_bound: Cycles,
    limits: Limits,
    monitor: &ProgressMonitor,
) -> Result<Exploration, Unsupported> {
    let paper = PaperMachine::of(machine).map_err(|_| Unsupported::BeyondPaper)?;
    let model = Model::new(table, paths)?;
    Ok(match search(&model, limits, monitor) {
        Ok(found) => {
            confirm(table, machine, paths, &found);
            Exploration {
                worst: Interval::exactly(found.worst),
                best: Interval::exactly(found.best),
                spent: None,
                states: found.states,
                followed_issues: model.issues(),
                worst_witness: found.worst_witness,
                best_witness: found.best_witness,
            }
        }
        Err(fuel) => stand_in(table, paper, paths, proved_bound, fuel),
    })
}

/// Returns what is known without a complete search: some schedules, a bound, and every warp's time
/// alone.
fn stand_in(
    table: &TimingTable,
    machine: PaperMachine<'_>,
    paths: &BlockPaths,
    proved_bound: Cycles,
    fuel: OutOfFuel,
) -> Exploration {
    let random = (0..STAND_INS).map(PolicySetup::Random);
    let policies = [PolicySetup::Gto, PolicySetup::Lrr, PolicySetup::Oldest].into_iter().chain(random);
    let mut engine = Engine::new(table, machine);
    let mut runs: Vec<(Cycles, Vec<usize>)> = policies
        .filter_map(|policy| {
            let mut recorder = Recorder::new();
            let result = engine.run_block(paths, &policy, &mut recorder).ok()?;
            Some((result.makespan, recorder.issues().map(|issue| issue.warp.index()).collect()))
        })
        .collect();
    // the first of equal runs is kept, so that the witness does not depend on the sort
    runs.sort_by_key(|(makespan, _)| *makespan);
    let alone =
        paths.warps.iter().map(|path| analyse_alone_by_section(table, path)).max().unwrap_or(Cycles::ZERO);
    let (best, best_witness) = runs.first().cloned().unwrap_or_default();
    let (worst, worst_witness) = runs.last().cloned().unwrap_or_default();
    Exploration {
        worst: Interval { at_least: worst, at_most: proved_bound },
        best: Interval { at_least: alone.min(best), at_most: best },
        spent: Some(fuel.spent),
        states: fuel.states,
        followed_issues: fuel.issues,
        worst_witness,
        best_witness,
    }
}

/// Returns how long a warp takes alone. No schedule lets the warp finish earlier: with first-in
/// first-out units, other warps can only delay it.
fn analyse_alone_by_section(table: &TimingTable, path: &warpbound_core::path::WarpPath) -> Cycles {
    analyse_alone(table, path, |_| {}).end.since_start()
}

/// Replays both witnesses in the engine; a difference is a fault of this program.
fn confirm(table: &TimingTable, machine: &Machine, paths: &BlockPaths, found: &Extremes<usize>) {
    for (witness, makespan) in [(&found.worst_witness, found.worst), (&found.best_witness, found.best)] {
        let replayed = replay(table, machine, paths, witness, &mut ());
        assert_eq!(
            replayed,
            Some(Cycles::new(makespan)),
            "the engine and the exploration disagree on a witness"
        );
    }
}

/// Returns the makespan of a schedule that is given as the warp at each issue. Returns `None` if
/// the schedule cannot be followed without idling, if it ends early, or if the machine is beyond
/// the paper model.
pub fn replay<O: Observer>(
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    witness: &[usize],
    observer: &mut O,
) -> Option<Cycles> {
    // a work-conserving schedule is determined by the order of the warps of each sub-core
    let sub_cores = machine.sub_cores();
    let own = |core: usize| witness.iter().copied().filter(move |&warp| sub_cores.of_slot(warp) == core);
    let follow = |core| Follow { witness: own(core).collect(), next: 0, lost: false };
    let mut policies: Vec<Follow> = (0..sub_cores.count()).map(follow).collect();
    let result = Engine::new(table, PaperMachine::of(machine).ok()?)
        .run_block_with(paths, &mut policies, observer)
        .ok()?;
    let followed = |policy: &Follow| !policy.lost && policy.next == policy.witness.len();
    policies.iter().all(followed).then_some(result.makespan)
}

/// A policy that takes one decision after the other from a list.
struct Follow {
    witness: Vec<usize>,
    next: usize,
    lost: bool,
}

impl Policy for Follow {
    fn is_work_conserving(&self) -> bool {
        true
    }

    fn restart(&mut self) {
        self.next = 0;
    }

    fn choose(&mut self, view: &View) -> Result<Option<usize>, Box<PolicyError>> {
        let wanted = self.witness.get(self.next).copied();
        self.next += 1;
        Ok(match wanted {
            Some(warp) if view.ready.has(warp) => Some(warp),
            _ => {
                self.lost = true;
                view.ready.lowest()
            }
        })
    }
}

/// An interval of latencies of one unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Varied {
    /// The unit.
    pub unit: UnitId,
    /// The interval; every execution may take any latency in it, independently of the others.
    pub lat: std::ops::RangeInclusive<u16>,
}

/// The warp and the latency of an issue; `None` if the unit's own latency is used.
pub type LatencyDecision = (usize, Option<u16>);

/// The extremes over all latencies together, or the progress of a search that did not finish.
pub type LatencyExtremes = Result<Extremes<LatencyDecision>, OutOfFuel>;

/// Explores all latencies under a policy. Returns `Ok(Err(_))` if the search runs out of fuel.
///
/// # Errors
/// Returns an error for blocks that exploration does not support.
pub fn explore_latencies(
    table: &TimingTable,
    paths: &BlockPaths,
    policy: FixedPolicy,
    varied: &[Varied],
    limits: Limits,
    monitor: &ProgressMonitor,
) -> Result<LatencyExtremes, Unsupported> {
    if table.sub_cores().count() > 1 {
        return Err(Unsupported::SubCores);
    }
    let longest = varied.iter().map(|v| u64::from(*v.lat.end())).max().unwrap_or(0);
    let model = Model::with_latencies_up_to(longest, table, paths)?;
    let mut intervals = vec![None; table.units()];
    for one in varied {
        intervals[one.unit.index()] = Some(one.lat.clone());
    }
    let system = Latencies::new(&model, policy, intervals);
    Ok(search_system(&system, limits, monitor)
        .map(|found| found.map_witnesses(|choices| system.decisions(choices))))
}

/// Returns the issue decisions of a witness as a replay file.
pub fn witness_schedule(
    table: &TimingTable,
    machine: &Machine,
    paths: &BlockPaths,
    witness: &[usize],
) -> Option<String> {
    let mut recorder = Recorder::new();
    replay(table, machine, paths, witness, &mut recorder)?;
    let issues: Vec<Issue> =
        recorder.issues().map(|issue| Issue { block: BlockId::new(0), ..*issue }).collect();
    Some(warpbound_sim::policy::Schedule::text(&issues, |_| Cycle::ZERO))
}

#[cfg(test)]
mod tests;
