//! `warpbound reproduce`: a table of a paper, ours beside theirs.

use super::sweep::{Doing, Planned};
use crate::cli::args::{Reproduce, What};
use crate::cli::assets;
use crate::cli::output::{Ending, Outcome};
use crate::cli::session::Session;
use crate::diag::Diagnostic;
use crate::report::output::{Batch, Output};
use crate::report::reproduce::{Measured, Paper, ReproduceResult};

/// Runs the command.
pub fn run(args: &Reproduce, session: &Session) -> Outcome {
    let paper = match args.what {
        What::Table3 => Paper::Table3,
        What::Table4 => Paper::Table4,
    };
    let planned = Planned::read(&assets::find_plan(paper.plan())?)?;
    let mut runs: Vec<Measured> = Vec::new();
    // the single warps of Table 3 are those of the self-check
    let doing = Doing { what: "simulating", threads: args.jobs, self_check: paper == Paper::Table3 };
    planned.run(0..planned.points.jobs(), &doing, session, |records| {
        for record in records {
            let line = record.json(&planned.columns);
            let run = serde_json::from_str(&line)
                .map_err(|error| Diagnostic::general(paper.plan(), error.to_string()))?;
            runs.push(run);
        }
        Ok(())
    })?;
    let complete = runs.len() as u64 == planned.points.len();
    let result = ReproduceResult::new(paper, planned.digest(), &runs);
    let batch = Batch { complete, stopped: session.stopped().filter(|_| !complete), ..Batch::default() };
    let mut ending = Ending { violated: result.violated > 0, ..Ending::default() };
    ending.report(session, args.format, &Output::of_batch("reproduce", None, vec![result], batch));
    Ok(ending)
}
