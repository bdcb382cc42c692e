//! The finishing time of a group of warps on a simplified Fermi SM (Raravi and Andersson, 2010).
//!
//! The report conjectures a worst case for its template kernel, `CUDA (LOAD LOAD CUDA)+ STORE`, and
//! leaves it open. This module explores every schedule that keeps the rules, which gives the true
//! worst and best finishing time of each small kernel with a schedule that attains it. That settles
//! the conjecture: it holds from two warps on and fails for a single warp, and a corrected formula
//! is proved below.
//!
//! # Rules
//! The rules are those that the report's *figures* apply; its prose is less strict.
//! * Every instruction takes one cycle; the warp's next one can follow in the next cycle.
//! * Per cycle two warps can execute arithmetic and one can access memory, three in all: cycle 2 of
//!   figure 4 executes `L`, `C`, `C`. (The prose allows one or two warps, and arithmetic *or*
//!   memory.)
//! * Each kind of slot is work conserving: no slot stays empty if a warp requests it.
//! * Fairness: for a slot, a warp whose next instruction belongs to repetition k has priority over
//!   one whose next belongs to k+1. The first CUDA counts as part of repetition 1 and the STORE as
//!   part of the last one. Among equals the scheduler is free to choose.
//!
//! # The conjecture, corrected and proved
//! Let W be the number of warps and r that of repetitions. The published formula is
//! `W*3 + 2 + W*(r-1)*2`, which is `W*(2r+1) + 2`. The worst case is
//!
//! ```text
//!     max( W*(2r+1) + 2 , 3r + 2 )          the published one for W >= 2, 3r + 2 for W = 1
//! ```
//!
//! *One warp* executes one of its `3r + 2` instructions per cycle. The formula gives `2r + 3`,
//! which is less from r = 2 on: it counts only the memory slot, but with a single warp no other
//! warp uses the memory slot while the warp executes its CUDA.
//!
//! *Upper bound for W >= 2.* The memory slot executes `W*(2r+1)` instructions, one per busy cycle,
//! and the last instruction of all is a STORE. So it is sufficient to show that the slot is idle at
//! most twice before that. Let q(t) be the number of warps that request arithmetic in cycle t.
//! 1. *The queue of CUDAs drains.* q(1) = W. Two are served per cycle, and at most one warp per
//!    cycle starts to request arithmetic, since that follows a LOAD:
//!    `q(t+1) <= max(q(t) - 2, 0) + 1`. Hence `q(t) <= max(W - t + 1, 1)`, and from cycle W on each
//!    CUDA is served in the cycle in which it is requested.
//! 2. *An idle slot means a single warp.* If the slot is idle in cycle t+1 > 1, no warp was served
//!    a CUDA in cycle t, because that warp would request memory now. So q(t) = 0 and q(t+1) <= 1.
//!    All warps that have not finished request arithmetic now, so exactly one warp has not
//!    finished, and it is at a CUDA that follows two LOADs.
//! 3. *No warp is in repetition 2 before all have executed the first CUDA.* Consider the first
//!    memory access of repetition 2, in cycle a, and let m warps not have executed their first CUDA
//!    before it. By fairness no warp requests memory for repetition 1 in cycle a, so the other W-m
//!    warps have executed both LOADs of repetition 1: `a - 1 >= 1 + 2(W-m)`, since nothing is
//!    accessed in cycle 1. If m > 0, then q >= 2 in every cycle before a (a lone CUDA would have
//!    been served), so `2(a-1) >= 2 + 4(W-m)` CUDAs were executed, but no more than `2(W-m)` can
//!    have been executed. So m = 0, and then a >= 2W + 2 > W, so (1) implies q <= 1 from a on.
//! 4. *Warps keep step.* If a warp executes its first memory access of repetition k >= 2 in cycle
//!    a, every other warp is in repetition k or later from cycle a+1 on. For k = 2: by fairness and
//!    (3), the other warps that are still in repetition 1 request their second CUDA, and execute it
//!    in a by (1). For k > 2: by induction they are in k-1 or later by then; those in k-1 do not
//!    request memory, by fairness, so they request the CUDA that ends k-1 and execute it in a.
//! 5. If the memory slot is idle in a cycle t+1 > 1, some warp has finished (W >= 2), so by (4) the
//!    last one is in repetition r (for r = 1 there is no other repetition) and requests its last
//!    CUDA. The STORE follows. So the slot is idle in cycle 1 and in at most one cycle after it.
//!    QED.
//!
//! *The bound is attained* by the schedules of figures 3(a), 4 and 5: warp after warp within each
//! repetition.
//!
//! *Without the fairness rule* (1) and (2) still hold. After cycle 1, the slot is idle only in
//! cycles in which the last warp, the same one each time, executes a CUDA that ends a repetition.
//! There are at most r such cycles, so the finishing time is at most `W*(2r+1) + r + 1`. In every
//! configuration that was searched (1 to 8 warps, r up to 6) one warp and three or more attain it;
//! for two warps the worst case is `4r + 4 + (r-1)/2`, rounded down.
//!
//! The tests compare all three formulas with the exhaustive table.

mod bound;
mod machine;
mod rules;
mod search;

pub use bound::FermiBound;
pub use machine::{FermiMachine, Op, Template, TemplateKernel};
pub use rules::keeps_the_rules;
pub use search::{CycleUse, Fairness, Finishing, OutOfStates, explore};

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::ProgressMonitor;

    fn finishing(warps: usize, repetitions: usize, fairness: Fairness) -> Finishing {
        let machine = FermiMachine::published();
        let kernel = TemplateKernel::new(&machine, warps, repetitions).unwrap();
        explore(&machine, &kernel, fairness, 1_000_000, &ProgressMonitor::new()).unwrap()
    }

    #[test]
    fn the_extremes_are_attained_by_schedules_that_keep_the_rules() {
        for (warps, repetitions) in [(1, 2), (2, 3), (3, 2), (4, 1), (4, 3), (5, 2)] {
            for fairness in [Fairness::SubBlock, Fairness::Unrestricted] {
                let found = finishing(warps, repetitions, fairness);
                let machine = FermiMachine::published();
                let kernel = TemplateKernel::new(&machine, warps, repetitions).unwrap();
                for (schedule, time) in
                    [(&found.worst_schedule, found.worst), (&found.best_schedule, found.best)]
                {
                    assert_eq!(schedule.len() as u64, time.get());
                    assert!(keeps_the_rules(&machine, &kernel, fairness, schedule), "{schedule:?}");
                }
            }
        }
    }

    #[test]
    fn the_witness_of_four_warps_is_as_long_as_the_published_figures() {
        for (repetitions, time) in [(1, 14), (2, 22), (3, 30)] {
            assert_eq!(finishing(4, repetitions, Fairness::SubBlock).worst.get(), time);
        }
        assert_eq!(finishing(4, 1, Fairness::SubBlock).best.get(), 13);
    }

    #[test]
    fn too_little_fuel_gives_no_result() {
        let machine = FermiMachine::published();
        let kernel = TemplateKernel::new(&machine, 4, 3).unwrap();
        assert_eq!(
            explore(&machine, &kernel, Fairness::SubBlock, 10, &ProgressMonitor::new()),
            Err(OutOfStates)
        );
    }
}
