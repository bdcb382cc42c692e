//! What the bounds need of a block: its sections, warp by warp.

use super::algorithm::{Countdowns, Extent, Profile};
use crate::base::{Cycles, UnitId, WarpId};
use crate::path::{BlockPaths, Step};
use crate::program::{Flow, TimingTable};

/// What one warp's instructions in one section ask of one functional unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitUse {
    /// Instructions issued to it.
    pub instructions: u64,
    /// Sum of their initiations.
    pub init: Cycles,
}

impl UnitUse {
    /// Whether any instruction goes to the unit.
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
    /// Instructions it issues.
    pub instructions: u64,
}

impl WarpSection {
    /// The sum of its idle phases.
    pub fn idle(&self) -> Cycles {
        self.isolated - self.exec
    }
}

/// One section of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionAnalysis {
    warps: Vec<WarpSection>,
    /// Units of the machine.
    units: usize,
    /// One row of `units` entries per warp.
    uses: Vec<UnitUse>,
}

impl SectionAnalysis {
    /// Every warp of the block, by warp id. Warps that finished before are empty.
    pub fn warps(&self) -> &[WarpSection] {
        &self.warps
    }

    /// What a warp asks of each unit, by [`UnitId`].
    pub fn uses(&self, warp: WarpId) -> &[UnitUse] {
        &self.uses[warp.index() * self.units..][..self.units]
    }

    /// What a warp asks of one unit.
    pub fn unit_use(&self, warp: WarpId, unit: UnitId) -> UnitUse {
        self.uses(warp)[unit.index()]
    }

    /// Units of the machine.
    pub fn units(&self) -> usize {
        self.units
    }

    fn reset(&mut self, warps: usize, units: usize) {
        self.units = units;
        self.warps.clear();
        self.warps.resize(warps, WarpSection::default());
        self.uses.clear();
        self.uses.resize(warps * units, UnitUse::default());
    }
}

/// Sums over all sections of one warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpTotals {
    /// Sum of C(w).
    pub isolated: Cycles,
    /// Sum of E(w).
    pub exec: Cycles,
    /// Sum of the idle phases.
    pub idle: Cycles,
    /// Instructions issued.
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
    /// In program order; at least as many as any warp has.
    pub sections: Vec<SectionAnalysis>,
    /// Sums over the sections, by warp id.
    pub warps: Vec<WarpTotals>,
}

/// Analyses blocks section by section, keeping its buffers from block to block.
///
/// Sections are handed out as they are found, so that a caller that only evaluates bounds needs
/// memory for one section, however long the block runs.
#[derive(Clone, Debug)]
pub struct Analyser<'t> {
    table: &'t TimingTable,
    state: Countdowns,
    section: SectionAnalysis,
    /// Steps of each warp that earlier sections consumed.
    consumed: Vec<usize>,
    /// Units used by the section that is remembered, see [`Analyser::for_each_section`].
    remembered: Vec<UnitUse>,
}

impl<'t> Analyser<'t> {
    /// An analyser for paths of the program and machine of this table.
    pub fn new(table: &'t TimingTable) -> Self {
        Self {
            table,
            state: Countdowns::new(table),
            section: SectionAnalysis::default(),
            consumed: Vec::new(),
            remembered: vec![UnitUse::default(); table.units()],
        }
    }

    /// Analyses a block and calls `visit` for each of its sections, in order.
    pub fn for_each_section(&mut self, paths: &BlockPaths, mut visit: impl FnMut(&SectionAnalysis)) {
        let warps = paths.warps.len();
        let units = self.table.units();
        self.consumed.clear();
        self.consumed.resize(warps, 0);
        // Warps of most kernels run in step, and loops repeat; so the warp section analysed last is
        // remembered, by its steps. A section starts empty: equal steps have equal results.
        let mut last: Option<(&[Step], Profile)> = None;
        while paths.warps.iter().zip(&self.consumed).any(|(path, &done)| done < path.steps().len()) {
            self.section.reset(warps, units);
            for (index, path) in paths.warps.iter().enumerate() {
                let rest = &path.steps()[self.consumed[index]..];
                let uses = &mut self.section.uses[index * units..][..units];
                let profile = match last {
                    Some((steps, profile)) if rest.starts_with(steps) => {
                        uses.copy_from_slice(&self.remembered);
                        profile
                    }
                    _ => self.state.run(
                        self.table,
                        rest,
                        Extent::Section,
                        |_, op| {
                            let used = &mut uses[op.unit.index()];
                            used.instructions += 1;
                            used.init += op.init;
                        },
                        |_| (),
                    ),
                };
                let steps = &rest[..profile.steps];
                // What ends with a barrier or with the warp is a whole section wherever it is the
                // beginning of the rest.
                if steps.last().is_some_and(|&step| ends_section(self.table, step)) {
                    self.remembered.copy_from_slice(uses);
                    last = Some((steps, profile));
                }
                self.consumed[index] += profile.steps;
                self.section.warps[index] = WarpSection {
                    isolated: profile.isolated,
                    exec: profile.exec,
                    instructions: profile.instructions,
                };
            }
            visit(&self.section);
        }
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

/// Analyses one block; [`Analyser::block`] does the same for many of them.
pub fn analyse_block(table: &TimingTable, paths: &BlockPaths) -> BlockAnalysis {
    Analyser::new(table).block(paths)
}
