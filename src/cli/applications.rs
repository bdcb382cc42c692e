//! Loads applications: program files with their modules, kernels and data, and lists of traces.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use super::args::{Common, PtxLaunch};
use super::assets::Location;
use super::files::read;
use super::modules::Module;
use super::{launches, policies, traces};
use crate::accelsim::KernelsList;
use crate::base::{Fnv1a, Watch};
use crate::bound::Bound;
use crate::check::{Application, ApplicationPlan, Traced, Workload, WorkloadKind};
use crate::diag::{Diagnostic, Diagnostics, SourceText, Step, Texts, to_ron};
use crate::machine::{Machine, SchedulerKind};
use crate::program::expr::Expr;
use crate::program::sequence::{Sequence, SequenceSpec};
use crate::sim::PolicySetup;

/// A loaded application.
#[derive(Clone)]
pub struct LoadedApplication {
    /// The name on the command line.
    pub name_given: String,
    /// The name in reports.
    pub name: String,
    /// The kernels, in order.
    pub application: Application,
    /// The contents of the program file; `None` for a list of traces.
    spec: Option<SequenceSpec>,
    /// The code of each module or trace.
    pub codes: Vec<SourceText>,
    /// The file it was loaded from.
    pub location: Location,
    /// Every file on disk that was read for it.
    pub inputs: Vec<PathBuf>,
}

/// Returns whether a file is a program rather than a launch.
pub fn is_program(source: &SourceText) -> bool {
    let code = source.text().lines().map(str::trim);
    let mut code = code.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("#!"));
    code.next().is_some_and(|line| line.starts_with("Program"))
}

/// Reads a program and everything it names.
pub fn load(
    name: &str,
    location: Location,
    source: SourceText,
    options: &PtxLaunch,
    seed: u64,
) -> Result<LoadedApplication, Diagnostics> {
    if options.says_a_launch() {
        let problem = Diagnostic::general(
            name,
            "--entry, --grid, --block, --arg and their like change one launch, and this is a program",
        );
        return Err(problem.hint("change its numbers with --let NAME=VALUE, or edit a copy").into());
    }
    let mut spec = SequenceSpec::parse(&source)?;
    let mut texts = Texts::new(source.clone());
    set_constants(&mut spec, &options.constant, &mut texts)?;
    let inputs = RefCell::new(location.on_disk().map(PathBuf::from).into_iter().collect::<Vec<_>>());
    let mut modules: Vec<(String, Module)> = Vec::new();
    let mut codes = Vec::new();
    let mut kernel = |file: &str, entry: &str| {
        let index = match modules.iter().position(|(known, _)| known == file) {
            Some(index) => index,
            None => {
                let module = location.beside(&options.module(file));
                launches::module_is_there(&module, &source, file)?;
                inputs.borrow_mut().extend(module.on_disk().map(PathBuf::from));
                let behind = modules.last().map_or(0, |(_, module)| module.globals_end());
                let module = Module::read(&module, options, behind)?;
                codes.push(module.code.clone());
                modules.push((file.to_owned(), module));
                modules.len() - 1
            }
        };
        Ok((index, modules[index].1.program(entry)?))
    };
    let read = |path: &str, most: u64| launches::read_data(&location, path, most, &mut inputs.borrow_mut());
    let sequence = Sequence::new(&spec, seed, texts, &mut kernel, &read)?;
    Ok(LoadedApplication {
        name_given: name.to_owned(),
        name: options.name_of(&location.stem()),
        application: Application::Program(Arc::new(sequence)),
        spec: Some(spec),
        codes,
        location,
        inputs: inputs.into_inner(),
    })
}

/// Reads the traces of a list.
pub fn load_list(
    name: &str,
    location: Location,
    list: &KernelsList,
    options: &PtxLaunch,
    watch: &Watch,
) -> Result<LoadedApplication, Diagnostics> {
    let mut inputs: Vec<PathBuf> = location.on_disk().map(PathBuf::from).into_iter().collect();
    let (mut all, mut codes) = (Vec::new(), Vec::new());
    for listed in &list.kernels {
        let (workload, code) = traces::listed(&location, listed, options, watch)?;
        inputs.extend(location.beside(&listed.file).on_disk().map(PathBuf::from));
        codes.push(code);
        all.push(Traced { line: listed.line, workload });
    }
    // a kernel may be listed several times
    inputs.sort();
    inputs.dedup();
    Ok(LoadedApplication {
        name_given: name.to_owned(),
        name: location.stem(),
        application: Application::Traces(all.into()),
        spec: None,
        codes,
        location,
        inputs,
    })
}

/// Applies the options `--let NAME=VALUE`.
fn set_constants(spec: &mut SequenceSpec, options: &[String], texts: &mut Texts) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    for option in options {
        let place = format!("--let {option}");
        let Some((name, value)) = option.split_once('=') else {
            problems.push(Diagnostic::general(place, "expected NAME=VALUE").hint("for example --let n=128"));
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        let known = spec.constants.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let Some((_, old)) = spec.constants.iter_mut().find(|(known, _)| known == name) else {
            let hint =
                if known.is_empty() { "it names none".to_owned() } else { format!("its numbers: {known}") };
            let message = format!("the program names no number `{name}`");
            problems.push(Diagnostic::general(place, message).hint(hint));
            continue;
        };
        match Expr::parse(value) {
            Ok(new) => *old = new,
            Err(message) => problems.push(Diagnostic::general(place.clone(), message)),
        }
        let path = vec![Step::field("let"), Step::field(name.to_owned())];
        texts.replace(path, SourceText::new(place, value));
    }
    problems.into_result(())
}

