//! Launches, programs, and the header that kernels are compiled with.

mod cuda_min;
mod options;
mod programs;
mod support;
mod templates;
