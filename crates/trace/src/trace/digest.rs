//! A digest of a whole run as one number, for golden tests.

use super::{Event, Issue, Needs, Observer};
use warpbound_core::base::Fnv1a;

/// An FNV-1a hash over every issue: block, warp, index, pc, unit, issue, start and done, each as
/// eight bytes, in issue order. It is stable across versions and machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    hash: Fnv1a,
    issues: u64,
}

impl Digest {
    /// Creates the digest of an empty run.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the digest of all issues so far.
    #[inline]
    pub fn value(&self) -> u64 {
        self.hash.finish()
    }

    /// Returns the number of issues so far.
    #[inline]
    pub fn issues(&self) -> u64 {
        self.issues
    }
}

impl Observer for Digest {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Issued(issue) => self.issued(issue),
            Event::Sm(_)
            | Event::BlockStarted(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}

impl Digest {
    fn issued(&mut self, issue: &Issue) {
        for value in [
            u64::from(issue.block.get()),
            u64::from(issue.warp.get()),
            u64::from(issue.index),
            u64::from(issue.step.pc().get()),
            u64::from(issue.unit.get()),
            issue.issue.get(),
            issue.start.get(),
            issue.done.get(),
        ] {
            self.hash.write_u64(value);
        }
        self.issues += 1;
    }
}
