//! Links the command at a fixed address, where that shortens its start.
//!
//! A program that can be loaded anywhere has tens of thousands of pointers that the dynamic linker
//! has to adjust at every start. That takes longer than many a command with a small kernel. It
//! matters only to a program, so libraries and tests are linked as usual.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    // the option is that of the C compilers of this system; a static program has its own kind of
    // position independence
    let is_static = variable("CARGO_CFG_TARGET_FEATURE").split(',').any(|feature| feature == "crt-static");
    if variable("TARGET") == "x86_64-unknown-linux-gnu" && !is_static {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
