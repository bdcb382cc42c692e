//! A kernel or program as `check` and `compare` read it, with everything that its runs need.

use super::sweep::KernelDefaults;
use crate::args::Common;
use crate::lists::{Lists, Setup};
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_judge::check::{Run, RunOptions, judge_each};
use warpbound_judge::load::Loaded;
use warpbound_sim::PolicySetup;

/// A kernel or program with everything that its runs need.
pub struct Prepared {
    pub what: Loaded,
    /// The runs, grouped by machine.
    pub setups: Vec<Vec<Setup>>,
}

impl Prepared {
    /// Prepares the runs of a kernel or program. Without a policy on the command line it runs under
    /// those in `otherwise`, or under its own if there are none.
    pub fn new(
        what: Loaded,
        common: &Common,
        lists: &Lists,
        otherwise: &[PolicyKind],
    ) -> Result<Self, Diagnostics> {
        let setups = lists.setups(common, &what, otherwise)?;
        Ok(Self { what, setups })
    }

    /// Returns the defaults of the kernel, which apply where the command line states nothing.
    pub fn own(&self) -> KernelDefaults {
        KernelDefaults::of(&self.what, &self.setups)
    }

    /// Returns the number of blocks to simulate, if known.
    pub fn blocks(&self) -> Option<u64> {
        self.what.blocks(self.setups.iter().flatten().count())
    }

    /// Performs the runs and returns them grouped by machine.
    pub fn run(&self, options: &RunOptions) -> Vec<Vec<Run>> {
        self.everywhere(|on| judge_each(self.what.subject(), on, options))
    }

    /// Calls `judge` with every machine and the policies on it.
    pub fn everywhere<R>(&self, judge: impl FnOnce(&[(&Machine, &[PolicySetup])]) -> R) -> R {
        let of_machine = |runs: &Vec<Setup>| runs.iter().map(|run| run.policy.clone()).collect();
        let policies: Vec<Vec<PolicySetup>> = self.setups.iter().map(of_machine).collect();
        let machines = self.setups.iter().filter_map(|runs| Some(&runs.first()?.machine));
        let on: Vec<_> = machines.zip(policies.iter().map(Vec::as_slice)).collect();
        judge(&on)
    }
}
