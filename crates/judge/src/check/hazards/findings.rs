//! The dependences between instructions, and whether control codes cover them.

use std::collections::{BTreeMap, BTreeSet};

use warpbound_core::program::hazards::{Access, Delay, File, Hazard, Hazards};
use warpbound_core::program::{KernelCode, MachineCode};

use super::pending::Pending;

/// The largest number of dependences that notes name.
const NAMED: usize = 20;

/// A dependence that control codes do not cover on some way between the two instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncovered {
    /// The earlier instruction, by its number in the code.
    pub earlier: usize,
    /// The later instruction.
    pub later: usize,
    /// The register, by its number in [`Hazards::registers`].
    pub register: u16,
    /// How the later instruction depends on the earlier one.
    pub hazard: Hazard,
    /// The cycles that have to pass between the two; `None` if the later one has to wait at a
    /// barrier.
    pub required: Option<u32>,
    /// The smallest number of cycles that pass.
    pub provided: u32,
}

/// What is known of a dependence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    required: Option<u32>,
    provided: u32,
    covered: bool,
    /// The kinds of the accesses.
    kinds: (u8, u8),
}

/// The dependences of one hazard between accesses of two kinds to a register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfKind<'h> {
    /// The register file.
    pub file: File,
    /// How the later instruction depends on the earlier one.
    pub hazard: Hazard,
    /// The kind of the earlier access.
    pub earlier: &'h str,
    /// The kind of the later access.
    pub later: &'h str,
    /// The number of dependences.
    pub count: usize,
    /// The largest number of cycles that is required.
    pub required: u32,
    /// The smallest number of cycles that passes. It is smaller than the required one only if a
    /// barrier covers the dependence.
    pub provided: u32,
}

type Key = (u32, u32, u16, Hazard);

/// The dependences of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    found: BTreeMap<Key, Known>,
    /// The pairs of kinds of which the table has no delay.
    unknown: BTreeSet<(File, Hazard, u8, u8)>,
    tight: BTreeSet<usize>,
    waits: BTreeSet<(usize, u8)>,
    releases: BTreeSet<(usize, u8)>,
}

impl Findings {
    /// Returns the number of dependences: pairs of instructions with a register and a hazard.
    pub fn dependences(&self) -> usize {
        self.found.len()
    }

    /// Returns the dependences that are not covered.
    pub fn uncovered(&self) -> impl Iterator<Item = Uncovered> {
        self.found.iter().filter(|(_, known)| !known.covered).map(
            |(&(earlier, later, register, hazard), known)| Uncovered {
                earlier: earlier as usize,
                later: later as usize,
                register,
                hazard,
                required: known.required,
                provided: known.provided,
            },
        )
    }

