//! The formula of a plot, such as `cycles ~ mem_latency | policy / kernel`.

use std::fmt;

/// A column, or what is derived from columns, on a linear or a logarithmic axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub name: String,
    pub is_log: bool,
}

/// What is drawn of the values at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Summary {
    /// Their mean.
    Mean,
    /// Their median, quartiles and ends.
    Box,
    /// Their cumulative distribution, which takes the axis from left to right.
    Ecdf,
}

/// What is plotted against what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub(super) summary: Summary,
    pub(super) y: Term,
    /// The axis from left to right; none for a distribution.
    pub(super) x: Option<Term>,
    /// The column with a line for each of its values.
    pub(super) lines: Option<String>,
    /// The column with a panel for each of its values.
    pub(super) panels: Option<String>,
}

impl Formula {
    /// The forms of a formula, for messages.
    pub const FORM: &'static str =
        "Y ~ X | LINES / PANELS, with log(X), log(Y) or box(Y), or ecdf(Y) | LINES / PANELS";

    /// Returns the formula of a plot with a line for each policy.
    pub(super) fn over(y: &str, axis: &str) -> Self {
        let term = |name: &str| Term { name: name.to_owned(), is_log: false };
        let lines = Some("policy".to_owned());
        Self { summary: Summary::Mean, y: term(y), x: Some(term(axis)), lines, panels: None }
    }

    /// Parses `Y ~ X | LINES / PANELS` or `ecdf(Y) | LINES / PANELS`, of which LINES and PANELS may
    /// be left out.
    ///
    /// # Errors
    /// The text has no such form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (rest, panels) = match text.split_once('/') {
            Some((rest, panels)) => (rest, Some(name(panels)?)),
            None => (text, None),
        };
        let (rest, lines) = match rest.split_once('|') {
            Some((rest, lines)) => (rest, Some(name(lines)?)),
            None => (rest, None),
        };
        let (y, x) = match rest.split_once('~') {
            Some((y, x)) => (y, Some(x)),
            None => (rest, None),
        };
        let (summary, y) = match (called(y, "ecdf"), called(y, "box")) {
            (Some(inside), _) => (Summary::Ecdf, inside),
            (_, Some(inside)) => (Summary::Box, inside),
            (None, None) => (Summary::Mean, y),
        };
        match (summary, x) {
            (Summary::Ecdf, Some(_)) => {
                Err("`ecdf` has no `~`: its axis is what it is a distribution of".to_owned())
            }
            (Summary::Mean | Summary::Box, None) => {
                Err("there is no `~` between what is drawn and the axis".to_owned())
            }
            _ => Ok(Self { summary, y: term(y)?, x: x.map(term).transpose()?, lines, panels }),
        }
    }
}

/// Returns what stands in the parentheses of a call of this function.
fn called<'t>(text: &'t str, function: &str) -> Option<&'t str> {
    text.trim().strip_prefix(function)?.trim_start().strip_prefix('(')?.strip_suffix(')')
}

fn term(text: &str) -> Result<Term, String> {
    match called(text, "log") {
        Some(inside) => Ok(Term { name: name(inside)?, is_log: true }),
        None => Ok(Term { name: name(text)?, is_log: false }),
    }
}

fn name(part: &str) -> Result<String, String> {
    match part.trim() {
        "" => Err("a part of it is empty".to_owned()),
        part if part.contains(['~', '|', '/']) => Err(format!("`{part}` is no name of a column")),
        part if part.contains(['(', ')']) => Err(format!(
            "`{part}` cannot be drawn: `log` stands around one name, and `box` or `ecdf` around what is drawn"
        )),
        part => Ok(part.to_owned()),
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_log { write!(f, "log({})", self.name) } else { f.write_str(&self.name) }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.summary {
            Summary::Mean => write!(f, "{}", self.y)?,
            Summary::Box => write!(f, "box({})", self.y)?,
            Summary::Ecdf => write!(f, "ecdf({})", self.y)?,
        }
        self.x.iter().try_for_each(|x| write!(f, " ~ {x}"))?;
        self.lines.iter().try_for_each(|lines| write!(f, " | {lines}"))?;
        self.panels.iter().try_for_each(|panels| write!(f, " / {panels}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_read_and_written() {
        for (text, written) in [
            ("a~b|c/d", "a ~ b | c / d"),
            ("cycles ~ log( mem_latency ) | policy", "cycles ~ log(mem_latency) | policy"),
            ("log(cycles) ~ kernel / machine", "log(cycles) ~ kernel / machine"),
            ("ecdf(slowdown) | policy", "ecdf(slowdown) | policy"),
            ("ecdf( log(cycles) )", "ecdf(log(cycles))"),
            ("box(cycles) ~ policy", "box(cycles) ~ policy"),
        ] {
            assert_eq!(Formula::parse(text).unwrap().to_string(), written);
        }
        for (formula, message) in [
            ("cycles", "no `~`"),
            ("box(cycles)", "no `~`"),
            ("cycles ~ ", "empty"),
            ("a ~ b | c | d", "no name"),
            ("ecdf(cycles) ~ policy", "has no `~`"),
            ("violin(cycles) ~ policy", "cannot be drawn"),
            ("cycles ~ log(a", "cannot be drawn"),
            ("box(ecdf(a)) ~ b", "cannot be drawn"),
            ("cycles ~ log()", "empty"),
        ] {
            let why = Formula::parse(formula).unwrap_err();
            assert!(why.contains(message), "{formula}: {why}");
        }
    }
}
