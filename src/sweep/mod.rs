//! Sweeps: kernels x launches x seeds or draws x machines x settings x policies, a record for each.
//!
//! A [`SweepSpec`] is what people write. [`Points`] numbers its combinations and cuts them into [`Job`]s: points
//! that share one functional run of one launch. [`run_job`] simulates and judges a job, [`crate::base::in_order`] does jobs on
//! several threads and hands their results on in the order of the plan, so that the same bytes are written
//! whatever the number of threads. A [`Manifest`] says which plan results belong to; [`merge()`] puts those of
//! shards together; a [`Summary`] is what they show as a whole.
//!
//! Files are the command line's business, which gives kernels and machines as [`Inputs`].

mod columns;
mod draws;
mod manifest;
mod merge;
mod points;
mod record;
mod spec;
mod summary;
mod work;

pub use columns::Meaning;
pub use draws::{Draws, Source};
pub use manifest::{FORMAT, Input, Manifest, Shard};
pub use merge::{MergeError, merge};
pub use points::{Assignment, Axis, Job, Point, Points};
pub use record::{Cell, Columns, Record, csv_heading, csv_of_json};
pub use spec::{KernelSpec, SweepSpec, ValueSpec};
pub use summary::{BoundSummary, Failure, Summary};
pub use work::{Inputs, Loaded, records, run_job};
