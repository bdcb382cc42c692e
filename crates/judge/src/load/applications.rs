//! Loads applications: program files with their modules, kernels and data, and lists of traces.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use super::location::Location;
use super::modules::{self, Module};
use super::options::{LaunchOptions, OptionNames};
use super::read;
use super::{launches, sources, traces};
use crate::check::{Application, Subject, Traced, Workload, WorkloadKind};
use warpbound_core::base::{Fnv1a, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics, SourceText, Step, Texts, to_ron};
use warpbound_core::program::expr::Expr;
use warpbound_core::program::sequence::{Sequence, SequenceSpec};
use warpbound_front::accelsim::KernelsList;

/// A loaded application.
#[derive(Clone, Debug)]
pub struct LoadedApplication {
    /// The name that was given for it.
    pub name_given: String,
    /// The name in reports.
    pub name: String,
    /// The kernels, in order.
    pub application: Application,
    /// The contents of the program file; `None` for a list of traces.
    spec: Option<SequenceSpec>,
    /// The code of each module or trace.
    pub codes: Vec<SourceText>,
    /// The file of each module; empty for a list of traces.
    places: Vec<Location>,
    /// The file it was loaded from.
    pub location: Location,
    /// Every file of the caller that was read for it.
    pub inputs: Vec<PathBuf>,
    /// The names of options in messages.
    names: OptionNames,
}

/// Returns whether a file is a program rather than a launch.
pub fn is_program(source: &SourceText) -> bool {
    let code = source.text().lines().map(str::trim);
    let mut code = code.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("#!"));
    code.next().is_some_and(|line| line.starts_with("Program"))
}

/// Reads a program and everything it names. `source` is its text.
///
/// # Errors
/// Returns an error if the program or a file that it names is invalid, or if an option does not
/// apply to programs.
pub fn load_program(
    name: &str,
    location: Location,
    source: SourceText,
    options: &LaunchOptions,
) -> Result<LoadedApplication, Diagnostics> {
    if options.describes_a_launch() {
        let problem = Diagnostic::general(
            name,
            format!("{} and similar options change one launch, and this is a program", options.some_names()),
        );
        let hint = format!("change its numbers with {} NAME=VALUE, or edit a copy", options.name("let"));
        return Err(problem.hint(hint).into());
    }
    let mut spec = SequenceSpec::parse(&source)?;
    let mut texts = Texts::new(source.clone());
    set_constants(&mut spec, options, &mut texts)?;
    let inputs = RefCell::new(location.path().map(PathBuf::from).into_iter().collect::<Vec<_>>());
    let mut modules: Vec<(String, Module)> = Vec::new();
    let (mut codes, mut places) = (Vec::new(), Vec::new());
    let mut kernel = |file: &str, entry: &str| {
        let index = match modules.iter().position(|(known, _)| known == file) {
            Some(index) => index,
            None => {
                let module = location.beside(&options.module(file));
                launches::module_is_there(&module, &source, file)?;
                inputs.borrow_mut().extend(module.path().map(PathBuf::from));
                let behind = modules.last().map_or(0, |(_, module)| module.globals_end());
                let place = module;
                let module = Module::read(&place, options, behind)?;
                codes.push(module.code.clone());
                places.push(place);
                modules.push((file.to_owned(), module));
                modules.len() - 1
            }
        };
        Ok((index, modules[index].1.program(entry)?))
    };
    let read = |path: &str, most: u64| launches::read_data(&location, path, most, &mut inputs.borrow_mut());
    let sequence = Sequence::new(&spec, options.seed, texts, &mut kernel, &read)?;
    Ok(LoadedApplication {
        name_given: name.to_owned(),
        name: options.name_of(&location.stem()),
        application: Application::Program(Arc::new(sequence)),
        spec: Some(spec),
        codes,
        places,
        location,
        inputs: inputs.into_inner(),
        names: options.names,
    })
}

