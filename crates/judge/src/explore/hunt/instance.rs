//! An instance of the hunt: a generated kernel on a generated machine.

use std::fmt::Write;

use warpbound_core::base::{BlockId, Cycles, LaneMask, Pc, RegId, UnitId};
use warpbound_core::machine::{OpTiming, SubCores};
use warpbound_core::path::{BarrierUse, BlockPaths, Step};
use warpbound_core::program::{Flow, RegList, TimedInstr, TimingTable};

/// The initiation interval and the latency of a unit, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitTime {
    /// The initiation interval, at least 1.
    pub init: u16,
    /// The latency after the initiation.
    pub lat: u16,
    /// Whether sub-cores share it.
    pub shared: bool,
}

/// The kind of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The instruction runs on this unit.
    On(u8),
    /// The instruction is a barrier.
    Barrier,
}

/// An instruction. Each instruction writes a register of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ins {
    /// The unit, or the barrier.
    pub kind: Kind,
    /// The indices of earlier instructions of the warp whose results it reads.
    pub reads: [Option<u16>; 2],
}

/// Blocks of a launch that are resident together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// The number of blocks of the launch; all have the same number of warps.
    pub blocks: usize,
    /// The number of blocks that the SM holds at a time.
    pub places: usize,
    /// The number of sub-cores of the SM.
    pub sub_cores: usize,
}

/// A block of warps on a machine, or several blocks. The last unit of its tables is that of
/// barriers (init 1, lat 0).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// The units.
    pub units: Vec<UnitTime>,
    /// The codes; warps are numbered code by code.
    pub codes: Vec<Vec<Ins>>,
    /// The number of warps that run each code.
    pub copies: usize,
    /// Describes the blocks if there are several. The warps are numbered block after block.
    pub together: Option<Together>,
}

impl Instance {
    /// Returns the number of warps of a block.
    pub fn block_warps(&self) -> usize {
        self.codes.len() * self.copies / self.together.map_or(1, |together| together.blocks.max(1))
    }

    /// Returns the code of each warp.
    pub fn warps(&self) -> impl Iterator<Item = &[Ins]> {
        self.codes.iter().flat_map(|code| std::iter::repeat_n(code.as_slice(), self.copies))
    }

    /// Returns the number of instructions of all warps.
    pub fn instructions(&self) -> usize {
        self.codes.iter().map(Vec::len).sum::<usize>() * self.copies
    }

    /// Returns the unit index and the timing of an instruction.
    pub fn timing(&self, kind: Kind) -> (usize, UnitTime) {
        match kind {
            Kind::On(unit) => (usize::from(unit), self.units[usize::from(unit)]),
            Kind::Barrier => (self.units.len(), UnitTime { init: 1, lat: 0, shared: false }),
        }
    }

    /// Returns the size that shrinking reduces, most important part first: instructions, reads,
    /// units, and the sum of all times.
    pub fn size(&self) -> (usize, usize, usize, u64) {
        let reads = self.codes.iter().flatten().map(|ins| ins.reads.iter().flatten().count()).sum::<usize>();
        let times = self.units.iter().map(|u| u64::from(u.init) + u64::from(u.lat)).sum();
        (self.instructions(), reads * self.copies, self.units.len(), times)
    }

    /// Returns the kernel as a `.warp` file.
    pub fn kernel_text(&self, header: &str, machine: &str) -> String {
        let mut text = String::new();
        for line in header.lines() {
            let _ = writeln!(text, "# {line}");
        }
        let _ = writeln!(text, ".machine {machine}");
        // a code that all warps of all blocks share is written once
        let all_alike = self.codes.len() == 1;
        let copies = if all_alike { self.block_warps() } else { self.copies };
        for (index, code) in self.codes.iter().enumerate() {
            if let Some(together) = self.together
                && (all_alike || (index * self.copies).is_multiple_of(self.block_warps()))
            {
                let _ = writeln!(text, ".blocks {}", if all_alike { together.blocks } else { 1 });
            }
            let _ = writeln!(text, ".warps {copies}");
            for (index, ins) in code.iter().enumerate() {
                let _ = write!(text, "    ");
                let Kind::On(unit) = ins.kind else {
                    let _ = writeln!(text, "bar");
                    continue;
                };
                let is_read = code.iter().any(|later| later.reads.contains(&Some(index as u16)));
                let target = if is_read { format!("r{index}") } else { "_".to_owned() };
                let _ = write!(text, "f{unit} {target}");
                for read in ins.reads.iter().flatten() {
                    let _ = write!(text, ", r{read}");
                }
                let _ = writeln!(text);
            }
            let _ = writeln!(text, "    ret");
        }
        text
    }

