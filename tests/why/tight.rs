//! The check that a path is critical, based on the list of events alone and in the simplest form.

use std::collections::{BTreeMap, BTreeSet};

use warpbound::base::RegId;
use warpbound::machine::Hazards;
use warpbound::path::BlockPaths;
use warpbound::program::{BarrierId, Flow, TimingTable};
use warpbound::trace::{BlockStart, Event, Issue, Recorder, Release};
use warpbound::why::{Executed, Explanation, Kind, Link};

type Name = (u64, u16, u32);

pub struct Events<'a> {
    table: &'a TimingTable,
    blocks: &'a [BlockPaths],
    issues: BTreeMap<Name, Issue>,
    starts: BTreeMap<u64, BlockStart>,
    ends: BTreeMap<u64, u64>,
    releases: Vec<Release>,
}

fn name(of: &Executed) -> Name {
    (u64::from(of.block.get()), of.warp.get(), of.index)
}

impl<'a> Events<'a> {
    pub fn new(recorder: &Recorder, table: &'a TimingTable, blocks: &'a [BlockPaths]) -> Self {
        let mut events = Self {
            table,
            blocks,
            issues: BTreeMap::new(),
            starts: BTreeMap::new(),
            ends: BTreeMap::new(),
            releases: Vec::new(),
        };
        for event in &recorder.events {
            match event {
                Event::Issued(issue) => {
                    let name = (u64::from(issue.block.get()), issue.warp.get(), issue.index);
                    events.issues.insert(name, *issue);
                }
                Event::BlockStarted(start) => {
                    events.starts.insert(u64::from(start.block.get()), *start);
                }
                Event::BlockEnded { block, end } => {
                    events.ends.insert(u64::from(block.get()), end.get());
                }
                Event::BarrierReleased(release) => events.releases.push(*release),
                _ => {}
            }
        }
        events
    }

    fn issue(&self, of: &Executed) -> &Issue {
        &self.issues[&name(of)]
    }

    fn awaited(&self, issue: &Issue) -> BTreeSet<RegId> {
        let instr = self.table.instr(issue.step.pc());
        let waw = self.table.hazards().contains(Hazards::WAW);
        let mut regs: BTreeSet<RegId> = instr.srcs.as_slice().iter().copied().collect();
        if waw {
            regs.extend(instr.dsts.as_slice());
        }
        if instr.flow == Flow::AsyncWait || waw && instr.flow == Flow::AsyncCopy {
            regs.extend(self.table.async_reg(issue.step));
        }
        regs
    }

    fn written(&self, issue: &Issue) -> BTreeSet<RegId> {
        let instr = self.table.instr(issue.step.pc());
        let mut regs: BTreeSet<RegId> = instr.dsts.as_slice().iter().copied().collect();
        if instr.flow == Flow::AsyncCopy {
            regs.extend(self.table.async_reg(issue.step));
        }
        regs
    }

    /// Returns the instructions of the same warp on which an instruction depends, each with the
    /// cycle in which the dependence is satisfied. These are the last writers of its registers with
    /// their `done`. With control codes, they are all instructions that signal the barriers for
    /// which it waits, except the last few if its codes allow this.
    fn producers(&self, issue: &Issue) -> Vec<(u64, &Issue)> {
        let name = (u64::from(issue.block.get()), issue.warp.get());
        if let Some(barriers) = self.table.barriers() {
            let awaited = self.awaited(issue).into_iter().map(|reg| barriers.barrier(reg));
            let signals = |(awaited, left): (BarrierId, usize)| {
                // the ends of asynchronous copies delay the signals behind them, and are not counted
                let (mut signals, mut counted) = (Vec::new(), Vec::new());
                for index in 0..issue.index {
                    let before = &self.issues[&(name.0, name.1, index)];
                    let codes = self.table.instr(before.step.pc()).codes;
                    let copies = codes.copies && awaited == BarrierId::OF_COPIES;
                    for (is_one, counts, at) in [
                        (codes.read == Some(awaited), true, before.init_end),
                        (codes.done == Some(awaited), true, before.done),
                        (copies, false, before.done),
                    ] {
                        if is_one {
                            signals.push((at.get(), before));
                            counted.extend(counts.then_some(signals.len()));
                        }
                    }
                }
                let needed = counted.len().checked_sub(left + 1).map_or(0, |last| counted[last]);
                signals.truncate(needed);
                signals
            };
            return awaited.flat_map(signals).collect();
        }
        let last = |reg: &RegId| {
            let before = (0..issue.index).rev().map(|index| &self.issues[&(name.0, name.1, index)]);
            { before }.find(|before| self.written(before).contains(reg))
        };
        self.awaited(issue).iter().filter_map(last).map(|producer| (producer.done.get(), producer)).collect()
    }

