//! The tables of papers, from the records of a plan or from an ablation.

use super::Done;
use crate::args::{Ablate, Reproduce, TableFormat};
use crate::commands::ablate::ablation;
use crate::commands::sweep::{Planned, RunParameters};
use crate::failures::Batch;
use crate::files::loader;
use crate::resources;
use crate::session::Session;
use crate::suite::suite_kernels;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_judge::sweep::SweepSpec;
use warpbound_report::output;
use warpbound_report::reproduce::{Measured, Paper, ReproduceResult, Reproduced};

/// Reproduces a table over the records of its plan.
pub fn of_plan(paper: Paper, args: &Reproduce, session: &Session) -> Result<Done, Diagnostics> {
    let location = loader().find_plan(paper.plan())?;
    let planned = match &args.compiler {
        None => Planned::read(&location)?,
        Some(compiler) => {
            let spec = SweepSpec::parse(&location.text()?)?.by_compiler(compiler);
            Planned::of_command(spec, &format!("{} --compiler {compiler}", paper.plan()))?
        }
    };
    let mut runs: Vec<Measured> = Vec::new();
    // the single warps of Table 3 are those of the self-check
    let parameters = RunParameters { what: "simulating", threads: args.jobs, self_check: paper.is_table_3() };
    planned.run(0..planned.points.jobs(), &parameters, session, |records| {
        for record in records {
            let line = record.json(&planned.columns);
            let run = serde_json::from_str(&line)
                .map_err(|error| Diagnostic::general(paper.plan(), error.to_string()))?;
            runs.push(run);
        }
        Ok(())
    })?;
    let complete = runs.len() as u64 == planned.points.len();
    let result =
        ReproduceResult::new(paper, args.compiler.clone(), planned.manifest(None).plan_digest, &runs);
    let stopped = session.stopped().filter(|_| !complete);
    let batch = output::Batch { complete, stopped, ..output::Batch::default() };
    let violated = result.violated > 0;
    Ok(Done { violated, batch, ..Done::new(Reproduced::Table(Box::new(result))) })
}

/// Reproduces Table 2: the suite on each variant of the machine, one block at a time.
pub fn table2(args: &Reproduce, session: &Session) -> Result<Done, Diagnostics> {
    let names = suite_kernels()?;
    let mut batch = Batch::new(&names);
    let ablate = Ablate {
        kernels: Vec::new(),
        machine: "ablation-baseline".to_owned(),
        policy: Some("gto".to_owned()),
        set: vec!["limits.blocks=1".to_owned()],
        seed: 0,
        max_instructions: resources::MAX_INSTRUCTIONS,
        jobs: args.jobs,
        format: TableFormat::Text,
    };
    let table = ablation(&ablate, session, &mut batch)?;
    let result = ReproduceResult::of_ablation(&table);
    let report = batch.report(session);
    let failures = batch.failures;
    Ok(Done { batch: report, failures, ..Done::new(Reproduced::Table(Box::new(result))) })
}
