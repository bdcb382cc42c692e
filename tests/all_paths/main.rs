//! Tests of the paths that are in every set, and of the bound over them: one file for each
//! question.

#[path = "../support/shipped.rs"]
mod shipped;

#[path = "../support/runs.rs"]
mod runs;

mod random;
mod suite;
