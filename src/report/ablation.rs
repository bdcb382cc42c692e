//! The ablation table, as text, JSON and CSV.

use std::fmt::Write;

use serde::Serialize;

use super::json::{Batch, Origin, SCHEMA, rounded};
use super::style::Style;
use super::table::Table;
use crate::check::ablation::{COLUMNS, Row, Summary, VARIANTS, Variants};

/// What `ablate` says.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "names say it, with their units")]
pub struct Ablation {
    pub schema: u32,
    pub machine: String,
    pub scheduler: String,
    /// Cycles of a lone coalesced load without caches; every global access in the paper model.
    pub load_latency: u64,
    pub columns: Vec<Column>,
    pub kernels: Vec<Kernel>,
    #[serde(flatten)]
    pub batch: Batch,
    #[serde(flatten)]
    pub origin: Origin,
}

/// A column of Table 2.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "as above")]
pub struct Column {
    pub name: &'static str,
    pub variant_a: &'static str,
    pub variant_b: &'static str,
    #[serde(flatten)]
    pub percent: Summary,
}

/// A kernel.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "as above")]
pub struct Kernel {
    pub kernel: String,
    /// In the order of the variants: A of the first column, then B of each.
    pub cycles: Vec<u64>,
    /// One per column.
    pub percent: Vec<f64>,
}

impl Ablation {
    /// The report over these rows, and what became of the other kernels.
    pub fn new(
        machine: &str,
        scheduler: String,
        variants: &Variants,
        rows: &[Row],
        seed: u64,
        batch: Batch,
    ) -> Self {
        let column = |(index, name): (usize, &&'static str)| {
            let Summary { mean, std_dev, min, max } = Summary::of(rows, index);
            let percent = Summary {
                mean: rounded(mean),
                std_dev: rounded(std_dev),
                min: rounded(min),
                max: rounded(max),
            };
            Column { name, variant_a: VARIANTS[index], variant_b: VARIANTS[index + 1], percent }
        };
        let kernel = |row: &Row| Kernel {
            kernel: row.kernel.clone(),
            cycles: row.cycles.to_vec(),
            percent: (0..COLUMNS.len()).map(|column| rounded(row.percent(column))).collect(),
        };
        Self {
            schema: SCHEMA,
            machine: machine.to_owned(),
            scheduler,
            load_latency: variants.load_latency,
            // over no kernel there is no mean
            columns: COLUMNS.iter().enumerate().filter(|_| !rows.is_empty()).map(column).collect(),
            kernels: rows.iter().map(kernel).collect(),
            batch,
            origin: Origin::new(&variants.machines[0], seed),
        }
    }

    /// For people: Table 2, then every kernel.
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let heading = format!(
            "ablation of {} under {}, {} kernels: 100 * cycles(A) / cycles(B) in %; below 100 B is slower\n\n",
            self.machine,
            self.scheduler,
            self.kernels.len()
        );
        text.push_str(&style.fill(&heading));
        let heading = |first: &'static str| std::iter::once(first).chain(COLUMNS);
        let mut summary = Table::new(heading(""), &[0]);
        let mut line = |name: &str, of: &dyn Fn(&Summary) -> f64| {
            let values = self.columns.iter().map(|column| format!("{:.2}", of(&column.percent)));
            summary.row(std::iter::once(name.to_owned()).chain(values));
        };
        line("mean", &|summary| summary.mean);
        line("std. dev.", &|summary| summary.std_dev);
        line("min", &|summary| summary.min);
        line("max", &|summary| summary.max);
        let mut kernels = Table::new(heading("kernel").chain(["cycles A", "cycles paper model"]), &[0]);
        for kernel in &self.kernels {
            let percent = kernel.percent.iter().map(|percent| format!("{percent:.2}"));
            let ends = [kernel.cycles[0], kernel.cycles[VARIANTS.len() - 1]].map(|cycles| cycles.to_string());
            kernels.row(std::iter::once(kernel.kernel.clone()).chain(percent).chain(ends));
        }
        text.push_str(&summary.render(2, style.width));
        text.push('\n');
        text.push_str(&kernels.render(2, style.width));
        text.push_str(&style.fill(&format!(
            "\nEach column's A is the B before it. In the paper model a global access takes {} cycles, as a lone coalesced\n\
             load does without caches; it also has no operand collector, write-back stages or bank conflicts.\n",
            self.load_latency
        )));
        text
    }

    /// For tables: a line per kernel and column.
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
                    kernel.percent[index]
                );
            }
        }
        text
    }
}
