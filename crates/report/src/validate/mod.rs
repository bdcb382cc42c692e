//! The report of simulated beside measured cycles.

mod statistics;

use std::fmt::Write;

use serde::{Serialize, Serializer};

use super::Fraction;
use super::count;
use super::output::{Origin, Output, Report};
use super::plot::Scatter;
use super::style::Style;
use super::table::Table;
use statistics::{mean, median, pearson, rank_correlation};
use warpbound_core::machine::Machine;

/// The kernels that text lists, those with the largest errors first.
const SHOWN: usize = 30;

/// Measured beside simulated cycles, or warp instructions, on one machine under one policy. An error is
/// the difference of the simulated and the measured number, divided by the measured one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValidateResult {
    /// The file with the measurements.
    pub table: String,
    /// The GPU that was measured.
    pub gpu: String,
    /// The metric of the table. `smsp__inst_executed.sum` counts warp instructions, all others cycles.
    pub metric: String,
    /// The machine.
    #[serde(flatten)]
    pub origin: Origin,
    /// The policy.
    pub policy: String,
    /// The settings of the machine that are fitted to measurements; the values of all others come
    /// from the sources that its file states.
    pub fitted: Vec<FittedSetting>,
    /// The number of kernels that were compared; a program counts as one.
    pub compared: usize,
    /// The mean of the absolute errors of the kernels.
    pub mape: Fraction,
    /// The median of the absolute errors of the kernels.
    pub median_error: Fraction,
    /// The mean of the errors of the kernels, with their signs.
    pub mean_error: Fraction,
    /// The error with the largest absolute value.
    pub worst_error: Fraction,
    /// The kernel with that error.
    pub worst_kernel: String,
    /// The correlation of measured and simulated numbers (Pearson); absent if one does not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Fraction>,
    /// The correlation of their ranks (Spearman); absent if one does not vary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_correlation: Option<Fraction>,
    /// The bounds of these kernels beside what was measured; absent if no kernel has a proved bound, and
    /// for warp instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<BoundsBeside>,
    /// Every kernel that was compared, in the order of the table.
    pub kernels: Vec<KernelError>,
    /// The errors by the reason of most idle issue slots in the simulation.
    pub stalls: Vec<StallError>,
    /// Every launch of these kernels, or all launches of a kernel together if the table has one number
    /// for them.
    pub launches: Vec<LaunchError>,
    /// The kernels of the table that were not compared, and why.
    pub left_out: Vec<LeftOut>,
}

/// The bounds of kernels beside what was measured. A bound is proved for the machine that is simulated,
/// and says nothing about a GPU that takes longer than this machine can.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BoundsBeside {
    /// The number of kernels that have a proved bound.
    pub bounded: usize,
    /// Those of them for which the GPU took longer than the bound.
    pub exceeded: Vec<String>,
    /// The median of the bounds divided by the measured cycles.
    pub median_ratio: Fraction,
    /// The mean of these numbers.
    pub mean_ratio: Fraction,
    /// The least of these numbers.
    pub least_ratio: Fraction,
    /// The kernel with the least.
    pub least_kernel: String,
}

/// A setting that is fitted to a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FittedSetting {
    /// The name of the setting.
    pub setting: String,
    /// The measurement that it is fitted to.
    pub to: String,
}

/// A kernel, or a program with its launches summed up.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelError {
    /// The name of the kernel or program.
    pub kernel: String,
    /// The number of launches.
    pub launches: usize,
    /// The measured cycles, or warp instructions.
    pub measured: f64,
    /// The simulated cycles, or warp instructions.
    #[serde(serialize_with = "whole_if_possible")]
    pub simulated: f64,
    /// The error.
    pub error: Fraction,
    /// The smallest proved bound of the simulated cycles; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<u64>,
    /// The reason of most idle issue slots in the simulation, draining left out; absent if none was
    /// idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<String>,
}

/// A launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LaunchError {
    /// The name of the kernel or program.
    pub kernel: String,
    /// The number of the launch, from 0.
    pub launch: usize,
    /// The measured cycles, or warp instructions.
    pub measured: f64,
    /// The simulated cycles, or warp instructions.
    #[serde(serialize_with = "whole_if_possible")]
    pub simulated: f64,
    /// The error.
    pub error: Fraction,
}

