//! Functional execution: computes what every warp of a launch does, without any timing.
//!
//! An [`Executor`] runs a [`KernelCode`] under a [`Launch`] block by block and yields the
//! [`BlockPaths`] of each. The 32 lanes of a warp execute together, with a SIMT stack ([`stack`])
//! that supports two mechanisms of reconvergence. Values are exact: integers follow the PTX ISA,
//! floating-point results are correctly rounded, and approximate functions stay within their
//! documented error (`arith`).
//!
//! Invariants:
//! * the same program and launch give the same paths and the same bytes, on any machine;
//! * blocks run in launch order, x fastest, each to its end before the next starts. The blocks of a
//!   cluster take turns; clusters run in launch order, and their blocks are yielded in that of their
//!   ranks;
//! * no input causes a panic: an error of a kernel is reported as a diagnostic with its line;
//! * memory does not grow with the grid, and running an instruction allocates nothing (except for
//!   tables of indirect branches, calls through pointers, and calls of functions with frames).

mod access;
pub mod all_paths;
mod arith;
mod barrier;
mod block;
mod bulk;
mod calls;
mod cluster;
mod cluster_barrier;
mod code;
mod collective;
mod context;
mod control;
mod device;
pub mod divergence;
mod fault;
mod image;
mod lanes;
mod loops;
mod matrix;
mod mbarrier;
mod memory;
mod per_lane;
mod product;
pub mod races;
mod record;
mod registers;
mod returns;
mod rows;
mod span;
pub mod stack;
mod step;
mod straight;
mod tensor_copy;
mod warp;
mod warpgroup;

use warpbound_core::base;
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::machine::{Banks, Machine, Reconvergence, SharedMemory};
use warpbound_core::path::{BlockPaths, BlockSource, Footprint, Step};
use warpbound_core::program::launch::Launch;
use warpbound_core::program::sem::{ValueTy, exchange, jump, lanewise};
use warpbound_core::program::{Instr, KernelCode, Sem};

pub use device::Device;

use divergence::Divergence;
use races::{BlockOrder, TimeDependences};

pub use warpbound_core::program::layout::STACK_BYTES;

/// The options of a functional run, and the data that it records for timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The largest number of warp instructions that one block may execute; exceeding it is an error
    /// that names the loop.
    pub max_instructions_per_block: u64,
    /// The bytes of local memory of each thread for the frames of functions that call themselves,
    /// directly or through others; a deeper recursion is an error.
    pub stack_bytes: u64,
    /// The banks of shared memory, if bank conflicts are to be recorded.
    pub banks: Option<Banks>,
    /// Whether to record the lines that accesses to global and local memory touch.
    pub traffic: bool,
    /// Whether to record which lanes execute each step, and which addresses they access.
    pub lanes: bool,
    /// Whether the recorded lines include constants and the kernel's parameters.
    pub constants: bool,
    /// Whether to record how many different addresses the lanes of a load of constants have.
    pub constant_addresses: bool,
    /// The mechanism by which diverged lanes reconverge.
    pub reconvergence: Reconvergence,
    /// Whether to count the outcomes of branches, see [`Executor::divergence`].
    pub divergence: bool,
    /// The implementation of operations on whole warps; it changes no result.
    pub vectors: Vectors,
    /// The order of the blocks in time, if dependences of results on the order of memory accesses
    /// are to be detected; see [`Executor::time_dependences`].
    pub races: Option<BlockOrder>,
    /// The bytes that the race detector may use for each of shared memory, module variables and
    /// buffers. Where blocks run one by one, it needs a quarter of the memory of each kind that one
    /// block accesses. For ranges that need closer analysis, and wherever blocks run concurrently,
    /// it needs twice the accessed memory, and ten times where accesses are narrower than a word.
    /// In programs in which barriers may involve a part of the block, it also needs about 500 bytes
    /// for each location that is read, and for each one that is written.
    pub race_memory: usize,
    /// The seed of a random order in which the warps of a block take turns; `None` for the order of
    /// their ids. Clock values and the hardware positions of warps differ with the seed, too. Such
    /// a run is possible too, and can be used to test statements about all runs.
    pub another_order: Option<u64>,
}

