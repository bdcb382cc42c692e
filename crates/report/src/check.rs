//! The report of a kernel under one policy, with its verdicts.

use std::fmt::Write;

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::count;
use super::output::Origin;
use super::program::Launches;
use super::style::Style;
use super::table::Table;
use super::verdict::{self, Bound, Status};
use warpbound_core::machine::Machine;
use warpbound_exec::races::{self, AccessKind};
use warpbound_judge::check::{Application, BoundRow, JudgedApplication, JudgedLaunch};

/// The most rows of a table of warps or blocks.
const MAX_ROWS: usize = 16;

/// A run of a kernel or application under one policy, with its verdicts.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckResult<'a> {
    /// The name of the kernel or application.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The policy.
    pub policy: String,
    /// Cycles of the launch; the sum over blocks or launches that run one after the other.
    pub makespan: u64,
    /// Every executed instruction, including `ret`, counted once per warp that executed it.
    pub warp_instructions: u64,
    /// Lanes that were active and not predicated off, summed over all executed instructions.
    pub thread_instructions: u64,
    /// The verdict over all gating bounds.
    pub verdict: Status,
    /// Every bound on the whole run.
    pub bounds: Vec<Bound>,
    /// Each warp, for a launch of one block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warps: Vec<Warp>,
    /// Each block that completed, for a launch of several.
    #[serde(skip_serializing_if = "Blocks::are_none")]
    #[cfg_attr(test, schemars(with = "Vec<Block>"))]
    pub blocks: Blocks<'a>,
    /// Whether every block was simulated to its end; if not, the report covers only the simulated
    /// part of the run.
    pub complete: bool,
    /// The number of blocks of the launch, if not all of them were simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_blocks: Option<u32>,
    /// The number of warps on which the analyser and the simulator were compared event by event.
    /// Each of them ran alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_checked_warps: Option<u64>,
    /// The launches of an application, in total and one by one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub program: Option<Launches<'a>>,
    /// A command that reproduces a violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_command: Option<String>,
    /// Remarks on the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Memory races, that is, accesses whose order affects the result; if there are any, no bound
    /// is judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<Race>,
    /// Why the run did not look for races; absent if it did. If it did not, the report holds only
    /// for the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

/// A warp. Times are in cycles.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warp {
    /// The index of the warp in its block.
    pub warp: u16,
    /// The cycle at which its last instruction completed.
    pub finish: u64,
    /// Its time when it runs alone, summed over sections.
    pub isolated: u64,
    /// Its time in exec phases when it runs alone, summed over sections.
    pub exec: u64,
    /// Its time in idle phases when it runs alone, summed over sections.
    pub idle: u64,
}

/// One of several blocks.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Block {
    /// The index of the block in the grid, x fastest.
    pub block: u64,
    /// Cycles from its start to its end.
    pub makespan: u64,
    /// The bounds that apply to single blocks.
    pub bounds: Vec<Bound>,
}

/// The blocks of a launch. They are serialized one by one, because a grid can have millions of
/// blocks. A program has launches instead.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a>(Option<&'a JudgedLaunch>);

impl Blocks<'_> {
    /// Returns whether the list is left out: a launch of one block is described by its totals.
    fn are_none(&self) -> bool {
        self.0.is_none_or(|checked| checked.launch_blocks <= 1 || checked.blocks.is_empty())
    }

    /// Returns the number of blocks that completed.
    fn len(&self) -> usize {
        self.0.map_or(0, |checked| checked.blocks.len())
    }

    /// Returns each bound of the run, or `None` in place of one that does not apply to blocks.
    fn bounds(&self) -> impl Iterator<Item = Option<&BoundRow>> {
        let rows = self.0.map_or(&[][..], |checked| &checked.bounds);
        rows.iter().map(|row| Some(row).filter(|row| !row.left_out && row.of_blocks))
    }

    fn iter(&self) -> impl Iterator<Item = Block> + '_ {
        let blocks = self.0.into_iter().flat_map(|checked| checked.blocks.iter());
        blocks.map(|(index, makespan, values)| Block {
            block: index as u64,
            makespan: makespan.get(),
            bounds: self
                .bounds()
                .zip(values)
                .filter_map(|(row, value)| Some(Bound::of_part(row?, value, makespan)))
                .collect(),
        })
    }
}

impl Serialize for Blocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        self.iter().try_for_each(|block| list.serialize_element(&block))?;
        list.end()
    }
}

/// Two unordered accesses to the same bytes.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Race {
    /// The state space, `shared` or `global`.
    pub space: &'static str,
    /// The address in this space.
    pub address: u64,
    /// The buffer or variable at this address.
    pub place: String,
    /// The access that came first in the functional run.
    pub first: RaceParty,
    /// The other access.
    pub second: RaceParty,
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RaceParty {
    /// Index of the block in launch order; null if it is not known which of the earlier blocks made
    /// the access.
    pub block: Option<u32>,
    /// Index of the warp in its block.
    pub warp: usize,
    /// Whether other warps made the same access.
    pub others: bool,
    /// Line in the source.
    pub line: u32,
    /// The kind of access: `load`, `store`, `atomic` or `async-copy`.
    pub access: &'static str,
}

