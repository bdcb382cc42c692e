//! Values of which some are unknown: the registers of a warp, and the lanes in which they depend on
//! loaded data.

use std::sync::Arc;

use super::super::registers::{RegisterMap, RegisterRow};
use super::super::warp::{Shape, Warp};
use warpbound_core::base::{LaneMask, Pc, RegId};
use warpbound_core::machine::Reconvergence;
use warpbound_core::program::sem::PredSrc;
use warpbound_core::program::{Guard, KernelCode};

/// The registers of a warp. The values of each lane are computed as if it took part in all executed
/// instructions.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// The warp as in the functional run; unknown values are arbitrary.
    pub(super) warp: Warp,
    /// Lanes that have certainly ended.
    pub(super) ended: LaneMask,
    /// For each register, the lanes in which it is unknown.
    unknown: Vec<LaneMask>,
    /// For each register, the first instruction with an unknown result among those from which its
    /// value is computed.
    origin: Vec<Option<Pc>>,
}

/// The lanes in which a condition may hold, and those in which it certainly holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holds {
    /// The lanes in which it may hold.
    pub(super) may: LaneMask,
    /// The lanes in which it certainly holds.
    pub(super) must: LaneMask,
}

impl Values {
    /// Creates the values of a warp of a block of this shape at its beginning. No register has been
    /// written, so all are unknown.
    pub(super) fn new(id: usize, map: &Arc<RegisterMap>, shape: &Shape, program: &KernelCode) -> Self {
        let mut warp = Warp::new(id, map, shape, Reconvergence::PostDominator);
        warp.start(shape);
        let registers = program.regs.len();
        Self {
            warp,
            ended: LaneMask::empty(),
            unknown: vec![LaneMask::ALL; registers],
            origin: vec![None; registers],
        }
    }

    /// Returns the lanes in which a register is unknown.
    pub(super) fn unknown(&self, reg: RegId) -> LaneMask {
        self.unknown[reg.index()]
    }

    /// Returns the lanes in which one of these registers is unknown.
    pub(super) fn unknown_of(&self, regs: &[RegId]) -> LaneMask {
        regs.iter().fold(LaneMask::empty(), |lanes, &reg| lanes | self.unknown(reg))
    }

    /// Returns the instruction that made these registers unknown.
    pub(super) fn origin_of(&self, regs: &[RegId]) -> Option<Pc> {
        regs.iter().find(|reg| !self.unknown(**reg).is_empty()).and_then(|reg| self.origin[reg.index()])
    }

    /// Returns the lanes in which a guard holds, among the `active` lanes, which execute the
    /// instruction.
    pub(super) fn guard(&self, guard: Option<Guard>, active: LaneMask) -> Holds {
        let Some(guard) = guard else { return Holds { may: active, must: active } };
        let (holds, unknown) = (self.warp.guard(guard), self.unknown(guard.reg));
        Holds { may: (holds | unknown) & active, must: holds & (active - unknown) }
    }

    /// Returns the lanes in which a predicate holds, like [`Values::guard`], for all lanes.
    pub(super) fn pred(&self, source: PredSrc) -> Holds {
        match source {
            PredSrc::Reg(guard) => self.guard(Some(guard), LaneMask::ALL),
            PredSrc::Const(_) => {
                let holds = self.warp.pred(source);
                Holds { may: holds, must: holds }
            }
        }
    }

    /// Records that a register was just written in `lanes`. Its value is unknown in the `unknown`
    /// lanes among them, because of the instruction `origin`.
    pub(super) fn written(&mut self, reg: RegId, lanes: LaneMask, unknown: LaneMask, origin: Option<Pc>) {
        let known = &mut self.unknown[reg.index()];
        *known = (*known - lanes) | (unknown & lanes);
        if !(unknown & lanes).is_empty() {
            self.origin[reg.index()] = origin;
        }
    }

    /// Merges two states at a reconvergence point: the lanes `here` come from this state, and the
    /// lanes `there` from the other one. A lane that may come from either keeps the values that are
    /// equal in both.
    pub(super) fn join(&mut self, here: LaneMask, other: &Self, there: LaneMask) {
        self.ended &= other.ended;
        let both = here & there;
        let only_there = there - here;
        for index in 0..self.unknown.len() {
            let reg = RegId::from_index(index);
            let differs = self.differs(other, reg, both);
            let theirs = other.unknown[index];
            let unknown = (self.unknown[index] | theirs | differs) & both;
            if (!(unknown - self.unknown[index]).is_empty() || !(theirs & only_there).is_empty())
                && let Some(origin) = other.origin[index]
            {
                self.origin[index] = Some(origin);
            }
            self.unknown[index] = (self.unknown[index] - there) | unknown | (theirs & only_there);
            self.take(other, reg, only_there);
        }
    }

    /// Returns the lanes, among these, in which a register has different values.
    fn differs(&self, other: &Self, reg: RegId, lanes: LaneMask) -> LaneMask {
        let (mine, theirs) = (&self.warp.registers, &other.warp.registers);
        match self.warp.map.place(reg) {
            RegisterRow::Pred => (mine.preds[reg.index()] ^ theirs.preds[reg.index()]) & lanes,
            RegisterRow::Narrow(row) => {
                let (a, b) = (&mine.narrow[row as usize].0, &theirs.narrow[row as usize].0);
                lanes.lanes().filter(|&lane| a[lane] != b[lane]).map(LaneMask::lane).collect()
            }
            RegisterRow::Wide(row) => {
                let (a, b) = (&mine.wide[row as usize].0, &theirs.wide[row as usize].0);
                lanes.lanes().filter(|&lane| a[lane] != b[lane]).map(LaneMask::lane).collect()
            }
        }
    }

    /// Copies a register from the other state in some lanes.
    fn take(&mut self, other: &Self, reg: RegId, lanes: LaneMask) {
        if lanes.is_empty() {
            return;
        }
        let (mine, theirs) = (&mut self.warp.registers, &other.warp.registers);
        match self.warp.map.place(reg) {
            RegisterRow::Pred => {
                let pred = &mut mine.preds[reg.index()];
                *pred = (*pred - lanes) | (theirs.preds[reg.index()] & lanes);
            }
            RegisterRow::Narrow(row) => {
                let (a, b) = (&mut mine.narrow[row as usize].0, &theirs.narrow[row as usize].0);
                lanes.lanes().for_each(|lane| a[lane] = b[lane]);
            }
            RegisterRow::Wide(row) => {
                let (a, b) = (&mut mine.wide[row as usize].0, &theirs.wide[row as usize].0);
                lanes.lanes().for_each(|lane| a[lane] = b[lane]);
            }
        }
    }

    /// Makes unknown, in these lanes, the values that differ from those in another state. Returns
    /// whether there were any.
    pub(super) fn forget(&mut self, other: &Self, lanes: LaneMask) -> bool {
        let mut changed = false;
        for index in 0..self.unknown.len() {
            let reg = RegId::from_index(index);
            let newly_unknown =
                (self.differs(other, reg, lanes) | other.unknown[index] & lanes) - self.unknown[index];
            if !newly_unknown.is_empty() {
                self.unknown[index] |= newly_unknown;
                self.origin[index] = other.origin[index].or(self.origin[index]);
                changed = true;
            }
        }
        changed
    }
}
