//! The terms that `explain` prints, and their explanations, which are rows of tables of the book.
//!
//! Tests compare the rows with the code: each policy, bound, part, stall reason, cause and unit that
//! outputs can name has a row.

use serde::Serialize;

use super::book::{self, Page};
use super::output::{Output, Report};
use super::style::Style;

/// What `explain` prints.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Terms {
    /// The terms.
    pub terms: Vec<Term>,
    /// Whether the text lists names only.
    #[serde(skip)]
    pub names_only: bool,
}

/// A term and its explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Term {
    /// What the term names.
    pub kind: Kind,
    /// The names; outputs print the first one.
    pub names: Vec<String>,
    /// The explanation.
    pub meaning: String,
    /// Properties, such as the type, the unit and the default of a setting.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// The page of the book that explains it.
    pub page: &'static str,
}

/// A property of a term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fact {
    /// The name of the property.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

/// What a term names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A term of the glossary.
    Term,
    /// A policy.
    Policy,
    /// A bound.
    Bound,
    /// A part of a bound.
    Part,
    /// A method that `wcet` compares.
    Method,
    /// A stall reason.
    StallReason,
    /// A cause on the critical path.
    Cause,
    /// A functional unit.
    Unit,
    /// A statistical test of `pwcet`.
    Test,
    /// A setting of a machine.
    Setting,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Term,
        Self::Policy,
        Self::Bound,
        Self::Part,
        Self::Method,
        Self::StallReason,
        Self::Cause,
        Self::Unit,
        Self::Test,
        Self::Setting,
    ];

    /// Returns what a term of this kind is, and the heading of several.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Term => ("term", "terms"),
            Self::Policy => ("policy", "policies"),
            Self::Bound => ("bound", "bounds"),
            Self::Part => ("part of bounds", "parts of bounds"),
            Self::Method => ("method of wcet", "methods of wcet"),
            Self::StallReason => ("stall reason", "stall reasons"),
            Self::Cause => ("cause on the critical path", "causes on the critical path"),
            Self::Unit => ("functional unit", "functional units"),
            Self::Test => ("test of pwcet", "tests of pwcet"),
            Self::Setting => {
                ("setting of machines", "settings of machines, which `explain` lists field by field")
            }
        }
    }

    /// Returns all terms of this kind.
    fn terms(self) -> Vec<Term> {
        let rows = |page: Page, head: [&str; 2]| -> Vec<Term> {
            let term = |[names, meaning]: [String; 2]| self.term(page, &names, meaning, Vec::new());
            page.table(head).into_iter().map(term).collect()
        };
        // tables with one column more, which is a fact about the term
        let with_fact = |page: Page, head: [&str; 3], fact: &'static str| -> Vec<Term> {
            let term = |[names, second, third]: [String; 3]| {
                let (meaning, value) = if head[1] == fact { (third, second) } else { (second, third) };
                self.term(page, &names, meaning, vec![(fact, value)])
            };
            page.table(head).into_iter().map(term).collect()
        };
        match self {
            Self::Term => rows(book::GLOSSARY, ["term", "meaning"]),
            Self::Method => rows(book::NAMES, ["method", "what it states"]),
            Self::StallReason => rows(book::NAMES, ["stall reason", "what happens in the cycle"]),
            Self::Cause => rows(book::NAMES, ["cause", "what happens in these cycles"]),
            Self::Unit => rows(book::NAMES, ["functional unit", "what it executes"]),
            Self::Test => with_fact(book::NAMES, ["test", "what it examines", "condition"], "condition"),
            Self::Policy => {
                let head = ["policy", "which warp issues", "work conserving"];
                with_fact(book::POLICIES, head, "work conserving")
            }
            Self::Bound => with_fact(book::BOUNDS, ["bound", "standing", "what it is"], "standing"),
            Self::Part => with_fact(book::BOUNDS, ["part", "in", "cycles"], "in"),
            Self::Setting => settings(),
        }
    }

    fn term(self, page: Page, names: &str, meaning: String, facts: Vec<(&'static str, String)>) -> Term {
        let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
        let facts = facts.map(|(name, value)| Fact { name, value }).collect();
        let mut names = book::names(names);
        // the forms of policies with an argument
        let bare = names[0].split_once(':').map(|(bare, _)| bare.to_owned());
        names.extend(bare);
        Term { kind: self, names, meaning, facts, page: page.path }
    }
}

/// Returns the settings, each with the fields that it has.
fn settings() -> Vec<Term> {
    let rows = book::SETTINGS.table(["setting", "type", "unit", "default", "meaning"]);
    let paths: Vec<String> = rows.iter().map(|row| row[0].replace('`', "")).collect();
    let setting = |[path, form, unit, default, meaning]: [String; 5]| {
        let within = format!("{}.", path.replace('`', ""));
        let fields = paths.iter().filter_map(|path| path.strip_prefix(&within));
        let fields: Vec<&str> = fields.filter(|field| !field.contains('.')).collect();
        let facts = vec![("type", form), ("unit", unit), ("default", default), ("fields", fields.join(", "))];
        Kind::Setting.term(book::SETTINGS, &path, meaning, facts)
    };
    rows.into_iter().map(setting).collect()
}