impl<'a> CheckResult<'a> {
    /// Returns the report of a judged run.
    pub fn new(kernel: &str, machine: &Machine, checked: &'a JudgedLaunch) -> Self {
        Self {
            kernel: kernel.to_owned(),
            origin: Origin::new(machine),
            policy: checked.policy.clone(),
            makespan: checked.makespan.get(),
            warp_instructions: checked.warp_instructions,
            thread_instructions: checked.thread_instructions,
            verdict: Status::of(&checked.verdict()),
            bounds: checked.judged().map(|row| Bound::of_run(row, checked.makespan)).collect(),
            warps: checked
                .warps
                .iter()
                .map(|row| Warp {
                    warp: row.warp.get(),
                    finish: row.finish.get(),
                    isolated: row.isolated.get(),
                    exec: row.exec.get(),
                    idle: row.idle.get(),
                })
                .collect(),
            blocks: Blocks(Some(checked)),
            complete: checked.is_complete(),
            launch_blocks: (!checked.is_complete()).then_some(checked.launch_blocks),
            self_checked_warps: (checked.self_checked_warps > 0).then_some(checked.self_checked_warps),
            program: None,
            replay_command: None,
            notes: checked.notes.clone(),
            races: checked.races.iter().map(Race::new).collect(),
            races_not_looked_for: checked.races_not_looked_for.clone(),
        }
    }

    /// Returns the report of a judged application; its totals have the form of a kernel's.
    pub fn of_application(
        name: &str,
        application: &'a Application,
        machine: &Machine,
        checked: &'a JudgedApplication,
    ) -> Self {
        Self {
            blocks: Blocks(None),
            program: Some(Launches::new(application, checked)),
            ..Self::new(name, machine, &checked.total)
        }
    }

    /// Returns the number of blocks that completed.
    pub fn blocks_done(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the whole report as text for people.
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let name = match &self.program {
            None => self.kernel.clone(),
            Some(program) => format!("{} ({})", self.kernel, program.count_text(self.complete)),
        };
        let heading = format!(
            "{} on {} under {}: {}\n",
            style.strong(&name),
            self.origin.machine,
            self.policy,
            self.outcome(style)
        );
        text.push_str(&style.fill(&heading));
        text.push('\n');
        text.push_str(&verdict::table(&self.bounds, style));
        if !self.warps.is_empty() {
            text.push('\n');
            text.push_str(&self.warps_text(style));
        }
        if self.blocks.len() > 1 {
            text.push('\n');
            text.push_str(&self.blocks_text(style));
        }
        if let Some(warps) = self.self_checked_warps {
            text.push('\n');
            text.push_str(&self_check(warps));
        }
        for note in &self.notes {
            text.push_str(&style.fill(&format!("\nnote: {note}\n")));
        }
        if let Some(program) = &self.program {
            text.push('\n');
            text.push_str(&program.text((&self.bounds, self.verdict), style));
        }
        text
    }

    /// Returns makespan and verdict, or the progress of a run that was stopped early.
    fn outcome(&self, style: Style) -> String {
        let (makespan, verdict) = (self.origin.cycles_text(self.makespan), self.verdict.text(style));
        match (self.launch_blocks, self.blocks_done()) {
            _ if self.complete || self.program.is_some() => format!("makespan {makespan}, {verdict}"),
            (all, 0) => format!("INCOMPLETE, none of {} blocks completed", all.unwrap_or(0)),
            (all, done) => {
                format!("INCOMPLETE, {done} of {} blocks in {makespan}, {verdict} so far", all.unwrap_or(0))
            }
        }
    }

    fn warps_text(&self, style: Style) -> String {
        let mut table = Table::new(["warp", "finish", "isolated", "exec", "idle"], &[0]);
        for row in self.warps.iter().take(MAX_ROWS) {
            let numbers = [row.finish, row.isolated, row.exec, row.idle].map(|n| n.to_string());
            table.row(std::iter::once(format!("w{}", row.warp)).chain(numbers));
        }
        let mut text = table.render(2, style.width);
        more(&mut text, self.warps.len(), "warp");
        text
    }

    fn blocks_text(&self, style: Style) -> String {
        let names = self.blocks.bounds().flatten().map(|row| row.name);
        let mut table = Table::new(["block", "makespan"].into_iter().chain(names), &[0]);
        for block in self.blocks.iter().take(MAX_ROWS) {
            let start = [format!("b{}", block.block), block.makespan.to_string()];
            table.row(start.into_iter().chain(block.bounds.iter().map(Bound::value_text)));
        }
        let mut text = table.render(2, style.width);
        more(&mut text, self.blocks.len(), "block");
        text
    }
}

/// Appends the number of rows that a table does not show.
fn more(text: &mut String, rows: usize, of: &str) {
    if rows > MAX_ROWS {
        let _ = writeln!(
            text,
            "  ... and {} (--format json lists all)",
            count(rows - MAX_ROWS, &format!("more {of}"))
        );
    }
}

impl Race {
    fn new(race: &races::Race) -> Self {
        let party = |party: &races::Party| RaceParty {
            block: party.block,
            warp: party.warp,
            others: party.others,
            line: party.line,
            access: match party.access {
                AccessKind::Load => "load",
                AccessKind::Store => "store",
                AccessKind::Atomic => "atomic",
                AccessKind::AsyncCopy => "async-copy",
            },
        };
        Self {
            space: race.space.name(),
            address: race.address,
            place: race.place.clone(),
            first: party(&race.first),
            second: party(&race.second),
        }
    }
}

/// Returns the line that reports the comparison of analyser and simulator.
pub(super) fn self_check(warps: u64) -> String {
    format!("self-check: {warps} warps alone, analyser and simulator agree on every event\n")
}
