//! Traces as text, read line by line.
//!
//! One event a line, its fields separated by blanks or a comma:
//!
//! ```text
//! # ipoint sm warp cycle
//! run
//! i1 0 3 17
//! i2, 0, 3, 29
//! ```
//!
//! An event says that a warp passed an ipoint in a cycle: the address, multiprocessor, warp and cycle of the traces in
//! Betts and Donaldson, section VI-A. `run` begins the next run (test vector), and may be left out before the first. What follows
//! a `#` is a comment; empty lines are skipped. A file ends with the end of a line: if it does not, it was cut off.
//!
//! Nothing is kept of a line that has been read.

use std::io::BufRead;
use std::ops::Range;

use super::ipg::Ipg;
use crate::base::Cycle;
use crate::diag::{Diagnostic, SourceText, closest, shortened};

/// A line longer than this many bytes is no event, and is not read to its end before that is said.
const LONGEST_LINE: usize = 4096;

/// A warp passed an ipoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The ipoint, a number of the [`Ipg`].
    pub ipoint: usize,
    /// The multiprocessor.
    pub sm: u32,
    /// The warp, by a number that no other warp has on that multiprocessor at that time.
    pub warp: u32,
    /// When.
    pub cycle: Cycle,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The next run begins.
    Run,
    /// An event of the current run.
    Event(Event),
}

/// Why there is no next record.
#[derive(Debug)]
pub enum ReadError {
    /// The line is wrong; reading can go on with the next.
    Line(Box<Diagnostic>),
    /// The input could not be read.
    Io(std::io::Error),
}

/// Reads records from an input.
pub struct Reader<'a, R> {
    input: R,
    file: &'a str,
    ipg: &'a Ipg,
    line: Vec<u8>,
    number: u64,
}

impl<'a, R: BufRead> Reader<'a, R> {
    /// A reader of an input that messages call `file`.
    pub fn new(input: R, file: &'a str, ipg: &'a Ipg) -> Self {
        Self { input, file, ipg, line: Vec::new(), number: 0 }
    }

