//! `warpbound list`: lists what is embedded.

use crate::args::List;
use crate::output::{self, Outcome};
use crate::session::Session;
use warpbound_bound as bound;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::{MachineSpec, PolicyKind};
use warpbound_core::program::launch::LaunchSpec;
use warpbound_core::program::sequence::SequenceSpec;
use warpbound_judge::load::{EmbeddedFolder, Loader, is_program};
use warpbound_judge::sweep::SweepSpec;
use warpbound_report::list::{Kernel, ListedBound, Listing, Named, Policy};
use warpbound_report::output::Output;

/// Runs the command.
pub fn run(args: &List, session: &Session) -> Outcome {
    output::report(session, args.format, &Output::new("list", None, vec![collect()?]))
}

fn collect() -> Result<Listing, Diagnostics> {
    let mut kernels = Vec::new();
    for (name, location) in Loader::embedded(EmbeddedFolder::Kernels) {
        let source = location.text()?;
        let (suite, doc) = if location.extension() == "ron" && is_program(&source) {
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
    for (name, location) in Loader::embedded(EmbeddedFolder::Configs) {
        let spec = MachineSpec::parse(&location.text()?)?;
        machines.push(Named { name, doc: spec.doc.unwrap_or_default() });
    }
    let mut plans = Vec::new();
    for (name, location) in Loader::embedded(EmbeddedFolder::Plans) {
        let spec = SweepSpec::parse(&location.text()?)?;
        plans.push(Named { name, doc: spec.doc });
    }
    let named = PolicyKind::NAMED.into_iter().map(|kind| (kind.to_string(), kind));
    let with_arguments = [
        ("random:SEED".to_owned(), PolicyKind::Random(0)),
        ("replay:FILE".to_owned(), PolicyKind::Replay(String::new())),
    ];
    let policies = named
        .chain(with_arguments)
        .map(|(name, kind)| Policy { name, work_conserving: kind.work_conserving() });
    let bounds = bound::all()
        .iter()
        .map(|b| ListedBound { name: b.name(), standing: b.standing().name(), doc: b.summary() })
        .collect();
    Ok(Listing { kernels, machines, plans, policies: policies.collect(), bounds })
}
