//! Program files: their modules, kernels and data.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use super::args::{Common, PtxLaunch};
use super::assets::Location;
use super::files::read;
use super::modules::Module;
use super::{launches, policies};
use crate::base::Watch;
use crate::bound::Bound;
use crate::check::SequencePlan;
use crate::diag::{Diagnostic, Diagnostics, SourceText, Step, Texts, to_ron};
use crate::machine::{Machine, SchedulerKind};
use crate::program::expr::Expr;
use crate::program::sequence::{LaunchAction, Sequence, SequenceSpec};
use crate::sim::PolicySetup;

/// A program as found.
#[derive(Clone)]
pub struct LoadedProgram {
    /// As the command line named it.
    pub name_given: String,
    /// What reports call it.
    pub name: String,
    /// The program, its launches fitted to their kernels.
    pub sequence: Arc<Sequence>,
    /// As the file says it.
    pub spec: SequenceSpec,
    /// The PTX of each module.
    pub codes: Vec<SourceText>,
    /// Where it came from.
    pub location: Location,
    /// Every file on disk that was read for it.
    pub inputs: Vec<PathBuf>,
}

/// Whether a file is a program and no launch.
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
) -> Result<LoadedProgram, Diagnostics> {
    if options.says_a_launch() {
        let problem = Diagnostic::general(
            name,
            "--entry, --grid, --block, --arg and their like change one launch, and this is a program",
        );
        return Err(problem.hint("change its numbers with --let NAME=VALUE, or edit a copy").into());
    }
    let mut spec = SequenceSpec::parse(&source)?;
    let mut texts = Texts::new(source);
    set_constants(&mut spec, &options.constant, &mut texts)?;
    let inputs = RefCell::new(location.on_disk().map(PathBuf::from).into_iter().collect::<Vec<_>>());
    let mut modules: Vec<(String, Module)> = Vec::new();
    let mut codes = Vec::new();
    let mut kernel = |file: &str, entry: &str| {
        let index = match modules.iter().position(|(known, _)| known == file) {
            Some(index) => index,
            None => {
                let module = location.beside(&options.module(file));
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
    Ok(LoadedProgram {
        name_given: name.to_owned(),
        name: options.name_of(&location.stem()),
        sequence: Arc::new(sequence),
        spec,
        codes,
        location,
        inputs: inputs.into_inner(),
    })
}

/// `--let NAME=VALUE`.
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

impl LoadedProgram {
    /// One of its launches.
    pub fn launch(&self, number: u64) -> Result<LaunchAction, Diagnostics> {
        self.sequence.launch(number).ok_or_else(|| {
            let message = format!("`{}` has {} launches", self.name, self.sequence.launches);
            Diagnostic::general(format!("--launch {number}"), message)
                .hint("the first has the number 0")
                .into()
        })
    }

    /// For what looks at one launch alone.
    pub fn takes_one(&self) -> Diagnostics {
        let launches = self.sequence.launches;
        let message =
            format!("`{}` is a program of {launches} launches, and this command takes one", self.name);
        Diagnostic::general(self.location.shown(), message)
            .hint(format!(
                "choose one with --launch N, 0 to {}, where that is an option; check, run and compare take programs",
                launches.saturating_sub(1)
            ))
            .into()
    }

    /// For an option that looks at one launch alone.
    pub fn needs_one(&self, option: &str) -> Diagnostics {
        let message = format!("{option} is of one launch, and `{}` is a program", self.name);
        let hint = format!("choose one with --launch N, 0 to {}", self.sequence.launches.saturating_sub(1));
        Diagnostic::general(option, message).hint(hint).into()
    }

    /// The policy that a machine says.
    pub fn policy(&self, machine: &Machine) -> Result<PolicySetup, Diagnostics> {
        match machine.scheduler() {
            SchedulerKind::Replay(_) => Err(self.needs_one("a schedule to replay")),
            kind => policies::setup(kind),
        }
    }

    /// How to run it.
    pub fn plan<'a>(
        &'a self,
        machine: &'a Machine,
        bounds: &'a [Box<dyn Bound>],
        gating: &'a [String],
        common: &Common,
        self_check: bool,
        watch: &'a Watch,
    ) -> SequencePlan<'a> {
        SequencePlan {
            name: &self.name,
            sequence: &self.sequence,
            machine,
            bounds,
            gating,
            max_instructions_per_block: common.fuel(),
            threads: common.threads(),
            ahead: common.runs_ahead(),
            self_check,
            race_memory: common.race_memory(),
            watch,
        }
    }

    /// What a folder needs to run the program again: `program.ron`, its modules, its data.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, Diagnostics> {
        let mut spec = self.spec.clone();
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for module in spec.modules() {
            let Some(index) = self.sequence.modules.iter().position(|known| known.name == *module) else {
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

    /// Problems of a run, with the lines of the modules.
    pub fn with_excerpts(&self, problems: Diagnostics) -> Diagnostics {
        self.codes.iter().fold(problems, |problems, code| problems.with_excerpts(code))
    }
}
