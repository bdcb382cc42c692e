//! The legend of a timeline, and the explanations of its terms, which are rows of the tables of
//! the book.

use std::fmt::Write;

use super::about::About;
use super::recording::Recording;
use crate::html::text;
use crate::terms::{self, Term};
use warpbound_trace::trace::StallReason;
use warpbound_trace::why::Kind;

/// The number of colours that the style sheet has for units and kinds.
const COLOURS: usize = 8;

/// The units, stall reasons and kinds that a timeline shows.
pub(super) struct Legend {
    /// The names of the units that executed an instruction. The instances on several sub-cores
    /// share a name and a colour.
    units: Vec<String>,
    /// The colour of each instance of a unit.
    pub unit_colours: Vec<usize>,
    /// The reasons of the gaps.
    reasons: Vec<StallReason>,
    /// The kinds on the critical path with their cycles, the longest first, so that the frequent
    /// ones have clearly different colours.
    kinds: Vec<(Kind, u64)>,
    end: u64,
    has_phases: bool,
}

impl Legend {
    pub fn new(recording: &Recording, about: &About<'_>) -> Self {
        let mut is_used = vec![false; recording.units().len()];
        let mut is_seen = [false; StallReason::ALL.len()];
        for sm in recording.sms() {
            for instruction in sm.instructions().filter(|instruction| instruction.init > 0) {
                if let Some(used) = is_used.get_mut(instruction.unit as usize) {
                    *used = true;
                }
            }
            sm.gaps.iter().flatten().for_each(|gap| is_seen[usize::from(gap.reason)] = true);
        }
        let mut units: Vec<String> = Vec::new();
        for (name, _) in recording.units().iter().zip(&is_used).filter(|(_, used)| **used) {
            if !units.iter().any(|known| known == unit_of(name)) {
                units.push(unit_of(name).to_owned());
            }
        }
        let colour = |name: &String| units.iter().position(|unit| unit == unit_of(name)).unwrap_or(0);
        let unit_colours = recording.units().iter().map(|name| colour(name) % COLOURS).collect();
        let reasons = StallReason::ALL.into_iter().filter(|reason| is_seen[reason.index()]).collect();
        let mut kinds: Vec<(Kind, u64)> = Kind::ALL.into_iter().map(|kind| (kind, 0)).collect();
        let path = about.path(recording).map_or(&[][..], |(_, stretches)| stretches);
        for stretch in path {
            kinds[stretch.kind as usize].1 += stretch.to - stretch.from;
        }
        kinds.retain(|(_, cycles)| *cycles > 0);
        kinds.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
        let (end, has_phases) = (recording.end().max(1), !about.alone.is_empty());
        Self { units, unit_colours, reasons, kinds, end, has_phases }
    }

    /// Returns the colour of each kind.
    pub fn kind_colours(&self) -> Vec<usize> {
        let position = |kind: Kind| self.kinds.iter().position(|(on_path, _)| *on_path == kind);
        Kind::ALL.into_iter().map(|kind| position(kind).unwrap_or(0) % COLOURS).collect()
    }

    /// Returns the legend as HTML. Each name leads to its explanation.
    pub fn html(&self, terms: &Terms) -> String {
        let mut html = String::new();
        let mut group = |title: &str, names: Vec<String>| {
            if !names.is_empty() {
                let _ = write!(html, "<div><b>{title}</b> {}</div>", names.join(" "));
            }
        };
        let path = self.kinds.iter().enumerate().map(|(index, (kind, cycles))| {
            let share = format!("{:.1}\u{202f}%", 100.0 * *cycles as f64 / self.end as f64);
            let colour = format!("--s{}", index % COLOURS);
            terms.swatch(terms::Kind::Cause, kind.name(), &colour, &format!(" {share}"))
        });
        group("Critical path", path.collect());
        let units = self.units.iter().enumerate();
        let units = units.map(|(index, unit)| {
            terms.swatch(terms::Kind::Unit, unit, &format!("--s{}", index % COLOURS), "")
        });
        group("Units", units.collect());
        let reasons = self.reasons.iter().map(|reason| {
            terms.swatch(terms::Kind::StallReason, reason.name(), &format!("--stall-{reason}"), "")
        });
        group("Idle issue slots", reasons.collect());
        let link = |shown: &str, term: &str| terms.link(terms::Kind::Term, term, shown);
        let phases = match self.has_phases {
            true => format!("; below, alone: {} and idle phases", link("exec", "exec phase")),
            false => String::new(),
        };
        let _ = write!(
            html,
            "<div class=\"bars\"><b>{}</b> line: waits for its unit; thick: {}; thin: {}; hatched: at a barrier{phases}</div>",
            link("Warps", "warp"),
            link("initiation", "initiation interval"),
            link("latency", "latency"),
        );
        html
    }
}

/// Returns the name of the unit of an instance, which may have the number of a sub-core in brackets.
fn unit_of(instance: &str) -> &str {
    match instance.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((unit, core)) if core.bytes().all(|digit| digit.is_ascii_digit()) => unit,
        _ => instance,
    }
}

/// The explanations of the terms on a page.
pub(super) struct Terms {
    terms: Vec<Term>,
}

