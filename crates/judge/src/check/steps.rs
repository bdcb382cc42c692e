//! The execution of the steps of a program without timing: memory passes from launch to launch.

use warpbound_core::base::ProgressMonitor;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::path::{BlockPaths, BlockSource};
use warpbound_core::program::sequence::{Action, Actions, LaunchAction, Sequence, Wrong};
use warpbound_exec::races::{BlockOrder, makes_varying_values};
use warpbound_exec::{Device, Executor, Options};

/// Returns the memory before the first step.
pub(super) fn start(sequence: &Sequence) -> Result<Device, Diagnostics> {
    let modules = sequence.modules.iter().map(|module| (&module.memory, module.symbols.as_slice()));
    Device::new(modules, &sequence.buffers)
}

/// The actions that remain after some launches: the next launch, and the copies before it.
pub(super) struct After<'a> {
    actions: Actions<'a>,
    /// The number of launches to skip.
    left: u64,
}

impl<'a> After<'a> {
    /// Skips `left` launches and the copies before them. With `left` = 0, nothing is skipped.
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

/// Returns the memory after an action that is not a launch.
pub(super) fn copied(mut device: Device, action: &Action) -> Result<Device, Diagnostics> {
    let written = match action {
        Action::Launch(_) => true,
        Action::Write { to, bytes } => device.copy_in(*to, bytes),
        Action::Copy { from, to, bytes } => device.copy(*from, *to, *bytes),
    };
    if written { Ok(device) } else { Err(Diagnostic::general("program", "a copy outside of memory").into()) }
}

/// Returns the memory before a launch, after executing the earlier launches without timing. If that
/// is stopped, the memory is in its state at that time, and the launch itself will not yield any
/// blocks.
///
/// # Errors
/// Returns the error of a kernel, with the launch in which it occurred.
pub(super) fn before(
    sequence: &Sequence,
    number: u64,
    options: Options,
    monitor: &ProgressMonitor,
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
    execute_sequence(sequence, Some(number), options, monitor, &mut |_, run| {
        while run.next_block(&mut paths)? {}
        Ok(())
    })
}

/// Executes the launches of a program, either all of them or those before one. `blocks` has to take
/// every block of each launch. Returns the memory at the end, or at the point at which the run was
/// stopped.
///
/// # Errors
/// Returns the error of a kernel, with the launch in which it occurred.
pub fn execute_sequence(
    sequence: &Sequence,
    until: Option<u64>,
    options: Options,
    monitor: &ProgressMonitor,
    blocks: &mut dyn FnMut(&LaunchAction, &mut Executor) -> Result<(), Diagnostics>,
) -> Result<Device, Diagnostics> {
    let mut device = start(sequence)?;
    for action in sequence.actions() {
        device = match action.map_err(|wrong| wrong.problems)? {
            Action::Launch(step) if Some(step.number) == until || monitor.is_stopped() => break,
            Action::Launch(step) => {
                let kernel = sequence.kernel(&step);
                let run = Executor::on(device, kernel.module, &kernel.program, &step.launch, options);
                let done = run.and_then(|run| {
                    let mut run = run.watched(monitor);
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

/// Adds the launch in which these problems occurred.
pub(super) fn in_launch(problems: Diagnostics, sequence: &Sequence, step: &LaunchAction) -> Diagnostics {
    let line = sequence.statements[step.statement].line;
    let counters: Vec<String> =
        step.counters.iter().map(|(name, value)| format!(", {name} = {value}")).collect();
    let launch = format!("in launch {} (line {line} of the program{})", step.number, counters.concat());
    problems.map(|problem| Diagnostic { message: format!("{launch}: {}", problem.message), ..problem })
}
