//! Tests of functional execution: one file for each part, one binary for all.

#[path = "../support/banked.rs"]
mod banked;
#[path = "../exec_support/mod.rs"]
mod exec_support;
#[path = "../support/kernel_refs.rs"]
mod kernel_refs;
#[path = "../support/runs.rs"]
mod runs;
#[path = "../support/shipped.rs"]
mod shipped;

mod bank_conflicts;
mod barriers;
mod bulk_copies;
mod calls;
mod constructs;
mod control;
mod images;
mod kernels;
mod matrix_memory;
mod matrix_products;
mod mbarrier;
mod memory;
mod memory_traffic;
mod newer_ptx;
mod orders;
mod races;
mod simt_stack;
mod special_values;
mod values;
mod vectors;
mod walks;
mod warpgroups;
