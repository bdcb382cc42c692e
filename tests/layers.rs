//! Rules about the text of the sources.
//!
//! * The layer rule of `src/lib.rs`: an arrow may only point down, or to the right within a row. It
//!   is read from every `crate::layer` that a file names, outside comments.
//! * Dependences within a layer have one direction, too: the files and folders of a folder use each
//!   other without a cycle.
//! * The repository stands alone: no file names a page that a reader does not have.
//! * Links to numbered sections of `warpbound::model` are valid.
//! * The paths that the guide in `src/lib.rs` and `CONTRIBUTING.md` name exist.

#[path = "support/files.rs"]
mod files;
#[path = "support/module_graph.rs"]
mod module_graph;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use module_graph::{Circle, Modules};

/// The layers, from top to bottom and from left to right.
const ROWS: [&[&str]; 10] = [
    &["cli"],
    &["report", "sweep"],
    &["load"],
    &["check", "explore", "hybrid", "pwcet", "why"],
    &["sim", "bound"],
    &["exec", "trace"],
    &["ptx", "sass", "micro", "accelsim"],
    &["program", "path", "machine", "isa"],
    &["base", "diag"],
    &["model"],
];

/// Arrows that point down or right but are forbidden nevertheless: the analyser must not use the
/// simulation, nor the simulator the bounds. The explanation of a run reads its events and must not
/// compute its times again, with the code of either.
const NEVER: [(&str, &str); 6] = [
    ("sim", "bound"),
    ("bound", "sim"),
    ("bound", "trace"),
    ("bound", "exec"),
    ("why", "sim"),
    ("why", "bound"),
];

fn place(layer: &str) -> Option<(usize, usize)> {
    ROWS.iter()
        .enumerate()
        .find_map(|(row, layers)| layers.iter().position(|l| *l == layer).map(|column| (row, column)))
}

fn allowed(from: &str, to: &str) -> bool {
    let (Some(a), Some(b)) = (place(from), place(to)) else { return false };
    !NEVER.contains(&(from, to)) && (from == to || b.0 > a.0 || (b.0 == a.0 && b.1 > a.1))
}

/// Returns the layers that a source names, with the line.
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
    let files = files::below("src", "rs");
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for file in &files {
        let inside = file.strip_prefix(&root).unwrap();
        let layer = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        if layer.ends_with(".rs") {
            continue; // lib.rs and main.rs are above the layers
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
        ("why", "sim"),
        ("check", "load"),
    ] {
        assert!(!allowed(from, to), "{from} -> {to}");
    }
    for (from, to) in [
        ("cli", "base"),
        ("cli", "load"),
        ("load", "check"),
        ("program", "machine"),
        ("base", "diag"),
        ("check", "bound"),
        ("exec", "trace"),
    ] {
        assert!(allowed(from, to), "{from} -> {to}");
    }
    let named = named_layers("use crate::{sim::A, bound::B};\n// crate::cli\nlet x = crate::base::Y;");
    assert_eq!(named, [(1, "sim".to_owned()), (1, "bound".to_owned()), (3, "base".to_owned())]);
}

/// The layers that still have cycles.
const NOT_YET: [&str; 0] = [];

/// Tests, in every folder of a layer, its own and those inside, the graph of modules. One module (a
/// file, or a folder with all its contents) points to another if it names something that the other
/// defines, by whatever path and through whatever re-export. No path along these arrows may lead
/// back to its start.
///
/// Parents are not siblings. A `mod.rs` may use its children, and they may use what it defines
/// itself, the vocabulary that the folder shares; what it only re-exports counts as defined by the
/// child. Tests do not count.
#[test]
fn modules_of_a_folder_use_each_other_one_way() {
    let circles = Modules::read(&root().join("src")).circles(|layer| !NOT_YET.contains(&layer));
    let shown = |Circle { folder, modules, places }: &Circle| {
        format!("{folder}: {}\n  {}", modules.join(" "), places.join("\n  "))
    };
    assert!(circles.is_empty(), "circles:\n{}", circles.iter().map(shown).collect::<Vec<_>>().join("\n"));
}

