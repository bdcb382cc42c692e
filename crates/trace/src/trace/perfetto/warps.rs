//! The tracks of a warp: its activity, and its instructions.
//!
//! The instructions of a warp overlap, but slices of a track must not. An instruction that issues
//! while earlier ones are in flight is therefore shown on the first free lane.

use super::FIRST_BLOCK;
use super::json::{Events, Track};
use crate::trace::{BlockStart, Issue, Release, WarpFinish};
use warpbound_core::base::{BlockId, Cycle, WarpId};

/// The number of tracks of a warp. Instructions beyond it share the last one.
const TRACKS: usize = 1000;

/// A warp in a slot.
#[derive(Clone, Debug, Default)]
struct Warp {
    block: BlockId,
    warp: WarpId,
    /// The cycle up to which the activity has been written, except for `run`.
    known: Cycle,
    /// The present interval of consecutive issue cycles, and the number of instructions in it.
    run: Option<(Cycle, Cycle, u64)>,
    /// The cycle until which each lane is occupied.
    lanes: Vec<Cycle>,
}

impl Warp {
    /// Returns the track that shows the activity of the warp.
    fn activity(&self) -> Track {
        Track { pid: FIRST_BLOCK + u64::from(self.block.get()), tid: self.warp.index() * TRACKS + 1 }
    }

    fn lane(&self, lane: usize) -> Track {
        let Track { pid, tid } = self.activity();
        Track { pid, tid: tid + 1 + lane }
    }

    /// Returns the lane on which to show an instruction, and whether the lane is new.
    fn take_lane(&mut self, issue: &Issue) -> (usize, bool) {
        let free = self.lanes.iter().position(|until| *until <= issue.issue);
        let (lane, new) = match free {
            Some(lane) => (lane, false),
            None if self.lanes.len() < TRACKS - 1 => {
                self.lanes.push(Cycle::ZERO);
                (self.lanes.len() - 1, true)
            }
            None => (TRACKS - 2, false),
        };
        self.lanes[lane] = issue.done;
        (lane, new)
    }

    /// Ends the interval of consecutive issue cycles.
    fn end_run(&mut self, events: &mut Events<'_>) {
        if let Some((from, to, instructions)) = self.run.take() {
            let args = format_args!(r#""instructions":{instructions}"#);
            events.slice(self.activity(), (from, to), r#""issues""#, args);
            self.known = to;
        }
    }

    /// Writes the activity from the end of the known part up to `to`.
    fn fill(&mut self, to: Cycle, events: &mut Events<'_>, name: &str, args: std::fmt::Arguments<'_>) {
        if to > self.known {
            events.slice(self.activity(), (self.known, to), name, args);
            self.known = to;
        }
    }
}

/// Writes the tracks of the warps, in one process per block.
#[derive(Default)]
pub(super) struct Warps {
    /// The warps, by slot.
    warps: Vec<Warp>,
}

impl Warps {
    fn at(&mut self, slot: usize) -> &mut Warp {
        if self.warps.len() <= slot {
            self.warps.resize_with(slot + 1, Warp::default);
        }
        &mut self.warps[slot]
    }

    pub fn block_started(&mut self, start: &BlockStart, events: &mut Events<'_>) {
        let block = start.block;
        events.process(FIRST_BLOCK + u64::from(block.get()), &format!("block {}", block.get()));
        for index in 0..start.warps {
            let warp = self.at(start.first_slot + index);
            let mut lanes = std::mem::take(&mut warp.lanes);
            lanes.clear();
            *warp = Warp { block, warp: WarpId::from_index(index), known: start.at, run: None, lanes };
            events.track(warp.activity(), &format!("warp {index}"));
        }
    }

    /// Adds an instruction; `name` is its text as JSON.
    pub fn issued(&mut self, issue: &Issue, name: &str, events: &mut Events<'_>) {
        let warp = self.at(issue.slot);
        let next = Cycle::new(issue.issue.get() + 1);
        match &mut warp.run {
            Some((_, to, instructions)) if *to >= issue.issue => {
                *to = next;
                *instructions += 1;
            }
            _ => {
                warp.end_run(events);
                let args = format_args!(r#""to issue":{name}"#);
                warp.fill(issue.issue, events, r#""waits""#, args);
                warp.run = Some((issue.issue, next, 1));
            }
        }
        let (lane, new) = warp.take_lane(issue);
        let track = warp.lane(lane);
        if new {
            events.track(track, &format!("warp {} instructions {lane}", issue.warp.get()));
        }
        let (pc, index, start) = (issue.step.pc().get(), issue.index, issue.start);
        let args = format_args!(r#""pc":{pc},"index":{index},"start":{start}"#);
        events.slice(track, (issue.issue, issue.done), name, args);
    }

    #[inline]
    pub fn released(&mut self, release: &Release, events: &mut Events<'_>) {
        for slot in release.slots.slots() {
            let warp = self.at(slot);
            warp.end_run(events);
            let args = format_args!(r#""barrier":{}"#, release.barrier);
            warp.fill(release.at, events, r#""at barrier""#, args);
        }
    }

    #[inline]
    pub fn finished(&mut self, finish: &WarpFinish, events: &mut Events<'_>) {
        let warp = self.at(finish.slot);
        warp.end_run(events);
        warp.fill(finish.done, events, r#""last results""#, format_args!(""));
    }
}
