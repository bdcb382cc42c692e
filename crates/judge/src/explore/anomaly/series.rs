//! Makespans over a swept setting, and the anomalies in them.

use warpbound_core::base::{Cycles, ProgressMonitor};
use warpbound_core::machine::Machine;
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::TimingTable;
use warpbound_sim::{BeyondPaper, Engine, PaperMachine, PolicySetup, RunError};

/// A value of the setting, with the machine that has it.
pub struct Point {
    /// The value.
    pub value: u64,
    /// The machine.
    pub machine: Machine,
    /// The timing of the program on it.
    pub table: TimingTable,
}

/// The makespans of a launch, by point and policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Makespans {
    /// The sum of the makespans of the blocks, per policy and point, in the given order.
    pub of_policy: Vec<Vec<Cycles>>,
    /// The number of blocks of the launch that were replayed; the first ones if the sweep was
    /// stopped early.
    pub blocks: u64,
}

/// The reason why a sweep failed.
#[derive(Debug)]
pub enum SweepError<E> {
    /// The functional run failed.
    Source(E),
    /// A simulation failed: the value, the policy, and the error.
    Run(u64, String, RunError),
}

/// Replays every block of a launch at every point under every policy, on this many threads. The
/// blocks are executed once; each is simulated by itself, as on machines with one resident block.
/// `monitor` is notified of every replay of a block and can stop the sweep; only complete blocks
/// count.
///
/// # Errors
/// Returns the first failure in the order of blocks, points and policies; before those, a point
/// whose machine is beyond the paper model.
pub fn sweep<S: BlockSource>(
    source: &mut S,
    points: &[Point],
    policies: &[PolicySetup],
    threads: usize,
    monitor: &ProgressMonitor,
) -> Result<Makespans, SweepError<S::Error>> {
    let mut of_point: Vec<Vec<Cycles>> = vec![vec![Cycles::ZERO; policies.len()]; points.len()];
    let mut of_block = of_point.clone();
    let mut engines = Vec::with_capacity(points.len());
    for point in points {
        let beyond = |error: BeyondPaper| SweepError::Run(point.value, "any".to_owned(), error.into());
        let machine = PaperMachine::of(&point.machine).map_err(beyond)?;
        engines.push(Engine::new(&point.table, machine));
    }
    let share = points.len().div_ceil(threads.max(1)).max(1);
    let mut paths = BlockPaths::default();
    let mut blocks = 0;
    while !monitor.is_stopped() && source.next_block(&mut paths).map_err(SweepError::Source)? {
        let paths = &paths;
        let failed = crossbeam::thread::scope(|scope| {
            let parts = engines.chunks_mut(share).zip(of_block.chunks_mut(share)).zip(points.chunks(share));
            let workers: Vec<_> = parts
                .map(|((engines, of_block), points)| {
                    scope.spawn(move |_| replay(paths, engines, of_block, points, policies, monitor))
                })
                .collect();
            // a panic of a worker is a fault of this program and is propagated
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|p| std::panic::resume_unwind(p)))
                .find_map(Result::err)
        })
        .unwrap_or_else(|p| std::panic::resume_unwind(p));
        if let Some((value, policy, error)) = failed {
            return Err(SweepError::Run(value, policy, error));
        }
        if monitor.is_stopped() {
            break;
        }
        blocks += 1;
        for (sum, makespan) in of_point.iter_mut().flatten().zip(of_block.iter().flatten()) {
            *sum += *makespan;
        }
    }
    let of_policy = (0..policies.len()).map(|p| of_point.iter().map(|sums| sums[p]).collect()).collect();
    Ok(Makespans { of_policy, blocks })
}

/// Replays one block at some points.
fn replay(
    paths: &BlockPaths,
    engines: &mut [Engine],
    of_block: &mut [Vec<Cycles>],
    points: &[Point],
    policies: &[PolicySetup],
    monitor: &ProgressMonitor,
) -> Result<(), (u64, String, RunError)> {
    for ((engine, of_block), point) in engines.iter_mut().zip(of_block).zip(points) {
        for (policy, makespan) in policies.iter().zip(of_block) {
            if monitor.is_stopped() {
                return Ok(());
            }
            let result = engine
                .run_block(paths, policy, &mut ())
                .map_err(|error| (point.value, policy.to_string(), error))?;
            *makespan = result.makespan;
            monitor.advance(1);
        }
    }
    Ok(())
}

