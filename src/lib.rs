//! warpbound
pub mod base;
pub mod bound;
pub mod check;
pub mod cli;
pub mod diag;
pub mod exec;
pub mod isa;
pub mod machine;
pub mod micro;
pub mod path;
pub mod program;
pub mod ptx;
pub mod report;
pub mod sim;
pub mod trace;
