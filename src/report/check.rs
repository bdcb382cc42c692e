//! A kernel under one policy, judged.

use std::fmt::Write;

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::count;
use super::output::Origin;
use super::program::Launches;
use super::style::Style;
use super::table::Table;
use super::verdict::{self, Bound, Status};
use crate::check::{Application, ApplicationChecked, BoundRow, Checked};
use crate::exec::races::{self, AccessKind};
use crate::machine::Machine;

/// Rows of a warp or block table before it is cut.
const MAX_ROWS: usize = 16;

/// A kernel or application under one policy.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CheckResult<'a> {
    /// The kernel or application.
    pub kernel: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The policy.
    pub scheduler: String,
    /// Cycles of the launch; of blocks and launches one after the other, the sum.
    pub makespan: u64,
    /// Every executed instruction, `ret` included, once per warp that executed it.
    pub warp_instructions: u64,
    /// Active, not predicated-off lanes over all instructions.
    pub thread_instructions: u64,
    /// Over the gating bounds.
    pub verdict: Status,
    /// Every bound over the whole run.
    pub bounds: Vec<Bound>,
    /// Each warp, of a launch of one block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warps: Vec<Warp>,
    /// Each block that came to its end, of a launch of several.
    #[serde(skip_serializing_if = "Blocks::are_none")]
    #[cfg_attr(test, schemars(with = "Vec<Block>"))]
    pub blocks: Blocks<'a>,
    /// Whether every block was simulated to its end; if not, this is about the run up to there.
    pub complete: bool,
    /// Blocks of the launch, if not all of them were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_blocks: Option<u32>,
    /// Warps on which analyser and simulator were compared alone, event by event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_checked_warps: Option<u64>,
    /// Of an application: what launches its kernels, and each launch.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub program: Option<Launches<'a>>,
    /// What shows a violation again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_command: Option<String>,
    /// What a reader must know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Accesses whose order shows; no bound is judged then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub races: Vec<Race>,
    /// Why such accesses were not looked for, if they were not: what is said is about the paths of one order of accesses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub races_not_looked_for: Option<String>,
}

/// A warp. Times are cycles.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warp {
    /// Its number in the block.
    pub warp: u16,
    /// When its last instruction was complete.
    pub finish: u64,
    /// Its time alone, summed over sections.
    pub isolated: u64,
    /// Time in exec phases, summed over sections.
    pub exec: u64,
    /// Time in idle phases, summed over sections.
    pub idle: u64,
}

/// A block of several.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Block {
    /// Its number in the grid, x fastest.
    pub block: u64,
    /// Cycles from its start to its end.
    pub makespan: u64,
    /// Those that are about blocks.
    pub bounds: Vec<Bound>,
}

/// The blocks of a launch: made one by one when they are written, since a grid can have millions. A program has
/// launches instead.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a>(Option<&'a Checked>);

impl Blocks<'_> {
    /// Of a launch of one block there is nothing to say besides the whole.
    fn are_none(&self) -> bool {
        self.0.is_none_or(|checked| checked.launch_blocks <= 1 || checked.blocks.is_empty())
    }

    /// Those that came to their end.
    fn len(&self) -> usize {
        self.0.map_or(0, |checked| checked.blocks.len())
    }

    /// Each bound of the run, if it is about blocks.
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

/// Two accesses to the same bytes without an order between them.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Race {
    /// `shared` or `global`.
    pub space: &'static str,
    /// Where in it.
    pub address: u64,
    /// What lies there.
    pub place: String,
    /// The access that the functional run did first.
    pub first: RaceParty,
    /// The other one.
    pub second: RaceParty,
}

/// One side of a race.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RaceParty {
    /// Block in launch order; null for one of the blocks before the other's.
    pub block: Option<u32>,
    /// Warp of the block.
    pub warp: usize,
    /// Whether other warps did the same.
    pub others: bool,
    /// Line in the source.
    pub line: u32,
    /// `load`, `store`, `atomic` or `async-copy`.
    pub access: &'static str,
}

impl<'a> CheckResult<'a> {
    /// A judged run.
    pub fn new(kernel: &str, machine: &Machine, checked: &'a Checked) -> Self {
        Self {
            kernel: kernel.to_owned(),
            origin: Origin::new(machine),
            scheduler: checked.scheduler.clone(),
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

    /// A judged application: its totals have the shape of a kernel's.
    pub fn of_application(
        name: &str,
        application: &'a Application,
        machine: &Machine,
        checked: &'a ApplicationChecked,
    ) -> Self {
        Self {
            blocks: Blocks(None),
            program: Some(Launches::new(application, checked)),
            ..Self::new(name, machine, &checked.total)
        }
    }

    /// Blocks that came to their end.
    pub fn blocks_done(&self) -> usize {
        self.blocks.len()
    }

    /// Everything, for people.
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
            self.scheduler,
            self.outcome(style)
        );
        text.push_str(&style.fill(&heading));
        text.push('\n');
        text.push_str(&verdict::table(&self.bounds, "over", style));
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

    /// Makespan and verdict, or how far a run came that was ended early.
    fn outcome(&self, style: Style) -> String {
        let (makespan, verdict) = (self.makespan, self.verdict.text(style));
        match (self.launch_blocks, self.blocks_done()) {
            _ if self.complete || self.program.is_some() => format!("makespan {makespan} cycles, {verdict}"),
            (all, 0) => format!("INCOMPLETE, no block of {} came to its end", all.unwrap_or(0)),
            (all, done) => format!(
                "INCOMPLETE, {done} of {} blocks in {makespan} cycles, {verdict} so far",
                all.unwrap_or(0)
            ),
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

/// Says how many rows a table does not show.
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

/// That analyser and simulator were compared.
pub(super) fn self_check(warps: u64) -> String {
    format!("self-check: {warps} warps alone, analyser and simulator agree on every event\n")
}
