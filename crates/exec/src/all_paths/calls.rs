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
        pc: Pc,
        target: Pc,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let next = Onward::To(Pc::new(pc.get() + 1));
        let guard = state.values.guard(self.context.program.instr(pc).guard, state.may);
        out.paths.push(Step::plain(pc));
        if guard.may.is_empty() {
            return Ok(next);
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
        Ok(if walked.possible { next } else { Onward::Never })
    }

    /// Returns from the running function in the lanes in which the guard holds.
    ///
    /// # Errors
    /// Returns an error if the copies in flight depend on where lanes return.
    pub(super) fn give_back(
        &mut self,
        state: &mut State,
        pc: Pc,
        until: Option<Pc>,
        out: &mut Walked,
    ) -> Result<Onward, Fault> {
        let guard = state.values.guard(self.context.program.instr(pc).guard, state.may);
        let mut leaving = state.clone();
        (leaving.may, leaving.must) = (guard.may, guard.must & state.must);
        let returned = match self.calls.last_mut().expect("a function runs").take() {
            None => leaving,
            Some(mut returned) => {
                self.check_copies(pc, &returned, &leaving)?;
                returned.meet(&leaving);
                returned
            }
        };
        *self.calls.last_mut().expect("a function runs") = Some(returned);
        // as far as the walk of the function is concerned, these lanes have ended
        out.gone |= guard.may;
        state.may.remove(guard.must);
        state.must.remove(guard.may);
        out.paths.push(Step::plain(pc));
        if state.may.is_empty() {
            return Ok(Onward::Nowhere);
        }
        let next = Pc::new(pc.get() + 1);
        if self.is_certain(state, out) {
            return Ok(Onward::To(next));
        }
        self.perhaps(state, (next, Begin::Comes), until, out)?;
        Ok(Onward::Nowhere)
    }
}
