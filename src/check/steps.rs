//! The steps of a program without a thought of time: memory goes from launch to launch.

use crate::base::Watch;
use crate::diag::{Diagnostic, Diagnostics};
use crate::exec::races::{BlockOrder, makes_varying_values};
use crate::exec::{Device, Executor, Options};
use crate::path::{BlockPaths, BlockSource};
use crate::program::sequence::{Action, Actions, LaunchAction, Sequence, Wrong};

/// Memory before the first step.
pub(super) fn start(sequence: &Sequence) -> Result<Device, Diagnostics> {
    let modules = sequence.modules.iter().map(|module| (&module.memory, module.symbols.as_slice()));
    Device::new(modules, &sequence.buffers)
}

/// The actions that are left after so many launches: the next of them, and what is copied before it.
pub(super) struct After<'a> {
    actions: Actions<'a>,
    /// Launches to pass over.
    left: u64,
}

impl<'a> After<'a> {
    /// None is passed over without a launch.
    pub(super) fn launches(actions: Actions<'a>, left: u64) -> Self {
        Self { actions, left }
    }
}

impl Iterator for After<'_> {
    type Item = Result<Action, Wrong>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            if let Ok(Action::Launch(_)) = self.actions.next()? {
                self.left -= 1;
            }
        }
        self.actions.next()
    }
}

/// Memory after something that is no launch.
pub(super) fn copied(mut device: Device, action: &Action) -> Result<Device, Diagnostics> {
    let written = match action {
        Action::Launch(_) => true,
        Action::Write { to, bytes } => device.copy_in(*to, bytes),
        Action::Copy { from, to, bytes } => device.copy(*from, *to, *bytes),
    };
    if written { Ok(device) } else { Err(Diagnostic::general("program", "a copy outside of memory").into()) }
}

/// Memory before a launch: those before it run, without a thought of time. If somebody ends that, memory is as it was
/// then, and the launch has no blocks either.
///
/// # Errors
/// What a kernel does wrong, with the launch in which it happened.
pub(super) fn before(
    sequence: &Sequence,
    number: u64,
    options: Options,
    watch: &Watch,
) -> Result<Device, Diagnostics> {
    let options = Options {
        banks: None,
        traffic: false,
        lanes: false,
        constants: false,
        divergence: false,
        races: sequence
            .kernels
            .iter()
            .any(|kernel| makes_varying_values(&kernel.program))
            .then_some(BlockOrder::SideBySide)
            .filter(|_| options.races.is_some()),
        ..options
    };
    let mut paths = BlockPaths::default();
    execute_sequence(sequence, Some(number), options, watch, &mut |_, run| {
        while run.next_block(&mut paths)? {}
        Ok(())
    })
}

/// Executes the launches of a program, all of them or those before one; `blocks` has to take every
/// block of each. Gives back the memory at the end, or where somebody ended the run.
///
/// # Errors
/// What a kernel does wrong, with the launch in which it happened.
pub fn execute_sequence(
    sequence: &Sequence,
    until: Option<u64>,
    options: Options,
    watch: &Watch,
    blocks: &mut dyn FnMut(&LaunchAction, &mut Executor) -> Result<(), Diagnostics>,
) -> Result<Device, Diagnostics> {
    let mut device = start(sequence)?;
    for action in sequence.actions() {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) if Some(step.number) == until || watch.is_stopped() => break,
            Action::Launch(step) => {
                let kernel = sequence.kernel(&step);
                let run = Executor::on(device, kernel.module, &kernel.program, &step.launch, options);
                let done = run.and_then(|run| {
                    let mut run = run.watched(watch);
                    blocks(&step, &mut run)?;
                    Ok(run.into_device())
                });
                done.map_err(|problems| in_launch(problems, sequence, &step))?
            }
            other => copied(device, &other)?,
        };
    }
    Ok(device)
}

/// The same problems, with the launch in which they came up.
pub(super) fn in_launch(problems: Diagnostics, sequence: &Sequence, step: &LaunchAction) -> Diagnostics {
    let line = sequence.statements[step.statement].line;
    let counters: Vec<String> =
        step.counters.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
    let launch = format!("in launch {} (line {line} of the program{})", step.number, counters.concat());
    problems.map(|problem| Diagnostic { message: format!("{launch}: {}", problem.message), ..problem })
}