/// The implementation of operations on whole warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vectors {
    /// The vector instructions that the processor has.
    #[default]
    Detected,
    /// The vector instructions that every processor of this architecture has.
    Portable,
    /// No vector instructions: the interpreter executes lane by lane. This is slow, and serves as
    /// the reference in tests of the others.
    Off,
}

impl Options {
    /// Returns the options of a run for the timing simulation of a machine.
    pub fn of(machine: &Machine, max_instructions_per_block: u64) -> Self {
        let reconvergence = machine.reconvergence();
        Self {
            max_instructions_per_block,
            banks: machine.shared_memory().map(SharedMemory::banks),
            // only a load/store unit needs the lines that an access touches
            traffic: machine.pipeline().is_some_and(|pipeline| pipeline.load_store.is_some()),
            constants: machine.caches_constants(),
            constant_addresses: machine.serves_constants_by_address(),
            reconvergence,
            ..Self::default()
        }
    }
}

impl Options {
    /// Returns the same options, with race detection if memory is given for it.
    #[must_use]
    pub fn watching(self, memory: Option<usize>, order: BlockOrder) -> Self {
        Self { races: memory.map(|_| order), race_memory: memory.unwrap_or(self.race_memory), ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_instructions_per_block: 1 << 26,
            stack_bytes: STACK_BYTES,
            banks: None,
            traffic: false,
            lanes: false,
            constants: false,
            constant_addresses: false,
            reconvergence: Reconvergence::PostDominator,
            divergence: false,
            vectors: Vectors::Detected,
            races: None,
            race_memory: 1 << 30,
            another_order: None,
        }
    }
}

/// Runs a launch, block by block.
pub struct Executor<'a> {
    runner: block::Runner<'a>,
    /// The number of blocks that have been run.
    next: u32,
    blocks: u32,
    /// The words of global memory whose initial values differ from run to run.
    initially_varying: races::VaryingWords,
}

impl<'a> Executor<'a> {
    /// Sets up memory and arguments.
    ///
    /// # Errors
    /// Returns an error for a program without semantics, or a launch that does not fit the program.
    pub fn new(program: &'a KernelCode, launch: &'a Launch, options: Options) -> Result<Self, Diagnostics> {
        Self::on(Device::of(program, launch)?, 0, program, launch, options)
    }

    /// Sets up an executor like [`Executor::new`], for a kernel of one of the device's modules,
    /// with the present contents of memory.
    ///
    /// # Errors
    /// Returns an error for a program without semantics, or a launch that does not fit the program.
    pub fn on(
        mut device: Device,
        module: usize,
        program: &'a KernelCode,
        launch: &'a Launch,
        options: Options,
    ) -> Result<Self, Diagnostics> {
        tracing::debug!(file = %program.file, blocks = launch.blocks(), "executing");
        let mut problems = Diagnostics::new();
        check_shape(launch, &mut problems);
        check_cluster(program, launch, &mut problems);
        check_program(program, &mut problems);
        problems.into_result(())?;
        // if the code itself says where lanes reconverge, the machine's mechanism does not apply
        let bounds_region =
            |instr: &Instr| matches!(instr.sem, Sem::OpenRegion { .. } | Sem::CloseRegion { .. });
        let explicit = program.machine_code.is_some() || program.instrs.iter().any(bounds_region);
        let reconvergence = if explicit { Reconvergence::PascalStack } else { options.reconvergence };
        let options = Options { reconvergence, ..options };

        let initially_varying = std::mem::take(&mut device.varying);
        let memory = memory::Memory::on(device, module, program, launch, options.stack_bytes)?;
        let dynamic_shared = u64::from(launch.dynamic_shared);
        let shape = warp::Shape {
            grid: launch.grid,
            block: launch.block,
            at: [0; 3],
            warps: launch.warps_per_block(),
            dynamic_shared,
            total_shared: program.memory.shared_bytes(dynamic_shared),
            cluster: program.cluster,
            skew: options.another_order.unwrap_or(0),
        };
        // accesses to the shared memory of other blocks are not watched
        let watched = options.races.filter(|_| shape.ranks() == 1);
        let detector = watched.map(|order| {
            let (extents, unwritten) = (memory.extents(), memory.unwritten(program));
            Box::new(races::RaceDetector::new(
                program,
                order,
                options.race_memory,
                extents,
                unwritten,
                &initially_varying,
            ))
        });
        let context = context::Context {
            program,
            images: &launch.images,
            memory,
            shape,
            objects_changed: 0,
            bulk_units: 0,
            cluster: cluster_barrier::ClusterBarrier::default(),
            record: record::Record::new(program, &options),
            detector,
            divergence: options.divergence.then(|| Box::new(Divergence::new(program.instrs.len()))),
        };
        // a path counts its steps in 32 bits
        let max_instructions_per_block = options.max_instructions_per_block.min(u64::from(u32::MAX));
        let runner = block::Runner::new(context, Options { max_instructions_per_block, ..options });
        Ok(Self { runner, next: 0, blocks: launch.blocks(), initially_varying })
    }

