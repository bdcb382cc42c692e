//! An analysis of how a kernel uses its parameters: which of them are pointers, and what they point
//! to.
//!
//! It is a flow-insensitive pass over the code that is repeated until a fixed point; since PTX
//! writes each register once or twice, this loses little precision. Pointers that are passed
//! through the memory of functions are not followed.

use std::collections::BTreeMap;

use super::image::{Channel, Format, Geometry};
use super::sem::{AtomOp, Bulk, IntOp, Matrix, MatrixTy, Operand, Sem, Special, SurfaceData, ValueTy};
use super::{KernelCode, RegKind};
use crate::base::RegId;
use crate::isa::Space;

/// The maximum number of sources that the analysis distinguishes; further ones do not count as
/// pointers.
const MAX_SOURCES: usize = 64;

/// A parameter, or a part of one that the code reads as a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The index in [`KernelCode::params`].
    pub param: usize,
    /// The offset in the parameter in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// How the code uses the part.
    pub usage: Usage,
}

/// How a value is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Usage {
    /// The value is used as a number.
    Number(Number),
    /// The value is used as an address.
    Pointer(Pointee),
    /// The value is used as the handle of a texture or surface.
    Image(ImageUse),
}

/// How a kernel accesses a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageUse {
    /// Whether it is a surface rather than a texture.
    pub surface: bool,
    /// The shape that the instructions expect.
    pub geometry: Geometry,
    /// A format with as many channels as the instructions use.
    pub format: Format,
}

/// A numeric type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    /// The width: 8, 16, 32 or 64 bits.
    pub bits: u8,
    /// Whether it is a floating-point type.
    pub float: bool,
    /// Whether an instruction treats the number as signed.
    pub signed: bool,
}

/// The memory that a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// The type of its elements.
    pub elem: Number,
    /// The type that the elements point to, if some of them are pointers themselves.
    pub pointers: Option<Number>,
    /// Whether the kernel reads the memory.
    pub read: bool,
    /// Whether the kernel writes the memory.
    pub written: bool,
}

/// How a kernel uses its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The parts of parameters in ascending order of parameter and offset.
    pub parts: Vec<Part>,
    /// The use of each texture and surface reference, indexed like [`KernelCode::references`]. It
    /// is `None` for a reference that the kernel only queries.
    pub references: Vec<Option<ImageUse>>,
    /// The axes of thread or block ids that the kernel reads.
    pub axes: [bool; 3],
}

/// Analyses the code of a kernel.
pub fn uses(program: &KernelCode) -> Uses {
    let mut flow = Flow::new(program);
    flow.find_sources();
    while flow.spread() {}
    flow.uses()
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// `size` bytes at an offset of a parameter.
    Param { param: usize, offset: u32, size: u32 },
    /// A word that is loaded through the pointer of another source.
    Through(usize),
}

#[derive(Clone, Copy, Default)]
struct Register {
    /// The sources whose values the register may contain, unchanged or as part of a sum; one bit
    /// each.
    from: u64,
    float: bool,
    signed: bool,
}

struct Flow<'a> {
    program: &'a KernelCode,
    sources: Vec<Source>,
    registers: Vec<Register>,
}

impl<'a> Flow<'a> {
    fn new(program: &'a KernelCode) -> Self {
        Self { program, sources: Vec::new(), registers: vec![Register::default(); program.regs.len()] }
    }

    fn source(&mut self, source: Source) -> u64 {
        let index = self.sources.iter().position(|known| *known == source).unwrap_or_else(|| {
            if self.sources.len() < MAX_SOURCES {
                self.sources.push(source);
            }
            self.sources.len() - 1
        });
        if self.sources.get(index) == Some(&source) { 1 << index } else { 0 }
    }

    /// Returns the part of a parameter at an offset of the parameter block.
    fn param_at(&self, offset: i64, size: u32) -> Option<Source> {
        let offset = u32::try_from(offset).ok()?;
        let inside = |p: &super::Param| p.offset <= offset && offset + size <= p.offset + p.size;
        let param = self.program.params.iter().position(inside)?;
        Some(Source::Param { param, offset: offset - self.program.params[param].offset, size })
    }

