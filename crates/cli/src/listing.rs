//! The lists of what is embedded, for `list` and for the completion of command lines.

use warpbound_bound as bound;
use warpbound_core::diag::Diagnostics;
use warpbound_core::machine::{MachineSpec, PolicyKind};
use warpbound_core::program::launch::LaunchSpec;
use warpbound_core::program::sequence::SequenceSpec;
use warpbound_judge::load::{EmbeddedFolder, Loader, is_program};
use warpbound_judge::sweep::SweepSpec;
use warpbound_report::list::{Kernel, ListedBound, Listing, Machine, Named, Policy};
use warpbound_report::{book, terms};

/// Returns everything that is embedded.
pub fn collect() -> Result<Listing, Diagnostics> {
    let mut machines = Vec::new();
    for (name, location) in Loader::embedded(EmbeddedFolder::Configs) {
        let spec = MachineSpec::parse(&location.text()?)?;
        let compared = book::compared(&name);
        machines.push(Machine { name, doc: spec.doc.unwrap_or_default(), compared });
    }
    let mut plans = Vec::new();
    for (name, location) in Loader::embedded(EmbeddedFolder::Plans) {
        let spec = SweepSpec::parse(&location.text()?)?;
        plans.push(Named { name, doc: spec.doc });
    }
    Ok(Listing { kernels: kernels()?, machines, plans, policies: policies(), bounds: bounds() })
}

fn kernels() -> Result<Vec<Kernel>, Diagnostics> {
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
    Ok(kernels)
}

fn policies() -> Vec<Policy> {
    let named = PolicyKind::NAMED.into_iter().map(|kind| (kind.to_string(), kind));
    let with_arguments = [
        ("random:SEED".to_owned(), PolicyKind::Random(0)),
        ("replay:FILE".to_owned(), PolicyKind::Replay(String::new())),
    ];
    let policy = |(name, kind): (String, PolicyKind)| {
        let doc = terms::of_policy(&name);
        Policy { name, work_conserving: kind.work_conserving(), doc }
    };
    named.chain(with_arguments).map(policy).collect()
}

fn bounds() -> Vec<ListedBound> {
    let all = bound::all();
    let listed = all.iter().map(|bound| ListedBound {
        name: bound.name(),
        standing: bound.standing().name(),
        doc: bound.summary(),
    });
    listed.collect()
}
