//! Where makespans meet bounds.
//!
//! `sim` and `bound` never see each other; this layer runs both on the same paths and judges.
//! A violation is a result: it is reported with what is needed to replay it, never hidden.

pub mod ablation;
mod ahead;
mod checked;
pub mod control_codes;
pub mod counterexample;
mod each;
mod early;
pub mod every_path;
mod executed;
mod judge;
mod judging;
pub mod order;
mod plan;
mod programs;
mod replay;
mod run;
mod self_check;
mod sequence;
mod steps;
mod workload;

pub use ahead::{Ahead, ahead};
pub use checked::{Checked, Failed};
pub use each::{Judged, Judging, Run, Subject, judge_each};
pub use executed::{Executed, Paths};
pub use judge::{BlockTable, BoundRow, Verdict, WarpRow, Why, overestimation};
pub use plan::Plan;
pub use replay::{Ran, check, check_all};
pub use run::{observe, observe_source};
pub use self_check::{Difference, self_check};
pub use sequence::{
    LaunchRow, SequenceChecked, SequenceFailed, SequencePlan, StatementBound, StatementRow, observe_sequence,
};
pub use steps::execute_sequence;
pub use workload::{Workload, WorkloadKind, WorkloadSource};
