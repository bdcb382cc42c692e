//! The check that runs keep to given loop bounds.

use std::collections::{BTreeMap, HashMap};

use super::super::steps::execute_sequence;
use super::super::workload::Workload;
use warpbound_core::base::{BlockId, LaneMask, Pc, ProgressMonitor, WARP_SIZE};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::path::{BlockPaths, BlockSource, WarpPath};
use warpbound_core::program::KernelCode;
use warpbound_core::program::graph::Loop;
use warpbound_core::program::loop_bounds::ProgramLoopBounds;
use warpbound_core::program::sequence::Sequence;
use warpbound_core::program::warp_cfg::{Divergence, WarpCfg};
use warpbound_exec::Options;

/// The loops whose bounds some run exceeds.
#[derive(Debug, Default)]
pub struct ExceededLoops {
    /// The thread that goes back most often, by source file and line of the loop.
    found: BTreeMap<(String, u32), Excess>,
}

/// A thread of a run that goes back to the beginning of a loop more often than the bound allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Excess {
    /// The given bound.
    most: u64,
    /// The number of times that the thread goes back after it has entered the loop.
    rounds: u64,
    thread: Thread,
    run: Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thread {
    block: BlockId,
    warp: usize,
    lane: usize,
}

/// What is stated about a run, or about a launch of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    seed: Option<u64>,
    /// The number of the launch in a program, and the line of its step.
    launch: Option<(u64, u32)>,
}

impl ExceededLoops {
    /// Runs a launch and notes the loops whose bounds it exceeds. The seed is stated if there are
    /// several inputs.
    ///
    /// # Errors
    /// Any error that stops the run.
    pub fn add(
        &mut self,
        workload: &Workload,
        seed: Option<u64>,
        options: Options,
        bounds: &HashMap<Pc, u64>,
        monitor: &ProgressMonitor,
    ) -> Result<(), Diagnostics> {
        if bounds.is_empty() {
            return Ok(());
        }
        let program = workload.program();
        let block = workload.launch().map(|launch| launch.block);
        let graph = WarpCfg::new(program, block, Divergence::Sides).map_err(|code| code.problem(program))?;
        let mut source = workload.source(options, monitor)?;
        self.add_blocks(&mut source, (program, &graph), bounds, Run { seed, launch: None })
    }

    /// Runs a program and notes the loops whose bounds it exceeds. The seed is stated if there are
    /// several inputs.
    ///
    /// # Errors
    /// Any error that stops the run.
    pub fn add_program(
        &mut self,
        sequence: &Sequence,
        seed: Option<u64>,
        options: Options,
        bounds: &ProgramLoopBounds,
        monitor: &ProgressMonitor,
    ) -> Result<(), Diagnostics> {
        if bounds.is_empty() {
            return Ok(());
        }
        execute_sequence(sequence, None, options, monitor, &mut |step, run| {
            let program = &sequence.kernel(step).program;
            let line = sequence.statements[step.statement].line;
            let (_, bounds) = bounds.of_launch(sequence.statements[step.statement].kernel, step.number);
            let graph = WarpCfg::new(program, Some(step.launch.block), Divergence::Sides)
                .map_err(|code| code.problem(program))?;
            self.add_blocks(run, (program, &graph), &bounds, Run { seed, launch: Some((step.number, line)) })
        })?;
        Ok(())
    }

