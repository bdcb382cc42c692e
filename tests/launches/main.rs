//! Launches, programs, and the header with which kernels are compiled.

mod cuda_min;
mod images;
#[path = "../support/json_output.rs"]
mod json_output;
#[path = "../support/kernel_refs.rs"]
mod kernel_refs;
mod loading;
mod options;
mod program_results;
mod programs;
mod solvers;
mod support;
mod templates;
