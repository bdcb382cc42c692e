//! The errors of a simulation.

use std::fmt;

use super::policy::PolicyError;
use warpbound_core::base::{BlockId, Cycle, Pc, WarpId};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::Features;

/// Why a block could not be simulated to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A decision of a replay file, or of a policy of the caller, cannot be carried out.
    Policy(Box<PolicyError>),
    /// No further event can happen, but some warps have instructions left.
    Deadlock(Deadlock),
    /// The SM does not have enough warp slots for this block.
    TooManyWarps {
        /// The block.
        block: BlockId,
        /// The number of its warps.
        warps: usize,
        /// The number of warp slots available to a block.
        slots: usize,
    },
    /// The engine of the paper model was given a machine beyond that model.
    BeyondPaper(BeyondPaper),
}

/// The warps that wait for each other at barriers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The first cycle in which nothing could happen any more.
    pub cycle: Cycle,
    /// The warps that have not finished, each with the instruction that it issued last, which is
    /// the barrier.
    pub warps: Vec<(BlockId, WarpId, Option<Pc>)>,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(error) => error.fmt(f),
            Self::Deadlock(deadlock) => {
                write!(f, "deadlock at cycle {}: every remaining warp waits at a barrier:", deadlock.cycle)?;
                for (block, warp, pc) in &deadlock.warps {
                    write!(f, " block {} warp {}", block.get(), warp.get())?;
                    if let Some(pc) = pc {
                        write!(f, " at {pc}")?;
                    }
                    f.write_str(";")?;
                }
                Ok(())
            }
            Self::TooManyWarps { block, warps, slots } => {
                write!(f, "block {} has {warps} warps, the SM has {slots} slots for a block", block.get())
            }
            Self::BeyondPaper(beyond) => beyond.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<Box<PolicyError>> for RunError {
    fn from(error: Box<PolicyError>) -> Self {
        Self::Policy(error)
    }
}

impl From<BeyondPaper> for RunError {
    fn from(error: BeyondPaper) -> Self {
        Self::BeyondPaper(error)
    }
}

/// A machine that is beyond the paper model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeyondPaper {
    /// The name of the machine.
    pub machine: String,
    /// The features of the machine that the paper model lacks.
    pub features: Features,
}

impl fmt::Display for BeyondPaper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, features } = self;
        write!(f, "this simulates the paper model, and machine `{machine}` has more features: {features}")
    }
}

impl std::error::Error for BeyondPaper {}

impl From<BeyondPaper> for Diagnostics {
    fn from(error: BeyondPaper) -> Self {
        let hint = "another engine simulates whole launches on such machines";
        Diagnostic::general(error.machine.clone(), error.to_string()).hint(hint).into()
    }
}

/// Why a launch could not be simulated to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError<E> {
    /// The source failed to produce a block.
    Source(E),
    /// A block could not be simulated.
    Run(RunError),
}

impl<E> From<RunError> for SimError<E> {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl<E> From<Box<PolicyError>> for SimError<E> {
    fn from(error: Box<PolicyError>) -> Self {
        Self::Run(error.into())
    }
}

impl<E: fmt::Display> fmt::Display for SimError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for SimError<E> {}
