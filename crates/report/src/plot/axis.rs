//! The axis of overestimations: bound divided by makespan on a logarithmic scale, labelled with the
//! overestimation in percent.

/// The range and the ticks of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct FactorAxis {
    /// The ends of the axis, as positions.
    pub ends: (f64, f64),
    /// The ticks, as positions.
    pub ticks: Vec<f64>,
}

/// The ticks if the overestimations have a wide range.
const FAR: [f64; 17] = [
    -0.9, -0.75, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0, 9.0, 19.0, 49.0, 99.0, 199.0, 499.0, 999.0, 9_999.0, 99_999.0,
];

impl FactorAxis {
    /// Returns the axis for these overestimations, which also includes 0.
    pub fn over(all: impl Iterator<Item = f64>) -> Self {
        let (least, most) =
            all.fold((0.0f64, 0.0f64), |(least, most), over| (least.min(over), most.max(over)));
        let most = most.max(0.05);
        let ticks: Vec<f64> = if most - least > 2.5 {
            FAR.into_iter().filter(|over| (least * 1.01..=most * 1.05).contains(over)).collect()
        } else {
            let step =
                [0.01, 0.02, 0.05, 0.1, 0.25, 0.5].into_iter().find(|step| (most - least) / step <= 7.0);
            let step = step.unwrap_or(0.5);
            let first = (least / step).ceil() as i64;
            (first..=(most * 1.05 / step).floor() as i64).map(|tick| tick as f64 * step).collect()
        };
        let (from, to) = (Self::position(least), Self::position(most));
        let margin = (to - from) * 0.04;
        let ends = (if least < 0.0 { from - margin } else { from }, to + margin);
        Self { ends, ticks: ticks.into_iter().map(Self::position).collect() }
    }

    /// Returns the position of an overestimation.
    pub fn position(over: f64) -> f64 {
        libm::log((over + 1.0).max(1e-3))
    }

    /// Returns the label at a position.
    pub fn label(position: f64) -> String {
        let percent = (libm::exp(position) - 1.0) * 100.0;
        format!("{} %", percent.round() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_read_as_percent() {
        for (over, labels) in [
            (vec![0.3], vec!["0 %", "5 %", "10 %", "15 %", "20 %", "25 %", "30 %"]),
            (vec![-0.05, 0.35], vec!["0 %", "10 %", "20 %", "30 %"]),
            (vec![12.0], vec!["0 %", "50 %", "100 %", "200 %", "400 %", "900 %"]),
        ] {
            let axis = FactorAxis::over(over.iter().copied());
            assert_eq!(axis.ticks.iter().map(|at| FactorAxis::label(*at)).collect::<Vec<_>>(), labels);
            assert!(axis.ticks.iter().all(|at| (axis.ends.0..=axis.ends.1 * 1.001).contains(at)), "{axis:?}");
        }
        assert!(FactorAxis::over(std::iter::empty()).ticks.len() > 1);
    }
}
