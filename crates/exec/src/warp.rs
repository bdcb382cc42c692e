//! The state of one warp: registers, SIMT stack, and groups of asynchronous copies.

use std::sync::Arc;

use super::cluster_barrier::Arrived;
use super::lanes::{Lanes, map1, width_mask};
use super::registers::{RegisterMap, RegisterRow, Registers, SavedRegisters};
use super::stack::SimtStack;
use warpbound_core::base::{LaneMask, Pc, RegId, WARP_SIZE};
use warpbound_core::machine::Reconvergence;
use warpbound_core::path::AsyncGroups;
use warpbound_core::program::Guard;
use warpbound_core::program::sem::{Operand, PredSrc, Special};

/// The dimensions of a launch, and the position of the running block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The number of blocks per axis.
    pub(super) grid: [u32; 3],
    /// The number of threads per axis.
    pub(super) block: [u32; 3],
    /// The position of the running block.
    pub(super) at: [u32; 3],
    /// The number of warps of a block.
    pub(super) warps: usize,
    /// The bytes of dynamic shared memory.
    pub(super) dynamic_shared: u64,
    /// The bytes of all shared memory.
    pub(super) total_shared: u64,
    /// The offset of clock values and of hardware positions.
    pub(super) skew: u64,
    /// The number of blocks of a cluster per axis, if the launch has clusters.
    pub(super) cluster: Option<[u32; 3]>,
}

impl Shape {
    /// Returns the number of the running block in launch order.
    pub(super) fn linear_block(&self) -> u64 {
        let [x, y, z] = self.at.map(u64::from);
        x + u64::from(self.grid[0]) * (y + u64::from(self.grid[1]) * z)
    }

    /// Returns the number of blocks of a cluster per axis.
    pub(super) fn cluster(&self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3])
    }

    /// Returns the number of blocks of a cluster.
    pub(super) fn ranks(&self) -> usize {
        self.cluster().iter().map(|&n| n as usize).product()
    }

    /// Returns the position of the running block in its cluster.
    fn in_cluster(&self, axis: u8) -> u64 {
        let axis = usize::from(axis).min(2);
        u64::from(self.at[axis] % self.cluster()[axis].max(1))
    }

    /// Returns the number of the running block in its cluster.
    fn rank(&self) -> u64 {
        let [x, y, _] = self.cluster().map(u64::from);
        self.in_cluster(0) + x * (self.in_cluster(1) + y * self.in_cluster(2))
    }

    /// Returns the position of a block: that of a rank of a cluster, both in launch order.
    pub(super) fn place(&self, cluster: u32, rank: usize) -> [u32; 3] {
        let size = self.cluster();
        let clusters: [u32; 3] = std::array::from_fn(|axis| self.grid[axis] / size[axis].max(1));
        let split = |number: u32, [x, y, _]: [u32; 3]| {
            [number % x.max(1), number / x.max(1) % y.max(1), number / x.max(1) / y.max(1)]
        };
        let (first, inside) = (split(cluster, clusters), split(rank as u32, size));
        std::array::from_fn(|axis| first[axis] * size[axis] + inside[axis])
    }

    /// Returns the coordinates of a thread of the block.
    pub(super) fn thread(&self, linear: usize) -> [u64; 3] {
        let [x, y, _] = self.block.map(|n| u64::from(n.max(1)));
        let linear = linear as u64;
        [linear % x, linear / x % y, linear / (x * y)]
    }
}

/// The execution state of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can run.
    Ready,
    /// It waits at the barrier instruction at this pc.
    Waiting(Pc, LaneMask),
    /// It waits for an mbarrier object or for its cluster at the instruction at this pc.
    Suspended(Pc),
    /// All its lanes have ended.
    Finished,
}

