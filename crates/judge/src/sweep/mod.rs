//! Sweeps: kernels x launches x seeds or draws x machines x settings x policies, with one record
//! for each combination.
//!
//! A [`SweepSpec`] is a plan as users write it. [`Points`] numbers its combinations and divides
//! them into [`Job`]s: points that share one functional run of one launch. [`run_job`] simulates
//! and judges a job. [`warpbound_core::base::in_order`] runs jobs on several threads and returns
//! their results in the order of the plan, so that the same bytes are written whatever the number
//! of threads. A [`Manifest`] identifies the plan that results belong to; [`merge()`] combines the
//! results of shards; a [`Summary`] summarises results as a whole.
//!
//! The command line handles all files and passes kernels and machines as [`Inputs`].

mod columns;
mod draws;
mod manifest;
mod merge;
mod points;
mod record;
mod row;
mod spec;
mod summary;
mod work;

pub use columns::Meaning;
pub use draws::{Draws, Source};
pub use manifest::{FORMAT, Input, Manifest, Shard};
pub use merge::{MergeError, merge};
pub use points::{Assignment, Axis, Job, Point, Points};
pub use record::{Cell, Columns, Record, csv_heading, csv_of_row, parts_cell, parts_in};
pub use row::{Field, Place, Row, RowReader};
pub use spec::{KernelSpec, SweepSpec, ValueSpec};
pub use summary::{BoundSummary, Failure, Summary};
pub use work::{Inputs, records, run_job};
