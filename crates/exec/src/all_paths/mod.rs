//! All paths of a launch: everything that its warps may execute, for all possible data.
//!
//! A warp runs *abstractly*. Thread ids, block ids, the sizes of grid and block, parameters,
//! constants and buffers that the launch declares constant have their values, and so have results
//! computed from them. Everything else that is loaded is unknown, and so are results computed from
//! it. Each lane has its own values, and the set of registers in which they are known
//! (`values.rs`). Most control flow and most addresses of kernels depend on nothing unknown. Then
//! there is one path, that of every run, with its bank conflicts.
//!
//! Where a branch depends on an unknown value, lanes may be on either side, or on both. Both sides
//! are walked, each with all lanes that may take it. At the reconvergence point, a lane that may
//! have come from either side keeps the values that are equal on both. Two sets of lanes describe a
//! point of the walk: the lanes that may have reached it, and the lanes that have certainly reached
//! it if any lane has reached it. They determine which sides a warp can take: one of them, or both,
//! the taken side first.
//!
//! A store to an unknown target loses no further knowledge, because no loaded value is trusted: the
//! known value of a register was never in memory that is written. (A run that writes to a constant
//! buffer is an error, so it need not be considered.) If the address of an access is unknown, or
//! the lanes that take part in it, the path has the largest possible number of transactions: each
//! unknown lane adds one transaction to the bank that has the most.
//!
//! # Loops
//! An exit of a loop is *known* if it depends on known values only. A loop with a known exit is
//! walked iteration by iteration. If it has other exits too, each iteration contains a branch whose
//! sides are the exit and the remaining iterations. Any other loop needs a bound: the largest
//! number of back edges that a thread takes per entry of the loop. Up to 64 iterations are walked
//! one by one. After these, values that differ between iterations become unknown until no known
//! value differs. The remaining iterations then form one part,
//! [`LoopIterations`](warpbound_core::path::LoopIterations): each iteration has the same steps, or
//! fewer, and lanes may leave in it. We say that the loop is *taken as a whole*.
//!
//! # Why every path is in the set
//! The proof is by induction over the steps of a run, in parallel with the walk. At each entry of
//! the run's SIMT stack, the following holds for the walk that reached that point: (a) `may`
//! contains every lane of the entry, and if the entry has lanes, all lanes of `must` are among
//! them; (b) in each lane of the entry, every register that is known there has the value that it
//! has in the run.
//! * *An instruction* computes the same results from the same operands in a lane, whatever other
//!   lanes do, except for instructions in which lanes exchange data: their results are known only
//!   where (a) gives exactly the lanes that take part. A shuffle also reads lanes that do not take
//!   part, with their values at that time, so its result is known only where the whole warp is
//!   together.
//! * *A branch.* Lanes in which the condition is known take their side. The others are in `may` of
//!   both sides, and in `must` of neither. The stack runs the taken side first, then the other one,
//!   up to the post-dominator, which is where both walks stop. Walking a side changes nothing of
//!   the lanes on the other side: registers belong to a lane, and memory is not trusted. A reduction
//!   at a barrier gives its result only to the lanes that come to it. Asynchronous copies belong to
//!   the warp, so it is an error if the groups of copies depend on which sides are executed.
//! * *A reconvergence.* A lane that came from either side has there the values that both walks
//!   agree on, so (b) holds.
//! * *Iterations that are taken as a whole.* The state at the loop header is a fixed point: one
//!   iteration leads from it to itself. Its known values hold at the beginning of each of these
//!   iterations, by induction over them.
//!
//! Lanes that leave in an iteration execute their exit path before the other lanes continue, or
//! after the other lanes have left. Every iteration may therefore add a waiting path for each exit.
//! Lanes that reconverge only after the loop diverge permanently in it. They iterate one group
//! after the other, each at most as often as the bound of the loop says, and there are no more
//! groups than lanes. A group may resume at any point of an iteration where lanes can wait.
//!
//! # Machine code
//! In machine code since Volta, lanes reconverge where instructions say it
//! ([`joins`](warpbound_core::program::joins)). BSSY opens a region, and BSYNC closes it. At each
//! instruction the walk knows which regions are open, because every way to the instruction opens the
//! same ones. A divergent branch waits at the end of the innermost region, and a branch outside of
//! every region has no reconvergence point. The stack runs the taken side first, up to the BSYNC,
//! then the other side, and then continues behind the BSYNC with the lanes of both. This is the order
//! in which branches are walked, with the instruction behind BSYNC as the reconvergence point.
//!
//! * *BREAK* takes lanes out of the innermost region. A branch under the same guard, or under its
//!   complement, then parts them from the lanes that stay. Lanes that have left wait at the end of
//!   the next outer region. The region around it is walked as a whole, up to its end
//!   (`breaks.rs`): until then, lanes that have left inner regions count as lanes that may have
//!   ended. At its end they join the others. In the stack, they leave the entries of the inner
//!   regions at BREAK if all running lanes do, and otherwise when they reach the BSYNC of the outer
//!   region. In both cases no lane waits for them longer than for the others of its region, and the
//!   running lanes continue first. A region of the same barrier must not begin before, because BSSY
//!   would clear the barrier.
//! * *A call* runs until every lane that called has returned, and then continues behind the call with
//!   these lanes (`calls.rs`). The function has an activation of its own, so its regions and loops
//!   end in it.
//! * *The order of paths changes* at a barrier of the block, and at WARPSYNC, if other lanes of the
//!   warp can still run: the stack turns to them first. The walk accepts these instructions only
//!   where no such lanes exist: it is not on the first side of a branch at which lanes may diverge,
//!   and not in or behind a loop that is taken as a whole and that some lanes may leave before others.
//!   Lanes that wait at the end of a region cannot run as long as others of the region have not left
//!   it. So the walk does not accept these instructions either while it follows lanes that have left
//!   a region by BREAK. YIELD and collective instructions are errors.
//! * *A meeting.* Compilers also let the lanes of both sides of a branch meet without a region, at a
//!   WARPSYNC of all lanes or at a barrier of the block that is on every way from the branch. The
//!   stack holds the side that comes first, runs the other one, and continues with both together:
//!   behind the WARPSYNC, which each side executes, or at the barrier, which they execute together.
//!   This holds if no other lanes can run when the branch diverges, and if no side diverges again
//!   without a region of its own, because the stack turns to the side that has waited longest. The
//!   walk accepts a meeting only then. No lane may have left a region by BREAK, because the stack
//!   keeps it apart from others that do not wait for the same lanes.
//! * *Parts of instructions.* Some instructions consist of several operations, of which one has the
//!   step of all in the path. The others are executed without a step. What is known is decided by the
//!   registers of each operation, because the instruction names those of all of them together.
//! * *Whether lanes are together*, which a branch may test, is known only if all lanes are here that
//!   have not certainly ended. Operands in the user's constants are unknown if a launch sets them.
//!
//! # Limits
//! The following are errors, and no set of paths is given: calls with parameters or through
//! pointers, branch tables, the reconvergence instructions of Pascal's machine code, regions that
//! cannot be determined, YIELD, collective instructions of diverged lanes, and barriers that only some paths reach because their guard
//! depends on unknown data. In loops that are taken as a whole, ends of threads and exits of
//! several loops at once are errors too. A variable in constant memory that a launch file sets is
//! unknown like other data unless the file declares it constant, and local memory is always
//! unknown. In a program, a buffer and the constant memory of a module that some step writes are
//! unknown ([`Device::forget`]).

