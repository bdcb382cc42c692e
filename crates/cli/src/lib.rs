//! The command line: arguments, output files and exit codes. This is the only crate that prints.
//!
//! `args` declares the options; the files of `commands` run one command each. `load` passes names
//! and options to [`warpbound_judge::load`]; `output` prints results and errors and determines the
//! exit code.

mod applications;
mod args;
mod batch;
mod called;
mod campaign;
mod checkpoint;
mod choices;
mod commands;
mod completion;
mod dumps;
mod examples;
mod exhaustive;
mod failures;
mod files;
mod format;
mod ipoints;
mod listing;
mod lists;
mod load;
mod loop_bounds;
mod measurements;
mod output;
mod policies;
mod printer;
mod progress;
mod resources;
mod session;
mod sha256;
mod stop;
mod suite;
mod terminal;
mod trace_files;
mod usage;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches};

use args::{Args, Command, TableFormat};
use format::Format;
use output::Outcome;
use printer::Printer;
use session::{Caller, Session};
use warpbound_core::diag::Diagnostic;

pub use called::{Answer, Call};
pub use progress::Stage;

/// Runs the command line of this process and returns its exit code.
pub fn main() -> ExitCode {
    completion::answer();
    let words: Vec<_> = std::env::args_os().collect();
    let code = match parsed(&words) {
        Ok(parsed) => {
            let (command, format) = (parsed.name, parsed.args.format());
            let without =
                move |reason, kept| output::no_result(&Printer::Process, command, format, reason, kept);
            let session = Session::new(&parsed.args.general, Arc::new(without));
            start_logging(&parsed.args.general, &session);
            install_panic_note();
            parsed.run(&session)
        }
        Err(error) => usage::finish(error, &words, &Printer::Process),
    };
    ExitCode::from(code)
}

/// Runs a command line for another program.
fn called(words: &[OsString], caller: &Caller) -> u8 {
    match parsed(words) {
        Ok(parsed) => parsed.run(&Session::called(&parsed.args.general, caller)),
        Err(error) => usage::finish(error, words, &Printer::Memory(caller.printed.clone())),
    }
}

/// A valid command line.
struct Parsed {
    args: Args,
    /// The name of the command.
    name: &'static str,
}

fn parsed(words: &[OsString]) -> Result<Parsed, clap::Error> {
    let mut matches = match args::one_command::matches(words) {
        Some(matches) => matches,
        None => {
            let colour = terminal::help_colour(words.iter().cloned());
            examples::with_sections(Args::command()).color(colour).try_get_matches_from(words)?
        }
    };
    let name = args::one_command::name(&matches);
    let mut args = Args::from_arg_matches_mut(&mut matches)?;
    // machine code has no launch of its own; the launch files beside it are used instead
    match &mut args.command {
        Command::Check(check) => check.kernels = load::expanded(&check.kernels, &check.ptx),
        Command::Compare(compare) => compare.kernels = load::expanded(&compare.kernels, &compare.ptx),
        Command::EvidencePack(pack) => pack.kernels = load::expanded(&pack.kernels, &pack.ptx),
        _ => {}
    }
    Ok(Parsed { args, name })
}

impl Parsed {
    /// Runs the command and returns the exit code.
    fn run(&self, session: &Session) -> u8 {
        resources::limit(self.args.general.max_memory);
        let ran = self.args.table_is_printed().map_err(Into::into).and_then(|()| run(&self.args, session));
        output::finish(ran, session, self.name, self.args.format())
    }
}

fn run(args: &Args, session: &Session) -> Outcome {
    match &args.command {
        Command::Check(check) => commands::check::run(check, session),
        Command::Run(run) => commands::run::run(run, args.general.verbose > 0, session),
        Command::Diff(diff) => commands::diff::run(diff, session),
        Command::Why(runs) => commands::why::run(runs, session),
        Command::Phases(phases) => commands::phases::run(phases, session),
        Command::Compare(compare) => commands::compare::run(compare, session),
        Command::Evidence(evidence) => commands::evidence::run(evidence, session),
        Command::EvidencePack(pack) => commands::evidence_pack::run(pack, session),
        Command::Explore(explore) => commands::explore::run(explore, session),
        Command::Worst(worst) => commands::worst::run(worst, session),
        Command::Hunt(hunt) => commands::hunt::run(hunt, session),
        Command::Compile(compile) => commands::compile::run(compile, session),
        Command::Headers(headers) => commands::headers::run(headers, session),
        Command::Export(export) => commands::export::run(export, session),
        Command::Bundle(bundle) => commands::bundle::run(bundle, session),
        Command::Synthetic(made) => commands::export::synthetic(made, session),
        Command::Family(family) => commands::family::run(family, session),
        Command::Anomaly(anomaly) => commands::anomaly::run(anomaly, session),
        Command::Fermi(fermi) => commands::fermi::run(fermi, session),
        Command::Ablate(ablate) => commands::ablate::run(ablate, session),
        Command::Sweep(sweep) => commands::sweep::run(sweep, session),
        Command::Merge(merge) => commands::merge::run(merge, session),
        Command::Report(report) => commands::report::run(report, session),
        Command::Reproduce(reproduce) => commands::reproduce::run(reproduce, session),
        Command::Cfg(cfg) => commands::cfg::run(cfg, session),
        Command::Static(all) => commands::all_paths::run(all, session),
        Command::Wcet(wcet) => commands::wcet::run(wcet, session),
        Command::Pwcet(pwcet) => commands::pwcet::run(pwcet, session),
        Command::Hybrid(hybrid) => commands::hybrid::run(hybrid, session),
        Command::Validate(validate) => commands::validate::run(validate, session),
        Command::Inspect(inspect) => commands::inspect::run(inspect, session),
        Command::ImportConfig(import) => commands::import_config::run(import, session),
        Command::List(list) => commands::list::run(list, session),
        Command::Explain(explain) => commands::explain::run(explain, session),
        Command::Schema(schema) => commands::schema::run(schema, session),
        Command::Completions(completions) => commands::completions::run(completions, session),
        Command::Man(man) => commands::man::run(man, session),
    }
}

