//! The page of a pack.

use std::fmt::Write;

use super::{Claim, Derivation, EvidencePack, Premise, PremiseStatus};
use crate::count;
use crate::grouped;
use crate::html::{Page, Section, text};
use crate::verdict::Status;

const STYLE: &str = include_str!("pack.css");

/// Makes the page.
pub fn page(pack: &EvidencePack) -> Page {
    let section = |id: String, title: &str, body| Section { id: id.into(), title: title.to_owned(), body };
    let mut sections = vec![section("claims".to_owned(), "Claims", claims(pack))];
    for (number, claim) in pack.claims.iter().enumerate() {
        sections.push(section(format!("claim-{number}"), &claim.id, of_claim(claim)));
    }
    sections.push(section("rules".to_owned(), "Rules and tests", rules(pack)));
    sections.push(section("limits".to_owned(), "What this does not show", not_shown(pack)));
    sections.push(section("program".to_owned(), "The program", program(pack)));
    let guaranteed = pack.claims.iter().filter(|claim| claim.is_guaranteed).count();
    Page {
        title: "Evidence for bounds on execution times".to_owned(),
        subtitle: format!(
            "{}, {guaranteed} of them with a guaranteed bound",
            count(pack.claims.len(), "claim")
        ),
        sections,
        styles: vec![STYLE],
        ..Page::default()
    }
}

