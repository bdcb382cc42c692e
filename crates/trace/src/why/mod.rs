//! The explanation of a makespan: the critical path through the schedule of a run.
//!
//! This module reads only the events of a run ([`crate::trace`]) and the program and machine
//! descriptions. It computes no time itself, and uses neither `sim` nor `bound`.
//!
//! # The path
//! The path is found by a walk from the end of the run back to its beginning. At every point of the
//! walk something *begins* (the end of the run, a result, an initiation, an issue, the release of a
//! barrier, the start of a block). It begins at that time and not earlier because something else
//! *ended* at exactly that time. The time that the latter took is a [`Link`] of the path, and the
//! walk continues where the link begins. So links follow each other without gap or overlap, each
//! cycle of the makespan is in exactly one of them, and their lengths add up to the makespan
//! ([`Explainer::finish`] checks this). A link is *tight*: the event that was waited for ended in
//! the same cycle in which the waiting one began.
//!
//! | at | because of | link |
//! |---|---|---|
//! | the end of a block | its last result | none of its own |
//! | a result of i | i's initiation has ended | [`Kind::Latency`], before it i's [`Kind::Initiation`]; for a barrier both are [`Kind::Barrier`] |
//! | the initiation of i, in the cycle of its issue | its issue | none |
//! | the initiation of i, later | the unit initiated p until then | [`Kind::Unit`], of p; the walk continues at the start of p's initiation |
//! | the issue of i, ready since r | from r on other warps issued, or none did | [`Kind::Slot`], [`Kind::Turn`] |
//! | i is ready at r | its block starts | [`Kind::Launch`], or the end of the block that was in its CTA slot |
//! | | its warp issued p in the cycle before, or as many cycles before as p's stall count states | [`Kind::Issue`], of p; the walk continues at the issue of p |
//! | | a barrier released its warp | none; the walk continues at the arrival that was done then, or at the last issue of a warp that had ended |
//! | | a register that it reads, or must not overwrite yet, received the result of p | none; the walk continues at the result of p |
//! | | control codes wait until p has read its sources | p's [`Kind::Initiation`]; the walk continues at the start of p's initiation |
//!
//! # Which cause, of several
//! Often several things end in the same cycle. The rule is the same everywhere:
//! * An instruction that starts in the cycle of its issue waits for its issue, not for its unit.
//! * An instruction is ready because of the first of these that is tight: the start of its block,
//!   its warp's issue in the cycle before, a barrier, a result. A cause that is earlier in this
//!   list is harder to remove. For example, no result is made responsible for a cycle that passes
//!   anyway because the warp issues one instruction after the other.
//! * If there are several results, arrivals at a barrier, or last results of a block, the one of
//!   the instruction issued last counts (among those issued in the same cycle, the one of the last
//!   sub-core).
//!
//! # What it is not
//! The path is *one* chain of causes of this schedule. Shortening something on it need not shorten
//! the run by the same amount: another chain may be as long, and a different schedule may result
//! (`warpbound anomaly`). What is not on the path did not delay the end of this run.
//!
//! # Machines beyond the paper model
//! If an event does not show what an instruction waited for, the link names the place where it
//! waited: [`Kind::Dispatch`] between issue and start (operand collector, result buses, the
//! load/store unit), [`Kind::Memory`] from the start of an access to its last answer. Consider the
//! cycles from the one in which all registers of an instruction were available to the one of its
//! issue. A cycle in which its sub-core issued another warp is [`Kind::Slot`], whatever else may
//! have delayed the instruction then. In a cycle without an issue the engine's stall reason
//! decides: [`Kind::UnitFull`], [`Kind::Fetch`], [`Kind::Turn`]; if that reason concerns only other
//! warps, the link is [`Kind::Fetch`], because the instruction was not fetched, or [`Kind::Held`]
//! on a machine without a front end. With several SMs the path is that of the SM that ends last;
//! among equal ones the first.
//!
//! # Memory
//! At a time when no block is resident the path has only one possible continuation. The path so far
//! is then summed up and its events are discarded, so that with one resident block at a time memory
//! holds the events of one block. If blocks overlap, the events of all of them are kept, up to a
//! limit ([`Unexplained::TooLong`]).

mod arrivals;
mod events;
mod walk;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::trace::{BlockStart, Event, Idle, Issue, Needs, Observer, Release};
use events::{Rules, Sm};
use walk::Found;
use warpbound_core::base::{BlockId, Cycle, Cycles, Pc, WarpId};
use warpbound_core::machine::Machine;
use warpbound_core::program::TimingTable;

