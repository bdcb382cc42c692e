//! Why a run takes as long as it does: the critical path through its schedule.
//!
//! Everything here is read from the events of a run ([`crate::trace`]) and from what the program and the machine
//! say; no time is computed anew, and neither `sim` nor `bound` is asked.
//!
//! # The path
//! From the end of the run one walks back to its beginning. At every point of the walk something *begins* (the
//! end of the run, a result, an initiation, an issue, the release of a barrier, the start of a block), and it begins
//! then and not earlier because something else *ended* just then. The time that this took is a [`Link`] of the path,
//! and the walk goes on where the link begins. So links follow each other without gap or overlap, each cycle
//! of the makespan is in exactly one of them, and their lengths add up to the makespan ([`Explainer::finish`] checks it).
//! A link is *tight*: what was waited for ended in the very cycle in which what waited began.
//!
//! | at | because of | link |
//! |---|---|---|
//! | the end of a block | its result that came last | nothing of its own |
//! | a result of i | i's initiation has ended | [`Kind::Latency`], before it i's [`Kind::Initiation`]; of a barrier both are [`Kind::Barrier`] |
//! | the initiation of i, in the cycle of its issue | its issue | none |
//! | the initiation of i, later | the unit initiated p until then | [`Kind::Unit`], of p; on with the start of p's initiation |
//! | the issue of i, ready since r | from r on others were issued, or nobody | [`Kind::Slot`], [`Kind::Turn`] |
//! | i is ready at r | its block starts | [`Kind::Launch`], or the end of the block that was in its place |
//! | | its warp issued p in the cycle before, or as long before as p's stall count says | [`Kind::Issue`], of p; on with the issue of p |
//! | | a barrier let its warp go | none; on with the arrival that was done then, or the last issue of a warp that had ended |
//! | | a register that it reads, or must not overwrite yet, got the result of p | none; on with the result of p |
//! | | control codes wait until p has read its sources | p's [`Kind::Initiation`]; on with the start of p's initiation |
//!
//! # Which cause, of several
//! Often several things end in the same cycle. The rule is the same everywhere:
//! * An instruction that starts in the cycle of its issue waits for its issue, not for its unit.
//! * An instruction is ready because of the first of these that is tight: the start of its block, its warp's issue in
//!   the cycle before, a barrier, a result. What stands first could be removed last: no result is blamed for a cycle
//!   that issuing one instruction after the other costs anyway.
//! * Of several results, arrivals at a barrier, or last results of a block, that of the instruction issued last counts
//!   (in the same cycle that of the later sub-core).
//!
//! # What it is not
//! The path is *one* chain of causes of this schedule. Shortening something that is on it need not shorten the run by as
//! much: another chain may be as long, and another schedule may follow (`warpbound anomaly`). What is not on the path
//! did not delay the end of this run.
//!
//! # Machines beyond the paper model
//! Where an event does not say what an instruction waited for, the link has the name of the place where it waited:
//! [`Kind::Dispatch`] between issue and start (operand collector, result buses, the load/store unit), [`Kind::Memory`] from
//! the start of an access to its last answer. From the cycle in which all registers of an instruction were there to that of its
//! issue, a cycle in which its sub-core issued another warp is [`Kind::Slot`], whatever else may have held the instruction
//! then. In one in which it issued nothing the engine's reason decides: [`Kind::UnitFull`], [`Kind::Fetch`], [`Kind::Turn`];
//! where that is about other warps only, the instruction was not fetched, or without a front end held
//! ([`Kind::Held`]).
//! Of several SMs the path is that of the one that ends last, of equal ones the first.
//!
//! # Memory
//! Where no block is resident the path has only one way to go. There the path so far is summed up and its
//! events are forgotten, so with one resident block at a time memory holds the events of a block. Where blocks overlap the
//! events of all of them are kept, up to a limit ([`Unexplained::TooLong`]).

mod arrivals;
mod events;
mod walk;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::{BlockId, Cycle, Cycles, Pc, WarpId};
use crate::machine::Machine;
use crate::program::TimingTable;
use crate::trace::{BlockStart, Idle, Issue, Observer, Release};
use events::{Rules, Sm};
use walk::Found;

