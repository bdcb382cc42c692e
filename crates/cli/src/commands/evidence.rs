//! `warpbound evidence`: checks bounds on every block of a small grammar.

use std::ops::Range;

use crate::args::Evidence;
use crate::output::{Ending, Outcome};
use crate::resources;
use crate::session::Session;
use warpbound_bound::{Bound, Gub, Iwb, Lwb, Standing, Swb};
use warpbound_core::diag::Diagnostic;
use warpbound_judge::explore::grammar::Grammar;
use warpbound_report::evidence::EvidenceResult;
use warpbound_report::output::{Batch, Output};

/// Runs the command. Exit code 3 is reserved for a violated proved bound; that GUB fails is known.
pub fn run(args: &Evidence, session: &Session) -> Outcome {
    let place = format!("--warps {} --instructions {}", args.warps, args.instructions);
    let grammar = Grammar::new(args.warps, args.instructions)
        .map_err(|error| Diagnostic::general(place, error.to_string()))?;
    let range = range(args, grammar.blocks())?;
    let bounds: [&(dyn Bound + Sync); 4] = [&Gub, &Iwb, &Swb, &Lwb];
    let total = range.end - range.start;
    session.progress.begin("enumerating", Some(total), "blocks");
    let jobs = args.jobs.unwrap_or_else(resources::threads);
    let summary = grammar.enumerate(range, jobs, &bounds, &session.monitor)?;
    let proved = bounds.iter().zip(&summary.bounds).filter(|(bound, _)| bound.standing() == Standing::Proved);
    let broken = proved.into_iter().any(|(_, tally)| tally.violated > 0 || tally.warp_violated > 0);
    let batch = match summary.blocks < total {
        true => Batch::stopped(session.stopped()),
        false => Batch::default(),
    };
    let result = EvidenceResult::new(&grammar, args.warps, args.instructions, &summary, total);
    let output = Output::of_batch("evidence", None, vec![result], batch);
    let mut ending = Ending { violated: broken, ..Ending::default() };
    ending.report(session, args.format, &output);
    Ok(ending)
}

fn range(args: &Evidence, blocks: u64) -> Result<Range<u64>, Diagnostic> {
    let Some(text) = &args.range else { return Ok(0..blocks) };
    let parsed =
        text.split_once("..").and_then(|(from, to)| Some(from.trim().parse().ok()?..to.trim().parse().ok()?));
    let wrong = |message: &str| {
        Diagnostic::general(format!("--range {text}"), message)
            .hint(format!("this grammar has the blocks 0..{blocks}"))
    };
    let range: Range<u64> = parsed.ok_or_else(|| wrong("expected FROM..TO"))?;
    if range.start > range.end {
        return Err(wrong("the range is empty: its first block is after its end"));
    }
    if range.end > blocks {
        return Err(wrong("the range ends after the last block"));
    }
    Ok(range)
}
