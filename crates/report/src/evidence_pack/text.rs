//! The README of a pack.

use std::fmt::Write;

use super::{Claim, EvidencePack, PremiseStatus};
use crate::count;
use crate::grouped;

/// Returns the text of `README.md`.
pub fn readme(pack: &EvidencePack) -> String {
    let mut text = String::from("# Evidence for bounds on execution times\n\n");
    let tool = &pack.tool;
    let commit = tool.commit.map_or_else(|| "the build does not state it".to_owned(), str::to_owned);
    let _ = writeln!(text, "Made by {} {} (commit: {commit}).\n", tool.name, tool.version);
    text.push_str(
        "* `index.html` shows everything in a browser.\n\
         * `evidence.json` has the same as data; `schemas/evidence-pack.json` of the program describes it.\n\
         * `SHA256SUMS` has the digest of every other file; `sha256sum -c SHA256SUMS` compares them.\n\
         * Each claim has a folder with the files that it is about.\n\n",
    );
    for claim in &pack.claims {
        text.push_str(&of_claim(claim));
    }
    text.push_str("## What this does not show\n\n");
    for line in &pack.not_shown {
        let _ = writeln!(text, "* {line}");
    }
    text
}

fn of_claim(claim: &Claim) -> String {
    let mut text = format!("## {}\n\n{}\n\n", claim.id, claim.statement);
    let with = |status: PremiseStatus| {
        claim.premises.iter().filter(move |premise| premise.status == status).collect::<Vec<_>>()
    };
    let (holds, broken) = (with(PremiseStatus::Holds), with(PremiseStatus::Broken));
    let (open, argued) = (with(PremiseStatus::NotExamined), with(PremiseStatus::ToBeArgued));
    let _ = writeln!(
        text,
        "{}: {} hold, {} broken, {} not examined, {} to be argued outside of the program.\n",
        count(claim.premises.len(), "premise"),
        holds.len(),
        broken.len(),
        open.len(),
        argued.len()
    );
    for premise in broken.iter().chain(&open) {
        let _ = writeln!(text, "* {}: {} {}", premise.status.text(), premise.premise, premise.finding);
    }
    if !(broken.is_empty() && open.is_empty()) {
        text.push('\n');
    }
    if let Some(derivation) = &claim.derivation {
        let _ = writeln!(
            text,
            "{} = {} cycles: {}.",
            derivation.bound,
            grouped(derivation.value),
            derivation.summary
        );
        for part in &derivation.parts {
            let _ = writeln!(text, "* {}: {} cycles", part.name(), grouped(part.cycles));
        }
        let _ = writeln!(text, "{}\n", derivation.remark);
    }
    let _ = writeln!(text, "To be run in the folder `{}`:\n", claim.id);
    for replay in &claim.replays {
        let _ = writeln!(text, "* {}\n\n      {}\n", replay.what, replay.command);
    }
    text
}
