//! Tests of rules about the text of the sources.
//!
//! * The crates depend on each other as the guide in `src/lib.rs` shows. Cargo enforces what the
//!   `Cargo.toml` of each crate says; this test compares these files with the guide's rows.
//! * The modules at the top of a crate may only use modules of lower rows, and those further to the
//!   right in their own row. The test reads every `crate::module` that a file names, outside
//!   comments.
//! * Dependences within a folder have one direction, too: its files and folders use each other
//!   without a cycle.
//! * The repository is self-contained: no file names a page that a reader does not have.
//! * The numbered sections of `warpbound::model` that comments name exist.
//! * A crate embeds only files of its own folder, because its published package has no others.
//! * The paths that the guide in `src/lib.rs` and `CONTRIBUTING.md` name exist.

#[path = "support/files.rs"]
mod files;
#[path = "support/module_graph.rs"]
mod module_graph;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use module_graph::{Circle, Modules};

/// The crates in `crates/`, from top to bottom.
const CRATES: [&[&str]; 6] = [
    &["cli"],
    &["report"],
    &["judge"],
    &["sim", "bound", "hybrid", "pwcet"],
    &["exec", "trace", "front"],
    &["core"],
];

/// Dependences that point down but are forbidden nevertheless: the analysis must not use the
/// simulation, nor what the simulation uses, and the simulation must not execute kernels itself.
/// The explanation of a run, which is in `trace`, then cannot compute its times again.
const NEVER: [(&str, &str); 5] =
    [("bound", "trace"), ("bound", "exec"), ("bound", "front"), ("sim", "exec"), ("sim", "front")];

/// The modules at the top of a crate that has more than one, from top to bottom and from left to
/// right.
const MODULES: [(&str, &[&[&str]]); 4] = [
    ("crates/judge", &[&["sweep"], &["compile"], &["load"], &["check", "explore"]]),
    ("crates/trace", &[&["why"], &["trace"]]),
    ("crates/front", &[&["ptx", "sass", "micro", "accelsim"]]),
    ("crates/core", &[&["program", "path", "machine", "isa"], &["base", "diag"]]),
];

fn place(rows: &[&[&str]], name: &str) -> Option<(usize, usize)> {
    rows.iter()
        .enumerate()
        .find_map(|(row, names)| names.iter().position(|n| *n == name).map(|column| (row, column)))
}

/// Returns whether a module may name another one of its crate. A name that is in no row comes from
/// another crate.
fn allowed(rows: &[&[&str]], from: &str, to: &str) -> bool {
    match (place(rows, from), place(rows, to)) {
        (Some(a), Some(b)) => from == to || b.0 > a.0 || (b.0 == a.0 && b.1 > a.1),
        (from, _) => from.is_some(),
    }
}

/// Returns whether a crate may depend on another.
fn may_depend(from: &str, to: &str) -> bool {
    let (Some(a), Some(b)) = (place(&CRATES, from), place(&CRATES, to)) else { return false };
    b.0 > a.0 && !NEVER.contains(&(from, to))
}

/// Returns the crates of this workspace that a `Cargo.toml` names, outside its dependences for
/// tests.
fn depends_on(manifest: &str) -> Vec<&str> {
    let mut for_tests = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            for_tests = line.starts_with("[dev-");
        } else if let Some(rest) = line.strip_prefix("warpbound-").filter(|_| !for_tests) {
            found.push(rest.split(['.', ' ', '=']).next().unwrap());
        }
    }
    found
}

