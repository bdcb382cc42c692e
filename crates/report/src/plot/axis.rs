//! The range and the labels of an axis.

use crate::html::grouped;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear, from the minimum to the maximum.
    #[default]
    Linear,
    /// Linear, including 0.
    FromZero,
    /// Logarithmic, from the minimum to the maximum; values that are not positive are left out.
    Log,
    /// Logarithmic, between powers of ten; values that are not positive are left out.
    Decades,
    /// Overestimations: bound over makespan on a logarithmic scale that includes 1, labelled with
    /// the overestimation in percent.
    Factor,
}

impl Scale {
    /// Returns the position of a value; `None` if it has none.
    pub(super) fn position(self, value: f64) -> Option<f64> {
        match self {
            Self::Linear | Self::FromZero => value.is_finite().then_some(value),
            Self::Log | Self::Decades => (value > 0.0 && value.is_finite()).then(|| libm::log10(value)),
            Self::Factor => value.is_finite().then(|| libm::log((value + 1.0).max(1e-3))),
        }
    }
}

/// A tick with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// Its position.
    pub at: f64,
    value: f64,
    pub label: String,
}

/// An axis with ends and ticks, in positions of its scale.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ruled {
    pub scale: Scale,
    pub ends: (f64, f64),
    pub ticks: Vec<Tick>,
    /// The digits after the decimal point of labels.
    digits: usize,
}

/// The ticks of overestimations with a wide range.
const FAR: [f64; 17] = [
    -0.9, -0.75, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0, 9.0, 19.0, 49.0, 99.0, 199.0, 499.0, 999.0, 9_999.0, 99_999.0,
];

/// The most values that are ticks themselves.
const SAMPLED: usize = 9;

impl Ruled {
    /// Returns an axis with a tick for each of these words, at 0, 1, 2 and so on.
    pub fn of_words(words: &[String]) -> Self {
        let tick = |(place, word): (usize, &String)| Tick {
            at: place as f64,
            value: place as f64,
            label: word.clone(),
        };
        let ticks = words.iter().enumerate().map(tick).collect();
        let last = words.len().max(1) as f64 - 1.0;
        Self { scale: Scale::Linear, ends: (-0.5, last + 0.5), ticks, digits: 0 }
    }

