//! Programs: totals, and the launches by statement.

use serde::Serialize;

use super::json;
use super::style::Style;
use super::table::Table;
use super::text;
use crate::base::Cycles;
use crate::check::{BlockTable, Checked, SequenceChecked, StatementRow, Status};
use crate::machine::Machine;
use crate::program::names;
use crate::program::sequence::{Action, Sequence};

/// What JSON says of a program besides its totals.
#[derive(Clone, Debug, Serialize)]
pub struct Launches {
    /// The `Launch` steps of the file that launched something, in its order.
    pub steps: Vec<Step>,
    /// Every launch.
    pub launches: Vec<LaunchResult>,
}

/// The launches of one step, taken together. Times are cycles.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct Step {
    pub line: u32,
    pub module: String,
    pub entry: String,
    pub launches: u64,
    pub makespan: u64,
    pub makespan_min: u64,
    pub makespan_max: u64,
    pub warp_instructions: u64,
    /// Sums; overestimation is that of the sums.
    pub bounds: Vec<json::Bound>,
}

/// A launch.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "self-explanatory")]
pub struct LaunchResult {
    pub launch: u64,
    /// The line of its step.
    pub line: u32,
    /// Counters of the loops around it.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub counters: serde_json::Map<String, serde_json::Value>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub makespan: u64,
    pub warp_instructions: u64,
    pub bounds: Vec<json::Bound>,
}

/// A program as `check` shows it: the totals have the shape of a kernel's.
pub fn json(
    name: &str,
    sequence: &Sequence,
    machine: &Machine,
    seed: u64,
    checked: &SequenceChecked,
) -> json::Check {
    let mut result = json::Check::new(name, machine, seed, &without_launches(checked));
    result.complete = checked.total.is_complete();
    let steps = checked.statements().iter().map(|row| step(sequence, checked, row)).collect();
    let actions = sequence.actions().filter_map(|action| match action {
        Ok(Action::Launch(launch)) => Some(launch),
        _ => None,
    });
    let rows = checked.launches.iter().zip(checked.total.blocks.iter());
    let launches = actions.zip(rows).map(|(action, (row, (_, makespan, values)))| {
        let number = |value: i128| match i64::try_from(value) {
            Ok(value) => value.into(),
            Err(_) => value.to_string().into(),
        };
        LaunchResult {
            launch: action.number,
            line: sequence.statements[action.statement].line,
            counters: action.counters.into_iter().map(|(name, value)| (name, number(value))).collect(),
            grid: action.launch.grid,
            block: action.launch.block,
            makespan: makespan.get(),
            warp_instructions: row.warp_instructions,
            bounds: bounds(
                &checked.total,
                makespan,
                values.map(|value| (value, Status::of(makespan, value))),
            ),
        }
    });
    result.program = Some(Launches { steps, launches: launches.collect() });
    result
}

fn step(sequence: &Sequence, checked: &SequenceChecked, row: &StatementRow) -> Step {
    let statement = &sequence.statements[row.statement];
    let kernel = &sequence.kernels[statement.kernel];
    Step {
        line: statement.line,
        module: sequence.modules[kernel.module].name.clone(),
        entry: kernel.program.name.clone(),
        launches: row.launches,
        makespan: row.sum.get(),
        makespan_min: row.least.get(),
        makespan_max: row.most.get(),
        warp_instructions: row.warp_instructions,
        bounds: bounds(&checked.total, row.sum, row.bounds.iter().copied()),
    }
}

fn bounds(
    total: &Checked,
    makespan: Cycles,
    values: impl Iterator<Item = (Option<Cycles>, Status)>,
) -> Vec<json::Bound> {
    let rows = total.bounds.iter().zip(values).filter(|(row, _)| !row.left_out);
    rows.map(|(row, (value, status))| json::bound(row, value, status, makespan)).collect()
}

/// The totals alone.
fn without_launches(checked: &SequenceChecked) -> Checked {
    let blocks = BlockTable::new(checked.total.bounds.len());
    let Checked { scheduler, bounds, stalls, notes, races, sub_cores, .. } = &checked.total;
    Checked {
        scheduler: scheduler.clone(),
        bounds: bounds.clone(),
        stalls: *stalls,
        notes: notes.clone(),
        races: races.clone(),
        sub_cores: sub_cores.clone(),
        blocks,
        launch_blocks: 0,
        warps: Vec::new(),
        ..checked.total
    }
}

/// A program under one policy, in full.
pub fn text(
    name: &str,
    sequence: &Sequence,
    machine: &Machine,
    checked: &SequenceChecked,
    style: Style,
) -> String {
    let launches = match sequence.launches {
        1 => "1 launch".to_owned(),
        several => format!("{several} launches"),
    };
    let launches = match checked.total.is_complete() {
        true => launches,
        false => format!("INCOMPLETE, {} of {launches}", checked.launches.len()),
    };
    let total = without_launches(checked);
    let mut text = text::check(&format!("{name} ({launches})"), machine, &total, style);
    text.push('\n');
    text.push_str(&statements(sequence, checked, style));
    text
}

fn statements(sequence: &Sequence, checked: &SequenceChecked, style: Style) -> String {
    let shown: Vec<usize> =
        (0..checked.total.bounds.len()).filter(|&i| !checked.total.bounds[i].left_out).collect();
    let heading = ["line", "kernel", "launches", "cycles", "min", "max"].map(str::to_owned);
    let names = shown.iter().map(|&i| checked.total.bounds[i].name.to_owned());
    let last = heading.len() + shown.len();
    let mut table = Table::new(heading.into_iter().chain(names).chain(["status".to_owned()]), &[1, last]);
    for row in checked.statements() {
        let statement = &sequence.statements[row.statement];
        let start = [
            statement.line.to_string(),
            names::short(&sequence.kernels[statement.kernel].program.name),
            row.launches.to_string(),
            row.sum.to_string(),
            row.least.to_string(),
            row.most.to_string(),
        ];
        let values = shown.iter().map(|&i| row.bounds[i].0.map_or_else(|| "-".to_owned(), |v| v.to_string()));
        let gating = shown.iter().filter(|&&i| checked.total.bounds[i].gates).map(|&i| row.bounds[i].1);
        table.row(start.into_iter().chain(values).chain([style.status(Status::combine(gating))]));
    }
    table.render(2, style.width)
}
