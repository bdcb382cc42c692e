//! The buffers that a kernel can write, as far as the pointers in its registers show.
//!
//! Reads of a buffer that no kernel writes race with nothing, and most accesses of most kernels are
//! of this kind. The result is an estimate: a kernel may reach a buffer in ways that registers do
//! not show. The race detector checks every store, so a wrong estimate is noticed, and then no
//! verdict is given.

use super::Extent;
use warpbound_core::isa::Space;
use warpbound_core::program::sem::{
    Address, Bulk, Matrix, Operand, Special, ValueTy, exchange, jump, lanewise, no_effect,
};
use warpbound_core::program::{Instr, KernelCode, Sem};

/// A set of regions, one bit each; all of them if they cannot be determined.
type Regions = u64;

const ALL: Regions = Regions::MAX;

/// Returns the regions of global memory to which no store leads. `params` are the arguments of the
/// kernel.
pub(crate) fn unwritten(program: &KernelCode, params: &[u8], regions: &[Extent]) -> Vec<Extent> {
    let all_written = regions.len() >= Regions::BITS as usize
        // the arguments of a function go through memory
        || program.instrs.iter().any(|instr| matches!(instr.sem, Sem::Call(_) | Sem::CallPointer(_)));
    if all_written {
        return Vec::new();
    }
    let pointers = Pointers::new(program, params, regions);
    let mut written = 0;
    for instr in &program.instrs {
        let target = match &instr.sem {
            Sem::Store { space, addr, .. } => pointers.target(*space, addr),
            Sem::Atomic(atomic) => pointers.target(atomic.space, &atomic.addr),
            Sem::Matrix(matrix) => match matrix.as_ref() {
                Matrix::Store { to, .. } => pointers.target(to.space, &to.addr),
                Matrix::StoreRows { to, .. } => pointers.target(to.space, &to.addr),
                Matrix::Multiply(_)
                | Matrix::GroupMultiply(_)
                | Matrix::Load { .. }
                | Matrix::LoadRows { .. }
                | Matrix::Transpose { .. } => continue,
            },
            // the handle of a surface does not show its buffer
            Sem::Surface(access) if access.is_store() => ALL,
            Sem::Surface(_) | Sem::Load { .. } | Sem::Fetch(_) | Sem::ImageQuery(_) => continue,
            Sem::Bulk(bulk) => match bulk.as_ref() {
                Bulk::Bytes(copy) => pointers.target(copy.to, &copy.dst),
                // the map of a tensor does not show its buffer
                Bulk::Tensor(copy) if copy.stores => ALL,
                Bulk::Tensor(_) | Bulk::Store(_) => continue,
            },
            // copies and barrier objects write shared memory
            Sem::AsyncCopy { .. } | Sem::AsyncCommit | Sem::AsyncWait { .. } | Sem::Mbarrier(_) => continue,
            Sem::Barrier(_) | Sem::Cluster(_) | Sem::Call(_) | Sem::CallPointer(_) => continue,
            lanewise!() | exchange!() | no_effect!() | jump!() => continue,
        };
        written |= target;
    }
    let unwritten = |(index, _): &(usize, &Extent)| written & (1 << index) == 0;
    regions.iter().enumerate().filter(unwritten).map(|(_, extent)| *extent).collect()
}

/// The regions into which the value of each register may point.
struct Pointers<'a> {
    regions: &'a [Extent],
    by_register: Vec<Regions>,
}

impl<'a> Pointers<'a> {
    fn new(program: &KernelCode, params: &[u8], regions: &'a [Extent]) -> Self {
        let mut pointers = Self { regions, by_register: vec![0; program.regs.len()] };
        // instructions of machine code also read arguments that no load has brought into a register
        for instr in program.instrs.iter().filter(|_| program.machine_code.is_some()) {
            let value = pointers.direct_arguments(instr, params);
            instr.dsts.as_slice().iter().for_each(|dst| pointers.by_register[dst.index()] |= value);
        }
        loop {
            let mut changed = false;
            for instr in &program.instrs {
                let value = pointers.result(instr, params);
                for dst in instr.dsts.as_slice() {
                    let regions = &mut pointers.by_register[dst.index()];
                    changed |= *regions | value != *regions;
                    *regions |= value;
                }
            }
            if !changed {
                return pointers;
            }
        }
    }

