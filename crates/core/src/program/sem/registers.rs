//! Derives the registers that an instruction reads and writes from its semantics.

use super::{
    ArgLocation, Barrier, BarrierKind, Compare, CompareInto, Matrix, Mbarrier, MbarrierOp, Operand, PredSrc,
    Sem, Special, SurfaceData, exchange, jump, lanewise, memory, no_effect, ungrouped,
};
use crate::base::RegId;
use crate::program::RegList;

impl Sem {
    /// Returns the registers that are read and written. Front ends build
    /// [`crate::program::Instr::srcs`] (plus the guard) and [`crate::program::Instr::dsts`] from
    /// them, so that execution and timing agree.
    pub fn registers(&self) -> Registers {
        let mut used = Registers::default();
        self.collect(&mut used);
        used
    }

    /// Adds the registers that the instruction reads and writes.
    fn collect(&self, used: &mut Registers) {
        match self {
            lanewise!() => self.collect_lanewise(used),
            exchange!() => self.collect_exchange(used),
            memory!() => self.collect_memory(used),
            Self::Matrix(matrix) => {
                if let Matrix::GroupMultiply(product) = matrix.as_ref() {
                    used.read_pred(product.accumulates);
                }
                matrix.sources().for_each(|operand| {
                    used.read(operand);
                });
                matrix.destinations().for_each(|reg| used.dsts.insert(reg));
            }
            Self::Barrier(barrier) => collect_barrier(barrier, used),
            Self::Cluster(op) => {
                op.operands().for_each(|operand| {
                    used.read(operand);
                });
                op.dst().into_iter().for_each(|reg| used.dsts.insert(reg));
            }
            Self::Mbarrier(barrier) => collect_mbarrier(barrier, used),
            Self::Bulk(copy) => copy.operands().for_each(|operand| {
                used.read(operand);
            }),
            Self::Sleep { time } => {
                used.read(*time);
            }
            Self::BranchTable { index: source, .. } | Self::Return { address: Some(source) } => {
                used.read(*source);
            }
            Self::Collect { members, .. } => {
                used.read(*members);
            }
            Self::CallPointer(call) => {
                used.read(call.pointer);
                for (place, _) in &call.args {
                    if let ArgLocation::Reg(reg) = place {
                        used.srcs.insert(*reg);
                    }
                }
            }
            Self::Call(call) => {
                // The callee's own instructions write its results, so only register arguments are
                // dependences of the call itself.
                for transfer in &call.pass {
                    if let ArgLocation::Reg(reg) = transfer.from {
                        used.srcs.insert(reg);
                    }
                    if let ArgLocation::Reg(reg) = transfer.to {
                        used.dsts.insert(reg);
                    }
                }
            }
            Self::None | Self::Traced(_) | Self::Nop => {}
            Self::Branch { .. }
            | Self::OpenRegion { .. }
            | Self::CloseRegion { .. }
            | Self::LeaveRegion { .. }
            | Self::Yield
            | Self::EndCollective
            | Self::Return { address: None }
            | Self::Exit
            | Self::Trap { .. } => {}
        }
    }

