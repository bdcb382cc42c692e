//! Writes the paths of warps as a trace, which [`super::TracedKernel`] and other tools can read.
//!
//! A line of the format contains at most one destination and five sources, and no predicates.
//! Further operands, op classes that no opcode of the target has, and the names of registers are
//! written in header lines that other tools ignore.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::opcodes::{OpcodeEffect, Opcodes, class_in};
use warpbound_core::base::{LaneMask, Pc, RegId};
use warpbound_core::diag::{Diagnostic, Diagnostics};
use warpbound_core::isa::Space;
use warpbound_core::path::{BlockPaths, Footprint, Step, WarpPath};
use warpbound_core::program::sem::{Matrix, Sem};
use warpbound_core::program::{Area, Flow, Instr, KernelCode, MemoryOp, RegKind};

/// The maximum number of sources in a line.
const MAX_SRCS: usize = 5;
/// The number of the zero register, which no other register may have.
const ZERO: usize = 255;
/// The tracer version of the output, which includes immediates.
const VERSION: u32 = 5;
/// The spaces whose windows are written to the header.
const WINDOWS: [Space; 2] = [Space::Shared, Space::Local];

/// Opcodes of real GPUs for op classes, by the prefix of the class.
const OPCODES: [(&str, &str); 40] = [
    ("fp32.add", "FADD"),
    ("fp32.mul", "FMUL"),
    ("fp32.mad", "FFMA"),
    ("fp32.max", "FMNMX"),
    ("fp64.add", "DADD"),
    ("fp64.mul", "DMUL"),
    ("fp64.mad", "DFMA"),
    ("fp16.add", "HADD2"),
    ("fp16.mul", "HMUL2"),
    ("fp16.mad", "HFMA2"),
    ("fp16.max", "HMNMX2"),
    ("int.add", "IADD3"),
    ("int.vadd", "IADD3"),
    ("int.max", "IMNMX"),
    ("int.mul", "IMAD"),
    ("int.mad", "IMAD"),
    ("int.xmad", "XMAD"),
    ("int.div", "MUFU"),
    ("int", "IMAD"),
    ("fp32", "MUFU"),
    ("fp64", "DFMA"),
    ("fp16", "HFMA2"),
    ("sfu", "MUFU"),
    ("alu.mov", "MOV"),
    ("alu.logic", "LOP3"),
    ("alu.shift", "SHF"),
    ("alu.compare", "ISETP"),
    ("alu.select", "SEL"),
    ("alu.convert", "F2F"),
    ("alu.pack", "F2F"),
    ("alu.sign", "IABS"),
    ("alu.bits", "PRMT"),
    ("alu.vote", "VOTE"),
    ("alu", "NOP"),
    ("shfl", "SHFL"),
    ("tensor.int", "IMMA"),
    ("tensor.f64", "DMMA"),
    ("tensor", "HMMA"),
    ("control", "BRA"),
    ("ld", "LDC"),
];

/// The properties of the launch that are written to the header of a trace.
#[derive(Clone, Debug)]
pub struct Launched<'a> {
    /// The number of blocks in x, y and z.
    pub grid: [u32; 3],
    /// The number of threads of a block in x, y and z.
    pub block: [u32; 3],
    /// The number of registers of a thread, if they limit occupancy.
    pub registers: Option<u32>,
    /// The memory that the launch uses.
    pub footprint: &'a Footprint,
    /// The local memory of a thread in bytes.
    pub local_bytes: u64,
    /// The number of the launch, from 1.
    pub number: u64,
}

/// A writer of the paths of a kernel.
pub struct Writer<'p> {
    program: &'p KernelCode,
    /// For each instruction, the part of its line that is the same for all executions.
    lines: Vec<String>,
    /// The additional header lines.
    extra_header: String,
    target: u32,
}

