//! Machine code: the decoding of words, the contents of files, the effect of instructions.

#[path = "../support/cubin.rs"]
mod cubin;
#[path = "../support/shipped.rs"]
mod shipped;

mod calls;
mod clusters;
mod containers;
mod control_codes;
mod disassembly;
mod divisions;
mod files;
mod groups;
mod hazards;
mod hopper;
mod instructions;
mod later;
mod launched;
mod tables;
mod textures;
mod turing;
mod turns;
