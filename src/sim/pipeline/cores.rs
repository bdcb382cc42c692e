//! SMs as the launch sees them: each with its policies and the cycle in which somebody has to look at
//! it again; and the threads that may run some of them.

use crossbeam::channel::{Receiver, Sender, bounded};

use super::Sm;
use super::memory::Lower;
use crate::sim::error::RunError;
use crate::sim::policy::AnyPolicy;

/// An SM with the policies of its sub-cores.
pub(super) struct Core<'a> {
    pub sm: Sm<'a>,
    pub policies: Vec<AnyPolicy<'a>>,
    /// When something happens on it next, if memory does not answer before and it gets no block: up to
    /// there nobody looks at it.
    pub next: u64,
}

impl Core<'_> {
    /// What an SM does for itself in a cycle, and when something happens next.
    pub fn end_cycle(&mut self) -> Result<(), RunError> {
        self.sm.begin_due_blocks(&mut self.policies);
        self.sm.end_cycle(&mut self.policies)?;
        self.next = self.sm.next_event();
        Ok(())
    }

    /// As [`Self::end_cycle`], for those of several on which something happens; when it does next on
    /// one of them.
    pub fn end_cycles(cores: &mut [Self], now: u64) -> Result<u64, RunError> {
        let mut next = u64::MAX;
        for core in cores {
            if core.next <= now {
                core.end_cycle()?;
            }
            next = next.min(core.next);
        }
        Ok(next)
    }

    /// Takes a reply of memory, if there is one for this SM.
    pub fn receive(&mut self, lower: &mut Lower, now: u64) {
        self.sm.advance_to(now);
        if self.sm.receive(lower) {
            self.next = now;
        }
    }
}

/// Some SMs, and what became of their cycle.
pub(super) type Share<'a> = (Vec<Core<'a>>, Result<u64, RunError>);

/// A thread that gets some SMs in each cycle and gives them back.
pub(super) struct Worker<'a> {
    /// With the cycle.
    pub there: Sender<(Vec<Core<'a>>, u64)>,
    pub back: Receiver<Share<'a>>,
}

impl<'a> Worker<'a> {
    pub fn spawn<'scope>(scope: &'scope std::thread::Scope<'scope, '_>) -> Self
    where
        'a: 'scope,
    {
        let (there, work) = bounded::<(Vec<Core<'a>>, u64)>(1);
        let (done, back) = bounded(1);
        scope.spawn(move || {
            for (mut cores, now) in work {
                let result = Core::end_cycles(&mut cores, now);
                if done.send((cores, result)).is_err() {
                    return;
                }
            }
        });
        Self { there, back }
    }
}
