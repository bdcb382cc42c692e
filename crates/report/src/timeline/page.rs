//! The page of a timeline.

use std::fmt::Write;

use super::about::About;
use super::data::Data;
use super::legend::{Legend, Terms};
use super::recording::Recording;
use super::source;
use super::still;
use crate::count;
use crate::html::{HtmlCell, HtmlColumn, HtmlTable, Page, Section, grouped, script_data, text};
use crate::path_tables;
use crate::terms;
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
/// Makes the page.
pub fn page(recording: &Recording, about: &About<'_>) -> Page {
    let section =
        |id: &str, title: &str, body| Section { id: id.to_owned().into(), title: title.to_owned(), body };
    let legend = Legend::new(recording, about);
    let terms = Terms::new(&legend, recording, about);
    let mut sections = vec![
        section("timeline", "Timeline", timeline(recording, about, &legend, &terms)),
        section("source", "Source and stalls", source_and_stalls(recording, about)),
        section("result", "Result", result(recording, about, &terms)),
        section("terms", "Terms", terms.html()),
    ];
    if let Some(explained) = about.explained {
        sections.insert(2, section("why", "Critical path", path_tables::path(explained, "")));
    }
    Page {
        title: format!("{} on {}", about.kernel, about.machine),
        subtitle: format!(
            "under {}: makespan {} cycles, {}; {}",
            about.checked.policy,
            grouped(about.checked.makespan.get()),
            about.checked.verdict().name(),
            count(about.checked.launch_blocks as usize, "block")
        ),
        sections,
        styles: vec![STYLE],
        scripts: SCRIPTS.to_vec(),
        data: vec![("timeline-data", script_data(&Data::new(recording, about, &legend)))],
    }
}

/// Returns the picture, its controls and its legend.
fn timeline(recording: &Recording, about: &About<'_>, legend: &Legend, terms: &Terms) -> String {
    let running = |sm: &usize| !recording.sms()[*sm].rows.is_empty();
    let first = (0..recording.sms().len()).find(running).unwrap_or(0);
    let shown = about.path(recording).map_or(first, |(sm, _)| sm);
    format!(
        include_str!("assets/timeline.html"),
        still = still::picture(recording, about, legend, shown),
        legend = legend.html(terms),
        note = note(recording, about.explained.map(|explained| explained.sm))
    )
}

/// Returns a paragraph on the SMs of the run, if there are several. `path` is the SM of the critical
/// path.
fn note(recording: &Recording, path: Option<usize>) -> String {
    let (sms, most) = recording.limits();
    if sms == 1 {
        return String::new();
    }
    let kept = recording.sms().len();
    let running = recording.sms().iter().filter(|sm| !sm.rows.is_empty()).count();
    let mut note = if kept < sms {
        format!(
            "The machine has {}, of which the page shows {}. The others are left out, because a page holds \
             at most {} instructions and idle intervals",
            count(sms, "SM"),
            up_to(kept),
            grouped(most as u64)
        )
    } else {
        format!("The machine has {}, {running} of which executed blocks", count(sms, "SM"))
    };
    if let Some(sm) = path {
        let left_out = if sm < kept { "" } else { ", which is left out" };
        let _ = write!(note, "; the critical path is on SM {sm}{left_out}");
    }
    format!("<p class=\"note\" id=\"sms\">{note}.</p>")
}

/// Returns the names of the first SMs.
fn up_to(kept: usize) -> String {
    if kept == 1 { "SM 0".to_owned() } else { format!("SM 0 to SM {}", kept - 1) }
}

/// Returns the code, the source files that it was made from, and the stalls by line of both.
fn source_and_stalls(recording: &Recording, about: &About<'_>) -> String {
    let (sms, kept) = (recording.limits().0, recording.sms().len());
    let of = match sms {
        1 => String::new(),
        _ if kept < sms => format!(" on {}", up_to(kept)),
        _ => " on all SMs".to_owned(),
    };
    let beside = |left: String, right: String| {
        format!("<div class=\"beside\">\n<div>{left}</div>\n<div>{right}</div>\n</div>\n")
    };
    let code = source::listing(about);
    let stalls = source::stalls(recording, about, &of).render();
    if about.sources.is_empty() {
        return beside(code, stalls);
    }
    let title = |name: &str| format!("<h3>{}</h3>\n", text(name));
    let sources = title(&about.sources.labels().join(", ")) + &source::sources(about);
    let tables = beside(source::stalls_of_sources(recording, about, &of).render(), stalls);
    beside(sources, title(source::code_label(about)) + &code) + &tables
}

fn result(recording: &Recording, about: &About<'_>, terms: &Terms) -> String {
    let checked = about.checked;
    let mut html = String::new();
    if checked.verdict().is_violated() {
        html.push_str("<div class=\"alarm\" role=\"alert\"><h3>A bound is violated</h3></div>\n");
    }
    html.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, number: u64| {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", grouped(number));
    };
    let makespan = terms.link(terms::Kind::Term, "makespan", "makespan");
    fact(&format!("{makespan}, cycles"), checked.makespan.get());
    fact("warp instructions", checked.warp_instructions);
    fact("thread instructions", checked.thread_instructions);
    fact("issues", checked.issues);
    for reason in StallReason::ALL {
        let lost = checked.stalls.get(reason).get();
        if lost > 0 {
            let reason = terms.link(terms::Kind::StallReason, reason.name(), reason.name());
            fact(&format!("idle, {reason}"), lost);
        }
    }
    html.push_str("</dl>\n");
    if recording.limits().0 > 1 {
        let _ = writeln!(
            html,
            "<p class=\"note\">Instructions, issues and idle issue slots are those of all SMs.</p>"
        );
    }
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

#[cfg(test)]
mod tests {
    use super::super::recording::tests::{issue, start};
    use super::*;
    use warpbound_trace::trace::{Event, Observer, UnitInstances};

    /// Returns a recording of three SMs, of which the first two have one instruction.
    fn recording(most: usize) -> Recording {
        let mut recording = Recording::up_to(most, UnitInstances::one_each(["alu"]));
        for sm in 0..3 {
            recording.on(&Event::Sm(sm));
            if sm < 2 {
                recording.on(&Event::BlockStarted(start(1)));
                recording.on(&Event::Issued(issue(0, 0, [0, 0, 1, 2])));
            }
        }
        recording
    }

    #[test]
    fn the_page_says_which_sms_it_leaves_out() {
        let all = note(&recording(4), None);
        assert!(all.contains("The machine has 3 SMs, 2 of which executed blocks.<"), "{all}");
        let one = note(&recording(3), Some(2));
        assert!(one.contains("of which the page shows SM 0. The others are left out"), "{one}");
        assert!(
            one.contains(
                "at most 3 instructions and idle intervals; the critical path is on SM 2, which is left out.<"
            ),
            "{one}"
        );
        assert_eq!(up_to(3), "SM 0 to SM 2");
        assert_eq!(note(&Recording::up_to(3, UnitInstances::one_each(["alu"])), None), "");
    }
}
