//! The dependences between the modules of a crate, read from the text of the sources.
//!
//! Every path that begins with `crate`, `super` or `self`, in a `use` or anywhere else, and every
//! `use` of a child is resolved to the module that defines the named item. Re-exports and private
//! imports are followed, so that `super::Thing` leads to the file of `Thing` and not to the
//! `mod.rs` that re-exports it. Tests (`#[cfg(test)]`), comments and strings do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// The path of a module from the root of the crate: `["machine", "used"]`.
pub type ModulePath = Vec<String>;

/// An item that a module names.
#[derive(Clone, Debug)]
struct Named {
    line: usize,
    /// The path from the root of the crate.
    path: Vec<String>,
}

#[derive(Debug, Default)]
struct Module {
    file: String,
    named: Vec<Named>,
    /// The items that its `use` declarations import, by the name that they have in this module.
    aliases: BTreeMap<String, Vec<String>>,
    /// The modules from which it imports everything.
    globs: Vec<Vec<String>>,
    /// The words that follow `fn`, `struct`, `enum` and similar keywords.
    defined: BTreeSet<String>,
}

/// A use of a module by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    pub from: ModulePath,
    pub to: ModulePath,
    /// The location as `file:line: path`.
    pub place: String,
}

/// Modules of one folder that depend on each other in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    pub folder: String,
    pub modules: Vec<String>,
    /// The locations of the uses.
    pub places: Vec<String>,
}

/// The modules of a crate.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    /// Reads every module below a folder, the `src` of a crate.
    pub fn read(root: &Path) -> Self {
        let mut texts = Vec::new();
        collect(root, &mut Vec::new(), &mut texts);
        Self::of(&texts)
    }

    /// Reads the modules from files, each given by its path from the root and its text.
    pub fn of(texts: &[(String, String)]) -> Self {
        let paths: BTreeSet<ModulePath> = texts.iter().filter_map(|(file, _)| module_of(file)).collect();
        let mut modules = BTreeMap::new();
        let mut tests = Vec::new();
        for (file, text) in texts {
            let Some(path) = module_of(file) else { continue };
            let mut reader =
                Reader { tokens: tokens(text), at: 0, path: &path, all: &paths, tests: Vec::new() };
            let module = Module { file: file.clone(), ..reader.module() };
            tests.append(&mut reader.tests);
            modules.insert(path, module);
        }
        modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        Self(modules)
    }

    /// Returns every use of one module by another.
    pub fn uses(&self) -> BTreeSet<Use> {
        let mut uses = BTreeSet::new();
        for (from, module) in &self.0 {
            for named in &module.named {
                let to = self.definer(&named.path, 0);
                if to != *from && !to.is_empty() {
                    let place = format!("{}:{}: {}", module.file, named.line, named.path.join("::"));
                    uses.insert(Use { from: from.clone(), to, place });
                }
            }
        }
        uses
    }

    /// Returns the cycles among the modules of each folder: sets of modules that use each other in
    /// a cycle. A use by or of anything inside a module counts as a use by or of the module.
    pub fn circles(&self) -> Vec<Circle> {
        let mut folders: BTreeMap<ModulePath, Vec<(String, String, String)>> = BTreeMap::new();
        for Use { from, to, place } in self.uses() {
            let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
            // a module's parents and children are no siblings
            if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
                let uses = folders.entry(from[..common].to_vec()).or_default();
                uses.push((one.clone(), other.clone(), place));
            }
        }
        let mut circles = Vec::new();
        for (folder, uses) in folders {
            let graph: DiGraphMap<&str, ()> =
                uses.iter().map(|(from, to, _)| (from.as_str(), to.as_str())).collect();
            for mut modules in tarjan_scc(&graph).into_iter().filter(|modules| modules.len() > 1) {
                modules.sort_unstable();
                let inside = |(from, to, _): &&(String, String, String)| {
                    modules.contains(&from.as_str()) && modules.contains(&to.as_str())
                };
                circles.push(Circle {
                    folder: folder.join("::"),
                    modules: modules.iter().map(|&module| module.to_owned()).collect(),
                    places: uses.iter().filter(inside).map(|(.., place)| place.clone()).collect(),
                });
            }
        }
        circles
    }

    /// Returns the module that defines the item that a path names.
    fn definer(&self, path: &[String], depth: usize) -> ModulePath {
        let mut here = Vec::new();
        for (index, segment) in path.iter().enumerate() {
            let mut inner = here.clone();
            inner.push(segment.clone());
            if self.0.contains_key(&inner) {
                here = inner;
                continue;
            }
            let Some(module) = self.0.get(&here).filter(|_| depth < 8) else { break };
            if module.defined.contains(segment) {
                break;
            }
            if let Some(target) = module.aliases.get(segment) {
                return self.definer(&[target, &path[index + 1..]].concat(), depth + 1);
            }
            let glob = module.globs.iter().map(|glob| self.definer(glob, depth + 1)).find(|glob| {
                self.0
                    .get(glob)
                    .is_some_and(|m| m.defined.contains(segment) || m.aliases.contains_key(segment))
            });
            if let Some(glob) = glob {
                return self.definer(&[&glob, &path[index..]].concat(), depth + 1);
            }
            break;
        }
        here
    }
}

