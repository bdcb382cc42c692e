//! Launches, programs, and the header that kernels are compiled with.

mod cuda_min;
mod images;
#[path = "../support/json_output.rs"]
mod json_output;
mod options;
mod programs;
mod solvers;
mod support;
mod templates;
