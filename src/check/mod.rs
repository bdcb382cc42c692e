//! Where makespans meet bounds.
//!
//! `sim` and `bound` never see each other; this layer runs both on the same paths and judges.
//! A violation is a result: it is reported with what is needed to replay it, never hidden.

pub mod ablation;
mod ahead;
pub mod counterexample;
mod judge;
mod judging;
pub mod order;
mod run;
mod self_check;
mod sequence;
mod workload;

pub use ahead::{Ahead, ahead};
pub use judge::{BlockTable, BoundRow, Status, WarpRow, overestimation};
pub use run::{Checked, Failed, Plan, check, observe, observe_source};
pub use self_check::{Difference, self_check};
pub use sequence::{
    LaunchRow, SequenceChecked, SequenceFailed, SequencePlan, StatementRow, execute_sequence,
    observe_sequence,
};
pub use workload::{Workload, WorkloadKind, WorkloadSource};
