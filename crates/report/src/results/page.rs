//! The page of results.

use std::fmt::Write;

use super::collected::{Collected, Source};
use super::{methods, plots, tables};
use crate::count;
use crate::diff::DiffResult;
use crate::explain::Explained;
use crate::html::{Page, Section, grouped, text};
use crate::path_tables;
use crate::plot::themed;

/// Makes the page.
pub fn page(all: &Collected) -> Page {
    let section =
        |id: &str, title: &str, body| Section { id: id.to_owned().into(), title: title.to_owned(), body };
    let mut sections = vec![section("summary", "Summary", summary(all))];
    if all.total.points > 0 {
        sections.extend([
            section("plots", "Plots", figures(all)),
            section("bounds", "Bounds", bounds(all)),
            section("kernels", "Kernels", tables::groups(all).render()),
            section("points", "Points", tables::singles(all).render()),
        ]);
    }
    for (number, methods) in all.worst_cases.iter().enumerate() {
        let id = format!("worst-case-{number}");
        let title = format!("The worst case of {} on {}", methods.kernel, methods.origin.machine);
        sections.push(section(&id, &title, methods::section(methods, &id)));
    }
    for (number, (name, explained)) in all.explained.iter().enumerate() {
        let id = format!("-{number}");
        let title = format!("Critical path of {}", name_of(explained));
        sections.push(section(&format!("path{id}"), &title, path_tables::path(explained, &id)));
        // each path is compared with the first one
        let (first_name, first) = &all.explained[0];
        if let (1.., Ok(diff)) = (number, DiffResult::new((first_name, first), (name, explained))) {
            let title = format!("From {} to {}", name_of(first), name_of(explained));
            sections.push(section(&format!("difference{id}"), &title, path_tables::difference(&diff, &id)));
        }
    }
    let names: Vec<&str> = all.sources.iter().map(|source| source.name.as_str()).collect();
    Page {
        title: "Bounds against simulated times".to_owned(),
        subtitle: format!("{} of {}", number_of(all), names.join(", ")),
        sections,
        ..Page::default()
    }
}

/// Returns the number of results as text.
pub fn number_of(all: &Collected) -> String {
    let worst_cases = || count(all.worst_cases.len(), "worst case");
    match (all.total.points, all.worst_cases.len()) {
        (0, 1..) => worst_cases(),
        (points, 0) => count(points as usize, "point"),
        (points, _) => format!("{} and {}", count(points as usize, "point"), worst_cases()),
    }
}

fn name_of(explained: &Explained) -> String {
    format!("{} on {} under {}", explained.kernel, explained.machine, explained.policy)
}

