//! Calls of functions without parameters, as in machine code: the walk follows them.
//!
//! All lanes call the function, and continue together behind the call when all have returned. Lanes
//! that have returned from it earlier wait there.

use super::super::fault::Fault;
use super::fork::Onward;
use super::state::State;
use super::walker::{Begin, Walked, Walker};
use warpbound_core::base::Pc;
use warpbound_core::path::Step;

/// The largest number of calls that are open at the same time.
const DEEPEST_CALLS: usize = 256;

impl Walker<'_, '_> {
    /// Walks a call of the function that begins at `target`.
    ///
    /// # Errors
    /// Returns an error if only some lanes call it, if calls nest too deeply, or if no lane returns.
    pub(super) fn call(
        &mut self,
        state: &mut State,
        (pc, next): (Pc, Pc),
        target: Pc,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let guard = state.values.guard(self.context.program.instr(pc).guard, state.may);
        out.paths.push(Step::plain(pc));
        if guard.may.is_empty() {
            return Ok(Onward::To(next));
        }
        if guard.must != state.may {
            return Err(self.beyond(pc, "calls of functions by some of the lanes"));
        }
        if self.calls.len() >= DEEPEST_CALLS {
            return Err(self.beyond(pc, "calls that nest this deep"));
        }
        // the loops around the call go on behind it
        let (loops, must) = (std::mem::take(&mut state.loops), state.must);
        self.calls.push(None);
        let walked = self.walk(state, target, None, Begin::Comes)?;
        let returned = self.calls.pop().expect("pushed above");
        out.paths.append(walked.paths);
        let Some(returned) = returned else {
            return Err(self.beyond(pc, "functions that do not return"));
        };
        *state = returned;
        (state.loops, state.must) = (loops, must & state.may);
        Ok(if walked.possible { Onward::To(next) } else { Onward::Never })
    }

    /// Returns from the running function in the lanes in which the guard holds.
    ///
    /// # Errors
    /// Returns an error if the copies in flight depend on where lanes return.
    pub(super) fn give_back(
        &mut self,
        state: &mut State,
        (pc, next): (Pc, Pc),
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let guard = state.values.guard(self.context.program.instr(pc).guard, state.may);
        let mut leaving = state.clone();
        (leaving.may, leaving.must) = (guard.may, guard.must & state.must);
        let returned = match self.calls.pop().expect("a function runs") {
            None => leaving,
            Some(mut returned) => {
                self.check_copies(pc, &returned.values.warp.groups, &leaving.values.warp.groups)?;
                returned.meet(&leaving);
                returned
            }
        };
        self.calls.push(Some(returned));
        // as far as the walk of the function is concerned, these lanes have ended
        out.end_lanes(guard, state);
        out.paths.push(Step::plain(pc));
        self.without_parted(state, next, until, out)
    }
}
