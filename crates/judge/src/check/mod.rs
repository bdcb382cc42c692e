//! The comparison of makespans with bounds.
//!
//! `sim` and `bound` do not depend on each other; this module runs both on the same paths and
//! compares their results. A violation is a result: it is reported together with everything that is
//! needed to replay it, and never hidden.

pub mod ablation;
mod ahead;
mod application;
mod applications;
mod checked;
pub mod control_codes;
pub mod counterexample;
mod each;
mod early;
pub mod every_path;
mod executed;
mod judge;
mod judging;
mod options;
pub mod order;
mod plan;
mod reached;
mod replay;
mod run;
mod saved;
mod self_check;
mod steps;
mod tally;
mod workload;

pub use ahead::{Ahead, ahead};
pub use application::{Application, Launched, Statement, Traced};
pub use checked::{Checked, Failed, Unsettled};
pub use each::{Subject, judge_each, judge_from, only_run};
pub use executed::{Executed, Paths};
pub use judge::{BlockTable, BoundName, BoundRow, Verdict, WarpRow, Why, overestimation};
pub use options::RunOptions;
pub use plan::Plan;
pub use reached::{Begun, Of, Reached, line};
pub use replay::{check, observe};
pub use run::observe_source;
pub use self_check::{Difference, self_check};
pub use steps::execute_sequence;
pub use tally::{Judged, LaunchRow, Run, StatementBound, StatementRow};
pub use workload::{Workload, WorkloadKind, WorkloadSource};