#[test]
fn circles_are_found_however_they_are_written() {
    let circles = |files: &[(&str, &str)]| {
        let files: Vec<(String, String)> =
            files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        let circles = Modules::of(&files).circles(|_| true);
        circles.into_iter().map(|circle| (circle.folder, circle.modules.join(" "))).collect::<Vec<_>>()
    };
    let b = ("l/b.rs", "pub struct B; fn f() { super::a::A; }");
    let found = [("l".to_owned(), "a b".to_owned())];
    for (a, more) in [
        ("use super::b::B; pub struct A;", ""),
        ("use super::{c::C, b::{self, B as D}}; pub struct A;", ""),
        ("pub struct A(crate::l::b::B);", ""),
        // through what the folder re-exports, imports or includes by a glob
        ("use super::B; pub struct A;", "mod a; mod b; pub use b::B;"),
        ("use crate::l::{B}; pub struct A;", "mod a; mod b; use b::B;"),
        ("use super::B; pub struct A;", "mod a; mod b; pub use b::*;"),
        ("mod inside { use super::super::b::B; } pub struct A;", ""),
        ("#[cfg(test)] mod tests { fn f() {} } use super::b; pub struct A;", ""),
    ] {
        assert_eq!(circles(&[("l/mod.rs", more), ("l/a.rs", a), b]), found, "{a} {more}");
    }
    for (a, more) in [
        ("pub struct A; // use super::b::B;", ""),
        ("pub struct A; const B: &str = \"super::b::B\"; const C: char = '\"';", ""),
        ("pub struct A; #[cfg(test)] mod tests { use super::super::b::B; }", ""),
        ("pub(in crate::l) struct A; impl<'a> A<'a> { pub(super) fn a() {} }", "mod a; mod b; pub use b::B;"),
        ("use super::Shared; pub struct A;", "mod a; mod b; pub struct Shared; fn f() { b::f(); }"),
    ] {
        assert_eq!(circles(&[("l/mod.rs", more), ("l/a.rs", a), b]), [], "{a} {more}");
    }
    // a folder represents all its contents
    let files = [
        ("l/mod.rs", ""),
        ("l/a/mod.rs", ""),
        ("l/a/deep.rs", "use super::super::b::B;"),
        ("l/b.rs", "use super::a::deep;"),
    ];
    assert_eq!(circles(&files), found);
    // and its contents are tested separately
    let files = [
        ("l/mod.rs", ""),
        ("l/a/mod.rs", ""),
        ("l/a/c.rs", "use super::d::D;"),
        ("l/a/d.rs", "pub struct D; use crate::l::a::c;"),
    ];
    assert_eq!(circles(&files), [("l::a".to_owned(), "c d".to_owned())]);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns every file that belongs to the repository, or would if it were added: all except those
/// that `.gitignore` names.
fn repository() -> Vec<PathBuf> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let ignored = name == ".git" || path == root().join("target") || name.ends_with(".profraw");
            if path.is_dir() && !ignored {
                walk(&path, found);
            } else if path.is_file() && !ignored {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(root(), &mut found);
    found.sort();
    found
}

/// Returns the part of a text that names a page outside the repository: the design pages, their
/// folder, or a paper by its number there. The names are assembled here, so that this file does not
/// contain them itself.
fn names_outside_pages(text: &str) -> Option<String> {
    let pages = ["MODEL", "FACTS", "DESIGN", "STYLE", "HOUSE"].map(|page| format!("{page}.{}", "md"));
    let folders = ["MODEL", "FACTS", "DESIGN", "STYLE", "seeds", "reference", "hooks"]
        .map(|inside| format!("{}/{inside}", "shared"));
    for name in pages.iter().chain(&folders) {
        if text.contains(name.as_str()) {
            return Some(name.clone());
        }
    }
    let lower = text.to_ascii_lowercase();
    for (at, word) in lower.match_indices("seed") {
        let rest = &lower[at + word.len()..];
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let digits = rest.strip_prefix([' ', '_', '-', '\n']).unwrap_or(rest);
        if digits.starts_with("00") && digits[2..].starts_with(|c: char| c.is_ascii_digit()) {
            return Some(lower[at..].chars().take(word.len() + 5).collect());
        }
    }
    None
}

#[test]
fn no_file_names_a_page_that_a_reader_does_not_have() {
    let files = repository();
    for known in ["README.md", "configs/ecrts25-orin.ron", ".ci/run", "tests/layers.rs", "src/model/issue.md"]
    {
        assert!(files.contains(&root().join(known)), "the walk misses {known}");
    }
    let mut wrong = Vec::new();
    for file in &files {
        let inside = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        if let Some(name) = names_outside_pages(&inside).or_else(|| names_outside_pages(&text)) {
            let line = text.lines().position(|line| names_outside_pages(line).is_some());
            wrong.push(format!("{inside}:{}: {name}", line.map_or(0, |line| line + 1)));
        }
    }
    assert!(wrong.is_empty(), "cite papers by author and title instead:\n{}", wrong.join("\n"));
}

#[test]
fn such_names_are_found_and_others_are_not() {
    let md = "md";
    for named in [
        format!("as MODEL.{md} says"),
        format!("see {}/reference", "shared"),
        format!("/work/{}/FACTS", "shared"),
        format!("{} 003, table 1", "seed"),
        format!("{}s 001 and 002", "Seed"),
        format!("fn {}_003_tables()", "seed"),
        format!("data/{}004.csv", "seed"),
        format!("the tables of {}\n003", "seed"),
    ] {
        assert!(names_outside_pages(&named).is_some(), "{named}");
    }
    for fine in ["src/model/issue.md", "--seed 0", "ld.shared/st.shared", "seed 17", "tests/data/reference"] {
        assert_eq!(names_outside_pages(fine), None, "{fine}");
    }
}

/// Returns the name of a link target that rustdoc derives from a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

#[test]
fn links_to_sections_of_the_model_lead_somewhere() {
    let is_ours = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "rs" || ending == "md");
    let texts: Vec<(PathBuf, String)> = repository()
        .into_iter()
        .filter(is_ours)
        .map(|file| (file.clone(), std::fs::read_to_string(file).unwrap()))
        .collect();
    let model = root().join("src/model");
    let headings: BTreeSet<String> = texts
        .iter()
        .filter(|(file, _)| file.starts_with(&model))
        .flat_map(|(_, text)| text.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor))
        .collect();
    assert!(headings.contains("12-gub"), "{headings:?}");
    let mut links = 0;
    for (file, text) in &texts {
        for (at, before) in text.match_indices("crate::model#") {
            let link: String = text[at + before.len()..]
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect();
            if !link.is_empty() {
                links += 1;
                assert!(headings.contains(&link), "{}: no section `{link}`", file.display());
            }
        }
    }
    assert!(links > 5, "the scan finds nothing");
}

