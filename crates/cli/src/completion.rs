//! The completion of command lines in shells.
//!
//! The script that a shell loads runs the program with the variable `WARPBOUND_COMPLETE`, the words
//! of the line and the position of the cursor. So the script does not change with the commands, and
//! the candidates are those of the installed version.

use std::ffi::OsStr;

use std::io;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::{CompleteEnv, Shells};

use super::args::Args;
use super::listing;
use warpbound_report::list::Kind;
use warpbound_report::{schema_files, terms};

/// The variable that requests candidates; its value is the name of the shell.
const REQUEST: &str = "WARPBOUND_COMPLETE";

/// Prints the candidates and ends the process, if a shell requests them.
pub fn answer() {
    if std::env::var_os(REQUEST).is_some() {
        CompleteEnv::with_factory(command).var(REQUEST).bin("warpbound").completer("warpbound").complete();
    }
}

/// Returns the script for a shell.
pub fn script(shell: &str) -> io::Result<String> {
    let shells = Shells::builtins();
    let shell =
        shells.completer(shell).ok_or_else(|| io::Error::other("there is no script for this shell"))?;
    let mut script = Vec::new();
    shell.write_registration(REQUEST, "warpbound", "warpbound", "warpbound", &mut script)?;
    String::from_utf8(script).map_err(io::Error::other)
}

/// Returns the command line with the completion of the values of its options.
fn command() -> Command {
    with_candidates(Args::command())
}

fn with_candidates(command: Command) -> Command {
    command.mut_args(with_values).mut_subcommands(with_candidates)
}

/// Adds the completion to an option or argument whose values have names.
fn with_values(arg: Arg) -> Arg {
    match values(arg.get_id().as_str()) {
        Some(values) => arg.add(ArgValueCompleter::new(values)),
        None => arg,
    }
}

/// Returns names, each with a description.
type Names = fn() -> Vec<(String, String)>;

/// The values of an option: names, of which there may be several with commas between them, and files.
#[derive(Clone, Copy, Debug)]
struct Values {
    /// The names.
    names: Names,
    /// Whether a list with commas is accepted.
    lists: bool,
    /// Whether a file is accepted.
    files: bool,
}

/// Returns the values of the option or argument with this id.
fn values(id: &str) -> Option<Values> {
    let (names, lists, files): (Names, bool, bool) = match id {
        "kernel" | "kernels" | "file" => (kernels, false, true),
        "machine" => (machines, true, true),
        "policy" => (policies, true, false),
        "bound" => (bounds, true, false),
        "plan" => (plans, false, true),
        "set" => (settings, false, false),
        "over" => (settings_to_vary, false, false),
        "a" | "b" => (kernels, false, true),
        "term" => (all_terms, false, false),
        "words" => (kinds, false, false),
        "schema" => (schemas, false, false),
        _ => return None,
    };
    Some(Values { names, lists, files })
}

impl ValueCompleter for Values {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let Some(text) = current.to_str() else { return Vec::new() };
        let (before, word) = match text.rfind(',') {
            Some(comma) if self.lists => text.split_at(comma + 1),
            _ => ("", text),
        };
        let names = (self.names)().into_iter().filter(|(name, _)| name.starts_with(word));
        let candidate = |(name, doc): (String, String)| {
            let candidate = CompletionCandidate::new(format!("{before}{name}"));
            candidate.help((!doc.is_empty()).then(|| doc.into()))
        };
        let mut found: Vec<CompletionCandidate> = names.map(candidate).collect();
        if self.files {
            let files = PathCompleter::any().complete(current).into_iter();
            found.extend(files.filter(|file| is_plain(file.get_value())));
        }
        found
    }
}

/// Returns whether a shell takes a file name as it is. The scripts insert candidates without quotation
/// marks, so that any other name could be several words, or a command.
fn is_plain(name: &OsStr) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-+,:@%/=".contains(c);
    name.to_str().is_some_and(|name| name.chars().all(plain))
}

