//! Reports for people.

use std::fmt::Write;

use super::style::Style;
use super::table::Table;
use crate::base::{Cycles, Pc, UnitId};
use crate::check::{BoundRow, Checked, Status, overestimation};
use crate::machine::Machine;
use crate::sim::{CacheStats, MemoryStats, SubCoreResult};
use crate::trace::{LostCycles, UnitUse};

/// Rows of a warp or block table before it is cut.
const MAX_ROWS: usize = 16;

/// One kernel under one policy, in full.
pub fn check(kernel: &str, machine: &Machine, checked: &Checked, style: Style) -> String {
    let mut text = String::new();
    let (name, outcome) = (style.strong(kernel), outcome(checked, style));
    let heading = format!("{name} on {} under {}: {outcome}\n", machine.name(), checked.scheduler);
    text.push_str(&style.fill(&heading));
    text.push('\n');
    text.push_str(&bounds(checked, style));
    if !checked.warps.is_empty() {
        text.push('\n');
        text.push_str(&warps(checked, style));
    }
    if checked.blocks.len() > 1 {
        text.push('\n');
        text.push_str(&blocks(checked, style));
    }
    if checked.self_checked_warps > 0 {
        let _ = writeln!(
            text,
            "\nself-check: {} warps alone, analyser and simulator agree on every event",
            checked.self_checked_warps
        );
    }
    for note in &checked.notes {
        text.push_str(&style.fill(&format!("\nnote: {note}\n")));
    }
    text
}

/// Makespan and verdict, or how far a run came that was ended early.
fn outcome(checked: &Checked, style: Style) -> String {
    let (makespan, verdict) = (checked.makespan, style.status(checked.verdict()));
    match (checked.is_complete(), checked.blocks.len()) {
        (true, _) => format!("makespan {makespan} cycles, {verdict}"),
        (false, 0) => format!("INCOMPLETE, no block of {} came to its end", checked.launch_blocks),
        (false, done) => format!(
            "INCOMPLETE, {done} of {} blocks in {makespan} cycles, {verdict} so far",
            checked.launch_blocks
        ),
    }
}

fn bounds(checked: &Checked, style: Style) -> String {
    let mut table = Table::new(["bound", "cycles", "over", "status", ""], &[0, 3, 4]);
    for (index, row) in checked.judged().enumerate() {
        let gates = if row.gates { "" } else { "(does not gate)" };
        // premises of a machine are many words; the same ones are said once
        let said = checked.judged().take(index).find(|before| before.reason == row.reason);
        let reason = row.reason.as_ref().map(|reason| match said {
            Some(before) => format!("as {}", before.name),
            None => reason.clone(),
        });
        table.row([
            row.name.to_owned(),
            row.value.map_or_else(|| "-".to_owned(), |v| v.to_string()),
            over(row, checked.makespan),
            style.status(row.status),
            reason.unwrap_or_else(|| gates.to_owned()),
        ]);
    }
    table.render(2, style.width)
}

fn over(row: &BoundRow, makespan: Cycles) -> String {
    row.value.and_then(|value| overestimation(value, makespan)).map_or_else(|| "-".to_owned(), percent)
}

/// A fraction as a signed percentage.
pub fn percent(fraction: f64) -> String {
    format!("{:+.1} %", fraction * 100.0)
}

fn warps(checked: &Checked, style: Style) -> String {
    let mut table = Table::new(["warp", "finish", "isolated", "exec", "idle"], &[0]);
    for row in checked.warps.iter().take(MAX_ROWS) {
        let numbers =
            [row.finish.get(), row.isolated.get(), row.exec.get(), row.idle.get()].map(|n| n.to_string());
        table.row(std::iter::once(row.warp.to_string()).chain(numbers));
    }
    let mut text = table.render(2, style.width);
    if checked.warps.len() > MAX_ROWS {
        let _ = writeln!(
            text,
            "  ... and {} more warps (--format json lists all)",
            checked.warps.len() - MAX_ROWS
        );
    }
    text
}

fn blocks(checked: &Checked, style: Style) -> String {
    let names = checked.judged().filter(|row| row.of_blocks).map(|row| row.name);
    let mut table = Table::new(["block", "makespan"].into_iter().chain(names), &[0]);
    for (index, makespan, values) in checked.blocks.iter().take(MAX_ROWS) {
        let values = checked.bounds.iter().zip(values).filter(|(row, _)| !row.left_out && row.of_blocks);
        let values = values.map(|(_, value)| value.map_or_else(|| "-".to_owned(), |v| v.to_string()));
        table.row([format!("b{index}"), makespan.to_string()].into_iter().chain(values));
    }
    let mut text = table.render(2, style.width);
    if checked.blocks.len() > MAX_ROWS {
        let _ = writeln!(
            text,
            "  ... and {} more blocks (--format json lists all)",
            checked.blocks.len() - MAX_ROWS
        );
    }
    text
}

