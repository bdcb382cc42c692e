//! Traces for the Konata pipeline viewer, in the format Kanata log, version 0004.
//!
//! There is one row per instruction. Its lane 0 has the stages `Q` (issued, waits for its unit),
//! `X` (its initiation occupies the unit) and `L` (its result is in flight: the pipelined latency,
//! or memory). Its lane 1, which the viewer shows over the first lane or below it, has one stage,
//! which lasts as long as `X`. The name of this stage is that of the unit or, with several
//! sub-cores, that of its instance. The label names the unit too.
//!
//! The format requires its commands in the order of time. As an instruction's stages follow its
//! issue, the stages that are still to come are kept; their number is bounded by the instructions
//! in flight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use super::{Event, Issue, Listing, Needs, Observer, UnitInstances};
use warpbound_core::base::Cycle;
use warpbound_core::diag::is_active;

/// Writes a Kanata log.
pub struct KanataTrace<'a> {
    out: Lines<'a>,
    units: UnitInstances,
    /// The names of the instances, without characters that the format does not allow.
    stages: Vec<String>,
    listing: &'a Listing,
    /// The later changes of stage, ordered by cycle, then instruction, then kind. The last
    /// component is the index of the instance of the unit.
    ahead: BinaryHeap<Reverse<(Cycle, u64, Change, usize)>>,
    now: Cycle,
    instructions: u64,
    retired: u64,
}

/// A change of stage. The variants are in the order of changes within one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Initiate,
    Initiated {
        /// Whether the result is available only later.
        latency: bool,
    },
    Retire,
}

impl<'a> KanataTrace<'a> {
    /// Creates a trace that writes to `out`, which should be buffered. `units` are those of the
    /// machine, and `listing` is that of the program.
    pub fn new(out: &'a mut dyn Write, units: UnitInstances, listing: &'a Listing) -> Self {
        let written = out.write_all(b"Kanata\t0004\nC=\t0\n");
        Self {
            out: Lines { out, written },
            stages: units.names().iter().map(|name| plain(name)).collect(),
            units,
            listing,
            ahead: BinaryHeap::new(),
            now: Cycle::ZERO,
            instructions: 0,
            retired: 0,
        }
    }

    /// Writes the remaining changes, and flushes the output.
    ///
    /// # Errors
    /// Returns the first write error, whenever it occurred.
    #[inline]
    pub fn finish(mut self) -> io::Result<()> {
        self.advance(Cycle::NEVER);
        self.out.written?;
        self.out.out.flush()
    }

    fn move_to(&mut self, cycle: Cycle) {
        if cycle > self.now {
            self.out.line(format_args!("C\t{}", cycle - self.now));
            self.now = cycle;
        }
    }

    /// Writes all changes up to and including `cycle`.
    fn advance(&mut self, cycle: Cycle) {
        while let Some(&Reverse((at, id, change, instance))) = self.ahead.peek() {
            if at > cycle {
                break;
            }
            self.ahead.pop();
            self.move_to(at);
            match change {
                Change::Initiate => self.initiate(id, instance),
                Change::Initiated { latency } => {
                    self.out.line(format_args!("E\t{id}\t1\t{}", stage(&self.stages, instance)));
                    if latency {
                        self.out.line(format_args!("S\t{id}\t0\tL"));
                    }
                }
                Change::Retire => {
                    self.out.line(format_args!("R\t{id}\t{}\t0", self.retired));
                    self.retired += 1;
                }
            }
        }
    }

    fn initiate(&mut self, id: u64, instance: usize) {
        self.out.line(format_args!("S\t{id}\t0\tX"));
        self.out.line(format_args!("S\t{id}\t1\t{}", stage(&self.stages, instance)));
    }
}

/// An output of lines, until a write fails.
struct Lines<'a> {
    out: &'a mut dyn Write,
    written: io::Result<()>,
}

impl Lines<'_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        if self.written.is_ok() {
            self.written = writeln!(self.out, "{text}");
        }
    }
}

fn stage(stages: &[String], instance: usize) -> &str {
    stages.get(instance).map_or("?", String::as_str)
}

/// Replaces the characters that are syntax of the format: tabs and line ends.
fn plain(text: &str) -> String {
    let taken = |c: char| is_active(c) || matches!(c, '\t' | '\n');
    text.replace(taken, " ")
}

impl Observer for KanataTrace<'_> {
    fn needs(&self) -> Needs {
        Needs::IN_ORDER
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Issued(issue) => self.issued(issue),
            Event::Sm(_)
            | Event::BlockStarted(_)
            | Event::Idled(_)
            | Event::BarrierReleased(_)
            | Event::WarpFinished(_)
            | Event::BlockEnded { .. }
            | Event::Sampled(_) => {}
        }
    }
}

impl KanataTrace<'_> {
    fn issued(&mut self, issue: &Issue) {
        self.advance(issue.issue);
        self.move_to(issue.issue);
        let id = self.instructions;
        self.instructions += 1;
        let (block, warp, index, pc) = (issue.block.get(), issue.warp.get(), issue.index, issue.step.pc());
        let (text, line) = (plain(self.listing.text(pc)), self.listing.line(pc));
        let instance = self.units.of(issue);
        let unit = stage(&self.stages, instance);
        self.out.line(format_args!("I\t{id}\t{index}\t{}", issue.slot));
        self.out.line(format_args!("L\t{id}\t0\tb{block} w{warp} {pc} {unit}: {text}"));
        self.out.line(format_args!(
            "L\t{id}\t1\tblock {block} warp {warp} index {index} line {line} unit {unit}: issued {}, started {}, \
             unit free {}, result {}",
            issue.issue, issue.start, issue.init_end, issue.done
        ));
        if issue.start > issue.issue {
            self.out.line(format_args!("S\t{id}\t0\tQ"));
            self.ahead.push(Reverse((issue.start, id, Change::Initiate, instance)));
        } else {
            self.initiate(id, instance);
        }
        let latency = issue.done > issue.init_end;
        let initiated = issue.init_end.min(issue.done);
        self.ahead.push(Reverse((initiated, id, Change::Initiated { latency }, instance)));
        self.ahead.push(Reverse((issue.done, id, Change::Retire, instance)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::perfetto::tests::issue;

    #[test]
    fn commands_are_in_the_order_of_time() {
        let mut out = Vec::new();
        let listing = Listing::new([(1, "op0\tx".to_owned()), (2, "op1\tx".to_owned())]);
        let mut kanata = KanataTrace::new(&mut out, UnitInstances::one_each(["a", "b\tc"]), &listing);
        kanata.issued(&issue(0, 0, 0, 1));
        kanata.issued(&issue(1, 1, 3, 8));
        kanata.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        let commands: Vec<&str> = text.lines().filter(|line| !line.starts_with('L')).collect();
        assert_eq!(
            commands,
            [
                "Kanata\t0004",
                "C=\t0",
                "I\t0\t0\t0",
                "S\t0\t0\tX",
                "S\t0\t1\ta",
                "C\t1",
                "E\t0\t1\ta",
                "R\t0\t0\t0",
                "I\t1\t1\t0",
                "S\t1\t0\tQ",
                "C\t2",
                "S\t1\t0\tX",
                "S\t1\t1\tb c",
                "C\t1",
                "E\t1\t1\tb c",
                "S\t1\t0\tL",
                "C\t4",
                "R\t1\t1\t0"
            ]
        );
        assert!(text.contains("L\t1\t0\tb0 w0 @1 b c: op1 x\n"), "{text}");
    }
}
