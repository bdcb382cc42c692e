//! The walk from the end of the run back to its beginning.

use super::events::{Cause, NONE, Opened, Record, Rules, Sm};
use super::{Executed, Explanation, Kind, Link, Passed, Spent, Sums};
use crate::trace::StallReason;
use warpbound_core::base::{Cycle, Cycles, Pc};

/// The path found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    spent: Sums<(Kind, Option<Pc>)>,
    instead: Sums<Pc>,
    barriers: Sums<Pc>,
    links: Vec<Link>,
    more_links: u64,
}

impl Found {
    /// Adds the next part of the path, in the order of time.
    pub fn add(&mut self, links: Vec<Link>, keep: usize) {
        for link in &links {
            let spent = self.spent.entry((link.kind, link.of.map(|of| of.pc))).or_default();
            *spent = (spent.0 + link.cycles(), spent.1 + 1);
        }
        let kept = links.len().min(keep.saturating_sub(self.links.len()));
        self.more_links += (links.len() - kept) as u64;
        self.links.extend_from_slice(&links[..kept]);
    }

    /// Returns the complete explanation.
    pub fn explanation(self, sm: usize) -> Explanation {
        let spent = |((kind, pc), (cycles, links))| Spent { kind, pc, cycles, links };
        let passed = |(pc, (spread, releases))| Passed { pc, releases, spread };
        Explanation {
            makespan: self.spent.values().map(|(cycles, _)| *cycles).sum(),
            sm,
            spent: self.spent.into_iter().map(spent).collect(),
            instead: self.instead.into_iter().map(|(pc, (cycles, _))| (pc, cycles)).collect(),
            barriers: self.barriers.into_iter().map(passed).collect(),
            links: self.links,
            more_links: self.more_links,
        }
    }
}

/// The event that begins at the current point of the walk.
#[derive(Clone, Copy, Debug)]
enum At {
    /// A block ends.
    End(u32),
    /// A result becomes available.
    Done(u32),
    /// Sources have been read.
    Read(u32),
    /// An initiation begins.
    Start(u32),
    /// An instruction issues.
    Issue(u32),
    /// A barrier releases its warps.
    Opening(u32),
    /// A block starts.
    Placed(u32),
}

/// Returns the path of an SM from `end`, when its last block ended, back to the previous time
/// without a resident block, in the order of time. Data that is not part of a link is added to
/// `found`.
pub(super) fn back(sm: &Sm, rules: &Rules<'_>, end: u64, found: &mut Found) -> Vec<Link> {
    let mut walk = Walk { sm, rules, found, now: end, waiting: None, links: Vec::new() };
    let last = |block: &u32| sm.blocks[*block as usize].last;
    let ended = (0..sm.blocks.len() as u32).filter(|&block| sm.blocks[block as usize].end == Some(end));
    let mut at = ended.max_by_key(|block| last(block).wrapping_add(1)).map(At::End);
    while let Some(event) = at {
        at = walk.before(event);
    }
    walk.spend(sm.since, Kind::Launch, None);
    walk.links.reverse();
    walk.links
}

struct Walk<'a> {
    sm: &'a Sm,
    rules: &'a Rules<'a>,
    found: &'a mut Found,
    /// The earliest cycle that is already on the path.
    now: u64,
    /// The instruction that begins here.
    waiting: Option<Executed>,
    /// The links from the end to the beginning.
    links: Vec<Link>,
}