    /// Returns the axis of these values.
    pub fn over(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let found = values.filter(|value| scale.position(*value).is_some());
        let (mut least, mut most) =
            found.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), at| (least.min(at), most.max(at)));
        if matches!(scale, Scale::FromZero | Scale::Factor) {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        if least > most || scale == Scale::FromZero && least == most {
            (least, most) =
                if matches!(scale, Scale::Log | Scale::Decades) { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        match scale {
            Scale::Linear | Scale::FromZero => Self::linear(scale, least, most),
            Scale::Log => Self::logarithmic(least, most),
            Scale::Decades => Self::decades(least, most),
            Scale::Factor => Self::factor(least, most),
        }
    }

    fn linear(scale: Scale, least: f64, most: f64) -> Self {
        let margin = ((most - least) * 0.04).max(most.abs().max(least.abs()) * 1e-9).max(1e-12);
        let ends = (
            if scale == Scale::FromZero && least == 0.0 { 0.0 } else { least - margin },
            if scale == Scale::FromZero && most == 0.0 { 0.0 } else { most + margin },
        );
        let step = nice_step(ends.1 - ends.0);
        let first = (ends.0 / step).ceil();
        let count = ((ends.1 / step).floor() - first).clamp(0.0, 20.0) as u32;
        let digits = (0..=6).find(|digits| {
            let scaled = step * libm::pow(10.0, f64::from(*digits));
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        });
        let digits = digits.unwrap_or(6) as usize;
        let tick = |number: u32| (first + f64::from(number)) * step;
        Self { scale, ends, ticks: Vec::new(), digits }.ruled((0..=count).map(tick), decimal)
    }

    fn logarithmic(least: f64, most: f64) -> Self {
        let (from, to) = (libm::log10(least), libm::log10(most));
        let margin = ((to - from) * 0.04).max(0.02);
        let ends = (from - margin, to + margin);
        let (first, last) = (ends.0.floor() as i32, ends.1.ceil() as i32);
        let power = |power: i32| libm::pow(10.0, f64::from(power));
        // powers of ten, and what is between them as long as it is few
        let between: &[f64] = match ends.1 - ends.0 {
            range if range > 3.0 => &[1.0],
            range if range > 0.8 => &[1.0, 2.0, 5.0],
            range if range > 0.3 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
            _ => return Self { scale: Scale::Log, ends, ticks: Vec::new(), digits: 0 }.at_steps(least, most),
        };
        let step = ((last - first) / 8).max(1);
        let all = (first..=last)
            .filter(|at| at.rem_euclid(step) == 0)
            .flat_map(|at| between.iter().map(move |factor| factor * power(at)));
        let inside = |value: &f64| (ends.0..=ends.1).contains(&libm::log10(*value));
        Self { scale: Scale::Log, ends, ticks: Vec::new(), digits: 0 }
            .ruled(all.filter(inside), |value, _| shortest(value))
    }

    /// Adds ticks at equal steps, for a logarithmic axis with a narrow range.
    fn at_steps(self, least: f64, most: f64) -> Self {
        let linear = Self::linear(Scale::Linear, least, most);
        let digits = linear.digits;
        let inside = |value: &f64| {
            self.scale.position(*value).is_some_and(|at| (self.ends.0..=self.ends.1).contains(&at))
        };
        let values: Vec<f64> = linear.ticks.iter().map(|tick| tick.value).filter(inside).collect();
        Self { digits, ..self }.ruled(values.into_iter(), decimal)
    }

    fn decades(least: f64, most: f64) -> Self {
        let (least, most) = (libm::log10(least), libm::log10(most));
        let (first, last) = (least.floor(), most.ceil().max(least.floor() + 1.0));
        let step = ((last - first) / 8.0).ceil().max(1.0);
        let count = ((last - first) / step) as u32;
        let tick = |number: u32| {
            let at = first + f64::from(number) * step;
            let label = if at == 0.0 { "1".to_owned() } else { format!("1e{}", at.round() as i64) };
            Tick { at, value: libm::pow(10.0, at), label }
        };
        let ticks = (0..=count).map(tick).collect();
        Self { scale: Scale::Decades, ends: (first, last), ticks, digits: 0 }
    }

    fn factor(least: f64, most: f64) -> Self {
        let most = most.max(0.05);
        let values: Vec<f64> = if most - least > 2.5 {
            FAR.into_iter().filter(|over| (least * 1.01..=most * 1.05).contains(over)).collect()
        } else {
            let step =
                [0.01, 0.02, 0.05, 0.1, 0.25, 0.5].into_iter().find(|step| (most - least) / step <= 7.0);
            let step = step.unwrap_or(0.5);
            let first = (least / step).ceil() as i64;
            (first..=(most * 1.05 / step).floor() as i64).map(|tick| tick as f64 * step).collect()
        };
        let at = |over: f64| Scale::Factor.position(over).unwrap_or(0.0);
        let (from, to) = (at(least), at(most));
        let margin = (to - from) * 0.04;
        let ends = (if least < 0.0 { from - margin } else { from }, to + margin);
        Self { scale: Scale::Factor, ends, ticks: Vec::new(), digits: 2 }.ruled(values.into_iter(), percent)
    }

    /// Returns the axis with these ticks.
    fn ruled(self, values: impl Iterator<Item = f64>, label: impl Fn(f64, usize) -> String) -> Self {
        let (scale, digits) = (self.scale, self.digits);
        let tick = |value| Some(Tick { at: scale.position(value)?, value, label: label(value, digits) });
        Self { ticks: values.filter_map(tick).collect(), ..self }
    }

    /// Returns the axis with the values themselves as ticks, if these are few and in order.
    pub fn at_values(self, values: &[f64]) -> Self {
        if values.len() > SAMPLED || values.is_empty() {
            return self;
        }
        self.ruled(values.iter().copied(), |value, _| shortest(value))
    }

    /// Returns the axis with its values in percent.
    pub fn in_percent(self) -> Self {
        let values: Vec<f64> = self.ticks.iter().map(|tick| tick.value).collect();
        let digits = if self.scale == Scale::Log {
            2 + usize::from(values.iter().any(|value| *value < 0.01))
        } else {
            self.digits
        };
        Self { digits, ..self }.ruled(values.into_iter(), percent)
    }

    /// Returns the position of a value that lies inside the axis.
    pub fn at(&self, value: f64) -> Option<f64> {
        self.scale.position(value).filter(|at| (self.ends.0..=self.ends.1).contains(at))
    }

    /// Returns the position of a value; for a value outside of the axis, the nearer end.
    pub fn within(&self, value: f64) -> f64 {
        self.scale.position(value).map_or(self.ends.0, |at| at.clamp(self.ends.0, self.ends.1))
    }

    /// Returns the share of the axis that lies before a position.
    pub fn share(&self, at: f64) -> f64 {
        (at - self.ends.0) / (self.ends.1 - self.ends.0)
    }
}

/// Returns a share as percent, with two digits less.
fn percent(share: f64, digits: usize) -> String {
    format!("{:.*} %", digits.saturating_sub(2), share * 100.0)
}

fn decimal(value: f64, digits: usize) -> String {
    if digits == 0 && value >= 0.0 {
        grouped(value.round() as u64)
    } else {
        format!("{:.*}", digits, if value == 0.0 { 0.0 } else { value })
    }
}

/// Returns the shortest form of a number.
fn shortest(value: f64) -> String {
    let is_whole = value == value.round();
    if is_whole && (0.0..1e7).contains(&value) {
        grouped(value as u64)
    } else if value.abs() >= 1e7 || value != 0.0 && value.abs() < 1e-4 {
        format!("{value:e}")
    } else {
        // a power that was computed may differ in its last digit
        format!("{}", (value * 1e9).round() / 1e9)
    }
}

/// Returns a step that yields three to eight ticks up to `most`.
fn nice_step(most: f64) -> f64 {
    let mut step = 0.001;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle().take(60) {
        if most / step <= 8.0 {
            break;
        }
        step *= factor;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Ruled) -> Vec<String> {
        let (from, to) = axis.ends;
        assert!(
            axis.ticks.iter().all(|tick| (from..=to + to.abs() * 1e-3 + 1e-9).contains(&tick.at)),
            "{axis:?}"
        );
        axis.ticks.iter().map(|tick| tick.label.clone()).collect()
    }

    fn over(scale: Scale, values: &[f64]) -> Vec<String> {
        labels(&Ruled::over(scale, values.iter().copied()))
    }

    #[test]
    fn axes_have_few_round_labels() {
        assert_eq!(over(Scale::FromZero, &[0.2, 0.9]), ["0.0", "0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(
            over(Scale::Linear, &[118_000.0, 141_000.0]),
            ["120,000", "125,000", "130,000", "135,000", "140,000"]
        );
        assert_eq!(over(Scale::Linear, &[-0.1, 0.1]), ["-0.10", "-0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(over(Scale::Decades, &[0.002, 0.9, 0.0, -1.0]), ["1e-3", "1e-2", "1e-1", "1"]);
        assert_eq!(over(Scale::Decades, &[1e-15, 1.0]).len(), 8);
        assert_eq!(over(Scale::Log, &[5.0, 400.0, -1.0]), ["5", "10", "20", "50", "100", "200"]);
        assert_eq!(over(Scale::Log, &[1.0, 1e6]).len(), 7);
        // no value, a single value, and values that are not finite or extreme
        for scale in [Scale::Linear, Scale::FromZero, Scale::Log, Scale::Decades, Scale::Factor] {
            for values in [&[][..], &[5.0], &[f64::NAN, f64::INFINITY], &[1e100, -1e100], &[1e-300, 1e-299]] {
                assert!(over(scale, values).len() < 25, "{scale:?} {values:?}");
            }
        }
    }

    #[test]
    fn overestimations_read_as_percent() {
        for (values, expected) in [
            (vec![0.3], vec!["0 %", "5 %", "10 %", "15 %", "20 %", "25 %", "30 %"]),
            (vec![-0.05, 0.35], vec!["0 %", "10 %", "20 %", "30 %"]),
            (vec![12.0], vec!["0 %", "50 %", "100 %", "200 %", "400 %", "900 %"]),
        ] {
            assert_eq!(over(Scale::Factor, &values), expected);
        }
        let shares = Ruled::over(Scale::FromZero, [0.031].into_iter()).in_percent();
        assert_eq!(labels(&shares)[..2], ["0.0 %", "0.5 %"]);
    }

    #[test]
    fn few_values_are_ticks_themselves() {
        let axis = |values: &[f64]| Ruled::over(Scale::Linear, values.iter().copied()).at_values(values);
        assert_eq!(labels(&axis(&[100.0, 200.0, 1500.0])), ["100", "200", "1,500"]);
        assert_eq!(labels(&axis(&[0.25, 0.5])), ["0.25", "0.5"]);
        let many: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(axis(&many).ticks.len() < 10);
    }
}
