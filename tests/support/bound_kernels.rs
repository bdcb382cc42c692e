//! Small kernels for the tests of the analyser and the bounds: written by hand, or random.

#![allow(dead_code, reason = "every test file uses a part of it")]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpbound::base::{BlockId, LaneMask, Pc, RegId};
use warpbound::diag::SourceText;
use warpbound::isa::Space;
use warpbound::machine::{Machine, MachineSpec};
use warpbound::path::{AsyncRing, BarrierUse, BlockPaths, MemoryUse, Step, WarpPath};
use warpbound::program::{Area, Flow, Instr, KernelCode, MemoryOp, RegKind, Register, Sem, TimingTable};

/// A block of warps with its machine's timing.
pub struct Kernel {
    pub program: KernelCode,
    pub paths: BlockPaths,
    pub table: TimingTable,
}

pub fn machine(text: &str) -> Machine {
    let source = SourceText::new("test.ron", text);
    Machine::new(&MachineSpec::parse(&source).expect("a machine"), &source).expect("a valid machine")
}

/// Returns the text of a machine with the units `(name, init, lat)` and an op class of the same
/// name for each. `more` holds further settings.
pub fn machine_text(units: &[(&str, u64, u64)], more: &str) -> String {
    let defined: Vec<String> =
        units.iter().map(|(name, init, lat)| format!("\"{name}\": Unit(init: {init}, lat: {lat})")).collect();
    let ops: Vec<String> = units.iter().map(|(name, ..)| format!("\"{name}\": \"{name}\"")).collect();
    format!(
        "Machine(name: \"test\", units: {{ {} }}, ops: {{ {}, \"ret\": \"{}\" }}, {more})",
        defined.join(", "),
        ops.join(", "),
        units[0].0
    )
}

/// Builds a program and the paths through it. Every warp runs its own part of the program, unless
/// its steps repeat those of another.
#[derive(Default)]
pub struct Builder {
    program: KernelCode,
    paths: BlockPaths,
}

impl Builder {
    /// Returns a builder whose program has this number of registers.
    pub fn new(regs: usize) -> Self {
        let mut builder = Self::default();
        builder.program.file = "test".to_owned();
        builder.program.regs =
            (0..regs).map(|r| Register { name: format!("r{r}"), kind: RegKind::Bits(32) }).collect();
        builder.paths.reset(BlockId::new(0), 0);
        builder
    }

    /// Adds an instruction to the program.
    pub fn instr(&mut self, class: &str, dsts: &[u16], srcs: &[u16], flow: Flow) -> Pc {
        let class = self.program.classes.intern(class);
        self.program.instrs.push(Instr {
            folded: false,
            class,
            class_by_space: None,
            dsts: dsts.iter().copied().map(RegId::new).collect(),
            srcs: srcs.iter().copied().map(RegId::new).collect(),
            guard: None,
            flow,
            memory: None,
            sem: Sem::None,
            line: 1,
        });
        Pc::from_index(self.program.instrs.len() - 1)
    }

    /// Makes the class of the last added instruction depend on the space that its step accesses.
    pub fn by_space(&mut self, classes: [&str; 5]) {
        let classes = classes.map(|class| self.program.classes.intern(class));
        let last = self.program.instrs.last_mut().expect("an instruction");
        last.class_by_space = Some(Box::new(classes));
        last.memory = Some(MemoryOp::Unaddressed(Area::Generic));
    }

    /// Adds a warp that runs these steps and ends.
    pub fn warp(&mut self, steps: &[Step]) {
        let ret = self.instr("ret", &[], &[], Flow::Exit);
        let mut path = WarpPath::new();
        for &step in steps {
            path.push(step, LaneMask::ALL);
        }
        path.push(Step::plain(ret).ending_warp(), LaneMask::ALL);
        self.paths.warps.push(path);
    }

    /// Adds a warp whose path violates the invariant that its last step ends the warp.
    pub fn unended_warp(&mut self, steps: &[Step]) {
        let mut path = WarpPath::new();
        for &step in steps {
            path.push(step, LaneMask::ALL);
        }
        self.paths.warps.push(path);
    }