impl LoadedApplication {
    /// Returns one of its launches as a workload, and the code of that launch.
    pub fn launch(&self, number: u64) -> Result<(Workload, SourceText), Diagnostics> {
        let found = match &self.application {
            Application::Program(sequence) => sequence.launch(number).map(|step| {
                let module = sequence.kernel(&step).module;
                let kind = WorkloadKind::Step { sequence: Arc::clone(sequence), step: Box::new(step) };
                (Workload { name: format!("{}[{number}]", self.name), kind }, self.codes[module].clone())
            }),
            Application::Traces(traces) => usize::try_from(number).ok().and_then(|index| {
                Some((traces.get(index)?.workload.clone(), self.codes.get(index)?.clone()))
            }),
        };
        found.ok_or_else(|| {
            let message = format!("`{}` has {}", self.name, self.kernels());
            Diagnostic::general(format!("--launch {number}"), message)
                .hint("the first has the number 0")
                .into()
        })
    }

    /// Returns the number of kernels as text.
    fn kernels(&self) -> String {
        let launches = self.application.launches();
        match &self.application {
            Application::Program(_) => format!("{launches} launches"),
            Application::Traces(_) => format!("{launches} kernels"),
        }
    }

    /// Returns the kind of application as text.
    fn kind(&self) -> &'static str {
        match &self.application {
            Application::Program(_) => "program",
            Application::Traces(_) => "list",
        }
    }

    /// Returns the program, or an error if this is a list of traces.
    pub fn program(&self) -> Result<&Arc<Sequence>, Diagnostics> {
        self.application.program().ok_or_else(|| {
            let message = "this takes code, and a list of traces is of runs";
            Diagnostic::general(self.location.shown(), message).into()
        })
    }

    /// Returns the contents of the program file as plain data.
    pub fn written(&self) -> serde_json::Value {
        serde_json::to_value(&self.spec).expect("a program is plain data")
    }

    /// Returns the error for a command that accepts only a single launch.
    pub fn takes_one(&self) -> Diagnostics {
        let last = self.application.launches().saturating_sub(1);
        let (kind, kernels) = (self.kind(), self.kernels());
        let message = format!("`{}` is a {kind} of {kernels}, and this command takes one", self.name);
        Diagnostic::general(self.location.shown(), message)
            .hint(format!(
                "choose one with --launch N, 0 to {last}, where that is an option; check, run and compare take {kind}s"
            ))
            .into()
    }

    /// Returns the error for an option that applies only to a single launch.
    pub fn needs_one(&self, option: &str) -> Diagnostics {
        let message = format!("{option} is of one launch, and `{}` is a {}", self.name, self.kind());
        let last = self.application.launches().saturating_sub(1);
        let hint = format!("choose one with --launch N, 0 to {last}");
        Diagnostic::general(option, message).hint(hint).into()
    }

    /// Returns the policy that a machine names.
    pub fn policy(&self, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
        match machine.scheduler() {
            SchedulerKind::Replay(_) => Err(self.needs_one("a schedule to replay")),
            kind => policies::setup(kind),
        }
    }

    /// Returns the plan for a run of the application.
    pub fn plan<'a>(
        &'a self,
        machine: &'a Machine,
        bounds: &'a [Box<dyn Bound>],
        gating: &'a [String],
        common: &Common,
        self_check: bool,
        watch: &'a Watch,
    ) -> ApplicationPlan<'a> {
        ApplicationPlan {
            name: &self.name,
            application: &self.application,
            machine,
            bounds,
            gating,
            max_instructions_per_block: common.fuel(),
            threads: common.threads(),
            jobs: 1,
            ahead: common.runs_ahead(),
            self_check,
            race_memory: common.race_memory(),
            watch,
        }
    }

    /// Returns the files for a folder from which the program can be run again: `program.ron`, its
    /// modules and its data. A list of traces has no such files.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
        let (Some(mut spec), Some(sequence)) = (self.spec.clone(), self.application.program()) else {
            return Ok(Vec::new());
        };
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for module in spec.modules() {
            let Some(index) = sequence.modules.iter().position(|known| known.name == *module) else {
                continue;
            };
            *module = format!("kernel{index}.ptx");
            if !files.iter().any(|(name, _)| name == module) {
                files.push((module.clone(), self.codes[index].text().as_bytes().to_vec()));
            }
        }
        for (index, path) in spec.data_files().into_iter().enumerate() {
            let name = format!("data{index}.bin");
            files.push((name.clone(), self.location.beside(path).bytes(read::DATA_BYTES)?));
            *path = name;
        }
        let text = to_ron("program.ron", &spec, ron::extensions::Extensions::empty())?;
        files.push(("program.ron".to_owned(), text.into_bytes()));
        Ok(files)
    }

    /// Returns the names and digests of every file that it consists of.
    pub fn digests(&self) -> Result<Vec<(String, u64)>, Diagnostics> {
        let (Some(spec), Some(sequence)) = (&self.spec, self.application.program()) else {
            return Ok(traces::digests(&self.inputs)?);
        };
        let text = to_ron(&self.location.shown(), spec, ron::extensions::Extensions::empty())?;
        let mut all = vec![(self.location.shown(), Fnv1a::of(text.as_bytes()))];
        let modules = sequence.modules.iter().zip(&self.codes);
        all.extend(modules.map(|(module, code)| (module.name.clone(), Fnv1a::of(code.text().as_bytes()))));
        for path in spec.clone().data_files() {
            all.push((path.clone(), Fnv1a::of(&self.location.beside(path).bytes(read::DATA_BYTES)?)));
        }
        Ok(all)
    }

    /// Adds the source lines of the modules to the errors of a run.
    pub fn with_excerpts(&self, problems: Diagnostics) -> Diagnostics {
        self.codes.iter().fold(problems, |problems, code| problems.with_excerpts(code))
    }
}
