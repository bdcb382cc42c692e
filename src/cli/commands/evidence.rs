//! `warpbound evidence`: every block of a small grammar against the bounds.

use std::ops::Range;

use serde_json::{Value, json};

use crate::bound::{Bound, Gub, Iwb, Lwb, Standing, Swb};
use crate::cli::args::Evidence;
use crate::cli::load;
use crate::cli::output::{Ending, Format, Outcome};
use crate::cli::session::Session;
use crate::diag::Diagnostic;
use crate::explore::grammar::{Grammar, Summary, Tally};
use crate::report::json::SCHEMA;
use crate::report::style::Style;
use crate::report::table::Table;

/// Runs the command. Exit code 3 is kept for a proved bound: that GUB fails is known.
pub fn run(args: &Evidence, session: &Session) -> Outcome {
    let place = format!("--warps {} --instructions {}", args.warps, args.instructions);
    let grammar = Grammar::new(args.warps, args.instructions)
        .map_err(|error| Diagnostic::general(place, error.to_string()))?;
    let range = range(args, grammar.blocks())?;
    let bounds: [&(dyn Bound + Sync); 4] = [&Gub, &Iwb, &Swb, &Lwb];
    let total = range.end - range.start;
    session.progress.begin("enumerating", Some(total), "blocks");
    let jobs = args.jobs.unwrap_or_else(load::threads);
    let summary = grammar.enumerate(range, jobs, &bounds, &session.watch)?;
    let proved = bounds.iter().zip(&summary.bounds).filter(|(bound, _)| bound.standing() == Standing::Proved);
    let broken = proved.into_iter().any(|(_, tally)| tally.violated > 0 || tally.warp_violated > 0);
    let mut ending = Ending { violated: broken, ..Ending::default() };
    let stopped = session.stopped().filter(|_| summary.blocks < total);
    match args.format {
        Format::Text => {
            let mut text = text(&grammar, &summary, session.style);
            if let Some(reason) = stopped {
                text.push_str(&format!(
                    "\nINCOMPLETE: {} of {total} blocks, {}\n",
                    summary.blocks,
                    reason.text()
                ));
            }
            ending.print(session, &text);
        }
        Format::Json => {
            let mut object = json(&grammar, &summary);
            object["complete"] = stopped.is_none().into();
            if let Some(reason) = stopped {
                object["stopped"] = reason.name().into();
            }
            ending.print_json(session, &object);
        }
    }
    Ok(ending)
}

fn range(args: &Evidence, blocks: u64) -> Result<Range<u64>, Diagnostic> {
    let Some(text) = &args.range else { return Ok(0..blocks) };
    let parsed =
        text.split_once("..").and_then(|(from, to)| Some(from.trim().parse().ok()?..to.trim().parse().ok()?));
    parsed.filter(|range: &Range<u64>| range.start <= range.end && range.end <= blocks).ok_or_else(|| {
        Diagnostic::general(format!("--range {text}"), "expected FROM..TO")
            .hint(format!("this grammar has the blocks 0..{blocks}"))
    })
}

fn text(grammar: &Grammar, summary: &Summary, style: Style) -> String {
    let average = |sum: u64| format!("{:.3}", sum as f64 / summary.stands_for.max(1) as f64);
    let text = format!(
        "{} blocks, standing for {} with units renamed; {} schedules; average worst case {} cycles\n\n",
        summary.blocks,
        summary.stands_for,
        summary.schedules,
        average(summary.worst_sum)
    );
    let mut text = style.fill(&text);
    let mut table = Table::new(
        ["bound", "average", "exact", "violated", "closest worst/bound", "first violation"],
        &[0, 5],
    );
    for tally in &summary.bounds {
        let (worst, bound, _) = tally.closest;
        table.row([
            tally.name.to_owned(),
            average(tally.sum),
            tally.tight.to_string(),
            tally.violated.max(tally.warp_violated).to_string(),
            format!("{worst}/{bound}"),
            tally.first.first().map_or_else(String::new, |&number| format!("block {number}")),
        ]);
    }
    text.push_str(&table.render(2, style.width));
    for tally in summary.bounds.iter().filter(|tally| !tally.first.is_empty()) {
        text.push_str(&format!(
            "\n{} is broken first by\n{}\n",
            tally.name,
            grammar.describe(tally.first[0])
        ));
    }
    text
}

fn json(grammar: &Grammar, summary: &Summary) -> Value {
    let tally = |tally: &Tally| {
        json!({
            "name": tally.name, "violated": tally.violated, "warp_violated": tally.warp_violated, "exact": tally.tight,
            "sum": tally.sum, "closest": {"makespan": tally.closest.0, "value": tally.closest.1, "block": tally.closest.2},
            "first_violations": tally.first.iter().map(|&n| json!({"block": n, "is": grammar.describe(n)})).collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": SCHEMA, "tool_version": env!("CARGO_PKG_VERSION"), "blocks": summary.blocks, "stands_for": summary.stands_for,
        "schedules": summary.schedules, "worst_sum": summary.worst_sum,
        "bounds": summary.bounds.iter().map(tally).collect::<Vec<_>>(),
    })
}