mod breaks;
mod calls;
mod effect;
mod flow;
mod fork;
mod loops;
mod state;
mod values;
mod walk;
mod walker;

use std::collections::HashMap;
use std::sync::Arc;

use super::code::Code;
use super::context::Context;
use super::device::Device;
use super::registers::RegisterMap;
use super::{Options, check_program, check_shape, memory, record, warp};
use effect::Effects;
use flow::CodeFlow;
use state::State;
use values::Values;
use walker::{Begin, Walker};
use warpbound_core::base::{Pc, ProgressMonitor};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::path::PathSet;
use warpbound_core::program::KernelCode;
use warpbound_core::program::launch::Launch;
use warpbound_core::program::warp_cfg::IrreducibleCode;

/// The paths that the warps of a block may execute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPathSets {
    /// The sets of paths, by warp id.
    pub warps: Vec<PathSet>,
    /// Whether some barrier may not involve every warp of the block.
    pub partial_barriers: bool,
}

/// Computes the paths of a launch, block by block.
pub struct AllPaths<'a> {
    context: Context<'a>,
    code: Code,
    map: Arc<RegisterMap>,
    flow: CodeFlow,
    effects: Effects,
    grid: [u32; 3],
    blocks: u32,
    next: u32,
    fuel: u64,
    monitor: Option<&'a ProgressMonitor>,
}

/// The reason for which there are no sets of paths.
#[derive(Debug)]
pub enum NoPaths {
    /// The code is irreducible.
    Irreducible(Box<IrreducibleCode>),
    /// The launch is invalid.
    Launch(Diagnostics),
}

