//! `warpbound merge`: merges the results of shards.

use std::path::PathBuf;

use super::sweep::About;
use crate::args::Merge;
use crate::files::results::{Results, read_manifest};
use crate::output::{Ending, Outcome};
use crate::session::Session;
use warpbound_bound as bound;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::sweep::Manifest;

/// Runs the command.
pub fn run(args: &Merge, session: &Session) -> Outcome {
    let mut problems = Diagnostics::new();
    let mut first: Option<Manifest> = None;
    for (index, folder) in args.folders.iter().enumerate() {
        // the same folder may be named in two ways
        let same =
            |other: &PathBuf| other == folder || folder.canonicalize().ok() == other.canonicalize().ok();
        if args.folders[..index].iter().any(same) {
            problems.push(Diagnostic::general(folder.display().to_string(), "this folder is named twice"));
            continue;
        }
        match read_manifest(folder) {
            Ok(manifest) => {
                let known = first.get_or_insert_with(|| manifest.clone());
                if let Some(why) = known.difference(&manifest) {
                    let other = args.folders[0].display();
                    let message = format!("results that are not those of {other}: {why}");
                    problems.push(Diagnostic::general(folder.display().to_string(), message));
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    let first = problems.into_result(first)?.expect("a folder is required");
    let manifest = Manifest { shard: None, ..first };
    let wanted = manifest.points;
    let mut results = Results::open(&args.out, manifest, true, &session.parts)?;
    results.merge(&args.folders)?;
    let mut ending = Ending::default();
    let if_missing = "merge again when the shards are complete";
    let about =
        About { command: "merge", out: &args.out, wanted, lacks: None, if_missing, format: args.format };
    about.conclude(&results, &bound::all(), session, &mut ending, |_| ());
    Ok(ending)
}
