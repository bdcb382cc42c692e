//! The layer rule of `src/lib.rs`: an arrow may only point down, or to the right within a row.
//!
//! Read from the sources: every `crate::layer` that a file names, outside comments.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Top to bottom, left to right.
const ROWS: [&[&str]; 9] = [
    &["cli"],
    &["report", "sweep"],
    &["check", "explore", "hybrid", "pwcet"],
    &["sim", "bound"],
    &["exec", "trace"],
    &["ptx", "sass", "micro", "accelsim"],
    &["program", "path", "machine", "isa"],
    &["base", "diag"],
    &["model"],
];

/// Arrows that would point down or right and are forbidden all the same: the analyser must not
/// know what was simulated, nor the simulator what was bounded.
const NEVER: [(&str, &str); 4] = [("sim", "bound"), ("bound", "sim"), ("bound", "trace"), ("bound", "exec")];

fn place(layer: &str) -> Option<(usize, usize)> {
    ROWS.iter()
        .enumerate()
        .find_map(|(row, layers)| layers.iter().position(|l| *l == layer).map(|column| (row, column)))
}

fn allowed(from: &str, to: &str) -> bool {
    let (Some(a), Some(b)) = (place(from), place(to)) else { return false };
    !NEVER.contains(&(from, to)) && (from == to || b.0 > a.0 || (b.0 == a.0 && b.1 > a.1))
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The layers a source names, with the line.
fn named_layers(text: &str) -> Vec<(usize, String)> {
    let mut named = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if code.starts_with("//") {
            continue;
        }
        for (at, _) in code.match_indices("crate::") {
            let rest = &code[at + "crate::".len()..];
            let names = rest
                .strip_prefix('{')
                .map_or_else(|| vec![rest], |list| list.split(',').map(str::trim_start).collect());
            for name in names {
                let layer: String =
                    name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                if !layer.is_empty() {
                    named.push((number + 1, layer));
                }
            }
        }
    }
    named
}

#[test]
fn arrows_point_down_or_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for file in &files {
        let inside = file.strip_prefix(&root).unwrap();
        let layer = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        if layer.ends_with(".rs") {
            continue; // lib.rs and main.rs stand above the layers
        }
        for (line, named) in named_layers(&std::fs::read_to_string(file).unwrap()) {
            if !allowed(&layer, &named) {
                wrong.push(format!("{}:{line}: {layer} -> {named}", inside.display()));
            }
            seen.insert((layer.clone(), named));
        }
    }
    assert!(wrong.is_empty(), "layer rule broken:\n{}", wrong.join("\n"));
    assert!(seen.contains(&("cli".to_owned(), "check".to_owned())), "the scan finds nothing");
}

#[test]
fn the_rule_itself_forbids_what_it_should() {
    for (from, to) in [
        ("sim", "bound"),
        ("bound", "sim"),
        ("bound", "trace"),
        ("base", "machine"),
        ("machine", "program"),
        ("exec", "sim"),
        ("diag", "base"),
        ("sim", "nowhere"),
    ] {
        assert!(!allowed(from, to), "{from} -> {to}");
    }
    for (from, to) in
        [("cli", "base"), ("program", "machine"), ("base", "diag"), ("check", "bound"), ("exec", "trace")]
    {
        assert!(allowed(from, to), "{from} -> {to}");
    }
    let named = named_layers("use crate::{sim::A, bound::B};\n// crate::cli\nlet x = crate::base::Y;");
    assert_eq!(named, [(1, "sim".to_owned()), (1, "bound".to_owned()), (3, "base".to_owned())]);
}
