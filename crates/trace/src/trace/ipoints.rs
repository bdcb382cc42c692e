//! The times at which warps pass the instrumentation points (ipoints) of their code.
//!
//! An ipoint stands before an instruction, and a warp passes it in the cycle in which it issues
//! that instruction. One more ipoint, the end, is passed when the warp's last result is available.
//! The time between two ipoints is therefore the whole time that the warp spent between them: its
//! own instructions, and the cycles in which it was ready and others issued. This is what a probe
//! in the code measures. Betts and Donaldson, "Estimating the WCET of GPU-Accelerated Applications
//! using Hybrid Analysis", ECRTS 2013, account for interference with such measurements.
//!
//! The end of a warp is known earlier, when the warp's last instruction issues. The report of the
//! end is held back until the SM has reached that time, so that the reports of an SM are sorted by
//! time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use super::{BlockStart, Event, Issue, Needs, Observer, Release, WarpFinish};
use warpbound_core::base::{BlockId, Cycle, Pc};

/// The instructions that have an ipoint before them, with the caller's numbers of the ipoints.
#[derive(Clone, Debug, Default)]
pub struct IpointMap {
    at: Vec<Option<usize>>,
    end: usize,
}

impl IpointMap {
    /// Creates a map with ipoints before these instructions, and one that is passed at the end.
    #[inline]
    pub fn new(before: impl IntoIterator<Item = (Pc, usize)>, end: usize) -> Self {
        let mut at = Vec::new();
        for (pc, ipoint) in before {
            if at.len() <= pc.index() {
                at.resize(pc.index() + 1, None);
            }
            at[pc.index()] = Some(ipoint);
        }
        Self { at, end }
    }
}

/// The passage of a warp through an ipoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The number of the ipoint.
    pub ipoint: usize,
    /// The SM.
    pub sm: u32,
    /// The warp's slot, which no other warp on the SM has until the block of this one has ended.
    pub slot: u32,
    /// The cycle.
    pub cycle: Cycle,
    /// The instruction after the ipoint; `None` at the end.
    pub pc: Option<Pc>,
}

/// Receives the ipoints that are passed; those of each SM in the order of time.
pub trait PassedSink {
    /// Receives the passage of a warp through an ipoint.
    fn passed(&mut self, passed: Passed);

    /// Receives a block that became resident on an SM; its warps have consecutive slots from
    /// `first_slot` on.
    fn block_started(&mut self, sm: u32, first_slot: usize, warps: usize) {
        let _ = (sm, first_slot, warps);
    }

    /// Receives the warps that a barrier releases: their slots, and the cycle in which each issued
    /// the barrier.
    fn met(&mut self, sm: u32, arrivals: &[(u32, Cycle)]) {
        let _ = (sm, arrivals);
    }
}

/// An observer that reports to a sink the ipoints that the warps of a run pass.
#[derive(Clone, Debug)]
pub struct Ipoints<'a, S> {
    map: &'a IpointMap,
    sm: usize,
    /// For each SM, the ends that are still to come.
    ends: Vec<BinaryHeap<Reverse<(Cycle, u32)>>>,
    /// For each SM and slot, the cycle of the last issue. For a warp that waits at a barrier, it is
    /// that of the barrier.
    last: Vec<Vec<Cycle>>,
    sink: S,
}

impl<'a, S: PassedSink> Ipoints<'a, S> {
    /// Creates an observer that reports to this sink.
    #[inline]
    pub fn new(map: &'a IpointMap, sink: S) -> Self {
        Self { map, sm: 0, ends: vec![BinaryHeap::new()], last: vec![Vec::new()], sink }
    }

    /// Reports the remaining ends after a run, and returns the sink.
    #[inline]
    pub fn finish(mut self) -> S {
        for sm in 0..self.ends.len() {
            self.sm = sm;
            self.ends_until(None);
        }
        self.sink
    }

    fn number(&self) -> u32 {
        u32::try_from(self.sm).unwrap_or(u32::MAX)
    }

    /// Reports the ends up to and including a cycle. The cycle itself is included, because a slot
    /// that becomes free in a cycle may be used again in it.
    fn ends_until(&mut self, now: Option<Cycle>) {
        let sm = self.number();
        let ends = &mut self.ends[self.sm];
        while let Some(&Reverse((cycle, slot))) = ends.peek()
            && now.is_none_or(|now| cycle <= now)
        {
            ends.pop();
            self.sink.passed(Passed { ipoint: self.map.end, sm, slot, cycle, pc: None });
        }
    }
}

impl<S: PassedSink> Observer for Ipoints<'_, S> {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Sm(sm) => self.on_sm(*sm),
            Event::BlockStarted(start) => self.block_started(start),
            Event::Issued(issue) => self.issued(issue),
            Event::BarrierReleased(release) => self.barrier_released(release),
            Event::WarpFinished(finish) => self.warp_finished(finish),
            Event::BlockEnded { block, end } => self.block_ended(*block, *end),
            Event::Idled(_) | Event::Sampled(_) => {}
        }
    }
}

