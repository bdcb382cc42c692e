//! Lists the files that are embedded in the library, and prepares those that most commands need. A
//! command with a small kernel would otherwise spend most of its time there: with a search through
//! all files, and with the parsing of constant tables and of machines that extend each other.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde::Deserialize;
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, from_ron};
use warpbound_core::isa::{IsaTable, Rule, Space, TypeKind};
use warpbound_core::machine::MachineSpec;

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
    machines(&root.join("configs"), &mut text)?;
    rules(&root.join("isa/ptx.ron"), &mut text)?;
    fs::write(variable("OUT_DIR").join("embedded.rs"), text)
}

/// The table of op classes of PTX, as it is written.
#[derive(Deserialize)]
#[serde(rename = "Isa")]
struct WrittenIsa {
    rules: Vec<WrittenRule>,
}

#[derive(Deserialize)]
#[serde(rename = "Rule")]
struct WrittenRule {
    roots: String,
    kind: Option<TypeKind>,
    space: Option<Space>,
    class: String,
}

/// Lists the rules of PTX in the order in which they are looked up.
fn rules(file: &Path, text: &mut String) -> io::Result<()> {
    let isa: WrittenIsa = from_ron(&read(file).map_err(shown)?).map_err(shown)?;
    let rule = |WrittenRule { roots, kind, space, class }| Rule {
        roots: String::leak(roots),
        kind,
        space,
        class: String::leak(class),
    };
    let _ = writeln!(text, "static PTX_RULES: &[Rule] = &[");
    for Rule { roots, kind, space, class } in IsaTable::new(isa.rules.into_iter().map(rule)).rules() {
        let kind = kind.map_or("None".to_owned(), |kind| format!("Some(TypeKind::{kind:?})"));
        let space = space.map_or("None".to_owned(), |space| format!("Some(Space::{space:?})"));
        let _ = writeln!(
            text,
            "    Rule {{ roots: {roots:?}, kind: {kind}, space: {space}, class: {class:?} }},"
        );
    }
    text.push_str("];\n");
    Ok(())
}

/// Lists the machines of a folder as JSON, each combined with those that it extends.
fn machines(folder: &Path, text: &mut String) -> io::Result<()> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    files.retain(|(name, _)| name.ends_with(".ron"));
    files.sort();
    let base = |name: &str| read(&folder.join(format!("{name}.ron")));
    let _ = writeln!(text, "static MACHINES: &[EmbeddedFile] = &[");
    for (name, path) in files {
        let spec = read(&folder.join(&path)).and_then(|source| MachineSpec::parse_with_bases(&source, &base));
        let json = serde_json::to_string(&spec.map_err(shown)?)?;
        let _ = writeln!(
            text,
            "    EmbeddedFile {{ name: {name:?}, path: {path:?}, contents: {json:?}.as_bytes() }},"
        );
    }
    text.push_str("];\n");
    Ok(())
}

fn read(file: &Path) -> Result<SourceText, Diagnostics> {
    let name = file.display().to_string();
    match fs::read_to_string(file) {
        Ok(text) => Ok(SourceText::new(name, text)),
        Err(error) => Err(Diagnostic::general(name, error.to_string()).into()),
    }
}

fn shown(problems: Diagnostics) -> io::Error {
    io::Error::other(problems.to_string())
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
