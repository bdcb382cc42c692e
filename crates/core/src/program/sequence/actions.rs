//! Iteration over the steps of an application.

use super::steps::{LaunchStep, Step};
use super::{MAX_LAUNCHES, MAX_STEPS, Sequence};
use crate::diag::{Diagnostic, Diagnostics, Place, closest};
use crate::program::expr::{Expr, Names};
use crate::program::image::Bound;
use crate::program::launch::{
    ArgSpec, BufferSpec, Call, ImageSpec, Launch, Named, Scope, bind, call, check_references, fill, size,
};
use crate::program::layout::GLOBALS_BASE;
use crate::program::names::{self, Found};

/// The first random stream of the seed for the data that steps write; buffers and symbols use the
/// streams before it.
const WRITE_STREAMS: u64 = 0x2_0000;

/// An action of an application.
#[derive(Clone, Debug)]
pub enum Action {
    /// A kernel launch.
    Launch(Box<LaunchAction>),
    /// A copy in device memory.
    Copy {
        /// The source.
        from: Target,
        /// The destination.
        to: Target,
        /// The number of bytes.
        bytes: usize,
    },
    /// A copy from the host to device memory.
    Write {
        /// The destination.
        to: Target,
        /// The data.
        bytes: Vec<u8>,
    },
}

/// A launch of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchAction {
    /// The number of the launch, from 0.
    pub number: u64,
    /// The index in [`Sequence::statements`].
    pub statement: usize,
    /// The counters of the enclosing loops, the outermost first.
    pub counters: Vec<(String, i128)>,
    /// The shape and the arguments; pointers are addresses.
    pub launch: Launch,
}

/// The source or destination of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The address of a buffer or a variable in global memory.
    Global(u64),
    /// The constant memory of a module.
    Constant {
        /// The index in [`Sequence::modules`].
        module: usize,
        /// The offset in bytes.
        offset: u64,
    },
}

/// The reason why a step cannot be performed.
#[derive(Debug)]
pub struct Wrong {
    /// The index of the `Launch` step, if it is one.
    pub statement: Option<usize>,
    /// The diagnostics.
    pub problems: Diagnostics,
}

impl From<Diagnostic> for Wrong {
    fn from(problem: Diagnostic) -> Self {
        Self { statement: None, problems: problem.into() }
    }
}

/// An iterator over the actions of an application.
#[derive(Debug)]
pub struct Actions<'a> {
    sequence: &'a Sequence,
    frames: Vec<Frame<'a>>,
    names: Names,
    counters: Vec<(String, i128)>,
    /// The buffers under their current names.
    named: Vec<Named>,
    /// The current bindings of textures and surfaces.
    images: Vec<Bound>,
    launches: u64,
    steps: u64,
}

/// A list of steps in progress: the whole application or the body of a loop.
#[derive(Debug)]
struct Frame<'a> {
    steps: &'a [Step],
    place: Place<'a>,
    next: usize,
    repetition: Repetition<'a>,
}

/// The repetition of a list of steps; `Times` contains the number of further iterations.
#[derive(Debug)]
enum Repetition<'a> {
    Once,
    Times(i128),
    For { condition: &'a Expr, next: Option<&'a Expr>, place: Place<'a> },
}

impl<'a> Actions<'a> {
    pub(super) fn new(sequence: &'a Sequence) -> Self {
        let place = sequence.texts.root().field("steps");
        let frame = Frame { steps: &sequence.steps, place, next: 0, repetition: Repetition::Once };
        Self {
            sequence,
            frames: vec![frame],
            names: sequence.names.clone(),
            counters: Vec::new(),
            named: sequence.named.clone(),
            images: sequence.images.clone(),
            launches: 0,
            steps: 0,
        }
    }

    /// Returns the current names of the buffers, each with its index in [`Sequence::buffers`].
    pub fn buffers(&self) -> Vec<(String, usize)> {
        let first = |buffer: &Named| self.sequence.named.iter().position(|n| n.address == buffer.address);
        self.named.iter().filter_map(|buffer| Some((buffer.name.clone(), first(buffer)?))).collect()
    }