fn collect(dir: &Path, inside: &mut Vec<String>, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        inside.push(path.file_name().unwrap().to_string_lossy().into_owned());
        if path.is_dir() {
            collect(&path, inside, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push((inside.join("/"), std::fs::read_to_string(&path).unwrap()));
        }
        inside.pop();
    }
}

/// Returns the module of a file: `machine/used/mod.rs` is `machine::used`, and `lib.rs` is the
/// root. The program, `main.rs`, belongs to no module.
fn module_of(file: &str) -> Option<ModulePath> {
    match file {
        "lib.rs" => Some(Vec::new()),
        "main.rs" => None,
        _ => {
            let path = file.strip_suffix(".rs")?;
            let path = path.strip_suffix("/mod").unwrap_or(path);
            Some(path.split('/').map(str::to_owned).collect())
        }
    }
}

/// Returns the tokens with their lines: words, `::`, and every other character that is not white
/// space.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut line, mut at) = (Vec::new(), 1, 0);
    let ahead = |at: usize, what: &str| what.chars().enumerate().all(|(i, c)| chars.get(at + i) == Some(&c));
    while at < chars.len() {
        let start = at;
        let c = chars[at];
        if ahead(at, "//") {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if c == '"' || c == 'r' && raw_hashes(&chars[at + 1..]).is_some() {
            let raw = if c == 'r' { raw_hashes(&chars[at + 1..]) } else { None };
            let end = format!("\"{}", "#".repeat(raw.unwrap_or(0)));
            at += raw.map_or(1, |hashes| hashes + 2);
            while at < chars.len() && !ahead(at, &end) {
                at += if raw.is_none() && chars[at] == '\\' { 2 } else { 1 };
            }
            at += end.len();
        } else if c == '\'' {
            // a character literal or a lifetime
            if chars.get(at + 1) == Some(&'\\') {
                at += 3;
                while chars.get(at).is_some_and(|&c| c != '\'') {
                    at += 1;
                }
                at += 1;
            } else {
                at += if chars.get(at + 2) == Some(&'\'') { 3 } else { 1 };
            }
        } else if is_word(c) {
            while at < chars.len() && is_word(chars[at]) {
                at += 1;
            }
            tokens.push((line, chars[start..at].iter().collect()));
        } else {
            let two = ahead(at, "::");
            at += if two { 2 } else { 1 };
            if !c.is_whitespace() {
                tokens.push((line, if two { "::".to_owned() } else { c.to_string() }));
            }
        }
        at = at.min(chars.len());
        line += chars[start..at].iter().filter(|&&c| c == '\n').count();
    }
    tokens
}

/// Returns the number of hashes at the start of a raw string, if these characters, after an `r`,
/// begin one.
fn raw_hashes(chars: &[char]) -> Option<usize> {
    let hashes = chars.iter().take_while(|&&c| c == '#').count();
    (chars.get(hashes) == Some(&'"')).then_some(hashes)
}

struct Reader<'a> {
    tokens: Vec<(usize, String)>,
    at: usize,
    path: &'a ModulePath,
    all: &'a BTreeSet<ModulePath>,
    /// The modules that exist for tests only.
    tests: Vec<ModulePath>,
}