impl Walk<'_> {
    fn record(&self, number: u32) -> Record {
        self.sm.issued[number as usize]
    }

    /// Attributes the cycles since `from` to this cause.
    fn spend(&mut self, from: u64, kind: Kind, record: Option<u32>) {
        let from = from.max(self.sm.since);
        if from >= self.now {
            return;
        }
        let executed = record.map(|record| self.sm.executed(record));
        let waiting = self.waiting.filter(|_| self.waiting != executed);
        let (from_cycle, to) = (Cycle::new(from), Cycle::new(self.now));
        self.links.push(Link { from: from_cycle, to, kind, of: executed, waiting });
        self.now = from;
    }

    /// Returns the event that ended where this one begins.
    fn before(&mut self, at: At) -> Option<At> {
        match at {
            At::End(block) => self.before_end(block),
            At::Done(number) | At::Read(number) => {
                let record = self.record(number);
                let (latency, initiation) = if self.rules.is_barrier(record.step) {
                    (Kind::Barrier, Kind::Barrier)
                } else if self.rules.is_answered(record.step) {
                    (Kind::Memory, Kind::Memory)
                } else {
                    (Kind::Latency, Kind::Initiation)
                };
                if matches!(at, At::Done(_)) {
                    self.spend(record.init_end.max(record.start), latency, Some(number));
                }
                self.spend(record.start, initiation, Some(number));
                Some(At::Start(number))
            }
            At::Start(number) => Some(self.before_start(number)),
            At::Issue(number) => {
                self.waiting = Some(self.sm.executed(number));
                self.not_issued(number);
                Some(self.before_ready(number))
            }
            At::Opening(number) => self.before_opening(number),
            At::Placed(block) => {
                let placed = &self.sm.blocks[block as usize];
                self.waiting = None;
                self.spend(placed.at, Kind::Launch, None);
                let before = placed.before?;
                self.spend(self.sm.blocks[before as usize].end?, Kind::Launch, None);
                Some(At::End(before))
            }
        }
    }

    fn before_end(&mut self, block: u32) -> Option<At> {
        let placed = &self.sm.blocks[block as usize];
        self.waiting = None;
        if placed.last == NONE {
            return Some(At::Placed(block));
        }
        // a store is done when it has left, and the block ends when it is acknowledged
        let done = self.record(placed.last).done;
        let awaited = if placed.last_store == NONE { placed.last } else { placed.last_store };
        self.spend(done, Kind::Memory, Some(awaited));
        Some(At::Done(placed.last))
    }

    fn before_start(&mut self, number: u32) -> At {
        let record = self.record(number);
        if record.start <= record.issue {
            return At::Issue(number);
        }
        self.waiting = Some(self.sm.executed(number));
        if self.rules.queues(record.step) && record.ahead != NONE {
            let ahead = self.record(record.ahead);
            if ahead.init_end == record.start {
                self.spend(ahead.start, Kind::Unit, Some(record.ahead));
                return At::Start(record.ahead);
            }
        }
        self.spend(record.issue, Kind::Dispatch, Some(number));
        At::Issue(number)
    }

    fn before_ready(&mut self, number: u32) -> At {
        let record = self.record(number);
        match record.cause {
            Cause::Start => At::Placed(record.block),
            Cause::Before(before) => {
                self.spend(self.record(before).issue, Kind::Issue, Some(before));
                At::Issue(before)
            }
            Cause::Release(release) => At::Opening(release),
            Cause::Result(producer) => At::Done(producer),
            Cause::Read(reader) => At::Read(reader),
        }
    }

    fn before_opening(&mut self, number: u32) -> Option<At> {
        let opening = self.sm.openings[number as usize];
        if let Some(first) = opening.first {
            let (first, pc) = (self.record(first).issue, self.record(first).step.pc());
            let sum = self.found.barriers.entry(pc).or_default();
            *sum = (sum.0 + Cycles::new(opening.at.saturating_sub(first)), sum.1 + 1);
        }
        match opening.why? {
            Opened::Done(arrival) => Some(At::Done(arrival)),
            Opened::Issued(arrival) => Some(At::Issue(arrival)),
            Opened::LastIssue(last) => {
                self.spend(self.record(last).issue, Kind::Issue, Some(last));
                Some(At::Issue(last))
            }
            Opened::Release(release) => Some(At::Opening(release)),
            Opened::Late(arrival) => {
                self.spend(self.record(arrival).issue, Kind::Barrier, Some(arrival));
                Some(At::Issue(arrival))
            }
        }
    }

    /// Attributes the cycles from the issue of an instruction back to the cycle in which it was
    /// ready.
    fn not_issued(&mut self, number: u32) {
        let Record { ready, sub_core, .. } = self.record(number);
        let ready = ready.max(self.sm.since);
        let mut earlier = number;
        while ready < self.now {
            // the previous issue of the sub-core
            let issued = loop {
                let Some(before) = earlier.checked_sub(1) else { break None };
                earlier = before;
                let other = self.record(before);
                if other.issue < ready {
                    break None;
                }
                if other.sub_core == sub_core && other.issue < self.now {
                    break Some(other);
                }
            };
            self.nothing_issued(number, issued.map_or(ready, |other| other.issue + 1));
            if let Some(other) = issued {
                let (from, to) = (other.issue, self.now);
                let sum = self.found.instead.entry(other.step.pc()).or_default();
                *sum = (sum.0 + Cycles::new(to - from), sum.1 + 1);
                self.spend_on(from, Kind::Slot, number);
            }
        }
    }

    /// Attributes the cycles since `from` like [`Self::spend`], to the wait of this instruction
    /// itself. Adjacent periods with the same cause form one link.
    fn spend_on(&mut self, from: u64, kind: Kind, number: u32) {
        let executed = Some(self.sm.executed(number));
        match self.links.last_mut() {
            Some(link) if link.kind == kind && link.of == executed && link.from.get() == self.now => {
                link.from = Cycle::new(from);
                self.now = from;
            }
            _ => self.spend(from, kind, Some(number)),
        }
    }

    /// Attributes the cycles from now back to `since`, in which the sub-core issued nothing and
    /// this instruction was not issued.
    fn nothing_issued(&mut self, number: u32, since: u64) {
        let Record { sub_core, slot, .. } = self.record(number);
        let gaps = self.sm.gaps.get(usize::from(sub_core)).map_or(&[][..], Vec::as_slice);
        let mut later = gaps.partition_point(|gap| gap.from < self.now);
        while since < self.now {
            let gap = later.checked_sub(1).map(|place| gaps[place]).filter(|gap| gap.to >= self.now);
            later = later.saturating_sub(1);
            let Some(gap) = gap else {
                // no idle event covers this cycle
                return self.spend_on(since, Kind::Turn, number);
            };
            let kind = match gap.reason {
                StallReason::NotMyTurn => Kind::Turn,
                StallReason::UnitFull => Kind::UnitFull,
                StallReason::Scoreboard if gap.slot == Some(usize::from(slot)) => Kind::Held,
                StallReason::Fetch => Kind::Fetch,
                StallReason::Scoreboard | StallReason::Barrier | StallReason::Drain => {
                    if self.rules.front_end { Kind::Fetch } else { Kind::Held }
                }
            };
            self.spend_on(gap.from.max(since), kind, number);
        }
    }
}
