//! `warpbound reproduce`: a table of a paper, ours beside theirs.

use super::ablate::ablation;
use super::sweep::{Doing, Planned};
use crate::cli::args::{Ablate, Reproduce, TableFormat, What};
use crate::cli::assets;
use crate::cli::failures::Batch;
use crate::cli::output::{Ending, Outcome};
use crate::cli::resources;
use crate::cli::session::Session;
use crate::diag::Diagnostic;
use crate::report::output::{self, Output};
use crate::report::reproduce::{Measured, Paper, ReproduceResult};

/// Runs the command.
pub fn run(args: &Reproduce, session: &Session) -> Outcome {
    let paper = match args.what {
        What::Table2 => return table2(args, session),
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
    let stopped = session.stopped().filter(|_| !complete);
    let batch = output::Batch { complete, stopped, ..output::Batch::default() };
    let mut ending = Ending { violated: result.violated > 0, ..Ending::default() };
    ending.report(session, args.format, &Output::of_batch("reproduce", None, vec![result], batch));
    Ok(ending)
}

/// The suite on each variant of the machine, one block at a time.
fn table2(args: &Reproduce, session: &Session) -> Outcome {
    let names = super::check::suite_kernels()?;
    let mut batch = Batch::new(&names);
    let ablate = Ablate {
        kernels: Vec::new(),
        machine: "ablation-baseline".to_owned(),
        scheduler: Some("gto".to_owned()),
        set: vec!["limits.blocks=1".to_owned()],
        seed: 0,
        max_instructions: resources::MAX_INSTRUCTIONS,
        jobs: args.jobs,
        format: TableFormat::Text,
    };
    let table = ablation(&ablate, session, &mut batch)?;
    let result = ReproduceResult::of_ablation(&table);
    let mut ending = Ending::default();
    let output = Output::of_batch("reproduce", None, vec![result], batch.report(session));
    ending.report(session, args.format, &output);
    ending.failures = batch.failures;
    Ok(ending)
}
