//! The times that accesses to registers need: `isa/latencies.ron`.
//!
//! The file gives each instruction a class and states, for each register file, the number of cycles
//! between an access of an instruction of one class and a later access of one of another class.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::Decoded;
use super::delay_table::Table;
use super::mistake::Mistake;
use warpbound_core::diag::{Diagnostics, SourceText, Texts, from_ron, unique_keys};
use warpbound_core::program::hazards::{Delays, File, Hazard};

#[derive(Deserialize)]
#[serde(rename = "Latencies", deny_unknown_fields)]
struct LatenciesSpec {
    #[allow(dead_code, reason = "for the reader of the file")]
    source: String,
    generations: Vec<GenerationSpec>,
}

#[derive(Clone, Deserialize)]
#[serde(rename = "Generation", deny_unknown_fields)]
struct GenerationSpec {
    name: String,
    targets: Vec<u32>,
    #[allow(dead_code, reason = "for the reader of the file")]
    basis: String,
    /// An earlier generation of the file whose values this one has, unless it states its own.
    #[serde(default)]
    like: Option<String>,
    #[serde(default)]
    signal: Option<u8>,
    /// The instructions of each class. A class that is stated again replaces an inherited one.
    #[serde(default, deserialize_with = "unique_keys")]
    classes: BTreeMap<String, String>,
    /// The instructions that read their sources in order, for each queue.
    #[serde(default)]
    read_in_order: Vec<String>,
    /// The instructions that write their results in order, for each unit.
    #[serde(default)]
    write_in_order: Vec<String>,
    /// The instructions that come behind those of the first of these queues, and hold the warp until
    /// they are complete.
    #[serde(default)]
    holds: String,
    #[serde(default)]
    general: FileSpec,
    #[serde(default)]
    predicate: FileSpec,
    #[serde(default)]
    uniform: FileSpec,
    #[serde(default)]
    uniform_predicate: FileSpec,
}

/// The delays of a register file.
#[derive(Clone, Default, Deserialize)]
#[serde(rename = "File", deny_unknown_fields, default)]
struct FileSpec {
    /// From a write to a read.
    read: Vec<Table>,
    /// From a write to a write.
    write: Vec<Table>,
    /// From a read to a write.
    overwrite: Vec<Table>,
}

/// The classes of the instructions of a generation, and the times that their accesses need.
#[derive(Clone, Debug)]
pub struct Latencies {
    /// The times.
    pub delays: Arc<Delays>,
    /// For the first part of a mnemonic, the further parts and the class of each entry.
    entries: BTreeMap<String, Vec<(Vec<String>, String)>>,
    read_in_order: Vec<String>,
    write_in_order: Vec<String>,
    holds: String,
}

/// The order in which an instruction accesses registers, with regard to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The queue from which it reads its sources, if it is one of several that do so in order.
    pub reads: Option<u8>,
    /// The unit that writes its results, if it is one of several that do so in order.
    pub writes: Option<u8>,
    /// The queue whose instructions have read their sources once the warp continues after it.
    pub holds: Option<u8>,
}

impl Latencies {
    /// Parses the file and returns the latencies of an architecture, or `None` if the file has none
    /// for it.
    ///
    /// # Errors
    /// The text is not such a file, or a value is invalid; there is a diagnostic for each of them.
    pub fn parse_for(source: &SourceText, target: u32) -> Result<Option<Self>, Diagnostics> {
        let spec: LatenciesSpec = from_ron(source)?;
        let Some(index) = spec.generations.iter().position(|g| g.targets.contains(&target)) else {
            return Ok(None);
        };
        let mut mistakes = Vec::new();
        let found = inherited(&spec.generations, index, &mut mistakes);
        let latencies = checked(&found, &mut mistakes);
        let mut problems = Diagnostics::new();
        let texts = Texts::new(source.clone());
        for mistake in mistakes {
            let mistake = mistake.item(index).within("generations").of(&found.name);
            problems.push(mistake.diagnostic(texts.root()));
        }
        problems.into_result(Some(latencies))
    }

    /// Returns the number of a kind of accesses.
    pub fn kind(&self, name: &str) -> Option<u8> {
        self.delays.kinds.iter().position(|kind| kind == name).map(|index| index as u8)
    }

    /// Returns the class of an instruction. Of the entries whose parts the mnemonic has, the one
    /// with the most parts counts.
    pub fn class(&self, d: &Decoded) -> Option<&str> {
        let parts = d.parts();
        let entries = self.entries.get(*parts.first()?)?;
        let fits = entries.iter().filter(|(wanted, _)| wanted.iter().all(|part| parts.contains(&&**part)));
        fits.max_by_key(|(wanted, _)| wanted.len()).map(|(_, class)| class.as_str())
    }

