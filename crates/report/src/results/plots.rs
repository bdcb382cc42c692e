//! The plots of results.

use std::collections::BTreeSet;

use super::collected::{ByValue, Collected};
use super::figure::{Plot, file_name};
use super::methods;
use super::plotted::PlotData;
use super::units::with_unit;
use crate::plot::{Across, BarPlot, BarRow, BoxPlot, Line, Panel, Panels, Scale, Shown, capitalised};

/// The most policies that have plots of their own.
const POLICIES: usize = 8;
/// The most kernels in a plot.
const KERNELS: usize = 120;

/// Returns all plots: cycles and instructions per cycle by each axis, overestimation by each axis
/// and policy, its distribution by policy, and bars by kernel.
pub fn plots(all: &Collected) -> Vec<Plot> {
    let mut plots: Vec<Plot> = all.over_axes.iter().filter_map(|data| over_axis(data, all)).collect();
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
fn over_axis(data: &PlotData, all: &Collected) -> Option<Plot> {
    let mut plot = data.clone().panels().ok().filter(|plot| plot.distinct().len() > 1)?;
    let first = "All kernels and machines of the results; a line for each policy, judged or not.".to_owned();
    let mut notes = vec![first];
    if matches!(plot.across, Across::Numbers(_)) {
        let scale = scale_of(&plot.distinct());
        plot.across = Across::Numbers(scale);
        notes.extend(about(scale));
    }
    notes.extend(plot.all_notes());
    Some(Plot {
        name: file_name(&[&plot.title]),
        title: capitalised(&plot.title),
        note: notes.join(" "),
        svg: plot.bare_svg(&all.incomplete()),
    })
}

/// Returns the scale of an axis with these values: a logarithmic one for values of very different
/// size, most of which would lie close together on a linear one.
fn scale_of(values: &[f64]) -> Scale {
    const WIDE: f64 = 20.0;
    let (least, most) =
        values.iter().fold((f64::INFINITY, 0.0f64), |(least, most), at| (least.min(*at), most.max(*at)));
    if least > 0.0 && most / least >= WIDE { Scale::Log } else { Scale::Linear }
}

/// Returns a note about the scale of the axis from left to right.
fn about(scale: Scale) -> Option<String> {
    (scale == Scale::Log).then(|| "The axis from left to right is logarithmic.".to_owned())
}

/// Returns the plot of the mean overestimation of each bound against an axis, unless the axis has
/// one value.
fn by_axis(all: &Collected, axis: &str, known: &ByValue, policy: usize) -> Option<Plot> {
    let mut xs: Vec<usize> = known.sums.keys().filter(|key| key.0 == policy).map(|key| key.2).collect();
    let names = known.values.list();
    // numbers in numerical order, before words
    xs.sort_by(|a, b| {
        let (a, b) = (&names[*a], &names[*b]);
        match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(first), Ok(second)) => first.total_cmp(&second).then_with(|| a.cmp(b)),
            (Ok(_), Err(_)) => std::cmp::Ordering::Less,
            (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
            (Err(_), Err(_)) => a.cmp(b),
        }
    });
    xs.dedup();
    if xs.len() < 2 {
        return None;
    }
    let numbers: Option<Vec<f64>> =
        xs.iter().map(|x| names[*x].parse().ok().filter(|number: &f64| number.is_finite())).collect();
    let places = numbers.clone().unwrap_or_else(|| (0..xs.len()).map(|place| place as f64).collect());
    let line = |bound: usize| {
        let mean = |(x, place): (&usize, &f64)| {
            let (sum, points) = known.sums.get(&(policy, bound, *x))?;
            Some((*place, sum / *points as f64))
        };
        let points: Vec<(f64, f64)> = xs.iter().zip(&places).filter_map(mean).collect();
        (!points.is_empty()).then_some(Line { name: bound, shown: Shown::Points(points) })
    };
    let lines: Vec<Line> = (0..all.meaning.bounds.len()).filter_map(line).collect();
    let policy = &all.policies.list()[policy];
    let across = match numbers {
        Some(numbers) => Across::Numbers(scale_of(&numbers)),
        None => Across::Words(xs.iter().map(|x| names[*x].clone()).collect()),
    };
    let plot = Panels {
        title: String::new(),
        x_title: with_unit(axis),
        y_title: "mean overestimation".to_owned(),
        across,
        y_scale: Scale::Factor,
        percent: (false, false),
        names: all.meaning.bounds.clone(),
        panels: vec![Panel { title: String::new(), lines }],
        notes: Vec::new(),
    };
    let scale = match plot.across {
        Across::Numbers(scale) => about(scale),
        Across::Words(_) => None,
    };
    let notes = std::iter::once("The scale of bound over makespan is logarithmic.".to_owned()).chain(scale);
    Some(Plot {
        name: file_name(&["overestimation", axis, policy]),
        title: format!("Mean overestimation against {axis}, {policy}"),
        note: notes.chain(plot.all_notes()).collect::<Vec<_>>().join(" "),
        svg: plot.bare_svg(&all.incomplete()),
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
    let plot = BoxPlot { rows: rows.collect(), notes: all.incomplete() };
    let policy = &all.policies.list()[policy];
    (!plot.rows.is_empty()).then(|| Plot {
        name: file_name(&["spread", policy]),
        title: format!("Spread of overestimations, {policy}"),
        note: "A box ends at the quartiles, its line is the median, the diamond is the mean, and the whiskers end at the minimum and the maximum. Over all points to which the bound applies; logarithmic scale. Quartiles are exact to 1/64 of bound over makespan.".to_owned(),
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
    let plot = BarPlot {
        x_title: "mean overestimation".to_owned(),
        rows,
        legend,
        is_overestimation: true,
        notes: all.incomplete(),
    };
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
        notes: all.incomplete(),
    };
    (!plot.rows.is_empty()).then(|| Plot {
        name: "instructions-per-cycle".to_owned(),
        title: "Warp instructions per cycle by kernel".to_owned(),
        note: format!("Warp instructions over makespans, of all points of the kernel.{left_out}"),
        svg: plot.svg(),
    })
}
