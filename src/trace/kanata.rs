//! Traces for the Konata pipeline viewer: Kanata log, version 0004.
//!
//! One row per instruction with the stages `Q` (issued, waits for its unit), `X` (its initiation
//! occupies the unit) and `L` (the pipelined latency). The format wants its commands in the order
//! of time and an instruction's stages lie ahead of its issue, so what is still to come is kept;
//! that is as much as is in flight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use super::{Issue, Observer};
use crate::base::{Cycle, Pc};

/// Writes a Kanata log.
pub struct KanataTrace<'a> {
    out: &'a mut dyn Write,
    name: &'a dyn Fn(Pc) -> String,
    /// What happens to which instruction later; by cycle, then instruction, then kind.
    ahead: BinaryHeap<Reverse<(Cycle, u64, Change)>>,
    now: Cycle,
    instructions: u64,
    retired: u64,
    written: io::Result<()>,
}

/// A change of stage. The order is that in one cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Initiate,
    Initiated,
    Retire,
}

impl<'a> KanataTrace<'a> {
    /// Writes to `out`, best a buffered one; `name` is what an instruction is called.
    pub fn new(out: &'a mut dyn Write, name: &'a dyn Fn(Pc) -> String) -> Self {
        let written = out.write_all(b"Kanata\t0004\nC=\t0\n");
        Self { out, name, ahead: BinaryHeap::new(), now: Cycle::ZERO, instructions: 0, retired: 0, written }
    }

    /// Writes what was still to come, and flushes.
    ///
    /// # Errors
    /// The first write that failed, whenever that was.
    pub fn finish(mut self) -> io::Result<()> {
        self.advance(Cycle::NEVER);
        self.written?;
        self.out.flush()
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        if self.written.is_ok() {
            self.written = writeln!(self.out, "{text}");
        }
    }

    fn move_to(&mut self, cycle: Cycle) {
        if cycle > self.now {
            let cycles = cycle - self.now;
            self.line(format_args!("C\t{cycles}"));
            self.now = cycle;
        }
    }

    /// Writes everything that happens up to and including `cycle`.
    fn advance(&mut self, cycle: Cycle) {
        while let Some(&Reverse((at, id, change))) = self.ahead.peek() {
            if at > cycle {
                break;
            }
            self.ahead.pop();
            self.move_to(at);
            match change {
                Change::Initiate => self.line(format_args!("S\t{id}\t0\tX")),
                Change::Initiated => self.line(format_args!("S\t{id}\t0\tL")),
                Change::Retire => {
                    let retired = self.retired;
                    self.line(format_args!("R\t{id}\t{retired}\t0"));
                    self.retired += 1;
                }
            }
        }
    }
}

impl Observer for KanataTrace<'_> {
    fn issued(&mut self, issue: &Issue) {
        self.advance(issue.issue);
        self.move_to(issue.issue);
        let id = self.instructions;
        self.instructions += 1;
        let (block, warp, index) = (issue.block.get(), issue.warp.get(), issue.index);
        // tabs and line ends are syntax
        let name: String = (self.name)(issue.step.pc()).replace(['\t', '\n', '\r'], " ");
        self.line(format_args!("I\t{id}\t{index}\t{}", issue.slot));
        self.line(format_args!("L\t{id}\t0\tb{block} w{warp} {}: {name}", issue.step.pc()));
        self.line(format_args!("L\t{id}\t1\tblock {block} warp {warp} index {index} unit {}", issue.unit));
        if issue.start > issue.issue {
            self.line(format_args!("S\t{id}\t0\tQ"));
            self.ahead.push(Reverse((issue.start, id, Change::Initiate)));
        } else {
            self.line(format_args!("S\t{id}\t0\tX"));
        }
        if issue.done > issue.init_end {
            self.ahead.push(Reverse((issue.init_end, id, Change::Initiated)));
        }
        self.ahead.push(Reverse((issue.done, id, Change::Retire)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::perfetto::tests::issue;

    #[test]
    fn commands_are_in_the_order_of_time() {
        let mut out = Vec::new();
        let name = |pc: Pc| format!("op{}\tx", pc.get());
        let mut kanata = KanataTrace::new(&mut out, &name);
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
                "C\t1",
                "R\t0\t0\t0",
                "I\t1\t1\t0",
                "S\t1\t0\tQ",
                "C\t2",
                "S\t1\t0\tX",
                "C\t1",
                "S\t1\t0\tL",
                "C\t4",
                "R\t1\t1\t0"
            ]
        );
        assert!(text.contains("L\t1\t0\tb0 w0 @1: op1 x\n"), "{text}");
    }
}
