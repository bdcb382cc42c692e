//! The plots of results.

use std::collections::BTreeSet;

use super::collected::{ByValue, Collected};
use super::figure::{Plot, file_name};
use super::formula::PlotData;
use super::methods;
use crate::plot::{BarPlot, BarRow, BoxPlot, LinePlot};

/// The most policies that have plots of their own.
const POLICIES: usize = 8;
/// The most kernels in a plot.
const KERNELS: usize = 120;

/// Returns all plots: cycles and instructions per cycle by each axis, overestimation by each axis and policy, its distribution by policy, and bars
/// by kernel.
pub fn plots(all: &Collected) -> Vec<Plot> {
    let mut plots: Vec<Plot> = all.over_axes.iter().filter_map(over_axis).collect();
    for (axis, values) in all.meaning.axes.iter().zip(&all.by_axis) {
        if let Some(values) = values {
            plots.extend(
                (0..all.policies.list().len().min(POLICIES))
                    .filter_map(|policy| by_axis(all, axis, values, policy)),
            );
        }
    }
    plots.extend((0..all.policies.list().len().min(POLICIES)).filter_map(|policy| spread(all, policy)));
    plots.extend(overestimation_by_kernel(all));
    plots.extend(instructions_by_kernel(all));
    plots.extend(all.worst_cases.iter().map(methods::plot));
    number_equal_names(&mut plots);
    plots
}

/// Numbers the plots whose files would have the same name.
fn number_equal_names(plots: &mut [Plot]) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for plot in plots {
        let name = plot.name.clone();
        for number in 2.. {
            if known.insert(plot.name.clone()) {
                break;
            }
            plot.name = format!("{name}-{number}");
        }
    }
}

/// Returns the plot of a quantity against an axis, unless the axis has one value or too many.
fn over_axis(data: &PlotData) -> Option<Plot> {
    let plot = data.clone().panels().ok().filter(|plot| plot.values() > 1)?;
    Some(Plot {
        name: file_name(&[&plot.title]),
        title: capitalised(&plot.title),
        note: "All kernels and machines of the results; a line for each policy, judged or not. Where lines coincide, the one below is wider.".to_owned(),
        svg: plot.untitled().svg(),
    })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn by_axis(all: &Collected, axis: &str, values: &ByValue, policy: usize) -> Option<Plot> {
    let xs: BTreeSet<&str> = values.keys().filter(|key| key.0 == policy).map(|key| key.2.as_str()).collect();
    let mut xs: Vec<&str> = xs.into_iter().collect();
    if xs.len() < 2 {
        return None;
    }
    // numbers in numerical order, before words
    xs.sort_by(|a, b| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        (Ok(_), Err(_)) => std::cmp::Ordering::Less,
        (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    });
    let series = all.meaning.bounds.iter().enumerate().filter_map(|(bound, name)| {
        let mean = |x: &&str| {
            let (sum, points) = values.get(&(policy, bound, (*x).to_owned()))?;
            Some(sum / *points as f64)
        };
        let means: Vec<Option<f64>> = xs.iter().map(mean).collect();
        means.iter().any(Option::is_some).then(|| (name.clone(), bound, means))
    });
    let plot = LinePlot {
        x_title: axis.to_owned(),
        xs: xs.iter().map(|x| (*x).to_owned()).collect(),
        series: series.collect(),
    };
    let policy = &all.policies.list()[policy];
    Some(Plot {
        name: file_name(&["overestimation", axis, policy]),
        title: format!("Mean overestimation against {axis}, {policy}"),
        note: "Values at equal distances; the scale of bound over makespan is logarithmic.".to_owned(),
        svg: plot.svg(),
    })
}

fn spread(all: &Collected, policy: usize) -> Option<Plot> {
    let rows = all.meaning.bounds.iter().enumerate().filter_map(|(bound, name)| {
        let spread = all.spreads.get(&(bound, policy))?;
        let five = [
            spread.least()?,
            spread.quantile(0.25)?,
            spread.quantile(0.5)?,
            spread.quantile(0.75)?,
            spread.most()?,
        ];
        Some((name.clone(), bound, five, spread.mean()?))
    });
    let plot = BoxPlot { rows: rows.collect() };
    let policy = &all.policies.list()[policy];
    (!plot.rows.is_empty()).then(|| Plot {
        name: file_name(&["spread", policy]),
        title: format!("Spread of overestimations, {policy}"),
        note: "Over all points to which the bound applies; logarithmic scale. Quartiles are exact to 1/64 of bound over makespan.".to_owned(),
        svg: plot.svg(),
    })
}

/// Returns the kernels that are drawn, and a note if these are not all.
fn shown(all: &Collected) -> (Vec<usize>, String) {
    let kernels: Vec<usize> = all.by_kernel.keys().copied().take(KERNELS).collect();
    let left_out = match all.by_kernel.len() {
        known if known > KERNELS => format!(" The first {KERNELS} of {known} kernels."),
        _ => String::new(),
    };
    (kernels, left_out)
}

fn overestimation_by_kernel(all: &Collected) -> Option<Plot> {
    let (kernels, left_out) = shown(all);
    let mut used = BTreeSet::new();
    let rows: Vec<_> = kernels
        .iter()
        .filter_map(|kernel| {
            let sums = &all.by_kernel[kernel];
            // bounds for single policies have means over fewer points, which are not comparable
            let most = sums.bounds.iter().map(|(points, ..)| *points).max()?;
            let comparable = (0..sums.bounds.len()).filter(|bound| sums.bounds[*bound].0 == most);
            let means = comparable.filter_map(|bound| Some((bound, sums.mean(bound)?)));
            let mut means: Vec<(usize, f64)> = means.collect();
            used.extend(means.iter().map(|(bound, _)| *bound));
            let least = (0..means.len()).min_by(|a, b| means[*a].1.total_cmp(&means[*b].1))?;
            let bar = means.remove(least);
            Some(BarRow { name: all.kernels.list()[*kernel].clone(), bar: Some(bar), dots: means })
        })
        .collect();
    let legend = used.into_iter().map(|bound| (all.meaning.bounds[bound].clone(), bound)).collect();
    let plot = BarPlot { x_title: "mean overestimation".to_owned(), rows, legend, is_overestimation: true };
    (!plot.rows.is_empty()).then(|| Plot {
        name: "kernels".to_owned(),
        title: "Mean overestimation by kernel".to_owned(),
        note: format!("The bar is the bound with the smallest mean, the dots are the others that apply to as many points. All machines and policies; logarithmic scale.{left_out}"),
        svg: plot.svg(),
    })
}

fn instructions_by_kernel(all: &Collected) -> Option<Plot> {
    let (kernels, left_out) = shown(all);
    let rows: Vec<_> = kernels
        .iter()
        .filter_map(|kernel| {
            let per_cycle = all.by_kernel[kernel].per_cycle()?;
            Some(BarRow {
                name: all.kernels.list()[*kernel].clone(),
                bar: Some((0, per_cycle)),
                dots: Vec::new(),
            })
        })
        .collect();
    let plot = BarPlot {
        x_title: "warp instructions per cycle".to_owned(),
        rows,
        legend: Vec::new(),
        is_overestimation: false,
    };
    (!plot.rows.is_empty()).then(|| Plot {
        name: "instructions-per-cycle".to_owned(),
        title: "Warp instructions per cycle by kernel".to_owned(),
        note: format!("Warp instructions over makespans, of all points of the kernel.{left_out}"),
        svg: plot.svg(),
    })
}
