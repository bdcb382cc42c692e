//! Applications: sequences of launches over shared buffers, as a host program performs them. Here
//! an application is always that of a program file, never a list of traces.
//!
//! A [`SequenceSpec`] is the content of a program file. All steps of a [`Sequence`] have been
//! checked once, so every launch in it matches its kernel and the number of launches is known.
//! [`Sequence::actions`] iterates over it again in memory that does not grow with the number of
//! launches. The steps of an application are determined before it runs: none depends on what a
//! kernel computes.

mod actions;
mod spec;
mod steps;

pub use actions::{Action, Actions, LaunchAction, Target, Wrong};
pub use spec::{SequenceSpec, StepSpec};

use std::collections::BTreeMap;

use super::KernelCode;
use super::expr::Names;
use super::image::Bound;
use super::launch::{self, Buffer, BufferSpec, Handle, Named, ReadFile, prepare};
use super::layout::MemoryLayout;
use super::names;
use crate::diag::{Diagnostics, Place, Texts};
use steps::{Compiler, Step};

/// The maximum number of launches of an application.
pub const MAX_LAUNCHES: u64 = 1_000_000;
/// The maximum number of steps of an application: launches, copies, loop iterations.
pub const MAX_STEPS: u64 = 4_000_000;

/// An application whose launches match their kernels.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The kernels that it launches.
    pub kernels: Vec<Kernel>,
    /// The modules that contain the kernels.
    pub modules: Vec<Module>,
    /// The device memory before the first launch.
    pub buffers: Vec<Buffer>,
    /// The `Launch` steps in the order of the file.
    pub statements: Vec<Statement>,
    /// The number of launches.
    pub launches: u64,
    /// The buffers that `Ptr` can name before the first step.
    named: Vec<Named>,
    /// The handles of textures and surfaces.
    handles: Vec<Handle>,
    /// The bindings of textures and surfaces before the first step.
    images: Vec<Bound>,
    /// For each module, its variables and those of other modules that it can access by address.
    variables: Vec<Vec<Named>>,
    names: Names,
    steps: Vec<Step>,
    files: BTreeMap<String, Vec<u8>>,
    seed: u64,
    texts: Texts,
}

/// A kernel of an application.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The index in [`Sequence::modules`].
    pub module: usize,
    /// The decoded kernel.
    pub program: KernelCode,
}

/// A module of an application.
#[derive(Clone, Debug)]
pub struct Module {
    /// The name in the file.
    pub name: String,
    /// The variables with their initial contents.
    pub memory: MemoryLayout,
    /// The contents that the host copies to variables before the first launch.
    pub symbols: Vec<Buffer>,
}

/// A `Launch` step of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The index in [`Sequence::kernels`].
    pub kernel: usize,
    /// The line in the file.
    pub line: u32,
}

/// Loads a kernel, given the names of the module and of the entry. Returns the index of the module,
/// numbered in the order of first use, and the kernel.
pub type LoadKernel<'a> = &'a mut dyn FnMut(&str, &str) -> Result<(usize, KernelCode), Diagnostics>;

impl Sequence {
    /// Checks an application against its kernels. `texts` is the program file, for messages.
    ///
    /// # Errors
    /// Returns a diagnostic for everything that does not match, or if there are more launches than
    /// [`MAX_LAUNCHES`].
    pub fn new(
        spec: &SequenceSpec,
        seed: u64,
        texts: Texts,
        load: LoadKernel,
        read_file: ReadFile,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let names = constants(spec, &texts.root(), &mut problems);
        let mut compiler = Compiler::new(spec.module.as_deref(), load);
        let steps = compiler.steps(&spec.steps, &texts.root().field("steps"), &mut problems);
        let Compiler { kernels, modules, statements, .. } = compiler;
        let mut sequence = Self {
            kernels,
            modules,
            statements,
            names,
            steps,
            seed,
            buffers: Vec::new(),
            launches: 0,
            named: Vec::new(),
            handles: Vec::new(),
            images: Vec::new(),
            variables: Vec::new(),
            files: BTreeMap::new(),
            texts,
        };
        problems.into_result(())?;

        sequence.variables = (0..sequence.modules.len()).map(|module| sequence.visible(module)).collect();
        sequence.fill(spec, read_file)?;
        sequence.check_steps()?;
        Ok(sequence)
    }

    /// Returns the variables of a module.
    fn module_variables(&self, module: usize) -> Vec<Named> {
        let kernel = self.kernels.iter().find(|kernel| kernel.module == module);
        kernel.map_or(Vec::new(), |kernel| launch::variables(&kernel.program))
    }

    /// Returns the variables whose addresses a kernel of a module can use.
    fn visible(&self, module: usize) -> Vec<Named> {
        let mut all = self.module_variables(module);
        for other in (0..self.modules.len()).filter(|&other| other != module) {
            // constants are private to a module
            let globals = self.modules[other].memory.globals.vars.len();
            all.extend(self.module_variables(other).into_iter().take(globals));
        }
        all
    }