    /// Returns the pairs of kinds of which the table of latencies has no delay: the file, the hazard,
    /// and the kinds of the earlier and the later access.
    pub fn unknown<'h>(&self, hazards: &'h Hazards) -> Vec<(File, Hazard, &'h str, &'h str)> {
        let name = |kind: u8| hazards.delays.kind(kind);
        let named = |&(file, hazard, a, b): &(File, Hazard, u8, u8)| (file, hazard, name(a), name(b));
        self.unknown.iter().map(named).collect()
    }

    /// Returns the dependences for which a number of cycles is known, by file, hazard and kinds.
    pub fn by_kind<'h>(&self, hazards: &'h Hazards) -> Vec<OfKind<'h>> {
        let name = |kind: u8| hazards.delays.kind(kind);
        let mut all: BTreeMap<(File, Hazard, (u8, u8)), OfKind> = BTreeMap::new();
        for (&(_, _, register, hazard), known) in &self.found {
            let Some(required) = known.required else { continue };
            let file = hazards.registers[usize::from(register)].0;
            let (earlier, later) = (name(known.kinds.0), name(known.kinds.1));
            let provided = known.provided;
            let new = OfKind { file, hazard, earlier, later, count: 0, required, provided };
            let row = all.entry((file, hazard, known.kinds)).or_insert(new);
            row.count += 1;
            row.required = row.required.max(required);
            row.provided = row.provided.min(provided);
        }
        all.into_values().collect()
    }

    /// Returns the instructions with a stall count that is no longer than a dependence requires: each
    /// shorter one leaves a dependence uncovered.
    pub fn tight(&self) -> impl Iterator<Item = usize> {
        self.tight.iter().copied()
    }

    /// Returns the waits that a dependence of the waiting instruction needs: the instruction and the
    /// barrier.
    pub fn needed_waits(&self) -> impl Iterator<Item = (usize, u8)> {
        self.waits.iter().copied()
    }

    /// Returns the releases that a dependence needs: the instruction and the barrier.
    pub fn needed_releases(&self) -> impl Iterator<Item = (usize, u8)> {
        self.releases.iter().copied()
    }

    /// Returns the findings as notes for the reader.
    pub fn notes(&self, program: &KernelCode) -> Vec<String> {
        let Some((code, hazards)) = parts(program) else { return Vec::new() };
        let open = self.uncovered().count();
        let summary = format!(
            "control codes: of {} dependences between two instructions on any way through the code, {open} are not covered",
            self.dependences()
        );
        let unknown = self.unknown(hazards).into_iter().map(|(file, hazard, earlier, later)| {
            format!(
                "control codes: the table of latencies has no time for {hazard:?} in the file {file:?} from `{earlier}` to `{later}`"
            )
        });
        let named = self.uncovered().take(NAMED).map(|found| found.text(program, code, hazards));
        std::iter::once(summary).chain(unknown).chain(named).collect()
    }

    /// Judges the dependence of an access on an earlier one.
    pub(super) fn judge(
        &mut self,
        hazards: &Hazards,
        (later, access): (usize, Access),
        (pending, passed): (&Pending, u32),
        hazard: Hazard,
    ) -> Judged {
        let file = hazards.registers[usize::from(access.register)].0;
        let kinds = (pending.access.kind, access.kind);
        let instructions = &hazards.instructions;
        let guarded = instructions[pending.by as usize].guard.is_some();
        let required = match hazards.delays.get(file, hazard, kinds) {
            None => {
                self.unknown.insert((file, hazard, kinds.0, kinds.1));
                return Judged::Unknown;
            }
            Some(Delay::Cycles { always, guarded: longer }) => {
                Some(u32::from(if guarded { longer } else { always }))
            }
            Some(Delay::Barrier) => None,
        };
        let enough = required.is_some_and(|required| passed >= required);
        let ordered = hazard != Hazard::Read && pending.keeps_order(&instructions[later]);
        let covered = enough || ordered || !pending.open;
        let known = Known { required, provided: passed, covered, kinds };
        let key = (pending.by, later as u32, access.register, hazard);
        let kept = self.found.entry(key).or_insert(known);
        // several accesses and several ways may have the same key: the one that lacks the most counts
        let lacks = |known: &Known| {
            (!known.covered, i64::from(known.required.unwrap_or(0)) - i64::from(known.provided))
        };
        if lacks(&known) > lacks(kept) {
            *kept = known;
        }
        match (enough, required) {
            (false, _) if ordered => Judged::Covered,
            (false, _) => Judged::NeedsBarrier,
            (true, Some(required)) if required == passed && required > 1 && pending.open => Judged::Tight,
            _ => Judged::Covered,
        }
    }

    pub(super) fn add_tight(&mut self, instruction: usize) {
        self.tight.insert(instruction);
    }

    pub(super) fn add_needed(&mut self, wait: (usize, u8), release: (usize, u8)) {
        self.waits.insert(wait);
        self.releases.insert(release);
    }
}

/// What covers a dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// The table has no delay for it.
    Unknown,
    /// More cycles pass than needed, or the earlier instruction is complete.
    Covered,
    /// Exactly the required number of cycles passes.
    Tight,
    /// Too few cycles pass, so it has to be covered by a barrier.
    NeedsBarrier,
}

impl Uncovered {
    /// Returns the dependence as a sentence.
    pub fn text(&self, program: &KernelCode, code: &MachineCode, hazards: &Hazards) -> String {
        let place = |index: usize| {
            let byte = code.instructions.get(index).map_or(0, |coded| coded.byte);
            let text = hazards.instructions.get(index).map_or("", |instruction| instruction.text.as_str());
            format!("{}+{byte:#x} `{text}`", program.name)
        };
        let does = match self.hazard {
            Hazard::Read => "reads",
            Hazard::Write => "writes",
            Hazard::Overwrite => "overwrites",
        };
        let register = &hazards.registers[usize::from(self.register)].1;
        let needs = match self.required {
            Some(required) => format!("{required} cycles are required, {} pass", self.provided),
            None => format!("a wait at a barrier is required, only {} cycles pass", self.provided),
        };
        format!(
            "control codes: {} {does} {register} of {} too early: {needs}",
            place(self.later),
            place(self.earlier)
        )
    }
}

/// Returns the parts of a program that its control codes concern, if it has them.
pub(super) fn parts(program: &KernelCode) -> Option<(&MachineCode, &Hazards)> {
    let code = program.machine_code.as_ref()?;
    Some((code, code.hazards.as_ref()?))
}
