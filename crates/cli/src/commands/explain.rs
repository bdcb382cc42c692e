//! `warpbound explain`: prints what a term means.

use crate::args::Explain;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::diag::Diagnostic;
use warpbound_judge::load::EmbeddedFolder;
use warpbound_report::output::Output;
use warpbound_report::terms::{self, Terms};

/// Runs the command.
pub fn run(args: &Explain, session: &Session) -> Outcome {
    let word = args.term.join(" ");
    let terms = if word.is_empty() { terms::all() } else { terms::find(&word) };
    if terms.is_empty() {
        return Err(unknown(&word).into());
    }
    let terms = Terms { terms, names_only: word.is_empty() };
    output::report(session, args.format, &Output::new("explain", None, vec![terms]))
}

fn unknown(word: &str) -> Diagnostic {
    let folders = [
        (EmbeddedFolder::Kernels, "kernels"),
        (EmbeddedFolder::Configs, "machines"),
        (EmbeddedFolder::Plans, "plans"),
    ];
    let problem = Diagnostic::general("explain", format!("no term `{word}`"));
    if let Some((_, kind)) = folders.iter().find(|(folder, _)| folder.find(word).is_some()) {
        return problem.hint(format!("`warpbound list {kind} {word}` says what it is"));
    }
    let near: Vec<String> = terms::nearest(word).iter().map(|name| format!("`{name}`")).collect();
    let near = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) };
    problem.hint(format!("{near}`warpbound explain` lists all terms"))
}
