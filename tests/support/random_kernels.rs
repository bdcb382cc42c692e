//! Micro kernels for tests: built by hand ([`KernelBuilder`]) or random ([`random_kernel`]).
//!
//! Everything is derived from an explicit seed; the same seed and shape give the same kernel.
#![allow(dead_code, reason = "every test file uses its own part")]

use std::fmt::Write as _;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::{BlockId, LaneMask, Pc, RegId};
use warpbound::diag::SourceText;
use warpbound::isa::Space;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::path::{AsyncRing, BarrierUse, BlockPaths, MemoryUse, Step};
use warpbound::program::{
    Area, Coded, Control, Flow, Instr, KernelCode, MachineCode, MemoryOp, RegKind, RegList, Register, Sem,
};

/// A kernel with its machine and the paths of its block.
pub struct RandomKernel {
    pub program: KernelCode,
    pub machine: Machine,
    pub paths: BlockPaths,
}

/// A launch of several blocks of the same size.
pub struct RandomLaunch {
    pub program: KernelCode,
    pub machine: Machine,
    pub blocks: Vec<BlockPaths>,
}

/// The features that a random kernel may have. Which of them it has is random.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The largest number of warps; the smallest is 1.
    pub max_warps: usize,
    /// The largest number of instructions per warp, not counting barriers and `ret`; the smallest
    /// is 0.
    pub max_instructions: usize,
    /// Barriers of all warps; some warps may have fewer of them.
    pub barriers: bool,
    /// Named barriers of some warps, and arrivals without waiting.
    pub partial_barriers: bool,
    /// Machines that check write-after-write hazards.
    pub waw: bool,
    /// Machines on which `ret` issues.
    pub exit_issues: bool,
    /// Global loads, generic accesses with timing by space, asynchronous copies and waits.
    pub memory: bool,
    /// The largest number of sub-cores; the smallest is 1. With several, units are shared at
    /// random.
    pub sub_cores: usize,
    /// Machines with a pipeline in which nothing is enabled, except possibly queues.
    pub pipeline: bool,
    /// The largest capacity of the units' queues, whose smallest is 1; with 0 they are unlimited.
    pub queues: usize,
    /// Machines that follow control codes, which every instruction has.
    pub codes: bool,
}

impl Shape {
    /// Everything that the engine supports.
    pub const EVERYTHING: Self = Self {
        max_warps: 8,
        max_instructions: 14,
        barriers: true,
        partial_barriers: true,
        waw: true,
        exit_issues: true,
        memory: true,
        sub_cores: 1,
        pipeline: false,
        queues: 0,
        codes: false,
    };

    /// The paper model with barriers, to which bounds apply.
    pub const PAPER: Self =
        Self { partial_barriers: false, waw: false, exit_issues: false, memory: false, ..Self::EVERYTHING };
}

