//! The detailed timing engine's parts.

pub mod memory;
