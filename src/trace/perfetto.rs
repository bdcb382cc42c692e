//! Traces for Perfetto and `chrome://tracing`: JSON trace events, streamed.
//!
//! One process per block with one track per warp, on which an instruction lasts from issue to
//! done, and one process for the SM with one track per unit (with several sub-cores, per instance
//! of a unit), on which it lasts as long as it occupies the unit. Instructions of a warp overlap, and slices of a track must not: an
//! instruction that issues while earlier ones are in flight goes to the first free lane below its
//! warp's track. One cycle is shown as one microsecond.

use std::io::{self, Write};

use serde_json::Value;

use super::{BlockStart, Issue, Observer, UnitInstances};
use crate::base::{Cycle, Pc};

/// Lanes a warp's track may have; beyond that instructions share the last one.
const MAX_LANES: usize = 1000;

/// Writes a trace as JSON trace events.
pub struct PerfettoTrace<'a> {
    out: &'a mut dyn Write,
    name: &'a dyn Fn(Pc) -> String,
    units: UnitInstances,
    /// By slot: until when each lane of the warp is taken.
    lanes: Vec<Vec<Cycle>>,
    written: io::Result<()>,
    first: bool,
}

impl<'a> PerfettoTrace<'a> {
    /// Writes to `out`, best a buffered one. `units` are those of the machine, `name` is what an
    /// instruction is called.
    pub fn new(out: &'a mut dyn Write, units: UnitInstances, name: &'a dyn Fn(Pc) -> String) -> Self {
        let written = out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        let names: Vec<String> = units.names().iter().map(|unit| format!("unit {unit}")).collect();
        let mut trace = Self { out, name, units, lanes: Vec::new(), written, first: true };
        trace.label(0, None, "SM");
        for (index, name) in names.iter().enumerate() {
            trace.label(0, Some(index + 1), name);
        }
        trace
    }

    /// Closes the JSON and flushes.
    ///
    /// # Errors
    /// The first write that failed, whenever that was.
    pub fn finish(self) -> io::Result<()> {
        self.written?;
        self.out.write_all(b"\n]}\n")?;
        self.out.flush()
    }

    fn event(&mut self, text: std::fmt::Arguments<'_>) {
        if self.written.is_ok() {
            let separator = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
            self.written = write!(self.out, "{separator}{text}");
        }
    }

    /// Names a process, or a thread of it.
    fn label(&mut self, pid: u64, tid: Option<usize>, name: &str) {
        let name = Value::from(name);
        match tid {
            None => self.event(format_args!(
                r#"{{"ph":"M","pid":{pid},"name":"process_name","args":{{"name":{name}}}}}"#
            )),
            Some(tid) => {
                self.event(format_args!(
                    r#"{{"ph":"M","pid":{pid},"tid":{tid},"name":"thread_name","args":{{"name":{name}}}}}"#
                ));
                self.event(format_args!(
                    r#"{{"ph":"M","pid":{pid},"tid":{tid},"name":"thread_sort_index","args":{{"sort_index":{tid}}}}}"#
                ));
            }
        }
    }

    /// The lane on which an instruction can be drawn, and whether it is a new one.
    fn lane(&mut self, issue: &Issue) -> (usize, bool) {
        if self.lanes.len() <= issue.slot {
            self.lanes.resize(issue.slot + 1, Vec::new());
        }
        let lanes = &mut self.lanes[issue.slot];
        let free = lanes.iter().position(|until| *until <= issue.issue);
        let (lane, new) = match free {
            Some(lane) => (lane, false),
            None if lanes.len() < MAX_LANES => {
                lanes.push(Cycle::ZERO);
                (lanes.len() - 1, true)
            }
            None => (MAX_LANES - 1, false),
        };
        lanes[lane] = issue.done;
        (lane, new)
    }
}

/// The process of a block; 0 is the SM.
fn process(issue_block: crate::base::BlockId) -> u64 {
    u64::from(issue_block.get()) + 1
}

fn thread(warp: usize, lane: usize) -> usize {
    warp * MAX_LANES + lane + 1
}

impl Observer for PerfettoTrace<'_> {
    fn block_started(&mut self, start: &BlockStart) {
        self.label(process(start.block), None, &format!("block {}", start.block.get()));
        for slot in start.first_slot..start.first_slot + start.warps {
            if let Some(lanes) = self.lanes.get_mut(slot) {
                lanes.clear();
            }
        }
    }

    fn issued(&mut self, issue: &Issue) {
        let (lane, new) = self.lane(issue);
        let (pid, tid) = (process(issue.block), thread(issue.warp.index(), lane));
        if new {
            let name = match lane {
                0 => format!("warp {}", issue.warp.get()),
                _ => format!("warp {} +{lane}", issue.warp.get()),
            };
            self.label(pid, Some(tid), &name);
        }
        let name = Value::from((self.name)(issue.step.pc()));
        let (pc, index) = (issue.step.pc().get(), issue.index);
        self.event(format_args!(
            r#"{{"ph":"X","pid":{pid},"tid":{tid},"ts":{},"dur":{},"name":{name},"args":{{"pc":{pc},"index":{index},"start":{}}}}}"#,
            issue.issue, issue.done - issue.issue, issue.start
        ));
        self.event(format_args!(
            r#"{{"ph":"X","pid":0,"tid":{},"ts":{},"dur":{},"name":{name},"args":{{"block":{},"warp":{},"pc":{pc},"index":{index}}}}}"#,
            self.units.of(issue) + 1,
            issue.start,
            issue.init_end - issue.start,
            issue.block.get(),
            issue.warp.get()
        ));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::base::{BlockId, UnitId, WarpId};
    use crate::path::Step;

    /// An issue of warp 0 on a unit with init 1; the pc is the index, the unit its parity.
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
        let name = |pc: Pc| format!("add \"{}\"\t", pc.get());
        let mut trace = PerfettoTrace::new(&mut out, UnitInstances::one_each(["alu", "mem"]), &name);
        issues.iter().for_each(|issue| trace.issued(issue));
        trace.finish().unwrap();
        let json: Value = serde_json::from_slice(&out).unwrap();
        json["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn no_events_are_valid_json_too() {
        assert!(trace(&[]).iter().all(|event| event["ph"] == "M"));
        let mut out = Vec::new();
        PerfettoTrace::new(&mut out, UnitInstances::default(), &|_| String::new()).finish().unwrap();
        assert!(serde_json::from_slice::<Value>(&out).is_ok());
    }

    #[test]
    fn overlapping_instructions_get_lanes_of_their_own() {
        let events = trace(&[issue(0, 0, 0, 9), issue(1, 1, 1, 4), issue(2, 4, 4, 6), issue(3, 9, 9, 10)]);
        let slices = |pid: u64| {
            let of = events.iter().filter(move |e| e["ph"] == "X" && e["pid"] == pid);
            of.map(|e| (e["tid"].as_u64().unwrap(), e["ts"].as_u64().unwrap(), e["dur"].as_u64().unwrap()))
                .collect::<Vec<_>>()
        };
        assert_eq!(slices(1), [(1, 0, 9), (2, 1, 3), (2, 4, 2), (1, 9, 1)]);
        assert_eq!(slices(0), [(1, 0, 1), (2, 1, 1), (1, 4, 1), (2, 9, 1)]);
        assert!(events.iter().any(|e| e["name"] == "add \"3\"\t"));
    }
}