/// An increase of the makespan at a smaller value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rise {
    /// The index of the point with the larger value.
    pub before: usize,
    /// The index of the point with the smaller value.
    pub after: usize,
    /// The number of cycles by which the makespan is larger at the smaller value.
    pub increase: Cycles,
}

/// Returns every step of a downward sweep at which the makespan goes up. `makespans` belongs to
/// descending values.
pub fn rises(makespans: &[Cycles]) -> Vec<Rise> {
    let steps = makespans.windows(2).enumerate();
    let risen = steps.filter(|(_, pair)| pair[1] > pair[0]);
    risen.map(|(i, pair)| Rise { before: i, after: i + 1, increase: pair[1] - pair[0] }).collect()
}

/// Returns the two points, adjacent or not, between which the makespan goes up the most while the
/// value goes down; among equal pairs the first.
pub fn largest(makespans: &[Cycles]) -> Option<Rise> {
    let mut lowest = 0;
    let mut best: Option<Rise> = None;
    for (i, makespan) in makespans.iter().enumerate() {
        if *makespan < makespans[lowest] {
            lowest = i;
        }
        let increase = makespan.saturating_sub(makespans[lowest]);
        if increase > best.map_or(Cycles::ZERO, |rise| rise.increase) {
            best = Some(Rise { before: lowest, after: i, increase });
        }
    }
    best
}

/// Two policies, each of which is the faster one at some point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    /// The point at which the first policy leads by the largest fraction of the other's makespan.
    pub first_leads: usize,
    /// The point at which the second policy does.
    pub second_leads: usize,
    /// The number of times that the lead changes along the sweep; ties in between do not count.
    pub changes: usize,
}

/// Returns a flip if the order of two policies depends on the value.
pub fn flip(first: &[Cycles], second: &[Cycles]) -> Option<Flip> {
    let mut leader = None;
    let mut changes = 0;
    for (a, b) in first.iter().zip(second).filter(|(a, b)| a != b) {
        if leader.replace(a < b).is_some_and(|before| before != (a < b)) {
            changes += 1;
        }
    }
    Some(Flip { first_leads: lead(first, second)?, second_leads: lead(second, first)?, changes })
}

/// Returns the point at which `fast` leads by the largest fraction of `slow`; the first of equal
/// ones.
fn lead(fast: &[Cycles], slow: &[Cycles]) -> Option<usize> {
    let part = |i: usize| (u128::from(slow[i].saturating_sub(fast[i]).get()), u128::from(slow[i].get()));
    let leads = (0..fast.len().min(slow.len())).filter(|&i| fast[i] < slow[i]);
    leads.reduce(|best, i| {
        let ((a, b), (c, d)) = (part(best), part(i));
        if c * b > a * d { i } else { best }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(values: &[u64]) -> Vec<Cycles> {
        values.iter().copied().map(Cycles::new).collect()
    }

    #[test]
    fn rises_are_steps_up_on_the_way_down() {
        let makespans = cycles(&[50, 45, 47, 47, 44, 46, 48]);
        let steps: Vec<(usize, u64)> =
            rises(&makespans).iter().map(|r| (r.after, r.increase.get())).collect();
        assert_eq!(steps, [(2, 2), (5, 2), (6, 2)]);
        let rise = Rise { before: 4, after: 6, increase: Cycles::new(4) };
        assert_eq!(largest(&makespans), Some(rise));
        assert_eq!(largest(&cycles(&[9, 8, 8, 1])), None);
        assert_eq!(largest(&[]), None);
    }

    #[test]
    fn a_flip_needs_a_lead_of_each() {
        let (a, b) = (cycles(&[10, 10, 10, 10, 10]), cycles(&[12, 10, 9, 20, 5]));
        assert_eq!(flip(&a, &b), Some(Flip { first_leads: 3, second_leads: 4, changes: 3 }));
        assert_eq!(flip(&a, &cycles(&[10, 10, 11, 12, 10])), None);
        assert_eq!(flip(&a, &a), None);
    }
}
