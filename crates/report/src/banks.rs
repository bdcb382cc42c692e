//! The report of bank conflicts per source line, for people and for scripts.

use serde::Serialize;

use super::Fraction;
use super::source_line::{self, MadeFrom, SourceLine};
use super::style::Style;
use super::table::Table;
use warpbound_core::base::Pc;
use warpbound_trace::trace::BankProfile;

/// The accesses to shared memory by one source line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BankLine {
    /// Line in the kernel's source file.
    pub line: u32,
    /// The text of the line, or of its first access.
    pub text: String,
    /// The line of CUDA C++ from which a compiler made it, if the PTX states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<MadeFrom>,
    /// Accesses, counted once per warp.
    pub accesses: u64,
    /// Transactions that the accesses took.
    pub transactions: u64,
    /// Transactions that they would have taken without conflicts.
    pub transactions_without_conflicts: u64,
    /// Transactions per access, on average.
    pub average_transactions: Fraction,
    /// The most transactions of one access.
    pub worst_transactions: u32,
}

/// Returns the profile by source line, in ascending order. `place` returns the place of an
/// instruction.
pub fn lines(profile: &BankProfile, place: &dyn Fn(Pc) -> SourceLine) -> Vec<BankLine> {
    let first = |line| profile.by_pc().map(|(pc, _)| place(pc)).find(|place| place.line == line);
    let by_line = profile.by_line(|pc| place(pc).line);
    let places = by_line.into_iter().map(|(line, used)| (line, used, first(line)));
    places
        .map(|(line, used, first)| BankLine {
            line,
            text: first.as_ref().map_or_else(String::new, |first| first.text.clone()),
            source: first.and_then(|first| first.source),
            accesses: used.accesses,
            transactions: used.transactions,
            transactions_without_conflicts: used.without_conflicts,
            average_transactions: Fraction(used.average()),
            worst_transactions: used.worst,
        })
        .collect()
}

/// Returns the table of the lines, or an empty text if there are none.
pub fn text(lines: &[BankLine], style: Style) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let heading =
        ["shared accesses", "transactions", "without conflicts", "average", "worst", "line: instruction"];
    let mut table = Table::new(heading, &[5]);
    let mut row = |accesses: u64, transactions: u64, without: u64, worst: u32, what: String| {
        table.row([
            accesses.to_string(),
            transactions.to_string(),
            without.to_string(),
            format!("{:.2}", transactions as f64 / accesses.max(1) as f64),
            worst.to_string(),
            what,
        ]);
    };
    for one in lines {
        let what = source_line::shown(one.line, &one.text, one.source.as_ref());
        let without = one.transactions_without_conflicts;
        row(one.accesses, one.transactions, without, one.worst_transactions, what);
    }
    let sum = |of: fn(&BankLine) -> u64| lines.iter().map(of).sum();
    let worst = lines.iter().map(|one| one.worst_transactions).max().unwrap_or(0);
    row(
        sum(|one| one.accesses),
        sum(|one| one.transactions),
        sum(|one| one.transactions_without_conflicts),
        worst,
        "all".to_owned(),
    );
    format!("\n{}", table.render(2, style.width))
}