impl Terms {
    /// Returns the terms that a page with this legend contains.
    pub fn new(legend: &Legend, recording: &Recording, about: &About<'_>) -> Self {
        let several = |condition: bool, name: &'static str| condition.then_some(name);
        let general = [
            Some("SM"),
            several(recording.sub_cores() > 1, "sub-core"),
            Some("block"),
            Some("warp"),
            Some("unit"),
            Some("issue slot"),
            Some("issue"),
            Some("initiation interval"),
            Some("latency"),
            several(legend.has_phases, "exec phase"),
            several(!legend.kinds.is_empty(), "critical path"),
            Some("makespan"),
            Some("bound"),
            Some("overestimation"),
            Some("verdict"),
        ];
        let policy = about.checked.policy.split(":").next().unwrap_or_default();
        let bounds = about.checked.bounds.iter().filter(|row| !row.left_out).map(|row| row.name);
        let wanted = general.into_iter().flatten().map(|name| (terms::Kind::Term, name));
        let wanted = wanted.chain(legend.units.iter().map(|unit| (terms::Kind::Unit, unit.as_str())));
        let reasons = StallReason::ALL
            .into_iter()
            .filter(|reason| legend.reasons.contains(reason) || about.checked.stalls.get(*reason).get() > 0);
        let wanted = wanted.chain(reasons.map(|reason| (terms::Kind::StallReason, reason.name())));
        let kinds = legend.kinds.iter().map(|(kind, _)| (terms::Kind::Cause, kind.name()));
        let bounds = bounds.map(|bound| (terms::Kind::Bound, bound));
        let wanted = wanted.chain(kinds).chain(bounds).chain([(terms::Kind::Policy, policy)]);
        let all = terms::all();
        let term = |(kind, name): (terms::Kind, &str)| {
            all.iter().find(|term| term.kind == kind && term.names.iter().any(|known| known == name)).cloned()
        };
        Self { terms: wanted.filter_map(term).collect() }
    }

    fn find(&self, kind: terms::Kind, name: &str) -> Option<&Term> {
        self.terms.iter().find(|term| term.kind == kind && term.names.iter().any(|known| known == name))
    }

    /// Returns a link to the explanation of a term, or the text alone if there is none.
    pub fn link(&self, kind: terms::Kind, name: &str, shown: &str) -> String {
        let shown = text(shown);
        match self.find(kind, name) {
            Some(term) => {
                format!("<a href=\"#{}\" title=\"{}\">{shown}</a>", anchor(term), text(&term.meaning))
            }
            None => shown,
        }
    }

    /// Returns the link with the colour that the timeline has for the term, a variable, and a text
    /// after it.
    fn swatch(&self, kind: terms::Kind, name: &str, colour: &str, after: &str) -> String {
        format!("<span style=\"--swatch:var({colour})\">{}{after}</span>", self.link(kind, name, name))
    }

    /// Returns the explanations as HTML.
    pub fn html(&self) -> String {
        let groups = [
            ("On this page", terms::Kind::Term),
            ("Units", terms::Kind::Unit),
            ("Stall reasons", terms::Kind::StallReason),
            ("Causes on the critical path", terms::Kind::Cause),
            ("Bounds", terms::Kind::Bound),
            ("Policy", terms::Kind::Policy),
        ];
        let mut html = String::new();
        for (title, kind) in groups {
            let terms: Vec<&Term> = self.terms.iter().filter(|term| term.kind == kind).collect();
            if terms.is_empty() {
                continue;
            }
            let _ = writeln!(html, "<h3>{title}</h3>\n<dl class=\"terms\">");
            for term in terms {
                let (names, meaning) = (text(&term.names.join(", ")), text(&term.meaning));
                let _ =
                    writeln!(html, "<div id=\"{}\"><dt>{names}</dt><dd>{meaning}</dd></div>", anchor(term));
            }
            html.push_str("</dl>\n");
        }
        html.push_str(
            "<p class=\"note\"><code>warpbound explain TERM</code> prints the explanation of any term.</p>\n",
        );
        html
    }
}

/// Returns the anchor of the explanation of a term.
fn anchor(term: &Term) -> String {
    let name: String =
        term.names[0].chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    format!("term-{:?}-{name}", term.kind).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_a_unit_share_its_name() {
        assert_eq!(["fp32[12]", "fp32", "a[x]", "[0]"].map(unit_of), ["fp32", "fp32", "a[x]", ""]);
    }

    #[test]
    fn a_term_leads_to_its_explanation_and_other_names_are_text() {
        let all = terms::all();
        let of = |kind: terms::Kind, name: &str| {
            all.iter().find(|term| term.kind == kind && term.names[0] == name).unwrap().clone()
        };
        let kinds = [(terms::Kind::StallReason, "barrier"), (terms::Kind::Unit, "barrier")];
        let terms = Terms { terms: kinds.iter().map(|(kind, name)| of(*kind, name)).collect() };
        let html = terms.html();
        for (kind, name) in kinds {
            let link = terms.link(kind, name, name);
            let target = link.split("href=\"#").nth(1).unwrap().split('"').next().unwrap();
            assert_eq!(html.matches(&format!("<div id=\"{target}\">")).count(), 1, "{link}");
        }
        assert_eq!(terms.link(terms::Kind::Unit, "mine<", "mine<"), "mine&lt;");
    }
}