    /// Adds the registers of an operation on single lanes.
    fn collect_lanewise(&self, used: &mut Registers) {
        match self {
            Self::Video(video) => {
                used.reads(&[video.a, video.b, video.c]).write(video.dst);
            }
            Self::Mov { dst, src }
            | Self::ToTf32 { dst, src, .. }
            | Self::TestFloat { dst, src, .. }
            | Self::IsSpace { dst, src, .. } => {
                used.read(*src).write(*dst);
            }
            Self::Moves(moves) => moves.iter().for_each(|&(dst, src)| {
                used.read(src).write(dst);
            }),
            Self::Int { dst, src, carry, .. } => {
                used.reads(src).write(*dst);
                carry.read.into_iter().for_each(|reg| used.srcs.insert(reg));
                carry.write.into_iter().for_each(|reg| used.dsts.insert(reg));
            }
            Self::Float { dst, src, .. } | Self::MixedFloat { dst, src, .. } => {
                used.reads(src).write(*dst);
            }
            Self::PredLogic { dst, a, b, .. } => {
                used.read_pred(*a).read_pred(*b).write(*dst);
            }
            Self::Compare(compare) => collect_compare(compare, used),
            Self::Select { dst, a, b, p } => {
                used.read(*a).read(*b).read_pred(*p).write(*dst);
            }
            Self::SelectSign { dst, a, b, c, .. } => {
                used.reads(&[*a, *b, *c]).write(*dst);
            }
            Self::Lop3Pred(logic) => {
                used.reads(&logic.src).read_pred(logic.with);
                logic.dst.into_iter().chain(logic.pred).for_each(|reg| used.dsts.insert(reg));
            }
            Self::SmallConvert(convert) => {
                convert.sources().for_each(|operand| {
                    used.read(operand);
                });
                used.write(convert.dst);
            }
            Self::Convert(convert) => {
                used.read(convert.src).reads(convert.src2.as_slice()).write(convert.dst);
            }
            Self::Pack { dst, parts, .. } => {
                used.reads(parts).write(*dst);
            }
            Self::Unpack { dsts, src, .. } => {
                used.read(*src);
                dsts.iter().flatten().for_each(|reg| used.dsts.insert(*reg));
            }
            exchange!() | memory!() | no_effect!() | jump!() | ungrouped!() => {
                unreachable!("these are not operations on single lanes")
            }
        }
    }

    /// Adds the registers of an operation in which lanes exchange values, or meet.
    fn collect_exchange(&self, used: &mut Registers) {
        match self {
            Self::Shuffle(shuffle) => {
                used.reads(&[shuffle.a, shuffle.b, shuffle.c]).reads(shuffle.members.as_slice());
                used.write(shuffle.dst);
                shuffle.pred.into_iter().for_each(|reg| used.dsts.insert(reg));
            }
            Self::Vote { dst, p, members, .. } => {
                used.read_pred(*p).reads(members.as_slice()).write(*dst);
            }
            Self::ActiveMask { dst } => {
                used.write(*dst);
            }
            Self::Elect { leader, elected, p, members } => {
                used.read_pred(*p).reads(members.as_slice());
                leader.iter().chain(elected).for_each(|reg| used.dsts.insert(*reg));
            }
            Self::Together { dst, members } => {
                used.read(*members).write(*dst);
            }
            Self::Match { dst, pred, src, members, .. } => {
                used.reads(&[*src, *members]).write(*dst);
                pred.iter().for_each(|reg| used.dsts.insert(*reg));
            }
            Self::Reduce { dst, src, members, .. } | Self::ReduceFloat { dst, src, members, .. } => {
                used.reads(&[*src, *members]).write(*dst);
            }
            Self::WarpSync { members } => {
                used.read(*members);
            }
            lanewise!() | memory!() | no_effect!() | jump!() | ungrouped!() => {
                unreachable!("the lanes of these exchange nothing")
            }
        }
    }