/// A cell: plain text, code that may be broken anywhere, or a number.
enum Cell {
    Words(String),
    Code(Vec<String>),
    Number(String),
    Good(&'static str),
    Bad(&'static str),
}

/// Returns a table that is shown as a list of cards where there is little room.
fn table(caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> String {
    let mut html = format!("<table class=\"cards\">\n<caption>{}</caption>\n<thead><tr>", text(caption));
    for column in columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", text(column));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (cell, column) in row.iter().zip(columns) {
            let (class, shown) = match cell {
                Cell::Words(words) => ("", text(words)),
                Cell::Number(number) => ("n", text(number)),
                Cell::Good(word) => ("good", text(word)),
                Cell::Bad(word) => ("bad", text(word)),
                Cell::Code(lines) => {
                    let lines: Vec<String> =
                        lines.iter().map(|line| format!("<code>{}</code>", text(line))).collect();
                    ("", lines.join("<br>"))
                }
            };
            let _ = write!(
                html,
                "<td class=\"{class}\" data-column=\"{}\"><div>{shown}</div></td>",
                text(column)
            );
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
    html
}

fn words(shown: &str) -> Cell {
    Cell::Words(shown.to_owned())
}

fn code(shown: impl Into<String>) -> Cell {
    Cell::Code(vec![shown.into()])
}

/// Returns a box with the statement of a claim.
fn statement(claim: &Claim) -> String {
    let class = if claim.is_guaranteed { "calm" } else { "alarm" };
    format!("<p class=\"{class}\">{}</p>\n", text(&claim.statement))
}

fn claims(pack: &EvidencePack) -> String {
    let rows = pack.claims.iter().enumerate().map(|(number, claim)| {
        let bound = claim.answer.guaranteed.as_ref();
        let longest = claim.answer.longest.as_ref();
        let dash = || "-".to_owned();
        vec![
            words(&format!("{}. {}", number + 1, claim.answer.kernel)),
            words(&claim.origin.machine),
            Cell::Number(bound.map_or_else(dash, |bound| grouped(bound.cycles))),
            words(bound.map_or("nothing is guaranteed", |bound| &bound.bound)),
            Cell::Number(longest.map_or_else(dash, |run| grouped(run.cycles))),
            words(longest.map_or("-", |run| &run.policy)),
            Cell::Number(claim.answer.ratio.map_or_else(dash, |ratio| format!("{:.2}", ratio.0))),
        ]
    });
    let columns = ["kernel", "machine", "at most (cycles)", "bound", "longest run seen", "policy", "ratio"];
    table("Claims", &columns, rows.collect())
}

fn of_claim(claim: &Claim) -> String {
    let mut html = statement(claim);
    html.push_str(&facts(claim));
    let of = claim.premises_of.as_deref().unwrap_or("no bound");
    let rows = claim.premises.iter().map(premise);
    let columns = ["premise", "about", "status", "finding", "checked in", "tests"];
    let caption = match claim.is_guaranteed {
        true => format!("Premises of {of}"),
        false => format!("Premises of {of}, which is closest to being applicable"),
    };
    html.push_str(&table(&caption, &columns, rows.collect()));
    match &claim.derivation {
        Some(derivation) => html.push_str(&derived(derivation)),
        None => html.push_str("<h3>Derivation</h3>\n<p>There is none, because nothing is guaranteed.</p>\n"),
    }
    html.push_str(&runs(claim));
    html.push_str(&files(claim));
    html
}

fn facts(claim: &Claim) -> String {
    let launch = &claim.launch;
    let mut html = "<dl class=\"facts\">\n".to_owned();
    let mut fact = |name: &str, value: String| {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{}</dd></div>", text(&value));
    };
    fact("kernel", claim.answer.kernel.clone());
    fact("machine", claim.origin.machine.clone());
    fact("digest of the machine", claim.origin.machine_digest.clone());
    fact("policies", claim.answer.policies.join(", "));
    fact("launches", grouped(launch.launches));
    let mut number = |name: &str, value: Option<u32>| {
        if let Some(value) = value {
            fact(name, grouped(u64::from(value)));
        }
    };
    number("blocks", launch.blocks);
    number("threads per block", launch.threads);
    number("shared bytes per block", launch.shared_bytes);
    fact("blocks on an SM at a time", grouped(u64::from(launch.resident_blocks)));
    fact("SMs", launch.sms.to_string());
    fact("seed", launch.seed.to_string());
    fact("warp instructions", grouped(launch.warp_instructions));
    html.push_str("</dl>\n");
    html
}

fn premise(premise: &Premise) -> Vec<Cell> {
    let status = premise.status.text();
    let tests = premise.tests.iter().map(|test| (*test).to_owned()).collect();
    vec![
        words(&premise.premise),
        words(premise.about.name()),
        match premise.status {
            PremiseStatus::Holds => Cell::Good(status),
            PremiseStatus::Broken | PremiseStatus::NotExamined => Cell::Bad(status),
            PremiseStatus::ToBeArgued => words(status),
        },
        words(&premise.finding),
        premise.checked_in.map_or_else(|| words("-"), code),
        Cell::Code(tests),
    ]
}

fn derived(derivation: &Derivation) -> String {
    let Derivation { bound, summary, value, proof, rules, parts, terms_are, terms, more_terms, remark } =
        derivation;
    let mut html = format!(
        "<h3>Derivation</h3>\n<p>{} = {} cycles: {}. {} The proof is in <code>{}</code>; the rules are {}.</p>\n",
        text(bound),
        grouped(*value),
        text(summary),
        text(remark),
        text(proof),
        text(&rules.join(", "))
    );
    let share = |cycles: u64| format!("{:.1} %", cycles as f64 / (*value).max(1) as f64 * 100.0);
    if !parts.is_empty() {
        let rows = parts.iter().map(|part| {
            vec![words(&part.name()), Cell::Number(grouped(part.cycles)), Cell::Number(share(part.cycles))]
        });
        html.push_str(&table("Parts by resource", &["part", "cycles", "share"], rows.collect()));
    }
    if !terms.is_empty() {
        let rows = terms.iter().map(|term| {
            vec![
                Cell::Number(term.index.to_string()),
                Cell::Number(grouped(term.value)),
                Cell::Number(grouped(term.makespan)),
            ]
        });
        let columns = [terms_are, "bound (cycles)", "in the longest run"];
        html.push_str("<details><summary>Terms</summary>\n");
        html.push_str(&table("Terms that are added up", &columns, rows.collect()));
        html.push_str("</details>\n");
    }
    if *more_terms > 0 {
        let _ = writeln!(html, "<p class=\"note\">{} more are not listed.</p>", grouped(*more_terms as u64));
    }
    html
}

fn runs(claim: &Claim) -> String {
    let rows = claim.runs.iter().map(|run| {
        vec![
            words(&run.policy),
            Cell::Number(grouped(run.makespan)),
            Cell::Number(run.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.2}", ratio.0))),
            match run.verdict {
                Status::Holds => Cell::Good("holds"),
                Status::Violated => Cell::Bad("VIOLATED"),
                Status::NotApplicable => words("no bound applies"),
                Status::Undecided => words("undecided"),
            },
            words(if run.complete { "yes" } else { "no" }),
        ]
    });
    let columns = ["policy", "makespan (cycles)", "bound / makespan", "verdict", "to its end"];
    let mut html = table("Runs that the bound was compared with", &columns, rows.collect());
    let rows = claim.bounds.iter().map(|bound| {
        vec![
            words(bound.name),
            Cell::Number(bound.value.map_or_else(|| "-".to_owned(), grouped)),
            match bound.status {
                Status::Holds => Cell::Good("holds"),
                Status::Violated => Cell::Bad("VIOLATED"),
                Status::NotApplicable => words("not applicable"),
                Status::Undecided => words("undecided"),
            },
            words(bound.reason.as_deref().unwrap_or("")),
        ]
    });
    let columns = ["bound", "cycles", "verdict", "reason"];
    html.push_str(&table(
        "Every bound on the longest run (gub is published and refuted)",
        &columns,
        rows.collect(),
    ));
    let _ = match claim.self_checked_warps {
        0 => writeln!(
            html,
            "<p class=\"note\">No warp was compared between analyser and simulator: they are compared on the paper model only.</p>"
        ),
        warps => writeln!(
            html,
            "<p>Analyser and simulator, which share no code that computes times, agree on every event of {} that ran alone.</p>",
            count(usize::try_from(warps).unwrap_or(usize::MAX), "warp")
        ),
    };
    for note in &claim.notes {
        let _ = writeln!(html, "<p class=\"note\">Note: {}</p>", text(note));
    }
    html
}

fn files(claim: &Claim) -> String {
    let rows = claim.files.iter().map(|file| {
        vec![
            code(file.name.clone()),
            words(&file.what),
            words(if file.in_pack { "in the folder of the claim" } else { "not in the pack" }),
            Cell::Number(grouped(file.bytes)),
            code(file.sha256.clone()),
        ]
    });
    let columns = ["file", "what it is", "where", "bytes", "SHA-256"];
    let mut html = table("Files that the claim is about", &columns, rows.collect());
    let _ =
        writeln!(html, "<h3>Repeating it</h3>\n<p>In the folder <code>{}</code>:</p>\n<ul>", text(&claim.id));
    for replay in &claim.replays {
        let _ = writeln!(
            html,
            "<li>{}<pre class=\"command\">{}</pre></li>",
            text(&replay.what),
            text(&replay.command)
        );
    }
    html.push_str("</ul>\n");
    html
}

fn rules(pack: &EvidencePack) -> String {
    let rows = pack.rules.iter().map(|rule| {
        vec![
            words(rule.id),
            words(rule.bound),
            words(rule.rule),
            Cell::Code(vec![rule.code.to_owned()]),
            Cell::Code(vec![rule.proof.to_owned(), rule.part.to_owned()]),
            Cell::Code(rule.tests.iter().map(|test| (*test).to_owned()).collect()),
        ]
    });
    let columns = ["rule", "bound", "what it states", "code", "proof", "tests"];
    let mut html =
        "<p>Paths are those of the program's repository, and a test of the repository looks each of them up. The facts \
         M1 to M7 are those of the paper model; the file of their proof states which of them differ on machines with \
         further features.</p>\n"
            .to_owned();
    html.push_str(&table("Rules of the bounds, and the tests that cover them", &columns, rows.collect()));
    html
}

fn not_shown(pack: &EvidencePack) -> String {
    let lines: Vec<String> = pack.not_shown.iter().map(|line| format!("<li>{}</li>\n", text(line))).collect();
    format!("<p>The pack does not show</p>\n<ul>\n{}</ul>\n", lines.concat())
}

fn program(pack: &EvidencePack) -> String {
    let tool = &pack.tool;
    let rows = vec![
        vec![words("version"), words(&format!("{} {}", tool.name, tool.version))],
        vec![words("commit"), tool.commit.map_or_else(|| words("the build does not state it"), code)],
        vec![
            words("SHA-256 of the executable"),
            tool.executable_sha256.clone().map_or_else(|| words("not known"), code),
        ],
    ];
    table("The program that made this pack", &["what", "value"], rows)
}