#[test]
fn crates_depend_on_those_of_lower_rows() {
    let crates: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let placed: BTreeSet<String> = CRATES.concat().into_iter().map(str::to_owned).collect();
    assert_eq!(crates, placed);
    for name in &crates {
        let manifest = std::fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
        let others = depends_on(&manifest);
        assert!(name == "core" || others.contains(&"core"), "{name}: the scan finds nothing");
        for other in others {
            assert!(may_depend(name, other), "{name} must not depend on {other}");
        }
    }
    for (from, to) in [
        ("report", "cli"),
        ("sim", "bound"),
        ("bound", "sim"),
        ("bound", "exec"),
        ("trace", "sim"),
        ("core", "exec"),
    ] {
        assert!(!may_depend(from, to), "{from} -> {to}");
    }
    let manifest = "[package]\nname = \"warpbound-a\"\n[dependencies]\nwarpbound-b.workspace = true\n\
                    warpbound-c = { path = \"\" }\n[dev-dependencies]\nwarpbound-d.workspace = true\n";
    assert_eq!(depends_on(manifest), ["b", "c"]);
}

/// Returns the modules that a source names after `crate::`, with the line.
fn named_modules(text: &str) -> Vec<(usize, String)> {
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
                let module: String =
                    name.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
                if !module.is_empty() {
                    named.push((number + 1, module));
                }
            }
        }
    }
    named
}

#[test]
fn modules_use_those_of_lower_rows() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (folder, rows) in MODULES {
        let source = root().join(folder).join("src");
        for file in files::below(&format!("{folder}/src"), "rs") {
            let inside = file.strip_prefix(&source).unwrap();
            let module = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            if module.ends_with(".rs") {
                continue; // lib.rs is above the rows
            }
            for (line, named) in named_modules(&std::fs::read_to_string(&file).unwrap()) {
                if !allowed(rows, &module, &named) {
                    wrong.push(format!("{folder}/src/{}:{line}: {module} -> {named}", inside.display()));
                }
                seen += usize::from(module != named);
            }
        }
    }
    assert!(wrong.is_empty(), "a module uses one of a higher row:\n{}", wrong.join("\n"));
    assert!(seen > 100, "the scan finds nothing: {seen}");
}

#[test]
fn the_rule_forbids_known_violations() {
    let rows = |folder| MODULES.iter().find(|(name, _)| *name == folder).unwrap().1;
    for (folder, from, to) in [
        ("crates/core", "base", "machine"),
        ("crates/core", "machine", "program"),
        ("crates/core", "diag", "base"),
        ("crates/core", "nowhere", "base"),
        ("crates/trace", "trace", "why"),
        ("crates/judge", "check", "load"),
    ] {
        assert!(!allowed(rows(folder), from, to), "{from} -> {to}");
    }
    for (folder, from, to) in [
        ("crates/judge", "load", "check"),
        ("crates/core", "program", "machine"),
        ("crates/core", "base", "diag"),
    ] {
        assert!(allowed(rows(folder), from, to), "{from} -> {to}");
    }
    let named = named_modules("use crate::{sim::A, bound::B};\n// crate::cli\nlet x = crate::base::Y;");
    assert_eq!(named, [(1, "sim".to_owned()), (1, "bound".to_owned()), (3, "base".to_owned())]);
}

/// Tests, in every folder of every crate, the graph of modules. One module (a file, or a folder
/// with all its contents) points to another if it names something that the other defines, by
/// whatever path and through whatever re-export. The graph must have no cycle.
///
/// Parents are not siblings. A `mod.rs` may use its children, and they may use what it defines
/// itself, the vocabulary that the folder shares; what it only re-exports counts as defined by the
/// child. Tests do not count.
#[test]
fn modules_of_a_folder_use_each_other_one_way() {
    let crates = CRATES.concat().into_iter().map(|name| format!("crates/{name}/src"));
    let circles: Vec<Circle> = crates
        .chain(["src".to_owned()])
        .flat_map(|folder| {
            let circles = Modules::read(&root().join(&folder)).circles();
            circles
                .into_iter()
                .map(move |circle| Circle { folder: format!("{folder} {}", circle.folder), ..circle })
        })
        .collect();
    let shown = |Circle { folder, modules, places }: &Circle| {
        format!("{folder}: {}\n  {}", modules.join(" "), places.join("\n  "))
    };
    assert!(circles.is_empty(), "circles:\n{}", circles.iter().map(shown).collect::<Vec<_>>().join("\n"));
}