fn start_logging(general: &args::General, session: &Session) {
    let level = match (general.quiet, general.verbose) {
        (true, _) => tracing::Level::ERROR,
        (false, 0) => tracing::Level::WARN,
        (false, 1) => tracing::Level::INFO,
        (false, 2) => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    let log = session.progress.log();
    log_to(level, true, move || log.clone());
}

/// Writes log lines of this level and above to a writer; `colour` allows colours where the
/// environment does. Only the first call in a process has an effect.
fn log_to<W: Write>(level: tracing::Level, colour: bool, writer: impl Fn() -> W + Send + Sync + 'static) {
    let lines = tracing_subscriber::fmt().with_max_level(level).with_writer(writer);
    let lines = lines.without_time().with_target(false);
    let _ = if colour { lines.try_init() } else { lines.with_ansi(false).try_init() };
}

/// What is said of a panic, so that it is not mistaken for a result.
const FAULT: &str =
    "this is a fault of warpbound, not of your input. Please report it with the command line and the input.";

/// Installs a panic hook that marks a panic as an internal fault, so that it is not mistaken for a
/// result.
fn install_panic_note() {
    let standard = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        standard(info);
        // `writeln!` instead of `eprintln!`, because the hook must not panic where stderr is full
        let _ = writeln!(io::stderr(), "warpbound {}: {FAULT}", env!("CARGO_PKG_VERSION"));
    }));
}

impl Args {
    /// Checks that `--table` is given only where a table is printed.
    fn table_is_printed(&self) -> Result<(), Diagnostic> {
        let is_csv = match &self.command {
            // its errors are text
            Command::Ablate(ablate) => ablate.format == TableFormat::Csv,
            _ => self.format() == Format::Csv,
        };
        match &self.general.table {
            Some(table) if !is_csv => {
                let problem =
                    Diagnostic::general(format!("--table {table}"), "only --format csv prints one table");
                Err(problem.hint("add --format csv, or leave --table out"))
            }
            _ => Ok(()),
        }
    }

    fn format(&self) -> Format {
        match &self.command {
            Command::Check(check) => check.common.format,
            Command::Run(run) => run.on.common.format,
            Command::Diff(diff) | Command::Why(diff) => diff.format,
            Command::Phases(phases) => phases.on.common.format,
            Command::Compare(compare) => compare.common.format,
            Command::Evidence(evidence) => evidence.format,
            Command::EvidencePack(pack) => pack.common.format,
            Command::Explore(explore) => explore.on.common.format,
            Command::Worst(worst) => worst.common.format,
            Command::Hunt(hunt) => hunt.format,
            Command::Anomaly(anomaly) => anomaly.format,
            Command::Fermi(fermi) => fermi.format,
            Command::Ablate(ablate) => ablate.format.of_reports(),
            Command::Sweep(sweep) => sweep.format,
            Command::Merge(merge) => merge.format,
            Command::Reproduce(reproduce) => reproduce.format,
            Command::Cfg(cfg) => cfg.format,
            Command::Static(all) => all.common.format,
            Command::Wcet(wcet) => wcet.common.format,
            Command::Pwcet(pwcet) => pwcet.common.format,
            Command::Hybrid(hybrid) => hybrid.common.format,
            Command::Validate(validate) => validate.common.format,
            Command::Inspect(inspect) => inspect.format,
            Command::ImportConfig(import) => import.format,
            Command::List(list) => list.format,
            Command::Explain(explain) => explain.format,
            Command::Export(export) => export.on.common.format,
            Command::Compile(compile) => compile.format,
            Command::Bundle(_)
            | Command::Synthetic(_)
            | Command::Family(_)
            | Command::Headers(_)
            | Command::Report(_)
            | Command::Schema(_)
            | Command::Completions(_)
            | Command::Man(_) => Format::Text,
        }
    }
}
