//! The analysis of a block that the bounds are computed from: its sections, warp by warp.

use std::hash::Hasher;
use std::sync::Arc;

use super::algorithm::{Countdowns, Extent, Profile};
use super::kept::{Kept, NumberHash};
use super::long_waits::{Carried, LongWaitFinder, LongWaits};
use super::runs::{RunFinder, SureRuns};
use super::serial::{LoneTimes, Serial};
use super::settled::settled;
use super::turns::Turns;
use warpbound_core::base::{Cycle, Cycles, RegId, UnitId, WarpId};
use warpbound_core::machine::SubCores;
use warpbound_core::path::{BlockPaths, Step, WarpPath};
use warpbound_core::program::{Flow, TimingTable};

/// The load that one warp's instructions in one section put on one functional unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitUse {
    /// The number of instructions issued to the unit.
    pub instructions: u64,
    /// The sum of their initiation intervals.
    pub init: Cycles,
}

impl UnitUse {
    /// Returns whether any instruction uses the unit.
    pub fn is_used(self) -> bool {
        self.instructions > 0
    }
}

/// One warp in one section, run alone from an empty machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpSection {
    /// C(w): the end of its last phase.
    pub isolated: Cycles,
    /// E(w): the sum of its exec phases.
    pub exec: Cycles,
    /// When the warp has settled: the largest of the ends of its initiations, the `done` of the
    /// barrier that ends the section, and the `done` of each write that the warp waits for in a
    /// later section. See [`super::Lwb`].
    pub settled: Cycles,
    /// The number of instructions that the warp issues.
    pub instructions: u64,
    /// The end of its last initiation if no two of its initiations overlap, see [`super::Gsrr`].
    pub serial: Cycles,
    /// The latest `done` in the same run.
    pub serial_end: Cycles,
    /// The times if each instruction issues only when the warp's earlier initiations on its unit
    /// have ended. `None` unless the machine has bounded queues, see [`super::proofs::iwb`].
    pub unqueued: Option<LoneTimes>,
    /// The largest number of cycles by which an issue comes after the sum of the initiations of all
    /// instructions before it; at least 0, which is the value of the first issue. See
    /// [`super::Rbb`].
    pub ahead: Cycles,
}

impl WarpSection {
    /// Returns the times of the lone warp that bounds may rely on: those without queues if the
    /// machine's queues are bounded.
    pub fn lone(&self) -> LoneTimes {
        self.unqueued.unwrap_or(LoneTimes { isolated: self.isolated, ahead: self.ahead })
    }

    /// Returns the sum of its idle phases.
    pub fn idle(&self) -> Cycles {
        self.isolated - self.exec
    }
}

/// One section of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionAnalysis {
    warps: Vec<WarpSection>,
    /// The number of units of the machine.
    units: usize,
    sub_cores: SubCores,
    /// The load of each unit, one row of `units` entries per warp.
    uses: Vec<UnitUse>,
    /// The sure runs, by warp.
    runs: Vec<Arc<SureRuns>>,
    /// The long waits, by warp.
    long_waits: Vec<Arc<LongWaits>>,
    /// The duration in strict turns, by sub-core.
    in_turns: Option<[Cycles; SubCores::MAX]>,
}

