//! One written machine laid over another: the bases that a file extends, and the settings of the command
//! line. What comes out is written as well, and not checked yet.

mod bases;
mod fields;
mod memory_latency;
mod merge;
mod setting;
mod sources;

pub use setting::Setting;
