//! The products and the network as text.

use std::fmt::Write;

use super::published::SIZES;
use super::{Fit, Network, PastisResult, ProductRow};
use crate::Fraction;
use crate::style::Style;
use crate::table::Table;

impl PastisResult {
    /// Returns the text for people.
    pub fn text(&self, style: Style) -> String {
        let heading = format!(
            "{}, {}: products of integer matrices on {} under {}, in cycles\n\n",
            self.figure, self.paper, self.origin.machine, self.policy
        );
        let mut text = style.fill(&style.strong(&heading));
        text.push_str(&products(&self.products).render(2, style.width));
        let agree = self.products.iter().filter(|row| row.agrees()).count();
        let _ = writeln!(
            text,
            "\nshared reads and writes equal the board's in {agree} of {} runs",
            self.products.len()
        );
        let heading = "\nThe cost of a launch in cycles, fitted to each product of machine code, and the differences \
        from the board with this cost\n\n";
        text.push_str(&style.fill(&style.strong(heading)));
        text.push_str(&fits(&self.fits, &self.products).render(2, style.width));
        if let Some(network) = &self.network {
            let heading = format!(
                "\nSection V, {}: a network {} reads {} digits\n\n",
                self.paper,
                SIZES.map(|size| size.to_string()).join("-"),
                network.images
            );
            text.push_str(&style.fill(&style.strong(&heading)));
            text.push_str(&layers(network, style).render(2, style.width));
            text.push('\n');
            text.push_str(&style.fill(&classified(network)));
        }
        let heading =
            "\nCycles under run-to-barrier, PasTiS's own policy: a warp runs to its end or to a barrier\n\n";
        text.push_str(&style.fill(&style.strong(heading)));
        text.push_str(&self.policies().render(2, style.width));
        text.push('\n');
        for statement in &self.statements {
            text.push_str(&style.fill(&statement.text()));
        }
        for note in &self.notes {
            text.push_str(&style.fill(&format!("note: {note}\n")));
        }
        let _ = writeln!(text, "\n  warpbound run imatmul_tiled_4x4@sm_61 --machine {}", self.origin.machine);
        if let Some(network) = &self.network {
            let _ =
                writeln!(text, "  warpbound run {}@sm_61 --machine {}", network.program, self.origin.machine);
            let _ =
                writeln!(text, "  warpbound check {}@sm_61 --machine {}", network.program, network.judged_on);
        }
        text
    }
}

impl PastisResult {
    /// Returns the table of every launch under both policies.
    fn policies(&self) -> Table {
        let heading = ["launch", "code", self.policy.as_str(), "run-to-barrier", "times as long"];
        let mut table = Table::new(heading, &[0, 1]);
        let mut row = |what: String, code: &str, cycles: u64, to_barrier: u64| {
            let times = to_barrier as f64 / cycles.max(1) as f64;
            table.row([
                what,
                code.to_owned(),
                cycles.to_string(),
                to_barrier.to_string(),
                format!("{times:.2}"),
            ]);
        };
        for product in &self.products {
            let ProductRow { side, code, cycles, cycles_run_to_barrier, .. } = product;
            row(format!("{side}x{side}"), code, *cycles, *cycles_run_to_barrier);
        }
        for run in self.network.iter().flat_map(|network| &network.codes) {
            for layer in &run.layers {
                let what = format!("{}-{}", layer.inputs, layer.neurons);
                row(what, run.code, layer.cycles, layer.cycles_run_to_barrier);
            }
        }
        table
    }
}

/// Formats a fraction as percent with its sign.
fn percent(fraction: Fraction) -> String {
    format!("{:+.1} %", 100.0 * fraction.0)
}

fn products(rows: &[ProductRow]) -> Table {
    let heading = ["size", "code", "reads", "writes", "cycles", "error", "board", "PasTiS", "error"];
    let mut table = Table::new(heading, &[0, 1]);
    for row in rows {
        let marked = |ours: u64, theirs: u64| {
            if ours == theirs { ours.to_string() } else { format!("{ours}, not {theirs}") }
        };
        table.row([
            format!("{0}x{0}", row.side),
            row.code.to_owned(),
            marked(row.shared_reads, row.shared_reads_published),
            marked(row.shared_writes, row.shared_writes_published),
            row.cycles.to_string(),
            percent(row.error),
            row.cycles_board.to_string(),
            row.cycles_pastis.to_string(),
            percent(row.error_pastis),
        ]);
    }
    table
}

fn fits(fits: &[Fit], products: &[ProductRow]) -> Table {
    let size = |side: u32| format!("{side}x{side}");
    let sizes = fits.iter().map(|fit| size(fit.side));
    let heading: Vec<String> = ["by".to_owned(), "launch".to_owned()].into_iter().chain(sizes).collect();
    let mut table = Table::new(heading.iter().map(String::as_str), &[0]);
    for fit in fits {
        let errors = fit
            .errors
            .iter()
            .zip(fits)
            .map(|(error, of)| if of.side == fit.side { "fitted".to_owned() } else { percent(*error) });
        table.row([size(fit.side), fit.launch.to_string()].into_iter().chain(errors));
    }
    let theirs = products.iter().filter(|row| row.code != "ptx").map(|row| percent(row.error_pastis));
    table.row(["PasTiS".to_owned(), String::new()].into_iter().chain(theirs));
    table
}

fn layers(network: &Network, style: Style) -> Table {
    let judged = format!("on {}", network.judged_on);
    let heading = ["layer", "code", "instructions", "cycles", &judged, "lwb over", "bounds"];
    let mut table = Table::new(heading, &[0, 1, 6]);
    for at in 0..network.codes.iter().map(|run| run.layers.len()).max().unwrap_or(0) {
        for run in &network.codes {
            let Some(layer) = run.layers.get(at) else { continue };
            table.row([
                format!("{}-{}", layer.inputs, layer.neurons),
                run.code.to_owned(),
                layer.warp_instructions.to_string(),
                layer.cycles.to_string(),
                layer.cycles_judged.to_string(),
                layer.overestimation.map_or_else(|| "-".to_owned(), percent),
                layer.status.text(style),
            ]);
        }
    }
    table
}

/// Returns a sentence on how the classes compare.
fn classified(network: &Network) -> String {
    let Network { images, right, .. } = network;
    let share = |right: usize| 100.0 * right as f64 / (*images).max(1) as f64;
    let mut text = format!("numpy: {right} of {images} right, {:.4} %\n", share(*right));
    for run in &network.codes {
        let classes = match run.other_classes {
            0 => "the class of every image is numpy's".to_owned(),
            1 => "the class of 1 image is NOT numpy's".to_owned(),
            several => format!("the classes of {several} images are NOT numpy's"),
        };
        let _ = writeln!(
            text,
            "{}: {} of {images} right; {classes}, outputs differ by {:.1e} at most",
            run.code, run.right, run.largest_difference
        );
    }
    let same = if network.same_bytes { "the same bytes" } else { "DIFFERENT bytes" };
    if network.codes.len() > 1 {
        let _ = writeln!(text, "all of them leave {same}");
    }
    text
}
