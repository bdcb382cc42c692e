//! The time at which a warp's section has settled: from then on nothing that is left of the section
//! can delay a later section. [`Lwb`](super::Lwb) explains the use of that, and
//! [`proofs`](super::proofs), Lemma C, proves it.
//!
//! Three things can cause such a delay: an initiation that has not ended, the barrier, and a result
//! that a later instruction waits for. Whether an instruction waits for a result that is in flight
//! at the barrier depends on the sections after it: the first step that waits for the result's
//! register, or writes it, decides. The steps after a section are examined only if such results
//! outlast everything else, and until all of them are decided. While a result is undecided, its
//! register is not written again. All searches for one register together therefore cost at most one
//! walk along the warp's path.

use super::algorithm::{Countdowns, Profile};
use super::operands::{waits, writes};
use warpbound_core::base::Cycles;
use warpbound_core::path::Step;
use warpbound_core::program::TimingTable;

/// Returns when the section that has just been run alone has settled, and the number of steps in
/// `after` that determine it.
pub(super) fn settled(
    state: &Countdowns,
    profile: &Profile,
    table: &TimingTable,
    after: &[Step],
) -> (Cycles, usize) {
    let mut settled = profile.settled;
    if after.is_empty() || profile.isolated <= settled {
        return (settled, 0);
    }
    if table.barriers().is_some() {
        // a warp that waits at a barrier of control codes waits for every instruction that
        // signalled it, so that no result may be omitted
        return (profile.isolated, 0);
    }
    let mut in_flight = state.in_flight(settled);
    for (index, &step) in after.iter().enumerate() {
        if in_flight.is_empty() {
            return (settled, index);
        }
        if !table.issues(step) {
            continue;
        }
        in_flight.retain(|&(reg, done)| {
            let is_waited_for = waits(table, step).any(|waited| waited == reg);
            if is_waited_for {
                settled = settled.max(done);
            }
            !is_waited_for && writes(table, step).all(|written| written != reg)
        });
    }
    (settled, after.len())
}
