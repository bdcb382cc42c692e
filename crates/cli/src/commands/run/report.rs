//! The report of one run.

use crate::args::Run;
use crate::session::Session;
use warpbound_judge::check::JudgedLaunch;
use warpbound_report::output::{Batch, Output};
use warpbound_report::run::RunResult;

/// Returns the output for one run.
pub fn output<'a>(
    args: &Run,
    result: RunResult<'a>,
    checked: &JudgedLaunch,
    session: &Session,
) -> Output<RunResult<'a>> {
    let batch = match checked.is_complete() {
        true => Batch::default(),
        false => Batch::stopped(session.stopped()),
    };
    let output = Output::of_batch("run", Some(args.on.common.seed), vec![result], batch);
    output.judged(std::iter::once(checked.verdict()))
}
