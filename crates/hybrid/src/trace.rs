//! Traces as text, read line by line.
//!
//! Each line is one event, with fields separated by blanks or a comma:
//!
//! ```text
//! # ipoint sm warp cycle
//! run
//! i1 0 3 17
//! i2, 0, 3, 29
//! ```
//!
//! An event states that a warp passed an ipoint in a cycle: the address, multiprocessor, warp and
//! cycle of the traces in Betts and Donaldson, section VI-A. `run` begins the next run (test
//! vector), and may be omitted before the first. A `#` begins a comment; empty lines are skipped.
//! The last line ends with a line feed, too; a file without it was cut off.
//!
//! A line is not kept after it has been read. Lines of the simplest form, with one blank between
//! fields and nothing else, have a fast path (`ShortNames`) that gives the same result.

use std::io::{ErrorKind, Read};
use std::ops::Range;

use super::ipg::Ipg;
use warpbound_core::base::Cycle;
use warpbound_core::diag::{Diagnostic, SourceText, closest, shortened};

/// The number of bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// The largest number of bytes of a line. A longer line is not an event, and is reported before it
/// has been read to its end.
const LONGEST_LINE: usize = 4096;

/// An event: a warp passed an ipoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The ipoint, as a number of the [`Ipg`].
    pub ipoint: usize,
    /// The multiprocessor.
    pub sm: u32,
    /// The warp, by a number that no other warp has on that multiprocessor at that time.
    pub warp: u32,
    /// The cycle in which it passed.
    pub cycle: Cycle,
}

/// The contents of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The start of the next run.
    Run,
    /// An event of the current run.
    Event(Event),
}

/// The reason why there is no next record.
#[derive(Debug)]
pub enum ReadError {
    /// The line is invalid; reading can continue with the next line.
    Line(Box<Diagnostic>),
    /// The input could not be read.
    Io(std::io::Error),
}

/// The ipoints with names of at most 8 bytes, in a hash table keyed by the bytes of the name as a
/// number.
struct ShortNames {
    /// The name and the ipoint; a name of 0 marks a free entry. The length is a power of two, and
    /// most entries are free.
    table: Vec<(u64, usize)>,
}

impl ShortNames {
    fn new(ipg: &Ipg) -> Self {
        let mut names = Self { table: vec![(0, 0); (4 * ipg.len()).next_power_of_two()] };
        for (ipoint, name) in ipg.names().enumerate().filter(|(_, name)| name.len() <= 8) {
            let key = name.bytes().fold(0, |key, byte| key << 8 | u64::from(byte));
            let mut at = names.first_place(key);
            while names.table[at].0 != 0 {
                at = (at + 1) % names.table.len();
            }
            names.table[at] = (key, ipoint);
        }
        names
    }

    #[inline]
    fn first_place(&self, key: u64) -> usize {
        // the upper half has the well-mixed bits
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        usize::try_from(mixed).unwrap_or(0) & (self.table.len() - 1)
    }

    #[inline]
    fn ipoint(&self, key: u64) -> Option<usize> {
        let mut at = self.first_place(key);
        loop {
            match self.table[at] {
                (0, _) => return None,
                (known, ipoint) if known == key => return Some(ipoint),
                _ => at = (at + 1) & (self.table.len() - 1),
            }
        }
    }

    /// Returns the event of a line of the simplest form and the length of the line; `None` for any
    /// other line, including invalid ones.
    #[inline]
    fn event(&self, bytes: &[u8]) -> Option<(Event, usize)> {
        let mut at = 0;
        let mut key = 0u64;
        loop {
            let byte = *bytes.get(at)?;
            at += 1;
            match byte {
                b' ' => break,
                0 => return None,
                _ if at > 8 => return None,
                _ => key = key << 8 | u64::from(byte),
            }
        }
        let ipoint = self.ipoint(key)?;
        let sm = digits(bytes, &mut at, 9, b' ')?;
        let warp = digits(bytes, &mut at, 9, b' ')?;
        let cycle = digits(bytes, &mut at, 19, b'\n')?;
        let small = |number: u64| u32::try_from(number).ok();
        Some((Event { ipoint, sm: small(sm)?, warp: small(warp)?, cycle: Cycle::new(cycle) }, at))
    }
}

/// Reads a number of at most this many digits, no more than 19, and the byte after it.
#[inline]
fn digits(bytes: &[u8], at: &mut usize, most: usize, end: u8) -> Option<u64> {
    let start = *at;
    let mut value = 0u64;
    loop {
        let byte = *bytes.get(*at)?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let count = *at - start;
            *at += 1;
            return (byte == end && (1..=most).contains(&count)).then_some(value);
        }
        // a number that is too long wraps, and is rejected at its end
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        *at += 1;
    }
}

/// Reads records from an input.
pub struct Reader<'a, R> {
    input: R,
    file: &'a str,
    ipg: &'a Ipg,
    short: ShortNames,
    /// The bytes read; those from `next` to `end` have not been parsed yet.
    block: Vec<u8>,
    next: usize,
    end: usize,
    /// The range of the current line in the block.
    line: Range<usize>,
    number: u64,
}

impl<'a, R: Read> Reader<'a, R> {
    /// Creates a reader of an input that messages call `file`.
    pub fn new(input: R, file: &'a str, ipg: &'a Ipg) -> Self {
        let short = ShortNames::new(ipg);
        Self { input, file, ipg, short, block: vec![0; BLOCK], next: 0, end: 0, line: 0..0, number: 0 }
    }

