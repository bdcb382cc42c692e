//! `warpbound run`: simulates one kernel or application and shows where its cycles went.

mod application;
pub mod explain;
mod kernel;
mod report;

use crate::cli::args::Run;
use crate::cli::checkpoint;
use crate::cli::load;
use crate::cli::output::Outcome;
use crate::cli::session::Session;
use crate::load::Loaded;

/// Runs the command.
pub fn run(args: &Run, verbose: bool, session: &Session) -> Outcome {
    let loaded = load::any(&args.on.kernel, &args.on.ptx, args.on.common.seed, &session.watch);
    let loaded = loaded.map_err(|mut problems| {
        if let (Some(path), true) = (&args.checkpoint.checkpoint, session.watch.is_stopped()) {
            problems.push(checkpoint::not_begun(path, session));
        }
        problems
    });
    match loaded? {
        Loaded::Kernel(kernel) => match &args.checkpoint.checkpoint {
            Some(path) => Err(checkpoint::of_one(path, "this is one kernel").into()),
            None => kernel::run(args, &kernel, verbose, session),
        },
        Loaded::Application(program) => application::run(args, &program, session),
    }
}
