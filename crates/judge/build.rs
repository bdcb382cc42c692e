//! The binary contains the files of these folders; Cargo does not see by itself that one was added
//! or changed.

fn main() {
    for folder in ["configs", "isa", "kernels", "plans"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
