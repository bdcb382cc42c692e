//! Traces for Perfetto and `chrome://tracing`: JSON trace events, streamed. They show one SM.
//!
//! One cycle is shown as one microsecond. The process `SM` has
//! * a track per unit (per instance of a unit if there are several sub-cores), on which an
//!   instruction lasts as long as it occupies the unit;
//! * a track per sub-core with the cycles in which it issued nothing: the name is the reason, and
//!   the arguments give the warp that the reason fits;
//! * a counter per unit with two values: the number of its busy instances, whose sum over time is
//!   the length of the unit's slices, and the number of instructions that were issued to it and
//!   have not started;
//! * on machines that have them, counters of fetch, of the L1 and of the constant cache.
//!
//! The process `memory` has the counters of the L2 and of DRAM, which all SMs share. Counters of
//! events (fetches, hits, activations) count from the start of the launch.
//!
//! Each block is a process. The first track of each warp in it shows the activity of the warp:
//! `issues` (in each of these cycles), `waits` (to issue the instruction in the arguments: for a
//! register, its turn, a unit or fetch), `at barrier`, and after its last issue `last results`. The
//! tracks below show its instructions, which last from issue to done. Overlapping instructions are
//! on different tracks.

mod counters;
mod idle;
mod json;
mod unit_load;
mod warps;

use std::io::{self, Write};

use serde_json::Value;

use self::counters::Counters;
use self::idle::IdleSlots;
use self::json::{Events, Track};
use self::unit_load::UnitLoad;
use self::warps::Warps;
use super::{
    BlockStart, Event, Idle, Issue, Listing, Needs, Observer, Release, Sample, UnitInstances, WarpFinish,
};
use warpbound_core::base::Cycle;

/// The numbers of the processes; that of block n is `FIRST_BLOCK + n`.
const SM: u64 = 1;
const MEMORY: u64 = 2;
const FIRST_BLOCK: u64 = 3;

/// Writes a trace as JSON trace events.
pub struct PerfettoTrace<'a> {
    events: Events<'a>,
    /// The texts of the instructions, as JSON.
    names: Vec<String>,
    units: UnitInstances,
    unit_load: UnitLoad,
    idle: IdleSlots,
    warps: Warps,
    counters: Counters,
    /// Whether the process of the memory has been named.
    memory_is_named: bool,
}

impl<'a> PerfettoTrace<'a> {
    /// Creates a trace that writes to `out`, which should be buffered. `units` are those of the
    /// machine, and `listing` is that of the program.
    pub fn new(out: &'a mut dyn Write, units: UnitInstances, listing: &Listing) -> Self {
        let json = |name: &str| Value::from(name).to_string();
        let mut events = Events::new(out);
        events.process(SM, "SM");
        for (index, name) in units.names().iter().enumerate() {
            events.track(Track { pid: SM, tid: index + 1 }, &format!("unit {name}"));
        }
        let Track { pid, tid } = idle_track(&units);
        for sub_core in 0..units.sub_cores() {
            let name = match units.sub_cores() {
                1 => "no issue".to_owned(),
                _ => format!("no issue [{sub_core}]"),
            };
            events.track(Track { pid, tid: tid + sub_core }, &name);
        }
        Self {
            events,
            names: listing.texts().map(json).collect(),
            unit_load: UnitLoad::new(
                units.units().iter().map(|name| json(&format!("unit {name}"))).collect(),
            ),
            idle: IdleSlots::new(units.sub_cores()),
            units,
            warps: Warps::default(),
            counters: Counters::default(),
            memory_is_named: false,
        }
    }

    /// Writes the remaining events, closes the JSON and flushes the output.
    ///
    /// # Errors
    /// Returns the first write error, whenever it occurred.
    #[inline]
    pub fn finish(mut self) -> io::Result<()> {
        self.unit_load.advance(Cycle::NEVER, &mut self.events);
        self.idle.finish(idle_track(&self.units), &self.names, &mut self.events);
        self.counters.finish(&mut self.events);
        self.events.finish()
    }
}

/// Returns the track of the idle cycles of sub-core 0, which follows those of the units.
fn idle_track(units: &UnitInstances) -> Track {
    Track { pid: SM, tid: units.names().len() + 1 }
}

impl Observer for PerfettoTrace<'_> {
    fn needs(&self) -> Needs {
        Needs::SAMPLES
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::BlockStarted(start) => self.block_started(start),
            Event::Issued(issue) => self.issued(issue),
            Event::Idled(idle) => self.idled(idle),
            Event::BarrierReleased(release) => self.barrier_released(release),
            Event::WarpFinished(finish) => self.warp_finished(finish),
            Event::Sampled(sample) => self.sampled(sample),
            Event::Sm(_) | Event::BlockEnded { .. } => {}
        }
    }
}

