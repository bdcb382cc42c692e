//! The end of a line of a trace, after the addresses.
//!
//! | tracer version | words |
//! |---|---|
//! | up to 4 | none; traces by warpbound may have an immediate |
//! | 5 | one or two immediates |
//! | 6 | one or two immediates, then `NoVal`, or `Val` and the values of all registers |
//! | 7 with `-mref metadata version = 1` | two immediates, then `MEM_META_V1` and nine words |
//!
//! Versions 5 and 6 are those of Accel-Sim 2.0 (`trace_parser.cc`). Accel-Sim has no version 7; the
//! one known here is that of a tracer with descriptions of memory references, as the public decoder
//! `nvbit_v5_trace.py` states them. The values of registers and the descriptions do not influence
//! timing: they are checked and skipped.

use super::format::Tail;
use super::words::{SHAPE, Words, Wrong, decimal};
use warpbound_core::base::WARP_SIZE;

const SHAPE_OF_VALUES: &str =
    "immediates, then NoVal, or Val and for each register 1 and its value, or 32 and those of all lanes";
const SHAPE_OF_REFERENCE: &str = "MEM_META_V1 space name space name count index index load store: the spaces of the instruction and of the \
     memory reference, the number of references, two indices of one, and whether the instruction loads and stores";

/// The names of the spaces in descriptions of memory references, by number.
const SPACES: [&str; 12] = [
    "NONE",
    "LOCAL",
    "GENERIC",
    "GLOBAL",
    "SHARED",
    "CONSTANT",
    "GLOBAL_TO_SHARED",
    "SURFACE",
    "TEXTURE",
    "DISTRIBUTED_SHARED",
    "TENSOR_MEM",
    "TENSOR_CORE_MEM",
];

