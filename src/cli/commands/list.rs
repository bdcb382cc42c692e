//! `warpbound list`: what is embedded.

use serde::Serialize;

use crate::bound;
use crate::cli::args::List;
use crate::cli::assets;
use crate::cli::output::{self, Format, Outcome};
use crate::cli::programs;
use crate::cli::session::Session;
use crate::diag::Diagnostics;
use crate::machine::{MachineSpec, SchedulerKind};
use crate::program::launch::LaunchSpec;
use crate::program::sequence::SequenceSpec;
use crate::report::json::SCHEMA;
use crate::report::style::Style;
use crate::report::table::Table;

#[derive(Serialize)]
struct Listing {
    schema: u32,
    tool_version: &'static str,
    kernels: Vec<Kernel>,
    machines: Vec<Named>,
    schedulers: Vec<Scheduler>,
    bounds: Vec<ListedBound>,
}

#[derive(Serialize)]
struct ListedBound {
    name: &'static str,
    standing: &'static str,
    doc: &'static str,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    file: String,
    suite: bool,
    doc: String,
}

#[derive(Serialize)]
struct Named {
    name: String,
    doc: String,
}

#[derive(Serialize)]
struct Scheduler {
    name: String,
    work_conserving: bool,
}

/// Runs the command.
pub fn run(args: &List, session: &Session) -> Outcome {
    let listing = collect()?;
    match args.format {
        Format::Json => output::json(session, &listing),
        Format::Text => output::text(session, &text(&listing, session.style)),
    }
}

fn collect() -> Result<Listing, Diagnostics> {
    let mut kernels = Vec::new();
    for (name, location) in assets::kernels() {
        let source = location.text()?;
        let (suite, doc) = if location.extension() == "ron" && programs::is_program(&source) {
            (false, SequenceSpec::parse(&source)?.doc)
        } else if location.extension() == "ron" {
            let spec = LaunchSpec::parse(&source)?;
            (spec.suite, spec.doc)
        } else {
            (false, source.line(1).trim_start_matches('#').trim().to_owned())
        };
        kernels.push(Kernel { name, file: location.shown(), suite, doc });
    }
    let mut machines = Vec::new();
    for (name, location) in assets::machines() {
        let spec = MachineSpec::parse(&location.text()?)?;
        machines.push(Named { name, doc: spec.doc.unwrap_or_default() });
    }
    let named = SchedulerKind::NAMED.into_iter().map(|kind| (kind.to_string(), kind));
    let with_arguments = [
        ("random:SEED".to_owned(), SchedulerKind::Random(0)),
        ("replay:FILE".to_owned(), SchedulerKind::Replay(String::new())),
    ];
    let schedulers = named
        .chain(with_arguments)
        .map(|(name, kind)| Scheduler { name, work_conserving: kind.work_conserving().unwrap_or(false) });
    let bounds = bound::all()
        .iter()
        .map(|b| ListedBound { name: b.name(), standing: b.standing().name(), doc: b.summary() })
        .collect();
    Ok(Listing {
        schema: SCHEMA,
        tool_version: env!("CARGO_PKG_VERSION"),
        kernels,
        machines,
        schedulers: schedulers.collect(),
        bounds,
    })
}

fn text(listing: &Listing, style: Style) -> String {
    let mut kernels = Table::new(["kernel", "suite", "what it is"], &[0, 1, 2]).expendable([1]);
    for kernel in &listing.kernels {
        kernels.row([kernel.name.as_str(), if kernel.suite { "yes" } else { "" }, kernel.doc.as_str()]);
    }
    let named = |title: &str, all: &[Named]| {
        let mut table = Table::new([title, "what it is"], &[0, 1]);
        for one in all {
            table.row([one.name.as_str(), one.doc.as_str()]);
        }
        table.render(0, style.width)
    };
    let mut bounds = Table::new(["bound", "standing", "what it is"], &[0, 1, 2]);
    for bound in &listing.bounds {
        bounds.row([bound.name, bound.standing, bound.doc]);
    }
    let mut schedulers = Table::new(["policy", "work conserving"], &[0, 1]);
    for scheduler in &listing.schedulers {
        let conserving = match (scheduler.name.as_str(), scheduler.work_conserving) {
            ("replay:FILE", _) => "as the file",
            (_, true) => "yes",
            (_, false) => "no",
        };
        schedulers.row([scheduler.name.as_str(), conserving]);
    }
    let [kernels, schedulers, bounds] =
        [kernels, schedulers, bounds].map(|table| table.render(0, style.width));
    [kernels, named("machine", &listing.machines), schedulers, bounds].join("\n")
}