impl<'p> Writer<'p> {
    /// Prepares a program. `opcode` returns the opcode of an instruction of machine code.
    ///
    /// # Errors
    /// Returns a diagnostic for each instruction that a trace cannot represent.
    pub fn new(
        program: &'p KernelCode,
        opcodes: &Opcodes,
        target: u32,
        opcode: &dyn Fn(Pc) -> Option<String>,
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut extra_header = String::from("-operands = whole\n");
        let mut classes: Vec<(String, String)> = Vec::new();
        let mut lines = Vec::with_capacity(program.instrs.len());
        let mut used = vec![false; program.regs.len()];
        let numbers = numbers(program);
        let number = |reg: RegId| numbers[reg.index()];
        for (index, instr) in program.instrs.iter().enumerate() {
            lines.push(String::new());
            if instr.folded {
                continue;
            }
            let class = program.classes.name(instr.class);
            let (name, does) = match choose_opcode(instr, class) {
                Ok(chosen) => chosen,
                Err(why) => {
                    let place = program.place(Pc::from_index(index));
                    problems.push(Diagnostic::general(place, format!("a trace cannot hold {why}")));
                    continue;
                }
            };
            // keep an opcode of machine code if it has the same effect
            let fits =
                |name: &String| opcodes.find(name).map_or(OpcodeEffect::Nothing, |rule| rule.does) == does;
            let name = opcode(Pc::from_index(index)).filter(fits).unwrap_or(name);
            let name = of_class((name, does), class, opcodes, &mut classes);
            let operands = Operands::of(instr, program);
            let listed = |regs: &[RegId]| {
                regs.iter().fold(regs.len().to_string(), |text, reg| text + &format!(" R{}", number(*reg)))
            };
            let bytes = instr.sem.access().map_or(0, |(_, bytes)| bytes);
            let bytes = match &instr.sem {
                Sem::AsyncCopy { bytes, .. } => usize::from(*bytes),
                _ => bytes,
            };
            lines[index] = format!("{} {name} {} {bytes}", listed(&operands.dsts), listed(&operands.srcs));
            if let Some(all) = operands.complete_list(instr, &number) {
                let _ = writeln!(extra_header, "-operands {:04x} = {all}", 16 * index);
            }
            let regs = instr.dsts.as_slice().iter().chain(instr.srcs.as_slice());
            regs.for_each(|reg| used[reg.index()] = true);
        }
        for (name, class) in classes {
            let _ = writeln!(extra_header, "-op class {name} = {class}");
        }
        for (index, reg) in program.regs.iter().enumerate().filter(|(index, _)| used[*index]) {
            let number = number(RegId::from_index(index));
            if reg.name != format!("R{number}") {
                let _ = writeln!(extra_header, "-register R{number} = {}", reg.name);
            }
        }
        problems.into_result(Self { program, lines, extra_header, target })
    }

    /// Writes the header.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn header(&self, launch: &Launched, to: &mut dyn Write) -> io::Result<()> {
        let shape = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
        let [shared, local] = WINDOWS.map(warpbound_core::program::layout::window_base);
        writeln!(to, "-kernel name = {}", self.program.name.replace(['\n', '\r'], " "))?;
        writeln!(to, "-kernel id = {}", launch.number)?;
        writeln!(to, "-grid dim = {}", shape(launch.grid))?;
        writeln!(to, "-block dim = {}", shape(launch.block))?;
        writeln!(to, "-shmem = {}", launch.footprint.shared_bytes)?;
        writeln!(to, "-nregs = {}", launch.registers.unwrap_or(0))?;
        writeln!(to, "-binary version = {}", self.target)?;
        writeln!(to, "-cuda stream id = 0")?;
        writeln!(to, "-shmem base_addr = 0x{shared:016x}")?;
        writeln!(to, "-local mem base_addr = 0x{local:016x}")?;
        writeln!(to, "-nvbit version = none")?;
        writeln!(to, "-accelsim tracer version = {VERSION}")?;
        writeln!(to, "-enable lineinfo = 0")?;
        writeln!(to, "-local bytes = {}", launch.local_bytes)?;
        writeln!(to, "{}\n#written by warpbound {}\n", self.extra_header, env!("CARGO_PKG_VERSION"))
    }

    /// Writes a block, whose paths must contain the enabled lanes and the addresses.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn block(&self, paths: &BlockPaths, [x, y, z]: [u32; 3], to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "#BEGIN_TB\n\nthread block = {x},{y},{z}")?;
        let mut text = String::new();
        for (warp, path) in paths.warps.iter().enumerate() {
            writeln!(to, "\nwarp = {warp}\ninsts = {}", path.steps().len())?;
            text.clear();
            self.warp(path, &mut text);
            to.write_all(text.as_bytes())?;
        }
        writeln!(to, "\n#END_TB\n")
    }

    fn warp(&self, path: &WarpPath, text: &mut String) {
        let mut addresses = path.addresses();
        for (step, enabled) in path.steps().iter().zip(path.enabled()) {
            let pc = step.pc();
            let instr = self.program.instr(pc);
            let line = &self.lines[pc.index()];
            let _ = write!(text, "{:04x} {:08x} {line}", 16 * pc.index(), enabled.bits());
            if !line.ends_with(" 0") {
                let count = (enabled.count() as usize).min(addresses.len());
                let (enabled_addresses, rest) = addresses.split_at(count);
                addresses = rest;
                compressed(*enabled, enabled_addresses, text);
            }
            let _ = writeln!(text, " {}", immediate(instr, *step));
        }
    }
}