    /// Finds the loads of parameters, and the numeric types that instructions imply for their
    /// registers.
    fn find_sources(&mut self) {
        let program = self.program;
        let constants = self.constants();
        for instr in &program.instrs {
            if let Sem::Load { space: Space::Param, ty, dsts, addr } = &instr.sem
                && let Some(base) = match addr.base {
                    Operand::Imm(base) => Some(base),
                    Operand::Reg(reg) => constants[reg.index()],
                    Operand::Special(_) => None,
                }
            {
                let bytes = u32::from(ty.bits / 8);
                let first = addr.offset.wrapping_add(base as i64);
                for (index, dst) in dsts.iter().enumerate() {
                    let at = first.wrapping_add(index as i64 * i64::from(bytes));
                    if let (Some(dst), Some(source)) = (dst, self.param_at(at, bytes)) {
                        let bit = self.source(source);
                        self.registers[dst.index()].from |= bit;
                    }
                }
            }
            self.kinds(&instr.sem);
        }
    }

    /// Returns the constants, such as addresses of parameters, that registers are set to by moves.
    fn constants(&self) -> Vec<Option<u64>> {
        let mut constants = vec![None; self.registers.len()];
        // two passes, since the address of a parameter may be copied once more
        for _ in 0..2 {
            for instr in &self.program.instrs {
                if let Sem::Mov { dst, src } = &instr.sem {
                    constants[dst.index()] = match src {
                        Operand::Imm(value) => Some(*value),
                        Operand::Reg(reg) => constants[reg.index()],
                        Operand::Special(_) => None,
                    };
                }
            }
        }
        constants
    }

    fn mark(&mut self, operands: &[Operand], float: bool, signed: bool) {
        for reg in operands.iter().filter_map(|operand| operand.reg()) {
            let register = &mut self.registers[reg.index()];
            register.float |= float;
            register.signed |= signed;
        }
    }

    fn mark_as(&mut self, operands: &[Operand], ty: ValueTy) {
        match ty {
            ValueTy::Float(ty) if ty.half().is_some() => {}
            ValueTy::Float(_) => self.mark(operands, true, false),
            ValueTy::Int(ty) => self.mark(operands, false, ty.signed),
        }
    }

    fn kinds(&mut self, sem: &Sem) {
        let reg = |reg: &RegId| Operand::Reg(*reg);
        match sem {
            Sem::Float { ty, dst, src, .. } => {
                self.mark_as(&[reg(dst)], ValueTy::Float(*ty));
                self.mark_as(src, ValueTy::Float(*ty));
            }
            Sem::TestFloat { ty, src, .. } => self.mark_as(&[*src], ValueTy::Float(*ty)),
            Sem::Compare(compare) => self.mark_as(&[compare.a, compare.b], compare.ty),
            Sem::Convert(convert) => {
                self.mark_as(&[convert.src], convert.from);
                self.mark_as(&[reg(&convert.dst)], convert.to);
            }
            Sem::SelectSign { c, float: true, .. } => self.mark(&[*c], true, false),
            Sem::Int { op, ty, src, .. } => {
                // addition and similar operations do not depend on the sign
                let shows_sign = matches!(
                    op,
                    IntOp::Div | IntOp::Rem | IntOp::Min | IntOp::Max | IntOp::Shr | IntOp::MulWide
                );
                if shows_sign {
                    self.mark(&src[..2], false, ty.signed);
                }
            }
            Sem::Atomic(atomic) => atomic.parts().for_each(|part| self.mark_as(&[part.b], atomic.ty)),
            Sem::Fetch(fetch) => {
                fetch.dsts.iter().flatten().for_each(|dst| self.mark_as(&[reg(dst)], fetch.ty));
                self.mark(&fetch.coords, fetch.float, !fetch.float);
            }
            // these instructions reveal no type; the user corrects a wrong guess
            _ => {}
        }
    }

    fn from(&self, operand: Operand) -> u64 {
        operand.reg().map_or(0, |reg| self.registers[reg.index()].from)
    }