    /// Returns the number of the line read last, from 1.
    pub fn line_number(&self) -> u64 {
        self.number
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the line is invalid, or if the input cannot be read.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        if let Some((event, length)) = self.short.event(&self.block[self.next..self.end]) {
            self.line = self.next..self.next + length;
            self.next += length;
            self.number += 1;
            return Ok(Some(Record::Event(event)));
        }
        self.any_record()
    }

    fn any_record(&mut self) -> Result<Option<Record>, ReadError> {
        while self.next_line().map_err(ReadError::Io)? {
            self.number += 1;
            if self.bytes().last() != Some(&b'\n') {
                return Err(self.unfinished_line());
            }
            if let Some(record) = self.record().map_err(|wrong| ReadError::Line(Box::new(wrong)))? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Returns the bytes of the current line.
    fn bytes(&self) -> &[u8] {
        &self.block[self.line.clone()]
    }

    /// Reads the next line, but no more bytes than a line may have. Returns false at the end of the
    /// input.
    fn next_line(&mut self) -> std::io::Result<bool> {
        let mut looked = 0;
        loop {
            let left = &self.block[self.next..self.end];
            let newline = left[looked..].iter().position(|&byte| byte == b'\n').map(|at| looked + at + 1);
            let length = newline.unwrap_or(left.len()).min(LONGEST_LINE + 1);
            if newline.is_some() || left.len() > LONGEST_LINE {
                self.line = self.next..self.next + length;
                self.next += length;
                return Ok(true);
            }
            looked = left.len();
            if self.fill()? == 0 {
                self.line = self.next..self.end;
                self.next = self.end;
                return Ok(!self.line.is_empty());
            }
        }
    }

    /// Reads more bytes after the unparsed ones, which are moved to the front of the block. Returns
    /// the number of bytes read.
    fn fill(&mut self) -> std::io::Result<usize> {
        self.block.copy_within(self.next..self.end, 0);
        (self.next, self.end) = (0, self.end - self.next);
        loop {
            match self.input.read(&mut self.block[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reports a line without an end: the file was cut off, or it is not a trace.
    fn unfinished_line(&mut self) -> ReadError {
        let end = self.bytes().len();
        if end <= LONGEST_LINE {
            let message = "the last line does not end";
            let hint = "the trace was cut off; write it again, with a newline at its end";
            return ReadError::Line(Box::new(self.error(0..end, message).hint(hint)));
        }
        let wrong = self.error(0..1, format!("a line of more than {LONGEST_LINE} bytes")).hint(FORMAT);
        // continue with the next line
        loop {
            let left = &self.block[self.next..self.end];
            if let Some(at) = left.iter().position(|&byte| byte == b'\n') {
                self.next += at + 1;
                break;
            }
            self.next = self.end;
            match self.fill() {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return ReadError::Io(error),
            }
        }
        ReadError::Line(Box::new(wrong))
    }

    /// Parses the current line; returns `None` if it is empty.
    fn record(&self) -> Result<Option<Record>, Diagnostic> {
        let mut fields = Fields { line: self.bytes(), at: 0 };
        let Some(name) = fields.next() else {
            return match fields.rest() {
                rest if rest.is_empty() => Ok(None),
                rest => Err(self.error(rest, "the first field is empty").hint(FORMAT)),
            };
        };
        if &self.bytes()[name.clone()] == b"run" {
            return match fields.next() {
                None if fields.rest().is_empty() => Ok(Some(Record::Run)),
                Some(more) => Err(self.error(more, "`run` must be alone on its line").hint(FORMAT)),
                None => Err(self.error(fields.rest(), "`run` must be alone on its line").hint(FORMAT)),
            };
        }
        let ipoint = self.ipg.ipoint(&self.bytes()[name.clone()]).ok_or_else(|| self.unknown(name))?;
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
            let at = fields.at.min(self.bytes().len().saturating_sub(1));
            return Err(self.error(at..at, format!("the {what} is missing")).hint(FORMAT));
        };
        let text = &self.bytes()[place.clone()];
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
        let name = String::from_utf8_lossy(&self.bytes()[place.clone()]).into_owned();
        let hint = match closest(&name, self.ipg.names()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if self.ipg.len() <= 12 => {
                format!("the ipoints are {}", self.ipg.names().collect::<Vec<_>>().join(", "))
            }
            None => format!("there are {} ipoints, such as `{}`", self.ipg.len(), self.ipg.name(0)),
        };
        self.error(place, format!("no ipoint is called `{}`", shortened(&name))).hint(hint)
    }

    /// Returns a diagnostic for the fields of the current line.
    pub fn line_error(&self, message: impl Into<String>) -> Diagnostic {
        let mut fields = Fields { line: self.bytes(), at: 0 };
        let first = fields.next().unwrap_or(0..0);
        let last = std::iter::from_fn(|| fields.next()).last().unwrap_or(first.clone());
        self.error(first.start..last.end, message)
    }

    fn error(&self, bytes: Range<usize>, message: impl Into<String>) -> Diagnostic {
        // columns refer to the text as it is shown, in which invalid UTF-8 has been replaced
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let start = text(&self.bytes()[..bytes.start]).len();
        let width = text(&self.bytes()[bytes.start..bytes.end.max(bytes.start)]).len();
        let shown = SourceText::new(self.file, text(self.bytes()));
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

    /// Returns the range of the next field; `None` if there is none, or if nothing is before the
    /// next comma.
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

    /// Returns the range of the rest that is neither blank nor comment.
    fn rest(&self) -> Range<usize> {
        let mut left = Fields { line: self.line, at: self.at };
        left.skip_blanks();
        match self.line.get(left.at) {
            None | Some(b'\n' | b'#') => left.at..left.at,
            Some(_) => left.at..left.at + 1,
        }
    }
}
