//! Launches, programs, and the header that kernels are compiled with.

mod cuda_min;
mod images;
mod options;
mod programs;
mod support;
mod templates;
