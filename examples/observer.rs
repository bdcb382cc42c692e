//! A user-defined observer. It draws when each warp's instructions were initiated, and counts the
//! reasons why issue slots stayed empty.
//!
//!     cargo run --example observer

use std::collections::BTreeMap;

use warpbound::base::Cycles;
use warpbound::diag::{Diagnostic, Diagnostics, SourceText};
use warpbound::machine::{Machine, MachineSpec};
use warpbound::micro::MicroKernel;
use warpbound::program::TimingTable;
use warpbound::sim::{Engine, PaperMachine, PolicySetup};
use warpbound::trace::{Event, Issue, Needs, Observer, StallReason};

const MACHINE: &str = r#"Machine(
    name: "example",
    units: { "alu": Unit(init: 1, lat: 3), "load": Unit(init: 2, lat: 12) },
    ops: { "alu": "alu", "load": "load" },
)"#;

const KERNEL: &str = "
.warps 3
    load x
    load y
    alu  z, x, y
    bar
    alu  z, z
    load _, z
";

/// One row of characters per warp, one character per cycle.
struct Chart<'m> {
    machine: &'m Machine,
    rows: BTreeMap<usize, String>,
    idle: BTreeMap<&'static str, Cycles>,
}

impl<'m> Chart<'m> {
    fn new(machine: &'m Machine) -> Self {
        Self { machine, rows: BTreeMap::new(), idle: BTreeMap::new() }
    }

    fn draw(&mut self, slot: usize, cycle: u64, mark: char) {
        let row = self.rows.entry(slot).or_default();
        let column = usize::try_from(cycle).expect("a short run");
        row.extend(std::iter::repeat_n(' ', (column + 1).saturating_sub(row.len())));
        row.replace_range(column..=column, mark.encode_utf8(&mut [0; 4]));
    }

    fn initiated(&mut self, issue: &Issue) {
        // `.` from issue to the start on the unit, then the unit's first letter while it initiates
        let unit = &self.machine.units()[issue.unit.index()];
        let mark = unit.name.chars().next().unwrap_or('?');
        for cycle in issue.issue.get()..issue.start.get() {
            self.draw(issue.slot, cycle, '.');
        }
        for cycle in issue.start.get()..issue.init_end.get() {
            self.draw(issue.slot, cycle, mark);
        }
    }
}

impl Observer for Chart<'_> {
    fn needs(&self) -> Needs {
        Needs::EVENTS
    }

    fn on(&mut self, event: &Event) {
        match event {
            Event::Issued(issue) => self.initiated(issue),
            Event::Idled(idle) => *self.idle.entry(idle.reason.name()).or_default() += idle.cycles(),
            _ => {}
        }
    }
}

fn main() -> Result<(), Diagnostics> {
    let source = SourceText::new("machine.ron", MACHINE);
    let machine = Machine::new(&MachineSpec::parse(&source)?, &source)?;
    let kernel = MicroKernel::parse("example", &SourceText::new("kernel.warp", KERNEL))?;
    let table = TimingTable::new(&kernel.program, &machine)?;
    let mut engine = Engine::new(&table, PaperMachine::of(&machine)?);
    for policy in [PolicySetup::Gto, PolicySetup::Srr] {
        let mut chart = Chart::new(&machine);
        let run = engine
            .run_block(&kernel.paths(0), &policy, &mut chart)
            .map_err(|error| Diagnostic::general(policy.to_string(), error.to_string()))?;
        println!("{policy}: {} cycles, {} issues", run.makespan, run.issues);
        for (slot, row) in &chart.rows {
            println!("  w{slot}  {row}");
        }
        for reason in StallReason::ALL {
            if let Some(cycles) = chart.idle.get(reason.name()) {
                println!("  {:12} {cycles:>3} cycles", reason.name());
            }
        }
    }
    Ok(())
}
