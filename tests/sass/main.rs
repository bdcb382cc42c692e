//! Machine code: what words say, what files hold, what instructions do.

#[path = "../support/shipped.rs"]
mod shipped;

mod control_codes;
mod disassembly;
mod files;
mod instructions;