/// Returns the lines of a kind in `list`.
fn listed(kind: Kind) -> Vec<(String, String)> {
    let Ok(mut listing) = listing::collect() else { return Vec::new() };
    listing.retain(Some(kind), &[]);
    let kernels = listing.kernels.into_iter().map(|one| (one.name, one.doc));
    let machines = listing.machines.into_iter().map(|one| (one.name, one.doc));
    let plans = listing.plans.into_iter().map(|one| (one.name, one.doc));
    // the argument of a policy is left to the user
    let policy = |name: String| name.split_inclusive(':').next().unwrap_or_default().to_owned();
    let policies = listing.policies.into_iter().map(|one| (policy(one.name), one.doc));
    let bounds = listing.bounds.into_iter().map(|one| (one.name.to_owned(), one.doc.to_owned()));
    kernels.chain(machines).chain(plans).chain(policies).chain(bounds).collect()
}

fn kernels() -> Vec<(String, String)> {
    listed(Kind::Kernels)
}

fn machines() -> Vec<(String, String)> {
    listed(Kind::Machines)
}

fn policies() -> Vec<(String, String)> {
    listed(Kind::Policies)
}

fn bounds() -> Vec<(String, String)> {
    listed(Kind::Bounds)
}

fn plans() -> Vec<(String, String)> {
    listed(Kind::Plans)
}

/// Returns the paths of settings with the units and op classes of the default machine.
fn settings() -> Vec<(String, String)> {
    let machine = super::files::loader().machine(warpbound_judge::load::DEFAULT_MACHINE).ok();
    let units = machine.iter().flat_map(|machine| machine.units());
    let units: Vec<String> = units.map(|unit| unit.name.clone()).collect();
    let settings = terms::all().into_iter().filter(|term| term.kind == terms::Kind::Setting);
    let paths = settings.flat_map(|term| {
        let path = term.names[0].clone();
        let paths = match path.strip_prefix("units.UNIT") {
            Some(field) => units.iter().map(|unit| format!("units.{unit}{field}")).collect(),
            None => vec![path],
        };
        paths.into_iter().map(move |path| (format!("{path}="), term.meaning.clone())).collect::<Vec<_>>()
    });
    paths.filter(|(path, _)| !path.contains("CLASS")).collect()
}

fn settings_to_vary() -> Vec<(String, String)> {
    let latency = ("mem_latency=".to_owned(), "the total latency of a global load".to_owned());
    std::iter::once(latency).chain(settings()).collect()
}

fn all_terms() -> Vec<(String, String)> {
    terms::all().into_iter().map(|term| (term.names[0].clone(), term.meaning)).collect()
}

fn kinds() -> Vec<(String, String)> {
    Kind::ALL.into_iter().map(|kind| (kind.name().to_owned(), String::new())).collect()
}

fn schemas() -> Vec<(String, String)> {
    schema_files::names().into_iter().map(|name| (name.to_owned(), String::new())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the candidates for a word of an option.
    fn candidates(id: &str, word: &str) -> Vec<String> {
        let found = values(id).expect("it has names").complete(OsStr::new(word));
        found.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn names_are_completed() {
        assert_eq!(candidates("kernels", "saxp"), ["saxpy"]);
        assert_eq!(candidates("machine", "ecrts25-orin,kep"), ["ecrts25-orin,kepler-gk104"]);
        assert_eq!(candidates("policy", "gto,ra"), ["gto,random:"]);
        assert_eq!(candidates("bound", "rb"), ["rbb"]);
        assert_eq!(candidates("plan", "table4"), ["table4"]);
        assert_eq!(candidates("set", "units.gmem.l"), ["units.gmem.lat="]);
        assert_eq!(candidates("set", "pipeline.front_end.b"), ["pipeline.front_end.buffer="]);
        assert_eq!(candidates("over", "mem_l"), ["mem_latency="]);
        assert_eq!(candidates("a", "saxp"), ["saxpy"]);
        assert_eq!(candidates("term", "score"), ["scoreboard"]);
        assert_eq!(candidates("words", "mach"), ["machines"]);
        assert_eq!(candidates("schema", "phas"), ["phases"]);
    }

    #[test]
    fn the_named_options_exist() {
        let command = Args::command();
        let actions = command.get_subcommands().flat_map(Command::get_subcommands);
        let commands: Vec<&Command> = command.get_subcommands().chain(actions).collect();
        for id in [
            "kernel", "kernels", "file", "machine", "policy", "bound", "plan", "set", "over", "a", "b",
            "term", "words", "schema",
        ] {
            let has = |command: &&Command| command.get_arguments().any(|arg| arg.get_id() == id);
            assert!(commands.iter().any(has), "no command has {id}");
        }
    }
}