impl SectionAnalysis {
    /// Turns this value into a section made of warps that were analysed one by one. Each item names
    /// the section from which a warp is taken and the warp's id there. All must be of the same
    /// machine.
    pub fn assemble<'s>(&mut self, warps: impl IntoIterator<Item = (&'s Self, WarpId)>) {
        self.warps.clear();
        self.uses.clear();
        self.runs.clear();
        self.long_waits.clear();
        self.in_turns = None;
        for (from, warp) in warps {
            self.units = from.units;
            self.sub_cores = from.sub_cores;
            self.warps.push(from.warps[warp.index()]);
            self.uses.extend_from_slice(from.uses(warp));
            self.runs.push(Arc::clone(&from.runs[warp.index()]));
            self.long_waits.push(Arc::clone(&from.long_waits[warp.index()]));
        }
    }

    /// Returns every warp of the block, by warp id. A warp that finished in an earlier section is
    /// empty.
    pub fn warps(&self) -> &[WarpSection] {
        &self.warps
    }

    /// Returns the ids of the warps.
    pub fn ids(&self) -> impl Iterator<Item = WarpId> + use<> {
        (0..self.warps.len()).map(WarpId::from_index)
    }

    /// Returns how the SM is divided into sub-cores.
    pub fn sub_cores(&self) -> SubCores {
        self.sub_cores
    }

    /// Returns the sub-core of a warp. Bounds are for one block at a time, so that the warp's slot
    /// is its id.
    pub fn sub_core(&self, warp: WarpId) -> usize {
        self.sub_cores.of_slot(warp.index())
    }

    /// Returns a warp's load on each unit, by [`UnitId`].
    pub fn uses(&self, warp: WarpId) -> &[UnitUse] {
        &self.uses[warp.index() * self.units..][..self.units]
    }

    /// Returns a warp's load on one unit.
    pub fn unit_use(&self, warp: WarpId, unit: UnitId) -> UnitUse {
        self.uses(warp)[unit.index()]
    }

    /// Returns the sure runs of a warp.
    pub fn runs(&self, warp: WarpId) -> &SureRuns {
        &self.runs[warp.index()]
    }

    /// Returns the long waits of a warp.
    pub fn long_waits(&self, warp: WarpId) -> &LongWaits {
        &self.long_waits[warp.index()]
    }

    /// Returns how many cycles the section takes on a warp's sub-core, from an empty machine and
    /// without other sub-cores, if its instructions issue in strict turns. Returns `None` unless
    /// [`Analyser::in_turns`] was called.
    pub fn in_turns(&self, warp: WarpId) -> Option<Cycles> {
        self.in_turns.map(|by_core| by_core[self.sub_core(warp)])
    }

    /// Returns the number of units of the machine.
    pub fn units(&self) -> usize {
        self.units
    }

    fn reset(&mut self, warps: usize, table: &TimingTable) {
        let units = table.units();
        self.units = units;
        self.sub_cores = table.sub_cores();
        self.warps.clear();
        self.warps.resize(warps, WarpSection::default());
        self.uses.clear();
        self.uses.resize(warps * units, UnitUse::default());
        self.runs.clear();
        self.long_waits.clear();
        self.in_turns = None;
    }
}

/// Sums over all sections of one warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpTotals {
    /// The sum of C(w).
    pub isolated: Cycles,
    /// The sum of E(w).
    pub exec: Cycles,
    /// The sum of the idle phases.
    pub idle: Cycles,
    /// The number of instructions issued.
    pub instructions: u64,
}

impl WarpTotals {
    /// Adds a section.
    pub fn add(&mut self, section: &WarpSection) {
        self.isolated += section.isolated;
        self.exec += section.exec;
        self.idle += section.idle();
        self.instructions += section.instructions;
    }
}

/// All sections of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockAnalysis {
    /// The sections in program order; at least as many as any warp has.
    pub sections: Vec<SectionAnalysis>,
    /// The sums over the sections, by warp id.
    pub warps: Vec<WarpTotals>,
}

/// Analyses blocks section by section and reuses its buffers from block to block.
///
/// Each section is handed to the caller as soon as it is found, so that a caller that only
/// evaluates bounds needs memory for one section, however long the block runs.
#[derive(Clone, Debug)]
pub struct Analyser<'t> {
    table: &'t TimingTable,
    state: Countdowns,
    section: SectionAnalysis,
    runs: RunFinder,
    long_waits: LongWaitFinder,
    serial: Serial,
    unqueued: Option<Serial>,
    turns: Option<Turns>,
    /// The number of steps of each warp that earlier sections consumed.
    consumed: Vec<usize>,
    /// The registers of each warp that may be in flight when its next section begins.
    in_flight: Vec<Vec<RegId>>,
    /// The initiation work that each warp may have left on units with a queue.
    carried: Vec<Carried>,
    kept: Kept<Analysed>,
}

/// A warp section that was analysed, kept for reuse.
///
/// Warps of most kernels run in step, and loops and blocks repeat. A section is analysed as if it
/// started on an empty machine, except for the registers that may be in flight. Equal steps and
/// registers therefore give equal results.
#[derive(Clone, Debug)]
struct Analysed {
    /// The number of its steps.
    steps: usize,
    /// These steps and the steps after them that were examined to find out what later sections wait
    /// for.
    seen: Vec<Step>,
    in_flight: Vec<RegId>,
    carried: Carried,
    uses: Vec<UnitUse>,
    warp: WarpSection,
    runs: Arc<SureRuns>,
    long_waits: Arc<LongWaits>,
    in_flight_after: Vec<RegId>,
    carried_after: Carried,
}

impl<'t> Analyser<'t> {
    /// Creates an analyser for paths of the program and machine of this table.
    pub fn new(table: &'t TimingTable) -> Self {
        Self {
            table,
            state: Countdowns::new(table),
            section: SectionAnalysis::default(),
            runs: RunFinder::new(table),
            long_waits: LongWaitFinder::new(table),
            serial: Serial::as_one(table),
            unqueued: table.bounded_queues().then(|| Serial::by_unit(table)),
            turns: None,
            consumed: Vec::new(),
            in_flight: Vec::new(),
            carried: Vec::new(),
            kept: Kept::default(),
        }
    }