/// One warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    /// Its number in the block.
    pub(super) id: usize,
    /// Its execution state.
    pub(super) state: State,
    /// The positions of its lanes.
    pub(super) stack: SimtStack,
    /// Whether its suspension has been ended, so that it has to continue.
    pub(super) time_is_up: bool,
    /// Its groups of asynchronous copies.
    pub(super) groups: AsyncGroups,
    /// Its arrivals at the barrier of the cluster.
    pub(super) arrived: Arrived,
    /// The number of instructions executed in this block.
    pub(super) executed: u64,
    /// Its registers.
    pub(super) registers: Registers,
    /// The rows of its registers.
    pub(super) map: Arc<RegisterMap>,
    /// The registers that calls have saved and that are restored on return.
    pub(super) saved: Vec<SavedRegisters>,
    /// The coordinates of the threads.
    tid: [Lanes; 3],
    /// The lanes that have a thread.
    lanes: LaneMask,
}

impl Warp {
    /// Creates a warp of a block of this shape; [`Warp::start`] must be called before it runs.
    pub(super) fn new(id: usize, map: &Arc<RegisterMap>, shape: &Shape, mechanism: Reconvergence) -> Self {
        let threads: usize = shape.block.iter().map(|&n| n as usize).product();
        let coordinate = |axis: usize| std::array::from_fn(|lane| shape.thread(id * WARP_SIZE + lane)[axis]);
        Self {
            id,
            state: State::Finished,
            stack: SimtStack::new(mechanism),
            time_is_up: false,
            groups: AsyncGroups::default(),
            arrived: Arrived::default(),
            executed: 0,
            registers: Registers::new(map),
            map: Arc::clone(map),
            saved: Vec::new(),
            tid: [coordinate(0), coordinate(1), coordinate(2)],
            lanes: LaneMask::first(threads.saturating_sub(id * WARP_SIZE)),
        }
    }

    /// Resets the warp to the beginning of the kernel, with all registers zero.
    pub(super) fn start(&mut self, shape: &Shape) {
        self.state = State::Ready;
        self.stack.start(self.lanes);
        self.groups.reset();
        self.arrived = Arrived::default();
        self.saved.clear();
        self.time_is_up = false;
        self.executed = 0;
        let mut registers = std::mem::take(&mut self.registers);
        registers.start(&self.map, |special| self.special(special, shape));
        self.registers = registers;
    }

    /// Returns the lanes that have a thread.
    pub(super) fn lanes(&self) -> LaneMask {
        self.lanes
    }

    /// Returns the index in the block of a lane's thread.
    pub(super) fn thread(&self, lane: usize) -> usize {
        self.id * WARP_SIZE + lane
    }

    /// Returns the lanes in which a guard holds.
    #[inline]
    pub(super) fn guard(&self, guard: Guard) -> LaneMask {
        let mask = self.registers.preds[guard.reg.index()];
        if guard.negate { !mask } else { mask }
    }

    /// Returns the lanes in which a predicate holds.
    pub(super) fn pred(&self, source: PredSrc) -> LaneMask {
        match source {
            PredSrc::Reg(guard) => self.guard(guard),
            PredSrc::Const(true) => LaneMask::ALL,
            PredSrc::Const(false) => LaneMask::empty(),
        }
    }

    /// Returns an operand in every lane.
    pub(super) fn operand(&self, operand: Operand, shape: &Shape) -> Lanes {
        match operand {
            Operand::Reg(reg) => self.registers.lanes(self.map.place(reg)),
            Operand::Imm(value) => [value; WARP_SIZE],
            Operand::Special(special) => self.special(special, shape),
        }
    }

    /// Returns an operand in one lane.
    pub(super) fn operand_in(&self, operand: Operand, shape: &Shape, lane: usize) -> u64 {
        match operand {
            Operand::Reg(reg) => self.get(reg, lane),
            Operand::Imm(value) => value,
            Operand::Special(special) => self.special(special, shape)[lane],
        }
    }

    /// Returns a register in one lane.
    #[inline]
    pub(super) fn get(&self, reg: RegId, lane: usize) -> u64 {
        self.registers.get(self.map.place(reg), lane)
    }

    /// Writes one lane of a register, truncated to its width.
    #[inline]
    pub(super) fn set_in(&mut self, reg: RegId, lane: usize, value: u64) {
        self.registers.set(self.map.place(reg), lane, value & self.map.width(reg));
    }

