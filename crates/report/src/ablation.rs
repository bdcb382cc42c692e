//! The ablation table, as text, JSON and CSV.

use std::fmt::Write;

use serde::Serialize;

use super::Fraction;
use super::output::{Origin, Output, Report};
use super::style::Style;
use super::table::Table;
use warpbound_judge::check::ablation::{BESIDE, COLUMNS, Row, Summary, VARIANTS, Variants};

/// The output of `ablate`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ablation {
    /// The full machine, from which the variants switch features off.
    #[serde(flatten)]
    pub origin: Origin,
    /// The policy.
    pub policy: String,
    /// Latency in cycles of a single coalesced load without caches; in the paper model, every
    /// global access has this latency.
    pub load_latency: u64,
    /// The columns of the table, over all kernels.
    pub columns: Vec<Column>,
    /// Columns for alternative variants. A variant interprets differently what the paper leaves
    /// open, or isolates a cause.
    pub beside: Vec<Beside>,
    /// Each kernel.
    pub kernels: Vec<Kernel>,
}

/// A column for alternative variants.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Beside {
    /// The index of the column of the table that it corresponds to, from 0.
    pub column: usize,
    /// The kernel with the largest percentage.
    pub kernel_of_max: String,
    /// The summary of the percentages.
    #[serde(flatten)]
    pub summary: Column,
}

/// A column of Table 2.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Column {
    /// The feature that is switched off.
    pub name: &'static str,
    /// The variant A, which has the feature.
    pub variant_a: &'static str,
    /// The variant B, which lacks the feature.
    pub variant_b: &'static str,
    /// The mean of 100 * cycles(A) / cycles(B) over the kernels.
    pub mean: Fraction,
    /// The standard deviation of this percentage.
    pub std_dev: Fraction,
    /// The smallest percentage.
    pub min: Fraction,
    /// The largest percentage.
    pub max: Fraction,
}

impl Column {
    /// Returns the column of this index with the names of its variants.
    fn new(name: &'static str, column: usize, summary: Summary) -> Self {
        let Summary { mean, std_dev, min, max } = summary;
        Self {
            name,
            variant_a: VARIANTS[column],
            variant_b: VARIANTS[column + 1],
            mean: Fraction(mean),
            std_dev: Fraction(std_dev),
            min: Fraction(min),
            max: Fraction(max),
        }
    }
}

/// A kernel.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Kernel {
    /// The name of the kernel.
    pub kernel: String,
    /// Cycles on the variants: A of the first column, then B of each column.
    pub cycles: Vec<u64>,
    /// The percentage of each column.
    pub percent: Vec<Fraction>,
}

impl Ablation {
    /// Returns the table over these rows, for variants of the machine of this name.
    pub fn new(machine: &str, policy: String, variants: &Variants, rows: &[Row]) -> Self {
        let column =
            |(index, name): (usize, &&'static str)| Column::new(name, index, Summary::of(rows, index));
        let beside = |of: &warpbound_judge::check::ablation::Beside| {
            let largest = rows.iter().max_by(|a, b| a.percent_beside(of).total_cmp(&b.percent_beside(of)));
            Beside {
                column: of.column,
                kernel_of_max: largest.map_or_else(String::new, |row| row.kernel.clone()),
                summary: Column::new(of.name, of.column, Summary::over(rows, |row| row.percent_beside(of))),
            }
        };
        let kernel = |row: &Row| Kernel {
            kernel: row.kernel.clone(),
            cycles: row.cycles[..VARIANTS.len()].to_vec(),
            percent: (0..COLUMNS.len()).map(|column| Fraction(row.percent(column))).collect(),
        };
        Self {
            origin: Origin { machine: machine.to_owned(), ..Origin::new(&variants.machines[0]) },
            policy,
            load_latency: variants.load_latency,
            // without kernels there is no mean
            columns: COLUMNS.iter().enumerate().filter(|_| !rows.is_empty()).map(column).collect(),
            beside: BESIDE.iter().filter(|_| !rows.is_empty()).map(beside).collect(),
            kernels: rows.iter().map(kernel).collect(),
        }
    }

    /// Returns Table 2, followed by a table of every kernel.
    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let heading = format!(
            "ablation of {} under {}, {} kernels: 100 * cycles(A) / cycles(B) in %; if it is below 100, B is slower\n\n",
            self.origin.machine,
            self.policy,
            self.kernels.len()
        );
        text.push_str(&style.fill(&heading));
        let heading = |first: &'static str| std::iter::once(first).chain(COLUMNS);
        let mut summary = Table::new(heading(""), &[0]);
        let mut line = |name: &str, of: &dyn Fn(&Column) -> Fraction| {
            let values = self.columns.iter().map(|column| format!("{:.2}", of(column).0));
            summary.row(std::iter::once(name.to_owned()).chain(values));
        };
        line("mean", &|column| column.mean);
        line("std. dev.", &|column| column.std_dev);
        line("min", &|column| column.min);
        line("max", &|column| column.max);
        let mut kernels = Table::new(heading("kernel").chain(["cycles A", "cycles paper model"]), &[0]);
        for kernel in &self.kernels {
            let percent = kernel.percent.iter().map(|percent| format!("{:.2}", percent.0));
            let ends = [kernel.cycles[0], kernel.cycles[VARIANTS.len() - 1]].map(|cycles| cycles.to_string());
            kernels.row(std::iter::once(kernel.kernel.clone()).chain(percent).chain(ends));
        }
        text.push_str(&summary.render(2, style.width));
        text.push('\n');
        text.push_str(&kernels.render(2, style.width));
        text.push_str(&style.fill(&format!(
            "\nThe variant A of a column is the variant B of the column before it. In the paper model a global access\n\
             takes {} cycles, as a lone coalesced load does without caches; it also has no operand collector,\n\
             write-back stages or bank conflicts.\n",
            self.load_latency
        )));
        text.push_str(&style.fill(
            "Columns on other variants: sub-cores without a memory system behind the load/store unit, and also with transactions of a \
             whole line; caches whose L2 is empty at first; the paper model with the 200 cycles that the paper calls realistic:\n\n",
        ));
        let mut beside =
            Table::new(["column", "variants", "mean", "std. dev.", "min", "max", "of"], &[0, 1, 6]);
        for Beside { column, kernel_of_max, summary } in &self.beside {
            let Column { name, mean, std_dev, min, max, .. } = summary;
            let numbers = [mean, std_dev, min, max].map(|number| format!("{:.2}", number.0));
            let words = [COLUMNS[*column].to_owned(), (*name).to_owned()];
            beside.row(words.into_iter().chain(numbers).chain([kernel_of_max.clone()]));
        }
        text.push_str(&beside.render(2, style.width));
        text
    }

    /// Returns the table as CSV, with a line per kernel and column.
    pub fn csv(&self) -> String {
        let mut text = "kernel,column,variant_a,variant_b,cycles_a,cycles_b,percent\n".to_owned();
        for kernel in &self.kernels {
            for (index, column) in self.columns.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "{},{},{},{},{},{},{}",
                    kernel.kernel,
                    column.name,
                    column.variant_a,
                    column.variant_b,
                    kernel.cycles[index],
                    kernel.cycles[index + 1],
                    (kernel.percent[index].0 * 10_000.0).round() / 10_000.0
                );
            }
        }
        text
    }
}

impl Report for Output<Ablation> {
    fn text(&self, style: Style) -> String {
        let tables: String = self.results.iter().map(|table| table.text(style)).collect();
        tables + &self.batch.text()
    }
}
