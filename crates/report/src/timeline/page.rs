//! The page of a timeline.

use std::fmt::Write;

use super::about::About;
use super::data::Data;
use super::recording::Recording;
use super::source;
use crate::count;
use crate::html::{HtmlCell, HtmlColumn, HtmlTable, Page, Section, grouped, script_data};
use crate::path_tables;
use warpbound_judge::check::overestimation;
use warpbound_trace::trace::StallReason;

const STYLE: &str = include_str!("assets/timeline.css");
/// The scripts, each after those that it uses.
const SCRIPTS: [&str; 7] = [
    include_str!("assets/data.js"),
    include_str!("assets/layout.js"),
    include_str!("assets/window.js"),
    include_str!("assets/draw.js"),
    include_str!("assets/details.js"),
    include_str!("assets/input.js"),
    include_str!("assets/start.js"),
];
/// The canvas and its controls.
const CANVAS: &str = include_str!("assets/timeline.html");

/// Makes the page.
pub fn page(recording: &Recording, about: &About<'_>) -> Page {
    let section =
        |id: &str, title: &str, body| Section { id: id.to_owned().into(), title: title.to_owned(), body };
    let code = format!(
        "<div class=\"beside\">\n{}<div>{}</div>\n</div>",
        source::listing(about),
        source::stalls(recording, about).render()
    );
    let mut sections = vec![
        section("timeline", "Timeline", CANVAS.to_owned()),
        section("source", "Source and stalls", code),
        section("result", "Result", result(about)),
    ];
    if let Some(explained) = about.explained {
        sections.insert(1, section("why", "Critical path", path_tables::path(explained, "")));
    }
    Page {
        title: format!("{} on {}", about.kernel, about.machine),
        subtitle: format!(
            "under {}: makespan {} cycles, {}; {}",
            about.checked.policy,
            about.checked.makespan.get(),
            about.checked.verdict().name(),
            count(about.checked.launch_blocks as usize, "block")
        ),
        sections,
        styles: vec![STYLE],
        scripts: SCRIPTS.to_vec(),
        data: vec![("timeline-data", script_data(&Data::new(recording, about)))],
    }
}

fn result(about: &About<'_>) -> String {
    let checked = about.checked;
    let mut html = String::new();
    if checked.verdict().is_violated() {
        html.push_str("<div class=\"alarm\" role=\"alert\"><h3>A bound is violated</h3></div>\n");
    }
    html.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, number: u64| {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", grouped(number));
    };
    fact("makespan, cycles", checked.makespan.get());
    fact("warp instructions", checked.warp_instructions);
    fact("thread instructions", checked.thread_instructions);
    fact("issues", checked.issues);
    for reason in StallReason::ALL {
        let lost = checked.stalls.get(reason).get();
        if lost > 0 {
            fact(&format!("idle, {reason}"), lost);
        }
    }
    html.push_str("</dl>\n");
    let columns = vec![
        HtmlColumn::words("bound"),
        HtmlColumn::numbers("cycles", ""),
        HtmlColumn::numbers("overestimation", "(bound - makespan) / makespan"),
        HtmlColumn::words("status"),
    ];
    let rows = checked.bounds.iter().filter(|row| !row.left_out).map(|row| {
        let value = row.value.as_ref().ok().map(|value| value.cycles());
        let over = value.and_then(|value| overestimation(value, checked.makespan));
        let status = row.verdict().name().to_owned();
        vec![
            HtmlCell::Text(row.name.to_owned()),
            value.map_or(HtmlCell::Empty, |value| HtmlCell::Count(value.get())),
            over.map_or(HtmlCell::Empty, HtmlCell::Percent),
            if row.verdict().is_violated() { HtmlCell::Bad(status) } else { HtmlCell::Text(status) },
        ]
    });
    let caption = "Bounds of this run".to_owned();
    html.push_str(&HtmlTable { id: "bounds-table".into(), caption, rows: rows.collect(), columns }.render());
    html
}