    /// Propagates sources through each instruction once and returns whether anything changed.
    fn spread(&mut self) -> bool {
        let mut changed = false;
        let program = self.program;
        for instr in &program.instrs {
            let (dst, sources): (RegId, &[Operand]) = match &instr.sem {
                Sem::Mov { dst, src } => (*dst, std::slice::from_ref(src)),
                Sem::Select { dst, a, b, .. } | Sem::SelectSign { dst, a, b, .. } => (*dst, &[*a, *b]),
                Sem::Shuffle(shuffle) => (shuffle.dst, std::slice::from_ref(&shuffle.a)),
                Sem::Convert(convert) => match (convert.from, convert.to) {
                    (ValueTy::Int(_), ValueTy::Int(_)) => (convert.dst, std::slice::from_ref(&convert.src)),
                    _ => continue,
                },
                Sem::Int { op, dst, src, .. } => match op {
                    IntOp::Add => (*dst, &src[..2]),
                    IntOp::Sub | IntOp::And => (*dst, &src[..1]),
                    IntOp::MadLo | IntOp::MadWide => (*dst, &src[2..3]),
                    _ => continue,
                },
                Sem::Load { space, ty, dsts, addr } if ty.bits == 64 && *space != Space::Param => {
                    changed |= self.read_through(addr.base, dsts);
                    continue;
                }
                _ => continue,
            };
            let moved = sources.iter().fold(0, |all, source| all | self.from(*source));
            let plain = matches!(
                instr.sem,
                Sem::Mov { .. } | Sem::Select { .. } | Sem::SelectSign { .. } | Sem::Shuffle(_)
            );
            changed |= self.join(dst, sources, moved, plain);
        }
        changed
    }

    /// Adds the sources of the operands to a register. A plain move also unifies the numeric types
    /// of both sides.
    fn join(&mut self, dst: RegId, sources: &[Operand], moved: u64, plain: bool) -> bool {
        let before = self.registers[dst.index()];
        let mut after = Register { from: before.from | moved, ..before };
        let mut changed = false;
        for reg in sources.iter().filter_map(|source| source.reg()).filter(|_| plain) {
            let source = &mut self.registers[reg.index()];
            after.float |= source.float;
            after.signed |= source.signed;
            changed |= after.float && !source.float;
            source.float |= after.float;
        }
        changed |= after.from != before.from || after.float != before.float || after.signed != before.signed;
        self.registers[dst.index()] = after;
        changed
    }

    fn read_through(&mut self, base: Operand, dsts: &[Option<RegId>]) -> bool {
        let mut changed = false;
        for (index, source) in self.sources.clone().into_iter().enumerate() {
            if self.from(base) & 1 << index == 0 || !matches!(source, Source::Param { .. }) {
                continue;
            }
            let bit = self.source(Source::Through(index));
            for dst in dsts.iter().flatten() {
                let register = &mut self.registers[dst.index()];
                changed |= register.from & bit != bit;
                register.from |= bit;
            }
        }
        changed
    }

    fn number(&self, operand: Option<RegId>, bits: u8) -> Number {
        let Some(reg) = operand else { return Number { bits, float: false, signed: false } };
        let Register { float, signed, .. } = self.registers[reg.index()];
        // Values that are only moved have no type; compilers encode the type in the name of the
        // register.
        let name = &self.program.regs[reg.index()].name;
        let named = |prefix: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let float = float && bits >= 16 || bits == 32 && named("%f") || bits == 64 && named("%fd");
        Number { bits, float, signed: signed && !float }
    }