    /// Returns the order in which an instruction accesses registers.
    pub fn order(&self, d: &Decoded) -> Order {
        let name = d.op.name.split('.').next().unwrap_or_default();
        let lists = |list: &str| list.split_whitespace().any(|one| one == name);
        let of = |queues: &[String]| queues.iter().position(|queue| lists(queue)).map(|index| index as u8);
        Order {
            reads: of(&self.read_in_order),
            writes: of(&self.write_in_order),
            holds: lists(&self.holds).then_some(0),
        }
    }
}

/// Returns the generation with the values that it inherits.
fn inherited(all: &[GenerationSpec], index: usize, mistakes: &mut Vec<Mistake>) -> GenerationSpec {
    let own = all[index].clone();
    let Some(name) = &own.like else { return own };
    let Some(base) = all[..index].iter().position(|other| other.name == *name) else {
        mistakes.push(Mistake::new("like", format!("`{name}` is no generation before this one"), ""));
        return own;
    };
    let base = inherited(all, base, mistakes);
    let mut classes = base.classes;
    // an instruction has one class: one that a generation states itself leaves the inherited one
    let stated: Vec<&str> = own.classes.values().flat_map(|text| text.split_whitespace()).collect();
    for text in classes.values_mut() {
        *text = text.split_whitespace().filter(|word| !stated.contains(word)).collect::<Vec<_>>().join(" ");
    }
    for (class, text) in &own.classes {
        let known = classes.entry(class.clone()).or_default();
        *known = format!("{known} {text}");
    }
    let file = |base: FileSpec, own: &FileSpec| FileSpec {
        read: [base.read, own.read.clone()].concat(),
        write: [base.write, own.write.clone()].concat(),
        overwrite: [base.overwrite, own.overwrite.clone()].concat(),
    };
    let queues = |base: Vec<String>, own: &Vec<String>| if own.is_empty() { base } else { own.clone() };
    GenerationSpec {
        classes,
        read_in_order: queues(base.read_in_order, &own.read_in_order),
        write_in_order: queues(base.write_in_order, &own.write_in_order),
        holds: if own.holds.is_empty() { base.holds } else { own.holds.clone() },
        signal: own.signal.or(base.signal),
        general: file(base.general, &own.general),
        predicate: file(base.predicate, &own.predicate),
        uniform: file(base.uniform, &own.uniform),
        uniform_predicate: file(base.uniform_predicate, &own.uniform_predicate),
        ..own
    }
}

fn checked(spec: &GenerationSpec, mistakes: &mut Vec<Mistake>) -> Latencies {
    let files = [
        (File::General, "general", &spec.general),
        (File::Predicate, "predicate", &spec.predicate),
        (File::Uniform, "uniform", &spec.uniform),
        (File::UniformPredicate, "uniform_predicate", &spec.uniform_predicate),
    ];
    let mut kinds: Vec<String> = spec.classes.keys().cloned().collect();
    let tables = files.iter().flat_map(|(.., file)| [&file.read, &file.write, &file.overwrite]).flatten();
    for kind in tables.flat_map(Table::kinds) {
        if !kinds.iter().any(|known| known == kind) {
            kinds.push(kind.to_owned());
        }
    }
    if kinds.len() > usize::from(u8::MAX) {
        mistakes.push(Mistake::new("classes", format!("{} kinds of accesses", kinds.len()), "at most 255"));
        kinds.clear();
    }
    let mut delays = Delays::new(kinds.clone(), spec.signal.unwrap_or(1));
    for (file, name, tables) in files {
        let all = [
            (Hazard::Read, "read", &tables.read),
            (Hazard::Write, "write", &tables.write),
            (Hazard::Overwrite, "overwrite", &tables.overwrite),
        ];
        for (hazard, field, tables) in all {
            for table in tables {
                let wrong = table.fill(&kinds, |pair, delay| delays.set(file, hazard, pair, delay));
                mistakes.extend(wrong.into_iter().map(|wrong| wrong.within(field).within(name)));
            }
        }
    }
    Latencies {
        delays: Arc::new(delays),
        entries: entries(spec, mistakes),
        read_in_order: spec.read_in_order.clone(),
        write_in_order: spec.write_in_order.clone(),
        holds: spec.holds.clone(),
    }
}

/// Returns the entries of classes by the first part of their mnemonics.
fn entries(
    spec: &GenerationSpec,
    mistakes: &mut Vec<Mistake>,
) -> BTreeMap<String, Vec<(Vec<String>, String)>> {
    let mut entries: BTreeMap<String, Vec<(Vec<String>, String)>> = BTreeMap::new();
    for (class, text) in &spec.classes {
        for mnemonic in text.split_whitespace() {
            let parts: Vec<String> = mnemonic.split('.').map(str::to_owned).collect();
            let known = entries.entry(parts[0].clone()).or_default();
            if let Some((_, other)) = known.iter().find(|(other, _)| *other == parts) {
                let message = format!("{mnemonic} is in the classes `{other}` and `{class}`");
                mistakes.push(Mistake::new("classes", message, "an instruction has one class"));
            }
            known.push((parts, class.clone()));
        }
    }
    entries
}
