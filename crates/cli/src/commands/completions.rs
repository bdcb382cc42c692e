//! `warpbound completions`: prints a completion script for a shell.

use clap::CommandFactory;

use crate::args::{Args, Completions};
use crate::output::{self, Outcome};
use crate::session::Session;

/// Runs the command.
pub fn run(args: &Completions, session: &Session) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "warpbound", &mut text);
    output::text(session, &String::from_utf8_lossy(&text))
}
