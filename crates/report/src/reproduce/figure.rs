//! Figures of papers, and what the text of the papers states about them: our numbers beside the
//! published ones.

use std::fmt::Write;

use serde::Serialize;

use super::stack::{self, StackState};
use crate::count;
use crate::style::Style;
use crate::table::Table;

/// A figure of a paper, or a formula, with our results.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FigureResult {
    /// The name of the figure.
    pub figure: &'static str,
    /// The paper.
    pub paper: &'static str,
    /// The section of the paper.
    pub section: &'static str,
    /// What the figure shows.
    pub about: &'static str,
    /// Every number that the paper's text states.
    pub quantities: Vec<Quantity>,
    /// Every stack that the figure shows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<StackState>,
    /// Further statements of the paper.
    pub statements: Vec<Statement>,
    /// Differences from the paper that matter for the comparison.
    pub notes: Vec<&'static str>,
    /// Commands that show more.
    pub commands: Vec<String>,
}

/// A number, in cycles unless `what` says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Quantity {
    /// What is counted or measured.
    pub what: String,
    /// The place in the paper.
    pub place: &'static str,
    /// Our number; absent if the quantity does not exist here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<u64>,
    /// The paper's number.
    pub published: u64,
    /// Our number minus the paper's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<i64>,
}

/// A statement that the paper makes in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Statement {
    /// The statement.
    pub claim: &'static str,
    /// The place in the paper.
    pub place: &'static str,
    /// Whether it holds here.
    pub holds: bool,
    /// What was observed here.
    pub seen: String,
}

impl Statement {
    /// Returns the statement as one line of text.
    pub(super) fn text(&self) -> String {
        let Self { claim, place, holds, seen } = self;
        let verdict = if *holds { "holds here" } else { "DOES NOT HOLD here" };
        format!("\"{claim}\" ({place}): {verdict}; {seen}\n")
    }
}

impl Quantity {
    /// Returns a number beside the paper's.
    pub fn new(what: impl Into<String>, place: &'static str, ours: Option<u64>, published: u64) -> Self {
        let difference = ours.map(|ours| ours as i64 - published as i64);
        Self { what: what.into(), place, ours, published, difference }
    }

    fn agrees(&self) -> bool {
        self.difference == Some(0)
    }
}

impl FigureResult {
    /// Returns a figure without any quantities or statements.
    pub fn new(
        figure: &'static str,
        paper: &'static str,
        section: &'static str,
        about: &'static str,
    ) -> Self {
        Self { figure, paper, section, about, ..Self::default() }
    }

    /// Returns the figure as text for people.
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