/// What `run` says besides: where the cycles went.
pub fn run(checked: &Checked, style: Style) -> String {
    let mut text = String::new();
    text.push_str(&style.fill(&format!(
        "  {} warp instructions, {} thread instructions, {} issued, issue utilisation {:.3}\n",
        checked.warp_instructions,
        checked.thread_instructions,
        checked.issues,
        checked.issue_utilisation()
    )));
    text.push('\n');
    text.push_str(&stalls(checked, style));
    if let Some(stats) = &checked.memory {
        text.push('\n');
        text.push_str(&memory(stats, style));
    }
    text
}

fn memory(stats: &MemoryStats, style: Style) -> String {
    let headings = ["cache", "accesses", "hits", "misses", "merged", "stalls", "write-backs"];
    let mut table = Table::new(headings, &[0]);
    for (name, cache) in [("L1", stats.l1), ("constant", stats.constant), ("L2", stats.lower.l2)] {
        if cache.accesses > 0 {
            let CacheStats { accesses, hits, misses, merged, stalls, write_backs } = cache;
            let counts = [accesses, hits, misses, merged, stalls, write_backs].map(|n| n.to_string());
            table.row(std::iter::once(name.to_owned()).chain(counts));
        }
    }
    let dram = stats.lower.dram;
    let mut text = table.render(2, style.width);
    let _ = writeln!(
        text,
        "  DRAM: {} reads, {} writes, {} activations",
        dram.reads, dram.writes, dram.activations
    );
    text
}

/// Sub-cores that have columns of their own.
const SUB_CORE_COLUMNS: usize = 8;

/// What became of the issue slots; with several sub-cores also on each.
fn stalls(checked: &Checked, style: Style) -> String {
    // of many sub-cores only the sum: a column each would not fit a line
    let columns = 2..=SUB_CORE_COLUMNS;
    let several = if columns.contains(&checked.sub_cores.len()) { checked.sub_cores.as_slice() } else { &[] };
    let heading = ["issue slots", "cycles", "share"].map(str::to_owned);
    let per_sm = checked.sub_cores.len() / checked.sms.max(1);
    let cores = (0..several.len()).map(|core| match (checked.sms, per_sm) {
        (1, _) => format!("sub-core {core}"),
        (_, 1) => format!("SM {core}"),
        _ => format!("SM {} sub-core {}", core / per_sm, core % per_sm),
    });
    let mut table = Table::new(heading.into_iter().chain(cores), &[0]);
    let slots = checked.makespan.get() * checked.sub_cores.len() as u64;
    let share = |cycles: u64| format!("{:.1} %", cycles as f64 / slots.max(1) as f64 * 100.0);
    let mut row = |name: &str, cycles: u64, of: &dyn Fn(&SubCoreResult) -> u64| {
        let cells = [name.to_owned(), cycles.to_string(), share(cycles)];
        table.row(cells.into_iter().chain(several.iter().map(|used| of(used).to_string())));
    };
    // with dual issue a slot can have two instructions
    let makespan = checked.makespan.get();
    row("issued", slots - checked.stalls.total().get(), &|used| makespan - used.stalls.total().get());
    for (reason, cycles) in checked.stalls.iter().filter(|(_, cycles)| *cycles > Cycles::ZERO) {
        row(reason.name(), cycles.get(), &|used| used.stalls.get(reason).get());
    }
    let total = match checked.sub_cores.len() {
        1 => "makespan",
        _ if checked.sms == 1 => "makespan x sub-cores",
        _ if per_sm == 1 => "makespan x SMs",
        _ => "makespan x sub-cores x SMs",
    };
    let cells = [total.to_owned(), slots.to_string(), "100.0 %".to_owned()];
    table.row(cells.into_iter().chain(several.iter().map(|_| checked.makespan.to_string())));
    table.render(2, style.width)
}

/// A line of the suite's table.
pub struct SuiteRow<'a> {
    /// The kernel.
    pub kernel: &'a str,
    /// Its run under one policy.
    pub checked: &'a Checked,
}