    fn is_barrier(&self, issue: &Issue) -> bool {
        matches!(self.table.instr(issue.step.pc()).flow, Flow::Barrier | Flow::Arrive)
    }

    /// Returns the release of the barrier at which a warp waited before this instruction, if it
    /// did.
    fn release_before(&self, issue: &Issue) -> Option<&Release> {
        let before = issue.index.checked_sub(1)?;
        let before = &self.issues[&(u64::from(issue.block.get()), issue.warp.get(), before)];
        if self.table.instr(before.step.pc()).flow != Flow::Barrier {
            return None;
        }
        let of_warp = |release: &&Release| {
            release.block == issue.block
                && release.slots.has(issue.slot)
                && release.at > before.issue
                && release.at <= issue.issue
        };
        let found: Vec<&Release> = self.releases.iter().filter(of_warp).collect();
        assert_eq!(found.len(), 1, "one release between a barrier and what follows it");
        found.first().copied()
    }

    fn has_barrier(&self, release: &Release, issue: &Issue) -> bool {
        issue.block == release.block
            && self.is_barrier(issue)
            && issue.step.barrier().id == release.barrier
            && issue.issue < release.at
    }

    /// Returns the first cycle in which only the policy can delay an instruction.
    fn ready(&self, issue: &Issue) -> u64 {
        let block = u64::from(issue.block.get());
        let before =
            issue.index.checked_sub(1).map(|before| &self.issues[&(block, issue.warp.get(), before)]);
        let begins = match (self.release_before(issue), before) {
            (Some(release), Some(before)) => release.at.get().max(self.after(before)),
            (_, None) => self.starts[&block].at.get(),
            (None, Some(before)) => self.after(before),
        };
        self.producers(issue).iter().map(|producer| producer.0).chain([begins]).max().unwrap()
    }

    /// Returns the cycle in which the warp may issue again after an instruction.
    fn after(&self, issue: &Issue) -> u64 {
        issue.issue.get() + u64::from(self.table.instr(issue.step.pc()).codes.stall.max(1))
    }

    /// Checks that the end of the link `before` made an instruction ready; without a link, that it
    /// was ready at the start of the run.
    fn made_ready(&self, before: Option<&Link>, issue: &Issue) -> Result<(), String> {
        let at = before.map_or(0, |link| link.to.get());
        if self.ready(issue) != at {
            return Err(format!("ready at {}, not {at}", self.ready(issue)));
        }
        let Some(before) = before else { return Ok(()) };
        let of = self.issue(&before.of.expect("paper machines need no time to launch"));
        let ends_with_result =
            of.done.get() == at && matches!(before.kind, Kind::Latency | Kind::Initiation | Kind::Barrier);
        let produces = || {
            let ends = |producer: &(u64, &Issue)| producer.1 == of && producer.0 == at;
            let read = of.init_end.get() == at && matches!(before.kind, Kind::Initiation | Kind::Barrier);
            (ends_with_result || read) && self.producers(issue).iter().any(ends)
        };
        let mate = of.block == issue.block && of.warp == issue.warp;
        let fine = match self.release_before(issue) {
            // the end of a block
            _ if issue.index == 0 => ends_with_result && self.ends[&u64::from(of.block.get())] == at,
            _ if before.kind == Kind::Issue && mate => of.index + 1 == issue.index,
            Some(release) if release.at.get() == at => {
                // a completed arrival, or the end of a warp, possibly through another release
                let releases = self.releases.iter().filter(|r| r.block == release.block && r.at.get() == at);
                let mut arrived = { releases }.map(|release| self.has_barrier(release, of));
                let mate_of_block = of.block == issue.block;
                mate_of_block
                    && (before.kind == Kind::Barrier && ends_with_result && arrived.any(|arrived| arrived)
                        || before.kind == Kind::Issue && self.is_last_of_warp(of))
                    || produces()
            }
            _ => produces(),
        };
        if fine { Ok(()) } else { Err(format!("{before:?} did not make it ready")) }
    }

    fn is_last_of_warp(&self, issue: &Issue) -> bool {
        !self.issues.contains_key(&(u64::from(issue.block.get()), issue.warp.get(), issue.index + 1))
    }