/// The kernels with the same reason of most idle issue slots.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StallError {
    /// The reason; `none` if no issue slot was idle.
    pub stall: String,
    /// The number of kernels.
    pub compared: usize,
    /// The mean of the absolute errors.
    pub mape: Fraction,
    /// The mean of the errors, with their signs.
    pub mean_error: Fraction,
}

/// A kernel of the table that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The name in the table.
    pub kernel: String,
    /// The reason.
    pub reason: String,
}

/// A kernel that was measured and simulated.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The name of the kernel or program, or of the row of the table.
    pub kernel: String,
    /// The number of launches.
    pub launches: usize,
    /// The measured and the simulated number of each launch in order, or of all launches together.
    pub pairs: Vec<(f64, f64)>,
    /// The smallest proved bound of all launches together, if there is one.
    pub bound: Option<u64>,
    /// The reason of most idle issue slots.
    pub stall: Option<&'static str>,
}

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Cycles.
    Cycles,
    /// Instructions that warps executed.
    WarpInstructions,
}

impl Quantity {
    /// The name that Nsight Compute gives to the executed warp instructions.
    const INSTRUCTIONS: &str = "smsp__inst_executed.sum";

    /// Returns what a metric counts, by its name; after an @ it says how it was measured.
    pub fn of_metric(metric: &str) -> Self {
        match metric.split('@').next() {
            Some(Self::INSTRUCTIONS) => Self::WarpInstructions,
            _ => Self::Cycles,
        }
    }

    /// Returns its name in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::WarpInstructions => "warp instructions",
        }
    }
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The file.
    pub table: String,
    /// The GPU.
    pub gpu: String,
    /// The metric.
    pub metric: String,
}

fn error(measured: f64, simulated: f64) -> f64 {
    (simulated - measured) / measured
}

/// Writes a number without a decimal point if it is whole.
fn whole_if_possible<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    match *number {
        whole if whole.fract() == 0.0 && (0.0..EXACT).contains(&whole) => to.serialize_u64(whole as u64),
        other => to.serialize_f64(other),
    }
}

/// The number up to which every whole number is exact.
const EXACT: f64 = (1_u64 << 53) as f64;

impl ValidateResult {
    /// Returns the report of these kernels, or `None` if there are none.
    pub fn new(
        of: &Measured,
        machine: &Machine,
        policy: String,
        compared: &[Compared],
        left_out: Vec<LeftOut>,
    ) -> Option<Self> {
        let kernels: Vec<KernelError> = compared.iter().map(KernelError::new).collect();
        let errors: Vec<f64> = kernels.iter().map(|kernel| kernel.error.0).collect();
        let absolute: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let worst = kernels.iter().max_by(|a, b| a.error.0.abs().total_cmp(&b.error.0.abs()))?;
        let pairs: Vec<(f64, f64)> = kernels.iter().map(|of| (of.measured, of.simulated)).collect();
        let Measured { table, gpu, metric } = of.clone();
        Some(Self {
            table,
            gpu,
            metric,
            origin: Origin::new(machine),
            policy,
            fitted: machine
                .fitted()
                .map(|(setting, to)| FittedSetting { setting: setting.to_owned(), to: to.to_owned() })
                .collect(),
            compared: kernels.len(),
            mape: Fraction(mean(&absolute)?),
            median_error: Fraction(median(&absolute)?),
            mean_error: Fraction(mean(&errors)?),
            worst_error: worst.error,
            worst_kernel: worst.kernel.clone(),
            correlation: pearson(&pairs).map(Fraction),
            rank_correlation: rank_correlation(&pairs).map(Fraction),
            stalls: by_stall(&kernels),
            launches: compared.iter().flat_map(launches).collect(),
            bounds: BoundsBeside::new(&kernels),
            kernels,
            left_out,
        })
    }