    /// Returns the machine as a RON file.
    pub fn machine_text(&self, name: &str, doc: &str) -> String {
        let mut text =
            format!("Machine(\n    name: {name:?},\n    doc: {doc:?},\n    hazards: [Raw],\n    units: {{\n");
        for (index, unit) in self.units.iter().enumerate() {
            let shared = if unit.shared { ", shared: true" } else { "" };
            let _ =
                writeln!(text, "        \"f{index}\": Unit(init: {}, lat: {}{shared}),", unit.init, unit.lat);
        }
        let ops: Vec<String> = (0..self.units.len()).map(|i| format!("\"f{i}\": \"f{i}\"")).collect();
        let _ = writeln!(text, "    }},\n    ops: {{ {} }},", ops.join(", "));
        if let Some(Together { places, sub_cores, .. }) = self.together {
            let _ = writeln!(text, "    sub_cores: {sub_cores}, limits: Limits(blocks: {places}),");
        }
        text.push_str(")\n");
        text
    }
}

/// An instance in the form that the analyser and the engine read. Its memory is reused for each
/// instance.
#[derive(Debug)]
pub struct Subject {
    /// The timing of every instruction.
    pub table: TimingTable,
    /// The paths of the warps, block after block.
    pub blocks: Vec<BlockPaths>,
}

impl Default for Subject {
    fn default() -> Self {
        Self { table: TimingTable::of_instrs(Vec::new(), 0, 0), blocks: vec![BlockPaths::default()] }
    }
}

impl Subject {
    /// Replaces the contents by an instance.
    pub fn fill(&mut self, instance: &Instance) {
        let empty = TimingTable::of_instrs(Vec::new(), 0, 0);
        let mut instrs = std::mem::replace(&mut self.table, empty).into_instrs();
        instrs.clear();
        let block_warps = instance.block_warps();
        let blocks = instance.together.map_or(1, |together| together.blocks);
        self.blocks.resize_with(blocks, BlockPaths::default);
        for (number, block) in self.blocks.iter_mut().enumerate() {
            block.reset(BlockId::from_index(number), block_warps);
        }
        for (index, code) in instance.codes.iter().enumerate() {
            let first = instrs.len();
            for ins in code {
                instrs.push(timed(instance, ins, first, instrs.len()));
            }
            instrs.push(exit());
            for warp in index * instance.copies..(index + 1) * instance.copies {
                let path = &mut self.blocks[warp / block_warps].warps[warp % block_warps];
                for (offset, ins) in code.iter().enumerate() {
                    let pc = Pc::from_index(first + offset);
                    let step = match ins.kind {
                        Kind::On(_) => Step::plain(pc),
                        Kind::Barrier => Step::with(pc, BarrierUse { id: 0, warps: 0 }),
                    };
                    path.push(step, LaneMask::ALL);
                }
                path.push(Step::plain(Pc::from_index(first + code.len())).ending_warp(), LaneMask::ALL);
            }
        }
        let registers = instrs.len();
        self.table = TimingTable::of_instrs(instrs, instance.units.len() + 1, registers);
        if let Some(Together { sub_cores, .. }) = instance.together {
            let shared: Vec<bool> = instance.units.iter().map(|unit| unit.shared).collect();
            let empty = TimingTable::of_instrs(Vec::new(), 0, 0);
            let table = std::mem::replace(&mut self.table, empty);
            self.table = table.on_sub_cores(SubCores::sharing(sub_cores, &shared));
        }
    }

    /// Returns the only block, or the first.
    pub fn paths(&self) -> &BlockPaths {
        &self.blocks[0]
    }
}

fn timed(instance: &Instance, ins: &Ins, first: usize, pc: usize) -> TimedInstr {
    let (unit, time) = instance.timing(ins.kind);
    let (init, lat) = (Cycles::new(u64::from(time.init)), Cycles::new(u64::from(time.lat)));
    let op = OpTiming { unit: UnitId::from_index(unit), init, lat };
    let (flow, dsts) = match ins.kind {
        Kind::On(_) => (Flow::Plain, RegList::from_iter([RegId::from_index(pc)])),
        Kind::Barrier => (Flow::Barrier, RegList::new()),
    };
    let srcs = ins.reads.iter().flatten().map(|&read| RegId::from_index(first + usize::from(read)));
    TimedInstr::bare(flow, op, dsts, srcs.collect())
}

fn exit() -> TimedInstr {
    let op = OpTiming { unit: UnitId::new(0), init: Cycles::ONE, lat: Cycles::ZERO };
    TimedInstr::bare(Flow::Exit, op, RegList::new(), RegList::new())
}
