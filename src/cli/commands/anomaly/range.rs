//! What to sweep, and over which values.

use crate::diag::Diagnostic;

/// The grid of `--sweep` when nobody names one: total cycles of a global load, as
/// Jeanmougin et al., ECRTS 2025, vary them, every fifth.
const DEFAULT: &str = "mem-latency=5..=400:5";
/// Values of one sweep, at most.
const MAX_VALUES: u64 = 10_000;

/// A machine setting and the values it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// What is swept.
    pub setting: Swept,
    /// The values, descending.
    pub values: Vec<u64>,
}

/// What is swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swept {
    /// `--mem-latency`.
    MemLatency,
    /// `--set PATH=`.
    Path(String),
}

impl Swept {
    /// What reports call it.
    pub fn name(&self) -> &str {
        match self {
            Self::MemLatency => "mem-latency",
            Self::Path(path) => path,
        }
    }

    /// The option that sets it, in two words.
    pub fn option(&self, value: u64) -> [String; 2] {
        match self {
            Self::MemLatency => ["--mem-latency".to_owned(), value.to_string()],
            Self::Path(path) => ["--set".to_owned(), format!("{path}={value}")],
        }
    }
}

/// Reads `PATH=FROM..=TO[:STEP]`; nothing for the default.
///
/// # Errors
/// What is wrong with it.
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
    let (low, high) = (a.min(b), a.max(b));
    if step == 0 {
        return Err(wrong("the step is 0"));
    }
    if (high - low) / step >= MAX_VALUES {
        return Err(wrong(&format!("more than {MAX_VALUES} values")));
    }
    // from the top down, so that the first value is always there
    Ok(Sweep { setting, values: (0..=(high - low) / step).map(|i| high - i * step).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_go_down_from_either_end() {
        let sweep = parse(Some("units.gmem.lat=0..=10:4")).unwrap();
        assert_eq!(sweep.setting, Swept::Path("units.gmem.lat".into()));
        assert_eq!(sweep.values, [10, 6, 2]);
        assert_eq!(parse(Some("mem-latency=7..=5")).unwrap().values, [7, 6, 5]);
        assert_eq!(parse(None).unwrap().values.len(), 80);
        for wrong in ["x", "x=1", "=1..=2", "x=1..=2:0", "x=a..=2", "x=0..=99999999999", "x=-1..=2"] {
            assert!(parse(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
