//! The words of a line of a trace.

use std::ops::Range;

use super::format::Format;

/// The hint of most problems: the words of a line.
pub(super) const SHAPE: &str = "PC mask ndst dsts.. OPCODE nsrc srcs.. width [mode addresses..]";

/// A problem in a line: the range of the line, the message and the hint.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

impl Wrong {
    pub(super) fn new(at: Range<usize>, message: impl Into<String>, hint: &'static str) -> Self {
        Self { at, message: message.into(), hint }
    }

    /// Creates the problem of a word that is not what the shape of a line expects there.
    fn unexpected(word: &[u8], at: Range<usize>, expected: &str) -> Self {
        Self::new(at, format!("`{}` is not {expected}", String::from_utf8_lossy(word)), SHAPE)
    }
}

/// An iterator over the words of a line.
#[derive(Clone)]
pub(super) struct Words<'l> {
    line: &'l [u8],
    at: usize,
    pub(super) format: Format,
}

impl<'l> Words<'l> {
    pub(super) fn new(line: &'l [u8], format: Format) -> Self {
        Self { line, at: 0, format }
    }

    /// Returns the next word and its range.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(&'l [u8], Range<usize>)> {
        let line = self.line;
        let mut at = self.at;
        while at < line.len() && line[at] == b' ' {
            at += 1;
        }
        let start = at;
        while at < line.len() && line[at] != b' ' {
            at += 1;
        }
        self.at = at;
        (start < at).then(|| (&line[start..at], start..at))
    }

    /// Returns whether nothing follows, not even spaces.
    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.line.len()
    }

    /// Returns the next word without moving past it.
    pub(super) fn peek(&self) -> Option<&'l [u8]> {
        Some(self.clone().next()?.0)
    }

    /// Returns the number of numbers that follow, up to the first other word, and at most `most`.
    pub(super) fn numbers(&self, most: usize) -> usize {
        let mut words = self.clone();
        let is_number = |word: &[u8]| decimal(word).is_some() || hexadecimal(word).is_some();
        (0..most).take_while(|_| words.next().is_some_and(|(word, _)| is_number(word))).count()
    }

    pub(super) fn want(&mut self, expected: &str) -> Result<(&'l [u8], Range<usize>), Wrong> {
        self.next().ok_or_else(|| {
            let end = self.line.len();
            Wrong::new(
                end.saturating_sub(1)..end,
                format!("the line ends where {expected} is expected"),
                SHAPE,
            )
        })
    }

    pub(super) fn text(&mut self, expected: &str) -> Result<(&'l str, Range<usize>), Wrong> {
        let (word, at) = self.want(expected)?;
        match std::str::from_utf8(word) {
            Ok(text) if text.is_ascii() => Ok((text, at)),
            _ => Err(Wrong::new(at, format!("{expected} is not ASCII text"), SHAPE)),
        }
    }

    pub(super) fn decimal(&mut self, expected: &str) -> Result<i64, Wrong> {
        let (word, at) = self.want(expected)?;
        decimal(word).ok_or_else(|| Wrong::unexpected(word, at, expected))
    }

    pub(super) fn hexadecimal(&mut self, expected: &str) -> Result<u64, Wrong> {
        let (word, at) = self.want(expected)?;
        hexadecimal(word).ok_or_else(|| Wrong::unexpected(word, at, expected))
    }

    /// Returns the remainder of the line from the next word on.
    #[inline]
    pub(super) fn rest(&mut self) -> &'l [u8] {
        while self.at < self.line.len() && self.line[self.at] == b' ' {
            self.at += 1;
        }
        &self.line[self.at..]
    }

    /// Skips bytes.
    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Returns the approximate position of the next word.
    pub(super) fn position(&self) -> usize {
        self.at
    }
}

/// Parses a decimal number, which may have a sign.
#[inline]
pub(super) fn decimal(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value: i64 = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
    }
    Some(if negative { -value } else { value })
}

/// Parses a hexadecimal number, with or without `0x`.
#[inline]
pub(super) fn hexadecimal(word: &[u8]) -> Option<u64> {
    let digits = match word {
        [b'0', b'x' | b'X', rest @ ..] => rest,
        rest => rest,
    };
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut value = 0u64;
    for &digit in digits {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            b'A'..=b'F' => digit - b'A' + 10,
            _ => return None,
        };
        value = value << 4 | u64::from(digit);
    }
    Some(value)
}
