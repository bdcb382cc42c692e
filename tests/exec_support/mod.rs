//! Runs small PTX kernels: a kernel `k` whose parameters are pointers to the given buffers, with
//! registers of every kind declared and `%tid.x` in `%r0`, pointers in `%rd0`, `%rd1`, ...
#![allow(dead_code, reason = "each test file uses a part of it")]

use warpbound::base::LaneMask;
use warpbound::diag::{Diagnostics, SourceText};
use warpbound::exec::divergence::Divergence;
use warpbound::exec::races::{BlockOrder, TimeDependences};
use warpbound::exec::{Executor, Options, Vectors};
use warpbound::load::ptx_isa;
use warpbound::machine::{Banks, Reconvergence};
use warpbound::path::{BlockPaths, BlockSource};
use warpbound::program::image::Bound;
use warpbound::program::launch::{Arg, Buffer, Elem, Launch};
use warpbound::program::warp_cfg::{Divergence as Edges, WarpCfg};
use warpbound::program::{KernelCode, Sem};
use warpbound::ptx::Module;

/// A launch under construction.
pub struct Kernel {
    pub body: String,
    /// The text before the kernel: variables and functions.
    pub module: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    pub buffers: Vec<Vec<u8>>,
    pub symbols: Vec<(String, Vec<u8>)>,
    pub images: Vec<Bound>,
    pub fuel: u64,
    pub banks: Option<Banks>,
    pub traffic: bool,
    pub constants: bool,
    pub reconvergence: Reconvergence,
    pub races: Option<BlockOrder>,
    pub race_memory: usize,
    pub another_order: Option<u64>,
}

/// The result of a launch.
#[derive(Debug)]
pub struct Outcome {
    pub blocks: Vec<BlockPaths>,
    pub buffers: Vec<Vec<u8>>,
    pub time: TimeDependences,
    pub program: KernelCode,
    pub divergence: Divergence,
}

/// Returns a launch of one block of `threads` threads, without buffers.
pub fn kernel(threads: u32, body: &str) -> Kernel {
    Kernel {
        body: body.to_owned(),
        module: String::new(),
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        buffers: Vec::new(),
        symbols: Vec::new(),
        images: Vec::new(),
        fuel: 1 << 22,
        banks: None,
        traffic: false,
        constants: false,
        reconvergence: Reconvergence::PostDominator,
        races: None,
        race_memory: 1 << 24,
        another_order: None,
    }
}

impl Kernel {
    pub fn words(mut self, words: &[u32]) -> Self {
        self.buffers.push(words.iter().flat_map(|w| w.to_le_bytes()).collect());
        self
    }

    pub fn zeros(mut self, bytes: usize) -> Self {
        self.buffers.push(vec![0; bytes]);
        self
    }

    pub fn module(mut self, text: &str) -> Self {
        self.module = text.to_owned();
        self
    }

