//! All paths of a launch: what its warps may execute, whatever the data are.
//!
//! A warp runs *abstractly*: thread ids, block ids, the sizes of grid and block, parameters, constants and buffers that the launch says are
//! constant are what they are, and what is computed from them too; what else is loaded is unknown, and so is what is computed from that. Each lane has its own
//! values and knows in which registers they mean something (`values.rs`). Most control flow and most addresses of kernels
//! depend on nothing unknown. Then there is one path, and it is that of every run, with its bank conflicts.
//!
//! Where a branch depends on something unknown, lanes may be on either side, or on both. Both are walked, each with the lanes that
//! may be there as if they were; where the sides meet, a lane knows what is the same on both, if it may have been on either.
//! Two sets of lanes say where a warp is: those that may be there, and those that are if the warp is. From these follows
//! which of the sides a warp takes: one of them, or both, the one that branches first.
//!
//! Where the target of a store is unknown nothing more is lost, since no loaded value is trusted: what is known of a register was
//! never in memory that is written. A run that writes a constant buffer is an error, so that none of it is in question here. Of an access whose address is unknown, or of which it is unknown which lanes take part, the path has the most transactions that
//! there can be: each unknown lane adds one to the bank that has most.
//!
//! # Loops
//! A loop whose ways out depend on nothing unknown is walked round by round. So is one that has such a way out besides
//! unknown ones: each of its rounds ends in a branch whose sides are the rest and the way out. A loop without needs
//! a bound: how often a warp goes back to its beginning at most, each time it comes to it from outside. Up to 64 rounds it is walked round by
//! round. After these, what differs between rounds is forgotten until nothing does, and the rounds that are left are one part,
//! [`Rounds`](crate::path::Rounds): each round the same steps, or fewer, with lanes that leave on the way.
//!
//! # Why every path is in the set
//! By induction over the steps of a run, beside the walk. At each place of the run's SIMT stack the walk that went there
//! has (a) in `may` every lane that the run has there, and if the run has any, in `must` none that it has not; (b) in each
//! register that is known in a lane of these the value that the run has there.
//! * *An instruction* computes the same from the same in a lane, whatever other lanes do, but for those in which lanes see each other: those
//!   are known only where (a) gives all lanes that take part. A shuffle reads lanes that do not, too, as they are by then, so
//!   that its result is known only where the whole warp is together.
//! * *A branch.* Lanes in which the condition is known go where it says. The others are in `may` of both sides, and of neither
//!   `must`. The stack runs the side that takes the branch first, then the other, to the post-dominator, which is where both walks
//!   stop. Walking a side changes nothing that the lanes on the other side have: registers are a lane's own, and memory is not
//!   trusted.
//! * *A meeting.* A lane that came by either side has there what both walks know alike, so (b) holds.
//! * *Rounds that are taken as a whole*: the state at the beginning of the loop is one that a round leads from to itself; what it knows
//!   holds at the beginning of each of these rounds, by induction over them.
//!
//!   Lanes that leave in a round go their way before the others go on, or when these have left, so that there may be as many
//!   waiting ways as rounds and ways in each. Where lanes part for good in a loop, since they meet only behind it,
//!   they go round one group after the other, each at most as often as the bound says of a thread, and there are no more groups than
//!   lanes; a group may go on from wherever lanes can wait in a round.
//!
//! # What it does not know
//! Calls, tables of branches, the reconvergence of machine code, barriers that only some paths reach by a guard on unknown
//! data; and of loops that are taken as a whole those in which threads end, and ways out of several loops at once: these are errors,
//! and no set of paths is given. A constant that a launch file sets is unknown like other data unless it says that it is constant, and so is local memory.

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
use crate::base::{Pc, Watch};
use crate::diag::{Diagnostic, Diagnostics};
use crate::path::PathSet;
use crate::program::Program;
use crate::program::launch::Launch;
use crate::program::warp_cfg::IrreducibleCode;
use effect::Effects;
use flow::CodeFlow;
use state::State;
use values::Values;
use walker::{Begin, Walker};

/// What the warps of a block may execute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPathSets {
    /// By warp id.
    pub warps: Vec<PathSet>,
    /// Whether some barrier may not involve every warp of the block.
    pub partial_barriers: bool,
}

/// Goes through a launch block by block.
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
    watch: Option<&'a Watch>,
}

/// Why there are no sets of paths.
#[derive(Debug)]
pub enum NoPaths {
    /// The code is irreducible.
    Irreducible(Box<IrreducibleCode>),
    /// What is wrong with the launch.
    Launch(Diagnostics),
}

impl<'a> AllPaths<'a> {
    /// The paths of a launch, with bounds of loops by their first instruction.
    ///
    /// # Errors
    /// A program without semantics or with irreducible code, a launch that does not fit it.
    pub fn new(
        program: &'a Program,
        launch: &'a Launch,
        options: Options,
        bounds: &HashMap<Pc, u64>,
    ) -> Result<Self, NoPaths> {
        let mut problems = Diagnostics::new();
        check_shape(launch, &mut problems);
        check_program(program, &mut problems);
        problems.into_result(()).map_err(NoPaths::Launch)?;
        let device = Device::of(program, launch).map_err(NoPaths::Launch)?;
        let memory =
            memory::Memory::on(device, 0, program, launch, options.stack_bytes).map_err(NoPaths::Launch)?;
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
        };
        let mut map = RegisterMap::new(program);
        let code = Code::new(program, &mut map, options.vectors);
        map.bind(memory.words());
        let options = Options { traffic: false, divergence: false, races: None, ..options };
        let context = Context {
            program,
            images: &launch.images,
            memory,
            shape,
            objects_changed: 0,
            record: record::Record::new(program, &options),
            watch: None,
            divergence: None,
        };
        Ok(Self {
            effects: Effects::new(program, launch.symbols.iter().all(|symbol| symbol.constant)),
            context,
            code,
            map: Arc::new(map),
            flow,
            grid: launch.grid,
            blocks: launch.blocks(),
            next: 0,
            fuel: options.max_instructions_per_block,
            watch: None,
        })
    }

    /// Has somebody watch, who may end it: there are no blocks after that.
    #[must_use]
    pub fn watched(mut self, watch: &'a Watch) -> Self {
        self.watch = Some(watch);
        self
    }

    /// What the warps of the next block may execute; nothing after the last.
    ///
    /// # Errors
    /// What the analysis has to know and does not, with the line.
    pub fn next_block(&mut self) -> Result<Option<BlockPathSets>, Diagnostics> {
        if self.next >= self.blocks || self.watch.is_some_and(Watch::is_stopped) {
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
            walker.watch = self.watch;
            let walked = walker.walk(&mut State::new(values), Pc::new(0), None, Begin::Comes);
            let walked = match walked {
                // the paths of this block are not all there, and are not handed on
                Err(_) if self.watch.is_some_and(Watch::is_stopped) => return Ok(None),
                walked => walked.map_err(|fault| Diagnostics::from(*fault))?,
            };
            (fuel, sets.partial_barriers) = (walker.fuel, sets.partial_barriers | walker.partial_barriers);
            if !walked.possible {
                let program = self.context.program;
                let message = format!("`{}` has no path within the bounds of its loops", program.name);
                let hint = format!(
                    "warp {id} of block {block} goes round some loop more often, whatever the data are"
                );
                return Err(Diagnostic::general(&program.file, message).hint(hint).into());
            }
            sets.warps.push(walked.paths);
        }
        self.next += 1;
        Ok(Some(sets))
    }
}