    fn special(&self, special: Special, shape: &Shape) -> Lanes {
        let axis_of =
            |values: &[u32; 3], axis: u8| u64::from(values.get(axis as usize).copied().unwrap_or(0));
        let below = |lane: usize| (1u64 << lane) - 1;
        let all = width_mask(32);
        let uniform = match special {
            Special::Tid(axis) => return self.tid.get(axis as usize).copied().unwrap_or([0; WARP_SIZE]),
            Special::LaneId => return std::array::from_fn(|lane| lane as u64),
            Special::LaneMaskEq => return std::array::from_fn(|lane| 1 << lane),
            Special::LaneMaskLt => return std::array::from_fn(below),
            Special::LaneMaskLe => return std::array::from_fn(|lane| below(lane) | 1 << lane),
            Special::LaneMaskGt => return std::array::from_fn(|lane| all & !(below(lane) | 1 << lane)),
            Special::LaneMaskGe => return std::array::from_fn(|lane| all & !below(lane)),
            Special::Ntid(axis) => axis_of(&shape.block, axis),
            Special::Ctaid(axis) => axis_of(&shape.at, axis),
            Special::Nctaid(axis) => axis_of(&shape.grid, axis),
            Special::ClusterCtaid(axis) => shape.in_cluster(axis),
            Special::ClusterNctaid(axis) => axis_of(&shape.cluster(), axis),
            Special::ClusterRank => shape.rank(),
            Special::ClusterRanks => shape.ranks() as u64,
            Special::Clusterid(axis) => axis_of(&shape.at, axis) / axis_of(&shape.cluster(), axis).max(1),
            Special::Nclusterid(axis) => axis_of(&shape.grid, axis) / axis_of(&shape.cluster(), axis).max(1),
            Special::HasClusters => u64::from(shape.cluster.is_some()),
            Special::ClusterReciprocal(axis) => {
                let blocks = axis_of(&shape.cluster(), axis).max(1) as f32;
                let nearest = 1.0 / blocks;
                let is_lower = f64::from(nearest) * f64::from(blocks) < 1.0;
                u64::from(nearest.to_bits() + u32::from(is_lower))
            }
            Special::WarpId => self.id as u64,
            Special::NumWarps => shape.warps as u64,
            Special::SmId | Special::GridId => shape.skew & 3,
            Special::ClockHigh => 0,
            Special::NumSms => 1,
            Special::Clock => self.executed.wrapping_add(shape.skew),
            Special::DynamicSharedBytes => shape.dynamic_shared,
            Special::TotalSharedBytes => shape.total_shared,
            Special::Element { index, plus, shift, base } => {
                let width = self.map.width(index);
                return map1(&self.registers.lanes(self.map.place(index)), |value| {
                    let scaled = (value.wrapping_add(plus.into()) & width) << shift & width;
                    base.wrapping_add(scaled)
                });
            }
            Special::Param(at) => self.map.param(at),
            Special::Const(at) => self.map.constant(at),
            Special::Frame(offset) => self.stack.local().wrapping_add(offset),
        };
        [uniform; WARP_SIZE]
    }

    /// Writes the enabled lanes of a register, truncated to its width.
    pub(super) fn set(&mut self, dst: RegId, value: &Lanes, enabled: LaneMask) {
        let width = self.map.width(dst);
        match self.map.place(dst) {
            RegisterRow::Pred => {}
            RegisterRow::Narrow(row) => {
                let row = &mut self.registers.narrow[row as usize];
                enabled.lanes().for_each(|lane| row.0[lane] = (value[lane] & width) as u32);
            }
            RegisterRow::Wide(row) => {
                let row = &mut self.registers.wide[row as usize];
                enabled.lanes().for_each(|lane| row.0[lane] = value[lane]);
            }
        }
    }

    /// Writes the enabled lanes of a predicate.
    #[inline]
    pub(super) fn set_pred(&mut self, dst: RegId, value: LaneMask, enabled: LaneMask) {
        let pred = &mut self.registers.preds[dst.index()];
        *pred = (*pred - enabled) | (value & enabled);
    }
}