    /// Returns the plot of simulated against measured cycles.
    pub fn scatter(&self) -> Scatter {
        let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for kernel in &self.kernels {
            let name = kernel.stall.clone().unwrap_or_else(|| "none".to_owned());
            let point = (kernel.measured, kernel.simulated);
            match series.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push(point),
                None => series.push((name, vec![point])),
            }
        }
        let counted = Quantity::of_metric(&self.metric).name();
        Scatter {
            title: format!("{} on {} ({})", self.metric, self.gpu, count(self.compared, "kernel")),
            x: format!("measured {counted}"),
            y: format!("{counted} simulated on {} under {}", self.origin.machine, self.policy),
            series,
        }
    }
}

impl KernelError {
    fn new(of: &Compared) -> Self {
        let measured = of.pairs.iter().map(|(measured, _)| measured).sum();
        let simulated = of.pairs.iter().map(|(_, simulated)| simulated).sum();
        Self {
            kernel: of.kernel.clone(),
            launches: of.launches,
            measured,
            simulated,
            error: Fraction(error(measured, simulated)),
            bound: of.bound,
            stall: of.stall.map(str::to_owned),
        }
    }
}

impl BoundsBeside {
    fn new(kernels: &[KernelError]) -> Option<Self> {
        let bounded = kernels.iter().filter_map(|of| Some((of, of.bound?)));
        let ratios: Vec<(f64, &str)> =
            bounded.map(|(of, bound)| (bound as f64 / of.measured, of.kernel.as_str())).collect();
        let &(least, least_kernel) = ratios.iter().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let exceeded = ratios.iter().filter(|(ratio, _)| *ratio < 1.0);
        let values: Vec<f64> = ratios.iter().map(|(ratio, _)| *ratio).collect();
        Some(Self {
            bounded: ratios.len(),
            exceeded: exceeded.map(|(_, kernel)| (*kernel).to_owned()).collect(),
            median_ratio: Fraction(median(&values)?),
            mean_ratio: Fraction(mean(&values)?),
            least_ratio: Fraction(least),
            least_kernel: least_kernel.to_owned(),
        })
    }

    /// Returns the same in words, about a GPU and the machine that the bounds are proved for.
    fn text(&self, gpu: &str, machine: &str) -> String {
        let have = if self.bounded == 1 { "kernel has" } else { "kernels have" };
        let took = match self.exceeded.as_slice() {
            [] => format!("On {gpu}, none took longer"),
            names => format!("On {gpu}, {} took longer", names.join(", ")),
        };
        format!(
            "{} {have} a proved bound on {machine}. {took}. The bounds are {:.2} times the measured cycles \
             in the median, {:.2} times on average, and at least {:.2} times ({}). They are proved for the \
             simulated machine, not for the GPU.",
            self.bounded, self.median_ratio.0, self.mean_ratio.0, self.least_ratio.0, self.least_kernel
        )
    }
}

fn launches(of: &Compared) -> impl Iterator<Item = LaunchError> + '_ {
    let row = |(launch, &(measured, simulated)): (usize, &(f64, f64))| LaunchError {
        kernel: of.kernel.clone(),
        launch,
        measured,
        simulated,
        error: Fraction(error(measured, simulated)),
    };
    of.pairs.iter().enumerate().map(row)
}

/// Returns the errors by stall reason, the reason of most kernels first.
fn by_stall(kernels: &[KernelError]) -> Vec<StallError> {
    let mut groups: Vec<(&str, Vec<f64>)> = Vec::new();
    for kernel in kernels {
        let stall = kernel.stall.as_deref().unwrap_or("none");
        match groups.iter_mut().find(|(known, _)| *known == stall) {
            Some((_, errors)) => errors.push(kernel.error.0),
            None => groups.push((stall, vec![kernel.error.0])),
        }
    }
    groups.sort_by(|(a, of_a), (b, of_b)| of_b.len().cmp(&of_a.len()).then(a.cmp(b)));
    let row = |(stall, errors): (&str, Vec<f64>)| {
        let absolute: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
        let (mape, mean_error) = (Fraction(mean(&absolute)?), Fraction(mean(&errors)?));
        Some(StallError { stall: stall.to_owned(), compared: errors.len(), mape, mean_error })
    };
    groups.into_iter().filter_map(row).collect()
}

impl Report for Output<ValidateResult> {
    fn text(&self, style: Style) -> String {
        let texts: Vec<String> = self.results.iter().map(|result| one(result, style)).collect();
        texts.join("\n") + &self.batch.text()
    }
}