fn summary(all: &Collected) -> String {
    let mut html = methods::verdict(&all.worst_cases);
    if all.total.points == 0 && !all.worst_cases.is_empty() {
        return html;
    }
    html.push_str(&incomplete(all));
    html.push_str(&verdict(all));
    html.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: String| {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    };
    fact("points", grouped(all.total.points));
    fact("hold", grouped(all.holds));
    fact("violated", grouped(all.total.violated));
    fact("failed", grouped(all.total.failed));
    fact("not judged", grouped(all.total.points - all.holds - all.total.violated - failed_only(all)));
    fact("kernels", grouped(all.kernels.list().len() as u64));
    fact("machines", grouped(all.machines.list().len() as u64));
    fact("policies", grouped(all.policies.list().len() as u64));
    fact("warp instructions", grouped(all.total.warp_instructions));
    html.push_str("</dl>\n");
    let list = |names: &[String]| {
        const SHOWN: usize = 20;
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        text(&(names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ") + more))
    };
    let _ = writeln!(
        html,
        "<p>Machines: {}. Policies: {}. Bounds: {}.{}</p>",
        list(all.machines.list()),
        list(all.policies.list()),
        list(&all.meaning.bounds),
        match all.meaning.axes.as_slice() {
            [] => String::new(),
            axes => format!(" What varies besides: {}.", list(axes)),
        }
    );
    for (axis, values) in all.meaning.axes.iter().zip(&all.by_axis) {
        if values.is_none() {
            let _ = writeln!(html, "<p class=\"note\">{} has too many values for a plot.</p>", text(axis));
        }
    }
    all.sources.iter().for_each(|source| html.push_str(&origin(source)));
    html
}

/// Returns what is missing.
fn incomplete(all: &Collected) -> String {
    let missing: String = all.incomplete().iter().map(|why| format!("<p>{}</p>", text(why))).collect();
    if missing.is_empty() { missing } else { format!("<div class=\"alarm\">{missing}</div>\n") }
}

/// Returns the number of failed points that are not violated as well.
fn failed_only(all: &Collected) -> u64 {
    all.total.failed - all.failed_and_violated
}

/// Returns the verdict at the top of the page: what is violated or failed, or that nothing is.
fn verdict(all: &Collected) -> String {
    let mut html = String::new();
    if all.total.violated > 0 {
        let number = count(all.total.violated as usize, "point");
        let _ = writeln!(
            html,
            "<div class=\"alarm\" role=\"alert\">\n<h3>A bound is violated at {number}</h3>\n<ul>"
        );
        for ((bound, policy), spread) in all.spreads.iter().filter(|(_, spread)| spread.violated > 0) {
            let _ = writeln!(
                html,
                "<li><b>{}</b> under {}: {} of {} points to which it applies, down to {:.1} %</li>",
                text(&all.meaning.bounds[*bound]),
                text(&all.policies.list()[*policy]),
                grouped(spread.violated),
                grouped(spread.points),
                spread.least().unwrap_or(0.0) * 100.0
            );
        }
        html.push_str(
            "</ul>\n<p>They are the first rows under <a href=\"#points\">Points</a>.</p>\n</div>\n",
        );
    } else {
        let _ = writeln!(
            html,
            "<div class=\"calm\">No gating bound is violated; a gating bound holds at {} of {} points.</div>",
            grouped(all.holds),
            grouped(all.total.points)
        );
    }
    if all.total.failed > 0 {
        let number = count(all.total.failed as usize, "point");
        let _ = writeln!(html, "<div class=\"alarm\">\n<h3>{number} failed</h3>\n<ul>");
        for failure in &all.errors {
            let from = match all.sources.len() {
                1 => String::new(),
                _ => format!(" of {}", all.sources[failure.first.0].name),
            };
            let _ = writeln!(
                html,
                "<li>{}, the first is {}{}: {}</li>",
                count(failure.points as usize, "point"),
                failure.first.1,
                text(&from),
                text(&failure.error)
            );
        }
        let named: u64 = all.errors.iter().map(|failure| failure.points).sum();
        if named < all.total.failed {
            let _ = writeln!(
                html,
                "<li>and {} with other errors</li>",
                count((all.total.failed - named) as usize, "point")
            );
        }
        html.push_str("</ul>\n</div>\n");
    }
    html
}

fn origin(source: &Source) -> String {
    let mut html =
        format!("<p class=\"note\"><b>{}</b>: {} points", text(&source.name), grouped(source.points));
    match &source.manifest {
        None => html.push_str("; this file has no manifest, so its plan is not known.</p>\n"),
        Some(manifest) => {
            let _ = write!(
                html,
                " of {} of the plan{}, written by warpbound {}, plan digest <code>{}</code>.</p>\n<details><summary>The plan</summary><pre>{}</pre></details>\n",
                grouped(manifest.points),
                manifest.shard.map_or(String::new(), |shard| format!(" (shard {shard})")),
                text(&manifest.tool_version),
                text(&manifest.plan_digest),
                text(&manifest.plan)
            );
        }
    }
    html
}

fn bounds(all: &Collected) -> String {
    let parts = tables::parts(all).map_or_else(String::new, |parts| parts.render());
    tables::bounds(all).render() + &parts
}

fn figures(all: &Collected) -> String {
    let mut html = "<div class=\"plots\">\n".to_owned();
    for plot in plots::plots(all) {
        let _ = writeln!(
            html,
            "<figure><h3>{}</h3>\n{}<figcaption>{}</figcaption></figure>",
            text(&plot.title),
            themed(&plot.svg, &plot.title),
            text(&plot.note)
        );
    }
    html.push_str("</div>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::super::collected::tests::{add, record};
    use super::*;

    #[test]
    fn what_is_wrong_comes_first_and_names_are_text() {
        let mut all = Collected::default();
        all.begin("a/<results>".to_owned(), None);
        add(&mut all, &record(0, "</script><b>", 100, 0.5)).unwrap();
        add(&mut all, &record(1, "k", 200, -0.25)).unwrap();
        let error = "no <memory> & \"more\"";
        let failed =
            serde_json::json!({"point": 2, "kernel": "k", "machine": "m", "policy": "lrr", "error": error});
        add(&mut all, &failed).unwrap();
        let html = page(&all).render();
        let at = |what: &str| html.find(what).unwrap_or_else(|| panic!("{what} is not there"));
        assert!(at("A bound is violated at 1 point") < at("1 point failed"));
        assert!(at("1 point failed") < at("<dt>points</dt>"));
        assert!(
            html.contains("no &lt;memory&gt; &amp; &quot;more&quot;") && html.contains("a/&lt;results&gt;")
        );
        assert!(html.contains("&lt;/script&gt;&lt;b&gt;") && !html.contains("</script><b>"));
        assert!(!html.contains("fill=\"#"), "colours are the page's");
    }
}
