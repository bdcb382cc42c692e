//! PTX: what compilers write, what files may hold, and what must not make it fall over.

#[path = "../support/shipped.rs"]
mod shipped;

mod compilers;
mod files;
mod memory_ops;
mod register_file;
mod robustness;