    pub fn text(&self) -> String {
        let params: Vec<String> = (0..self.buffers.len()).map(|i| format!(".param .u64 p{i}")).collect();
        let loads: Vec<String> =
            (0..self.buffers.len()).map(|i| format!("ld.param.u64 %rd{i}, [p{i}];")).collect();
        format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n{}\n.visible .entry k({})\n{{\n\
             .reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<60>; .reg .b64 %rd<40>;\n\
             .reg .f32 %f<40>; .reg .f64 %fd<40>;\n\
             mov.u32 %r0, %tid.x; {}\n{}\n}}\n",
            self.module,
            params.join(", "),
            loads.join(" "),
            self.body
        )
    }

    /// Runs the launch with every kind of vector operations, which must agree on everything.
    pub fn run(self) -> Result<Outcome, Diagnostics> {
        let [detected, portable, off] =
            [Vectors::Detected, Vectors::Portable, Vectors::Off].map(|vectors| self.run_with(vectors));
        for other in [portable, off] {
            match (&detected, &other) {
                (Ok(one), Ok(other)) => {
                    assert_eq!(one.buffers, other.buffers);
                    assert_eq!(one.blocks, other.blocks);
                    assert_eq!(one.time, other.time);
                    assert_eq!(one.divergence, other.divergence);
                }
                (one, other) => {
                    let text = |result: &Result<Outcome, Diagnostics>| {
                        result.as_ref().err().map(ToString::to_string)
                    };
                    assert_eq!(text(one), text(other));
                }
            }
        }
        detected
    }

    fn run_with(&self, vectors: Vectors) -> Result<Outcome, Diagnostics> {
        let isa = ptx_isa();
        let text = self.text();
        let module = Module::parse(&SourceText::new("k.ptx", text.as_str()))?;
        let program = module.program("k", &isa)?;
        let buffer = |name: String, bytes: &Vec<u8>| {
            let bytes = bytes.clone();
            Buffer { name, elem: Elem::U8, bytes, constant: false }
        };
        let launch = Launch {
            grid: self.grid,
            block: self.block,
            dynamic_shared: self.dynamic_shared,
            registers: None,
            args: (0..self.buffers.len()).map(Arg::Buffer).collect(),
            buffers: self.buffers.iter().enumerate().map(|(i, b)| buffer(format!("p{i}"), b)).collect(),
            symbols: self.symbols.iter().map(|(name, b)| buffer(name.clone(), b)).collect(),
            images: self.images.clone(),
        };
        let options = Options {
            max_instructions_per_block: self.fuel,
            banks: self.banks,
            traffic: self.traffic,
            lanes: false,
            constants: self.constants,
            constant_addresses: false,
            reconvergence: self.reconvergence,
            divergence: true,
            vectors,
            races: self.races,
            race_memory: self.race_memory,
            another_order: self.another_order,
            stack_bytes: warpbound::exec::STACK_BYTES,
        };
        let mut executor = Executor::new(&program, &launch, options)?;
        let mut paths = BlockPaths::default();
        let mut blocks = Vec::new();
        loop {
            match executor.next_block(&mut paths) {
                Ok(true) => blocks.push(paths.clone()),
                Ok(false) => break,
                Err(error) => {
                    assert_eq!(executor.next_block(&mut paths), Ok(false), "spent after an error");
                    return Err(error);
                }
            }
        }
        let buffers = (0..launch.buffers.len()).map(|i| executor.buffer(i).to_vec()).collect();
        let time = executor.time_dependences();
        let divergence = executor.divergence().expect("asked for").clone();
        self.holds_of_warps(&program, &blocks, &divergence);
        Ok(Outcome { blocks, buffers, time, program: program.clone(), divergence })
    }

    /// Checks that warps walk over the kernel's control flow, and that lanes diverge only where
    /// they may.
    fn holds_of_warps(&self, program: &KernelCode, blocks: &[BlockPaths], divergence: &Divergence) {
        // lanes may wait at a barrier of a warp for those on the other side of a branch
        let waits = program.instrs.iter().any(|instr| matches!(instr.sem, Sem::WarpSync { .. }));
        if waits && divergence.branches().any(|branch| branch.diverged > 0) {
            return;
        }
        // irreducible code is rejected
        let Ok(graph) = WarpCfg::new(program, Some(self.block), Edges::Sides) else { return };
        for path in blocks.iter().flat_map(|block| &block.warps) {
            let line = |index: usize| program.instrs[path.steps()[index].pc().index()].line;
            if let Some(index) = graph.first_impossible(path.steps()) {
                panic!("no walk leads from line {} to {}\n{}", line(index - 1), line(index), self.text());
            }
        }
        for branch in divergence.branches().filter(|branch| branch.diverged > 0) {
            assert!(graph.diverges[graph.block_of(branch.pc)], "{:?} diverged\n{}", branch.pc, self.text());
        }
    }

    pub fn ok(self) -> Outcome {
        let text = self.text();
        self.run().unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Returns the text of the only error.
    pub fn error(self) -> String {
        let error = self.run().expect_err("an error");
        assert_eq!(error.list().len(), 1, "{error}");
        error.to_string()
    }
}

impl Outcome {
    /// Returns a buffer as 32-bit words.
    pub fn words(&self, buffer: usize) -> Vec<u32> {
        self.buffers[buffer].chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    /// Returns a buffer as 64-bit words.
    pub fn longs(&self, buffer: usize) -> Vec<u64> {
        self.buffers[buffer].chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect()
    }

    /// Returns (source line, active lanes) of every step of a warp of the first block.
    pub fn trace(&self, warp: usize) -> Vec<(u32, u32)> {
        let path = &self.blocks[0].warps[warp];
        let mut masks = path.masks().iter().peekable();
        let mut mask = LaneMask::empty();
        let steps = path.steps().iter().enumerate();
        steps
            .map(|(index, step)| {
                while let Some((start, next)) = masks.peek() {
                    if *start as usize > index {
                        break;
                    }
                    mask = *next;
                    masks.next();
                }
                (self.program.instr(step.pc()).line, mask.bits())
            })
            .collect()
    }

    /// Does the same as [`Outcome::trace`], with lines counted from the first one of the body.
    pub fn body_trace(&self, warp: usize, module_lines: u32) -> Vec<(u32, u32)> {
        // version, target, address size, module, entry, brace, registers (2), first loads
        let before = 8 + module_lines;
        let trace = self.trace(warp);
        trace.into_iter().filter(|(line, _)| *line > before + 1).map(|(l, m)| (l - before - 1, m)).collect()
    }
}

/// Code that stores `%r1` as the thread's word of buffer 0.
pub const STORE: &str = "mul.wide.u32 %rd30, %r0, 4; add.u64 %rd31, %rd0, %rd30; st.global.u32 [%rd31], %r1;";
