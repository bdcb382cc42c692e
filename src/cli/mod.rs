//! The command line: arguments, files, exit codes. The only layer that does IO.

mod args;
mod assets;
mod commands;
mod dumps;
mod launches;
mod load;
mod output;
mod programs;
mod trace_files;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use output::{Failure, Format};

/// Exit code for a wrong input.
const WRONG_INPUT: u8 = 1;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let args = Args::parse();
    start_logging(args.verbose);
    install_panic_note();
    let format = args.format();
    let result = match &args.command {
        Command::Check(check) => commands::check::run(check),
        Command::Run(run) => commands::run::run(run, args.verbose > 0),
        Command::Phases(phases) => commands::phases::run(phases),
        Command::Compare(compare) => commands::compare::run(compare),
        Command::Evidence(evidence) => commands::evidence::run(evidence),
        Command::Explore(explore) => commands::explore::run(explore),
        Command::Hunt(hunt) => commands::hunt::run(hunt),
        Command::Family(family) => commands::family::run(family),
        Command::Anomaly(anomaly) => commands::anomaly::run(anomaly),
        Command::Fermi(fermi) => commands::fermi::run(fermi),
        Command::Ablate(ablate) => commands::ablate::run(ablate),
        Command::Inspect(inspect) => commands::inspect::run(inspect),
        Command::List(list) => commands::list::run(list),
    };
    match result {
        Ok(code) => code,
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Input(problems)) => {
            output::report_problems(&problems, format);
            ExitCode::from(WRONG_INPUT)
        }
    }
}

fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    // a second start in one process (tests) keeps the first subscriber
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .try_init();
}

/// An internal fault is a panic; it must never look like an answer.
fn install_panic_note() {
    let standard = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        standard(info);
        eprintln!(
            "warpbound {}: this is a fault of warpbound, not of your input. Please report it with the command line and the input.",
            env!("CARGO_PKG_VERSION")
        );
    }));
}

impl Args {
    fn format(&self) -> Format {
        match &self.command {
            Command::Check(check) => check.common.format,
            Command::Run(run) => run.on.common.format,
            Command::Phases(phases) => phases.on.common.format,
            Command::Compare(compare) => compare.common.format,
            Command::Evidence(evidence) => evidence.format,
            Command::Explore(explore) => explore.on.common.format,
            Command::Hunt(hunt) => hunt.format,
            Command::Family(_) => Format::Text,
            Command::Anomaly(anomaly) => anomaly.format,
            Command::Fermi(fermi) => fermi.format,
            Command::Ablate(ablate) => ablate.format.of_problems(),
            Command::Inspect(inspect) => inspect.format,
            Command::List(list) => list.format,
        }
    }
}
