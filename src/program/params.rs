//! What a kernel does with its parameters, as far as its code tells: which are pointers, and what
//! they point to.
//!
//! One pass over the code without regard to order, repeated until nothing changes; the registers
//! of PTX are written once or twice, so that little is lost. Pointers that are passed through the
//! memory of functions are not followed.

use std::collections::BTreeMap;

use super::image::{Channel, Format, Geometry};
use super::sem::{AtomOp, IntOp, Matrix, MatrixTy, Operand, Sem, Special, SurfaceData, ValueTy};
use super::{Program, RegKind};
use crate::base::RegId;
use crate::isa::Space;

/// Places in parameters that are told apart; what is beyond counts as no pointer.
const MAX_SOURCES: usize = 64;

/// A parameter, or a part of one that the code reads at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index in [`Program::params`].
    pub param: usize,
    /// Offset in the parameter, bytes.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// How it is used.
    pub usage: Usage,
}

/// How a value is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Usage {
    /// As a number.
    Number(Number),
    /// As an address.
    Pointer(Pointee),
    /// As the handle of a texture or surface.
    Image(ImageUse),
}

/// How a kernel accesses a texture or surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageUse {
    /// A surface, not a texture.
    pub surface: bool,
    /// The shape that instructions expect.
    pub geometry: Geometry,
    /// Texels as wide as what instructions use of them.
    pub format: Format,
}

/// A kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    /// 8, 16, 32 or 64.
    pub bits: u8,
    /// Floating point.
    pub float: bool,
    /// Two's complement, as far as anything tells.
    pub signed: bool,
}

/// What a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// Its elements.
    pub elem: Number,
    /// Some of them are pointers themselves, to these.
    pub pointers: Option<Number>,
    /// Whether it is read.
    pub read: bool,
    /// Whether it is written.
    pub written: bool,
}

/// What the code says about the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// By parameter and offset.
    pub parts: Vec<Part>,
    /// Of the texture and surface references that it names, by their index in
    /// [`Program::references`]; nothing for one that is only asked about.
    pub references: Vec<Option<ImageUse>>,
    /// The axes along which it tells its threads or blocks apart.
    pub axes: [bool; 3],
}

/// Reads the code of a kernel.
pub fn uses(program: &Program) -> Uses {
    let mut flow = Flow::new(program);
    flow.find_sources();
    while flow.spread() {}
    flow.uses()
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// So many bytes of a parameter, at this offset.
    Param { param: usize, offset: u32, size: u32 },
    /// A word read through the pointer of another source.
    Through(usize),
}

#[derive(Clone, Copy, Default)]
struct Register {
    /// What is in it, unchanged or as part of a sum: a bit for each source.
    from: u64,
    float: bool,
    signed: bool,
}

struct Flow<'a> {
    program: &'a Program,
    sources: Vec<Source>,
    registers: Vec<Register>,
}

impl<'a> Flow<'a> {
    fn new(program: &'a Program) -> Self {
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

    /// The part of a parameter at an offset of the parameter block.
    fn param_at(&self, offset: i64, size: u32) -> Option<Source> {
        let offset = u32::try_from(offset).ok()?;
        let inside = |p: &super::Param| p.offset <= offset && offset + size <= p.offset + p.size;
        let param = self.program.params.iter().position(inside)?;
        Some(Source::Param { param, offset: offset - self.program.params[param].offset, size })
    }

    /// What is read from parameters, and what instructions say of the numbers in their registers.
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

    /// What registers hold into which a number is moved, such as the address of a parameter.
    fn constants(&self) -> Vec<Option<u64>> {
        let mut constants = vec![None; self.registers.len()];
        // a parameter's address may be moved on
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
                // addition and its like are the same for both
                let tells = matches!(
                    op,
                    IntOp::Div | IntOp::Rem | IntOp::Min | IntOp::Max | IntOp::Shr | IntOp::MulWide
                );
                if tells {
                    self.mark(&src[..2], false, ty.signed);
                }
            }
            Sem::Atomic(atomic) => atomic.parts().for_each(|part| self.mark_as(&[part.b], atomic.ty)),
            Sem::Fetch(fetch) => {
                fetch.dsts.iter().flatten().for_each(|dst| self.mark_as(&[reg(dst)], fetch.ty));
                self.mark(&fetch.coords, fetch.float, !fetch.float);
            }
            _ => {}
        }
    }

    fn from(&self, operand: Operand) -> u64 {
        operand.reg().map_or(0, |reg| self.registers[reg.index()].from)
    }

    /// Values move on by one instruction; whether anything changed.
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

    /// A register gets what the sources hold; in a plain move both are the same kind of number.
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
        // values that are only moved around: compilers name registers by their type
        let name = &self.program.regs[reg.index()].name;
        let named = |prefix: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let float = float && bits >= 16 || bits == 32 && named("%f") || bits == 64 && named("%fd");
        Number { bits, float, signed: signed && !float }
    }

    /// Every access through an address that comes from somewhere.
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
                    let bits = (atomic.ty.bytes() * 8) as u8;
                    let number = match atomic.ty {
                        ValueTy::Float(_) => Number { bits, float: true, signed: false },
                        ValueTy::Int(ty) => Number { bits, float: false, signed: ty.signed },
                    };
                    let read = atomic.dsts().next().is_some() || atomic.op == AtomOp::Cas;
                    access(atomic.addr.base, vec![number; 1 + atomic.more.len()], read, true);
                }
                Sem::Matrix(matrix) => {
                    let (fragment, addr, written) = match matrix.as_ref() {
                        Matrix::Load { from, fragment, .. } => (fragment.ty, &from.addr, false),
                        Matrix::Store { to, src } => (src.fragment.ty, &to.addr, true),
                        Matrix::LoadRows { from, .. } => (MatrixTy::F16, &from.addr, false),
                        Matrix::StoreRows { to, .. } => (MatrixTy::F16, &to.addr, true),
                        Matrix::Multiply(_) | Matrix::Transpose { .. } => continue,
                    };
                    access(addr.base, vec![of_matrix(fragment)], !written, written);
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
                _ => {}
            }
        }
        found
    }

    /// Every access to a texture or surface: its handle, and how.
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
                    // a gather takes its texels apart by itself
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
        // a sum of two parameters may be a pointer and an offset: what is an address alone
        // somewhere is the pointer
        let alone = accesses.iter().map(|access| access.from).filter(|from| from.count_ones() == 1);
        let certain = alone.fold(0, |all, from| all | from);
        let mut pointees: BTreeMap<usize, Vec<&Access>> = BTreeMap::new();
        for access in &accesses {
            let from = if access.from & certain == 0 { access.from } else { access.from & certain };
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

    /// The kind of number that a source is, by the registers that hold nothing else.
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

/// As many channels as a texel can have that has so many.
fn channels(used: usize) -> u8 {
    match used {
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    }
}

/// What a pointer points to, by a majority of the elements that are accessed through it.
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
/// The elements of a matrix as numbers; two of four bits share a byte.
fn of_matrix(ty: MatrixTy) -> Number {
    let float = matches!(ty, MatrixTy::F16 | MatrixTy::Bf16 | MatrixTy::Tf32 | MatrixTy::F32 | MatrixTy::F64);
    let signed = matches!(ty, MatrixTy::S4 | MatrixTy::S8 | MatrixTy::S32);
    Number { bits: ty.bits().max(8) as u8, float, signed }
}