    /// Performs one step, or ends a loop iteration.
    fn advance(&mut self) -> Result<Option<Action>, Wrong> {
        let Some(frame) = self.frames.last_mut() else { return Ok(None) };
        self.steps += 1;
        if self.steps > MAX_STEPS {
            let message = format!("the program takes more than {MAX_STEPS} steps");
            return Err(frame.place.error(message).hint("does every loop end?").into());
        }
        let Some(step) = frame.steps.get(frame.next) else {
            self.end_iteration()?;
            return Ok(None);
        };
        let place = frame.place.item(frame.next);
        frame.next += 1;
        match step {
            Step::Launch(step) => return self.launch(step, &place).map(Some),
            Step::Repeat(times, steps) => {
                let times = times.eval(&self.names).map_err(|message| place.item(0).error(message))?;
                if times > 0 {
                    let (place, repetition) = (place.item(1), Repetition::Times(times - 1));
                    self.frames.push(Frame { steps, place, next: 0, repetition });
                }
            }
            Step::For { var, from, condition, next, steps } => {
                let first = from.eval(&self.names).map_err(|message| place.field("from").error(message))?;
                let name_problem = |message: String| place.field("var").error(message);
                self.names.define(var, first).map_err(name_problem)?;
                self.counters.push((var.clone(), first));
                let repetition = Repetition::For { condition, next: next.as_ref(), place: place.clone() };
                self.frames.push(Frame { steps, place: place.field("do"), next: 0, repetition });
                self.check_condition()?;
            }
            Step::Swap(a, b) => {
                let [a, b] = [(a, 0), (b, 1)].map(|(name, item)| {
                    let found = self.named.iter().position(|named| named.name == *name);
                    found.ok_or_else(|| self.no_buffer(name, &place.item(item)))
                });
                self.swap(a?, b?);
            }
            Step::Bind(texture) => self.bind(ImageSpec::Texture(texture), &place.item(0))?,
            Step::BindSurface(surface) => self.bind(ImageSpec::Surface(surface), &place.item(0))?,
            Step::Copy { from, to, bytes } => {
                let wrong = |message: String| place.field("bytes").error(message);
                let bytes = bytes.eval(&self.names).map_err(wrong)?;
                let size =
                    u64::try_from(bytes).map_err(|_| wrong(format!("{bytes} bytes cannot be copied")))?;
                let from = self.target(from, size, &place.field("from"))?;
                let to = self.target(to, size, &place.field("to"))?;
                return Ok(Some(Action::Copy { from, to, bytes: size as usize }));
            }
            Step::Write { to, data } => {
                let bytes = self.contents(data, &place)?;
                let to = self.target(to, bytes.len() as u64, &place.field("to"))?;
                return Ok(Some(Action::Write { to, bytes }));
            }
        }
        Ok(None)
    }

    fn no_buffer(&self, name: &str, place: &Place) -> Diagnostic {
        let known: Vec<&str> = self.named.iter().map(|named| named.name.as_str()).collect();
        let near = closest(name, known.iter().copied());
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        place
            .error(format!("there is no buffer `{name}`"))
            .hint(format!("{near}buffers: {}", known.join(", ")))
    }

    fn swap(&mut self, a: usize, b: usize) {
        let (of_a, of_b) = (self.named[a].clone(), self.named[b].clone());
        (self.named[a].address, self.named[a].size) = (of_b.address, of_b.size);
        (self.named[b].address, self.named[b].size) = (of_a.address, of_a.size);
    }

    /// Binds a texture or surface to another image.
    fn bind(&mut self, spec: ImageSpec, place: &Place) -> Result<(), Diagnostic> {
        let variables = self.sequence.variables.first().map_or(&[][..], Vec::as_slice);
        for bound in bind(spec, &self.scope(variables), place)? {
            self.images.retain(|before| before.handle != bound.handle);
            self.images.push(bound);
        }
        Ok(())
    }

    /// Returns the current scope of names for a kernel with these variables.
    fn scope<'s>(&'s self, variables: &'s [Named]) -> Scope<'s> {
        Scope { names: &self.names, buffers: &self.named, variables, images: &self.sequence.handles }
    }