/// Reads a machine from RON text.
pub fn machine(ron: &str) -> Machine {
    let source = SourceText::new("test-machine.ron", ron);
    let spec = MachineSpec::parse(&source).unwrap_or_else(|error| panic!("{error}"));
    Machine::new(&spec, &source).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the RON text of a paper machine: units with (init, lat), and op classes of the same
/// names.
pub fn paper_machine(units: &[(&str, u64, u64)]) -> String {
    let (mut listed, mut ops) = (String::new(), String::new());
    for (name, init, lat) in units {
        let _ = write!(listed, "\"{name}\": Unit(init: {init}, lat: {lat}), ");
        let _ = write!(ops, "\"{name}\": \"{name}\", ");
    }
    format!("Machine(name: \"test\", units: {{ {listed} }}, ops: {{ {ops} }})")
}

/// A builder of straight-line code, warp by warp.
pub struct KernelBuilder {
    program: KernelCode,
    blocks: Vec<BlockPaths>,
}

impl Default for KernelBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelBuilder {
    /// Returns a builder of one block without warps.
    pub fn new() -> Self {
        let program = KernelCode { name: "test".into(), file: "test".into(), ..KernelCode::default() };
        Self { program, blocks: vec![BlockPaths::default()] }
    }

    /// Begins the next block.
    pub fn block(&mut self) -> &mut Self {
        let block = BlockId::from_index(self.blocks.len());
        self.blocks.push(BlockPaths { block, ..BlockPaths::default() });
        self
    }

    /// Begins the next warp of the block.
    pub fn warp(&mut self) -> &mut Self {
        self.current().warps.push(Default::default());
        self
    }

    fn current(&mut self) -> &mut BlockPaths {
        self.blocks.last_mut().expect("there is always a block")
    }

    fn push(
        &mut self,
        class: &str,
        dst: Option<u16>,
        srcs: &[u16],
        flow: Flow,
        step: impl FnOnce(Pc) -> Step,
    ) {
        let pc = Pc::from_index(self.program.instrs.len());
        // by the name of the class, as in the front end of micro kernels
        let memory = class.ends_with(".global").then_some(MemoryOp::Unaddressed(Area::Global));
        let class = self.program.classes.intern(class);
        for reg in srcs.iter().chain(&dst) {
            while self.program.regs.len() <= *reg as usize {
                let name = format!("r{}", self.program.regs.len());
                self.program.regs.push(Register { name, kind: RegKind::Bits(32) });
            }
        }
        self.program.instrs.push(Instr {
            folded: false,
            class,
            class_by_space: None,
            dsts: dst.into_iter().map(RegId::new).collect::<RegList>(),
            srcs: srcs.iter().copied().map(RegId::new).collect::<RegList>(),
            guard: None,
            flow,
            memory,
            sem: Sem::None,
            line: pc.get() + 1,
        });
        let warp = self.current().warps.last_mut().expect("open a warp first");
        warp.push(step(pc), LaneMask::ALL);
    }

    /// Adds an instruction.
    pub fn op(&mut self, class: &str, dst: Option<u16>, srcs: &[u16]) -> &mut Self {
        self.push(class, dst, srcs, Flow::Plain, Step::plain);
        self
    }

    /// Adds an access whose class depends on its space.
    pub fn generic(&mut self, classes: [&str; 5], space: Space, dst: Option<u16>, srcs: &[u16]) -> &mut Self {
        let used = MemoryUse { space, extra_transactions: 1 };
        self.push(classes[0], dst, srcs, Flow::Plain, |pc| Step::with(pc, used));
        let ids = classes.map(|class| self.program.classes.intern(class));
        let last = self.program.instrs.last_mut().expect("just pushed");
        last.class_by_space = Some(Box::new(ids));
        last.memory = Some(MemoryOp::Unaddressed(Area::Generic));
        self
    }

    /// Creates blocks of one warp each, which executes this many instructions of one class.
    pub fn blocks_of(class: &str, counts: &[usize]) -> Self {
        let mut builder = Self::new();
        for (block, &count) in counts.iter().enumerate() {
            if block > 0 {
                builder.block();
            }
            builder.warp();
            for _ in 0..count {
                builder.op(class, None, &[]);
            }
            builder.ret(class);
        }
        builder
    }

    /// Adds a barrier of all warps.
    pub fn bar(&mut self) -> &mut Self {
        let used = BarrierUse { id: 0, warps: 0 };
        self.push("barrier", None, &[], Flow::Barrier, |pc| Step::with(pc, used));
        self
    }

    /// Adds a barrier of some warps.
    pub fn partial_bar(&mut self, id: u8, warps: u8, waits: bool) -> &mut Self {
        self.current().partial_barriers = true;
        let flow = if waits { Flow::Barrier } else { Flow::Arrive };
        self.push("barrier", None, &[], flow, |pc| Step::with(pc, BarrierUse { id, warps }));
        self
    }

    /// Adds an asynchronous copy of the warp's group number `group`.
    pub fn async_copy(&mut self, class: &str, group: u64, srcs: &[u16]) -> &mut Self {
        let ring = AsyncRing::of_group(group);
        self.push(class, None, srcs, Flow::AsyncCopy, |pc| Step::with(pc, ring));
        self
    }

    /// Adds a wait for the warp's group number `group`.
    pub fn async_wait(&mut self, class: &str, group: u64) -> &mut Self {
        let ring = AsyncRing::of_group(group);
        self.push(class, None, &[], Flow::AsyncWait, |pc| Step::with(pc, ring));
        self
    }

    /// Ends the warp. The class matters only where `ret` issues.
    pub fn ret(&mut self, class: &str) -> &mut Self {
        self.push(class, None, &[], Flow::Exit, |pc| Step::plain(pc).ending_warp());
        self
    }

    /// Returns the blocks, on a machine given as RON.
    pub fn build_launch(self, ron: &str) -> RandomLaunch {
        RandomLaunch { program: self.program, machine: machine(ron), blocks: self.blocks }
    }

    /// Returns the only block, on a machine given as RON.
    pub fn build(self, ron: &str) -> RandomKernel {
        let RandomLaunch { program, machine, mut blocks } = self.build_launch(ron);
        assert_eq!(blocks.len(), 1);
        RandomKernel { program, machine, paths: blocks.remove(0) }
    }
}

/// Returns a random kernel of one block.
pub fn random_kernel(seed: u64, shape: &Shape) -> RandomKernel {
    let RandomLaunch { program, machine, mut blocks } = random_launch(seed, shape, 1);
    RandomKernel { program, machine, paths: blocks.remove(0) }
}

/// Returns the machine of [`random_launch`], as RON.
pub fn machine_text(seed: u64, shape: &Shape) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Draw { rng: &mut rng, shape, units: 0, regs: 0, long: 1 }.machine()
}

