//! `warpbound list`: lists what is embedded.

use crate::args::List;
use crate::listing;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::diag::Diagnostic;
use warpbound_report::list::Kind;
use warpbound_report::output::Output;

/// Runs the command.
pub fn run(args: &List, session: &Session) -> Outcome {
    let mut listing = listing::collect()?;
    let (kind, words) = kind_and_words(&args.words);
    listing.retain(kind, words);
    if listing.is_empty() {
        let what = kind.map_or("lines", Kind::name);
        let problem = Diagnostic::general("list", format!("no {what} with `{}`", words.join("` and `")));
        return Err(problem.hint("every word has to be in the name or the description").into());
    }
    output::report(session, args.format, &Output::new("list", None, vec![listing]))
}

/// Splits the arguments: the first one is a kind if it is the name of one.
fn kind_and_words(words: &[String]) -> (Option<Kind>, &[String]) {
    // the singular is a kind, too
    let is_kind = |kind: &Kind, word: &str| {
        let singular = kind.name().strip_suffix("ies").map(|stem| format!("{stem}y"));
        kind.name() == word
            || singular.unwrap_or_else(|| kind.name().trim_end_matches('s').to_owned()) == word
    };
    let named = |word: &String| Kind::ALL.into_iter().find(|kind| is_kind(kind, word));
    match words.split_first().and_then(|(first, rest)| Some((named(first)?, rest))) {
        Some((kind, rest)) => (Some(kind), rest),
        None => (None, words),
    }
}