    pub fn finish(self, machine: &Machine) -> Kernel {
        let table = TimingTable::new(&self.program, machine).expect("every class is mapped");
        Kernel { program: self.program, paths: self.paths, table }
    }
}

/// Returns a block from text, one string per warp. Instructions are separated by `;`; each is an op
/// class and its registers as in `.warp` files (`f2 r3, r0`, `_` for none). A prefix `N*` repeats
/// an instruction. `bar` is a barrier; the end of the warp is added.
pub fn kernel(machine_text: &str, warps: &[String]) -> Kernel {
    let mut builder = Builder::new(64);
    for code in warps {
        let mut steps = Vec::new();
        for line in code.split(';').map(str::trim).filter(|line| !line.is_empty()) {
            let (times, line) = line
                .split_once('*')
                .map_or((1, line), |(n, rest)| (n.trim().parse().expect("a count"), rest));
            let mut words = line.split([' ', ',']).filter(|word| !word.is_empty());
            let class = words.next().expect("an op class");
            let regs: Vec<Option<u16>> = words
                .map(|word| word.strip_prefix('r').map(|number| number.parse().expect("a register")))
                .collect();
            let dsts: Vec<u16> = regs.iter().take(1).copied().flatten().collect();
            let srcs: Vec<u16> = regs.iter().skip(1).copied().flatten().collect();
            let barrier = class == "bar";
            let (class, flow) = if barrier { ("barrier", Flow::Barrier) } else { (class, Flow::Plain) };
            for _ in 0..times {
                let pc = builder.instr(class, &dsts, &srcs, flow);
                let whole_block = BarrierUse { id: 0, warps: 0 };
                steps.push(if barrier { Step::with(pc, whole_block) } else { Step::plain(pc) });
            }
        }
        builder.warp(&steps);
    }
    builder.finish(&machine(machine_text))
}

pub fn texts(warps: &[&str]) -> Vec<String> {
    warps.iter().map(|&warp| warp.to_owned()).collect()
}

/// The maximum size of random kernels.
#[derive(Clone, Copy)]
pub struct Size {
    pub warps: usize,
    pub sections: usize,
    /// The number of instructions of one section.
    pub section: usize,
    pub max_init: u64,
    pub max_lat: u64,
}

/// Returns a random block. It may have heterogeneous and equal warps, units shared by ops of
/// different timing, generic accesses, hazards with and without WAW, and asynchronous copies.
/// Barriers use a separate or a shared unit, some warps finish early, and exits issue or not.
pub fn random(seed: u64, size: Size) -> Kernel {
    random_on(seed, size, 1)
}

/// Returns a random block as [`random`] does, for this number of sub-cores, with about half of the
/// units shared.
pub fn random_on(seed: u64, size: Size, sub_cores: usize) -> Kernel {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rng = &mut rng;
    let units = rng.random_range(1..=4usize);
    let (classes, machine) = random_machine(rng, units, size, sub_cores);
    let regs = rng.random_range(2..=8u16);
    let mut builder = Builder::new(usize::from(regs));
    let warps = rng.random_range(1..=size.warps);
    let most_sections = rng.random_range(1..=size.sections);
    let mut code: Vec<Vec<Step>> = Vec::new();
    for _ in 0..warps {
        if !code.is_empty() && rng.random_ratio(1, 4) {
            let twin = code[code.len() - 1].clone();
            code.push(twin);
            continue;
        }
        let sections =
            if rng.random_ratio(2, 3) { most_sections } else { rng.random_range(1..=most_sections) };
        let mut steps: Vec<Step> = Vec::new();
        let mut previous = 0..0;
        for section in 0..sections {
            let start = steps.len();
            if section > 1 && rng.random_ratio(1, 3) {
                // repeats the previous section with its barrier, as a loop does
                steps.extend_from_within(previous.clone());
            } else {
                for _ in 0..rng.random_range(0..=size.section) {
                    steps.push(random_step(rng, &mut builder, &classes, regs));
                }
                if section + 1 < sections {
                    let pc = builder.instr("barrier", &[], &[], Flow::Barrier);
                    steps.push(Step::with(pc, BarrierUse { id: 0, warps: 0 }));
                }
            }
            previous = start..steps.len();
        }
        code.push(steps);
    }
    for steps in &code {
        builder.warp(steps);
    }
    builder.finish(&machine)
}