/// Several kernels, a line each.
pub fn suite(rows: &[SuiteRow], style: Style) -> String {
    // a bound for runs of one kind is a column where there is one
    let bounds = rows.first().map_or(&[][..], |row| &row.checked.bounds);
    let shown: Vec<usize> =
        (0..bounds.len()).filter(|&i| rows.iter().any(|row| !row.checked.bounds[i].left_out)).collect();
    let names: Vec<&str> = shown.iter().map(|&i| bounds[i].name).collect();
    let heading = ["kernel", "policy", "blocks", "warp insts", "makespan"].map(str::to_owned);
    let columns = names.iter().flat_map(|name| [(*name).to_owned(), "over".to_owned()]);
    let last = heading.len() + names.len() * 2;
    // blocks and instructions go first, then overestimations, then bounds, from the right
    let overs = (0..names.len()).rev().map(|bound| heading.len() + 2 * bound + 1);
    let values = (0..names.len()).rev().map(|bound| heading.len() + 2 * bound);
    let expendable: Vec<usize> = [2, 3].into_iter().chain(overs).chain(values).collect();
    let mut table =
        Table::new(heading.into_iter().chain(columns).chain(["verdict".to_owned()]), &[0, 1, last])
            .expendable(expendable);
    for row in rows {
        let checked = row.checked;
        let start = [
            row.kernel.to_owned(),
            checked.scheduler.clone(),
            of_launch(checked),
            checked.warp_instructions.to_string(),
            checked.makespan.to_string(),
        ];
        let bounds = shown.iter().map(|&i| &checked.bounds[i]).flat_map(|bound| {
            [bound.value.map_or_else(|| "-".to_owned(), |v| v.to_string()), over(bound, checked.makespan)]
        });
        let so_far = if checked.is_complete() { "" } else { " so far" };
        let verdict = style.status(checked.verdict()) + so_far;
        table.row(start.into_iter().chain(bounds).chain([verdict]));
    }
    table.render(0, style.width)
}

/// Blocks, and of how many if these are not all.
fn of_launch(checked: &Checked) -> String {
    let done = checked.blocks.len();
    if checked.is_complete() { done.to_string() } else { format!("{done} of {}", checked.launch_blocks) }
}

/// What the suite shows as a whole.
pub fn suite_summary(rows: &[SuiteRow], style: Style) -> String {
    let with = |status: Status| rows.iter().filter(|row| row.checked.verdict() == status).count();
    let instructions: u64 = rows.iter().map(|row| row.checked.warp_instructions).sum();
    // the policies of a kernel share its self-check
    let self_checked: u64 =
        rows.chunk_by(|a, b| a.kernel == b.kernel).map(|runs| runs[0].checked.self_checked_warps).sum();
    let text = format!(
        "\n{}, {instructions} warp instructions: {} {}, {} {}, {} {}\n",
        count(rows.len(), "run"),
        with(Status::Holds),
        style.status(Status::Holds),
        with(Status::Violated),
        style.status(Status::Violated),
        with(Status::NotApplicable),
        style.status(Status::NotApplicable),
    );
    let mut text = style.fill(&text);
    if self_checked > 0 {
        let _ = writeln!(
            text,
            "self-check: {self_checked} warps alone, analyser and simulator agree on every event"
        );
    }
    text
}

/// A number of things.
pub fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}

/// How busy each unit was.
pub fn units(machine: &Machine, units: &UnitUse, checked: &Checked, style: Style) -> String {
    let mut table = Table::new(["unit", "instructions", "initiating", "share"], &[0]);
    for (index, unit) in machine.units().iter().enumerate() {
        let id = UnitId::from_index(index);
        let instances = machine.sub_cores().instances(id) * machine.sms();
        let total = (checked.makespan * instances as u64).get().max(1) as f64;
        let (busy, instructions) = (units.busy(id).get(), units.instructions(id));
        if instructions > 0 {
            let share = format!("{:.1} %", busy as f64 / total * 100.0);
            table.row([unit.name.clone(), instructions.to_string(), busy.to_string(), share]);
        }
    }
    format!("\n{}", table.render(2, style.width))
}

/// The instructions that lost the most cycles. `place` gives line and text of an instruction.
pub fn lost_cycles(
    lost: &[LostCycles],
    checked: &Checked,
    most: usize,
    place: &dyn Fn(Pc) -> (u32, String),
    style: Style,
) -> String {
    if lost.is_empty() {
        return String::new();
    }
    let total = (checked.makespan * checked.sub_cores.len() as u64).get().max(1) as f64;
    let shown =
        |pc: Option<Pc>| pc.map_or_else(String::new, |pc| format!("{}: {}", place(pc).0, place(pc).1));
    let mut table = Table::new(
        ["lost cycles", "share", "reason", "line: waiting", "line: for the result of"],
        &[2, 3, 4],
    );
    for one in lost.iter().take(most) {
        table.row([
            one.cycles.to_string(),
            format!("{:.1} %", one.cycles.get() as f64 / total * 100.0),
            one.reason.to_string(),
            shown(one.waiting),
            shown(one.producer),
        ]);
    }
    let mut text = format!("\n{}", table.render(2, style.width));
    if lost.len() > most {
        let _ = writeln!(text, "  ... and {} smaller causes", lost.len() - most);
    }
    text
}