/// Reads the traces of a list.
pub(super) fn load_list(
    name: &str,
    location: Location,
    list: &KernelsList,
    options: &LaunchOptions,
    monitor: &ProgressMonitor,
) -> Result<LoadedApplication, Diagnostics> {
    let mut inputs: Vec<PathBuf> = location.path().map(PathBuf::from).into_iter().collect();
    let (mut all, mut codes) = (Vec::new(), Vec::new());
    for listed in &list.kernels {
        let (workload, code) = traces::listed(&location, listed, options, monitor)?;
        inputs.extend(location.beside(&listed.file).path().map(PathBuf::from));
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
        places: Vec::new(),
        location,
        inputs,
        names: options.names,
    })
}

/// Applies the constants of the options.
fn set_constants(
    spec: &mut SequenceSpec,
    options: &LaunchOptions,
    texts: &mut Texts,
) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::new();
    let option = options.name("let");
    for constant in &options.constants {
        let place = format!("{option} {constant}");
        let Some((name, value)) = constant.split_once('=') else {
            let problem = Diagnostic::general(place, "expected NAME=VALUE");
            problems.push(problem.hint(format!("for example {option} n=128")));
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
    /// Returns the application as the subject of a verdict.
    pub fn subject(&self) -> Subject<'_> {
        Subject::Application { name: &self.name, application: &self.application }
    }

    /// Returns one of its launches as a workload, and the code of that launch.
    pub(super) fn launch(&self, number: u64) -> Result<(Workload, SourceText), Diagnostics> {
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
            Diagnostic::general(format!("{} {number}", self.names.of("launch")), message)
                .hint("the first has the number 0")
                .into()
        })
    }

    /// Returns the number of kernels as text.
    pub fn kernels(&self) -> String {
        let launches = self.application.launches();
        match &self.application {
            Application::Program(_) => format!("{launches} launches"),
            Application::Traces(_) => format!("{launches} kernels"),
        }
    }

    /// Returns the kind of application as text: a program or a list.
    pub fn kind(&self) -> &'static str {
        match &self.application {
            Application::Program(_) => "program",
            Application::Traces(_) => "list",
        }
    }

    /// Returns the program.
    ///
    /// # Errors
    /// Returns an error if this is a list of traces.
    pub fn program(&self) -> Result<&Arc<Sequence>, Diagnostics> {
        self.application.program().ok_or_else(|| {
            let message = "this command needs code, and a list of traces has only runs";
            Diagnostic::general(self.location.shown(), message).into()
        })
    }

    /// Returns the contents of the program file as plain data; null for a list of traces.
    pub fn written(&self) -> serde_json::Value {
        serde_json::to_value(&self.spec).expect("a program is plain data")
    }

    /// Returns the files for a folder from which the program can be run again: `program.ron`, its
    /// modules and its data. A list of traces has no such files.
    ///
    /// # Errors
    /// Returns an error if a file with data can no longer be read.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
        let (Some(mut spec), Some(sequence)) = (self.spec.clone(), self.application.program()) else {
            return Ok(Vec::new());
        };
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for module in spec.modules() {
            let Some(index) = sequence.modules.iter().position(|known| known.name == *module) else {
                continue;
            };
            let (ending, bytes) = modules::contents(&self.places[index], &self.codes[index])?;
            *module = format!("kernel{index}.{ending}");
            if !files.iter().any(|(name, _)| name == module) {
                files.push((module.clone(), bytes));
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
    ///
    /// # Errors
    /// Returns an error if a file can no longer be read.
    pub fn digests(&self) -> Result<Vec<(String, u64)>, Diagnostics> {
        let (Some(spec), Some(sequence)) = (&self.spec, self.application.program()) else {
            return Ok(self.location.digests(&self.inputs)?);
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
        let with = |problems, code| sources::with_excerpts(problems, code, &self.location, &self.inputs);
        self.codes.iter().fold(problems, with)
    }
}
