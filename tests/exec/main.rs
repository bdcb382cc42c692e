//! Tests of functional execution: a file for each part, one binary for all.

#[path = "../exec_support/mod.rs"]
mod exec_support;

mod barriers;
mod calls;
mod control;
mod images;
mod matrix_memory;
mod matrix_products;
mod mbarrier;
mod memory;
mod races;
mod values;
mod vectors;