/// Returns the paths in backquotes that begin with a folder of the repository, without those that
/// contain a placeholder in capitals.
fn named_paths(text: &str) -> Vec<(usize, &str)> {
    const FOLDERS: [&str; 12] = [
        ".ci", "benches", "configs", "docs", "examples", "isa", "kernels", "plans", "schemas", "scripts",
        "src", "tests",
    ];
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for quoted in line.split('`').skip(1).step_by(2) {
            let path = quoted.split([' ', ':']).next().unwrap();
            let folder = path.split_once('/').map_or("", |(folder, _)| folder);
            let placeholder = path.split(['/', '.', '-']).any(|part| {
                part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase() || c == '_') && part != "README"
            });
            if FOLDERS.contains(&folder) && !placeholder {
                found.push((number + 1, path));
            }
        }
    }
    found
}

#[test]
fn paths_that_the_guides_name_exist() {
    let mut wrong = Vec::new();
    for (guide, least) in [("src/lib.rs", 100), ("CONTRIBUTING.md", 50)] {
        let text = std::fs::read_to_string(root().join(guide)).unwrap();
        let named = named_paths(&text);
        assert!(named.len() >= least, "{guide}: the scan finds {} paths", named.len());
        for (line, path) in named {
            // of a pattern, the folder has to exist
            let there = path.split_once('*').map_or(path, |(before, _)| before);
            if !root().join(there.trim_end_matches(|c| c != '/' && there != path)).exists() {
                wrong.push(format!("{guide}:{line}: {path}"));
            }
        }
    }
    assert!(wrong.is_empty(), "no such file or folder:\n{}", wrong.join("\n"));
    let text = "`src/a.rs` and `x/y`, `src/b/NAME.rs`, `tests/c/*.ron`, `docs/d.md:3`";
    assert_eq!(named_paths(text), [(1, "src/a.rs"), (1, "tests/c/*.ron"), (1, "docs/d.md")]);
}
