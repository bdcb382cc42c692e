//! Patterns for groups of variants of [`Sem`](super::Sem).
//!
//! A `match` on the semantics has no wildcard arm if a wrong answer for a new variant could make a
//! bound, a path or a report of races wrong. These patterns keep such a match short: it names the
//! variants that it treats differently, and the groups that it treats alike. A new variant compiles
//! only when it is in a group or in every such match.

/// The operations whose results in a lane depend only on the operands of that lane.
#[macro_export]
macro_rules! lanewise {
    () => {
        $crate::program::Sem::Mov { .. }
            | $crate::program::Sem::Moves(_)
            | $crate::program::Sem::Int { .. }
            | $crate::program::Sem::Float { .. }
            | $crate::program::Sem::MixedFloat { .. }
            | $crate::program::Sem::ToTf32 { .. }
            | $crate::program::Sem::Video(_)
            | $crate::program::Sem::TestFloat { .. }
            | $crate::program::Sem::PredLogic { .. }
            | $crate::program::Sem::Compare(_)
            | $crate::program::Sem::Select { .. }
            | $crate::program::Sem::SelectSign { .. }
            | $crate::program::Sem::Lop3Pred(_)
            | $crate::program::Sem::Convert(_)
            | $crate::program::Sem::SmallConvert(_)
            | $crate::program::Sem::Pack { .. }
            | $crate::program::Sem::Unpack { .. }
            | $crate::program::Sem::IsSpace { .. }
    };
}

/// The operations in which the lanes of a warp exchange values of registers, or synchronise.
#[macro_export]
macro_rules! exchange {
    () => {
        $crate::program::Sem::Shuffle(_)
            | $crate::program::Sem::Vote { .. }
            | $crate::program::Sem::ActiveMask { .. }
            | $crate::program::Sem::Elect { .. }
            | $crate::program::Sem::Together { .. }
            | $crate::program::Sem::Match { .. }
            | $crate::program::Sem::Reduce { .. }
            | $crate::program::Sem::ReduceFloat { .. }
            | $crate::program::Sem::WarpSync { .. }
    };
}

/// The operations on memory, except for those on matrices, on barriers in memory, and bulk copies.
#[macro_export]
macro_rules! memory {
    () => {
        $crate::program::Sem::Load { .. }
            | $crate::program::Sem::Store { .. }
            | $crate::program::Sem::Atomic(_)
            | $crate::program::Sem::Fetch(_)
            | $crate::program::Sem::Surface(_)
            | $crate::program::Sem::ImageQuery(_)
            | $crate::program::Sem::AsyncCopy { .. }
            | $crate::program::Sem::AsyncCommit
            | $crate::program::Sem::AsyncWait { .. }
    };
}

/// The instructions without an effect on registers or memory.
#[macro_export]
macro_rules! no_effect {
    () => {
        $crate::program::Sem::None
            | $crate::program::Sem::Traced(_)
            | $crate::program::Sem::Nop
            | $crate::program::Sem::Sleep { .. }
    };
}

/// The variants that are in none of the other groups.
#[macro_export]
macro_rules! ungrouped {
    () => {
        $crate::program::Sem::Matrix(_)
            | $crate::program::Sem::Barrier(_)
            | $crate::program::Sem::Cluster(_)
            | $crate::program::Sem::Mbarrier(_)
            | $crate::program::Sem::Bulk(_)
            | $crate::program::Sem::Call(_)
            | $crate::program::Sem::CallPointer(_)
    };
}

/// The instructions after which all lanes continue at the next one.
#[macro_export]
macro_rules! straight {
    () => {
        $crate::program::sem::lanewise!()
            | $crate::program::sem::exchange!()
            | $crate::program::sem::memory!()
            | $crate::program::sem::no_effect!()
            | $crate::program::Sem::Matrix(_)
            | $crate::program::Sem::Barrier(_)
            | $crate::program::Sem::Cluster(_)
            | $crate::program::Sem::Mbarrier(_)
            | $crate::program::Sem::Bulk(_)
    };
}

/// The instructions that terminate lanes or change their control flow, except for calls.
#[macro_export]
macro_rules! jump {
    () => {
        $crate::program::Sem::Branch { .. }
            | $crate::program::Sem::BranchTable { .. }
            | $crate::program::Sem::OpenRegion { .. }
            | $crate::program::Sem::CloseRegion { .. }
            | $crate::program::Sem::LeaveRegion { .. }
            | $crate::program::Sem::Yield
            | $crate::program::Sem::Collect { .. }
            | $crate::program::Sem::EndCollective
            | $crate::program::Sem::Return { .. }
            | $crate::program::Sem::Exit
            | $crate::program::Sem::Trap { .. }
    };
}

pub use {exchange, jump, lanewise, memory, no_effect, straight, ungrouped};