/// Returns all terms, by kind.
pub fn all() -> Vec<Term> {
    Kind::ALL.into_iter().flat_map(Kind::terms).collect()
}

/// Returns the explanation of a policy, as outputs name it.
pub fn of_policy(name: &str) -> String {
    let found = Kind::Policy.terms().into_iter().find(|term| term.names[0] == name);
    found.map_or_else(String::new, |term| term.meaning)
}

/// Returns the terms of all kinds that have this name, without regard to case, spaces, hyphens and
/// underscores, and to the plural. The last part of the path of a setting is a name of it, too.
pub fn find(name: &str) -> Vec<Term> {
    let singular = name.strip_suffix('s').unwrap_or(name);
    let all = all();
    // outputs name a part after its bound, and a unit after the part
    let words: Vec<&str> = name.split_whitespace().collect();
    if let [bound, part, ..] = words[..]
        && all.iter().any(|term| term.kind == Kind::Bound && term.is_called(bound))
    {
        let kind = |term: &&Term| match term.kind {
            Kind::Bound => term.is_called(bound),
            Kind::Part => term.is_called(part) || term.is_called(&words[1..].join(" ")),
            _ => false,
        };
        return all.iter().filter(kind).cloned().collect();
    }
    let is_meant =
        |term: &&Term| term.is_called(name) || (term.kind != Kind::Setting && term.is_called(singular));
    all.iter().filter(is_meant).cloned().collect()
}

/// Returns names of terms that resemble a word, the best one first.
pub fn nearest(word: &str) -> Vec<String> {
    let all = all();
    let mut names: Vec<&str> = all.iter().flat_map(|term| &term.names).map(String::as_str).collect();
    // fields of settings are names, too
    let settings = all.iter().filter(|term| term.kind == Kind::Setting);
    names.extend(settings.filter_map(|term| term.names[0].rsplit('.').next()));
    let mut found = Vec::new();
    while let Some(near) = warpbound_core::diag::closest(word, names.iter().copied()) {
        found.push(near.to_owned());
        names.retain(|name| folded(name) != folded(near));
        if found.len() == 3 {
            break;
        }
    }
    found
}

/// Returns a name in the form in which names are compared.
fn folded(name: &str) -> String {
    name.to_lowercase().replace([' ', '-', '_'], "")
}

impl Term {
    fn is_called(&self, wanted: &str) -> bool {
        let mut wanted = folded(wanted);
        if self.kind == Kind::Policy && self.names[0].contains(':') {
            // the argument of a policy is anything
            wanted.truncate(wanted.find(':').unwrap_or(wanted.len()));
        }
        if self.kind != Kind::Setting {
            return self.names.iter().any(|name| folded(name) == wanted);
        }
        let path = folded(&self.names[0]);
        let last = path.rsplit('.').next().unwrap_or_default();
        path == wanted || last == wanted || is_instance(&path, &wanted)
    }

    fn text(&self, style: Style) -> String {
        let (kind, _) = self.kind.words();
        let name = style.strong(&self.names[0]);
        let others = match &self.names[1..] {
            [] => String::new(),
            others => format!(", or {}", others.join(", ")),
        };
        let mut text = format!("{name}{others} ({kind})\n");
        text.push_str(&style.fill(&format!("  {}\n", self.meaning)));
        for Fact { name, value } in &self.facts {
            text.push_str(&style.fill(&format!("  {name}: {value}\n")));
        }
        text + &format!("  see {}\n", self.page)
    }
}

/// Returns whether a path leads to the setting with this path for some unit or op class, whose names
/// may contain dots.
fn is_instance(setting: &str, path: &str) -> bool {
    let fields = ["init", "lat", "shared", "source", "unit"];
    [("units.", "unit"), ("ops.", "class")].iter().any(|(before, placeholder)| {
        let after = setting.strip_prefix(before).and_then(|rest| rest.strip_prefix(placeholder));
        let Some(after) = after else { return false };
        let name = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        // a field of an entry is not the entry
        let is_field = |name: &str| fields.iter().any(|field| name.ends_with(&format!(".{field}")));
        // the names of op classes contain dots, those of units do not
        let fits = |name: &str| !name.is_empty() && (*placeholder == "class" || !name.contains('.'));
        name.is_some_and(|name| fits(name) && !(after.is_empty() && is_field(name)))
    })
}

impl Report for Output<Terms> {
    fn text(&self, style: Style) -> String {
        self.results.iter().map(|terms| terms.text(style)).collect()
    }
}