#[test]
fn cycles_are_found_however_they_are_written() {
    let circles = |files: &[(&str, &str)]| {
        let files: Vec<(String, String)> =
            files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        let circles = Modules::of(&files).circles();
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
/// that `.gitignore` names, and links to other files of the repository.
fn repository() -> Vec<PathBuf> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let ignored = path.is_symlink()
                || name == ".git"
                || path == root().join("target")
                || name.ends_with(".profraw");
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
fn named_sections_of_the_model_exist() {
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
    let mut sections = 0;
    for (file, text) in &texts {
        // crates below the package on top cannot link to the model, and write the number
        for (at, before) in text.match_indices("`warpbound::model`, section ") {
            let number: String = text[at + before.len()..].chars().take_while(char::is_ascii_digit).collect();
            if number.is_empty() {
                continue; // as in this file
            }
            sections += 1;
            let found = headings.iter().any(|heading| heading.split('-').next() == Some(&number));
            assert!(found, "{}: no section {number}", file.display());
        }
    }
    assert!(sections > 5, "the scan finds nothing: {sections}");
}

/// Returns the paths that a source embeds, each with its line and with whether it begins at the
/// folder of the crate and not at that of the file.
fn embedded_paths(text: &str) -> Vec<(usize, &str, bool)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for name in ["include_str!(", "include_bytes!(", "include_dir!("] {
            for (at, _) in line.match_indices(name) {
                let mut literals = line[at..].split('"').skip(1).step_by(2);
                let Some(first) = literals.next() else { continue };
                found.extend(
                    match first.strip_prefix('$').unwrap_or(first).strip_prefix("CARGO_MANIFEST_DIR") {
                        Some("") => literals.next().map(|path| (number + 1, path, true)),
                        Some(path) => Some((number + 1, path, true)),
                        None => Some((number + 1, first, false)),
                    },
                );
            }
        }
    }
    found
}

/// Returns whether a path leaves a folder. It starts `depth` folders below that one.
fn leaves(path: &str, mut depth: usize) -> bool {
    path.split('/').any(|part| match part {
        ".." if depth == 0 => true,
        ".." => {
            depth -= 1;
            false
        }
        "" | "." => false,
        _ => {
            depth += 1;
            false
        }
    })
}

#[test]
fn crates_embed_only_files_of_their_own_folder() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for file in files::below("crates", "rs") {
        let inside = file.strip_prefix(root().join("crates")).unwrap().to_string_lossy().into_owned();
        // a package is built without its unit tests
        if inside.ends_with("tests.rs") || inside.contains("/tests/") {
            continue;
        }
        let folders = inside.split('/').count() - 2;
        for (line, path, from_crate) in embedded_paths(&std::fs::read_to_string(&file).unwrap()) {
            seen += 1;
            if leaves(path, if from_crate { 0 } else { folders }) {
                wrong.push(format!("crates/{inside}:{line}: {path}"));
            }
        }
    }
    assert!(seen > 20, "the scan finds nothing: {seen}");
    assert!(wrong.is_empty(), "link to the file from the folder of the crate:\n{}", wrong.join("\n"));
    let text = "a(include_str!(\"x.css\"), include_bytes!(\"../y\"))\ninclude_dir!(\"$CARGO_MANIFEST_DIR/z\")\n\
                include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../w\"))";
    let all = [(1, "x.css", false), (1, "../y", false), (2, "/z", true), (3, "/../w", true)];
    assert_eq!(embedded_paths(text), all);
    assert!(leaves("/../w", 0) && leaves("a/../../w", 0) && leaves("../../../w", 2));
    assert!(!leaves("/w", 0) && !leaves("../a/w", 1) && !leaves("../../w", 2));
}

/// Returns the paths in backquotes that begin with a folder of the repository, without those that
/// contain a placeholder in capitals.
fn named_paths(text: &str) -> Vec<(usize, &str)> {
    const FOLDERS: [&str; 14] = [
        ".ci", ".github", "benches", "configs", "crates", "docs", "examples", "isa", "kernels", "plans",
        "schemas", "scripts", "src", "tests",
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
