//! PTX: the output of compilers, the contents of files, and inputs that must not cause a crash.

#[path = "../support/files.rs"]
mod repository;
#[path = "../support/shipped.rs"]
mod shipped;
#[path = "../support/tensor_sums.rs"]
mod tensor_sums;

mod compilers;
mod files;
mod memory_ops;
mod register_file;
mod robustness;