/// What a link of the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Until the result of an instruction, from the end of its initiation.
    Latency,
    /// Until an access to memory is answered; machines with a load/store unit only.
    Memory,
    /// The initiation of an instruction for whose result was waited.
    Initiation,
    /// The initiation of another instruction, while the unit was wanted.
    #[serde(rename = "unit-busy")]
    Unit,
    /// The issue of the instruction before, in the same warp.
    Issue,
    /// Ready, but other warps were issued.
    #[serde(rename = "issue-slot")]
    Slot,
    /// Ready, and nothing was issued: the policy let the slot pass.
    Turn,
    /// From the start of the last arrival's barrier instruction until its release.
    Barrier,
    /// From issue to start, where the machine has more between them than a queue.
    Dispatch,
    /// Its unit took no more instructions.
    UnitFull,
    /// A fence or an atomic under way held the warp.
    Held,
    /// Its instruction was not fetched yet.
    Fetch,
    /// Placing and starting blocks, and ending the launch.
    Launch,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Latency,
        Self::Memory,
        Self::Initiation,
        Self::Unit,
        Self::Issue,
        Self::Slot,
        Self::Turn,
        Self::Barrier,
        Self::Dispatch,
        Self::UnitFull,
        Self::Held,
        Self::Fetch,
        Self::Launch,
    ];

    /// As it stands in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Memory => "memory",
            Self::Initiation => "initiation",
            Self::Unit => "unit-busy",
            Self::Issue => "issue",
            Self::Slot => "issue-slot",
            Self::Turn => "turn",
            Self::Barrier => "barrier",
            Self::Dispatch => "dispatch",
            Self::UnitFull => "unit-full",
            Self::Held => "held",
            Self::Fetch => "fetch",
            Self::Launch => "launch",
        }
    }

    /// What happens in these cycles, for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Latency => "a result is under way",
            Self::Memory => "memory answers an access",
            Self::Initiation => "the unit initiates the instruction awaited",
            Self::Unit => "the unit still initiates another instruction",
            Self::Issue => "the warp issues, one instruction a cycle",
            Self::Slot => "ready, but another warp issues",
            Self::Turn => "ready, but the policy issues nothing",
            Self::Barrier => "the last arrival at a barrier takes effect",
            Self::Dispatch => "issued, on its way to its unit",
            Self::UnitFull => "its unit takes no more instructions",
            Self::Held => "a fence or atomic holds the warp",
            Self::Fetch => "the instruction is not fetched yet",
            Self::Launch => "blocks are placed, started or ended",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An instruction that a warp executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The block.
    pub block: BlockId,
    /// The warp of the block.
    pub warp: WarpId,
    /// Index in the warp's path.
    pub index: u32,
    /// The instruction.
    pub pc: Pc,
}

/// A stretch of the makespan and what it was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its first cycle.
    pub from: Cycle,
    /// The first cycle that is not part of it.
    pub to: Cycle,
    /// What it is.
    pub kind: Kind,
    /// The instruction that took the time: the one that is initiated, under way or issued; for waits of a ready or
    /// issued instruction ([`Kind::Slot`], [`Kind::Turn`], [`Kind::Dispatch`], [`Kind::UnitFull`], [`Kind::Held`],
    /// [`Kind::Fetch`]) that instruction. Placing a block has none.
    pub of: Option<Executed>,
    /// The instruction that could not go on before, if that is another one; none at the end of a block.
    pub waiting: Option<Executed>,
}

impl Link {
    /// How long it is.
    pub fn cycles(&self) -> Cycles {
        self.to - self.from
    }
}

/// Cycles of the path with the same kind and instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// What they are.
    pub kind: Kind,
    /// The instruction of [`Link::of`].
    pub pc: Option<Pc>,
    /// How many.
    pub cycles: Cycles,
    /// In how many links.
    pub links: u64,
}

/// A barrier that the path goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The barrier instruction of the first arrival.
    pub pc: Pc,
    /// How often.
    pub releases: u64,
    /// Cycles from the first arrival's issue to the release, added up.
    pub spread: Cycles,
}

/// Where a makespan comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The sum of everything that was spent.
    pub makespan: Cycles,
    /// The SM whose path it is.
    pub sm: usize,
    /// Everything on the path, by kind and instruction.
    pub spent: Vec<Spent>,
    /// What was issued while an instruction on the path was ready: of the cycles of [`Kind::Slot`], by instruction.
    pub instead: Vec<(Pc, Cycles)>,
    /// Barriers on the path, by instruction.
    pub barriers: Vec<Passed>,
    /// The first links, in the order of time, up to as many as were asked for.
    pub links: Vec<Link>,
    /// Steps after those.
    pub more_links: u64,
}