impl<S: PassedSink> Ipoints<'_, S> {
    fn on_sm(&mut self, sm: usize) {
        self.sm = sm;
        if self.ends.len() <= sm {
            self.ends.resize_with(sm + 1, BinaryHeap::new);
            self.last.resize_with(sm + 1, Vec::new);
        }
    }

    fn block_started(&mut self, start: &BlockStart) {
        self.ends_until(Some(start.at));
        let last = &mut self.last[self.sm];
        let slots = start.first_slot + start.warps;
        last.resize(last.len().max(slots), start.at);
        self.sink.block_started(self.number(), start.first_slot, start.warps);
    }

    fn issued(&mut self, issue: &Issue) {
        if let Some(last) = self.last[self.sm].get_mut(issue.slot) {
            *last = issue.issue;
        }
        let pc = issue.step.pc();
        let Some(ipoint) = self.map.at.get(pc.index()).copied().flatten() else { return };
        self.ends_until(Some(issue.issue));
        let slot = slot(issue.slot);
        self.sink.passed(Passed { ipoint, sm: self.number(), slot, cycle: issue.issue, pc: Some(pc) });
    }

    fn barrier_released(&mut self, release: &Release) {
        let last = &self.last[self.sm];
        let arrival = |at: usize| last.get(at).map(|&cycle| (slot(at), cycle));
        let arrivals: Vec<(u32, Cycle)> = release.slots.slots().filter_map(arrival).collect();
        self.sink.met(self.number(), &arrivals);
    }

    fn warp_finished(&mut self, finish: &WarpFinish) {
        // a warp that issued nothing passed no ipoint
        if finish.issues > 0 {
            self.ends[self.sm].push(Reverse((finish.done, slot(finish.slot))));
        }
    }

    fn block_ended(&mut self, _: BlockId, end: Cycle) {
        self.ends_until(Some(end));
    }
}

fn slot(slot: usize) -> u32 {
    u32::try_from(slot).unwrap_or(u32::MAX)
}

/// Writes, after a line `run`, a line `ipoint sm warp cycle` for each ipoint that is passed.
pub struct IpointTrace<'a>(Ipoints<'a, Lines<'a>>);

/// The lines of a trace.
struct Lines<'a> {
    out: &'a mut dyn Write,
    names: &'a [String],
    written: io::Result<()>,
}

impl<'a> IpointTrace<'a> {
    /// Creates a trace that writes to `out`, which should be buffered; `names` are the names of the
    /// numbers in `map`.
    #[inline]
    pub fn new(out: &'a mut dyn Write, map: &'a IpointMap, names: &'a [String]) -> Self {
        let written = writeln!(out, "# ipoint sm warp cycle\nrun");
        Self(Ipoints::new(map, Lines { out, names, written }))
    }

    /// Writes the remaining lines and flushes the output.
    ///
    /// # Errors
    /// Returns the first write error, whenever it occurred.
    #[inline]
    pub fn finish(self) -> io::Result<()> {
        let lines = self.0.finish();
        lines.written?;
        lines.out.flush()
    }
}

impl PassedSink for Lines<'_> {
    fn passed(&mut self, passed: Passed) {
        if self.written.is_ok() {
            let Passed { ipoint, sm, slot, cycle, .. } = passed;
            self.written = writeln!(self.out, "{} {sm} {slot} {cycle}", self.names[ipoint]);
        }
    }
}

impl Observer for IpointTrace<'_> {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn on(&mut self, event: &Event) {
        self.0.on(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::perfetto::tests::issue;
    use warpbound_core::base::WarpId;

    fn start(first_slot: usize, at: u64) -> BlockStart {
        BlockStart { block: BlockId::new(0), first_slot, warps: 1, at: Cycle::new(at) }
    }

    #[test]
    fn ends_are_sorted_by_time_and_precede_the_next_warp_of_their_slot() {
        let map = IpointMap::new([(Pc::new(0), 0)], 1);
        let names = ["a".to_owned(), "end".to_owned()];
        let mut out = Vec::new();
        let mut trace = IpointTrace::new(&mut out, &map, &names);
        let issue =
            |slot, cycle| Issue { slot, issue: Cycle::new(cycle), ..issue(0, cycle, cycle, cycle + 1) };
        let finish = |slot, done, issues| WarpFinish {
            block: BlockId::new(0),
            slot,
            warp: WarpId::from_index(0),
            done: Cycle::new(done),
            issues,
        };
        trace.on(&Event::BlockStarted(start(0, 0)));
        trace.on(&Event::Issued(issue(0, 0)));
        trace.on(&Event::WarpFinished(finish(0, 9, 1)));
        trace.on(&Event::WarpFinished(finish(5, 9, 0)));
        trace.on(&Event::Issued(issue(1, 4)));
        trace.on(&Event::WarpFinished(finish(1, 7, 1)));
        trace.on(&Event::BlockStarted(start(0, 9)));
        trace.on(&Event::Issued(issue(0, 9)));
        trace.on(&Event::Sm(2));
        trace.on(&Event::Issued(issue(0, 3)));
        trace.on(&Event::WarpFinished(finish(0, 5, 1)));
        trace.on(&Event::Sm(0));
        trace.on(&Event::WarpFinished(finish(0, 30, 1)));
        trace.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "# ipoint sm warp cycle\nrun\na 0 0 0\na 0 1 4\nend 0 1 7\nend 0 0 9\na 0 0 9\na 2 0 3\nend 0 0 30\nend 2 0 5\n"
        );
    }
}
