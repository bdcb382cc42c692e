//! Tests of the sets of all paths, which must contain the paths of every run, and of the bound over
//! these sets: one file for each question.

#[path = "../support/shipped.rs"]
mod shipped;

#[path = "../support/runs.rs"]
mod runs;

mod programs;
mod random;
mod suite;