    /// The number of the line read last, from 1.
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// If the line is not what it should be, or the input cannot be read.
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            self.line.clear();
            let limit = LONGEST_LINE as u64 + 1;
            let mut limited = std::io::Read::take(&mut self.input, limit);
            let read = limited.read_until(b'\n', &mut self.line).map_err(ReadError::Io)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.last() != Some(&b'\n') {
                return Err(self.unfinished_line());
            }
            if let Some(record) = self.record().map_err(|wrong| ReadError::Line(Box::new(wrong)))? {
                return Ok(Some(record));
            }
        }
    }

    /// The line has no end: the file was cut off, or it is no trace.
    fn unfinished_line(&mut self) -> ReadError {
        let end = self.line.len();
        if end <= LONGEST_LINE {
            let message = "the last line does not end";
            let hint = "the trace was cut off; write it again, with a newline at its end";
            return ReadError::Line(Box::new(self.error(0..end, message).hint(hint)));
        }
        let wrong = self.error(0..1, format!("a line of more than {LONGEST_LINE} bytes")).hint(FORMAT);
        // on with the next line
        loop {
            let (taken, ended) = match self.input.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => match bytes.iter().position(|&byte| byte == b'\n') {
                    Some(at) => (at + 1, true),
                    None => (bytes.len(), false),
                },
                Err(error) => return ReadError::Io(error),
            };
            self.input.consume(taken);
            if ended {
                break;
            }
        }
        ReadError::Line(Box::new(wrong))
    }

    /// What the current line says; `None` if nothing.
    fn record(&self) -> Result<Option<Record>, Diagnostic> {
        let mut fields = Fields { line: &self.line, at: 0 };
        let Some(name) = fields.next() else {
            return match fields.rest() {
                rest if rest.is_empty() => Ok(None),
                rest => Err(self.error(rest, "the first field is empty").hint(FORMAT)),
            };
        };
        if &self.line[name.clone()] == b"run" {
            return match fields.next() {
                None if fields.rest().is_empty() => Ok(Some(Record::Run)),
                Some(more) => Err(self.error(more, "`run` stands by itself on its line").hint(FORMAT)),
                None => Err(self.error(fields.rest(), "`run` stands by itself on its line").hint(FORMAT)),
            };
        }
        let ipoint = self.ipg.ipoint(&self.line[name.clone()]).ok_or_else(|| self.unknown(name))?;
        let sm = self.number(&mut fields, "sm", u64::from(u32::MAX))?;
        let warp = self.number(&mut fields, "warp", u64::from(u32::MAX))?;
        let cycle = self.number(&mut fields, "cycle", u64::MAX)?;
        if let Some(more) = fields.next() {
            return Err(self.error(more, "more than the four fields of an event").hint(FORMAT));
        }
        if !fields.rest().is_empty() {
            return Err(self.error(fields.rest(), "more than the four fields of an event").hint(FORMAT));
        }
        let small = |number: u64| u32::try_from(number).expect("at most u32::MAX");
        Ok(Some(Record::Event(Event { ipoint, sm: small(sm), warp: small(warp), cycle: Cycle::new(cycle) })))
    }

    fn number(&self, fields: &mut Fields<'_>, what: &str, most: u64) -> Result<u64, Diagnostic> {
        let Some(place) = fields.next() else {
            let at = fields.at.min(self.line.len().saturating_sub(1));
            return Err(self.error(at..at, format!("the {what} is missing")).hint(FORMAT));
        };
        let text = &self.line[place.clone()];
        let value = text.iter().try_fold(0u64, |value, &byte| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            value.checked_mul(10)?.checked_add(digit)
        });
        value.filter(|&value| value <= most).ok_or_else(|| {
            let shown = shortened(&String::from_utf8_lossy(text));
            self.error(place, format!("the {what} `{shown}` is not a whole number from 0 to {most}"))
                .hint(FORMAT)
        })
    }

    fn unknown(&self, place: Range<usize>) -> Diagnostic {
        let name = String::from_utf8_lossy(&self.line[place.clone()]).into_owned();
        let hint = match closest(&name, self.ipg.names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.ipg.len() <= 12 => {
                format!("the ipoints are {}", self.ipg.names().collect::<Vec<_>>().join(", "))
            }
            None => format!("there are {} ipoints, such as `{}`", self.ipg.len(), self.ipg.name(0)),
        };
        self.error(place, format!("no ipoint is called `{}`", shortened(&name))).hint(hint)
    }

    /// A problem of the fields of the current line.
    pub fn line_error(&self, message: impl Into<String>) -> Diagnostic {
        let mut fields = Fields { line: &self.line, at: 0 };
        let first = fields.next().unwrap_or(0..0);
        let last = std::iter::from_fn(|| fields.next()).last().unwrap_or(first.clone());
        self.error(first.start..last.end, message)
    }

    fn error(&self, bytes: Range<usize>, message: impl Into<String>) -> Diagnostic {
        // places are counted in the text as it is shown, where what is no UTF-8 has been replaced
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let start = text(&self.line[..bytes.start]).len();
        let width = text(&self.line[bytes.start..bytes.end.max(bytes.start)]).len();
        let shown = SourceText::new(self.file, text(&self.line));
        let mut wrong = shown.error(start..start + width, message);
        wrong.line = u32::try_from(self.number).unwrap_or(u32::MAX);
        wrong
    }
}

const FORMAT: &str = "a line is `ipoint sm warp cycle`, or `run` before the next run; a # begins a comment";

/// The fields of a line, one after the other.
struct Fields<'a> {
    line: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    fn skip_blanks(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    /// Where the next field is; `None` if there is none, or nothing is before the next comma.
    fn next(&mut self) -> Option<Range<usize>> {
        self.skip_blanks();
        let start = self.at;
        while self
            .line
            .get(self.at)
            .is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'#'))
        {
            self.at += 1;
        }
        let end = self.at;
        if start == end {
            return None;
        }
        self.skip_blanks();
        if self.line.get(self.at) == Some(&b',') {
            self.at += 1;
        }
        Some(start..end)
    }

    /// What is left that is neither blank nor comment.
    fn rest(&self) -> Range<usize> {
        let mut left = Fields { line: self.line, at: self.at };
        left.skip_blanks();
        match self.line.get(left.at) {
            None | Some(b'\n' | b'#') => left.at..left.at,
            Some(_) => left.at..left.at + 1,
        }
    }
}