impl Reader<'_> {
    fn token(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |(_, token)| token.as_str())
    }

    fn are(&self, expected: &[&str]) -> bool {
        expected.iter().enumerate().all(|(ahead, token)| self.token(ahead) == *token)
    }

    fn module(&mut self) -> Module {
        let mut module = Module::default();
        let mut depth = 0;
        // the depths of the braces of the open inline modules
        let mut inline: Vec<usize> = Vec::new();
        while self.at < self.tokens.len() {
            if self.are(&["#", "[", "cfg", "(", "test", ")", "]"]) {
                self.skip_test();
                continue;
            }
            let before = self.at.checked_sub(1).map_or("", |at| self.tokens[at].1.as_str());
            // the path in `pub(in crate::layer)` limits the visibility and is no use
            let names_readers = before == "in" && self.at > 1 && self.tokens[self.at - 2].1 == "(";
            let continues = before == "::" || names_readers;
            match self.token(0) {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inline.last() == Some(&depth) {
                        inline.pop();
                    }
                }
                "mod" if self.token(2) == "{" => inline.push(depth),
                "use" => {
                    self.at += 1;
                    self.tree(&[], inline.len(), true, &mut module);
                    continue;
                }
                "crate" | "super" | "self" if !continues && self.token(1) == "::" => {
                    self.tree(&[], inline.len(), false, &mut module);
                    continue;
                }
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static"
                | "macro_rules" => {
                    let name = self.token(if self.token(1) == "!" { 2 } else { 1 }).to_owned();
                    if depth == 0 {
                        module.defined.insert(name);
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        module
    }

    /// Skips the item after a `#[cfg(test)]`.
    fn skip_test(&mut self) {
        self.at += 7;
        while self.token(0) == "#" {
            while self.token(0) != "]" {
                self.at += 1;
            }
            self.at += 1;
        }
        let mut depth = 0;
        while self.at < self.tokens.len() {
            if depth == 0 && self.token(0) == "mod" && self.token(2) == ";" {
                let mut path = self.path.clone();
                path.push(self.token(1).to_owned());
                self.tests.push(path);
            }
            match self.token(0) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            let ends = depth == 0 && matches!(self.token(0), "}" | ";");
            self.at += 1;
            if ends {
                return;
            }
        }
    }

    /// Reads a path or, in a `use` declaration, a tree of paths in braces.
    fn tree(&mut self, before: &[String], inline: usize, declared: bool, module: &mut Module) {
        let mut path = before.to_vec();
        loop {
            let (line, token) = self.tokens.get(self.at).cloned().unwrap_or_default();
            match token.as_str() {
                "{" if declared => {
                    self.at += 1;
                    while self.at < self.tokens.len() && self.token(0) != "}" {
                        if self.token(0) == "," {
                            self.at += 1;
                        } else {
                            self.tree(&path, inline, declared, module);
                        }
                    }
                    self.at += 1;
                    return;
                }
                "*" if declared => {
                    self.at += 1;
                    if let Some(path) = self.absolute(&path, inline) {
                        module.globs.push(path.clone());
                        module.named.push(Named { line, path });
                    }
                    return;
                }
                _ => {
                    path.push(token);
                    self.at += 1;
                }
            }
            // generics end a path in an expression: what follows them belongs to a type and not to
            // a module
            if self.token(0) == "::" && self.token(1) != "<" {
                self.at += 1;
                continue;
            }
            let Some(mut absolute) = self.absolute(&path, inline) else { return };
            if absolute.last().is_some_and(|last| last == "self") {
                absolute.pop();
            }
            if declared {
                let mut name = absolute.last().cloned().unwrap_or_default();
                if self.token(0) == "as" {
                    name = self.token(1).to_owned();
                    self.at += 2;
                }
                module.aliases.insert(name, absolute.clone());
            }
            module.named.push(Named { line, path: absolute });
            return;
        }
    }

    /// Returns the path from the root, or `None` if it belongs to another crate.
    fn absolute(&self, path: &[String], inline: usize) -> Option<Vec<String>> {
        let (mut base, mut inline) = (self.path.clone(), inline);
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    rest = &rest[1..];
                    if inline > 0 {
                        inline -= 1;
                    } else {
                        base.pop();
                    }
                }
            }
            child => {
                base.push(child.to_owned());
                if !self.all.contains(&base) {
                    return None;
                }
                rest = &path[1..];
            }
        }
        Some([&base, rest].concat())
    }
}
