//! The tables of results.

use super::collected::{Collected, Sums};
use super::singles::{FAILED, VIOLATED, WORST, Why};
use crate::html::{HtmlCell, HtmlColumn, HtmlTable};
use warpbound_bound::Part;

/// The most rows of the table of kernels, machines and policies.
const ROWS: usize = 1_000;

/// Returns the table of each bound under each policy.
pub fn bounds(all: &Collected) -> HtmlTable {
    let columns = vec![
        HtmlColumn::words("bound"),
        HtmlColumn::words("policy"),
        HtmlColumn::numbers("points", "to which the bound applies"),
        HtmlColumn::numbers("violated", "points that exceed it"),
        HtmlColumn::numbers("mean overestimation", "mean of (bound - makespan) / makespan"),
        HtmlColumn::numbers("median", "exact to 1/64 of bound over makespan"),
        HtmlColumn::numbers(
            "95 %",
            "the value that 95 % of the points do not exceed; exact to 1/64 of bound over makespan",
        ),
        HtmlColumn::numbers("largest overestimation", "the largest"),
    ];
    let percent = |over: Option<f64>| over.map_or(HtmlCell::Empty, HtmlCell::Percent);
    let rows = all.spreads.iter().map(|((bound, policy), spread)| {
        vec![
            HtmlCell::Text(all.meaning.bounds[*bound].clone()),
            HtmlCell::Text(all.policies.list()[*policy].clone()),
            HtmlCell::Count(spread.points),
            HtmlCell::BadCount(spread.violated),
            percent(spread.mean()),
            percent(spread.quantile(0.5)),
            percent(spread.quantile(0.95)),
            percent(spread.most()),
        ]
    });
    let caption = "Each bound under each policy, over all points".to_owned();
    HtmlTable { id: "bounds-table".into(), caption, columns, rows: rows.collect() }
}

/// Returns the table of the parts on each machine, or `None` if no parts are known.
pub fn parts(all: &Collected) -> Option<HtmlTable> {
    let of_machines = || all.parts.iter().filter(|(_, parts)| parts.points > 0);
    of_machines().next()?;
    let has = |part: &Part| of_machines().any(|(_, parts)| parts.shares.contains_key(part));
    let shown: Vec<Part> = Part::ALL.into_iter().filter(has).collect();
    let mut columns = vec![
        HtmlColumn::words("machine"),
        HtmlColumn::numbers("points", "with a proved bound of known parts"),
    ];
    columns.extend(shown.iter().map(|part| HtmlColumn::numbers(part.name(), "mean share in the bound")));
    let rows = of_machines().map(|(machine, parts)| {
        let shares = shown.iter().map(|&part| parts.mean(part).map_or(HtmlCell::Empty, HtmlCell::Percent));
        let start = [HtmlCell::Text(all.machines.list()[*machine].clone()), HtmlCell::Count(parts.points)];
        start.into_iter().chain(shares).collect()
    });
    let caption = "What the smallest proved bound consists of, on each machine: the mean share of each part";
    Some(HtmlTable { id: "parts-table".into(), caption: caption.to_owned(), columns, rows: rows.collect() })
}