    /// Returns how many instructions the sub-core of an instruction issued during a link.
    fn issued_meanwhile(&self, link: &Link, issue: &Issue) -> usize {
        let on = |other: &&Issue| {
            other.sub_core == issue.sub_core && other.issue >= link.from && other.issue < link.to
        };
        self.issues.values().filter(on).count()
    }

    /// Returns the instruction before another one in its unit, by order of issue.
    fn ahead(&self, issue: &Issue) -> Option<&Issue> {
        let sub_cores = self.table.sub_cores();
        let instance =
            |issue: &Issue| sub_cores.instance(issue.unit, usize::from(issue.sub_core), self.table.units());
        let before = self.issues.values().filter(|other| {
            instance(other) == instance(issue)
                && (other.issue, other.sub_core) < (issue.issue, issue.sub_core)
        });
        before.max_by_key(|other| (other.issue, other.sub_core))
    }

    /// Checks that `link` is of its kind and that it begins exactly where `before` allowed it to.
    fn follows(&self, before: Option<&Link>, link: &Link) -> Result<(), String> {
        let of = self.issue(link.of.as_ref().ok_or("a link of no instruction")?);
        let (from, to) = (link.from.get(), link.to.get());
        let is = |fine: bool, what: &str| if fine { Ok(()) } else { Err(format!("not {what}: {of:?}")) };
        let continues = before
            .is_some_and(|before| before.of == link.of && matches!(before.kind, Kind::Slot | Kind::Turn));
        match link.kind {
            Kind::Slot | Kind::Turn => {
                let issued = self.issued_meanwhile(link, of) as u64;
                let expected = if link.kind == Kind::Slot { to - from } else { 0 };
                is(issued == expected && of.issue.get() >= to && self.ready(of) <= from, "passed over")?;
                if continues { Ok(()) } else { self.made_ready(before, of) }
            }
            Kind::Issue => {
                // a barrier releases warps a cycle after the last issue of a warp that has ended,
                // whatever its stall count
                let ends = to == from + 1 && self.is_last_of_warp(of);
                is(of.issue.get() == from && (to == self.after(of) || ends), "an issue")?;
                if continues { Ok(()) } else { self.made_ready(before, of) }
            }
            Kind::Latency => {
                is(of.init_end.get() == from && of.done.get() == to, "a latency")?;
                is(
                    before.is_some_and(|b| b.of == link.of && b.kind == Kind::Initiation),
                    "after its initiation",
                )
            }
            Kind::Barrier if of.init_end.get() == from => {
                is(self.is_barrier(of) && of.done.get() == to, "a barrier")?;
                is(before.is_some_and(|b| b.of == link.of && b.kind == Kind::Barrier), "after its initiation")
            }
            Kind::Initiation | Kind::Unit | Kind::Barrier => {
                is(of.start.get() == from && of.init_end.get() == to, "an initiation")?;
                is(
                    self.is_barrier(of) == (link.kind == Kind::Barrier) || link.kind == Kind::Unit,
                    "its kind",
                )?;
                if of.start > of.issue {
                    let ahead = self.ahead(of).ok_or("nothing ahead in the unit")?;
                    let unit =
                        before.is_some_and(|b| b.kind == Kind::Unit && self.issue(&b.of.unwrap()) == ahead);
                    return is(unit && ahead.init_end == of.start, "held by its unit");
                }
                if continues { is(of.issue.get() == from, "issued") } else { self.made_ready(before, of) }
            }
            other => Err(format!("{other} does not exist in the paper model")),
        }
    }

    /// Checks every link, and that they form a path from the start of the run to the last result.
    pub fn verify(&self, found: &Explanation, makespan: u64) -> Result<(), String> {
        if found.more_links > 0 {
            return Err("not all links were kept".to_owned());
        }
        let mut before: Option<&Link> = None;
        for link in &found.links {
            let at = before.map_or(0, |before| before.to.get());
            if link.from.get() != at || link.to <= link.from {
                return Err(format!("{link:?} does not follow {before:?}"));
            }
            self.follows(before, link).map_err(|why| format!("{link:?}\nafter {before:?}\n{why}"))?;
            before = Some(link);
        }
        let end = before.map_or(0, |before| before.to.get());
        if end != makespan {
            return Err(format!("ends at {end} of {makespan}"));
        }
        if let Some(last) = before {
            let of = self.issue(last.of.as_ref().unwrap());
            let latest = self.issues.values().map(|issue| issue.done.get()).max();
            if of.done.get() != makespan || latest != Some(makespan) || last.waiting.is_some() {
                return Err(format!("{last:?} is not the last result"));
            }
        }
        let _ = self.blocks;
        Ok(())
    }
}
