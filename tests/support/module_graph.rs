//! Which module of `src/` uses which, read from the text of the sources.
//!
//! Every path that begins with `crate`, `super` or `self`, in a `use` or anywhere else, and every `use` of a
//! child is followed to the module that defines what it names: through re-exports and private imports too,
//! so that `super::Thing` leads to the file of `Thing` and not to the `mod.rs` that passes it on. Tests
//! (`#[cfg(test)]`), comments and strings do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// A module by its path from the root of the crate: `["machine", "used"]`.
pub type ModulePath = Vec<String>;

/// Something that a module names.
#[derive(Clone, Debug)]
struct Named {
    line: usize,
    /// From the root of the crate.
    path: Vec<String>,
}

#[derive(Debug, Default)]
struct Module {
    file: String,
    named: Vec<Named>,
    /// What its `use` declarations call by a name of this module.
    aliases: BTreeMap<String, Vec<String>>,
    /// Modules of which it imports everything.
    globs: Vec<Vec<String>>,
    /// Words that follow `fn`, `struct`, `enum` and so on.
    defined: BTreeSet<String>,
}

/// One use of a module by another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    pub from: ModulePath,
    pub to: ModulePath,
    /// `file:line: path`.
    pub place: String,
}

/// Modules of one folder that use each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    pub folder: String,
    pub modules: Vec<String>,
    /// Where they do.
    pub places: Vec<String>,
}

/// The modules of a crate.
#[derive(Debug, Default)]
pub struct Modules(BTreeMap<ModulePath, Module>);

impl Modules {
    /// Reads every module below a folder; files directly in it, such as `lib.rs`, belong to none.
    pub fn read(root: &Path) -> Self {
        let mut texts = Vec::new();
        collect(root, &mut Vec::new(), &mut texts);
        Self::of(&texts)
    }

    /// Of files, each with its path from the root and its text.
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

    /// Every use of one module by another.
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

    /// The circles among the modules of each folder: of modules of which each uses the next, whatever lies
    /// in them, and the last the first. `is_looked_at` is asked with the first folder, the layer.
    pub fn circles(&self, is_looked_at: impl Fn(&str) -> bool) -> Vec<Circle> {
        let mut folders: BTreeMap<ModulePath, Vec<(String, String, String)>> = BTreeMap::new();
        for Use { from, to, place } in self.uses() {
            let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
            // layers have a rule of their own, and what is above or below is no sibling
            if common > 0
                && let (Some(one), Some(other)) = (from.get(common), to.get(common))
                && is_looked_at(&from[0])
            {
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

    /// The module that defines what a path names.
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

/// `machine/used/mod.rs` is `machine::used`; what lies in the root is nobody's.
fn module_of(file: &str) -> Option<ModulePath> {
    let path = file.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    (file.contains('/')).then(|| path.split('/').map(str::to_owned).collect())
}

/// Words, `::`, and every other character that is not white space, with their lines.
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
            // a character, or a lifetime
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

/// How many hashes a raw string begins with, if these characters, behind an `r`, begin one.
fn raw_hashes(chars: &[char]) -> Option<usize> {
    let hashes = chars.iter().take_while(|&&c| c == '#').count();
    (chars.get(hashes) == Some(&'"')).then_some(hashes)
}

struct Reader<'a> {
    tokens: Vec<(usize, String)>,
    at: usize,
    path: &'a ModulePath,
    all: &'a BTreeSet<ModulePath>,
    /// Modules that are there for tests only.
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
        // inline modules that are open, by the depth of their braces
        let mut inline: Vec<usize> = Vec::new();
        while self.at < self.tokens.len() {
            if self.are(&["#", "[", "cfg", "(", "test", ")", "]"]) {
                self.skip_test();
                continue;
            }
            let before = self.at.checked_sub(1).map_or("", |at| self.tokens[at].1.as_str());
            // `pub(in crate::layer)` says who may see something, and uses nothing
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

    /// Past the item that a `#[cfg(test)]` stands before.
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

    /// A path or, where a `use` declares it, several in braces.
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
            // generics of a path in an expression end it: what follows them is no module's
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

    /// From the root; `None` for another crate's.
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
