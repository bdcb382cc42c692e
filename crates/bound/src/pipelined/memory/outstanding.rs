//! How many requests of the warps can wait for memory at the same time.

use crate::operands::{waits, writes};
use warpbound_core::path::Step;
use warpbound_core::program::{BarrierId, Barriers, Flow, TimedInstr, TimingTable};

/// The loads and atomics of a warp that may not have been answered. It follows the path alone: an
/// instruction that waits for a register issues after the load of that register is complete.
#[derive(Clone, Debug)]
pub(super) struct Outstanding {
    /// For each pc, whether the instruction has to do with a register that a load writes.
    concerned: Vec<bool>,
    /// For each register, one more than the index of its latest load in `loads`, or 0.
    of_reg: Vec<u32>,
    /// The signals of each barrier of control codes that may be missing, in the order of issue: the index of
    /// a load whose result is signalled, or another signal.
    signals: [Vec<Option<u32>>; BarrierId::COUNT],
    loads: Vec<Load>,
    /// The places of the requests of all loads.
    places: Vec<AtPlace>,
    /// What waits now in the warp, and what waits at most in the warp, in the block, and in any block.
    now: Counts,
    of_warp: Counts,
    of_block: Counts,
    most: Counts,
    /// The number of warps so far.
    warps: u32,
}

/// Requests of a load at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtPlace {
    pub place: u32,
    pub requests: u32,
}

/// A load that has issued.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Its first entry in `places`, and the number of entries.
    first: u32,
    places: u32,
    requests: u32,
    /// The requests whose places are not known.
    elsewhere: u32,
    is_answered: bool,
}

/// Numbers of loads, of their requests, and of those requests at each place: a set of the L1, or a
/// slice.
#[derive(Clone, Debug)]
struct Counts {
    loads: u64,
    requests: u64,
    at: Vec<u32>,
    /// The requests that may be at any place.
    elsewhere: u64,
}

impl Counts {
    fn new(places: usize) -> Self {
        Self { loads: 0, requests: 0, at: vec![0; places], elsewhere: 0 }
    }

    fn clear(&mut self) {
        (self.loads, self.requests, self.elsewhere) = (0, 0, 0);
        self.at.fill(0);
    }

    fn combine(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        self.loads = with(self.loads, other.loads);
        self.requests = with(self.requests, other.requests);
        self.elsewhere = with(self.elsewhere, other.elsewhere);
        for (at, other) in self.at.iter_mut().zip(&other.at) {
            *at = u32::try_from(with((*at).into(), (*other).into())).unwrap_or(u32::MAX);
        }
    }
}

/// A load of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LoadId {
    warp: u32,
    load: u32,
}

impl Outstanding {
    /// Creates the counts for this many places.
    pub fn new(table: &TimingTable, places: usize) -> Self {
        let mut loaded = vec![false; table.regs()];
        let loads = table.instrs().iter().filter(|instr| instr.access.is_some());
        loads.flat_map(|instr| instr.dsts.as_slice()).for_each(|reg| loaded[reg.index()] = true);
        let has_barriers = table.barriers().is_some();
        let concerns = |instr: &TimedInstr| {
            if has_barriers {
                return !instr.srcs.as_slice().is_empty();
            }
            let mut regs = instr.srcs.as_slice().iter().chain(instr.dsts.as_slice());
            let is_async = matches!(instr.flow, Flow::AsyncCopy | Flow::AsyncWait);
            is_async || regs.any(|reg| loaded[reg.index()])
        };
        Self {
            concerned: table.instrs().iter().map(concerns).collect(),
            of_reg: Vec::new(),
            signals: Default::default(),
            loads: Vec::new(),
            places: Vec::new(),
            now: Counts::new(places),
            of_warp: Counts::new(places),
            of_block: Counts::new(places),
            most: Counts::new(places),
            warps: 0,
        }
    }

    /// Begins a warp.
    pub fn begin_warp(&mut self, registers: usize) {
        self.of_reg.clear();
        self.of_reg.resize(registers, 0);
        self.signals.iter_mut().for_each(Vec::clear);
        self.loads.clear();
        self.places.clear();
        self.now.clear();
        self.of_warp.clear();
        self.warps = self.warps.wrapping_add(1).max(1);
    }

    /// Ends the warp, and adds it to those of the block.
    pub fn end_warp(&mut self) {
        self.of_block.combine(&self.of_warp, u64::saturating_add);
    }

    /// Ends the block.
    pub fn end_block(&mut self) {
        self.most.combine(&self.of_block, u64::max);
        self.of_block.clear();
    }

    /// Notes what the warp's next instruction waits for.
    #[inline]
    pub fn wait(&mut self, table: &TimingTable, step: Step) {
        if self.now.requests == 0 || !self.concerned[step.pc().index()] {
            return;
        }
        if let Some(barriers) = table.barriers() {
            return self.wait_at_barriers(table, barriers, step);
        }
        for reg in waits(table, step) {
            let load = std::mem::take(&mut self.of_reg[reg.index()]);
            if let Some(load) = load.checked_sub(1) {
                self.answer(load);
            }
        }
    }