    /// Attaches a stop request. When it is set, the run yields no further block, and the block in
    /// flight is discarded.
    #[must_use]
    pub fn watched(mut self, monitor: &'a base::ProgressMonitor) -> Self {
        self.runner.monitor = Some(monitor);
        self
    }

    /// Returns the bytes of local memory of a thread.
    pub fn local_bytes(&self) -> u64 {
        self.runner.context.memory.local_per_thread()
    }

    /// Returns the contents of a buffer of the launch, by its index there, after the blocks run so
    /// far. The slice is empty if there is no such buffer.
    pub fn buffer(&self, index: usize) -> &[u8] {
        self.runner.context.memory.buffer(index)
    }

    /// Returns the contents of a variable of the kernel's module, by its full name, after the
    /// blocks run so far.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        self.runner.context.memory.variable(name)
    }

    /// Returns the device with its memory after the blocks run so far.
    pub fn into_device(self) -> Device {
        let Self { runner, initially_varying, .. } = self;
        let varying =
            runner.context.detector.as_ref().map_or(initially_varying, |detector| detector.varying_words());
        Device { varying, ..runner.context.memory.into_device() }
    }

    /// Returns the outcomes of the branches in the blocks run so far, if [`Options::divergence`] is
    /// set.
    pub fn divergence(&self) -> Option<&Divergence> {
        self.runner.context.divergence.as_deref()
    }

    /// Returns whether the run detects the dependences that [`Self::time_dependences`] returns.
    pub fn watches_races(&self) -> bool {
        self.runner.context.detector.is_some()
    }

    /// Returns the results that depend on the order of the actions of warps, as far as the run has
    /// shown them; complete after the last block. It is empty unless [`Options::races`] is set.
    pub fn time_dependences(&self) -> TimeDependences {
        let context = &self.runner.context;
        let place = |space, address| context.memory.describe(space, address);
        context
            .detector
            .as_ref()
            .map_or_else(TimeDependences::default, |detector| detector.report(context.program, place))
    }
}

impl BlockSource for Executor<'_> {
    type Error = Diagnostics;

    fn next_block(&mut self, paths: &mut BlockPaths) -> Result<bool, Diagnostics> {
        if self.next >= self.blocks {
            return Ok(false);
        }
        match self.runner.next(self.next, paths) {
            Ok(true) => {
                if let Some(divergence) = &mut self.runner.context.divergence {
                    divergence.block(paths);
                }
                self.next += 1;
                Ok(true)
            }
            Ok(false) => {
                self.next = self.blocks;
                Ok(false)
            }
            Err(fault) => {
                // no further block can be run
                self.next = self.blocks;
                Err(Diagnostics::from(*fault))
            }
        }
    }

    fn footprint(&self) -> Footprint {
        self.runner.context.memory.footprint()
    }
}

