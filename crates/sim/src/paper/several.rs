//! The event loop of an SM with several sub-cores.
//!
//! In each cycle every sub-core, in the order of the indices, calls its policy and issues. Shared
//! units receive the instructions in this order: by issue cycle, then by sub-core.

use super::{SlotSteps, Sm};
use crate::error::RunError;
use crate::policy::{Policy, PolicyError};
use warpbound_core::base::Cycle;
use warpbound_core::machine::SubCores;
use warpbound_trace::trace::Observer;

impl Sm<'_> {
    pub(super) fn run_several<P: Policy, O: Observer>(
        &mut self,
        steps: &SlotSteps<'_>,
        policies: &mut [P],
        observer: &mut O,
    ) -> Result<(), RunError> {
        loop {
            let now = self.view.now.get();
            if now >= self.blocks.due() && self.follow_due(steps, observer) {
                return Ok(());
            }
            self.view.ready |= self.wheel.take(now);
            let mut issued = [false; SubCores::MAX];
            for (sub_core, policy) in policies.iter_mut().enumerate() {
                if let Some(slot) = self.choose_on(sub_core, policy)? {
                    debug_assert!(self.view.ready.has(slot) && self.sub_cores.of_slot(slot) == sub_core);
                    self.issue::<O, true>(sub_core, slot, steps, observer);
                    issued[sub_core] = true;
                }
            }
            let next = if issued.contains(&true) { now + 1 } else { self.next_event(policies) };
            if next == u64::MAX {
                return Err(RunError::Deadlock(self.deadlock(steps)));
            }
            debug_assert!(next > now);
            let to = Cycle::new(next);
            for sub_core in (0..policies.len()).filter(|&sub_core| !issued[sub_core]) {
                self.idle(sub_core, self.sub_cores.slots(sub_core), to, steps, observer);
            }
            self.view.now = to;
        }
    }

    /// Returns the decision of the policy of a sub-core, which sees the warps of its sub-core only.
    fn choose_on<P: Policy>(
        &mut self,
        sub_core: usize,
        policy: &mut P,
    ) -> Result<Option<usize>, Box<PolicyError>> {
        let own = self.sub_cores.slots(sub_core);
        let (ready, live, at_barrier) = (self.view.ready, self.view.live, self.view.at_barrier);
        if policy.is_work_conserving() && (ready & own).is_empty() {
            return Ok(None);
        }
        self.view.ready = ready & own;
        self.view.live = live & own;
        self.view.at_barrier = at_barrier & own;
        let chosen = self.choose(policy);
        (self.view.ready, self.view.live, self.view.at_barrier) = (ready, live, at_barrier);
        chosen
    }

    /// Returns the next cycle in which something can happen, after one in which nothing was issued.
    fn next_event<P: Policy>(&self, policies: &[P]) -> u64 {
        let wake =
            |policy: &P| if policy.is_work_conserving() { u64::MAX } else { policy.wake(&self.view).get() };
        let policy_wake = policies.iter().map(wake).min().unwrap_or(u64::MAX);
        self.wheel.next(self.view.now.get()).min(self.blocks.due()).min(policy_wake)
    }
}
