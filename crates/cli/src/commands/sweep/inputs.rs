//! Finds and reads everything that a plan names.

use std::collections::BTreeMap;

use crate::args::PtxLaunch;
use crate::files::loader;
use crate::load;
use warpbound_core::base::{Fnv1a, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound_core::machine::{Machine, MachineSpec, PolicyKind, Random, Setting};
use warpbound_judge::load::{Loaded, Location, read};
use warpbound_judge::sweep::{Assignment, Axis, Draws, Input, Inputs, Point, Points};
use warpbound_sim::PolicySetup;

/// The only setting of a plan that is not a path in a machine file.
const MEM_LATENCY: &str = "mem_latency";

/// The kernels, machines and policies of a plan.
pub struct Found {
    kernels: BTreeMap<String, Location>,
    machines: BTreeMap<String, (MachineSpec, SourceText)>,
    policies: Vec<PolicySetup>,
    /// The random behaviour of machines that is varied, if the plan has draws.
    randoms: Vec<Random>,
    /// Whether an error of a kernel of the suite has been reported.
    suite_failed: bool,
    /// The digests of the plan and of everything that was read for it.
    inputs: Vec<(String, Fnv1a)>,
}

impl Found {
    /// Finds and reads everything that the points name, and tries every value of every axis by
    /// itself.
    ///
    /// # Errors
    /// Every error in the plan.
    pub fn new(
        points: &Points,
        plan: &Location,
        source: &SourceText,
        text: &str,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut found = Self {
            kernels: BTreeMap::new(),
            machines: BTreeMap::new(),
            policies: Vec::new(),
            randoms: points.draws().map(Draws::randoms).unwrap_or_default(),
            suite_failed: false,
            inputs: Vec::new(),
        };
        found.read("the plan".to_owned()).write(text.as_bytes());
        for kind in points.policies() {
            found.find_policy(kind, plan, &mut problems);
        }
        for (name, axes) in points.kernels() {
            found.find_kernel((name, axes), points, plan, source, &mut problems);
        }
        for name in points.machines() {
            found.find_machine(name, points, plan, source, &mut problems);
        }
        problems.into_result(found)
    }

    /// Reads a policy and, if it replays a schedule, the schedule.
    fn find_policy(&mut self, kind: &PolicyKind, plan: &Location, problems: &mut Diagnostics) {
        match loader().policy(kind, Some(plan)) {
            Ok(policy) => self.policies.push(policy),
            Err(wrong) => problems.append(wrong),
        }
        if let PolicyKind::Replay(file) = kind
            && let Ok(schedule) = loader().find_schedule(file, Some(plan))
        {
            // an error of reading has already been reported
            let bytes = schedule.bytes(read::SCHEDULE_BYTES).unwrap_or_default();
            self.read(format!("the schedule {file}")).write(&bytes);
        }
    }

    /// Finds a kernel, tries its first launch, and reads the files of its other launches.
    fn find_kernel(
        &mut self,
        (name, axes): (&str, &[Axis]),
        points: &Points,
        plan: &Location,
        source: &SourceText,
        problems: &mut Diagnostics,
    ) {
        let location = match loader().find_kernel_beside(name, plan) {
            Ok(location) => location,
            Err(wrong) => return problems.append(at(source, &[name], wrong)),
        };
        self.kernels.insert(name.to_owned(), location);
        let Some(options) = first_options((name, axes), source, problems) else { return };
        // only the first launch of a kernel is tried; others may fail when they run
        let seed = if points.is_empty() { 0 } else { points.point(0).seed };
        match self.load(name, &options, seed).and_then(|loaded| loaded.digests()) {
            Ok(files) => {
                for (file, of_file) in &files {
                    self.read(format!("{file} of the kernel {name}")).write_u64(*of_file);
                }
            }
            Err(wrong) => {
                let by = axes.iter().find(|axis| self.is_fine_without(name, axes, axis, seed));
                let option = by.map(|axis| axis.name.as_str());
                if is_named(source, name) {
                    let words: Vec<&str> = [name].into_iter().chain(option).collect();
                    problems.append(at(source, &words, wrong));
                } else if !std::mem::replace(&mut self.suite_failed, true) {
                    // the other kernels of the suite fail for the same reason
                    let words: Vec<&str> = ["SuiteWith"].into_iter().chain(option).collect();
                    let first = wrong.list().first().cloned();
                    let first = first.map(|first| at(source, &words, first.into()));
                    problems.append(first.unwrap_or_default());
                }
            }
        }
        self.read_other_launches(name, axes, seed);
    }

    /// Returns whether the first launch of a kernel can be loaded without one of its options, which is
    /// then the cause of an error.
    fn is_fine_without(&self, name: &str, axes: &[Axis], without: &Axis, seed: u64) -> bool {
        let mut options = PtxLaunch::default();
        let mut others = axes.iter().filter(|axis| *axis != without);
        let set = others
            .try_for_each(|axis| axis.values.first().map_or(Ok(()), |value| options.set(&axis.name, value)));
        set.is_ok() && self.load(name, &options, seed).is_ok()
    }

    /// Reads the files of launches that differ from the first one in an option that names files.
    fn read_other_launches(&mut self, name: &str, axes: &[Axis], seed: u64) {
        // an argument may name a file of its own, and each compiler has files of its own
        let has_files = |axis: &&Axis| axis.name.starts_with("arg ") || axis.name == "compiler";
        for axis in axes.iter().filter(has_files) {
            for value in axis.values.iter().skip(1) {
                let chosen =
                    |other: &Axis| if other == axis { value.clone() } else { other.values[0].clone() };
                let mut options = PtxLaunch::default();
                let set = axes.iter().try_for_each(|other| options.set(&other.name, &chosen(other)));
                let files = set.ok().and_then(|()| self.load(name, &options, seed).ok()?.digests().ok());
                // a launch that fails is a failed point; the digest records whether it could be
                // loaded
                let of_value = self.read(format!("the kernel {name} with {}={value}", axis.name));
                of_value.write(&[u8::from(files.is_some())]);
                files.into_iter().flatten().for_each(|(_, of_file)| of_value.write_u64(of_file));
            }
        }
    }

    /// Reads a machine, and tries each setting and the first draw on it.
    fn find_machine(
        &mut self,
        name: &str,
        points: &Points,
        plan: &Location,
        source: &SourceText,
        problems: &mut Diagnostics,
    ) {
        let read = loader().find_machine(name, Some(plan)).and_then(|found| loader().machine_spec(&found));
        let (spec, code) = match read {
            Ok(read) => read,
            Err(wrong) => return problems.append(at(source, &[name], wrong)),
        };
        let settings = points
            .settings()
            .iter()
            .flat_map(|axis| axis.values.iter().map(move |value| (axis.name.as_str(), value.as_str())));
        for setting in settings {
            if let Err(wrong) = with_settings(&spec, &[setting]) {
                problems.append(at(source, &["settings", setting.0, setting.1], wrong));
            }
        }
        report_idle_latency(&spec, points, source, problems);
        if let Some(draws) = points.draws()
            && let Err(wrong) = with_settings(&spec, &first_settings(points))
                .and_then(|spec| drawn(&spec, &self.randoms, draws.from))
        {
            problems.append(at(source, &["draws", name], wrong));
        }
        let text = serde_json::to_string(&spec).expect("machines are plain data");
        self.read(format!("the machine {name}")).write(text.as_bytes());
        self.machines.insert(name.to_owned(), (spec, code));
    }

    /// Registers an input and returns its digest, to which its contents must be added.
    fn read(&mut self, name: String) -> &mut Fnv1a {
        self.inputs.push((name, Fnv1a::default()));
        &mut self.inputs.last_mut().expect("it was pushed").1
    }

    /// Returns the plan and everything that was read for it.
    pub fn inputs(&self) -> Vec<Input> {
        let input = |(name, digest): &(String, Fnv1a)| Input {
            name: name.clone(),
            digest: format!("{:016x}", digest.finish()),
        };
        self.inputs.iter().map(input).collect()
    }

    fn load(&self, name: &str, options: &PtxLaunch, seed: u64) -> Result<Loaded, Diagnostics> {
        // the cancellation of the command does not stop this reading, so that completed points stay
        // valid
        loader().load_at(name, self.kernels[name].clone(), &options.options(seed), &ProgressMonitor::new())
    }
}

impl Inputs for Found {
    fn subject(&self, kernel: &str, options: &[Assignment], seed: u64) -> Result<Loaded, Diagnostics> {
        let mut launch = PtxLaunch::default();
        for (option, value) in options {
            launch
                .set(option, value)
                .map_err(|(message, hint)| Diagnostic::general(kernel, message).hint(hint))?;
        }
        self.load(kernel, &launch, seed)
    }

    fn machine(&self, point: &Point) -> Result<Machine, Diagnostics> {
        let (spec, source) = &self.machines[point.machine];
        let spec = with_settings(spec, &point.settings)?;
        let spec = match point.draw {
            Some(number) => drawn(&spec, &self.randoms, number)?,
            None => spec,
        };
        Machine::new(&spec, source)
    }

    fn policies(&self) -> &[PolicySetup] {
        &self.policies
    }
}

/// Tries every value of every axis of a kernel by itself, and returns the options of the first
/// launch if all values are understood.
fn first_options(
    (name, axes): (&str, &[Axis]),
    source: &SourceText,
    problems: &mut Diagnostics,
) -> Option<PtxLaunch> {
    let mut options = PtxLaunch::default();
    let mut understood = true;
    for axis in axes {
        for (index, value) in axis.values.iter().enumerate() {
            let of = if index == 0 { &mut options } else { &mut PtxLaunch::default() };
            if let Err((message, hint)) = of.set(&axis.name, value) {
                // the hint lists the options if there is none of this name
                let is_unknown = !hint.is_empty();
                let kernel = if is_named(source, name) { name } else { "SuiteWith" };
                let place = [kernel, &axis.name, value];
                let place = if is_unknown { &place[..2] } else { &place[..] };
                let problem = source.error_along(place, message).hint(hint);
                if !problems.list().contains(&problem) {
                    problems.push(problem);
                }
                understood = false;
                if is_unknown {
                    break;
                }
            }
        }
    }
    understood.then_some(options)
}

/// Reports the settings of a plan that replace what `mem_latency` sets, so that its values would
/// label equal points.
fn report_idle_latency(spec: &MachineSpec, points: &Points, source: &SourceText, problems: &mut Diagnostics) {
    let of_latency = points.settings().iter().find(|axis| axis.name == MEM_LATENCY);
    let first = of_latency.and_then(|axis| axis.values.first()?.parse::<u64>().ok());
    let Some(latency) = first.filter(|latency| *latency < u64::MAX) else { return };
    for axis in points.settings().iter().filter(|axis| axis.name != MEM_LATENCY) {
        let Some(value) = axis.values.first() else { continue };
        let with = |latency: u64| {
            let latency = latency.to_string();
            let spec = with_settings(spec, &[(MEM_LATENCY, &latency), (&axis.name, value)]).ok()?;
            serde_json::to_string(&spec).ok()
        };
        // mistakes of single settings have already been reported
        let (Some(one), Some(other)) = (with(latency), with(latency + 1)) else { continue };
        if one == other {
            let message = format!("`{}` replaces the latency that `{MEM_LATENCY}` sets", axis.name);
            let problem = source.error_along(&["settings", &axis.name], message);
            problems.push(problem.hint("leave one of the two out"));
        }
    }
}

/// Returns the machine for the run with this number.
fn drawn(spec: &MachineSpec, randoms: &[Random], number: u64) -> Result<MachineSpec, Diagnostics> {
    spec.drawn(randoms, number).map_err(|(message, hint)| {
        let name = spec.name.clone().unwrap_or_default();
        Diagnostic::general(name, message).hint(hint).into()
    })
}

/// Returns the first value of every setting.
fn first_settings(points: &Points) -> Vec<Assignment<'_>> {
    let with_values = points.settings().iter().filter(|axis| !axis.values.is_empty());
    with_values.map(|axis| (axis.name.as_str(), axis.values[0].as_str())).collect()
}

/// Returns whether the plan itself names a kernel, rather than the whole suite.
fn is_named(source: &SourceText, kernel: &str) -> bool {
    source.text().contains(kernel)
}

/// Gives errors the place of a name in the plan, which is found by looking for `words` one after
/// the other. Errors that are placed in another file keep their place.
fn at(source: &SourceText, words: &[&str], problems: Diagnostics) -> Diagnostics {
    problems.map(|problem| match problem.line {
        0 => source.error_along(words, problem.message).hint(problem.hint),
        _ => problem,
    })
}

/// Applies settings of a plan to a machine, including the one that is not a path.
fn with_settings(spec: &MachineSpec, settings: &[Assignment]) -> Result<MachineSpec, Diagnostics> {
    let mut latency = None;
    let mut others = Vec::new();
    for (path, value) in settings {
        if *path == MEM_LATENCY {
            let wrong = |_| Diagnostic::general(MEM_LATENCY, format!("`{value}` is no number of cycles"));
            latency = Some(value.parse().map_err(wrong)?);
        } else {
            others.push(Setting::new(*path, *value));
        }
    }
    load::changed(spec.clone(), latency, &others)
}