    /// Ends an iteration of the innermost loop.
    fn end_iteration(&mut self) -> Result<(), Diagnostic> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        frame.next = 0;
        match &mut frame.repetition {
            Repetition::Times(remaining) if *remaining > 0 => *remaining -= 1,
            Repetition::Times(_) | Repetition::Once => {
                self.frames.pop();
            }
            Repetition::For { next, place, .. } => {
                let Some((_, counter)) = self.counters.last_mut() else { return Ok(()) };
                let value = match next {
                    Some(next) => next.eval(&self.names),
                    None => Ok(*counter + 1),
                };
                *counter = value.map_err(|message| place.field("next").error(message))?;
                self.names.set_last(*counter);
                self.check_condition()?;
            }
        }
        Ok(())
    }

    /// Leaves the innermost `For` loop if its condition does not hold.
    fn check_condition(&mut self) -> Result<(), Diagnostic> {
        let Some(Frame { repetition: Repetition::For { condition, place, .. }, .. }) = self.frames.last()
        else {
            return Ok(());
        };
        let continues =
            condition.eval(&self.names).map_err(|message| place.field("while").error(message))? != 0;
        if !continues {
            self.frames.pop();
            self.counters.pop();
            self.names.forget_last();
        }
        Ok(())
    }

    fn contents(&self, data: &BufferSpec, place: &Place) -> Result<Vec<u8>, Diagnostic> {
        let variables = self.sequence.variables.first().map_or(&[][..], Vec::as_slice);
        let scope = self.scope(variables);
        let size = size(data, &scope, place)?;
        let files = &self.sequence.files;
        let read =
            |path: &str, _: u64| files.get(path).cloned().ok_or_else(|| format!("cannot read `{path}`"));
        let stream = (self.sequence.seed, WRITE_STREAMS + self.steps);
        fill(data, size, stream, &scope, place, &read).map(|buffer| buffer.bytes)
    }

    /// Returns the location that a `Ptr` of a copy names, which must have room for `bytes` bytes.
    fn target(&self, arg: &ArgSpec, bytes: u64, place: &Place) -> Result<Target, Diagnostic> {
        let ArgSpec::Ptr(name, offset) = arg else {
            return Err(place
                .error("this is not a place to copy from or to")
                .hint("Ptr(\"x\") or Ptr(\"x\", BYTES)"));
        };
        let wrong = |message: String| place.error(message);
        let offset = offset.eval(&self.names).map_err(wrong)?;
        let (target, size) = match self.named.iter().find(|named| named.name == *name) {
            Some(named) => (Target::Global(named.address), named.size),
            None => self.variable(name).ok_or_else(|| self.no_buffer(name, place))?,
        };
        let end = offset + i128::from(bytes);
        if offset < 0 || end > size.into() {
            let message = format!("bytes {offset} to {end} are outside of `{name}`, which has {size} bytes");
            return Err(place.error(message));
        }
        let by = offset as u64;
        Ok(match target {
            Target::Global(address) => Target::Global(address + by),
            Target::Constant { module, offset } => Target::Constant { module, offset: offset + by },
        })
    }

    /// Returns a variable that exists in exactly one module.
    fn variable(&self, name: &str) -> Option<(Target, u64)> {
        let mut found = Vec::new();
        for (module, memory) in self.sequence.modules.iter().map(|module| &module.memory).enumerate() {
            let globals = &memory.globals.vars;
            let all: Vec<_> = globals.iter().chain(&memory.constants.vars).collect();
            let known: Vec<&str> = all.iter().map(|variable| variable.name.as_str()).collect();
            if let Found::One(index) = names::find_whole(name, known) {
                let offset = all[index].offset;
                let target = if index < globals.len() {
                    Target::Global(GLOBALS_BASE + offset)
                } else {
                    Target::Constant { module, offset }
                };
                found.push((target, all[index].size));
            }
        }
        match found.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    fn launch(&mut self, step: &LaunchStep, place: &Place) -> Result<Action, Wrong> {
        let mut problems = Diagnostics::new();
        let statement = step.statement;
        if self.launches == MAX_LAUNCHES {
            return Err(place.error(format!("the program makes more than {MAX_LAUNCHES} launches")).into());
        }
        let kernel = &self.sequence.kernels[self.sequence.statements[statement].kernel];
        let variables = &self.sequence.variables[kernel.module];
        let scope = self.scope(variables);
        let LaunchStep { grid, block, dynamic_shared, registers, args, .. } = step;
        let fields = Call { grid, block, dynamic_shared, registers: *registers, args };
        let mut launch = call(&fields, &kernel.program, &scope, place, &mut problems);
        launch.images.clone_from(&self.images);
        if problems.is_empty() {
            check_references(&launch, &kernel.program, place, &mut problems);
        }
        let number = self.launches;
        self.launches += 1;
        if !problems.is_empty() {
            return Err(Wrong { statement: Some(statement), problems });
        }
        let counters = self.counters.clone();
        Ok(Action::Launch(Box::new(LaunchAction { number, statement, counters, launch })))
    }
}

impl Iterator for Actions<'_> {
    type Item = Result<Action, Wrong>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.frames.is_empty() {
            match self.advance() {
                Ok(Some(action)) => return Some(Ok(action)),
                Ok(None) => {}
                Err(wrong) => {
                    if wrong.statement.is_none() {
                        // later steps would only repeat the error
                        self.frames.clear();
                    }
                    return Some(Err(wrong));
                }
            }
        }
        None
    }
}