impl PerfettoTrace<'_> {
    fn block_started(&mut self, start: &BlockStart) {
        self.warps.block_started(start, &mut self.events);
    }

    fn issued(&mut self, issue: &Issue) {
        let name = self.names.get(issue.step.pc().index()).map_or(r#""""#, String::as_str);
        self.warps.issued(issue, name, &mut self.events);
        let track = Track { pid: SM, tid: self.units.of(issue) + 1 };
        let (block, warp) = (issue.block.get(), issue.warp.get());
        let (pc, index) = (issue.step.pc().get(), issue.index);
        let args = format_args!(r#""block":{block},"warp":{warp},"pc":{pc},"index":{index}"#);
        self.events.slice(track, (issue.start, issue.init_end), name, args);
        self.unit_load.issued(issue, &mut self.events);
    }

    fn idled(&mut self, idle: &Idle) {
        self.idle.idled(idle, idle_track(&self.units), &self.names, &mut self.events);
    }

    fn barrier_released(&mut self, release: &Release) {
        self.warps.released(release, &mut self.events);
    }

    fn warp_finished(&mut self, finish: &WarpFinish) {
        self.warps.finished(finish, &mut self.events);
    }

    fn sampled(&mut self, sample: &Sample) {
        if sample.counted.is_shared() && !std::mem::replace(&mut self.memory_is_named, true) {
            self.events.process(MEMORY, "memory");
        }
        self.counters.sampled(sample, &mut self.events);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use warpbound_core::base::{BlockId, Pc, UnitId, WarpId};
    use warpbound_core::path::Step;

    /// Returns an issue of warp 0 on a unit with init 1; the pc is the index, the unit its parity.
    pub(crate) fn issue(index: u32, issue: u64, start: u64, done: u64) -> Issue {
        Issue {
            block: BlockId::new(0),
            slot: 0,
            sub_core: 0,
            warp: WarpId::new(0),
            index,
            step: Step::plain(Pc::new(index)),
            unit: UnitId::new((index % 2) as u8),
            issue: Cycle::new(issue),
            start: Cycle::new(start),
            init_end: Cycle::new(start + 1),
            done: Cycle::new(done),
        }
    }

    fn trace(issues: &[Issue]) -> Vec<Value> {
        let mut out = Vec::new();
        let listing = Listing::new((0..4).map(|pc| (pc + 1, format!("add \"{pc}\"\t"))));
        let mut trace = PerfettoTrace::new(&mut out, UnitInstances::one_each(["alu", "mem"]), &listing);
        issues.iter().for_each(|issue| trace.issued(issue));
        trace.finish().unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        json["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn no_events_are_valid_json_too() {
        assert!(trace(&[]).iter().all(|event| event["ph"] == "M"));
        let mut out = Vec::new();
        PerfettoTrace::new(&mut out, UnitInstances::default(), &Listing::default()).finish().unwrap();
        assert!(serde_json::from_slice::<Value>(&out).is_ok());
    }

    /// Returns (ts, dur) of the slices of a track.
    fn slices(events: &[Value], pid: u64, tid: u64) -> Vec<(u64, u64)> {
        let slices_of_track = events.iter().filter(|e| e["ph"] == "X" && e["pid"] == pid && e["tid"] == tid);
        slices_of_track.map(|e| (e["ts"].as_u64().unwrap(), e["dur"].as_u64().unwrap())).collect()
    }

    #[test]
    fn overlapping_instructions_get_lanes_of_their_own() {
        let events = trace(&[issue(0, 0, 0, 9), issue(1, 1, 1, 4), issue(2, 4, 4, 6), issue(3, 9, 9, 10)]);
        assert_eq!(slices(&events, FIRST_BLOCK, 2), [(0, 9), (9, 1)]);
        assert_eq!(slices(&events, FIRST_BLOCK, 3), [(1, 3), (4, 2)]);
        assert_eq!(slices(&events, SM, 1), [(0, 1), (4, 1)]);
        assert_eq!(slices(&events, SM, 2), [(1, 1), (9, 1)]);
        assert!(events.iter().any(|e| e["name"] == "add \"3\"\t"));
    }

    #[test]
    fn what_a_warp_does_fills_its_time() {
        let events = trace(&[issue(0, 0, 0, 9), issue(1, 1, 1, 4), issue(2, 4, 4, 6), issue(3, 9, 9, 10)]);
        // issues in cycles 0 and 1, in 4, and in 9; the last run has not been written
        assert_eq!(slices(&events, FIRST_BLOCK, 1), [(0, 2), (2, 2), (4, 1), (5, 4)]);
        let to_issue = events.iter().filter_map(|e| e["args"].get("to issue"));
        assert_eq!(to_issue.collect::<Vec<_>>(), ["add \"2\"\t", "add \"3\"\t"]);
    }

    #[test]
    fn counters_of_units_change_when_their_load_does() {
        // all go to one unit: two wait while the first is served, one of them longer
        let events = trace(&[issue(0, 0, 0, 5), issue(2, 0, 1, 6), issue(2, 0, 2, 7), issue(0, 2, 3, 9)]);
        let loads = events.iter().filter(|e| e["ph"] == "C").map(|e| {
            assert_eq!((&e["name"], &e["pid"]), (&Value::from("unit alu"), &Value::from(SM)));
            let [at, busy, waiting] = [&e["ts"], &e["args"]["busy"], &e["args"]["waiting"]];
            [at, busy, waiting].map(|n| n.as_u64().unwrap())
        });
        assert_eq!(loads.collect::<Vec<_>>(), [[0, 1, 2], [1, 1, 1], [3, 1, 0], [4, 0, 0]]);
    }
}