impl Words<'_> {
    /// Parses the end of a line: immediates, values of `registers` registers, and the description of
    /// the memory reference, as the format requires. Returns the first immediate. `addressed` states
    /// whether the line has addresses. Further words are an error.
    #[inline]
    pub(super) fn end(&mut self, registers: usize, addressed: bool) -> Result<Option<i64>, Wrong> {
        // most lines of most traces
        if self.is_at_end() && matches!(self.format.tail, Tail::One | Tail::Two) {
            return Ok(None);
        }
        let immediate = self.immediate(addressed)?;
        match self.format.tail {
            Tail::One | Tail::Two => {}
            Tail::Values => self.values(registers)?,
            Tail::References => self.reference(addressed)?,
            Tail::Newer => match self.peek() {
                Some(b"MEM_META_V1") => self.reference(addressed)?,
                Some(_) => self.values(registers)?,
                None => {}
            },
        }
        match self.next() {
            None => Ok(immediate),
            Some((word, at)) if decimal(word).is_some() => Err(Wrong::new(
                at,
                "more words than an instruction has",
                "does the header state the right tracer version?",
            )),
            Some((word, at)) => Err(Wrong::new(
                at,
                format!("`{}` after the end of the instruction", String::from_utf8_lossy(word)),
                SHAPE,
            )),
        }
    }

    /// Parses the immediates, and returns the first one.
    #[inline]
    pub(super) fn immediate(&mut self, addressed: bool) -> Result<Option<i64>, Wrong> {
        let most = match self.format.tail {
            Tail::One => 1,
            Tail::Two | Tail::Values | Tail::Newer => 2,
            Tail::References => return self.last_two(addressed),
        };
        let mut first = None;
        for _ in 0..most {
            let Some(value) = self.next_number() else { break };
            first = first.or(Some(value));
        }
        Ok(first)
    }

    /// Parses two immediates, and returns the first one. In lines without addresses, words that stand
    /// for these may come before.
    fn last_two(&mut self, addressed: bool) -> Result<Option<i64>, Wrong> {
        let (mut first, mut second) = (self.wanted_immediate()?, self.wanted_immediate()?);
        while !addressed && let Some(next) = self.next_number() {
            (first, second) = (second, next);
        }
        Ok(Some(first))
    }

    /// Returns the next word if it is a number, and moves past it.
    #[inline]
    fn next_number(&mut self) -> Option<i64> {
        let mut ahead = self.clone();
        let value = number(ahead.next()?.0)?;
        *self = ahead;
        Some(value)
    }

    fn wanted_immediate(&mut self) -> Result<i64, Wrong> {
        let (word, at) = self.want("one of two immediates")?;
        number(word).ok_or_else(|| {
            let message = format!("`{}` is not one of two immediates", String::from_utf8_lossy(word));
            Wrong::new(at, message, SHAPE_OF_REFERENCE)
        })
    }

    /// Checks the values of registers. One more than there are registers may follow: tracers record
    /// the second half of some operands so.
    fn values(&mut self, registers: usize) -> Result<(), Wrong> {
        let (word, at) = self.want("`Val` or `NoVal`")?;
        match word {
            b"NoVal" => return Ok(()),
            b"Val" => {}
            _ => {
                let message = format!("`{}` is neither `Val` nor `NoVal`", String::from_utf8_lossy(word));
                return Err(Wrong::new(at, message, SHAPE_OF_VALUES));
            }
        }
        for register in 0..=registers {
            if register == registers && self.peek().is_none() {
                break;
            }
            let (word, at) = self.want("the number of values of a register")?;
            let count = decimal(word).and_then(|count| usize::try_from(count).ok());
            let count = count.filter(|&count| count == 1 || count == WARP_SIZE).ok_or_else(|| {
                let message = format!("`{}` values of a register", String::from_utf8_lossy(word));
                Wrong::new(at, message, SHAPE_OF_VALUES)
            })?;
            for _ in 0..count {
                self.hexadecimal("the value of a register (hexadecimal)")?;
            }
        }
        Ok(())
    }

    /// Checks the description of a memory reference.
    fn reference(&mut self, addressed: bool) -> Result<(), Wrong> {
        let (word, at) = self.want("`MEM_META_V1`")?;
        let from = at.start;
        if word != b"MEM_META_V1" {
            let message = format!("`{}` is not `MEM_META_V1`", String::from_utf8_lossy(word));
            return Err(Wrong::new(at, message, SHAPE_OF_REFERENCE));
        }
        let instruction = self.space()?;
        let reference = self.space()?;
        let count = self.decimal("the number of memory references")?;
        let looped = self.decimal("the index of a memory reference")?;
        let index = self.decimal("the index of a memory reference")?;
        let flags = [self.decimal("whether it loads")?, self.decimal("whether it stores")?];
        let indices = [looped, index];
        let wrong = if !flags.iter().all(|flag| matches!(flag, 0 | 1)) {
            "whether it loads and stores is stated by 0 and 1"
        } else if !matches!(count, 0..=2) || addressed != (count > 0) {
            "the number of memory references does not fit the instruction"
        } else if !indices
            .iter()
            .all(|&index| if count == 0 { index == -1 } else { (0..count).contains(&index) })
        {
            "an index of a memory reference that does not exist"
        } else if instruction == "GLOBAL_TO_SHARED" {
            match (count, looped, index, reference) {
                (2, 0, 1, "GLOBAL") => return Ok(()),
                (2, 1, 0, "SHARED") => {
                    "a copy with the addresses of its destination, which post-processing leaves out"
                }
                _ => "the two memory references of a copy are its destination and then its source",
            }
        } else if count > 0 && looped != index || instruction != reference {
            "the memory reference does not belong to the instruction"
        } else {
            return Ok(());
        };
        let to = self.position();
        Err(Wrong::new(from..to, wrong, SHAPE_OF_REFERENCE))
    }

    /// Parses the number and the name of a space.
    fn space(&mut self) -> Result<&'static str, Wrong> {
        let (word, at) = self.want("the number of a space")?;
        let (name, name_at) = self.want("the name of a space")?;
        let number = decimal(word).and_then(|number| usize::try_from(number).ok());
        number
            .and_then(|number| SPACES.get(number))
            .filter(|space| space.as_bytes() == name)
            .copied()
            .ok_or_else(|| {
                let [word, name] = [word, name].map(String::from_utf8_lossy);
                let message = format!("`{word} {name}` is not the number and the name of a space");
                Wrong::new(at.start..name_at.end, message, SHAPE_OF_REFERENCE)
            })
    }
}

