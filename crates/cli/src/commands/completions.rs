//! `warpbound completions`: prints a completion script for a shell.

use crate::args::Completions;
use crate::completion;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_core::diag::Diagnostic;

/// Runs the command.
pub fn run(args: &Completions, session: &Session) -> Outcome {
    let script = completion::script(&args.shell.to_string());
    let script = script.map_err(|error| Diagnostic::general("completions", error.to_string()))?;
    output::text(session, &script)
}
