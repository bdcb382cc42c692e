//! When a warp's section has settled: from then on nothing that is left of it can delay a later section.
//! [`Lwb`](super::Lwb) says what that is good for, and [`proofs`](super::proofs), Lemma C, why it is so.
//!
//! What can delay is an initiation that has not ended, the barrier, and a result that is waited for. Whether a result that is
//! in flight at the barrier is waited for depends on the sections after it: the first step that waits for its register, or
//! writes it, decides. The steps after a section are looked at only where such results outlast everything else, and
//! until all of them are decided. A register is not written again before that, so that looking for one of them costs no more
//! than one walk along the warp's path altogether.

use super::algorithm::{Countdowns, Profile};
use super::operands::{waits, writes};
use crate::base::Cycles;
use crate::path::Step;
use crate::program::TimingTable;

/// When the section that has just been run alone has settled, and how many of the steps `after` it decide that.
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
        // who waits at a barrier waits for all that signalled it: nobody may be left out
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