    fn add_blocks(
        &mut self,
        source: &mut impl BlockSource<Error = Diagnostics>,
        (program, graph): (&KernelCode, &WarpCfg),
        bounds: &HashMap<Pc, u64>,
        run: Run,
    ) -> Result<(), Diagnostics> {
        let kernel = &graph.functions[0];
        let mut paths = BlockPaths::default();
        while source.next_block(&mut paths)? {
            for known in &kernel.loops.loops {
                let header = kernel.cfg.blocks[known.header].start;
                let Some(&most) = bounds.get(&header) else { continue };
                for (warp, path) in paths.warps.iter().enumerate() {
                    let (rounds, lane) = most_rounds((program, graph), known, path);
                    if rounds > most {
                        let thread = Thread { block: paths.block, warp, lane };
                        let excess = Excess { most, rounds, thread, run };
                        let place = (program.file.clone(), program.instr(header).line);
                        let known = self.found.entry(place).or_insert(excess);
                        if rounds > known.rounds {
                            *known = excess;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the check.
    ///
    /// # Errors
    /// Each loop whose bound was exceeded, with the thread that goes back most often.
    pub fn finish(self) -> Result<(), Diagnostics> {
        let mut problems = Diagnostics::new();
        for ((file, line), excess) in self.found {
            problems.push(excess.problem(&file, line));
        }
        problems.into_result(())
    }
}

impl Excess {
    fn problem(self, file: &str, line: u32) -> Diagnostic {
        let Self { most, rounds, thread: Thread { block, warp, lane }, run } = self;
        let launch = run.launch.map_or_else(String::new, |(number, line)| {
            format!(" in launch {number} (line {line} of the program)")
        });
        let seed = run.seed.map(|seed| format!(" (seed {seed})")).unwrap_or_default();
        let message = format!(
            "the bound of the loop of line {line} is {most}, and lane {lane} of warp {warp} in block {}{launch} \
             goes back {rounds} times{seed}",
            block.get()
        );
        let hint = format!(
            "{rounds} is the most that was seen: --loop-bound {line}={rounds}; other inputs may need a larger bound"
        );
        Diagnostic { line, column: 1, width: 1, ..Diagnostic::general(file, message).hint(hint) }
    }
}

/// Returns the greatest number of times that a lane of a warp goes back to the beginning of a loop
/// after it has entered the loop, and the first such lane.
fn most_rounds((program, graph): (&KernelCode, &WarpCfg), known: &Loop, path: &WarpPath) -> (u64, usize) {
    // by lane: the number of times it went back since it entered the loop; `None` outside of it
    let mut rounds: [Option<u64>; WARP_SIZE] = [None; WARP_SIZE];
    let mut masks = path.masks().iter().peekable();
    let mut active = LaneMask::empty();
    let mut greatest = (0, 0);
    for (index, step) in path.steps().iter().enumerate() {
        while let Some((_, mask)) = masks.next_if(|(from, _)| *from as usize <= index) {
            active = *mask;
        }
        // lanes that run a function that the loop calls are still in the loop
        let Some(block) = graph.kernel_block_entered_at(program, step.pc()) else { continue };
        if !known.contains(block) {
            active.lanes().for_each(|lane| rounds[lane] = None);
        } else if block == known.header {
            for lane in active.lanes() {
                let now = rounds[lane].map_or(0, |rounds| rounds + 1);
                rounds[lane] = Some(now);
                if now > greatest.0 {
                    greatest = (now, lane);
                }
            }
        }
    }
    greatest
}

/// Checks that a run keeps to the given loop bounds.
///
/// # Errors
/// Returns each loop whose bound the run exceeds, and any error that stops the run.
pub fn keeps_bounds(
    workload: &Workload,
    options: Options,
    bounds: &HashMap<Pc, u64>,
    monitor: &ProgressMonitor,
) -> Result<(), Diagnostics> {
    let mut exceeded = ExceededLoops::default();
    exceeded.add(workload, None, options, bounds, monitor)?;
    exceeded.finish()
}

/// Checks that a run of a program keeps to the given loop bounds.
///
/// # Errors
/// Returns each loop whose bound the run exceeds, and any error that stops the run.
pub fn program_keeps_bounds(
    sequence: &Sequence,
    options: Options,
    bounds: &ProgramLoopBounds,
    monitor: &ProgressMonitor,
) -> Result<(), Diagnostics> {
    let mut exceeded = ExceededLoops::default();
    exceeded.add_program(sequence, None, options, bounds, monitor)?;
    exceeded.finish()
}
