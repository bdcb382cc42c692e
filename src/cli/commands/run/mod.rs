//! `warpbound run`: simulate one kernel or program and say where its cycles went.

pub mod explain;
mod kernel;
mod program;
mod report;

use crate::cli::args::Run;
use crate::cli::load::{self, Loaded};
use crate::cli::output::Outcome;
use crate::cli::session::Session;

/// Runs the command.
pub fn run(args: &Run, verbose: bool, session: &Session) -> Outcome {
    match load::any(&args.on.kernel, &args.on.ptx, args.on.common.seed)? {
        Loaded::Kernel(kernel) => kernel::run(args, &kernel, verbose, session),
        Loaded::Program(program) => program::run(args, &program, session),
    }
}