    /// Makes the analyser also compute [`SectionAnalysis::in_turns`], for the bound of strict round
    /// robin.
    #[must_use]
    pub fn in_turns(mut self) -> Self {
        self.turns = Some(Turns::new(self.table));
        self
    }

    /// Analyses a block and calls `visit` for each of its sections, in order.
    pub fn for_each_section(&mut self, paths: &BlockPaths, mut visit: impl FnMut(&SectionAnalysis)) {
        let warps = paths.warps.len();
        let units = self.table.units();
        self.consumed.clear();
        self.consumed.resize(warps, 0);
        self.in_flight.clear();
        self.in_flight.resize(warps, Vec::new());
        self.carried.clear();
        self.carried.resize(warps, Carried::default());
        if let Some(turns) = &mut self.turns {
            turns.restart(warps);
        }
        let mut slices: Vec<&[Step]> = vec![&[]; warps];
        while paths.warps.iter().zip(&self.consumed).any(|(path, &done)| done < path.steps().len()) {
            self.section.reset(warps, self.table);
            for (index, path) in paths.warps.iter().enumerate() {
                let rest = &path.steps()[self.consumed[index]..];
                let hash = self.hash_of_section(rest);
                let is_known = |kept: &Analysed| {
                    kept.in_flight == self.in_flight[index]
                        && kept.carried == self.carried[index]
                        && rest.starts_with(&kept.seen)
                };
                let known = self.kept.get(hash).is_some_and(is_known);
                let analysed = (!known).then(|| self.warp_section(rest, index));
                let found = analysed.as_ref().or_else(|| self.kept.get(hash)).expect("it is known");
                self.section.uses[index * units..][..units].copy_from_slice(&found.uses);
                self.section.warps[index] = found.warp;
                self.section.runs.push(Arc::clone(&found.runs));
                self.section.long_waits.push(Arc::clone(&found.long_waits));
                self.in_flight[index].clone_from(&found.in_flight_after);
                self.carried[index].clone_from(&found.carried_after);
                self.consumed[index] += found.steps;
                slices[index] = &rest[..found.steps];
                // Steps that end with a barrier, or with the end of the warp, are a whole section
                // of every warp whose remaining steps begin with them. After the end of the warp
                // there are no steps that could be examined.
                let ends = |found: &Analysed| {
                    let whole = slices[index].last().is_some_and(|&step| ends_section(self.table, step));
                    let all =
                        found.seen.len() < rest.len() || rest.last().is_some_and(|step| step.ends_warp());
                    whole && all
                };
                if let Some(analysed) = analysed.filter(ends) {
                    self.kept.keep(hash, analysed.seen.len(), analysed);
                }
            }
            if let Some(turns) = &mut self.turns {
                self.section.in_turns = Some(turns.section(self.table, &slices));
            }
            visit(&self.section);
        }
    }

    /// Returns a hash of the section that begins with these steps.
    fn hash_of_section(&self, rest: &[Step]) -> u64 {
        let mut hash = NumberHash::default();
        for &step in rest {
            hash.step(step);
            if ends_section(self.table, step) {
                break;
            }
        }
        hash.finish()
    }