    /// Returns the accesses through addresses that derive from a source.
    fn accesses(&self) -> Vec<Access> {
        let mut found = Vec::new();
        for instr in &self.program.instrs {
            let mut access = |base: Operand, numbers: Vec<Number>, read: bool, written: bool| {
                if self.from(base) != 0 {
                    found.push(Access { from: self.from(base), numbers, read, written });
                }
            };
            match &instr.sem {
                Sem::Load { ty, dsts, addr, .. } => {
                    let number = |dst: &Option<RegId>| {
                        let number = self.number(*dst, ty.bits);
                        Number { signed: number.signed || ty.signed && !number.float, ..number }
                    };
                    access(addr.base, dsts.iter().map(number).collect(), true, false);
                }
                Sem::Store { bits, srcs, addr, .. } => {
                    let number = |src: &Operand| self.number(src.reg(), *bits);
                    access(addr.base, srcs.iter().map(number).collect(), false, true);
                }
                Sem::Atomic(atomic) => {
                    let number = number_of(atomic.ty);
                    let read = atomic.dsts().next().is_some() || atomic.op == AtomOp::Cas;
                    access(atomic.addr.base, vec![number; 1 + atomic.more.len()], read, true);
                }
                Sem::Matrix(matrix) => {
                    let (fragment, addr, written) = match matrix.as_ref() {
                        Matrix::Load { from, fragment, .. } => (fragment.ty, &from.addr, false),
                        Matrix::Store { to, src } => (src.fragment.ty, &to.addr, true),
                        Matrix::LoadRows { from, .. } => (MatrixTy::F16, &from.addr, false),
                        Matrix::StoreRows { to, .. } => (MatrixTy::F16, &to.addr, true),
                        Matrix::Multiply(_) | Matrix::GroupMultiply(_) | Matrix::Transpose { .. } => continue,
                    };
                    access(addr.base, vec![matrix_element(fragment)], !written, written);
                }
                Sem::AsyncCopy { bytes, src, dst, .. } => {
                    let word = Number { bits: (*bytes).min(8) * 8, float: false, signed: false };
                    access(
                        src.base,
                        vec![Number { bits: word.bits.min(32), float: true, ..word }],
                        true,
                        false,
                    );
                    access(dst.base, vec![word], false, true);
                }
                Sem::Bulk(bulk) => {
                    let Bulk::Bytes(copy) = bulk.as_ref() else { continue };
                    let number = match copy.reduce {
                        Some((_, ty)) => number_of(ty),
                        None => Number { bits: 32, float: true, signed: false },
                    };
                    access(copy.src.base, vec![number], true, false);
                    access(copy.dst.base, vec![number], copy.reduce.is_some(), true);
                }
                _ => {}
            }
        }
        found
    }

    /// Returns the handle and the use of each access to a texture or surface.
    fn images(&self) -> Vec<(Operand, ImageUse)> {
        let mut read = vec![false; self.registers.len()];
        for instr in &self.program.instrs {
            instr.srcs.as_slice().iter().for_each(|src| read[src.index()] = true);
        }
        let mut found = Vec::new();
        for instr in &self.program.instrs {
            match &instr.sem {
                Sem::Fetch(fetch) => {
                    let used = fetch.dsts.iter().rposition(|dst| dst.is_some_and(|dst| read[dst.index()]));
                    let elem = match fetch.ty {
                        ValueTy::Float(_) => Channel::F32,
                        ValueTy::Int(ty) if ty.signed => Channel::I32,
                        ValueTy::Int(_) => Channel::U32,
                    };
                    // a gather selects a single channel
                    let used = fetch.gather.map_or(used.unwrap_or(0), usize::from);
                    let format = Format { elem, channels: channels(used + 1) };
                    found
                        .push((fetch.texture, ImageUse { surface: false, geometry: fetch.geometry, format }));
                }
                Sem::Surface(access) => {
                    let (first, count) = match &access.data {
                        SurfaceData::Load(dsts) => (dsts.first().copied().flatten(), dsts.len()),
                        SurfaceData::Store(srcs) => (srcs.first().and_then(|src| src.reg()), srcs.len()),
                    };
                    let number = self.number(first, access.bits);
                    let (elem, count) = match (access.bits, number.float) {
                        (8, _) => (Channel::U8, count),
                        (16, _) => (Channel::U16, count),
                        (32, true) => (Channel::F32, count),
                        (32, false) => (Channel::U32, count),
                        _ => (Channel::F32, 2 * count),
                    };
                    let format = Format { elem, channels: channels(count) };
                    found.push((
                        access.surface,
                        ImageUse { surface: true, geometry: access.geometry, format },
                    ));
                }
                _ => {}
            }
        }
        found
    }

