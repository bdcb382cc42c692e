//! Figures, and what a paper's text says of them: ours beside it, number by number.

use std::fmt::Write;

use serde::Serialize;

use super::stack::{self, StackState};
use crate::report::count;
use crate::report::style::Style;
use crate::report::table::Table;

/// A figure of a paper, or a formula, with what we compute.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FigureResult {
    /// Which figure.
    pub figure: &'static str,
    /// Where it is from.
    pub paper: &'static str,
    /// Where in it.
    pub section: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Every number that the paper's text has.
    pub quantities: Vec<Quantity>,
    /// Every stack that it draws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<StackState>,
    /// What the paper says besides.
    pub statements: Vec<Statement>,
    /// What a reader must know to compare.
    pub notes: Vec<&'static str>,
    /// Commands that show more of it.
    pub commands: Vec<String>,
}

/// A number, in cycles unless it says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Quantity {
    /// What it is.
    pub what: String,
    /// Where the paper says it.
    pub place: &'static str,
    /// Ours; none if there is no such thing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<u64>,
    /// The paper's.
    pub published: u64,
    /// Ours less the paper's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<i64>,
}

/// Something that the paper says in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Statement {
    /// What it says.
    pub claim: &'static str,
    /// Where.
    pub place: &'static str,
    /// Whether it is so here.
    pub holds: bool,
    /// What was seen.
    pub seen: String,
}

impl Statement {
    /// For people, a line.
    pub(super) fn text(&self) -> String {
        let Self { claim, place, holds, seen } = self;
        let verdict = if *holds { "so it is" } else { "NOT SO" };
        format!("\"{claim}\" ({place}): {verdict}; {seen}\n")
    }
}

impl Quantity {
    /// Ours beside the paper's.
    pub fn new(what: impl Into<String>, place: &'static str, ours: Option<u64>, published: u64) -> Self {
        let difference = ours.map(|ours| ours as i64 - published as i64);
        Self { what: what.into(), place, ours, published, difference }
    }

    fn agrees(&self) -> bool {
        self.difference == Some(0)
    }
}

impl FigureResult {
    /// A figure of which there is nothing to tell yet.
    pub fn new(
        figure: &'static str,
        paper: &'static str,
        section: &'static str,
        about: &'static str,
    ) -> Self {
        let (quantities, stacks, statements) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            figure,
            paper,
            section,
            about,
            quantities,
            stacks,
            statements,
            notes: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// For people.
    pub fn text(&self, style: Style) -> String {
        let cycles = if self.quantities.is_empty() { "" } else { ", in cycles" };
        let heading =
            format!("{}, {}, {}: {}{cycles}\n\n", self.figure, self.paper, self.section, self.about);
        let mut text = style.fill(&style.strong(&heading));
        if !self.quantities.is_empty() {
            let heading = ["what", "ours", "paper", "difference", "where"];
            let mut table = Table::new(heading, &[0, 4]).expendable([4]);
            for quantity in &self.quantities {
                let Quantity { what, place, ours, published, difference } = quantity;
                let shown = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
                let difference =
                    shown(difference.map(|d| if d > 0 { format!("+{d}") } else { d.to_string() }));
                let mark = if quantity.agrees() { " " } else { "*" };
                table.row([
                    what.clone(),
                    shown(ours.map(|ours| ours.to_string())),
                    published.to_string(),
                    difference + mark,
                    (*place).to_owned(),
                ]);
            }
            text.push_str(&table.render(2, style.width));
            let agree = self.quantities.iter().filter(|quantity| quantity.agrees()).count();
            let _ = writeln!(text, "\n{agree} of {} agree", count(self.quantities.len(), "number"));
        }
        if !self.stacks.is_empty() {
            text.push_str(&stack::table(&self.stacks).render(2, style.width));
            let rows = || self.stacks.iter().flat_map(|state| &state.rows);
            let agree = rows().filter(|row| row.agrees()).count();
            let _ = writeln!(text, "\n{agree} of {} entries agree", rows().count());
        }
        for statement in &self.statements {
            text.push_str(&style.fill(&statement.text()));
        }
        for note in &self.notes {
            text.push_str(&style.fill(&format!("note: {note}\n")));
        }
        for command in &self.commands {
            let _ = writeln!(text, "  {command}");
        }
        text
    }
}
