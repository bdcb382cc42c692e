//! What becomes of a verdict if the paths depend on the order in which warps run.

use super::checked::Checked;
use crate::exec::races::{AccessKind, Party, Race, TimeDependences};
use crate::isa::Space;
use crate::program::Program;

impl Checked {
    /// Takes every verdict back if the run was one of several that may happen: another order of
    /// accesses may give other paths, and nothing was said of those.
    #[must_use]
    pub fn ordered_by_time(mut self, dependences: TimeDependences, program: &Program) -> Self {
        if let Some(line) = program.untimed_wait() {
            let place = format!("{}:{line}", program.file);
            self.withdraw(&format!("{place} waits at an mbarrier object, which timing does not model"));
            self.notes.push(format!("the makespan leaves out that {place} waits at an mbarrier object"));
        }
        let reasons = reasons(&dependences, program);
        if let Some((first, rest)) = reasons.split_first() {
            self.withdraw(&format!("the paths depend on timing: {first}"));
            let order = "the makespan is that of one order of accesses out of several";
            let others = rest.iter().map(|reason| format!("also: {reason}"));
            self.notes.push(format!("{order}: {first}"));
            self.notes.extend(others);
        }
        self.races = dependences.races;
        self
    }

    fn withdraw(&mut self, why: &str) {
        // a premise that fails anyway is the better reason
        self.bounds.iter_mut().for_each(|row| row.withdraw(why));
        self.blocks.withdraw_bounds();
    }
}

/// Why paths may be others if warps run at other times, the most telling reason first.
pub fn reasons(dependences: &TimeDependences, program: &Program) -> Vec<String> {
    let TimeDependences { races, unnamed, clock, incomplete, stray } = dependences;
    let mut reasons: Vec<String> = races.iter().map(|race| text(race, program)).collect();
    if *unnamed > 0 {
        reasons.push(format!("races of {unnamed} more pairs of accesses"));
    }
    if let Some(line) = clock {
        reasons.push(format!(
            "{}:{line} reads %clock, and where a warp goes or what it accesses depends on it",
            program.file
        ));
    }
    if let Some(line) = stray {
        reasons.push(format!(
            "{}:{line} stores to a buffer to which no pointer in its registers leads, and reads of it were not \
             watched for races",
            program.file
        ));
    }
    if *incomplete {
        reasons.push(
            "there was too little memory to watch all accesses for races; --race-memory gives more, --races ignore \
             does without"
                .to_owned(),
        );
    }
    reasons
}

/// `k.ptx:31 (warp 0) stores and k.ptx:35 (warp 3) loads the same bytes without an order, ...`.
fn text(race: &Race, program: &Program) -> String {
    let Race { space, address, place, first, second } = race;
    let several_blocks = first.block != second.block;
    let party = |party: &Party| {
        let block = match party.block {
            _ if !several_blocks => String::new(),
            Some(block) => format!(" of block {block}"),
            None => " of an earlier block".to_owned(),
        };
        let others = if party.others { " and others" } else { "" };
        let verb = match party.access {
            AccessKind::Load => "loads",
            AccessKind::Store => "stores",
            AccessKind::Atomic => "updates",
            AccessKind::AsyncCopy => "copies",
        };
        format!("{}:{} (warp {}{block}{others}) {verb}", program.file, party.line, party.warp)
    };
    let place = if *space == Space::Global { format!(", {place}") } else { String::new() };
    let block = match second.block {
        Some(block) if !several_blocks => format!(" in block {block}"),
        _ => String::new(),
    };
    let atomic = first.access == AccessKind::Atomic && second.access == AccessKind::Atomic;
    let what = if atomic { "the same cell, and the order shows" } else { "the same bytes without an order" };
    format!(
        "{} and {} {what}: {} address {address:#x}{place}{block}",
        party(first),
        party(second),
        space.name()
    )
}
