//! Resolves the kernels that the steps of an application name.

use super::{Kernel, LoadKernel, Module, Statement};
use crate::diag::{Diagnostics, Place};
use crate::program::expr::Expr;
use crate::program::launch::{ArgSpec, BufferSpec, ShapeSpec, SurfaceSpec, TextureSpec};
use crate::program::sequence::StepSpec;

/// A step whose kernel is resolved. Names in expressions and pointers are resolved when the step is
/// performed.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Launch(Box<LaunchStep>),
    Repeat(Expr, Vec<Step>),
    For { var: String, from: Expr, condition: Expr, next: Option<Expr>, steps: Vec<Step> },
    Swap(String, String),
    Bind(Box<TextureSpec>),
    BindSurface(Box<SurfaceSpec>),
    Copy { from: Box<ArgSpec>, to: Box<ArgSpec>, bytes: Expr },
    Write { to: Box<ArgSpec>, data: Box<BufferSpec> },
}

/// The fields of a `Launch` step.
#[derive(Clone, Debug)]
pub(super) struct LaunchStep {
    pub statement: usize,
    pub grid: ShapeSpec,
    pub block: ShapeSpec,
    pub dynamic_shared: Expr,
    pub registers: Option<u32>,
    pub args: Vec<ArgSpec>,
}

/// Resolves the kernels that steps name.
pub(super) struct Compiler<'a> {
    default_module: Option<&'a str>,
    load: LoadKernel<'a>,
    /// The (module, entry) pair of each kernel.
    names: Vec<(String, String)>,
    pub kernels: Vec<Kernel>,
    pub modules: Vec<Module>,
    pub statements: Vec<Statement>,
}

impl<'a> Compiler<'a> {
    pub fn new(default_module: Option<&'a str>, load: LoadKernel<'a>) -> Self {
        let (names, kernels, modules, statements) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { default_module, load, names, kernels, modules, statements }
    }

    pub fn steps(&mut self, specs: &[StepSpec], place: &Place, problems: &mut Diagnostics) -> Vec<Step> {
        let mut steps = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            let place = place.item(index);
            steps.extend(self.step(spec, &place, problems));
        }
        steps
    }

    fn step(&mut self, spec: &StepSpec, place: &Place, problems: &mut Diagnostics) -> Option<Step> {
        Some(match spec {
            StepSpec::Launch { module, entry, grid, block, dynamic_shared, registers, args } => {
                let Some(module) = module.as_deref().or(self.default_module) else {
                    let problem = place.error("this launch names no module");
                    problems.push(
                        problem.hint("add module: \"FILE.ptx\" here, or once at the top of the program"),
                    );
                    return None;
                };
                if let Some(index) = args.iter().position(|arg| matches!(arg, ArgSpec::Buffer { .. })) {
                    let problem = place.field("args").item(index).error("a buffer inside of a step");
                    problems
                        .push(problem.hint("name it in the program's `buffers` and pass Ptr(\"its name\")"));
                    return None;
                }
                let kernel = self.kernel(module, entry, place, problems)?;
                let line = place.error("").line;
                self.statements.push(Statement { kernel, line });
                Step::Launch(Box::new(LaunchStep {
                    statement: self.statements.len() - 1,
                    grid: grid.clone(),
                    block: block.clone(),
                    dynamic_shared: dynamic_shared.clone(),
                    registers: *registers,
                    args: args.clone(),
                }))
            }
            StepSpec::Repeat(times, steps) => {
                Step::Repeat(times.clone(), self.steps(steps, &place.item(1), problems))
            }
            StepSpec::For { var, from, condition, next, steps } => Step::For {
                var: var.clone(),
                from: from.clone(),
                condition: condition.clone(),
                next: next.clone(),
                steps: self.steps(steps, &place.field("do"), problems),
            },
            StepSpec::Swap(a, b) => Step::Swap(a.clone(), b.clone()),
            StepSpec::Bind(texture) => Step::Bind(texture.clone()),
            StepSpec::BindSurface(surface) => Step::BindSurface(surface.clone()),
            StepSpec::Copy { from, to, bytes } => {
                Step::Copy { from: Box::new(from.clone()), to: Box::new(to.clone()), bytes: bytes.clone() }
            }
            StepSpec::Write { to, elem, len, init } => {
                let name = match to {
                    ArgSpec::Ptr(name, _) => name.clone(),
                    _ => String::new(),
                };
                let (len, init) = (len.clone(), init.clone());
                let data = BufferSpec { name, elem: *elem, len, init, constant: false };
                Step::Write { to: Box::new(to.clone()), data: Box::new(data) }
            }
        })
    }

    /// Returns the index of a kernel; each kernel is loaded once.
    fn kernel(
        &mut self,
        module: &str,
        entry: &str,
        place: &Place,
        problems: &mut Diagnostics,
    ) -> Option<usize> {
        if let Some(known) = self.names.iter().position(|(m, e)| m == module && e == entry) {
            return Some(known);
        }
        match (self.load)(module, entry) {
            Ok((index, program)) => {
                if index == self.modules.len() {
                    let (memory, name) = (program.memory.clone(), module.to_owned());
                    self.modules.push(Module { name, memory, symbols: Vec::new() });
                }
                self.names.push((module.to_owned(), entry.to_owned()));
                self.kernels.push(Kernel { module: index, program });
                Some(self.kernels.len() - 1)
            }
            Err(wrong) => {
                for problem in wrong.list() {
                    // a problem without a location is attributed to the step
                    let located =
                        place.field("entry").error(problem.message.clone()).hint(problem.hint.clone());
                    problems.push(if problem.line == 0 { located } else { problem.clone() });
                }
                None
            }
        }
    }
}
