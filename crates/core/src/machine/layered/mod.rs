//! Combination of machine files: the bases that a file extends, and the settings of the command
//! line. The result is a machine file as well, and has not been validated.

mod bases;
mod fields;
mod memory_latency;
mod merge;
mod setting;
mod sources;

pub use setting::Setting;