    /// Fills buffers and symbols.
    fn fill(&mut self, spec: &SequenceSpec, read_file: ReadFile) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::new();
        let texts = self.texts.clone();
        let place = texts.root();
        // read the files once, since steps in loops need them repeatedly
        for path in spec.clone().data_files() {
            if let Ok(bytes) = read_file(path, u64::MAX) {
                self.files.insert(path.clone(), bytes);
            }
        }
        let files = &self.files;
        let read = |path: &str, most: u64| files.get(path).cloned().map_or_else(|| read_file(path, most), Ok);
        let buffer =
            |(index, buffer): (usize, &BufferSpec)| (buffer.clone(), place.field("buffers").item(index));
        let specs: Vec<_> = spec.buffers.iter().enumerate().map(buffer).collect();
        let mut all: Vec<Named> = Vec::new();
        for variable in self.variables.iter().flatten() {
            if !all.contains(variable) {
                all.push(variable.clone());
            }
        }
        let images = launch::specs(&spec.textures, &spec.surfaces, &place);
        let of_module = |module| self.kernels.iter().filter(move |kernel| kernel.module == module);
        let nameable: Vec<Vec<Named>> = (0..self.modules.len())
            .map(|module| launch::nameable(of_module(module).map(|kernel| &kernel.program)))
            .collect();
        let handles = launch::handles(&images, &nameable, &mut problems);
        let scope = launch::Scope { names: &self.names, buffers: &[], variables: &all, images: &handles };
        let (buffers, named) = prepare(&specs, &scope, self.seed, &read, &mut problems);
        if problems.is_empty() {
            let scope = launch::Scope { buffers: &named, ..scope };
            self.images = launch::bind_all(&images, &scope, &mut problems);
        }
        let mut symbols = vec![Vec::new(); self.modules.len()];
        for (index, symbol) in spec.symbols.iter().enumerate() {
            let symbol_place = place.field("symbols").item(index);
            let owners: Vec<usize> = (0..self.modules.len())
                .filter(|&module| {
                    let known = self.modules[module].memory.globals.vars.iter();
                    let known = known.chain(&self.modules[module].memory.constants.vars);
                    let known = known.map(|variable| variable.name.as_str());
                    names::find_whole(&symbol.name, known) != names::Found::None
                })
                .collect();
            match owners.as_slice() {
                [module] => symbols[*module].push((symbol.clone(), symbol_place)),
                [] => {
                    let message = format!("no module has a variable `{}`", symbol.name);
                    let known: Vec<String> =
                        all.iter().map(|variable| names::shown(&variable.name)).collect();
                    problems.push(symbol_place.field("name").error(message).hint(known.join(", ")));
                }
                several => {
                    let message = format!("{} modules have a variable `{}`", several.len(), symbol.name);
                    problems.push(symbol_place.field("name").error(message).hint("give more of its name"));
                }
            }
        }
        for (module, specs) in symbols.into_iter().enumerate() {
            let Some(kernel) = self.kernels.iter().find(|kernel| kernel.module == module) else { continue };
            let variables = &self.variables[module];
            let scope = launch::Scope { names: &self.names, buffers: &named, variables, images: &handles };
            self.modules[module].symbols =
                launch::symbols(&specs, &kernel.program, &scope, self.seed, &read, &mut problems);
        }
        (self.buffers, self.named, self.handles) = (buffers, named, handles);
        problems.into_result(())
    }

    /// Iterates over all steps once to find errors and to count launches.
    fn check_steps(&mut self) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut failed = vec![false; self.statements.len()];
        let mut launches = 0;
        for action in self.actions() {
            match action {
                Ok(Action::Launch(_)) => launches += 1,
                Ok(Action::Copy { .. } | Action::Write { .. }) => {}
                Err(wrong) => {
                    // later iterations would report the same problem
                    let seen = wrong.statement.and_then(|statement| failed.get_mut(statement));
                    if !seen.is_some_and(|seen| std::mem::replace(seen, true)) {
                        problems.append(wrong.problems);
                    }
                }
            }
        }
        if launches == 0 && problems.is_empty() {
            problems.push(self.texts.root().field("steps").error("the program launches no kernel"));
        }
        self.launches = launches;
        problems.into_result(())
    }

    /// Iterates over the steps, launch by launch. After [`Sequence::new`] there are no errors.
    pub fn actions(&self) -> Actions<'_> {
        Actions::new(self)
    }

    /// Returns the launch with this number.
    pub fn launch(&self, number: u64) -> Option<LaunchAction> {
        self.actions().filter_map(Result::ok).find_map(|action| match action {
            Action::Launch(launch) if launch.number == number => Some(*launch),
            _ => None,
        })
    }

    /// Returns the kernel of a launch.
    pub fn kernel(&self, launch: &LaunchAction) -> &Kernel {
        &self.kernels[self.statements[launch.statement].kernel]
    }

    /// Returns the index of the kernel of each launch, in order.
    pub fn launch_kernels(&self) -> impl Iterator<Item = usize> + '_ {
        self.actions().filter_map(|action| match action {
            Ok(Action::Launch(step)) => Some(self.statements[step.statement].kernel),
            _ => None,
        })
    }

    /// Returns the names of the buffers at the time of a launch, or after the last step if there is
    /// no launch, each with its index in [`Sequence::buffers`].
    pub fn buffers_at(&self, launch: Option<u64>) -> Vec<(String, usize)> {
        let mut actions = self.actions();
        let is_launch = |action: Result<Action, Wrong>| matches!(action, Ok(Action::Launch(step)) if Some(step.number) == launch);
        actions.by_ref().any(is_launch);
        actions.buffers()
    }
}

fn constants(spec: &SequenceSpec, place: &Place, problems: &mut Diagnostics) -> Names {
    let mut names = Names::default();
    for (name, value) in &spec.constants {
        let value = value.eval(&names).and_then(|value| names.define(name, value));
        if let Err(message) = value {
            problems.push(place.field("let").field(name.clone()).error(message));
        }
    }
    names
}