    fn result(&self, instr: &Instr, params: &[u8]) -> Regions {
        match &instr.sem {
            Sem::Load {
                space: Space::Param,
                addr: Address { base: Operand::Imm(base), offset },
                dsts,
                ..
            } => {
                let at = base.wrapping_add_signed(*offset);
                // a vector has a word for each register
                (0..dsts.len() as u64).fold(0, |found, word| found | self.argument(params, at + 8 * word))
            }
            // 64-bit words may be pointers
            Sem::Load { ty, .. } if ty.bits == 64 => ALL,
            Sem::Load { .. } => 0,
            Sem::Atomic(atomic) => match atomic.ty {
                ValueTy::Int(ty) if ty.bits == 64 => ALL,
                _ => 0,
            },
            Sem::Mov { src: Operand::Imm(value), .. } => self.region(*value),
            // a result may point to where a source points
            lanewise!()
            | exchange!()
            | no_effect!()
            | jump!()
            | Sem::Store { .. }
            | Sem::Fetch(_)
            | Sem::Surface(_)
            | Sem::ImageQuery(_)
            | Sem::AsyncCopy { .. }
            | Sem::AsyncCommit
            | Sem::AsyncWait { .. }
            | Sem::Matrix(_)
            | Sem::Barrier(_)
            | Sem::Cluster(_)
            | Sem::Mbarrier(_)
            | Sem::Bulk(_)
            | Sem::Call(_)
            | Sem::CallPointer(_) => {
                instr.srcs.as_slice().iter().fold(0, |found, reg| found | self.by_register[reg.index()])
            }
        }
    }

    /// Returns the regions to which the arguments point that an instruction reads as operands.
    fn direct_arguments(&self, instr: &Instr, params: &[u8]) -> Regions {
        let registers = instr.sem.registers();
        let read = registers.specials.iter().map(|special| match special {
            Special::Param(at) => self.argument(params, u64::from(*at)),
            _ => 0,
        });
        read.fold(0, |found, regions| found | regions)
    }

    fn argument(&self, params: &[u8], at: u64) -> Regions {
        let bytes = params.get(at as usize..).and_then(|bytes| bytes.first_chunk::<8>());
        bytes.map_or(0, |bytes| self.region(u64::from_le_bytes(*bytes)))
    }

    /// Returns the region at an address.
    fn region(&self, address: u64) -> Regions {
        let holds = |extent: &Extent| address.wrapping_sub(extent.base) < extent.bytes;
        self.regions.iter().position(holds).map_or(0, |index| 1 << index)
    }

    /// Returns the regions to which an address may lead.
    fn target(&self, space: Space, addr: &Address) -> Regions {
        if !matches!(space, Space::Global | Space::Generic) {
            return 0;
        }
        let found = match addr.base {
            Operand::Reg(reg) => self.by_register[reg.index()],
            Operand::Imm(base) => self.region(base.wrapping_add_signed(addr.offset)),
            Operand::Special(_) => 0,
        };
        if found == 0 { ALL } else { found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpbound_core::base::RegId;
    use warpbound_core::program::sem::IntTy;
    use warpbound_core::program::{Flow, MachineCode, RegKind, Register};

    /// Returns machine code with these instructions and registers of 64 bits.
    fn kernel(all: Vec<Sem>) -> KernelCode {
        let mut kernel = KernelCode { machine_code: Some(MachineCode::default()), ..KernelCode::default() };
        let class = kernel.classes.intern("f");
        let register = |index: usize| Register { name: format!("r{index}"), kind: RegKind::Bits(64) };
        kernel.regs = (0..2).map(register).collect();
        kernel.instrs = all
            .into_iter()
            .map(|sem| {
                let registers = sem.registers();
                let (dsts, srcs) = (registers.dsts, registers.srcs);
                Instr {
                    class,
                    class_by_space: None,
                    dsts,
                    srcs,
                    guard: None,
                    flow: Flow::Plain,
                    memory: None,
                    sem,
                    line: 0,
                    folded: false,
                }
            })
            .collect();
        kernel
    }

    #[test]
    fn pointers_come_from_loads_of_arguments_and_from_operands() {
        let reg = RegId::from_index(0);
        let load = Sem::Load {
            space: Space::Param,
            ty: IntTy { bits: 64, signed: false },
            dsts: vec![Some(reg)],
            addr: Address { base: Operand::Imm(0), offset: 0 },
        };
        let operand = Sem::Mov { dst: reg, src: Operand::Special(Special::Param(8)) };
        let store = Sem::Store {
            space: Space::Global,
            bits: 32,
            srcs: vec![Operand::Imm(1)],
            addr: Address { base: Operand::Reg(reg), offset: 0 },
        };
        let params: Vec<u8> = [0x1000_u64, 0x2000, 0x3000].iter().flat_map(|at| at.to_le_bytes()).collect();
        let regions = [0x1000, 0x2000, 0x3000].map(|base| Extent { base, bytes: 16 });
        let unwritten = |all: Vec<Sem>| -> Vec<u64> {
            unwritten(&kernel(all), &params, &regions).iter().map(|extent| extent.base).collect()
        };
        assert_eq!(unwritten(vec![load.clone(), store.clone()]), [0x2000, 0x3000]);
        assert_eq!(unwritten(vec![operand.clone(), store.clone()]), [0x1000, 0x3000]);
        assert_eq!(unwritten(vec![load, operand, store.clone()]), [0x3000]);
        // a pointer that comes from nowhere may point anywhere
        assert!(unwritten(vec![store]).is_empty());
    }
}
