//! `warpbound why`: states the largest causes why one run takes longer than another.

use super::diff::side;
use crate::args::Diff;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_report::cause::WhyResult;
use warpbound_report::output::Output;

/// Runs the command.
pub fn run(args: &Diff, session: &Session) -> Outcome {
    let a = side(&args.a, session)?;
    let b = side(&args.b, session)?;
    let result = WhyResult::new((&args.a, &a), (&args.b, &b));
    output::report(session, args.format, &Output::new("why", None, vec![result]))
}