fn check_shape(launch: &Launch, problems: &mut Diagnostics) {
    let product = |shape: [u32; 3]| shape.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    for (dimensions, shape, most) in
        [("grid", launch.grid, u64::from(u32::MAX)), ("block", launch.block, 1024)]
    {
        if !(1..=most).contains(&product(shape)) {
            let [x, y, z] = shape;
            let message = format!("{dimensions} ({x}, {y}, {z}) is out of range: 1 to {most} in all");
            problems.push(Diagnostic::general("launch", message));
        }
    }
}

/// The largest number of blocks of a cluster. More than eight are possible if the kernel asks for it
/// (`cudaFuncAttributeNonPortableClusterSizeAllowed`).
const MOST_RANKS: u64 = 16;

fn check_cluster(program: &KernelCode, launch: &Launch, problems: &mut Diagnostics) {
    let Some(cluster @ [x, y, z]) = program.cluster else { return };
    let blocks = program.blocks_of_cluster();
    if !(1..=MOST_RANKS).contains(&blocks) {
        let message = format!("cluster ({x}, {y}, {z}) is out of range: 1 to {MOST_RANKS} blocks in all");
        problems.push(Diagnostic::general("launch", message));
    } else if launch.grid.iter().zip(cluster).any(|(grid, blocks)| grid % blocks != 0) {
        let [gx, gy, gz] = launch.grid;
        let message =
            format!("grid ({gx}, {gy}, {gz}) does not consist of clusters of ({x}, {y}, {z}) blocks");
        let hint = "the number of blocks of each axis must be a multiple of that of a cluster";
        problems.push(Diagnostic::general("launch", message).hint(hint));
    }
}

/// Reports instructions that the types of a program can represent, but that cannot be executed.
fn check_program(program: &KernelCode, problems: &mut Diagnostics) {
    let most = Step::MAX_PC as usize;
    if program.instrs.is_empty() || program.instrs.len() > most {
        let message =
            format!("`{}` has {} instructions; it must have 1 to {most}", program.name, program.instrs.len());
        problems.push(Diagnostic::general(&program.file, message));
    }
    for instr in &program.instrs {
        let packed = |ty: &ValueTy| matches!(ty, ValueTy::Float(float) if float.half().is_some());
        let vector = |bits: u8, count: usize| {
            let bytes = usize::from(bits / 8) * count;
            (!bytes.is_power_of_two() || bytes > 32).then(|| format!("an access of {bytes} bytes"))
        };
        let unsupported = match &instr.sem {
            Sem::OpenRegion { .. } if instr.guard.is_some() => Some("SSY or PBK under a guard".to_owned()),
            Sem::None | Sem::Traced(_) => Some("an instruction that has timing only".to_owned()),
            Sem::Load { ty, dsts, .. } => vector(ty.bits, dsts.len()),
            Sem::Store { bits, srcs, .. } => vector(*bits, srcs.len()),
            Sem::Surface(access) => {
                vector(access.bits, access.size() / usize::from((access.bits / 8).max(1)))
            }
            Sem::AsyncCopy { bytes, .. } if !matches!(bytes, 4 | 8 | 16) => vector(0, 0),
            Sem::TestFloat { ty, .. } if ty.half().is_some() => Some("a test of packed halves".to_owned()),
            Sem::Convert(convert) if packed(&convert.from) => {
                Some("a conversion of packed halves".to_owned())
            }
            lanewise!() | exchange!() | jump!() => None,
            Sem::Atomic(_) | Sem::Fetch(_) | Sem::ImageQuery(_) => None,
            Sem::AsyncCopy { .. } | Sem::AsyncCommit | Sem::AsyncWait { .. } => None,
            Sem::Nop
            | Sem::Sleep { .. }
            | Sem::Matrix(_)
            | Sem::Barrier(_)
            | Sem::Cluster(_)
            | Sem::Mbarrier(_) => None,
            Sem::Bulk(_) | Sem::Call(_) | Sem::CallPointer(_) => None,
        };
        if let Some(feature) = unsupported {
            let mut problem = Diagnostic::general(&program.file, format!("{feature} cannot be executed"));
            (problem.line, problem.column) = (instr.line, u32::from(instr.line > 0));
            problems.push(problem);
        }
    }
}