impl<'a> AllPaths<'a> {
    /// Prepares the paths of a launch. `bounds` are the bounds of loops by their first instruction.
    ///
    /// # Errors
    /// Returns an error for a program without semantics or with irreducible code, or a launch that
    /// does not fit the program.
    pub fn new(
        program: &'a KernelCode,
        launch: &'a Launch,
        options: Options,
        bounds: &HashMap<Pc, u64>,
    ) -> Result<Self, NoPaths> {
        Self::on(Device::of(program, launch).map_err(NoPaths::Launch)?, 0, program, launch, options, bounds)
    }

    /// Prepares the paths of a launch like [`AllPaths::new`], for a kernel of one of the device's
    /// modules. Of the contents of the device, only those count that are declared constant.
    ///
    /// # Errors
    /// Returns the errors of [`AllPaths::new`].
    pub fn on(
        device: Device,
        module: usize,
        program: &'a KernelCode,
        launch: &'a Launch,
        options: Options,
        bounds: &HashMap<Pc, u64>,
    ) -> Result<Self, NoPaths> {
        let mut problems = Diagnostics::new();
        check_shape(launch, &mut problems);
        check_program(program, &mut problems);
        problems.into_result(()).map_err(NoPaths::Launch)?;
        let constants_known = device.modules.get(module).is_none_or(|module| module.constants_known);
        let memory = memory::Memory::on(device, module, program, launch, options.stack_bytes)
            .map_err(NoPaths::Launch)?;
        let flow = CodeFlow::new(program, launch.block, bounds).map_err(NoPaths::Irreducible)?;
        let dynamic_shared = u64::from(launch.dynamic_shared);
        let shape = warp::Shape {
            grid: launch.grid,
            block: launch.block,
            at: [0; 3],
            warps: launch.warps_per_block(),
            dynamic_shared,
            total_shared: program.memory.shared_bytes(dynamic_shared),
            skew: 0,
            cluster: program.cluster,
        };
        let mut map = RegisterMap::new(program);
        let code = Code::new(program, &mut map, options.vectors);
        map.bind(memory.words());
        let options = Options { divergence: false, races: None, ..options };
        let context = Context {
            program,
            images: &launch.images,
            memory,
            shape,
            objects_changed: 0,
            bulk_units: 0,
            cluster: crate::cluster_barrier::ClusterBarrier::default(),
            record: record::Record::new(program, &options),
            detector: None,
            divergence: None,
        };
        Ok(Self {
            effects: Effects::new(program, constants_known),
            context,
            code,
            map: Arc::new(map),
            flow,
            grid: launch.grid,
            blocks: launch.blocks(),
            next: 0,
            fuel: options.max_instructions_per_block,
            monitor: None,
        })
    }

    /// Attaches a stop request. When it is set, there are no further blocks.
    #[must_use]
    pub fn watched(mut self, monitor: &'a ProgressMonitor) -> Self {
        self.monitor = Some(monitor);
        self
    }

    /// Returns the paths that the warps of the next block may execute; `None` after the last block.
    ///
    /// # Errors
    /// Returns a diagnostic, with the line, if the analysis requires data that are unknown.
    pub fn next_block(&mut self) -> Result<Option<BlockPathSets>, Diagnostics> {
        if self.next >= self.blocks || self.monitor.is_some_and(ProgressMonitor::is_stopped) {
            return Ok(None);
        }
        let (block, [x, y, _]) = (self.next, self.grid);
        self.context.shape.at = [block % x, block / x % y, block / x / y];
        self.context.memory.start_block();
        let mut sets = BlockPathSets::default();
        let mut fuel = self.fuel;
        for id in 0..self.context.shape.warps {
            let values = Values::new(id, &self.map, &self.context.shape, self.context.program);
            let parts = ((&mut self.context, &self.code), (&self.flow, &self.effects));
            let mut walker = Walker::new(parts.0, parts.1, fuel);
            walker.monitor = self.monitor;
            let walked = walker.walk(&mut State::new(values), Pc::new(0), None, Begin::Comes);
            let walked = match walked {
                // the paths of this block are incomplete, and are discarded
                Err(_) if self.monitor.is_some_and(ProgressMonitor::is_stopped) => return Ok(None),
                walked => walked.map_err(|fault| Diagnostics::from(*fault))?,
            };
            (fuel, sets.partial_barriers) = (walker.fuel, sets.partial_barriers | walker.partial_barriers);
            if !walked.possible {
                let program = self.context.program;
                let message = format!("`{}` has no path within the bounds of its loops", program.name);
                let hint = format!(
                    "warp {id} of block {block} exceeds the bound of some loop, whatever the data are"
                );
                return Err(Diagnostic::general(&program.file, message).hint(hint).into());
            }
            sets.warps.push(walked.paths);
        }
        self.next += 1;
        Ok(Some(sets))
    }
}