/// The cause of a link of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The time from the end of the initiation of an instruction to its result.
    Latency,
    /// The time until an access to memory is answered, on machines with a load/store unit.
    Memory,
    /// The initiation of an instruction whose result an event waited for.
    Initiation,
    /// The initiation of another instruction, while an instruction waited for the unit.
    #[serde(rename = "unit-busy")]
    Unit,
    /// The issue of the previous instruction of the same warp.
    Issue,
    /// The instruction was ready, but other warps issued.
    #[serde(rename = "issue-slot")]
    Slot,
    /// The instruction was ready, and the policy issued nothing.
    Turn,
    /// The time from the start of the barrier instruction of the last arrival to the release.
    Barrier,
    /// The time from issue to start, on machines that have more than a queue between them.
    Dispatch,
    /// The unit of the instruction took no more instructions, or the ports of register banks were not
    /// free.
    UnitFull,
    /// A fence or an atomic under way held the warp.
    Held,
    /// The instruction was not fetched yet.
    Fetch,
    /// The placement and the start of blocks, and the end of the launch.
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

    /// Returns the name in output.
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

    /// Returns a description of what happens in these cycles.
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
    /// The index in the warp's path.
    pub index: u32,
    /// The instruction.
    pub pc: Pc,
}

/// A part of the makespan and its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its first cycle.
    pub from: Cycle,
    /// The first cycle after the link.
    pub to: Cycle,
    /// Its cause.
    pub kind: Kind,
    /// The instruction that took the time: the one that is initiated, in flight or issued. For
    /// waits of a ready or issued instruction ([`Kind::Slot`], [`Kind::Turn`], [`Kind::Dispatch`],
    /// [`Kind::UnitFull`], [`Kind::Held`], [`Kind::Fetch`]) it is that instruction. `None` for the
    /// placement of a block.
    pub of: Option<Executed>,
    /// The instruction that could not continue before, if that is another one; `None` at the end of
    /// a block.
    pub waiting: Option<Executed>,
}

impl Link {
    /// Returns its length.
    pub fn cycles(&self) -> Cycles {
        self.to - self.from
    }
}

/// The cycles of the path with the same kind and instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The kind.
    pub kind: Kind,
    /// The instruction of [`Link::of`].
    pub pc: Option<Pc>,
    /// The number of cycles.
    pub cycles: Cycles,
    /// The number of links.
    pub links: u64,
}

/// A barrier on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The barrier instruction of the first arrival.
    pub pc: Pc,
    /// The number of releases.
    pub releases: u64,
    /// The sum of the cycles from the first arrival's issue to the release.
    pub spread: Cycles,
}

/// The explanation of a makespan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The makespan, which is the sum of all entries of `spent`.
    pub makespan: Cycles,
    /// The SM to which the path belongs.
    pub sm: usize,
    /// Everything on the path, by kind and instruction.
    pub spent: Vec<Spent>,
    /// The instructions that issued while an instruction on the path was ready, with the cycles of
    /// [`Kind::Slot`] due to each.
    pub instead: Vec<(Pc, Cycles)>,
    /// The barriers on the path, by instruction.
    pub barriers: Vec<Passed>,
    /// The first links, in the order of time, up to the requested number.
    pub links: Vec<Link>,
    /// The number of links after those.
    pub more_links: u64,
}

/// The reason why a run cannot be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unexplained {
    /// Between two times without a resident block there are more instructions than are kept.
    TooLong {
        /// The number of instructions that are kept.
        limit: usize,
    },
    /// The run was stopped early.
    Unfinished,
}

/// The default number of instructions that are kept at a time; each takes about 80 bytes.
pub const LIMIT: usize = 4 << 20;

/// An observer that explains a run.
pub struct Explainer<'a> {
    rules: Rules<'a>,
    sms: Vec<Sm>,
    /// The path of each SM up to the last time without a resident block.
    found: Vec<Found>,
    sm: usize,
    keep: usize,
    limit: usize,
    kept: usize,
    too_long: bool,
}

impl<'a> Explainer<'a> {
    /// Creates an explainer of a program on a machine; it keeps this many links besides the sums.
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

    /// Limits the number of instructions that are kept at a time.
    #[must_use]
    pub fn limited_to(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Returns the explanation of a run of this makespan.
    ///
    /// # Errors
    /// Returns an error if there were too many instructions between two times without a resident
    /// block, or if a block has not ended.
    ///
    /// # Panics
    /// Panics if the links do not add up to the makespan, which would be a fault of this module.
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
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Sm(sm) => self.on_sm(*sm),
            Event::BlockStarted(start) => self.block_started(start),
            Event::Issued(issue) => self.issued(issue),
            Event::Idled(idle) => self.idled(idle),
            Event::BarrierReleased(release) => self.barrier_released(release),
            Event::BlockEnded { block, end } => self.block_ended(*block, *end),
            Event::WarpFinished(_) | Event::Sampled(_) => {}
        }
    }
}

impl Explainer<'_> {
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

/// Sums by key, which become sorted lists.
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