/// Returns the name of an opcode with the op class of the instruction. If the opcode has another
/// class in the trace's target, the class is part of the name and is added to the listed ones.
fn of_class(
    (name, does): (String, OpcodeEffect),
    class: &str,
    opcodes: &Opcodes,
    listed: &mut Vec<(String, String)>,
) -> String {
    let known = opcodes.find(&name).map(|rule| match does {
        OpcodeEffect::Load(Space::Generic)
        | OpcodeEffect::Store(Space::Generic)
        | OpcodeEffect::Atomic(Space::Generic) => class_in(&rule.class, Space::Global),
        _ => rule.class.clone(),
    });
    if known.as_deref() == Some(class) {
        return name;
    }
    let name = format!("{name}.{}", class.to_ascii_uppercase().replace('.', "_"));
    if !listed.iter().any(|(known, _)| *known == name) {
        listed.push((name.clone(), class.to_owned()));
    }
    name
}

/// The operands that fit into a line.
struct Operands {
    dsts: Vec<RegId>,
    srcs: Vec<RegId>,
}

impl Operands {
    fn of(instr: &Instr, program: &KernelCode) -> Self {
        let vector = |reg: &RegId| program.regs[reg.index()].kind != RegKind::Pred;
        let first = |regs: &[RegId], most| regs.iter().copied().filter(vector).take(most).collect();
        Self { dsts: first(instr.dsts.as_slice(), 1), srcs: first(&ordered(instr), MAX_SRCS) }
    }

    /// Returns a header value with all operands, or `None` if they fit into a line.
    fn complete_list(&self, instr: &Instr, number: &dyn Fn(RegId) -> usize) -> Option<String> {
        let srcs = ordered(instr);
        if self.dsts == instr.dsts.as_slice() && self.srcs == srcs && instr.guard.is_none() {
            return None;
        }
        let list = |regs: &[RegId]| match regs {
            [] => "-".to_owned(),
            regs => regs.iter().map(|reg| format!("R{}", number(*reg))).collect::<Vec<_>>().join(","),
        };
        let guard: Vec<RegId> = instr.guard.iter().map(|guard| guard.reg).collect();
        Some(format!("{} {} {}", list(instr.dsts.as_slice()), list(&srcs), list(&guard)))
    }
}

/// Returns the sources without the guard; for an atomic operation, the address comes first.
fn ordered(instr: &Instr) -> Vec<RegId> {
    let guard = instr.guard.map(|guard| guard.reg);
    let mut srcs: Vec<RegId> =
        instr.srcs.as_slice().iter().copied().filter(|reg| Some(*reg) != guard).collect();
    if let Sem::Atomic(atomic) = &instr.sem
        && let Some(address) = atomic.addr.base.reg()
        && let Some(at) = srcs.iter().position(|reg| *reg == address)
    {
        srcs[..=at].rotate_right(1);
    }
    srcs
}

/// Returns the number of each register in a trace: the number in its name, or a free one.
fn numbers(program: &KernelCode) -> Vec<usize> {
    let number_in_name =
        |name: &str| name.strip_prefix('R')?.parse::<usize>().ok().filter(|&number| number < ZERO);
    let taken: BTreeSet<usize> = program.regs.iter().filter_map(|reg| number_in_name(&reg.name)).collect();
    let mut free = (0..).filter(|number| *number != ZERO && !taken.contains(number));
    program
        .regs
        .iter()
        .map(|reg| number_in_name(&reg.name).unwrap_or_else(|| free.next().unwrap_or(ZERO)))
        .collect()
}