    /// Adds the registers of an operation on memory.
    fn collect_memory(&self, used: &mut Registers) {
        match self {
            Self::Load { dsts, addr, .. } => {
                used.read(addr.base);
                dsts.iter().flatten().for_each(|reg| used.dsts.insert(*reg));
            }
            Self::Store { srcs, addr, .. } => {
                used.reads(srcs).read(addr.base);
            }
            Self::Atomic(atomic) => {
                used.read(atomic.addr.base);
                atomic.operands().for_each(|operand| {
                    used.read(operand);
                });
                atomic.dsts().for_each(|reg| used.dsts.insert(reg));
            }
            Self::Fetch(fetch) => {
                used.read(fetch.texture)
                    .reads(&fetch.coords)
                    .reads(fetch.layer.as_slice())
                    .reads(&fetch.detail);
                fetch.dsts.iter().flatten().for_each(|reg| used.dsts.insert(*reg));
            }
            Self::Surface(access) => {
                used.read(access.surface).reads(&access.coords).reads(access.layer.as_slice());
                match &access.data {
                    SurfaceData::Load(dsts) => dsts.iter().flatten().for_each(|reg| used.dsts.insert(*reg)),
                    SurfaceData::Store(srcs) => {
                        used.reads(srcs);
                    }
                }
            }
            Self::ImageQuery(query) => {
                used.read(query.image).reads(&query.detail).write(query.dst);
            }
            Self::AsyncCopy { dst, src, src_bytes, .. } => {
                used.reads(&[dst.base, src.base]).reads(src_bytes.as_slice());
            }
            Self::AsyncCommit | Self::AsyncWait { .. } => {}
            lanewise!() | exchange!() | no_effect!() | jump!() | ungrouped!() => {
                unreachable!("these are not operations on memory")
            }
        }
    }
}

/// Adds the registers of a comparison.
fn collect_compare(compare: &Compare, used: &mut Registers) {
    used.read(compare.a).read(compare.b);
    compare.combine.iter().for_each(|(_, p)| {
        used.read_pred(*p);
    });
    match compare.into {
        CompareInto::Preds(p, q) => p.into_iter().chain(q).for_each(|reg| used.dsts.insert(reg)),
        CompareInto::Ones(dst) | CompareInto::Float(dst, _) => used.dsts.insert(dst),
    }
}

/// Adds the registers of a barrier of the block.
fn collect_barrier(barrier: &Barrier, used: &mut Registers) {
    used.read(barrier.id).reads(barrier.threads.as_slice());
    match barrier.kind {
        BarrierKind::Sync | BarrierKind::Arrive => {}
        BarrierKind::And(dst, p) | BarrierKind::Or(dst, p) | BarrierKind::Popc(dst, p) => {
            used.read_pred(p).write(dst);
        }
    }
}

/// Adds the registers of an operation on a barrier in memory.
fn collect_mbarrier(barrier: &Mbarrier, used: &mut Registers) {
    used.read(barrier.addr.base);
    match barrier.op {
        MbarrierOp::Inval | MbarrierOp::CopiesArrive { .. } => {}
        MbarrierOp::Init { count: number }
        | MbarrierOp::ExpectTx { bytes: number }
        | MbarrierOp::CompleteTx { bytes: number } => {
            used.read(number);
        }
        MbarrierOp::Arrive(arrive) => {
            used.read(arrive.count).read(arrive.expect);
            arrive.state.into_iter().for_each(|reg| used.dsts.insert(reg));
        }
        MbarrierOp::Wait { done, phase, .. } => {
            used.read(phase).write(done);
        }
    }
}

/// The registers that an instruction reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// The registers that are read.
    pub srcs: RegList,
    /// The registers that are written.
    pub dsts: RegList,
    /// The special registers that are read, possibly with duplicates. No instruction writes them.
    pub specials: Vec<Special>,
}

impl Registers {
    fn read(&mut self, operand: Operand) -> &mut Self {
        match operand {
            Operand::Reg(reg) | Operand::Special(Special::Element { index: reg, .. }) => {
                self.srcs.insert(reg)
            }
            Operand::Special(special) => self.specials.push(special),
            Operand::Imm(_) => {}
        }
        self
    }

    fn reads(&mut self, operands: &[Operand]) -> &mut Self {
        operands.iter().for_each(|operand| {
            self.read(*operand);
        });
        self
    }

    fn read_pred(&mut self, source: PredSrc) -> &mut Self {
        if let Some(reg) = source.reg() {
            self.srcs.insert(reg);
        }
        self
    }

    fn write(&mut self, reg: RegId) -> &mut Self {
        self.dsts.insert(reg);
        self
    }
}