/// Why a run cannot be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// More instructions between two moments without a block than are kept.
    TooLong {
        /// How many are kept.
        limit: usize,
    },
    /// The run was ended early.
    Unfinished,
}

/// Instructions that are kept at a time unless said otherwise; each takes about 80 bytes.
pub const LIMIT: usize = 4 << 20;

/// Listens to a run and explains it.
pub struct Explainer<'a> {
    rules: Rules<'a>,
    sms: Vec<Sm>,
    /// By SM: its path up to the last moment without a block.
    found: Vec<Found>,
    sm: usize,
    keep: usize,
    limit: usize,
    kept: usize,
    too_long: bool,
}

impl<'a> Explainer<'a> {
    /// Of a program on a machine; keeps this many links besides the sums.
    pub fn new(table: &'a TimingTable, machine: &'a Machine, keep: usize) -> Self {
        Self {
            rules: Rules::new(table, machine),
            sms: vec![Sm::new()],
            found: vec![Found::default()],
            sm: 0,
            keep,
            limit: LIMIT,
            kept: 0,
            too_long: false,
        }
    }

    /// Keeps at most so many instructions at a time.
    #[must_use]
    pub fn limited_to(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The explanation of a run of this makespan.
    ///
    /// # Errors
    /// If there were too many instructions between two moments without a block, or a block has not ended.
    ///
    /// # Panics
    /// If the links do not add up to the makespan, which would be a fault of this module.
    pub fn finish(mut self, makespan: Cycles) -> Result<Explanation, Unexplained> {
        if self.too_long {
            return Err(Unexplained::TooLong { limit: self.limit });
        }
        if self.sms.iter().any(|sm| !sm.is_empty()) {
            return Err(Unexplained::Unfinished);
        }
        let last = (0..self.sms.len()).rev().max_by_key(|&sm| self.sms[sm].ended()).unwrap_or(0);
        let mut found = std::mem::take(&mut self.found[last]);
        let (ended, end) = (Cycle::new(self.sms[last].ended()), Cycle::ZERO + makespan);
        if ended < end {
            let link = Link { from: ended, to: end, kind: Kind::Launch, of: None, waiting: None };
            found.add(vec![link], self.keep);
        }
        let explanation = found.explanation(last);
        assert_eq!(explanation.makespan, makespan, "the links of the path add up to the makespan");
        Ok(explanation)
    }
}

impl Observer for Explainer<'_> {
    fn on_sm(&mut self, sm: usize) {
        self.sm = sm;
        if sm >= self.sms.len() {
            self.sms.resize_with(sm + 1, Sm::new);
            self.found.resize_with(sm + 1, Found::default);
        }
    }

    fn block_started(&mut self, start: &BlockStart) {
        if !self.too_long {
            self.sms[self.sm].block_started(start, &self.rules);
        }
    }

    fn issued(&mut self, issue: &Issue) {
        if self.too_long {
            return;
        }
        if self.kept == self.limit {
            self.too_long = true;
            self.sms.iter_mut().for_each(Sm::forget);
            return;
        }
        self.kept += 1;
        self.sms[self.sm].issued(issue, &self.rules);
    }

    fn idled(&mut self, idle: &Idle) {
        if !self.too_long {
            self.sms[self.sm].idled(idle);
        }
    }

    fn barrier_released(&mut self, release: &Release) {
        if !self.too_long {
            self.sms[self.sm].barrier_released(release);
        }
    }

    fn block_ended(&mut self, block: BlockId, end: Cycle) {
        if self.too_long {
            return;
        }
        let sm = &mut self.sms[self.sm];
        sm.block_ended(block, end);
        if sm.is_empty() {
            let found = &mut self.found[self.sm];
            let links = walk::back(sm, &self.rules, end.get(), found);
            found.add(links, self.keep);
            self.kept -= sm.records();
            sm.forget_until(end.get());
        }
    }
}

/// Sums by key that become sorted lists.
type Sums<K> = BTreeMap<K, (Cycles, u64)>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_called_the_same_in_text_and_json() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
    }
}
