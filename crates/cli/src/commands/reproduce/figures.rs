//! The figures of papers, computed by the same engines as the commands for single kernels.

use super::Done;
use crate::args::PtxLaunch;
use crate::files::loader;
use crate::load;
use crate::policies;
use crate::resources;
use crate::session::Session;
use warpbound_bound::analyse_alone;
use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_exec::Options;
use warpbound_judge::explore::anomaly::phases::{self, PhaseSearch};
use warpbound_judge::explore::fermi::{Fairness, FermiMachine, TemplateKernel, explore};
use warpbound_judge::load::LoadedKernel;
use warpbound_report::output::Batch;
use warpbound_report::phase_anomaly::PolicySearch;
use warpbound_report::reproduce::figure::FigureResult;
use warpbound_report::reproduce::{Reproduced, anomaly, example, fermi};
use warpbound_sim::{Engine, PaperMachine};
use warpbound_trace::trace::{Issue, Recorder};

/// The kernel and the machine of Figures 2 and 3.
const KERNEL: &str = "fig3";
const MACHINE: &str = "paper-fig2";

/// Reproduces Figure 2: the first warp of the example alone.
pub fn fig2() -> Result<Done, Diagnostics> {
    let example = Example::new()?;
    let alone = BlockPaths { warps: example.paths.warps[..1].to_vec(), ..example.paths.clone() };
    let issues = example.issues(&alone)?;
    let phases = analyse_alone(&load::timing(&example.kernel, &example.machine)?, &alone.warps[0], |_| {});
    Ok(figure(example::fig2(&issues, &phases)))
}

/// Reproduces Figure 3: both warps.
pub fn fig3() -> Result<Done, Diagnostics> {
    let example = Example::new()?;
    Ok(figure(example::fig3(&example.issues(&example.paths)?)))
}

/// The worked example.
struct Example {
    kernel: LoadedKernel,
    machine: Machine,
    paths: BlockPaths,
}

impl Example {
    fn new() -> Result<Self, Diagnostics> {
        let kernel = load::kernel(KERNEL, &PtxLaunch::default(), 0, &ProgressMonitor::new())?;
        let (spec, source) = loader().machine_spec(&loader().find_machine(MACHINE, None)?)?;
        let machine = Machine::new(&spec, &source)?;
        let mut paths = BlockPaths::default();
        let options = Options::of(&machine, resources::MAX_INSTRUCTIONS);
        kernel.workload.source(options, &ProgressMonitor::new())?.next_block(&mut paths)?;
        Ok(Self { kernel, machine, paths })
    }

    /// Returns the issues of the simulator for these warps under gto.
    fn issues(&self, paths: &BlockPaths) -> Result<Vec<Issue>, Diagnostics> {
        let table = load::timing(&self.kernel, &self.machine)?;
        let mut recorder = Recorder::default();
        Engine::new(&table, PaperMachine::of(&self.machine)?)
            .run_block(paths, &policies::setup(&PolicyKind::Gto)?, &mut recorder)
            .map_err(|error| Diagnostic::general(KERNEL, error.to_string()))?;
        Ok(recorder.issues().copied().collect())
    }
}

/// The most schedules that are tried for Figure 4; the first anomaly is found far earlier.
const MAX_SCHEDULES: u64 = 20_000_000;

/// Reproduces Figure 4: three warps, of which two phases get shorter.
pub fn fig4(session: &Session) -> Result<Done, Diagnostics> {
    let mut complete = true;
    let mut search = |policy: PolicyKind| {
        let wanted = PhaseSearch {
            policy: policy.clone(),
            warps: 3,
            pairs: 2,
            shortened: 2,
            seed: None,
            max_schedules: MAX_SCHEDULES,
        };
        session.progress.begin(format!("phases under {policy}"), Some(MAX_SCHEDULES), "schedules");
        let unknown =
            || Diagnostic::general(policy.to_string(), "this policy does not schedule whole phases");
        let found = phases::search(&wanted, &session.monitor).ok_or_else(unknown)?;
        complete &= !found.ended_early;
        Ok::<_, Diagnostic>(PolicySearch::new(&policy, &found))
    };
    let (lrr, gto) = (search(PolicyKind::Lrr)?, search(PolicyKind::Gto)?);
    Ok(ended(anomaly::fig4(&lrr, &gto), complete, session))
}

/// A part of the results on Fermi.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FermiItem {
    Fig3,
    Fig4,
    Fig5,
    Formula,
}

/// Reproduces a figure or the formula of Raravi and Andersson, 2010.
pub fn fermi_item(item: FermiItem, session: &Session) -> Done {
    let machine = FermiMachine::published();
    session.progress.begin("exploring", None, "");
    let extremes = |warps, repetitions| {
        let kernel = TemplateKernel::new(&machine, warps, repetitions).ok()?;
        let monitor: &ProgressMonitor = &session.monitor;
        explore(&machine, &kernel, Fairness::SubBlock, usize::MAX, monitor).ok()
    };
    let result = match item {
        FermiItem::Fig3 => fermi::fig3(&extremes),
        FermiItem::Fig4 => fermi::drawn(&machine, 2, &extremes),
        FermiItem::Fig5 => fermi::drawn(&machine, 3, &extremes),
        FermiItem::Formula => fermi::formula(&extremes),
    };
    let complete = result.quantities.iter().all(|quantity| quantity.ours.is_some());
    ended(result, complete, session)
}

fn figure(result: FigureResult) -> Done {
    Done::new(Reproduced::Figure(result))
}

fn ended(result: FigureResult, complete: bool, session: &Session) -> Done {
    let batch = if complete { Batch::default() } else { Batch::stopped(session.stopped()) };
    Done { batch, ..figure(result) }
}