/// Returns a random launch of this number of blocks, each with its own code.
pub fn random_launch(seed: u64, shape: &Shape, blocks: usize) -> RandomLaunch {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = Draw { rng: &mut rng, shape, units: 0, regs: 0, long: 1 };
    let ron = draw.machine();
    draw.regs = draw.between(1, 7) as u16;
    let warps = draw.between(1, shape.max_warps);
    // one kernel in eight has long warps, to test queues and the wrap-around of rings
    draw.long = if draw.one_in(8) { 4 } else { 1 };
    let mut builder = KernelBuilder::new();
    for block in 0..blocks {
        if block > 0 {
            builder.block();
        }
        draw.block(&mut builder, warps);
    }
    let mut launch = builder.build_launch(&ron);
    if shape.codes {
        add_codes(&mut launch.program, seed);
    }
    launch
}

/// Adds random control codes to the instructions of a program.
pub fn add_codes(program: &mut KernelCode, seed: u64) {
    // a separate generator, so that kernels are the same with and without control codes
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xc0de);
    let instructions = (0..lines(program)).map(|_| coded(&mut rng)).collect();
    program.machine_code =
        Some(MachineCode { first_line: 1, instructions, hazards: None, independent: false });
}

/// Returns the number of lines of a program, each of which has an entry in its machine code.
pub fn lines(program: &KernelCode) -> usize {
    program.instrs.iter().map(|instr| instr.line as usize).max().unwrap_or(0)
}

/// Returns random control codes for an instruction; they need not be useful.
fn coded(rng: &mut ChaCha8Rng) -> Coded {
    let mut some = |n: u32| rng.random_ratio(1, n);
    let (writes, reads, waits, stays, long, drains) = (some(3), some(5), some(3), !some(3), some(4), some(8));
    let mut below = |end: u8| rng.random_range(0..end);
    Coded {
        byte: 0,
        control: Control {
            stall: if long { below(16) } else { below(3) },
            stay: stays,
            // few barriers, so that several instructions use the same one
            write_barrier: writes.then(|| below(2)),
            read_barrier: reads.then(|| below(3)),
            wait: if waits { below(8) } else { 0 },
            reuse: 0,
        },
        variable: true,
        waits: 0,
        drains: drains.then(|| (below(2), below(3))),
        // they only matter with ports of register banks, which the machines here do not have
        sources: Default::default(),
    }
}

/// The random choices for one kernel.
struct Draw<'a> {
    rng: &'a mut ChaCha8Rng,
    shape: &'a Shape,
    units: usize,
    regs: u16,
    long: usize,
}

/// A synchronization point that all warps pass in the same order, so that no kernel deadlocks.
enum Meeting {
    /// All warps that have not passed their last meeting take part.
    All,
    /// These warps take part, and wait or only arrive.
    Some { id: u8, members: Vec<Option<bool>> },
}