/// Returns an opcode that has the same effect as the instruction, irrespective of the op class.
fn choose_opcode(instr: &Instr, class: &str) -> Result<(String, OpcodeEffect), String> {
    let plain = |name: &str, effect| Ok((name.to_owned(), effect));
    match instr.flow {
        Flow::Exit => return plain("EXIT", OpcodeEffect::Exit),
        Flow::Barrier => return plain("BAR.SYNC", OpcodeEffect::Barrier),
        Flow::Arrive => return plain("BAR.ARV", OpcodeEffect::Arrive),
        Flow::AsyncWait => return plain("DEPBAR.LE", OpcodeEffect::Wait),
        Flow::AsyncCopy | Flow::Plain => {}
    }
    let simple = matches!(
        instr.sem,
        Sem::Load { .. } | Sem::Store { .. } | Sem::Atomic(_) | Sem::AsyncCopy { .. } | Sem::Nop
    );
    let by_group = |matrix: &Matrix| matches!(matrix, Matrix::GroupMultiply(_));
    if matches!(&instr.sem, Sem::Bulk(_)) || matches!(&instr.sem, Sem::Matrix(matrix) if by_group(matrix)) {
        return Err("a bulk copy, or a product of a warp group".to_owned());
    }
    if instr.memory.is_some() && !simple || matches!(instr.sem, Sem::Mbarrier(_)) {
        return Err("an access of several places by one lane, or of a texture".to_owned());
    }
    let wide = |root: &str, bytes: usize, effect| {
        let width = match bytes {
            1 => ".U8",
            2 => ".U16",
            4 => "",
            8 => ".64",
            16 => ".128",
            32 => ".256",
            _ => return Err(format!("an access of {bytes} bytes")),
        };
        Ok((format!("{root}{width}"), effect))
    };
    let bytes = instr.sem.access().map_or(4, |(_, bytes)| bytes);
    match instr.memory {
        Some(MemoryOp::Fence) => plain("MEMBAR", OpcodeEffect::Fence),
        Some(MemoryOp::AsyncCopy | MemoryOp::AsyncCopyUncached) => match &instr.sem {
            Sem::AsyncCopy { bytes, .. } => wide("LDGSTS.E", usize::from(*bytes), OpcodeEffect::Copy),
            _ => Err("this copy".to_owned()),
        },
        Some(MemoryOp::Load(area) | MemoryOp::LoadUncached(area)) => match area {
            Area::Global => wide("LDG.E", bytes, OpcodeEffect::Load(Space::Global)),
            Area::Shared => wide("LDS", bytes, OpcodeEffect::Load(Space::Shared)),
            Area::Local => wide("LDL", bytes, OpcodeEffect::Load(Space::Local)),
            Area::Generic => wide("LD.E", bytes, OpcodeEffect::Load(Space::Generic)),
            Area::Const => wide("LDC", bytes, OpcodeEffect::Load(Space::Const)),
            Area::KernelParam => wide("LDC.PARAM", bytes, OpcodeEffect::Load(Space::Param)),
            Area::FunctionParam => Err("parameters of functions in memory".to_owned()),
        },
        Some(MemoryOp::Store(area)) => match area {
            Area::Global => wide("STG.E", bytes, OpcodeEffect::Store(Space::Global)),
            Area::Shared => wide("STS", bytes, OpcodeEffect::Store(Space::Shared)),
            Area::Local => wide("STL", bytes, OpcodeEffect::Store(Space::Local)),
            Area::Generic => wide("ST.E", bytes, OpcodeEffect::Store(Space::Generic)),
            _ => Err("parameters of functions in memory".to_owned()),
        },
        Some(MemoryOp::Atomic(area)) => match area {
            Area::Global => wide("ATOMG.E", bytes, OpcodeEffect::Atomic(Space::Global)),
            Area::Shared => wide("ATOMS", bytes, OpcodeEffect::Atomic(Space::Shared)),
            Area::Generic => wide("ATOM.E", bytes, OpcodeEffect::Atomic(Space::Generic)),
            _ => Err("this atomic operation".to_owned()),
        },
        Some(MemoryOp::Unaddressed(_)) => Err("an access without an address".to_owned()),
        None if instr.waits_untimed().is_some() => plain("NANOSLEEP", OpcodeEffect::Sleep),
        None if matches!(instr.sem, Sem::AsyncCommit) => plain("LDGDEPBAR", OpcodeEffect::Commit),
        None => {
            let known = OPCODES.iter().find(|(begins, _)| class.starts_with(begins));
            let name = known.map_or("NOP", |(_, name)| *name);
            plain(name, if name == "BRA" { OpcodeEffect::Branch } else { OpcodeEffect::Nothing })
        }
    }
}

/// Returns the immediate at the end of a line: the number of a barrier, or the number of groups
/// that may stay in flight (-1 means none, and closes the open group).
fn immediate(instr: &Instr, step: Step) -> i64 {
    match (&instr.flow, &instr.sem) {
        (Flow::Barrier | Flow::Arrive, _) => {
            let used = step.barrier();
            i64::from(used.id) | i64::from(used.warps) << 4
        }
        (_, Sem::AsyncWait { all: true, .. }) => -1,
        (_, Sem::AsyncWait { pending, .. }) => i64::from(*pending),
        _ => 0,
    }
}

/// Appends the addresses of the lanes in the shortest form.
pub(super) fn compressed(lanes: LaneMask, addresses: &[u64], text: &mut String) {
    let Some((&first, rest)) = addresses.split_first() else {
        text.push_str(" 1 0x0 0");
        return;
    };
    let run = lanes.bits() >> (lanes.bits().trailing_zeros() % 32);
    let follow = run & run.wrapping_add(1) == 0;
    let stride = rest.first().map_or(0, |next| next.wrapping_sub(first));
    let even = addresses.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride);
    if follow && even && !rest.is_empty() {
        let _ = write!(text, " 1 0x{first:x} {}", stride as i64);
    } else {
        let _ = write!(text, " 2 0x{first:x}");
        for pair in addresses.windows(2) {
            let _ = write!(text, " {}", pair[1].wrapping_sub(pair[0]) as i64);
        }
    }
}