/// Returns the table of kernels on machines under policies.
pub fn groups(all: &Collected) -> HtmlTable {
    let mut columns = vec![
        HtmlColumn::words("kernel"),
        HtmlColumn::words("machine"),
        HtmlColumn::words("policy"),
        HtmlColumn::numbers("points", ""),
        HtmlColumn::numbers("violated", "points where a gating bound is exceeded"),
        HtmlColumn::numbers("failed", "points with an error"),
        HtmlColumn::numbers("mean cycles", "mean makespan"),
        HtmlColumn::numbers("instr/cycle", "warp instructions over makespans"),
    ];
    let names = all.meaning.bounds.iter();
    columns.extend(
        names.map(|bound| HtmlColumn::numbers(bound, "mean overestimation: (bound - makespan) / makespan")),
    );
    let mut groups: Vec<(&(usize, usize, usize), &Sums)> = all.groups.iter().collect();
    let total = groups.len();
    if total > ROWS {
        let worst = |sums: &Sums| {
            let means = (0..all.meaning.bounds.len()).filter_map(|bound| sums.mean(bound));
            means.min_by(f64::total_cmp).unwrap_or(f64::NEG_INFINITY)
        };
        groups.sort_by(|(_, a), (_, b)| {
            let bad = |sums: &Sums| (sums.violated > 0, sums.failed > 0);
            bad(b).cmp(&bad(a)).then(worst(b).total_cmp(&worst(a)))
        });
        groups.truncate(ROWS);
    }
    let rows = groups.into_iter().map(|((kernel, machine, policy), sums)| {
        let mut row = vec![
            HtmlCell::Text(all.kernels.list()[*kernel].clone()),
            HtmlCell::Text(all.machines.list()[*machine].clone()),
            HtmlCell::Text(all.policies.list()[*policy].clone()),
            HtmlCell::Count(sums.points),
            HtmlCell::BadCount(sums.violated),
            HtmlCell::BadCount(sums.failed),
            match sums.measured {
                0 => HtmlCell::Empty,
                measured => HtmlCell::Count(sums.makespan / measured),
            },
            sums.per_cycle().map_or(HtmlCell::Empty, HtmlCell::Decimal),
        ];
        row.extend(
            (0..all.meaning.bounds.len())
                .map(|bound| sums.mean(bound).map_or(HtmlCell::Empty, HtmlCell::Percent)),
        );
        row
    });
    let mut caption = "Kernels by machine and policy, with the mean overestimation of each bound".to_owned();
    if total > ROWS {
        caption.push_str(&format!(". {ROWS} of {total} combinations: violated and failed ones, then those whose best bound is farthest above"));
    }
    if all.ungrouped > 0 {
        caption.push_str(&format!(". {} points of further combinations are only in the sums", all.ungrouped));
    }
    HtmlTable { id: "kernels-table".into(), caption, rows: rows.collect(), columns }
}

/// Returns the table of the points that are listed individually.
pub fn singles(all: &Collected) -> HtmlTable {
    let several = all.sources.len() > 1;
    let mut columns = vec![HtmlColumn::words("why")];
    if several {
        columns.push(HtmlColumn::words("from"));
    }
    columns.extend([
        HtmlColumn::numbers("point", "its number in the plan"),
        HtmlColumn::words("kernel"),
        HtmlColumn::words("machine"),
        HtmlColumn::words("policy"),
    ]);
    columns.extend(all.meaning.axes.iter().map(|axis| HtmlColumn::words(axis)));
    columns.extend([
        HtmlColumn::numbers("cycles", "makespan"),
        HtmlColumn::words("lowest bound"),
        HtmlColumn::numbers("overestimation", "of the lowest bound: (bound - makespan) / makespan"),
        HtmlColumn::words("error"),
    ]);
    let rows = all.singles.all().map(|single| {
        let text = |text: &str| HtmlCell::Text(text.to_owned());
        let mut row = vec![match single.why {
            Why::Violated => HtmlCell::Bad("violated".to_owned()),
            Why::Failed => HtmlCell::Bad("failed".to_owned()),
            Why::Worst => text("far above"),
        }];
        if several {
            row.push(text(&all.sources[single.source].name));
        }
        row.extend([
            HtmlCell::Count(single.point),
            text(&single.kernel),
            text(&single.machine),
            text(&single.policy),
        ]);
        row.extend(single.axes.iter().map(|value| match value.parse() {
            Ok(number) => HtmlCell::Count(number),
            Err(_) => text(value),
        }));
        row.resize(columns.len() - 4, HtmlCell::Empty);
        row.push(single.makespan.map_or(HtmlCell::Empty, HtmlCell::Count));
        row.push(single.least.map_or(HtmlCell::Empty, |(bound, _)| text(&all.meaning.bounds[bound])));
        row.push(single.least.map_or(HtmlCell::Empty, |(_, over)| HtmlCell::Percent(over)));
        row.push(single.error.as_ref().map_or(HtmlCell::Empty, |error| text(error)));
        row
    });
    let rows = rows.collect();
    let caption = format!(
        "Single points: the first {VIOLATED} that are violated, the first {FAILED} that failed, and the {WORST} whose lowest bound is farthest above the makespan"
    );
    HtmlTable { id: "points-table".into(), caption, rows, columns }
}
