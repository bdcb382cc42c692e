//! Names of architectures.

use std::fmt;
use std::str::FromStr;

/// An architecture, such as `sm_86` or `sm_90a`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arch {
    number: u32,
    /// The letter of a variant whose code runs on no later architecture, if there is one.
    variant: Option<char>,
}

impl Arch {
    /// Returns the compute capability as a number: 86 for `sm_86`.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the name of the virtual architecture, whose code is PTX.
    pub(super) fn compute(&self) -> String {
        self.to_string().replace("sm_", "compute_")
    }

    /// Returns the version of PTX that code for this architecture needs, but at least 6.3, which has
    /// the shuffles of warps (`.sync`).
    pub(super) fn ptx_version(&self) -> u32 {
        match self.number {
            ..80 => 63,
            80 => 70,
            81..=86 => 71,
            87 => 74,
            88..=89 => 78,
            90 if self.variant.is_some() => 80,
            90 => 78,
            91..=101 => 86,
            _ => 88,
        }
    }
}

impl FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "an architecture is `sm_` and a number, such as sm_80, sm_86 or sm_90a".to_owned();
        let rest = text.strip_prefix("sm_").ok_or_else(wrong)?;
        let digits = rest.trim_end_matches(['a', 'f']);
        let number = match digits.parse() {
            Ok(number @ 20..=999) if digits.bytes().all(|byte| byte.is_ascii_digit()) => number,
            _ => return Err(wrong()),
        };
        match rest[digits.len()..].chars().collect::<Vec<_>>().as_slice() {
            [] => Ok(Self { number, variant: None }),
            [variant] => Ok(Self { number, variant: Some(*variant) }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.variant.map_or(Ok(()), |variant| write!(f, "{variant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in ["sm_61", "sm_80", "sm_90a", "sm_100f", "sm_121"] {
            assert_eq!(name.parse::<Arch>().unwrap().to_string(), name);
        }
        for wrong in ["", "80", "sm_", "sm_8x", "sm_80aa", "compute_80", "sm_5", "sm_+80", "sm_80 "] {
            assert!(wrong.parse::<Arch>().is_err(), "{wrong}");
        }
        let arch: Arch = "sm_90a".parse().unwrap();
        assert_eq!((arch.number(), arch.compute().as_str(), arch.ptx_version()), (90, "compute_90a", 80));
    }
}
