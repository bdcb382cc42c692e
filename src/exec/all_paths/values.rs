//! Values of which some are not known: the registers of a warp, and in which lanes they depend on what was loaded.

use std::sync::Arc;

use super::super::registers::{RegisterMap, RegisterRow};
use super::super::warp::{Shape, Warp};
use crate::base::{LaneMask, Pc, RegId};
use crate::machine::Reconvergence;
use crate::program::sem::PredSrc;
use crate::program::{Guard, Program};

/// The registers of a warp, each lane as if it took part in whatever was executed so far.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// The warp as the functional run has it; what is not known has some value there that means nothing.
    pub(super) warp: Warp,
    /// By register: the lanes in which it is not known.
    unknown: Vec<LaneMask>,
    /// By register: the instruction that first did not know what it made, of those whose results are in it.
    origin: Vec<Option<Pc>>,
}

/// Lanes by what is known of a condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holds {
    /// In which it may hold.
    pub(super) may: LaneMask,
    /// In which it does.
    pub(super) must: LaneMask,
}

impl Values {
    /// A warp of a block of this shape at its beginning, where no register has been written: nothing is known of them.
    pub(super) fn new(id: usize, map: &Arc<RegisterMap>, shape: &Shape, program: &Program) -> Self {
        let mut warp = Warp::new(id, map, shape, Reconvergence::PostDominator);
        warp.start(shape);
        let registers = program.regs.len();
        Self { warp, unknown: vec![LaneMask::ALL; registers], origin: vec![None; registers] }
    }

    /// The lanes in which a register is not known.
    pub(super) fn unknown(&self, reg: RegId) -> LaneMask {
        self.unknown[reg.index()]
    }

    /// The lanes in which one of these is not known.
    pub(super) fn unknown_of(&self, regs: &[RegId]) -> LaneMask {
        regs.iter().fold(LaneMask::empty(), |lanes, &reg| lanes | self.unknown(reg))
    }

    /// Which instruction made these unknown.
    pub(super) fn origin_of(&self, regs: &[RegId]) -> Option<Pc> {
        regs.iter().find(|reg| !self.unknown(**reg).is_empty()).and_then(|reg| self.origin[reg.index()])
    }

    /// Of the lanes that execute an instruction, those in which its guard holds.
    pub(super) fn guard(&self, guard: Option<Guard>, active: LaneMask) -> Holds {
        let Some(guard) = guard else { return Holds { may: active, must: active } };
        let (holds, unknown) = (self.warp.guard(guard), self.unknown(guard.reg));
        Holds { may: (holds | unknown) & active, must: holds & (active - unknown) }
    }

    /// As [`Values::guard`], of a predicate in all lanes.
    pub(super) fn pred(&self, source: PredSrc) -> Holds {
        match source {
            PredSrc::Reg(guard) => self.guard(Some(guard), LaneMask::ALL),
            PredSrc::Const(_) => {
                let holds = self.warp.pred(source);
                Holds { may: holds, must: holds }
            }
        }
    }

    /// Says of a register that was just written in some lanes in which of those it is not known, and what made it so.
    pub(super) fn written(&mut self, reg: RegId, lanes: LaneMask, unknown: LaneMask, origin: Option<Pc>) {
        let known = &mut self.unknown[reg.index()];
        *known = (*known - lanes) | (unknown & lanes);
        if !(unknown & lanes).is_empty() {
            self.origin[reg.index()] = origin;
        }
    }

    /// Becomes what is known when lanes come together that were on two ways: these on this one, those on the other.
    /// Lanes that may have been on either know what is the same on both.
    pub(super) fn join(&mut self, here: LaneMask, other: &Self, there: LaneMask) {
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

    /// The lanes of these in which a register has different values.
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

    /// Takes a register over in some lanes.
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

    /// Forgets in these lanes what another state has otherwise; whether that was anything.
    pub(super) fn forget(&mut self, other: &Self, lanes: LaneMask) -> bool {
        let mut forgot = false;
        for index in 0..self.unknown.len() {
            let reg = RegId::from_index(index);
            let lost = (self.differs(other, reg, lanes) | other.unknown[index] & lanes) - self.unknown[index];
            if !lost.is_empty() {
                self.unknown[index] |= lost;
                self.origin[index] = other.origin[index].or(self.origin[index]);
                forgot = true;
            }
        }
        forgot
    }
}
