//! Claims about every input: the bound over all paths.

use super::{Contents, Making, Options};
use crate::lists::{Lists, Setup};
use crate::loop_bounds::ByLine;
use warpbound_bound::{NotApplicable, Schedules};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Machine, PolicyKind};
use warpbound_core::program::launch::Buffer;
use warpbound_core::program::loop_bounds::LoopBound;
use warpbound_exec::Options as ExecOptions;
use warpbound_judge::check::all_paths::{
    AllPathsBound, AllPathsOutcome, LaunchPaths, all_paths, all_paths_of_program, keeps_bounds,
    program_keeps_bounds,
};
use warpbound_judge::check::{JudgedApplication, JudgedLaunch, WorkloadKind};
use warpbound_judge::load::{Loaded, LoadedApplication, LoadedKernel};
use warpbound_report::all_paths::{Given, given_of_program};
use warpbound_report::evidence_pack::{Claim, FoundStatic, Inputs};

/// What a claim about all paths is made of: the bound, and the loop bounds, each with the index of the
/// module of its loop.
type Found = (FoundStatic, Vec<(LoopBound, usize)>);

/// Returns the loop bounds of the command line if the claims are about all paths.
///
/// # Errors
/// If there are loop bounds for other claims, or policies that the bound over all paths does not
/// cover.
pub(super) fn loop_bounds(args: &Options, lists: &Lists) -> Result<Option<ByLine>, Diagnostics> {
    if !args.of_all_paths {
        let option = match (args.bounds.loop_bound.first(), &args.bounds.annotations) {
            (Some(bound), _) => format!("--loop-bound {bound}"),
            (None, Some(path)) => format!("--annotations {}", path.display()),
            (None, None) => return Ok(None),
        };
        let problem = Diagnostic::general(option, "this applies to claims about every input only");
        return Err(problem.hint("--static makes such claims").into());
    }
    let is_covered = |name: &String| {
        let kind: Option<PolicyKind> = name.parse().ok();
        kind.is_none_or(|kind| kind.work_conserving() == Some(true))
    };
    if let Some(name) = lists.policies().into_iter().flatten().find(|name| !is_covered(name)) {
        let message =
            "the bound over all paths is for work-conserving schedules, which this policy does not promise";
        let problem = Diagnostic::general(format!("--policy {name}"), message);
        return Err(problem.hint("gto, lrr, oldest and random:SEED promise it").into());
    }
    Ok(Some(ByLine::new(&args.bounds)?))
}

/// Returns the loop bounds as options of a command that runs in the folder of a claim, where the
/// modules of programs have other names.
pub(super) fn options_in_pack(bounds: &[(LoopBound, usize)], files: &[Contents]) -> Vec<String> {
    let name = |module: usize| {
        let start = format!("kernel{module}.");
        files.iter().map(|(name, _)| name).find(|name| name.starts_with(&start)).cloned()
    };
    let renamed = |(bound, module): &(LoopBound, usize)| LoopBound { file: name(*module), ..bound.clone() };
    let mut all: Vec<String> = bounds.iter().map(|bound| renamed(bound).to_string()).collect();
    all.dedup();
    all
}

