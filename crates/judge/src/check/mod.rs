//! The comparison of makespans with bounds.
//!
//! `sim` and `bound` do not depend on each other; this module runs both on the same paths and
//! compares their results. A violation is a result: it is reported together with everything that is
//! needed to replay it, and never hidden.

pub mod ablation;
mod ahead;
pub mod all_paths;
mod analysing;
mod application;
mod applications;
mod clock;
pub mod control_codes;
pub mod counterexample;
mod each;
mod executed_launch;
pub mod hazards;
mod judge;
mod judged_application;
mod judged_launch;
mod left;
mod options;
pub mod order;
mod plan;
mod progress;
mod replay;
mod result_times;
mod run;
mod saved;
mod self_check;
mod steps;
mod verdict;
mod workload;

pub use application::{Application, Launched, Statement, Traced};
pub use clock::Clock;
pub use each::{Subject, judge_each, judge_from, only_run};
pub use executed_launch::{ExecutedLaunch, Paths};
pub use judged_application::{JudgedApplication, LaunchRow, Run, StatementBound, StatementRow};
pub use judged_launch::{Failed, JudgedLaunch};
pub use options::RunOptions;
pub use plan::Plan;
pub use progress::{ApplicationProgress, ProgressOf, SavedProgress, line};
pub use replay::{check, observe, observe_and_keep};
pub use self_check::{Difference, self_check};
pub use steps::execute_sequence;
pub use verdict::{BlockTable, BoundName, BoundRow, PartRow, Verdict, WarpRow, Why, overestimation};
pub use workload::{Workload, WorkloadKind, WorkloadSource};