/// Parses an immediate, which may be written with or without a sign.
#[inline]
fn number(word: &[u8]) -> Option<i64> {
    decimal(word).or_else(|| {
        let text = std::str::from_utf8(word).ok().filter(|text| text.bytes().all(|c| c.is_ascii_digit()))?;
        text.parse::<u64>().ok().map(|bits| bits as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::super::format::Format;
    use super::*;

    fn ends(tail: Tail, text: &str, registers: usize, addressed: bool) -> Result<Option<i64>, String> {
        let mut words = Words::new(text.as_bytes(), Format::ending(tail));
        words.end(registers, addressed).map_err(|wrong| wrong.message)
    }

    #[test]
    fn immediates_by_version() {
        assert_eq!(ends(Tail::One, "", 0, false), Ok(None));
        assert_eq!(ends(Tail::One, " 7", 0, false), Ok(Some(7)));
        assert!(ends(Tail::One, "7 8", 0, false).unwrap_err().contains("more words"));
        assert_eq!(ends(Tail::Two, "-7 8", 0, false), Ok(Some(-7)));
        assert_eq!(ends(Tail::Two, "18446744073709551615 0", 0, false), Ok(Some(-1)));
        assert!(ends(Tail::Two, "1 2 3", 0, false).is_err());
        assert!(ends(Tail::Two, "99999999999999999999", 0, false).is_err());
        assert!(ends(Tail::Two, "1 NoVal", 0, false).is_err());
    }

    #[test]
    fn values_of_registers() {
        let lanes = |value: &str| format!("32{}", format!(" {value}").repeat(32));
        assert_eq!(ends(Tail::Values, "1 2 NoVal", 3, true), Ok(Some(1)));
        assert_eq!(ends(Tail::Values, "1 NoVal", 0, true), Ok(Some(1)));
        let two = format!("4 0 Val 1 ff {}", lanes("0x10"));
        assert_eq!(ends(Tail::Values, &two, 2, true), Ok(Some(4)));
        assert_eq!(ends(Tail::Values, &format!("{two} 1 0"), 2, true), Ok(Some(4)), "one more");
        for (text, registers) in [
            ("1 2", 0),
            ("1 2 Value", 0),
            ("1 2 NoVal 1", 0),
            ("1 2 Val 1 ff", 2),
            ("1 2 Val 2 1 1", 1),
            ("1 2 Val 32 1", 1),
            ("1 2 Val 1 gg", 1),
            ("1 2 3 NoVal", 0),
        ] {
            assert!(ends(Tail::Values, text, registers, false).is_err(), "{text}");
        }
        assert!(ends(Tail::Values, &format!("{two} 1 0 1 0"), 2, true).is_err(), "two more");
    }

    #[test]
    fn descriptions_of_memory_references() {
        let load = "0 0 MEM_META_V1 3 GLOBAL 3 GLOBAL 1 0 0 1 0";
        assert_eq!(ends(Tail::References, load, 0, true), Ok(Some(0)));
        let copy = "5 0 MEM_META_V1 6 GLOBAL_TO_SHARED 3 GLOBAL 2 0 1 1 1";
        assert_eq!(ends(Tail::References, copy, 0, true), Ok(Some(5)));
        let none = "MEM_META_V1 0 NONE 0 NONE 0 -1 -1 0 0";
        assert_eq!(ends(Tail::References, &format!("3 4 {none}"), 0, false), Ok(Some(3)));
        assert_eq!(ends(Tail::References, &format!("0 3 4 {none}"), 0, false), Ok(Some(3)), "a placeholder");
        let destination = "5 0 MEM_META_V1 6 GLOBAL_TO_SHARED 4 SHARED 2 1 0 1 1";
        assert!(ends(Tail::References, destination, 0, true).unwrap_err().contains("post-processing"));
        for (from, to) in [
            ("3 GLOBAL 3", "3 SHARED 3"),
            ("3 GLOBAL 3", "12 GLOBAL 3"),
            ("3 GLOBAL 1", "4 SHARED 1"),
            (" 1 0 0 1 0", " 1 0 1 1 0"),
            (" 1 0 0 1 0", " 3 0 0 1 0"),
            (" 1 0 0 1 0", " 0 -1 -1 1 0"),
            (" 1 0 0 1 0", " 1 0 0 2 0"),
            (" 1 0 0 1 0", " 1 0 0 1"),
            (" 1 0 0 1 0", " 1 0 0 1 0 0"),
            ("0 0 MEM", "0 MEM"),
            ("0 0 MEM", "0 0 0 MEM"),
            ("MEM_META_V1", "MEM_META_V2"),
        ] {
            let text = load.replacen(from, to, 1);
            assert_ne!(text, load);
            assert!(ends(Tail::References, &text, 0, true).is_err(), "{text}");
        }
        assert!(ends(Tail::References, "0 0", 0, false).is_err());
    }

    #[test]
    fn an_unknown_version_may_end_like_any_other() {
        for text in ["", "1", "1 2", "1 2 NoVal", "0 0 MEM_META_V1 0 NONE 0 NONE 0 -1 -1 0 0"] {
            assert!(ends(Tail::Newer, text, 0, false).is_ok(), "{text}");
        }
        assert!(ends(Tail::Newer, "1 2 3", 0, false).is_err());
    }
}