    /// Analyses the section that begins with these steps.
    fn warp_section(&mut self, rest: &[Step], index: usize) -> Analysed {
        let in_flight = std::mem::take(&mut self.in_flight[index]);
        let mut uses = vec![UnitUse::default(); self.table.units()];
        let carried = std::mem::take(&mut self.carried[index]);
        self.runs.begin(&in_flight);
        self.long_waits.begin(&in_flight, &carried);
        self.serial.begin();
        self.unqueued.iter_mut().for_each(Serial::begin);
        let (runs, serial, table) = (&mut self.runs, &mut self.serial, self.table);
        let unqueued = &mut self.unqueued;
        let long_waits = &mut self.long_waits;
        let mut end = Cycle::ZERO;
        let (mut inits_before, mut ahead) = (Cycles::ZERO, Cycles::ZERO);
        let profile: Profile = self.state.run(
            table,
            rest,
            Extent::Section,
            |event, op| {
                let used = &mut uses[op.unit.index()];
                used.instructions += 1;
                used.init += op.init;
                ahead = ahead.max(event.issue.since_start().saturating_sub(inits_before));
                inits_before += op.init;
                let step = rest[event.index as usize];
                runs.issue(table, step, op);
                serial.issue(table, step, op);
                unqueued.iter_mut().for_each(|unqueued| unqueued.issue(table, step, op));
                end = end.max(event.done);
                long_waits.issue(table, step, op, event.issue.since_start(), end.since_start());
            },
            |_| (),
        );
        let steps = &rest[..profile.steps];
        let (settled, beyond) = settled(&self.state, &profile, table, &rest[profile.steps..]);
        let (runs, in_flight_after) = runs.end(table, steps.last().copied());
        let (serial, serial_end) = serial.end();
        let (long_waits, carried_after) = long_waits.end();
        let warp = WarpSection {
            isolated: profile.isolated,
            exec: profile.exec,
            settled,
            instructions: profile.instructions,
            serial,
            serial_end,
            unqueued: self.unqueued.as_ref().map(Serial::lone),
            ahead,
        };
        Analysed {
            steps: steps.len(),
            seen: rest[..steps.len() + beyond].to_vec(),
            in_flight,
            carried,
            uses,
            warp,
            runs: Arc::new(runs),
            long_waits: Arc::new(long_waits),
            in_flight_after,
            carried_after,
        }
    }

    /// Returns how long each warp of a block takes alone, without the quantities that only bounds
    /// need.
    pub fn alone(&mut self, paths: &BlockPaths) -> Vec<WarpTotals> {
        let mut all: Vec<WarpTotals> = Vec::with_capacity(paths.warps.len());
        for (index, path) in paths.warps.iter().enumerate() {
            // in most kernels nearly all warps do the same
            let before = index.checked_sub(1).filter(|&before| paths.warps[before].steps() == path.steps());
            all.push(before.map_or_else(|| self.lone_warp(path), |before| all[before]));
        }
        all
    }

    /// Returns how long a warp takes alone.
    fn lone_warp(&mut self, path: &WarpPath) -> WarpTotals {
        let mut totals = WarpTotals::default();
        let mut rest = path.steps();
        while !rest.is_empty() {
            let profile = self.state.run(self.table, rest, Extent::Section, |_, _| (), |_| ());
            totals.add(&WarpSection {
                isolated: profile.isolated,
                exec: profile.exec,
                instructions: profile.instructions,
                ..WarpSection::default()
            });
            rest = &rest[profile.steps..];
        }
        totals
    }

    /// Analyses a block and keeps every section.
    pub fn block(&mut self, paths: &BlockPaths) -> BlockAnalysis {
        let mut analysis =
            BlockAnalysis { sections: Vec::new(), warps: vec![WarpTotals::default(); paths.warps.len()] };
        self.for_each_section(paths, |section| {
            for (totals, warp) in analysis.warps.iter_mut().zip(section.warps()) {
                totals.add(warp);
            }
            analysis.sections.push(section.clone());
        });
        analysis
    }
}

fn ends_section(table: &TimingTable, step: Step) -> bool {
    step.ends_warp() || table.instr(step.pc()).flow == Flow::Barrier
}

/// Analyses one block; [`Analyser::block`] does the same for many blocks.
pub fn analyse_block(table: &TimingTable, paths: &BlockPaths) -> BlockAnalysis {
    Analyser::new(table).block(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{barrier, block, plain, table};

    #[test]
    fn a_section_that_is_assembled_again_keeps_nothing() {
        let table = table(&[plain(1, 10, &[0], &[]), plain(1, 0, &[], &[0])]);
        let first_section = |instrs: &[u32]| analyse_block(&table, &block(&[instrs])).sections.remove(0);
        let (one, other) = (first_section(&[1, 2]), first_section(&[1]));
        let mut section = SectionAnalysis::default();
        section.assemble([(&one, WarpId::new(0)), (&one, WarpId::new(0))]);
        section.assemble([(&other, WarpId::new(0))]);
        assert_eq!(section, other);
    }

    /// Warps with equal steps are analysed once, whether a barrier or the end of the warps ends the
    /// section.
    #[test]
    fn warps_with_equal_steps_share_an_analysis() {
        let table = table(&[plain(1, 10, &[0], &[]), barrier(), plain(1, 0, &[], &[0])]);
        let analysis = analyse_block(&table, &block(&[&[1, 2, 3], &[1, 2, 3]]));
        assert_eq!(analysis.sections.len(), 2);
        for section in &analysis.sections {
            assert!(Arc::ptr_eq(&section.runs[0], &section.runs[1]));
            assert!(Arc::ptr_eq(&section.long_waits[0], &section.long_waits[1]));
        }
    }
}
