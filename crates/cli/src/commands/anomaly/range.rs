//! The setting to sweep and its values.

use warpbound_core::diag::Diagnostic;

/// The default of `--sweep`: total cycles of a global load in the range of Jeanmougin et al., ECRTS
/// 2025, in steps of five.
const DEFAULT: &str = "mem-latency=5..=400:5";
/// The most values of one sweep.
const MAX_VALUES: u64 = 10_000;

/// A machine setting and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The setting.
    pub setting: Swept,
    /// The values, in descending order.
    pub values: Vec<u64>,
}

/// The setting that is swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swept {
    /// The option `--mem-latency`.
    MemLatency,
    /// The option `--set PATH=`.
    Path(String),
}

impl Swept {
    /// Returns the name in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::MemLatency => "mem-latency",
            Self::Path(path) => path,
        }
    }

    /// Returns the option that sets it to a value, as two words.
    pub fn option(&self, value: u64) -> [String; 2] {
        match self {
            Self::MemLatency => ["--mem-latency".to_owned(), value.to_string()],
            Self::Path(path) => ["--set".to_owned(), format!("{path}={value}")],
        }
    }
}

/// Parses `PATH=FROM..=TO[:STEP]`; `None` stands for the default.
///
/// # Errors
/// If the text is not a valid sweep.
pub fn parse(given: Option<&str>) -> Result<Sweep, Diagnostic> {
    let text = given.unwrap_or(DEFAULT);
    let wrong = |message: &str| {
        Diagnostic::general(format!("--sweep {text}"), message)
            .hint("for example --sweep mem-latency=5..=400:5 or --sweep units.int.lat=0..=20")
    };
    let (path, range) = text.split_once('=').ok_or_else(|| wrong("expected PATH=FROM..=TO[:STEP]"))?;
    let (range, step) = range.split_once(':').unwrap_or((range, "1"));
    let (from, to) = range.split_once("..=").ok_or_else(|| wrong("expected FROM..=TO after the path"))?;
    let number =
        |word: &str| word.trim().parse::<u64>().map_err(|_| wrong(&format!("`{word}` is no number")));
    let (a, b, step) = (number(from)?, number(to)?, number(step)?);
    let setting = match path.trim() {
        "" => return Err(wrong("expected a path before `=`")),
        "mem-latency" => Swept::MemLatency,
        path => Swept::Path(path.to_owned()),
    };
    if a > b {
        return Err(wrong("the range is empty: the larger value comes second"));
    }
    let (low, high) = (a, b);
    if step == 0 {
        return Err(wrong("the step is 0"));
    }
    if (high - low) / step >= MAX_VALUES {
        return Err(wrong(&format!("more than {MAX_VALUES} values")));
    }
    // counted from the top, so that the largest value is always included
    Ok(Sweep { setting, values: (0..=(high - low) / step).map(|i| high - i * step).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_go_down_from_the_largest_value() {
        let sweep = parse(Some("units.gmem.lat=0..=10:4")).unwrap();
        assert_eq!(sweep.setting, Swept::Path("units.gmem.lat".into()));
        assert_eq!(sweep.values, [10, 6, 2]);
        assert_eq!(parse(Some("mem-latency=5..=7")).unwrap().values, [7, 6, 5]);
        assert_eq!(parse(None).unwrap().values.len(), 80);
        for wrong in
            ["x", "x=1", "=1..=2", "x=1..=2:0", "x=a..=2", "x=0..=99999999999", "x=-1..=2", "x=7..=5"]
        {
            assert!(parse(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