impl Making<'_> {
    /// Adds the claim about all paths of a kernel or program on a machine.
    pub(super) fn all_paths(
        &mut self,
        name: &str,
        what: &Loaded,
        setups: &[Setup],
        judged: &[JudgedApplication],
    ) -> Result<(), Diagnostics> {
        let Some(Setup { machine, .. }) = setups.first() else { return Ok(()) };
        let found = match what {
            Loaded::Kernel(kernel) => self.of_kernel(kernel, machine),
            Loaded::Application(program) => self.of_program(program, machine),
        };
        let Some((found, bounds)) = found.map_err(|problems| what.with_excerpts(problems))? else {
            return Err(self.stopped(name));
        };
        let totals: Vec<&JudgedLaunch> = judged.iter().map(|run| &run.total).collect();
        let answer = found.answer(what.name(), machine, &totals);
        let runs: Vec<(&Setup, &JudgedLaunch)> = setups.iter().zip(totals).collect();
        let wanted = format!("{}-{}-static", what.name(), machine.name());
        let make = |inputs: Inputs<'_>| Claim::of_all_paths(inputs, &found);
        self.claim(name, what, &wanted, (machine, answer), &runs, &bounds, make)
    }

    fn of_kernel(&self, kernel: &LoadedKernel, machine: &Machine) -> Result<Option<Found>, Diagnostics> {
        let Some(loop_bounds) = &self.loop_bounds else { return Ok(None) };
        let (workload, monitor, fuel) = (&kernel.workload, &self.session.monitor, self.args.common.fuel());
        let (given, resolved) = loop_bounds.of(kernel)?;
        keeps_bounds(workload, ExecOptions::of(machine, fuel), &resolved, monitor)?;
        let (constants, module) = match &workload.kind {
            WorkloadKind::Launch { launch, .. } => (names([&launch.buffers, &launch.symbols]), 0),
            WorkloadKind::Step { sequence, step } => {
                let symbols = sequence.modules.iter().map(|module| &module.symbols);
                let module = sequence.kernel(step).module;
                (names(std::iter::once(&sequence.buffers).chain(symbols)), module)
            }
            WorkloadKind::Micro(_) | WorkloadKind::Trace(_) => (Vec::new(), 0),
        };
        let found = |value, of: Option<&AllPathsBound>| FoundStatic {
            value,
            kinds: of.map(|bound| bound.kind).into_iter().collect(),
            parts: of.map_or_else(Vec::new, |bound| bound.parts.clone()),
            launches: Vec::new(),
            loop_bounds: Given::of_kernel(kernel, &given),
            constants,
        };
        let found = match all_paths(workload, machine, &[], &resolved, fuel, monitor)? {
            AllPathsOutcome::Bound(bound) => found(bound.under(Schedules::WorkConserving), Some(&bound)),
            AllPathsOutcome::NotApplicable(why) => found(Err(why), None),
            AllPathsOutcome::Stopped => return Ok(None),
        };
        Ok(Some((found, given.into_iter().map(|bound| (bound, module)).collect())))
    }

    fn of_program(
        &self,
        program: &LoadedApplication,
        machine: &Machine,
    ) -> Result<Option<Found>, Diagnostics> {
        let Some(loop_bounds) = &self.loop_bounds else { return Ok(None) };
        let sequence = program.program()?;
        let bounds = loop_bounds.of_program(sequence)?;
        let (monitor, fuel) = (&self.session.monitor, self.args.common.fuel());
        program_keeps_bounds(sequence, ExecOptions::of(machine, fuel), &bounds, monitor)?;
        let found = all_paths_of_program(&program.name, sequence, machine, &[], &bounds, fuel, monitor)?;
        let Some(found) = found else { return Ok(None) };
        let symbols = sequence.modules.iter().map(|module| &module.symbols);
        let value_of = |launch: &LaunchPaths| -> Result<_, NotApplicable> {
            Ok(launch.under(Schedules::WorkConserving)?.cycles())
        };
        let launches: Result<Vec<_>, _> = found.launches.iter().map(value_of).collect();
        let kernels = sequence.kernels.iter().enumerate();
        let of_modules = kernels
            .flat_map(|(index, kernel)| bounds.of_kernel(index).map(|bound| (bound.clone(), kernel.module)));
        let found = FoundStatic {
            value: found.under(&Schedules::WorkConserving),
            kinds: found.kinds(),
            parts: found.parts(),
            launches: launches.unwrap_or_default(),
            loop_bounds: given_of_program(sequence, &bounds),
            constants: names(std::iter::once(&sequence.buffers).chain(symbols)),
        };
        Ok(Some((found, of_modules.collect())))
    }
}

/// Returns the names of the buffers and variables that are declared constant.
fn names<'b>(lists: impl IntoIterator<Item = &'b Vec<Buffer>>) -> Vec<String> {
    let constant = lists.into_iter().flatten().filter(|buffer| buffer.constant);
    constant.map(|buffer| buffer.name.clone()).collect()
}