/// Formats a number of cycles, which may be that of a single instruction.
fn number(value: f64) -> String {
    match value {
        whole if whole.fract() == 0.0 || whole >= 1000.0 => format!("{whole:.0}"),
        other if other >= 10.0 => format!("{other:.1}"),
        other => format!("{other:.3}"),
    }
}

fn percent(fraction: Fraction) -> String {
    format!("{:.1} %", fraction.0 * 100.0)
}

fn signed(fraction: Fraction) -> String {
    format!("{:+.1} %", fraction.0 * 100.0)
}

fn one(result: &ValidateResult, style: Style) -> String {
    let ValidateResult { table, gpu, metric, origin, policy, .. } = result;
    let heading = format!("{} under {policy}", origin.machine);
    let mut text = style.fill(&format!("{} beside {gpu}: {metric} of {table}\n", style.strong(&heading)));
    let correlation = |of: Option<Fraction>| of.map_or("none".to_owned(), |of| format!("{:.3}", of.0));
    text.push_str(&style.fill(&format!(
        "{} compared: mean absolute error {}, median {}, mean with sign {}; worst {} ({})\n",
        count(result.compared, "kernel"),
        percent(result.mape),
        percent(result.median_error),
        signed(result.mean_error),
        signed(result.worst_error),
        result.worst_kernel
    )));
    let _ = writeln!(
        text,
        "correlation {}, of ranks {}\n",
        correlation(result.correlation),
        correlation(result.rank_correlation)
    );
    if let Some(bounds) = &result.bounds {
        let _ = writeln!(text, "{}\n", style.fill(&bounds.text(gpu, &origin.machine)));
    }
    let mut stalls = Table::new(["most idle slots", "kernels", "mean absolute error", "mean error"], &[0]);
    for of in &result.stalls {
        stalls.row([of.stall.clone(), of.compared.to_string(), percent(of.mape), signed(of.mean_error)]);
    }
    text += &stalls.render(0, style.width);
    text.push('\n');
    text += &kernels(&result.kernels, style);
    text += &fitted(&result.fitted, style);
    text + &left_out(&result.left_out, style)
}

/// Returns text that lists the fitted settings.
fn fitted(all: &[FittedSetting], style: Style) -> String {
    let mut text = String::new();
    for FittedSetting { setting, to } in all {
        let _ = write!(text, "\n{}", style.fill(&format!("{setting} is fitted: {to}\n")));
    }
    text
}

/// Returns text that lists the reasons why kernels were not compared, each with its kernels.
fn left_out(all: &[LeftOut], style: Style) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for of in all {
        match reasons.iter_mut().find(|(known, _)| *known == of.reason) {
            Some((_, kernels)) => kernels.push(&of.kernel),
            None => reasons.push((&of.reason, vec![&of.kernel])),
        }
    }
    let mut text = String::new();
    for (reason, kernels) in reasons {
        let are = if kernels.len() == 1 { "is" } else { "are" };
        let all = count(kernels.len(), "kernel");
        let line = format!("{all} {are} not compared, because {reason}: {}\n", kernels.join(", "));
        let _ = write!(text, "\n{}", style.fill(&line));
    }
    text
}

/// Returns a table of the kernels with the largest errors.
fn kernels(all: &[KernelError], style: Style) -> String {
    let mut sorted: Vec<&KernelError> = all.iter().collect();
    sorted.sort_by(|a, b| b.error.0.abs().total_cmp(&a.error.0.abs()));
    let heading = ["kernel", "launches", "measured", "simulated", "error", "bound", "most idle slots"];
    let mut table = Table::new(heading, &[0, 6]);
    for of in sorted.iter().take(SHOWN) {
        table.row([
            of.kernel.clone(),
            of.launches.to_string(),
            number(of.measured),
            number(of.simulated),
            signed(of.error),
            of.bound.map_or_else(|| "-".to_owned(), |bound| bound.to_string()),
            of.stall.clone().unwrap_or_default(),
        ]);
    }
    let mut text = table.render(0, style.width);
    if let Some(more) = sorted.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let _ = writeln!(text, "and {} with smaller errors; --format csv lists all", count(more, "kernel"));
    }
    text
}