fn random_machine(
    rng: &mut ChaCha8Rng,
    units: usize,
    size: Size,
    sub_cores: usize,
) -> (Vec<String>, Machine) {
    let mut time = |max: u64, least: u64| {
        let max = if rng.random_ratio(1, 3) { least } else { max };
        rng.random_range(least..=max)
    };
    let names: Vec<String> = (0..units).map(|u| format!("u{u}")).collect();
    let defined: Vec<String> = names
        .iter()
        .map(|name| {
            let (init, lat) = (time(size.max_init, 1), time(size.max_lat, 0));
            // derived from `init`, so that a machine with one sub-core uses no further random
            // number
            let shared = sub_cores > 1 && init % 2 == 0;
            format!("\"{name}\": Unit(init: {init}, lat: {lat}, shared: {shared})")
        })
        .collect();
    let mut classes: Vec<String> = Vec::new();
    let mut ops: Vec<String> = Vec::new();
    for (index, unit) in names.iter().enumerate() {
        classes.push(format!("f{index}"));
        ops.push(format!("\"f{index}\": \"{unit}\""));
        classes.push(format!("g{index}"));
        ops.push(format!(
            "\"g{index}\": Op(unit: \"{unit}\", init: {}, lat: {})",
            time(size.max_init, 1),
            time(size.max_lat, 0)
        ));
    }
    let some_unit = names[rng.random_range(0..units)].clone();
    ops.push(format!("\"ret\": \"{some_unit}\""));
    if rng.random_ratio(1, 2) {
        let (init, lat) = (rng.random_range(1..=size.max_init), rng.random_range(0..=size.max_lat));
        ops.push(format!("\"barrier\": Op(unit: \"{some_unit}\", init: {init}, lat: {lat})"));
    }
    let hazards = if rng.random_ratio(1, 2) { "[Raw]" } else { "[Raw, Waw]" };
    let exit_issues = rng.random_ratio(1, 2);
    let text = format!(
        "Machine(name: \"random\", hazards: {hazards}, exit_issues: {exit_issues}, sub_cores: {sub_cores}, \
         units: {{ {} }}, ops: {{ {} }})",
        defined.join(", "),
        ops.join(", ")
    );
    (classes, machine(&text))
}

fn random_step(rng: &mut ChaCha8Rng, builder: &mut Builder, classes: &[String], regs: u16) -> Step {
    let mut some_regs = |most: usize| -> Vec<u16> {
        (0..rng.random_range(0..=most)).map(|_| rng.random_range(0..regs)).collect()
    };
    let (dsts, srcs) = (some_regs(2), some_regs(2));
    let [first, by_space @ ..]: [&str; 6] =
        std::array::from_fn(|_| classes[rng.random_range(0..classes.len())].as_str());
    match rng.random_range(0..10u8) {
        0 => {
            let pc = builder.instr(first, &dsts, &srcs, Flow::Plain);
            builder.by_space(by_space);
            let space = Space::RESOLVED[rng.random_range(0..5usize)];
            Step::with(pc, MemoryUse { space, extra_transactions: rng.random_range(0..3u8) })
        }
        kind @ (1 | 2) => {
            let flow = if kind == 1 { Flow::AsyncCopy } else { Flow::AsyncWait };
            let pc = builder.instr(first, &[], &srcs, flow);
            Step::with(pc, AsyncRing::of_group(rng.random_range(0..2u64)))
        }
        _ => Step::plain(builder.instr(first, &dsts, &srcs, Flow::Plain)),
    }
}