    fn uses(mut self) -> Uses {
        let images = self.images();
        let widest = |is: &dyn Fn(Operand) -> bool| {
            let fitting = images.iter().filter(|(handle, _)| is(*handle)).map(|(_, image)| *image);
            fitting.reduce(|one, other| if other.format.channels > one.format.channels { other } else { one })
        };
        let references = self.program.references.iter();
        let references = references.map(|r| widest(&|handle| handle == Operand::Imm(r.handle))).collect();
        let accesses = self.accesses();
        // In a sum of two sources, either one may be the pointer. A source that is used alone as an
        // address elsewhere is taken to be the pointer.
        let single_sources = accesses.iter().map(|access| access.from).filter(|from| from.count_ones() == 1);
        let certain_pointers = single_sources.fold(0, |all, from| all | from);
        let mut pointees: BTreeMap<usize, Vec<&Access>> = BTreeMap::new();
        for access in &accesses {
            let from = if access.from & certain_pointers == 0 {
                access.from
            } else {
                access.from & certain_pointers
            };
            for index in (0..self.sources.len()).filter(|index| from & 1 << index != 0) {
                pointees.entry(index).or_default().push(access);
            }
        }
        let through = |index: usize| {
            let word = self.sources.iter().position(|source| *source == Source::Through(index))?;
            Some(pointee(pointees.get(&word)?).elem)
        };
        let mut parts = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            let Source::Param { param, offset, size } = *source else { continue };
            let accessed = pointees.get(&index).filter(|_| size == 8);
            let image = widest(&|handle| self.from(handle) & 1 << index != 0).filter(|_| size == 8);
            let usage = match (image, accessed) {
                (Some(image), _) => Usage::Image(image),
                (None, Some(accesses)) => {
                    Usage::Pointer(Pointee { pointers: through(index), ..pointee(accesses) })
                }
                (None, None) => Usage::Number(self.number_of(index, (size * 8).min(64) as u8)),
            };
            parts.push(Part { param, offset, size, usage });
        }
        parts.sort_by_key(|part| (part.param, part.offset, part.size));
        let axes = self.axes();
        self.sources.clear();
        Uses { parts, references, axes }
    }

    /// Returns the numeric type of a source according to the registers that contain only this
    /// source.
    fn number_of(&self, index: usize, bits: u8) -> Number {
        let holders = (0..self.registers.len()).filter(|&reg| self.registers[reg].from == 1 << index);
        let same = |reg: &usize| matches!(self.program.regs[*reg].kind, RegKind::Bits(b) if b == bits);
        holders.filter(same).map(|reg| self.number(Some(RegId::from_index(reg)), bits)).fold(
            Number { bits, float: false, signed: false },
            |all, one| Number { bits, float: all.float || one.float, signed: all.signed || one.signed },
        )
    }

    fn axes(&self) -> [bool; 3] {
        let mut axes = [true, false, false];
        let mut seen = |operand: &Operand| {
            if let Operand::Special(Special::Tid(axis) | Special::Ctaid(axis)) = operand
                && let Some(used) = axes.get_mut(usize::from(*axis))
            {
                *used = true;
            }
        };
        for instr in &self.program.instrs {
            match &instr.sem {
                Sem::Mov { src, .. } => seen(src),
                Sem::Int { src, .. } => src.iter().for_each(&mut seen),
                Sem::Convert(convert) => seen(&convert.src),
                _ => {}
            }
        }
        axes
    }
}

struct Access {
    from: u64,
    numbers: Vec<Number>,
    read: bool,
    written: bool,
}

/// Returns the smallest valid number of channels for a texel that has at least `used` channels.
fn channels(used: usize) -> u8 {
    match used {
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// Returns how an operation reads the numbers of its type.
fn number_of(ty: ValueTy) -> Number {
    let bits = (ty.bytes() * 8) as u8;
    match ty {
        ValueTy::Float(_) => Number { bits, float: true, signed: false },
        ValueTy::Int(ty) => Number { bits, float: false, signed: ty.signed },
    }
}

/// Describes the memory that a pointer points to; the type of its elements is the one with the most
/// accesses.
fn pointee(accesses: &[&Access]) -> Pointee {
    let mut counts: BTreeMap<Number, usize> = BTreeMap::new();
    for number in accesses.iter().flat_map(|access| &access.numbers) {
        *counts.entry(*number).or_default() += 1;
    }
    let none = Number { bits: 8, float: false, signed: false };
    let elem = counts.iter().max_by_key(|(_, count)| **count).map_or(none, |(number, _)| *number);
    Pointee {
        elem,
        pointers: None,
        read: accesses.iter().any(|access| access.read),
        written: accesses.iter().any(|access| access.written),
    }
}

/// Returns the numeric type of the elements of a matrix; two 4-bit elements share a byte.
fn matrix_element(ty: MatrixTy) -> Number {
    // there is no number of 8 bits that is not an integer, so those are bytes
    let float = matches!(ty, MatrixTy::F16 | MatrixTy::Bf16 | MatrixTy::Tf32 | MatrixTy::F32 | MatrixTy::F64);
    let signed = matches!(ty, MatrixTy::S4 | MatrixTy::S8 | MatrixTy::S32);
    Number { bits: ty.bits().max(8) as u8, float, signed }
}
