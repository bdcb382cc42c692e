//! `warpbound run`: simulates one kernel or application and shows where its cycles went.

mod application;
pub mod explain;
mod kernel;
mod report;

use crate::args::Run;
use crate::checkpoint;
use crate::load;
use crate::output::Outcome;
use crate::session::Session;
use warpbound_judge::load::Loaded;

/// Runs the command.
pub fn run(args: &Run, verbose: bool, session: &Session) -> Outcome {
    let loaded = load::any(&args.on.kernel, &args.on.ptx, args.on.common.seed, &session.monitor);
    let loaded = loaded.map_err(|mut problems| {
        if let (Some(path), true) = (&args.checkpoint.checkpoint, session.monitor.is_stopped()) {
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