impl Terms {
    fn text(&self, style: Style) -> String {
        if !self.names_only {
            return self.terms.iter().map(|term| term.text(style)).collect::<Vec<_>>().join("\n");
        }
        let mut text = String::new();
        for kind in Kind::ALL {
            let names = self.terms.iter().filter(|term| term.kind == kind).flat_map(|term| &term.names);
            // the explanation of a setting lists its fields
            let names = names.map(String::as_str).filter(|name| !name.contains('.'));
            let names: Vec<&str> = names.collect();
            if names.is_empty() {
                continue;
            }
            text.push_str(&format!("{}\n", style.strong(kind.words().1)));
            text.push_str(&style.fill(&format!("  {}\n\n", names.join(", "))));
        }
        text + "`warpbound explain TERM` explains one of them.\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_bound as bound;
    use warpbound_core::machine::PolicyKind;
    use warpbound_trace::{trace::StallReason, why};

    /// Returns the explanations of a kind by their first names.
    fn explained(kind: Kind) -> Vec<(String, String)> {
        kind.terms().into_iter().map(|term| (term.names[0].clone(), term.meaning)).collect()
    }

    fn names(kind: Kind) -> Vec<String> {
        explained(kind).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn bounds_and_parts_are_those_of_the_code() {
        let bounds = bound::all();
        let of_code: Vec<(String, String)> =
            bounds.iter().map(|bound| (bound.name().to_owned(), bound.summary().to_owned())).collect();
        assert_eq!(explained(Kind::Bound), of_code, "docs/bounds.md has the summaries of the bounds");
        for (term, bound) in Kind::Bound.terms().iter().zip(&bounds) {
            assert!(term.facts[0].value.starts_with(bound.standing().name()), "{term:?}");
        }
        assert_eq!(names(Kind::Part), bound::Part::ALL.map(|part| part.name().to_owned()));
    }

    #[test]
    fn policies_are_those_of_the_code() {
        let mut known: Vec<String> = PolicyKind::NAMED.iter().map(ToString::to_string).collect();
        known.extend(["random:SEED".to_owned(), "replay:FILE".to_owned()]);
        let mut rows = names(Kind::Policy);
        rows.sort();
        known.sort();
        assert_eq!(rows, known);
        for term in Kind::Policy.terms() {
            let policy: PolicyKind = term.names[0].replace("SEED", "1").parse().unwrap();
            let conserving = match policy.work_conserving() {
                Some(true) => "yes",
                Some(false) => "no",
                None => "depends on the file",
            };
            assert_eq!(term.facts[0].value, conserving, "{policy}");
        }
    }

    #[test]
    fn stall_reasons_and_causes_are_those_of_the_code() {
        assert_eq!(names(Kind::StallReason), StallReason::ALL.map(|reason| reason.name().to_owned()));
        let causes = why::Kind::ALL.map(|kind| (kind.name().to_owned(), kind.meaning().to_owned()));
        assert_eq!(explained(Kind::Cause), causes);
    }

    #[test]
    fn names_are_found_in_every_spelling_and_of_every_kind() {
        let kinds = |name: &str| find(name).iter().map(|term| term.kind).collect::<Vec<_>>();
        for spelling in ["not-my-turn", "Not My Turn", "NOT_MY_TURN"] {
            assert_eq!(kinds(spelling), [Kind::StallReason], "{spelling}");
        }
        assert_eq!(kinds("barrier"), [Kind::StallReason, Kind::Cause, Kind::Unit]);
        assert_eq!(kinds("random"), [Kind::Policy]);
        assert_eq!(kinds("random:7"), [Kind::Policy]);
        assert_eq!(kinds("warps"), [Kind::Term, Kind::Setting]);
        assert_eq!(kinds("CTAs"), [Kind::Term]);
        assert_eq!(kinds("nonsense"), []);
        assert!(nearest("scorebord").contains(&"scoreboard".to_owned()));
    }

    #[test]
    fn settings_are_found_by_their_paths() {
        let only = |path: &str| -> Vec<String> {
            find(path).into_iter().map(|term| term.names[0].clone()).collect()
        };
        assert_eq!(only("units.gmem.lat"), ["units.UNIT.lat"]);
        assert_eq!(only("units.gmem"), ["units.UNIT"]);
        assert_eq!(only("ops.int.div.init"), ["ops.CLASS.init"]);
        assert_eq!(only("ops.int.div"), ["ops.CLASS"]);
        assert_eq!(only("Pipeline.Front-End.Buffer"), ["pipeline.front_end.buffer"]);
        assert_eq!(only("per_warp"), ["pipeline.issue.per_warp"]);
        let term = &find("limits.blocks")[0];
        let facts: Vec<(&str, &str)> =
            term.facts.iter().map(|fact| (fact.name, fact.value.as_str())).collect();
        assert_eq!(facts, [("type", "integer"), ("unit", "blocks"), ("default", "1")]);
        let fields = find("pipeline.issue")[0].facts.last().unwrap().value.clone();
        assert_eq!(fields, "distinct_units, per_warp, rotate");
    }

    #[test]
    fn every_term_has_an_explanation() {
        let all = all();
        assert!(all.len() > 250, "{} terms", all.len());
        for term in &all {
            assert!(term.meaning.len() > 5 && !term.names.is_empty(), "{term:?}");
            assert!(!term.meaning.contains(['`', '[']) || term.kind == Kind::Setting, "{term:?}");
            assert!(term.names.iter().all(|name| find(name).contains(term)), "{term:?}");
        }
    }
}
