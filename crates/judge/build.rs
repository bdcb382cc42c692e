//! Lists the files that are embedded in the library, and prepares those that every command with
//! PTX needs. A command with a small kernel would otherwise spend most of its time there: with a
//! search through all files, and with the parsing of a constant table.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folders, and the names of the lists of their files.
const FOLDERS: [(&str, &str); 4] =
    [("CONFIGS", "configs"), ("KERNELS", "kernels"), ("PLANS", "plans"), ("OPCODES", "isa/traces")];

fn main() -> io::Result<()> {
    // Cargo does not see by itself that a file was added or changed
    for folder in ["configs", "isa", "kernels", "plans"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    let variable = |name: &str| PathBuf::from(env::var_os(name).unwrap_or_default());
    let root = variable("CARGO_MANIFEST_DIR");
    let mut text = String::new();
    for (list, folder) in FOLDERS {
        let mut files = Vec::new();
        collect(&root.join(folder), "", &mut files)?;
        // a file is found by a binary search for its name
        files.sort();
        let _ = writeln!(text, "static {list}: &[EmbeddedFile] = &[");
        for (name, path) in files {
            let place = format!("/{folder}/{path}");
            let _ = writeln!(
                text,
                "    EmbeddedFile {{ name: {name:?}, path: {path:?}, \
                 contents: include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {place:?})) }},"
            );
        }
        text.push_str("];\n");
    }
    let rules = fs::read_to_string(root.join("isa/ptx.ron"))?;
    let _ = writeln!(text, "static PTX_RULES: &[Rule] = isa_rules! {{\n{rules}\n}};");
    fs::write(variable("OUT_DIR").join("embedded.rs"), text)
}

/// Adds the name and the path of each file in a folder and in the folders in it. The path is
/// relative to the first folder.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))?;
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            files.push((name.to_owned(), format!("{prefix}{name}")));
        }
    }
    Ok(())
}