impl Draw<'_> {
    fn between(&mut self, low: usize, high: usize) -> usize {
        self.rng.random_range(low..=high)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.rng.random_range(0..n) == 0
    }

    fn machine(&mut self) -> String {
        self.units = self.between(1, 4);
        let (mut units, mut ops) = (String::new(), String::new());
        for unit in 0..self.units {
            let (init, lat) = self.timing();
            // machines with one sub-core use no further random number, so that their kernels stay
            // the same
            let shared = self.shape.sub_cores > 1 && self.one_in(2);
            let _ = write!(units, "\"u{unit}\": Unit(init: {init}, lat: {lat}, shared: {shared}), ");
            let _ = write!(ops, "\"f{unit}\": \"u{unit}\", ");
            // an op with its own timing on the same unit
            let (init, lat) = self.timing();
            let _ = write!(ops, "\"g{unit}\": Op(unit: \"u{unit}\", init: {init}, lat: {lat}), ");
        }
        // sometimes a latency far beyond the range of any timing wheel
        if self.one_in(16) {
            let _ = write!(ops, "\"far\": Op(unit: \"u0\", init: 3, lat: {}), ", self.between(900, 2500));
        } else {
            ops.push_str("\"far\": \"u0\", ");
        }
        if self.one_in(2) {
            let (init, lat) = self.timing();
            let _ = write!(ops, "\"barrier\": Op(unit: \"u0\", init: {init}, lat: {lat}), ");
        }
        let hazards = if self.shape.waw && self.one_in(2) { "Raw, Waw" } else { "Raw" };
        let exit = self.shape.exit_issues && self.one_in(3);
        let active = self.between(1, 4);
        let sub_cores = if self.shape.sub_cores > 1 { self.between(1, self.shape.sub_cores) } else { 1 };
        let dependences = if self.shape.codes { "dependences: ControlCodes, " } else { "" };
        let pipeline = match self.shape.queues {
            0 if self.shape.pipeline => "pipeline: Pipeline(), ".to_owned(),
            0 => String::new(),
            most => format!("pipeline: Pipeline(queue: {}), ", self.between(1, most)),
        };
        format!(
            "Machine(name: \"random\", hazards: [{hazards}], units: {{ {units} }}, ops: {{ {ops} }}, \
             exit_issues: {exit}, two_level_active: {active}, sub_cores: {sub_cores}, \
             {pipeline}{dependences}limits: Limits(blocks: 8))"
        )
    }

    /// Returns a random initiation of 1 to 20 and a latency of 0 to 30, often small ones.
    fn timing(&mut self) -> (usize, usize) {
        let init = if self.one_in(2) { self.between(1, 3) } else { self.between(1, 20) };
        let lat = if self.one_in(2) { self.between(0, 6) } else { self.between(0, 30) };
        (init, lat)
    }

    fn block(&mut self, builder: &mut KernelBuilder, warps: usize) {
        let meetings = self.meetings(warps);
        for warp in 0..warps {
            builder.warp();
            let left_after = if self.one_in(3) { self.between(0, meetings.len()) } else { meetings.len() };
            let mut groups = 0;
            for (index, meeting) in meetings.iter().enumerate() {
                self.instructions(builder, meetings.len() + 1, &mut groups);
                match meeting {
                    // a warp may end early; it then passes only barriers that need it
                    Meeting::All if index < left_after || later_partial(&meetings[index..], warp) => {
                        builder.bar();
                    }
                    Meeting::All => {}
                    Meeting::Some { id, members } => {
                        if let Some(waits) = members[warp] {
                            builder.partial_bar(*id, members.iter().flatten().count() as u8, waits);
                        }
                    }
                }
            }
            self.instructions(builder, meetings.len() + 1, &mut groups);
            builder.ret("f0");
        }
    }

    fn meetings(&mut self, warps: usize) -> Vec<Meeting> {
        let mut meetings = Vec::new();
        if self.shape.barriers && self.one_in(2) {
            meetings.extend((0..self.between(1, 3)).map(|_| Meeting::All));
        }
        if self.shape.partial_barriers && warps > 1 && self.one_in(3) {
            // each ID occurs once: an arrival at a barrier must not count for the previous one
            for id in 1..=self.between(1, 3) as u8 {
                let mut members: Vec<Option<bool>> =
                    (0..warps).map(|_| self.one_in(2).then(|| !self.one_in(3))).collect();
                members[self.between(0, warps - 1)] = Some(true);
                let at = self.between(0, meetings.len());
                meetings.insert(at, Meeting::Some { id, members });
            }
        }
        meetings
    }

    /// Adds a sequence of instructions, a `parts`-th of the warp's.
    fn instructions(&mut self, builder: &mut KernelBuilder, parts: usize, groups: &mut u64) {
        let count = self.between(0, self.shape.max_instructions * self.long) / parts;
        for _ in 0..count {
            self.instruction(builder, groups);
        }
    }

    fn instruction(&mut self, builder: &mut KernelBuilder, groups: &mut u64) {
        let srcs: Vec<u16> = (0..self.between(0, 3)).map(|_| self.reg()).collect();
        let dst = (!self.one_in(5)).then(|| self.reg());
        let class = self.class();
        if self.shape.memory && self.one_in(3) {
            match self.between(0, 3) {
                0 => builder.op(&format!("{class}.global"), dst, &srcs),
                1 => {
                    let space = Space::RESOLVED[self.between(0, 4)];
                    let classes: Vec<String> = (0..5).map(|_| self.class()).collect();
                    let names = [0, 1, 2, 3, 4].map(|i: usize| classes[i].as_str());
                    builder.generic(names, space, dst, &srcs)
                }
                2 => {
                    *groups += u64::from(self.one_in(2));
                    builder.async_copy(&class, *groups, &srcs)
                }
                _ => builder.async_wait(&class, groups.saturating_sub(self.between(0, 1) as u64)),
            };
        } else {
            builder.op(&class, dst, &srcs);
        }
    }

    fn class(&mut self) -> String {
        let unit = self.between(0, self.units - 1);
        match self.between(0, 9) {
            0..=6 => format!("f{unit}"),
            7 | 8 => format!("g{unit}"),
            _ => "far".to_owned(),
        }
    }

    fn reg(&mut self) -> u16 {
        self.rng.random_range(0..self.regs)
    }
}

/// Returns whether a warp still has a partial barrier to pass.
fn later_partial(meetings: &[Meeting], warp: usize) -> bool {
    meetings.iter().any(|m| matches!(m, Meeting::Some { members, .. } if members[warp].is_some()))
}
