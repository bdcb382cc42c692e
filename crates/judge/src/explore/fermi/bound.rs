//! Bounds on the finishing time, with the premises of each.

use super::machine::{FermiMachine, Template};
use super::search::Fairness;
use warpbound_core::base::Cycles;

/// A bound on the finishing time of the warps of one SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FermiBound {
    /// The published bound: `W*3 + 2 + W*(rep-1)*2`.
    Published,
    /// The bound proved in [`super`]: the larger of the published one and `3*rep + 2`.
    Corrected,
    /// The bound proved in [`super`] without the fairness rule: `W*(2*rep+1) + rep + 1`.
    WithoutFairness,
}

impl FermiBound {
    /// Every bound, in the order in which reports list them.
    pub const ALL: [Self; 3] = [Self::Published, Self::Corrected, Self::WithoutFairness];

    /// Returns the name that options and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "ft",
            Self::Corrected => "ft-corrected",
            Self::WithoutFairness => "ft-unfair",
        }
    }

    /// Returns the formula, in which W is the number of warps.
    pub fn formula(self) -> &'static str {
        match self {
            Self::Published => "3W + 2 + 2W(rep-1)",
            Self::Corrected => "max(W(2rep+1) + 2, 3rep + 2)",
            Self::WithoutFairness => "W(2rep+1) + rep + 1",
        }
    }

    /// Returns the bound for `warps` warps and `repetitions` repetitions, both at least 1.
    pub fn value(self, warps: usize, repetitions: usize) -> Cycles {
        let (w, rep) = (warps as u64, repetitions as u64);
        Cycles::new(match self {
            Self::Published => w * 3 + 2 + w * rep.saturating_sub(1) * 2,
            Self::Corrected => (w * (2 * rep + 1) + 2).max(3 * rep + 2),
            Self::WithoutFairness => w * (2 * rep + 1) + rep + 1,
        })
    }

    /// Checks the premises.
    ///
    /// # Errors
    /// Returns the first premise that does not hold, a clause without capital and full stop.
    pub fn applicable(self, machine: &FermiMachine, fairness: Fairness) -> Result<(), &'static str> {
        if machine.template != Template::published() {
            return Err("the template is not CUDA (LOAD LOAD CUDA)+ STORE");
        }
        if machine.arithmetic_slots != 2 || machine.memory_slots != 1 {
            return Err("the machine does not have two arithmetic slots and one memory slot");
        }
        if fairness == Fairness::Unrestricted && self != Self::WithoutFairness {
            return Err("the scheduler does not keep the fairness rule");
        }
        Ok(())
    }

    /// Returns the finishing time of a kernel whose blocks are assigned to several SMs: the largest
    /// of the SMs' finishing times (Raravi and Andersson, 2010, end of section III). SMs without
    /// threads finish immediately.
    pub fn kernel(self, machine: &FermiMachine, threads_per_sm: &[u32], repetitions: usize) -> Cycles {
        let of_sm = |threads: &u32| match machine.warps(*threads) {
            0 => Cycles::ZERO,
            warps => self.value(warps as usize, repetitions),
        };
        threads_per_sm.iter().map(of_sm).max().unwrap_or(Cycles::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_formula_gives_the_published_figures() {
        let of_threads = |n, rep| FermiBound::Published.kernel(&FermiMachine::published(), &[n], rep).get();
        assert_eq!([of_threads(64, 1), of_threads(64, 2), of_threads(64, 3)], [14, 22, 30]);
        assert_eq!(of_threads(17, 1), 8);
        let several = FermiBound::Published.kernel(&FermiMachine::published(), &[16, 64, 0], 2);
        assert_eq!(several.get(), 22);
    }

    #[test]
    fn each_broken_premise_is_named() {
        let machine = FermiMachine::published();
        let fair = Fairness::SubBlock;
        assert!(FermiBound::ALL.iter().all(|bound| bound.applicable(&machine, fair).is_ok()));
        let no_rule = FermiBound::Corrected.applicable(&machine, Fairness::Unrestricted);
        assert!(no_rule.unwrap_err().contains("fairness"));
        assert!(FermiBound::WithoutFairness.applicable(&machine, Fairness::Unrestricted).is_ok());
        let slots = FermiMachine { memory_slots: 2, ..machine.clone() };
        assert!(FermiBound::Published.applicable(&slots, fair).unwrap_err().contains("slot"));
        let template = Template { first: vec![], ..Template::published() };
        let other = FermiMachine { template, ..machine };
        assert!(FermiBound::Published.applicable(&other, fair).unwrap_err().contains("template"));
    }
}