    /// Notes the barriers of control codes at which the instruction waits: all signals have come but the
    /// latest ones that may be missing.
    fn wait_at_barriers(&mut self, table: &TimingTable, barriers: Barriers, step: Step) {
        for &reg in table.instr(step.pc()).srcs.as_slice() {
            let (barrier, missing) = barriers.barrier(reg);
            let mut signals = std::mem::take(&mut self.signals[barrier.index()]);
            let come = signals.len().saturating_sub(missing);
            signals.drain(..come).flatten().for_each(|load| self.answer(load));
            self.signals[barrier.index()] = signals;
        }
    }

    /// Notes that a load is complete.
    fn answer(&mut self, load: u32) {
        let Some(load) = self.loads.get_mut(load as usize) else { return };
        if std::mem::replace(&mut load.is_answered, true) {
            return;
        }
        self.now.loads -= 1;
        self.now.requests -= u64::from(load.requests);
        self.now.elsewhere -= u64::from(load.elsewhere);
        for &AtPlace { place, requests } in &self.places[load.first as usize..][..load.places as usize] {
            self.now.at[place as usize] -= requests;
        }
    }

    /// Notes the barriers of control codes that the instruction signals. `load` is its index if it is a load.
    #[inline]
    pub fn signal(&mut self, table: &TimingTable, step: Step, load: Option<u32>) {
        if table.barriers().is_none() {
            return;
        }
        let codes = table.instr(step.pc()).codes;
        for (barrier, signal) in [(codes.read, None), (codes.done, load)] {
            let Some(barrier) = barrier else { continue };
            let signals = &mut self.signals[barrier.index()];
            // if nothing waits for memory, what comes first does not matter
            if self.now.requests == 0 {
                signals.clear();
            }
            signals.push(signal);
        }
    }

    /// Notes the registers that the instruction writes: an instruction that waits for one of them from
    /// now on need not wait for an earlier load of it.
    #[inline]
    pub fn overwrite(&mut self, table: &TimingTable, step: Step) {
        if !self.concerned[step.pc().index()] {
            return;
        }
        let instr = table.instr(step.pc());
        // the register of a group of asynchronous copies is that of its last copy, which may move nothing
        let ring = if instr.flow == Flow::AsyncCopy { table.async_reg(step) } else { None };
        for reg in instr.dsts.as_slice().iter().copied().chain(ring) {
            self.of_reg[reg.index()] = 0;
        }
    }

    /// Adds this many loads with these requests, which may wait at any time together with all others
    /// of the warp, at any place.
    pub fn add_elsewhere(&mut self, loads: u64, requests: u64) {
        let Counts { loads: all_loads, requests: all, elsewhere, .. } = &mut self.of_warp;
        *all_loads = all_loads.saturating_add(loads);
        *all = all.saturating_add(requests);
        *elsewhere = elsewhere.saturating_add(requests);
    }

    /// Returns the load that the warp issues next.
    pub fn next(&self) -> LoadId {
        LoadId { warp: self.warps, load: self.loads.len() as u32 }
    }

    /// Returns whether a load of the same warp is known to be complete.
    pub fn is_answered(&self, load: LoadId) -> bool {
        load.warp == self.warps && self.loads.get(load.load as usize).is_some_and(|load| load.is_answered)
    }

    /// Adds a load or an atomic with this many requests, which go to these places, except those that may go
    /// anywhere. Returns its index.
    pub fn issue(
        &mut self,
        table: &TimingTable,
        step: Step,
        (requests, elsewhere): (u32, u32),
        places: &[AtPlace],
    ) -> u32 {
        let (first, count) = (self.places.len() as u32, places.len() as u32);
        self.loads.push(Load { first, places: count, requests, elsewhere, is_answered: false });
        self.places.extend(places);
        for reg in writes(table, step) {
            self.of_reg[reg.index()] = self.loads.len() as u32;
        }
        self.now.loads += 1;
        self.now.requests += u64::from(requests);
        self.now.elsewhere += u64::from(elsewhere);
        for &AtPlace { place, requests } in places {
            self.now.at[place as usize] += requests;
            let most = &mut self.of_warp.at[place as usize];
            *most = (*most).max(self.now.at[place as usize]);
        }
        self.of_warp.loads = self.of_warp.loads.max(self.now.loads);
        self.of_warp.requests = self.of_warp.requests.max(self.now.requests);
        self.of_warp.elsewhere = self.of_warp.elsewhere.max(self.now.elsewhere);
        self.loads.len() as u32 - 1
    }

    /// Returns the largest number of requests of the present block that wait at the same time.
    pub fn of_block(&self) -> u64 {
        self.of_block.requests
    }

    /// Returns the largest number of loads of a block that wait at the same time, and of their
    /// requests.
    pub fn most(&self) -> (u64, u64) {
        (self.most.loads, self.most.requests)
    }

    /// Returns the largest number of requests of a block that wait at a place at the same time.
    pub fn most_at(&self, place: usize) -> u64 {
        let known = self.most.at.get(place);
        known.map_or(self.most.requests, |&most| self.most.elsewhere.saturating_add(most.into()))
    }
}
